/*
 * Weights of depthwise convolution: blocks of 8 channels, or of 4.
 *
 *   block 0                                block 1
 *   bias: c 0 .. 7                         bias: c 8 .. 15
 *   tap 0: c 0 .. 7                        tap 0: c 8 .. 15
 *   tap 1: c 0 .. 7     tap = (kz*kh + ky)*kw + kx
 *   ...
 * Channels past the last are zero. ONNX has them as w[c][1][tap], those of transposed ones, too.
 */
#include "kernels_cpu/common/depthwise7.h"
#include "kernels_cpu/common/depthwise_any.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/window.h"

static size_t pack(const struct ig_call *call, int32_t width, void *dst)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    int32_t taps = ig_taps(&conv->w), c = call->out[0].c;
    const float *w = (const float *)call->in[1].data;
    const float *bias = ig_has(call, 2) ? (const float *)call->in[2].data : NULL;
    float *p = (float *)dst;
    for (int32_t c0 = 0; p && c0 < c; c0 += width)
        for (int32_t t = -1; t < taps; t++)
            for (int32_t i = c0; i < c0 + width; i++)
                *p++ = i >= c ? 0 : t >= 0 ? w[(int64_t)i * taps + t] : bias ? bias[i] : 0;
    return (size_t)((c + width - 1) / width * width) * (size_t)(taps + 1) * sizeof(float);
}

size_t ig_pack_depthwise4(const struct ig_call *call, void *dst)
{
    return pack(call, 4, dst);
}

size_t ig_pack_depthwise8(const struct ig_call *call, void *dst)
{
    return pack(call, 8, dst);
}

size_t ig_pack_depthwise16(const struct ig_call *call, void *dst)
{
    return pack(call, 16, dst);
}

int ig_supports_depthwise_nd(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_supports_conv_nd(call) && conv->groups == call->in[0].c && conv->groups == call->out[0].c;
}

int ig_supports_depthwise(const struct ig_call *call)
{
    return ig_supports_depthwise_nd(call) && ig_is_flat(&((const struct ig_conv *)call->attrs)->w);
}

/* What the sliding kernels take: 3x3, stride 1 or 2, at most one column missing at either side. */
int ig_supports_depthwise3x3(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    if (!ig_supports_depthwise(call)) return 0;
    int32_t past = (call->out[0].w - 1) * w->sw - w->left + 3 - call->in[0].w;
    return w->kh == 3 && w->kw == 3 && w->sh == w->sw && w->sw <= 2 && w->dh == 1 && w->dw == 1 && w->left >= 0 &&
           w->left <= 1 && past <= 1;
}

/* Seven outputs of a row at a time, of which k/2 columns at either side may be outside the image. */
int ig_supports_depthwise7(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    if (!ig_supports_depthwise(call) || call->out[0].c % 8 || call->out[0].w < 7) return 0;
    int32_t past = (call->out[0].w - 1) * w->sw - w->left + w->kw - call->in[0].w;
    return (w->kw == 3 || w->kw == 5 || w->kw == 7) && w->kh == w->kw && w->sh == w->sw && w->sw <= 2 && w->dh == 1 &&
           w->dw == 1 && w->left >= 0 && w->left <= w->kw / 2 && past <= w->kw / 2;
}

/* Rows of seven outputs at least. */
int ig_supports_depthwise_any(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return ig_supports_depthwise_nd(call) && call->out[0].w >= IG_DEPTHWISE_ANY_FEW && w->kw <= IG_DEPTHWISE_ANY_TAPS &&
           w->kd * w->kh <= IG_DEPTHWISE_ANY_TAPS;
}

size_t ig_scratch_depthwise_any(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t n = call->out[0].w < IG_DEPTHWISE_ANY_STRETCH ? call->out[0].w : IG_DEPTHWISE_ANY_STRETCH;
    if (!ig_depthwise_any_copies(call)) return 0;
    return (size_t)ig_depthwise_any_rows(w) * (size_t)ig_depthwise_any_columns(w, n) * IG_DEPTHWISE_ANY_LANES * sizeof(float);
}

int ig_supports_deconv_depthwise(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return ig_supports_depthwise(call) && !ig_has(call, 3) && w->kh >= w->sh && w->kw >= w->sw && w->dh == 1 && w->dw == 1 && w->top >= 0 &&
           w->left >= 0;
}

size_t ig_scratch_depthwise7(const struct ig_call *call)
{
    int32_t most = 0;
    if (!ig_depthwise7_copies(call)) return 0;
    for (int32_t n = 7; n <= IG_DEPTHWISE7_STRETCH; n++) {
        int64_t floats = ig_depthwise7_columns(call, n) * ig_depthwise7_pitch(ig_depthwise7_group(call, n));
        if (floats > most) most = (int32_t)floats;
    }
    return (size_t)most * (size_t)((const struct ig_conv *)call->attrs)->w.kh * sizeof(float);
}
