/* The measured error of kernels: within what they state, and of a wrong one far beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench/error.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "planner/plan.h"
#include "tests/support/node.h"
#include "tests/support/rng.h"

enum { SIZE = 13, IC = 24, OC = 20, MOST_TAPS = 49 };

struct layer { /* what a call points to */
    struct ig_shape x, w, y;
    union ig_attrs attrs;
    float weights[OC * IC * MOST_TAPS];
    uint16_t halves[OC * IC * MOST_TAPS];
};

static const struct window {
    int32_t kh, kw, stride;
} windows[] = {{3, 3, 1}, {5, 5, 1}, {7, 7, 1}, {3, 3, 2}, {1, 3, 1}, {1, 5, 1}, {1, 7, 1}, {3, 1, 1}, {5, 1, 1}, {7, 1, 1}};

static struct ig_call built(struct layer *l, int32_t op)
{
    const struct ig_shape *in[2] = {&l->x, &l->w}, *out[1] = {&l->y};
    const void *data[2] = {NULL, l->x.type == IG_F16 ? (const void *)l->halves : l->weights};
    struct rng r = {1};
    struct ig_call call;
    int batch;
    for (int64_t i = 0; i < ig_count(&l->w); i++) {
        l->weights[i] = (float)rng_real(&r, -1, 1);
        l->halves[i] = ig_float_to_half(l->weights[i]);
    }
    assert_int_equal(ig_build_call(op, &l->attrs, in, data, 2, out, 1, &call, &batch), 0);
    return call;
}

/* Of numbers of that type, of one group or of one channel a group. */
static struct ig_call call_of(struct layer *l, const struct window *w, int32_t type, int32_t groups)
{
    int32_t s = w->stride, size = (SIZE - 1) / s + 1, top = w->kh / 2, left = w->kw / 2;
    int32_t oc = groups > 1 ? IC : OC;
    l->x = (struct ig_shape){type, 4, {1, SIZE, SIZE, IC, 1, 1, 1, 1}};
    l->w = (struct ig_shape){type, 4, {oc, IC / groups, w->kh, w->kw, 1, 1, 1, 1}};
    l->y = (struct ig_shape){type, 4, {1, size, size, oc, 1, 1, 1, 1}};
    l->attrs.conv = (struct ig_conv){{1, w->kh, w->kw, 1, s, s, 1, 1, 1, 0, top, left, 0, top, left, 1, 1}, groups, {IG_RELU, 0, 0}};
    return built(l, IG_CONV);
}

static struct ig_call fc_of(struct layer *l, int32_t type)
{
    l->x = (struct ig_shape){type, 2, {2, IC * MOST_TAPS, 1, 1, 1, 1, 1, 1}};
    l->w = (struct ig_shape){type, 2, {OC, IC * MOST_TAPS, 1, 1, 1, 1, 1, 1}};
    l->y = (struct ig_shape){type, 2, {2, OC, 1, 1, 1, 1, 1, 1}};
    l->attrs.fc = (struct ig_fc){{IG_RELU, 0, 0}};
    return built(l, IG_FC);
}

/* 1 if k takes the call. */
static int is_within(const struct ig_kernel *k, const struct ig_call *call)
{
    if (!ig_kernel_fits(k, k->op, call)) return 0;
    double error = ig_kernel_error(k, call);
    assert_true(error > 0 && error <= (double)k->error);
    assert_true(ig_kernel_error(k, call) == error);
    return 1;
}

static void measured_errors_are_within_the_stated(void **state)
{
    static struct layer l;
    (void)state;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        int tried = 0;
        if (!k->error || !ig_isa_runs_here(k->isa)) continue;
        for (int32_t type = IG_F32; k->op == IG_FC && type != -1; type = type == IG_F32 ? IG_F16 : -1) {
            struct ig_call call = fc_of(&l, type);
            tried += is_within(k, &call);
        }
        for (size_t j = 0; k->op == IG_CONV && j < 4 * sizeof windows / sizeof *windows; j++) {
            struct ig_call call = call_of(&l, &windows[j / 4], j % 2 ? IG_F16 : IG_F32, j / 2 % 2 ? IC : 1);
            tried += is_within(k, &call);
        }
        if (!tried) fail_msg("no layer for %s", k->name);
    }
}

/* Leaves the output at zero. */
static void nothing(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)call, (void)range, (void)scratch;
}

static void a_wrong_kernel_is_far_off(void **state)
{
    static struct layer l;
    struct ig_kernel right = *ig_kernel_by_name("conv_f32_1x1__ref"), wrong = right;
    (void)state;
    wrong.run = nothing;
    for (int i = 0; i < 2; i++) {
        struct ig_call call = call_of(&l, &windows[0], i ? IG_F16 : IG_F32, 1);
        assert_true(ig_kernel_error(&wrong, &call) == 1);
        assert_true(ig_kernel_error(&right, &call) == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_errors_are_within_the_stated),
        cmocka_unit_test(a_wrong_kernel_is_far_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
