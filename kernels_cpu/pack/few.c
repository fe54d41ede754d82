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
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return ig_supports_conv_nd(call) && ig_is_flat(w) && conv->groups == 1 && !ig_has(call, 3) && w->kw * out->c <= IG_FEW && w->kh == w->sh &&
           w->kw == w->sw && w->dh == 1 && w->dw == 1 && !w->top && !w->left && out->h == in->h * w->sh && out->w == in->w * w->sw;
}

static size_t pack_deconv(const struct ig_call *call, int32_t n, void *dst)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t ic = call->in[0].c, oc = call->out[0].c, taps = w->kw * oc;
    const int64_t vectors = (ic + n - 1) / n, front = ig_few_front(n);
    const size_t bytes = (size_t)(front + w->kh * vectors * taps * n) * sizeof(float);
    if (!dst) return bytes;
    float *to = (float *)dst;
    memset(to, 0, bytes);
    for (int32_t o = 0; o < oc; o++) {
        to[o] = ig_has(call, 2) ? ((const float *)call->in[2].data)[o] : 0;
        for (int32_t i = 0; i < ic; i++) {
            const float *from = (const float *)call->in[1].data + ((int64_t)i * oc + o) * w->kh * w->kw;
            for (int32_t k = 0; k < w->kh * w->kw; k++)
                to[front + ((k / w->kw * vectors + i / n) * taps + k % w->kw * oc + o) * n + i % n] = from[k];
        }
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

/* A row of outputs. */
size_t ig_scratch_few_deconv(const struct ig_call *call)
{
    return (size_t)call->out[0].w * (size_t)call->out[0].c * sizeof(float);
}
