/*
 * Convolution of quantised numbers (IG_QLINEAR_CONV) as a matrix product of integers: the portable driver around one ISA's tiles.
 *
 * Pixels are copied into scratch, a block of them at a time, tap after tap, as words of 32 bits: either two numbers of 16 bits,
 * x - x_zero, or four of 8 bits, x as it is but for its sign. Padding is x_zero. Then panel after panel of weights, of equal words,
 * is multiplied by the block, tile by tile. Sums of 32 bits are exact, so that bits depend on no cut; kernels_cpu/pack/conv_bytes.c
 * refuses what could overflow.
 *
 * Packed weights: struct ig_bytes_head, then
 *   [group][panel = ceil(oc/groups / nr)] { bias[nr], scale[nr], word[words][nr] }   channels past the end are zero
 * where a word has the weights of two or four successive k = tap * ic/groups + channel, beyond the last k zero. The bias has whatever
 * the words leave out: - x_zero sum w of bytes.
 */
#ifndef KERNELS_CPU_COMMON_CONV_BYTES_H
#define KERNELS_CPU_COMMON_CONV_BYTES_H

#include <stddef.h>
#include <stdint.h>

#include "kernels_cpu/kernel.h"

struct ig_bytes_head {           /* 64 bytes */
    int32_t x_zero;
    int32_t is_signed;           /* x is i8 */
    int32_t flip;                /* 0 or 128: words of bytes are of x ^ flip */
    int32_t y_zero, low, high;   /* of the output, which lies between low and high */
    int32_t room[10];
};

struct ig_bytes_shape {          /* of one ISA's tiles: sizes depend on it */
    int32_t mr, nr;              /* pixels and channels of a tile, nr at least 16 */
    int32_t unit;                /* numbers of a word: 2 or 4 */
    int32_t step;                /* words of a panel are a multiple of this */
    int32_t flips;               /* bytes of which x are flipped: enum ig_bytes_flips */
};

enum ig_bytes_flips { IG_BYTES_TO_UNSIGNED, IG_BYTES_TO_SIGNED };

enum { IG_BYTES_BLOCK = 256 << 10, IG_BYTES_MAX_MR = 32, IG_BYTES_LINE = 64 };

/* Appends n numbers x to a pixel's words, at `to`; may write less than 64 bytes beyond. */
typedef void ig_bytes_fill_fn(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head);
/* sums[rows][nr] = the products of `words` words of pixels, `step` bytes from one to the next, and of a panel; 1 <= rows <= mr */
typedef void ig_bytes_tile_fn(const void *a, int64_t step, int32_t rows, const int32_t *panel, int64_t words, int32_t *sums);
/*
 * to[i] = the quantised output of sums[i], i < n: (sums[i] + bias[i]) scale[i], rounded to even, + y_zero, between low and high.
 * 16 of each may be read.
 */
typedef void ig_bytes_put_fn(uint8_t *to, const int32_t *sums, const int32_t *bias, const float *scale, int32_t n,
                             const struct ig_bytes_head *head);

struct ig_bytes_set {            /* one ISA's tools; static const data */
    struct ig_bytes_shape shape;
    ig_bytes_fill_fn *fill;
    ig_bytes_tile_fn *tile;
    ig_bytes_put_fn *put;
};

/* How a layer is cut. */
struct ig_bytes_cut {
    int32_t ic, oc, panels;      /* of a group */
    int64_t k, words;            /* numbers of a pixel; words of a panel */
    int64_t row;                 /* bytes from a pixel's words to the next one's */
    int64_t panel;               /* words of a panel with bias and scales */
    int32_t block;               /* pixels of a block, whole tiles */
};

struct ig_bytes_cut ig_bytes_cut_of(const struct ig_call *call, const struct ig_bytes_shape *shape);
/* The convolution; call->weights as packed with the set's shape. */
void ig_bytes_conv(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_set *set);
size_t ig_bytes_conv_scratch(const struct ig_call *call, const struct ig_bytes_shape *shape);

/*
 * Depthwise convolution. Packed weights: struct ig_bytes_head, then
 *   [block of 16 channels] { bias[16], scale[16], i16 w[pair of taps][16][2] }
 */
struct ig_bytes_depthwise {
    /*
     * sums[16] of `pairs` pairs of taps at in[2 * pairs], from channel c on: of 16 channels, or of n where n < 16, when
     * no more than n are read.
     */
    void (*sums)(const uint8_t *const *in, int64_t c, int32_t n, const int16_t *w, int32_t pairs, int is_signed, int32_t *sums);
    ig_bytes_put_fn *put;
};

enum { IG_BYTES_CHANNELS = 16 };

void ig_bytes_depthwise(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_depthwise *set);
size_t ig_bytes_depthwise_scratch(const struct ig_call *call);

extern const struct ig_bytes_shape ig_bytes_avx2, ig_bytes_avx512, ig_bytes_vnni, ig_bytes_amx, ig_bytes_neon;

#endif
