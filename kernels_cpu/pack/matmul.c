/* Products of matrices made at run time: which, and what scratch holds of them. */
#include "kernels_cpu/common/matmul.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

int ig_supports_matmul(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && ig_is_f32(&call->in[1]) && call->in[0].shape->rank >= 2 && call->in[1].shape->rank >= 2;
}

size_t ig_scratch_matmul_mr6(const struct ig_call *call)
{
    return ig_gemm_matmul_scratch(call, 6);
}

size_t ig_scratch_matmul_mr12(const struct ig_call *call)
{
    return ig_gemm_matmul_scratch(call, 12);
}
