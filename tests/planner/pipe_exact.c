/* Exact pipelines against brute force, the golden problems, what a plan must keep, and in which order methods stand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/pipe_baselines.h"
#include "planner/pipe_ideals.h"
#include "tests/support/pipes.h"

enum { DAGS = 1500, MOST = 8 };

static struct rng seeded(uint64_t seed)
{
    const char *given = getenv("INGOT_SEED");
    struct rng r = {given ? strtoull(given, NULL, 10) : seed};
    print_message("INGOT_SEED=%llu\n", (unsigned long long)r.state);
    return r;
}

/* --- brute force: all maps; all ways to cut into stages --- */

struct brute {
    const struct ig_pipe *p;
    int64_t map, single, stages, shared; /* least periods */
    int64_t limit, cost;                 /* least sum of (active - idle) * load at periods up to the limit */
};

/* How few stages the map can be run in at the least, if each processor may have one only, or two of three share one. */
static int runs_in(const struct ig_pipe *p, const int32_t *on, const int32_t *processors, int32_t stages)
{
    int32_t stage[MOST];
    for (int32_t v = 0; v < p->n; v++) {
        stage[v] = 0;
        for (int32_t i = p->first[v]; i < p->first[v + 1]; i++)
            if (stage[p->preds[i]] > stage[v]) stage[v] = stage[p->preds[i]];
        while (stage[v] < stages && processors[stage[v]] != on[v]) stage[v]++;
        if (stage[v] == stages) return 0;
    }
    return 1;
}

static int fits(const struct ig_pipe *p, const int32_t *on, int apart)
{
    int32_t k = p->n_processors;
    for (int32_t a = 0; a < k; a++)
        for (int32_t b = 0; b < k; b++)
            for (int32_t c = 0; c < k; c++) {
                if (apart && ((c == a && c != b) || (k < 3 && c != b))) continue;
                if (runs_in(p, on, (const int32_t[]){a, b, c}, 3)) return 1;
            }
    return 0;
}

static void brute_map(struct brute *b, const int32_t *on)
{
    int64_t load[IG_PIPE_PROCESSORS], t = pipe_loads(b->p, on, load), cost = 0;
    if (t >= IG_PIPE_NEVER) return;
    int one = 1;
    for (int32_t v = 1; v < b->p->n; v++) one &= on[v] == on[0];
    for (int32_t k = 0; k < b->p->n_processors; k++) cost += load[k] * (b->p->active_mw[k] - b->p->idle_mw[k]);
    if (t < b->map) b->map = t;
    if (one && t < b->single) b->single = t;
    if (t < b->shared && fits(b->p, on, 0)) b->shared = t;
    if (t < b->stages && fits(b->p, on, 1)) b->stages = t;
    if (t <= b->limit && cost < b->cost) b->cost = cost;
}

static void brute_all(struct brute *b)
{
    int32_t on[MOST] = {0}, n = b->p->n, v;
    b->map = b->single = b->stages = b->shared = b->cost = IG_PIPE_NEVER;
    do {
        brute_map(b, on);
        for (v = 0; v < n && ++on[v] == b->p->n_processors; v++) on[v] = 0;
    } while (v < n);
}

static int64_t period(const struct ig_pipe_plan *plan)
{
    return plan->n_stages ? plan->period_ns : IG_PIPE_NEVER;
}

/* A plan is what it says: its loads are its map's, its stages are in order. */
static void assert_plan(const struct ig_pipe *p, const struct ig_pipe_plan *plan)
{
    int64_t load[IG_PIPE_PROCESSORS], sum = 0;
    if (!plan->n_stages) return;
    assert_int_equal(pipe_loads(p, plan->on, load), plan->period_ns);
    for (int32_t k = 0; k < p->n_processors; k++) assert_int_equal(load[k], plan->load_ns[k]);
    for (int32_t s = 0; s < plan->n_stages; s++) sum += plan->stage_ns[s];
    assert_int_equal(sum, plan->latency_ns);
    assert_true(pipe_stages_hold(p, plan));
}

static int64_t cost_of(const struct ig_pipe *p, const struct ig_pipe_plan *plan, int64_t *weight)
{
    int64_t sum = 0;
    for (int32_t k = 0; k < p->n_processors; k++) {
        weight[k] = p->active_mw[k] - p->idle_mw[k];
        sum += weight[k] * plan->load_ns[k];
    }
    return plan->n_stages ? sum : IG_PIPE_NEVER;
}

static void plan_vs_brute(void **state)
{
    struct rng r = seeded(7);
    int reached = 0, gains = 0;
    (void)state;
    for (int i = 0; i < DAGS; i++) {
        struct pipe_box b;
        struct ig_pipe_plan plan;
        struct brute all;
        int64_t weight[IG_PIPE_PROCESSORS] = {0};
        int32_t k = rng_int(&r, 2, 3);
        pipe_box_random(&b, &r, rng_int(&r, 1, k == 2 ? MOST : MOST - 1), k);
        ig_pipe_plan_start(&b.p, &plan);
        all = (struct brute){.p = &b.p};
        brute_all(&all);
        ig_pipe_single(&b.p, &plan);
        assert_int_equal(period(&plan), all.single);
        ig_pipe_stages(&b.p, &plan);
        assert_plan(&b.p, &plan);
        assert_int_equal(period(&plan), all.stages);
        ig_pipe_shared(&b.p, &plan);
        assert_plan(&b.p, &plan);
        assert_int_equal(period(&plan), all.shared);
        ig_pipe_map(&b.p, IG_PIPE_LABELS, &plan);
        assert_plan(&b.p, &plan);
        assert_int_equal(period(&plan), all.map);
        assert_true(plan.proven && ig_pipe_bound(&b.p) <= all.map);
        all.limit = all.map + rng_int(&r, 0, (int32_t)(all.map / 2));
        brute_all(&all);
        cost_of(&b.p, &plan, weight);
        ig_pipe_map_within(&b.p, IG_PIPE_LABELS, all.limit, weight, &plan);
        assert_plan(&b.p, &plan);
        assert_true(plan.period_ns <= all.limit);
        assert_int_equal(cost_of(&b.p, &plan, weight), all.cost);
        reached += all.map == ig_pipe_bound(&b.p);
        gains += all.map < all.shared;
        ig_pipe_plan_free(&plan);
        pipe_box_free(&b);
    }
    print_message("%d of %d reach the bound; any map beats three stages in %d\n", reached, DAGS, gains);
    assert_true(gains > DAGS / 20);
}

/* --- golden --- */

static void dag_golden(void **state)
{
    struct pipe_box b;
    struct ig_pipe_plan plan;
    struct ig_ideals x;
    (void)state;
    pipe_box_dag(&b);
    ig_pipe_plan_start(&b.p, &plan);
    assert_int_equal(ig_ideals_make(&b.p, 100, &x), 0);
    assert_int_equal(x.n, 9);
    ig_ideals_free(&x);
    ig_pipe_stages(&b.p, &plan);
    assert_int_equal(plan.period_ns, 43);
    for (int v = 0; v < 7; v++) assert_int_equal(plan.on[v], 1);
    ig_pipe_shared(&b.p, &plan);
    assert_int_equal(plan.period_ns, 17);
    for (int v = 0; v < 7; v++) assert_int_equal(plan.on[v], v < 1 || v > 4);
    ig_pipe_map(&b.p, IG_PIPE_LABELS, &plan);
    assert_int_equal(plan.load_ns[0], 15);
    assert_int_equal(plan.load_ns[1], 13);
    for (int v = 0; v < 7; v++) assert_int_equal(plan.on[v], v == 0 || v == 3 || v == 6);
    ig_pipe_plan_free(&plan);
    pipe_box_free(&b);
}

static void chain_energy_golden(void **state)
{
    struct pipe_box b;
    struct ig_pipe_plan plan;
    int64_t weight[IG_PIPE_PROCESSORS] = {0};
    (void)state;
    pipe_box_chain(&b, 1);
    ig_pipe_plan_start(&b.p, &plan);
    ig_pipe_map(&b.p, IG_PIPE_LABELS, &plan);
    assert_int_equal(plan.period_ns, 10);
    cost_of(&b.p, &plan, weight);
    ig_pipe_map_within(&b.p, IG_PIPE_LABELS, 10, weight, &plan);
    assert_int_equal(cost_of(&b.p, &plan, weight), 56);
    ig_pipe_map_within(&b.p, IG_PIPE_LABELS, 12, weight, &plan);
    assert_int_equal(cost_of(&b.p, &plan, weight), 47);
    ig_pipe_map_within(&b.p, IG_PIPE_LABELS, 8, weight, &plan);
    assert_int_equal(plan.n_stages, 0);
    ig_pipe_plan_free(&plan);
    pipe_box_free(&b);
    pipe_box_chain(&b, 1000);
    assert_int_equal(ig_pipe_bound(&b.p), 8125);
    assert_int_equal(ig_pipe_gap_ppm(10000, 8125), 230769);
    pipe_box_free(&b);
}

/* A tensor with three readers elsewhere is flushed once and loaded once; the frame once a processor. */
static void hub_counts_once(void **state)
{
    struct pipe_box b;
    struct ig_pipe_plan plan;
    (void)state;
    pipe_box_start(&b, 5, 8, 2);
    pipe_box_node(&b, (const int64_t[]){10, -1}, 100, 0);
    for (int v = 1; v < 5; v++) {
        pipe_box_node(&b, (const int64_t[]){-1, 10}, 100, 0);
        pipe_box_edge(&b, 0);
    }
    b.p.in[1] = (struct ig_pipe_link){7, 10000};
    b.p.out[0] = (struct ig_pipe_link){5, 20000};
    ig_pipe_plan_start(&b.p, &plan);
    ig_pipe_stages(&b.p, &plan);
    assert_int_equal(plan.load_ns[0], 10 + 5 + 2);
    assert_int_equal(plan.load_ns[1], 40 + 7 + 1);
    assert_int_equal(plan.moved_bytes, 100);
    for (int v = 0; v < 5; v++) b.reads_input[v] = 1;
    b.p.reads_input = b.reads_input;
    b.p.input_bytes = 300;
    b.p.in[0].x0_ns = 4;
    ig_pipe_fill(&b.p, &plan);
    assert_int_equal(plan.load_ns[0], 17 + 4);
    assert_int_equal(plan.load_ns[1], 48 + 7 + 3);
    ig_pipe_plan_free(&plan);
    pipe_box_free(&b);
}

/* --- larger: order of methods, determinism, pins --- */

static void quality_order(void **state)
{
    struct rng r = seeded(3);
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct pipe_box b;
        struct ig_pipe_plan plan;
        pipe_box_random(&b, &r, rng_int(&r, 10, 24), 2);
        ig_pipe_plan_start(&b.p, &plan);
        int64_t bound = ig_pipe_bound(&b.p), t[5];
        ig_pipe_map(&b.p, 256, &plan);
        t[0] = period(&plan);
        ig_pipe_shared(&b.p, &plan);
        t[1] = period(&plan);
        ig_pipe_stages(&b.p, &plan);
        t[2] = period(&plan);
        struct ig_pipe_cut cut = ig_algorithm1(&b.p);
        ig_pipe_cut_plan(&b.p, &cut, &plan);
        t[3] = period(&plan);
        assert_int_equal(t[3], cut.ns);
        ig_pipe_single(&b.p, &plan);
        t[4] = period(&plan);
        assert_true(bound <= t[0]);
        for (int k = 0; k < 4; k++) assert_true(t[k] <= t[k + 1]);
        ig_pipe_plan_free(&plan);
        pipe_box_free(&b);
    }
}

/* The same network, its nodes given in another order. */
static void shuffle(struct rng *r, const struct pipe_box *b, struct pipe_box *to, int32_t *id)
{
    int32_t n = b->p.n, k = b->p.n_processors, at[64];
    pipe_box_start(to, n, n * n, k);
    for (int32_t v = 0; v < n; v++) at[v] = v;
    for (int32_t v = n - 1; v > 0; v--) {
        int32_t u = rng_int(r, 0, v), t = at[v];
        at[v] = at[u];
        at[u] = t;
    }
    for (int32_t i = 0; i < n; i++) {
        int32_t v = 0;
        while (at[v] != i) v++;
        id[i] = v;
        pipe_box_node(to, b->ns + v * k, b->bytes[v], 0);
        to->reads_input[i] = b->reads_input[v];
        to->is_output[i] = b->is_output[v];
        for (int32_t e = b->first[v + 1] - 1; e >= b->first[v]; e--) pipe_box_edge(to, at[b->preds[e]]);
    }
    struct ig_pipe p = to->p;
    to->p = b->p;
    to->p.ns = p.ns;
    to->p.bytes = p.bytes;
    to->p.first = p.first;
    to->p.preds = p.preds;
    if (b->p.reads_input) {
        to->p.reads_input = to->reads_input;
        to->p.is_output = to->is_output;
    }
}

static void plan_deterministic(void **state)
{
    struct rng r = seeded(11);
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct pipe_box b, other;
        struct ig_pipe_plan one, two;
        int32_t id[64], from[64], k = rng_int(&r, 2, 3);
        pipe_box_random(&b, &r, rng_int(&r, 2, 16), k);
        for (int32_t v = 0; v < b.p.n; v++) id[v] = v;
        struct ig_pipe *p = ig_pipe_canonical(&b.p, id, from);
        shuffle(&r, &b, &other, id);
        struct ig_pipe *q = ig_pipe_canonical(&other.p, id, from);
        assert_non_null(p);
        assert_non_null(q);
        ig_pipe_plan_start(p, &one);
        ig_pipe_plan_start(q, &two);
        for (int method = 0; method < 3; method++) {
            void (*const run[])(const struct ig_pipe *, struct ig_pipe_plan *) = {ig_pipe_stages, ig_pipe_shared};
            if (method < 2) {
                run[method](p, &one);
                run[method](q, &two);
            } else {
                ig_pipe_map(p, 64, &one);
                ig_pipe_map(q, 64, &two);
            }
            assert_int_equal(one.n_stages, two.n_stages);
            assert_int_equal(ig_pipe_compare(&one, &two), 0);
            for (int32_t v = 0; v < p->n && one.n_stages; v++) {
                assert_int_equal(one.on[v], two.on[v]);
                assert_int_equal(one.stage[v], two.stage[v]);
            }
        }
        ig_pipe_plan_free(&one);
        ig_pipe_plan_free(&two);
        ig_pipe_free(p);
        ig_pipe_free(q);
        pipe_box_free(&b);
        pipe_box_free(&other);
    }
}

static void pinned_kept(void **state)
{
    struct rng r = seeded(5);
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct pipe_box b;
        struct ig_pipe_plan plan;
        pipe_box_random(&b, &r, rng_int(&r, 2, 16), 2);
        ig_pipe_plan_start(&b.p, &plan);
        for (int method = 0; method < 3; method++) {
            if (method == 0)
                ig_pipe_stages(&b.p, &plan);
            else if (method == 1)
                ig_pipe_shared(&b.p, &plan);
            else
                ig_pipe_map(&b.p, 64, &plan);
            for (int32_t v = 0; v < b.p.n && plan.n_stages; v++) assert_true(b.ns[2 * v + plan.on[v]] < IG_PIPE_NEVER);
        }
        ig_pipe_plan_free(&plan);
        pipe_box_free(&b);
    }
}

static void infeasible_named(void **state)
{
    struct pipe_box b;
    char err[200];
    (void)state;
    pipe_box_chain(&b, 1);
    assert_int_equal(ig_pipe_check(&b.p, err, sizeof err), 0);
    const char *names[] = {"stem", "conv1", "nms", "conv2", "top"};
    b.p.names = names;
    b.ns[4] = b.ns[5] = IG_PIPE_NEVER;
    assert_int_equal(ig_pipe_check(&b.p, err, sizeof err), -1);
    assert_string_equal(err, "nms runs on none of the processors");
    b.ns[4] = -1;
    assert_int_equal(ig_pipe_check(&b.p, err, sizeof err), -1);
    assert_non_null(strstr(err, "nms: a time of"));
    b.ns[4] = 3;
    b.preds[1] = 3;
    assert_int_equal(ig_pipe_check(&b.p, err, sizeof err), -1);
    assert_string_equal(err, "nms is not behind what it reads");
    pipe_box_free(&b);
}

/* The front's fastest plan is what three stages can do, none of its points beats another, energy is found, too. */
static void front_holds(void **state)
{
    struct rng r = seeded(2);
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct pipe_box b;
        struct ig_pipe_plan plan;
        struct ig_pipe_front f;
        pipe_box_random(&b, &r, rng_int(&r, 2, 12), 2);
        ig_pipe_plan_start(&b.p, &plan);
        ig_pipe_shared(&b.p, &plan);
        ig_pipe_front_make(&b.p, &f);
        assert_true(!f.n == !plan.n_stages);
        if (f.n) assert_int_equal(f.plans[0].period_ns, plan.period_ns);
        for (int32_t k = 0; k < f.n; k++) {
            assert_plan(&b.p, &f.plans[k]);
            for (int32_t j = 0; j < f.n; j++)
                assert_true(j == k || f.plans[j].period_ns > f.plans[k].period_ns ||
                            f.plans[j].energy_pj > f.plans[k].energy_pj ||
                            f.plans[j].memory_bytes > f.plans[k].memory_bytes);
        }
        ig_pipe_front_free(&f);
        ig_pipe_plan_free(&plan);
        pipe_box_free(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plan_vs_brute),   cmocka_unit_test(dag_golden),       cmocka_unit_test(chain_energy_golden),
        cmocka_unit_test(hub_counts_once), cmocka_unit_test(quality_order),    cmocka_unit_test(plan_deterministic),
        cmocka_unit_test(pinned_kept),     cmocka_unit_test(infeasible_named), cmocka_unit_test(front_holds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
