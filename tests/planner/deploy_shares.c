/* Shares of rows against all that there are, for devices of random speed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kernels_cpu/kernel.h"
#include "planner/deploy/rewrite.h"
#include "planner/deploy/shares.h"
#include "tests/support/nets.h"
#include "tests/support/rng.h"

enum { DEVICES = 3, ROWS = 24, NETS = 300 };

struct devices {
    double ns[DEVICES][ROWS + 1];
};

static double rows_ns(const void *context, int32_t device, int64_t rows)
{
    return ((const struct devices *)context)->ns[device][rows];
}

/* Startup, then rows of no constant cost: a kernel's tile, a cache that is full. */
static struct devices random_devices(struct rng *r)
{
    struct devices d;
    for (int i = 0; i < DEVICES; i++) {
        double each = rng_real(r, 1, 10), at = rng_real(r, 0, 20);
        d.ns[i][0] = 0;
        for (int k = 1; k <= ROWS; k++) d.ns[i][k] = at += rng_one_in(r, 3) ? 0 : each * rng_real(r, .5, 2);
    }
    return d;
}

static double longest(const struct devices *d, const int64_t *rows)
{
    double ns = 0;
    for (int i = 0; i < DEVICES; i++)
        if (d->ns[i][rows[i]] > ns) ns = d->ns[i][rows[i]];
    return ns;
}

static double best_of_all(const struct devices *d, int64_t extent)
{
    double best = 1e30;
    for (int64_t a = 0; a <= extent; a++)
        for (int64_t b = 0; a + b <= extent; b++) {
            double ns = longest(d, (const int64_t[]){a, b, extent - a - b});
            if (ns < best) best = ns;
        }
    return best;
}

static void shares_are_optimal(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct devices d = random_devices(&r);
        int64_t extent = rng_int(&r, 1, ROWS), sizes[DEVICES];
        double ns = ig_share_rows(extent, 1, DEVICES, rows_ns, &d, sizes);
        assert_int_equal(sizes[0] + sizes[1] + sizes[2], extent);
        assert_true(ns == longest(&d, sizes));
        assert_true(ns == best_of_all(&d, extent));
    }
}

static void shares_keep_the_step(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct devices d = random_devices(&r);
        int64_t extent = rng_int(&r, 1, ROWS), sizes[DEVICES], begin = 0;
        int32_t step = rng_int(&r, 1, 6);
        ig_share_rows(extent, step, DEVICES, rows_ns, &d, sizes);
        for (int i = 0; i < DEVICES; i++) {
            assert_true(sizes[i] >= 0);
            if (sizes[i]) assert_int_equal(begin % step, 0);
            begin += sizes[i];
        }
        assert_int_equal(begin, extent);
    }
}

/* Twice as fast, twice the rows. */
static double by_speed(const void *context, int32_t device, int64_t rows)
{
    return (double)rows / ((const double *)context)[device];
}

static void shares_follow_speed(void **state)
{
    int64_t sizes[3];
    (void)state;
    ig_share_rows(70, 1, 3, by_speed, (const double[]){1, 2, 4}, sizes);
    assert_int_equal(sizes[0], 10);
    assert_int_equal(sizes[1], 20);
    assert_int_equal(sizes[2], 40);
}

/* A layer over three keys, of which the first has the input and the second is three times as fast. */
static void layers_follow_rates_and_links(void **state)
{
    static const int32_t keys[3] = {0, 1, 2};
    int64_t sizes[3];
    (void)state;
    struct ig_graph *g = net_new();
    ig_add_output(g, net_conv(g, net_input(g, 1, 56, 56, 16), 16, 3, 1, -1));
    net_done(g);
    ig_count_macs(g);
    struct ig_hsplit_order o = {0, IG_SPLIT_HEIGHT, 3, NULL, keys};
    struct ig_split_options slow = {.rates = (const double[]){1e-3, 3e-3, 1e-3}};
    struct ig_split_options fast = {.rates = (const double[]){900, 900, 900}};
    ig_split_share(g, &o, &slow, (const int32_t[]){0}, sizes);
    assert_in_range(sizes[0], 11, 12);
    assert_in_range(sizes[1], 33, 34);
    ig_split_share(g, &o, &fast, (const int32_t[]){0}, sizes); /* sending takes longer than computing */
    assert_int_equal(sizes[0], 56);
    ig_graph_free(g);
}

/* Layers that pass rows on to each other: what passes between them is not sent, so that sharing pays sooner. */
static void runs_send_their_ends_alone(void **state)
{
    static const int32_t keys[2] = {0, 1}, node_keys[4] = {0};
    int64_t alone[2], run[2];
    (void)state;
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 56, 56, 16);
    for (int i = 0; i < 4; i++) x = net_conv(g, x, 16, 3, 1, -1);
    ig_add_output(g, x);
    net_done(g);
    ig_count_macs(g);
    struct ig_hsplit_order o[4];
    for (int32_t i = 0; i < 4; i++) o[i] = (struct ig_hsplit_order){i, IG_SPLIT_HEIGHT, 2, NULL, keys};
    struct ig_split_options options = {.rates = (const double[]){4, 4}};
    double ns = ig_split_share(g, o, &options, node_keys, alone);
    assert_true(ig_split_share_run(g, o, 4, &options, node_keys, run) < 4 * ns);
    assert_true(run[1] > alone[1]);
    assert_int_equal(run[0] + run[1], 56);
    ig_graph_free(g);
}

/* Keys that are fast at different layers: the sum of both counts, not one rate. */
static void layers_have_times_of_their_own(void **state)
{
    static const int32_t keys[2] = {0, 1}, node_keys[2] = {0};
    static const double first[2] = {4e7, 1e7}, second[2] = {1e7, 1e7};
    const double *ns[2] = {first, second};
    int64_t run[2], alone[2];
    (void)state;
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 56, 56, 16), 16, 3, 1, -1);
    ig_add_output(g, net_conv(g, x, 16, 3, 1, -1));
    net_done(g);
    ig_count_macs(g);
    struct ig_hsplit_order o[2];
    for (int32_t i = 0; i < 2; i++) o[i] = (struct ig_hsplit_order){i, IG_SPLIT_HEIGHT, 2, NULL, keys};
    struct ig_split_options options = {.rates = (const double[]){1, 1}, .layer_ns = ns};
    ig_split_share_run(g, o, 2, &options, node_keys, run); /* 50 ms against 20 ms, and some of link */
    assert_in_range(run[0], 17, 19);
    ig_split_share(g, &o[1], &options, node_keys, alone); /* equally fast */
    assert_in_range(alone[0], 30, 34);
    const struct ig_kernel tiles[2] = {{.row_tile = 8}, {.row_tile = 6}};
    const struct ig_kernel *kernels[2] = {&tiles[0], &tiles[1]};
    options.kernels = kernels;
    ig_split_share_run(g, o, 2, &options, node_keys, run); /* to where both kernels can be cut */
    assert_int_equal(run[0] % 24, 0);
    assert_int_equal(run[0] + run[1], 56);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shares_are_optimal),
        cmocka_unit_test(shares_keep_the_step),
        cmocka_unit_test(shares_follow_speed),
        cmocka_unit_test(layers_follow_rates_and_links),
        cmocka_unit_test(layers_have_times_of_their_own),
        cmocka_unit_test(runs_send_their_ends_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
