#include "kernels_cpu/common/quant_affine.h"

#include <string.h>

enum { STEP = IG_QUANT_STEP };

/* n channels of a pixel: whole steps, then what is left of one. */
static void run_of(uint8_t *y, const uint8_t *x, const float *scale, const float *offset, int32_t n, const struct ig_quant_affine *q,
                   ig_quant_affine_run_fn *run)
{
    int32_t whole = n / STEP * STEP;
    uint8_t rest[STEP] = {0};
    if (whole) run(y, x, scale, offset, whole, q);
    if (whole == n) return;
    memcpy(rest, x + whole, (size_t)(n - whole));
    run(rest, rest, scale + whole, offset + whole, STEP, q);
    memcpy(y + whole, rest, (size_t)(n - whole));
}

void ig_quant_affine_rows(const struct ig_call *call, struct ig_range range, ig_quant_affine_run_fn *run, ig_quant_affine_pixels_fn *pixels)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_quant_affine *q = (const struct ig_quant_affine *)call->weights;
    const float *scale = (const float *)(q + 1) + range.c0, *offset = scale + (in->c + STEP - 1) / STEP * STEP;
    const int32_t n = range.c1 - range.c0, whole = pixels ? n / STEP * STEP : 0;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const uint8_t *from = (const uint8_t *)ig_row(in, y, 1) + range.c0;
        uint8_t *to = (uint8_t *)ig_row(out, y, 1) + range.c0;
        if (whole) pixels(to, out->pixel_stride, from, in->pixel_stride, scale, offset, whole, out->w, q);
        for (int32_t x = 0; x < out->w && whole < n; x++, from += in->pixel_stride, to += out->pixel_stride)
            run_of(to + whole, from + whole, scale + whole, offset + whole, n - whole, q, run);
    }
}
