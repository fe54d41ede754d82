/*
 * Inside the rewriting: where the graph's tensors are, whole or in pieces on several keys, and how a key
 * gets some of one.
 */
#ifndef PLANNER_DEPLOY_PIECES_H
#define PLANNER_DEPLOY_PIECES_H

#include "planner/deploy/need.h"

struct ig_piece {
    int32_t value, key;
    struct ig_rows at;      /* what it holds of the tensor, along the spread's axis */
    struct ig_rows own;     /* what others take of it; the own of all pieces cover the tensor if any other reads it */
};

struct ig_spread {          /* where a tensor of the old graph is */
    int32_t whole, key;     /* all of it in one value on that key; -1: in pieces only */
    int32_t axis, n;        /* pieces along an axis */
    struct ig_piece *at;
};

struct ig_got {             /* something that has been fetched already */
    int32_t value, axis, key, made;
    struct ig_rows rows;
};

struct ig_rewrite {
    struct ig_graph *g;
    struct ig_spread *spread; /* by value of the old graph */
    int32_t *keys, *whole;    /* of the new nodes */
    int32_t room;
    struct ig_got *got;
    int32_t n_got, room_got;
    const char *layer;        /* for which something is fetched: new nodes are named after it */
};

/*
 * A new node of one output on a key; `whole`: the old node whose kernel it is to have, or -1. Its inputs are
 * to be filled in; good until the next one is added.
 */
struct ig_node *ig_new_node(struct ig_rewrite *w, const char *name, enum ig_op op, int32_t n_in,
                            const struct ig_shape *out, int32_t key, int32_t whole);
/* A node of the old graph as it is. */
void ig_keep_node(struct ig_rewrite *w, const struct ig_node *old, int32_t key, int32_t whole);
/* Rows [rows.a, rows.b) of value v of the old graph along one of its axes, in one value on `key`. */
int32_t ig_fetch(struct ig_rewrite *w, int32_t v, int32_t axis, struct ig_rows rows, int32_t key);
/* All of it. */
int32_t ig_fetch_whole(struct ig_rewrite *w, int32_t v, int32_t key);
/* Rows of a value of the new graph, itself if that is all of it; the node is on `key`, `for_key` names it. */
int32_t ig_slice_of(struct ig_rewrite *w, int32_t v, int32_t axis, struct ig_rows rows, int32_t key, int32_t for_key);
/* The same of a constant: a pointer into it where it is one run of memory. */
int32_t ig_slice_of_const(struct ig_graph *g, int32_t v, int32_t axis, struct ig_rows rows);
/* All pieces of v, in order, as the value itself, on `key`; the node has the name. */
void ig_join(struct ig_rewrite *w, int32_t v, int32_t key, const char *name);
void ig_rewrite_free(struct ig_rewrite *w);

#endif
