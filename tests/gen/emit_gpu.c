/* What a program carries for a GPU, as golden text: launches, chosen kernels, modules, and its part of the other files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "gen/emit.h"
#include "planner/passes.h"
#include "tests/support/golden.h"
#include "tests/support/nets.h"
#include "tests/support/node.h"

/* Two convolutions, of which the first reads three channels, and a pool. */
static struct ig_graph *net(void)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 8, 8, 3);
    ig_add_output(g, net_global_pool(g, net_conv(g, net_relu(g, net_conv(g, x, 8, 3, 1, -1)), 40, 1, 1, -1)));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

static struct ig_lowered *lower(struct ig_graph *g, int isa, const struct ig_platform *board)
{
    char err[300];
    struct ig_plan_options o = {.target = "test", .isa = isa, .threads = 1, .bands = IG_BANDS_OFF};
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    if (board) ig_plan_passes(g, p, NULL, board);
    return ig_lower(g, p);
}

static void free_all(struct ig_lowered *l)
{
    struct ig_plan *p = (struct ig_plan *)(uintptr_t)l->plan;
    ig_lowered_free(l);
    ig_plan_free(p);
}

/* All parts in one text; on a board that shares its memory inputs and outputs are mapped. */
static char *text_of(int shares)
{
    const struct ig_platform board = {.n_processors = 1, .processors = {{.overhead_ns = 1000, .integrated = {1, 1, 1000000, 1 << 20, 1 << 30}}}};
    struct ig_graph *g = net();
    struct ig_lowered *cpu = lower(g, IG_ISA_REF, NULL), *gpu = lower(g, IG_ISA_CUDA, shares ? &board : NULL);
    char err[300], *text = NULL;
    size_t n = 0;
    struct ig_gpu_lowered *launches = ig_lower_gpu(gpu, err, sizeof err);
    if (!launches) fail_msg("%s", err);
    const struct ig_emit_gpu on = {.lowered = gpu, .weights = gpu, .launches = launches, .plan_sha256 = "cafe", .n_images = 2,
                                   .images = {{"62,72", "dir/old.fatbin"}, {"90", "dir/new.fatbin"}}};
    const struct ig_emit e = {.lowered = cpu, .prefix = "net", .plan_sha256 = "feedface", .std = {1, 1, 1, 1}, .gpu = &on};
    FILE *f = open_memstream(&text, &n);
    assert_non_null(f);
    ig_emit_gpu_tables(f, &e);
    ig_emit_gpu_kernels(f, &e);
    ig_emit_gpu_images(f, &e);
    ig_emit_gpu_weights(f, &e, "dir/net_gpu_weights.bin");
    ig_emit_gpu_header(f, &e);
    ig_emit_gpu_api(f, &e);
    ig_emit_program(f, &e);
    fclose(f);
    ig_gpu_lowered_free(launches);
    free_all(gpu);
    free_all(cpu);
    ig_graph_free(g);
    return text;
}

static void golden(void **state)
{
    char *copied = text_of(0), *mapped = text_of(1);
    (void)state;
    assert_int_equal(golden_check("gen/gpu.txt", copied), 0);
    assert_int_equal(golden_check("gen/gpu_mapped.txt", mapped), 0);
    free(copied);
    free(mapped);
}

static void same_bytes_again(void **state)
{
    char *a = text_of(0), *b = text_of(0);
    (void)state;
    assert_string_equal(a, b);
    free(a);
    free(b);
}

/* An LSTM of three steps. */
static struct ig_graph *lstm_of(int32_t units)
{
    enum { STEPS = 3, ROWS = 2, GATES = 4 };
    struct ig_graph *g = net_new();
    const struct ig_shape x = SHAPE(IG_F32, STEPS, ROWS, GATES * units), r = SHAPE(IG_F32, 1, GATES * units, units);
    const struct ig_shape y = SHAPE(IG_F32, STEPS, 1, ROWS, units);
    const int32_t in = ig_add_value(g, "x", &x), weights = ig_add_const(g, "r", &r, NULL), out = ig_add_value(g, "y", &y);
    struct ig_node *n = ig_add_node(g, "lstm", IG_RECURRENT, 2, 1);
    ig_add_input(g, in);
    n->in[0] = in, n->in[1] = weights, n->out[0] = out;
    n->attrs.recurrent = (struct ig_recurrent){.kind = IG_LSTM, .f = {IG_HARD_SIGMOID, 0.2f, 0.5f}, .g = {IG_TANH, 0, 0}, .u = {IG_SOFTPLUS, 0, 0}};
    ig_add_output(g, out);
    net_done(g);
    return g;
}

/* What `emit` writes of it contains `want`. */
static void lstm_contains(int32_t units, void (*emit)(FILE *f, const struct ig_emit *e), const char *want)
{
    struct ig_graph *g = lstm_of(units);
    char err[300], *text = NULL;
    size_t bytes = 0;
    struct ig_lowered *gpu = lower(g, IG_ISA_CUDA, NULL);
    struct ig_gpu_lowered *launches = ig_lower_gpu(gpu, err, sizeof err);
    if (!launches) fail_msg("%s", err);
    const struct ig_emit_gpu on = {.lowered = gpu, .weights = gpu, .launches = launches, .plan_sha256 = "cafe"};
    const struct ig_emit e = {.lowered = gpu, .prefix = "net", .plan_sha256 = "feedface", .gpu = &on};
    FILE *f = open_memstream(&text, &bytes);
    assert_non_null(f);
    emit(f, &e);
    fclose(f);
    if (!strstr(text, want)) fail_msg("no %s in\n%s", want, text);
    free(text);
    ig_gpu_lowered_free(launches);
    free_all(gpu);
    ig_graph_free(g);
}

/* Kernels are compiled with the activations within a recurrent layer too; a launch of many units is done for every step. */
static void recurrent_layers(void **state)
{
    char want[64];
    (void)state;
    snprintf(want, sizeof want, "#define GPU_ACTIVATIONS 0x%xu\n", 1u << IG_HARD_SIGMOID | 1u << IG_TANH | 1u << IG_SOFTPLUS);
    lstm_contains(8, ig_emit_gpu_kernels, want);
    lstm_contains(8, ig_emit_gpu_kernels, "#define CHOSEN_recurrent_kept_lstm 1\n");
    lstm_contains(8, ig_emit_gpu_tables, ", 1, &params[0]},");
    lstm_contains(176, ig_emit_gpu_kernels, "#define CHOSEN_recurrent_spread_lstm");
    lstm_contains(176, ig_emit_gpu_tables, ", 3, &params[0]},");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(golden), cmocka_unit_test(same_bytes_again),
                                       cmocka_unit_test(recurrent_layers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
