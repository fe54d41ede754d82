/* Convolutions of groups of few channels, common/grouped.h: what is supported, packed weights, scratch. */
#include <string.h>

#include "kernels_cpu/common/grouped.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

static int supports(const struct ig_call *call, int32_t lanes)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    struct ig_grouped_cut cut;
    return ig_supports_conv(call) && !ig_supports_depthwise(call) && conv->groups > 1 && !ig_has(call, 3) && w->dh == 1 && w->dw == 1 &&
           w->kh <= IG_GROUPED_ROWS && w->top >= 0 && w->left >= 0 && ig_grouped_cut_of(call, lanes, &cut);
}

/* Input channel number j of input block b, to output channel oc. */
static float weight_of(const struct ig_call *call, const struct ig_grouped_cut *cut, int32_t oc, int32_t b, int32_t j, int32_t tap)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int64_t taps = (int64_t)w->kh * w->kw;
    return ((const float *)call->in[1].data)[((int64_t)oc * cut->ic + b * cut->lanes + j) * taps + tap];
}

/* A block's lane l, channel oc. */
static void pack_channel(const struct ig_call *call, const struct ig_grouped_cut *cut, int32_t oc, float *to)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    to[0] = ig_has(call, 2) ? ((const float *)call->in[2].data)[oc] : 0;
    to += cut->lanes;
    for (int32_t ky = 0; ky < w->kh; ky++)
        for (int32_t b = 0; b < cut->in_blocks; b++)
            for (int32_t j = 0; j < cut->j; j++)
                for (int32_t kx = 0; kx < w->kw; kx++, to += cut->lanes) *to = weight_of(call, cut, oc, b, j, ky * w->kw + kx);
}

static size_t pack(const struct ig_call *call, int32_t lanes, void *dst)
{
    struct ig_grouped_cut cut;
    if (!ig_grouped_cut_of(call, lanes, &cut)) return 0;
    const size_t bytes = (size_t)(cut.j * lanes + cut.blocks * cut.packed) * sizeof(float);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    int32_t *lane = (int32_t *)dst;
    float *blocks = (float *)dst + cut.j * lanes;
    for (int32_t j = 0; j < cut.j; j++)
        for (int32_t l = 0; l < lanes; l++) *lane++ = (cut.oc < lanes ? l / cut.oc * cut.ic : 0) + j;
    for (int32_t oc = 0; oc < call->out[0].c; oc++) pack_channel(call, &cut, oc, blocks + oc / lanes * cut.packed + oc % lanes);
    return bytes;
}

static size_t scratch(const struct ig_call *call, int32_t lanes)
{
    struct ig_grouped_cut cut;
    if (!ig_grouped_cut_of(call, lanes, &cut)) return 0;
    return (size_t)(((const struct ig_conv *)call->attrs)->w.kh * cut.in_all * cut.pitch * lanes) * sizeof(float);
}

/* By lane: vectors of inputs are those of one group. */
int ig_supports_grouped4(const struct ig_call *call)
{
    struct ig_grouped_cut cut;
    return supports(call, 4) && ig_grouped_cut_of(call, 4, &cut) && cut.j == 4 && cut.oc >= 4;
}

#define LANES(n) \
    size_t ig_pack_grouped##n(const struct ig_call *call, void *dst) { return pack(call, n, dst); } \
    size_t ig_scratch_grouped##n(const struct ig_call *call) { return scratch(call, n); }
LANES(4)
LANES(8)
LANES(16)

int ig_supports_grouped8(const struct ig_call *call)
{
    return supports(call, 8);
}

int ig_supports_grouped16(const struct ig_call *call)
{
    return supports(call, 16);
}
