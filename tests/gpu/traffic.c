/*
 * What is counted of a GPU's memory: accesses whose cost is known by hand, and kernels that were written so that no two lanes of a
 * warp wait for each other and no bytes come that nobody wants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/micro/micro.h"
#include "bench/traffic/traffic.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "kernels_gpu/emu/run.h"
#include "tests/gpu/traffic.h"
#include "tests/support/node.h"

enum { WORDS = 32 * 33, BLOCKS = 100 };

emu_kernel_fn traffic_words__emu, traffic_quads__emu, traffic_writes__emu, traffic_device__emu, traffic_device_quads__emu, traffic_halves__emu;

static struct emu_traffic counted(emu_kernel_fn *kernel, int apart, int share, int lanes)
{
    const struct emu_dim grid = {BLOCKS / 4, 2, 2};
    struct traffic_params p = {emu_alloc(WORDS * 4), emu_alloc(BLOCKS * OF_BLOCK * 4), apart, share, lanes};
    emu_allow((void *)(uintptr_t)p.in, WORDS * 4, EMU_READ);
    emu_allow(p.out, BLOCKS * OF_BLOCK * 4, EMU_WRITE);
    emu_count(4);
    if (emu_launch("counted", kernel, grid, 32, &p)) fail_msg("%s", emu_fault());
    struct emu_traffic t = *emu_counted(0);
    assert_null(emu_counted(1));
    emu_count(0);
    emu_free((void *)(uintptr_t)p.in);
    emu_free(p.out);
    assert_int_equal(t.blocks, BLOCKS);
    assert_int_equal(t.threads, 32);
    return t;
}

/* Of a block: requests, and what they come to, made and at least. */
static void check(const struct emu_traffic *t, enum emu_kind kind, double requests, double units, double least)
{
    const struct emu_flow *f = &t->flow[kind];
    if (f->requests != BLOCKS * requests || f->units != BLOCKS * units || f->least != BLOCKS * least)
        fail_msg("%g requests, %g for %g; not %g, %g for %g", f->requests / BLOCKS, f->units / BLOCKS, f->least / BLOCKS, requests, units, least);
}

static void banks(void **state)
{
    static const struct {
        int apart, share;
        double units, least;
    } words[] = {{1, 1, 1, 1}, {2, 1, 2, 1}, {3, 1, 1, 1}, {32, 1, 32, 1}, {33, 1, 1, 1}, {0, 1, 1, 1}, {32, 4, 8, 1}},
      quads[] = {{4, 1, 4, 4}, {8, 1, 8, 4}, {20, 1, 4, 4}, {32, 1, 32, 4}, {4, 2, 2, 2}, {0, 1, 2, 2}, {4, 4, 2, 2}};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct emu_traffic t = counted(traffic_words__emu, words[i].apart, words[i].share, 32);
        check(&t, EMU_SHARED_STORE, 33, 33, 33);
        check(&t, EMU_SHARED_LOAD, 1, words[i].units, words[i].least);
        t = counted(traffic_quads__emu, quads[i].apart, quads[i].share, 32);
        check(&t, EMU_SHARED_LOAD, 1, quads[i].units, quads[i].least);
    }
    for (int apart = 1; apart <= 32; apart *= 2) {
        struct emu_traffic t = counted(traffic_writes__emu, apart, 1, 32);
        check(&t, EMU_SHARED_STORE, 1, apart, 1);
    }
}

static void sectors(void **state)
{
    static const struct {
        int apart, share, lanes;
        double units, least;
    } words[] = {{1, 1, 32, 4, 4}, {8, 1, 32, 32, 4}, {0, 1, 32, 1, 1}, {1, 8, 32, 1, 1}, {1, 1, 16, 2, 2}, {16, 1, 5, 5, 1}};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        struct emu_traffic t = counted(traffic_device__emu, words[i].apart, words[i].share, words[i].lanes);
        check(&t, EMU_GLOBAL_LOAD, 2, 2 * words[i].units, 2 * words[i].least);
        check(&t, EMU_GLOBAL_STORE, 1, 4, 4);
        assert_true(t.block_sectors == BLOCKS * words[i].units); /* the second time it is there */
    }
    struct emu_traffic t = counted(traffic_device_quads__emu, 4, 1, 32);
    check(&t, EMU_GLOBAL_LOAD, 1, 16, 16);
    t = counted(traffic_halves__emu, 4, 1, 32);
    check(&t, EMU_GLOBAL_LOAD, 1, 8, 8);
    check(&t, EMU_GLOBAL_STORE, 1, 8, 8);
    t = counted(traffic_halves__emu, 16, 1, 32);
    check(&t, EMU_GLOBAL_LOAD, 1, 32, 8);
}

/* --- kernels --- */

static void keep(const char *what, const struct emu_flow *f, double most)
{
    if (f->units > most * f->least) fail_msg("%s: %.0f where %.0f would do", what, f->units, f->least);
}

/* `loads` and `stores`: sectors that may be touched, as a multiple of those that would hold what is asked for. */
static void count_kernel(const struct ig_kernel *k, const struct ig_call *call, double loads, double stores)
{
    const struct emu_traffic *t;
    emu_count(2);
    if (ig_traffic_run(k, call)) fail_msg("%s", emu_fault());
    for (unsigned i = 0; (t = emu_counted(i)); i++) {
        keep(t->name, &t->flow[EMU_SHARED_LOAD], 1.12);
        keep(t->name, &t->flow[EMU_SHARED_STORE], 1);
        keep(t->name, &t->flow[EMU_GLOBAL_LOAD], loads);
        keep(t->name, &t->flow[EMU_GLOBAL_STORE], stores);
    }
    assert_non_null(emu_counted(0));
    emu_count(0);
}

/* All kernels for the convolution of such a name (NULL: any) but the slow ones, for shapes that nothing else computes; how many. */
static int count_conv(const char *text, int halves, const char *name, double loads)
{
    static char err[IG_ERROR_BYTES];
    struct ig_graph *g = ig_micro_graph(text, err, sizeof err);
    struct ig_call call;
    int32_t batch, n = 0;
    if (!g) fail_msg("%s", err);
    if (halves) assert_true(ig_pass_half(g) > 0);
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    ig_compute_views(g, views);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        if (g->nodes[i].op != IG_CONV) continue;
        ig_node_call(g, views, &g->nodes[i], &call, &batch);
        for (int j = 0; j < ig_kernel_count(); j++) {
            const struct ig_kernel *k = ig_kernel_at(j);
            if (k->isa != IG_ISA_CUDA || !ig_kernel_fits(k, IG_CONV, &call) || strstr(k->name, "direct") || strstr(k->name, "_any_")) continue;
            if (name && !strstr(k->name, name)) continue;
            count_kernel(k, &call, loads, 1);
            n++;
        }
    }
    free(views);
    ig_graph_free(g);
    return n;
}

static void tiles(void **state)
{
    (void)state;
    assert_true(count_conv("28x28x64>64,3x3s1", 0, NULL, 1.1) > 20);
    assert_true(count_conv("14x14x64>128,3x3s2", 0, NULL, 1.1) > 10);
    assert_true(count_conv("14x14x256>128,1x1s1", 0, NULL, 1.1) > 10);
    assert_true(count_conv("14x14x64>128,3x3s1", 1, NULL, 1.1) > 10);
}

/* The patch is read channel by channel; what lies beside it in a sector may be no part of it. */
static void first_layers(void **state)
{
    (void)state;
    assert_int_equal(count_conv("64x64x3>64,7x7s2", 0, "first", 2), 3);
    assert_int_equal(count_conv("32x32x3>64,3x3s1", 0, "first", 2), 3);
    assert_int_equal(count_conv("48x48x1>64,5x5s1", 0, "first", 1.3), 3);
    assert_int_equal(count_conv("64x64x3>32,3x3s2", 0, "first", 3.6), 3);
    assert_int_equal(count_conv("67x67x3>64,11x11s4", 0, "first", 3.6), 1);
    assert_int_equal(count_conv("64x64x3>64,7x7s2", 1, "first_mma", 2), 2);
    assert_int_equal(count_conv("32x32x3>64,3x3s1", 1, "first_mma", 2), 2);
    assert_int_equal(count_conv("48x48x4>32,5x5s1", 1, "first_mma", 2), 2);
    assert_int_equal(count_conv("64x64x3>32,3x3s2", 1, "first_mma", 3.6), 2);
}

/* Neighbours of a row are read by one lane and the next. */
static void groups(void **state)
{
    (void)state;
    assert_true(count_conv("28x28x128>128,3x3s1g32", 0, "grouped", 1.4) > 1);
    assert_true(count_conv("28x28x96>96,7x7s1g96", 0, "depthwise", 1.4) > 0);
    assert_true(count_conv("28x28x96>96,3x3s2g96", 0, "depthwise", 1.4) > 0);
}

static void bytes(void **state)
{
    enum { SIDE = 14, CHANNELS = 64 };
    static const float scale[CHANNELS] = {1}, one = 1;
    static const int8_t weights[CHANNELS * CHANNELS * 9] = {1}, zero;
    static const int32_t bias[CHANNELS];
    const struct ig_shape x = SHAPE(IG_I8, 1, SIDE, SIDE, CHANNELS), of_weights = SHAPE(IG_I8, CHANNELS, CHANNELS, 3, 3);
    const struct ig_shape number = SHAPE(IG_F32, 1), byte = SHAPE(IG_I8, 1), scales = SHAPE(IG_F32, CHANNELS), sums = SHAPE(IG_I32, CHANNELS);
    const struct ig_shape *in[] = {&x, &number, &byte, &of_weights, &scales, &byte, &number, &byte, &sums}, *out[] = {&x};
    const void *data[] = {NULL, &one, &zero, weights, scale, &zero, &one, &zero, bias};
    const struct ig_conv attrs = {.w = {1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}, .groups = 1};
    struct ig_call call;
    int batch, n = 0;
    (void)state;
    assert_int_equal(ig_build_call(IG_QLINEAR_CONV, &attrs, in, data, 9, out, 1, &call, &batch), 0);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->isa != IG_ISA_CUDA || !k->pack || !ig_kernel_fits(k, IG_QLINEAR_CONV, &call)) continue;
        count_kernel(k, &call, 1, 2); /* a thread has four channels of a pixel: a warp half a sector */
        n++;
    }
    assert_true(n > 10);
}

/* Of as many units as a GPU's lanes have two of. R is read whole; a warp's eight units fill a sector, its one of several rows does not. */
static void recurrent(void **state)
{
    enum { STEPS = 2, ROWS = 4, UNITS = 64, LONG = 128, GATES = 4 };
    static const float weights[GATES * LONG * LONG];
    int n = 0;
    (void)state;
    for (int kind = IG_RNN; kind <= IG_LSTM; kind++)
        for (int32_t units = UNITS; units <= LONG; units += LONG - UNITS) {
            const struct ig_recurrent attrs = {.kind = kind, .f = {IG_SIGMOID, 0, 0}, .g = {IG_TANH, 0, 0}, .u = {IG_TANH, 0, 0}};
            const int32_t rows = ig_gates_of(&attrs) * units;
            const struct ig_shape x = SHAPE(IG_F32, STEPS, ROWS, rows), r = SHAPE(IG_F32, 1, rows, units), y = SHAPE(IG_F32, STEPS, 1, ROWS, units);
            const struct ig_shape *in[] = {&x, &r}, *out[] = {&y};
            const void *data[] = {NULL, weights};
            struct ig_call call;
            int batch;
            assert_int_equal(ig_build_call(IG_RECURRENT, &attrs, in, data, 2, out, 1, &call, &batch), 0);
            for (int i = 0; i < ig_kernel_count(); i++) {
                const struct ig_kernel *k = ig_kernel_at(i);
                if (k->isa != IG_ISA_CUDA || !ig_kernel_fits(k, IG_RECURRENT, &call)) continue;
                count_kernel(k, &call, strstr(k->name, "spread") ? 1.4 : 1.1, strstr(k->name, "spread4") ? 4 : 2);
                n++;
            }
        }
    assert_int_equal(n, 4 + 3 * 2 * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(banks), cmocka_unit_test(sectors), cmocka_unit_test(tiles), cmocka_unit_test(groups),
                                       cmocka_unit_test(first_layers), cmocka_unit_test(recurrent),
                                       cmocka_unit_test(bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
