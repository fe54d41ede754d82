#include "kernels_cpu/common/quantize.h"

#include <string.h>

enum { STEP = IG_QUANTIZE_STEP };

/* Input 2 is the zero point, u8 or i8, or is not there. */
static int32_t zero_of(const struct ig_call *call)
{
    if (call->n_in < 3 || !call->in[2].shape) return 0;
    return call->in[2].shape->type == IG_I8 ? *(const int8_t *)call->in[2].data : *(const uint8_t *)call->in[2].data;
}

static struct ig_quantization quantization_of(const struct ig_call *call, int32_t type)
{
    struct ig_quantization q = {.scale = *(const float *)call->in[1].data, .zero = zero_of(call), .is_signed = type == IG_I8};
    int32_t least = q.is_signed ? -128 : 0;
    q.low = (float)(least - q.zero);
    q.high = (float)(least + 255 - q.zero);
    return q;
}

/* The elements of a range, in runs that have no gaps. */
struct runs {
    int32_t rows, pixels;
    int64_t n;               /* elements of a run */
};

static struct runs runs_of(const struct ig_operand *in, const struct ig_operand *out, struct ig_range r)
{
    int32_t n = r.c1 - r.c0;
    if (n == out->c && in->pixel_stride == n && out->pixel_stride == n) return (struct runs){r.y1 - r.y0, 1, (int64_t)out->w * n};
    return (struct runs){r.y1 - r.y0, out->w, n};
}

/* Whole steps, then what is left of one. */
static void quantize_run(uint8_t *y, const float *x, int64_t n, const struct ig_quantization *q, ig_quantize_run_fn *run)
{
    int64_t whole = n / STEP * STEP;
    float from[STEP] = {0};
    uint8_t to[STEP];
    if (whole) run(y, x, whole, q);
    if (whole == n) return;
    memcpy(from, x + whole, (size_t)(n - whole) * sizeof *from);
    run(to, from, STEP, q);
    memcpy(y + whole, to, (size_t)(n - whole));
}

static void dequantize_run(float *y, const uint8_t *x, int64_t n, const struct ig_quantization *q, ig_dequantize_run_fn *run)
{
    int64_t whole = n / STEP * STEP;
    uint8_t from[STEP] = {0};
    float to[STEP];
    if (whole) run(y, x, whole, q);
    if (whole == n) return;
    memcpy(from, x + whole, (size_t)(n - whole));
    run(to, from, STEP, q);
    memcpy(y + whole, to, (size_t)(n - whole) * sizeof *to);
}

void ig_quantize_rows(const struct ig_call *call, struct ig_range range, ig_quantize_run_fn *run)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_quantization q = quantization_of(call, out->shape->type);
    const struct runs r = runs_of(in, out, range);
    for (int32_t i = 0; i < r.rows; i++) {
        const float *x = ig_row_f32(in, range.y0 + i) + range.c0;
        uint8_t *y = (uint8_t *)ig_row(out, range.y0 + i, 1) + range.c0;
        for (int32_t j = 0; j < r.pixels; j++, x += in->pixel_stride, y += out->pixel_stride) quantize_run(y, x, r.n, &q, run);
    }
}

void ig_dequantize_rows(const struct ig_call *call, struct ig_range range, ig_dequantize_run_fn *run)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_quantization q = quantization_of(call, in->shape->type);
    const struct runs r = runs_of(in, out, range);
    for (int32_t i = 0; i < r.rows; i++) {
        const uint8_t *x = (const uint8_t *)ig_row(in, range.y0 + i, 1) + range.c0;
        float *y = ig_row_f32(out, range.y0 + i) + range.c0;
        for (int32_t j = 0; j < r.pixels; j++, x += in->pixel_stride, y += out->pixel_stride) dequantize_run(y, x, r.n, &q, run);
    }
}

/* What a tensor's numbers lie between, 0 too. */
static void extremes_of(const float *x, int64_t n, ig_extremes_fn *extremes, float *low, float *high)
{
    const int64_t whole = n / STEP * STEP;
    *low = *high = 0;
    if (whole) extremes(x, whole, low, high);
    for (int64_t i = whole; i < n; i++) {
        *low = x[i] < *low ? x[i] : *low;
        *high = x[i] > *high ? x[i] : *high;
    }
}

void ig_quantize_dynamic(const struct ig_call *call, ig_extremes_fn *extremes, ig_quantize_run_fn *run)
{
    const float *x = (const float *)call->in[0].data;
    const int64_t n = ig_count(call->in[0].shape);
    struct ig_quantization q = {.high = 255};
    float low, high;
    uint8_t zero;
    extremes_of(x, n, extremes, &low, &high);
    q.scale = high > low ? (high - low) / 255 : 1;
    low = -low;
    quantize_run(&zero, &low, 1, &q, run);
    q.zero = zero, q.low = (float)-q.zero, q.high = (float)(255 - q.zero);
    if (call->out[0].data) quantize_run((uint8_t *)call->out[0].data, x, n, &q, run);
    if (call->out[1].data) *(float *)call->out[1].data = q.scale;
    if (call->out[2].data) *(uint8_t *)call->out[2].data = zero;
}

void ig_extremes_of_parts(const struct ig_call *call, struct ig_range range, ig_extremes_fn *extremes)
{
    const float *x = (const float *)call->in[0].data;
    float *y = (float *)call->out[0].data;
    const int64_t count = ig_count(call->in[0].shape), parts = call->out[0].shape->dims[0], part = (count + parts - 1) / parts;
    for (int64_t p = range.y0; p < range.y1; p++) {
        const int64_t first = p * part < count ? p * part : count, n = count - first < part ? count - first : part;
        extremes_of(x + first, n, extremes, &y[2 * p], &y[2 * p + 1]);
    }
}
