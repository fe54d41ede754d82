/*
 * Two clocks that messages of any delay compare: what is said of them holds, whatever the delays, and no frame leaves
 * before it entered.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/mpi/clock.h"

enum { TRIALS = 2000, ROUNDS = 16 };

struct world {
    int64_t now;   /* by this clock */
    int64_t ahead; /* the other one's */
    int64_t least, most; /* of a message's delay; the most that it waits besides */
    uint64_t seed;
    int64_t shortest, guess; /* of round trips, and what half of the shortest says */
};

static int64_t random_to(struct world *w, int64_t below)
{
    w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
    return (int64_t)(w->seed >> 33) % below;
}

/* Most are quick; some wait for a core that others have. */
static int64_t delay(struct world *w)
{
    int64_t long_one = random_to(w, 3) ? 0 : random_to(w, w->most);
    return w->least + random_to(w, w->least) + long_one;
}

static void round_trip(struct world *w, struct ig_clock *c, int64_t to, int64_t from)
{
    int64_t left = w->now, came, answered, back;
    came = (w->now += to) + w->ahead;
    answered = (w->now += random_to(w, w->least)) + w->ahead;
    back = w->now += from;
    ig_clock_to(c, left, came);
    ig_clock_from(c, answered, back);
    if (back - left < w->shortest) w->shortest = back - left, w->guess = came - (left + (back - left) / 2);
}

static struct world world_of(uint64_t seed, int64_t most)
{
    struct world w = {.seed = seed * 2654435761u + 1, .least = 30000, .most = most, .shortest = INT64_MAX};
    w.now = random_to(&w, 1 << 30) * 1000;
    w.ahead = (random_to(&w, 1 << 30) - (1 << 29)) * 100000;
    return w;
}

static int64_t size(int64_t v)
{
    return v < 0 ? -v : v;
}

/* The truth is within the error, and the error is that of the shortest round trip or less. */
static void bounded(void **state)
{
    int64_t ours = 0, theirs = 0;
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        struct world w = world_of((uint64_t)i, 8000000);
        struct ig_clock c;
        ig_clock_begin(&c);
        for (int k = 0; k < ROUNDS; k++) round_trip(&w, &c, delay(&w), delay(&w));
        assert_true(size(ig_clock_ahead(&c) - w.ahead) <= ig_clock_error(&c));
        assert_true(ig_clock_error(&c) <= (w.shortest + 1) / 2);
        ours += size(ig_clock_ahead(&c) - w.ahead);
        theirs += size(w.guess - w.ahead);
    }
    assert_true(ours < theirs);
}

/* Answers took long, as of a rank that was not heard, and frames are quicker than half of that. */
static void never_negative(void **state)
{
    int negative = 0;
    (void)state;
    for (int i = 0; i < TRIALS; i++) {
        struct world w = world_of((uint64_t)i, 0);
        struct ig_clock c;
        ig_clock_begin(&c);
        for (int k = 0; k < ROUNDS; k++) round_trip(&w, &c, 20000 + random_to(&w, 1000), 4000000 + random_to(&w, 100000));
        assert_true(size(ig_clock_ahead(&c) - w.ahead) <= ig_clock_error(&c));
        for (int k = 0; k < 20; k++) {
            int64_t entered = w.now + w.ahead, took = 1000 + random_to(&w, 100000);
            w.now += took;
            int64_t latency = ig_clock_since(&c, entered, w.now);
            assert_true(latency > 0);
            assert_true(size(latency - took) <= ig_clock_error(&c));
            negative += w.now + w.guess - entered < 0;
        }
    }
    assert_true(negative > 0); /* which they would be by half of the shortest round trip */
}

/* One clock is faster by 50 ppm: the range goes along, and is not empty. */
static void drift(void **state)
{
    struct world w = world_of(1, 1000000);
    struct ig_clock c;
    (void)state;
    ig_clock_begin(&c);
    for (int k = 0; k < ROUNDS; k++) round_trip(&w, &c, delay(&w), delay(&w));
    for (int k = 0; k < 100000; k++) {
        int64_t entered = w.now + w.ahead, took = 200000;
        w.now += took;
        int64_t latency = ig_clock_since(&c, entered, w.now);
        assert_true(latency > 0);
        assert_true(latency < 3 * took);
        w.now += 10000000;
        w.ahead += 510;
    }
}

static void same(void **state)
{
    struct ig_clock c;
    (void)state;
    ig_clock_same(&c);
    assert_int_equal(ig_clock_since(&c, 1000, 1007), 7);
    assert_int_equal(ig_clock_since(&c, 5000000000, 5000000001), 1);
    assert_int_equal(ig_clock_error(&c), 0);
    assert_int_equal(ig_clock_ahead(&c), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounded), cmocka_unit_test(never_negative),
                                       cmocka_unit_test(drift), cmocka_unit_test(same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
