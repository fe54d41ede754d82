/* Vectors of floats by the names that files of kernels_cpu/common/ have for every ISA. */
#ifndef KERNELS_CPU_AVX512_LANES_H
#define KERNELS_CPU_AVX512_LANES_H

#include "kernels_cpu/avx512/vec.h"

enum { N = 16 }; /* lanes */

#define VEC __m512
#define SPLAT(x) _mm512_set1_ps(x)
#define LOAD(p) _mm512_loadu_ps(p)
#define LOAD_UPTO(p, n) ((n) >= N ? LOAD(p) : ig_load_part16(p, n)) /* lanes from n on are 0; n >= 1 */
#define ADD(a, b) _mm512_add_ps(a, b)
#define FMA(sum, a, b) _mm512_fmadd_ps(a, b, sum)
#define TOTAL(x) _mm512_reduce_add_ps(x)

#endif
