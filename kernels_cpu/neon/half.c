/* Kernels on halves: fcvtl and fcvtn around the kernels on floats (common/half.h). */
#include <arm_neon.h>
#include <string.h>

#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/half.h"
#include "kernels_cpu/neon/kernels.h"

void ig_widen_neon(float *to, int64_t to_step, const uint16_t *from, int64_t from_step, int64_t n, int32_t pixels)
{
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step) {
        int64_t i = 0;
        for (; i + 4 <= n; i += 4)
            vst1q_f32(to + i, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from + i))));
        if (i == n) continue;
        uint16_t rest[4] = {0};
        float wide[4];
        memcpy(rest, from + i, (size_t)(n - i) * sizeof *from);
        vst1q_f32(wide, vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(rest))));
        memcpy(to + i, wide, (size_t)(n - i) * sizeof *to);
    }
}

void ig_narrow_neon(uint16_t *to, int64_t to_step, const float *from, int64_t from_step, int64_t n, int32_t pixels)
{
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step) {
        int64_t i = 0;
        for (; i + 4 <= n; i += 4)
            vst1_u16(to + i, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(from + i))));
        if (i == n) continue;
        float rest[4] = {0};
        uint16_t thin[4];
        memcpy(rest, from + i, (size_t)(n - i) * sizeof *from);
        vst1_u16(thin, vreinterpret_u16_f16(vcvt_f16_f32(vld1q_f32(rest))));
        memcpy(to + i, thin, (size_t)(n - i) * sizeof *to);
    }
}

enum { PANELS = 4 };

static float32x4_t wide(const uint16_t *from)
{
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(from)));
}

static inline __attribute__((always_inline)) void panels_of(const float *x, int64_t k, const uint16_t *panels, const int n, float *c)
{
    int64_t panel = ig_gemm_panel(1, k, 16);
    const uint16_t *b[PANELS] = {panels, panels + panel, panels + 2 * panel, panels + 3 * panel};
    float32x4_t acc[4 * PANELS];
#pragma GCC unroll 16
    for (int i = 0; i < 4 * n; i++) acc[i] = wide(b[i / 4] + i % 4 * 4);
    for (int64_t i = 1; i <= k; i++) {
        float32x4_t a = vld1q_dup_f32(x++);
#pragma GCC unroll 16
        for (int j = 0; j < 4 * n; j++) acc[j] = vfmaq_f32(acc[j], a, wide(b[j / 4] + i * 16 + j % 4 * 4));
    }
#pragma GCC unroll 16
    for (int i = 0; i < 4 * n; i++) vst1q_f32(c + i * 4, acc[i]);
}

static void gemv(const float *x, int64_t k, const void *panels, int32_t n, float *c)
{
#define OF(n) case n: panels_of(x, k, (const uint16_t *)panels, n, c); break
    switch (n) {
        OF(1); OF(2); OF(3);
    default: panels_of(x, k, (const uint16_t *)panels, PANELS, c); break;
    }
#undef OF
}

void conv_f16_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_conv16, conv_f32_6x16__neon, ig_widen_neon, ig_narrow_neon, &ig_gemm_6x16_neon, gemv};
    ig_half_run(call, range, scratch, &half);
}

void conv_f16_lean6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_conv16_lean, conv_f32_6x16__neon, ig_widen_neon, ig_narrow_neon, &ig_gemm_6x16_neon, gemv};
    ig_half_run(call, range, scratch, &half);
}

void conv_f16_depthwise4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_depthwise8, conv_f32_depthwise4__neon, ig_widen_neon, ig_narrow_neon, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void deconv_f16_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_deconv16, deconv_f32_6x16__neon, ig_widen_neon, ig_narrow_neon, &ig_gemm_6x16_neon, NULL};
    ig_half_run(call, range, scratch, &half);
}

void fc_f16_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_fc16, fc_f32_6x16__neon, ig_widen_neon, ig_narrow_neon, &ig_gemm_6x16_neon, gemv};
    ig_half_run(call, range, scratch, &half);
}

void pool_f16_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_pool, pool_f32_4__neon, ig_widen_neon, ig_narrow_neon, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void global_pool_f16_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {{IG_GLOBAL_POOL, IG_HALF_SLICES, 8, 1}, global_pool_f32_4__neon, ig_widen_neon, ig_narrow_neon, NULL, NULL};
    ig_half_global_pool(call, range, scratch, &half);
}

void unary_f16_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_unary, unary_f32_other4__neon, ig_widen_neon, ig_narrow_neon, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void binary_f16_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_binary, binary_f32_4__neon, ig_widen_neon, ig_narrow_neon, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void softmax_f16_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_softmax, softmax_f32_4__neon, ig_widen_neon, ig_narrow_neon, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}
