/* The GEMM micro-kernels of gemm.S, as the sets that the driver takes. */
#ifndef KERNELS_CPU_AVX2_GEMM_H
#define KERNELS_CPU_AVX2_GEMM_H

#include "kernels_cpu/common/conv_gemm.h"

extern const struct ig_gemm_set ig_gemm_6x16_avx2; /* panels of 16, table entries of 6 */
extern const struct ig_gemm_set ig_gemm_4x24_avx2; /* panels of 24, table entries of 4 */
/* The same with blocks of a few groups, whose tables are small. */
extern const struct ig_gemm_set ig_gemm_small6x16_avx2, ig_gemm_small4x24_avx2;

#endif
