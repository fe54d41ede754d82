/* Convolution of quantised numbers by the vectors' products of four bytes (VNNI), which every processor with tiles has. */
#define DOT(sum, x, w) _mm512_dpbusd_epi32(sum, x, w)
#include "kernels_cpu/avx512/conv_bytes.inc"

#include "kernels_cpu/amx/kernels.h"
#include "kernels_cpu/avx512/fill_bytes.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx512(to, from, n, head);
}

#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_vnni12x32__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_vnni);
}
