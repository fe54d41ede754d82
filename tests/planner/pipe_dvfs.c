/* Clocks and cuts together: bounds lose nothing, limits are kept, idle time is paid. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/pipe_dvfs.h"
#include "tests/support/rng.h"

enum { LAYERS = 40, BOARDS = 60 };

struct board {
    struct ig_dvfs d;
    uint8_t kind[LAYERS];
    int64_t cycles[2][LAYERS], memory_ns[2][LAYERS], load_ns[2][LAYERS + 1];
};

/* Two processors with clocks from a quarter to the top; power goes with the cube of the clock on top of a static part.
 */
static void random_board(struct rng *r, struct board *b)
{
    b->d = (struct ig_dvfs){.n = rng_int(r, 5, LAYERS), .kind = b->kind, .board_mw = rng_int(r, 0, 2000)};
    for (int i = 0; i < b->d.n; i++) b->kind[i] = (uint8_t)rng_int(r, 0, IG_DVFS_CLASSES - 1);
    for (int k = 0; k < 2; k++) {
        struct ig_dvfs_processor *p = &b->d.on[k];
        *p = (struct ig_dvfs_processor){
            .n = rng_int(r, 3, 13), .cycles = b->cycles[k], .memory_ns = b->memory_ns[k], .load_ns = b->load_ns[k]};
        for (int i = 0; i <= b->d.n; i++) {
            b->load_ns[k][i] = rng_int(r, 0, 30000);
            if (i == b->d.n) continue;
            b->cycles[k][i] = (int64_t)rng_int(r, 100000, 2000000) * (k ? 3 : 1);
            b->memory_ns[k][i] = rng_int(r, 1000, 200000);
        }
        for (int f = 0; f < p->n; f++) {
            double x = .25 + .75 * (f + 1) / p->n;
            p->points[f] =
                (struct ig_dvfs_point){.khz = (int64_t)(x * (k ? 2000000 : 1300000)), .idle_mw = 200 + 10 * f};
            for (int c = 0; c < IG_DVFS_CLASSES; c++)
                p->points[f].active_mw[c] = p->points[f].idle_mw + 1500 + (int64_t)(x * x * x * rng_int(r, 3000, 9000));
        }
    }
}

static const int32_t *top(const struct board *b, int32_t *point)
{
    for (int k = 0; k < 2; k++) point[k] = b->d.on[k].n - 1;
    return point;
}

static void dvfs_pruned_equals_full(void **state)
{
    struct rng r = {21};
    int64_t pruned = 0, full = 0;
    (void)state;
    for (int i = 0; i < BOARDS; i++) {
        struct board b;
        int32_t point[2];
        random_board(&r, &b);
        struct ig_dvfs_plan base = ig_dvfs_basic(&b.d, top(&b, point));
        for (int save = 0; save < 2; save++)
            for (int slack = 0; slack < 4; slack++) {
                int64_t t = save ? base.period_ns * (10 + 3 * slack) / 10 : 0,
                        e = save ? 0 : base.energy_pj * (10 - slack) / 10;
                int64_t looked, all;
                struct ig_dvfs_plan a = ig_dvfs_search(&b.d, t, e, 1, &looked), c = ig_dvfs_search(&b.d, t, e, 0, &all);
                assert_int_equal(a.found, c.found);
                assert_true(!a.found || (a.period_ns == c.period_ns && a.energy_pj == c.energy_pj && a.cut == c.cut &&
                                         a.first == c.first && a.point[0] == c.point[0] && a.point[1] == c.point[1]));
                pruned += looked;
                full += all;
            }
    }
    print_message("%lld of %lld plans looked at\n", (long long)pruned, (long long)full);
    assert_true(pruned < full * 2 / 3);
}

/* The least energy at a given rate: never more than the baseline's at that rate, and the rate is met. */
static void save_meets_rate(void **state)
{
    struct rng r = {22};
    int saved = 0, interior = 0;
    (void)state;
    for (int i = 0; i < BOARDS; i++) {
        struct board b;
        int32_t point[2];
        random_board(&r, &b);
        struct ig_dvfs_plan base = ig_dvfs_basic(&b.d, top(&b, point));
        struct ig_dvfs_plan save = ig_dvfs_power_save(&b.d, base.period_ns),
                            slow = ig_dvfs_power_save(&b.d, 4 * base.period_ns);
        assert_true(save.found && save.period_ns <= base.period_ns && save.energy_pj <= base.energy_pj);
        assert_true(slow.found && slow.period_ns <= 4 * base.period_ns);
        saved += save.energy_pj < base.energy_pj;
        interior += slow.point[slow.first] > 0;
        assert_false(ig_dvfs_power_save(&b.d, base.period_ns / 4).found);
    }
    print_message("%d of %d boards save; with time to spare %d do not run at their lowest clock\n", saved, BOARDS,
                  interior);
    assert_true(saved > BOARDS / 6 && interior > BOARDS / 6);
}

static void boost_within_energy(void **state)
{
    struct rng r = {23};
    int faster = 0;
    (void)state;
    for (int i = 0; i < BOARDS; i++) {
        struct board b;
        int32_t point[2];
        random_board(&r, &b);
        for (int k = 0; k < 2; k++) point[k] = b.d.on[k].n / 2;
        struct ig_dvfs_plan base = ig_dvfs_basic(&b.d, point), boost = ig_dvfs_boost(&b.d, base.energy_pj);
        assert_true(boost.found && boost.energy_pj <= base.energy_pj && boost.period_ns <= base.period_ns);
        faster += boost.period_ns < base.period_ns;
        assert_false(ig_dvfs_boost(&b.d, 1).found);
    }
    assert_true(faster > 0);
}

/* One layer, one processor at work: half the clock at half the power; static power makes the slow one no better. */
static void idle_paid(void **state)
{
    static const uint8_t kind[1] = {0};
    static const int64_t cycles[] = {1000000}, memory[] = {0}, load[] = {0, 0}, slow_cycles[] = {1000000000};
    struct ig_dvfs d = {.n = 1, .kind = kind, .board_mw = 0};
    (void)state;
    d.on[0] = (struct ig_dvfs_processor){.n = 2, .cycles = cycles, .memory_ns = memory, .load_ns = load};
    d.on[0].points[0] = (struct ig_dvfs_point){500000, {1500, 1500, 1500}, 1000};
    d.on[0].points[1] = (struct ig_dvfs_point){1000000, {3000, 3000, 3000}, 1000};
    d.on[1] = (struct ig_dvfs_processor){.n = 1, .cycles = slow_cycles, .memory_ns = memory, .load_ns = load};
    d.on[1].points[0] = (struct ig_dvfs_point){1000000, {100, 100, 100}, 50};
    struct ig_dvfs_plan a = ig_dvfs_basic(&d, (const int32_t[]){1, 0});
    assert_int_equal(a.period_ns, 1000000);
    struct ig_dvfs_plan alone = ig_dvfs_single(&d, (const int32_t[]){1, 0});
    assert_true(alone.period_ns == a.period_ns && alone.energy_pj == a.energy_pj && alone.cut == 1 && !alone.first);
    assert_int_equal(a.energy_pj, 1000000 * INT64_C(3000) + 1000000 * INT64_C(50));
    struct ig_dvfs_plan b = ig_dvfs_power_save(&d, 4000000);
    assert_int_equal(b.point[0], 0);
    assert_int_equal(b.energy_pj, 2000000 * INT64_C(500) + 4000000 * INT64_C(1050));
    d.on[0].points[0].idle_mw = d.on[0].points[0].active_mw[0] = 2200; /* leaks, and so must be paid when it waits */
    b = ig_dvfs_power_save(&d, 4000000);
    assert_int_equal(b.point[0], 1);
    assert_int_equal(b.energy_pj, 1000000 * INT64_C(2000) + 4000000 * INT64_C(1050));
}

static void clock_fit(void **state)
{
    int64_t khz[] = {600000, 1200000, 900000}, ns[3], cycles, memory;
    (void)state;
    for (int i = 0; i < 3; i++) ns[i] = 5000000000000 / khz[i] + 40000;
    assert_int_equal(ig_dvfs_fit(khz, ns, 3, &cycles, &memory), 0);
    assert_true(llabs(cycles - 5000000) < 10 && llabs(memory - 40000) < 10);
    ns[2] = ns[2] * 12 / 10;
    assert_int_equal(ig_dvfs_fit(khz, ns, 3, &cycles, &memory), -1);
    assert_int_equal(ig_dvfs_fit(khz, ns, 1, &cycles, &memory), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(dvfs_pruned_equals_full), cmocka_unit_test(save_meets_rate),
                                       cmocka_unit_test(boost_within_energy), cmocka_unit_test(idle_paid),
                                       cmocka_unit_test(clock_fit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
