#include "planner/validate_call.h"

#include "kernels_cpu/problem.h"

struct placed {
    const struct ig_graph *g;
    const struct ig_plan *p;
    const struct ig_box *boxes;
};

/* Strides of an operand as the plan places the value; 0 if strides cannot express it. */
static int set_operand(const struct placed *c, int32_t v, int32_t images, struct ig_operand *o)
{
    if (v < 0 || !o->shape || ig_is_const(c->g, v)) return 1;
    if (c->p->buffers[v].ring_rows) o->ring_rows = c->p->buffers[v].ring_rows;
    return ig_box_operand(&c->boxes[v], (int64_t)o->h * images, o->w, o->c, &o->row_stride, &o->pixel_stride);
}

int ig_placed_call(const struct ig_graph *g, const struct ig_plan *p, const struct ig_box *boxes,
                   const struct ig_node *n, struct ig_call *call)
{
    const struct placed c = {g, p, boxes};
    const struct ig_shape *in[IG_MAX_IN] = {0}, *out[IG_MAX_OUT] = {0};
    const void *data[IG_MAX_IN] = {0};
    int images, fits = 1;
    if (n->n_in > IG_MAX_IN || n->n_out > IG_MAX_OUT) return 0;
    for (int32_t k = 0; k < n->n_in; k++) {
        in[k] = n->in[k] < 0 ? NULL : &g->values[n->in[k]].shape;
        data[k] = n->in[k] < 0 ? NULL : g->values[n->in[k]].data;
    }
    for (int32_t k = 0; k < n->n_out; k++) out[k] = n->out[k] < 0 ? NULL : &g->values[n->out[k]].shape;
    ig_build_call((enum ig_op)n->op, &n->attrs, in, data, n->n_in, out, n->n_out, call, &images);
    for (int32_t k = 0; k < n->n_in; k++)
        fits &= set_operand(&c, n->in[k], ig_is_image((enum ig_op)n->op, k) ? images : 1, &call->in[k]);
    for (int32_t k = 0; k < n->n_out; k++)
        if (out[k]) fits &= set_operand(&c, n->out[k], ig_images_of((enum ig_op)n->op, out[k]), &call->out[k]);
    return fits;
}

static int operand_is_dense(const struct ig_operand *o)
{
    return !o->shape ||
           ((o->h == 1 || o->row_stride == (int64_t)o->w * o->c) && (o->w == 1 || o->pixel_stride == o->c));
}

int ig_is_dense(const struct ig_call *call)
{
    int dense = 1;
    for (int32_t k = 0; k < call->n_in; k++) dense &= operand_is_dense(&call->in[k]);
    for (int32_t k = 0; k < call->n_out; k++) dense &= operand_is_dense(&call->out[k]);
    return dense;
}
