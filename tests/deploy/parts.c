/* Parts and ranks of benchmark networks and random ones, whose nodes are given to keys in every way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/deploy/ranks.h"
#include "tests/support/deployed.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"

enum { RANDOM_NETS = 60, ASSIGNMENTS = 4 };

static const char *const nets[] = {"squeezenet1.1", "mobilenet_v1_025", "mobilenet_v2", "efficientnet_b0", "googlenet",
                                   "inception_v3",  "resnet18",         "resnet50",     "densenet121"};

static int32_t *part_of_nodes(const struct ig_graph *g, const struct ig_parts *p)
{
    int32_t *of = test_malloc((size_t)g->n_nodes * sizeof *of);
    for (int32_t i = 0; i < g->n_nodes; i++) of[i] = -1;
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t k = 0; k < p->at[i].n_nodes; k++) {
            assert_int_equal(of[p->at[i].nodes[k]], -1);
            assert_true(!k || p->at[i].nodes[k] > p->at[i].nodes[k - 1]);
            of[p->at[i].nodes[k]] = i;
        }
    for (int32_t i = 0; i < g->n_nodes; i++) assert_true(of[i] >= 0);
    return of;
}

/* Every node is in one part, of its key; what a part reads was made by an earlier one. */
static void check_order(const struct ig_graph *g, const struct ig_parts *p, const int32_t *key_of)
{
    int32_t *of = part_of_nodes(g, p);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        assert_int_equal(p->at[of[i]].key, key_of[i]);
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            int32_t v = g->nodes[i].in[k], from = v < 0 ? -1 : g->values[v].producer;
            if (from >= 0) assert_true(of[from] <= of[i]);
        }
    }
    test_free(of);
}

static int32_t count(const int32_t *list, int32_t n, int32_t v)
{
    int32_t found = 0;
    for (int32_t i = 0; i < n; i++) found += list[i] == v;
    return found;
}

/* Each value passes once at most, from who makes it to all who read it, once each, and is an input and output there. */
static void check_passing(const struct ig_graph *g, const struct ig_parts *p)
{
    int32_t *seen = test_calloc((size_t)g->n_values, sizeof *seen), ends = 0, in = 0;
    for (int32_t i = 0; i < p->n_passing; i++) {
        const struct ig_passing *what = &p->passing[i];
        assert_int_equal(seen[what->value]++, 0);
        assert_false(ig_is_const(g, what->value));
        if (what->from < 0) assert_true(ig_is_input(g, what->value));
        else assert_int_equal(count(p->at[what->from].out, p->at[what->from].n_out, what->value), 1);
        assert_true(what->n_to || what->from < 0);
        for (int32_t k = 0; k < what->n_to; k++) {
            assert_int_equal(count(what->to, what->n_to, what->to[k]), 1);
            assert_true(what->to[k] != what->from || what->from < 0);
            if (what->to[k] < 0) assert_true(ig_is_output(g, what->value));
            else assert_int_equal(count(p->at[what->to[k]].in, p->at[what->to[k]].n_in, what->value), 1);
            ends += what->to[k] >= 0;
        }
    }
    for (int32_t i = 0; i < p->n; i++) in += p->at[i].n_in;
    assert_int_equal(ends, in);
    for (int32_t i = 0; i < g->n_outputs; i++) assert_int_equal(seen[g->outputs[i]], 1);
    test_free(seen);
}

/* No two parts of a key could be one: a path from one to the other through a third forbids it. */
static void check_merged(const struct ig_graph *g, const struct ig_parts *p)
{
    int32_t *of = part_of_nodes(g, p);
    uint8_t *next = test_calloc((size_t)p->n * (size_t)p->n, 1), *path = test_calloc((size_t)p->n * (size_t)p->n, 1);
    for (int32_t i = 0; i < p->n_passing; i++)
        for (int32_t k = 0; k < p->passing[i].n_to && p->passing[i].from >= 0; k++)
            if (p->passing[i].to[k] >= 0) next[p->passing[i].from * p->n + p->passing[i].to[k]] = 1;
    memcpy(path, next, (size_t)p->n * (size_t)p->n);
    for (int32_t a = p->n - 1; a >= 0; a--)
        for (int32_t b = a + 1; b < p->n; b++)
            for (int32_t c = b + 1; c < p->n && next[a * p->n + b]; c++) path[a * p->n + c] |= path[b * p->n + c];
    for (int32_t a = 0; a < p->n; a++)
        for (int32_t b = a + 1; b < p->n; b++) {
            int around = 0;
            if (p->at[a].key != p->at[b].key) continue;
            for (int32_t c = a + 1; c < b; c++) around |= path[a * p->n + c] && path[c * p->n + b];
            assert_true(around);
        }
    test_free(path);
    test_free(next);
    test_free(of);
}

static void check_graphs(const struct ig_graph *g, const struct ig_parts *p)
{
    char err[1024] = "";
    for (int32_t i = 0; i < p->n; i++) {
        struct ig_graph *part = ig_part_graph(g, &p->at[i], "part");
        if (ig_graph_check(part, err, sizeof err)) fail_msg("%s", err);
        assert_int_equal(part->n_nodes, p->at[i].n_nodes);
        assert_int_equal(part->n_inputs, p->at[i].n_in);
        assert_int_equal(part->n_outputs, p->at[i].n_out);
        for (int32_t k = 0; k < part->n_nodes; k++)
            assert_string_equal(part->nodes[k].name, g->nodes[p->at[i].nodes[k]].name);
        ig_graph_free(part);
    }
}

/* A rank keeps a tensor once, fills it by a part, one message or the user, and every message has two ends. */
static void check_ranks(const struct ig_graph *g, const struct ig_parts *p, int32_t n_keys)
{
    struct ig_ranks *r = ig_ranks_make(g, p, n_keys);
    int32_t sends = 0, receives = 0, parts = 0;
    for (int32_t i = 0; i < r->n; i++) {
        const struct ig_rank_plan *at = &r->at[i];
        sends += at->n_sends, receives += at->n_receives, parts += at->n_parts;
        for (int32_t s = 0; s < at->n_stores; s++) {
            int32_t fills = at->stores[s].writer >= 0;
            for (int32_t k = 0; k < s; k++) assert_int_not_equal(at->stores[k].value, at->stores[s].value);
            for (int32_t k = 0; k < at->n_receives; k++) fills += at->receives[k].store == s;
            for (int32_t k = 0; k < g->n_inputs; k++) fills += at->inputs[k] == s;
            assert_int_equal(fills, 1);
            assert_true(at->stores[s].copies >= IG_LEAST_COPIES && at->stores[s].copies <= IG_MOST_COPIES);
        }
        for (int32_t k = 0; k < at->n_sends; k++) {
            const struct ig_route *from = &at->sends[k], *to = NULL;
            const struct ig_rank_plan *peer = &r->at[from->peer];
            assert_int_not_equal(from->peer, i);
            for (int32_t j = 0; j < peer->n_receives; j++)
                if (peer->receives[j].number == from->number) to = &peer->receives[j];
            assert_non_null(to);
            assert_int_equal(to->peer, i);
            assert_int_equal(to->copies, from->copies);
            assert_int_equal(peer->stores[to->store].value, at->stores[from->store].value);
            assert_true(!k || at->sends[k - 1].number < from->number);
        }
        for (int32_t k = 0; k < g->n_outputs; k++) assert_int_equal(at->outputs[k] >= 0, i == r->output_rank);
    }
    assert_int_equal(parts, p->n);
    assert_int_equal(sends, receives);
    assert_int_equal(sends, r->n_routes);
    ig_ranks_free(r);
}

static void check(const struct ig_graph *g, const int32_t *key_of, int32_t n_keys, int all)
{
    struct ig_parts *p = ig_parts_make(g, key_of);
    check_order(g, p, key_of);
    check_passing(g, p);
    check_merged(g, p);
    if (all) check_graphs(g, p);
    check_ranks(g, p, n_keys);
    ig_parts_free(p);
}

static void of_benchmark_networks(void **state)
{
    (void)state;
    struct rng r = {7};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct ig_graph *g = zoo_net(nets[i]);
        int32_t *key_of = test_calloc((size_t)g->n_nodes, sizeof *key_of);
        for (int32_t k = 0; k < ASSIGNMENTS * DEALS; k++) {
            int32_t keys = rng_int(&r, 2, 8);
            deal_keys(g, &r, keys, (enum deal)(k % DEALS), key_of);
            check(g, key_of, keys, k < DEALS);
        }
        test_free(key_of);
        ig_graph_free(g);
    }
}

static void of_random_networks(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_random(&r, rng_int(&r, 5, 60));
        ig_prepare_views(g);
        int32_t *key_of = test_calloc((size_t)g->n_nodes, sizeof *key_of);
        for (int32_t k = 0; k < ASSIGNMENTS * DEALS; k++) {
            int32_t keys = rng_int(&r, 1, 5);
            deal_keys(g, &r, keys, (enum deal)(k % DEALS), key_of);
            check(g, key_of, keys, 1);
        }
        test_free(key_of);
        ig_graph_free(g);
    }
}

/* a0 -> b -> a1 -> a2, and a0 -> a3: a3 joins a0 or a1, whichever comes first, b forbids a0 and a1. */
static void merge_by_hand(void **state)
{
    (void)state;
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 8, 8, 4), a0 = net_relu(g, x), b = net_conv(g, a0, 4, 3, 1, -1);
    int32_t a1 = net_conv(g, b, 4, 3, 1, -1), a2 = net_relu(g, a1), a3 = net_conv(g, a0, 4, 1, 1, -1);
    ig_add_output(g, a2);
    ig_add_output(g, a3);
    net_done(g);
    int32_t key_of[5];
    for (int32_t i = 0; i < g->n_nodes; i++) key_of[i] = g->nodes[i].out[0] == b;
    struct ig_parts *p = ig_parts_make(g, key_of);
    assert_int_equal(p->n, 3);
    assert_int_equal(p->at[0].n_nodes + p->at[2].n_nodes, 4);
    assert_int_equal(p->at[1].key, 1);
    assert_int_equal(p->at[1].n_nodes, 1);
    ig_parts_free(p);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(merge_by_hand),
        cmocka_unit_test(of_random_networks),
        cmocka_unit_test(of_benchmark_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
