/* Slots, transfers and contention: periods by formula against a simulation, fits of noisy times, fixed points. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/pipe_contention.h"
#include "planner/pipe_slots.h"
#include "planner/pipe_transfer.h"
#include "planner/plan.h"
#include "tests/support/pipes.h"

enum { PIPELINES = 700, STAGES = 6, FRAMES = 1200, WINDOW = 240 };

struct line { /* a random pipeline */
    struct ig_slots s;
    int64_t ns[STAGES];
    int32_t slots[STAGES], on[STAGES];
    struct ig_skip skips[2];
};

static void random_line(struct rng *r, struct line *l)
{
    int32_t most = RNG_OF(r, 5, 30, 100000);
    l->s = (struct ig_slots){.n = rng_int(r, 1, STAGES), .ns = l->ns, .slots = l->slots, .skips = l->skips};
    for (int j = 0; j < STAGES; j++) {
        l->ns[j] = rng_int(r, 1, most);
        l->slots[j] = rng_int(r, 1, 4);
    }
    for (int i = 0; i < 2 && l->s.n > 2 && rng_one_in(r, 2); i++) {
        int32_t from = rng_int(r, 0, l->s.n - 3);
        l->skips[l->s.n_skips++] = (struct ig_skip){from, rng_int(r, from + 2, l->s.n - 1), rng_int(r, 1, 4)};
    }
}

/* ns that WINDOW frames take at the end of a long run. */
static int64_t run_window(const struct ig_slots *s, int64_t *start)
{
    ig_slots_run(s, FRAMES, 0, start);
    return start[(int64_t)FRAMES * s->n - 1] - start[(int64_t)(FRAMES - WINDOW) * s->n - 1];
}

static void slots_formula(void **state)
{
    static int64_t start[FRAMES * STAGES];
    struct rng r = {14};
    (void)state;
    for (int i = 0; i < PIPELINES; i++) {
        struct line l;
        random_line(&r, &l);
        struct ig_ratio t = ig_slots_period(&l.s);
        assert_int_equal(run_window(&l.s, start) * t.den, t.num * WINDOW);
    }
}

/* Stages that share a processor: never faster than the formula, and with slots enough as fast. */
static void shared_loads(void **state)
{
    static int64_t start[FRAMES * STAGES];
    struct rng r = {15};
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct line l;
        random_line(&r, &l);
        l.s.n_skips = 0;
        l.s.on = l.on;
        for (int j = 0; j < STAGES; j++) l.on[j] = rng_int(&r, 0, 2);
        struct ig_ratio t = ig_slots_period(&l.s);
        assert_true(run_window(&l.s, start) * t.den >= t.num * (WINDOW - 4));
        for (int j = 0; j < STAGES; j++) l.slots[j] = 64;
        t = ig_slots_period(&l.s);
        assert_true(run_window(&l.s, start) * t.den <= t.num * (WINDOW + 8));
    }
}

static void slots_one_serialises(void **state)
{
    static int64_t start[FRAMES * 2];
    struct ig_slots s = {.n = 2, .ns = (const int64_t[]){30, 50}, .slots = (const int32_t[]){1}};
    (void)state;
    assert_int_equal(ig_slots_period(&s).num, 80);
    assert_int_equal(run_window(&s, start), 80 * WINDOW);
    s.slots = (const int32_t[]){2};
    assert_int_equal(run_window(&s, start), 50 * WINDOW);
    assert_int_equal(ig_slots_between(100, 105), 3);
    assert_int_equal(ig_slots_between(100, 150), 2);
}

/* With frames always waiting a frame takes c periods where the second of two stages is the slower; paced, its stages'
 * sum. */
static void latency_saturated(void **state)
{
    static int64_t start[FRAMES * 2];
    (void)state;
    for (int32_t c = 1; c <= 4; c++) {
        struct ig_slots s = {.n = 2, .ns = (const int64_t[]){30, 50}, .slots = &c};
        struct ig_ratio t = ig_slots_period(&s);
        ig_slots_run(&s, FRAMES, 0, start);
        assert_int_equal((start[2 * 999 + 1] + 50 - start[2 * 999]) * t.den, c * t.num);
        ig_slots_run(&s, FRAMES, 81, start);
        assert_int_equal(start[2 * 999 + 1] + 50 - start[2 * 999], 80);
    }
}

/* --- transfers --- */

static double normal(struct rng *r)
{
    return sqrt(-2 * log(rng_real(r, 1e-12, 1))) * cos(6.283185307179586 * rng_real(r, 0, 1));
}

static void transfer_fit(void **state)
{
    struct rng r = {16};
    struct ig_transfer_fit fit;
    char err[200];
    double mean = 0;
    (void)state;
    for (int i = 0; i < 200; i++) { /* 18 us + 9 GB/s, 4 KiB..16 MiB by 4, noise of 3 %, medians of 21 */
        int64_t bytes[7], ns[7];
        double worst = 0;
        for (int k = 0; k < 7; k++) {
            bytes[k] = 4096ll << 2 * k;
            ns[k] = llround((18000 + (double)bytes[k] / 9) * (1 + .03 * 1.2533 / sqrt(21) * normal(&r)));
        }
        assert_int_equal(ig_transfer_fit(bytes, ns, 7, &fit, err, sizeof err), 0);
        for (int k = 0; k < 7; k++) {
            double t = 18000 + (double)bytes[k] / 9;
            worst = fmax(worst, fabs((double)ig_pipe_transfer(&fit.link, bytes[k]) - t) / t);
        }
        assert_true(worst < .02);
        mean += worst / 200;
    }
    print_message("worst size %.2f %% off on average\n", 100 * mean);
    assert_true(mean < .01);
    int64_t bytes[] = {4096, 16384, 65536, 262144, 1048576}, quadratic[5], falling[5], few[] = {1, 1, 1, 1, 1};
    for (int k = 0; k < 5; k++) {
        quadratic[k] = bytes[k] * bytes[k] / 1000;
        falling[k] = 2000 - 300 * k;
    }
    assert_int_equal(ig_transfer_fit(bytes, quadratic, 5, &fit, err, sizeof err), -1);
    assert_non_null(strstr(err, "off on average"));
    assert_int_equal(ig_transfer_fit(bytes, falling, 5, &fit, err, sizeof err), -1);
    assert_int_equal(ig_transfer_fit(few, quadratic, 5, &fit, err, sizeof err), -1);
    assert_non_null(strstr(err, "sizes measured"));
    quadratic[2] = 0;
    assert_int_equal(ig_transfer_fit(bytes, quadratic, 5, &fit, err, sizeof err), -1);
}

/* --- contention --- */

static void contention_fixpoint(void **state)
{
    struct rng r = {17};
    int better = 0;
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct pipe_box b;
        struct ig_contention c = {.streams = NULL};
        struct ig_pipe_plan plan, blind;
        int32_t streams[32], busy[IG_PIPE_PROCESSORS] = {0};
        pipe_box_random(&b, &r, rng_int(&r, 4, 14), 2);
        for (int v = 0; v < b.p.n * 2; v++)
            if (b.ns[v] < IG_PIPE_NEVER) b.ns[v] *= 10000;
        for (int v = 0; v < b.p.n; v++) streams[v] = rng_int(&r, 0, 1000);
        for (int p = 0; p < 2; p++)
            for (int k = 0; k < 2; k++) c.kappa[p][!p][k] = rng_int(&r, 1000, k ? 1600 : 1100);
        c.streams = streams;
        ig_pipe_plan_start(&b.p, &plan);
        ig_pipe_plan_start(&b.p, &blind);
        int32_t rounds = ig_contended_plan(&b.p, &c, ig_pipe_shared, &plan);
        assert_true(rounds <= IG_CONTENTION_ROUNDS && plan.n_stages);
        ig_pipe_shared(&b.p, &blind);
        int64_t alone = blind.period_ns;
        assert_true(ig_contended_settle(&b.p, &c, &blind, busy) < 30);
        assert_true(blind.period_ns >= alone && plan.period_ns <= blind.period_ns);
        better += plan.period_ns < blind.period_ns;
        int64_t settled = plan.period_ns;
        ig_contended_settle(&b.p, &c, &plan, busy);
        assert_int_equal(plan.period_ns, settled);
        ig_pipe_plan_free(&plan);
        ig_pipe_plan_free(&blind);
        pipe_box_free(&b);
    }
    print_message("%d of 200 plans are better for knowing of contention\n", better);
    assert_true(better > 20);
}

/* Copies to a GPU and from it have a line each, or none is known; those that failed, and fall with size, have none. */
static void copies_fit(void **state)
{
    int64_t bytes[] = {4096, 16384, 65536, 262144, 1048576, 4194304}, in[6], out[6], falling[6], zero[6] = {0};
    struct ig_gpu_copies c = {.known = 0};
    (void)state;
    for (int k = 0; k < 6; k++) {
        in[k] = 9000 + bytes[k] / 50;
        out[k] = 1500 + bytes[k] / 25;
        falling[k] = 20000 - 3000 * k;
    }
    ig_fit_copies(bytes, in, out, 6, &c);
    assert_true(c.known && c.off < .001);
    assert_true(llabs(c.in.ns - 9000) < 3 && llabs(c.in.fs_per_byte - 20000) < 10);
    assert_true(llabs(c.out.ns - 1500) < 3 && llabs(c.out.fs_per_byte - 40000) < 10);
    in[1] += 2200; /* noise is no reason to know nothing */
    ig_fit_copies(bytes, in, out, 6, &c);
    assert_true(c.known && c.off > .03 && c.off < .1);
    ig_fit_copies(bytes, in, falling, 6, &c);
    assert_false(c.known);
    ig_fit_copies(bytes, in, out, 6, &c);
    assert_true(c.known);
    ig_fit_copies(bytes, zero, zero, 6, &c);
    assert_false(c.known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(slots_formula),        cmocka_unit_test(shared_loads),
                                       cmocka_unit_test(slots_one_serialises), cmocka_unit_test(latency_saturated),
                                       cmocka_unit_test(transfer_fit),         cmocka_unit_test(contention_fixpoint),
                                       cmocka_unit_test(copies_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
