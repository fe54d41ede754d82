/*
 * Averages of bytes, any window of two dims: v = (S scale) / n, S the sum of the taps less x_zero each, n what the window counts. Taps are
 * added in 16 bits (uaddw, saddw), these sums in 32: 32 channels of a pixel at a time, then 16.
 *
 * A division is slow; its quotient, to the bit, is q + (a - n q) r, two fused multiply-adds, where a = S scale, r = 1 / n and q = a r are
 * rounded and n is below 2^20: kernels_cpu/common/average_bytes.inc has the proof.
 */
#include "kernels_cpu/common/pool.h"
#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { N = 16, MANY = 2 /* vectors at a time */, FIT = 256 /* taps whose sum 16 bits hold */, MOST = 1 << 20 /* beyond n */ };

struct average {
    float scale;              /* x_scale / y_scale */
    int32_t x_zero, y_zero, low; /* low: the least y */
    /* of a pixel: */
    float factor, n, inverse; /* a = S factor; 1 / n */
    int32_t start;            /* of its sums: - x_zero a tap */
    int divides;              /* a may be infinite or NaN, or n is large */
};

/* Channels from c on: `vectors` of 16; or n < 16, which are one vector that is not whole. */
struct channels {
    int32_t c, n;
    int vectors, whole;
};

/* s += 16 taps. */
INLINE void add(int16x8_t s[2], uint8x16_t x, const int is_signed)
{
    if (is_signed) {
        s[0] = vaddw_s8(s[0], vget_low_s8(vreinterpretq_s8_u8(x)));
        s[1] = vaddw_high_s8(s[1], vreinterpretq_s8_u8(x));
    } else {
        s[0] = vreinterpretq_s16_u16(vaddw_u8(vreinterpretq_u16_s16(s[0]), vget_low_u8(x)));
        s[1] = vreinterpretq_s16_u16(vaddw_high_u8(vreinterpretq_u16_s16(s[1]), x));
    }
}

INLINE int32x4_t widened(int32x4_t sum, int16x4_t s, const int is_signed)
{
    return is_signed ? vaddw_s16(sum, s) : vreinterpretq_s32_u32(vaddw_u16(vreinterpretq_u32_s32(sum), vreinterpret_u16_s16(s)));
}

/* sums += s of taps [j, end) of the view's row i. */
INLINE void add_row(int16x8_t *s, const struct ig_pool_view *v, int32_t i, int32_t j, int32_t end, const struct channels ch, const int is_signed)
{
    const int64_t step = v->dw * v->in->pixel_stride;
    const uint8_t *p = (const uint8_t *)ig_row(v->in, v->y + i * v->dh, 1) + v->x * v->in->pixel_stride + j * step + ch.c;
    for (; j < end; j++, p += step)
#pragma GCC unroll 4
        for (int k = 0; k < ch.vectors; k++) add(s + 2 * k, ch.whole ? vld1q_u8(p + k * N) : ig_bytes_load_some(p, ch.n), is_signed);
}

/* sums += s */
INLINE void add_sums(int32x4_t *sums, const int16x8_t *s, const int vectors, const int is_signed)
{
#pragma GCC unroll 8
    for (int k = 0; k < 2 * vectors; k++) {
        sums[2 * k] = widened(sums[2 * k], vget_low_s16(s[k]), is_signed);
        sums[2 * k + 1] = widened(sums[2 * k + 1], vget_high_s16(s[k]), is_signed);
    }
}

INLINE void clear(int16x8_t *s, const int vectors)
{
#pragma GCC unroll 8
    for (int k = 0; k < 2 * vectors; k++) s[k] = vdupq_n_s16(0);
}

INLINE void add_few(int32x4_t *sums, const struct ig_pool_view *v, const struct channels ch, const int is_signed)
{
    int16x8_t s[2 * MANY];
    clear(s, ch.vectors);
    for (int32_t i = 0; i < v->rows; i++) add_row(s, v, i, 0, v->columns, ch, is_signed);
    add_sums(sums, s, ch.vectors, is_signed);
}

INLINE void add_many(int32x4_t *sums, const struct ig_pool_view *v, const struct channels ch, const int is_signed)
{
    for (int32_t i = 0; i < v->rows; i++)
        for (int32_t j = 0; j < v->columns; j += FIT) {
            int16x8_t s[2 * MANY];
            clear(s, ch.vectors);
            add_row(s, v, i, j, v->columns - j < FIT ? v->columns : j + FIT, ch, is_signed);
            add_sums(sums, s, ch.vectors, is_signed);
        }
}

/* Four averages, rounded. Conversion saturates; it would make 0 of NaN, which is to be the lower bound. */
INLINE int32x4_t four(int32x4_t sum, const struct average *q, const int divides)
{
    const float32x4_t a = vmulq_n_f32(vcvtq_f32_s32(sum), q->factor), n = vdupq_n_f32(q->n), v = vmulq_n_f32(a, q->inverse);
    if (divides) return vcvtnq_s32_f32(vmaxnmq_f32(vdivq_f32(a, n), vdupq_n_f32(INT16_MIN)));
    return vcvtnq_s32_f32(vfmaq_n_f32(v, vfmsq_f32(a, n, v), q->inverse));
}

/* Eight outputs, of which the lower 8 bits count. What 16 bits cannot hold is beyond the bounds with y_zero, too. */
INLINE int16x8_t eight(const int32x4_t *sums, const struct average *q, const int divides)
{
    int16x8_t y = vcombine_s16(vqmovn_s32(four(sums[0], q, divides)), vqmovn_s32(four(sums[1], q, divides)));
    y = vmaxq_s16(vqaddq_s16(y, vdupq_n_s16((int16_t)q->y_zero)), vdupq_n_s16((int16_t)q->low));
    return vminq_s16(y, vdupq_n_s16((int16_t)(q->low + 255)));
}

INLINE void put(uint8_t *out, const int32x4_t *sums, const struct average *q, const struct channels ch, const int divides)
{
#pragma GCC unroll 4
    for (int k = 0; k < ch.vectors; k++) {
        const int8x8_t a = vmovn_s16(eight(sums + 4 * k, q, divides)), b = vmovn_s16(eight(sums + 4 * k + 2, q, divides));
        const uint8x16_t bytes = vreinterpretq_u8_s8(vcombine_s8(a, b));
        if (ch.whole) vst1q_u8(out + ch.c + k * N, bytes);
        else ig_bytes_store_some(out + ch.c, bytes, ch.n);
    }
}

INLINE void block(uint8_t *out, const struct ig_pool_view *v, const struct average *q, const struct channels ch, const int is_signed)
{
    int32x4_t sums[4 * MANY];
#pragma GCC unroll 16
    for (int k = 0; k < 4 * ch.vectors; k++) sums[k] = vdupq_n_s32(q->start);
    if (v->rows * v->columns <= FIT) add_few(sums, v, ch, is_signed);
    else add_many(sums, v, ch, is_signed);
    if (q->divides) put(out, sums, q, ch, 1);
    else put(out, sums, q, ch, 0);
}

/* The channels of a pixel; some of its last 16 twice, where they are not a multiple of 16. */
INLINE void pixel(uint8_t *out, const struct ig_pool_view *v, const struct average *of, struct ig_range range, const int is_signed)
{
    const struct average q = *of; /* which no store changes */
    int32_t c = range.c0, n = range.c1 - c;
    if (n < N) {
        block(out, v, &q, (struct channels){c, n, 1, 0}, is_signed);
        return;
    }
    for (; c + MANY * N <= range.c1; c += MANY * N) block(out, v, &q, (struct channels){c, MANY * N, MANY, 1}, is_signed);
    for (; c < range.c1; c += N) block(out, v, &q, (struct channels){c + N <= range.c1 ? c : range.c1 - N, N, 1, 1}, is_signed);
}

static int32_t zero_of(const struct ig_operand *o)
{
    return o->shape->type == IG_I8 ? *(const int8_t *)o->data : *(const uint8_t *)o->data;
}

static struct average average_of(const struct ig_call *call)
{
    return (struct average){.scale = *(const float *)call->in[1].data / *(const float *)call->in[3].data, .x_zero = zero_of(&call->in[2]),
                            .y_zero = zero_of(&call->in[4]), .low = call->out[0].shape->type == IG_I8 ? -128 : 0};
}

/* The view of output (y, x), and what depends on it. Of no taps at all the average is 0, whatever the scale. */
static struct ig_pool_view view_of(const struct ig_call *call, int32_t y, int32_t x, struct average *q)
{
    const struct ig_pool_view v = ig_pool_view_of(call, y, x);
    q->factor = ig_pool_counted_rows(call, y) && ig_pool_counted_columns(call, x) ? q->scale : 0;
    q->n = v.divisor;
    q->inverse = 1 / q->n;
    q->start = -q->x_zero * v.rows * v.columns;
    q->divides = !(q->scale < 0x1p80f && q->scale > -0x1p80f && q->n < MOST);
    return v;
}

/* Columns [first, end) have all their taps in the image, if there are any: of these the views are one, moved. */
static void columns_within(const struct ig_call *call, int32_t *first, int32_t *end)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    int32_t room = call->in[0].w + w->left - (w->kw - 1) * w->dw - 1;
    *first = (w->left + w->sw - 1) / w->sw;
    *end = room < 0 ? 0 : room / w->sw + 1;
}

void pool_i8_average16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *out = &call->out[0];
    const int32_t sw = ((const struct ig_pool *)call->attrs)->w.sw;
    struct average q = average_of(call);
    struct ig_pool_view v = {0};
    int32_t first, end;
    (void)scratch;
    columns_within(call, &first, &end);
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            uint8_t *p = (uint8_t *)ig_row(out, y, 1) + x * out->pixel_stride;
            if (x > first && x < end) v.x += sw;
            else v = view_of(call, y, x, &q);
            if (call->in[0].shape->type == IG_I8) pixel(p, &v, &q, range, 1);
            else pixel(p, &v, &q, range, 0);
        }
}
