/* Quantised convolutions on every chip: the reference's bits by dp4a, by tensor cores and where a chip has neither; barriers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "kernels_gpu/emu/run.h"
#include "tests/support/node.h"
#include "tests/support/rng.h"

enum { MOST_IN = 64 << 10, MOST_WEIGHTS = 128 << 10, MOST_OUT = 16 << 10, MOST_CHANNELS = 256 };

struct problem {
    struct ig_shape shapes[9], y;
    struct ig_conv attrs;
    uint8_t in[MOST_IN], weights[MOST_WEIGHTS], x_zero, w_zero, y_zero;
    float x_scale, w_scale[MOST_CHANNELS], y_scale;
    int32_t bias[MOST_CHANNELS];
    uint8_t want[MOST_OUT], out[MOST_OUT];
    struct ig_call call;
};

static struct problem p;

/* h x w x ic of u8 or i8 by k x k of stride s; weights of i8. */
static void problem_make(int32_t h, int32_t w, int32_t ic, int32_t oc, int32_t groups, int32_t k, int32_t s, int32_t type)
{
    const int32_t out_h = (h - 1) / s + 1, out_w = (w - 1) / s + 1;
    const struct ig_shape shapes[] = {SHAPE(type, 1, h, w, ic), SHAPE(IG_F32, 1), SHAPE(type, 1), SHAPE(IG_I8, oc, ic / groups, k, k),
                                      SHAPE(IG_F32, oc), SHAPE(IG_I8, 1), SHAPE(IG_F32, 1), SHAPE(type, 1), SHAPE(IG_I32, oc)};
    const void *data[] = {NULL, &p.x_scale, &p.x_zero, p.weights, p.w_scale, &p.w_zero, &p.y_scale, &p.y_zero, p.bias};
    const struct ig_shape *in[9], *out[] = {&p.y};
    struct rng r = {(uint64_t)(h * 31 + ic * 7 + oc + k + s + type)};
    int batch;
    memcpy(p.shapes, shapes, sizeof shapes);
    for (int i = 0; i < 9; i++) in[i] = &p.shapes[i];
    p.y = SHAPE(type, 1, out_h, out_w, oc);
    assert_true(ig_count(&p.shapes[0]) <= MOST_IN && ig_count(&p.shapes[3]) <= MOST_WEIGHTS && ig_count(&p.y) <= MOST_OUT && oc <= MOST_CHANNELS);
    p.attrs = (struct ig_conv){.w = {1, k, k, 1, s, s, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1}, .groups = groups};
    for (int i = 0; i < MOST_IN; i++) p.in[i] = (uint8_t)rng_next(&r);
    for (int i = 0; i < MOST_WEIGHTS; i++) p.weights[i] = (uint8_t)rng_next(&r);
    for (int i = 0; i < MOST_CHANNELS; i++) p.w_scale[i] = (float)rng_real(&r, 0.5, 2), p.bias[i] = rng_int(&r, -100000, 100000);
    p.x_zero = (uint8_t)rng_next(&r), p.y_zero = (uint8_t)rng_next(&r), p.w_zero = 0;
    p.x_scale = 0.02f, p.y_scale = 100;
    assert_int_equal(ig_build_call(IG_QLINEAR_CONV, &p.attrs, in, data, 9, out, 1, &p.call, &batch), 0);
    p.call.in[0].data = p.in;
}

static void by_reference(void)
{
    const struct ig_kernel *k = ig_kernel_by_name("qlinear_conv_any_1x1__ref");
    p.call.out[0].data = p.want;
    k->run(&p.call, ig_full_range(&p.call), NULL);
}

/* Packs; what has been packed is gone, as it is when a plan runs. The caller frees .weights. */
static struct ig_call packed_call(const struct ig_kernel *k)
{
    struct ig_call call = p.call;
    size_t bytes = k->pack(&call, NULL);
    void *weights = aligned_alloc(64, (bytes + 63) / 64 * 64);
    static const uint8_t zeros[8192];
    assert_int_equal(k->pack(&call, weights), bytes);
    call.weights = weights;
    call.zeros = zeros;
    for (int i = 1; i < call.n_in; i++) call.in[i].data = NULL;
    call.out[0].data = p.out;
    return call;
}

/* At even and at odd addresses. */
static void compute(const struct ig_kernel *k, int chip)
{
    struct ig_call call = packed_call(k);
    emu_set_chip(chip);
    for (int run = 0; run < 2; run++) {
        memset(p.out, 0xa5, sizeof p.out);
        if (emu_run(k->name, &call)) fail_msg("sm_%d: %s", chip, emu_fault());
        if (memcmp(p.out, p.want, (size_t)ig_bytes(&p.y))) fail_msg("sm_%d: %s is not what the reference is", chip, k->name);
    }
    emu_set_chip(90);
    free((void *)(uintptr_t)call.weights);
}

static int is_tested(const struct ig_kernel *k)
{
    return k->op == IG_QLINEAR_CONV && k->isa == IG_ISA_CUDA && k->pack;
}

/* Every kernel that takes the problem; how many. */
static int compute_all(void)
{
    static const int chips[] = {90, 80, 75, 72, 62};
    int n = 0;
    by_reference();
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (!is_tested(k) || !k->supports(&p.call)) continue;
        for (size_t c = 0; c < sizeof chips / sizeof *chips; c++) compute(k, chips[c]);
        n++;
    }
    return n;
}

/*
 * Channels by sixteens, fours and ones, beyond a tile on every side; a first layer, groups, a pixel, depthwise; groups of few channels, of
 * whole words and others, more and fewer that come out than go in, too many.
 */
static void chips_agree(void **state)
{
    static const struct {
        int32_t h, w, ic, oc, groups, k, s, kernels;
    } cases[] = {{13, 11, 48, 72, 1, 3, 1, 16}, {9, 15, 20, 70, 1, 3, 2, 16}, {12, 12, 3, 16, 1, 5, 2, 16},  {6, 25, 192, 40, 1, 1, 1, 16},
                 {7, 6, 32, 140, 2, 3, 1, 16}, {1, 1, 528, 130, 1, 1, 1, 17}, {1, 3, 130, 70, 1, 1, 1, 17}, {9, 10, 64, 64, 64, 3, 2, 1},
                 {7, 9, 22, 22, 22, 5, 1, 1},
                 {9, 11, 32, 32, 8, 3, 1, 18}, {10, 13, 64, 64, 4, 3, 2, 18}, {5, 7, 64, 64, 2, 3, 1, 18}, {7, 10, 18, 24, 6, 3, 2, 18},
                 {6, 6, 16, 32, 4, 3, 1, 18}, {1, 3, 32, 16, 2, 3, 1, 18}, {5, 7, 72, 72, 2, 3, 1, 16}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int32_t type = 0; type < 2; type++) {
            problem_make(cases[i].h, cases[i].w, cases[i].ic, cases[i].oc, cases[i].groups, cases[i].k, cases[i].s, type ? IG_I8 : IG_U8);
            assert_int_equal(compute_all(), cases[i].kernels);
        }
}

/* Sums as large as they may be; a bias beyond is for the kernel of 64 bits. */
static void sums_reach_the_ends(void **state)
{
    enum { IC = 2048, MOST = 255 * 128 * IC };
    (void)state;
    for (int side = 0; side < 2; side++) {
        problem_make(1, 2, IC, 8, 1, 1, 1, IG_U8);
        memset(p.in, 255, IC), memset(p.in + IC, 254, IC);
        memset(p.weights, side ? 127 : -128, sizeof p.weights);
        p.x_zero = 0, p.x_scale = 1, p.y_scale = 1 << 24;
        for (int i = 0; i < 8; i++) p.bias[i] = side ? INT32_MAX - MOST : MOST - INT32_MAX, p.w_scale[i] = 1;
        assert_int_equal(compute_all(), 17);
        p.bias[3] += side ? 1 : -1;
        for (int i = 0; i < ig_kernel_count(); i++) assert_false(is_tested(ig_kernel_at(i)) && ig_kernel_at(i)->supports(&p.call));
    }
}

/* Weights that no signed byte holds, less their zero point, and parameters that are made at run time. */
static void others_are_refused(void **state)
{
    const struct ig_kernel *k = ig_kernel_by_name("qlinear_conv_i8_64x64__cuda");
    (void)state;
    problem_make(4, 4, 16, 16, 1, 1, 1, IG_U8);
    assert_true(k->supports(&p.call));
    p.w_zero = 1, p.weights[100] = 0x80;
    assert_false(k->supports(&p.call));
    memset(p.weights, 0x81, sizeof p.weights);
    assert_true(k->supports(&p.call));
    for (int i = 1; i < 9; i++) {
        void *data = p.call.in[i].data;
        p.call.in[i].data = NULL;
        assert_false(k->supports(&p.call));
        p.call.in[i].data = data;
    }
}

/*
 * A barrier a step of 64 bytes, and two around either half of sums that go through shared memory, of which the first is needed where
 * these lie upon the last step. Channels of 256 are four steps.
 */
static void barriers_are_needed(void **state)
{
    static const struct {
        const char *name;
        int barriers;
    } cases[] = {{"qlinear_conv_i8_128x64__cuda", 4}, {"qlinear_conv_i8_64x64__cuda", 4}, {"qlinear_conv_i8_32x32__cuda", 4},
                 {"qlinear_conv_i8_64x64k2__cuda", 2}, {"qlinear_conv_i8_mma64x64__cuda", 8}, {"qlinear_conv_i8_mma128x64__cuda", 8}};
    (void)state;
    problem_make(9, 9, 256, 40, 1, 1, 1, IG_U8);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_call call = packed_call(ig_kernel_by_name(cases[i].name));
        for (int barrier = 0; barrier < cases[i].barriers; barrier++) {
            int races = 0, least = strstr(cases[i].name, "_mma") ? 1 : 2;
            emu_omit_barrier(barrier);
            for (int run = 0; run < 2; run++)
                if (emu_run(cases[i].name, &call) && strstr(emu_fault(), "race on shared")) races++;
            emu_omit_barrier(-1);
            if (races < least) fail_msg("%s without barrier %d: %d races, not %d; '%s'", cases[i].name, barrier, races, least, emu_fault());
        }
        free((void *)(uintptr_t)call.weights);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(chips_agree), cmocka_unit_test(sums_reach_the_ends),
                                       cmocka_unit_test(others_are_refused), cmocka_unit_test(barriers_are_needed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
