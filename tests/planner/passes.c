/* How tensors pass between processor and GPU, by what boards say of their memory. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "planner/passes.h"
#include "planner/stages.h"
#include "tests/support/nets.h"

/* side x side pixels of 4 channels; a copy, a convolution 3x3 with a pixel between its taps, which no kernel of first layers computes, a pool. */
static struct ig_graph *net(int32_t side)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, side, side, 4);
    ig_add_output(g, net_global_pool(g, net_conv(g, net_relu(g, x), 8, 3, 1, -1)));
    net_done(g);
    struct ig_window *w = &g->nodes[1].attrs.conv.w;
    w->dh = w->dw = w->top = w->left = w->bottom = w->right = 2;
    ig_prepare_views(g);
    return g;
}

static struct ig_plan *plan_of(const struct ig_graph *g)
{
    char err[300];
    struct ig_plan_options o = {.target = "test", .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    return p;
}

/* A GB/s each, unless said otherwise; a graph's node takes a microsecond. */
static struct ig_platform board_of(int coherent, int64_t attach_ns, int64_t mapped)
{
    struct ig_platform b = {.n_processors = 2};
    b.processors[1].overhead_ns = 1000;
    b.processors[1].integrated = (struct ig_integrated){1, coherent, attach_ns, 1000000000, mapped};
    return b;
}

/* Kinds of input and output of the net. */
static void assert_kinds(int32_t side, const struct ig_platform *b, int32_t input, int32_t output)
{
    struct ig_graph *g = net(side);
    struct ig_plan *p = plan_of(g);
    ig_plan_passes(g, p, NULL, b);
    assert_int_equal(p->n_passes, 2);
    assert_int_equal(ig_pass_kind(p, g->inputs[0]), input);
    assert_int_equal(ig_pass_kind(p, g->outputs[0]), output);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void the_least_is_taken(void **state)
{
    const int64_t gb = 1000000000;
    struct ig_platform own = {.n_processors = 1}, slow = board_of(1, 100000, gb / 100), fast = board_of(1, 100000, 10 * gb),
                       managed = board_of(1, 10, gb), rough = board_of(0, 100000, gb / 2);
    (void)state;
    assert_kinds(16, &own, IG_PASS_PINNED, IG_PASS_PINNED);     /* memory of its own */
    assert_kinds(16, &slow, IG_PASS_PINNED, IG_PASS_PINNED);    /* 4 KB: 5 us by copy, 400 in place */
    assert_kinds(16, &fast, IG_PASS_MAPPED, IG_PASS_MAPPED);
    assert_kinds(16, &managed, IG_PASS_MANAGED, IG_PASS_MANAGED);
    assert_kinds(16, &rough, IG_PASS_PINNED, IG_PASS_MAPPED);   /* the processor's own accesses count, too: 16 us and 0.1 */
    rough.processors[1].integrated.coherent = 1;
    rough.processors[1].integrated.mapped_bytes_per_s = gb;
    assert_kinds(16, &rough, IG_PASS_MAPPED, IG_PASS_MAPPED);
    assert_kinds(256, &fast, IG_PASS_MANAGED, IG_PASS_MAPPED);  /* 1 MB: 105 us in place, 100 to change hands */
}

/* What a convolution reads again and again is not mapped; what a copy reads once is. */
static void reads_count(void **state)
{
    struct ig_graph *g = net(16);
    struct ig_plan *p = plan_of(g);
    struct ig_platform b = board_of(1, 1000000, 2000000000);
    struct ig_plan staged = {.n_stages = 2};
    struct ig_plan_stage stages[2] = {{.processor = "cpu:0", .first = 0, .last = 0},
                                       {.processor = "gpu", .first = 1, .last = p->n_steps - 1}};
    (void)state;
    ig_plan_passes(g, p, NULL, &b);
    assert_int_equal(g->nodes[0].op, IG_UNARY);
    assert_int_equal(ig_pass_kind(p, g->inputs[0]), IG_PASS_MAPPED);
    staged.stages = stages;
    staged.n_steps = p->n_steps;
    assert_int_equal(g->nodes[1].op, IG_CONV);
    ig_plan_passes(g, p, &staged, &b);
    assert_int_equal(ig_pass_kind(p, g->nodes[1].in[0]), IG_PASS_PINNED);
    ig_plan_free(p);
    ig_graph_free(g);
}

/* --- how long it takes --- */

/* The net's copy on a core, its convolution on the GPU, its pool on another core. */
static struct ig_plan *staged_of(const struct ig_graph *g, const struct ig_platform *board, const struct ig_plan *like)
{
    char err[300];
    struct ig_plan_options o = {.target = "test", .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF, .board = board,
                                .like = like};
    struct ig_plan_stage stages[] = {{.processor = "cpu:0", .threads = 1}, {.processor = "gpu", .threads = 1, .gpu_ns = 5000},
                                     {.processor = "cpu:1", .threads = 1}};
    struct ig_plan *p = ig_plan_stages(g, &o, (int32_t[]){0, 1, 2}, stages, 3, err, sizeof err);
    if (!p) fail_msg("%s", err);
    return p;
}

static void assert_pass_ns(const struct ig_platform *board, double before, double gpu, double behind)
{
    const double ns[] = {before, gpu, behind};
    struct ig_graph *g = net(16);
    struct ig_plan *p = staged_of(g, board, NULL), *none = staged_of(g, board, NULL);
    for (int32_t i = 0; i < 3; i++) {
        if (fabs(p->stages[i].pass_ns - ns[i]) > 1e-6)
            fail_msg("passing takes %g ns of stage %d, not %g", p->stages[i].pass_ns, i, ns[i]);
        none->stages[i].pass_ns = 0;
        assert_true(fabs(ig_stage_ns(p, i) - ig_stage_ns(none, i) - ns[i]) < 1e-6);
    }
    assert_int_equal(p->n_passes, 2);
    ig_plan_free(none);
    ig_plan_free(p);
    ig_graph_free(g);
}

/*
 * 4 KB in, 8 KB out. In place the convolution reads every pixel for its nine taps - 3x3 at each of 16x16, one tile of
 * channels - and writes what it makes; where the processor does not cache them, so do its accesses take their time.
 */
static void stages_take_time_to_pass(void **state)
{
    const int64_t gb = 1000000000;
    const double in = 4096, out = 8192;
    struct ig_platform managed = board_of(1, 300, gb), mapped = board_of(1, 100000, 100 * gb), rough = board_of(0, 100000, 100 * gb),
                       copied = board_of(1, 100000, gb / 100);
    (void)state;
    assert_pass_ns(NULL, 0, 2 * 10000 + 342 + 683, 0);
    assert_pass_ns(&copied, 0, 2 * 1000 + in + out, 0);
    assert_pass_ns(&managed, 0, 2 * 300, 0);
    assert_pass_ns(&mapped, 0, (9 * in + out) / 100, 0);
    assert_pass_ns(&rough, in / 100, (9 * in + out) / 100, out / 100);
}

/* The period counts it, and plan.json. */
static void passing_is_in_the_period(void **state)
{
    char path[] = "/tmp/passes-XXXXXX", err[300];
    struct ig_graph *g = net(16);
    struct ig_platform slow = board_of(0, 100000000, 1000), *boards[] = {&slow, NULL};
    (void)state;
    slow.processors[1].integrated.copy_bytes_per_s = 100000; /* 41 and 82 ms: more than the steps take */
    close(mkstemp(path));
    for (int i = 0; i < 2; i++) {
        struct ig_plan *p = staged_of(g, boards[i], NULL);
        if (boards[i]) assert_true(fabs(p->period_ns - (5000 + 2 * 1000 + 122880000)) < 1);
        if (ig_plan_write(p, g, path, err, sizeof err)) fail_msg("%s", err);
        struct ig_plan *again = ig_plan_read(path, g, err, sizeof err);
        if (!again) fail_msg("%s", err);
        assert_true(again->period_ns == p->period_ns);
        for (int32_t k = 0; k < 3; k++) assert_true(again->stages[k].pass_ns == p->stages[k].pass_ns);
        assert_true(again->stages[1].gpu_ns == 5000);
        ig_plan_free(again);
        ig_plan_free(p);
    }
    unlink(path);
    ig_graph_free(g);
}

/* What a plan before it has pinned stays so in one that is like it, though mapping were cheaper. */
static void like_the_plan_before(void **state)
{
    struct ig_graph *g = net(16);
    struct ig_platform fast = board_of(1, 100000, 100000000000);
    struct ig_plan *first = staged_of(g, NULL, NULL), *second = staged_of(g, &fast, first), *alone = staged_of(g, &fast, NULL);
    int32_t x = g->nodes[1].in[0];
    (void)state;
    assert_int_equal(ig_pass_kind(second, x), IG_PASS_PINNED);
    assert_int_equal(ig_pass_kind(alone, x), IG_PASS_MAPPED);
    assert_true(second->stages[1].pass_ns > alone->stages[1].pass_ns);
    ig_plan_free(alone);
    ig_plan_free(second);
    ig_plan_free(first);
    ig_graph_free(g);
}

/* plan.json says it, and reads it back. */
static void written_and_read(void **state)
{
    char path[] = "/tmp/passes-XXXXXX", err[300];
    struct ig_graph *g = net(16);
    struct ig_plan *p = plan_of(g);
    struct ig_platform b = board_of(1, 10, 1000000000);
    (void)state;
    close(mkstemp(path));
    ig_plan_passes(g, p, NULL, &b);
    p->passes[1].kind = IG_PASS_MAPPED;
    if (ig_plan_write(p, g, path, err, sizeof err)) fail_msg("%s", err);
    struct ig_plan *again = ig_plan_read(path, g, err, sizeof err);
    unlink(path);
    if (!again) fail_msg("%s", err);
    assert_int_equal(again->n_passes, p->n_passes);
    assert_memory_equal(again->passes, p->passes, (size_t)p->n_passes * sizeof *p->passes);
    ig_plan_free(again);
    ig_plan_free(p);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_least_is_taken), cmocka_unit_test(reads_count),
                                       cmocka_unit_test(stages_take_time_to_pass),
                                       cmocka_unit_test(passing_is_in_the_period), cmocka_unit_test(like_the_plan_before),
                                       cmocka_unit_test(written_and_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
