/* The packer where items may overlap by pairs, against exhaustive search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/pack.h"
#include "tests/support/rng.h"

enum { SMALL = 7, INSTANCES = 4000 };

struct instance {
    struct ig_pack_item items[SMALL];
    struct ig_pack_pair pairs[SMALL];
    int32_t n, n_pairs;
};

static int overlap_in_time(const struct ig_pack_item *a, const struct ig_pack_item *b)
{
    return a->lower < b->upper && b->lower < a->upper;
}

/* Bytes that item `above` must begin above item `below`, if it lies over it. */
static int64_t reach(const struct instance *x, int32_t below, int32_t above)
{
    for (int32_t k = 0; k < x->n_pairs; k++)
        if (x->pairs[k].under == below && x->pairs[k].over == above) return x->pairs[k].distance;
    return x->items[below].size;
}

/* Built from the bottom up in every order of offsets: each item rests on the placed one that it must be highest above. */
static void place_rest(const struct instance *x, int64_t *offset, uint32_t placed, int32_t latest, int64_t height,
                       int64_t *best)
{
    if (height >= *best) return;
    if (placed == (1u << x->n) - 1) {
        *best = height;
        return;
    }
    for (int32_t i = 0; i < x->n; i++) {
        if (placed >> i & 1) continue;
        offset[i] = 0;
        for (int32_t j = 0; j < x->n; j++) {
            if (!(placed >> j & 1) || !overlap_in_time(&x->items[i], &x->items[j])) continue;
            if (offset[j] + reach(x, j, i) > offset[i]) offset[i] = offset[j] + reach(x, j, i);
        }
        if (latest >= 0 && (offset[i] < offset[latest] || (offset[i] == offset[latest] && i < latest))) continue;
        int64_t top = offset[i] + x->items[i].size;
        place_rest(x, offset, placed | 1u << i, i, top > height ? top : height, best);
    }
}

/* Chains of tensors, each born when the one before dies, and others beside them. */
static void make(struct instance *x, uint64_t seed)
{
    struct rng r = {seed};
    int32_t chain = rng_int(&r, 2, 5), step = 0;
    *x = (struct instance){.n = rng_int(&r, chain, SMALL)};
    for (int32_t i = 0; i < x->n; i++) {
        int32_t from = i < chain ? step : rng_int(&r, 0, 6), to = from + rng_int(&r, i < chain, 3) + 1;
        x->items[i] = (struct ig_pack_item){from, to, 64 * rng_int(&r, 1, 9), 0};
        step = to - 1;
        if (!i || i >= chain || x->items[i].size < 128 || rng_one_in(&r, 4)) continue;
        x->pairs[x->n_pairs++] = (struct ig_pack_pair){i, i - 1, 64 * rng_int(&r, 1, (int32_t)(x->items[i].size / 64) - 1)};
    }
}

static void assert_sound(const struct instance *x, struct ig_pack_result r)
{
    int64_t height = 0;
    for (int32_t i = 0; i < x->n; i++) {
        const struct ig_pack_item *a = &x->items[i];
        if (a->offset + a->size > height) height = a->offset + a->size;
        for (int32_t j = 0; j < i; j++) {
            const struct ig_pack_item *b = &x->items[j];
            if (overlap_in_time(a, b))
                assert_true(a->offset >= b->offset + reach(x, j, i) || b->offset >= a->offset + reach(x, i, j));
        }
    }
    assert_int_equal(r.height, height);
    assert_true(r.max_live <= r.proven && r.proven <= r.height);
}

/* The least height there is, and no more than without pairs. */
static void pairs_oracle(void **state)
{
    int lower = 0, above_bound = 0;
    (void)state;
    for (uint64_t seed = 0; seed < INSTANCES; seed++) {
        struct instance x;
        int64_t offset[SMALL], best = INT64_MAX;
        make(&x, seed);
        int64_t apart = ig_pack_offsets(x.items, x.n).height;
        struct ig_pack_result r = ig_pack_overlapping(x.items, x.n, x.pairs, x.n_pairs);
        place_rest(&x, offset, 0, -1, 0, &best);
        assert_sound(&x, r);
        if (r.height != best) fail_msg("seed %d: %ld bytes, not %ld", (int)seed, (long)r.height, (long)best);
        assert_int_equal(r.proven, best);
        lower += best < apart;
        above_bound += best > r.max_live;
    }
    assert_true(lower > INSTANCES / 4 && above_bound > INSTANCES / 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(pairs_oracle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
