/*
 * Convolution of groups of few channels, of whose matrix products most would be padding.
 *
 * A vector of L lanes has L output channels, a block: of several groups, or some of one. For each number j of an input channel
 * within its group a vector of inputs has, in each lane, channel j of that lane's group: a permutation of L inputs that lie side by
 * side. An output is bias + sum over ky, input blocks, j, kx of inputs times weights.
 *
 * Input rows are copied once into a ring of kh rows in scratch, between the zeros of the padding, [row][input block][pixel][L].
 *
 * Packed weights: int32 lane[J][L], J = min(channels of a group, L): where lane l finds its j-th input; then
 *   [block] { bias[L], w[ky][input blocks of a group][J][kx][L] }   channels past the last are zero
 */
#ifndef KERNELS_CPU_COMMON_GROUPED_H
#define KERNELS_CPU_COMMON_GROUPED_H

#include <stddef.h>

#include "kernels_cpu/kernel.h"

enum { IG_GROUPED_ROWS = 7 }; /* of a kernel, at most */

struct ig_grouped_cut {
    int32_t lanes;
    int32_t ic, oc;    /* of a group */
    int32_t j;         /* J */
    int32_t blocks;    /* of outputs */
    int32_t in_blocks; /* input blocks of a group; 1 where a block has several groups */
    int32_t in_width;  /* channels of an input block, at most L */
    int32_t in_all;    /* input blocks */
    int64_t pitch;     /* pixels of a padded row */
    int64_t packed;    /* floats of a block's weights with bias */
};

/* 1: whole groups fill a block, or whole blocks a group, which says how a layer is cut. */
int ig_grouped_cut_of(const struct ig_call *call, int32_t lanes, struct ig_grouped_cut *cut);

struct ig_grouped_tile {     /* successive outputs of a row, of one block */
    const float *rows[IG_GROUPED_ROWS]; /* the first one's pixel of each kernel row, of its first input block */
    const int32_t *lane;     /* [J][L] */
    const float *w;          /* of the block, bias first */
    float *out;
    int64_t out_step;        /* floats from an output to the next */
    int64_t in_step;         /* from an input block to the next */
    int32_t kh, kw, stride;
    int32_t j, in_blocks;
    int32_t channels;        /* of the block that are there, 1 to L */
    float lo, hi;            /* outputs are clamped between: -inf, inf where not */
};

/* n outputs, 1 to `most`. */
typedef void ig_grouped_tile_fn(const struct ig_grouped_tile *tile, int32_t n);

struct ig_grouped_set {      /* one ISA's */
    int32_t lanes, most;
    ig_grouped_tile_fn *tile;
    void (*act)(float *y, const float *x, int64_t n, const struct ig_act *act);
};

void ig_grouped(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_grouped_set *set);

#endif
