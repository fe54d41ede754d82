/* Convolutions to few output channels, also transposed, common/few.h: which, packed weights, scratch. */
#include <string.h>

#include "kernels_cpu/common/few.h"
#include "kernels_cpu/common/first_rows.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

int ig_supports_few(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return ig_supports_conv_nd(call) && ig_is_flat_or_row(w) && conv->groups == 1 && call->out[0].c <= IG_FEW && !ig_has(call, 3) &&
           w->kh <= IG_FEW_ROWS && w->dw == 1 && w->top >= 0 && w->left >= 0 && w->right >= 0;
}

static size_t pack(const struct ig_call *call, int32_t n, void *dst)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t ic = call->in[0].c, oc = call->out[0].c, taps = w->kh * w->kw;
    const int64_t k = (int64_t)w->kw * ic, vectors = (k + n - 1) / n, front = ig_few_front(n);
    const size_t bytes = (size_t)(front + w->kh * vectors * oc * n) * sizeof(float);
    if (!dst) return bytes;
    float *to = (float *)dst;
    memset(to, 0, bytes);
    for (int32_t o = 0; o < oc; o++) {
        const float *from = (const float *)call->in[1].data + (int64_t)o * ic * taps;
        to[o] = ig_has(call, 2) ? ((const float *)call->in[2].data)[o] : 0;
        for (int32_t ky = 0; ky < w->kh; ky++)
            for (int64_t i = 0; i < k; i++)
                to[front + ((ky * vectors + i / n) * oc + o) * n + i % n] = from[i % ic * taps + ky * w->kw + i / ic];
    }
    return bytes;
}

size_t ig_pack_few4(const struct ig_call *call, void *dst)
{
    return pack(call, 4, dst);
}

size_t ig_pack_few8(const struct ig_call *call, void *dst)
{
    return pack(call, 8, dst);
}

size_t ig_pack_few16(const struct ig_call *call, void *dst)
{
    return pack(call, 16, dst);
}

size_t ig_scratch_few(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    if (ig_few_is_pointwise(call)) return 0;
    return (size_t)((w->kh - 1) * w->dh + 1) * (size_t)ig_first_pitch(call) * sizeof(float);
}

int ig_supports_few_deconv(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return ig_supports_conv_nd(call) && ig_is_flat(w) && conv->groups == 1 && !ig_has(call, 3) && call->out[0].c <= IG_FEW && w->kh >= w->sh &&
           w->kw >= w->sw && w->kh <= IG_FEW_ROWS * w->sh && w->dh == 1 && w->dw == 1 && w->top >= 0 && w->left >= 0 &&
           w->left / w->sw <= (w->kw - 1) / w->sw;
}

/* Kernel row ky for outputs of px, or of all, to dst[ig_few_row_floats()]. */
static void pack_deconv_row(const struct ig_call *call, int32_t ky, int32_t px, int32_t n, float *dst)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t ic = call->in[0].c, oc = call->out[0].c, taps = ig_few_taps(call, px), channels = ig_few_columns(call) * oc;
    for (int32_t c = 0; c < channels; c++)
        for (int32_t i = 0; i < taps * ic; i++) {
            const int32_t kx = ig_joined_tap(px + c / oc, w->sw, taps, i / ic);
            const float *from = (const float *)call->in[1].data + (((int64_t)(i % ic) * oc + c % oc) * w->kh + ky) * w->kw;
            if (kx < w->kw) dst[(i / n * channels + c) * n + i % n] = from[kx];
        }
}

static size_t pack_deconv(const struct ig_call *call, int32_t n, void *dst)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const size_t bytes = (size_t)(ig_few_front(n) + w->kh * ig_few_rows_floats(call, n)) * sizeof(float);
    if (!dst) return bytes;
    float *to = (float *)dst;
    memset(to, 0, bytes);
    for (int32_t o = 0; o < call->out[0].c && ig_has(call, 2); o++) to[o] = ((const float *)call->in[2].data)[o];
    to += ig_few_front(n);
    for (int32_t py = 0; py < w->sh; py++) {
        const struct ig_joined part = ig_joined_part(call, py, 1);
        for (int32_t px = 0; px < w->sw; px += ig_few_columns(call))
            for (int32_t tap = 0; tap < part.kh; tap++, to += ig_few_row_floats(call, px, n))
                pack_deconv_row(call, ig_joined_tap(py, w->sh, part.kh, tap), px, n, to);
    }
    return bytes;
}

size_t ig_pack_few_deconv4(const struct ig_call *call, void *dst)
{
    return pack_deconv(call, 4, dst);
}

size_t ig_pack_few_deconv8(const struct ig_call *call, void *dst)
{
    return pack_deconv(call, 8, dst);
}

size_t ig_pack_few_deconv16(const struct ig_call *call, void *dst)
{
    return pack_deconv(call, 16, dst);
}

/* A row of outputs, and the input's rows where they are copied. */
size_t ig_scratch_few_deconv(const struct ig_call *call)
{
    const struct ig_joined part = ig_joined_part(call, 0, 1);
    const struct ig_conv conv = ig_joined_conv(&part, 0);
    const struct ig_call copies = ig_few_as_conv(call, &part, &conv);
    const int64_t rows = ig_few_is_beside(call, &part) ? 0 : part.kh * ig_first_pitch(&copies);
    return (size_t)(ig_few_line(&part) + rows) * sizeof(float);
}
