/* Random shapes for the tests of element-wise ops and of those along axes. */
#ifndef TESTS_SUPPORT_SHAPES_H
#define TESTS_SUPPORT_SHAPES_H

#include "tests/support/rng.h"

/* Two dims of so many elements that a GPU's threads take several quads each. */
static inline int shapes_many(struct rng *r, int32_t *dims)
{
    dims[0] = 2703;
    dims[1] = RNG_OF(r, 97, 100);
    return 2;
}

/* Fills dims[0..rank) and returns the rank, 1 to 4, mostly that of one image [1, H, W, C]; at times of many elements. */
static inline int shapes_make(struct rng *r, int32_t *dims)
{
    int rank = RNG_OF(r, 1, 2, 3, 4, 4, 4, 4);
    for (int i = 0; i < rank; i++) dims[i] = rng_int(r, 1, 9);
    dims[rank - 1] = RNG_OF(r, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 40, 65, 100);
    if (rank == 4 && !rng_one_in(r, 4)) dims[0] = 1;
    return rank == 2 && rng_one_in(r, 4) ? shapes_many(r, dims) : rank;
}

/* The same of a tensor without a layout: 1 to `most` dims, the last at times long. */
static inline int shapes_any(struct rng *r, int32_t *dims, int most)
{
    int rank = rng_int(r, 1, most);
    for (int i = 0; i < rank; i++) dims[i] = rng_int(r, 1, rank > 4 ? 3 : 6);
    if (rng_one_in(r, 2)) dims[rng_int(r, 0, rank - 1)] = RNG_OF(r, 8, 12, 16, 31, 100);
    return rank;
}

#endif
