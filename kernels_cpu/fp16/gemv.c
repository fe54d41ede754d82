/*
 * One pixel by one, two or four panels, an ig_half_pixel_fn of kernels_cpu/common/half_gemm.h: weights are read once, as fast as they come.
 *
 * A panel's 16 channels are two sums of halves, which an FMLA of latency 4 cannot keep busy; those of four panels are eight. Eight k of
 * the pixel are one register, whose lanes multiply 2 x 4 vectors of weights each. The chain of an element is that of gemm.S.
 */
#include <arm_neon.h>

#include "kernels_cpu/common/half_gemm.h"
#include "kernels_cpu/fp16/kernels.h"

ig_half_pixel_fn ig_half_pixel_fp16;

#define INLINE static inline __attribute__((always_inline))

enum { PANELS = 4, VECTORS = 2, LANES = 8 };

INLINE float16x8_t load(const uint16_t *p)
{
    return vreinterpretq_f16_u16(vld1q_u16(p));
}

struct panels {                      /* where they are read, and their sums of halves */
    const uint16_t *b[PANELS];
    float16x8_t sums[PANELS * VECTORS];
};

INLINE void clear(struct panels *p, const int n)
{
#pragma GCC unroll 8
    for (int i = 0; i < n * VECTORS; i++) p->sums[i] = vdupq_n_f16(0);
}

/* k number i behind the next one, of lane `lane`. */
#define STEP(i, lane)                                                                                                     \
    _Pragma("GCC unroll 8") for (int j = 0; j < n * VECTORS; j++)                                                         \
        p->sums[j] = vfmaq_laneq_f16(p->sums[j], load(p->b[j / VECTORS] + (i) * IG_HALF_NR + j % VECTORS * LANES), v, lane)

INLINE void next(struct panels *p, int32_t k, const int n)
{
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) p->b[i] += k * IG_HALF_NR;
}

/* `count` products of each sum. */
INLINE void add_products(struct panels *p, const uint16_t *a, int64_t count, const int n)
{
    for (; count >= LANES; count -= LANES, a += LANES) {
        const float16x8_t v = load(a);
        STEP(0, 0);
        STEP(1, 1);
        STEP(2, 2);
        STEP(3, 3);
        STEP(4, 4);
        STEP(5, 5);
        STEP(6, 6);
        STEP(7, 7);
        next(p, LANES, n);
    }
    for (; count > 0; count--, a++) {
        const float16x8_t v = vreinterpretq_f16_u16(vdupq_n_u16(*a));
        STEP(0, 0);
        next(p, 1, n);
    }
}

/* Those of floats, which begin as the bias. */
INLINE void begin(struct panels *p, float *to, const int n)
{
    for (int j = 0; j < n * VECTORS; j++) {
        const float16x8_t bias = load(p->b[j / VECTORS] + j % VECTORS * LANES);
        vst1q_f32(to + j * LANES, vcvt_f32_f16(vget_low_f16(bias)));
        vst1q_f32(to + j * LANES + 4, vcvt_high_f32_f16(bias));
    }
    next(p, 1, n);
    clear(p, n);
}

INLINE void flush(struct panels *p, float *to, const int n)
{
#pragma GCC unroll 8
    for (int j = 0; j < n * VECTORS; j++, to += LANES) {
        vst1q_f32(to, vaddq_f32(vld1q_f32(to), vcvt_f32_f16(vget_low_f16(p->sums[j]))));
        vst1q_f32(to + 4, vaddq_f32(vld1q_f32(to + 4), vcvt_high_f32_f16(p->sums[j])));
    }
    clear(p, n);
}

INLINE void pixel(const struct ig_half_args *args, int64_t panel, const int n)
{
    const uint16_t *const *address = args->a;
    struct panels p;
    int64_t together = args->together;
#pragma GCC unroll 4
    for (int i = 0; i < n; i++) p.b[i] = args->b + i * panel;
    begin(&p, args->sums, n);
    for (int64_t tap = 1; tap <= args->taps; tap++, address += IG_HALF_MR) {
        const uint16_t *a = *address + args->a_offset / (int64_t)sizeof *a;
        int64_t left = args->k;
        for (; left > args->piece; left -= args->piece, a += args->piece) {
            add_products(&p, a, args->piece, n);
            flush(&p, args->sums, n);
        }
        add_products(&p, a, left, n);
        if (tap < args->taps && --together) continue;
        flush(&p, args->sums, n);
        together = args->together;
    }
}

void ig_half_pixel_fp16(const struct ig_half_args *args, int64_t panel, int32_t n)
{
    if (n == 4) pixel(args, panel, 4);
    else if (n == 2) pixel(args, panel, 2);
    else pixel(args, panel, 1);
}
