/*
 * Depthwise convolution on halves, 8 channels at a time: y = act(bias + sum over taps x w + residual).
 *
 * The products of a window are added in halves, from 0 on, row by row (common/half_gemm.h tells what that costs); the sum is widened,
 * and the rest is of floats, rounded once. A clamp comes after the rounding, with rounded bounds. Taps outside the image are left out.
 *
 * Seven outputs of a row at a time, as maps of 7, 14, 28, 56 and 112 columns have them. Windows of 3 and 5 columns without dilation go through
 * the input's columns: one is loaded once for all outputs that it is a tap of, of stride 1 those of two rows. What is left of a row is computed
 * with outputs before it once more, or one by one where the residual may lie where the output does.
 */
#include <arm_neon.h>
#include <string.h>

#include "kernels_cpu/common/half_gemm.h"
#include "kernels_cpu/fp16/kernels.h"
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/half.h"
#include "kernels_cpu/ref/window.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = 8,
    TILE = 7,               /* outputs of a row */
    STRETCH = 28            /* outputs of a row that all channels pass over before the next ones */
};

struct job {
    const struct ig_call *call;
    struct ig_window w;
    struct ig_act act;
    int residual, later;    /* there is one; the activation is no clamp */
    int plain;              /* neither, and outputs are of halves */
    float16x8_t lo, hi;
    const uint16_t *rows[IG_HALF_WINDOW + 1]; /* of the output row's taps, and one more; NULL: outside the image */
};

struct place {              /* of a tile: its first output, its channels, of which n are there */
    int32_t y, x, c, n;
};

static float16x8_t all(float v)
{
    return vdupq_n_f16((__fp16)v);
}

static struct job start(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {.call = call, .w = conv->w, .act = conv->act, .residual = call->n_in > 3 && call->in[3].data};
    const float inf = __builtin_inff();
    job.later = conv->act.kind > IG_CLIP;
    job.plain = !job.residual && !job.later && call->out[0].shape->type == IG_F16;
    job.lo = all(conv->act.kind == IG_RELU ? 0 : conv->act.kind == IG_CLIP ? conv->act.alpha : -inf);
    job.hi = all(conv->act.kind == IG_CLIP ? conv->act.beta : inf);
    return job;
}

static void find_rows(struct job *job, int32_t y)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = &job->w;
    for (int32_t ky = 0; ky <= w->kh; ky++) {
        int32_t iy = ig_tap(y, w->sh, w->top, ky, w->dh);
        job->rows[ky] = ig_inside(iy, in->h) ? (const uint16_t *)ig_row(in, iy, 2) : NULL;
    }
}

INLINE float16x8_t load(const uint16_t *p)
{
    return vreinterpretq_f16_u16(vld1q_u16(p));
}

static float16x8_t load_part(const uint16_t *p, int32_t n)
{
    uint16_t room[LANES] = {0};
    memcpy(room, p, (size_t)n * sizeof *p);
    return load(room);
}

INLINE float16x8_t load_some(const uint16_t *p, int32_t n)
{
    return n == LANES ? load(p) : load_part(p, n);
}

/* --- what comes behind the sums: as floats, of 8 channels --- */

struct wide {
    float32x4_t a, b;
};

INLINE struct wide widen(float16x8_t v)
{
    return (struct wide){vcvt_f32_f16(vget_low_f16(v)), vcvt_high_f32_f16(v)};
}

INLINE float16x8_t narrow(struct wide v)
{
    return vcvt_high_f16_f32(vcvt_f16_f32(v.a), v.b);
}

INLINE float16x8_t clamped(float16x8_t v, float16x8_t lo, float16x8_t hi)
{
    return vminq_f16(vmaxq_f16(v, lo), hi);
}

INLINE struct wide add(struct wide x, struct wide y)
{
    return (struct wide){vaddq_f32(x.a, y.a), vaddq_f32(x.b, y.b)};
}

static struct wide residual_of(const struct job *job, struct place at, int32_t x)
{
    const struct ig_operand *r = &job->call->in[3];
    float room[LANES] = {0};
    if (r->shape->type == IG_F16) return widen(load_some((const uint16_t *)ig_row(r, at.y, 2) + x * r->pixel_stride + at.c, at.n));
    memcpy(room, ig_row_f32(r, at.y) + x * r->pixel_stride + at.c, (size_t)at.n * sizeof *room);
    return (struct wide){vld1q_f32(room), vld1q_f32(room + 4)};
}

static struct wide activate(const struct job *job, struct wide v)
{
    float room[LANES];
    vst1q_f32(room, v.a);
    vst1q_f32(room + 4, v.b);
    ig_act_row_neon(room, room, LANES, &job->act);
    return (struct wide){vld1q_f32(room), vld1q_f32(room + 4)};
}

static void put_floats(const struct job *job, struct place at, int32_t x, struct wide v)
{
    const struct ig_operand *out = &job->call->out[0];
    float room[LANES];
    vst1q_f32(room, v.a);
    vst1q_f32(room + 4, v.b);
    if (!job->later) ig_act_row_neon(room, room, LANES, &job->act);
    memcpy(ig_row_f32(out, at.y) + x * out->pixel_stride + at.c, room, (size_t)at.n * sizeof *room);
}

/* One output, whatever there is to do. */
static void finish(const struct job *job, struct place at, int32_t x, float16x8_t sum, struct wide bias)
{
    const struct ig_operand *out = &job->call->out[0];
    struct wide v = add(bias, widen(sum));
    uint16_t room[LANES];
    if (job->residual) v = add(v, residual_of(job, at, x));
    if (job->later) v = activate(job, v);
    if (out->shape->type != IG_F16) {
        put_floats(job, at, x, v);
        return;
    }
    vst1q_u16(room, vreinterpretq_u16_f16(clamped(narrow(v), job->lo, job->hi)));
    memcpy((uint16_t *)ig_row(out, at.y, 2) + x * out->pixel_stride + at.c, room, (size_t)at.n * sizeof *room);
}

/* --- sums --- */

/* Outputs one after the other, of halves with nothing but a clamp behind them. */
INLINE void put_plain(const struct job *job, struct place at, const int count, const float16x8_t *sums, struct wide bias)
{
    const struct ig_operand *out = &job->call->out[0];
    const int64_t step = out->pixel_stride;
    const float16x8_t lo = job->lo, hi = job->hi;
    uint16_t *to = (uint16_t *)ig_row(out, at.y, 2) + at.x * step + at.c;
#pragma GCC unroll 16
    for (int i = 0; i < count; i++, to += step)
        vst1q_u16(to, vreinterpretq_u16_f16(clamped(narrow(add(bias, widen(sums[i]))), lo, hi)));
}

static __attribute__((noinline)) void put_others(const struct job *job, struct place at, int32_t count, const uint16_t *sums, struct wide bias)
{
    for (int32_t i = 0; i < count; i++) finish(job, at, at.x + i, load(sums + i * LANES), bias);
}

INLINE void put(const struct job *job, struct place at, const int count, const float16x8_t *sums, struct wide bias)
{
    uint16_t room[TILE * LANES];
    if (__builtin_expect(job->plain, 1)) {
        put_plain(job, at, count, sums, bias);
        return;
    }
#pragma GCC unroll 16
    for (int i = 0; i < count; i++) vst1q_u16(room + i * LANES, vreinterpretq_u16_f16(sums[i]));
    put_others(job, at, count, room, bias);
}

/* Bias of channels c .. c+7; the taps follow, 8 halves apart. */
INLINE const uint16_t *weights_of(const struct job *job, int32_t c)
{
    return (const uint16_t *)job->call->weights + c * (int64_t)(1 + ig_taps(&job->w));
}

/* Of a row's tile the sums' part by one kernel row, w, of input pixel v: column j of those that the tile reads. */
INLINE void take_column(float16x8_t *sums, float16x8_t v, const uint16_t *w, const int j, const int kw, const int stride)
{
#pragma GCC unroll 16
    for (int i = 0; i < TILE; i++)
        if (j - i * stride >= 0 && j - i * stride < kw) sums[i] = vfmaq_f16(sums[i], v, load(w + (j - i * stride) * LANES));
}

/* One input row's part of a tile: tap row w of the first output row, where there is one (`upper`), and below of the second. */
INLINE void by_columns(const struct job *job, struct place at, int32_t ky, float16x8_t sums[2][TILE], const uint16_t *w, const int upper,
                       const int lower, const int kw, const int stride, const int edge)
{
    const struct ig_operand *in = &job->call->in[0];
    const uint16_t *row = job->rows[ky];
    int64_t step = in->pixel_stride;
    int32_t x0 = at.x * stride - job->w.left;
    if (!row) return;
    row += x0 * step + at.c;
#pragma GCC unroll 32
    for (int j = 0; j < (TILE - 1) * stride + kw; j++) {
        if (edge && !ig_inside(x0 + j, in->w)) continue;
        float16x8_t v = load(row + j * step);
        if (upper) take_column(sums[0], v, w, j, kw, stride);
        if (lower) take_column(sums[1], v, w - kw * LANES, j, kw, stride);
    }
}

/* A tile of one output row, or of two whose taps' rows follow each other. edge: some of the input's columns may be outside. */
INLINE void tile(const struct job *job, struct place at, const int two, const int kw, const int stride, const int edge)
{
    const uint16_t *weights = weights_of(job, at.c), *w = weights + LANES;
    const struct wide bias = widen(load(weights));
    float16x8_t sums[2][TILE];
    int32_t ky = two;
#pragma GCC unroll 16
    for (int i = 0; i < TILE; i++) sums[0][i] = sums[1][i] = vdupq_n_f16(0);
    if (two) by_columns(job, at, 0, sums, w, 1, 0, kw, stride, edge);
    for (w += two * kw * LANES; ky < job->w.kh; ky++, w += kw * LANES) by_columns(job, at, ky, sums, w, 1, two, kw, stride, edge);
    if (two) by_columns(job, at, ky, sums, w, 0, 1, kw, stride, edge);
    put(job, at, TILE, sums[0], bias);
    at.y++;
    if (two) put(job, at, TILE, sums[1], bias);
}

/* Of one output, whose taps' rows are rows[0] and on, any window, any number of channels: the same chain. */
static void one(const struct job *job, const uint16_t *const *rows, struct place at)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = &job->w;
    const uint16_t *weights = weights_of(job, at.c), *tap = weights + LANES;
    float16x8_t sum = vdupq_n_f16(0);
    for (int32_t ky = 0; ky < w->kh; ky++)
        for (int32_t kx = 0; kx < w->kw; kx++, tap += LANES) {
            int32_t x = ig_tap(at.x, w->sw, w->left, kx, w->dw);
            if (!rows[ky] || !ig_inside(x, in->w)) continue;
            sum = vfmaq_f16(sum, load_some(rows[ky] + x * in->pixel_stride + at.c, at.n), load(tap));
        }
    finish(job, at, at.x, sum, widen(load(weights)));
}

typedef void tile_fn(const struct job *job, struct place at);

#define TILES(name, two, kw, stride)                                                                                 \
    static void inside_##name(const struct job *job, struct place at)                                                \
    {                                                                                                                \
        tile(job, at, two, kw, stride, 0);                                                                           \
    }                                                                                                                \
    static void edge_##name(const struct job *job, struct place at)                                                  \
    {                                                                                                                \
        tile(job, at, two, kw, stride, 1);                                                                           \
    }
TILES(3s1, 0, 3, 1)
TILES(3s2, 0, 3, 2)
TILES(5s1, 0, 5, 1)
TILES(5s2, 0, 5, 2)
TILES(3x2, 1, 3, 1)
TILES(5x2, 1, 5, 1)
#undef TILES

static const struct kind {
    int32_t kw, stride;
    tile_fn *inside[2], *edge[2]; /* of one output row, of two */
} kinds[] = {{3, 1, {inside_3s1, inside_3x2}, {edge_3s1, edge_3x2}},
             {3, 2, {inside_3s2, NULL}, {edge_3s2, NULL}},
             {5, 1, {inside_5s1, inside_5x2}, {edge_5s1, edge_5x2}},
             {5, 2, {inside_5s2, NULL}, {edge_5s2, NULL}}};

/* NULL: outputs are computed one by one. */
static const struct kind *kind_of(const struct job *job)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (job->w.kw == kinds[i].kw && job->w.sw == kinds[i].stride && job->w.dw == 1 && job->call->out[0].w >= TILE) return &kinds[i];
    return NULL;
}

/* Outputs [x0, x1) of `rows` rows from channel c on. */
static void stretch(const struct job *job, struct place at, int32_t x0, int32_t x1, int32_t rows, const struct kind *kind)
{
    const struct ig_window *w = &job->w;
    int32_t x = x0;
    while (x < x1) {
        int32_t rest = x1 - x, back = rest < TILE ? TILE - rest : 0;
        at.x = x - back;
        if (!kind || at.n < LANES || (back && job->residual)) {
            at.x = x++;
            for (int32_t k = 0; k < rows; k++) one(job, job->rows + k, (struct place){at.y + k, at.x, at.c, at.n});
            continue;
        }
        int32_t first = at.x * w->sw - w->left, last = first + (TILE - 1) * w->sw + w->kw;
        tile_fn *const *by = first >= 0 && last <= job->call->in[0].w ? kind->inside : kind->edge;
        by[rows - 1](job, at);
        x = at.x + TILE;
    }
}

void conv_f16_depthwise8__fp16(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct job job = start(call);
    const struct kind *kind = kind_of(&job);
    int32_t width = call->out[0].w, pairs = kind && kind->inside[1] && job.w.sh == 1 && job.w.dh == 1;
    (void)scratch;
    for (int32_t y = range.y0, rows; y < range.y1; y += rows) {
        rows = pairs && y + 1 < range.y1 ? 2 : 1;
        find_rows(&job, y);
        for (int32_t x0 = 0; x0 < width; x0 += STRETCH)
            for (int32_t c = range.c0; c < range.c1; c += LANES) {
                struct place at = {y, x0, c, range.c1 - c < LANES ? range.c1 - c : LANES};
                stretch(&job, at, x0, x0 + STRETCH < width ? x0 + STRETCH : width, rows, kind);
            }
    }
}
