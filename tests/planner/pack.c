/* The packer against exhaustive search, its bounds and its determinism. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/pack.h"
#include "tests/support/rng.h"

enum { SMALL = 10, INSTANCES = 2000 };

static int overlap_in_time(const struct ig_pack_item *a, const struct ig_pack_item *b)
{
    return a->lower < b->upper && b->lower < a->upper;
}

static int64_t aligned(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

/* All aligned but the one that may lie on top: the bound that the packer claims. */
static int64_t live_bytes(const struct ig_pack_item *items, int32_t n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t now = 0, pad = 0;
        for (int32_t j = 0; j < n; j++) {
            if (items[j].lower > items[i].lower || items[i].lower >= items[j].upper) continue;
            now += aligned(items[j].size);
            if (aligned(items[j].size) - items[j].size > pad) pad = aligned(items[j].size) - items[j].size;
        }
        if (now - pad > most) most = now - pad;
    }
    return most;
}

static void assert_sound(const struct ig_pack_item *items, int32_t n, struct ig_pack_result r)
{
    int64_t height = 0;
    for (int32_t i = 0; i < n; i++) {
        assert_true(items[i].offset >= 0 && items[i].offset % IG_ALIGN == 0);
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

/*
 * Least height of all left-justified placements: built from the bottom up, in every order of offsets (ties by
 * index), each item rests on the highest placed one that it overlaps in time.
 */
static void place_rest(const struct ig_pack_item *items, int32_t n, int64_t *offset, uint32_t placed,
                       int32_t latest, int64_t height, int64_t bound, int64_t *best)
{
    if (height >= *best || *best == bound) return;
    if (placed == (1u << n) - 1) {
        *best = height;
        return;
    }
    for (int32_t i = 0; i < n; i++) {
        if (placed >> i & 1) continue;
        offset[i] = 0;
        for (int32_t j = 0; j < n; j++) {
            int64_t top = offset[j] + aligned(items[j].size);
            if ((placed >> j & 1) && overlap_in_time(&items[i], &items[j]) && top > offset[i])
                offset[i] = top;
        }
        if (latest >= 0 && (offset[i] < offset[latest] || (offset[i] == offset[latest] && i < latest)))
            continue;
        int64_t top = offset[i] + items[i].size;
        place_rest(items, n, offset, placed | 1u << i, i, top > height ? top : height, bound, best);
    }
}

static int64_t exhaustive(const struct ig_pack_item *items, int32_t n)
{
    int64_t offset[SMALL], best = INT64_MAX;
    place_rest(items, n, offset, 0, -1, 0, live_bytes(items, n), &best);
    return best;
}

static int32_t random_items(struct rng *r, struct ig_pack_item *items, int32_t n, int32_t steps, int32_t most)
{
    int32_t odd = rng_one_in(r, 3) ? 4 : 0;
    for (int32_t i = 0; i < n; i++) {
        int32_t from = rng_int(r, 0, steps - 1);
        items[i] =
            (struct ig_pack_item){from, rng_int(r, from + 1, steps), 64 * rng_int(r, 1, most) - odd * i, -1};
    }
    return n;
}

/* Slices of a full rectangle, `units` high: a packing without a gap exists by construction. */
static int32_t cut_rectangle(struct rng *r, struct ig_pack_item *items, int32_t n, int32_t units)
{
    int32_t count = 1;
    items[0] = (struct ig_pack_item){0, units, 64 * units, 0};
    for (int tries = 0; count < n && tries < 1000; tries++) {
        struct ig_pack_item *a = &items[rng_int(r, 0, count - 1)], b = *a;
        if (rng_one_in(r, 2)) {
            if (a->upper - a->lower < 2) continue;
            a->upper = b.lower = rng_int(r, a->lower + 1, a->upper - 1);
        } else {
            if (a->size < 128) continue;
            a->size = 64 * rng_int(r, 1, (int32_t)(a->size / 64) - 1);
            b.size -= a->size;
        }
        items[count++] = b;
    }
    return count;
}

/*
 * Small instances whose optimum is above the bound are rare (one random one in 100,000): two of them, found
 * by search, and what is near them.
 */
static int32_t near_knot(struct rng *r, struct ig_pack_item *items)
{
    static const struct ig_pack_item knots[2][10] = {{{0, 2, 6, 0},
                                                      {0, 1, 4, 0},
                                                      {5, 6, 6, 0},
                                                      {2, 3, 4, 0},
                                                      {4, 6, 6, 0},
                                                      {1, 4, 3, 0},
                                                      {1, 5, 3, 0},
                                                      {3, 5, 2, 0}},
                                                     {{4, 7, 4, 0},
                                                      {9, 10, 4, 0},
                                                      {1, 3, 5, 0},
                                                      {7, 9, 3, 0},
                                                      {0, 3, 3, 0},
                                                      {6, 8, 3, 0},
                                                      {5, 6, 2, 0},
                                                      {3, 5, 5, 0},
                                                      {5, 9, 3, 0},
                                                      {8, 10, 5, 0}}};
    int32_t which = rng_int(r, 0, 1), n = which ? 10 : 8, scale = rng_int(r, 1, 4), odd = rng_one_in(r, 3);
    memcpy(items, knots[which], sizeof knots[which]);
    for (int32_t i = 0; i < n; i++) {
        items[i].size *= 64 * scale;
        if (scale > 1 && rng_one_in(r, 4)) items[i].size += 64 * rng_int(r, -1, 1);
        if (odd) items[i].size -= 4 * rng_int(r, 0, 15);
        if (rng_one_in(r, 30) && items[i].upper - items[i].lower > 1) items[i].upper--;
    }
    return n;
}

static void pack_oracle(void **state)
{
    struct rng r = {1};
    int above_bound = 0;
    (void)state;
    for (int i = 0; i < INSTANCES; i++) {
        struct ig_pack_item items[SMALL];
        int32_t n = i % 2
                        ? random_items(&r, items, rng_int(&r, 1, 8), rng_int(&r, 2, 9), RNG_OF(&r, 3, 6, 20))
                        : near_knot(&r, items);
        struct ig_pack_result result = ig_pack_offsets(items, n);
        assert_sound(items, n, result);
        assert_int_equal(result.height, exhaustive(items, n));
        assert_int_equal(result.height, result.proven);
        above_bound += result.height > result.max_live;
    }
    assert_true(above_bound > INSTANCES / 10); /* the bound alone would not have passed */
}

/* The exact search alone, without the greedy orders before it: solves at the optimum, refuses below. */
static void search_is_exact(void **state)
{
    struct rng r = {2};
    int refuted = 0;
    (void)state;
    for (int i = 0; i < INSTANCES; i++) {
        struct ig_pack_item items[SMALL];
        int64_t offsets[SMALL], nodes = 0;
        int32_t n = near_knot(&r, items);
        int64_t best = exhaustive(items, n);
        refuted += best - 4 >= live_bytes(items, n);
        struct ig_sections p;
        ig_sections_make(&p, items, n);
        struct ig_search *s = ig_search_new(&p);
        assert_int_equal(ig_search_run(s, best - 4, 1 << 20, &nodes, offsets), IG_SEARCH_FAILED);
        assert_int_equal(ig_search_run(s, best, 1 << 20, &nodes, offsets), IG_SEARCH_SOLVED);
        ig_search_free(s);
        ig_sections_free(&p);
    }
    assert_true(refuted > INSTANCES / 10); /* by search, not by the bound */
}

static void full_rectangles_are_solved(void **state)
{
    struct rng r = {3};
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct ig_pack_item items[24];
        int32_t n = cut_rectangle(&r, items, rng_int(&r, 4, 24), 64);
        struct ig_pack_result result = ig_pack_offsets(items, n);
        assert_sound(items, n, result);
        assert_int_equal(result.height, 64 * 64);
    }
}

static void pack_bytes_identical(void **state)
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

enum { DEEP = 6000, STACK = 256 << 10 };

struct deep {
    struct ig_pack_item *items;
    struct ig_pack_result r;
};

static void *pack_deep(void *arg)
{
    struct deep *d = arg;
    d->r = ig_pack_offsets(d->items, DEEP);
    return NULL;
}

/* Where the search goes as deep as there are items, it does so on a stack of any size: each meets the next one in time. */
static void search_is_deep(void **state)
{
    struct rng r = {7};
    struct deep d = {test_calloc(DEEP, sizeof *d.items), {0}};
    pthread_attr_t small;
    pthread_t thread;
    (void)state;
    for (int32_t i = 0; i < DEEP; i++) d.items[i] = (struct ig_pack_item){i, i + 2, 64 * rng_int(&r, 1, 100), 0};
    assert_int_equal(pthread_attr_init(&small) || pthread_attr_setstacksize(&small, STACK), 0);
    assert_int_equal(pthread_create(&thread, &small, pack_deep, &d), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_true(d.r.nodes > DEEP / 2); /* greedy alone would not do */
    assert_int_equal(d.r.height, d.r.max_live);
    pthread_attr_destroy(&small);
    test_free(d.items);
}

static void edges(void **state)
{
    (void)state;
    assert_int_equal(ig_pack_offsets(NULL, 0).height, 0);
    struct ig_pack_item items[] = {{3, 3, 64, -1}, {0, 5, 0, -1}, {2, 4, 128, -1}, {4, 5, 64, -1}};
    struct ig_pack_result r = ig_pack_offsets(items, 4);
    assert_int_equal(r.height,
                     128); /* a life of no steps and a size of nothing take no room; [2,4) and [4,5) share */
    for (int i = 0; i < 4; i++) assert_int_equal(items[i].offset, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pack_oracle),      cmocka_unit_test(search_is_exact),
        cmocka_unit_test(full_rectangles_are_solved),    cmocka_unit_test(pack_bytes_identical),
        cmocka_unit_test(search_is_deep), cmocka_unit_test(edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
