/* Convolution of quantised numbers by the vectors' products of four bytes. */
#define DOT(sum, x, w) _mm512_dpbusd_epi32(sum, x, w)
#include "kernels_cpu/avx512/conv_bytes.inc"

#include "kernels_cpu/avx512/fill_bytes.h"
#include "kernels_cpu/avx512/sums_floats.h"
#include "kernels_cpu/vnni/kernels.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx512(to, from, n, head);
}

#define TOTAL(from, n) ig_bytes_total_avx2(from, n)
#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_12x32__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_vnni);
}

void conv_integer_i8_12x32__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_vnni, ig_bytes_floats_avx512);
}

void matmul_integer_i8_12x32__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_vnni, ig_bytes_floats_avx512);
}
