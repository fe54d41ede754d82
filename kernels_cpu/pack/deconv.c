/*
 * Weights of transposed convolution: for each phase (pz, py, px) of the output, py = (y + top) mod sh, what pack/conv.c
 * makes of a convolution with the taps that the phase sees.
 *
 *   phase (0,0,0)                                           phase (0,0,1)  ...  phase (sd-1,sh-1,sw-1)
 *   group 0: panel 0: bias[nr], tap 0: ic 0: oc 0 .. nr-1   the same with its own taps
 *                                      ic 1: ...
 *                               tap 1: ...
 *            panel 1: ...
 * A phase's taps are the (kz, ky, kx) with kz*dd = pz (mod sd), ky*dh = py (mod sh) and kx*dw = px (mod sw), row by row; a
 * phase without any has one of zeros. ONNX has w[ic][oc][kz][ky][kx].
 */
#include "kernels_cpu/common/conv_gemm.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/window.h"

struct source {
    const float *w, *bias;         /* bias may be NULL */
    const struct ig_window *window;
    int32_t groups, ic, oc;        /* ic, oc of one group */
};

/* One tap of a panel: channels [first, first + width) of group g. */
static float *pack_tap(const struct source *s, int32_t tap, int32_t g, int32_t first, int32_t width, int32_t nr,
                       float *dst)
{
    int32_t taps = ig_taps(s->window);
    for (int32_t c = 0; c < s->ic; c++)
        for (int32_t n = 0; n < nr; n++)
            *dst++ = n < width ? s->w[((int64_t)(g * s->ic + c) * s->oc + first + n) * taps + tap] : 0;
    return dst;
}

struct phase {
    int32_t z, y, x;
};

static float *pack_panel(const struct source *s, struct phase p, int32_t g, int32_t first, int32_t nr, float *dst)
{
    const struct ig_window *w = s->window;
    int32_t width = s->oc - first < nr ? s->oc - first : nr, kz0 = ig_deconv_tap(p.z, w->kd, w->sd, w->dd, 0);
    int32_t ky0 = ig_deconv_tap(p.y, w->kh, w->sh, w->dh, 0), kx0 = ig_deconv_tap(p.x, w->kw, w->sw, w->dw, 0);
    for (int32_t n = 0; n < nr; n++) *dst++ = s->bias && n < width ? s->bias[g * s->oc + first + n] : 0;
    if (kz0 < 0 || ky0 < 0 || kx0 < 0) return pack_tap(s, 0, g, first, 0, nr, dst);
    for (int32_t kz = kz0; kz >= 0; kz = ig_deconv_tap(p.z, w->kd, w->sd, w->dd, kz + 1))
        for (int32_t ky = ky0; ky >= 0; ky = ig_deconv_tap(p.y, w->kh, w->sh, w->dh, ky + 1))
            for (int32_t kx = kx0; kx >= 0; kx = ig_deconv_tap(p.x, w->kw, w->sw, w->dw, kx + 1))
                dst = pack_tap(s, (kz * w->kh + ky) * w->kw + kx, g, first, width, nr, dst);
    return dst;
}

size_t ig_pack_deconv16(const struct ig_call *call, void *dst)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    struct source s = {(const float *)call->in[1].data, NULL, w, conv->groups, call->in[0].c / conv->groups,
                       call->out[0].c / conv->groups};
    int64_t floats = 0, panels = (int64_t)conv->groups * ((s.oc + 15) / 16);
    float *p = (float *)dst;
    if (ig_has(call, 2)) s.bias = (const float *)call->in[2].data;
    for (int32_t i = 0; i < w->sd * w->sh * w->sw; i++) {
        struct phase phase = {i / (w->sh * w->sw), i / w->sw % w->sh, i % w->sw};
        floats += panels * ig_gemm_panel(ig_deconv_phase_taps(w, phase.z, phase.y, phase.x), s.ic, 16);
        for (int32_t g = 0; p && g < conv->groups; g++)
            for (int32_t first = 0; first < s.oc; first += 16) p = pack_panel(&s, phase, g, first, 16, p);
    }
    return (size_t)floats * sizeof(float);
}

size_t ig_scratch_deconv_mr6(const struct ig_call *call)
{
    return ig_gemm_deconv_scratch(call, 6);
}

size_t ig_scratch_deconv_mr12(const struct ig_call *call)
{
    return ig_gemm_deconv_scratch(call, 12);
}
