/*
 * The layout pass's book of tensors. A value of the ONNX graph ("logical") may exist in several orders of its
 * dimensions ("versions"), each a tensor of its own; a version is made only when a node asks for it. `perm`
 * is a version's order: its dim i is the logical dim perm[i].
 */
#ifndef GRAPH_PASSES_LAYOUT_H
#define GRAPH_PASSES_LAYOUT_H

#include "graph/graph.h"

struct layout_version {
    int32_t value; /* the tensor */
    int32_t perm[IG_MAX_RANK];
    struct layout_version *next; /* the first one is how the producer left it */
};

struct layout_logical {
    struct ig_shape shape; /* as ONNX has it */
    struct layout_version *versions;
};

struct layout {
    struct ig_graph *g;
    struct layout_logical *of; /* by value index before the pass */
    int32_t changes;           /* transposes removed and made, nodes whose order changed */
};

/* perm = 0, 1, 2, ... and 0, 2, ..., rank-1, 1 (for rank < 3 the same). */
void layout_identity(int32_t rank, int32_t *perm);
void layout_channels_last(int32_t rank, int32_t *perm);
int layout_same(int32_t rank, const int32_t *a, const int32_t *b);

/* Declares that tensor `value` holds logical value v in the order perm. */
void layout_add(struct layout *l, int32_t v, int32_t value, const int32_t *perm);
/* Logical value v comes out of its node in the order perm: its own shape is permuted. */
void layout_define(struct layout *l, int32_t v, const int32_t *perm);
/* The tensor that holds v in the order perm, made by a RESHAPE or a TRANSPOSE where there is none. */
int32_t layout_demand(struct layout *l, int32_t v, const int32_t *perm);
/* The same in ONNX's order. */
int32_t layout_demand_plain(struct layout *l, int32_t v);
/* v as an operand that broadcasts to tensors of `rank` in the order perm. */
int32_t layout_demand_broadcast(struct layout *l, int32_t v, int32_t rank, const int32_t *perm);
/* Bytes that layout_demand would have to move. */
int64_t layout_cost(const struct layout *l, int32_t v, const int32_t *perm);

/* A RESHAPE or TRANSPOSE node, rewritten: layout_reshape.c. */
void layout_reshape(struct layout *l, int32_t node);
void layout_transpose(struct layout *l, int32_t node);

#endif
