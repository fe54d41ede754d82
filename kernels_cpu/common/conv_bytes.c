/* How convolutions of quantised numbers are cut, see conv_bytes.h: for the kernels, and for weights and scratch at build time. */
#include "kernels_cpu/common/conv_bytes.h"

const struct ig_bytes_shape ig_bytes_avx2 = {6, 16, 2, 1, IG_BYTES_TO_UNSIGNED, 0, 0, 0, 0, 0, 0};
const struct ig_bytes_shape ig_bytes_inner = {4, 16, 2, 2, IG_BYTES_TO_UNSIGNED, 0, 0, 0, 1, 0, 0};
const struct ig_bytes_shape ig_bytes_split = {4, 16, 4, 2, IG_BYTES_TO_UNSIGNED, 0, 0, 0, 0, 1, 0};
const struct ig_bytes_shape ig_bytes_paired = {4, 16, 4, 1, IG_BYTES_TO_UNSIGNED, 1, 0, 1, 0, 0, 0};
const struct ig_bytes_shape ig_bytes_avxvnni = {6, 16, 4, 1, IG_BYTES_TO_UNSIGNED, 1, 0, 0, 0, 0, 0};
const struct ig_bytes_shape ig_bytes_avx512 = {12, 32, 2, 1, IG_BYTES_TO_UNSIGNED, 0, 0, 0, 0, 0, 0};
const struct ig_bytes_shape ig_bytes_vnni = {12, 32, 4, 1, IG_BYTES_TO_UNSIGNED, 1, 0, 0, 0, 0, 0};
const struct ig_bytes_shape ig_bytes_amx = {48, 32, 4, 16, IG_BYTES_TO_UNSIGNED, 1, 0, 0, 0, 0, 1};
const struct ig_bytes_shape ig_bytes_neon = {4, 16, 4, 1, IG_BYTES_TO_SIGNED, 0, 1, 0, 0, 0, 0};
const struct ig_bytes_shape ig_bytes_neon_wide = {4, 16, 2, 1, IG_BYTES_TO_SIGNED, 0, 1, 0, 0, 0, 0};
const struct ig_bytes_shape ig_bytes_dotprod = {6, 16, 4, 1, IG_BYTES_TO_SIGNED, 1, 0, 0, 0, 0, 0};

static size_t whole_lines(size_t bytes)
{
    return (bytes + IG_BYTES_LINE - 1) / IG_BYTES_LINE * IG_BYTES_LINE;
}

/* Groups that fit a panel together. */
static int32_t merged_groups(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    int32_t groups = ((const struct ig_conv *)call->attrs)->groups, n = shape->nr / (call->out[0].c / groups);
    if (n >= groups) return groups;
    while (n > 1 && groups % n) n--;
    return n < 1 ? 1 : n;
}

enum {
    LEAST = 5,   /* a tile of fewer pixels takes as long: it has too few sums for the time that one waits for the next product */
    SEVERAL = 17 /* pixels of two tiles of 16: one by itself would wait for weights */
};

/* Tiles of 16 of n pixels. */
static int64_t of_16(int64_t n)
{
    return (n + 15) / 16;
}

/* Of an image as high as wide (some of its rows are to be answered alike): tiles that cross its rows waste little on what is between these. */
static int may_cross(const struct ig_window *w, int32_t width)
{
    const int64_t between = w->kw - 1, pixels = (int64_t)width * width;
    return w->sh == 1 && w->sw == 1 && width > LEAST && 4 * of_16(pixels + (width - 1) * between) <= 5 * of_16(pixels);
}

/* Rows of taps lie side by side, of which there are several, or pixels that overlap; and tiles waste little, whether they cross rows or not. */
static int in_lines(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    const int32_t width = call->out[0].w, tiles = (width + shape->mr - 1) / shape->mr;
    const int32_t waste = (shape->tiled ? (int32_t)of_16(width) * 16 : shape->pairs ? (width + 1) / 2 * 2 : tiles * LEAST) - width;
    const int is_whole = conv->groups == merged_groups(call, shape);
    if (!shape->lines || !is_whole || w->dw != 1 || w->dh != 1 || w->kh * w->kw == 1) return 0;
    return (shape->tiled && may_cross(w, width)) || (4 * waste <= width && width >= (shape->tiled ? SEVERAL : LEAST + 1));
}

/* Kernel rows are far from each other, and each is of whole words. */
static int32_t rows_left_out(const struct ig_window *w, const struct ig_bytes_shape *shape, int64_t k)
{
    return !shape->pairs && w->kh > 1 && w->dh > 1 && k % (w->kh * shape->unit * shape->step) == 0 ? w->kh : 0;
}

/* Of words two at a time: half as many, and more as some are in two parts, of some panels many. */
static int64_t most_steps(int64_t words)
{
    return (7 * words + 7) / 8;
}

/* Rows of a panel between its scales and what is behind its words. */
static int64_t rows_of_words(const struct ig_bytes_cut *c, const struct ig_bytes_shape *shape)
{
    return shape->pairs ? ig_bytes_rows_of_steps(2 * c->steps) + 2 * c->steps : c->lines * c->words;
}

static int32_t at_least_one(int64_t n)
{
    return n < 1 ? 1 : (int32_t)n;
}

/* Lines in scratch, of those of a block to the whole image's: more than a block's where blocks have much in common. */
static int32_t held_lines(const struct ig_bytes_cut *c, const struct ig_window *w, int32_t least, int32_t all)
{
    const int32_t room = (int32_t)(IG_BYTES_HELD / c->pitch), some = room > 2 * least ? room : 2 * least, most = some < all ? some : all;
    return 4 * (w->kh - w->sh) > c->block * w->sh && most > least ? most : least;
}

/* A block of the image's rows. */
static void cut_lines(const struct ig_call *call, const struct ig_bytes_shape *shape, int64_t room, struct ig_bytes_cut *c)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int64_t columns = (int64_t)(call->out[0].w - 1 + shape->mr) * w->sw + w->kw;
    c->row = (int64_t)w->sw * c->ic;
    c->across = shape->tiled && may_cross(w, call->out[0].w) ? call->out[0].w + w->kw - 1 : 0;
    c->pitch = (int64_t)whole_lines((size_t)(columns * c->ic) + IG_BYTES_LINE);
    c->pitch += c->pitch % (4 * IG_BYTES_LINE) ? 0 : IG_BYTES_LINE; /* or rows would share few sets of a cache */
    if (c->across) c->pitch = c->across * c->row, room = IG_BYTES_BLOCK; /* blocks of few rows would end in tiles of few pixels */
    c->block = at_least_one((room / c->pitch - w->kh) / w->sh + 1);
    if (c->block > call->out[0].h) c->block = call->out[0].h;
    c->held = held_lines(c, w, (c->block - 1) * w->sh + w->kh, (call->out[0].h - 1) * w->sh + w->kh);
}

/* Pixels that are words one behind the other, and so few that a tile's do not share a set of a cache. */
static int are_small(const struct ig_window *w, const struct ig_bytes_shape *shape, const struct ig_bytes_cut *c)
{
    return w->kh * w->kw * w->sh * w->sw == 1 && !w->top && !w->left && c->k == c->words * shape->unit && c->words < IG_BYTES_LINE;
}

/* A block of pixels. */
static void cut_pixels(const struct ig_call *call, const struct ig_bytes_shape *shape, int64_t room, struct ig_bytes_cut *c)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int64_t pixels = (int64_t)call->out[0].h * call->out[0].w;
    c->row = (int64_t)whole_lines((size_t)c->words * 4 + (w->kh > 1 ? IG_BYTES_LINE - 1 : 0)); /* taps row after row, filled too far */
    c->row += c->row % (4 * IG_BYTES_LINE) ? 0 : IG_BYTES_LINE;
    if (are_small(w, shape, c)) c->row = c->words * 4;
    if (room == IG_BYTES_LARGE && pixels * c->row <= IG_BYTES_MOST) room = IG_BYTES_MOST;
    c->block = (int32_t)(room / c->row) / shape->mr * shape->mr;
    if (c->block > pixels) c->block = (int32_t)(pixels + shape->mr - 1) / shape->mr * shape->mr;
    if (c->block < shape->mr) c->block = shape->mr;
}

struct ig_bytes_cut ig_bytes_cut_of(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct ig_bytes_cut c = {.merged = merged_groups(call, shape), .inner = shape->inner};
    c.groups = conv->groups / c.merged;
    c.ic = call->in[0].c / c.groups;
    c.oc = call->out[0].c / c.groups;
    c.lines = in_lines(call, shape) ? conv->w.kh : 1;
    c.panels = (c.oc + shape->nr - 1) / shape->nr;
    c.k = (int64_t)c.ic * conv->w.kw * (conv->w.kh / c.lines);
    c.words = ((c.k + shape->unit - 1) / shape->unit + shape->step - 1) / shape->step * shape->step;
    c.left = shape->split ? 1 + (int32_t)(c.words * 3 / 16) : 0; /* more take as long as products one by one */
    c.rows = ig_bytes_are_sums(call) ? 0 : rows_left_out(&conv->w, shape, c.k);
    c.steps = shape->pairs ? most_steps(c.lines * c.words) : 0;
    c.behind = (2 + rows_of_words(&c, shape)) * shape->nr;
    c.panel = c.behind + (c.rows + ig_bytes_have_beyond(call) + 2 * ig_bytes_become_floats(call)) * shape->nr;
    const int32_t large = shape->tiled ? IG_BYTES_LARGE : IG_BYTES_BLOCK;
    int64_t room = (int64_t)c.panels * c.panel * 4 > IG_BYTES_FEW ? large : IG_BYTES_SMALL;
    if (in_lines(call, shape)) cut_lines(call, shape, room, &c);
    else cut_pixels(call, shape, room, &c);
    return c;
}

size_t ig_bytes_pad(const struct ig_call *call, const struct ig_bytes_cut *cut)
{
    return whole_lines((size_t)cut->ic * (size_t)((const struct ig_conv *)call->attrs)->w.kw);
}

size_t ig_bytes_totals(const struct ig_call *call, const struct ig_bytes_cut *cut)
{
    const int64_t width = cut->across ? cut->across : call->out[0].w, pixels = cut->pitch ? cut->block * width : cut->block;
    return ig_bytes_have_beyond(call) || cut->inner ? whole_lines((size_t)pixels * sizeof(int32_t)) : 0;
}

size_t ig_bytes_counts(const struct ig_bytes_cut *cut)
{
    return cut->left ? whole_lines((size_t)cut->block * sizeof(int32_t)) : 0;
}

size_t ig_bytes_lefts(const struct ig_bytes_cut *cut)
{
    return whole_lines((size_t)cut->block * (size_t)cut->left * sizeof(struct ig_bytes_left));
}

size_t ig_bytes_sums(const struct ig_bytes_shape *shape)
{
    return 2 * ((size_t)(shape->mr * shape->nr) + IG_BYTES_CHANNELS) * sizeof(int32_t);
}

/* Bytes of the block; behind its last row there are a tile's pixels that are of none. */
static size_t block_bytes(const struct ig_bytes_cut *c, const struct ig_bytes_shape *shape)
{
    const int64_t behind = c->across ? shape->mr * c->row + 2 * IG_BYTES_LINE : 0;
    return whole_lines((size_t)(c->pitch ? c->held * c->pitch + behind : c->block * c->row));
}

size_t ig_bytes_conv_scratch(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_cut c = ig_bytes_cut_of(call, shape);
    size_t pixels = ig_bytes_totals(call, &c) + ig_bytes_counts(&c) + ig_bytes_lefts(&c);
    return ig_bytes_sums(shape) + ig_bytes_pad(call, &c) + pixels + block_bytes(&c, shape) + IG_BYTES_LINE;
}

/* Dense rows [y0, y1) of `o` as one of pixels. */
static struct ig_operand as_pixels(const struct ig_operand *o, int32_t y0, int32_t y1, int32_t c)
{
    const int32_t pixels = (y1 - y0) * o->w;
    struct ig_operand to = {.data = o->data, .shape = o->shape, .h = 1, .w = pixels, .c = c, .ring_rows = 1,
                            .row_stride = (int64_t)pixels * c, .pixel_stride = c};
    if (o->data) to.data = (char *)o->data + (int64_t)y0 * o->w * c * ig_type_bytes(o->shape->type);
    return to;
}

void ig_bytes_product_of(const struct ig_call *call, int32_t y0, int32_t y1, struct ig_bytes_product *p)
{
    const int32_t *b = call->in[1].shape->dims;
    p->call = *call;
    p->conv = (struct ig_conv){{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}, 1, {0}};
    p->conv.act = ((const struct ig_fc *)call->attrs)->act;
    p->call.attrs = &p->conv;
    p->call.in[0] = as_pixels(&call->in[0], y0, y1, b[0]);
    p->call.out[0] = as_pixels(&call->out[0], y0, y1, b[1]);
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

int64_t ig_bytes_wide_words(const struct ig_window *w, int are_sums)
{
    return (1 + are_sums) * (int64_t)ig_bytes_fours_rows(ig_bytes_depthwise_words(w)) * 64;
}

size_t ig_bytes_wide_at(const struct ig_call *call)
{
    return ig_bytes_pixels(&((const struct ig_conv *)call->attrs)->w) + whole_lines((size_t)call->in[0].c);
}

size_t ig_bytes_depthwise_scratch(const struct ig_call *call)
{
    return ig_bytes_taps(&((const struct ig_conv *)call->attrs)->w) + (size_t)call->in[0].c;
}
