/* Whole plans: they validate, they compute what the graph says, and they are as small as promised. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "tests/support/builder.h"
#include "tests/support/nets.h"
#include "tests/support/plans.h"

enum { NETS = 300 };

static struct ig_plan *make(const struct ig_graph *g, int32_t isa, int32_t threads)
{
    return plan_make(g, (struct ig_plan_options){.isa = isa, .threads = threads});
}

/* In the plan's arena, with views, in place and cut to pieces: the same bits as with a memory for every
 * value. */
static void plans_compute_what_graphs_say(void **state)
{
    int in_place = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_random(&r, rng_int(&r, 1, 40));
        void *expected[64], *got[64];
        net_run(g, seed, expected);
        ig_prepare_views(g);
        struct ig_plan *p = make(g, IG_ISA_REF, rng_int(&r, 1, 4));
        plan_check(g, p, seed);
        for (int32_t v = 0; v < g->n_values; v++)
            in_place += p->buffers[v].alias_of >= 0 && p->buffers[v].view.root == v;
        net_run_plan(g, p, seed, got);
        outputs_same(g, expected, got, seed);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(in_place > NETS / 4);
}

/* Cuts need no large network if every legal one is tried. */
static void every_cut_gives_the_same_bits(void **state)
{
    struct ig_graph *g = net_dense(5, 0);
    void *expected[1], *got[1];
    (void)state;
    net_run(g, 1, expected);
    ig_prepare_views(g);
    for (int split = 1; split <= 2; split++)
        for (int chunk = 1; chunk <= 5; chunk++) {
            struct ig_plan *p = make(g, IG_ISA_REF, 1);
            for (int32_t i = 0; i < p->n_steps; i++) {
                struct ig_plan_step *s = &p->steps[i];
                const struct ig_shape *out = &g->values[g->nodes[i].out[0]].shape;
                if (!s->kernel || !(split == 1 ? s->kernel->row_tile : s->kernel->col_tile)) continue;
                int32_t extent = out->dims[split == 1 && out->rank == 4 ? 1 : out->rank - 1];
                if (split == 1 && out->rank != 4) continue;
                s->split = split;
                s->chunk = chunk;
                s->chunks = (extent + chunk - 1) / chunk;
            }
            plan_check(g, p, 0);
            net_run_plan(g, p, 1, got);
            assert_memory_equal(expected[0], got[0], (size_t)ig_bytes(&g->values[g->outputs[0]].shape));
            test_free(got[0]);
            ig_plan_free(p);
        }
    test_free(expected[0]);
    ig_graph_free(g);
}

static void arenas_meet_their_bound(void **state)
{
    (void)state;
    for (int32_t layers = 2; layers <= 24; layers += 11) {
        struct ig_graph *g = net_dense(layers, 1);
        ig_prepare_views(g);
        struct ig_plan *p = make(g, IG_ISA_REF, 1);
        plan_check(g, p, 0);
        assert_int_equal(p->arena_bytes, p->arena_lower_bound_bytes);
        ig_plan_free(p);
        ig_graph_free(g);
    }
}

static int32_t alias(const struct ig_plan *p, int32_t v)
{
    return p->buffers[v].alias_of;
}

static void in_place(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 8, 8, 4), first = net_relu(g, x), a = net_conv(g, first, 4, 3, 1, -1);
    int32_t b = net_relu(g, a), c = net_conv(g, b, 4, 3, 1, b), d = net_conv(g, c, 4, 3, 1, b);
    int32_t e = net_add(g, d, c), f = net_add(g, e, e), last = net_conv(g, f, 4, 3, 1, -1);
    (void)state;
    ig_add_output(g, last);
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p = make(g, IG_ISA_REF, 1);
    plan_check(g, p, 0);
    assert_int_equal(alias(p, first), -1); /* an input is the caller's */
    assert_int_equal(alias(p, b), a);
    assert_int_equal(alias(p, c), -1);     /* its residual is its image too, and read again */
    assert_int_equal(alias(p, d), a);      /* into its residual b, which is in a's storage */
    assert_int_equal(alias(p, e), a);
    assert_int_equal(alias(p, f), -1);     /* both operands are one */
    assert_int_equal(p->buffers[last].memory, IG_MEMORY_OUTPUT);
    assert_int_equal(p->arena_lower_bound_bytes, 2 * 8 * 8 * 4 * 4);
    assert_int_equal(p->arena_bytes, 2 * 8 * 8 * 4 * 4);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void constraints_say_by_how_much(void **state)
{
    struct ig_graph *g = net_dense(3, 1);
    char err[1024], text[64];
    (void)state;
    ig_prepare_views(g);
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 2, .bands = IG_BANDS_OFF};
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    assert_non_null(p);
    int64_t need = p->arena_bytes + p->weights_bytes;
    double ms = p->latency_ns * 1e-6;
    ig_plan_free(p);
    o.memory_budget = need;
    assert_non_null(p = ig_plan_make(g, &o, err, sizeof err));
    assert_int_equal(ig_validate(g, p, need, err, sizeof err), IG_PLAN_OK);
    assert_int_equal(ig_validate(g, p, need - 1, err, sizeof err), IG_OVER_BUDGET);
    ig_plan_free(p);
    o.memory_budget = need - 100;
    assert_null(ig_plan_make(g, &o, err, sizeof err));
    assert_non_null(strstr(err, "exceeded by 100:"));
    o.memory_budget = 0;
    o.max_latency_ms = ms / 2;
    assert_null(ig_plan_make(g, &o, err, sizeof err));
    snprintf(text, sizeof text, "exceeded by %.3f ms", ms / 2);
    assert_non_null(strstr(err, text));
    o.max_latency_ms = 0;
    o.min_fps = 2000 / ms;
    assert_null(ig_plan_make(g, &o, err, sizeof err));
    assert_non_null(strstr(err, "frames/s missed by"));
    ig_graph_free(g);
}

/* Of a resize's tensors each has its own number of images. */
static void a_batch_is_resized(void **state)
{
    void *expected[1], *got[1];
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    struct ig_shape twice = {IG_F32, 4, {4, 5, 6, 3, 1, 1, 1, 1}};
    int32_t x = build_input(g, "x", DIMS(2, 5, 6, 3));
    build_output(g, build_node(g, IG_RESIZE, ATTRS(.resize = {.mode = IG_LINEAR, .coord = IG_HALF_PIXEL, .scale = {2, 1, 1, 1}}), 1, &x, &twice), "y");
    g->channels_last = 1;
    net_run(g, 1, expected);
    ig_prepare_views(g);
    struct ig_plan *p = make(g, IG_ISA_REF, 2);
    plan_check(g, p, 1);
    net_run_plan(g, p, 1, got);
    outputs_same(g, expected, got, 1);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void no_kernel_is_an_error(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 2, 2, 2), y = net_relu(g, x);
    char err[1024] = "";
    (void)state;
    ig_add_output(g, y);
    net_done(g);
    g->nodes[0].op = IG_WHERE; /* with one input there is no such kernel */
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1};
    assert_null(ig_plan_make(g, &o, err, sizeof err));
    assert_non_null(strstr(err, "node 'unary_0' (where): no kernel"));
    ig_graph_free(g);
}

static void cuts_are_legal(void **state)
{
    struct rng r = {7};
    (void)state;
    for (int i = 0; i < 200; i++) {
        struct ig_graph *g = net_new();
        int32_t x = net_input(g, 1, rng_int(&r, 1, 60), 40, 24);
        ig_add_output(g, net_conv(g, x, rng_int(&r, 1, 80), 3, 1, -1));
        net_done(g);
        struct ig_view views[8];
        struct ig_call call;
        int32_t batch;
        ig_compute_views(g, views);
        ig_node_call(g, views, &g->nodes[0], &call, &batch);
        for (int k = 0; k < ig_kernel_count(); k++) {
            const struct ig_kernel *kernel = ig_kernel_at(k);
            struct ig_cut cuts[8];
            if (!ig_kernel_fits(kernel, IG_CONV, &call)) continue;
            int n = ig_legal_cuts(kernel, &call, rng_int(&r, 1, 8), NULL, cuts, 8);
            assert_true(n >= 1);
            for (int c = 0; c < n; c++) {
                int32_t tile = cuts[c].split == 1 ? kernel->row_tile : kernel->col_tile;
                int32_t extent = cuts[c].split == 1 ? call.out[0].h : call.out[0].c;
                if (!cuts[c].split) {
                    assert_int_equal(cuts[c].chunks, 1);
                    continue;
                }
                assert_int_equal(cuts[c].chunk % tile, 0);
                assert_true(cuts[c].chunks > 1);
                assert_true((int64_t)cuts[c].chunk * cuts[c].chunks >= extent);
                assert_true((int64_t)cuts[c].chunk * (cuts[c].chunks - 1) < extent);
            }
        }
        ig_graph_free(g);
    }
}

/* Rows of a recurrent layer are those of the batch in each direction, which threads share: with the bits of one. */
static void recurrent_layers_are_shared(void **state)
{
    struct ig_graph *g = net_of_sequences();
    void *expected[1], *got[1];
    (void)state;
    ig_prepare_views(g);
    for (int isa = IG_ISA_REF; isa < IG_ISA_CUDA; isa++) {
        if (!ig_isa_runs_here(isa)) continue;
        struct ig_plan *p = make(g, isa, 1);
        net_run_tables(g, p, 1, 1, expected);
        for (int32_t chunk = 1; chunk <= 3; chunk++) {
            int32_t cut = 0;
            for (int32_t i = 0; i < p->n_steps; i++) {
                struct ig_plan_step *s = &p->steps[i];
                const struct ig_node *n = &g->nodes[s->node];
                if (n->op != IG_RECURRENT) continue;
                const int32_t *y = g->values[n->out[0]].shape.dims;
                s->split = 1, s->chunk = chunk, s->chunks = (y[1] * y[2] + chunk - 1) / chunk;
                cut++;
            }
            assert_int_equal(cut, 3);
            plan_check(g, p, 0);
            net_run_tables(g, p, 3, 1, got);
            assert_memory_equal(expected[0], got[0], (size_t)ig_bytes(&g->values[g->outputs[0]].shape));
            test_free(got[0]);
        }
        test_free(expected[0]);
        ig_plan_free(p);
    }
    struct ig_plan *p = make(g, IG_ISA_REF, 2); /* by estimates, where it pays */
    for (int32_t i = 0; i < p->n_steps; i++)
        if (g->nodes[p->steps[i].node].op == IG_RECURRENT) assert_true(p->steps[i].split == 1 && p->steps[i].chunks > 1);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void weights_are_laid_out(void **state)
{
    struct ig_graph *g = net_dense(6, 1);
    (void)state;
    ig_prepare_views(g);
    for (int isa = 0; isa < IG_ISAS; isa++) {
        struct ig_plan *p = make(g, isa, 1);
        int64_t zeros, *packed = test_calloc((size_t)p->n_steps, sizeof *packed);
        int64_t *consts = test_calloc((size_t)g->n_values, sizeof *consts), end = 0, total;
        total = ig_weight_layout(g, p, &zeros, packed, consts);
        assert_int_equal(total, p->weights_bytes);
        assert_int_equal(zeros, 0);
        for (int32_t i = 0; i < p->n_steps; i++) {
            assert_int_equal(packed[i] >= 0, p->steps[i].kernel && p->steps[i].kernel->pack);
            if (packed[i] >= 0) {
                assert_int_equal(packed[i] % IG_ALIGN, 0);
                assert_true(packed[i] >= end);
                end = packed[i];
            }
        }
        for (int32_t v = 0; v < g->n_values; v++) {
            if (!ig_is_const(g, v)) assert_int_equal(consts[v], -1);
            if (consts[v] < 0) continue;
            assert_true(consts[v] % IG_ALIGN == 0 && consts[v] + ig_bytes(&g->values[v].shape) <= total);
            assert_int_equal(p->buffers[v].memory, IG_MEMORY_WEIGHTS);
            assert_int_equal(p->buffers[v].offset, consts[v]);
        }
        test_free(packed);
        test_free(consts);
        ig_plan_free(p);
    }
    ig_graph_free(g);
}

/* --- profiles --- */

static void the_profile_decides(void **state)
{
    struct ig_graph *g = net_new();
    (void)state;
    ig_add_output(g, net_relu(g, net_conv(g, net_input(g, 1, 64, 8, 4), 16, 1, 1, -1)));
    net_done(g);
    ig_prepare_views(g);
    const struct ig_kernel *slow = ig_kernel_by_name("conv_f32_1x1__ref");
    struct ig_timing t[] = {{0, slow, 0, 0, 2, 900, 0, 0},
                            {0, slow, 1, 16, 2, 800, 700, 0},
                            {0, slow, 1, 8, 2, 600, 750, 0},
                            {0, slow, 2, 4, 4, 1, 1, 0}};
    struct ig_profile profile = {.sha256 = (char *)"", .graph_sha256 = (char *)"", .n = 4, .timings = t};
    struct ig_plan_options o = {.target = "host", .isa = IG_ISA_AVX2, .threads = 2, .profile = &profile};
    char err[1024];
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    assert_non_null(p);
    assert_ptr_equal(p->steps[0].kernel, slow);
    assert_int_equal(p->steps[0].split, 1);
    assert_int_equal(p->steps[0].chunk, 16);
    assert_int_equal(p->steps[0].chunks, 4);
    assert_true(p->steps[0].predicted_ns == 700);
    assert_non_null(p->steps[1].kernel);
    plan_check(g, p, 0);
    ig_plan_free(p);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plans_compute_what_graphs_say), cmocka_unit_test(every_cut_gives_the_same_bits),
        cmocka_unit_test(arenas_meet_their_bound),       cmocka_unit_test(in_place),
        cmocka_unit_test(constraints_say_by_how_much),   cmocka_unit_test(a_batch_is_resized),
        cmocka_unit_test(no_kernel_is_an_error),
        cmocka_unit_test(cuts_are_legal), cmocka_unit_test(recurrent_layers_are_shared), cmocka_unit_test(weights_are_laid_out),
        cmocka_unit_test(the_profile_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
