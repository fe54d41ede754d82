/* The same by numbers of 16 bits, for weights that leave what conv_bytes.c may have. */
#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/kernels.h"

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

/* The two numbers at `a`, in the first lanes. */
static inline int16x4_t word_at(const char *a)
{
    int32_t word;
    memcpy(&word, a, sizeof word);
    return vreinterpret_s16_s32(vdup_n_s32(word));
}

/* s += a word's products: w[0], w[1] have the weights of its first number, w[2], w[3] those of the second. */
static inline __attribute__((always_inline)) void add_wide(int32x4_t s[QUADS], const char *a, const int16x8_t w[QUADS])
{
    const int16x4_t x = word_at(a);
    for (int j = 0; j < 2; j++) {
        s[2 * j] = vmlal_lane_s16(vmlal_lane_s16(s[2 * j], vget_low_s16(w[j]), x, 0), vget_low_s16(w[2 + j]), x, 1);
        s[2 * j + 1] = vmlal_high_lane_s16(vmlal_high_lane_s16(s[2 * j + 1], w[j], x, 0), w[2 + j], x, 1);
    }
}

static inline __attribute__((always_inline)) void wide_of(const char *a, int64_t step, const int rows, const int32_t *panel, int64_t words, int32_t *sums)
{
    const int16_t *w = (const int16_t *)panel;
    int32x4_t s[MR][QUADS];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < QUADS; j++) s[i][j] = vdupq_n_s32(0);
    for (int64_t k = 0; k < words; k++, w += 2 * NR, a += 4) {
        const int16x8_t row[QUADS] = {vld1q_s16(w), vld1q_s16(w + 8), vld1q_s16(w + 16), vld1q_s16(w + 24)};
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) add_wide(s[i], a + i * step, row);
    }
    for (int i = 0; i < rows; i++) store_row(sums + i * NR, s[i]);
}

static void tile(const char *a, int64_t step, int32_t rows, const int32_t *w, int64_t words, int32_t *sums)
{
    rows_fn *const of[MR] = {ig_wide_1x16_neon, ig_wide_2x16_neon, ig_wide_3x16_neon, ig_wide_4x16_neon};
    of[rows - 1](a, step, w, words, sums);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const int32_t *bias, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums, bias, scale, n, head);
}

#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i16_4x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_neon_wide);
}
