/* Pointwise convolution by Strassen's algorithm: the sums of pixels and of products. */
#include <arm_neon.h>

#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/common/strassen.h"

enum { MR = 6, NR = 16 };

static void sums(const float *top, const float *bottom, int64_t k, float *dst, int64_t plane)
{
    for (int64_t i = 0; i < k; i += 4, dst += 4) {
        float32x4_t a11 = vld1q_f32(top + i), a12 = vld1q_f32(top + k + i);
        float32x4_t a21 = vld1q_f32(bottom + i), a22 = vld1q_f32(bottom + k + i);
        vst1q_f32(dst, vaddq_f32(a11, a22));
        vst1q_f32(dst + plane, vaddq_f32(a21, a22));
        vst1q_f32(dst + 2 * plane, vaddq_f32(a11, a12));
        vst1q_f32(dst + 3 * plane, vsubq_f32(a21, a11));
        vst1q_f32(dst + 4 * plane, vsubq_f32(a12, a22));
    }
}

struct end {
    int32_t flags;
    float32x4_t lo, hi;
};

/* c = clamp(x + bias + r); r may be NULL, or c. */
static inline void finish(const struct end *end, float32x4_t x, const float *bias, const float *r, float *c)
{
    x = vaddq_f32(x, vld1q_f32(bias));
    if (r) x = vaddq_f32(x, vld1q_f32(r));
    if (end->flags & IG_GEMM_LO) x = vmaxq_f32(x, end->lo);
    if (end->flags & IG_GEMM_HI) x = vminq_f32(x, end->hi);
    vst1q_f32(c, x);
}

static void join(const struct ig_strassen_tile *t)
{
    const struct end end = {t->flags, vdupq_n_f32(t->lo), vdupq_n_f32(t->hi)};
    for (int32_t row = 0; row < t->rows; row++) {
        const float *m = t->m + row * NR, *bias = t->bias;
        float *top = t->top[row] + t->channel, *bottom = t->bottom[row] + t->channel;
        const float *r_top = t->r_top ? t->r_top[row] + t->channel : NULL;
        const float *r_bottom = t->r_bottom ? t->r_bottom[row] + t->channel : NULL;
        for (int32_t v = 0; v < NR; v += 4, m += 4, bias += 4) {
            float32x4_t m1 = vld1q_f32(m), m2 = vld1q_f32(m + MR * NR), m3 = vld1q_f32(m + 2 * MR * NR);
            float32x4_t m4 = vld1q_f32(m + 3 * MR * NR), m5 = vld1q_f32(m + 4 * MR * NR);
            float32x4_t m6 = vld1q_f32(m + 5 * MR * NR), m7 = vld1q_f32(m + 6 * MR * NR);
            float32x4_t c11 = vaddq_f32(vsubq_f32(vaddq_f32(m1, m4), m5), m7);
            float32x4_t c22 = vaddq_f32(vaddq_f32(vsubq_f32(m1, m2), m3), m6);
            finish(&end, c11, bias, r_top ? r_top + v : NULL, top + v);
            finish(&end, vaddq_f32(m3, m5), bias + NR, r_top ? r_top + NR + v : NULL, top + NR + v);
            finish(&end, vaddq_f32(m2, m4), bias, r_bottom ? r_bottom + v : NULL, bottom + v);
            finish(&end, c22, bias + NR, r_bottom ? r_bottom + NR + v : NULL, bottom + NR + v);
        }
    }
}

static const struct ig_strassen_set set = {&ig_gemm_6x16_neon, sums, join};

void conv_f32_strassen6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_strassen_conv(call, range, scratch, &set);
}
