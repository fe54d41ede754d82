/* Convolution of quantised numbers whose groups are of few channels, common/grouped_bytes.h: products of four bytes. */
#define DOT(sum, x, w) _mm256_dpbusd_avx_epi32(sum, x, w)
#include "kernels_cpu/avx2/grouped_bytes.inc"

#include "kernels_cpu/avxvnni/kernels.h"

void qlinear_conv_i8_grouped16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_bytes_grouped_set set = {&ig_bytes_grouped_avxvnni, MOST, tile, ig_bytes_grouped_copy, put};
    ig_bytes_grouped(call, range, scratch, &set);
}
