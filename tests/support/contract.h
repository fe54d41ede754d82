/* One problem, one kernel: its whole run, and whether it keeps the kernel contract (kernels_cpu/kernel.h). */
#ifndef TESTS_SUPPORT_CONTRACT_H
#define TESTS_SUPPORT_CONTRACT_H

#include "tests/support/check.h"

struct contract {
    const struct ig_kernel *kernel;
    const struct check_body *body;
    const struct check_problem *problem;
    void *in[IG_MAX_IN];     /* dense values */
    void *whole[IG_MAX_OUT]; /* dense result of the whole run */
    struct rng *rng;
    char *why;               /* first violation */
    size_t why_bytes;
};

/* The call on dense operands as the planner sees it: only constants have data. */
struct ig_call contract_plan_call(const struct contract *c);
/* Runs the kernel on dense operands and keeps the result in whole[]. 0, or -1 with why. */
int contract_whole(struct contract *c);
/* All other ways to run it must give those bits. 0, or -1 with why. */
int contract_check(struct contract *c);

#endif
