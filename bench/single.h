/* One kernel call without a network: its operands, packed weights and scratch, and the time it takes. */
#ifndef BENCH_SINGLE_H
#define BENCH_SINGLE_H

#include "kernels_cpu/kernel.h"

enum { IG_SINGLE_MOST = 16 };

struct ig_single_problem {      /* dense tensors; the kernel must support it */
    const struct ig_kernel *kernel;
    const void *attrs;
    int32_t n_in;
    struct ig_shape in[IG_MAX_IN]; /* rank 0: absent */
    struct ig_shape out;
    uint32_t constants;         /* bit i: input i is known at build time */
};

struct ig_single {
    const struct ig_kernel *kernel;
    struct ig_single_problem problem;
    struct ig_call call;
    void *scratch;
    int32_t n_owned;
    struct { void *data; size_t bytes; } owned[IG_SINGLE_MOST];
};

/* A convolution's problem: same padding, bias, no activation; groups == ic == oc: depthwise. Fills attrs too. */
void ig_single_conv(struct ig_single_problem *p, struct ig_conv *attrs, const struct ig_kernel *k, int32_t ic,
                    int32_t oc, int32_t size, int32_t kernel, int32_t stride, int32_t groups);
/* 1 if the kernel takes the problem. `p` and its attrs must outlive `s`. */
int ig_single_fits(const struct ig_single_problem *p);
/* 0, or -1 if the kernel does not take it or memory is short. */
int ig_single_make(struct ig_single *s, const struct ig_single_problem *p);
void ig_single_free(struct ig_single *s);
/*
 * ns of one call, whole, one thread: the least of `runs` or more runs (as many as half of `seconds` allow), each of some 20 us or more, on operands that the run before left in the caches.
 */
double ig_single_ns(struct ig_single *s, int32_t runs, double seconds);

#endif
