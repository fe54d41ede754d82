/* Convolutions of quantised numbers whose parameters are constants: what is supported, packed weights (common/conv_bytes.h), scratch. */
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/common/first_bytes.h"
#include "kernels_cpu/common/first_pairs.h"
#include "kernels_cpu/common/grouped_bytes.h"
#include "kernels_cpu/common/winograd_bytes.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/pack/pairs.h"
#include "kernels_cpu/ref/scaled.h"

enum { X_SCALE = 1, X_ZERO, WEIGHTS, W_SCALE, W_ZERO, Y_SCALE, Y_ZERO, BIAS };

/* Weights, less their zero point, of an output channel, whose input channels are some of those of a packed row. */
struct filter {
    const void *w;
    int32_t type, zero;
    int64_t apart;        /* elements from a weight to the next: 1, but of a matrix [k, oc] */
    int64_t k;            /* of the filter */
    int32_t ic, taps;     /* ic taps = k */
    int32_t first, all;   /* its first channel in a packed row; the row's */
};

/* Weights are a product's matrix [k, oc]. */
static int is_product(const struct ig_call *call)
{
    return ig_bytes_are_sums(call) && call->in[WEIGHTS].shape->rank == 2;
}

static struct filter filter_of(const struct ig_call *call, int32_t oc, int32_t merged)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_operand *w = &call->in[WEIGHTS];
    struct filter f = {.type = w->shape->type, .zero = (int32_t)ig_parameter(call, W_ZERO, oc), .apart = is_product(call) ? call->out[0].c : 1,
                       .ic = call->in[0].c / conv->groups, .taps = conv->w.kh * conv->w.kw};
    f.k = (int64_t)f.ic * f.taps;
    f.w = (const char *)w->data + oc * (is_product(call) ? 1 : f.k);
    f.first = oc / (call->out[0].c / conv->groups) % merged * f.ic;
    f.all = f.ic * merged;
    return f;
}

/* Weight i, as it is. */
static int32_t raw_weight(const struct filter *f, int64_t i)
{
    return (int32_t)ig_get_int(f->w, f->type, i * f->apart);
}

/* Number k of a packed row: tap k / all, channel k % all; 0 for other groups' channels and beyond the last. */
static int32_t weight_at(const struct filter *f, int64_t k)
{
    int64_t tap = k / f->all, channel = k % f->all - f->first;
    if (tap >= f->taps || channel < 0 || channel >= f->ic) return 0;
    return raw_weight(f, channel * f->taps + tap) - f->zero;
}

static int32_t flip_of(const struct ig_call *call, int32_t flips)
{
    return (call->in[0].shape->type == IG_I8) == (flips == IG_BYTES_TO_UNSIGNED) ? 128 : 0;
}

/* x_zero in words of bytes. */
static int32_t flipped_zero(const struct ig_call *call, int32_t flips)
{
    int32_t shift = flip_of(call, flips) ? (flips == IG_BYTES_TO_UNSIGNED ? 128 : -128) : 0;
    return (int32_t)ig_parameter(call, X_ZERO, 0) + shift;
}

static int parameters_are_known(const struct ig_call *call)
{
    for (int k = X_SCALE; k <= Y_ZERO; k++)
        if (!ig_has(call, k) || !call->in[k].data) return 0;
    return !ig_has(call, BIAS) || call->in[BIAS].data;
}

static int is_flat_qlinear(const struct ig_call *call)
{
    return qlinear_conv_any_1x1__supports(call) && parameters_are_known(call) && ig_is_flat(&((const struct ig_conv *)call->attrs)->w);
}

static int is_depthwise(const struct ig_call *call)
{
    int32_t groups = ((const struct ig_conv *)call->attrs)->groups;
    return groups > 1 && groups == call->in[0].c && groups == call->out[0].c;
}

static int64_t magnitude(int64_t x)
{
    return x < 0 ? -x : x;
}

/* Of a filter's weights, less their zero point. */
static int64_t magnitudes(const struct filter *f)
{
    int64_t sum = 0;
    if (f->type == IG_I8)
        for (int64_t i = 0; i < f->k; i++) sum += magnitude(((const int8_t *)f->w)[i] - f->zero);
    else
        for (int64_t i = 0; i < f->k; i++) sum += magnitude(((const uint8_t *)f->w)[i] - f->zero);
    return sum;
}

/* The largest that a weight, less the zero point, may be. */
static int64_t largest(const struct filter *f)
{
    const int64_t low = f->type == IG_I8 ? -128 : 0, below = f->zero - low, above = low + 255 - f->zero;
    return below > above ? below : above;
}

/* No sum of products, bias and correction leaves 32 bits, by the largest weights that there may be or, where those would, by what there are. */
static int sums_fit(const struct ig_call *call)
{
    const int64_t inputs = 2 * 255; /* as large as one is, and once more in the correction by its zero point */
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const struct filter f = filter_of(call, oc, 1);
        const int64_t bias = magnitude((int64_t)ig_parameter(call, BIAS, oc));
        if (bias + f.k * inputs * largest(&f) >= INT32_MAX && bias + magnitudes(&f) * inputs >= INT32_MAX) return 0;
    }
    return 1;
}

/* All weights of a filter, less their zero point, fit 8 bits. Says how many are -128. */
static int fits_bytes(const struct filter *f, int64_t *least)
{
    *least = 0;
    for (int64_t i = 0; i < f->k; i++) {
        int32_t v = raw_weight(f, i) - f->zero;
        if (v < -128 || v > 127) return 0;
        *least += v == -128;
    }
    return 1;
}

/*
 * Where two numbers, `apart` from each other in a packed row, are multiplied and added in 16 bits, by inputs down to -128, one sum
 * leaves these: that of -128 twice.
 */
static int pairs_fit(const struct filter *f, int32_t apart)
{
    for (int64_t k = 0; k + apart < (int64_t)f->all * f->taps; k++)
        if (k % (2 * apart) < apart && weight_at(f, k) == -128 && weight_at(f, k + apart) == -128) return 0;
    return 1;
}

/* apart: 0 where products are added in 32 bits at once. */
static int weights_fit(const struct ig_call *call, int32_t merged, int32_t apart)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        struct filter f = filter_of(call, oc, merged);
        int64_t least;
        if (!apart && f.zero == (f.type == IG_I8 ? 0 : 128)) continue;
        if (!fits_bytes(&f, &least) || (apart && least > 1 && !pairs_fit(&f, apart))) return 0;
    }
    return 1;
}

/* --- weights beyond bytes --- */

/* The operands of IG_CONV_INTEGER where those of IG_QLINEAR_CONV are; a zero point that is not known, and all else, is not there. */
static struct ig_call as_qlinear(const struct ig_call *call)
{
    struct ig_call q = *call;
    memset(q.in, 0, sizeof q.in);
    q.n_in = BIAS + 1;
    q.in[0] = call->in[0];
    q.in[WEIGHTS] = call->in[1];
    if (ig_has(call, 2) && call->in[2].data) q.in[X_ZERO] = call->in[2];
    if (ig_has(call, 3)) q.in[W_ZERO] = call->in[3];
    return q;
}

/* What is added to w - w_zero, where 8 bits do not hold all of a filter. */
static int32_t beyond_of(const struct filter *f)
{
    int64_t least;
    return fits_bytes(f, &least) ? 0 : f->zero - (f->type == IG_I8 ? 0 : 128);
}

static struct filter moved_filter(const struct ig_call *call, int32_t oc, int32_t merged)
{
    struct filter f = filter_of(call, oc, merged);
    f.zero -= merged == 1 ? beyond_of(&f) : 0; /* pixels' sums are of all groups that are one */
    return f;
}

static int moved_weights_fit(const struct ig_call *call, int32_t merged, int32_t apart)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const struct filter f = moved_filter(call, oc, merged);
        int64_t least;
        if (!apart && f.zero == (f.type == IG_I8 ? 0 : 128)) continue;
        if (!fits_bytes(&f, &least) || (apart && least > 1 && !pairs_fit(&f, apart))) return 0;
    }
    return 1;
}

/* --- words two at a time, pairs.h --- */

/* What words are made of: some of a panel's, evenly, in the order of memory. */
struct source {
    const struct ig_call *call;
    const struct ig_bytes_cut *cut;
    int32_t panel;        /* of all groups' */
    int64_t n;            /* words; */
    int64_t step;         /* from one to the next */
};

/* Lane by lane, as pack_filter's; where a tap's channels are whole words, without finding each weight's tap. */
static void make_words(const struct source *of, int8_t *words)
{
    const struct ig_bytes_cut *cut = of->cut;
    const int32_t first = of->panel % cut->panels * IG_BYTES_CHANNELS, group = of->panel / cut->panels;
    memset(words, 0, (size_t)(of->n * IG_PAIR_BYTES));
    for (int32_t lane = 0; lane < IG_BYTES_CHANNELS && first + lane < cut->oc; lane++) {
        const int32_t oc = group * cut->oc + first + lane;
        const struct filter f = ig_bytes_have_beyond(of->call) ? moved_filter(of->call, oc, cut->merged) : filter_of(of->call, oc, cut->merged);
        int8_t *to = words + 4 * lane;
        for (int64_t i = 0; i < of->n; i++, to += IG_PAIR_BYTES) {
            const int64_t line = i * of->step / cut->words, k = i * of->step % cut->words * 4, at = line * cut->k + k;
            if (f.ic == f.all && f.all % 4 == 0)
                for (int32_t j = 0; j < 4; j++) to[j] = (int8_t)(raw_weight(&f, (at % f.all + j) * f.taps + at / f.all) - f.zero);
            else
                for (int32_t j = 0; j < 4 && k + j < cut->k; j++) to[j] = (int8_t)weight_at(&f, at + j);
        }
    }
}

static void *room(int64_t bytes)
{
    void *p = malloc((size_t)bytes + 1);
    if (!p) abort();
    return p;
}

/* A window's rows are so far from each other, in an image as high as wide (some of its rows are to be answered alike), that leaving out padding gains more. */
static int are_far(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return w->kh > 1 && w->dh > 1 && 2 * w->dh > call->in[0].w;
}

/* Pairs are few enough by some words of some panels: so few that words of 16 bits take longer. */
static int are_pairs(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    enum { SOME = 32, PANELS = 3 };
    const struct ig_bytes_cut cut = ig_bytes_cut_of(call, shape);
    const int64_t all = cut.lines * cut.words, n = all < SOME ? all : SOME;
    const int32_t panels = cut.groups * cut.panels;
    int8_t words[SOME * IG_PAIR_BYTES];
    struct ig_pair pairs[2 * SOME];
    int32_t alone[SOME];
    int64_t steps = 0;
    for (int32_t i = 0; i < PANELS; i++) {
        struct ig_pairs p = {0, 0, pairs, alone};
        make_words(&(struct source){call, &cut, i * (panels - 1) / (PANELS - 1), n, all / n}, words);
        ig_pair_words(words, (int32_t)n, 2 * SOME, &p);
        steps += p.n;
    }
    return steps * 32 <= n * PANELS * (all > 2 * SOME ? 23 : 22); /* more words find each other easier than some */
}

/* Where a word is. */
static int32_t place(const struct ig_bytes_cut *cut, int32_t word)
{
    return (int32_t)(word / cut->words * cut->pitch + word % cut->words * 4);
}

/* A panel behind its scales, of so many words. */
static void put_pairs(const struct ig_pairs *p, const struct ig_bytes_cut *cut, const int8_t *words, int32_t *to)
{
    int8_t *w = (int8_t *)(to + ig_bytes_rows_of_steps(2 * p->n + p->n_alone) * IG_BYTES_CHANNELS);
    *to++ = p->n, *to++ = p->n_alone;
    for (int32_t i = 0; i < 2 * p->n; i++, w += IG_PAIR_BYTES) {
        const struct ig_pair *pair = &p->pair[i / 2];
        const int32_t word = pair->word[i % 2];
        *to++ = place(cut, word < 0 ? pair->word[0] : word);
        for (int32_t k = 0; word >= 0 && k < IG_PAIR_BYTES; k++) w[k] = ig_pair_weight(words[(int64_t)word * IG_PAIR_BYTES + k], pair->part[i % 2]);
    }
    for (int32_t i = 0; i < p->n_alone; i++, w += IG_PAIR_BYTES) {
        *to++ = place(cut, p->alone[i]);
        memcpy(w, words + (int64_t)p->alone[i] * IG_PAIR_BYTES, IG_PAIR_BYTES);
    }
}

static void pack_pairs(const struct ig_call *call, const struct ig_bytes_cut *cut, int32_t panel, int32_t *to)
{
    const int64_t n = cut->lines * cut->words;
    int8_t *words = room(n * IG_PAIR_BYTES);
    struct ig_pairs p = {0, 0, room(cut->steps * (int64_t)sizeof *p.pair), room(n * (int64_t)sizeof *p.alone)};
    make_words(&(struct source){call, cut, panel, n, 1}, words);
    ig_pair_words(words, (int32_t)n, (int32_t)cut->steps, &p);
    put_pairs(&p, cut, words, to);
    free(words);
    free(p.pair);
    free(p.alone);
}

/* --- outputs are sums --- */

/* Words of bytes hold all weights, and are pairs where they are to be. */
static int words_fit(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    const int32_t merged = ig_bytes_cut_of(call, shape).merged, apart = shape->halves ? 2 : 0;
    if (ig_bytes_have_beyond(call) ? !moved_weights_fit(call, merged, apart) : !weights_fit(call, merged, apart)) return 0;
    return !shape->pairs || (!are_far(call) && are_pairs(call, shape));
}

/* Those of the weights, and the bias. */
static int scales_are_known(const struct ig_call *call)
{
    return (!ig_has(call, IG_W_SCALE) || call->in[IG_W_SCALE].data) && (!ig_has(call, IG_SUM_BIAS) || call->in[IG_SUM_BIAS].data);
}

static int is_flat_integer(const struct ig_call *call)
{
    return conv_integer_any_1x1__supports(call) && call->in[1].data && (!ig_has(call, 3) || call->in[3].data) && scales_are_known(call) &&
           ig_is_flat(&((const struct ig_conv *)call->attrs)->w);
}

static int words_of_sums_fit(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    const struct ig_call q = as_qlinear(call);
    return shape->unit == 2 || words_fit(&q, shape);
}

static int supports_sums(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    return is_flat_integer(call) && !is_depthwise(call) && words_of_sums_fit(call, shape);
}

/* Zero points are one of a and one, or one for each column, of a constant matrix b. */
static int supports_product(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_product p;
    if (!matmul_integer_any_nd__supports(call) || call->in[1].shape->rank != 2 || !call->in[1].data || !ig_count(call->out[0].shape)) return 0;
    if ((ig_has(call, 2) && ig_count(call->in[2].shape) != 1) || (ig_has(call, 3) && !call->in[3].data) || !scales_are_known(call)) return 0;
    ig_bytes_product_of(call, 0, call->out[0].h, &p);
    return words_of_sums_fit(&p.call, shape);
}

/* --- any --- */

static int supports(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    if (!is_flat_qlinear(call) || is_depthwise(call) || !sums_fit(call)) return 0;
    return shape->unit == 2 || words_fit(call, shape);
}

static float scale_of(const struct ig_call *call, int32_t oc)
{
    return ig_scale(call, X_SCALE, 0) * ig_scale(call, W_SCALE, oc) / ig_scale(call, Y_SCALE, 0);
}

/* Sums are less than 2^31; a scale that is no number is none that fits. */
static int products_fit(const struct ig_call *call)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++)
        if (!(fabsf(scale_of(call, oc)) < 0.5f)) return 0;
    return 1;
}

static struct ig_bytes_head head_of(const struct ig_call *call, int32_t flip)
{
    struct ig_bytes_head h = {.x_zero = (int32_t)ig_parameter(call, X_ZERO, 0), .is_signed = call->in[0].shape->type == IG_I8,
                              .flip = flip, .y_zero = (int32_t)ig_parameter(call, Y_ZERO, 0),
                              .is_signed_out = call->out[0].shape->type == IG_I8, .narrows = products_fit(call)};
    ig_quantized_bounds(&((const struct ig_conv *)call->attrs)->act, call->out[0].shape->type, &h.low, &h.high);
    h.plain = h.low == 0 && h.high == 255;
    h.shift = flip ? (h.is_signed ? 128 : -128) : 0;
    return h;
}

/* What a filter's words leave out: the bias, and - zero sum w. */
static int32_t bias_of(const struct ig_call *call, int32_t oc, int32_t zero)
{
    struct filter f = filter_of(call, oc, 1);
    int64_t sum = 0;
    for (int64_t i = 0; zero && i < f.k; i++) sum += raw_weight(&f, i) - f.zero;
    return (int32_t)((int64_t)ig_parameter(call, BIAS, oc) - zero * sum);
}

/* The first two rows of a panel or block: bias and scale, or of sums nothing and what their zero point is multiplied by, where words leave it out. */
static void put_ends(const struct ig_call *call, int32_t oc, int32_t zero, int is_left_out, int32_t *first, int32_t *second)
{
    const float scale = scale_of(call, oc);
    if (ig_bytes_are_sums(call)) {
        *second = is_left_out ? bias_of(call, oc, -1) : 0;
        return;
    }
    *first = bias_of(call, oc, zero);
    memcpy(second, &scale, sizeof scale);
}

/* Word c of a row of `nr`. */
static void put_word(int32_t *row, int32_t c, int32_t nr, int halves, uint32_t word)
{
    uint16_t *half = (uint16_t *)row;
    if (halves) half[c] = (uint16_t)word, half[nr + c] = (uint16_t)(word >> 16);
    else row[c] = (int32_t)word;
}

/* Words of a panel's channel c. */
static void pack_filter(const struct filter *f, const struct ig_bytes_shape *shape, const struct ig_bytes_cut *cut, int32_t *rows, int32_t c)
{
    int32_t unit = shape->unit, bits = 32 / unit;
    for (int64_t i = 0; i < cut->lines * cut->words; i++, rows += shape->nr) {
        int64_t line = i / cut->words, k = i % cut->words * unit;
        uint32_t word = 0;
        for (int32_t j = 0; j < unit && k + j < cut->k; j++)
            word |= ((uint32_t)weight_at(f, line * cut->k + k + j) & ((1u << bits) - 1)) << j * bits;
        put_word(rows, c, shape->nr, shape->halves, word);
    }
}

/* Of numbers [a, b) of a packed row: what products of sums have too much, modulo 2^32. */
static uint32_t inner_of(const struct filter *f, int64_t a, int64_t b)
{
    uint32_t sum = 0;
    for (int64_t k = a; k < b; k += 4)
        for (int64_t i = k; i < k + 2; i++) sum += (uint32_t)weight_at(f, i) * (uint32_t)weight_at(f, i + 2);
    return sum;
}

/* What each kernel row would add, if it were padding: `to` is of a panel's channel c. */
static void pack_rows(const struct filter *f, const struct ig_bytes_cut *cut, int32_t zero, int32_t nr, int32_t *to)
{
    for (int32_t row = 0; row < cut->rows; row++, to += nr) {
        int64_t sum = 0;
        const int64_t k = cut->k / cut->rows;
        for (int64_t i = 0; i < k; i++) sum += weight_at(f, row * k + i);
        *to = (int32_t)(zero * sum + (cut->inner ? (int32_t)inner_of(f, row * k, (row + 1) * k) : 0));
    }
}

static size_t pack(const struct ig_call *call, void *dst, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_cut cut = ig_bytes_cut_of(call, shape);
    int32_t nr = shape->nr;
    size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(cut.groups * (int64_t)cut.panels * cut.panel) * sizeof(int32_t);
    if (!dst) return bytes;
    int32_t zero = shape->unit == 4 ? flipped_zero(call, shape->flips) : 0;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(call, shape->unit == 4 ? flip_of(call, shape->flips) : 0);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *panels = (int32_t *)((struct ig_bytes_head *)dst + 1), c = oc % cut.oc % nr;
        int32_t *panel = panels + (oc / cut.oc * (int64_t)cut.panels + oc % cut.oc / nr) * cut.panel;
        struct filter f = filter_of(call, oc, cut.merged);
        put_ends(call, oc, zero, shape->unit == 4, &panel[c], &panel[nr + c]);
        if (shape->inner) panel[c] = (int32_t)((uint32_t)panel[c] - inner_of(&f, 0, cut.k));
        if (ig_bytes_have_beyond(call) && shape->unit == 4) {
            const struct filter moved = moved_filter(call, oc, cut.merged);
            panel[cut.behind + cut.rows * nr + c] = f.zero - moved.zero;
            ((struct ig_bytes_head *)dst)->is_beyond |= f.zero != moved.zero;
            f = moved;
        }
        if (!shape->pairs) pack_filter(&f, shape, &cut, panel + 2 * nr, c);
        else if (!c) pack_pairs(call, &cut, (int32_t)((panel - panels) / cut.panel), panel + 2 * nr);
        pack_rows(&f, &cut, zero, nr, panel + cut.behind + c);
    }
    return bytes;
}

/* Where sums become floats: the head's part of that. */
static void put_float_head(const struct ig_call *call, struct ig_bytes_head *head)
{
    head->has_bias = ig_has(call, IG_SUM_BIAS);
    if (call->in[IG_X_SCALE].data) head->x_scale = ig_scale(call, IG_X_SCALE, 0);
}

/* A channel's scale, and `nr` further its bias. */
static void put_floats(const struct ig_call *call, int32_t oc, int32_t nr, int32_t *to)
{
    const float scale = ig_has(call, IG_W_SCALE) ? ig_scale(call, IG_W_SCALE, oc) : 1;
    const float bias = ig_has(call, IG_SUM_BIAS) ? ig_scale(call, IG_SUM_BIAS, oc) : 0;
    memcpy(to, &scale, sizeof scale);
    memcpy(to + nr, &bias, sizeof bias);
}

static size_t pack_sums(const struct ig_call *call, void *dst, const struct ig_bytes_shape *shape)
{
    const struct ig_call q = as_qlinear(call);
    const struct ig_bytes_cut cut = ig_bytes_cut_of(&q, shape);
    const size_t bytes = pack(&q, dst, shape);
    if (!dst || !ig_bytes_become_floats(call)) return bytes;
    put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *panel = (int32_t *)((struct ig_bytes_head *)dst + 1) + (oc / cut.oc * (int64_t)cut.panels + oc % cut.oc / shape->nr) * cut.panel;
        put_floats(call, oc, shape->nr, panel + cut.panel - 2 * shape->nr + oc % cut.oc % shape->nr);
    }
    return bytes;
}

static size_t pack_product(const struct ig_call *call, void *dst, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_product p;
    ig_bytes_product_of(call, 0, call->out[0].h, &p);
    return pack_sums(&p.call, dst, shape);
}

static size_t scratch_of_product(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_product p;
    ig_bytes_product_of(call, 0, call->out[0].h, &p);
    return ig_bytes_conv_scratch(&p.call, shape);
}

#define SHAPE(isa) \
    int ig_supports_sums_##isa(const struct ig_call *call) { return supports_sums(call, &ig_bytes_##isa); } \
    size_t ig_pack_sums_##isa(const struct ig_call *call, void *dst) { return pack_sums(call, dst, &ig_bytes_##isa); } \
    int ig_supports_product_##isa(const struct ig_call *call) { return supports_product(call, &ig_bytes_##isa); } \
    size_t ig_pack_product_##isa(const struct ig_call *call, void *dst) { return pack_product(call, dst, &ig_bytes_##isa); } \
    size_t ig_scratch_product_##isa(const struct ig_call *call) { return scratch_of_product(call, &ig_bytes_##isa); } \
    int ig_supports_bytes_##isa(const struct ig_call *call) { return supports(call, &ig_bytes_##isa); } \
    size_t ig_pack_bytes_##isa(const struct ig_call *call, void *dst) { return pack(call, dst, &ig_bytes_##isa); } \
    size_t ig_scratch_bytes_##isa(const struct ig_call *call) { return ig_bytes_conv_scratch(call, &ig_bytes_##isa); }
SHAPE(avx2)
SHAPE(inner)
SHAPE(paired)
SHAPE(avxvnni)
SHAPE(avx512)
SHAPE(vnni)
SHAPE(amx)
SHAPE(neon)
SHAPE(neon_wide)
SHAPE(dotprod)

/* Numbers are mostly small where zero is; they are unsigned here. */
int ig_supports_bytes_split(const struct ig_call *call)
{
    enum { SMALL = 32 };
    return supports(call, &ig_bytes_split) && flipped_zero(call, IG_BYTES_TO_UNSIGNED) <= SMALL;
}

size_t ig_pack_bytes_split(const struct ig_call *call, void *dst)
{
    return pack(call, dst, &ig_bytes_split);
}

size_t ig_scratch_bytes_split(const struct ig_call *call)
{
    return ig_bytes_conv_scratch(call, &ig_bytes_split);
}

/* --- depthwise --- */

int ig_supports_bytes_depthwise(const struct ig_call *call)
{
    return is_flat_qlinear(call) && is_depthwise(call) && sums_fit(call);
}

int ig_supports_sums_depthwise(const struct ig_call *call)
{
    return is_flat_integer(call) && is_depthwise(call);
}

int ig_supports_sums_depthwise_neon(const struct ig_call *call)
{
    const struct ig_call q = as_qlinear(call);
    return ig_supports_sums_depthwise(call) && weights_fit(&q, 1, 1);
}

int ig_supports_bytes_depthwise_neon(const struct ig_call *call)
{
    return ig_supports_bytes_depthwise(call) && weights_fit(call, 1, 1);
}

enum layout { TAPS, BYTES }; /* i16 [tap][16], i8 [tap][16] */

/* Weight k of a block's channel i. */
static void put_tap(int32_t *w, int32_t k, int32_t i, enum layout layout, int32_t v)
{
    enum { N = IG_BYTES_CHANNELS };
    if (layout == BYTES) ((int8_t *)w)[k * N + i] = (int8_t)v;
    else ((int16_t *)w)[k * N + i] = (int16_t)v;
}

/* Words of a block. */
static int64_t depthwise_block(const struct ig_call *call, enum layout layout)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return (2 + 2 * ig_bytes_become_floats(call)) * N + (int64_t)(w->kh * w->kw + 1) / 2 * (layout == BYTES ? N / 2 : N);
}

static size_t pack_depthwise(const struct ig_call *call, void *dst, enum layout layout)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    int32_t taps = w->kh * w->kw, blocks = (call->out[0].c + N - 1) / N;
    int64_t block = depthwise_block(call, layout);
    size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(blocks * block) * sizeof(int32_t);
    if (!dst) return bytes;
    int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1), zero;
    zero = layout == BYTES ? flipped_zero(call, IG_BYTES_TO_SIGNED) : (int32_t)ig_parameter(call, X_ZERO, 0);
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(call, layout == BYTES ? flip_of(call, IG_BYTES_TO_SIGNED) : 0);
    for (int32_t c = 0; c < call->out[0].c; c++) {
        int32_t *at = to + c / N * block, i = c % N;
        struct filter f = filter_of(call, c, 1);
        put_ends(call, c, zero, 1, &at[i], &at[N + i]);
        for (int32_t k = 0; k < taps; k++) put_tap(at + 2 * N, k, i, layout, weight_at(&f, k));
    }
    return bytes;
}

size_t ig_pack_bytes_depthwise_neon(const struct ig_call *call, void *dst)
{
    return pack_depthwise(call, dst, BYTES);
}

size_t ig_pack_bytes_depthwise_taps(const struct ig_call *call, void *dst)
{
    return pack_depthwise(call, dst, TAPS);
}

static size_t pack_sums_depthwise(const struct ig_call *call, void *dst, enum layout layout)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_call q = as_qlinear(call);
    const int64_t block = depthwise_block(&q, layout);
    const size_t bytes = pack_depthwise(&q, dst, layout);
    if (!dst || !ig_bytes_become_floats(call)) return bytes;
    put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t c = 0; c < call->out[0].c; c++)
        put_floats(call, c, N, (int32_t *)((struct ig_bytes_head *)dst + 1) + (c / N + 1) * block - 2 * N + c % N);
    return bytes;
}

size_t ig_pack_sums_depthwise_neon(const struct ig_call *call, void *dst)
{
    return pack_sums_depthwise(call, dst, BYTES);
}

size_t ig_pack_sums_depthwise_taps(const struct ig_call *call, void *dst)
{
    return pack_sums_depthwise(call, dst, TAPS);
}

size_t ig_scratch_bytes_depthwise(const struct ig_call *call)
{
    return ig_bytes_depthwise_scratch(call);
}

int ig_supports_bytes_depthwise_fours(const struct ig_call *call)
{
    return ig_supports_bytes_depthwise(call) && !ig_bytes_are_floats(call) && ((const struct ig_conv *)call->attrs)->w.dw == 1 &&
           weights_fit(call, 1, 0);
}

/* The word of taps [first, first + 4) of kernel row ky. */
static int32_t tap_word(const struct filter *f, const struct ig_window *w, int32_t ky, int32_t first)
{
    uint32_t word = 0;
    for (int32_t j = 0; j < 4; j++)
        if (first + j >= 0 && first + j < w->kw) word |= ((uint32_t)weight_at(f, ky * w->kw + first + j) & 0xff) << 8 * j;
    return (int32_t)word;
}

static size_t pack_words(const struct ig_call *call, void *dst, int32_t flips)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    int32_t words = ig_bytes_depthwise_words(w), of_row = words / w->kh, blocks = (call->out[0].c + N - 1) / N;
    int64_t block = 2 * (1 + words) * N;
    size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(blocks * block) * sizeof(int32_t);
    if (!dst) return bytes;
    int32_t zero = flipped_zero(call, flips);
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(call, flip_of(call, flips));
    for (int32_t c = 0; c < call->out[0].c; c++) {
        int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1) + c / N * block + c % N;
        struct filter f = filter_of(call, c, 1);
        float scale = scale_of(call, c);
        to[0] = bias_of(call, c, zero);
        memcpy(&to[N], &scale, sizeof scale);
        for (int32_t i = 0; i < 2 * words; i++)
            to[(2 + i) * N] = tap_word(&f, w, i / 2 / of_row, i / 2 % of_row * 4 - i % 2);
    }
    return bytes;
}

size_t ig_pack_bytes_depthwise_fours(const struct ig_call *call, void *dst)
{
    return pack_words(call, dst, IG_BYTES_TO_UNSIGNED);
}

size_t ig_pack_bytes_depthwise_fours_signed(const struct ig_call *call, void *dst)
{
    return pack_words(call, dst, IG_BYTES_TO_SIGNED);
}

/* --- the same with sums as outputs --- */

/* Of all weights less their zero point two numbers of 8 bits are the sum: none is 255. */
static int halves_fit(const struct ig_call *call)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const struct filter f = filter_of(call, oc, 1);
        for (int64_t i = 0; i < f.k; i++)
            if (raw_weight(&f, i) - f.zero > 254) return 0;
    }
    return 1;
}

int ig_supports_sums_depthwise_fours(const struct ig_call *call)
{
    const struct ig_call q = as_qlinear(call);
    return ig_supports_sums_depthwise(call) && ((const struct ig_conv *)call->attrs)->w.dw == 1 && halves_fit(&q);
}

/* What 8 bits hold of a weight less its zero point; or what is left. */
static int32_t part_of(int32_t v, int is_left)
{
    const int32_t held = v < -128 ? -128 : v > 127 ? 127 : v;
    return is_left ? v - held : held;
}

/* `tap_word` of such parts. */
static int32_t part_word(const struct filter *f, const struct ig_window *w, int32_t ky, int32_t first, int is_left)
{
    uint32_t word = 0;
    for (int32_t j = 0; j < 4; j++)
        if (first + j >= 0 && first + j < w->kw) word |= ((uint32_t)part_of(weight_at(f, ky * w->kw + first + j), is_left) & 0xff) << 8 * j;
    return (int32_t)word;
}

/* Words of a channel, a row of a block each; not 0: some is not. */
static int32_t pack_parts(const struct filter *f, const struct ig_window *w, int is_left, int32_t *to)
{
    const int32_t words = ig_bytes_depthwise_words(w), of_row = words / w->kh;
    int32_t any = 0;
    for (int32_t i = 0; i < 2 * words; i++, to += IG_BYTES_CHANNELS) {
        *to = part_word(f, w, i / 2 / of_row, i / 2 % of_row * 4 - i % 2, is_left);
        any |= *to;
    }
    return any;
}

static size_t pack_sums_words(const struct ig_call *call, void *dst, int32_t flips)
{
    enum { N = IG_BYTES_CHANNELS };
    const struct ig_call q = as_qlinear(call);
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t words = ig_bytes_depthwise_words(w), rows = ig_bytes_fours_rows(words);
    const int64_t block = ig_bytes_fours_all(words, 1) * N;
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + N - 1) / N * block) * sizeof(int32_t);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(&q, flip_of(&q, flips));
    if (ig_bytes_become_floats(call)) put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t c = 0; c < call->out[0].c; c++) {
        int32_t *at = (int32_t *)((struct ig_bytes_head *)dst + 1) + c / N * block, *to = at + c % N;
        const struct filter f = filter_of(&q, c, 1);
        to[N] = bias_of(&q, c, -1);
        pack_parts(&f, w, 0, to + 2 * N);
        at[rows * N] |= pack_parts(&f, w, 1, to + (rows + 5) * N);
        if (ig_bytes_become_floats(call)) put_floats(call, c, N, to + (rows + 1) * N);
    }
    return bytes;
}

size_t ig_pack_sums_depthwise_fours(const struct ig_call *call, void *dst)
{
    return pack_sums_words(call, dst, IG_BYTES_TO_UNSIGNED);
}

size_t ig_pack_sums_depthwise_fours_signed(const struct ig_call *call, void *dst)
{
    return pack_sums_words(call, dst, IG_BYTES_TO_SIGNED);
}

size_t ig_scratch_bytes_depthwise_fours(const struct ig_call *call)
{
    return ig_bytes_pixels(&((const struct ig_conv *)call->attrs)->w) + (size_t)call->in[0].c;
}

size_t ig_scratch_bytes_depthwise_wide(const struct ig_call *call)
{
    const size_t words = (size_t)ig_bytes_wide_words(&((const struct ig_conv *)call->attrs)->w, ig_bytes_are_sums(call));
    return ig_bytes_wide_at(call) + (size_t)(call->in[0].c + 63) / 64 * words * sizeof(int32_t);
}

/* --- groups of few channels, common/grouped_bytes.h --- */

static int supports_grouped(const struct ig_call *call, const struct ig_bytes_grouped_shape *shape)
{
    struct ig_bytes_grouped_cut cut;
    if (!is_flat_qlinear(call) || ig_bytes_are_floats(call) || is_depthwise(call) || !sums_fit(call)) return 0;
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return conv->groups > 1 && w->kh * w->kw > 1 && w->dh == 1 && w->dw == 1 && w->kh <= IG_BYTES_GROUPED_ROWS && w->top >= 0 && w->left >= 0 &&
           ig_bytes_grouped_cut_of(call, shape, &cut) && (shape->unit == 2 || weights_fit(call, 1, shape->halves ? 2 : 0));
}

/* Where lane l finds byte k of its channels, in 16 bytes that begin with those of its vector; beyond the last channel weights are zero. */
static int8_t lane_byte(const struct ig_bytes_grouped_cut *cut, const struct ig_bytes_grouped_shape *shape, int32_t l, int32_t k)
{
    return (int8_t)(l % shape->lanes / cut->oc * cut->ic * (4 / shape->unit) + k);
}

/* Words of channel c of a block. */
static void pack_grouped_filter(const struct filter *f, const struct ig_window *w, const struct ig_bytes_grouped_shape *shape, int32_t words,
                                int32_t *rows, int32_t c)
{
    const int32_t bits = 32 / shape->unit;
    for (int32_t ky = 0; ky < w->kh; ky++)
        for (int32_t k = 0; k < words * shape->unit; k += shape->unit)
            for (int32_t kx = 0; kx < w->kw; kx++, rows += IG_BYTES_CHANNELS) {
                uint32_t word = 0;
                for (int32_t i = 0; i < shape->unit && k + i < f->ic; i++)
                    word |= ((uint32_t)weight_at(f, ((int64_t)ky * w->kw + kx) * f->ic + k + i) & ((1u << bits) - 1)) << i * bits;
                put_word(rows, c, IG_BYTES_CHANNELS, shape->halves, word);
            }
}

static size_t pack_grouped(const struct ig_call *call, void *dst, const struct ig_bytes_grouped_shape *shape)
{
    enum { N = IG_BYTES_CHANNELS };
    struct ig_bytes_grouped_cut cut;
    if (!ig_bytes_grouped_cut_of(call, shape, &cut)) return 0;
    const int32_t lanes = cut.spread ? cut.words * N : 0;
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(lanes + cut.blocks * cut.packed) * sizeof(int32_t);
    if (!dst) return bytes;
    const int32_t zero = shape->unit == 4 ? flipped_zero(call, shape->flips) : 0;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(call, shape->unit == 4 ? flip_of(call, shape->flips) : 0);
    int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1);
    for (int32_t i = 0; i < 4 * lanes; i++) ((int8_t *)to)[i] = lane_byte(&cut, shape, i / 4 % N, i / 4 / N * 4 + i % 4);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const int32_t within = oc % (cut.merged * cut.oc), c = within % N;
        int32_t *block = to + lanes + (oc / (cut.merged * cut.oc) * cut.parts + within / N) * cut.packed;
        struct filter f = filter_of(call, oc, 1);
        float scale = scale_of(call, oc);
        block[c] = bias_of(call, oc, zero);
        memcpy(&block[N + c], &scale, sizeof scale);
        pack_grouped_filter(&f, &((const struct ig_conv *)call->attrs)->w, shape, cut.words, block + 2 * N, c);
    }
    return bytes;
}

#define GROUPED(isa) \
    int ig_supports_bytes_grouped_##isa(const struct ig_call *call) { return supports_grouped(call, &ig_bytes_grouped_##isa); } \
    size_t ig_pack_bytes_grouped_##isa(const struct ig_call *call, void *dst) { return pack_grouped(call, dst, &ig_bytes_grouped_##isa); } \
    size_t ig_scratch_bytes_grouped_##isa(const struct ig_call *call) { return ig_bytes_grouped_scratch(call, &ig_bytes_grouped_##isa); }
GROUPED(vnni)
GROUPED(avxvnni)
GROUPED(avx2)
GROUPED(dotprod)
GROUPED(neon)

/* --- few input channels, common/first_bytes.h --- */

/* As products_fit, but that scales may be no numbers: x86 rounds such products to the least of 32 bits, of which bounds make the lower one. */
static int products_narrow(const struct ig_call *call)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++)
        if (fabsf(scale_of(call, oc)) >= 0.5f) return 0;
    return 1;
}

static int supports_first(const struct ig_call *call, const struct ig_bytes_first_shape *shape)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    if (!is_flat_qlinear(call) || ig_bytes_are_floats(call) || conv->groups != 1) return 0;
    if (call->in[0].c > IG_BYTES_FIRST || call->out[0].w < shape->lanes) return 0;
    const int64_t step = (int64_t)w->sw * call->in[0].c;
    const int near = step <= IG_BYTES_FIRST_NEAR || (step <= IG_BYTES_FIRST_FAR && step % 2 == 0);
    return near && w->kh * w->kw > 1 && w->dh == 1 && w->dw == 1 && w->top >= 0 && w->left >= 0 && sums_fit(call) && weights_fit(call, 1, 0) &&
           products_narrow(call);
}

/* Word k of a filter. */
static int32_t first_word(const struct filter *f, const struct ig_window *w, const struct ig_bytes_first_cut *cut, int32_t k)
{
    uint32_t word = 0;
    for (int32_t i = 0, ky, at; i < 4; i++)
        if (ig_bytes_first_byte(w, cut, k, i, &ky, &at)) word |= ((uint32_t)weight_at(f, (int64_t)ky * w->kw * f->ic + at) & 0xff) << 8 * i;
    return (int32_t)word;
}

static size_t pack_first(const struct ig_call *call, void *dst, const struct ig_bytes_first_shape *shape)
{
    enum { N = IG_BYTES_FIRST_FOUR };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_bytes_first_cut cut = ig_bytes_first_cut_of(call);
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + N - 1) / N * cut.packed) * sizeof(int32_t);
    if (!dst) return bytes;
    const int32_t zero = flipped_zero(call, shape->flips);
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(call, flip_of(call, shape->flips));
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *to = (int32_t *)((struct ig_bytes_head *)dst + 1) + oc / N * cut.packed + oc % N;
        struct filter f = filter_of(call, oc, 1);
        float scale = scale_of(call, oc);
        to[0] = bias_of(call, oc, zero);
        memcpy(&to[N], &scale, sizeof scale);
        for (int32_t k = 0; k < cut.words; k++) to[(2 + k) * N] = first_word(&f, w, &cut, k);
    }
    return bytes;
}

#define FIRST(isa) \
    int ig_supports_bytes_first_##isa(const struct ig_call *call) { return supports_first(call, &ig_bytes_first_##isa); } \
    size_t ig_pack_bytes_first_##isa(const struct ig_call *call, void *dst) { return pack_first(call, dst, &ig_bytes_first_##isa); } \
    size_t ig_scratch_bytes_first_##isa(const struct ig_call *call) { return ig_bytes_first_scratch(call, &ig_bytes_first_##isa); }
FIRST(vnni)

/* --- the same by pairs of 16 bits, common/first_pairs.h --- */

int ig_supports_first_pairs(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    if (!is_flat_qlinear(call) || ig_bytes_are_floats(call) || conv->groups != 1) return 0;
    if (call->in[0].c > IG_FIRST_PAIRS || call->out[0].w < IG_FIRST_PAIRS_PIXELS) return 0;
    return w->kh * w->kw > 1 && w->dh == 1 && w->dw == 1 && w->top >= 0 && w->left >= 0 && sums_fit(call) && products_narrow(call);
}

size_t ig_pack_first_pairs(const struct ig_call *call, void *dst)
{
    enum { N = IG_FIRST_PAIRS_PANEL };
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_first_pairs_cut cut = ig_first_pairs_cut_of(call);
    const int32_t k = w->kw * call->in[0].c;
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + N - 1) / N * cut.panel) * sizeof(int32_t);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(call, 0);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *panel = (int32_t *)((struct ig_bytes_head *)dst + 1) + oc / N * cut.panel, c = oc % N;
        int16_t *to = (int16_t *)(panel + 2 * N) + 2 * c;
        const struct filter f = filter_of(call, oc, 1);
        put_ends(call, oc, 0, 0, &panel[c], &panel[N + c]);
        for (int32_t ky = 0; ky < w->kh; ky++, to += 2 * N * cut.words)
            for (int32_t i = 0; i < k; i++) to[i / 2 * 2 * N + i % 2] = (int16_t)weight_at(&f, (int64_t)ky * k + i);
    }
    return bytes;
}

size_t ig_scratch_first_pairs(const struct ig_call *call)
{
    return ig_first_pairs_scratch(call);
}

/* --- to one pixel, avx2/pixel_bytes.c --- */

/* The window is the image. */
int ig_supports_bytes_pixel(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_window *w = &conv->w;
    if (!is_flat_qlinear(call) || conv->groups != 1 || out->h * out->w != 1) return 0;
    if (w->kh != in->h || w->kw != in->w || w->top || w->left || (w->dh > 1 && w->kh > 1) || (w->dw > 1 && w->kw > 1)) return 0;
    return sums_fit(call) && weights_fit(call, 1, 0);
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
    *(struct ig_bytes_head *)dst = head_of(call, 0);
    for (int32_t c = 0; c < oc; c++) {
        int32_t *panel = (int32_t *)(void *)((char *)((struct ig_bytes_head *)dst + 1) + c / NR * panel_bytes);
        int8_t *w = (int8_t *)(panel + 2 * NR) + c % NR * 2;
        const struct filter f = filter_of(call, c, 1);
        put_ends(call, c, 0, 0, &panel[c % NR], &panel[NR + c % NR]);
        for (int64_t i = 0; i < k; i++) w[i / 2 * 2 * NR + i % 2] = (int8_t)weight_at(&f, i);
    }
    return bytes;
}

size_t ig_scratch_bytes_pixel(const struct ig_call *call)
{
    enum { LINE = 16 }; /* numbers written at a time */
    const struct ig_operand *in = &call->in[0];
    return ((size_t)in->h * (size_t)in->w * (size_t)in->c + LINE) * sizeof(int16_t);
}

/* --- 3x3 by Winograd's F(4,3), common/winograd_bytes.h --- */

static int is_3x3(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    return conv->groups == 1 && w->kh == 3 && w->kw == 3 && w->sh == 1 && w->sw == 1 && w->dh == 1 && w->dw == 1;
}

int ig_supports_bytes_winograd4(const struct ig_call *call)
{
    return is_flat_qlinear(call) && is_3x3(call) && sums_fit(call) && weights_fit(call, 1, 0);
}

int ig_supports_sums_winograd4(const struct ig_call *call)
{
    const struct ig_call q = as_qlinear(call);
    return is_flat_integer(call) && is_3x3(call) && weights_fit(&q, 1, 0);
}

/* The filters of a panel's channel c. */
static void pack_winograd_filter(const struct filter *f, int32_t c, int8_t *w)
{
    const int32_t taps = IG_WINOGRAD_BYTES_TAPS;
    for (int32_t i = 0; i < f->ic; i++)
        for (int32_t tap = 0; tap < taps; tap++)
            w[((i / 2 * 2 + c / 8) * taps + tap) * 16 + c % 8 * 2 + i % 2] = (int8_t)(raw_weight(f, (int64_t)i * taps + tap) - f->zero);
}

size_t ig_pack_bytes_winograd4(const struct ig_call *call, void *dst)
{
    enum { NR = IG_WINOGRAD_BYTES_NR };
    const struct ig_winograd_bytes_cut cut = ig_winograd_bytes_cut_of(call);
    const size_t bytes = sizeof(struct ig_bytes_head) + (size_t)((call->out[0].c + NR - 1) / NR * cut.panel);
    if (!dst) return bytes;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = head_of(call, flip_of(call, IG_BYTES_TO_SIGNED));
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        char *panel = (char *)((struct ig_bytes_head *)dst + 1) + oc / NR * cut.panel;
        int32_t *bias = (int32_t *)(void *)panel + oc % NR;
        const struct filter f = filter_of(call, oc, 1);
        put_ends(call, oc, flipped_zero(call, IG_BYTES_TO_SIGNED), 1, bias, bias + NR);
        pack_winograd_filter(&f, oc % NR, (int8_t *)panel + cut.rows * NR * 4);
    }
    return bytes;
}

size_t ig_pack_sums_winograd4(const struct ig_call *call, void *dst)
{
    enum { NR = IG_WINOGRAD_BYTES_NR };
    const struct ig_call q = as_qlinear(call);
    const size_t bytes = ig_pack_bytes_winograd4(&q, dst), panel = (size_t)ig_winograd_bytes_cut_of(&q).panel;
    if (!dst || !ig_bytes_become_floats(call)) return bytes;
    put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t oc = 0; oc < call->out[0].c; oc++)
        put_floats(call, oc, NR, (int32_t *)(void *)((char *)((struct ig_bytes_head *)dst + 1) + (size_t)(oc / NR) * panel) + 2 * NR + oc % NR);
    return bytes;
}

size_t ig_scratch_bytes_winograd4(const struct ig_call *call)
{
    return ig_winograd_bytes_scratch(call);
}
