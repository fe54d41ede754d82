/*
 * Padding: negative amounts crop first; then each coordinate of the output maps on one of what is left:
 *   constant  outside becomes the value      edge  d d|d e f|f f
 *   reflect   f e|d e f|e d                  wrap  e f|d e f|d e
 */
#include "kernels_cpu/ref/pad.h"
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

void pad_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_pad *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape, *to = call->out[0].shape;
    int64_t count = ig_count(to);
    (void)range, (void)scratch;
    for (int64_t i = 0; i < count; i++) {
        int64_t at = 0, rest = i, stride = 1;
        for (int d = s->rank - 1; d >= 0 && at >= 0; rest /= to->dims[d], stride *= s->dims[d], d--) {
            int32_t crop = a->begin[d] < 0 ? -a->begin[d] : 0, crop_end = a->end[d] < 0 ? -a->end[d] : 0;
            int32_t before = a->begin[d] > 0 ? a->begin[d] : 0;
            int64_t x = ig_pad_inside(rest % to->dims[d] - before, s->dims[d] - crop - crop_end, a->mode);
            at = x < 0 ? -1 : at + (x + crop) * stride;
        }
        if (at >= 0) ig_move(call->out[0].data, i, call->in[0].data, at, ig_type_bytes(s->type));
        else ig_put_real(call->out[0].data, s->type, i, a->value);
    }
}

int pad_any_nd__supports(const struct ig_call *call)
{
    const struct ig_pad *a = call->attrs;
    return ig_ref_moves(call) && (call->in[0].shape->type != IG_F16 || a->mode != IG_PAD_CONSTANT);
}
