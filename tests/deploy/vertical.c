/*
 * Networks cut into parts for 2 to 4 keys at random, run part by part by their tables: the bytes of the whole network's, and
 * its weights, each once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gen/lower.h"
#include "planner/deploy/part_plan.h"
#include "tests/support/deployed.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"
#include "tests/support/plans.h"

enum { RANDOM_NETS = 40 };

static const char *const nets[] = {"squeezenet1.1", "mobilenet_v1_025", "mobilenet_v2", "efficientnet_b0", "googlenet",
                                   "resnet18",      "inception_v3",     "densenet121"};

/* Random assignments of g, threads of parts and of the whole apart. */
static void compare(const struct ig_graph *g, struct rng *r, int32_t cases, uint64_t seed)
{
    struct ig_plan_options o = {.target = "host", .isa = fastest_isa(), .threads = 1, .max_error = IG_MAX_ERROR};
    struct ig_plan *like = plan_make(g, o);
    void **want = test_calloc((size_t)g->n_outputs, sizeof *want), **got = test_calloc((size_t)g->n_outputs, sizeof *got);
    int32_t *key_of = test_calloc((size_t)g->n_nodes, sizeof *key_of);
    for (int32_t i = 0; i < cases; i++) {
        net_run_tables(g, like, 1, seed, want);
        deal_keys(g, r, rng_int(r, 2, 4), (enum deal)(i % DEALS), key_of);
        struct ig_parts *p = ig_parts_make(g, key_of);
        o.threads = 1 + i % 2;
        o.bands = i % 3 ? IG_BANDS_AUTO : IG_BANDS_ALL;
        parts_run(g, like, p, &o, seed, got);
        outputs_same(g, want, got, seed);
        ig_parts_free(p);
    }
    test_free(key_of);
    test_free(got);
    test_free(want);
    ig_plan_free(like);
}

static void vertical_bitexact(void **state)
{
    (void)state;
    struct rng r = {11};
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct ig_graph *g = zoo_net(nets[i]);
        compare(g, &r, DEALS, 5);
        ig_graph_free(g);
    }
}

static void vertical_bitexact_random(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RANDOM_NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = seed % 2 ? net_branches(&r, rng_int(&r, 2, 6)) : net_chain(&r, rng_int(&r, 4, 30));
        ig_prepare_views(g);
        compare(g, &r, DEALS, seed);
        ig_graph_free(g);
    }
}

/* Packed bytes and constants of a plan, without the zeros and without what aligns the next. */
static int64_t weights_of(const struct ig_graph *g, const struct ig_plan *p, int64_t *consts_bytes)
{
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    int64_t *packed = test_calloc((size_t)p->n_steps, sizeof *packed), bytes = 0, zeros;
    int64_t *consts = test_calloc((size_t)g->n_values, sizeof *consts);
    for (int32_t v = 0; v < g->n_values; v++) views[v] = p->buffers[v].view;
    assert_int_equal(ig_weight_layout(g, p, &zeros, packed, consts), p->weights_bytes);
    for (int32_t i = 0; i < p->n_steps; i++) {
        struct ig_call call;
        int32_t images;
        if (packed[i] < 0) continue;
        ig_node_call(g, views, &g->nodes[p->steps[i].node], &call, &images);
        bytes += (int64_t)p->steps[i].kernel->pack(&call, NULL);
    }
    *consts_bytes = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (consts[v] >= 0) *consts_bytes += ig_bytes(&g->values[v].shape);
    test_free(views);
    test_free(packed);
    test_free(consts);
    return bytes;
}

/* The parts' weights sum to the network's; a constant that kernels read as it is may serve two parts. */
static void weights_once(void **state)
{
    (void)state;
    struct rng r = {3};
    char err[1024] = "";
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct ig_graph *g = zoo_net(nets[i]);
        struct ig_plan_options o = {.target = "host", .isa = fastest_isa(), .threads = 1, .max_error = IG_MAX_ERROR};
        struct ig_plan *like = plan_make(g, o);
        int32_t *key_of = test_calloc((size_t)g->n_nodes, sizeof *key_of);
        for (int32_t how = 0; how < DEALS; how++) {
            int64_t whole_consts, consts, packed = 0, all_consts = 0;
            deal_keys(g, &r, 4, (enum deal)how, key_of);
            struct ig_parts *parts = ig_parts_make(g, key_of);
            for (int32_t k = 0; k < parts->n; k++) {
                struct ig_graph *of = ig_part_graph(g, &parts->at[k], "part");
                ig_part_prepare(of);
                struct ig_plan *p = ig_part_plan(g, like, of, &o, err, sizeof err);
                if (!p) fail_msg("%s", err);
                packed += weights_of(of, p, &consts);
                all_consts += consts;
                ig_plan_free(p);
                ig_graph_free(of);
            }
            assert_int_equal(packed, weights_of(g, like, &whole_consts));
            assert_true(all_consts == whole_consts);
            ig_parts_free(parts);
        }
        test_free(key_of);
        ig_plan_free(like);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vertical_bitexact_random),
        cmocka_unit_test(vertical_bitexact),
        cmocka_unit_test(weights_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
