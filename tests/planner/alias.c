/* Every kind of shared storage on and off: the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/band.h"
#include "planner/memory.h"
#include "tests/support/nets.h"

enum { NETS = 120, IN_PLACE = IG_IN_PLACE_0 | IG_IN_PLACE_1 | IG_IN_PLACE_3 };

static struct ig_plan *make(const struct ig_graph *g)
{
    const struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF};
    char err[1024] = "";
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("%s", err);
    return p;
}

static void assert_same(const struct ig_graph *g, void **a, void **b, int32_t n)
{
    for (int32_t i = 0; i < n; i++) assert_memory_equal(a[i], b[i], (size_t)ig_bytes(&g->values[g->outputs[i]].shape));
}

static void drop(const struct ig_graph *g, void **out)
{
    for (int32_t i = 0; i < g->n_outputs; i++) test_free(out[i]);
}

/* Lays the arena out anew, as the steps' kernels allow; constants stay where they are. */
static void place_anew(const struct ig_graph *g, struct ig_plan *p)
{
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_plan_buffer *placed = p->buffers;
    ig_compute_views(g, views);
    ig_place_buffers(g, views, p);
    for (int32_t v = 0; v < g->n_values; v++) {
        if (!ig_is_const(g, v)) continue;
        p->buffers[v].memory = placed[v].memory;
        p->buffers[v].offset = placed[v].offset;
    }
    free(placed);
    test_free(views);
}

/* Step i may not write over an operand any more: the bits stay, the arena does not shrink. */
static void without(const struct ig_graph *g, struct ig_plan *p, int32_t i, uint64_t seed, void **expected)
{
    struct ig_kernel plain = *p->steps[i].kernel;
    const struct ig_kernel *kernel = p->steps[i].kernel;
    int64_t least = p->arena_lower_bound_bytes;
    int32_t y = g->nodes[p->steps[i].node].out[0];
    char why[512];
    void *got[64];
    plain.flags &= ~IN_PLACE;
    p->steps[i].kernel = &plain;
    place_anew(g, p);
    if (ig_validate(g, p, 0, why, sizeof why)) fail_msg("seed %d: %s", (int)seed, why);
    assert_int_equal(p->buffers[y].alias_of, -1);
    assert_true(p->arena_lower_bound_bytes >= least);
    net_run_plan(g, p, seed, got);
    assert_same(g, expected, got, g->n_outputs);
    drop(g, got);
    p->steps[i].kernel = kernel;
    place_anew(g, p);
}

static int one_by_one(struct ig_graph *g, int convolutions, uint64_t seed)
{
    void *expected[64], *got[64];
    int n = 0;
    net_run(g, seed, expected);
    ig_prepare_views(g);
    struct ig_plan *p = make(g);
    net_run_plan(g, p, seed, got);
    assert_same(g, expected, got, g->n_outputs);
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *node = &g->nodes[p->steps[i].node];
        const struct ig_plan_buffer *y = &p->buffers[node->out[0]];
        if (!p->steps[i].kernel || y->alias_of < 0 || y->view.root != y->value) continue;
        if ((node->op == IG_CONV) != convolutions) continue;
        without(g, p, i, seed, expected);
        n++;
    }
    drop(g, expected);
    drop(g, got);
    ig_plan_free(p);
    ig_graph_free(g);
    return n;
}

static void alias_in_place(void **state)
{
    int n = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        n += one_by_one(net_random(&r, rng_int(&r, 5, 40)), 0, seed);
    }
    assert_true(n > NETS / 4);
}

/* A convolution that accumulates into the skip. */
static void alias_residual(void **state)
{
    int n = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_new();
        int32_t c = rng_int(&r, 1, 9), x = net_conv(g, net_input(g, 1, rng_int(&r, 1, 9), 8, 3), c, 3, 1, -1);
        for (int32_t i = rng_int(&r, 1, 4); i > 0; i--) {
            int32_t wide = net_conv(g, x, rng_int(&r, 1, 20), 1, 1, -1);
            x = net_conv(g, net_depthwise(g, wide, 3, 1), c, 1, 1, x);
        }
        ig_add_output(g, net_conv(g, x, 2, 1, 1, -1));
        net_done(g);
        n += one_by_one(g, 1, seed);
    }
    assert_true(n > NETS);
}

/* What node `op` has in common with others gets storage of its own, as it becomes an output, too. Returns how often. */
static int with_copies(struct rng r, int32_t op, uint64_t seed)
{
    struct rng again = r;
    struct ig_graph *shared = net_random(&r, 30), *copied = net_random(&again, 30);
    int32_t outputs = shared->n_outputs, n = 0;
    void *expected[64], *got[64];
    for (int32_t i = 0; i < copied->n_nodes && copied->n_outputs < 60; i++) {
        const struct ig_node *node = &copied->nodes[i];
        int32_t v = op == IG_CONCAT ? node->in[0] : node->out[0];
        if (node->op != op || ig_is_const(copied, v) || ig_is_input(copied, v)) continue;
        ig_add_output(copied, v);
        n++;
    }
    ig_prepare_views(shared);
    ig_prepare_views(copied);
    struct ig_plan *p = make(shared), *q = make(copied);
    net_run_plan(shared, p, seed, expected);
    net_run_plan(copied, q, seed, got);
    assert_same(shared, expected, got, outputs);
    drop(shared, expected);
    drop(copied, got);
    ig_plan_free(p);
    ig_plan_free(q);
    ig_graph_free(shared);
    ig_graph_free(copied);
    return n;
}

static void alias_kind(int32_t op)
{
    int n = 0;
    for (uint64_t seed = 0; seed < NETS; seed++) n += with_copies((struct rng){seed + 77}, op, seed);
    assert_true(n > NETS / 2);
}

static void alias_concat(void **state)
{
    (void)state;
    alias_kind(IG_CONCAT);
}

static void alias_slice(void **state)
{
    (void)state;
    alias_kind(IG_SLICE);
}

static void alias_reshape(void **state)
{
    (void)state;
    alias_kind(IG_RESHAPE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(alias_in_place), cmocka_unit_test(alias_residual), cmocka_unit_test(alias_concat),
        cmocka_unit_test(alias_slice),    cmocka_unit_test(alias_reshape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
