/*
 * What the passes share: looking around a node, and changing the graph in place. Between rewrites the graph
 * stays consistent but unsorted: producers are right, dead nodes have no inputs and outputs. edit_finish ends
 * a pass.
 */
#ifndef GRAPH_PASSES_EDIT_H
#define GRAPH_PASSES_EDIT_H

#include "graph/graph.h"

/* The node that makes v if its op is `op`, else NULL. */
struct ig_node *edit_producer(const struct ig_graph *g, int32_t v, enum ig_op op);
/* Index of the only reader of v, which reads it once; -1 if there are more, none, or v is a graph output. */
int32_t edit_sole_reader(const struct ig_graph *g, int32_t v);
/* The f32 data of constant v, or NULL where v is something else. */
const float *edit_f32(const struct ig_graph *g, int32_t v);
/* 1 if all elements of v are the same f32 constant, stored in *x. */
int edit_uniform(const struct ig_graph *g, int32_t v, float *x);
/* 1 if a and b have the same type and dims. */
int edit_same_shape(const struct ig_shape *a, const struct ig_shape *b);
/* The input of binary node n that is not v. */
int32_t edit_other(const struct ig_node *n, int32_t v);
/* The activation slot of a node of op conv, deconv, fc, binary, unary or a product of integers; NULL for another op. */
struct ig_act *edit_act(struct ig_node *n);

/* Makes the node dead: it reads and writes nothing. */
void edit_kill(struct ig_node *n);
/* Node `from` takes over output 0 of node `last`, which dies: nodes between them must be dead or die. */
void edit_take_output(struct ig_graph *g, int32_t from, int32_t last);
/* New one-input node x -> new value of shape `shape`, both named after `name`; returns the value. */
int32_t edit_append(struct ig_graph *g, const char *name, enum ig_op op, int32_t x,
                    const struct ig_shape *shape);
/* The node that edit_append made last. */
struct ig_node *edit_last(struct ig_graph *g);
/* x seen with another shape: a constant again if x is one (same bytes), else a new RESHAPE. */
int32_t edit_reshaped(struct ig_graph *g, int32_t x, const struct ig_shape *shape);
/* Node n becomes op with these inputs; its outputs stay. */
void edit_become(struct ig_graph *g, int32_t node, enum ig_op op, int32_t n_in, const int32_t *in);

/* The node's outputs become constants where its inputs are, by `eval` or, if that is NULL, only if it moves them: 1. */
int edit_fold(struct ig_graph *g, int32_t node, ig_eval_fn *eval);

/* dst gets the elements of x in the order of y, where y dim i is x dim perm[i]. */
void edit_permute(const struct ig_shape *x, const void *src, const int32_t *perm, void *dst);
/* Shape of x under perm. */
struct ig_shape edit_permuted_shape(const struct ig_shape *x, const int32_t *perm);
/* 1 if perm only moves dims of size 1, so that the bytes stay. */
int edit_keeps_order(const struct ig_shape *x, const int32_t *perm);

/* Sorts and sweeps if `rewrites`; returns it. */
int edit_finish(struct ig_graph *g, int rewrites);

#endif
