#include "planner/pipe_contention.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

enum { FULL = 1000, SETTLE = 50 };

void ig_contended_ns(const struct ig_pipe *p, const struct ig_contention *c, const int32_t *busy, int64_t *ns)
{
    for (int32_t v = 0; v < p->n; v++)
        for (int32_t k = 0; k < p->n_processors; k++) {
            int64_t t = p->ns[(int64_t)v * p->n_processors + k], slower = 0,
                    streams = c->streams ? c->streams[v] : FULL;
            for (int32_t q = 0; q < p->n_processors; q++) {
                if (q == k) continue;
                int64_t kappa = (FULL - streams) * c->kappa[k][q][0] + streams * c->kappa[k][q][1];
                slower += (kappa - FULL * FULL) * busy[q] / FULL;
            }
            ns[(int64_t)v * p->n_processors + k] =
                t >= IG_PIPE_NEVER ? t : t + t / 1000 * slower / 1000 + t % 1000 * slower / 1000000;
        }
}

static void busy_of(const struct ig_pipe *p, const struct ig_pipe_plan *plan, int32_t *busy)
{
    for (int32_t k = 0; k < p->n_processors; k++)
        busy[k] = plan->period_ns ? (int32_t)(plan->load_ns[k] * FULL / plan->period_ns) : 0;
}

int32_t ig_contended_settle(const struct ig_pipe *p, const struct ig_contention *c, struct ig_pipe_plan *plan,
                            int32_t *busy)
{
    int64_t *ns = ig_must_alloc((size_t)p->n * (size_t)p->n_processors, sizeof *ns);
    struct ig_pipe slow = *p;
    int32_t round = 0, moved = FULL;
    slow.ns = ns;
    ig_pipe_fill(p, plan);
    busy_of(p, plan, busy);
    while (moved > 1 && ++round < SETTLE) {
        int32_t now[IG_PIPE_PROCESSORS];
        ig_contended_ns(p, c, busy, ns);
        ig_pipe_fill(&slow, plan);
        busy_of(p, plan, now);
        moved = 0;
        for (int32_t k = 0; k < p->n_processors; k++) {
            int32_t d = abs(now[k] - busy[k]);
            if (d > moved) moved = d;
            busy[k] = now[k];
        }
    }
    free(ns);
    return round;
}

int32_t ig_contended_plan(const struct ig_pipe *p, const struct ig_contention *c, ig_pipe_search *search,
                          struct ig_pipe_plan *plan)
{
    int64_t *ns = ig_must_alloc((size_t)p->n * (size_t)p->n_processors, sizeof *ns);
    int32_t busy[IG_PIPE_PROCESSORS] = {0}, round = 0, same = 0;
    struct ig_pipe slow = *p;
    struct ig_pipe_plan now;
    slow.ns = ns;
    plan->n_stages = 0;
    ig_pipe_plan_start(p, &now);
    while (round < IG_CONTENTION_ROUNDS && !same) {
        int32_t before[IG_PIPE_PROCESSORS];
        for (int32_t k = 0; k < p->n_processors && round == 1; k++) busy[k] = FULL;
        memcpy(before, busy, sizeof before);
        ig_contended_ns(p, c, busy, ns);
        search(&slow, &now);
        round++;
        if (!now.n_stages) break;
        ig_contended_settle(p, c, &now, busy);
        same = round > 2 && !memcmp(before, busy, sizeof before);
        if (ig_pipe_compare(&now, plan) < 0) ig_pipe_plan_copy(plan, &now);
    }
    ig_pipe_plan_free(&now);
    free(ns);
    return round;
}
