/* Convolutions of quantised numbers whose parameters are constants: what is supported, packed weights (common/conv_bytes.h), scratch. */
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/pack/bytes.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/pack/pairs.h"

/* --- weights beyond bytes --- */

/* What is added to w - w_zero, where 8 bits do not hold all of a filter. */
static int32_t beyond_of(const struct ig_filter *f)
{
    int64_t least;
    return ig_fits_bytes(f, &least) ? 0 : f->zero - (f->type == IG_I8 ? 0 : 128);
}

static struct ig_filter moved_filter(const struct ig_call *call, int32_t oc, int32_t merged)
{
    struct ig_filter f = ig_filter_of(call, oc, merged);
    f.zero -= merged == 1 ? beyond_of(&f) : 0; /* pixels' sums are of all groups that are one */
    return f;
}

static int moved_weights_fit(const struct ig_call *call, int32_t merged, int32_t apart)
{
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        const struct ig_filter f = moved_filter(call, oc, merged);
        int64_t least;
        if (!apart && f.zero == (f.type == IG_I8 ? 0 : 128)) continue;
        if (!ig_fits_bytes(&f, &least) || (apart && least > 1 && !ig_pairs_fit(&f, apart))) return 0;
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
        const struct ig_filter f = ig_bytes_have_beyond(of->call) ? moved_filter(of->call, oc, cut->merged) : ig_filter_of(of->call, oc, cut->merged);
        int8_t *to = words + 4 * lane;
        for (int64_t i = 0; i < of->n; i++, to += IG_PAIR_BYTES) {
            const int64_t line = i * of->step / cut->words, k = i * of->step % cut->words * 4, at = line * cut->k + k;
            if (f.ic == f.all && f.all % 4 == 0)
                for (int32_t j = 0; j < 4; j++) to[j] = (int8_t)(ig_raw_weight(&f, (at % f.all + j) * f.taps + at / f.all) - f.zero);
            else
                for (int32_t j = 0; j < 4 && k + j < cut->k; j++) to[j] = (int8_t)ig_weight_at(&f, at + j);
        }
    }
}

static void *room(int64_t bytes)
{
    void *p = malloc((size_t)bytes + 1);
    if (!p) abort();
    return p;
}

/*
 * A window's rows are so far from each other, in an image as high as wide (some of its rows are to be answered alike), that leaving out padding
 * gains more.
 */
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
    if (ig_bytes_have_beyond(call) ? !moved_weights_fit(call, merged, apart) : !ig_weights_fit(call, merged, apart)) return 0;
    return !shape->pairs || (!are_far(call) && are_pairs(call, shape));
}

static int words_of_sums_fit(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    const struct ig_call q = ig_as_qlinear(call);
    return shape->unit == 2 || words_fit(&q, shape);
}

static int supports_sums(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    return ig_is_flat_integer(call) && !ig_is_by_channel(call) && words_of_sums_fit(call, shape);
}

/* Zero points are one of a and one, or one for each column, of a constant matrix b. */
static int supports_product(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_product p;
    if (!matmul_integer_any_nd__supports(call) || call->in[1].shape->rank != 2 || !call->in[1].data || !ig_count(call->out[0].shape)) return 0;
    if ((ig_has(call, 2) && ig_count(call->in[2].shape) != 1) || (ig_has(call, 3) && !call->in[3].data) || !ig_scales_are_known(call)) return 0;
    ig_bytes_product_of(call, 0, call->out[0].h, &p);
    return words_of_sums_fit(&p.call, shape);
}

/* --- any --- */

static int supports(const struct ig_call *call, const struct ig_bytes_shape *shape)
{
    if (!ig_is_flat_qlinear(call) || ig_is_by_channel(call) || !ig_sums_fit(call)) return 0;
    return shape->unit == 2 || words_fit(call, shape);
}

/* Word i of channel c of a panel whose words begin at `words`. */
static void put_word(int32_t *words, int64_t i, int32_t c, const struct ig_bytes_shape *shape, uint32_t word)
{
    enum { SIDE = 16 };
    if (shape->tiled) words[((i / SIDE * (shape->nr / SIDE) + c / SIDE) * SIDE + i % SIDE) * SIDE + c % SIDE] = (int32_t)word;
    else ig_put_word(words + i * shape->nr, c, shape->nr, shape->halves, word);
}

/* Words of a panel's channel c. */
static void pack_filter(const struct ig_filter *f, const struct ig_bytes_shape *shape, const struct ig_bytes_cut *cut, int32_t *words, int32_t c)
{
    int32_t unit = shape->unit, bits = 32 / unit;
    for (int64_t i = 0; i < cut->lines * cut->words; i++) {
        int64_t line = i / cut->words, k = i % cut->words * unit;
        uint32_t word = 0;
        for (int32_t j = 0; j < unit && k + j < cut->k; j++)
            word |= ((uint32_t)ig_weight_at(f, line * cut->k + k + j) & ((1u << bits) - 1)) << j * bits;
        put_word(words, i, c, shape, word);
    }
}

/* Of numbers [a, b) of a packed row: what products of sums have too much, modulo 2^32. */
static uint32_t inner_of(const struct ig_filter *f, int64_t a, int64_t b)
{
    uint32_t sum = 0;
    for (int64_t k = a; k < b; k += 4)
        for (int64_t i = k; i < k + 2; i++) sum += (uint32_t)ig_weight_at(f, i) * (uint32_t)ig_weight_at(f, i + 2);
    return sum;
}

/* What each kernel row would add, if it were padding: `to` is of a panel's channel c. */
static void pack_rows(const struct ig_filter *f, const struct ig_bytes_cut *cut, int32_t zero, int32_t nr, int32_t *to)
{
    for (int32_t row = 0; row < cut->rows; row++, to += nr) {
        int64_t sum = 0;
        const int64_t k = cut->k / cut->rows;
        for (int64_t i = 0; i < k; i++) sum += ig_weight_at(f, row * k + i);
        *to = (int32_t)(zero * sum + (cut->inner ? (int32_t)inner_of(f, row * k, (row + 1) * k) : 0));
    }
}

static size_t pack(const struct ig_call *call, void *dst, const struct ig_bytes_shape *shape)
{
    struct ig_bytes_cut cut = ig_bytes_cut_of(call, shape);
    int32_t nr = shape->nr;
    size_t bytes = sizeof(struct ig_bytes_head) + (size_t)(cut.groups * (int64_t)cut.panels * cut.panel) * sizeof(int32_t);
    if (!dst) return bytes;
    int32_t zero = shape->unit == 4 ? ig_flipped_zero(call, shape->flips) : 0;
    memset(dst, 0, bytes);
    *(struct ig_bytes_head *)dst = ig_head_of(call, shape->unit == 4 ? ig_flip_of(call, shape->flips) : 0);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *panels = (int32_t *)((struct ig_bytes_head *)dst + 1), c = oc % cut.oc % nr;
        int32_t *panel = panels + (oc / cut.oc * (int64_t)cut.panels + oc % cut.oc / nr) * cut.panel;
        struct ig_filter f = ig_filter_of(call, oc, cut.merged);
        ig_put_ends(call, oc, zero, shape->unit == 4, &panel[c], &panel[nr + c]);
        if (shape->inner) panel[c] = (int32_t)((uint32_t)panel[c] - inner_of(&f, 0, cut.k));
        if (ig_bytes_have_beyond(call) && shape->unit == 4) {
            const struct ig_filter moved = moved_filter(call, oc, cut.merged);
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

static size_t pack_sums(const struct ig_call *call, void *dst, const struct ig_bytes_shape *shape)
{
    const struct ig_call q = ig_as_qlinear(call);
    const struct ig_bytes_cut cut = ig_bytes_cut_of(&q, shape);
    const size_t bytes = pack(&q, dst, shape);
    if (!dst || !ig_bytes_become_floats(call)) return bytes;
    ig_put_float_head(call, (struct ig_bytes_head *)dst);
    for (int32_t oc = 0; oc < call->out[0].c; oc++) {
        int32_t *panel = (int32_t *)((struct ig_bytes_head *)dst + 1) + (oc / cut.oc * (int64_t)cut.panels + oc % cut.oc / shape->nr) * cut.panel;
        ig_put_floats(call, oc, shape->nr, panel + cut.panel - 2 * shape->nr + oc % cut.oc % shape->nr);
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
    return supports(call, &ig_bytes_split) && ig_flipped_zero(call, IG_BYTES_TO_UNSIGNED) <= SMALL;
}

size_t ig_pack_bytes_split(const struct ig_call *call, void *dst)
{
    return pack(call, dst, &ig_bytes_split);
}

size_t ig_scratch_bytes_split(const struct ig_call *call)
{
    return ig_bytes_conv_scratch(call, &ig_bytes_split);
}
