/*
 * Depthwise convolution of quantised numbers by pairs of 16 bits, one above the other: two input rows of 16 channels become words of a row and
 * the one below, which serve every tap and output that reads them. A pair begins at an even row, counted with the padding above; an
 * output that begins at an odd one has the weight 0 for the row before. Where rows of taps are dilated, each row of outputs has pairs
 * of its own.
 *
 * Packed weights: common/conv_bytes.h, i16 w[tap][16].
 *
 * Scratch, each part whole lines: x_zero of 16 channels; weights[block][begins at an odd row][half of the channels][pair][kx][8][2];
 * a ring of pairs of rows [block][pair][column][half of the channels][8][2], of the columns that a stretch of outputs reads. The first half has
 * channels 0-3 and 8-11; in a block of at most 8 it has them all. Blocks are of 16 channels, so many as fill a cache line of the image.
 */
#ifndef KERNELS_CPU_COMMON_DEPTHWISE_PAIRS_H
#define KERNELS_CPU_COMMON_DEPTHWISE_PAIRS_H

#include "kernels_cpu/common/conv_bytes.h"

enum {
    PAIRS_STRETCH = 28,      /* most outputs of a row at a time, */
    PAIRS_LEAST = 7,         /* or, where the ring would take more than */
    PAIRS_RING = 16 << 10,   /* bytes of the first-level cache, so few */
    PAIRS_BLOCKS = 4         /* at a time, at most */
};

struct ig_pairs_cut {
    int32_t apart;           /* rows of taps are dilated */
    int32_t pairs;           /* that an output reads */
    int32_t stretch;         /* outputs of a row at a time, at most */
    int64_t weights;         /* numbers of 16 bits: of a half of a block's channels, */
    int64_t slot;            /* of a pair of rows, of the columns of a stretch with padding */
    int64_t ring_at, bytes;  /* where the ring begins; of all scratch */
};

static inline struct ig_pairs_cut ig_pairs_cut_of(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t blocks = (call->out[0].c + IG_BYTES_CHANNELS - 1) / IG_BYTES_CHANNELS, some = blocks < PAIRS_BLOCKS ? blocks : PAIRS_BLOCKS;
    struct ig_pairs_cut c = {.apart = w->kh > 1 && w->dh > 1};
    int64_t ring;
    c.pairs = c.apart || w->sh % 2 == 0 ? (w->kh + 1) / 2 : w->kh / 2 + 1;
    c.stretch = call->out[0].w < PAIRS_STRETCH ? call->out[0].w : PAIRS_STRETCH;
    for (;; c.stretch = (c.stretch + 1) / 2) {
        c.slot = ((c.stretch - 1) * (int64_t)w->sw + (w->kw - 1) * (int64_t)w->dw + 1) * 2 * IG_BYTES_CHANNELS;
        ring = some * c.pairs * c.slot * (int64_t)sizeof(int16_t);
        if (ring <= PAIRS_RING || c.stretch < 2 * PAIRS_LEAST) break;
    }
    c.weights = (int64_t)c.pairs * w->kw * IG_BYTES_CHANNELS;
    c.ring_at = IG_BYTES_LINE + some * 4 * c.weights * (int64_t)sizeof(int16_t);
    c.bytes = c.ring_at + ring;
    return c;
}

#endif
