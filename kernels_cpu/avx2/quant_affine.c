/* Affine functions of quantised tensors, common/quant_affine.h. */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/widen_bytes.h"
#include "kernels_cpu/common/quant_affine.h"

#define INLINE static inline __attribute__((always_inline))

/* Eight, rounded; NaN becomes the lower bound. */
INLINE __m256i eight(__m256 x, const float *scale, const float *offset, __m256 low, __m256 high)
{
    const __m256 v = _mm256_fmadd_ps(x, _mm256_loadu_ps(scale), _mm256_loadu_ps(offset));
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, low), high));
}

/* Pixels' channels, two times sixteen; where sixteen are left, they are both. */
static void run_pixels(uint8_t *y, int64_t y_step, const uint8_t *x, int64_t x_step, const float *scale, const float *offset, int32_t channels,
                       int32_t pixels, const struct ig_quant_affine *q)
{
    const struct ig_bytes_head to = {.y_zero = q->zero, .is_signed_out = q->is_signed, .plain = !q->is_signed, .low = -128, .high = 127};
    const __m256 low = _mm256_set1_ps(q->low), high = _mm256_set1_ps(q->high);
    const int32_t x_signed = q->x_signed;
    for (; pixels > 0; pixels--, x += x_step, y += y_step)
        for (int32_t i = 0; i < channels; i += 32) {
            const int32_t j = i + 16 < channels ? i + 16 : i;
            __m256 v[4];
            ig_bytes_to_floats(x + i, x + j, x_signed, v);
            const __m256i bytes = ig_bytes_narrowed_avx2(eight(v[0], scale + i, offset + i, low, high), eight(v[1], scale + i + 8, offset + i + 8, low, high),
                                                         eight(v[2], scale + j, offset + j, low, high), eight(v[3], scale + j + 8, offset + j + 8, low, high), &to);
            ig_bytes_store_two(y + i, y + j, bytes);
        }
}

static void run(uint8_t *y, const uint8_t *x, const float *scale, const float *offset, int64_t n, const struct ig_quant_affine *q)
{
    run_pixels(y, 0, x, 0, scale, offset, (int32_t)n, 1, q);
}

void qlinear_affine_i8_16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_affine_rows(call, range, run, run_pixels);
}
