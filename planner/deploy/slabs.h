/*
 * Inside the rewriting: layers cut by rows or columns. A run is all layers cut along the same axis over the
 * same keys; it falls into segments: a key computes all that its layers of a segment need of each other, and
 * gets the rest from others.
 */
#ifndef PLANNER_DEPLOY_SLABS_H
#define PLANNER_DEPLOY_SLABS_H

#include "planner/deploy/pieces.h"
#include "planner/deploy/rewrite.h"

struct ig_slab {                /* one key's part of a layer, in rows of its output */
    struct ig_rows own;         /* by the order's sizes */
    struct ig_rows good;        /* what it has to give: own where others read it, and what its key's layers need */
    struct ig_rows made;        /* what its node computes, ig_made_rows */
    int32_t lead, tail;         /* rows at either end of own that others wait for */
    struct ig_rows late;        /* of good: what is computed behind the rest, by another node; empty: nothing is */
};

struct ig_cut_layer {
    int32_t node, axis, step;   /* of the graph; of its output; begins are multiples of it */
    int32_t n;                  /* parts */
    const int32_t *keys;        /* [n] */
    int32_t run, place;         /* which run, and the how manieth of its layers */
    int32_t segment;            /* numbered in all runs together */
    double wait_ns;             /* the longest that a key waits for others' rows of it */
    struct ig_reading *reads;   /* [n_in]; of operands that are absent: IG_READ_WHOLE */
    struct ig_slab *slabs;      /* [n] */
};

struct ig_cut_layers {
    int32_t n, n_runs, n_segments;
    struct ig_cut_layer *at;    /* in the order of their nodes */
    int32_t *by_node;           /* [n_nodes] of the graph: index, or -1 */
};

/* Rows, or columns, of the output that an order divides; 0: the node cannot be cut so. */
int32_t ig_rows_of(const struct ig_graph *g, const struct ig_node *n, int32_t mode);
/* The layer of a sound order, runs not yet found; 0, or -1 with a line in err that names the layer. */
int ig_cut_layer_make(const struct ig_graph *g, const struct ig_hsplit_order *o, const struct ig_split_options *options,
                      struct ig_cut_layer *layer, char *err, size_t err_bytes);
void ig_cut_layers_free(struct ig_cut_layers *c);
/*
 * Finds the runs and cuts them into segments as the options say, keys: of the other nodes; then good and
 * made of all.
 */
void ig_fuse_slabs(const struct ig_graph *g, struct ig_cut_layers *c, const struct ig_split_options *options,
                   const int32_t *keys);
/* Rows of operand k that part i takes. */
struct ig_rows ig_slab_takes(const struct ig_cut_layer *layer, int32_t i, int32_t k);
/* good and made of part i, which has to give `rows`. */
void ig_slab_settle(struct ig_cut_layer *layer, int32_t i, struct ig_rows rows);

/* Sets late of part i by its lead and tail, where some rows are left between them: most, in whole tiles. */
void ig_slab_delay(struct ig_cut_layer *layer, int32_t i);

/* Adds the parts of a layer, old, and spreads its output over them. */
void ig_put_slabs(struct ig_rewrite *w, const struct ig_node *old, const struct ig_cut_layer *layer);

#endif
