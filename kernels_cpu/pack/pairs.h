/*
 * Words of four weights two at a time, so that products of bytes u8 by i8 may be added in 16 bits: in each lane, weights 0 and 1 of both words
 * are of one sum, weights 2 and 3 of another, which stays within 16 bits, whatever the u8 are, where positive weights add up to IG_PAIR_MOST
 * at most and negative ones to - IG_PAIR_MOST at least: 255 * 128 = 32640.
 */
#ifndef KERNELS_CPU_PACK_PAIRS_H
#define KERNELS_CPU_PACK_PAIRS_H

#include <stdint.h>

enum { IG_PAIR_MOST = 128, IG_PAIR_BYTES = 64 }; /* bytes: 16 lanes of four weights */

/* A word may be in two parts, whose weights' sums are its own. */
enum ig_pair_part { IG_PAIR_WHOLE, IG_PAIR_LOWER, IG_PAIR_UPPER };

struct ig_pair {
    int32_t word[2];      /* the second one -1: there is none */
    int32_t part[2];      /* enum ig_pair_part */
};

struct ig_pairs {
    int32_t n, n_alone;
    struct ig_pair *pair; /* [most] */
    int32_t *alone;       /* [words]: those that are in no pair, of which sums may leave 16 bits */
};

int8_t ig_pair_weight(int8_t w, int32_t part);

/*
 * words [n][16][4], of which those that are all zero are left out. Each is in one pair, or each of its two parts is, and none is alone; where that
 * would be more pairs than `most`, which is n / 2 at least, none is in parts, and those that fit no other are alone. The same for the same words.
 */
void ig_pair_words(const int8_t *words, int32_t n, int32_t most, struct ig_pairs *to);

#endif
