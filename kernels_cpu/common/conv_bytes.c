/* How convolutions of quantised numbers are cut, see conv_bytes.h: for the kernels, and for weights and scratch at build time. */
#include "kernels_cpu/common/conv_bytes.h"

const struct ig_bytes_shape ig_bytes_avx2 = {6, 16, 2, 1, IG_BYTES_TO_UNSIGNED, 0};
const struct ig_bytes_shape ig_bytes_avx512 = {12, 32, 2, 1, IG_BYTES_TO_UNSIGNED, 0};
const struct ig_bytes_shape ig_bytes_vnni = {12, 32, 4, 1, IG_BYTES_TO_UNSIGNED, 0};
const struct ig_bytes_shape ig_bytes_amx = {32, 32, 4, 16, IG_BYTES_TO_UNSIGNED, 0};
const struct ig_bytes_shape ig_bytes_neon = {4, 16, 4, 1, IG_BYTES_TO_SIGNED, 1};
const struct ig_bytes_shape ig_bytes_neon_wide = {4, 16, 2, 1, IG_BYTES_TO_SIGNED, 1};

static size_t whole_lines(size_t bytes)
{
    return (bytes + IG_BYTES_LINE - 1) / IG_BYTES_LINE * IG_BYTES_LINE;
}

struct ig_bytes_cut ig_bytes_cut_of(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct ig_bytes_cut c = {.ic = call->in[0].c / conv->groups, .oc = call->out[0].c / conv->groups};
    int64_t pixels = (int64_t)call->out[0].h * call->out[0].w;
    c.panels = (c.oc + shape->nr - 1) / shape->nr;
    c.k = (int64_t)c.ic * conv->w.kh * conv->w.kw;
    c.words = ((c.k + shape->unit - 1) / shape->unit + shape->step - 1) / shape->step * shape->step;
    c.panel = (2 + c.words) * shape->nr;
    c.row = (int64_t)whole_lines((size_t)c.words * 4 + (conv->w.kh > 1 ? IG_BYTES_LINE - 1 : 0)); /* taps row after row, filled too far */
    c.row += c.row % (4 * IG_BYTES_LINE) ? 0 : IG_BYTES_LINE; /* or rows would share few sets of a cache */
    int64_t room = (int64_t)c.panels * c.panel * 4 > IG_BYTES_FEW ? IG_BYTES_BLOCK : IG_BYTES_SMALL;
    c.block = (int32_t)(room / c.row) / shape->mr * shape->mr;
    if (c.block > pixels) c.block = (int32_t)(pixels + shape->mr - 1) / shape->mr * shape->mr;
    if (c.block < shape->mr) c.block = shape->mr;
    return c;
}

size_t ig_bytes_pad(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return whole_lines((size_t)(call->in[0].c / conv->groups) * (size_t)conv->w.kw);
}

size_t ig_bytes_sums(const struct ig_bytes_shape *shape)
{
    return ((size_t)(shape->mr * shape->nr) + IG_BYTES_CHANNELS) * sizeof(int32_t);
}

size_t ig_bytes_conv_scratch(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_cut c = ig_bytes_cut_of(call, shape);
    return ig_bytes_sums(shape) + ig_bytes_pad(call) + (size_t)(c.block * c.row) + IG_BYTES_LINE;
}

size_t ig_bytes_taps(const struct ig_window *w)
{
    return whole_lines((size_t)(w->kh * w->kw + 1) / 2 * 2 * (sizeof(void *) + sizeof(int64_t)));
}

int32_t ig_bytes_depthwise_words(const struct ig_window *w)
{
    return w->kh * ((w->kw + (w->sw == 1) + 3) / 4);
}

size_t ig_bytes_pixels(const struct ig_window *w)
{
    return whole_lines((size_t)(4 * ig_bytes_depthwise_words(w)) * (sizeof(void *) + sizeof(int64_t)));
}

size_t ig_bytes_depthwise_scratch(const struct ig_call *call)
{
    return ig_bytes_taps(&((const struct ig_conv *)call->attrs)->w) + (size_t)call->in[0].c;
}
