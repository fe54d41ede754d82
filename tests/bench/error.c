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
    struct ig_conv conv;
    float weights[OC * IC * MOST_TAPS];
};

static const struct window {
    int32_t kh, kw, stride;
} windows[] = {{3, 3, 1}, {5, 5, 1}, {7, 7, 1}, {3, 3, 2}, {1, 3, 1}, {1, 5, 1}, {1, 7, 1}, {3, 1, 1}, {5, 1, 1}, {7, 1, 1}};

static struct ig_call call_of(struct layer *l, const struct window *w)
{
    const struct ig_shape *in[2] = {&l->x, &l->w}, *out[1] = {&l->y};
    const void *data[2] = {NULL, l->weights};
    int32_t s = w->stride, size = (SIZE - 1) / s + 1, top = w->kh / 2, left = w->kw / 2;
    struct rng r = {1};
    struct ig_call call;
    int batch;
    l->x = (struct ig_shape){IG_F32, 4, {1, SIZE, SIZE, IC, 1, 1, 1, 1}};
    l->w = (struct ig_shape){IG_F32, 4, {OC, IC, w->kh, w->kw, 1, 1, 1, 1}};
    l->y = (struct ig_shape){IG_F32, 4, {1, size, size, OC, 1, 1, 1, 1}};
    l->conv = (struct ig_conv){{1, w->kh, w->kw, 1, s, s, 1, 1, 1, 0, top, left, 0, top, left, 1, 1}, 1, {IG_RELU, 0, 0}};
    for (int i = 0; i < OC * IC * w->kh * w->kw; i++) l->weights[i] = (float)rng_real(&r, -1, 1);
    assert_int_equal(ig_build_call(IG_CONV, &l->conv, in, data, 2, out, 1, &call, &batch), 0);
    return call;
}

static void measured_errors_are_within_the_stated(void **state)
{
    static struct layer l;
    (void)state;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        int tried = 0;
        if (!k->error || !ig_isa_runs_here(k->isa)) continue;
        for (size_t j = 0; j < sizeof windows / sizeof *windows; j++) {
            struct ig_call call = call_of(&l, &windows[j]);
            if (!ig_kernel_fits(k, IG_CONV, &call)) continue;
            double error = ig_kernel_error(k, &call);
            assert_true(error > 0 && error <= (double)k->error);
            assert_true(ig_kernel_error(k, &call) == error);
            tried++;
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
    struct ig_kernel wrong = *ig_kernel_by_name("conv_f32_1x1__ref");
    struct ig_call call = call_of(&l, &windows[0]);
    (void)state;
    wrong.run = nothing;
    assert_true(ig_kernel_error(&wrong, &call) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(measured_errors_are_within_the_stated),
        cmocka_unit_test(a_wrong_kernel_is_far_off),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
