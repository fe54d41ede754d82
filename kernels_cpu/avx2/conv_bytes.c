/* Convolution of quantised numbers, common/conv_bytes.h: pairs of 16 bits, whose products' sum one instruction makes exactly. */
#define DOT(sum, x, w) _mm256_add_epi32(sum, _mm256_madd_epi16(x, w))
#include "kernels_cpu/avx2/conv_bytes.inc"

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_widen_avx2(to, from, n, head);
}

#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_avx2);
}

void conv_integer_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_avx2, ig_bytes_floats_avx2);
}

void matmul_integer_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_avx2, ig_bytes_floats_avx2);
}
