/*
 * Convolutions of quantised numbers at the ends of 32-bit sums: the largest that kernels take gives the reference's bits, one more is refused.
 * Where pixels lie: of an image behind which memory ends, outputs of rows in a ring without gaps. And images of so many rows that not all of them
 * are in scratch at once. Dilated windows, of which kernel rows are left out. Windows of one pixel with columns of padding. The largest
 * products of 3x3 windows of many channels. Pixels of which none, some or all numbers are too large for products of bytes to be added in 16 bits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/common/conv_bytes.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "tests/support/guard.h"
#include "tests/support/node.h"

enum { LARGEST = 32896 /* k 2 255 128 < 2^31 */, CHANNELS = 3 };

static const struct ig_shape number = {IG_F32, 0, {1, 1, 1, 1, 1, 1, 1, 1}}, byte = {IG_U8, 0, {1, 1, 1, 1, 1, 1, 1, 1}};

struct problem { /* one pixel of k channels, 1x1; of groups of one as many outputs, else CHANNELS */
    struct ig_shape x, w, bias, y;
    struct ig_conv attrs;
    uint8_t *in, *weights;
    int32_t *biases;
    struct ig_call call;
};

static const float scale = 1, y_scale = 16777216;
static const uint8_t zero, w_zero = 128, y_zero = 128;

static void *room(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) abort();
    return p;
}

static void make(struct problem *p, int32_t k, int depthwise, int32_t bias)
{
    int32_t oc = depthwise ? k : CHANNELS, ic = depthwise ? 1 : k;
    int batch;
    *p = (struct problem){SHAPE(IG_U8, 1, 1, 1, k), SHAPE(IG_U8, oc, ic, 1, 1), SHAPE(IG_I32, oc), SHAPE(IG_U8, 1, 1, 1, oc),
                          {{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}, depthwise ? k : 1, {0}}, NULL, NULL, NULL, {0}};
    p->in = memset(room((size_t)k), 255, (size_t)k);
    p->weights = memset(room((size_t)oc * (size_t)ic), 255, (size_t)oc * (size_t)ic);
    p->biases = room((size_t)oc * sizeof *p->biases);
    for (int32_t i = 0; i < oc; i++) p->biases[i] = bias;
    if (!depthwise) memset(p->weights, 0, (size_t)ic); /* one output of the least sum */
    const struct ig_shape *in[9] = {&p->x, &number, &byte, &p->w, &number, &byte, &number, &byte, &p->bias}, *out[1] = {&p->y};
    const void *data[9] = {p->in, &scale, &zero, p->weights, &scale, &w_zero, &y_scale, &y_zero, p->biases};
    assert_int_equal(ig_build_call(IG_QLINEAR_CONV, &p->attrs, in, data, 9, out, 1, &p->call, &batch), 0);
}

static void drop(struct problem *p)
{
    free(p->in);
    free(p->weights);
    free(p->biases);
}

static void *lines(size_t bytes)
{
    return aligned_alloc(64, (bytes + 127) / 64 * 64);
}

static void run(const struct ig_kernel *k, const struct ig_call *call, uint8_t *y)
{
    struct ig_call now = *call;
    void *weights = lines(k->pack ? k->pack(call, NULL) : 0), *scratch = lines(k->scratch ? k->scratch(call) : 0), *zeros = lines(ig_zeros_bytes(call));
    assert_true(weights && scratch && zeros);
    if (k->pack) k->pack(call, weights);
    memset(zeros, 0, ig_zeros_bytes(call));
    now.weights = weights, now.zeros = zeros, now.out[0].data = y;
    k->run(&now, ig_full_range(&now), scratch);
    free(weights), free(scratch), free(zeros);
}

/* How many kernels take it; n of them ran here, to the reference's bits. */
static int takers(const struct problem *p, int *n)
{
    uint8_t want[CHANNELS], got[CHANNELS];
    int takes = 0;
    *n = 0;
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->op != IG_QLINEAR_CONV || k->isa == IG_ISA_REF || k->isa == IG_ISA_CUDA || !k->supports(&p->call)) continue;
        takes++;
        if (p->y.dims[3] != CHANNELS || !k->run || !ig_isa_runs_here(k->isa)) continue;
        run(ig_kernel_by_name("qlinear_conv_any_1x1__ref"), &p->call, want);
        run(k, &p->call, got);
        assert_memory_equal(got, want, CHANNELS);
        (*n)++;
    }
    return takes;
}

static void sums(void **state)
{
    struct problem p;
    int ran;
    (void)state;
    make(&p, LARGEST, 0, 0);
    assert_true(takers(&p, &ran) >= 6); /* each ISA has one; NEON of 16 bits, as one filter is -128 all over */
    assert_true(ran > 0 || ig_isa_fastest() == IG_ISA_REF);
    drop(&p);
    make(&p, LARGEST + 1, 0, 0);
    assert_int_equal(takers(&p, &ran), 0);
    drop(&p);
}

/* More of them where weights are smaller. */
static void smaller_weights(void **state)
{
    struct problem p;
    int ran;
    (void)state;
    for (int32_t over = 0; over < 2; over++) {
        const int32_t k = 2 * LARGEST, size = 64 + over; /* k 2 255 64 < 2^31 */
        make(&p, k, 0, 0);
        memset(p.weights, 128 - size, (size_t)k);
        memset(p.weights + k, 128 + size, (size_t)(CHANNELS - 1) * (size_t)k);
        if (over) assert_int_equal(takers(&p, &ran), 0);
        else assert_true(takers(&p, &ran) >= 6 && (ran > 0 || ig_isa_fastest() == IG_ISA_REF));
        drop(&p);
    }
}

static void biases(void **state)
{
    struct problem p;
    int ran;
    (void)state;
    for (int32_t sign = -1; sign <= 1; sign += 2)
        for (int depthwise = 0; depthwise < 2; depthwise++) {
            int32_t k = depthwise ? 1 : 2, largest = depthwise ? 127 : 128, most = INT32_MAX - k * 2 * 255 * largest - 1, n = depthwise ? 2 : k;
            make(&p, n, depthwise, sign * most);
            assert_true(takers(&p, &ran) > 0);
            drop(&p);
            make(&p, n, depthwise, sign * (most + 1));
            assert_int_equal(takers(&p, &ran), 0);
            drop(&p);
        }
}

enum { SIDE = 5, IC = 16, OC = 40, RING = 3, ROW = SIDE * OC };

static void any_bytes(uint8_t *to, int64_t n, uint32_t seed)
{
    for (int64_t i = 0; i < n; i++) to[i] = (uint8_t)((seed = seed * 1664525 + 1013904223) >> 24);
}

/* Weights as large as they may be, or such as may be paired: four times smaller. */
static void any_weights(uint8_t *to, int64_t n, uint32_t seed, int small)
{
    any_bytes(to, n, seed);
    for (int64_t i = 0; small && i < n; i++) to[i] = (uint8_t)(w_zero + (to[i] - w_zero) / 4);
}

static void are_paired(const struct problem *p)
{
    const struct ig_kernel *k = ig_kernel_by_name("qlinear_conv_i8_paired4x16__avx2");
    assert_true(!k || k->supports(&p->call));
}

static void make_call_of(struct problem *p, const uint8_t *x_zero, const uint8_t *zero_of_w, const float *finer)
{
    const struct ig_shape *in[9] = {&p->x, &number, &byte, &p->w, &number, &byte, &number, &byte, &p->bias}, *out[1] = {&p->y};
    const void *data[9] = {p->in, &scale, x_zero, p->weights, &scale, zero_of_w, finer, &y_zero, p->biases};
    int batch;
    assert_int_equal(ig_build_call(IG_QLINEAR_CONV, &p->attrs, in, data, 9, out, 1, &p->call, &batch), 0);
}

static void make_call(struct problem *p, const uint8_t *x_zero, const float *finer)
{
    make_call_of(p, x_zero, &w_zero, finer);
}

/* The image is memory behind which nothing may be read. */
static void make_image(struct problem *p, struct guard *image, int small)
{
    static const float finer = 128;
    *p = (struct problem){SHAPE(IG_U8, 1, SIDE, SIDE, IC), SHAPE(IG_U8, OC, IC, 1, 1), SHAPE(IG_I32, OC), SHAPE(IG_U8, 1, SIDE, SIDE, OC),
                          {{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}, 1, {0}}, NULL, NULL, NULL, {0}};
    guard_make(image, SIDE * SIDE * IC, 1, 0);
    p->in = image->data;
    p->weights = room(OC * IC);
    p->biases = memset(room(OC * sizeof *p->biases), 0, OC * sizeof *p->biases);
    any_bytes(p->in, SIDE * SIDE * IC, 1);
    any_weights(p->weights, OC * IC, 2, small);
    make_call(p, &zero, &finer);
    if (small) are_paired(p);
}

/* Two rows at a time, as a GPU never has them, of which the second ones are not side by side in the ring. */
static void run_in_ring(const struct ig_kernel *k, const struct problem *p, const uint8_t *want)
{
    uint8_t ring[RING * ROW];
    struct ig_call plan = p->call, now;
    plan.in[0].data = NULL, plan.out[0].ring_rows = RING;
    void *weights = lines(k->pack ? k->pack(&plan, NULL) : 0), *scratch = lines(k->scratch ? k->scratch(&plan) : 0);
    void *zeros = lines(ig_zeros_bytes(&plan));
    assert_true(weights && scratch && zeros);
    if (k->pack) k->pack(&plan, weights);
    memset(zeros, 0, ig_zeros_bytes(&plan));
    now = plan, now.weights = weights, now.zeros = zeros, now.in[0].data = p->in, now.out[0].data = ring;
    for (int32_t y = 0, end; y < SIDE; y = end) {
        end = y + 2 < SIDE ? y + 2 : SIDE;
        k->run(&now, (struct ig_range){y, end, 0, OC}, scratch);
        for (int32_t i = y; i < end; i++) assert_memory_equal(ring + i % RING * ROW, want + i * ROW, ROW);
    }
    free(weights), free(scratch), free(zeros);
}

static void in_places(int small)
{
    struct problem p;
    struct guard image;
    uint8_t want[SIDE * ROW];
    int ran = 0;
    make_image(&p, &image, small);
    run(ig_kernel_by_name("qlinear_conv_any_1x1__ref"), &p.call, want);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->op != IG_QLINEAR_CONV || k->isa == IG_ISA_REF || k->isa == IG_ISA_CUDA) continue;
        if (!k->run || !ig_isa_runs_here(k->isa) || !k->supports(&p.call)) continue;
        run_in_ring(k, &p, want);
        ran++;
    }
    assert_true(ran > 0 || ig_isa_fastest() == IG_ISA_REF);
    guard_free(&image);
    free(p.weights), free(p.biases);
}

static void places(void **state)
{
    (void)state;
    in_places(0);
    in_places(1);
}

enum { TALL = 190, WIDE = 12, DEEP = 128, FEW = 3, WORTH = 2 * TALL * WIDE * FEW };

/* Of windows of kh rows, sh apart. */
static void make_tall(struct problem *p, int32_t kh, int32_t sh, int small)
{
    static const float finer = 4096;
    const int32_t h = (TALL - 1) / sh + 1;
    *p = (struct problem){SHAPE(IG_U8, 1, TALL, WIDE, DEEP), SHAPE(IG_U8, FEW, DEEP, kh, 3), SHAPE(IG_I32, FEW), SHAPE(IG_U8, 1, h, WIDE, FEW),
                          {{1, kh, 3, 1, sh, 1, 1, 1, 1, 0, kh / 2, 1, 0, kh / 2, 1, 1, 1}, 1, {0}}, NULL, NULL, NULL, {0}};
    p->in = room(TALL * WIDE * DEEP);
    p->weights = room((size_t)(FEW * DEEP * kh * 3));
    p->biases = memset(room(FEW * sizeof *p->biases), 0, FEW * sizeof *p->biases);
    any_bytes(p->in, TALL * WIDE * DEEP, 3);
    any_weights(p->weights, FEW * DEEP * kh * 3, 4, small);
    make_call(p, &zero, &finer);
    if (small) are_paired(p);
}

/* Every kernel gives the reference's n numbers, of WORTH at most. */
static void are_the_same(const struct problem *p, size_t n)
{
    uint8_t want[WORTH], got[WORTH];
    int ran = 0;
    run(ig_kernel_by_name("qlinear_conv_any_1x1__ref"), &p->call, want);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->op != IG_QLINEAR_CONV || k->isa == IG_ISA_REF || k->isa == IG_ISA_CUDA) continue;
        if (!k->run || !ig_isa_runs_here(k->isa) || !k->supports(&p->call)) continue;
        memset(got, 0, sizeof got);
        run(k, &p->call, got);
        assert_memory_equal(got, want, n);
        ran++;
    }
    assert_true(ran > 0 || ig_isa_fastest() == IG_ISA_REF);
}

/* Rows that blocks have in common are copied once. */
static void tall_images(void **state)
{
    (void)state;
    for (int32_t kh = 1; kh <= 5; kh += 2)
        for (int32_t i = 0; i < 4; i++) {
            struct problem p;
            make_tall(&p, kh, 1 + i / 2, i % 2);
            are_the_same(&p, (size_t)(p.y.dims[1] * WIDE * FEW));
            drop(&p);
        }
}

enum { SQUARE = 11, WORD = 64, SOME = 35 };

/* Of windows of kh rows so far apart, of which the first is `top` rows above the image; 8 bits hold weights less their zero point, or do not. */
static void make_far(struct problem *p, int32_t kh, int32_t apart, int32_t top, int is_beyond)
{
    static const float finer = 2048;
    static const uint8_t x_zero = 31, off = 90;
    const int32_t h = SQUARE;
    *p = (struct problem){SHAPE(IG_U8, 1, h, h, WORD), SHAPE(IG_U8, SOME, WORD, kh, 1), SHAPE(IG_I32, SOME), SHAPE(IG_U8, 1, h, h, SOME),
                          {{1, kh, 1, 1, 1, 1, 1, apart, 1, 0, top, 0, 0, (kh - 1) * apart - top, 0, 1, 1}, 1, {0}}, NULL, NULL, NULL, {0}};
    p->in = room((size_t)(h * h * WORD));
    p->weights = room((size_t)(SOME * WORD * kh));
    p->biases = room(SOME * sizeof *p->biases);
    any_bytes(p->in, h * h * WORD, 5);
    any_bytes(p->weights, SOME * WORD * kh, 6);
    any_bytes((uint8_t *)p->biases, SOME * 2, 7);
    memset((uint8_t *)p->biases + SOME * 2, 0, SOME * 2);
    make_call_of(p, &x_zero, is_beyond ? &off : &w_zero, &finer);
}

/* Kernel rows that are padding for many pixels, or for all, are not multiplied with. */
static void rows_apart(void **state)
{
    (void)state;
    for (int32_t kh = 2; kh <= 5; kh++)
        for (int32_t apart = 2; apart <= SQUARE + 1; apart++)
            for (int32_t top = 0, is_beyond = 0; top <= (kh - 1) * apart; top += apart, is_beyond = !is_beyond) {
                struct problem p;
                make_far(&p, kh, apart, top, is_beyond);
                assert_int_equal(ig_bytes_cut_of(&p.call, &ig_bytes_avx2).rows, kh);
                assert_int_equal(ig_bytes_cut_of(&p.call, &ig_bytes_vnni).rows, kh);
                are_the_same(&p, SQUARE * SQUARE * SOME);
                drop(&p);
            }
}

/* Windows of one pixel, of c channels, with columns of padding on either side, or on none: only then do rows lie as they are copied. */
static void padded_pixels(void **state)
{
    static const float finer = 256;
    static const uint8_t x_zero = 31;
    (void)state;
    for (int32_t c = 4; c <= 128; c += 4)
        for (int32_t left = 0; left < 3; left++)
            for (int32_t i = 0; i < 4; i++) {
                const int32_t right = i / 2, w = SQUARE + left + right;
                struct problem p = {SHAPE(IG_U8, 1, SQUARE, SQUARE, c), SHAPE(IG_U8, SOME, c, 1, 1), SHAPE(IG_I32, SOME),
                                    SHAPE(IG_U8, 1, SQUARE, w, SOME), {{1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, left, 0, 0, right, 1, 1}, 1, {0}}, NULL, NULL, NULL, {0}};
                p.in = room((size_t)(SQUARE * SQUARE * c)), p.weights = room((size_t)(SOME * c));
                p.biases = memset(room(SOME * sizeof *p.biases), 0, SOME * sizeof *p.biases);
                any_bytes(p.in, SQUARE * SQUARE * c, 8), any_weights(p.weights, SOME * c, 9, i % 2);
                make_call(&p, &x_zero, &finer);
                are_the_same(&p, (size_t)(SQUARE * w * SOME));
                drop(&p);
            }
}

/* What takes a layer takes some of its rows, too: of windows with rows so far apart, of images of so many rows. */
static int32_t takes_paired(int32_t apart, int32_t rows)
{
    static const float finer = 256;
    const struct ig_kernel *k = ig_kernel_by_name("qlinear_conv_i8_paired4x16__avx2");
    struct problem p = {SHAPE(IG_U8, 1, rows, SQUARE, WORD), SHAPE(IG_U8, SOME, WORD, 3, 1), SHAPE(IG_I32, SOME), SHAPE(IG_U8, 1, rows, SQUARE, SOME),
                        {{1, 3, 1, 1, 1, 1, 1, apart, 1, 0, apart, 0, 0, apart, 0, 1, 1}, 1, {0}}, NULL, NULL, NULL, {0}};
    p.in = memset(room((size_t)(rows * SQUARE * WORD)), 0, (size_t)(rows * SQUARE * WORD)), p.weights = room(SOME * WORD * 3);
    p.biases = memset(room(SOME * sizeof *p.biases), 0, SOME * sizeof *p.biases);
    any_weights(p.weights, SOME * WORD * 3, 12, 1);
    make_call(&p, &zero, &finer);
    const int32_t takes = k && k->supports(&p.call);
    drop(&p);
    return takes;
}

static void some_rows(void **state)
{
    (void)state;
    if (ig_kernel_by_name("qlinear_conv_i8_paired4x16__avx2")) assert_true(takes_paired(2, SQUARE) && !takes_paired(SQUARE, SQUARE));
    for (int32_t apart = 2; apart <= SQUARE; apart++)
        for (int32_t rows = 1; rows <= SQUARE; rows++) assert_int_equal(takes_paired(apart, rows), takes_paired(apart, SQUARE));
}

enum { ROOMY = 16 };

/* Products by scales that are beyond 32 bits: of 3x3 windows, depthwise or not. */
static void large_products(void **state)
{
    static const float finer = 1e-6f;
    (void)state;
    for (int32_t groups = 1; groups <= ROOMY; groups += ROOMY - 1)
        for (int32_t stride = 1; stride <= 2; stride++) {
            const int32_t side = (ROOMY - 1) / stride + 1, ic = ROOMY / groups;
            struct problem p = {SHAPE(IG_U8, 1, ROOMY, ROOMY, ROOMY), SHAPE(IG_U8, ROOMY, ic, 3, 3), SHAPE(IG_I32, ROOMY),
                                SHAPE(IG_U8, 1, side, side, ROOMY), {{1, 3, 3, 1, stride, stride, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}, groups, {0}},
                                NULL, NULL, NULL, {0}};
            p.in = room(ROOMY * ROOMY * ROOMY), p.weights = room((size_t)(ROOMY * ic * 9));
            p.biases = memset(room(ROOMY * sizeof *p.biases), 0, ROOMY * sizeof *p.biases);
            any_bytes(p.in, ROOMY * ROOMY * ROOMY, 10), any_bytes(p.weights, ROOMY * ic * 9, 11);
            make_call(&p, &zero, &finer);
            are_the_same(&p, (size_t)(side * side * ROOMY));
            drop(&p);
        }
}

/* 3x3 windows of the largest products, all of one sign: of more channels than transforms' sums in 32 bits have room for at once. */
static void largest_windows(void **state)
{
    static const float finer = 524288;
    static const uint8_t x_zero = 128;
    enum { MANY = 256, SIDES = 9 };
    (void)state;
    for (int32_t x = 0; x <= 255; x += 255) {
        struct problem p = {SHAPE(IG_U8, 1, SIDES, SIDES, MANY), SHAPE(IG_U8, FEW, MANY, 3, 3), SHAPE(IG_I32, FEW), SHAPE(IG_U8, 1, SIDES, SIDES, FEW),
                            {{1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}, 1, {0}}, NULL, NULL, NULL, {0}};
        p.in = memset(room(SIDES * SIDES * MANY), x, SIDES * SIDES * MANY);
        p.weights = memset(room(FEW * MANY * 9), 0, FEW * MANY * 9);
        p.biases = memset(room(FEW * sizeof *p.biases), 0, FEW * sizeof *p.biases);
        memset(p.weights + MANY * 9, 255, MANY * 9);
        any_bytes(p.weights + 2 * MANY * 9, MANY * 9, 12);
        make_call(&p, &x_zero, &finer);
        are_the_same(&p, SIDES * SIDES * FEW);
        drop(&p);
    }
}

enum { LARGE_WIDTH = 19, LARGE_OC = 35 };

/*
 * Of every other word of pixel x, x % 9 of 9 numbers are large, so that two words are more together than four products have room for in 16 bits:
 * none, some, which kernels split, and at last so many that the pixel stays as it is. All others are 64 at most, four of which have room.
 */
static void some_large(uint8_t *to, int32_t c, uint32_t seed)
{
    for (int32_t x = 0; x < LARGE_WIDTH; x++)
        for (int32_t i = 0; i < c; i++, to++) {
            seed = seed * 1664525 + 1013904223;
            const int32_t often = 9 * (int32_t)(seed >> 24) / 256; /* 0 to 8 */
            *to = (uint8_t)(often < x % 9 && i / 4 % 2 == x / 9 ? 128 + (seed >> 16) % 128 : 60 + (seed >> 16) % 5);
        }
}

static void large_numbers(void **state)
{
    static const float finer = 2048;
    static const uint8_t x_zero = 3;
    const struct ig_kernel *k = ig_kernel_by_name("qlinear_conv_i8_split4x16__avx2");
    (void)state;
    for (int32_t c = 1; c <= 145; c += 1 + c / 9)
        for (int32_t kw = 1; kw <= 3; kw += 2) {
            struct problem p = {SHAPE(IG_U8, 1, 1, LARGE_WIDTH, c), SHAPE(IG_U8, LARGE_OC, c, 1, kw), SHAPE(IG_I32, LARGE_OC),
                                SHAPE(IG_U8, 1, 1, LARGE_WIDTH, LARGE_OC), {{1, 1, kw, 1, 1, 1, 1, 1, 1, 0, 0, kw / 2, 0, 0, kw / 2, 1, 1}, 1, {0}},
                                NULL, NULL, NULL, {0}};
            p.in = room((size_t)(LARGE_WIDTH * c)), p.weights = room((size_t)(LARGE_OC * c * kw));
            p.biases = memset(room(LARGE_OC * sizeof *p.biases), 0, LARGE_OC * sizeof *p.biases);
            some_large(p.in, c, (uint32_t)c);
            any_bytes(p.weights, LARGE_OC * c * kw, 13);
            memset(p.weights, 0, (size_t)(c * kw)), memset(p.weights + c * kw, 255, (size_t)(c * kw));
            make_call(&p, &x_zero, &finer);
            assert_true(!k || k->supports(&p.call));
            are_the_same(&p, LARGE_WIDTH * LARGE_OC);
            drop(&p);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sums), cmocka_unit_test(smaller_weights), cmocka_unit_test(biases), cmocka_unit_test(places),
                                       cmocka_unit_test(tall_images), cmocka_unit_test(rows_apart), cmocka_unit_test(padded_pixels),
                                       cmocka_unit_test(some_rows), cmocka_unit_test(large_products), cmocka_unit_test(largest_windows), cmocka_unit_test(large_numbers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
