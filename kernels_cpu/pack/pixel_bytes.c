/* Convolutions of quantised numbers to one pixel, avx2/pixel_bytes.c. */
#include <string.h>

#include "kernels_cpu/pack/bytes.h"
#include "kernels_cpu/pack/pack.h"

/* The window is the image. */
int ig_supports_bytes_pixel(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_window *w = &conv->w;
    if (!ig_is_flat_qlinear(call) || conv->groups != 1 || out->h * out->w != 1) return 0;
    if (w->kh != in->h || w->kw != in->w || w->top || w->left || (w->dh > 1 && w->kh > 1) || (w->dw > 1 && w->kw > 1)) return 0;
    return ig_sums_fit(call) && ig_weights_fit(call, 1, 0);
}

size_t ig_pack_bytes_pixel(const struct ig_call *call, void *dst)
{
    enum { NR = IG_BYTES_PIXEL_NR };
    const struct ig_operand *in = &call->in[0];
    const int32_t oc = call->out[0].c;
    const int64_t k = (int64_t)in->h * in->w * in->c, panel_bytes = ig_bytes_pixel_panel(k);
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((oc + NR - 1) / NR * panel_bytes);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, 0);
    for (int32_t c = 0; c < oc; c++) {
        int32_t *panel = (int32_t *)(void *)((char *)((struct ig_bytes_head *)dst + 1) + c / NR * panel_bytes);
        int8_t *w = (int8_t *)(panel + 2 * NR) + c % NR * 2;
        const struct ig_filter f = ig_filter_of(call, c, 1);
        ig_put_ends(call, c, 0, 0, &panel[c % NR], &panel[NR + c % NR]);
        for (int64_t i = 0; i < k; i++) w[i / 2 * 2 * NR + i % 2] = (int8_t)ig_weight_at(&f, i);
    }
    return bytes;
}

size_t ig_scratch_bytes_pixel(const struct ig_call *call)
{
    enum { LINE = 16 }; /* numbers written at a time */
    const struct ig_operand *in = &call->in[0];
    return ((size_t)in->h * (size_t)in->w * (size_t)in->c + LINE) * sizeof(int16_t);
}
