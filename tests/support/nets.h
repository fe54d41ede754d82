/* Small networks built by hand or at random, and two ways to run them: value by value, and as a plan says. */
#ifndef TESTS_SUPPORT_NETS_H
#define TESTS_SUPPORT_NETS_H

#include <stdint.h>

#include "planner/plan.h"
#include "tests/support/rng.h"

/* Builders: channels-last, float, 4-D [n,h,w,c] unless said; each returns the value it makes. */
struct ig_graph *net_new(void);
int32_t net_input(struct ig_graph *g, int32_t n, int32_t h, int32_t w, int32_t c);
int32_t net_conv(struct ig_graph *g, int32_t x, int32_t oc, int32_t k, int32_t stride, int32_t residual);
int32_t net_depthwise(struct ig_graph *g, int32_t x, int32_t k, int32_t stride);
/* Any window, 2-D; groups divide both channel counts. */
int32_t net_conv_window(struct ig_graph *g, int32_t x, int32_t oc, const struct ig_window *w, int32_t groups,
                        int32_t residual);
int32_t net_pool(struct ig_graph *g, int32_t x, int32_t k, int32_t stride);
int32_t net_pool_window(struct ig_graph *g, int32_t x, const struct ig_window *w, int32_t kind);
int32_t net_deconv(struct ig_graph *g, int32_t x, int32_t oc, int32_t k, int32_t stride);
int32_t net_resize(struct ig_graph *g, int32_t x, int32_t factor, int32_t mode); /* enum ig_resize_mode */
int32_t net_global_pool(struct ig_graph *g, int32_t x);
int32_t net_relu(struct ig_graph *g, int32_t x);
int32_t net_softmax(struct ig_graph *g, int32_t x);
int32_t net_add(struct ig_graph *g, int32_t a, int32_t b);
int32_t net_scale(struct ig_graph *g, int32_t x);              /* times a constant [c] */
int32_t net_fc(struct ig_graph *g, int32_t x, int32_t n);      /* x [m,k] */
/* x [t,b,i]: of its product and that many directions, the last one down; h0 and biases or peepholes, constants below 1/4 -> Y [t,d,b,units]. */
int32_t net_recurrent(struct ig_graph *g, int32_t x, int32_t kind, int32_t directions, int32_t units);
int32_t net_concat(struct ig_graph *g, int32_t axis, int32_t n, const int32_t *x);
int32_t net_reshape(struct ig_graph *g, int32_t x, int32_t rank, const int32_t *dims);
int32_t net_flatten(struct ig_graph *g, int32_t x);            /* [n,h,w,c] -> [n, hwc] */
int32_t net_slice(struct ig_graph *g, int32_t x, int32_t axis, int32_t start, int32_t count, int32_t step);
int32_t net_transpose(struct ig_graph *g, int32_t x);          /* swaps h and w */
#define NET_CONCAT(g, axis, ...) \
    net_concat(g, axis, sizeof((int32_t[]){__VA_ARGS__}) / 4, (const int32_t[]){__VA_ARGS__})

/* A picture's columns, steps of a batch of two: a convolution, an LSTM and a GRU in two directions, an RNN; not ready to plan. */
struct ig_graph *net_of_sequences(void);

/* Sorts, checks (aborts the test on a fault). */
void net_done(struct ig_graph *g);
/* Two convolutions of 3x3 on an image of side x side and three channels, ready to plan. */
struct ig_graph *net_two_convs(int32_t side);
/* Four transposed convolutions, not ready to plan: one reads the input, one writes the output. */
struct ig_graph *net_transposed(void);
/* A network of about `nodes` nodes with many concats, slices, reshapes and several outputs. */
struct ig_graph *net_random(struct rng *r, int32_t nodes);
/*
 * A chain of about `nodes` convolutions of all kinds, pools, resizes and element-wise layers of odd sizes, one
 * image, with skips to earlier values: bands in plenty.
 */
struct ig_graph *net_chain(struct rng *r, int32_t nodes);
/*
 * About `blocks` of: a residual block with its input or a projection added, a fork of convolutions and pools put together,
 * layers that each add channels to all before, single layers; one image, rows of 3 to 40, outputs on the way.
 */
struct ig_graph *net_branches(struct rng *r, int32_t blocks);
/* A DenseNet-like block: `layers` of scale + relu + conv on the concat of all before; exported in two ways.
 */
struct ig_graph *net_dense(int32_t layers, int chained);
int32_t net_count(const struct ig_graph *g, int32_t op);

/* out[n_outputs]: malloc'ed dense tensors. Inputs are filled from `seed`. */
void net_run(const struct ig_graph *g, uint64_t seed, void **out);
/* The same as the plan says, in an arena of exactly its size between guards, poisoned; reference kernels
 * only. */
void net_run_plan(const struct ig_graph *g, const struct ig_plan *p, uint64_t seed, void **out);
/*
 * The same by the tables that gen makes of the plan, with its kernels on so many threads, in a poisoned arena behind which
 * nothing is written. Inputs are reals.
 */
void net_run_tables(const struct ig_graph *g, const struct ig_plan *p, int32_t threads, uint64_t seed, void **out);

#endif
