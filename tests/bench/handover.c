/* Cores that hand memory over: times of all sizes, in both directions, of those that this process may use alone. */
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/handover.h"

/* The first and the last core of this process. */
static int ends(int32_t *first, int32_t *last)
{
    cpu_set_t set;
    *first = *last = -1;
    if (sched_getaffinity(0, sizeof set, &set)) return 0;
    for (int32_t i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &set)) continue;
        if (*first < 0) *first = i;
        *last = i;
    }
    return *first != *last;
}

static void times_of_all_sizes(void **state)
{
    int32_t first, last;
    (void)state;
    if (!ends(&first, &last)) skip();
    for (int way = 0; way < 2; way++) {
        struct ig_handover h;
        assert_int_equal(ig_handover_measure(way ? last : first, way ? first : last, &h), 0);
        for (int i = 0; i < IG_HANDOVER_SIZES; i++) {
            assert_int_equal(h.bytes[i], 4096ll << 2 * i);
            assert_in_range(h.own_ns[i], 1, 1000000000);
            assert_in_range(h.other_ns[i], 1, 1000000000);
            if (i > 2) assert_true(h.own_ns[i] > h.own_ns[i - 3] && h.other_ns[i] > h.other_ns[i - 3]); /* 64 times the bytes */
        }
    }
}

static void cores_that_are_not_there(void **state)
{
    int32_t first, last;
    struct ig_handover h;
    (void)state;
    ends(&first, &last);
    assert_int_equal(ig_handover_measure(-1, first, &h), -1);
    assert_int_equal(ig_handover_measure(first, -1, &h), -1);
    assert_int_equal(ig_handover_measure(first, CPU_SETSIZE, &h), -1);
    assert_int_equal(ig_handover_measure(first, CPU_SETSIZE - 1, &h), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times_of_all_sizes), cmocka_unit_test(cores_that_are_not_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
