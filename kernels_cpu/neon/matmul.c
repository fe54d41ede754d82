/* Products of matrices made at run time, common/matmul.h. */
#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/common/matmul.h"

void matmul_f32_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_matmul(call, range, scratch, &ig_gemm_6x16_neon, ig_transpose_b32_neon);
}
