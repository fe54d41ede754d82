/* Sums and products of quantised operands, common/quant_binary.h. */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/widen_bytes.h"
#include "kernels_cpu/common/quant_binary.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")

enum { VECTORS = 4 /* of eight, which become bytes together */ };

INLINE __m256 sum(__m256 a, __m256 b, const struct ig_quant_binary *q)
{
    return _mm256_fmadd_ps(a, _mm256_set1_ps(q->a), _mm256_fmadd_ps(b, _mm256_set1_ps(q->b), _mm256_set1_ps(q->k)));
}

/* The product of integers is exact. */
INLINE __m256 product(__m256 a, __m256 b, const struct ig_quant_binary *q)
{
    a = _mm256_sub_ps(a, _mm256_set1_ps((float)q->a_zero));
    b = _mm256_sub_ps(b, _mm256_set1_ps((float)q->b_zero));
    return _mm256_mul_ps(_mm256_mul_ps(a, b), _mm256_set1_ps(q->product));
}

INLINE struct ig_bytes_head head_of(const struct ig_quant_binary *q)
{
    return (struct ig_bytes_head){.y_zero = q->zero, .low = q->least, .high = q->most, .is_signed_out = q->is_signed,
                                  .plain = !q->is_signed && q->least == 0 && q->most == 255};
}

/* Bytes of four vectors, rounded; NaN becomes the lower bound. */
INLINE __m256i bytes_of(__m256 v[VECTORS], const struct ig_quant_binary *q, const struct ig_bytes_head *to)
{
    if (!q->narrows)
        UNROLL for (int i = 0; i < VECTORS; i++) v[i] = _mm256_min_ps(_mm256_max_ps(v[i], _mm256_set1_ps(q->low)), _mm256_set1_ps(q->high));
    return ig_bytes_narrowed_avx2(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]), _mm256_cvtps_epi32(v[2]), _mm256_cvtps_epi32(v[3]), to);
}

/* Two times sixteen; where sixteen are left, they are both. */
INLINE void run_by(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q, const int is_product)
{
    const struct ig_bytes_head to = head_of(q);
    for (int64_t i = 0; i < n; i += 32) {
        const int64_t j = i + 16 < n ? i + 16 : i;
        __m256 x[VECTORS], v[VECTORS];
        ig_bytes_to_floats(a + i, a + j, q->a_signed, x);
        ig_bytes_to_floats(b + i, b + j, q->b_signed, v);
        UNROLL for (int k = 0; k < VECTORS; k++) v[k] = is_product ? product(x[k], v[k], q) : sum(x[k], v[k], q);
        ig_bytes_store_two(y + i, y + j, bytes_of(v, q, &to));
    }
}

static void run(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q)
{
    const struct ig_quant_binary own = *q; /* which no store changes */
    if (q->is_product) run_by(y, a, b, n, &own, 1);
    else run_by(y, a, b, n, &own, 0);
}

/* a b' - a_zero b', of which an integer comes, b' = b - b_zero; two pixels, the last of an odd number twice. */
static void scale_pixels(uint8_t *y, int64_t y_step, const uint8_t *a, int64_t a_step, const uint8_t *b, int32_t n, const struct ig_quant_binary *q)
{
    const struct ig_quant_binary own = *q;
    const struct ig_bytes_head to = head_of(&own);
    const __m256 factor = _mm256_set1_ps(own.product);
    __m256 by[VECTORS], less[2];
    ig_bytes_to_floats(b, b, own.b_signed, by);
    for (int k = 0; k < 2; k++) {
        by[k] = _mm256_sub_ps(by[k], _mm256_set1_ps((float)own.b_zero));
        less[k] = _mm256_mul_ps(by[k], _mm256_set1_ps((float)own.a_zero));
    }
    for (int32_t x = 0; x < n; x += 2, a += 2 * a_step, y += 2 * y_step) {
        const int64_t more = x + 1 < n;
        __m256 v[VECTORS];
        ig_bytes_to_floats(a, a + more * a_step, own.a_signed, v);
        UNROLL for (int k = 0; k < VECTORS; k++) v[k] = _mm256_mul_ps(_mm256_fmsub_ps(v[k], by[k % 2], less[k % 2]), factor);
        ig_bytes_store_two(y, y + more * y_step, bytes_of(v, &own, &to));
    }
}

void qlinear_binary_i8_16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_binary_rows(call, range, run, scale_pixels);
}
