/* The GEMM micro-kernels of gemm.S, as the sets that the driver takes. */
#ifndef KERNELS_CPU_NEON_GEMM_H
#define KERNELS_CPU_NEON_GEMM_H

#include "kernels_cpu/common/conv_gemm.h"

extern const struct ig_gemm_set ig_gemm_6x16_neon; /* panels of 16, table entries of 6 */
extern const struct ig_gemm_set ig_gemm_packed6x16_neon; /* the first, and the kernels of gemm_packed.S */
extern const struct ig_gemm_set ig_gemm_8x8_neon;  /* panels of 8, table entries of 8 */

#endif
