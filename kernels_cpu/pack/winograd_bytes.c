/* 3x3 convolutions of quantised numbers by Winograd's F(4,3), common/winograd_bytes.h. */
#include <string.h>

#include "kernels_cpu/common/winograd_bytes.h"
#include "kernels_cpu/pack/bytes.h"
#include "kernels_cpu/pack/pack.h"

static int is_3x3(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return conv->groups == 1 && w->kh == 3 && w->kw == 3 && w->sh == 1 && w->sw == 1 && w->dh == 1 && w->dw == 1;
}

int ig_supports_bytes_winograd4(const struct ig_call *call)
{
    return ig_is_flat_qlinear(call) && is_3x3(call) && ig_sums_fit(call) && ig_weights_fit(call, 1, 0);
}

int ig_supports_sums_winograd4(const struct ig_call *call)
{
    const struct ig_call q = ig_as_qlinear(call);
    return ig_is_flat_integer(call) && is_3x3(call) && ig_weights_fit(&q, 1, 0);
}

/* The filters of a panel's channel c. */
static void pack_winograd_filter(const struct ig_filter *f, int32_t c, int8_t *w)
{
    const int32_t taps = IG_WINOGRAD_BYTES_TAPS;
    for (int32_t i = 0; i < f->ic; i++)
        for (int32_t tap = 0; tap < taps; tap++)
            w[((i / 2 * 2 + c / 8) * taps + tap) * 16 + c % 8 * 2 + i % 2] = (int8_t)(ig_raw_weight(f, (int64_t)i * taps + tap) - f->zero);
}

size_t ig_pack_bytes_winograd4(const struct ig_call *call, void *dst)
{
    enum { NR = IG_WINOGRAD_BYTES_NR };
    const struct ig_winograd_bytes_cut cut = ig_winograd_bytes_cut_of(call);
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + NR - 1) / NR * cut.panel);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, ig_flip_of(call, IG_BYTES_TO_SIGNED));
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        char *panel = (char *)((struct ig_bytes_head *)dst + 1) + oc / NR * cut.panel;
        int32_t *bias = (int32_t *)(void *)panel + oc % NR;
        const struct ig_filter f = ig_filter_of(call, oc, 1);
        ig_put_ends(call, oc, ig_flipped_zero(call, IG_BYTES_TO_SIGNED), 1, bias, bias + NR);
        pack_winograd_filter(&f, oc % NR, (int8_t *)panel + cut.rows * NR * 4);
    }
    return bytes;
}

size_t ig_pack_sums_winograd4(const struct ig_call *call, void *dst)
{
    enum { NR = IG_WINOGRAD_BYTES_NR };
    const struct ig_call q = ig_as_qlinear(call);
    const size_t bytes = ig_pack_bytes_winograd4(&q, dst), panel = (size_t)ig_winograd_bytes_cut_of(&q).panel;
    if (!dst || !ig_bytes_become_floats(call)) return bytes;
    ig_put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t oc = 0; oc < call->out[0].c; oc++)
        ig_put_floats(call, oc, NR, (int32_t *)(void *)((char *)((struct ig_bytes_head *)dst + 1) + (size_t)(oc / NR) * panel) + 2 * NR + oc % NR);
    return bytes;
}

size_t ig_scratch_bytes_winograd4(const struct ig_call *call)
{
    return ig_winograd_bytes_scratch(call);
}
