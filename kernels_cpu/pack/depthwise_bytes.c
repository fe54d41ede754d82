/* Depthwise convolutions of quantised numbers: common/depthwise_bytes.inc, common/depthwise_fours.inc, common/depthwise_pairs.h. */
#include <string.h>

#include "kernels_cpu/common/depthwise_pairs.h"
#include "kernels_cpu/pack/bytes.h"
#include "kernels_cpu/pack/pack.h"

int ig_supports_bytes_depthwise(const struct ig_call *call)
{
    return ig_is_flat_qlinear(call) && ig_is_by_channel(call) && ig_sums_fit(call);
}

int ig_supports_sums_depthwise(const struct ig_call *call)
{
    return ig_is_flat_integer(call) && ig_is_by_channel(call);
}

int ig_supports_sums_depthwise_neon(const struct ig_call *call)
{
    const struct ig_call q = ig_as_qlinear(call);
    return ig_supports_sums_depthwise(call) && ig_weights_fit(&q, 1, 1);
}

int ig_supports_bytes_depthwise_neon(const struct ig_call *call)
{
    return ig_supports_bytes_depthwise(call) && ig_weights_fit(call, 1, 1);
}

enum layout { TAPS, BYTES }; /* i16 [tap][16], i8 [tap][16] */

/* Weight k of a block's channel i. */
static void put_tap(int32_t *w, int32_t k, int32_t i, enum layout layout, int32_t v)
{
    enum { N = IG_BYTES_CHANNELS };
    if (layout == BYTES) ((int8_t *)w)[k * N + i] = (int8_t)v;
    else ((int16_t *)w)[k * N + i] = (int16_t)v;
}

/* Words of a block. */
static int64_t depthwise_block(const struct ig_call *call, enum layout layout)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return (2 + 2 * ig_bytes_become_floats(call)) * N + (int64_t)(w->kh * w->kw + 1) / 2 * (layout == BYTES ? N / 2 : N);
}

static size_t pack_depthwise(const struct ig_call *call, void *dst, enum layout layout)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    int32_t taps = w->kh * w->kw, blocks = (call->out[0].c + N - 1) / N;
    int64_t block = depthwise_block(call, layout);
    size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(blocks * block) * sizeof(int32_t);
    if (!dst) return bytes;
    int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1), zero;
    zero = layout == BYTES ? ig_flipped_zero(call, IG_BYTES_TO_SIGNED) : (int32_t)ig_parameter(call, IG_Q_X_ZERO, 0);
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, layout == BYTES ? ig_flip_of(call, IG_BYTES_TO_SIGNED) : 0);
    for (int32_t c = 0; c < call->out[0].c; c++) {
        int32_t *at = to + c / N * block, i = c % N;
        struct ig_filter f = ig_filter_of(call, c, 1);
        ig_put_ends(call, c, zero, 1, &at[i], &at[N + i]);
        for (int32_t k = 0; k < taps; k++) put_tap(at + 2 * N, k, i, layout, ig_weight_at(&f, k));
    }
    return bytes;
}

size_t ig_pack_bytes_depthwise_neon(const struct ig_call *call, void *dst)
{
    return pack_depthwise(call, dst, BYTES);
}

size_t ig_pack_bytes_depthwise_taps(const struct ig_call *call, void *dst)
{
    return pack_depthwise(call, dst, TAPS);
}

static size_t pack_sums_depthwise(const struct ig_call *call, void *dst, enum layout layout)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_call q = ig_as_qlinear(call);
    const int64_t block = depthwise_block(&q, layout);
    const size_t bytes = pack_depthwise(&q, dst, layout);
    if (!dst || !ig_bytes_become_floats(call)) return bytes;
    ig_put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t c = 0; c < call->out[0].c; c++)
        ig_put_floats(call, c, N, (int32_t *)((struct ig_bytes_head *)dst + 1) + (c / N + 1) * block - 2 * N + c % N);
    return bytes;
}

size_t ig_pack_sums_depthwise_neon(const struct ig_call *call, void *dst)
{
    return pack_sums_depthwise(call, dst, BYTES);
}

size_t ig_pack_sums_depthwise_taps(const struct ig_call *call, void *dst)
{
    return pack_sums_depthwise(call, dst, TAPS);
}

size_t ig_scratch_bytes_depthwise(const struct ig_call *call)
{
    return ig_bytes_depthwise_scratch(call);
}

int ig_supports_bytes_depthwise_fours(const struct ig_call *call)
{
    return ig_supports_bytes_depthwise(call) && !ig_bytes_are_floats(call) && ((const struct ig_conv *)call->attrs)->w.dw == 1 &&
           ig_weights_fit(call, 1, 0);
}

/* The word of taps [first, first + 4) of kernel row ky. */
static int32_t tap_word(const struct ig_filter *f, const struct ig_window *w, int32_t ky, int32_t first)
{
    uint32_t word = 0;
    for (int32_t j = 0; j < 4; j++)
        if (first + j >= 0 && first + j < w->kw) word |= ((uint32_t)ig_weight_at(f, ky * w->kw + first + j) & 0xff) << 8 * j;
    return (int32_t)word;
}

static size_t pack_words(const struct ig_call *call, void *dst, int32_t flips)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    int32_t words = ig_bytes_depthwise_words(w), of_row = words / w->kh, blocks = (call->out[0].c + N - 1) / N;
    int64_t block = 2 * (1 + words) * N;
    size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(blocks * block) * sizeof(int32_t);
    if (!dst) return bytes;
    int32_t zero = ig_flipped_zero(call, flips);
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, ig_flip_of(call, flips));
    for (int32_t c = 0; c < call->out[0].c; c++) {
        int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1) + c / N * block + c % N;
        struct ig_filter f = ig_filter_of(call, c, 1);
        float scale = ig_scale_of(call, c);
        to[0] = ig_bias_of(call, c, zero);
        memcpy(&to[N], &scale, sizeof scale);
        for (int32_t i = 0; i < 2 * words; i++)
            to[(2 + i) * N] = tap_word(&f, w, i / 2 / of_row, i / 2 % of_row * 4 - i % 2);
    }
    return bytes;
}

size_t ig_pack_bytes_depthwise_fours(const struct ig_call *call, void *dst)
{
    return pack_words(call, dst, IG_BYTES_TO_UNSIGNED);
}

size_t ig_pack_bytes_depthwise_fours_signed(const struct ig_call *call, void *dst)
{
    return pack_words(call, dst, IG_BYTES_TO_SIGNED);
}

/* --- the same with sums as outputs --- */

/* Of all weights less their zero point two numbers of 8 bits are the sum: none is 255. */
static int halves_fit(const struct ig_call *call)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const struct ig_filter f = ig_filter_of(call, oc, 1);
        for (int64_t i = 0; i < f.k; i++)
            if (ig_raw_weight(&f, i) - f.zero > 254) return 0;
    }
    return 1;
}

int ig_supports_sums_depthwise_fours(const struct ig_call *call)
{
    const struct ig_call q = ig_as_qlinear(call);
    return ig_supports_sums_depthwise(call) && ((const struct ig_conv *)call->attrs)->w.dw == 1 && halves_fit(&q);
}

/* What 8 bits hold of a weight less its zero point; or what is left. */
static int32_t part_of(int32_t v, int is_left)
{
    const int32_t held = v < -128 ? -128 : v > 127 ? 127 : v;
    return is_left ? v - held : held;
}

/* `tap_word` of such parts. */
static int32_t part_word(const struct ig_filter *f, const struct ig_window *w, int32_t ky, int32_t first, int is_left)
{
    uint32_t word = 0;
    for (int32_t j = 0; j < 4; j++)
        if (first + j >= 0 && first + j < w->kw) word |= ((uint32_t)part_of(ig_weight_at(f, ky * w->kw + first + j), is_left) & 0xff) << 8 * j;
    return (int32_t)word;
}

/* Words of a channel, a row of a block each; not 0: some is not. */
static int32_t pack_parts(const struct ig_filter *f, const struct ig_window *w, int is_left, int32_t *to)
{
    const int32_t words = ig_bytes_depthwise_words(w), of_row = words / w->kh;
    int32_t any = 0;
    for (int32_t i = 0; i < 2 * words; i++, to += IG_BYTES_CHANNELS) {
        *to = part_word(f, w, i / 2 / of_row, i / 2 % of_row * 4 - i % 2, is_left);
        any |= *to;
    }
    return any;
}

static size_t pack_sums_words(const struct ig_call *call, void *dst, int32_t flips)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_call q = ig_as_qlinear(call);
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t words = ig_bytes_depthwise_words(w), rows = ig_bytes_fours_rows(words);
    const int64_t block = ig_bytes_fours_all(words, 1) * N;
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + N - 1) / N * block) * sizeof(int32_t);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(&q, ig_flip_of(&q, flips));
    if (ig_bytes_become_floats(call)) ig_put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t c = 0; c < call->out[0].c; c++) {
        int32_t *at = (int32_t *)((struct ig_bytes_head *)dst + 1) + c / N * block, *to = at + c % N;
        const struct ig_filter f = ig_filter_of(&q, c, 1);
        to[N] = ig_bias_of(&q, c, -1);
        pack_parts(&f, w, 0, to + 2 * N);
        at[rows * N] |= pack_parts(&f, w, 1, to + (rows + 5) * N);
        if (ig_bytes_become_floats(call)) ig_put_floats(call, c, N, to + (rows + 1) * N);
    }
    return bytes;
}

size_t ig_pack_sums_depthwise_fours(const struct ig_call *call, void *dst)
{
    return pack_sums_words(call, dst, IG_BYTES_TO_UNSIGNED);
}

size_t ig_pack_sums_depthwise_fours_signed(const struct ig_call *call, void *dst)
{
    return pack_sums_words(call, dst, IG_BYTES_TO_SIGNED);
}

size_t ig_scratch_bytes_depthwise_fours(const struct ig_call *call)
{
    return ig_bytes_pixels(&((const struct ig_conv *)call->attrs)->w) + (size_t)call->in[0].c;
}

size_t ig_scratch_bytes_depthwise_wide(const struct ig_call *call)
{
    const size_t words = (size_t)ig_bytes_wide_words(&((const struct ig_conv *)call->attrs)->w, ig_bytes_are_sums(call));
    return ig_bytes_wide_at(call) + (size_t)(call->in[0].c + 63) / 64 * words * sizeof(int32_t);
}

size_t ig_scratch_bytes_depthwise_pairs(const struct ig_call *call)
{
    return (size_t)ig_pairs_cut_of(call).bytes;
}
