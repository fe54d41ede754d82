/* Copies: the same elements in the same order, dense (reshape) or between strided operands (copy). */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

void reshape_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    memcpy(call->out[0].data, call->in[0].data, (size_t)ig_bytes(call->out[0].shape));
}

void copy_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int bytes = ig_type_bytes(out->shape->type);
    size_t run = (size_t)(range.c1 - range.c0) * (size_t)bytes;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            memcpy((char *)ig_row(out, y, bytes) + (x * out->pixel_stride + range.c0) * bytes,
                   (const char *)ig_row(in, y, bytes) + (x * in->pixel_stride + range.c0) * bytes, run);
}
