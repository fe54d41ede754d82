/* The matrices inside two tensors that numpy's matmul multiplies, and where their elements are. */
#ifndef KERNELS_CPU_REF_MATMUL_H
#define KERNELS_CPU_REF_MATMUL_H

#include "kernels_cpu/ref/walk.h"

struct ig_matrices {
    struct ig_walk a, b; /* offset of matrix i of either side, in the order of the broadcast leading dims */
    int64_t m, n, k;
    int64_t a_m, a_k;       /* elements from a row of a to the next, and from a column to the next */
    int64_t b_k, b_n;
};

/* Dim i, counted from the last, without the last two; 1 beyond the rank. */
static inline int32_t ig_lead(const struct ig_shape *s, int i)
{
    return i + 3 <= s->rank ? s->dims[s->rank - 3 - i] : 1;
}

static inline struct ig_matrices ig_matrices_of(const struct ig_shape *a, const struct ig_shape *b,
                                                int trans_a, int trans_b)
{
    int64_t a_rows = a->rank > 1 ? a->dims[a->rank - 2] : 1, a_cols = a->dims[a->rank - 1];
    int64_t b_rows = b->rank > 1 ? b->dims[b->rank - 2] : b->dims[0];
    int64_t b_cols = b->rank > 1 ? b->dims[b->rank - 1] : 1;
    struct ig_matrices s = {.a = {.count = 1}, .b = {.count = 1}};
    s.m = trans_a ? a_cols : a_rows;
    s.k = trans_a ? a_rows : a_cols;
    s.n = trans_b ? b_rows : b_cols;
    s.a_m = trans_a ? 1 : a_cols;
    s.a_k = trans_a ? a_cols : 1;
    s.b_k = trans_b ? 1 : b_cols;
    s.b_n = trans_b ? b_cols : 1;
    int leading = (a->rank > b->rank ? a->rank : b->rank) - 2;
    for (int i = leading - 1; i >= 0; i--) {
        int32_t da = ig_lead(a, i), db = ig_lead(b, i), d = da > db ? da : db;
        ig_walk_add(&s.a, d, da == 1 ? 0 : ig_span(a, a->rank - 2 - i, a->rank));
        ig_walk_add(&s.b, d, db == 1 ? 0 : ig_span(b, b->rank - 2 - i, b->rank));
    }
    return s;
}

#endif
