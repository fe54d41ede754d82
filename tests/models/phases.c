/*
 * By parts and in place in the least memory, or layer by layer with the same kernels: the same bits of every benchmark
 * network, from a poisoned arena. The large ones take minutes: with INGOT_LONG=1, which ninja test-long sets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "models/zoo/zoo.h"
#include "planner/tradeoff.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"

enum { FEW_PARAMETERS = 8000000 };

static struct ig_plan *make(const struct ig_graph *g, struct ig_plan_options o, int32_t bands)
{
    char err[1024] = "";
    o.bands = bands;
    struct ig_plan *p = ig_plan_once(g, &o, err, sizeof err);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("%s: %s", g->name, err);
    return p;
}

/* One point of the front against the plan without bands. */
static void compare(const struct ig_graph *g, struct ig_plan_options o, const struct ig_tradeoff_point *at)
{
    void *expected[8], *got[8];
    o.lean = at->lean;
    o.leans = at->leans;
    o.given = at->given;
    o.n_given = at->n_given;
    struct ig_plan *whole = make(g, o, IG_BANDS_OFF), *parts = make(g, o, IG_BANDS_GIVEN);
    assert_int_equal(parts->n_bands, at->n_given);
    for (int32_t i = 0; i < parts->n_steps; i++) assert_ptr_equal(whole->steps[i].kernel, parts->steps[i].kernel);
    net_run_tables(g, whole, o.threads, 1, expected);
    net_run_tables(g, parts, o.threads, 1, got);
    for (int32_t k = 0; k < g->n_outputs; k++) {
        assert_memory_equal(expected[k], got[k], (size_t)ig_bytes(&g->values[g->outputs[k]].shape));
        test_free(expected[k]);
        test_free(got[k]);
    }
    print_message("%-17s %2d bands, arena %9ld for %9ld\n", g->name, parts->n_bands, (long)parts->arena_bytes,
                  (long)whole->arena_bytes);
    ig_plan_free(whole);
    ig_plan_free(parts);
}

static void phases_bit_identical(void **state)
{
    int all = getenv("INGOT_LONG") != NULL;
    (void)state;
    for (int32_t i = 0; ig_zoo_net(i); i++) {
        struct ig_zoo_counts n;
        struct ig_tradeoff t;
        char err[1024] = "";
        ig_zoo_count(ig_zoo_net(i), &n);
        if (!all && n.parameters > FEW_PARAMETERS) continue;
        struct ig_graph *g = zoo_net(ig_zoo_net(i)->name);
        struct ig_plan_options o = {.target = "host", .isa = fastest_isa(), .threads = 1 + i % 2, .max_error = IG_MAX_ERROR};
        if (ig_tradeoff_make(g, &o, &t, err, sizeof err)) fail_msg("%s", err);
        compare(g, o, &t.at[0]);
        if (t.n > 2) compare(g, o, &t.at[t.n / 2]);
        ig_tradeoff_free(&t);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(phases_bit_identical)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
