/* Products of halves: conversions of sixteen around the kernels on floats (common/half.h). */
#include <immintrin.h>

#include "kernels_cpu/avx512/gemm.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/common/half.h"

static void widen(float *to, int64_t to_step, const uint16_t *from, int64_t from_step, int64_t n, int32_t pixels)
{
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step)
        for (int64_t i = 0; i < n; i += 16) {
            __mmask16 k = ig_mask16(n - i < 16 ? n - i : 16);
            _mm512_mask_storeu_ps(to + i, k, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(k, from + i)));
        }
}

/* 0: to nearest, ties to even. */
static void narrow(uint16_t *to, int64_t to_step, const float *from, int64_t from_step, int64_t n, int32_t pixels)
{
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step)
        for (int64_t i = 0; i < n; i += 16) {
            __mmask16 k = ig_mask16(n - i < 16 ? n - i : 16);
            _mm256_mask_storeu_epi16(to + i, k, _mm512_cvtps_ph(_mm512_maskz_loadu_ps(k, from + i), 0));
        }
}

void conv_f16_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_conv16, conv_f32_12x32__avx512, widen, narrow};
    ig_half_run(call, range, scratch, &half);
}

void deconv_f16_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_deconv16, deconv_f32_12x32__avx512, widen, narrow};
    ig_half_deconv(call, range, scratch, &half, &ig_gemm_12x32_avx512);
}

void fc_f16_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_fc16, fc_f32_12x32__avx512, widen, narrow};
    ig_half_run(call, range, scratch, &half);
}
