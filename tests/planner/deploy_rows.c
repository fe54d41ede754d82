/* Layers cut by rows: chains and branches, thin slabs, halos from several neighbours; the bits of the whole. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/nets.h"
#include "tests/support/parts.h"
#include "tests/support/plans.h"

enum { NETS = 150 };

struct tally {
    int split, refused, layers;
};

/* A random network, some of its layers cut, against itself. */
static void try_net(uint64_t seed, int32_t mode, int exact, struct tally *t)
{
    struct rng r = {seed};
    struct ig_graph *g = rng_one_in(&r, 2) ? net_chain(&r, rng_int(&r, 2, 12)) : net_branches(&r, rng_int(&r, 1, 4));
    int32_t isa = rng_one_in(&r, 4) ? IG_ISA_REF : split_isa();
    struct split_whole whole = split_whole_make(g, isa, 1, &r);
    struct split_orders o = split_some(&r, g, mode, rng_int(&r, 1, 3));
    void *expected[64], *got[64];
    char err[1024] = "";
    int32_t cuts = rng_int(&r, IG_CUTS_CHEAPEST, IG_CUTS_EXCHANGED);
    o.border = rng_one_in(&r, 2) ? IG_BORDER_ALWAYS : IG_BORDER_LAST;
    if (split_run(g, &o, cuts, exact ? &whole : NULL, isa, seed, got, NULL, err, sizeof err)) {
        if (!exact) fail_msg("seed %d: %s", (int)seed, err);
        t->refused++;
    } else {
        net_run_tables(whole.prepared, whole.plan, 1, seed, expected);
        if (exact) outputs_same(g, expected, got, seed);
        else split_outputs_near(g, expected, got);
        t->split++;
        t->layers += o.n;
    }
    split_orders_free(&o);
    split_whole_free(&whole);
    ig_graph_free(g);
}

static void rows_bitexact(void **state)
{
    struct tally t = {0, 0, 0};
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(NETS); seed++) try_net(seed, IG_SPLIT_HEIGHT, 1, &t);
    print_message("%d networks, %d layers cut; %d refused\n", t.split, t.layers, t.refused);
    assert_true(t.split > 4 * t.refused);
}

static void columns_bitexact(void **state)
{
    struct tally t = {0, 0, 0};
    (void)state;
    for (uint64_t seed = 1000; seed < 1000 + rng_share(NETS); seed++) try_net(seed, IG_SPLIT_WIDTH, 1, &t);
    print_message("%d networks, %d layers cut; %d refused\n", t.split, t.layers, t.refused);
    assert_true(t.split > 4 * t.refused);
}

/* Kernels and cuts as they come. */
static void rows_bound(void **state)
{
    struct tally t = {0, 0, 0};
    (void)state;
    for (uint64_t seed = 2000; seed < 2000 + rng_share(NETS); seed++)
        try_net(seed, seed % 2 ? IG_SPLIT_WIDTH : IG_SPLIT_HEIGHT, 0, &t);
    assert_int_equal(t.refused, 0);
}

/* Slabs of one row: what the middle one needs comes from two neighbours on either side. */
static void thin_slabs(void **state)
{
    static const int64_t ones[4] = {1, 1, 1, 1};
    static const int32_t keys[4] = {0, 1, 2, 3};
    (void)state;
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 4, 5, 3);
    for (int i = 0; i < 3; i++) x = net_conv(g, x, 16, 5, 1, -1);
    ig_add_output(g, x);
    net_done(g);
    struct ig_hsplit_order at[3];
    for (int32_t i = 0; i < 3; i++) at[i] = (struct ig_hsplit_order){i, IG_SPLIT_HEIGHT, 4, ones, keys};
    struct split_orders o = {.at = at, .n = 3};
    struct split_whole whole = split_whole_make(g, split_isa(), 1, NULL);
    for (int32_t cuts = IG_CUTS_CHEAPEST; cuts <= IG_CUTS_EXCHANGED; cuts++) {
        void *expected[1], *got[1];
        char err[1024] = "";
        struct ig_graph *made;
        if (split_run(g, &o, cuts, &whole, split_isa(), 1, got, &made, err, sizeof err)) fail_msg("%s", err);
        net_run_tables(whole.prepared, whole.plan, 1, 1, expected);
        outputs_same(g, expected, got, 1);
        if (cuts == IG_CUTS_FUSED) assert_int_equal(net_count(made, IG_CONCAT), 1);
        ig_graph_free(made);
    }
    split_whole_free(&whole);
    ig_graph_free(g);
}

/* What a run computes twice where it is fused, and what it sends where it is not. */
static void cuts_follow_cost(void **state)
{
    static const int64_t halves[2] = {28, 28};
    static const int32_t keys[2] = {0, 1};
    (void)state;
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 56, 56, 16);
    for (int i = 0; i < 4; i++) x = net_conv(g, x, 16, 3, 1, -1);
    ig_add_output(g, x);
    net_done(g);
    struct ig_hsplit_order at[4];
    for (int32_t i = 0; i < 4; i++) at[i] = (struct ig_hsplit_order){i, IG_SPLIT_HEIGHT, 2, halves, keys};
    for (int slow = 0; slow < 2; slow++) {
        struct ig_graph *split = ig_graph_clone(g);
        const double rates[2] = {slow ? .001 : 100, slow ? .001 : 100};
        struct ig_split_options options = {.rates = rates};
        int32_t *node_keys = calloc(4, sizeof *node_keys), *whole_of;
        char err[1024] = "";
        if (ig_split_graph(split, at, 4, &options, &node_keys, &whole_of, err, sizeof err)) fail_msg("%s", err);
        assert_int_equal(net_count(split, IG_CONCAT), slow ? 1 + 3 * 2 : 1);
        free(node_keys);
        free(whole_of);
        ig_graph_free(split);
    }
    ig_graph_free(g);
}

static int32_t late_convs(const struct ig_graph *g, const int32_t *keys)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) n += g->nodes[i].op == IG_CONV && keys[i] >= IG_LATE;
    return n;
}

/* Three exchanges of rows that take 79 us each, beside some 170 us or 4 ns of work on the other rows. */
static void borders_follow_cost(void **state)
{
    static const int64_t halves[2] = {28, 28};
    static const int32_t keys[2] = {0, 1};
    static const struct {
        int32_t border;
        double rate;
        int32_t late;
    } known[] = {{IG_BORDER_LAST, 20, 0}, {IG_BORDER_FIRST, 20, 3 * 2}, {IG_BORDER_FIRST, 1e6, 0}, {IG_BORDER_ALWAYS, 1e6, 3 * 2}};
    (void)state;
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 56, 56, 16);
    for (int i = 0; i < 4; i++) x = net_conv(g, x, 16, 3, 1, -1);
    ig_add_output(g, x);
    net_done(g);
    struct ig_hsplit_order at[4];
    for (int32_t i = 0; i < 4; i++) at[i] = (struct ig_hsplit_order){i, IG_SPLIT_HEIGHT, 2, halves, keys};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct ig_graph *split = ig_graph_clone(g);
        const double rates[2] = {known[i].rate, known[i].rate};
        struct ig_split_options options = {.rates = rates, .cuts = IG_CUTS_EXCHANGED, .border = known[i].border};
        int32_t *node_keys = calloc(4, sizeof *node_keys), *whole_of;
        char err[1024] = "";
        if (ig_split_graph(split, at, 4, &options, &node_keys, &whole_of, err, sizeof err)) fail_msg("%s", err);
        assert_int_equal(late_convs(split, node_keys), known[i].late);
        assert_int_equal(net_count(split, IG_CONV), 4 * 2 + known[i].late);
        free(node_keys);
        free(whole_of);
        ig_graph_free(split);
    }
    ig_graph_free(g);
}

static double all_macs(const struct ig_graph *g)
{
    double macs = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) macs += g->nodes[i].macs;
    return macs;
}

/* The arithmetic that VGG-19's first layers do twice where they are fused over n keys: worked out by hand. */
static void fused_overlap(void **state)
{
    static const struct {
        int32_t layers, keys;
        double more; /* of all multiply-accumulates */
    } known[] = {{6, 2, .018}, {6, 4, .055}, {6, 8, .128}, {11, 2, .09}, {11, 4, .28}, {11, 8, .66}};
    static const int32_t depth[3] = {2, 2, 4}, keys[8] = {0, 1, 2, 3, 4, 5, 6, 7};
    (void)state;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct ig_graph *g = net_new();
        int32_t x = net_input(g, 1, 224, 224, 3), n = known[i].keys;
        for (int stage = 0; g->n_nodes < known[i].layers; stage++) {
            struct ig_window pool = {1, 2, 2, 1, 2, 2, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
            for (int k = 0; k < depth[stage]; k++) x = net_conv(g, x, 64 << stage, 3, 1, -1);
            x = net_pool_window(g, x, &pool, IG_POOL_MAX);
        }
        ig_add_output(g, x);
        net_done(g);
        ig_count_macs(g);
        double whole = all_macs(g);
        struct ig_hsplit_order at[11];
        int64_t sizes[11][8];
        for (int32_t k = 0; k < g->n_nodes; k++) {
            int32_t h = g->values[g->nodes[k].out[0]].shape.dims[1];
            for (int32_t p = 0; p < n; p++) sizes[k][p] = (p + 1) * h / n - p * h / n;
            at[k] = (struct ig_hsplit_order){k, IG_SPLIT_HEIGHT, n, sizes[k], keys};
        }
        struct ig_split_options options = {.cuts = IG_CUTS_FUSED};
        int32_t *node_keys = calloc((size_t)g->n_nodes, sizeof *node_keys), *whole_of;
        char err[1024] = "";
        if (ig_split_graph(g, at, g->n_nodes, &options, &node_keys, &whole_of, err, sizeof err)) fail_msg("%s", err);
        double more = all_macs(g) / whole - 1;
        print_message("%d layers on %d keys: %.1f %% more\n", known[i].layers, n, 100 * more);
        assert_true(fabs(more - known[i].more) < (known[i].layers == 6 ? .0006 : .006));
        free(node_keys);
        free(whole_of);
        ig_graph_free(g);
    }
}

/* Orders that cannot be, each with its layer's name. */
static void refusals_name_the_layer(void **state)
{
    static const int64_t sizes[2] = {3, 1}, bad[2] = {3, 3};
    static const int32_t keys[2] = {0, 1};
    static const struct {
        struct ig_hsplit_order order;
        const char *words;
    } cases[] = {
        {{0, IG_SPLIT_HEIGHT, 2, bad, keys}, "layer 'conv_0': parts of 4 rows add up to 6"},
        {{1, IG_SPLIT_HEIGHT, 2, sizes, keys}, "layer 'global_pool_1' (global_pool) cannot be split by rows"},
        {{3, IG_SPLIT_HEIGHT, 2, sizes, keys}, "layer 'fc_3' (fc) cannot be split by rows"},
        {{1, IG_SPLIT_OUT, 2, sizes, keys}, "layer 'global_pool_1' (global_pool) cannot be split by output channels"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g = net_new();
        int32_t x = net_conv(g, net_input(g, 1, 4, 4, 4), 4, 3, 1, -1);
        ig_add_output(g, net_fc(g, net_flatten(g, net_global_pool(g, x)), 4));
        net_done(g);
        struct ig_split_options options = {.cuts = 0};
        int32_t *node_keys = calloc((size_t)g->n_nodes, sizeof *node_keys), *whole_of = NULL;
        char err[1024] = "";
        assert_int_equal(ig_split_graph(g, &cases[i].order, 1, &options, &node_keys, &whole_of, err, sizeof err), -1);
        if (!strstr(err, cases[i].words)) fail_msg("'%s' has no '%s'", err, cases[i].words);
        free(node_keys);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_bitexact),
        cmocka_unit_test(columns_bitexact),
        cmocka_unit_test(rows_bound),
        cmocka_unit_test(thin_slabs),
        cmocka_unit_test(cuts_follow_cost),
        cmocka_unit_test(borders_follow_cost),
        cmocka_unit_test(fused_overlap),
        cmocka_unit_test(refusals_name_the_layer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
