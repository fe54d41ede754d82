/* Integers of 8 and 32 bits to floats; others, common/cast.h. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/cast.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m256 eight(const void *p, const int type)
{
    if (type == IG_I32) return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)p));
    const __m128i bytes = _mm_loadl_epi64((const __m128i *)p);
    return _mm256_cvtepi32_ps(type == IG_I8 ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
}

INLINE float one(const void *p, const int type)
{
    return type == IG_I32 ? (float)*(const int32_t *)p : type == IG_I8 ? (float)*(const int8_t *)p : (float)*(const uint8_t *)p;
}

INLINE void run_of(float *y, const char *x, int64_t n, const int type, const int bytes)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, eight(x + i * bytes, type));
    for (; i < n; i++) y[i] = one(x + i * bytes, type);
}

static void run(void *y, const char *x, int64_t n, int from, int to)
{
    (void)to;
    if (from == IG_I32) run_of((float *)y, x, n, IG_I32, 4);
    else if (from == IG_I8) run_of((float *)y, x, n, IG_I8, 1);
    else run_of((float *)y, x, n, IG_U8, 1);
}

void cast_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_cast_rows(call, range, run);
}

void cast_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_cast_rows(call, range, ig_cast_any);
}
