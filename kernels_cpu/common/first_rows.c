/* The copies of first_rows.h. */
#include "kernels_cpu/common/first_rows.h"

#include <string.h>

int64_t ig_first_row_width(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return ((call->out[0].w - 1) * (int64_t)w->sw + w->kw) * call->in[0].c;
}

int64_t ig_first_pitch(const struct ig_call *call)
{
    return (ig_first_row_width(call) + 15) & ~(int64_t)15;
}

static void copy_pixels(const struct ig_operand *in, int32_t y, int64_t n, float *dst)
{
    int32_t c = in->c;
    const float *src = ig_row_f32(in, y);
    if (in->pixel_stride == c)
        memcpy(dst, src, (size_t)(n * c) * sizeof *dst);
    else
        for (int64_t x = 0; x < n; x++)
            for (int32_t i = 0; i < c; i++) dst[x * c + i] = src[x * in->pixel_stride + i];
}

void ig_first_copy_row(const struct ig_call *call, int32_t y, float *dst)
{
    const struct ig_operand *in = &call->in[0];
    int32_t c = in->c, left = ((const struct ig_conv *)call->attrs)->w.left;
    int64_t width = ig_first_row_width(call), n = width / c - left < in->w ? width / c - left : in->w;
    if (y < 0 || y >= in->h || n <= 0) {
        memset(dst, 0, (size_t)width * sizeof *dst);
        return;
    }
    memset(dst, 0, (size_t)(left * c) * sizeof *dst);
    dst += left * c;
    copy_pixels(in, y, n, dst);
    memset(dst + n * c, 0, (size_t)(width - (left + n) * c) * sizeof *dst);
}
