/* From a node and the views of its tensors to the call that a kernel gets. */
#include <string.h>

#include "kernels_cpu/problem.h"
#include "planner/views.h"

enum { NO_STRIDES = 0 }; /* pixel_stride of an operand that strides cannot express: no kernel fits */

static void set_strides(const struct ig_graph *g, const struct ig_view *views, int32_t v, int32_t images,
                        struct ig_operand *o)
{
    struct ig_form from = ig_form_of(&g->values[v].shape), to = {o->h * images, o->w, o->c};
    if (!o->shape || ig_is_run(&views[v], from)) return; /* a dense call was built */
    if (!ig_restride(&views[v], from, to, &o->row_stride, &o->pixel_stride)) o->pixel_stride = NO_STRIDES;
}

void ig_node_call(const struct ig_graph *g, const struct ig_view *views, const struct ig_node *n,
                  struct ig_call *call, int32_t *batch)
{
    const struct ig_shape *in[IG_MAX_IN] = {0}, *out[IG_MAX_OUT] = {0};
    const void *data[IG_MAX_IN] = {0};
    memset(call, 0, sizeof *call);
    *batch = 1;
    if (n->n_in > IG_MAX_IN || n->n_out > IG_MAX_OUT) return; /* no room: an empty call, which nothing fits */
    for (int32_t k = 0; k < n->n_in; k++) {
        if (n->in[k] < 0) continue;
        in[k] = &g->values[n->in[k]].shape;
        data[k] = g->values[n->in[k]].data;
    }
    for (int32_t k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0) out[k] = &g->values[n->out[k]].shape;
    ig_build_call((enum ig_op)n->op, &n->attrs, in, data, n->n_in, out, n->n_out, call, batch);
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0)
            set_strides(g, views, n->in[k], ig_is_image((enum ig_op)n->op, k) ? *batch : 1, &call->in[k]);
    for (int32_t k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0) set_strides(g, views, n->out[k], ig_images_of((enum ig_op)n->op, out[k]), &call->out[k]);
}

static int strides_fit(const struct ig_kernel *k, const struct ig_operand *o)
{
    if (!o->shape) return 1;
    if (o->pixel_stride == NO_STRIDES) return 0;
    return (k->flags & IG_STRIDED) || (o->row_stride == (int64_t)o->w * o->c && o->pixel_stride == o->c);
}

int ig_kernel_fits(const struct ig_kernel *k, int32_t op, const struct ig_call *call)
{
    if (k->op != op || !call->n_out) return 0;
    for (int32_t i = 0; i < call->n_in; i++)
        if (!strides_fit(k, &call->in[i])) return 0;
    for (int32_t i = 0; i < call->n_out; i++)
        if (!strides_fit(k, &call->out[i])) return 0;
    return !k->supports || k->supports(call);
}
