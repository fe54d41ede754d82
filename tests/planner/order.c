/* The order of least peak against all orders there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/order.h"
#include "tests/support/nets.h"

enum { MOST = 9, STORES = 14, PROBLEMS = 2000 };

struct problem {             /* beside the net, in the plainest form */
    int32_t n, n_stores;
    int64_t size[STORES];
    uint8_t touch[STORES][MOST], needs[MOST][MOST];
    struct ig_order_over over[MOST];
};

static void random_problem(struct rng *r, struct problem *p)
{
    memset(p, 0, sizeof *p);
    p->n = rng_int(r, 1, MOST);
    for (int32_t v = 0; v < p->n; v++) p->over[v] = (struct ig_order_over){-1, -1};
    for (int32_t v = 0; v < p->n; v++) { /* one storage a node, some more that several write */
        int32_t s = p->n_stores++;
        p->size[s] = rng_int(r, 1, 9);
        p->touch[s][v] = 1;
        for (int32_t u = v + 1; u < p->n; u++)
            if (rng_one_in(r, 3)) p->touch[s][u] = p->needs[u][v] = 1;
        for (int32_t u = 0; u < v; u++)
            if (p->touch[u][v] && p->size[u] == p->size[s]) p->over[v] = (struct ig_order_over){u, s};
    }
    while (p->n_stores < STORES && rng_one_in(r, 2)) {
        p->size[p->n_stores] = rng_int(r, 1, 9);
        for (int32_t v = 0; v < p->n; v++) p->touch[p->n_stores][v] = (uint8_t)rng_one_in(r, 4);
        p->n_stores++;
    }
}

static void as_net(const struct problem *p, struct ig_order_net *net)
{
    ig_order_net_make(net, p->n, p->n_stores);
    for (int32_t s = 0; s < p->n_stores; s++) {
        net->size[s] = p->size[s];
        for (int32_t v = 0; v < p->n; v++)
            if (p->touch[s][v]) ig_order_touch(net, s, v);
    }
    for (int32_t v = 0; v < p->n; v++) {
        net->over[v][1] = p->over[v];
        for (int32_t u = 0; u < p->n; u++)
            if (p->needs[v][u]) ig_order_need(net, v, u);
    }
}

/* By first and last steps: what is held in step i, less what is written in place. */
static int64_t peak_of(const struct problem *p, const int32_t *order)
{
    int32_t first[STORES], last[STORES];
    int64_t peak = 0;
    for (int32_t s = 0; s < p->n_stores; s++) {
        first[s] = MOST;
        last[s] = -1;
        for (int32_t i = 0; i < p->n; i++) {
            if (!p->touch[s][order[i]]) continue;
            if (first[s] == MOST) first[s] = i;
            last[s] = i;
        }
    }
    for (int32_t i = 0; i < p->n; i++) {
        int64_t held = 0;
        struct ig_order_over o = p->over[order[i]];
        for (int32_t s = 0; s < p->n_stores; s++)
            if (first[s] <= i && i <= last[s]) held += p->size[s];
        if (o.in >= 0 && last[o.in] == i && first[o.out] == i) held -= p->size[o.out];
        if (held > peak) peak = held;
    }
    return peak;
}

struct all { const struct problem *p; int32_t order[MOST], best_order[MOST]; int64_t best; };

static void try_all(struct all *a, int32_t at, uint32_t done)
{
    if (at == a->p->n) {
        int64_t peak = peak_of(a->p, a->order);
        if (peak >= a->best) return; /* orders come by node indices: the first of the best stays */
        a->best = peak;
        memcpy(a->best_order, a->order, sizeof a->order);
        return;
    }
    for (int32_t v = 0; v < a->p->n; v++) {
        int ready = !(done >> v & 1);
        for (int32_t u = 0; u < a->p->n; u++) ready &= !a->p->needs[v][u] || (done >> u & 1);
        if (!ready) continue;
        a->order[at] = v;
        try_all(a, at + 1, done | 1u << v);
    }
}

static void order_ideals(void **state)
{
    struct rng r = {1};
    int gained = 0;
    (void)state;
    for (int i = 0; i < PROBLEMS; i++) {
        struct problem p;
        struct ig_order_net net;
        int32_t order[MOST], plain[MOST], ideals;
        random_problem(&r, &p);
        if (p.n > 7 && i % 10) p.n = 7, p.n_stores = 7; /* all orders of nine are many */
        as_net(&p, &net);
        struct all a = {.p = &p, .best = INT64_MAX};
        try_all(&a, 0, 0);
        for (int32_t v = 0; v < p.n; v++) plain[v] = v;
        assert_int_equal(ig_order_peak(&net, plain), peak_of(&p, plain));
        assert_int_equal(ig_order_best(&net, 1 << MOST, order, &ideals), a.best);
        assert_memory_equal(order, a.best_order, (size_t)p.n * sizeof *order);
        assert_int_equal(ig_order_peak(&net, order), a.best);
        gained += a.best < peak_of(&p, plain);
        int32_t all = ideals;
        assert_int_equal(ig_order_best(&net, all, order, &ideals), a.best);
        assert_int_equal(ideals, all);
        if (all > 1) assert_int_equal(ig_order_best(&net, all - 1, order, &ideals), -1);
        ig_order_net_free(&net);
    }
    assert_true(gained > PROBLEMS / 10);
}

/* Graphs: the plan's bound is the peak that was promised, and the outputs keep their bits. */
static void graphs_are_reordered(void **state)
{
    int changed = 0;
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(200); seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_random(&r, rng_int(&r, 1, 25));
        struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1};
        struct ig_order_gain gain;
        void *expected[64], *got[64];
        char err[1024] = "";
        net_run(g, seed, expected);
        ig_prepare_views(g);
        changed += ig_order_nodes(g, &gain);
        assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
        struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
        if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("seed %d: %s", (int)seed, err);
        if (p->arena_lower_bound_bytes > gain.after)
            fail_msg("seed %d: %ld bytes, promised %ld of %ld", (int)seed, (long)p->arena_lower_bound_bytes,
                     (long)gain.after, (long)gain.before);
        net_run_plan(g, p, seed, got);
        for (int32_t i = 0; i < g->n_outputs; i++) {
            assert_memory_equal(expected[i], got[i], (size_t)ig_bytes(&g->values[g->outputs[i]].shape));
            test_free(expected[i]);
            test_free(got[i]);
        }
        assert_int_equal(ig_order_nodes(g, &gain), 0); /* what is best stays */
        ig_plan_free(p);
        ig_graph_free(g);
    }
    print_message("%d of %d graphs reordered\n", changed, (int)rng_share(200));
    assert_true(changed > (int)rng_share(200) / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_ideals),
        cmocka_unit_test(graphs_are_reordered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
