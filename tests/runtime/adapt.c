/* The choice between baked partitions under outside load, in simulation: what it costs, how soon it is made, and calm.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "runtime/adapt.h"
#include "tests/support/rng.h"

enum { CUTS = 24, NETS = 13, LAYERS = CUTS - 1 };

struct scene { /* a chain on two processors; alternative a: its first a layers on processor 0 */
    double ns[LAYERS][2];
    int64_t predicted[CUTS][2];
    double factor[2];       /* outside load */
    double noise, outliers; /* of busy times; how many are three times as long */
    double hidden[CUTS];    /* factor that the prediction knows nothing of */
};

static double normal(struct rng *r)
{
    return sqrt(-2 * log(rng_real(r, 1e-12, 1))) * cos(6.283185307179586 * rng_real(r, 0, 1));
}

/* Layers by a roofline: operations, bytes, two machines of other ratios; larger nets of smaller layers. */
static void make(struct scene *s, struct rng *r)
{
    double gpu = rng_real(r, 2, 12);
    *s = (struct scene){.factor = {1, 1}, .noise = .05, .outliers = .01};
    for (int i = 0; i < LAYERS; i++) {
        double operations = exp(rng_real(r, 12, 15)), bytes = exp(rng_real(r, 10, 13));
        s->ns[i][0] = fmax(operations / gpu, bytes) / 4 + 20000;
        s->ns[i][1] = fmax(operations / 1.5, bytes / 2) / 4 + 2000;
    }
    for (int a = 0; a < CUTS; a++) {
        double t[2] = {0, 0};
        for (int i = 0; i < LAYERS; i++) t[i >= a] += s->ns[i][i >= a];
        s->hidden[a] = 1;
        for (int k = 0; k < 2; k++) s->predicted[a][k] = llround(t[k]);
    }
}

/* The period of an alternative under the present load, without noise. */
static double truth(const struct scene *s, int a)
{
    double most = 0;
    for (int k = 0; k < 2; k++) most = fmax(most, (double)s->predicted[a][k] * s->factor[k]);
    return most * s->hidden[a];
}

static int best_cut(const struct scene *s)
{
    int best = 0;
    for (int a = 1; a < CUTS; a++)
        if (truth(s, a) < truth(s, best)) best = a;
    return best;
}

static int32_t frame(const struct scene *s, struct rng *r, struct ig_adapt *a, int32_t alternative)
{
    int64_t busy[2], interval = 1;
    for (int k = 0; k < 2; k++) {
        double t =
            (double)s->predicted[alternative][k] * s->factor[k] * s->hidden[alternative] * exp(s->noise * normal(r));
        busy[k] = llround(rng_real(r, 0, 1) < s->outliers ? 3 * t : t);
        if (busy[k] > interval) interval = busy[k];
    }
    return ig_adapt_frame(a, alternative, busy, interval);
}

static void begin(const struct scene *s, struct ig_adapt *a, int first)
{
    ig_adapt_start(a, &s->predicted[0][0], CUTS, 2, (const int32_t[]){50, 50}, first);
}

static void adapt_log(void **state)
{
    (void)state;
    for (double x = 1; x < 9e18; x *= 1.7)
        assert_true(fabs(ig_adapt_log((int64_t)x) / 65536. - log((double)(int64_t)x)) < 4e-4);
}

/* Loads as published for a GPU and a CPU: 1..1.5 and 1..2.6 times slower; 13 nets, 180 loads each. */
static void adapt_regret(void **state)
{
    struct rng r = {9};
    double sum = 0, none = 0, worst = 0, switches = 0;
    int cases = 0;
    (void)state;
    for (int net = 0; net < NETS; net++) {
        struct scene s;
        make(&s, &r);
        for (int load = 0; load < 180; load++, cases++) {
            struct ig_adapt a;
            s.factor[0] = s.factor[1] = 1;
            int32_t now = best_cut(&s), first = now;
            begin(&s, &a, now);
            for (int i = 0; i < 60; i++) now = frame(&s, &r, &a, now);
            s.factor[0] = 1 + .5 * (load % 12) / 11;
            s.factor[1] = 1 + 1.6 * (load / 12) / 14;
            for (int i = 0; i < 240; i++) now = frame(&s, &r, &a, now);
            double best = truth(&s, best_cut(&s)), regret = truth(&s, now) / best - 1;
            sum += regret;
            none += truth(&s, first) / best - 1;
            switches += a.switches;
            if (regret > worst) worst = regret;
        }
    }
    print_message("regret: mean %.2f %%, worst %.1f %%; without adaptation %.1f %%; %.1f switches\n", 100 * sum / cases,
                  100 * worst, 100 * none / cases, switches / cases);
    assert_true(cases == 2340 && sum / cases <= .005 && none / cases > .05);
}

/* Fifty frames after a load began the period is within 10 % of the best baked one's, and so it is when the load is
 * gone. */
static void adapt_50_frames(void **state)
{
    struct rng r = {4};
    int held = 0, all = 0;
    (void)state;
    for (int net = 0; net < 100; net++) {
        struct scene s;
        struct ig_adapt a;
        make(&s, &r);
        int32_t now = best_cut(&s);
        begin(&s, &a, now);
        for (int i = 0; i < 100; i++) now = frame(&s, &r, &a, now);
        for (int part = 0; part < 4; part++, all++) {
            s.factor[net % 2] = part % 2 ? 1 : rng_real(&r, 1.3, 3);
            for (int i = 0; i < 50; i++) now = frame(&s, &r, &a, now);
            held += truth(&s, best_cut(&s)) >= .9 * truth(&s, now);
        }
    }
    print_message("%d of %d within 10 %% after 50 frames\n", held, all);
    assert_true(held == all);
}

/* Without load, alternatives that are nearly equal, and one whose prediction is wrong, are not tried again and again.
 */
static void adapt_no_pingpong(void **state)
{
    struct rng r = {6};
    int switches = 0;
    (void)state;
    for (int net = 0; net < 50; net++) {
        struct scene s;
        struct ig_adapt a;
        make(&s, &r);
        int32_t now = best_cut(&s);
        for (int k = -1; k <= 1; k++)
            if (now + k >= 0 && now + k < CUTS && k) s.hidden[now + k] = 1.15;
        s.hidden[now] = rng_real(&r, 1, 1.03);
        begin(&s, &a, now);
        for (int i = 0; i < 5000; i++) now = frame(&s, &r, &a, now);
        switches += a.switches;
        assert_true(a.switches <= 20);
        assert_true(truth(&s, now) < 1.06 * truth(&s, best_cut(&s)));
    }
    print_message("%d switches in %d frames without load\n", switches, 50 * 5000);
    assert_true(switches <= 50 * 8);
}

static void cusum_false_alarm(void **state)
{
    enum { FRAMES = 3000000 };
    struct rng r = {8};
    struct scene s;
    struct ig_adapt a;
    (void)state;
    make(&s, &r);
    int32_t now = best_cut(&s);
    begin(&s, &a, now);
    for (int i = 0; i < FRAMES; i++) frame(&s, &r, &a, now);
    print_message("%d false alarms in %d frames of two processors\n", a.alarms, FRAMES);
    assert_true(a.alarms <= 2 * FRAMES / 100000);
}

/* +25 % is seen within 8 frames, +10 % within 20, mostly. */
static void cusum_delay(void **state)
{
    struct rng r = {10};
    static const double load[] = {1.25, 1.10};
    static const int within[] = {8, 20};
    (void)state;
    for (int c = 0; c < 2; c++) {
        int seen = 0, sum = 0;
        for (int i = 0; i < 1000; i++) {
            struct scene s;
            struct ig_adapt a;
            make(&s, &r);
            s.outliers = 0;
            int32_t now = best_cut(&s), alarms, k = 0;
            begin(&s, &a, now);
            for (int f = 0; f < 100; f++) frame(&s, &r, &a, now);
            alarms = a.alarms;
            s.factor[1] = load[c];
            while (a.alarms == alarms && k < 100) k++, frame(&s, &r, &a, now);
            seen += k <= within[c];
            sum += k;
        }
        print_message("+%.0f %%: seen after %.1f frames\n", 100 * load[c] - 100, sum / 1000.);
        assert_true(seen > 900);
    }
}

/* A processor that has no work is not taken for loaded for ever. */
static void idle_forgotten(void **state)
{
    static const int64_t predicted[][2] = {{1000000, 0}, {600000, 600000}};
    struct ig_adapt a;
    int32_t now = 1;
    (void)state;
    ig_adapt_start(&a, &predicted[0][0], 2, 2, (const int32_t[]){30, 30}, 1);
    for (int i = 0; i < 100; i++) {
        int64_t busy[] = {predicted[now][0], now ? 1800000 : 0};
        now = ig_adapt_frame(&a, now, busy, now ? 1800000 : 1000000);
    }
    assert_int_equal(now, 0);
    for (int i = 0; i < 2000; i++) {
        int64_t busy[] = {predicted[now][0], predicted[now][1]};
        now = ig_adapt_frame(&a, now, busy, now ? 600000 : 1000000);
    }
    assert_int_equal(now, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adapt_log),         cmocka_unit_test(adapt_regret),
                                       cmocka_unit_test(adapt_50_frames),   cmocka_unit_test(adapt_no_pingpong),
                                       cmocka_unit_test(cusum_false_alarm), cmocka_unit_test(cusum_delay),
                                       cmocka_unit_test(idle_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
