/*
 * Winograd's minimal filtering F(rows x m, kh x kw) for convolutions of stride 1: the portable driver around one ISA's
 * tile transforms and its GEMM micro-kernels. F(m,3) is F(m x m, 3x3); F(2x4,3) has tiles of two rows and four columns, by the
 * rows' points down and by the columns' across; a window of one row or column is transformed along the other alone. (A. Lavin,
 * S. Gray, "Fast Algorithms for Convolutional Neural Networks", 2015; the points as in Toom-Cook, pack/winograd.c.)
 *
 *   Y = A^T [ sum over ic of (G g G^T) . (B^T d B) ] A      n = m + k - 1; d is n x n pixels, Y is m x m outputs
 *
 * With stride 2 a row of pixels is two: those in even places see taps 0 and 2 as F(m,2), those in odd ones tap 1 alone, whose
 * products are outputs already. So of 3x3 a tile of 4 x 4 outputs has (5 + 4)^2 points for 9 x 9 pixels: 81 products where
 * the sum has 144.
 *
 * A volume's kernel is kd of these, each for a depth of the input: their products are summed up as those of kd times the input
 * channels are. There rows of tiles must fit a depth.
 *
 * The output is cut into tiles of rows x m, the first at row 0, column 0; a range's tiles are taken in blocks:
 *   input transform    V[point][tile][ic]         strips of tiles side by side, a vector of channels at a time
 *   GEMM               M[point][tile][channels]   per point, by the micro-kernels; a chunk of channels at a time
 *   output transform   + bias + residual, activation
 * so that V and M stay in the second-level cache. All sums have a fixed order: the bits depend on the tile
 * alone.
 */
#ifndef KERNELS_CPU_COMMON_WINOGRAD_H
#define KERNELS_CPU_COMMON_WINOGRAD_H

#include "kernels_cpu/common/conv_gemm.h"
#include "kernels_cpu/common/winograd_shape.h"

enum {
    IG_WINOGRAD_STRIP = 8,   /* tiles of one row whose input transform shares columns */
    IG_WINOGRAD_LANES = 16   /* of the longest vector of channels that a transform takes at a time */
};

/* Pixels of `tiles` tiles side by side to V: a vector of channels at a time. `high` is a tile's points down. */
struct ig_winograd_in {
    const float *const *pixel; /* [m*stride*(tiles - 1) + n][high] addresses, column by column; channels 0..ic of each */
    int32_t tiles, ic;         /* tiles: 1..IG_WINOGRAD_STRIP */
    float *strip;              /* room for as many, [IG_WINOGRAD_LANES] */
    float *v;                  /* the first tile's row of point 0: ic rounded up to 16 may be written */
    int64_t row, plane;        /* floats from a tile, a point to the next */
};

/* One tile of M to the output. */
struct ig_winograd_out {
    const float *m;            /* point 0: n channels, and as many more as make 16 are readable */
    int64_t plane;             /* floats from a point to the next */
    const float *bias;         /* [n rounded up to 16] */
    float *const *c;           /* [rows] addresses of the tile's first column */
    const float *const *r;     /* the same of the residual, or NULL; may equal c */
    int64_t c_step, r_step;    /* floats from a column to the next */
    int32_t rows, columns;     /* of the tile: from 1 on, as many as are written */
    int32_t n;                 /* channels */
    float lo, hi;              /* min(max(y, lo), hi) */
};

/* A row of the points of U of one panel of 16 channels, from filters as they are. */
struct ig_winograd_filter {
    const float *w;            /* [k][9 taps][16] */
    int32_t k, row;
    float *u;                  /* point 0 of the row: [k][16] */
    int64_t plane;             /* floats from a point to the next */
};

typedef void ig_winograd_filter_fn(const struct ig_winograd_filter *args);
typedef void ig_winograd_in_fn(const struct ig_winograd_in *args);
typedef void ig_winograd_out_fn(const struct ig_winograd_out *args);

struct ig_winograd_set {       /* one ISA's F(rows x m, kh x kw); static const data */
    int32_t rows, m;               /* of a tile: rows, columns */
    ig_winograd_in_fn *in;
    ig_winograd_out_fn *out;
    const struct ig_gemm_set *gemm; /* panels of 16 */
    ig_winograd_filter_fn *filter;  /* transforms weights that are packed as they are, for every block */
    int32_t tiles;                  /* of a block at most; NULL and 0: they are packed transformed */
};

/* The kernel: call->in = x, w, bias, residual; packed by kernels_cpu/pack/winograd.c. */
void ig_winograd(const struct ig_call *call, struct ig_range range, void *scratch,
                 const struct ig_winograd_set *set);
/* Scratch bytes: sets whose micro-kernels have mr rows. */
size_t ig_winograd_scratch(const struct ig_call *call, int32_t m, int32_t mr);
/* Sets with a filter. */
size_t ig_winograd_raw_scratch(const struct ig_call *call, int32_t rows, int32_t m, int32_t tiles, int32_t mr);
size_t ig_winograd_packed_scratch(const struct ig_call *call, int32_t m); /* sets with packed kernels */

#endif
