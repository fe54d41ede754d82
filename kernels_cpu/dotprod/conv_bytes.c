/* Convolution of quantised numbers, common/conv_bytes.h, by products of four bytes: tiles are in conv_bytes.S. */
#include "kernels_cpu/dotprod/kernels.h"
#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/sums_floats.h"

enum { MR = 6, NR = IG_BYTES_CHANNELS };

typedef void rows_fn(const void *a, int64_t step, const int32_t *panel, int64_t words, int32_t *sums, int64_t lines, int64_t pitch);
rows_fn ig_bytes_1x16_dotprod, ig_bytes_2x16_dotprod, ig_bytes_3x16_dotprod, ig_bytes_4x16_dotprod, ig_bytes_5x16_dotprod, ig_bytes_6x16_dotprod;

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_neon(to, from, n, head);
}

static void tile(const struct ig_bytes_pixels *a, int32_t rows, const int32_t *panel, int32_t *sums)
{
    rows_fn *const of[MR] = {ig_bytes_1x16_dotprod, ig_bytes_2x16_dotprod, ig_bytes_3x16_dotprod,
                             ig_bytes_4x16_dotprod, ig_bytes_5x16_dotprod, ig_bytes_6x16_dotprod};
    of[rows - 1](a->at, a->step, panel, a->words, sums, a->lines, a->pitch);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums, scale, n, head);
}

#define TOTAL(from, n) ig_bytes_total_neon(from, n)
#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_6x16__dotprod(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_dotprod);
}

void conv_integer_i8_6x16__dotprod(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_dotprod, ig_bytes_floats_neon);
}

void matmul_integer_i8_6x16__dotprod(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_dotprod, ig_bytes_floats_neon);
}
