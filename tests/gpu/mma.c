/* Sums by tensor cores: as exact as by multiply-adds, and these where a chip has none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "kernels_gpu/emu/run.h"
#include "tests/support/rng.h"

enum { PIXELS = 75, IC = 2050, OC = 36, ROOM = IC * (OC + 4) + OC };

struct product { /* 1x1 */
    struct ig_shape x, w, y;
    struct ig_conv attrs;
    float in[PIXELS * IC], weights[OC * IC], packed[ROOM], zeros[IC];
    uint16_t in_halves[PIXELS * IC], weights_halves[OC * IC];
    struct ig_call call;
};

/* A float of 24 random bits; `sign`: of either sign. */
static float full(struct rng *r, int sign)
{
    float v = ldexpf((float)rng_int(r, 1 << 23, (1 << 24) - 1), -24 + rng_int(r, 0, 3));
    return sign && rng_int(r, 0, 1) ? -v : v;
}

static void product_make(struct product *p, int32_t ic)
{
    const struct ig_shape *in[] = {&p->x, &p->w}, *out[] = {&p->y};
    const void *data[] = {NULL, p->weights};
    int batch;
    p->x = (struct ig_shape){.type = IG_F32, .rank = 4, .dims = {1, 1, PIXELS, ic}};
    p->w = (struct ig_shape){.type = IG_F32, .rank = 4, .dims = {OC, ic, 1, 1}};
    p->y = (struct ig_shape){.type = IG_F32, .rank = 4, .dims = {1, 1, PIXELS, OC}};
    p->attrs = (struct ig_conv){.w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}, .groups = 1};
    assert_int_equal(ig_build_call(IG_CONV, &p->attrs, in, data, 2, out, 1, &p->call, &batch), 0);
    p->call.zeros = p->zeros;
    p->call.in[0].data = p->in;
}

/* Numbers that halves hold, as halves; sums in single precision. */
static void product_halve(struct product *p, int32_t ic)
{
    int batch;
    const struct ig_shape *in[] = {&p->x, &p->w}, *out[] = {&p->y};
    const void *data[] = {NULL, p->weights_halves};
    product_make(p, ic);
    p->x.type = p->w.type = IG_F16;
    for (int i = 0; i < PIXELS * ic; i++) p->in[i] = ig_half_to_float(p->in_halves[i] = ig_float_to_half(p->in[i]));
    for (int i = 0; i < OC * ic; i++) p->weights[i] = ig_half_to_float(p->weights_halves[i] = ig_float_to_half(p->weights[i]));
    assert_int_equal(ig_build_call(IG_CONV, &p->attrs, in, data, 2, out, 1, &p->call, &batch), 0);
    p->call.zeros = p->zeros;
    p->call.in[0].data = p->in_halves;
}

static void compute(struct product *p, const char *name, float *out)
{
    const struct ig_kernel *kernel = ig_kernel_by_name(name);
    assert_non_null(kernel);
    assert_true(kernel->supports(&p->call) && kernel->pack(&p->call, NULL) <= sizeof p->packed);
    kernel->pack(&p->call, p->packed);
    p->call.weights = p->packed;
    p->call.out[0].data = out;
    if (emu_run(name, &p->call)) fail_msg("%s", emu_fault());
}

/* The largest error, as a share of the sum of the products' sizes. */
static double off(const struct product *p, int32_t ic, const float *out)
{
    double most = 0;
    for (int i = 0; i < PIXELS * OC; i++) {
        double sum = 0, sizes = 0;
        for (int k = 0; k < ic; k++) {
            double xy = (double)p->in[i / OC * ic + k] * p->weights[i % OC * ic + k];
            sum += xy, sizes += fabs(xy);
        }
        most = fmax(most, fabs(out[i] - sum) / sizes);
    }
    return most;
}

static struct product p;
static float by_tensors[PIXELS * OC], by_floats[PIXELS * OC];
static const char *const tensors[] = {"conv_f32_mma64x64__cuda", "conv_f32_mma64x128__cuda"}, floats[] = "conv_f32_64x64s__cuda";

/* Of one product no bit is lost when a side has few: all pieces of the other are there. */
static void all_pieces_count(void **state)
{
    struct rng r = {1};
    (void)state;
    for (int side = 0; side < 2; side++) {
        const int ic = 1;
        for (int i = 0; i < PIXELS; i++) p.in[i] = side ? full(&r, 1) : 1;
        for (int i = 0; i < OC; i++) p.weights[i] = side ? -1 : full(&r, 1);
        product_make(&p, ic);
        for (int n = 0; n < 2; n++) {
            compute(&p, tensors[n], by_tensors);
            for (int i = 0; i < PIXELS * OC; i++) assert_true(by_tensors[i] == p.in[i / OC] * p.weights[i % OC]);
        }
    }
}

/* Products of single floats have the bound that conv_mma.cu states; sums of many are closer than by multiply-adds. */
static void sums_are_as_exact(void **state)
{
    static const int32_t ics[] = {1, 3, 64, 100, IC};
    (void)state;
    for (int sign = 0; sign < 2; sign++)
        for (size_t n = 0; n < sizeof ics / sizeof *ics; n++) {
            const int32_t ic = ics[n];
            struct rng r = {n + 1};
            for (int i = 0; i < PIXELS * ic; i++) p.in[i] = full(&r, sign);
            for (int i = 0; i < OC * ic; i++) p.weights[i] = full(&r, sign);
            product_make(&p, ic);
            compute(&p, tensors[n % 2], by_tensors);
            compute(&p, floats, by_floats);
            const double error = off(&p, ic, by_tensors), of_floats = off(&p, ic, by_floats);
            if (error > 1.0 / (1 << 20)) fail_msg("%d channels: off by %g of the products", ic, error);
            if (ic == IC && error > of_floats) fail_msg("off by %g, by multiply-adds by %g", error, of_floats);
        }
}

/* Halves' products are exact; what is cut off of sums is far less than what an output loses that is stored as a half. */
static void halves_lose_little(void **state)
{
    static const char *const names[] = {"conv_f16_mma64x64__cuda", "conv_f16_mma128x64__cuda"};
    static const int32_t ics[] = {1, 8, 100, IC - 2};
    (void)state;
    for (int sign = 0; sign < 2; sign++)
        for (size_t n = 0; n < sizeof ics / sizeof *ics; n++) {
            struct rng r = {n + 1};
            for (int i = 0; i < PIXELS * ics[n]; i++) p.in[i] = full(&r, sign);
            for (int i = 0; i < OC * ics[n]; i++) p.weights[i] = full(&r, sign);
            product_halve(&p, ics[n]);
            compute(&p, names[n % 2], by_tensors);
            const double error = off(&p, ics[n], by_tensors);
            print_message("%d channels of %s: off by %.2g of the products\n", ics[n], sign ? "any sign" : "one sign", error);
            if (error > (ics[n] > 1 ? 2e-6 : 0)) fail_msg("%d channels: off by %g of the products", ics[n], error);
        }
}

/* The chip before sm_70 has multiply-adds; one before sm_80 brings operands another way. */
static void chips_of_halves(void **state)
{
    static float of_chip[3][PIXELS * OC];
    static const int chips[] = {90, 72, 62}, ic = 104;
    struct rng r = {3};
    (void)state;
    for (int i = 0; i < PIXELS * ic; i++) p.in[i] = full(&r, 1);
    for (int i = 0; i < OC * ic; i++) p.weights[i] = full(&r, 1);
    product_halve(&p, ic);
    compute(&p, "conv_f16_64x64s__cuda", by_floats);
    for (int n = 0; n < 3; n++) {
        emu_set_chip(chips[n]);
        compute(&p, "conv_f16_mma64x64__cuda", of_chip[n]);
    }
    emu_set_chip(90);
    assert_memory_equal(of_chip[0], of_chip[1], sizeof of_chip[0]);
    assert_memory_equal(of_chip[2], by_floats, sizeof by_floats);
    assert_true(memcmp(of_chip[0], by_floats, sizeof by_floats));
}

static void chips_without_multiply_and_add(void **state)
{
    struct rng r = {2};
    (void)state;
    for (int32_t ic = 95; ic <= 96; ic++) { /* quads of channels, and not */
        for (int i = 0; i < PIXELS * ic; i++) p.in[i] = full(&r, 1);
        for (int i = 0; i < OC * ic; i++) p.weights[i] = full(&r, 1);
        product_make(&p, ic);
        compute(&p, floats, by_floats);
        for (int n = 0; n < 2; n++) {
            compute(&p, tensors[n], by_tensors);
            assert_true(memcmp(by_tensors, by_floats, sizeof by_floats));
            emu_set_chip(72);
            compute(&p, tensors[n], by_tensors);
            emu_set_chip(90);
            assert_memory_equal(by_tensors, by_floats, sizeof by_floats);
        }
        emu_set_chip(72);
        compute(&p, "conv_f32_mma64x64k2__cuda", by_tensors);
        emu_set_chip(90);
        assert_true(off(&p, ic, by_tensors) < 1.0 / (1 << 20));
    }
}

/* --- first layers, a pixel of which is two halves --- */

enum { SIDE = 45, TAPS = 7 /* at most */, RGB = 3, MOST_OUT = SIDE - 2 };

static struct image {
    struct ig_shape x, w, y;
    struct ig_conv attrs;
    int32_t taps, stride, side; /* of the window; of the output */
    float in[SIDE * SIDE * RGB], out[MOST_OUT * MOST_OUT * OC], packed[TAPS * 8 * 4 * 40];
    uint16_t weights[OC * RGB * TAPS * TAPS];
    float zeros[RGB];
    struct ig_call call;
} image;

/* Pixels of about 2^exponent. */
static void image_make(int32_t taps, int32_t stride, int exponent, int sign)
{
    const struct ig_shape *in[] = {&image.x, &image.w}, *out[] = {&image.y};
    const void *data[] = {NULL, image.weights};
    struct rng r = {4};
    int batch;
    image.taps = taps, image.stride = stride, image.side = (SIDE - taps) / stride + 1;
    image.x = (struct ig_shape){.type = IG_F32, .rank = 4, .dims = {1, SIDE, SIDE, RGB}};
    image.w = (struct ig_shape){.type = IG_F16, .rank = 4, .dims = {OC, RGB, taps, taps}};
    image.y = (struct ig_shape){.type = IG_F32, .rank = 4, .dims = {1, image.side, image.side, OC}};
    image.attrs = (struct ig_conv){.w = {1, taps, taps, 1, stride, stride, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}, .groups = 1};
    for (int i = 0; i < SIDE * SIDE * RGB; i++) image.in[i] = ldexpf(full(&r, sign), exponent);
    for (int i = 0; i < OC * RGB * TAPS * TAPS; i++) image.weights[i] = ig_float_to_half(full(&r, sign));
    assert_int_equal(ig_build_call(IG_CONV, &image.attrs, in, data, 2, out, 1, &image.call, &batch), 0);
    image.call.zeros = image.zeros;
    image.call.in[0].data = image.in;
}

static void image_compute(const char *name)
{
    const struct ig_kernel *kernel = ig_kernel_by_name(name);
    assert_true(image.side <= MOST_OUT && kernel && kernel->supports(&image.call) && kernel->pack(&image.call, NULL) <= sizeof image.packed);
    kernel->pack(&image.call, image.packed);
    image.call.weights = image.packed;
    image.call.out[0].data = image.out;
    if (emu_run(name, &image.call)) fail_msg("%s", emu_fault());
}

static double off_output(int i)
{
    const int x = i / OC % image.side, y = i / OC / image.side, n = image.taps * image.taps;
    double sum = 0, sizes = 0;
    for (int k = 0; k < RGB * n; k++) {
        const int row = y * image.stride + k % n / image.taps, column = x * image.stride + k % image.taps;
        double product = (double)image.in[(row * SIDE + column) * RGB + k / n] * ig_half_to_float(image.weights[i % OC * RGB * n + k]);
        sum += product, sizes += fabs(product);
    }
    return fabs(image.out[i] - sum) / sizes;
}

static double off_image(void)
{
    double most = 0;
    for (int i = 0; i < image.side * image.side * OC; i++) most = fmax(most, off_output(i));
    return most;
}

static const char *const of_images[] = {"conv_f16_first_mma128x64__cuda", "conv_f16_first_mma128x32__cuda"};

/* Whatever their size, pixels are not rounded to halves, which would be off by 1e-4; sums are cut off more often than behind 256 channels. */
static void pixels_stay_floats(void **state)
{
    static const int exponents[] = {0, -6, 7, 15, 16, 17, 100, -7, -8, -60, -120};
    (void)state;
    for (int sign = 0; sign < 2; sign++)
        for (size_t n = 0; n < sizeof exponents / sizeof *exponents; n++) {
            image_make(TAPS, 2, exponents[n], sign);
            image_compute(of_images[n % 2]);
            const double error = off_image();
            print_message("pixels of 2^%d of %s: off by %.2g of the products\n", exponents[n], sign ? "any sign" : "one sign", error);
            if (error > (sign ? 2e-6 : 4e-6)) fail_msg("pixels of 2^%d: off by %g of the products", exponents[n], error);
        }
}

/*
 * A pixel larger than any half among others, or an infinite one. Others in its patch are off by up to 2^-35 of the first, here less than a
 * fiftieth of their sizes; the second leaves them as they were, but to windows that end beside it, whose next tap is multiplied by zero.
 */
static void large_pixels(void **state)
{
    static const float large[] = {1e9f, 1e37f, INFINITY};
    (void)state;
    for (size_t n = 0; n < sizeof large / sizeof *large; n++) {
        image_make(TAPS, 2, 0, 1);
        image.in[(20 * SIDE + 21) * RGB + 1] = large[n];
        image_compute(of_images[n % 2]);
        for (int i = 0; i < image.side * image.side * OC; i++) {
            const int y = i / OC / image.side, x = i / OC % image.side, apart = isinf(large[n]) ? TAPS + 1 : TAPS;
            const int sees = 2 * y <= 20 && 20 < 2 * y + TAPS && 2 * x <= 21 && 21 < 2 * x + apart;
            if (sees && isinf(large[n])) assert_true(isnan(image.out[i]));
            else if (sees || isinf(large[n])) assert_true(off_output(i) < 4e-6);
            else assert_true(isfinite(image.out[i]) && (n > 0 || off_output(i) < 0.02));
        }
    }
}

/* Before sm_70 by multiply-adds. Windows and strides that networks seldom have, too. */
static void chips_of_images(void **state)
{
    static const int32_t windows[][2] = {{7, 2}, {7, 1}, {3, 1}, {4, 4}, {3, 3}, {6, 2}};
    (void)state;
    for (size_t w = 0; w < sizeof windows / sizeof *windows; w++)
        for (int n = 0; n < 4; n++) {
            image_make(windows[w][0], windows[w][1], 20 * (n % 2), 1);
            emu_set_chip(n < 2 ? 62 : 72);
            image_compute(of_images[image.stride < 3 ? n % 2 : 0]); /* the other's shared memory is for patches of less */
            emu_set_chip(90);
            const double error = off_image();
            if (error > 2e-6) fail_msg("%dx%d of stride %d: off by %g of the products", image.taps, image.taps, image.stride, error);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_pieces_count),
        cmocka_unit_test(sums_are_as_exact),
        cmocka_unit_test(halves_lose_little),
        cmocka_unit_test(chips_of_halves),
        cmocka_unit_test(chips_without_multiply_and_add),
        cmocka_unit_test(pixels_stay_floats),
        cmocka_unit_test(large_pixels),
        cmocka_unit_test(chips_of_images),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
