/* One estimator: what plans rest on without a profile, what `plan --estimate` says, and what the profiler ranks by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/tensor.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "planner/costs.h"
#include "planner/forecast.h"
#include "tests/support/board.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"
#include "tests/support/node.h"

static struct ig_plan *plan_of(const struct ig_graph *g, int32_t isa, int32_t threads)
{
    struct ig_plan_options o = {
        .target = "host", .isa = isa, .threads = threads, .bands = IG_BANDS_OFF, .max_error = IG_MAX_ERROR};
    char err[1024] = "";
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    return p;
}

/* The costs in the program are the file's; NEON has none yet, as no such board was at hand. */
static void costs_come_with_the_source(void **state)
{
    struct ig_platform *file = board_read("zen4");
    const struct ig_platform *b = ig_costs_of(IG_ISA_AVX2);
    (void)state;
    assert_non_null(b);
    assert_memory_equal(b, file, sizeof *b);
    assert_ptr_equal(ig_costs_of(IG_ISA_AVX2), b);
    assert_null(ig_costs_of(IG_ISA_NEON));
    assert_null(ig_costs_of(IG_ISA_REF));
    free(file);
}

/* A plan without a profile predicts for every layer what the forecast of the calibrated board does. */
static void plans_and_forecasts_agree(void **state)
{
    struct ig_graph *g = zoo_net("mobilenet_v2");
    struct ig_plan *p = plan_of(g, IG_ISA_AVX2, 1);
    struct ig_forecast_options o = {.board = ig_costs_of(IG_ISA_AVX2), .max_error = IG_MAX_ERROR};
    char err[1024];
    struct ig_forecast *f = ig_forecast_make(g, &o, err, sizeof err);
    int same = 0;
    (void)state;
    assert_non_null(f);
    for (int32_t i = 0; i < f->n; i++) {
        const struct ig_forecast_on *on = &f->layers[i].on[0];
        const struct ig_plan_step *s = &p->steps[f->layers[i].node];
        if (!on->kernel || on->kernel != s->kernel) continue;
        assert_true(fabs(on->s * 1e9 - s->predicted_ns) <= 1e-6 * s->predicted_ns);
        same++;
    }
    assert_true(same >= f->n * 3 / 4); /* a plan's kernel has to be worth its weights, too */
    ig_forecast_free(f);
    ig_plan_free(p);
    ig_graph_free(g);
}

static void call_of(const struct ig_graph *g, struct ig_call *call)
{
    struct ig_view views[16];
    int32_t images;
    ig_compute_views(g, views);
    ig_node_call(g, views, &g->nodes[0], call, &images);
}

/* Which tile seems faster of a transposed convolution of so many groups, 64 channels to 64, side x side pixels to nearly 2 side x 2 side. */
static const char *faster_tile(int32_t side, int32_t groups)
{
    static const char *const names[] = {"deconv_f32_64x64__cuda", "deconv_f32_32x32__cuda"};
    struct ig_graph *g = net_new();
    struct ig_call call;
    double ns[2];
    ig_add_output(g, net_deconv(g, net_input(g, 1, side, side, 64), 64, 3, 2));
    net_done(g);
    call_of(g, &call);
    struct ig_conv a = *(const struct ig_conv *)call.attrs;
    struct ig_shape weights = *call.in[1].shape;
    a.groups = groups, weights.dims[1] /= groups;
    call.in[1].h = weights.dims[0], call.in[1].w = weights.dims[1] * 9, call.in[1].c = 1;
    call.attrs = &a, call.in[1].shape = &weights;
    for (int i = 0; i < 2; i++) ns[i] = ig_estimate_ns(ig_kernel_by_name(names[i]), &call, 1, NULL);
    ig_graph_free(g);
    return names[ns[1] < ns[0]];
}

/* Tiles are of one group's channels and of one phase's outputs. */
static void tiles_waste(void **state)
{
    (void)state;
    assert_string_equal(faster_tile(32, 1), "deconv_f32_64x64__cuda");
    assert_string_equal(faster_tile(32, 16), "deconv_f32_32x32__cuda");
    assert_string_equal(faster_tile(9, 1), "deconv_f32_32x32__cuda");
}

/* Of a 3x3 convolution at such a rate on 14x14 pixels, by a kernel of a GPU. */
static double dilated_ns(const char *kernel, int32_t rate)
{
    struct ig_graph *g = net_new();
    struct ig_call call;
    ig_add_output(g, net_conv(g, net_input(g, 1, 14, 14, 256), 256, 3, 1, -1));
    net_done(g);
    call_of(g, &call);
    struct ig_conv a = *(const struct ig_conv *)call.attrs;
    a.w.dh = a.w.dw = a.w.top = a.w.left = a.w.bottom = a.w.right = rate;
    call.attrs = &a;
    const double ns = ig_estimate_ns(ig_kernel_by_name(kernel), &call, 1, NULL), call_ns = 300;
    ig_graph_free(g);
    return ns - call_ns;
}

/* Rows of taps that a whole tile has in the padding are not multiplied: 7 of 12 are, of smaller tiles 10 of 21. */
static void rows_are_left_out(void **state)
{
    (void)state;
    const double all = dilated_ns("conv_f32_64x64__cuda", 1), small = dilated_ns("conv_f32_32x32__cuda", 1);
    assert_true(fabs(dilated_ns("conv_f32_64x64__cuda", 12) / all - 7 / 12.) < 1e-6);
    assert_true(fabs(dilated_ns("conv_f32_32x32__cuda", 12) / small - 10 / 21.) < 1e-6);
    assert_true(fabs(dilated_ns("conv_f32_128x64__cuda", 6) / dilated_ns("conv_f32_128x64__cuda", 1) - 5 / 6.) < 1e-6);
    assert_true(fabs(dilated_ns("conv_f32_direct__cuda", 12) / dilated_ns("conv_f32_direct__cuda", 1) - 1) < 1e-6);
}

/* Which kernel of a GPU seems the fastest for an LSTM of so many units and rows of the batch. */
static const char *fastest_recurrent(int32_t units, int32_t rows, int32_t directions, int32_t sm)
{
    enum { STEPS = 40, GATES = 4 };
    const struct ig_recurrent a = {.kind = IG_LSTM, .f = {IG_SIGMOID, 0, 0}, .g = {IG_TANH, 0, 0}, .u = {IG_TANH, 0, 0}};
    const struct ig_shape x = SHAPE(IG_F32, STEPS, rows, directions * GATES * units), r = SHAPE(IG_F32, directions, GATES * units, units);
    const struct ig_shape y = SHAPE(IG_F32, STEPS, directions, rows, units);
    const struct ig_shape *in[] = {&x, &r}, *out[] = {&y};
    const void *data[] = {NULL, NULL};
    const char *name = NULL;
    struct ig_call call;
    double least = 0;
    int batch;
    assert_int_equal(ig_build_call(IG_RECURRENT, &a, in, data, 2, out, 1, &call, &batch), 0);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->isa != IG_ISA_CUDA || !ig_kernel_fits(k, IG_RECURRENT, &call)) continue;
        double ns = ig_estimate_chip_ns(k, &call, sm, ig_estimate_ns(k, &call, 1, NULL));
        if (!name || ns < least) name = k->name, least = ns;
    }
    return name;
}

/* Of many units a step is the whole GPU's; rows of a batch are other multiprocessors', as long as there are some. */
static void steps_wait(void **state)
{
    (void)state;
    assert_string_equal(fastest_recurrent(48, 1, 1, 62), "recurrent_f32_kept__cuda");
    assert_string_equal(fastest_recurrent(64, 32, 1, 90), "recurrent_f32_kept__cuda");
    assert_string_equal(fastest_recurrent(512, 1, 1, 62), "recurrent_f32_spread__cuda");
    assert_string_equal(fastest_recurrent(512, 1, 1, 90), "recurrent_f32_spread__cuda");
    assert_string_equal(fastest_recurrent(256, 1, 1, 72), "recurrent_f32_spread__cuda");
    assert_string_equal(fastest_recurrent(512, 4, 1, 90), "recurrent_f32_spread4__cuda");
    assert_string_equal(fastest_recurrent(512, 32, 1, 90), "recurrent_f32_spread8__cuda");
    assert_string_equal(fastest_recurrent(72, 16, 1, 62), "recurrent_f32_4__cuda");
    assert_string_equal(fastest_recurrent(72, 8, 1, 72), "recurrent_f32_1__cuda");
    assert_string_equal(fastest_recurrent(72, 8, 2, 72), "recurrent_f32_4__cuda"); /* sixteen blocks by one row each */
}

/* Cores share the work; what comes from memory is only served so many of them; a barrier costs. */
static void threads_share(void **state)
{
    struct ig_graph *g = net_new();
    const struct ig_kernel *k = ig_kernel_by_name("conv_f32_6x16__avx2");
    const struct ig_away far = {1e9, 1e9};
    struct ig_call call;
    (void)state;
    ig_add_output(g, net_conv(g, net_input(g, 1, 14, 14, 256), 256, 3, 1, -1));
    net_done(g);
    call_of(g, &call);
    double one = ig_estimate_ns(k, &call, 1, NULL), four = ig_estimate_ns(k, &call, 4, NULL);
    assert_true(four > one / 4 && four < one / 3);
    double cold = ig_estimate_ns(k, &call, 1, &far), cold4 = ig_estimate_ns(k, &call, 4, &far);
    assert_true(cold > one && cold4 - four > (cold - one) / 4);
    ig_graph_free(g);
}

/* A layer's weights come from as far as the frame pushes them: here all that three convolutions touch. */
static void frames_push(void **state)
{
    struct ig_graph *g = net_new();
    struct ig_view views[32];
    struct ig_away away[8];
    (void)state;
    int32_t x = net_input(g, 1, 8, 8, 16);
    x = net_conv(g, x, 32, 3, 1, -1);
    x = net_conv(g, x, 32, 1, 1, -1);
    ig_add_output(g, net_conv(g, x, 16, 3, 1, -1));
    net_done(g);
    ig_compute_views(g, views);
    ig_frame_away(g, views, away);
    double weights = 4. * (32 * 16 * 9 + 32 + 32 * 32 + 32 + 16 * 32 * 9 + 16), images = 4. * 64 * (32 + 32);
    for (int i = 0; i < 3; i++) assert_true(away[i].weights == weights + images);
    assert_true(away[1].output == weights + images); /* nobody else needs as much */
    assert_true(away[0].output < away[1].output);
    ig_graph_free(g);
}

/* Of the largest elements only their places are wanted. */
static void frames_without_an_output(void **state)
{
    struct ig_graph *g = net_new();
    struct ig_view views[32];
    struct ig_away away[8];
    const struct ig_shape few = {IG_I64, 4, {1, 8, 8, 4}};
    (void)state;
    int32_t x = net_input(g, 1, 8, 8, 16), places = ig_add_value(g, "places", &few);
    struct ig_node *n = ig_add_node(g, "top", IG_TOPK, 1, 2);
    n->attrs.topk = (struct ig_topk){.axis = 3, .largest = 1};
    n->in[0] = x, n->out[0] = -1, n->out[1] = places;
    ig_add_output(g, places);
    net_done(g);
    ig_compute_views(g, views);
    ig_frame_away(g, views, away);
    assert_true(away[0].weights == 4. * 64 * 16 + 8. * 64 * 4);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(costs_come_with_the_source),
                                       cmocka_unit_test(plans_and_forecasts_agree), cmocka_unit_test(tiles_waste), cmocka_unit_test(rows_are_left_out),
                                       cmocka_unit_test(steps_wait), cmocka_unit_test(threads_share),
                                       cmocka_unit_test(frames_push), cmocka_unit_test(frames_without_an_output)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
