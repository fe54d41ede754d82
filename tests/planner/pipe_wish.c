/* Least latency, energy or memory within limits against every cut there is, counted by definition. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/pipe_wish.h"
#include "planner/plan.h"
#include "tests/support/pipes.h"

enum { NETS = 600, MOST = 7, KINDS = 4 }; /* kinds of cost, by IG_OBJECTIVE_* */

/* One way to put runs of nodes on processors. */
struct way {
    int32_t stages;
    int64_t cost[KINDS];
};

/* Stage of each node; how many. */
static int32_t runs(int32_t n, const int32_t *on, int32_t *stage)
{
    int32_t s = 0;
    for (int32_t v = 0; v < n; v++) stage[v] = v && on[v] != on[v - 1] ? ++s : s;
    return s + 1;
}

/* The last stage, and the last node, that read u's tensor; -1. */
static void readers(const struct ig_pipe *p, const int32_t *stage, int32_t u, int32_t *last_stage, int32_t *last)
{
    *last_stage = *last = -1;
    for (int32_t v = 0; v < p->n; v++)
        for (int32_t i = p->first[v]; i < p->first[v + 1]; i++)
            if (p->preds[i] == u) *last = v, *last_stage = stage[v];
}

/* Two copies of what passes from stage to stage, and of each stage the most that is alive at once. */
static int64_t memory(const struct ig_pipe *p, const int32_t *stage, int32_t stages)
{
    int64_t sum = 0;
    for (int32_t s = 0; s < stages; s++) {
        int64_t most = 0;
        for (int32_t v = 0; v < p->n; v++) {
            int64_t live = 0;
            for (int32_t u = 0; u <= v && stage[v] == s; u++) {
                int32_t last_stage, last;
                readers(p, stage, u, &last_stage, &last);
                if (stage[u] == s && last_stage <= s && (last < 0 || last >= v)) live += p->bytes[u];
            }
            if (live > most) most = live;
        }
        sum += most;
    }
    for (int32_t u = 0; u < p->n; u++) {
        int32_t last_stage, last;
        readers(p, stage, u, &last_stage, &last);
        if (last_stage > stage[u]) sum += 2 * p->bytes[u];
    }
    return sum;
}

/* 0: a node may not run where it is, or there are more stages than three. */
static int price(const struct ig_pipe *p, const int32_t *on, int64_t pace, struct way *w)
{
    int64_t load[IG_PIPE_PROCESSORS], t = pipe_loads(p, on, load), sum = 0;
    int32_t stage[MOST];
    w->stages = runs(p->n, on, stage);
    if (t >= IG_PIPE_NEVER || w->stages > 3) return 0;
    int64_t every = t > pace ? t : pace, pj = 0;
    for (int32_t k = 0; k < p->n_processors; k++) {
        sum += load[k];
        pj += p->idle_mw[k] * every + (p->active_mw[k] - p->idle_mw[k]) * load[k];
    }
    w->cost[IG_OBJECTIVE_THROUGHPUT] = t;
    w->cost[IG_OBJECTIVE_LATENCY] = sum;
    w->cost[IG_OBJECTIVE_ENERGY] = pj;
    w->cost[IG_OBJECTIVE_MEMORY] = memory(p, stage, w->stages);
    return 1;
}

static int32_t all_ways(const struct ig_pipe *p, int64_t pace, struct way *ways)
{
    int32_t on[MOST] = {0}, n = 0, v;
    do {
        n += price(p, on, pace, &ways[n]);
        for (v = 0; v < p->n && ++on[v] == p->n_processors; v++) on[v] = 0;
    } while (v < p->n);
    return n;
}

static int64_t *limit_of(struct ig_pipe_wish *w, int kind)
{
    int64_t *of[KINDS] = {[IG_OBJECTIVE_THROUGHPUT] = &w->period_ns, [IG_OBJECTIVE_LATENCY] = &w->latency_ns,
                          [IG_OBJECTIVE_ENERGY] = &w->energy_pj, [IG_OBJECTIVE_MEMORY] = &w->memory_bytes};
    return of[kind];
}

static int within(struct ig_pipe_wish *w, const struct way *x)
{
    for (int k = 0; k < KINDS; k++)
        if (*limit_of(w, k) && x->cost[k] > *limit_of(w, k)) return 0;
    return 1;
}

static int64_t least_of(struct ig_pipe_wish *w, const struct way *ways, int32_t n, int64_t *kept)
{
    int64_t least = INT64_MAX;
    *kept = 0;
    for (int32_t i = 0; i < n; i++) {
        if (!within(w, &ways[i])) continue;
        ++*kept;
        if (ways[i].cost[w->objective] < least) least = ways[i].cost[w->objective];
    }
    return least;
}

/* Limits near what some plan takes; sometimes below what any does. */
static void some_limits(struct rng *r, struct ig_pipe_wish *w, const struct way *ways, int32_t n)
{
    for (int k = 0; k < KINDS; k++) {
        if (k == IG_OBJECTIVE_THROUGHPUT || !rng_one_in(r, 3)) continue; /* the period is the pace that ways are priced at */
        int64_t limit = ways[rng_int(r, 0, n - 1)].cost[k] - rng_int(r, 0, 2);
        *limit_of(w, k) = limit > 0 ? limit : 1;
    }
}

static void objectives_vs_brute(void **state)
{
    struct rng r = {31};
    int none = 0, limited = 0, differ = 0;
    (void)state;
    for (int i = 0; i < NETS; i++) {
        static struct way ways[2200]; /* 3^7 */
        struct pipe_box b;
        struct ig_pipe_plan plan, fastest;
        struct ig_pipe_choice c;
        struct ig_pipe_wish w = {.objective = i % KINDS};
        pipe_box_random(&b, &r, rng_int(&r, 1, MOST), rng_int(&r, 2, 3));
        b.p.in_order = 1;
        ig_pipe_plan_start(&b.p, &plan);
        ig_pipe_plan_start(&b.p, &fastest);
        int32_t n = all_ways(&b.p, 0, ways);
        if (n && rng_one_in(&r, 2)) {
            w.period_ns = ways[rng_int(&r, 0, n - 1)].cost[IG_OBJECTIVE_THROUGHPUT];
            n = all_ways(&b.p, w.period_ns, ways);
        }
        if (n) some_limits(&r, &w, ways, n);
        int64_t kept, least = least_of(&w, ways, n, &kept);
        ig_pipe_choose(&b.p, &w, &plan, &c);
        assert_int_equal(c.looked, n);
        assert_int_equal(c.kept, kept);
        assert_int_equal(!plan.n_stages, !n);
        if (kept) assert_int_equal(ig_pipe_value(&plan, w.objective), least);
        if (n) assert_true(pipe_stages_hold(&b.p, &plan));
        if (n) ig_pipe_shared(&b.p, &fastest);
        if (kept) differ += plan.period_ns > fastest.period_ns;
        none += n && !kept;
        limited += kept && kept < n;
        ig_pipe_plan_free(&plan);
        ig_pipe_plan_free(&fastest);
        pipe_box_free(&b);
    }
    print_message("%d are limited, %d have no plan within the limits, %d are not the fastest plan\n", limited, none, differ);
    assert_true(limited > NETS / 6 && none > NETS / 20 && differ > NETS / 6);
}

/* Of one limit that nothing keeps, the nearest plan is the one that exceeds it least. */
static void nearest_is_the_least(void **state)
{
    struct rng r = {32};
    (void)state;
    for (int i = 0; i < 200; i++) {
        static struct way ways[2200];
        struct pipe_box b;
        struct ig_pipe_plan plan;
        struct ig_pipe_choice c;
        int kind = i % KINDS;
        struct ig_pipe_wish w = {.objective = (i + 1) % KINDS};
        pipe_box_random(&b, &r, rng_int(&r, 1, MOST), 2);
        b.p.in_order = 1;
        ig_pipe_plan_start(&b.p, &plan);
        int32_t n = all_ways(&b.p, 0, ways);
        int64_t least = INT64_MAX;
        for (int32_t k = 0; k < n; k++)
            if (ways[k].cost[kind] < least) least = ways[k].cost[kind];
        if (n && least > 1) {
            *limit_of(&w, kind) = least - 1;
            ig_pipe_choose(&b.p, &w, &plan, &c);
            assert_int_equal(c.kept, 0);
            assert_in_range(ig_pipe_value(&plan, kind), least, least + least / 1000000); /* as far as parts per million tell */
        }
        ig_pipe_plan_free(&plan);
        pipe_box_free(&b);
    }
}

/* Any map within the period: never worse than stages, on the golden chain 56 and 47 beside the idle powers. */
static void maps_of_least_energy(void **state)
{
    struct pipe_box b;
    struct ig_pipe_plan map, stages;
    struct ig_pipe_choice c;
    struct ig_pipe_wish w = {.objective = IG_OBJECTIVE_ENERGY};
    (void)state;
    pipe_box_chain(&b, 1);
    ig_pipe_plan_start(&b.p, &map);
    ig_pipe_plan_start(&b.p, &stages);
    for (w.period_ns = 10; w.period_ns <= 12; w.period_ns += 2) {
        ig_pipe_choose_map(&b.p, &w, &map);
        assert_int_equal(map.energy_pj, w.period_ns * 2 + (w.period_ns == 10 ? 56 : 47));
        b.p.in_order = 1;
        ig_pipe_choose(&b.p, &w, &stages, &c);
        b.p.in_order = 0;
        assert_true(c.kept > 0 && stages.period_ns <= w.period_ns && map.energy_pj <= stages.energy_pj);
    }
    w = (struct ig_pipe_wish){.objective = IG_OBJECTIVE_LATENCY};
    ig_pipe_choose_map(&b.p, &w, &map);
    assert_int_equal(map.latency_ns, 14); /* all on the GPU: nothing is copied */
    ig_pipe_plan_free(&map);
    ig_pipe_plan_free(&stages);
    pipe_box_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(objectives_vs_brute), cmocka_unit_test(nearest_is_the_least),
                                       cmocka_unit_test(maps_of_least_energy)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
