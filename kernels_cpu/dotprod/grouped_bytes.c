/*
 * Convolution of quantised numbers whose groups are of few channels, common/grouped_bytes.h: products of four bytes by those of a word of a
 * register, no permutations. Eight outputs of eight channels are 16 sums; 6 vectors of weights, one of a pixel.
 */
#include "kernels_cpu/dotprod/kernels.h"
#include "kernels_cpu/neon/grouped_bytes.h"

enum { MOST = 8 };

struct words { int8x8_t two; };
struct weights { int8x16_t low, high; };

INLINE struct weights load_weights(const int32_t *p)
{
    return (struct weights){vreinterpretq_s8_s32(vld1q_s32(p)), vreinterpretq_s8_s32(vld1q_s32(p + 4))};
}

INLINE struct words words_of(const char *p, int lanes, const int spread)
{
    (void)lanes, (void)spread;
    return (struct words){vld1_s8((const int8_t *)p)};
}

INLINE struct sums dot(struct sums s, struct words x, struct weights w, const int spread)
{
    s.low = vdotq_lane_s32(s.low, w.low, x.two, 0);
    s.high = spread ? vdotq_lane_s32(s.high, w.high, x.two, 1) : vdotq_lane_s32(s.high, w.high, x.two, 0);
    return s;
}

#include "kernels_cpu/common/grouped_bytes.inc"

void qlinear_conv_i8_grouped16__dotprod(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_bytes_grouped_set set = {&ig_bytes_grouped_dotprod, MOST, tile, ig_bytes_grouped_copy, put};
    ig_bytes_grouped(call, range, scratch, &set);
}
