/* Memory against time: the exact front against all there is, against NSGA-II, and against the plans that come of it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/band.h"
#include "planner/tradeoff.h"
#include "tests/support/nets.h"

enum { NETS = 60 };

static struct ig_plan *make(const struct ig_graph *g, struct ig_plan_options o)
{
    char err[1024] = "";
    struct ig_plan *p = ig_plan_once(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    int verdict = ig_validate(g, p, o.memory_budget, err, sizeof err);
    if (verdict) fail_msg("%s: %s", ig_verdict_name(verdict), err);
    return p;
}

static struct ig_plan_options options(int32_t threads, int32_t bands)
{
    return (struct ig_plan_options){.target = "host", .isa = IG_ISA_REF, .threads = threads, .bands = bands};
}

static void segments_of(const struct ig_graph *g, int32_t threads, struct ig_segments *s)
{
    const struct ig_plan_options off = options(threads, IG_BANDS_OFF);
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_plan *p = make(g, off);
    ig_compute_views(g, views);
    ig_segments_make(g, views, &off, p, s);
    ig_plan_free(p);
    test_free(views);
}

/* A list of bands as a plan. */
static struct ig_plan *plan_with(const struct ig_graph *g, const struct ig_segments *s, const int32_t *bands, int32_t n,
                                 int32_t threads)
{
    struct ig_band_timing *given = test_calloc((size_t)n + 1, sizeof *given);
    struct ig_plan_options o = options(threads, IG_BANDS_GIVEN);
    for (int32_t i = 0; i < n; i++) given[i] = s->bands[bands[i]];
    o.given = given;
    o.n_given = n;
    struct ig_plan *p = make(g, o);
    assert_int_equal(p->n_bands, n);
    test_free(given);
    return p;
}

struct all { /* every list of segments */
    const struct ig_graph *g;
    const struct ig_segments *s;
    const struct ig_segment_front *front;
    int32_t threads, n_bands, bands[64], lists, plans;
    int64_t bytes, ns;
    struct rng *r;
    uint8_t *reached; /* [front->n] */
};

/* Nothing is better than the front; now and then a list becomes a plan, which must cost what its segments do. */
static void look(struct all *a)
{
    int beaten = 0;
    a->lists++;
    for (int32_t i = 0; i < a->front->n; i++) {
        const struct ig_segment_point *p = &a->front->at[i];
        beaten |= p->bytes <= a->bytes && p->ns <= a->ns;
        a->reached[i] |= p->bytes == a->bytes && p->ns == a->ns;
    }
    assert_true(beaten);
    if (!rng_one_in(a->r, 50)) return;
    struct ig_plan *p = plan_with(a->g, a->s, a->bands, a->n_bands, a->threads);
    assert_int_equal(p->arena_lower_bound_bytes, a->bytes);
    assert_true(p->latency_ns - (double)a->ns < p->n_steps && (double)a->ns - p->latency_ns < p->n_steps);
    a->plans++;
    ig_plan_free(p);
}

static void try_all(struct all *a, int32_t from)
{
    if (from == a->s->n_steps) {
        look(a);
        return;
    }
    for (int32_t i = 0; i < a->s->n && a->lists < 4000; i++) {
        const struct ig_segment *s = &a->s->at[i];
        int64_t bytes = a->bytes, ns = a->ns;
        if (s->first != from) continue;
        a->bytes = s->bytes > bytes ? s->bytes : bytes;
        a->ns += s->ns;
        if (s->band >= 0) a->bands[a->n_bands++] = s->band;
        try_all(a, s->last + 1);
        a->n_bands -= s->band >= 0;
        a->bytes = bytes;
        a->ns = ns;
    }
}

static void segments_bruteforce(void **state)
{
    int plans = 0, points = 0, complete = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = seed % 3 ? net_chain(&r, rng_int(&r, 2, 6)) : net_branches(&r, 1);
        struct ig_segments s;
        struct ig_segment_front front;
        ig_prepare_views(g);
        struct all a = {.g = g, .s = &s, .front = &front, .threads = rng_int(&r, 1, 3), .r = &r};
        segments_of(g, a.threads, &s);
        ig_segments_exact(&s, &front);
        a.reached = test_calloc((size_t)front.n, 1);
        try_all(&a, 0);
        for (int32_t i = 0; i < front.n; i++) assert_true(a.lists >= 4000 || a.reached[i]);
        complete += a.lists < 4000;
        plans += a.plans;
        points += front.n;
        test_free(a.reached);
        ig_segment_front_free(&front);
        ig_segments_free(&s);
        ig_graph_free(g);
    }
    print_message("%d of %d networks completely, %d points, %d plans\n", complete, NETS, points, plans);
    assert_true(complete > NETS / 3 && plans > NETS && points > NETS);
}

/* On graphs with branches too, the points are what their plans cost. */
static void points_are_plans(void **state)
{
    int n = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed + 100};
        struct ig_graph *g = seed % 3 == 0   ? net_branches(&r, rng_int(&r, 1, 5))
                             : seed % 3 == 1 ? net_random(&r, rng_int(&r, 1, 25))
                                             : net_chain(&r, 12);
        struct ig_segments s;
        struct ig_segment_front front;
        int32_t threads = rng_int(&r, 1, 3);
        ig_prepare_views(g);
        segments_of(g, threads, &s);
        ig_segments_exact(&s, &front);
        assert_true(front.n > 0);
        for (int32_t i = 0; i < front.n; i++, n++) {
            const struct ig_segment_point *at = &front.at[i];
            struct ig_plan *p = plan_with(g, &s, at->bands, at->n_bands, threads);
            assert_int_equal(p->arena_lower_bound_bytes, at->bytes);
            ig_plan_free(p);
        }
        ig_segment_front_free(&front);
        ig_segments_free(&s);
        ig_graph_free(g);
    }
    assert_true(n > NETS);
}

/* What the profile has timed of other kernels stands in nobody's way. */
static void timings_of_other_kernels_hide_nothing(void **state)
{
    static const struct ig_kernel other = {.name = "other"};
    struct rng r = {7};
    struct ig_graph *g = net_chain(&r, 8);
    struct ig_segments s, with;
    char none[1] = "";
    (void)state;
    ig_prepare_views(g);
    segments_of(g, 1, &s);
    struct ig_band_timing *timed = test_calloc((size_t)s.n_bands + 1, sizeof *timed);
    for (int32_t i = 0; i < s.n_bands; i++) {
        timed[i] = s.bands[i];
        for (int32_t k = 0; k < timed[i].n; k++) timed[i].kernels[k] = &other;
    }
    struct ig_profile profile = {.sha256 = none, .graph_sha256 = none, .isa = none, .threads = 1, .n_bands = s.n_bands,
                                 .bands = timed};
    struct ig_plan_options o = options(1, IG_BANDS_OFF);
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_plan *p = make(g, o);
    ig_compute_views(g, views);
    o.profile = &profile;
    ig_segments_make(g, views, &o, p, &with);
    assert_true(s.n > s.n_steps);
    assert_int_equal(with.n, s.n);
    ig_segments_free(&with);
    ig_segments_free(&s);
    ig_plan_free(p);
    ig_graph_free(g);
    test_free(views);
    test_free(timed);
}

/* ns of the segment of that band of the profile; -1: there is none. */
static int64_t ns_of(const struct ig_segments *s, const struct ig_band_timing *t)
{
    for (int32_t i = 0; i < s->n; i++)
        if (s->at[i].band >= 0 && !memcmp(&s->bands[s->at[i].band], t, sizeof *t)) return s->at[i].ns;
    return -1;
}

/* What the profile has timed of a band, a chain or branches, is what its segment takes: slower than the estimate, or faster. */
static void timings_of_branches_count(void **state)
{
    static const double factors[] = {0.6, 3};
    struct rng r = {11};
    struct ig_graph *g = net_branches(&r, 3);
    struct ig_segments s, with;
    char none[1] = "";
    int seen = 0;
    (void)state;
    ig_prepare_views(g);
    segments_of(g, 1, &s);
    struct ig_plan_options o = options(1, IG_BANDS_OFF);
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_plan *p = make(g, o);
    ig_compute_views(g, views);
    for (int32_t i = 0; i < s.n_bands && seen < 12; i++) {
        struct ig_band_timing timed = s.bands[i];
        struct ig_band band = {.first = timed.first, .last = timed.last, .rows = timed.rows};
        struct ig_part part;
        double ns = 0;
        if (timed.n < 2 || !ig_part_of(g, views, p, &band, &part) || ig_part_is_chain(&part)) continue;
        for (int32_t k = band.first; k <= band.last; k++) ns += p->steps[k].predicted_ns;
        for (int k = 0; k < 2; k++, seen++) {
            timed.in_order_ns = factors[k] * (timed.apart_ns = 1e6);
            struct ig_profile profile = {.sha256 = none, .graph_sha256 = none, .isa = none, .threads = 1, .n_bands = 1,
                                         .bands = &timed};
            o.profile = &profile;
            ig_segments_make(g, views, &o, p, &with);
            assert_true(fabs((double)ns_of(&with, &timed) - factors[k] * ns) < 1);
            ig_segments_free(&with);
        }
    }
    assert_int_equal(seen, 12);
    ig_segments_free(&s);
    ig_plan_free(p);
    ig_graph_free(g);
    test_free(views);
}

static int is_front(const struct ig_segment_front *f)
{
    for (int32_t i = 1; i < f->n; i++)
        if (f->at[i].bytes <= f->at[i - 1].bytes || f->at[i].ns >= f->at[i - 1].ns) return 0;
    return f->n > 0;
}

/* The genetic algorithm finds nothing better, and the same with the same seed. */
static void segments_nsga2(void **state)
{
    int worse = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 12; seed++) {
        struct rng r = {seed + 300};
        struct ig_graph *g = seed % 2 ? net_branches(&r, 4) : net_chain(&r, 14);
        struct ig_segments s;
        struct ig_segment_front exact, found, again;
        ig_prepare_views(g);
        segments_of(g, 1, &s);
        ig_segments_exact(&s, &exact);
        ig_segments_nsga2(&s, seed, 40, &found);
        ig_segments_nsga2(&s, seed, 40, &again);
        assert_true(is_front(&exact) && is_front(&found));
        assert_int_equal(found.n, again.n);
        for (int32_t i = 0; i < found.n; i++) {
            int beaten = 0;
            assert_int_equal(found.at[i].ns, again.at[i].ns);
            for (int32_t k = 0; k < exact.n; k++)
                beaten |= exact.at[k].bytes <= found.at[i].bytes && exact.at[k].ns <= found.at[i].ns;
            assert_true(beaten);
        }
        worse += found.n < exact.n;
        ig_segment_front_free(&exact);
        ig_segment_front_free(&found);
        ig_segment_front_free(&again);
        ig_segments_free(&s);
        ig_graph_free(g);
    }
    assert_true(worse > 0);
}

/* A budget between the least and what the fastest plan takes is kept; below the least, the message says it all. */
static void budget_infeasible(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng r = {seed + 500};
        struct ig_graph *g = net_chain(&r, 10);
        struct ig_plan_options o = options(1, IG_BANDS_AUTO);
        struct ig_tradeoff t;
        char err[1024], text[200];
        ig_prepare_views(g);
        assert_int_equal(ig_tradeoff_make(g, &o, &t, err, sizeof err), 0);
        int64_t least = t.at[0].bytes;
        double ms = (double)t.at[0].ns * 1e-6;
        o.memory_budget = least;
        struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
        if (!p) fail_msg("seed %d: %s", (int)seed, err);
        assert_int_equal(ig_validate(g, p, o.memory_budget, err, sizeof err), IG_PLAN_OK);
        ig_plan_free(p);
        o.memory_budget = least - 100;
        assert_null(ig_plan_make(g, &o, err, sizeof err));
        snprintf(text, sizeof text, "budget of %ld bytes exceeded by 100: the least is %ld", (long)least - 100, (long)least);
        assert_non_null(strstr(err, text));
        o.memory_budget = least;
        o.max_latency_ms = ms / 1000;
        assert_null(ig_plan_make(g, &o, err, sizeof err));
        assert_non_null(strstr(err, "latency limit"));
        o = options(1, IG_BANDS_AUTO);
        o.objective = IG_OBJECTIVE_MEMORY;
        p = ig_plan_make(g, &o, err, sizeof err);
        assert_non_null(p);
        assert_in_range(p->arena_bytes + p->weights_bytes, 1, least);
        ig_plan_free(p);
        ig_tradeoff_free(&t);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_bruteforce),
        cmocka_unit_test(points_are_plans),
        cmocka_unit_test(timings_of_other_kernels_hide_nothing),
        cmocka_unit_test(timings_of_branches_count),
        cmocka_unit_test(segments_nsga2),
        cmocka_unit_test(budget_infeasible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
