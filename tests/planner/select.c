/* Which kernel a layer gets, and which cut: by estimates, by errors that are allowed, by profiles. */
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

/* A network of one convolution, c to c channels of size x size pixels. */
static struct ig_graph *net_of_one(int32_t size, int32_t c, int32_t k, int32_t stride)
{
    struct ig_graph *g = net_new();
    ig_add_output(g, net_conv(g, net_input(g, 1, size, size, c), c, k, stride, -1));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

static struct ig_graph *net_3x3(int32_t size, int32_t c)
{
    return net_of_one(size, c, 3, 1);
}

/* Checks which kernel the one step of g gets. */
static void assert_isa_takes(const struct ig_graph *g, int32_t isa, const struct ig_profile *profile, double max_error, const char *name)
{
    struct ig_plan_options o = {.target = "host", .isa = isa, .threads = 1, .profile = profile, .max_error = max_error};
    char err[1024];
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    assert_non_null(p);
    assert_string_equal(p->steps[0].kernel->name, name);
    plan_check(g, p, 0);
    ig_plan_free(p);
}

static void assert_takes(const struct ig_graph *g, const struct ig_profile *profile, double max_error, const char *name)
{
    assert_isa_takes(g, IG_ISA_AVX2, profile, max_error, name);
}

/* Estimates rank Winograd by its tiles and weights; what states a larger error than is allowed is left out. */
static void estimates_keep_the_error(void **state)
{
    struct ig_graph *wide = net_3x3(56, 64), *small = net_3x3(7, 512);
    (void)state;
    assert_takes(wide, NULL, IG_MAX_ERROR, "conv_f32_winograd6_6x16__avx2");
    assert_takes(wide, NULL, 1e-5, "conv_f32_winograd4_6x16__avx2");
    assert_takes(wide, NULL, 5e-6, "conv_f32_winograd2_6x16__avx2");
    assert_takes(wide, NULL, 0, "conv_f32_6x16__avx2");
    assert_takes(small, NULL, IG_MAX_ERROR, "conv_f32_winograd2_6x16__avx2");
    ig_graph_free(wide);
    ig_graph_free(small);
}

/* A network of one convolution of bytes by weights that are constants, 3x3, c to c channels of size x size pixels. */
static struct ig_graph *net_of_bytes(int32_t size, int32_t c)
{
    static const uint8_t zero;
    const struct ig_shape byte = {IG_U8, 0, {1, 1, 1, 1, 1, 1, 1, 1}}, i8 = {IG_I8, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    const struct ig_shape image = {IG_U8, 4, {1, size, size, c, 1, 1, 1, 1}}, w = {IG_I8, 4, {c, c, 3, 3, 1, 1, 1, 1}};
    const struct ig_window window = {1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1};
    struct ig_graph *g = net_new();
    const int32_t x = ig_add_value(g, "x", &image), scale = build_scalar(g, 1), zeros = ig_add_const(g, "zero", &byte, &zero);
    const int32_t in[8] = {x, scale, zeros, ig_add_const(g, "w", &w, NULL), scale, ig_add_const(g, "w_zero", &i8, &zero), scale, zeros};
    ig_add_input(g, x);
    ig_add_output(g, build_node(g, IG_QLINEAR_CONV, ATTRS(.conv = {.w = window, .groups = 1}), 8, in, &image));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

/*
 * Of so few channels that transforms take longer than products, or of so few tiles that those of weights do, there are no tiles;
 * processors that multiply four bytes at once have none. (Numbers whose zero is 0 are taken to be small, and may be split.)
 */
static void estimates_know_tiles_of_bytes(void **state)
{
    static const struct { int32_t size, c, isa; const char *name; } expected[] = {
        {56, 64, IG_ISA_AVX2, "qlinear_conv_i8_winograd4_6x16__avx2"}, {7, 512, IG_ISA_AVX2, "qlinear_conv_i8_winograd4_6x16__avx2"},
        {56, 3, IG_ISA_AVX2, "qlinear_conv_i8_split4x16__avx2"}, {56, 64, IG_ISA_VNNI, "qlinear_conv_i8_12x32__vnni"},
        {56, 16, IG_ISA_NEON, "qlinear_conv_i8_winograd4_4x16__neon"}, {14, 256, IG_ISA_NEON, "qlinear_conv_i8_winograd4_4x16__neon"},
        {56, 3, IG_ISA_NEON, "qlinear_conv_i8_4x16__neon"}, {4, 256, IG_ISA_NEON, "qlinear_conv_i8_4x16__neon"},
        {56, 256, IG_ISA_DOTPROD, "qlinear_conv_i8_6x16__dotprod"}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct ig_graph *g = net_of_bytes(expected[i].size, expected[i].c);
        assert_isa_takes(g, expected[i].isa, NULL, 0, expected[i].name);
        ig_graph_free(g);
    }
}

/* Threads share the rows of an image that is larger than the weights, and channels where weights are larger: of floats and of bytes. */
static void large_weights_are_cut(void **state)
{
    static const struct { int32_t size, c, split; } layers[] = {{112, 64, 1}, {14, 512, 2}};
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct ig_graph *g = i % 2 ? net_of_bytes(layers[i / 2].size, layers[i / 2].c) : net_3x3(layers[i / 2].size, layers[i / 2].c);
        struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_VNNI, .threads = 2});
        assert_true(p->steps[0].chunks > 1);
        assert_int_equal(p->steps[0].split, layers[i / 2].split);
        ig_plan_free(p);
        ig_graph_free(g);
    }
}

static void estimates_know_windows(void **state)
{
    static const struct { int32_t k, stride; double error; const char *name; } expected[] = {
        {5, 1, IG_MAX_ERROR, "conv_f32_winograd4of5_6x16__avx2"}, {5, 1, 1e-5, "conv_f32_winograd2of5_6x16__avx2"},
        {7, 1, IG_MAX_ERROR, "conv_f32_winograd2of7_6x16__avx2"}, {3, 2, 1e-5, "conv_f32_winograd4s2_6x16__avx2"},
        {5, 2, 1, "conv_f32_6x16__avx2"}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct ig_graph *g = net_of_one(112, 96, expected[i].k, expected[i].stride);
        assert_takes(g, NULL, expected[i].error, expected[i].name);
        ig_graph_free(g);
    }
}

/* A graph of one node on an input of [1, 28, 28, 64], or of more inputs. */
static struct ig_graph *net_of_node(enum ig_op op, const union ig_attrs *attrs, int n_in, const int32_t dims[][4])
{
    struct ig_graph *g = net_new();
    int32_t in[3];
    for (int i = 0; i < n_in; i++) in[i] = i == 1 ? build_const(g, 4, dims[i]) : build_input(g, "x", 4, dims[i]);
    ig_add_output(g, build_node(g, op, attrs, n_in, in, NULL));
    ig_prepare_views(g);
    return g;
}

static struct ig_graph *net_by_channel(int32_t size, int32_t c, int32_t k)
{
    const union ig_attrs a = {.conv = {.w = {1, k, k, 1, 1, 1, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1}, .groups = c}};
    struct ig_graph *g = net_new();
    const int32_t in[2] = {build_input(g, "x", DIMS(1, size, size, c)), build_const(g, DIMS(c, 1, k, k))};
    ig_add_output(g, build_node(g, IG_CONV, &a, 2, in, NULL));
    ig_prepare_views(g);
    return g;
}

/* Kernels that the Xeon has no costs of are estimated, too, and win where AVX2's take as long. */
static void estimates_know_all_of_avx512(void **state)
{
    static const int32_t image[1][4] = {{1, 28, 28, 64}}, deformed[3][4] = {{1, 64, 28, 28}, {64, 64, 3, 3}, {1, 18, 28, 28}};
    static const struct { int32_t size, c, k; const char *name; } layers[] = {
        {56, 64, 9, "conv_f32_depthwise16__avx512"}, {14, 672, 5, "conv_f32_depthwise7x32__avx512"}, {56, 144, 3, "conv_f32_depthwise3x3__avx2"}};
    const struct ig_window w = {1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1};
    struct ig_graph *nets[] = {net_of_node(IG_UNARY, ACT(IG_GELU), 1, image), net_of_node(IG_SOFTMAX, ATTRS(.axis = {3, IG_SOFTMAX_EXP}), 1, image),
                               net_of_node(IG_DEFORM_CONV, ATTRS(.deform = {w, 1, 1}), 3, deformed)};
    const char *names[] = {"unary_f32_gelu16__avx512", "softmax_f32_16__avx512", "deform_conv_f32_16__avx512"};
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_isa_takes(nets[i], IG_ISA_AVX512, NULL, IG_MAX_ERROR, names[i]);
        ig_graph_free(nets[i]);
    }
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        struct ig_graph *g = net_by_channel(layers[i].size, layers[i].c, layers[i].k);
        assert_isa_takes(g, IG_ISA_AVX512, NULL, IG_MAX_ERROR, layers[i].name);
        ig_graph_free(g);
    }
}

/* What was measured counts, not what is stated. */
static void profiles_keep_the_error(void **state)
{
    struct ig_graph *g = net_3x3(28, 16);
    (void)state;
    const struct ig_kernel *direct = ig_kernel_by_name("conv_f32_6x16__avx2");
    const struct ig_kernel *f4 = ig_kernel_by_name("conv_f32_winograd4_6x16__avx2");
    const struct ig_kernel *f6 = ig_kernel_by_name("conv_f32_winograd6_6x16__avx2");
    struct ig_timing t[] = {
        {0, direct, 0, 0, 1, 9e5, 0, 0}, {0, f4, 0, 0, 1, 3e5, 0, 2e-5}, {0, f6, 0, 0, 1, 5e5, 0, 9e-6}};
    struct ig_profile profile = {.sha256 = (char *)"", .graph_sha256 = (char *)"", .n = 3, .timings = t};
    assert_takes(g, &profile, 1, f4->name);
    assert_takes(g, &profile, 1e-5, f6->name);
    assert_takes(g, &profile, 8e-6, direct->name);
    ig_graph_free(g);
}

/* Weights that are four times as large have to be worth it: within four frames on a CPU, on a GPU, whose frames are short, within 600. */
static void weights_have_a_price(void **state)
{
    struct ig_graph *g = net_3x3(8, 64);
    const struct ig_kernel *gpu[] = {ig_kernel_by_name("conv_f32_64x64__cuda"), ig_kernel_by_name("conv_f32_winograd4_64x64__cuda")};
    const struct ig_kernel *cpu[] = {ig_kernel_by_name("conv_f32_6x16__avx2"), ig_kernel_by_name("conv_f32_winograd4_6x16__avx2")};
    (void)state;
    for (int on_gpu = 0; on_gpu < 2; on_gpu++) {
        const struct ig_kernel **k = on_gpu ? gpu : cpu;
        struct ig_timing t[] = {{0, k[0], 0, 0, 1, 2e4, 0, 0}, {0, k[1], 0, 0, 1, 1.8e4, 0, 0}};
        struct ig_profile profile = {.sha256 = (char *)"", .graph_sha256 = (char *)"", .n = 2, .timings = t};
        struct ig_plan_options o = {.target = "test", .isa = k[0]->isa, .threads = 1, .profile = &profile, .max_error = 1};
        char err[300];
        struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
        if (!p) fail_msg("%s", err);
        assert_string_equal(p->steps[0].kernel->name, k[on_gpu]->name);
        ig_plan_free(p);
    }
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(estimates_keep_the_error),      cmocka_unit_test(estimates_know_windows), cmocka_unit_test(estimates_know_tiles_of_bytes),
        cmocka_unit_test(large_weights_are_cut),         cmocka_unit_test(estimates_know_all_of_avx512), cmocka_unit_test(profiles_keep_the_error),
        cmocka_unit_test(weights_have_a_price),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
