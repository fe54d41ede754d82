/* The packer against exhaustive search, its bounds and its determinism. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/pack.h"
#include "tests/support/rng.h"

enum { SMALL = 9, INSTANCES = 3000 };

static int overlap_in_time(const struct ig_pack_item *a, const struct ig_pack_item *b)
{
    return a->lower < b->upper && b->lower < a->upper;
}

static int64_t live_bytes(const struct ig_pack_item *items, int32_t n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t now = 0;
        for (int32_t j = 0; j < n; j++)
            if (items[j].lower <= items[i].lower && items[i].lower < items[j].upper) now += items[j].size;
        if (now > most) most = now;
    }
    return most;
}

static void assert_sound(const struct ig_pack_item *items, int32_t n, struct ig_pack_result r)
{
    int64_t height = 0;
    for (int32_t i = 0; i < n; i++) {
        assert_true(items[i].offset >= 0);
        if (items[i].offset + items[i].size > height) height = items[i].offset + items[i].size;
        for (int32_t j = 0; j < n; j++) {
            if (i == j || !overlap_in_time(&items[i], &items[j])) continue;
            assert_true(items[i].offset >= items[j].offset + items[j].size ||
                        items[j].offset >= items[i].offset + items[i].size);
        }
    }
    assert_int_equal(r.height, height);
    assert_int_equal(r.max_live, live_bytes(items, n));
    assert_true(r.max_live <= r.proven && r.proven <= r.height);
}

/* Least height of all left-justified placements: every order of items, each as low as those before it allow. */
static void place_rest(const struct ig_pack_item *items, int32_t n, int64_t *offset, uint32_t placed, int64_t height,
                       int64_t bound, int64_t *best)
{
    if (height >= *best || *best == bound) return;
    if (placed == (1u << n) - 1) {
        *best = height;
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        if (placed >> i & 1) continue;
        offset[i] = 0;
        for (int32_t moved = 1; moved;) {
            moved = 0;
            for (int32_t j = 0; j < n; j++) {
                if (!(placed >> j & 1) || !overlap_in_time(&items[i], &items[j])) continue;
                if (offset[i] >= offset[j] + items[j].size || offset[j] >= offset[i] + items[i].size) continue;
                offset[i] = offset[j] + items[j].size;
                moved = 1;
            }
        }
        int64_t top = offset[i] + items[i].size;
        place_rest(items, n, offset, placed | 1u << i, top > height ? top : height, bound, best);
    }
}

static int64_t exhaustive(const struct ig_pack_item *items, int32_t n)
{
    int64_t offset[SMALL], best = INT64_MAX;
    place_rest(items, n, offset, 0, 0, live_bytes(items, n), &best);
    return best;
}

static int32_t random_items(struct rng *r, struct ig_pack_item *items, int32_t n, int32_t steps, int32_t most)
{
    for (int32_t i = 0; i < n; i++) {
        int32_t from = rng_int(r, 0, steps - 1);
        items[i] = (struct ig_pack_item){from, rng_int(r, from + 1, steps), 64 * rng_int(r, 1, most), -1};
    }
    return n;
}

static void exhaustive_search_agrees(void **state)
{
    struct rng r = {1};
    int above_bound = 0;
    (void)state;
    for (int i = 0; i < INSTANCES; i++) {
        struct ig_pack_item items[SMALL];
        int32_t n = random_items(&r, items, rng_int(&r, 1, SMALL), rng_int(&r, 2, 9), RNG_OF(&r, 2, 3, 6));
        struct ig_pack_result result = ig_pack_offsets(items, n);
        assert_sound(items, n, result);
        assert_int_equal(result.height, exhaustive(items, n));
        assert_int_equal(result.height, result.proven);
        above_bound += result.height > result.max_live;
    }
    assert_true(above_bound > 0); /* the bound alone would not have passed */
}

/* The exact search alone, without the greedy orders before it: solves at the optimum, refuses below. */
static void search_is_exact(void **state)
{
    struct rng r = {2};
    (void)state;
    for (int i = 0; i < INSTANCES; i++) {
        struct ig_pack_item items[SMALL];
        int64_t offsets[SMALL], nodes = 0;
        int32_t n = random_items(&r, items, rng_int(&r, 2, SMALL), 8, RNG_OF(&r, 3, 9));
        int64_t best = exhaustive(items, n);
        struct ig_sections p;
        ig_sections_make(&p, items, n);
        struct ig_search *s = ig_search_new(&p);
        assert_int_equal(ig_search_run(s, best - 64, 1 << 20, &nodes, offsets), IG_SEARCH_FAILED);
        assert_int_equal(ig_search_run(s, best, 1 << 20, &nodes, offsets), IG_SEARCH_SOLVED);
        ig_search_free(s);
        ig_sections_free(&p);
    }
}

/* Slices of a full rectangle: a packing without a gap exists by construction. */
static int32_t cut_rectangle(struct rng *r, struct ig_pack_item *items, int32_t n)
{
    int32_t count = 1;
    items[0] = (struct ig_pack_item){0, 64, 64 * 64, 0};
    while (count < n) {
        struct ig_pack_item *a = &items[rng_int(r, 0, count - 1)], b = *a;
        if (rng_one_in(r, 2) ? a->upper - a->lower < 2 : a->size < 128) continue;
        if (a->upper - a->lower >= 2 && (a->size < 128 || rng_one_in(r, 2))) {
            a->upper = b.lower = rng_int(r, a->lower + 1, a->upper - 1);
        } else {
            a->size = 64 * rng_int(r, 1, (int32_t)(a->size / 64) - 1);
            b.size -= a->size;
        }
        items[count++] = b;
    }
    return count;
}

static void full_rectangles_are_solved(void **state)
{
    struct rng r = {3};
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct ig_pack_item items[24];
        int32_t n = cut_rectangle(&r, items, rng_int(&r, 4, 24));
        struct ig_pack_result result = ig_pack_offsets(items, n);
        assert_sound(items, n, result);
        assert_int_equal(result.height, 64 * 64);
    }
}

static void order_of_records_is_no_matter(void **state)
{
    struct rng r = {4};
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct ig_pack_item a[40], b[40];
        int32_t n = random_items(&r, a, 40, 30, 50), at[40];
        for (int32_t k = 0; k < n; k++) a[k].size += 64 * 50 * k; /* no two alike */
        for (int32_t k = 0; k < n; k++) at[k] = k;
        for (int32_t k = n - 1; k > 0; k--) {
            int32_t j = rng_int(&r, 0, k), t = at[k];
            at[k] = at[j];
            at[j] = t;
        }
        for (int32_t k = 0; k < n; k++) b[at[k]] = a[k];
        struct ig_pack_result ra = ig_pack_offsets(a, n), rb = ig_pack_offsets(b, n);
        assert_memory_equal(&ra, &rb, sizeof ra);
        for (int32_t k = 0; k < n; k++) assert_int_equal(a[k].offset, b[at[k]].offset);
    }
}

static void edges(void **state)
{
    (void)state;
    assert_int_equal(ig_pack_offsets(NULL, 0).height, 0);
    struct ig_pack_item items[] = {{3, 3, 64, -1}, {0, 5, 0, -1}, {2, 4, 128, -1}, {4, 5, 64, -1}};
    struct ig_pack_result r = ig_pack_offsets(items, 4);
    assert_int_equal(r.height, 128); /* a life of no steps and a size of nothing take no room; [2,4) and [4,5) share */
    for (int i = 0; i < 4; i++) assert_int_equal(items[i].offset, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exhaustive_search_agrees),      cmocka_unit_test(search_is_exact),
        cmocka_unit_test(full_rectangles_are_solved),    cmocka_unit_test(order_of_records_is_no_matter),
        cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
