/* Where it is asked to, the profiler times bands with branches, of the kernels that small plans have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/profile.h"
#include "planner/band.h"
#include "planner/tradeoff.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"

/* Two residual blocks of 3x3 layers on an image that is far larger than what comes of it. */
static struct ig_graph *blocks(void)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 48, 48, 3), 16, 3, 1, -1);
    for (int i = 0; i < 2; i++) x = net_conv(g, net_conv(g, x, 16, 3, 1, -1), 16, 3, 1, x);
    ig_add_output(g, net_conv(g, x, 8, 3, 2, -1));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

static const double quick = 0.4, patient = 60; /* seconds of a profile */

static struct ig_profile *profile_of(const struct ig_graph *g, int fronts, double seconds)
{
    struct ig_profile_options o = {.isa = fastest_isa(), .threads = 1, .seconds = seconds, .fronts = fronts};
    char err[512] = "";
    struct ig_profile *p = ig_profile_take(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    return p;
}

/* Does a band of those kernels branch? p: a plan of g without bands. */
static int branches(const struct ig_graph *g, struct ig_plan *p, const struct ig_band_timing *t)
{
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_band band = {.first = t->first, .last = t->last, .rows = t->rows};
    struct ig_part part;
    int32_t members[IG_MAX_BAND], n = ig_band_members(p, &band, members);
    ig_compute_views(g, views);
    assert_int_equal(n, t->n);
    for (int32_t i = 0; i < n; i++) p->steps[members[i]].kernel = t->kernels[i];
    assert_true(ig_part_of(g, views, p, &band, &part));
    test_free(views);
    return !ig_part_is_chain(&part);
}

static int count(const struct ig_graph *g, const struct ig_profile *profile)
{
    const struct ig_plan_options o = {.target = "host", .isa = fastest_isa(), .threads = 1, .bands = IG_BANDS_OFF};
    char err[512] = "";
    struct ig_plan *p = ig_plan_once(g, &o, err, sizeof err);
    int found = 0;
    assert_non_null(p);
    for (int32_t i = 0; i < profile->n_bands; i++) {
        const struct ig_band_timing *t = &profile->bands[i];
        assert_true(t->in_order_ns > 0 && t->apart_ns > 0 && t->n > 1);
        for (int32_t k = 0; k < i; k++)
            assert_memory_not_equal(t, &profile->bands[k], offsetof(struct ig_band_timing, in_order_ns));
        found += branches(g, p, t);
    }
    ig_plan_free(p);
    return found;
}

static void branches_are_timed(void **state)
{
    struct ig_graph *g = blocks();
    int found = 0;
    (void)state;
    if (fastest_isa() == IG_ISA_REF) skip();
    struct ig_profile *chains = profile_of(g, 0, quick);
    assert_int_equal(count(g, chains), 0);
    ig_profile_free(chains);
    for (double seconds = quick; !found && seconds < patient; seconds *= 4) {
        struct ig_profile *all = profile_of(g, 1, seconds);
        found = count(g, all);
        ig_profile_free(all);
    }
    assert_true(found > 0);
    ig_graph_free(g);
}

/* Has every band of two layers or more of the smallest plan been timed, by a profile of so many seconds? */
static int smallest_is_measured(const struct ig_graph *g, double seconds)
{
    struct ig_profile *profile = profile_of(g, 1, seconds);
    struct ig_plan_options o = {.target = "host", .isa = fastest_isa(), .threads = 1, .profile = profile,
                                .max_error = IG_MAX_ERROR};
    struct ig_tradeoff t;
    char err[512] = "";
    int bands = 0, measured = 0;
    assert_int_equal(ig_tradeoff_make(g, &o, &t, err, sizeof err), 0);
    for (int32_t i = 0; i < t.at[0].n_given; i++) {
        const struct ig_band_timing *b = &t.at[0].given[i];
        int32_t k = 0;
        if (b->n < 2) continue;
        while (k < profile->n_bands && memcmp(b, &profile->bands[k], sizeof *b)) k++;
        measured += k < profile->n_bands;
        bands++;
    }
    assert_true(bands > 0);
    ig_tradeoff_free(&t);
    ig_profile_free(profile);
    return measured == bands;
}

/* The smallest plan's times are no estimates; beside other programs that takes longer. */
static void small_plans_are_measured(void **state)
{
    struct ig_graph *g = blocks();
    int measured = 0;
    (void)state;
    if (fastest_isa() == IG_ISA_REF) skip();
    for (double seconds = quick; !measured && seconds < patient; seconds *= 4) measured = smallest_is_measured(g, seconds);
    assert_true(measured);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(branches_are_timed), cmocka_unit_test(small_plans_are_measured)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
