#include "kernels_cpu/eval.h"

#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"

/* Rounded up to what aligned_alloc wants; zeroed. NULL if there is no memory. */
static void *alloc_zeroed(size_t bytes)
{
    size_t whole = (bytes + 64) / 64 * 64;
    void *p = aligned_alloc(64, whole);
    if (p) memset(p, 0, whole);
    return p;
}

static const struct ig_shape *shape_of(const struct ig_graph *g, int32_t v)
{
    return v < 0 ? NULL : &g->values[v].shape;
}

static const struct ig_kernel *find_kernel(enum ig_op op, const struct ig_call *call)
{
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->op == (int32_t)op && k->isa == IG_ISA_REF && (!k->supports || k->supports(call))) return k;
    }
    return NULL;
}

/* Runs kernel `k` on every image, with the memory it wants. */
static int run_batch(enum ig_op op, const struct ig_kernel *k, struct ig_call *call, int batch)
{
    size_t scratch_bytes = k->scratch ? k->scratch(call) : 0,
           weight_bytes = k->pack ? k->pack(call, NULL) : 0;
    void *scratch = alloc_zeroed(scratch_bytes), *weights = alloc_zeroed(weight_bytes);
    void *zeros = alloc_zeroed(ig_zeros_bytes(call));
    int ok = scratch && weights && zeros;
    if (ok) {
        if (k->pack) k->pack(call, weights);
        call->weights = k->pack ? weights : NULL;
        call->zeros = zeros;
        for (int i = 0; i < (k->row_tile ? batch : 1); i++) {
            struct ig_call one = ig_call_image(op, call, i);
            k->run(&one, ig_full_range(&one), scratch);
        }
    }
    free(zeros);
    free(weights);
    free(scratch);
    return ok ? 0 : -1;
}

/* Any number of inputs, one after the other in every outer index. */
static int concat(const struct ig_graph *g, const struct ig_node *n, const void *const *in, char *out)
{
    int64_t outer = 1;
    for (int i = 0; i < n->attrs.axis.axis; i++) outer *= g->values[n->out[0]].shape.dims[i];
    for (int64_t o = 0; o < outer; o++)
        for (int i = 0; i < n->n_in; i++) {
            int64_t run = ig_bytes(&g->values[n->in[i]].shape) / outer;
            memcpy(out, (const char *)in[i] + o * run, (size_t)run);
            out += run;
        }
    return 0;
}

/* Ops that are defined on channels-last tensors only. */
static int needs_channels_last(const struct ig_node *n)
{
    if (n->op == IG_NORM)
        return n->attrs.norm.kind == IG_NORM_INSTANCE || n->attrs.norm.kind == IG_NORM_GROUP;
    return (ig_is_spatial((enum ig_op)n->op) && n->op != IG_RESIZE) || n->op == IG_ROI_ALIGN;
}

int ig_ref_eval(const struct ig_graph *g, const struct ig_node *n, const void *const *in, void *const *out)
{
    const struct ig_shape *in_shapes[IG_MAX_IN], *out_shapes[IG_MAX_OUT];
    enum ig_op op = (enum ig_op)n->op;
    struct ig_call call;
    int batch;
    if (needs_channels_last(n) && !g->channels_last) return -1;
    if (op == IG_CONCAT) return concat(g, n, in, out[0]);
    if (op == IG_RESHAPE || op == IG_COPY) {
        memcpy(out[0], in[0], (size_t)ig_bytes(&g->values[n->out[0]].shape));
        return 0;
    }
    if (n->n_in > IG_MAX_IN || n->n_out > IG_MAX_OUT) return -1;
    for (int i = 0; i < n->n_in; i++) in_shapes[i] = in[i] ? shape_of(g, n->in[i]) : NULL;
    for (int i = 0; i < n->n_out; i++) out_shapes[i] = out[i] ? shape_of(g, n->out[i]) : NULL;
    if (ig_build_call(op, &n->attrs, in_shapes, in, n->n_in, out_shapes, n->n_out, &call, &batch)) return -1;
    for (int i = 0; i < n->n_out; i++) call.out[i].data = out[i];
    const struct ig_kernel *k = find_kernel(op, &call);
    return k ? run_batch(op, k, &call, batch) : -1;
}
