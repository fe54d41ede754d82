/* Products of matrices made at run time, common/matmul.h. */
#include "kernels_cpu/avx512/gemm.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/common/matmul.h"

void matmul_f32_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_matmul(call, range, scratch, &ig_gemm_12x32_avx512, ig_transpose_b32_avx2);
}
