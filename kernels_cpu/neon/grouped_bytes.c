/*
 * Convolution of quantised numbers whose groups are of few channels, common/grouped_bytes.h: two bytes of each channel multiplied into 16 bits,
 * then two others (smull, smlal), neighbours added to sums of 32 (sadalp). Eight outputs of eight channels are 16 sums; 6 vectors of
 * weights, two of a pixel.
 */
#include "kernels_cpu/neon/grouped_bytes.h"
#include "kernels_cpu/neon/kernels.h"

enum { MOST = 8 };

struct words { int8x16_t first, second; };      /* bytes 0 and 1 of each channel's word, 2 and 3 */
struct weights { int8x16_t first, second; };

INLINE struct weights load_weights(const int32_t *p)
{
    return (struct weights){vreinterpretq_s8_s32(vld1q_s32(p)), vreinterpretq_s8_s32(vld1q_s32(p + IG_BYTES_CHANNELS / 2))};
}

INLINE struct words words_of(const char *p, int lanes, const int spread)
{
    const int16_t *pairs = (const int16_t *)p;
    (void)lanes;
    if (!spread) return (struct words){vreinterpretq_s8_s16(vld1q_dup_s16(pairs)), vreinterpretq_s8_s16(vld1q_dup_s16(pairs + 1))};
    const int16x4_t x = vld1_s16(pairs);
    return (struct words){vreinterpretq_s8_s16(vcombine_s16(vdup_lane_s16(x, 0), vdup_lane_s16(x, 2))),
                          vreinterpretq_s8_s16(vcombine_s16(vdup_lane_s16(x, 1), vdup_lane_s16(x, 3)))};
}

INLINE struct sums dot(struct sums s, struct words x, struct weights w, const int spread)
{
    (void)spread;
    const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(x.first), vget_low_s8(w.first)), vget_low_s8(x.second), vget_low_s8(w.second));
    const int16x8_t high = vmlal_high_s8(vmull_high_s8(x.first, w.first), x.second, w.second);
    return (struct sums){vpadalq_s16(s.low, low), vpadalq_s16(s.high, high)};
}

#include "kernels_cpu/common/grouped_bytes.inc"

void qlinear_conv_i8_grouped16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_bytes_grouped_set set = {&ig_bytes_grouped_neon, MOST, tile, ig_bytes_grouped_copy, put};
    ig_bytes_grouped(call, range, scratch, &set);
}
