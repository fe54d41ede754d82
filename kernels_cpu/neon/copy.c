/* Copy between views, any type: rows where neither side has gaps, else the channels of a pixel. */
#include <string.h>

#include "kernels_cpu/neon/kernels.h"

void copy_any_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t bytes = ig_type_bytes(out->shape->type), c = out->c, n = range.c1 - range.c0;
    int dense = n == c && in->pixel_stride == c && out->pixel_stride == c;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const char *x = (const char *)ig_row(in, y, bytes) + (int64_t)range.c0 * bytes;
        char *p = (char *)ig_row(out, y, bytes) + (int64_t)range.c0 * bytes;
        if (dense)
            memcpy(p, x, (size_t)out->w * (size_t)c * (size_t)bytes);
        else
            for (int32_t i = 0; i < out->w;
                 i++, x += in->pixel_stride * bytes, p += out->pixel_stride * bytes)
                memcpy(p, x, (size_t)n * (size_t)bytes);
    }
}
