/* Convolution of quantised numbers: see conv_bytes.h. */
#include "kernels_cpu/common/conv_bytes.h"

#include <string.h>

const struct ig_bytes_shape ig_bytes_avx2 = {6, 16, 2, 1, IG_BYTES_TO_UNSIGNED};
const struct ig_bytes_shape ig_bytes_avx512 = {12, 32, 2, 1, IG_BYTES_TO_UNSIGNED};
const struct ig_bytes_shape ig_bytes_vnni = {12, 32, 4, 1, IG_BYTES_TO_UNSIGNED};
const struct ig_bytes_shape ig_bytes_amx = {32, 32, 4, 16, IG_BYTES_TO_UNSIGNED};
const struct ig_bytes_shape ig_bytes_neon = {4, 16, 4, 1, IG_BYTES_TO_SIGNED};

struct job {
    const struct ig_call *call;
    const struct ig_bytes_set *set;
    const struct ig_bytes_head *head;
    const struct ig_window *w;
    struct ig_bytes_cut cut;
    struct ig_range range;
    int32_t bytes;              /* of a number in a word */
    int32_t group;              /* at hand */
    int joined;                 /* taps of a row lie one behind the other */
    char *pixels;               /* the block */
    uint8_t *pad;               /* x_zero, as many as a tap or a row of taps has */
    int32_t *sums;
    uint8_t *out[IG_BYTES_MAX_MR]; /* a tile's pixels */
};

struct ig_bytes_cut ig_bytes_cut_of(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct ig_bytes_cut c = {.ic = call->in[0].c / conv->groups, .oc = call->out[0].c / conv->groups};
    int64_t pixels = (int64_t)call->out[0].h * call->out[0].w;
    c.panels = (c.oc + shape->nr - 1) / shape->nr;
    c.k = (int64_t)c.ic * conv->w.kh * conv->w.kw;
    c.words = ((c.k + shape->unit - 1) / shape->unit + shape->step - 1) / shape->step * shape->step;
    c.panel = (2 + c.words) * shape->nr;
    c.row = (c.words * 4 + IG_BYTES_LINE - 1) / IG_BYTES_LINE * IG_BYTES_LINE;
    c.row += c.row % (4 * IG_BYTES_LINE) ? 0 : IG_BYTES_LINE; /* or rows would share few sets of a cache */
    c.block = (int32_t)(IG_BYTES_BLOCK / c.row) / shape->mr * shape->mr;
    if (c.block > pixels) c.block = (int32_t)(pixels + shape->mr - 1) / shape->mr * shape->mr;
    if (c.block < shape->mr) c.block = shape->mr;
    return c;
}

/* x_zero for a row of taps. */
static size_t pad_bytes(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ((size_t)(call->in[0].c / conv->groups) * (size_t)conv->w.kw + IG_BYTES_LINE - 1) / IG_BYTES_LINE * IG_BYTES_LINE;
}

static size_t sums_bytes(const struct ig_bytes_shape *shape)
{
    return ((size_t)(shape->mr * shape->nr) + IG_BYTES_CHANNELS) * sizeof(int32_t);
}

size_t ig_bytes_conv_scratch(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_cut c = ig_bytes_cut_of(call, shape);
    return sums_bytes(shape) + pad_bytes(call) + (size_t)(c.block * c.row) + IG_BYTES_LINE;
}

/* n numbers of a pixel, or of the padding, behind those at `to`; returns where the next ones go. */
static char *append(const struct job *job, char *to, const uint8_t *from, int64_t n)
{
    job->set->fill(to, from, n, job->head);
    return to + n * job->bytes;
}

/* The taps of input row `row` for the output pixels of column x. */
static char *append_row(const struct job *job, char *to, const uint8_t *row, int32_t x)
{
    const struct ig_window *w = job->w;
    const struct ig_operand *in = &job->call->in[0];
    int32_t ic = job->cut.ic, x0 = x * w->sw - w->left;
    row += job->group * ic;
    if (job->joined) {
        int32_t a = x0 < 0 ? -x0 : 0, b = in->w - x0 < w->kw ? in->w - x0 : w->kw;
        a = a < w->kw ? a : w->kw;
        b = b > a ? b : a;
        if (a) to = append(job, to, job->pad, (int64_t)a * ic);
        if (b > a) to = append(job, to, row + (int64_t)(x0 + a) * ic, (int64_t)(b - a) * ic);
        return b < w->kw ? append(job, to, job->pad, (int64_t)(w->kw - b) * ic) : to;
    }
    for (int32_t kx = 0; kx < w->kw; kx++) {
        int32_t ix = x0 + kx * w->dw;
        to = append(job, to, ix >= 0 && ix < in->w ? row + ix * in->pixel_stride : job->pad, ic);
    }
    return to;
}

static void fill_pixel(const struct job *job, int32_t y, int32_t x, char *to)
{
    const struct ig_window *w = job->w;
    const struct ig_operand *in = &job->call->in[0];
    char *end = to + job->cut.words * 4;
    for (int32_t ky = 0; ky < w->kh; ky++) {
        int32_t iy = y * w->sh - w->top + ky * w->dh;
        if (iy >= 0 && iy < in->h) to = append_row(job, to, (const uint8_t *)ig_row(in, iy, 1), x);
        else to = append(job, to, job->pad, (int64_t)w->kw * job->cut.ic);
    }
    if (end > to) memset(to, 0, (size_t)(end - to));
}

/* Pixels [first, first + n) of the range. */
static void fill_block(const struct job *job, int32_t first, int32_t n)
{
    int32_t width = job->call->out[0].w, y = job->range.y0 + first / width, x = first % width;
    for (int32_t i = 0; i < n; i++) {
        fill_pixel(job, y, x, job->pixels + i * job->cut.row);
        if (++x == width) x = 0, y++;
    }
}

/* Where pixels [first, first + n) of the range go, n <= mr. */
static void find_out(struct job *job, int32_t first, int32_t n)
{
    const struct ig_operand *out = &job->call->out[0];
    int32_t y = job->range.y0 + first / out->w, x = first % out->w;
    for (int32_t i = 0; i < n; i++) {
        job->out[i] = (uint8_t *)ig_row(out, y, 1) + x * out->pixel_stride;
        if (++x == out->w) x = 0, y++;
    }
}

/* Panel j's channels of the range, of a block's n pixels, of which `first` are before it. */
static void run_panel(struct job *job, int32_t j, int32_t first, int32_t n)
{
    const struct ig_bytes_set *set = job->set;
    int32_t nr = set->shape.nr, mr = set->shape.mr, base = job->group * job->cut.oc + j * nr, tiles = (n + mr - 1) / mr;
    const int32_t *bias = (const int32_t *)(job->head + 1) + (job->group * (int64_t)job->cut.panels + j) * job->cut.panel;
    const float *scale = (const float *)(bias + nr);
    int32_t lo = job->range.c0 - base, hi = job->range.c1 - base, width = job->cut.oc - j * nr;
    lo = lo < 0 ? 0 : lo;
    width = width < nr ? width : nr;
    hi = hi < width ? hi : width;
    for (int32_t t = 0, at = 0, rows; t < tiles; t++, at += rows) {
        rows = n / tiles + (t < n % tiles);
        set->tile(job->pixels + at * job->cut.row, job->cut.row, rows, bias + 2 * nr, job->cut.words, job->sums);
        find_out(job, first + at, rows);
        for (int32_t i = 0; i < rows; i++)
            for (int32_t c = lo; c < hi; c += IG_BYTES_CHANNELS)
                set->put(job->out[i] + base + c, job->sums + i * nr + c, bias + c, scale + c,
                         hi - c < IG_BYTES_CHANNELS ? hi - c : IG_BYTES_CHANNELS, job->head);
    }
}

void ig_bytes_conv(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_set *set)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {.call = call, .set = set, .head = (const struct ig_bytes_head *)call->weights, .w = &conv->w,
                      .cut = ig_bytes_cut_of(call, &set->shape), .range = range, .bytes = 4 / set->shape.unit};
    int32_t pixels = (range.y1 - range.y0) * call->out[0].w, nr = set->shape.nr, oc = job.cut.oc;
    job.sums = (int32_t *)scratch;
    job.pad = (uint8_t *)scratch + sums_bytes(&set->shape);
    job.pixels = (char *)job.pad + pad_bytes(call);
    job.joined = conv->w.dw == 1 && conv->groups == 1 && call->in[0].pixel_stride == job.cut.ic;
    memset(job.pad, job.head->x_zero, pad_bytes(call));
    for (job.group = range.c0 / oc; job.group * oc < range.c1; job.group++) {
        int32_t base = job.group * oc, j0 = range.c0 > base ? (range.c0 - base) / nr : 0;
        int32_t j1 = range.c1 - base < oc ? (range.c1 - base + nr - 1) / nr : job.cut.panels;
        for (int32_t first = 0, n; first < pixels; first += n) {
            n = pixels - first < job.cut.block ? pixels - first : job.cut.block;
            fill_block(&job, first, n);
            for (int32_t j = j0; j < j1; j++) run_panel(&job, j, first, n);
        }
    }
}

/* --- depthwise --- */

/* Addresses of taps, an even number of them; then x_zero for a pixel. */
static size_t taps_bytes(const struct ig_window *w)
{
    size_t n = (size_t)(w->kh * w->kw + 1) / 2 * 2 * sizeof(void *);
    return (n + IG_BYTES_LINE - 1) / IG_BYTES_LINE * IG_BYTES_LINE;
}

size_t ig_bytes_depthwise_scratch(const struct ig_call *call)
{
    return taps_bytes(&((const struct ig_conv *)call->attrs)->w) + (size_t)call->in[0].c;
}

/* The taps of an output pixel; the last of an odd number twice, whose second weight is zero. */
static void find_taps(const struct ig_call *call, const struct ig_window *w, int32_t y, int32_t x, const uint8_t *pad, const uint8_t **at)
{
    const struct ig_operand *in = &call->in[0];
    int32_t n = 0, x0 = x * w->sw - w->left;
    for (int32_t ky = 0; ky < w->kh; ky++) {
        int32_t iy = y * w->sh - w->top + ky * w->dh, there = iy >= 0 && iy < in->h;
        const uint8_t *row = there ? (const uint8_t *)ig_row(in, iy, 1) : pad;
        for (int32_t kx = 0; kx < w->kw; kx++) {
            int32_t ix = x0 + kx * w->dw;
            at[n++] = there && ix >= 0 && ix < in->w ? row + ix * in->pixel_stride : pad;
        }
    }
    if (n & 1) at[n] = at[n - 1];
}

void ig_bytes_depthwise(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_depthwise *set)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_bytes_head *head = (const struct ig_bytes_head *)call->weights;
    const struct ig_operand *out = &call->out[0];
    const uint8_t **at = (const uint8_t **)scratch;
    uint8_t *pad = (uint8_t *)scratch + taps_bytes(w);
    int32_t pairs = (w->kh * w->kw + 1) / 2, sums[IG_BYTES_CHANNELS];
    int64_t block = (2 + pairs) * IG_BYTES_CHANNELS;
    memset(pad, head->x_zero, (size_t)call->in[0].c);
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            uint8_t *to = (uint8_t *)ig_row(out, y, 1) + x * out->pixel_stride;
            find_taps(call, w, y, x, pad, at);
            for (int32_t c = range.c0; c < range.c1; c += IG_BYTES_CHANNELS) {
                int32_t n = range.c1 - c < IG_BYTES_CHANNELS ? range.c1 - c : IG_BYTES_CHANNELS;
                const int32_t *bias = (const int32_t *)(head + 1) + c / IG_BYTES_CHANNELS * block;
                set->sums(at, c, n, (const int16_t *)(bias + 2 * IG_BYTES_CHANNELS), pairs, head->is_signed, sums);
                set->put(to + c, sums, bias, (const float *)(bias + IG_BYTES_CHANNELS), n, head);
            }
        }
}
