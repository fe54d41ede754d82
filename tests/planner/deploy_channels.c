/* Layers cut by output channels: the bits of the whole; by input channels: near it. Groups are never mixed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/deploy/channels.h"
#include "tests/support/nets.h"
#include "tests/support/parts.h"
#include "tests/support/plans.h"

enum { NETS = 60 };

/* Convolutions of several kinds, one with a residual, and two fc. */
static struct ig_graph *any_net(struct rng *r)
{
    struct ig_graph *g = net_new();
    int32_t c = 16 * rng_int(r, 1, 4), x = net_input(g, 1, rng_int(r, 4, 9), rng_int(r, 4, 9), rng_int(r, 1, 5));
    x = net_conv(g, x, c, 3, rng_int(r, 1, 2), -1);
    struct ig_window w = {1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1};
    int32_t y = net_conv_window(g, x, 2 * c, &w, RNG_OF(r, 1, 2, 4), -1);
    y = net_conv(g, net_depthwise(g, y, 3, 1), c, 1, 1, x);
    ig_add_output(g, y);
    g->nodes[g->n_nodes - 1].attrs.conv.act.kind = IG_RELU;
    y = net_fc(g, net_flatten(g, net_pool(g, y, 3, 2)), 16 * rng_int(r, 1, 5) + rng_int(r, 0, 15));
    g->nodes[g->n_nodes - 1].attrs.fc.act.kind = IG_RELU;
    ig_add_output(g, net_fc(g, y, 16 * rng_int(r, 1, 5)));
    net_done(g);
    return g;
}

static struct split_orders any_orders(struct rng *r, const struct ig_graph *g, int32_t mode)
{
    struct split_orders o = {.at = calloc((size_t)g->n_nodes, sizeof *o.at),
                             .sizes = calloc((size_t)g->n_nodes, sizeof *o.sizes),
                             .keys = calloc((size_t)g->n_nodes, sizeof *o.keys)};
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t extent = ig_channels_of(g, &g->nodes[i], mode), n = rng_int(r, 2, SPLIT_PARTS);
        if (extent < n || rng_one_in(r, 4)) continue;
        for (int32_t k = 0; k < n; k++) o.keys[o.n][k] = (k + (int32_t)rng_one_in(r, 2)) % SPLIT_KEYS;
        split_sizes(r, n, extent, o.sizes[o.n]);
        o.at[o.n] = (struct ig_hsplit_order){i, mode, n, o.sizes[o.n], o.keys[o.n]};
        o.n++;
    }
    return o;
}

static void lop_bitexact(void **state)
{
    int layers = 0, refused = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = any_net(&r);
        struct split_whole whole = split_whole_make(g, split_isa(), 1, seed % 2 ? &r : NULL);
        struct split_orders o = any_orders(&r, g, IG_SPLIT_OUT);
        void *expected[2], *got[2];
        char err[1024] = "";
        if (split_run(g, &o, 0, &whole, split_isa(), seed, got, NULL, err, sizeof err)) {
            if (!strstr(err, "does not compute its part") && !strstr(err, "gives other bits")) fail_msg("%s", err);
            refused++;
        } else {
            net_run_tables(whole.prepared, whole.plan, 1, seed, expected);
            outputs_same(g, expected, got, seed);
            layers += o.n;
        }
        split_orders_free(&o);
        split_whole_free(&whole);
        ig_graph_free(g);
    }
    print_message("%d layers cut; %d networks refused\n", layers, refused);
    assert_true(refused < NETS / 4);
}

/* Kernels and cuts as they come; output channels too, inside groups. */
static void near_the_whole(int32_t mode, uint64_t seed)
{
    struct rng r = {seed};
    struct ig_graph *g = any_net(&r);
    struct split_whole whole = split_whole_make(g, split_isa(), 1, NULL);
    struct split_orders o = any_orders(&r, g, mode);
    void *expected[2], *got[2];
    char err[1024] = "";
    if (split_run(g, &o, 0, NULL, split_isa(), seed, got, NULL, err, sizeof err)) fail_msg("%s", err);
    net_run_tables(whole.prepared, whole.plan, 1, seed, expected);
    split_outputs_near(g, expected, got);
    split_orders_free(&o);
    split_whole_free(&whole);
    ig_graph_free(g);
}

static void lop_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 100; seed < 100 + NETS; seed++) near_the_whole(IG_SPLIT_OUT, seed);
}

static void lip_bound(void **state)
{
    (void)state;
    for (uint64_t seed = 200; seed < 200 + NETS; seed++) near_the_whole(IG_SPLIT_IN, seed);
}

/*
 * AlexNet's second convolution as it was first: 96 to 256 channels in two groups, cut as in AutoDiCE's own
 * example.
 */
static void hsplit_group(void **state)
{
    static const int64_t sizes[3][2] = {{128, 128}, {80, 176}, {208, 48}};
    static const int32_t keys[2] = {0, 1};
    struct ig_window w = {1, 5, 5, 1, 1, 1, 1, 1, 1, 0, 2, 2, 0, 2, 2, 1, 1};
    struct ig_graph *g = net_new();
    (void)state;
    ig_add_output(g, net_conv_window(g, net_input(g, 1, 9, 9, 96), 256, &w, 2, -1));
    net_done(g);
    struct split_whole whole = split_whole_make(g, split_isa(), 1, NULL);
    for (int32_t i = 0; i < 3; i++) {
        struct ig_hsplit_order at = {0, IG_SPLIT_OUT, 2, sizes[i], keys};
        struct split_orders o = {.at = &at, .n = 1};
        for (int32_t exact = 0; exact < 2; exact++) {
            void *expected[1], *got[1];
            struct ig_graph *made;
            char err[1024] = "";
            if (split_run(g, &o, 0, exact ? &whole : NULL, split_isa(), 7, got, &made, err, sizeof err))
                fail_msg("%s", err);
            net_run_tables(whole.prepared, whole.plan, 1, 7, expected);
            assert_int_equal(net_count(made, IG_CONV), i && !exact ? 3 : 2);
            if (exact) outputs_same(g, expected, got, 7);
            else split_outputs_near(g, expected, got);
            ig_graph_free(made);
        }
    }
    split_whole_free(&whole);
    ig_graph_free(g);
}

static int64_t constant_bytes(const struct ig_graph *g)
{
    int64_t bytes = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (ig_is_const(g, v)) bytes += ig_bytes(&g->values[v].shape);
    return bytes;
}

/*
 * The parts' weights are those of the whole, no more: cut by channels; and one constant for all, cut by
 * rows.
 */
static void weights_once(void **state)
{
    static const int64_t sizes[2] = {16, 48}, rows[2] = {3, 5};
    static const int32_t keys[2] = {0, 1};
    (void)state;
    for (int32_t mode = IG_SPLIT_OUT; mode <= IG_SPLIT_HEIGHT; mode++) {
        struct ig_graph *g = net_new();
        ig_add_output(g, net_conv(g, net_input(g, 1, 8, 8, 64), 64, 3, 1, -1));
        net_done(g);
        int64_t bytes = constant_bytes(g);
        struct ig_hsplit_order o = {0, mode, 2, mode == IG_SPLIT_HEIGHT ? rows : sizes, keys};
        struct ig_split_options options = {.cuts = 0};
        int32_t *node_keys = calloc(1, sizeof *node_keys), *whole_of;
        char err[1024] = "";
        if (ig_split_graph(g, &o, 1, &options, &node_keys, &whole_of, err, sizeof err)) fail_msg("%s", err);
        assert_int_equal(constant_bytes(g), bytes);
        free(node_keys);
        free(whole_of);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lop_bitexact),
        cmocka_unit_test(lop_bound),
        cmocka_unit_test(lip_bound),
        cmocka_unit_test(hsplit_group),
        cmocka_unit_test(weights_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
