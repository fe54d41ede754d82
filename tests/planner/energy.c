/* Energy of a frame by hand, and on which processor of a board it is counted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "planner/energy.h"

static struct ig_processor processor(const char *type, double active_w, double idle_w)
{
    struct ig_processor p = {.active_w = active_w, .idle_w = idle_w, .count = 1};
    strcpy(p.type, type);
    return p;
}

static void assert_near(double a, double b)
{
    assert_true(a > b * (1 - 1e-12) && a < b * (1 + 1e-12));
}

/* 1 W idle, 3 W more for every core. */
static void by_hand(void **state)
{
    const struct ig_processor p = processor("CPU", 4, 1);
    (void)state;
    assert_near(ig_threads_w(&p, 1), 4);
    assert_near(ig_threads_w(&p, 4), 13);
    assert_near(ig_frame_mj(&p, 1, 0.010, 0), 40);
    assert_near(ig_frame_mj(&p, 2, 0.010, 0), 70);
    assert_near(ig_frame_mj(&p, 2, 0.010, 0.025), 70 + 15); /* and 15 ms idle */
    assert_near(ig_frame_mj(&p, 2, 0.010, 0.005), 70);      /* too late for that */
}

/* With little drawn while idle one thread is best, with much two that are faster; two that are no faster never are. */
static void idle_power_decides(void **state)
{
    const struct ig_processor frugal = processor("CPU", 4, 0.5), awake = processor("CPU", 4, 3.5);
    (void)state;
    assert_true(ig_frame_mj(&frugal, 1, 0.010, 0) < ig_frame_mj(&frugal, 2, 0.006, 0));
    assert_true(ig_frame_mj(&awake, 1, 0.010, 0) > ig_frame_mj(&awake, 2, 0.006, 0));
    assert_true(ig_frame_mj(&awake, 1, 0.010, 0.010) < ig_frame_mj(&awake, 2, 0.006, 0.010)); /* idle until then anyway */
    assert_true(ig_frame_mj(&awake, 1, 0.010, 0) < ig_frame_mj(&awake, 2, 0.010, 0));
}

static void boards_need_both_powers(void **state)
{
    struct ig_platform b = {.n_processors = 4};
    (void)state;
    b.processors[0] = processor("accelerator", 15, 5);
    b.processors[1] = processor("CPU", 4, IG_UNKNOWN);
    b.processors[2] = processor("CPU", 4, 5);
    b.processors[3] = processor("CPU", 4, 1);
    assert_ptr_equal(ig_powered_cpu(&b), &b.processors[3]);
    b.n_processors = 3;
    assert_null(ig_powered_cpu(&b));
}

/* Stages: each one's own time at its power, all idle for a period; without stages the plan's threads. */
static void plans(void **state)
{
    struct ig_platform b = {.n_processors = 2};
    struct ig_plan_step steps[3] = {{.predicted_ns = 4e6}, {.predicted_ns = 9e6}, {.predicted_ns = 2e6}};
    struct ig_plan_stage stages[3] = {{.processor = "cpu:0-1", .threads = 2},
                                      {.processor = "gpu", .threads = 1, .first = 1, .last = 1, .gpu_ns = 5e6},
                                      {.processor = "cpu:2", .threads = 1, .first = 2, .last = 2}};
    struct ig_plan p = {.threads = 2, .n_steps = 3, .steps = steps, .latency_ns = 10e6};
    (void)state;
    b.processors[0] = processor("accelerator", 15, 5);
    b.processors[1] = processor("CPU", 4, 1);
    assert_near(ig_plan_mj(&b, &p), 70);
    p.stages = stages;
    p.n_stages = 3;
    p.period_ns = 6e6;
    assert_near(ig_plan_mj(&b, &p), 6 * (5 + 1) + 4 * 2 * 3 + 5 * 10 + 2 * 3);
    b.processors[0].idle_w = IG_UNKNOWN;
    assert_true(ig_plan_mj(&b, &p) < 0);
    p.n_stages = 1;
    assert_near(ig_plan_mj(&b, &p), 6 * 1 + 4 * 2 * 3);
    b.processors[1].active_w = IG_UNKNOWN;
    assert_true(ig_plan_mj(&b, &p) < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(idle_power_decides),
        cmocka_unit_test(boards_need_both_powers),
        cmocka_unit_test(plans),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
