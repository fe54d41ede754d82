/*
 * Costs fitted to measured layers foretell others. The times are of an AMD EPYC (Zen 4: 32 KiB, 1 MiB, 32 MiB), taken
 * by `ingot calibrate`, so that the test is of the features and the fit, not of the machine that runs it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/grid.h"
#include "kernels_cpu/registry.h"
#include "planner/costs.h"
#include "planner/fit.h"
#include "tests/support/golden.h"

enum { MOST = 4096, KERNELS = 2 };
static const struct ig_caches caches = {.bytes = {32 << 10, 1 << 20, 32 << 20}};
static const double work_ns = 32 / 118.2; /* of that machine: 32 operations a cycle, 118.2 G a second */

struct times {
    struct ig_sample fitted[32], held[MOST];
    int32_t n_fitted, n_held;
};

/* In Table 6, as no calibration layer may be. */
static int in_grid(const struct ig_grid_layer *l)
{
    static struct ig_grid_layer grid[16384];
    static int32_t n;
    if (!n) n = ig_grid_table6(grid, 16384, 1e18);
    for (int32_t i = 0; i < n; i++)
        if (!memcmp(&grid[i], l, sizeof *l)) return 1;
    return 0;
}

static void read_times(struct times *t, const struct ig_kernel *k)
{
    char path[1024], line[256], name[128];
    struct ig_grid_layer l;
    double ns;
    snprintf(path, sizeof path, "%s/tests/golden/planner/times.txt", source_dir());
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    t->n_fitted = t->n_held = 0;
    while (fgets(line, sizeof line, f)) {
        struct ig_single_problem p;
        union ig_attrs attrs;
        struct ig_call call;
        if (sscanf(line, "%127s %d %d %d %d %d %d %lf", name, &l.ic, &l.oc, &l.size, &l.k, &l.stride, &l.groups, &ns) !=
                8 ||
            strcmp(name, k->name))
            continue;
        struct ig_sample *s = in_grid(&l) ? &t->held[t->n_held++] : &t->fitted[t->n_fitted++];
        assert_true(t->n_held < MOST && t->n_fitted <= 32);
        ig_grid_problem(&p, &attrs, k, 0, &l);
        assert_true(ig_single_call(&p, &call));
        assert_int_equal(ig_features(k, &call, &caches, s->f), 0);
        s->ns = ns;
    }
    fclose(f);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Mean error outside the layers that were fitted. */
static void fit_heldout(void **state)
{
    static const char *const names[KERNELS] = {"conv_f32_6x16__avx2", "conv_f32_first6x16__avx2"};
    static struct times t;
    static double signs[MOST];
    double sum = 0;
    int32_t layers = 0;
    (void)state;
    for (int i = 0; i < KERNELS; i++) {
        const struct ig_kernel *k = ig_kernel_by_name(names[i]);
        struct ig_cost cost;
        double mean = 0;
        if (!k || !k->run) skip();
        read_times(&t, k);
        ig_fit(&cost, k->name, t.fitted, t.n_fitted, work_ns);
        for (int32_t h = 0; h < t.n_held; h++) {
            signs[h] = ig_fit_ns(&cost, t.held[h].f) / t.held[h].ns - 1;
            mean += fabs(signs[h]) / t.n_held;
        }
        qsort(signs, (size_t)t.n_held, sizeof *signs, by_value);
        printf("# %s: fitted to %d, %d others: mean error %.1f %%, signed median %+.1f %%\n", k->name, t.n_fitted,
               t.n_held, 100 * mean, 100 * signs[t.n_held / 2]);
        assert_true(mean < 0.06);
        sum += mean * t.n_held;
        layers += t.n_held;
    }
    assert_true(layers >= 2000 && sum / layers < 0.025);
}

/* No family is fitted to more than 32 layers of a kernel, or to one of the grid. */
static void calibration_is_apart(void **state)
{
    const struct ig_calibration *set;
    (void)state;
    assert_int_equal(ig_grid_table6(NULL, 0, 1e18), 8060); /* of 9,100 those with k <= size */
    for (int i = 0; (set = ig_calibration_at(i)); i++)
        for (int32_t k = 0; set->op == IG_CONV && k < set->n; k++) assert_false(in_grid(&set->layers[k]));
}

/* Times of planted costs come back though two layers were disturbed; work costs no less than the machine can. */
static void fit_forgives(void **state)
{
    enum { N = 12 };
    struct ig_sample s[N] = {0};
    struct ig_cost cost;
    (void)state;
    for (int i = 0; i < N; i++) {
        s[i].f[IG_F_START] = 1;
        s[i].f[IG_F_WORK] = 100. * (i + 1) * (i + 1);
        s[i].f[IG_F_TILES] = 10. * (N - i);
        s[i].ns = 50 + 0.3 * s[i].f[IG_F_WORK] + 2 * s[i].f[IG_F_TILES];
    }
    s[2].ns *= 1.6;
    s[8].ns *= 1.2;
    ig_fit(&cost, "planted", s, N, 0.25);
    for (int i = 0; i < N; i++)
        if (i != 2 && i != 8) assert_true(fabs(ig_fit_ns(&cost, s[i].f) / s[i].ns - 1) < 0.01);
    assert_true(fabs(cost.ns[IG_F_WORK] / 0.3 - 1) < 0.01);
    ig_fit(&cost, "planted", s, N, 0.31);
    assert_true(cost.ns[IG_F_WORK] >= 0.31);
}

/* Of a call of that kernel, of a layer as its set has them, alone on the test's caches. */
static void features_of(const char *kernel, struct ig_grid_layer layer, double f[IG_FEATURES])
{
    const struct ig_kernel *k = ig_kernel_by_name(kernel);
    struct ig_single_problem p;
    union ig_attrs attrs;
    struct ig_call call;
    if (!k || !k->run) skip();
    ig_grid_problem(&p, &attrs, k, ig_calibration_of(k, 0)->kind, &layer);
    assert_true(ig_single_call(&p, &call));
    assert_int_equal(ig_features(k, &call, &caches, f), 0);
}

/* Work is what the micro-kernels do: 6 pixels by 16 channels are 6 cycles for each of k. */
static void features_of_a_tile(void **state)
{
    double f[IG_FEATURES];
    (void)state;
    features_of("conv_f32_6x16__avx2", (struct ig_grid_layer){64, 32, 12, 3, 1, 1}, f);
    assert_true(f[IG_F_START] == 1);
    assert_true(f[IG_F_WORK] == 144. / 6 * 2 * 6 * 64 * 9);
    assert_true(f[IG_F_TILES] == 24 * 2 && f[IG_F_TAPS] == 24 * 2 * 9 && f[IG_F_GATHER] == 144 * 9);
    assert_true(f[IG_F_CALLS] == 24 * 2); /* every group has a tap in the padding, so none is joined to another; weights are read panel by panel */
    assert_true(f[IG_F_A_DRAM] == 0 && f[IG_F_B_DRAM] == 0 && f[IG_F_Y_DRAM] == 0); /* all of it fits the caches */
    features_of("conv_f32_6x16__avx2", (struct ig_grid_layer){32, 32, 12, 3, 1, 1}, f);
    assert_true(f[IG_F_CALLS] == 24); /* by few weights both panels in a call */
}

/* Pointwise pixels lie evenly: no addresses, and a call of the micro-kernel takes a block of 64 groups. */
static void features_of_runs(void **state)
{
    double f[IG_FEATURES];
    (void)state;
    features_of("conv_f32_6x16__avx2", (struct ig_grid_layer){64, 40, 30, 1, 1, 1}, f);
    assert_true(f[IG_F_GATHER] == 0 && f[IG_F_GROUPS] == 150 && f[IG_F_CALLS] == 3 * 2);
    features_of("conv_f32_6x16__avx2", (struct ig_grid_layer){64, 32, 48, 3, 1, 1}, f); /* 8 groups a row, 6 are inside */
    assert_true(f[IG_F_GATHER] == 9 * 6 * (2 * 8 + 46 * 2) && f[IG_F_GROUPS] == 384);
}

/*
 * In a network a layer's weights, and what a pool writes, come from farther: all of them from memory, of which the work
 * of the convolution hides up to half.
 */
static void features_of_a_frame(void **state)
{
    static const struct ig_caches away = {{32 << 10, 1 << 20, 32 << 20}, {100e6, 100e6}};
    const struct ig_kernel *conv = ig_kernel_by_name("conv_f32_6x16__avx2"),
                           *pool = ig_kernel_by_name("pool_f32_8__avx2");
    struct ig_single_problem p;
    union ig_attrs attrs;
    struct ig_call call;
    double f[IG_FEATURES], far[IG_FEATURES];
    (void)state;
    if (!conv || !conv->run || !pool) skip();
    ig_grid_problem(&p, &attrs, conv, 0, &(struct ig_grid_layer){256, 256, 20, 3, 1, 1});
    assert_true(ig_single_call(&p, &call));
    assert_int_equal(ig_features(conv, &call, &caches, f) | ig_features(conv, &call, &away, far), 0);
    assert_true(f[IG_F_B_DRAM] == 0 && f[IG_F_B_L3] > 0);
    assert_true(far[IG_F_B_DRAM] > 256. * 256 * 9 * 4 / 2 && far[IG_F_B_DRAM] < 256. * 256 * 9 * 4);
    ig_grid_problem(&p, &attrs, pool, 0, &(struct ig_grid_layer){64, 64, 112, 3, 2, 1});
    assert_true(ig_single_call(&p, &call));
    assert_int_equal(ig_features(pool, &call, &caches, f) | ig_features(pool, &call, &away, far), 0);
    assert_true(f[IG_F_A_DRAM] == 0 && far[IG_F_A_DRAM] == 2 * 64. * 56 * 56 * 4);
}

/* Raw weights are made into points of their own for every block: here 18 tiles, a row of them, of 32 x 2 x 4 outputs. */
static void features_of_raw_weights(void **state)
{
    double f[IG_FEATURES];
    (void)state;
    features_of("conv_f32_winograd2x4_raw6x16__avx2", (struct ig_grid_layer){32, 32, 72, 3, 1, 1}, f);
    assert_true(f[IG_F_GROUPS] == 36 * 18 && f[IG_F_GATHER] == 36 * 18 * 24 * 4);
    assert_true(f[IG_F_WORK] == 36 * 3 * 24 * 2 * 6 * 32.);      /* 3 groups of 6 tiles, 24 points, 2 panels */
    assert_true(f[IG_F_B_AGAIN] == 36 * 24 * 2 * 16 * 32 * 4.); /* 36 blocks */
}

/* Tiles and points by windows and strides: 17 x 17 outputs are 5 x 5 tiles of 4 x 4, or 17 x 5 of a row. */
static void features_of_windows(void **state)
{
    static const struct { const char *kernel; int32_t size, k, stride, tiles, points; } expected[] = {
        {"conv_f32_winograd4_6x16__avx2", 17, 3, 1, 25, 36},   {"conv_f32_winograd2of5_6x16__avx2", 17, 5, 1, 81, 36},
        {"conv_f32_winograd4of5_6x16__avx2", 17, 5, 1, 25, 64}, {"conv_f32_winograd2of7_6x16__avx2", 17, 7, 1, 81, 64},
        {"conv_f32_winograd4s2_6x16__avx2", 33, 3, 2, 25, 81}, {"conv_f32_winograd2s2_6x16__avx2", 33, 3, 2, 81, 25},
        {"conv_f32_winograd4row_6x16__avx2", 17, 3, 1, 85, 6}, {"conv_f32_winograd4row_6x16__avx2", 17, 7, 1, 85, 10},
        {"conv_f32_winograd4column_6x16__avx2", 17, 5, 1, 85, 8}};
    double f[IG_FEATURES];
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        int32_t n = expected[i].tiles * expected[i].points;
        features_of(expected[i].kernel, (struct ig_grid_layer){32, 48, expected[i].size, expected[i].k, expected[i].stride, 1}, f);
        assert_true(f[IG_F_GROUPS] == expected[i].tiles && f[IG_F_GATHER] == n * 4. && f[IG_F_TAPS] == n * 6.);
    }
}

/* Three channels have a way of their own, of others eight by four elements go together, and two go one by one. */
static void features_of_permutations(void **state)
{
    static const struct { int32_t c, size, way; enum ig_feature feature; double n; } expected[] = {
        {3, 40, 1, IG_F_WORK, 600}, {3, 40, 2, IG_F_WORK, 600}, {24, 40, 1, IG_F_TILES, 3 * 400},
        {24, 40, 2, IG_F_TILES, 200 * 6}, {2, 40, 1, IG_F_GATHER, 3200}, {2, 40, 2, IG_F_GATHER, 3200}};
    (void)state;
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        double f[IG_FEATURES];
        features_of("transpose_b32_8x8__avx2", (struct ig_grid_layer){expected[i].c, expected[i].c, expected[i].size, 1, expected[i].way, 1}, f);
        assert_true(f[expected[i].feature] == expected[i].n);
        for (int j = IG_F_WORK; j <= IG_F_GATHER; j++)
            if (j != (int)expected[i].feature && j != IG_F_TAPS) assert_true(f[j] == 0);
    }
}

/* zen4 has costs of all that can be fitted. */
static void no_family_lacks_costs(void **state)
{
    const struct ig_processor *pe = &ig_costs_of(IG_ISA_AVX2)->processors[0];
    const struct ig_calibration *set;
    int families = 0;
    (void)state;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        for (int kind = 0; k->isa == IG_ISA_AVX2 && k->run && (set = ig_calibration_of(k, kind)); kind++) {
            char name[IG_WORD_BYTES];
            int32_t fitted = 0, at = 0;
            for (int32_t l = 0; l < set->n; l++) {
                struct ig_single_problem p;
                union ig_attrs attrs;
                struct ig_call call;
                ig_grid_problem(&p, &attrs, k, set->kind, &set->layers[l]);
                fitted += ig_single_call(&p, &call) && ig_family(k, &call, name);
            }
            if (fitted < 4) continue;
            while (at < pe->n_costs && strcmp(pe->costs[at].family, name)) at++;
            if (at == pe->n_costs) fail_msg("zen4 has no costs of %s", name);
            families++;
        }
    }
    if (!families) skip();
    assert_int_equal(families, pe->n_costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(features_of_raw_weights), cmocka_unit_test(features_of_windows),
                                       cmocka_unit_test(features_of_permutations),
                                       cmocka_unit_test(no_family_lacks_costs),
                                       cmocka_unit_test(fit_heldout),        cmocka_unit_test(calibration_is_apart),
                                       cmocka_unit_test(fit_forgives),       cmocka_unit_test(features_of_a_tile),
                                       cmocka_unit_test(features_of_runs),   cmocka_unit_test(features_of_a_frame)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
