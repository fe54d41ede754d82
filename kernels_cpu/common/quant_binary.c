#include "kernels_cpu/common/quant_binary.h"

#include <string.h>

enum { STEP = IG_QUANT_STEP };

static int32_t zero_of(const struct ig_operand *o)
{
    return o->shape->type == IG_I8 ? *(const int8_t *)o->data : *(const uint8_t *)o->data;
}

static float scale_of(const struct ig_call *call, int k)
{
    return *(const float *)call->in[k].data;
}

static int is_signed(const struct ig_operand *o)
{
    return o->shape->type == IG_I8;
}

static int within(float x, float most)
{
    return x > -most && x < most; /* not so what is no number */
}

static struct ig_quant_binary quant_binary_of(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    const float y = scale_of(call, 6);
    struct ig_quant_binary q = {.a = scale_of(call, 1) / y, .b = scale_of(call, 4) / y, .product = scale_of(call, 1) * scale_of(call, 4) / y,
                                .a_zero = zero_of(&call->in[2]), .b_zero = zero_of(&call->in[5]), .a_signed = is_signed(&call->in[0]),
                                .b_signed = is_signed(&call->in[3]), .is_product = attr->kind == IG_MUL, .zero = zero_of(&call->in[7]),
                                .is_signed = is_signed(&call->out[0])};
    const float a = (float)q.a_zero * q.a, b = (float)q.b_zero * q.b;
    q.k = -(a + b);
    q.least = q.is_signed ? -128 : 0;
    q.most = q.least + 255;
    if (attr->act.kind == IG_CLIP) {
        if (attr->act.alpha > (float)q.least) q.least = (int32_t)attr->act.alpha;
        if (attr->act.beta < (float)q.most) q.most = (int32_t)attr->act.beta;
    }
    q.low = (float)(q.least - q.zero);
    q.high = (float)(q.most - q.zero);
    q.narrows = q.is_product ? within(q.product, 0x1p13f) : within(q.a, 0x1p20f) && within(q.b, 0x1p20f);
    return q;
}

/* Whole steps, then what is left of one. */
static void run_of(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q, ig_quant_binary_run_fn *run)
{
    int64_t whole = n / STEP * STEP;
    uint8_t rest[2][STEP] = {{0}, {0}};
    if (whole) run(y, a, b, whole, q);
    if (whole == n) return;
    memcpy(rest[0], a + whole, (size_t)(n - whole));
    memcpy(rest[1], b + whole, (size_t)(n - whole));
    run(rest[0], rest[0], rest[1], STEP, q);
    memcpy(y + whole, rest[0], (size_t)(n - whole));
}

static int is_gapless(const struct ig_operand *o, int32_t n)
{
    return o->c == n && o->pixel_stride == n;
}

/* Rows follow each other, too. */
static int is_whole(const struct ig_operand *o)
{
    return o->ring_rows >= o->h && o->row_stride == (int64_t)o->w * o->c;
}

void ig_quant_binary_rows(const struct ig_call *call, struct ig_range range, ig_quant_binary_run_fn *run, ig_quant_binary_scale_fn *scale)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[3], *out = &call->out[0];
    const struct ig_quant_binary q = quant_binary_of(call);
    const int is_pixel = b->h != out->h || b->w != out->w; /* b is one of each image */
    const int64_t b_step = is_pixel ? 0 : b->pixel_stride;
    const int32_t n = range.c1 - range.c0, rows = out->h / b->h, scaled = scale && is_pixel && q.is_product ? n / STEP * STEP : 0;
    const int joined = !is_pixel && is_gapless(a, n) && is_gapless(b, n) && is_gapless(out, n);
    const int32_t step = joined && is_whole(a) && is_whole(b) && is_whole(out) ? range.y1 - range.y0 : 1;
    for (int32_t y = range.y0; y < range.y1; y += step) {
        const uint8_t *pa = (const uint8_t *)ig_row(a, y, 1) + range.c0, *pb = (const uint8_t *)ig_row(b, y / rows, 1) + range.c0;
        uint8_t *to = (uint8_t *)ig_row(out, y, 1) + range.c0;
        for (int32_t c = 0; c < scaled; c += STEP) scale(to + c, out->pixel_stride, pa + c, a->pixel_stride, pb + c, out->w, &q);
        if (joined) run_of(to, pa, pb, (int64_t)n * out->w * step, &q, run);
        else
            for (int32_t x = 0; x < out->w && scaled < n; x++, pa += a->pixel_stride, pb += b_step, to += out->pixel_stride)
                run_of(to + scaled, pa + scaled, pb + scaled, n - scaled, &q, run);
    }
}
