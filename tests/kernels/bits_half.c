/* A convolution by arithmetic on halves, of all channels at once and of some at a time: the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "tests/support/node.h"

enum { PIXELS = 11, GROUPS = 2, IC = 8, OC = 24 /* of a group: its second panel is half of one */, ALL = GROUPS * OC, PAD = 64 };

static void fill(uint16_t *to, int n, float v)
{
    const uint16_t h = ig_float_to_half(v);
    for (int i = 0; i < n; i++) to[i] = h;
}

/* Products and bias cancel out, and the residual is less than the last bit of either: it counts where it is added to the sum of both. */
static void channels_apart(void **state)
{
    static _Alignas(64) uint16_t x[PIXELS * GROUPS * IC + PAD], w[ALL * IC], bias[ALL], r[PIXELS * ALL + PAD], y[3][PIXELS * ALL + PAD];
    static _Alignas(64) char weights[1 << 13], scratch[1 << 16], zeros[1 << 10];
    const struct ig_kernel *k = ig_kernel_by_name("conv_f16_8x16__fp16");
    const union ig_attrs attrs = {.conv = {.w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}, .groups = GROUPS}};
    const struct ig_shape in[3] = {SHAPE(IG_F16, 1, 1, PIXELS, GROUPS * IC), SHAPE(IG_F16, ALL, IC, 1, 1), SHAPE(IG_F16, ALL)};
    const struct ig_shape out = SHAPE(IG_F16, 1, 1, PIXELS, ALL), *ins[4] = {&in[0], &in[1], &in[2], &out}, *outs[1] = {&out};
    const struct ig_range parts[] = {{0, 1, 0, ALL}, {0, 1, 0, 16}, {0, 1, 16, ALL}, {0, 1, 0, 32}, {0, 1, 32, ALL}};
    struct ig_call call;
    int32_t batch;
    (void)state;
    if (!ig_isa_runs_here(IG_ISA_FP16)) return;
    fill(x, PIXELS * GROUPS * IC, 32);
    fill(w, ALL * IC, 16);
    fill(bias, ALL, -IC * 32 * 16);
    fill(r, PIXELS * ALL, 0x1p-14f);
    assert_int_equal(ig_build_call(IG_CONV, &attrs, ins, (const void *const[]){NULL, w, bias, NULL}, 4, outs, 1, &call, &batch), 0);
    assert_true(k->supports(&call) && k->pack(&call, NULL) <= sizeof weights && k->scratch(&call) <= sizeof scratch);
    k->pack(&call, weights);
    call.weights = weights, call.zeros = zeros;
    call.in[0].data = x, call.in[3].data = r;
    for (int i = 0; i < 5; i++) {
        call.out[0].data = y[(i + 1) / 2];
        k->run(&call, parts[i], scratch);
    }
    assert_memory_equal(y[0], y[1], PIXELS * ALL * sizeof **y);
    assert_memory_equal(y[0], y[2], PIXELS * ALL * sizeof **y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(channels_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
