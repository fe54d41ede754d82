/* Features of matrix products: planner/features.h. */
#ifndef PLANNER_PRODUCTS_H
#define PLANNER_PRODUCTS_H

#include "planner/features.h"

struct ig_tile {
    int32_t mr, nr;   /* of the micro-kernel: pixels, channels */
    int32_t vector;   /* channels of one */
    int32_t rows;     /* output rows that go together */
    int32_t columns;  /* of Winograd's tiles */
    int32_t isa;      /* enum ig_isa */
    int32_t block;    /* groups of pixels whose addresses are in a table at a time */
    int32_t lean;     /* Winograd's raw weights: few tiles at a time */
};

/* Fills f[IG_FEATURES], which is zero, for one call of a kernel with such a tile. */
typedef void ig_features_fn(const struct ig_call *call, const struct ig_caches *c, const struct ig_tile *t, double *f);

ig_features_fn ig_conv_features;     /* by indirection */
ig_features_fn ig_pieces_features;   /* the same by products of pieces */
ig_features_fn ig_first_features;    /* few channels: a tap is a kernel row */
ig_features_fn ig_fc_features;
ig_features_fn ig_strassen_features; /* pointwise, seven products of halves */
ig_features_fn ig_winograd_features; /* F(rows x columns, kh x kw) */
ig_features_fn ig_winograd_raw_features; /* the same from weights that are transformed for every block of tiles */
ig_features_fn ig_line_features;     /* few channels, straight lines */
ig_features_fn ig_dot_features;      /* pointwise and FC, sums over eight channels side by side */

#endif
