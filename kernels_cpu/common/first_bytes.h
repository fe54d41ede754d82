/*
 * Convolution of quantised numbers (IG_QLINEAR_CONV) from few input channels, 1 to 4, as first layers are, where taps of a kernel row lie side by
 * side: vectors go along pixels. A vector has L successive pixels of a row of the output; word k of a pixel are four bytes of what its window covers,
 * x as it is but for its sign, and is gathered once for all output channels, each of which multiplies it by one word of its weights. A kernel row
 * of 3x3x3 has 9 bytes, two whole words and one byte more: the bytes that kernel rows leave are words of their own, 7 in all.
 *
 *   whole words    [kernel row][kw ic / 4]
 *   the rest       kw ic % 4 bytes of each kernel row, one row's behind the other's, in ceil(kh (kw ic % 4) / 4) words
 *
 * Input rows are copied into scratch, with their padding, those of a block of output rows at a time.
 *
 * Packed weights: struct ig_bytes_head, then
 *   [block = ceil(oc / 4)] { bias[4], scale[4], word[words][4] }   zero beyond the last channel and the last byte
 * with a bias as in common/conv_bytes.h.
 */
#ifndef KERNELS_CPU_COMMON_FIRST_BYTES_H
#define KERNELS_CPU_COMMON_FIRST_BYTES_H

#include "kernels_cpu/common/conv_bytes.h"

enum {
    IG_BYTES_FIRST = 4,          /* input channels, at most; */
    IG_BYTES_FIRST_NEAR = 4,     /* bytes from a pixel's window to the next one's are so many at most, */
    IG_BYTES_FIRST_FAR = 8,      /* or so many and an even number */
    IG_BYTES_FIRST_FOUR = 4,     /* output channels of a block */
    IG_BYTES_FIRST_STORED = 32   /* that are stored together, at most */
};

struct ig_bytes_first_shape {    /* of an ISA */
    int32_t lanes;               /* L */
    int32_t flips;               /* enum ig_bytes_flips */
};

struct ig_bytes_first_cut {
    int32_t whole, rest;         /* words of a kernel row; bytes that it has more */
    int32_t words;               /* of a pixel */
    int64_t packed;              /* words of a block's weights, bias and scales */
    int64_t step;                /* bytes from a pixel's window to the next one's */
    int64_t pitch;               /* bytes of a line */
    int32_t rows;                /* of the output in a block, at most */
};

extern const struct ig_bytes_first_shape ig_bytes_first_vnni;

struct ig_bytes_first_cut ig_bytes_first_cut_of(const struct ig_call *call);
/* Bytes of two vectors' words, which are first in scratch. */
size_t ig_bytes_first_words(const struct ig_call *call, const struct ig_bytes_first_shape *shape);
size_t ig_bytes_first_scratch(const struct ig_call *call, const struct ig_bytes_first_shape *shape);

/* Byte i of word k of a pixel: its kernel row, and its number there; 0: there is none. */
int ig_bytes_first_byte(const struct ig_window *w, const struct ig_bytes_first_cut *cut, int32_t k, int32_t i, int32_t *ky, int32_t *at);

#endif
