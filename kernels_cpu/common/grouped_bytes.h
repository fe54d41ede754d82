/*
 * Convolution of quantised numbers (IG_QLINEAR_CONV) whose groups are of few channels: common/grouped.h on words of four bytes, x as it is
 * but for its sign, or of two numbers of 16 bits, x - x_zero.
 *
 * A block is of 16 output channels: of several whole groups, or some of one. An ISA's vector of sums has L of them, each in a lane, and
 * for the j-th word of a pixel's channels within a group a vector with each lane's word: lanes of several groups take theirs by a
 * permutation of 16 bytes of a pixel, lanes of one group all the same word. An output is bias + sum over ky, j, kx of words times words.
 *
 * Input rows are copied once into a ring of kh rows in scratch, between the x_zero of the padding, [row][input block][chunk][pixel][16 bytes]:
 * an input block is what a block reads, of whole groups, cut into chunks of 16 bytes of a pixel.
 *
 * Packed weights: struct ig_bytes_head; where lanes are of several groups, byte lanes[J][16][4], at which byte of the 16 a lane finds those of
 * its j-th word; then
 *   [block] { bias[16], scale[16], word[ky][J][kx][16] }   J words of a group's channels; zero beyond the last channel
 * with `halves` as in common/conv_bytes.h.
 */
#ifndef KERNELS_CPU_COMMON_GROUPED_BYTES_H
#define KERNELS_CPU_COMMON_GROUPED_BYTES_H

#include "kernels_cpu/common/conv_bytes.h"

enum {
    IG_BYTES_GROUPED_ROWS = 7,   /* of a kernel, at most */
    IG_BYTES_CHUNK = 16
};

struct ig_bytes_grouped_shape {  /* of an ISA */
    int32_t lanes;               /* L, 8 or 16 */
    int32_t unit;                /* numbers of a word: 2 or 4 */
    int32_t flips;               /* enum ig_bytes_flips */
    int32_t halves;
    int32_t fours;               /* 1: groups' channels are whole words, and four where lanes are of several groups: it has no permutations */
};

struct ig_bytes_grouped_cut {
    int32_t ic, oc;              /* of a group */
    int32_t merged, parts;       /* groups of a block; blocks of a group: one of both is 1 */
    int32_t blocks;              /* of outputs */
    int32_t in_blocks, chunks;   /* input blocks; chunks of one */
    int32_t words;               /* J */
    int32_t spread;              /* 1: lanes are of several groups */
    int64_t pitch;               /* pixels of a padded row */
    int64_t packed;              /* words of a block's weights, bias and scales */
};

extern const struct ig_bytes_grouped_shape ig_bytes_grouped_vnni, ig_bytes_grouped_avxvnni, ig_bytes_grouped_avx2, ig_bytes_grouped_dotprod,
    ig_bytes_grouped_neon;

/* 1: a layer can be cut so. */
int ig_bytes_grouped_cut_of(const struct ig_call *call, const struct ig_bytes_grouped_shape *shape, struct ig_bytes_grouped_cut *cut);
size_t ig_bytes_grouped_scratch(const struct ig_call *call, const struct ig_bytes_grouped_shape *shape);

struct ig_bytes_grouped_tile {   /* successive outputs of a row, L channels of a block */
    const char *rows[IG_BYTES_GROUPED_ROWS]; /* the first one's pixel of each kernel row, in the input block's first chunk */
    int64_t chunk;               /* bytes from a chunk to the next */
    int32_t start;               /* byte of a pixel's where these lanes' channels begin */
    const int8_t *lanes;         /* [J][16][4] */
    const int32_t *bias, *w;     /* those of the first lane */
    int32_t *sums;               /* the first output's; an output's are 16 apart */
    int32_t kh, kw, stride, words, spread;
};

struct ig_bytes_grouped_set {    /* one ISA's */
    const struct ig_bytes_grouped_shape *shape;
    int32_t most;                /* outputs of a tile, 16 at most */
    void (*tile)(const struct ig_bytes_grouped_tile *tile, int32_t n); /* 1 to `most` outputs */
    /* n pixels of `width` numbers of a chunk, `step` bytes apart */
    void (*copy)(char *to, const uint8_t *from, int64_t step, int64_t n, int32_t width, const struct ig_bytes_head *head);
    void (*put)(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head); /* as in common/conv_bytes.inc, of sums 16 apart */
};

void ig_bytes_grouped_copy(char *to, const uint8_t *from, int64_t step, int64_t n, int32_t width, const struct ig_bytes_head *head); /* of bytes */
void ig_bytes_grouped(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_bytes_grouped_set *set);

#endif
