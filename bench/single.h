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

/*
 * The call of the problem, without data (constants have an address that nobody may read). 1 if the kernel takes it. The
 * shapes stay the problem's.
 */
int ig_single_call(const struct ig_single_problem *p, struct ig_call *call);
/* 0, or -1 if the kernel does not take it or memory is short. p's attrs must outlive s, which may not be moved. */
int ig_single_make(struct ig_single *s, const struct ig_single_problem *p);
void ig_single_free(struct ig_single *s);
/*
 * ns of one call, whole, one thread: the least of `runs` or more runs (as many as half of `seconds` allow), each of
 * 20 us or more, on operands that the run before left in the caches.
 */
double ig_single_ns(struct ig_single *s, int32_t runs, double seconds);

#endif
