/* How first layers of quantised numbers are cut, see first_bytes.h. */
#include "kernels_cpu/common/first_bytes.h"

const struct ig_bytes_first_shape ig_bytes_first_vnni = {16, IG_BYTES_TO_UNSIGNED};

enum { BEYOND = 128 }; /* bytes that may be read behind the last pixel's window */

struct ig_bytes_first_cut ig_bytes_first_cut_of(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t ic = call->in[0].c, k = w->kw * ic, out_w = call->out[0].w;
    struct ig_bytes_first_cut c = {.whole = k / 4, .rest = k % 4, .step = (int64_t)w->sw * ic};
    c.words = w->kh * c.whole + (w->kh * c.rest + 3) / 4;
    c.packed = IG_BYTES_FIRST_FOUR * (2 + (int64_t)c.words);
    c.pitch = ((out_w - 1) * c.step + k + BEYOND + IG_BYTES_LINE - 1) / IG_BYTES_LINE * IG_BYTES_LINE;
    const int64_t rows = (IG_BYTES_SMALL / c.pitch - w->kh) / w->sh + 1;
    c.rows = rows < 1 ? 1 : rows > call->out[0].h ? call->out[0].h : (int32_t)rows;
    return c;
}

size_t ig_bytes_first_words(const struct ig_call *call, const struct ig_bytes_first_shape *shape)
{
    return 2 * (size_t)(ig_bytes_first_cut_of(call).words * shape->lanes) * sizeof(int32_t);
}

size_t ig_bytes_first_scratch(const struct ig_call *call, const struct ig_bytes_first_shape *shape)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_bytes_first_cut c = ig_bytes_first_cut_of(call);
    return ig_bytes_first_words(call, shape) + (size_t)(((int64_t)(c.rows - 1) * w->sh + w->kh) * c.pitch);
}

int ig_bytes_first_byte(const struct ig_window *w, const struct ig_bytes_first_cut *cut, int32_t k, int32_t i, int32_t *ky, int32_t *at)
{
    if (k < w->kh * cut->whole) {
        *ky = k / cut->whole, *at = k % cut->whole * 4 + i;
        return 1;
    }
    const int32_t b = (k - w->kh * cut->whole) * 4 + i;
    if (b >= w->kh * cut->rest) return 0;
    *ky = b / cut->rest, *at = 4 * cut->whole + b % cut->rest;
    return 1;
}
