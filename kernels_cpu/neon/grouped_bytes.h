/* What the tiles of common/grouped_bytes.h by NEON share: sums of eight channels. */
#ifndef KERNELS_CPU_NEON_GROUPED_BYTES_H
#define KERNELS_CPU_NEON_GROUPED_BYTES_H

#include "kernels_cpu/neon/conv_bytes.h"

#define INLINE static inline __attribute__((always_inline))
#define SUMS struct sums
#define WORDS struct words
#define WEIGHTS struct weights
#define LANES int /* none: which lanes of two groups take which bytes is constant */

struct sums { int32x4_t low, high; };

INLINE struct sums load_sums(const int32_t *p)
{
    return (struct sums){vld1q_s32(p), vld1q_s32(p + 4)};
}

INLINE void store_sums(int32_t *p, struct sums s)
{
    vst1q_s32(p, s.low);
    vst1q_s32(p + 4, s.high);
}

INLINE int load_lanes(const int8_t *p)
{
    (void)p;
    return 0;
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums, scale, n, head);
}

#endif
