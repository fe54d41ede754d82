#include "kernels_cpu/common/quant_binary.h"

#include <string.h>

enum { STEP = IG_QUANT_STEP };

static int32_t zero_of(const struct ig_operand *o)
{
    return o->shape->type == IG_I8 ? *(const int8_t *)o->data : *(const uint8_t *)o->data;
}

/* Inputs k + 1 and k + 2 are the scale and the zero of input k. */
static struct ig_quant_operand operand_of(const struct ig_call *call, int k)
{
    return (struct ig_quant_operand){*(const float *)call->in[k + 1].data, zero_of(&call->in[k + 2]), call->in[k].shape->type == IG_I8};
}

static struct ig_quant_binary quant_binary_of(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    struct ig_quant_binary q = {.a = operand_of(call, 0), .b = operand_of(call, 3), .scale = *(const float *)call->in[6].data,
                                .zero = zero_of(&call->in[7]), .product = attr->kind == IG_MUL};
    float least = call->out[0].shape->type == IG_I8 ? -128 : 0, most = least + 255;
    if (attr->act.kind == IG_CLIP) {
        least = attr->act.alpha > least ? attr->act.alpha : least;
        most = attr->act.beta < most ? attr->act.beta : most;
    }
    q.low = least - (float)q.zero;
    q.high = most - (float)q.zero;
    if (q.scale > 0x1p-100f && q.scale < 0x1p100f) q.reciprocal = 1 / q.scale;
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

void ig_quant_binary_rows(const struct ig_call *call, struct ig_range range, ig_quant_binary_run_fn *run)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[3], *out = &call->out[0];
    const struct ig_quant_binary q = quant_binary_of(call);
    int32_t n = range.c1 - range.c0, joined = is_gapless(a, n) && is_gapless(b, n) && is_gapless(out, n);
    for (int32_t y = range.y0; y < range.y1; y++) {
        const uint8_t *pa = (const uint8_t *)ig_row(a, y, 1) + range.c0, *pb = (const uint8_t *)ig_row(b, y, 1) + range.c0;
        uint8_t *to = (uint8_t *)ig_row(out, y, 1) + range.c0;
        if (joined) run_of(to, pa, pb, (int64_t)n * out->w, &q, run);
        else
            for (int32_t x = 0; x < out->w; x++, pa += a->pixel_stride, pb += b->pixel_stride, to += out->pixel_stride)
                run_of(to, pa, pb, n, &q, run);
    }
}
