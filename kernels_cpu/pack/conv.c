/*
 * Weights of the GEMM convolutions: panels of nr output channels, in the order the micro-kernel reads.
 *
 *   group 0                                               group 1
 *   panel 0                        panel 1                panel 0
 *   bias[nr]                       bias[nr] ...           bias[nr] ...
 *   tap 0: ic 0: oc 0 .. nr-1
 *          ic 1: oc 0 .. nr-1
 *          ...
 *   tap 1: ic 0: oc 0 .. nr-1          tap = (kz*kh + ky)*kw + kx, ic within the group
 *   ...
 * Channels past the group's last are zero. ONNX has them as w[oc][ic][tap].
 */
#include <string.h>

#include "kernels_cpu/common/conv_gemm.h"
#include "kernels_cpu/common/first_rows.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/common/pieces.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/window.h"

struct source {
    const float *w, *bias;         /* bias may be NULL */
    int32_t groups, ic, oc, taps;  /* ic, oc of one group */
};

enum { LINE = 16 }; /* floats of a cache line */

static inline void spread(const float *from, int64_t step, int32_t n, float *to, int32_t nr)
{
#pragma GCC unroll 16
    for (int32_t c = 0; c < n; c++) to[c * nr] = from[c * step];
}

/* The weights of a full panel: a line of each filter at a time, as the filters may lie a power of two apart. */
static inline void pack_full(const struct source *s, const float *w, int32_t nr, float *dst)
{
    int64_t filter = (int64_t)s->ic * s->taps;
    for (int32_t t = 0; t < s->taps; t++, w++)
        for (int32_t c = 0; c < s->ic; c += LINE)
            for (int32_t n = 0; n < nr; n++) {
                const float *from = w + n * filter + (int64_t)c * s->taps;
                float *to = dst + ((int64_t)t * s->ic + c) * nr + n;
                if (s->ic - c >= LINE) spread(from, s->taps, LINE, to, nr);
                else spread(from, s->taps, s->ic - c, to, nr);
            }
}

static void pack_panel(const struct source *s, int32_t first, int32_t width, int32_t nr, float *dst)
{
    for (int32_t n = 0; n < nr; n++) *dst++ = s->bias && n < width ? s->bias[first + n] : 0;
    if (width == nr) {
        pack_full(s, s->w + (int64_t)first * s->ic * s->taps, nr, dst);
        return;
    }
    for (int32_t t = 0; t < s->taps; t++)
        for (int32_t c = 0; c < s->ic; c++)
            for (int32_t n = 0; n < nr; n++)
                *dst++ = n < width ? s->w[((int64_t)(first + n) * s->ic + c) * s->taps + t] : 0;
}

static size_t pack(const struct source *s, int32_t nr, float *dst)
{
    int32_t panels = (s->oc + nr - 1) / nr;
    int64_t floats = ig_gemm_panel(s->taps, s->ic, nr);
    for (int32_t g = 0; dst && g < s->groups; g++)
        for (int32_t j = 0; j < panels; j++, dst += floats) {
            int32_t left = s->oc - j * nr;
            pack_panel(s, g * s->oc + j * nr, left < nr ? left : nr, nr, dst);
        }
    return (size_t)(s->groups * panels * floats) * sizeof(float);
}

static struct source source_of(const struct ig_call *call, int32_t groups, int32_t taps)
{
    struct source s = {(const float *)call->in[1].data, NULL, groups, call->in[0].c / groups,
                       call->out[0].c / groups, taps};
    if (ig_has(call, 2)) s.bias = (const float *)call->in[2].data;
    return s;
}

static size_t pack_conv(const struct ig_call *call, int32_t nr, void *dst)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct source s = source_of(call, conv->groups, ig_taps(&conv->w));
    return pack(&s, nr, (float *)dst);
}

size_t ig_pack_conv8(const struct ig_call *call, void *dst)
{
    return pack_conv(call, 8, dst);
}

size_t ig_pack_conv16(const struct ig_call *call, void *dst)
{
    return pack_conv(call, 16, dst);
}

size_t ig_pack_conv24(const struct ig_call *call, void *dst)
{
    return pack_conv(call, 24, dst);
}

size_t ig_pack_fc16(const struct ig_call *call, void *dst)
{
    struct source s = source_of(call, 1, 1);
    return pack(&s, 16, (float *)dst);
}

/* The bias, then the weights as they are. */
size_t ig_pack_dot(const struct ig_call *call, void *dst)
{
    struct source s = source_of(call, 1, 1);
    float *to = (float *)dst;
    for (int32_t n = 0; to && n < s.oc; n++) to[n] = s.bias ? s.bias[n] : 0;
    if (to) memcpy(to + s.oc, s.w, (size_t)s.oc * (size_t)s.ic * sizeof *to);
    return (size_t)s.oc * (1 + (size_t)s.ic) * sizeof *to;
}

static int constants_fit(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && ig_is_const_f32(call, 1) && (!ig_has(call, 2) || ig_is_const_f32(call, 2)) &&
           ig_residual_fits(call);
}

int ig_supports_conv_nd(const struct ig_call *call)
{
    return constants_fit(call) && ig_act_fits(&((const struct ig_conv *)call->attrs)->act);
}

int ig_supports_conv(const struct ig_call *call)
{
    return ig_supports_conv_nd(call) && ig_is_flat(&((const struct ig_conv *)call->attrs)->w);
}

/* Not depthwise, where fifteen of a tile's sixteen channels, and of its weights, would be padding. */
int ig_supports_conv_gemm(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_supports_conv(call) && (conv->groups == 1 || !ig_supports_depthwise(call));
}

int ig_supports_conv_gemm_nd(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_supports_conv_nd(call) && (conv->groups == 1 || !ig_supports_depthwise_nd(call));
}

/* Of fewer channels most of a tile would be padding. */
int ig_supports_pieces(const struct ig_call *call)
{
    enum { LEAST = 16 };
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_supports_conv_gemm(call) && call->in[0].c / conv->groups >= LEAST && call->out[0].c / conv->groups >= LEAST;
}

int ig_supports_conv_packed(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_supports_conv_gemm_nd(call) && call->out[0].c / conv->groups > 16;
}

int ig_supports_conv_first(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_supports_conv_gemm_nd(call) && call->in[0].c <= 4 && conv->groups == 1 && conv->w.dw == 1 &&
           conv->w.left >= 0 && conv->w.right >= 0;
}

/* Pointwise, without padding, where panels of 16 have some. */
int ig_supports_conv_dot(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return ig_supports_conv_nd(call) && ig_is_flat_or_row(w) && conv->groups == 1 && w->kh * w->kw == 1 && !w->top && !w->left && !w->bottom &&
           !w->right && call->out[0].c % 16;
}

/* The straight-line kernels of the common sizes. */
static int is_first_line(const struct ig_call *call, int32_t k, int32_t s, int32_t c)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return ig_supports_conv_first(call) && ig_is_flat(w) && !ig_has(call, 3) && w->kh == k && w->kw == k && w->sh == s && w->sw == s &&
           w->dh == 1 && call->in[0].c == c && call->out[0].w >= 12;
}

int ig_supports_first_3s1c3(const struct ig_call *call)
{
    return is_first_line(call, 3, 1, 3);
}

int ig_supports_first_3s2c3(const struct ig_call *call)
{
    return is_first_line(call, 3, 2, 3);
}

int ig_supports_first_5s1c3(const struct ig_call *call)
{
    return is_first_line(call, 5, 1, 3);
}

int ig_supports_first_5s2c3(const struct ig_call *call)
{
    return is_first_line(call, 5, 2, 3);
}

int ig_supports_first_7s2c3(const struct ig_call *call)
{
    return is_first_line(call, 7, 2, 3);
}

int ig_supports_first_3s1c1(const struct ig_call *call)
{
    return is_first_line(call, 3, 1, 1);
}

int ig_supports_first_5s1c1(const struct ig_call *call)
{
    return is_first_line(call, 5, 1, 1);
}

int ig_supports_fc(const struct ig_call *call)
{
    const struct ig_fc *fc = (const struct ig_fc *)call->attrs;
    return constants_fit(call) && ig_act_fits(&fc->act);
}

int ig_supports_fc_dot(const struct ig_call *call)
{
    return ig_supports_fc(call) && call->out[0].c % 16;
}

size_t ig_scratch_conv_mr4(const struct ig_call *call)
{
    return ig_gemm_conv_scratch(call, 4);
}

size_t ig_scratch_conv_mr6(const struct ig_call *call)
{
    return ig_gemm_conv_scratch(call, 6);
}

size_t ig_scratch_conv_mr8(const struct ig_call *call)
{
    return ig_gemm_conv_scratch(call, 8);
}

size_t ig_scratch_conv_mr12(const struct ig_call *call)
{
    return ig_gemm_conv_scratch(call, 12);
}

size_t ig_scratch_pieces(const struct ig_call *call)
{
    struct ig_pieces p = ig_pieces_of(call);
    return ig_pieces_scratch(&p);
}

size_t ig_scratch_conv_small4(const struct ig_call *call)
{
    return ig_gemm_conv_small_scratch(call, 4, 24);
}

size_t ig_scratch_conv_small6(const struct ig_call *call)
{
    return ig_gemm_conv_small_scratch(call, 6, 16);
}

size_t ig_scratch_first_mr6(const struct ig_call *call)
{
    return ig_gemm_first_scratch(call, 6);
}

size_t ig_scratch_first_mr12(const struct ig_call *call)
{
    return ig_gemm_first_scratch(call, 12);
}

size_t ig_scratch_first_line(const struct ig_call *call)
{
    size_t rows = (size_t)((const struct ig_conv *)call->attrs)->w.kh;
    return (rows * (size_t)ig_first_pitch(call) + 16) * sizeof(float);
}

size_t ig_scratch_fc_mr6(const struct ig_call *call)
{
    return ig_gemm_fc_scratch(call, 6);
}

size_t ig_scratch_fc_mr12(const struct ig_call *call)
{
    return ig_gemm_fc_scratch(call, 12);
}

size_t ig_scratch_conv_packed(const struct ig_call *call)
{
    return ig_gemm_conv_scratch(call, 6) + ig_gemm_conv_packed_scratch(call);
}

size_t ig_scratch_first_packed(const struct ig_call *call)
{
    return ig_gemm_first_scratch(call, 6) + ig_gemm_first_packed_scratch(call);
}
