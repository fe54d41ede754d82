/*
 * Weights of transposed convolution by parts (common/joined.h): for each part what pack/conv.c makes of a convolution to its channels.
 *
 *   part 0: panel 0: bias[16], tap 0: ic 0: channels 0 .. 15, ic 1: ...; tap 1: ...    a part's channels are (py, px, oc), its taps (i, j)
 *           panel 1: ...
 *   part 1: ...
 * Where the kernel has no such row or column, and past the last channel, they are zero. ONNX has w[ic][oc][ky][kx].
 */
#include "kernels_cpu/common/joined.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

enum { NR = 16 };

/* Tap (i, j) of input channel `ic` for channel n of a part. */
static float weight(const struct ig_call *call, const struct ig_joined *part, int32_t i, int32_t j, int32_t ic, int32_t n)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t oc = call->out[0].c, ky = ig_joined_tap(part->py + n / part->run, w->sh, part->kh, i);
    const int32_t kx = ig_joined_tap(n % part->run / oc, w->sw, part->kw, j);
    if (n >= part->channels || ky >= w->kh || kx >= w->kw) return 0;
    return ((const float *)call->in[1].data)[(((int64_t)ic * oc + n % oc) * w->kh + ky) * w->kw + kx];
}

static float *pack_part(const struct ig_call *call, const struct ig_joined *part, float *to)
{
    const float *bias = ig_has(call, 2) ? (const float *)call->in[2].data : NULL;
    for (int32_t first = 0; first < part->channels; first += NR) {
        for (int32_t n = first; n < first + NR; n++) *to++ = bias && n < part->channels ? bias[n % call->out[0].c] : 0;
        for (int32_t tap = 0; tap < part->kh * part->kw; tap++)
            for (int32_t ic = 0; ic < call->in[0].c; ic++)
                for (int32_t n = first; n < first + NR; n++) *to++ = weight(call, part, tap / part->kw, tap % part->kw, ic, n);
    }
    return to;
}

int ig_supports_joined(const struct ig_call *call)
{
    enum { MOST = 64 };
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    const int32_t oc = call->out[0].c;
    return ig_supports_conv_nd(call) && ig_is_flat(w) && conv->groups == 1 && !ig_has(call, 3) && w->sh * w->sw > 1 && w->kh >= w->sh &&
           w->kw >= w->sw && w->dh == 1 && w->dw == 1 && w->top >= 0 && w->left >= 0 && oc % NR && oc < MOST;
}

size_t ig_pack_joined16(const struct ig_call *call, void *dst)
{
    const int32_t sh = ((const struct ig_conv *)call->attrs)->w.sh;
    int64_t floats = 0;
    float *to = (float *)dst;
    for (int32_t py = 0, rows; py < sh; py += rows) {
        rows = ig_joined_rows(call, py);
        const struct ig_joined part = ig_joined_part(call, py, rows);
        floats += (part.channels + NR - 1) / NR * ig_gemm_panel(part.kh * part.kw, call->in[0].c, NR);
        if (to) to = pack_part(call, &part, to);
    }
    return (size_t)floats * sizeof(float);
}

size_t ig_scratch_joined_mr6(const struct ig_call *call)
{
    return ig_gemm_joined_scratch(call, 6);
}

size_t ig_scratch_joined_mr12(const struct ig_call *call)
{
    return ig_gemm_joined_scratch(call, 12);
}
