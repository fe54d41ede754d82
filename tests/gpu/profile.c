/* Times of GPU kernels, on the emulated driver: they are made to sum up to a whole frame, whatever is wrong with them, and what computes wrong results has none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/gpu/expected.h"
#include "tests/support/emulated.h"
#include "tests/support/nets.h"

enum { REPEATS = 2, RUNS = 3, FRAMES = 5 };

static void test_whole_frame(void **state)
{
    (void)state;
    const void *modules[] = {"emulated", NULL};
    struct ig_graph *g = net_two_convs(16);
    char err[512] = "";
    struct ig_profile *p = ig_gpu_profile(g, modules, REPEATS, RUNS, NULL, err, sizeof err);
    if (!p) fail_msg("%s", err);
    assert_true(p->n > 4);
    assert_true(p->whole_over_sum == 0);
    double before[128];
    assert_in_range(p->n, 1, 128);
    for (int32_t i = 0; i < p->n; i++) {
        before[i] = p->timings[i].alone_ns;
        p->timings[i].alone_ns *= 1e-8;
    }
    if (ig_gpu_profile_whole(g, modules, REPEATS, FRAMES, p, err, sizeof err)) fail_msg("%s", err);
    assert_in_range((uintmax_t)p->whole_over_sum, 10000, 1000000000000); /* 10^8, but for what disturbs either */
    for (int32_t i = 0; i < p->n; i++)
        assert_float_equal(p->timings[i].alone_ns / before[i], p->whole_over_sum * 1e-8, 1e-3 * p->whole_over_sum * 1e-8);
    ig_profile_free(p);
    ig_graph_free(g);
}

static const struct ig_timing *timing_of(const struct ig_profile *p, const char *kernel)
{
    for (int32_t i = 0; i < p->n; i++)
        if (!strcmp(p->timings[i].kernel->name, kernel)) return &p->timings[i];
    fail_msg("no times of %s", kernel);
    return NULL;
}

/* A price of weights is for where the frame of a kernel of fewer is faster; where that kernel is the fastest anyway, there is nothing to ask. */
static void test_price_of_weights(void **state)
{
    static const struct {
        const char *more, *fewer; /* weights */
        double more_ns;           /* the other takes 1100, the rest a millisecond */
        const char *slow;         /* function, in a whole frame */
        int has_price;
    } cases[] = {{"conv_f32_winograd4_128x64__cuda", "conv_f32_direct__cuda", 1000, "winograd4_out", 1},
                 {"conv_f32_winograd2_64x64__cuda", "conv_f32_128x128__cuda", 1000, "conv_128x128", 0},
                 {"conv_f32_winograd4_128x64__cuda", "conv_f32_direct__cuda", 3000, "winograd4_out", 0}};
    const void *modules[] = {"emulated", NULL};
    struct ig_graph *g = net_two_convs(4);
    struct ig_view *views = calloc((size_t)g->n_values, sizeof *views);
    char err[512] = "";
    struct ig_profile *p = ig_gpu_profile(g, modules, 1, 1, NULL, err, sizeof err);
    (void)state;
    if (!p) fail_msg("%s", err);
    ig_compute_views(g, views);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const struct ig_timing *more = timing_of(p, cases[c].more), *fewer = timing_of(p, cases[c].fewer);
        double price = 0;
        for (int32_t i = 0; i < p->n; i++) {
            struct ig_timing *t = &p->timings[i];
            t->alone_ns = t->kernel == more->kernel ? cases[c].more_ns : t->kernel == fewer->kernel ? 1100 : 1e6;
        }
        setenv("EMU_CUDA_SLOWS", cases[c].slow, 1);
        int bad = ig_gpu_profile_weights(g, modules, 1, FRAMES, p, err, sizeof err);
        unsetenv("EMU_CUDA_SLOWS");
        if (bad) fail_msg("%s", err);
        for (int32_t i = 0; i < p->n; i++) {
            const struct ig_timing *t = &p->timings[i];
            struct ig_call call;
            int32_t batch;
            ig_node_call(g, views, &g->nodes[t->node], &call, &batch);
            double bytes = (double)t->kernel->pack(&call, NULL);
            if (!i && cases[c].has_price) price = (t->in_order_ns - t->alone_ns) / bytes;
            assert_float_equal(t->in_order_ns, cases[c].has_price ? t->alone_ns + price * bytes : 0, 1e-3);
        }
        if (cases[c].has_price) assert_true(price > 0 && fewer->in_order_ns < more->in_order_ns);
    }
    ig_profile_free(p);
    ig_graph_free(g);
    free(views);
}

static char told[512];

static void tell(const char *layer, const char *kernel, const char *what)
{
    size_t at = strlen(told);
    snprintf(told + at, sizeof told - at, "%s %s %s\n", layer, kernel, what);
}

/* Kernels of a function that does nothing, or not its part of a sum, are told and have no time; the others have theirs. */
/* `function` does nothing, and so does `kernel`. */
static void check_wrong_kernel(struct ig_graph *g, const char *function, const char *kernel)
{
    const void *modules[] = {"emulated", NULL};
    char err[512] = "", want[256];
    told[0] = 0;
    struct ig_profile *right = ig_gpu_profile(g, modules, 1, 1, tell, err, sizeof err);
    assert_non_null(right);
    assert_string_equal(told, "");
    setenv("EMU_CUDA_SKIPS", function, 1);
    struct ig_profile *p = ig_gpu_profile(g, modules, 1, 1, tell, err, sizeof err);
    unsetenv("EMU_CUDA_SKIPS");
    assert_non_null(p);
    print_message("%s", told);
    snprintf(want, sizeof want, "%s %s element 0: ", g->nodes[1].name, kernel);
    assert_non_null(strstr(told, want));
    int32_t n = 0;
    for (const char *c = told; *c; c++) n += *c == '\n';
    assert_int_equal(p->n + n, right->n);
    for (int32_t i = 0; i < p->n; i++) {
        snprintf(want, sizeof want, "%s %s ", g->nodes[p->timings[i].node].name, p->timings[i].kernel->name);
        assert_null(strstr(told, want));
    }
    ig_profile_free(p);
    ig_profile_free(right);
    ig_graph_free(g);
}

static void test_wrong_kernel(void **state)
{
    (void)state;
    check_wrong_kernel(net_two_convs(8), "conv_64x64", "conv_f32_64x64__cuda");
}

static void test_wrong_kernel_on_halves(void **state)
{
    struct ig_graph *g = net_two_convs(8);
    (void)state;
    assert_true(ig_pass_half(g));
    assert_true(g->nodes[1].n_in > 2 && g->nodes[1].in[2] >= 0);
    const float bias = ig_half_to_float(*(const uint16_t *)g->values[g->nodes[1].in[2]].data);
    check_wrong_kernel(g, "conv_half_mma64x64", "conv_f16_mma64x64__cuda");
    const char *expected = strstr(told, "expected ");
    assert_true(expected && fabsf(strtof(expected + strlen("expected "), NULL) - bias) > 0.01f); /* a sum of numbers, not of zeros */
}

/* What another kernel left where the output goes, right as it is, is no result: each of these steps does nothing the second time. */
static void test_left_over(void **state)
{
    (void)state;
    const void *modules[] = {"emulated", NULL};
    struct ig_graph *g = net_two_convs(8);
    struct ig_gpu_bed b;
    char err[512] = "";
    struct ig_gpu_expected *e = ig_gpu_expected_new(g, err, sizeof err);
    if (!e || ig_gpu_bed_make(&b, g, NULL, 0, NULL, modules, err, sizeof err)) fail_msg("%s", err);
    for (int32_t s = 0; s < b.lowered->model.n_steps; s++) {
        int32_t last = b.launches->first[s + 1] - 1;
        assert_int_equal(ig_gpu_step_agrees(e, &b, s, err, sizeof err), 0);
        setenv("EMU_CUDA_SKIPS", b.launches->functions[b.launches->calls[last].function], 1);
        int differ = ig_gpu_step_agrees(e, &b, s, err, sizeof err);
        unsetenv("EMU_CUDA_SKIPS");
        assert_int_equal(differ, 1);
        assert_non_null(strstr(err, "nan, expected "));
    }
    ig_gpu_bed_free(&b);
    ig_gpu_expected_free(e);
    ig_graph_free(g);
}

/* Operands of all places and strides, in place and not: emulated kernels are right wherever they lie. */
static void test_right_kernels(void **state)
{
    (void)state;
    const void *modules[] = {"emulated", NULL};
    *told = 0;
    for (uint64_t seed = 1; seed <= 6; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = seed % 2 ? net_random(&r, 16) : net_chain(&r, 8);
        char err[512] = "";
        ig_prepare_views(g);
        struct ig_profile *p = ig_gpu_profile(g, modules, 1, 1, tell, err, sizeof err);
        if (!p) fail_msg("seed %d: %s", (int)seed, err);
        if (*told) fail_msg("seed %d: %s", (int)seed, told);
        assert_true(p->n > 0);
        ig_profile_free(p);
        ig_graph_free(g);
    }
}

/* A layer of whose kernels none is right: there is no network without it. */
static void test_no_right_kernel(void **state)
{
    (void)state;
    const void *modules[] = {"emulated", NULL};
    struct ig_graph *g = net_new();
    ig_add_output(g, net_softmax(g, net_input(g, 1, 2, 2, 8)));
    net_done(g);
    char err[512] = "", want[256];
    setenv("EMU_CUDA_FAILS", "result", 1);
    struct ig_profile *p = ig_gpu_profile(g, modules, 1, 1, NULL, err, sizeof err);
    unsetenv("EMU_CUDA_FAILS");
    assert_null(p);
    snprintf(want, sizeof want, "%s: no kernel computes on this GPU what the CPU does", g->nodes[0].name);
    assert_string_equal(err, want);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_frame), cmocka_unit_test(test_price_of_weights),
                                       cmocka_unit_test(test_wrong_kernel), cmocka_unit_test(test_wrong_kernel_on_halves),
                                       cmocka_unit_test(test_left_over),
                                       cmocka_unit_test(test_right_kernels),
                                       cmocka_unit_test(test_no_right_kernel)};
    return cmocka_run_group_tests(tests, emulate, NULL);
}
