/*
 * Convolution of groups of few channels, common/grouped.h, four output channels of a group by four input channels at a time, which
 * multiply by lane: for a kernel row the inputs of eight outputs, their sums and twelve vectors of weights are in registers.
 */
#include "kernels_cpu/common/grouped.h"
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

#define INLINE static inline __attribute__((always_inline))

enum { L = 4, MOST = 8 };

/* sum[p] += x[p][j] w. */
INLINE void by_lane(float32x4_t *sum, const int n, const float32x4_t *x, const int j, float32x4_t w)
{
#pragma GCC unroll 8
    for (int p = 0; p < n; p++)
        sum[p] = j == 0   ? vfmaq_laneq_f32(sum[p], w, x[p], 0)
                 : j == 1 ? vfmaq_laneq_f32(sum[p], w, x[p], 1)
                 : j == 2 ? vfmaq_laneq_f32(sum[p], w, x[p], 2)
                          : vfmaq_laneq_f32(sum[p], w, x[p], 3);
}

/* Three taps of a row, one apart, whose outputs share inputs. */
INLINE void slide(float32x4_t *sum, const int n, const float *row, const float *w)
{
    float32x4_t x[MOST + 2];
#pragma GCC unroll 10
    for (int p = 0; p < n + 2; p++) x[p] = vld1q_f32(row + p * L);
#pragma GCC unroll 4
    for (int j = 0; j < L; j++)
#pragma GCC unroll 3
        for (int kx = 0; kx < 3; kx++) by_lane(sum, n, x + kx, j, vld1q_f32(w + (3 * j + kx) * L));
}

INLINE void any_taps(float32x4_t *sum, const int n, const float *row, const float *w, int32_t kw, int32_t stride)
{
    for (int32_t kx = 0; kx < kw; kx++, row += L, w += L) {
        float32x4_t x[MOST];
#pragma GCC unroll 8
        for (int p = 0; p < n; p++) x[p] = vld1q_f32(row + (int64_t)p * stride * L);
#pragma GCC unroll 4
        for (int j = 0; j < L; j++) by_lane(sum, n, x, j, vld1q_f32(w + (int64_t)j * kw * L));
    }
}

INLINE void tile_of(const struct ig_grouped_tile *t, const int n, const int slides)
{
    const float *w = t->w + L;
    float32x4_t sum[MOST];
#pragma GCC unroll 8
    for (int p = 0; p < n; p++) sum[p] = vld1q_f32(t->w);
    for (int32_t ky = 0; ky < t->kh; ky++)
        for (int32_t b = 0; b < t->in_blocks; b++, w += L * t->kw * L) {
            const float *row = t->rows[ky] + b * t->in_step;
            if (slides) slide(sum, n, row, w);
            else any_taps(sum, n, row, w, t->kw, t->stride);
        }
    const float32x4_t lo = vdupq_n_f32(t->lo), hi = vdupq_n_f32(t->hi);
    float *out = t->out;
#pragma GCC unroll 8
    for (int p = 0; p < n; p++, out += t->out_step) vst1q_f32(out, vminq_f32(vmaxq_f32(sum[p], lo), hi));
}

INLINE void tile_by(const struct ig_grouped_tile *t, int32_t n, const int slides)
{
    switch (n) {
    case 1: tile_of(t, 1, slides); break;
    case 2: tile_of(t, 2, slides); break;
    case 3: tile_of(t, 3, slides); break;
    case 4: tile_of(t, 4, slides); break;
    case 5: tile_of(t, 5, slides); break;
    case 6: tile_of(t, 6, slides); break;
    case 7: tile_of(t, 7, slides); break;
    default: tile_of(t, MOST, slides); break;
    }
}

static void tile(const struct ig_grouped_tile *t, int32_t n)
{
    if (t->kw == 3 && t->stride == 1) tile_by(t, n, 1);
    else tile_by(t, n, 0);
}

void conv_f32_grouped4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_grouped_set set = {L, MOST, tile, ig_act_row_neon};
    ig_grouped(call, range, scratch, &set);
}
