/* Products of matrices made at run time, common/matmul.h. */
#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/matmul.h"

void matmul_f32_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_matmul(call, range, scratch, &ig_gemm_6x16_avx2, ig_transpose_b32_avx2);
}
