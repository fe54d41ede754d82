/*
 * Depthwise convolution on halves, 8 channels at a time: y = act(bias + sum over taps x w + residual).
 *
 * The products of a window are added in halves, from 0 on, row by row (common/half_gemm.h tells what that costs); the sum is widened,
 * and the rest is of floats, rounded once. A clamp comes after the rounding, with rounded bounds. Taps outside the image are left out.
 *
 * Seven outputs of a row at a time, as maps of 7, 14, 28, 56 and 112 columns have them. Windows of 3 and 5 columns without dilation go through
 * the input's columns: one is loaded once for all outputs that it is a tap of. What is left of a row is computed with outputs before
 * it once more, or one by one where the residual may lie where the output does.
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
    const uint16_t *rows[IG_HALF_PIECE]; /* of the output row's taps; NULL: outside the image */
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
    for (int32_t ky = 0; ky < w->kh; ky++) {
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

INLINE float16x8_t clamped(const struct job *job, float16x8_t v)
{
    return vminq_f16(vmaxq_f16(v, job->lo), job->hi);
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
    vst1q_u16(room, vreinterpretq_u16_f16(clamped(job, narrow(v))));
    memcpy((uint16_t *)ig_row(out, at.y, 2) + x * out->pixel_stride + at.c, room, (size_t)at.n * sizeof *room);
}

/* --- sums --- */

/* Outputs one after the other, of halves with nothing but a clamp behind them. */
INLINE void put_plain(const struct job *job, struct place at, const int count, const float16x8_t *sums, struct wide bias)
{
    const struct ig_operand *out = &job->call->out[0];
    uint16_t *to = (uint16_t *)ig_row(out, at.y, 2) + at.x * out->pixel_stride + at.c;
#pragma GCC unroll 16
    for (int i = 0; i < count; i++, to += out->pixel_stride)
        vst1q_u16(to, vreinterpretq_u16_f16(clamped(job, narrow(add(bias, widen(sums[i]))))));
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

/* Of `count` outputs, columns of the input in order. edge: some may be outside. */
INLINE void by_columns(const struct job *job, struct place at, const int count, const int kw, const int stride, const int edge)
{
    const struct ig_operand *in = &job->call->in[0];
    const uint16_t *weights = (const uint16_t *)job->call->weights + at.c * (int64_t)(1 + ig_taps(&job->w)), *w = weights + LANES;
    int64_t step = in->pixel_stride;
    int32_t x0 = at.x * stride - job->w.left;
    float16x8_t sums[TILE];
#pragma GCC unroll 16
    for (int i = 0; i < count; i++) sums[i] = vdupq_n_f16(0);
    for (int32_t ky = 0; ky < job->w.kh; ky++, w += kw * LANES) {
        if (!job->rows[ky]) continue;
        const uint16_t *p = job->rows[ky] + x0 * step + at.c;
#pragma GCC unroll 32
        for (int j = 0; j < (count - 1) * stride + kw; j++) {
            if (edge && !ig_inside(x0 + j, in->w)) continue;
            float16x8_t v = load(p + j * step);
#pragma GCC unroll 16
            for (int i = 0; i < count; i++)
                if (j - i * stride >= 0 && j - i * stride < kw) sums[i] = vfmaq_f16(sums[i], v, load(w + (j - i * stride) * LANES));
        }
    }
    put(job, at, count, sums, widen(load(weights)));
}

/* Of one output, any window, any number of channels: the same chain. */
static void one(const struct job *job, struct place at)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = &job->w;
    const uint16_t *weights = (const uint16_t *)job->call->weights + at.c * (int64_t)(1 + ig_taps(w)), *tap = weights + LANES;
    float16x8_t sum = vdupq_n_f16(0);
    for (int32_t ky = 0; ky < w->kh; ky++)
        for (int32_t kx = 0; kx < w->kw; kx++, tap += LANES) {
            int32_t x = ig_tap(at.x, w->sw, w->left, kx, w->dw);
            if (!job->rows[ky] || !ig_inside(x, in->w)) continue;
            sum = vfmaq_f16(sum, load_some(job->rows[ky] + x * in->pixel_stride + at.c, at.n), load(tap));
        }
    finish(job, at, at.x, sum, widen(load(weights)));
}

typedef void tile_fn(const struct job *job, struct place at);

#define TILES(kw, stride)                                                                                            \
    static void inside_##kw##s##stride(const struct job *job, struct place at)                                       \
    {                                                                                                                \
        by_columns(job, at, TILE, kw, stride, 0);                                                                    \
    }                                                                                                                \
    static void edge_##kw##s##stride(const struct job *job, struct place at)                                         \
    {                                                                                                                \
        by_columns(job, at, TILE, kw, stride, 1);                                                                    \
    }
TILES(3, 1)
TILES(3, 2)
TILES(5, 1)
TILES(5, 2)
#undef TILES

static const struct {
    int32_t kw, stride;
    tile_fn *inside, *edge;
} tiles[] = {{3, 1, inside_3s1, edge_3s1}, {3, 2, inside_3s2, edge_3s2}, {5, 1, inside_5s1, edge_5s1}, {5, 2, inside_5s2, edge_5s2}};
enum { KINDS = sizeof tiles / sizeof *tiles };

/* Outputs [x0, x1) of a row from channel c on; kind: of tiles, or KINDS where there are none. */
static void stretch(const struct job *job, struct place at, int32_t x0, int32_t x1, int kind)
{
    const struct ig_window *w = &job->w;
    int32_t x = x0, width = job->call->out[0].w;
    while (x < x1) {
        int32_t rest = x1 - x, back = rest < TILE ? TILE - rest : 0;
        at.x = x - back;
        if (kind == KINDS || at.n < LANES || width < TILE || (back && job->residual)) {
            at.x = x++;
            one(job, at);
            continue;
        }
        int32_t first = at.x * w->sw - w->left, last = first + (TILE - 1) * w->sw + w->kw;
        if (first >= 0 && last <= job->call->in[0].w) tiles[kind].inside(job, at);
        else tiles[kind].edge(job, at);
        x = at.x + TILE;
    }
}

void conv_f16_depthwise8__fp16(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct job job = start(call);
    int32_t width = call->out[0].w;
    int kind = 0;
    (void)scratch;
    while (kind < KINDS && (job.w.kw != tiles[kind].kw || job.w.sw != tiles[kind].stride || job.w.dw != 1)) kind++;
    for (int32_t y = range.y0; y < range.y1; y++) {
        find_rows(&job, y);
        for (int32_t x0 = 0; x0 < width; x0 += STRETCH)
            for (int32_t c = range.c0; c < range.c1; c += LANES) {
                struct place at = {y, x0, c, range.c1 - c < LANES ? range.c1 - c : LANES};
                stretch(&job, at, x0, x0 + STRETCH < width ? x0 + STRETCH : width, kind);
            }
    }
}
