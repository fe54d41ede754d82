/* out/bench/micro: kernels against the machine's limits, one thread, all measured in the same run. */
#ifndef BENCH_MICRO_MICRO_H
#define BENCH_MICRO_MICRO_H

#include "gen/lower.h"
#include "graph/graph.h"
#include "kernels_cpu/kernel.h"

/* The graph that `text` says: of a file, `streams`, or a convolution such as 56x56x64>64,3x3s1. NULL, and a line in err. */
struct ig_graph *ig_micro_graph(const char *text, char *err, size_t err_bytes);
/* How many layers are like node i; 0 if an earlier one is. */
int ig_micro_count(const struct ig_graph *g, const struct ig_view *views, int32_t i);
/* Its op, what of it and its shapes, in a line. */
void ig_micro_describe(const struct ig_node *n, const struct ig_call *call, char *text, size_t bytes);

/* Something to time: called again and again with `data`. */
typedef void ig_timed_fn(void *data);
/* ns of one call: the least of many, within `seconds` (and at least three calls after a first that warms up). */
double ig_time_least(ig_timed_fn *run, void *data, double seconds);

/* ns that streaming `read` and `write` bytes takes, read at one to eight places in turn, whichever is fastest: the bar
 * of kernels that compute nothing. The memory is reused: it comes from the cache level that it fits. */
double ig_stream_ns(int64_t read, int64_t write);
/* GB/s of reading memory that no cache holds. */
double ig_memory_gbytes(void);

/* ns that a layer of no work takes a team of `threads`: to start it, to share it out, to wait for all. 0: no threads. */
double ig_micro_team(int32_t threads);

/* Every matrix micro-kernel on panels in L1, in % of `peak` GFLOP/s. */
void ig_micro_gemm(double peak);

/* The share of the FMA peak that a core's other ports leave to a depthwise convolution in L1: 0 to 1. */
double ig_depthwise_ports(const struct ig_window *w);

struct ig_micro_options {
    const char *kernel, *layer;  /* only names that contain these; NULL: all */
    int cold;                    /* weights come from memory, not from a cache */
    double seconds;              /* per kernel and layer */
};
/* Every kernel of this machine's ISA on every different layer of g, and the sum over the network. 0, or -1. */
int ig_micro_layers(struct ig_graph *g, double peak, const struct ig_micro_options *o);

/* Pools, transpositions, FC, element-wise functions ... as networks have them, none connected. */
struct ig_graph *ig_micro_streams(void);

#endif
