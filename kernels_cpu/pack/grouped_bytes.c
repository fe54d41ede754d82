/* Convolutions of quantised numbers whose groups are of few channels, common/grouped_bytes.h. */
#include <string.h>

#include "kernels_cpu/common/grouped_bytes.h"
#include "kernels_cpu/pack/bytes.h"
#include "kernels_cpu/pack/pack.h"

static int supports_grouped(const struct ig_call *call, const struct ig_bytes_grouped_shape *shape)
{
    struct ig_bytes_grouped_cut cut;
    if (!ig_is_flat_qlinear(call) || ig_bytes_are_floats(call) || ig_is_by_channel(call) || !ig_sums_fit(call)) return 0;
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return conv->groups > 1 && w->kh * w->kw > 1 && w->dh == 1 && w->dw == 1 && w->kh <= IG_BYTES_GROUPED_ROWS && w->top >= 0 && w->left >= 0 &&
           ig_bytes_grouped_cut_of(call, shape, &cut) && (shape->unit == 2 || ig_weights_fit(call, 1, shape->halves ? 2 : 0));
}

/* Where lane l finds byte k of its channels, in 16 bytes that begin with those of its vector; beyond the last channel weights are zero. */
static int8_t lane_byte(const struct ig_bytes_grouped_cut *cut, const struct ig_bytes_grouped_shape *shape, int32_t l, int32_t k)
{
    return (int8_t)(l % shape->lanes / cut->oc * cut->ic * (4 / shape->unit) + k);
}

/* Words of channel c of a block. */
static void pack_grouped_filter(const struct ig_filter *f, const struct ig_window *w, const struct ig_bytes_grouped_shape *shape, int32_t words,
                                int32_t *rows, int32_t c)
{
    const int32_t bits = 32 / shape->unit;
    for (int32_t ky = 0; ky < w->kh; ky++)
        for (int32_t k = 0; k < words * shape->unit; k += shape->unit)
            for (int32_t kx = 0; kx < w->kw; kx++, rows += IG_BYTES_CHANNELS) {
                uint32_t word = 0;
                for (int32_t i = 0; i < shape->unit && k + i < f->ic; i++)
                    word |= ((uint32_t)ig_weight_at(f, ((int64_t)ky * w->kw + kx) * f->ic + k + i) & ((1u << bits) - 1)) << i * bits;
                ig_put_word(rows, c, IG_BYTES_CHANNELS, shape->halves, word);
            }
}

static size_t pack_grouped(const struct ig_call *call, void *dst, const struct ig_bytes_grouped_shape *shape)
{
    enum { N = IG_BYTES_CHANNELS };
    struct ig_bytes_grouped_cut cut;
    if (!ig_bytes_grouped_cut_of(call, shape, &cut)) return 0;
    const int32_t lanes = cut.spread ? cut.words * N : 0;
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(lanes + cut.blocks * cut.packed) * sizeof(int32_t);
    if (!dst) return bytes;
    const int32_t zero = shape->unit == 4 ? ig_flipped_zero(call, shape->flips) : 0;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, shape->unit == 4 ? ig_flip_of(call, shape->flips) : 0);
    int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1);
    for (int32_t i = 0; i < 4 * lanes; i++) ((int8_t *)to)[i] = lane_byte(&cut, shape, i / 4 % N, i / 4 / N * 4 + i % 4);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const int32_t within = oc % (cut.merged * cut.oc), c = within % N;
        int32_t *block = to + lanes + (oc / (cut.merged * cut.oc) * cut.parts + within / N) * cut.packed;
        struct ig_filter f = ig_filter_of(call, oc, 1);
        float scale = ig_scale_of(call, oc);
        block[c] = ig_bias_of(call, oc, zero);
        memcpy(&block[N + c], &scale, sizeof scale);
        pack_grouped_filter(&f, &((const struct ig_conv *)call->attrs)->w, shape, cut.words, block + 2 * N, c);
    }
    return bytes;
}

#define GROUPED(isa) \
    int ig_supports_bytes_grouped_##isa(const struct ig_call *call) { return supports_grouped(call, &ig_bytes_grouped_##isa); } \
    size_t ig_pack_bytes_grouped_##isa(const struct ig_call *call, void *dst) { return pack_grouped(call, dst, &ig_bytes_grouped_##isa); } \
    size_t ig_scratch_bytes_grouped_##isa(const struct ig_call *call) { return ig_bytes_grouped_scratch(call, &ig_bytes_grouped_##isa); }
GROUPED(vnni)
GROUPED(avxvnni)
GROUPED(avx2)
GROUPED(dotprod)
GROUPED(neon)
