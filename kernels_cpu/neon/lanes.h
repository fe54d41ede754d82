/* Vectors of floats by the names that files of kernels_cpu/common/ have for every ISA. */
#ifndef KERNELS_CPU_NEON_LANES_H
#define KERNELS_CPU_NEON_LANES_H

#include <string.h>

#include "kernels_cpu/neon/vec.h"
#include "kernels_cpu/neon/vmath.h"

enum { N = 4 }; /* lanes */

#define VEC float32x4_t
#define SPLAT(x) vdupq_n_f32(x)
#define LOAD(p) vld1q_f32(p)
#define LOAD_UPTO(p, n) ig_load_upto4(p, n) /* lanes from n on are 0; n >= 1 */
#define STORE(p, v) vst1q_f32(p, v)
#define STORE_UPTO(p, v, n) ig_store_upto4(p, v, n)
#define ADD(a, b) vaddq_f32(a, b)
#define SUB(a, b) vsubq_f32(a, b)
#define MUL(a, b) vmulq_f32(a, b)
#define DIV(a, b) vdivq_f32(a, b)
#define FMA(sum, a, b) vfmaq_f32(sum, a, b)
#define SQRT(x) vsqrtq_f32(x)
#define ABS(x) vabsq_f32(x)
#define ROUND(x) vrndnq_f32(x)
#define EXP(x) ig_exp4(x)
#define EXP_NEGATIVE(x) ig_exp4(x) /* x <= 0 */
#define LOG(x) ig_log4(x)
#define POW2(n) ig_pow2i4(vcvtq_s32_f32(n)) /* n whole, in [-126, 127] */
#define SPLIT(x, e) ig_split4(x, e) /* x, a normal number above 0, = m 2^e: m in [sqrt 1/2, sqrt 2) */
#define MAX(a, b) vmaxq_f32(a, b) /* a NaN of either side stays */
#define MIN(a, b) vminq_f32(a, b)
/* x in lanes below n, else y; n in 1..N. */
#define FIRST(x, y, n) ig_first4(x, y, n)
#define MASK uint32x4_t
#define LESS(a, b) vcltq_f32(a, b)
#define LESS_EQUAL(a, b) vcleq_f32(a, b)
#define EQUAL(a, b) vceqq_f32(a, b)
#define CHOOSE(m, x, y) vbslq_f32(m, x, y)
#define WHICH(m) ig_which4(m) /* bit i: lane i */
#define YES(p) ig_yes4(p)             /* of N bytes those that are not 0 */
#define STORE_YES(p, m) ig_store_yes4(p, m) /* N bytes, 0 or 1 */
#define TOTAL(x) vaddvq_f32(x)
#define QUARTERS(a, b, c, d) vpaddq_f32(vpaddq_f32(a, b), vpaddq_f32(c, d)) /* the totals of four vectors */
#define TOTALS(q) (*(q))
#define GREATEST(x) vmaxvq_f32(x)
#define LEAST(x) vminvq_f32(x)

static inline float32x4_t ig_first4(float32x4_t x, float32x4_t y, int64_t n)
{
    static const uint32_t lane[4] = {0, 1, 2, 3};
    return vbslq_f32(vcltq_u32(vld1q_u32(lane), vdupq_n_u32((uint32_t)n)), x, y);
}

static inline float32x4_t ig_split4(float32x4_t x, float32x4_t *e)
{
    const int32x4_t bits = vreinterpretq_s32_f32(x), k = vshrq_n_s32(vsubq_s32(bits, vdupq_n_s32(0x3f3504f3)), 23); /* sqrt 1/2 */
    *e = vcvtq_f32_s32(k);
    return vreinterpretq_f32_s32(vsubq_s32(bits, vshlq_n_s32(k, 23)));
}

static inline unsigned ig_which4(uint32x4_t m)
{
    static const uint32_t bit[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(m, vld1q_u32(bit)));
}

static inline uint32x4_t ig_yes4(const void *p)
{
    uint32_t four;
    memcpy(&four, p, sizeof four);
    const uint16x8_t words = vmovl_u8(vcreate_u8(four));
    return vtstq_u32(vmovl_u16(vget_low_u16(words)), vdupq_n_u32(255));
}

static inline void ig_store_yes4(void *p, uint32x4_t m)
{
    const uint16x4_t words = vmovn_u32(vshrq_n_u32(m, 31));
    const uint32_t four = vget_lane_u32(vreinterpret_u32_u8(vmovn_u16(vcombine_u16(words, words))), 0);
    memcpy(p, &four, sizeof four);
}

#endif
