/* The choice between baked partitions while other programs share a core in slices, in simulation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/shared_cores.h"

enum { LAYERS = 40, CALM = 120, REACTION = 50, TIMED = 60, LOADED = 500, ALONE = 300, CASES = 240, STEP = 5, SIGMA = 60 };

static struct sim sim;

/* A chain of layers, cut where it is best under loads of up to three times; the first cut is the best without. */
static void make(struct scene *s, struct rng *r, double period_ms)
{
    static const double levels[] = {1, 1.25, 1.5, 2, 3};
    double ms[LAYERS], sum = 0;
    for (int i = 0; i < LAYERS; i++) sum += ms[i] = exp(rng_real(r, 0, 2));
    s->n = 0;
    for (int load = 0; load < 9; load++) {
        double f[2] = {1, 1}, best[2] = {0, 0}, first = 0;
        f[load % 2] = levels[(load + 1) / 2];
        for (int i = 1; i < LAYERS; i++) {
            first += ms[i - 1];
            double t[2] = {first, sum - first};
            if (i == 1 || fmax(t[0] * f[0], t[1] * f[1]) < fmax(best[0] * f[0], best[1] * f[1]))
                memcpy(best, t, sizeof best);
        }
        for (int k = 0; k < 2; k++) s->ms[s->n][k] = best[k] / sum * 2 * period_ms;
        int same = 0;
        for (int i = 0; i < s->n; i++) same |= s->ms[i][0] == s->ms[s->n][0];
        s->n += !same;
    }
}

static struct scene scene_of(struct rng *r, int i)
{
    static const double periods[] = {0.7, 2, 6, 15, 40}, slices[] = {1.5, 3, 4};
    struct scene s = {.noise = .03, .slice = slices[i / 5 % 3], .spinners = 1 + i / 15 % 2, .core = i / 30 % 2,
                      .preempts = i / 60 % 2, .copies = 2 + i / 120 % 2, .from = CALM, .to = CALM + LOADED};
    make(&s, r, periods[i % 5]);
    return s;
}

struct sum {
    double all, least;
    int n, held;
};

static void add(struct sum *s, double ratio)
{
    if (!s->n || ratio < s->least) s->least = ratio;
    s->all += ratio;
    s->held += ratio >= .9;
    s->n++;
}

/* Frames a ms of the best alternative, always the same; loaded: under the load. */
static double best_of(const struct scene *s, int loaded, uint64_t seed)
{
    struct scene always = *s;
    double best = 0;
    always.from = loaded ? 0 : CORES_NEVER;
    always.to = CORES_NEVER;
    for (int32_t i = 0; i < s->n; i++) {
        cores_start(&sim, &always, i, SIGMA, seed);
        cores_flow(&sim, ALONE);
        double rate = cores_rate(&sim, REACTION, ALONE - REACTION - 1);
        if (rate > best) best = rate;
    }
    return best;
}

static void print(const char *what, const struct sum *s)
{
    print_message("%s: mean %.1f %%, least %.1f %%, %d of %d at 90 %% or more\n", what, 100 * s->all / s->n,
                  100 * s->least, s->held, s->n);
}

/* Fifty frames after a load began, nine tenths of what the best alternative gives under it, and nearly all on average. */
static void adapt_shares(void **state)
{
    struct sum soon = {0}, slow = {0}, later = {0}, over = {0}, without = {0};
    struct rng r = {3};
    (void)state;
    for (int i = 0; i < CASES; i += STEP) {
        struct scene s = scene_of(&r, i + i / STEP % STEP), always = s;
        double loaded = best_of(&s, 1, r.state), calm = best_of(&s, 0, r.state);
        always.from = 0;
        cores_start(&sim, &always, 0, SIGMA, r.state);
        cores_flow(&sim, ALONE);
        add(&without, cores_rate(&sim, REACTION, ALONE - REACTION - 1) / loaded);
        cores_start(&sim, &s, -1, SIGMA, r.state);
        cores_flow(&sim, CALM + LOADED + REACTION + TIMED + 2);
        double now = cores_rate(&sim, CALM + REACTION, TIMED) / loaded,
               then = cores_rate(&sim, CALM + REACTION, LOADED - REACTION - 1) / loaded,
               end = cores_rate(&sim, CALM + LOADED + REACTION, TIMED) / calm;
        add(&soon, now);
        if (s.ms[0][0] > 1) add(&slow, now);
        add(&later, then);
        add(&over, end);
    }
    print("frames 50 to 110 under the load", &soon);
    print("the same of those of 2 ms and more", &slow);
    print("from frame 50 on", &later);
    print("frames 50 to 110 when it is gone", &over);
    print("without adaptation", &without);
    assert_true(soon.all / soon.n > .97 && soon.held >= .9 * soon.n && slow.held >= .95 * slow.n);
    assert_true(later.all / later.n > .97);
    assert_true(over.all / over.n > .97 && over.held >= .9 * over.n && without.all / without.n < .7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(adapt_shares)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
