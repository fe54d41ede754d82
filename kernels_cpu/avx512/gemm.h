/* The GEMM micro-kernels of gemm.S, as the set that the driver takes. */
#ifndef KERNELS_CPU_AVX512_GEMM_H
#define KERNELS_CPU_AVX512_GEMM_H

#include "kernels_cpu/common/conv_gemm.h"

extern const struct ig_gemm_set ig_gemm_12x32_avx512; /* panels of 16, two at a time; table entries of 12 */

#endif
