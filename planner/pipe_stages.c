/*
 * Recurrence A: F[I][U] = the least possible longest stage if the nodes of ideal I are computed by the processors U,
 * one stage each. A second time through, with that period as the limit, what was equal is told apart by what adds up:
 * bytes moved and latency.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/pipe_ideals.h"

struct cell { /* of ideal and processors used */
    int64_t period, moved, latency;
    int32_t from, on; /* ideal and processor of the last stage; from -1: not reached */
};

struct table {
    const struct ig_ideals *x;
    int32_t sets; /* 1 << processors */
    struct cell *cells;
    int64_t limit; /* of a stage */
    int by_sum;    /* second time: period is the limit, sums decide */
};

static int beats(const struct table *t, const struct cell *a, const struct cell *b)
{
    if (b->from < 0) return 1;
    if (!t->by_sum) return a->period < b->period;
    if (a->moved != b->moved) return a->moved < b->moved;
    return a->latency < b->latency;
}

static void reach(struct table *t, int32_t j, int32_t i, int32_t k)
{
    int64_t moved, ns = ig_ideal_stage(t->x, j, i, k, &moved);
    if (ns > t->limit) return;
    for (int32_t used = 0; used < t->sets; used++) {
        const struct cell *before = &t->cells[(int64_t)j * t->sets + used];
        if (used >> k & 1 || before->from < 0) continue;
        struct cell now = {before->period > ns ? before->period : ns, before->moved + moved, before->latency + ns, j,
                           k};
        struct cell *at = &t->cells[(int64_t)i * t->sets + (used | 1 << k)];
        if (beats(t, &now, at)) *at = now;
    }
}

/* The best set of processors for all nodes: a number of t->sets, or -1. */
static int32_t run(struct table *t)
{
    const struct ig_ideals *x = t->x;
    int32_t best = -1, n = x->n;
    for (int64_t c = 0; c < (int64_t)n * t->sets; c++) t->cells[c].from = -1;
    t->cells[0].from = 0;
    for (int32_t i = 1; i < n; i++)
        for (int32_t j = 0; j < i; j++) {
            if (!ig_ideal_within(x, j, i)) continue;
            for (int32_t k = x->p->n_processors - 1; k >= 0; k--)
                reach(t, j, i, k); /* of equals, the first stage on the first */
        }
    struct cell *last = t->cells + (int64_t)(n - 1) * t->sets;
    for (int32_t used = 1; used < t->sets; used++) {
        if (last[used].from < 0) continue;
        int fewer = best >= 0 ? __builtin_popcount((unsigned)used) - __builtin_popcount((unsigned)best) : -1;
        if (best < 0 || (t->by_sum ? fewer < 0 || (!fewer && beats(t, &last[used], &last[best]))
                                   : beats(t, &last[used], &last[best])))
            best = used;
    }
    return best;
}

static void trace(const struct table *t, int32_t used, struct ig_pipe_plan *plan)
{
    int32_t i = t->x->n - 1, s = __builtin_popcount((unsigned)used);
    plan->n_stages = s;
    while (s--) {
        const struct cell *c = &t->cells[(int64_t)i * t->sets + used];
        ig_ideal_put(t->x, c->from, i, c->on, s, plan);
        i = c->from;
        used &= ~(1 << c->on);
    }
}

void ig_pipe_stages(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    struct ig_ideals x;
    plan->n_stages = 0;
    if (ig_ideals_make(p, IG_PIPE_MOST_IDEALS, &x)) return;
    struct table t = {.x = &x, .sets = 1 << p->n_processors, .limit = IG_PIPE_NEVER - 1};
    t.cells = ig_must_alloc((size_t)x.n * (size_t)t.sets, sizeof *t.cells);
    int32_t used = run(&t);
    if (used >= 0) {
        t.limit = t.cells[(int64_t)(x.n - 1) * t.sets + used].period;
        t.by_sum = 1;
        trace(&t, run(&t), plan);
        ig_pipe_fill(p, plan);
        plan->proven = 1;
    }
    free(t.cells);
    ig_ideals_free(&x);
}
