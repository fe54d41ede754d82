/*
 * Which rows of its operands some rows of a node's output need. "Rows" are indices along one axis of the
 * output, [N,H,W,C]: its rows (axis 1) or its columns (axis 2).
 */
#ifndef PLANNER_DEPLOY_NEED_H
#define PLANNER_DEPLOY_NEED_H

#include "graph/graph.h"
#include "kernels_cpu/reach.h"

enum ig_reading_kind {
    IG_READ_NO = 0,  /* the node cannot be cut along that axis */
    IG_READ_WHOLE,   /* all of the operand: weights, what is broadcast */
    IG_READ_SAME,    /* the same rows */
    IG_READ_WINDOW,  /* a window that slides forward: convolution, pool */
    IG_READ_BACK,    /* one that slides back: transposed convolution */
    IG_READ_SCALED   /* enlarged by a whole factor */
};

struct ig_reading {      /* how output rows follow from an operand's */
    int32_t kind;        /* enum ig_reading_kind */
    int32_t axis;        /* of the operand; that of the output counted from the right */
    int32_t in, out;     /* rows of the operand and of the output */
    int32_t k, s, d;     /* window's extent, stride, dilation; s of IG_READ_SCALED is the factor */
    int32_t before;      /* padding in front of row 0 */
    int32_t shift, taps; /* IG_READ_SCALED: row y is made of `taps` rows from floor((2y + shift)/(2s)) on */
};

/* How node n reads operand k, cut along `axis` of its output; the graph is channels-last. */
struct ig_reading ig_reading_of(const struct ig_graph *g, const struct ig_node *n, int32_t k, int32_t axis);
/*
 * The recurrence: the rows, clamped to the operand, that output rows [out.a, out.b) need, the hull of all; a
 * == b: none, as their windows lie in the padding.
 */
struct ig_rows ig_need_rows(const struct ig_reading *r, struct ig_rows out);

/*
 * What a part that has to give rows `good` computes: more where their windows lie in the padding alone,
 * until they touch a row, and whole groups where rows are enlarged.
 */
struct ig_rows ig_made_rows(const struct ig_reading *r, struct ig_rows good);
/* The rows of the operand that it takes for that: those it needs, at least one. */
struct ig_rows ig_taken_rows(const struct ig_reading *r, struct ig_rows good, struct ig_rows made);

static inline int ig_rows_empty(struct ig_rows r)
{
    return r.a >= r.b;
}

static inline struct ig_rows ig_rows_hull(struct ig_rows x, struct ig_rows y)
{
    if (ig_rows_empty(x)) return y;
    if (ig_rows_empty(y)) return x;
    return (struct ig_rows){x.a < y.a ? x.a : y.a, x.b > y.b ? x.b : y.b};
}

static inline struct ig_rows ig_rows_common(struct ig_rows x, struct ig_rows y)
{
    struct ig_rows r = {x.a > y.a ? x.a : y.a, x.b < y.b ? x.b : y.b};
    return ig_rows_empty(r) ? (struct ig_rows){0, 0} : r;
}

#endif
