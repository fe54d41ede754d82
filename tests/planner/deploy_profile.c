/* A profile of the whole network for one whose layers are split. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/deploy/part_plan.h"
#include "planner/deploy/part_profile.h"
#include "planner/deploy/rewrite.h"
#include "tests/support/nets.h"

/* Two convolutions, the first over two keys, 10 of 40 rows on the first of them. */
static void parts_take_their_share(void **state)
{
    static const int64_t sizes[2] = {10, 30};
    static const int32_t keys[2] = {0, 1};
    struct ig_graph *g = net_new();
    int32_t *node_keys = calloc(2, sizeof *node_keys), *whole;
    char err[1024] = "", none[] = "";
    (void)state;
    int32_t x = net_conv(g, net_input(g, 1, 40, 40, 16), 16, 1, 1, -1);
    ig_add_output(g, net_conv(g, x, 16, 3, 1, -1));
    net_done(g);
    struct ig_graph *before = ig_graph_clone(g), *prepared = ig_graph_clone(g);
    ig_part_prepare(prepared);
    struct ig_plan_options o = {.target = "host", .threads = 1, .max_error = 1, .bands = IG_BANDS_OFF};
    struct ig_plan *plan = ig_plan_make(prepared, &o, err, sizeof err);
    if (!plan) fail_msg("%s", err);
    struct ig_timing at[2];
    for (int32_t i = 0; i < 2; i++)
        at[i] = (struct ig_timing){.node = i, .kernel = plan->steps[i].kernel, .split = 1, .chunk = 20, .threads = 2,
                                   .alone_ns = 4000, .in_order_ns = 8000};
    struct ig_profile of = {.sha256 = none, .graph_sha256 = none, .cpu = none, .isa = none, .threads = 2, .n = 2, .timings = at};
    struct ig_split_options split = {.cuts = IG_CUTS_EXCHANGED};
    struct ig_hsplit_order order = {0, IG_SPLIT_HEIGHT, 2, sizes, keys};
    if (ig_split_graph(g, &order, 1, &split, &node_keys, &whole, err, sizeof err)) fail_msg("%s", err);
    ig_count_macs(g);
    struct ig_profile *p = ig_split_profile(&of, prepared, before, g, whole);
    assert_int_equal(p->n, 3);
    double ns = 0;
    int32_t chunks = 0;
    for (int32_t i = 0; i < p->n; i++) {
        const struct ig_node *n = &g->nodes[p->timings[i].node];
        const struct ig_shape *made = &g->values[n->out[0]].shape;
        if (!strstr(n->name, "_splith_")) {
            assert_true(p->timings[i].in_order_ns == 8000 && p->timings[i].chunk == 20);
            continue;
        }
        assert_true(p->timings[i].in_order_ns == 8000. * made->dims[1] / 40);
        assert_int_equal(p->timings[i].chunk, made->dims[1] / 2);
        ns += p->timings[i].alone_ns;
        chunks += made->dims[1] / p->timings[i].chunk;
    }
    assert_true(ns == 4000);
    assert_int_equal(chunks, 4);
    ig_profile_free(p);
    ig_plan_free(plan);
    free(node_keys);
    free(whole);
    ig_graph_free(g);
    ig_graph_free(prepared);
    ig_graph_free(before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_take_their_share)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
