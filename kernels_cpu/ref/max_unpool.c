/*
 * The partial inverse of max pooling, plain ONNX layout: zeros but for x at its indices. Indices count in the
 * tensor that the window alone implies, (in - 1) s - pads + k per dimension; the output may be larger
 * (output_shape).
 */
#include <string.h>

#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

int max_unpool_f32_nd__supports(const struct ig_call *call)
{
    return ig_ref_is_f32(call) && call->in[1].shape->type == IG_I64 && call->in[0].shape->rank >= 3 &&
           call->in[0].shape->rank <= 5;
}

/* Extents of the tensor that indices count in: N, C, then spatial ones. */
static void implied(const struct ig_call *call, int64_t *dims)
{
    const struct ig_pool *a = call->attrs;
    const struct ig_window *w = &a->w;
    const struct ig_shape *in = call->in[0].shape;
    const int32_t k[] = {w->kd, w->kh, w->kw}, s[] = {w->sd, w->sh, w->sw};
    const int32_t pads[] = {w->front + w->back, w->top + w->bottom, w->left + w->right};
    dims[0] = in->dims[0];
    dims[1] = in->dims[1];
    for (int d = 2; d < in->rank; d++) {
        int i = d - in->rank + 3;
        dims[d] = (int64_t)(in->dims[d] - 1) * s[i] - pads[i] + k[i];
    }
}

/* Offset in the output of implied index i; -1 where that is outside. */
static int64_t place(const struct ig_shape *out, const int64_t *dims, int64_t i)
{
    int64_t at = 0, step = 1;
    if (i < 0) return -1;
    for (int d = out->rank - 1; d >= 0; i /= dims[d], step *= out->dims[d], d--) {
        if (i % dims[d] >= out->dims[d]) return -1;
        at += i % dims[d] * step;
    }
    return i ? -1 : at;
}

void max_unpool_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const int64_t *indices = call->in[1].data;
    int64_t dims[IG_MAX_RANK];
    (void)range, (void)scratch;
    implied(call, dims);
    memset(out->data, 0, (size_t)ig_bytes(out->shape));
    for (int64_t i = 0; i < ig_count(in->shape); i++) {
        int64_t at = place(out->shape, dims, indices[i]);
        if (at >= 0) ig_move(out->data, at, in->data, i, 4);
    }
}
