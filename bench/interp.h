/* The interpreter: a channels-last graph evaluated whole by the reference kernels. */
#ifndef BENCH_INTERP_H
#define BENCH_INTERP_H

#include "graph/graph.h"

/* Sees each value as it is made: dense, of the value's shape, gone after the call. */
typedef void ig_watch_fn(void *context, int32_t value, const void *data);

/*
 * inputs[i], outputs[i]: dense tensors of the shapes of g->inputs[i], g->outputs[i]; outputs are written.
 * 0; 1 + the index of the first node that no reference kernel computes; or -1 if there is no memory.
 */
int ig_interp(const struct ig_graph *g, const void *const *inputs, void *const *outputs);
/* The same, showing every value that a node makes to `watch`. */
int ig_interp_watched(const struct ig_graph *g, const void *const *inputs, void *const *outputs,
                      ig_watch_fn *watch, void *context);

#endif
