/* The same by numbers of 16 bits, for weights that leave what conv_bytes.c may have. */
#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/sums_floats.h"

enum { MR = 4, NR = IG_BYTES_CHANNELS };

typedef void rows_fn(const void *a, int64_t step, const int32_t *panel, int64_t words, int32_t *sums);
rows_fn ig_wide_1x16_neon, ig_wide_2x16_neon, ig_wide_3x16_neon, ig_wide_4x16_neon;

/* Eight at a time; the last eight overlap what is there. */
static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const int16x8_t zero = vdupq_n_s16((int16_t)head->x_zero);
    int16_t *p = (int16_t *)to;
    if (n < 8) {
        for (int64_t i = 0; i < n; i++) p[i] = (int16_t)((head->is_signed ? (int8_t)from[i] : from[i]) - head->x_zero);
        return;
    }
    for (int64_t i = 0;; i = i + 8 < n - 8 ? i + 8 : n - 8) {
        vst1q_s16(p + i, vsubq_s16(ig_bytes_widened(vld1_u8(from + i), head->is_signed), zero));
        if (i == n - 8) break;
    }
}

static void tile(const struct ig_bytes_pixels *a, int32_t rows, const int32_t *panel, int32_t *sums)
{
    rows_fn *const of[MR] = {ig_wide_1x16_neon, ig_wide_2x16_neon, ig_wide_3x16_neon, ig_wide_4x16_neon};
    of[rows - 1](a->at, a->step, panel, a->words, sums);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums, scale, n, head);
}

#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i16_4x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_neon_wide);
}

void conv_integer_i16_4x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_neon_wide, ig_bytes_floats_neon);
}

void matmul_integer_i16_4x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_neon_wide, ig_bytes_floats_neon);
}
