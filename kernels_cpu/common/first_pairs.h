/*
 * Convolution of quantised numbers (IG_QLINEAR_CONV) from few input channels, 1 to 4, as first layers are, where taps of a kernel row lie side by
 * side: input rows become lines of x - x_zero in 16 bits in scratch, with their padding, those of a block of output rows at a time. Two numbers of a
 * line are a word, and a pixel's words are where its window begins: nothing is copied tap by tap. A kernel row of 3x3x3 has 9 numbers in 5 words.
 *
 * Packed weights: struct ig_bytes_head, then
 *   [panel = ceil(oc / 16)] { bias[16], scale[16], word[kernel row][words][16] }   zero beyond the last channel and a kernel row's last number
 */
#ifndef KERNELS_CPU_COMMON_FIRST_PAIRS_H
#define KERNELS_CPU_COMMON_FIRST_PAIRS_H

#include "kernels_cpu/common/conv_bytes.h"

enum {
    IG_FIRST_PAIRS = 4,          /* input channels, at most */
    IG_FIRST_PAIRS_PIXELS = 6,   /* of a tile: a row has so many */
    IG_FIRST_PAIRS_PANEL = 16    /* output channels */
};

struct ig_first_pairs_cut {
    int32_t words;               /* of a kernel row */
    int64_t panel;               /* words of a panel with bias and scales */
    int64_t step, pitch;         /* numbers from a pixel's window to the next one's; of a line */
    int32_t rows;                /* of the output in a block, at most */
};

struct ig_first_pairs_cut ig_first_pairs_cut_of(const struct ig_call *call);
size_t ig_first_pairs_scratch(const struct ig_call *call);

#endif
