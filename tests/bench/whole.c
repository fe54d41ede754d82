/* A profile's times are made to sum up to a whole frame, whatever is wrong with them; and they are of other cuts, too. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/whole.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"

static void shrink(struct ig_profile *p, double by)
{
    for (int32_t i = 0; i < p->n; i++) {
        p->timings[i].alone_ns /= by;
        p->timings[i].in_order_ns /= by;
    }
    for (int32_t i = 0; i < p->n_bands; i++) {
        p->bands[i].apart_ns /= by;
        p->bands[i].in_order_ns /= by;
    }
}

static void test_whole_times_too_small(void **state)
{
    (void)state;
    struct ig_graph *g = net_two_convs(32);
    struct ig_profile_options o = {.isa = fastest_isa(), .threads = 1, .seconds = 1};
    char err[512] = "";
    struct ig_profile *p = ig_profile_take(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    assert_true(p->whole_over_sum > 0);
    assert_true(p->n_bands > 0);
    double alone = p->timings[0].alone_ns, in_order = p->timings[0].in_order_ns, band = p->bands[0].in_order_ns,
           apart = p->bands[0].apart_ns;
    shrink(p, 1e6);
    if (ig_profile_whole(g, &o, ig_bench_ns() + 20000000, p, err, sizeof err)) fail_msg("%s", err);
    assert_in_range((uintmax_t)p->whole_over_sum, 10000, 100000000); /* 10^6, but for what disturbs either */
    double by = p->whole_over_sum / 1e6;
    assert_float_equal(p->timings[0].alone_ns / alone, by, 1e-3 * by);
    assert_float_equal(p->timings[0].in_order_ns / in_order, by, 1e-3 * by);
    assert_float_equal(p->bands[0].in_order_ns / band, by, 1e-3 * by);
    assert_float_equal(p->bands[0].apart_ns / apart, by, 1e-3 * by);
    ig_profile_free(p);
    ig_graph_free(g);
}

static int32_t cuts_timed(const struct ig_graph *g, double seconds)
{
    struct ig_profile_options o = {.isa = fastest_isa(), .threads = 2, .seconds = seconds};
    char err[512] = "";
    struct ig_profile *p = ig_profile_take(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    int32_t cuts = 0;
    for (int32_t i = 1; i < p->n; i++) /* they lie side by side */
        cuts += p->timings[i].node == p->timings[i - 1].node && p->timings[i].kernel == p->timings[i - 1].kernel;
    ig_profile_free(p);
    return cuts;
}

/* Rounds go on from kernels, looked at several times, to their other cuts; beside other programs that takes longer. */
static void test_cuts_are_timed(void **state)
{
    (void)state;
    struct ig_graph *g = net_two_convs(32);
    int32_t cuts = 0;
    for (double seconds = 1; !cuts && seconds <= 64; seconds *= 4) cuts = cuts_timed(g, seconds);
    assert_true(cuts > 0);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_times_too_small), cmocka_unit_test(test_cuts_are_timed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
