/* Limits that no plan keeps: the message names the one that fails, by how much, and a plan that is next to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "planner/tradeoff.h"
#include "tests/support/builder.h"
#include "tests/support/nets.h"

enum { NETS = 20, ROOM = 64 * 16 }; /* what alignment may take */

static struct ig_graph *chain(uint64_t seed)
{
    struct rng r = {seed + 700};
    struct ig_graph *g = net_chain(&r, 10);
    ig_prepare_views(g);
    return g;
}

static struct ig_plan_options options(void)
{
    return (struct ig_plan_options){.target = "host", .isa = IG_ISA_REF, .threads = 1};
}

/* The number before `words` in the message. */
static long long before(const char *err, const char *words)
{
    const char *at = strstr(err, words);
    if (!at) fail_msg("'%s' is not in '%s'", words, err);
    while (at > err && at[-1] >= '0' && at[-1] <= '9') at--;
    return atoll(at);
}

static void assert_feasible(const struct ig_graph *g, struct ig_plan_options o)
{
    char err[1024] = "";
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    assert_int_equal(ig_validate(g, p, o.memory_budget, err, sizeof err), IG_PLAN_OK);
    assert_true(o.max_latency_ms <= 0 || p->latency_ns * 1e-6 <= o.max_latency_ms * 1.000001);
    ig_plan_free(p);
}

/* Time alone: the fastest plan there is, with its bytes. */
static void time_limits_name_the_fastest(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(NETS); seed++) {
        struct ig_graph *g = chain(seed);
        struct ig_plan_options o = options();
        struct ig_tradeoff t;
        char err[1024] = "", text[200];
        assert_int_equal(ig_tradeoff_make(g, &o, &t, err, sizeof err), 0);
        double ns = (double)t.at[t.n - 1].ns;
        o.max_latency_ms = ns * 0.5e-6;
        assert_null(ig_plan_make(g, &o, err, sizeof err));
        snprintf(text, sizeof text, "exceeded by %.3f ms: the fastest plan takes %.3f ms with %lld bytes", ns * 0.5e-6,
                 ns * 1e-6, (long long)t.at[t.n - 1].bytes);
        if (!strstr(err, "latency limit of ") || !strstr(err, text)) fail_msg("'%s' is not in '%s'", text, err);
        o.max_latency_ms = 0;
        o.min_fps = 2e9 / ns;
        assert_null(ig_plan_make(g, &o, err, sizeof err));
        snprintf(text, sizeof text, "missed by %.3f: the fastest plan takes", o.min_fps - 1e9 / ns);
        if (!strstr(err, "rate of ") || !strstr(err, text)) fail_msg("'%s' is not in '%s'", text, err);
        o.min_fps = 0.999e9 / ns; /* what is just possible is found, bands and all */
        assert_feasible(g, o);
        ig_tradeoff_free(&t);
        ig_graph_free(g);
    }
}

/* Memory and time together: the fastest within the budget, and the budget that would do. */
static void two_limits_name_what_would_do(void **state)
{
    int named = 0;
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(NETS); seed++) {
        struct ig_graph *g = chain(seed);
        struct ig_plan_options o = options();
        struct ig_tradeoff t;
        char err[1024] = "";
        assert_int_equal(ig_tradeoff_make(g, &o, &t, err, sizeof err), 0);
        o.memory_budget = t.at[0].bytes + ROOM;
        for (int32_t i = 0; i < t.n && t.at[i].bytes <= o.memory_budget; i++)
            o.max_latency_ms = (double)t.at[i].ns * 0.999e-6;
        if (t.n > 1 && (double)t.at[t.n - 1].ns * 1e-6 <= o.max_latency_ms) {
            assert_null(ig_plan_make(g, &o, err, sizeof err));
            assert_non_null(strstr(err, "the fastest plan within the budget takes"));
            o.memory_budget = before(err, " bytes would do");
            assert_feasible(g, o);
            named++;
        }
        ig_tradeoff_free(&t);
        ig_graph_free(g);
    }
    assert_true(named > (int)rng_share(NETS) / 3);
}

/* The least that the message names is a budget that can be kept, whatever alignment takes. */
static void budgets_name_the_least(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(3 * NETS); seed++) {
        struct rng r = {seed + 9000};
        struct ig_graph *g = seed % 3 == 0   ? net_branches(&r, rng_int(&r, 1, 5))
                             : seed % 3 == 1 ? net_random(&r, rng_int(&r, 5, 25))
                                             : net_chain(&r, 12);
        struct ig_plan_options o = options();
        char err[1024] = "";
        ig_prepare_views(g);
        o.threads = 1 + (int32_t)seed % 2;
        o.memory_budget = 1;
        assert_null(ig_plan_make(g, &o, err, sizeof err));
        long long least = before(err, ", arena ");
        assert_int_equal(before(err, ": the least is"), least - 1); /* by how much */
        o.memory_budget = least;
        assert_feasible(g, o);
        ig_graph_free(g);
    }
}

/* Kernels whose weights are the least may all compute several rows together, which the least memory then takes. */
static void convolutions_of_bytes_have_a_least(void **state)
{
    (void)state;
    for (int32_t ic = 1; ic <= 24; ic++) {
        struct ig_graph *g = ig_graph_new("bytes");
        struct ig_plan_options o = options();
        union ig_attrs a = {.conv = {.w = {1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}, .groups = 1}};
        struct ig_shape x = build_shape(IG_I8, DIMS(1, 11, 15, ic)), w = build_shape(IG_I8, DIMS(3, ic, 3, 3)), y = build_shape(IG_I8, DIMS(1, 11, 15, 3));
        struct ig_shape one = build_shape(IG_I8, 0, NULL);
        int8_t weights[3 * 24 * 9] = {1, 2, 3}, none = 0;
        int32_t scale = build_scalar(g, 0.25f), zero = ig_add_const(g, "zero", &one, &none);
        int32_t in[8] = {ig_add_value(g, "x", &x), scale, zero, ig_add_const(g, "w", &w, weights), scale, zero, scale, zero};
        g->channels_last = 1;
        ig_add_input(g, in[0]);
        build_output(g, build_node(g, IG_QLINEAR_CONV, &a, 8, in, &y), "y");
        ig_prepare_views(g);
        o.isa = ig_isa_fastest();
        o.objective = IG_OBJECTIVE_MEMORY;
        assert_feasible(g, o);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(convolutions_of_bytes_have_a_least),
                                       cmocka_unit_test(time_limits_name_the_fastest),
                                       cmocka_unit_test(two_limits_name_what_would_do),
                                       cmocka_unit_test(budgets_name_the_least)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
