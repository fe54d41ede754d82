/*
 * Convolution of quantised numbers (IG_QLINEAR_CONV, IG_CONV_INTEGER) as a matrix product of integers: what one ISA's tiles are driven by,
 * common/conv_bytes.inc.
 *
 * Pixels are copied into scratch, a block of them at a time, tap after tap, as words of 32 bits: either two numbers of 16 bits,
 * x - x_zero, or four of 8 bits, x as it is but for its sign. Padding is x_zero. Then panel after panel of weights, of equal words,
 * is multiplied by the block, tile by tile. Where words are of bytes and rows of taps lie side by side, a block is of rows of the image
 * instead, with their padding: a pixel's words are in `lines`, one for each kernel row, a row apart, and nothing is copied twice; tiles
 * do not cross rows then. But where steps are 1 rows may lie one behind the other, so that all pixels are equally far from each other: then tiles
 * cross rows (`across`), and what they find of windows that do so is dropped. Sums of 32 bits are exact, so that bits depend on no cut;
 * kernels_cpu/pack/bytes.c refuses what could overflow.
 *
 * Packed weights: struct ig_bytes_head, then
 *   [group][panel = ceil(oc/groups / nr)] { bias[nr], scale[nr], word[lines][words][nr] }   channels past the end are zero
 * where groups are those of a cut: several small ones are one whose weights between them are zero, which fills what a tile computes anyway,
 * and a word has the weights of two or four successive k = tap * ic/groups + channel of a line, beyond its last k zero. The bias has whatever
 * the words leave out: - x_zero sum w of bytes. Where a shape says `halves`, the nr words of a row are in two parts, their lower
 * 16 bits and their higher ones, as vectors' products of pairs of bytes and of numbers of 16 bits want them:
 *   four of 8 bits   c0k0 c0k1 c1k0 c1k1 ... c15k0 c15k1 | c0k2 c0k3 c1k2 c1k3 ... c15k2 c15k3
 *   two of 16 bits   c0k0 c1k0 ... c15k0 | c0k1 c1k1 ... c15k1
 * Where it says `tiled`, they are in tiles one behind the other, word[lines][words / 16][nr / 16][16][16].
 * Where a shape says `pairs`, words are multiplied two at a time, kernels_cpu/pack/pairs.h, and a panel has steps in place of words:
 *   steps, alone, at[steps][2], at[alone], to the end of a row of 16; word[steps][2][16]; word[alone][16]; then room up to the most steps
 * of words that are `at` so many bytes from a pixel's first. Products of those that are alone are to be added in 32 bits.
 *
 * Where a shape says `inner`, words of 16 bits are multiplied two at a time, [x0 x1] [x2 x3] by [w0 w1] [w2 w3], as
 *   x0 w0 + x2 w2 = (x0 + w2) (x2 + w0) - x0 x2 - w0 w2
 * (S. Winograd, A new algorithm for inner product, IEEE Transactions on Computers C-17, 1968): half as many products, and sums in their place.
 * What a pixel's have too much is found once for it, what weights have is taken off the bias.
 *
 * Where a shape says `split`, words of bytes are multiplied two at a time and four products added in 16 bits, whatever the weights are: that these
 * stay there is seen to by the numbers, of which four are IG_BYTES_SUM together at most. Where a pixel's are more, what is beyond is taken out of its
 * words when they are copied, and multiplied by itself; there is little of it behind a rectifier, whose outputs are mostly far from their largest.
 * A pixel of which too much is beyond stays as it is, and its products are made one by one.
 *
 * Kernel rows of a dilated window that are padding for all pixels of a block are not multiplied with where they are of whole words. What
 * they would add, x_zero sum w of bytes, of numbers of 16 bits nothing but what `inner` takes off, is then behind a panel's words:
 * left[kernel row][nr].
 *
 * Where outputs are sums (IG_CONV_INTEGER), x_zero is known when a layer runs. A panel has no bias then, in place of scales it has total[nr],
 * what x_zero is to be multiplied by and subtracted: sum (w - w_zero) of bytes, 0 of numbers of 16 bits. Behind its words and `left`, there and where
 * weights are u8, is beyond[nr]; no kernel row is left out where some of it is not 0. A filter whose w - w_zero 8 bits do not hold is packed as
 * w' = w - 128 of u8 or w of i8, and beyond = w_zero - 128 or w_zero, by which the sum of a pixel's bytes is to be multiplied and subtracted:
 *   sum (x - x_zero) (w - w_zero) = sum x w' - beyond sum x - x_zero total
 * Where scales make floats of the sums, scale[nr] of the weights and bias[nr] are behind these, with x_scale known when a layer runs, too.
 */
#ifndef KERNELS_CPU_COMMON_CONV_BYTES_H
#define KERNELS_CPU_COMMON_CONV_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "graph/op.h"
#include "kernels_cpu/kernel.h"

struct ig_bytes_head {           /* 64 bytes */
    int32_t x_zero;
    int32_t is_signed;           /* x is i8 */
    int32_t flip;                /* 0 or 128: words of bytes are of x ^ flip */
    int32_t y_zero, low, high;   /* of the output, which lies between low and high */
    int32_t is_signed_out;       /* y is i8 */
    int32_t narrows;             /* all outputs' products by their scales are within 32 bits */
    int32_t plain;               /* y is u8, and any may be */
    int32_t shift;               /* of sums: words of bytes are of x + shift */
    int32_t is_beyond;           /* some `beyond` is not 0 */
    float x_scale;               /* of sums that become floats */
    int32_t has_bias;            /* these have one */
    int32_t room[3];
};

struct ig_bytes_shape {          /* of one ISA's tiles: sizes depend on it */
    int32_t mr, nr;              /* pixels and channels of a tile, nr at least 16 */
    int32_t unit;                /* numbers of a word: 2 or 4 */
    int32_t step;                /* words of a panel are a multiple of this */
    int32_t flips;               /* bytes of which x are flipped: enum ig_bytes_flips */
    int32_t lines;               /* 1: blocks may be of the image's rows */
    int32_t halves;              /* 1: a row of a panel is its words' lower halves, then their higher ones */
    int32_t pairs;               /* 1: words are multiplied two at a time; a tile of two pixels takes half as long as of four */
    int32_t inner;               /* 1: numbers are multiplied as sums of two, by Winograd's inner product */
    int32_t split;               /* 1: four products at a time are added in 16 bits */
    int32_t tiled;               /* 1: a panel is tiles of 16 words by 16 channels, by which 16 pixels are multiplied at a time, be they of several rows */
};

enum ig_bytes_flips { IG_BYTES_TO_UNSIGNED, IG_BYTES_TO_SIGNED };

enum {
    IG_BYTES_SMALL = 16 << 10,   /* of a block: it stays in the first-level cache while weights come from the second; */
    IG_BYTES_FEW = 256 << 10,    /* weights of a group that may be read so often; */
    IG_BYTES_BLOCK = 256 << 10,  /* of a block where there are more; */
    IG_BYTES_LARGE = 768 << 10,  /* the same of processors that multiply tiles, whose second-level caches have 2 MiB; */
    IG_BYTES_MOST = 1792 << 10,  /* ... of all pixels, so that weights are read once; */
    IG_BYTES_HELD = 64 << 10,    /* of the image's rows in scratch: successive blocks have some in common, which are not copied again */
    IG_BYTES_LINE = 64,
    IG_BYTES_SUM = 256           /* of `split`: 256 * -128 = -32768 */
};

struct ig_bytes_left {           /* what is left of a word of a pixel */
    int32_t at;                  /* which, */
    int32_t word;
};

struct ig_bytes_pixels {         /* whose words a tile takes */
    const char *at;              /* the first one's first line */
    int64_t step, pitch;         /* bytes from a pixel to the next, from a line to the next */
    int64_t words;               /* of a line */
    int32_t lines;
    int32_t fetch;               /* the panel is used for the first time: it may not be in a cache */
    int32_t channels;            /* of the panel that there are */
    const int32_t *x;            /* of `inner` what each one's products have too much; of `split` how many of it are left, or -1: it is as it was */
    const struct ig_bytes_left *left; /* of `split` the first one's; those of a pixel are so many from the next one's */
    int64_t most;
    const char *next;            /* the next panel's first byte that no tile has fetched, */
    int64_t ahead;               /* and how many are to be for each word of a line */
};

struct ig_bytes_outputs {        /* where a tile's outputs go */
    uint8_t *to;                 /* the first pixel's */
    int64_t step;                /* bytes from a pixel to the next */
    int32_t n;                   /* of a pixel: the first of the panel's channels */
    const struct ig_bytes_head *head;
};

/* How a layer is cut. */
struct ig_bytes_cut {
    int32_t merged, groups;      /* of the convolution's groups that are one here; of those */
    int32_t ic, oc, panels;      /* of such a group */
    int32_t lines;               /* of a pixel's words: kernel rows, or 1 */
    int64_t k, words;            /* numbers of a line of a pixel; words */
    int32_t rows;                /* kernel rows that may be left out, each of words / rows words; else 0 */
    int64_t row;                 /* bytes from a pixel's words to the next one's */
    int64_t pitch;               /* from a line to the next, where they are rows of the image; else 0 */
    int32_t inner;               /* the shape's */
    int32_t left;                /* of `split` so many of a pixel's words may be left; else 0 */
    int64_t steps;               /* of a panel at most, where words are two at a time; two that are alone have the room of one; else 0 */
    int64_t behind;              /* where in a panel `left` is, */
    int64_t panel;               /* and words of a panel with bias and scales */
    int32_t across;              /* pixels from a row of the output to the next one, where tiles cross rows: those between are of none; else 0 */
    int32_t block;               /* pixels of a block, whole tiles; or rows of the output, */
    int32_t held;                /* and of the image in scratch */
};

/* Rows of 16 before words where these are so many, in steps or alone. */
static inline int64_t ig_bytes_rows_of_steps(int64_t words)
{
    return (2 + words + 15) / 16;
}

struct ig_bytes_cut ig_bytes_cut_of(const struct ig_call *call, const struct ig_bytes_shape *shape);
size_t ig_bytes_conv_scratch(const struct ig_call *call, const struct ig_bytes_shape *shape);
/*
 * The parts of scratch: sums of two tiles, x_zero for a row of taps, where panels have `beyond` the sum of each pixel of a block, of `split` how many
 * of a pixel's words are left, and those; then the block.
 */
size_t ig_bytes_sums(const struct ig_bytes_shape *shape), ig_bytes_pad(const struct ig_call *call, const struct ig_bytes_cut *cut),
    ig_bytes_totals(const struct ig_call *call, const struct ig_bytes_cut *cut), ig_bytes_counts(const struct ig_bytes_cut *cut),
    ig_bytes_lefts(const struct ig_bytes_cut *cut);

/*
 * Depthwise convolution (common/depthwise_bytes.inc, common/depthwise_pairs.h). Packed weights: struct ig_bytes_head, then
 *   [block of 16 channels] { bias[16], scale[16], i16 or i8 w[tap][16] }   of an odd number of taps one more is zero
 * Where sums become floats, scale[16] and bias[16] as above are behind a block's weights.
 */
enum { IG_BYTES_CHANNELS = 16 };

/*
 * By products of four bytes (common/depthwise_fours.inc), for dilation 1 along rows. Packed weights: struct ig_bytes_head, then
 *   [block of 16 channels] { bias[16], scale[16], word[kernel row][four of its taps][2][16] }
 * Word 0 of two has taps 4 i .. 4 i + 3, word 1, of the next output, taps 4 i - 1 .. 4 i + 2; zero where there is none.
 * Where outputs are sums, a weight less its zero point may take 9 bits: words have what 8 bits hold of it, and as many behind them what is left.
 *   [block of 16 channels] { 0[16], total[16], words, is_left[16], scale[16], bias[16], 0[16], 0[16], words of what is left }
 * where is_left[0] is 0 if nothing is left in the block, and scale and bias are of floats.
 */
int32_t ig_bytes_depthwise_words(const struct ig_window *w); /* of an output: kernel rows times fours of taps */
/* Rows of 16 of such a block: up to the words' end; in all. */
static inline int32_t ig_bytes_fours_rows(int32_t words)
{
    return 2 * (1 + words);
}

static inline int32_t ig_bytes_fours_all(int32_t words, int are_sums)
{
    return are_sums ? 2 * ig_bytes_fours_rows(words) + 3 : ig_bytes_fours_rows(words);
}

/* Scratch: addresses and steps of words' pixels; behind them x_zero for a pixel. */
size_t ig_bytes_pixels(const struct ig_window *w);
/*
 * Behind these, where vectors have 64 channels, weights for such: [64 channels] { bias[4][16], scale[4][16], word[n][2][4][16] }, where
 * vector i of four has in its lane l words 4 i .. 4 i + 3 of the l-th block of 16 channels. Where there are 8, 16 or 32 channels, lanes
 * have these again.
 * Of sums: { 0[64], total[64], word[n][2][4][16], the same of what is left, scale[64], bias[64] }, where total, scale and bias are in order.
 */
int64_t ig_bytes_wide_words(const struct ig_window *w, int are_sums); /* of 64 channels */
size_t ig_bytes_wide_at(const struct ig_call *call);    /* bytes that lie before */

size_t ig_bytes_depthwise_scratch(const struct ig_call *call);
/* Its first part: addresses and steps of an even number of taps; behind it x_zero for a pixel. */
size_t ig_bytes_taps(const struct ig_window *w);

/* To one pixel (avx2/pixel_bytes.c): pairs of k products, bytes of a panel of 16 output channels. */
enum { IG_BYTES_PIXEL_NR = 16 };

static inline int64_t ig_bytes_pixel_pairs(int64_t k)
{
    return (k + 3) / 4 * 2;
}

static inline int64_t ig_bytes_pixel_panel(int64_t k)
{
    return IG_BYTES_PIXEL_NR * (2 * (int64_t)sizeof(int32_t) + 2 * ig_bytes_pixel_pairs(k));
}

/* A product of matrices of integers (IG_MATMUL_INTEGER), rows [M, K] by constants [K, N], as a convolution of a row of M pixels. */
struct ig_bytes_product {
    struct ig_call call;
    struct ig_conv conv;
};

/* Of rows [y0, y1) of the output. */
void ig_bytes_product_of(const struct ig_call *call, int32_t y0, int32_t y1, struct ig_bytes_product *p);

/* The scale of x is known here: IG_QLINEAR_CONV, not IG_CONV_INTEGER, whose second input are the weights. */
static inline int ig_bytes_have_scale(const struct ig_call *call)
{
    const struct ig_shape *second = call->in[1].shape; /* NULL: weights at hand are a ConvInteger's */
    return second && second->type == IG_F32;
}

/* Outputs are sums, or floats made of these when x_scale is known: IG_CONV_INTEGER. */
static inline int ig_bytes_are_sums(const struct ig_call *call)
{
    return !ig_bytes_have_scale(call);
}

/* ... floats made of these. */
static inline int ig_bytes_become_floats(const struct ig_call *call)
{
    return ig_bytes_are_sums(call) && call->out[0].shape->type == IG_F32;
}

/* Panels have `beyond`: outputs are sums, or weights u8. */
static inline int ig_bytes_have_beyond(const struct ig_call *call)
{
    enum { WEIGHTS = 3 }; /* of IG_QLINEAR_CONV */
    return ig_bytes_are_sums(call) || call->in[WEIGHTS].shape->type == IG_U8;
}

/* Outputs are floats: sums times scales, IG_QLINEAR_CONV. */
static inline int ig_bytes_are_floats(const struct ig_call *call)
{
    return ig_bytes_have_scale(call) && call->out[0].shape->type == IG_F32;
}

/* x_zero when a layer of sums runs; where it is a constant, or not there, it is packed. */
static inline int32_t ig_bytes_zero_of(const struct ig_call *call, const struct ig_bytes_head *head)
{
    const struct ig_operand *o = &call->in[2];
    if (call->n_in < 3 || !o->shape || !o->data) return head->x_zero;
    return head->is_signed ? *(const int8_t *)o->data : *(const uint8_t *)o->data;
}

/* The same of x_scale. */
static inline float ig_bytes_scale_of(const struct ig_call *call, const struct ig_bytes_head *head)
{
    const struct ig_operand *o = &call->in[4];
    return call->n_in > 4 && o->shape && o->data ? *(const float *)o->data : head->x_scale;
}

/* The next n outputs of a pixel, of which a compiler makes vectors where it knows n: sums less zero total, and less x beyond. */
static inline __attribute__((always_inline)) void ig_bytes_put_some(int32_t *restrict to, const int32_t *restrict sums, const int32_t *restrict total,
                                                                    int32_t zero, const int32_t *restrict beyond, int32_t x, const int32_t n)
{
    for (int32_t c = 0; c < n; c++) to[c] = (int32_t)((uint32_t)sums[c] - (uint32_t)zero * (uint32_t)total[c]);
    for (int32_t c = 0; beyond && c < n; c++) to[c] = (int32_t)((uint32_t)to[c] - (uint32_t)x * (uint32_t)beyond[c]);
}

/* The n outputs of a pixel. */
static inline void ig_bytes_put_sums(int32_t *to, const int32_t *sums, const int32_t *total, int32_t zero, const int32_t *beyond, int32_t x,
                                     int32_t n)
{
    enum { MANY = 16, SOME = 8 };
    int32_t c = 0;
    if (beyond)
        for (; c + MANY <= n; c += MANY) ig_bytes_put_some(to + c, sums + c, total + c, zero, beyond + c, x, MANY);
    else
        for (; c + MANY <= n; c += MANY) ig_bytes_put_some(to + c, sums + c, total + c, zero, NULL, 0, MANY);
    for (; c + SOME <= n; c += SOME) ig_bytes_put_some(to + c, sums + c, total + c, zero, beyond ? beyond + c : NULL, x, SOME);
    ig_bytes_put_some(to + c, sums + c, total + c, zero, beyond ? beyond + c : NULL, x, n - c);
}

/* How sums become floats, act((sum - zero total - x beyond) (x_scale scale) + bias), of the channels at hand. */
struct ig_bytes_floats {
    float x_scale;
    int32_t zero;
    const int32_t *total;
    const int32_t *beyond, *x;   /* beyond: or NULL; x: the rows' */
    const float *scale, *bias;   /* bias: or NULL */
    const struct ig_act *act;
};

/* to[row][at + i] of sums[row][i], i < n; rows of sums are `step` apart, `at` counts floats. */
typedef void ig_bytes_floats_fn(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step, int32_t n,
                                const struct ig_bytes_floats *f);

/* Sums [count][16] of pixels of depthwise convolutions to n outputs of each, from channel c on: floats by `floats`, if that is not NULL. */
static inline void ig_bytes_put_pixels(uint8_t *const *to, int64_t c, int32_t count, const int32_t *sums, int32_t n, const struct ig_bytes_floats *f,
                                       ig_bytes_floats_fn *floats)
{
    if (floats) floats(to, c, count, sums, IG_BYTES_CHANNELS, n, f);
    for (int32_t i = 0; !floats && i < count; i++, sums += IG_BYTES_CHANNELS)
        ig_bytes_put_sums((int32_t *)(void *)to[i] + c, sums, f->total, f->zero, NULL, 0, n);
}

/* The next n outputs of a pixel, of which a compiler makes vectors where it knows n. */
static inline __attribute__((always_inline)) void ig_bytes_scale_some(float *restrict to, const int32_t *restrict sums,
                                                                      const float *restrict scale, const int32_t n)
{
    for (int32_t c = 0; c < n; c++) to[c] = (float)sums[c] * scale[c];
}

/* The n outputs of a pixel that are floats. */
static inline void ig_bytes_put_floats(float *to, const int32_t *sums, const float *scale, int32_t n)
{
    enum { MANY = 16, SOME = 8 };
    int32_t c = 0;
    for (; c + MANY <= n; c += MANY) ig_bytes_scale_some(to + c, sums + c, scale + c, MANY);
    for (; c + SOME <= n; c += SOME) ig_bytes_scale_some(to + c, sums + c, scale + c, SOME);
    ig_bytes_scale_some(to + c, sums + c, scale + c, n - c);
}

/* Less x beyond: the next n sums of a pixel, in place, of which a compiler makes vectors where it knows n. */
static inline __attribute__((always_inline)) void ig_bytes_less_some(int32_t *restrict sums, const int32_t *restrict beyond, int32_t x,
                                                                     const int32_t n)
{
    for (int32_t c = 0; c < n; c++) sums[c] = (int32_t)((uint32_t)sums[c] - (uint32_t)x * (uint32_t)beyond[c]);
}

/* The n sums of a pixel whose numbers' sum is x. */
static inline void ig_bytes_less(int32_t *sums, const int32_t *beyond, int32_t x, int32_t n)
{
    enum { MANY = 16 };
    int32_t c = 0;
    for (; c + MANY <= n; c += MANY) ig_bytes_less_some(sums + c, beyond + c, x, MANY);
    ig_bytes_less_some(sums + c, beyond + c, x, n - c);
}

extern const struct ig_bytes_shape ig_bytes_avx2, ig_bytes_inner, ig_bytes_split, ig_bytes_paired, ig_bytes_avxvnni, ig_bytes_avx512, ig_bytes_vnni,
    ig_bytes_amx, ig_bytes_neon, ig_bytes_neon_wide, ig_bytes_dotprod;

#endif
