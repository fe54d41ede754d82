/* Vectors of floats by the names that files of kernels_cpu/common/ have for every ISA. */
#ifndef KERNELS_CPU_AVX512_LANES_H
#define KERNELS_CPU_AVX512_LANES_H

#include "kernels_cpu/avx512/vec.h"

enum { N = 16 }; /* lanes */

#define VEC __m512
#define SPLAT(x) _mm512_set1_ps(x)
#define LOAD(p) _mm512_loadu_ps(p)
#define LOAD_UPTO(p, n) ((n) >= N ? LOAD(p) : ig_load_part16(p, n)) /* lanes from n on are 0; n >= 1 */
#define STORE(p, v) _mm512_storeu_ps(p, v)
#define STORE_UPTO(p, v, n) _mm512_mask_storeu_ps(p, (n) >= N ? (__mmask16)-1 : ig_mask16(n), v)
#define ADD(a, b) _mm512_add_ps(a, b)
#define SUB(a, b) _mm512_sub_ps(a, b)
#define MUL(a, b) _mm512_mul_ps(a, b)
#define FMA(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#define TOTAL(x) _mm512_reduce_add_ps(x)
#define QUARTERS(a, b, c, d) ig_quarters16(a, b, c, d)
#define TOTALS(q) ig_totals16(q) /* of sixteen vectors, of which q[i] has QUARTERS of four */

/* In every four lanes a sum of four lanes of a, b, c and d each. */
static inline __m512 ig_quarters16(__m512 a, __m512 b, __m512 c, __m512 d)
{
    const __m512 ab = _mm512_add_ps(_mm512_unpacklo_ps(a, b), _mm512_unpackhi_ps(a, b));
    const __m512 cd = _mm512_add_ps(_mm512_unpacklo_ps(c, d), _mm512_unpackhi_ps(c, d));
    return _mm512_add_ps(_mm512_shuffle_ps(ab, cd, 0x44), _mm512_shuffle_ps(ab, cd, 0xee));
}

static inline __m512 ig_totals16(const __m512 *q)
{
    const __m512 low = _mm512_add_ps(_mm512_shuffle_f32x4(q[0], q[1], 0x88), _mm512_shuffle_f32x4(q[0], q[1], 0xdd));
    const __m512 high = _mm512_add_ps(_mm512_shuffle_f32x4(q[2], q[3], 0x88), _mm512_shuffle_f32x4(q[2], q[3], 0xdd));
    return _mm512_add_ps(_mm512_shuffle_f32x4(low, high, 0x88), _mm512_shuffle_f32x4(low, high, 0xdd));
}

#endif
