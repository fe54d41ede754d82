/* Two plans of the same kernels, without bands and with, that run in turns, so that whatever slows one slows the other. */
#ifndef BENCH_TURNS_H
#define BENCH_TURNS_H

#include "bench/bed.h"

struct ig_turns {
    const struct ig_graph *g;
    int32_t threads;
    struct ig_lowered *apart; /* tables of the plan without bands */
    struct ig_bed whole, banded;
    void **inputs, **outputs;
    int64_t *step_ns;
};

/* Tables and memory of `plan`, which has no bands. 0, or -1 with a line in err; to be ended in either case. */
int ig_turns_begin(struct ig_turns *t, const struct ig_graph *g, const struct ig_plan *plan, int32_t threads, char *err,
                   size_t err_bytes);
/*
 * Runs both in turns, three times or more, until ig_bench_ns() reaches until_ns: the least times of plan's bands, as they
 * run by rows, and of their layers one after the other; [plan->n_bands] each. 0, or -1 with a line in err.
 */
int ig_turns_run(struct ig_turns *t, const struct ig_plan *plan, int64_t until_ns, double *in_order_ns, double *apart_ns,
                 char *err, size_t err_bytes);
void ig_turns_end(struct ig_turns *t);

#endif
