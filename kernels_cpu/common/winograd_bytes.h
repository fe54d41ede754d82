/*
 * Winograd's F(4x4, 3x3) for convolutions of quantised numbers (IG_QLINEAR_CONV, IG_CONV_INTEGER) of stride 1, in integers: the portable
 * driver around one ISA's transforms and its products of numbers of 16 bits. (common/winograd.h; the points are 0, 1, -1, 2, -2.)
 *
 *   Y = A^T [ sum over ic of (G g G^T) . (B^T d B) ] A      d is 6 x 6 pixels, Y is 4 x 4 outputs
 *
 *          4  0 -5  0  1  0              6  0  0
 *          0  4  4 -1 -1  0              1  1  1              1  4  4  1  1  0      24
 *   B^T =  0 -4  4  1 -1  0         G =  1 -1  1       A^T =  0  2 -2  1 -1  0      12   of an output, row by row
 *          0 -2 -1  2  1  0              1  2  4              0  1  1  1  1  0       6
 *          0  2 -1 -2  1  0              1 -2  4              0  1 -1  2 -2  1       6
 *          0  4  0 -5  0  1              0  0  6
 *
 * All of it is of whole numbers. Of x of 8 bits that are signed, others less 128, B^T d B is 100 * 128 at most, and of such weights
 * G g G^T 49 * 128: 16 bits. Everything behind is linear, and so may leave 32 bits: it is exact modulo 2^32. An output of A^T . A is then
 * 36 times a power of two, up to 16, of the sum; times the inverse of 9 modulo 2^32 leaves 4 to 64 times the sum, as it is where that is
 * within 32 bits: a shift makes the very sum of it. Of 128 input channels it always is, 64 * 9 * 128 * 128 * 128 < 2^31; sums of more
 * are made of those of so many. Then these may be whatever 32 bits hold.
 *
 * The output is cut into tiles, the first at row 0, column 0; a range's tiles are taken in blocks, whose V stays in the second-level cache:
 *   V[point][tile][ic]         of all input channels
 * then for each panel of 16 output channels, up to 128 input channels at a time,
 *   U[point][pair of ic][16][2] from packed filters, as small as weights of bytes are: of a row of points, which the first-level cache holds
 *                              (32 numbers of a pair in the order that products want, and room before them, both an ISA's own)
 *   M[point][tile][16]         products
 *   sums[tile][16 outputs][16]
 *
 * Packed weights: struct ig_bytes_head, then
 *   [panel of 16 channels] { bias[16], scale[16], i8 w[pair of ic][part][9 taps][8][2] }     part: channels 0 .. 7 or 8 .. 15 of the panel
 * each a multiple of 64 bytes. Channels past the end are zero. Where outputs are sums, there is total[16] in place of scales
 * (common/conv_bytes.h), and behind these, for those that become floats, scale[16] and bias[16].
 */
#ifndef KERNELS_CPU_COMMON_WINOGRAD_BYTES_H
#define KERNELS_CPU_COMMON_WINOGRAD_BYTES_H

#include "kernels_cpu/common/conv_bytes.h"

enum {
    IG_WINOGRAD_BYTES_M = 4, IG_WINOGRAD_BYTES_N = 6,   /* outputs, pixels of a tile, down and across */
    IG_WINOGRAD_BYTES_POINTS = 36, IG_WINOGRAD_BYTES_OUTPUTS = 16,
    IG_WINOGRAD_BYTES_TAPS = 9,
    IG_WINOGRAD_BYTES_NR = 16,      /* channels of a panel */
    IG_WINOGRAD_BYTES_HEAD = 64,    /* numbers of U that a point may have more than its weights */
    IG_WINOGRAD_BYTES_MR = 6,       /* tiles that products take at a time */
    IG_WINOGRAD_BYTES_STRIP = 8,    /* tiles of one row whose input transform shares columns */
    IG_WINOGRAD_BYTES_LANES = 16    /* input channels that it takes at a time */
};

/* Pixels of `tiles` tiles side by side to V. */
struct ig_winograd_bytes_in {
    const uint8_t *const *pixel;    /* [4*(tiles - 1) + 6][6] addresses, column by column; channels 0..ic of each */
    int32_t tiles, ic;              /* tiles: 1..IG_WINOGRAD_BYTES_STRIP */
    int32_t flip;                   /* x ^ flip are signed */
    int16_t *strip;                 /* room for as many, [IG_WINOGRAD_BYTES_LANES] */
    int16_t *v;                     /* the first tile's row of point 0: 16 numbers may be written where there are fewer channels */
    int64_t row, plane;             /* numbers from a tile, a point to the next */
};

/* Filters of a panel to a row of points of U. */
struct ig_winograd_bytes_filter {
    const int8_t *w;                /* [pairs][2][9 taps][16] */
    int64_t pairs;
    int32_t row;
    int16_t *u;                     /* the row's first point: [IG_WINOGRAD_BYTES_HEAD + pairs*32] */
    int64_t plane;                  /* numbers from a point to the next */
};

/* Products of one point. */
struct ig_winograd_bytes_product {
    const int16_t *v, *u;           /* the first tile's row of V; the point's U */
    int64_t row, pairs;             /* numbers from a tile to the next */
    int32_t tiles;
    int32_t *m;                     /* [tiles][16] */
};

/* A tile of M to sums. */
struct ig_winograd_bytes_sums {
    const int32_t *m;               /* point 0: [16] */
    int64_t plane;                  /* numbers from a point to the next */
    const int32_t *from;            /* what they are added to: the first output's [16], */
    int64_t step;                   /* and numbers from an output to the next */
    int32_t *to;                    /* [16 outputs][16]; may equal `from` */
};

typedef void ig_winograd_bytes_in_fn(const struct ig_winograd_bytes_in *args);
typedef void ig_winograd_bytes_filter_fn(const struct ig_winograd_bytes_filter *args);
typedef void ig_winograd_bytes_product_fn(const struct ig_winograd_bytes_product *args);
typedef void ig_winograd_bytes_sums_fn(const struct ig_winograd_bytes_sums *args);
/* to[row][at + i] = the quantised output of sums[row][16][i], i < n; 16 scales and sums may be read. */
typedef void ig_winograd_bytes_put_fn(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                                      const struct ig_bytes_head *head);

struct ig_winograd_bytes_set {      /* one ISA's; static const data */
    ig_winograd_bytes_in_fn *in;
    ig_winograd_bytes_filter_fn *filter;
    ig_winograd_bytes_product_fn *product;
    ig_winograd_bytes_sums_fn *sums;
    ig_winograd_bytes_put_fn *put;
    ig_bytes_floats_fn *floats;     /* what makes floats of sums where an IG_CONV_INTEGER's outputs are; NULL for others */
};

struct ig_winograd_bytes_cut {      /* how a layer is cut */
    int32_t across;                 /* tiles in a row */
    int32_t tiles;                  /* in a block, at most */
    int32_t pairs, depth;           /* pairs of input channels; those that U has at a time, at most */
    int32_t rows;                   /* of 16 words before a panel's filters */
    int64_t panel;                  /* bytes of a packed panel */
    int64_t v_row;                  /* numbers from a tile to the next, */
    int64_t v_plane, u_plane, m_plane; /* and from a point to the next */
};

struct ig_winograd_bytes_cut ig_winograd_bytes_cut_of(const struct ig_call *call);
/* The kernel: packed by kernels_cpu/pack/winograd_bytes.c. */
void ig_winograd_bytes(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_winograd_bytes_set *set);
size_t ig_winograd_bytes_scratch(const struct ig_call *call);

#endif
