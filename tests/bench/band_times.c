/* A band's gain counts once a second look has confirmed it, and is the mean of what did. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/band_times.h"

static void expect(const struct ig_band_times *b, double in_order_ns, double apart_ns)
{
    const struct ig_band_timing t = ig_band_believed(b);
    assert_true(t.in_order_ns == in_order_ns && t.apart_ns == apart_ns);
}

static void test_gains_are_seen_twice(void **state)
{
    (void)state;
    struct ig_band_times lucky = {.t = {.in_order_ns = 1, .apart_ns = 2}}, loss = lucky;
    ig_band_note(&lucky, 80, 100, 0);
    expect(&lucky, 100, 100);
    ig_band_note(&loss, 120, 100, 0);
    expect(&loss, 120, 100);
}

static void test_confirmed_times_are_means(void **state)
{
    (void)state;
    struct ig_band_times b = {.t = {.in_order_ns = 1, .apart_ns = 2}};
    ig_band_note(&b, 50, 100, 0); /* no part of the means */
    ig_band_note(&b, 80, 100, 1);
    expect(&b, 80, 100);
    ig_band_note(&b, 100, 112, 1);
    expect(&b, 90, 106);
    ig_band_note(&b, 114, 100, 1);
    expect(&b, 98, 104);
    assert_true(b.timed && b.confirmed == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_gains_are_seen_twice), cmocka_unit_test(test_confirmed_times_are_means)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
