/*
 * Convolution of quantised numbers whose groups are of few channels, common/grouped_bytes.h: two bytes of each channel multiplied into 16 bits,
 * then two others (smull, smlal), neighbours added to sums of 32 (sadalp). Seven outputs of eight channels are 14 sums; 6 vectors of
 * weights, two of a pixel.
 */
#include "kernels_cpu/neon/grouped_bytes.h"
#include "kernels_cpu/neon/kernels.h"

enum { MOST = 7 };

struct words { int8x16_t first, second; };      /* bytes 0 and 1 of each channel's word, 2 and 3 */
struct weights { int8x16_t first, second; };

INLINE struct weights load_weights(const int32_t *p)
{
    return (struct weights){vreinterpretq_s8_s32(vld1q_s32(p)), vreinterpretq_s8_s32(vld1q_s32(p + IG_BYTES_CHANNELS / 2))};
}

INLINE struct words words_of(const char *p, int lanes, const int spread)
{
    static const uint8_t first[16] = {0, 1, 0, 1, 0, 1, 0, 1, 4, 5, 4, 5, 4, 5, 4, 5};
    (void)lanes;
    if (spread) {
        const uint8x16_t at = vld1q_u8(first);
        const int8x16_t bytes = vld1q_s8((const int8_t *)p);
        return (struct words){vqtbl1q_s8(bytes, at), vqtbl1q_s8(bytes, vaddq_u8(at, vdupq_n_u8(2)))};
    }
    int16x8_t x = vld1q_s16((const int16_t *)p);
    __asm__("" : "+w"(x)); /* a vector: not its halves by way of other registers */
    return (struct words){vreinterpretq_s8_s16(vdupq_laneq_s16(x, 0)), vreinterpretq_s8_s16(vdupq_laneq_s16(x, 1))};
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
