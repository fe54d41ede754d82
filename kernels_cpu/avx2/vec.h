/* Eight floats at a time: the load and store of a run's last elements, which touch nothing beyond them. */
#ifndef KERNELS_CPU_AVX2_VEC_H
#define KERNELS_CPU_AVX2_VEC_H

#include <immintrin.h>
#include <stdint.h>

/* All bits in lanes [0, n), n in 0..8. */
static inline __m256i ig_mask8(int64_t n)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* p[0, n) in lanes 0.., zero in the others; n >= 1, where eight or more are a full vector. */
static inline __m256 ig_load_upto8(const float *p, int64_t n)
{
    return n >= 8 ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, ig_mask8(n));
}

/* Lanes [0, n) to p; n in 1..7. In halves: a masked store takes a dozen cycles on Zen. */
static inline void ig_store_part(float *p, __m256 v, int64_t n)
{
    __m128 x = _mm256_castps256_ps128(v);
    if (n & 4) {
        _mm_storeu_ps(p, x);
        x = _mm256_extractf128_ps(v, 1);
        p += 4;
    }
    if (n & 2) {
        _mm_storel_pi((__m64 *)p, x);
        x = _mm_movehl_ps(x, x);
        p += 2;
    }
    if (n & 1) _mm_store_ss(p, x);
}

static inline void ig_store_upto8(float *p, __m256 v, int64_t n)
{
    if (n >= 8)
        _mm256_storeu_ps(p, v);
    else
        ig_store_part(p, v, n);
}

#endif
