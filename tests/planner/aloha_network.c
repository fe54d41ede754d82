/* From layers to a network: Algorithm 1, Equations 10-12, pipelines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/aggregate.h"
#include "tests/support/board.h"
#include "tests/support/rng.h"

enum { GPU, CPU, TOY = 4, INSTANCES = 3000, MOST = 12, MOST_PES = 4 };

/* conv, conv, pool, gemm in ms on (GPU, CPU). */
static const double toy[TOY * 2] = {2e-3, 9e-3, 3e-3, 12e-3, 4e-3, 1e-3, 2e-3, 5e-3};

static void near(double a, double b)
{
    if (!(fabs(a - b) <= 1e-12 * fabs(b))) fail_msg("%.17g is not %.17g", a, b);
}

static void toy_free(void)
{
    static const int32_t want[] = {GPU, GPU, CPU, GPU};
    static const double starts[] = {0, 2e-3, 5e-3, 6e-3};
    int32_t pe[TOY];
    double start[TOY], s = ig_schedule(&(struct ig_work){.n = TOY, .n_pes = 2, .s = toy}, pe, start);
    near(s, 8e-3);
    near(1 / s, 125);
    for (int i = 0; i < TOY; i++) {
        assert_int_equal(pe[i], want[i]);
        assert_true(fabs(start[i] - starts[i]) < 1e-15);
    }
}

/* op_dist {conv GPU, gemm CPU, pool CPU}: elsewhere the time is infinite. */
static void toy_distributed(void)
{
    double s[TOY * 2], start[TOY];
    int32_t pe[TOY];
    memcpy(s, toy, sizeof s);
    s[1] = s[3] = s[4] = s[6] = INFINITY;
    double t = ig_schedule(&(struct ig_work){.n = TOY, .n_pes = 2, .s = s}, pe, start);
    near(t, 11e-3);
    assert_true(fabs(1 / t - 90.909) < 5e-4);
    assert_true(pe[0] == GPU && pe[1] == GPU && pe[2] == CPU && pe[3] == CPU);
    near(start[3], 6e-3);
}

static void algorithm1(void **state)
{
    static const double ties[] = {3, 3, 3, 2, 1, 1}, none[] = {1, 2, INFINITY, INFINITY};
    int32_t pe[MOST];
    double start[MOST];
    struct rng r = {7};
    (void)state;
    toy_free();
    toy_distributed();
    near(ig_schedule(&(struct ig_work){.n = 2, .n_pes = 3, .s = ties}, pe, start), 4);
    assert_true(pe[0] == 0 && pe[1] == 1); /* the first of equals; strictly less */
    assert_true(ig_schedule(&(struct ig_work){.n = 2, .n_pes = 2, .s = none}, pe, start) == -1 - 1);
    for (int i = 0; i < INSTANCES; i++) {
        double s[MOST * MOST_PES], now = 0;
        for (int k = 0; k < MOST * MOST_PES; k++) s[k] = rng_int(&r, 1, 9);
        double all = ig_schedule(&(struct ig_work){.n = MOST, .n_pes = MOST_PES, .s = s}, pe, start);
        for (int k = 0; k < MOST; k++) {
            assert_true(start[k] == now); /* no gaps */
            now += s[k * MOST_PES + pe[k]];
        }
        assert_true(all == now);
    }
}

/* Least slowest stage of layers [i, n) with the processors in `left`. */
static double brute(const struct ig_work *w, int32_t i, int32_t *left)
{
    double best = INFINITY;
    if (i == w->n) return 0;
    for (int32_t j = 0; j < w->n_pes; j++) {
        double s = i && w->copy_s ? w->copy_s[i] : 0;
        if (!left[j]) continue;
        left[j]--;
        for (int32_t k = i; k < w->n; k++) {
            s += w->s[k * w->n_pes + j];
            double rest = brute(w, k + 1, left), now = s > rest ? s : rest;
            if (now < best) best = now;
        }
        left[j]++;
    }
    return best;
}

/* The stages are what they say: in order, no processor twice, the slowest as slow as stated. */
static void assert_pipeline(const struct ig_work *w, const struct ig_pipeline *p)
{
    int32_t used[MOST_PES] = {0};
    double slowest = 0, sum = 0;
    assert_int_equal(p->first[0], 0);
    for (int32_t k = 0; k < p->n_stages; k++) {
        int32_t end = k + 1 < p->n_stages ? p->first[k + 1] : w->n;
        double s = k && w->copy_s ? w->copy_s[p->first[k]] : 0;
        assert_true(p->first[k] < end && ++used[p->pe[k]] <= (w->count ? w->count[p->pe[k]] : 1));
        for (int32_t i = p->first[k]; i < end; i++) s += w->s[i * w->n_pes + p->pe[k]];
        slowest = s > slowest ? s : slowest;
        sum += s;
    }
    near(slowest, p->slowest_s);
    near(sum, p->sum_s);
}

static void pipeline_minmax(void **state)
{
    struct ig_pipeline p;
    struct ig_work w = {.n = TOY, .n_pes = 2, .s = toy};
    const char *given = getenv("INGOT_SEED");
    struct rng r = {given ? strtoull(given, NULL, 10) : 12};
    (void)state;
    assert_int_equal(ig_pipeline_cut(&w, &p), 0);
    assert_true(p.n_stages == 2 && p.first[1] == 2 && p.pe[0] == GPU && p.pe[1] == CPU);
    near(p.slowest_s, 6e-3);
    assert_true(fabs(1 / p.slowest_s - 166.667) < 5e-4);
    near(p.sum_s, 11e-3);
    printf("# INGOT_SEED=%llu\n", (unsigned long long)r.state);
    for (int i = 0; i < 300; i++) {
        double s[MOST * MOST_PES], copy[MOST], start[MOST];
        int32_t count[MOST_PES], left[MOST_PES], pe[MOST];
        struct ig_work work = {rng_int(&r, 1, rng_one_in(&r, 10) ? MOST : 7), rng_int(&r, 1, 3), s, count, copy};
        int32_t pes = 0;
        for (int32_t j = 0; j < work.n_pes; j++) pes += count[j] = j ? 1 : rng_int(&r, 1, MOST_PES + 1 - work.n_pes);
        assert_true(pes <= MOST_PES);
        for (int k = 0; k < MOST * MOST_PES; k++) s[k] = rng_one_in(&r, 9) ? INFINITY : rng_int(&r, 1, 9);
        for (int k = 0; k < MOST; k++) copy[k] = rng_int(&r, 0, 2);
        memcpy(left, count, sizeof left);
        double least = brute(&work, 0, left);
        int status = ig_pipeline_cut(&work, &p);
        assert_int_equal(status, isinf(least) ? -1 : 0);
        if (status) continue;
        near(p.slowest_s, least);
        assert_pipeline(&work, &p);
        assert_true(p.slowest_s <= p.sum_s);
        /* the same mapping run one frame after another is no faster */
        double sequential = ig_schedule(&work, pe, start);
        assert_true(sequential >= 0 && sequential <= p.sum_s + 1e-12);
    }
}

static void energy_of_a_network(void **state)
{
    struct ig_platform *b = board_read("neuraghe");
    double busy[2] = {1.864e-3, 0};
    (void)state;
    b->n_processors = 1;
    near(ig_network_mj(b, 8.433, busy, 1.864e-3), 8.433);       /* no idling up to the makespan */
    near(ig_network_mj(b, 8.433, busy, 1e-3), 8.433);           /* nor where the deadline is missed */
    near(ig_network_mj(b, 8.433, busy, 2.864e-3), 8.433 + 1.8); /* 1 ms at 1.8 W */
    b->n_processors = 2;                                        /* the power of the second is not known */
    assert_true(ig_network_mj(b, 8.433, busy, 1.864e-3) == IG_UNKNOWN);
    free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(algorithm1), cmocka_unit_test(pipeline_minmax),
                                       cmocka_unit_test(energy_of_a_network)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
