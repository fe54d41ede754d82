/* Nodes that are a function of one tensor, whatever their op; shared by compose and fuse_activation. */
#ifndef GRAPH_PASSES_UNARY_H
#define GRAPH_PASSES_UNARY_H

#include "graph/graph.h"

/* Node n as an activation of one runtime value *x (x + 3 is affine, max(x, 0) relu); 0 if it is none. f32
 * only. */
int unary_read(const struct ig_graph *g, const struct ig_node *n, struct ig_act *act, int32_t *x);
/* *out = second after first, where one activation does both; 0 where none does. */
int unary_compose(const struct ig_act *first, const struct ig_act *second, struct ig_act *out);
/* 1 if a and b differ by a few rounding errors only. */
int unary_near(double a, double b);

#endif
