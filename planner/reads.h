/*
 * How often GPU kernels read their operands: what counts where memory is mapped, which the GPU's caches do not keep. A
 * read of one address by several lanes of a warp at once is one.
 */
#ifndef PLANNER_READS_H
#define PLANNER_READS_H

#include "graph/graph.h"
#include "kernels_cpu/kernel.h"

/*
 * Reads of input k of a node, per byte of it, by the kernel that is likely taken (kernels_gpu/): 64 x 64 outputs a block
 * where there are tiles. Below 1 where it is not read whole. `by`: which it is, of a recurrent layer; NULL: not known.
 */
double ig_gpu_reads(const struct ig_graph *g, const struct ig_node *n, int32_t k, const struct ig_kernel *by);

#endif
