/* Convolutions of quantised numbers of few input channels, common/first_bytes.h and common/first_pairs.h. */
#include <string.h>

#include "kernels_cpu/common/first_bytes.h"
#include "kernels_cpu/common/first_pairs.h"
#include "kernels_cpu/pack/bytes.h"
#include "kernels_cpu/pack/pack.h"

/* As products_fit, but that scales may be no numbers: x86 rounds such products to the least of 32 bits, of which bounds make the lower one. */
static int products_narrow(const struct ig_call *call)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++)
        if (fabsf(ig_scale_of(call, oc)) >= 0.5f) return 0;
    return 1;
}

static int supports_first(const struct ig_call *call, const struct ig_bytes_first_shape *shape)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    if (!ig_is_flat_qlinear(call) || ig_bytes_are_floats(call) || conv->groups != 1) return 0;
    if (call->in[0].c > IG_BYTES_FIRST || call->out[0].w < shape->lanes) return 0;
    const int64_t step = (int64_t)w->sw * call->in[0].c;
    const int near = step <= IG_BYTES_FIRST_NEAR || (step <= IG_BYTES_FIRST_FAR && step % 2 == 0);
    return near && w->kh * w->kw > 1 && w->dh == 1 && w->dw == 1 && w->top >= 0 && w->left >= 0 && ig_sums_fit(call) && ig_weights_fit(call, 1, 0) &&
           products_narrow(call);
}

/* Word k of a filter. */
static int32_t first_word(const struct ig_filter *f, const struct ig_window *w, const struct ig_bytes_first_cut *cut, int32_t k)
{
    uint32_t word = 0;
    for (int32_t i = 0, ky, at; i < 4; i++)
        if (ig_bytes_first_byte(w, cut, k, i, &ky, &at)) word |= ((uint32_t)ig_weight_at(f, (int64_t)ky * w->kw * f->ic + at) & 0xff) << 8 * i;
    return (int32_t)word;
}

static size_t pack_first(const struct ig_call *call, void *dst, const struct ig_bytes_first_shape *shape)
{
    enum { N = IG_BYTES_FIRST_FOUR };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_bytes_first_cut cut = ig_bytes_first_cut_of(call);
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + N - 1) / N * cut.packed) * sizeof(int32_t);
    if (!dst) return bytes;
    const int32_t zero = ig_flipped_zero(call, shape->flips);
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, ig_flip_of(call, shape->flips));
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1) + oc / N * cut.packed + oc % N;
        struct ig_filter f = ig_filter_of(call, oc, 1);
        float scale = ig_scale_of(call, oc);
        to[0] = ig_bias_of(call, oc, zero);
        memcpy(&to[N], &scale, sizeof scale);
        for (int32_t k = 0; k < cut.words; k++) to[(2 + k) * N] = first_word(&f, w, &cut, k);
    }
    return bytes;
}

#define FIRST(isa) \
    int ig_supports_bytes_first_##isa(const struct ig_call *call) { return supports_first(call, &ig_bytes_first_##isa); } \
    size_t ig_pack_bytes_first_##isa(const struct ig_call *call, void *dst) { return pack_first(call, dst, &ig_bytes_first_##isa); } \
    size_t ig_scratch_bytes_first_##isa(const struct ig_call *call) { return ig_bytes_first_scratch(call, &ig_bytes_first_##isa); }
FIRST(vnni)

/* --- the same by pairs of 16 bits, common/first_pairs.h --- */

int ig_supports_first_pairs(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    if (!ig_is_flat_qlinear(call) || ig_bytes_are_floats(call) || conv->groups != 1) return 0;
    if (call->in[0].c > IG_FIRST_PAIRS || call->out[0].w < IG_FIRST_PAIRS_PIXELS) return 0;
    return w->kh * w->kw > 1 && w->dh == 1 && w->dw == 1 && w->top >= 0 && w->left >= 0 && ig_sums_fit(call) && products_narrow(call);
}

size_t ig_pack_first_pairs(const struct ig_call *call, void *dst)
{
    enum { N = IG_FIRST_PAIRS_PANEL };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_first_pairs_cut cut = ig_first_pairs_cut_of(call);
    const int32_t k = w->kw * call->in[0].c;
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + N - 1) / N * cut.panel) * sizeof(int32_t);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, 0);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *panel = (int32_t *)((struct ig_bytes_head *)dst + 1) + oc / N * cut.panel, c = oc % N;
        int16_t *to = (int16_t *)(panel + 2 * N) + 2 * c;
        const struct ig_filter f = ig_filter_of(call, oc, 1);
        ig_put_ends(call, oc, 0, 0, &panel[c], &panel[N + c]);
        for (int32_t ky = 0; ky < w->kh; ky++, to += 2 * N * cut.words)
            for (int32_t i = 0; i < k; i++) to[i / 2 * 2 * N + i % 2] = (int16_t)ig_weight_at(&f, (int64_t)ky * k + i);
    }
    return bytes;
}

size_t ig_scratch_first_pairs(const struct ig_call *call)
{
    return ig_first_pairs_scratch(call);
}
