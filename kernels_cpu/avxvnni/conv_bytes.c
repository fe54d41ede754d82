/* Convolution of quantised numbers by products of four bytes: avx2/conv_bytes.c, of twice as many multiply-adds an instruction. */
#define DOT(sum, x, w) _mm256_dpbusd_avx_epi32(sum, x, w)
#include "kernels_cpu/avx2/conv_bytes.inc"

#include "kernels_cpu/avx2/sums_floats.h"
#include "kernels_cpu/avxvnni/kernels.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx2(to, from, n, head);
}

#define TOTAL(from, n) ig_bytes_total_avx2(from, n)
#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_6x16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_avxvnni);
}

void conv_integer_i8_6x16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_avxvnni, ig_bytes_floats_avx2);
}

void matmul_integer_i8_6x16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_avxvnni, ig_bytes_floats_avx2);
}
