/* How tensors pass between processor and GPU, by what boards say of their memory. */
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

/* side x side pixels of 4 channels; a copy, a convolution 3x3, a pool. */
static struct ig_graph *net(int32_t side)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, side, side, 4);
    ig_add_output(g, net_global_pool(g, net_conv(g, net_relu(g, x), 8, 3, 1, -1)));
    net_done(g);
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
                                       cmocka_unit_test(written_and_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
