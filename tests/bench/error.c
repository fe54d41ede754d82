/* The measured error of kernels: within what they state, and of a wrong one far beyond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "bench/error.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "tests/support/node.h"
#include "tests/support/rng.h"

enum { SIZE = 13, IC = 24, OC = 20, WEIGHTS = OC * IC * 9 };

static float weights[WEIGHTS];
static const struct ig_shape x = {IG_F32, 4, {1, SIZE, SIZE, IC, 1, 1, 1, 1}},
                             w = {IG_F32, 4, {OC, IC, 3, 3, 1, 1, 1, 1}},
                             y = {IG_F32, 4, {1, SIZE, SIZE, OC, 1, 1, 1, 1}};
static const struct ig_conv conv = {{1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}, 1, {IG_RELU, 0, 0}};

static struct ig_call layer(void)
{
    const struct ig_shape *in[2] = {&x, &w}, *out[1] = {&y};
    const void *data[2] = {NULL, weights};
    struct rng r = {1};
    struct ig_call call;
    int batch;
    for (int i = 0; i < WEIGHTS; i++) weights[i] = (float)rng_real(&r, -1, 1);
    assert_int_equal(ig_build_call(IG_CONV, &conv, in, data, 2, out, 1, &call, &batch), 0);
    return call;
}

static void measured_errors_are_within_the_stated(void **state)
{
    struct ig_call call = layer();
    (void)state;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (!k->error || !ig_isa_runs_here(k->isa)) continue;
        double error = ig_kernel_error(k, &call);
        assert_true(error > 0 && error <= (double)k->error);
        assert_true(ig_kernel_error(k, &call) == error);
    }
}

/* Leaves the output at zero. */
static void nothing(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)call, (void)range, (void)scratch;
}

static void a_wrong_kernel_is_far_off(void **state)
{
    struct ig_kernel wrong = *ig_kernel_by_name("conv_f32_1x1__ref");
    struct ig_call call = layer();
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
