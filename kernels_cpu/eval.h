/* Evaluates nodes with the reference kernels: for constant folding, and for the interpreter. */
#ifndef KERNELS_CPU_EVAL_H
#define KERNELS_CPU_EVAL_H

#include "graph/graph.h"

/*
 * Computes node `n` of `g`: in[i] (NULL: absent) and out[i] (NULL: not wanted) are dense buffers of the
 * values' shapes.
 * 0, or -1 where no reference kernel computes the node (or the graph still has ONNX's layout
 * and the op does not). Matches ig_eval_fn.
 */
int ig_ref_eval(const struct ig_graph *g, const struct ig_node *n, const void *const *in, void *const *out);

#endif
