/* Plans at work as a whole: each kind runs, its figures hang together, and weights are shared only where they are equal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/trial.h"
#include "kernels_cpu/registry.h"
#include "planner/stages.h"
#include "tests/support/nets.h"

enum { ROUND_MS = 3, MANY = 16 /* rounds, of which few are disturbed */ };

static struct ig_graph *net(void)
{
    struct rng r = {5};
    struct ig_graph *g = net_chain(&r, 12);
    ig_prepare_views(g);
    return g;
}

/* In so many stages; 0: none. */
static struct ig_plan *plan(const struct ig_graph *g, int32_t isa, int32_t threads, int32_t n)
{
    struct ig_plan_options o = {.target = "host", .isa = isa, .threads = threads, .max_error = 1};
    struct ig_plan_stage stages[2] = {{.processor = "cpu:0", .threads = 1}, {.processor = "cpu:1", .threads = 1}};
    char err[1024];
    int32_t *of = test_calloc((size_t)g->n_nodes, sizeof *of);
    for (int32_t i = g->n_nodes / 2; i < g->n_nodes; i++) of[i] = 1;
    struct ig_plan *p = n ? ig_plan_stages(g, &o, of, stages, n, err, sizeof err) : ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    test_free(of);
    return p;
}

static void expect(const struct ig_found *f, int32_t stages, int32_t rounds)
{
    double sum = 0;
    assert_int_equal(f->rounds, rounds);
    assert_true(f->period_ns > 0);
    assert_true(rounds < 10 ? f->spread >= 0 && (rounds > 1 || f->spread == 0) : f->spread > 0);
    for (int32_t i = 0; i < stages; i++) {
        assert_true(f->stage_ns[i] > 0);
        sum += f->stage_ns[i];
    }
    if (!stages) assert_true(f->full_ns == f->period_ns && f->alone_ns == f->period_ns);
    if (stages) assert_true(f->full_ns > 0 && f->alone_ns > 0);
    if (stages && rounds >= MANY) assert_true(f->alone_ns > 0.1 * sum); /* medians of separate frames on a busy machine */
}

static void every_kind_runs(void **state)
{
    const int32_t threads[] = {1, 2, 1}, stages[] = {0, 0, 2};
    struct ig_graph *g = net();
    struct ig_plan *p[3];
    struct ig_trial *t[3];
    char err[256];
    (void)state;
    for (int i = 0; i < 3; i++) {
        p[i] = plan(g, IG_ISA_REF, threads[i], stages[i]);
        t[i] = ig_trial_start(g, p[i], i ? t[0] : NULL, err, sizeof err);
        if (!t[i]) fail_msg("%s", err);
    }
    for (int round = 1; round <= 70; round++)
        for (int i = 0; i < 3; i++) {
            ig_trial_round(t[i], ROUND_MS * 1e-3);
            struct ig_found f = ig_trial_found(t[i]);
            expect(&f, stages[i], round < 64 ? round : 64);
        }
    for (int i = 2; i >= 0; i--) {
        ig_trial_end(t[i]);
        ig_plan_free(p[i]);
    }
    ig_graph_free(g);
}

/* Of other kernels the weights are another trial's own: ending one leaves the other at work. */
static void weights_of_other_kernels(void **state)
{
    int32_t isa = ig_isa_fastest();
    struct ig_graph *g = net();
    struct ig_plan *a = plan(g, IG_ISA_REF, 1, 0), *b = plan(g, isa, 1, 2);
    char err[256];
    (void)state;
    struct ig_trial *first = ig_trial_start(g, a, NULL, err, sizeof err),
                    *second = ig_trial_start(g, b, isa == IG_ISA_REF ? NULL : first, err, sizeof err);
    assert_true(first && second);
    ig_trial_end(first);
    for (int round = 1; round <= MANY; round++) {
        ig_trial_round(second, ROUND_MS * 1e-3);
        struct ig_found f = ig_trial_found(second);
        expect(&f, 2, round);
    }
    ig_trial_end(second);
    ig_plan_free(a);
    ig_plan_free(b);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_kind_runs), cmocka_unit_test(weights_of_other_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
