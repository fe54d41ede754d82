/* Sixteen floats at a time: the load and store of a run's last elements, which touch nothing beyond them. */
#ifndef KERNELS_CPU_AVX512_VEC_H
#define KERNELS_CPU_AVX512_VEC_H

#include <immintrin.h>
#include <stdint.h>

/* Lanes [0, n), n in 0..16. */
static inline __mmask16 ig_mask16(int64_t n)
{
    return (__mmask16)((1u << n) - 1);
}

/* p[0, n) in lanes 0.., zero in the others; n in 1..15. */
static inline __m512 ig_load_part16(const float *p, int64_t n)
{
    return _mm512_maskz_loadu_ps(ig_mask16(n), p);
}

/* Lanes [0, n) to p; n in 1..15. */
static inline void ig_store_part16(float *p, __m512 v, int64_t n)
{
    _mm512_mask_storeu_ps(p, ig_mask16(n), v);
}

#endif
