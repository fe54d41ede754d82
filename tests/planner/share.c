/* Arenas of networks of which some run at the same time, against every way to lay them out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "planner/share.h"
#include "tests/support/rng.h"

enum { NETS = 4, UNIT = 64 };

static int apart(const int64_t *bytes, const int64_t *base, int32_t i, int32_t k)
{
    return base[i] + bytes[i] <= base[k] || base[k] + bytes[k] <= base[i];
}

static int fits(const int64_t *bytes, const uint64_t *beside, const int64_t *base, int32_t n)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < i; k++)
            if (beside[i] >> k & 1 && !apart(bytes, base, i, k)) return 0;
    return 1;
}

static int64_t top(const int64_t *bytes, const int64_t *base, int32_t n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < n; i++)
        if (base[i] + bytes[i] > most) most = base[i] + bytes[i];
    return most;
}

/* The least over all offsets that are multiples of the unit. */
static int64_t least(const int64_t *bytes, const uint64_t *beside, int32_t n, int64_t units)
{
    int64_t base[NETS] = {0}, best = INT64_MAX;
    for (;;) {
        int32_t i = 0;
        if (fits(bytes, beside, base, n) && top(bytes, base, n) < best) best = top(bytes, base, n);
        for (; i < n && base[i] == units * UNIT; i++) base[i] = 0;
        if (i == n) return best;
        base[i] += UNIT;
    }
}

static void share_beside_least(void **state)
{
    (void)state;
    struct rng r = {1};
    for (int round = 0; round < 300; round++) {
        int64_t bytes[NETS], base[NETS];
        uint64_t beside[NETS] = {0};
        for (int32_t i = 0; i < NETS; i++) bytes[i] = UNIT * (int64_t)rng_int(&r, 0, 3);
        for (int32_t i = 0; i < NETS; i++)
            for (int32_t k = 0; k < i; k++)
                if (rng_int(&r, 0, 1)) beside[i] |= 1u << k, beside[k] |= 1u << i;
        int64_t arena = ig_share_beside(bytes, beside, NETS, base);
        assert_true(fits(bytes, beside, base, NETS));
        assert_int_equal(arena, top(bytes, base, NETS));
        assert_int_equal(arena, least(bytes, beside, NETS, 9));
    }
}

/* None beside another: all over each other. Each beside every other: behind each other, aligned. */
static void share_beside_extremes(void **state)
{
    enum { MANY = 64 };
    int64_t bytes[MANY], base[MANY], sum = 0;
    uint64_t beside[MANY] = {0};
    (void)state;
    for (int32_t i = 0; i < MANY; i++) bytes[i] = UNIT * (i + 1), sum += bytes[i];
    assert_int_equal(ig_share_beside(bytes, beside, MANY, base), UNIT * MANY);
    for (int32_t i = 0; i < MANY; i++) assert_int_equal(base[i], 0), beside[i] = ~((uint64_t)1 << i);
    assert_int_equal(ig_share_beside(bytes, beside, MANY, base), sum);
    bytes[0] = 1;
    beside[0] = 2, beside[1] = 1;
    assert_int_equal(ig_share_beside(bytes, beside, 2, base), 2 * UNIT + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(share_beside_least), cmocka_unit_test(share_beside_extremes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
