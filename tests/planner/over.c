/* A band's last layer writes over what its first one reads, where rows keep them apart. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/nets.h"
#include "tests/support/plans.h"

enum { NETS = 250 };

/* expand, depthwise, project + the block's input: the two wide tensors leave the arena, the sum lies over the input. */
static void a_block_needs_only_its_ends(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 24, 24, 8), 8, 3, 1, -1);
    int32_t wide = net_conv(g, x, 48, 1, 1, -1);
    int32_t y = net_conv(g, net_depthwise(g, wide, 3, 1), 8, 1, 1, x);
    (void)state;
    ig_add_output(g, net_conv(g, net_relu(g, y), 8, 1, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    struct ig_band_timing band = {.first = 1, .last = 3, .rows = 2, .threads = 1, .n = 3};
    struct ig_plan *p =
        plan_make(g, (struct ig_plan_options){
            .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_GIVEN, .given = &band, .n_given = 1});
    assert_int_equal(p->n_bands, 1);
    assert_int_equal(p->arena_bytes, (24 * 8 * 24 + (4 + 2) * 24 * 48) * 4); /* one end, and rings */
    assert_int_equal(p->buffers[y].alias_of, x);
    p->steps[3].split = 1; /* another chunk would read rows that this one has overwritten */
    p->steps[3].chunk = 2;
    p->steps[3].chunks = 12;
    char why[512];
    assert_int_equal(ig_validate(g, p, 0, why, sizeof why), IG_BAD_ALIAS);
    assert_int_equal(p->buffers[wide].memory, IG_MEMORY_RING);
    assert_int_equal(p->buffers[wide].ring_rows, 4); /* 2 rows of the middle see 4 */
    assert_int_equal(p->buffers[g->nodes[2].out[0]].ring_rows, 2);
    assert_int_equal(p->buffers[g->nodes[2].out[0]].first, 3);
    ig_plan_free(p);
    ig_graph_free(g);
}

/* Whatever lies in y's storage moves to x's, which another plan would have had there. Returns the verdict. */
static int put_over(const struct ig_graph *g, struct ig_plan *p, int32_t x, int32_t y)
{
    char why[512];
    int32_t end = p->buffers[y].last;
    int64_t offset = p->buffers[x].offset;
    for (int32_t v = 0; v < p->n_buffers; v++) {
        if (v != y && p->buffers[v].alias_of != y) continue;
        p->buffers[v].alias_of = x;
        p->buffers[v].offset = offset;
    }
    p->buffers[y].last = 4;
    p->buffers[x].last = end;
    return ig_validate(g, p, 0, why, sizeof why);
}

/* A block's sum lies over its input where what the last layer lags behind is as much as the first one looks back. */
static void a_residual_lies_over_its_block(void **state)
{
    int over = 0, beside = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_new();
        int32_t c = rng_int(&r, 1, 9), taps = RNG_OF(&r, 1, 3, 5), taps_last = RNG_OF(&r, 1, 3), size = rng_int(&r, 2, 20);
        int32_t x = net_conv(g, net_input(g, 1, size, rng_int(&r, 1, 9), c), c, 3, 1, -1);
        int32_t wide = net_depthwise(g, net_conv(g, x, rng_int(&r, 1, 60), taps, 1, -1), 3, 1);
        int32_t y = net_conv(g, wide, c, taps_last, 1, x);
        void *expected[16], *got[16];
        ig_add_output(g, net_conv(g, net_relu(g, y), 3, 1, 1, -1));
        net_done(g);
        net_run(g, seed, expected);
        ig_prepare_views(g);
        int32_t threads = rng_int(&r, 1, 2), chunk = threads > 1 ? rng_int(&r, 1, size) : 0;
        struct ig_band_timing band = {
            .first = 1, .last = 3, .rows = rng_int(&r, 1, 4), .chunk = chunk, .threads = threads, .n = 3};
        struct ig_plan *p = plan_make(g, (struct ig_plan_options){
            .isa = IG_ISA_REF, .threads = threads, .bands = IG_BANDS_GIVEN, .given = &band, .n_given = 1});
        assert_int_equal(p->n_bands, 1);
        int is_over = p->buffers[y].alias_of == x;
        if (p->steps[3].split || taps / 2 > 1 + taps_last / 2) assert_true(!is_over || size <= 4 * band.rows);
        else assert_true(is_over);
        over += is_over;
        beside += !is_over;
        net_run_plan(g, p, seed, got);
        outputs_same(g, expected, got, seed);
        if (!is_over && !p->steps[3].split && size > 4 * band.rows)
            assert_int_equal(put_over(g, p, x, y), IG_READ_OVERWRITTEN);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(over > NETS / 4 && beside > NETS / 8);
}

/* Lowers everything that lies in x's storage; the verdict. */
static int lower(const struct ig_graph *g, struct ig_plan *p, int32_t x, int64_t bytes)
{
    char why[512];
    for (int32_t v = 0; v < p->n_buffers; v++)
        if (v == x || p->buffers[v].alias_of == x) p->buffers[v].offset -= bytes;
    return ig_validate(g, p, 0, why, sizeof why);
}

/* One layer, or two as a band: the output begins below the input, as little as rows allow, and not a step less. */
static void an_output_grows_into_its_input(void **state)
{
    int over = 0, tight = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed + 900};
        struct ig_graph *g = net_new();
        int32_t size = rng_int(&r, 4, 24), taps = RNG_OF(&r, 1, 3, 5);
        int32_t stride = rng_int(&r, 1, 2), layers = rng_int(&r, 1, 2);
        int32_t x = net_conv(g, net_input(g, 1, size, rng_int(&r, 2, 9), 8), rng_int(&r, 4, 40), 3, 1, -1);
        int32_t y = net_conv(g, x, rng_int(&r, 2, 24), taps, stride, -1);
        if (layers > 1) y = net_conv(g, y, rng_int(&r, 2, 40), 3, 1, -1);
        void *expected[16], *got[16];
        ig_add_output(g, net_conv(g, y, 3, 1, 1, -1));
        net_done(g);
        net_run(g, seed, expected);
        ig_prepare_views(g);
        struct ig_band_timing band = {.first = 1, .last = layers, .rows = rng_int(&r, 1, 3), .threads = 1, .n = layers};
        struct ig_plan *p =
            plan_make(g, (struct ig_plan_options){
                .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_GIVEN, .given = &band, .n_given = 1});
        const struct ig_plan_buffer *bx = &p->buffers[x], *by = &p->buffers[y];
        assert_int_equal(p->n_bands, 1);
        net_run_plan(g, p, seed, got);
        outputs_same(g, expected, got, seed);
        if (by->offset < bx->offset && bx->offset < by->offset + by->bytes) {
            int verdict = IG_PLAN_OK;
            while (bx->offset > by->offset && (verdict == IG_PLAN_OK || verdict == IG_BAD_HEIGHT))
                verdict = lower(g, p, x, 64);
            over++;
            tight += verdict == IG_READ_OVERWRITTEN;
        }
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(over > NETS / 2 && tight > over / 2);
}

/* The same where the input is read by its columns, which a step of the band that runs nothing picks. */
static void an_output_grows_into_columns(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 24, 16, 3), 16, 3, 1, -1);
    int32_t left = net_conv(g, net_slice(g, x, 2, 0, 8, 1), 16, 3, 1, -1);
    int32_t y = net_conv(g, net_slice(g, x, 2, 8, 8, 1), 16, 1, 1, left);
    void *expected[1], *got[1];
    (void)state;
    ig_add_output(g, net_conv(g, y, 3, 1, 1, -1));
    net_done(g);
    net_run(g, 1, expected);
    ig_prepare_views(g);
    struct ig_band_timing band = {.first = 2, .last = 4, .rows = 1, .threads = 1, .n = 2};
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){
        .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_GIVEN, .given = &band, .n_given = 1});
    assert_int_equal(p->n_bands, 1);
    assert_null(p->steps[3].kernel);
    assert_true(p->buffers[y].offset < p->buffers[x].offset);
    assert_true(p->buffers[x].offset < p->buffers[y].offset + p->buffers[y].bytes);
    net_run_plan(g, p, 1, got);
    outputs_same(g, expected, got, 1);
    ig_plan_free(p);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_needs_only_its_ends),
        cmocka_unit_test(a_residual_lies_over_its_block),
        cmocka_unit_test(an_output_grows_into_its_input),
        cmocka_unit_test(an_output_grows_into_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
