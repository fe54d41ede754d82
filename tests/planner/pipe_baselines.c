/* The baselines of Velasco-Montero 2023 and NeuroPipe against figures that they print, and where they err. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/pipe_baselines.h"
#include "tests/support/pipes.h"

static const struct neuropipe { /* Kim 2020, Table 4: alpha, gamma; what follows from them */
    const char *net;
    double alpha, gamma, speedup, hidden, printed, share, printed_share;
} table4[] = {
    {"MLP", .32, 11.0, 1.538, 1.471, 1.060, .0441, .0833},
    {"ResNet", .18, 18.7, 1.270, 1.220, 1.043, .0396, .0508},
    {"MobileNet", .29, 17.9, 1.454, 1.408, 1.039, .0313, .0529},
    {"YOLO", .07, 37.4, 1.102, 1.075, 1.025, .0241, .0260},
    {"FCN", .13, 36.8, 1.176, 1.149, 1.024, .0225, .0265},
};
enum { NETS = sizeof table4 / sizeof *table4 };

static void eq1_golden(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++) {
        const struct neuropipe *t = &table4[i];
        assert_true(fabs(ig_neuropipe_speedup(t->alpha, t->gamma) - t->speedup) < .001);
        assert_true(fabs(ig_neuropipe_hidden(t->alpha) - t->hidden) < .001);
    }
    assert_true(fabs(ig_neuropipe_speedup(.6, 20) - 1 / .6) < 1e-9);
}

/* With N_opt both are busy equally long, and that is Equation 1. */
static void nopt_balance(void **state)
{
    struct rng r = {1};
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double alpha = rng_real(&r, 0, .5), gamma = rng_real(&r, .5, 50), n = ig_neuropipe_n(alpha, gamma);
        assert_true(fabs(alpha + n - ((1 - alpha) * gamma - n) / gamma) < 1e-12);
        assert_true(fabs(ig_neuropipe_speedup_of(alpha, gamma, n) - ig_neuropipe_speedup(alpha, gamma)) < 1e-9);
        assert_true(ig_neuropipe_speedup_of(alpha, gamma, n * 1.01) < ig_neuropipe_speedup(alpha, gamma) + 1e-12);
    }
}

static void nopt_printed_worse(void **state)
{
    (void)state;
    for (int i = 0; i < NETS; i++) {
        const struct neuropipe *t = &table4[i];
        double n = ig_neuropipe_n(t->alpha, t->gamma), printed = ig_neuropipe_n_printed(t->alpha, t->gamma);
        assert_true(fabs(ig_neuropipe_speedup_of(t->alpha, t->gamma, printed) - t->printed) < .001);
        assert_true(fabs(ig_neuropipe_share(t->alpha, t->gamma, n) - t->share) < 1e-4);
        assert_true(fabs(ig_neuropipe_share(t->alpha, t->gamma, printed) - t->printed_share) < 1e-4);
        assert_true(t->printed < t->speedup);
    }
}

/* ResNet-50 as darknet has it: 69 layers, no projections; multiply-adds by output size. */
static int32_t darknet_resnet50(double *operations)
{
    static const int blocks[] = {3, 4, 6, 3};
    int32_t n = 0, inputs = 64;
    operations[n++] = 112. * 112 * 64 * 147;
    operations[n++] = 0;
    for (int stage = 0; stage < 4; stage++)
        for (int block = 0; block < blocks[stage]; block++) {
            double c = 64 << stage, size = 56 >> stage, before = block || !stage ? size : 2 * size;
            operations[n++] = before * before * c * inputs;
            operations[n++] = size * size * c * c * 9;
            operations[n++] = size * size * c * c * 4;
            operations[n++] = 0;
            inputs = 256 << stage;
        }
    operations[n++] = 0;
    operations[n++] = 2048. * 1000;
    operations[n++] = 0;
    return n;
}

static void neuropipe_resnet_tail(void **state)
{
    const struct neuropipe *t = &table4[1];
    double operations[80];
    int32_t n = darknet_resnet50(operations);
    (void)state;
    assert_int_equal(n, 69);
    assert_int_equal(ig_neuropipe_tail(operations, n, t->share), 5);
    assert_int_equal(ig_neuropipe_tail(operations, n, t->printed_share), 6);
}

/* Many equal slices between the host's work, which only the CPU does: recurrence B finds Equation 1. */
static void eq1_special_case(void **state)
{
    enum { SLICES = 20000 };
    (void)state;
    for (int i = 0; i < NETS; i++) {
        const struct neuropipe *t = &table4[i];
        struct pipe_box b;
        struct ig_pipe_plan plan;
        const double frame = 1e10;
        pipe_box_start(&b, SLICES + 2, SLICES + 1, 2);
        int64_t slice = llround(frame * (1 - t->alpha) / SLICES);
        pipe_box_node(&b, (const int64_t[]){-1, llround(frame * t->alpha * .75)}, 0, 0);
        for (int k = 0; k < SLICES; k++)
            pipe_box_node(&b, (const int64_t[]){slice, llround((double)slice * t->gamma)}, 0, 1);
        pipe_box_node(&b, (const int64_t[]){-1, llround(frame * t->alpha * .25)}, 0, 1);
        b.p.in_order = 1;
        ig_pipe_plan_start(&b.p, &plan);
        ig_pipe_shared(&b.p, &plan);
        assert_int_equal(plan.n_stages, 3);
        assert_true(fabs(frame / (double)plan.period_ns - ig_neuropipe_speedup(t->alpha, t->gamma)) < 2e-4);
        ig_pipe_plan_free(&plan);
        pipe_box_free(&b);
    }
}

/* Their tail, and their slip, as plans of the golden DAG: none is better than B. */
static void neuropipe_as_plan(void **state)
{
    struct pipe_box b;
    struct ig_pipe_plan plan;
    double operations[7] = {0, 4, 3, 5, 4, 2, 0};
    (void)state;
    pipe_box_dag(&b);
    ig_pipe_plan_start(&b.p, &plan);
    for (int printed = 0; printed < 2; printed++) {
        ig_neuropipe_plan(&b.p, 1, 0, operations, printed, &plan);
        assert_true(plan.n_stages > 1 && plan.period_ns >= 17);
        assert_int_equal(plan.on[0], 1);
        assert_int_equal(plan.on[1], 0);
        assert_int_equal(plan.on[6], 1);
    }
    ig_pipe_plan_free(&plan);
    pipe_box_free(&b);
}

static void alg1_golden(void **state)
{
    struct pipe_box b;
    struct ig_pipe_plan plan;
    (void)state;
    pipe_box_chain(&b, 1);
    ig_pipe_plan_start(&b.p, &plan);
    struct ig_pipe_cut cut = ig_algorithm1(&b.p);
    assert_int_equal(cut.ns, 10);
    assert_int_equal(cut.index, 3);
    assert_int_equal(cut.first, 0);
    ig_pipe_cut_plan(&b.p, &cut, &plan);
    assert_int_equal(plan.period_ns, 10);
    ig_pipe_single(&b.p, &plan);
    assert_int_equal(plan.period_ns, 14);
    ig_pipe_plan_free(&plan);
    pipe_box_free(&b);
}

static void alg1_literal(void **state)
{
    struct pipe_box b;
    (void)state;
    pipe_box_chain(&b, 1);
    struct ig_pipe_cut cut = ig_algorithm1_printed(&b.p);
    assert_int_equal(cut.ns, 11);
    assert_int_equal(cut.index, 2);
    assert_int_equal(cut.first, 0);
    pipe_box_free(&b);
}

/* Where one processor is best there is no cut to pay for; as printed there is. */
static void alg1_single_no_cut(void **state)
{
    struct pipe_box b;
    (void)state;
    pipe_box_chain(&b, 1);
    for (int v = 0; v < 5; v++) b.ns[2 * v + 1] = 50;
    struct ig_pipe_cut cut = ig_algorithm1(&b.p), printed = ig_algorithm1_printed(&b.p);
    assert_int_equal(cut.ns, 14);
    assert_int_equal(cut.first, 0);
    assert_int_equal(cut.second, 0);
    assert_int_equal(cut.index, 5);
    assert_int_equal(printed.ns, 15);
    assert_int_equal(printed.index, 4);
    pipe_box_free(&b);
}

static int64_t count_maps(int32_t n, int32_t processors)
{
    int32_t on[8] = {0}, v;
    int64_t count = 0;
    do {
        count++;
        for (v = 0; v < n && ++on[v] == processors; v++) on[v] = 0;
    } while (v < n);
    return count;
}

static void eq2_counts(void **state)
{
    static const int64_t n[] = {3, 5, 8}, printed[] = {18, 162, 4374}, distinct[] = {8, 32, 256};
    (void)state;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ig_mappings_printed((int32_t)n[i], 2), printed[i]);
        assert_int_equal(ig_mappings((int32_t)n[i], 2), distinct[i]);
        assert_int_equal(count_maps((int32_t)n[i], 2), distinct[i]);
    }
    assert_int_equal(ig_mappings(6, 3), count_maps(6, 3));
}

/* --- Algorithm 2 --- */

enum { LOWEST = 22 };
static const int64_t periods[] = {16600, 16000, 15500, 15100, 14900, 15200, 15900};

static int64_t measure(void *context, int32_t cut)
{
    ++*(int *)context;
    return cut < LOWEST ? 20000 : periods[cut - LOWEST];
}

static void alg2_golden(void **state)
{
    int calls = 0;
    int32_t measured;
    (void)state;
    assert_int_equal(ig_algorithm2(23, 28, measure, &calls, &measured), 26);
    assert_int_equal(measured, 5);
    assert_int_equal(calls, 5);
    assert_int_equal(ig_algorithm2(28, 28, measure, &calls, &measured), 26);
}

static void alg2_printed_stuck(void **state)
{
    int calls = 0;
    int32_t measured;
    (void)state;
    assert_int_equal(ig_algorithm2_printed(23, 28, 10200, 1024, measure, &calls, &measured), 23);
    assert_int_equal(ig_algorithm2_printed(23, 28, 10200, 512, measure, &calls, &measured), 28);
}

/* --- tables --- */

static void gap_table(void **state)
{
    static const double expected[] = {100.0, 100.2, 9.5, 17.9, 167.9, 175.0, 20.9, 17.9};
    static const double measured[] = {98.0, 101.3, 10.9, 16.0, 139.9, 161.2, 24.5, 16.8};
    static const double gap[] = {-2.0, 1.1, 14.7, -10.6, -16.7, -7.9, 17.2, -6.1};
    (void)state;
    for (int i = 0; i < 8; i++) assert_true(fabs(100 * ig_gap(expected[i], measured[i]) - gap[i]) < .051);
    struct ig_gaps g = ig_gaps_of(expected, measured, 8);
    assert_true(fabs(g.mean - .095) < .0006 && fabs(g.worst - .172) < .0006);
}

static void table5_ratios(void **state)
{
    static const double rows[][5] = {{76.6, 22.0, 98.0, 1.279, .994},
                                     {70.0, 17.1, 77.6, 1.109, .891},
                                     {51.4, 15.6, 67.1, 1.305, 1.001},
                                     {80.0, 8.7, 88.4, 1.105, .997},
                                     {67.1, 15.5, 76.8, 1.145, .930}};
    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_true(fabs(ig_pipeline_gain(rows[i][0], rows[i][1], rows[i][2]) - rows[i][3]) < .00051);
        assert_true(fabs(ig_pipeline_of_sum(rows[i][0], rows[i][1], rows[i][2]) - rows[i][4]) < .00051);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(eq1_golden),         cmocka_unit_test(nopt_balance),
                                       cmocka_unit_test(nopt_printed_worse), cmocka_unit_test(neuropipe_resnet_tail),
                                       cmocka_unit_test(eq1_special_case),   cmocka_unit_test(neuropipe_as_plan),
                                       cmocka_unit_test(alg1_golden),        cmocka_unit_test(alg1_literal),
                                       cmocka_unit_test(alg1_single_no_cut), cmocka_unit_test(eq2_counts),
                                       cmocka_unit_test(alg2_golden),        cmocka_unit_test(alg2_printed_stuck),
                                       cmocka_unit_test(gap_table),          cmocka_unit_test(table5_ratios)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
