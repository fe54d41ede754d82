/* What the emulator says of real kernels: which barriers they need, what grids they have, what work they leave out. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/registry.h"
#include "kernels_gpu/emu/run.h"
#include "kernels_gpu/params.h"
#include "tests/support/node.h"
#include "tests/support/rng.h"

enum { OC = 40, MOST_IN = 5 * 6 * 1920, MOST_WEIGHTS = OC * 1920 };

struct problem {
    struct ig_shape x, w, y;
    struct ig_conv attrs;
    float in[MOST_IN], weights[MOST_WEIGHTS], packed[MOST_WEIGHTS], out[9 * 9 * OC], zeros[64];
    size_t in_bytes, packed_bytes, out_bytes;
    struct ig_call call;
};

/* Small whole numbers, of either precision. */
static void fill_numbers(void *data, int32_t type, int n, int most)
{
    for (int i = 0; i < n; i++)
        if (type == IG_F16) ((uint16_t *)data)[i] = ig_float_to_half((float)(i % most));
        else ((float *)data)[i] = (float)(i % most);
}

/* k x k, to 40 channels: ragged in every direction; of halves, if the kernel's name says so, but for pixels of first layers. */
static void problem_make(struct problem *p, const struct ig_kernel *kernel, int32_t h, int32_t w, int32_t ic, int32_t k)
{
    const struct ig_shape *in[] = {&p->x, &p->w}, *out[] = {&p->y};
    const void *data[] = {NULL, p->weights};
    const int32_t type = strstr(kernel->name, "_f16_") ? IG_F16 : IG_F32;
    int batch;
    memset(p, 0, sizeof *p);
    p->x = (struct ig_shape){.type = strstr(kernel->name, "_first") ? IG_F32 : type, .rank = 4, .dims = {1, h, w, ic}};
    p->w = (struct ig_shape){.type = type, .rank = 4, .dims = {OC, ic, k, k}};
    p->y = (struct ig_shape){.type = type, .rank = 4, .dims = {1, h, w, OC}};
    p->attrs = (struct ig_conv){.w = {1, k, k, 1, 1, 1, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1}, .groups = 1};
    p->in_bytes = (size_t)ig_bytes(&p->x);
    p->out_bytes = (size_t)ig_bytes(&p->y);
    assert_true(p->in_bytes <= sizeof p->in && p->out_bytes <= sizeof p->out && (size_t)ig_bytes(&p->w) <= sizeof p->weights);
    fill_numbers(p->in, p->x.type, MOST_IN, 7);
    fill_numbers(p->weights, type, MOST_WEIGHTS, 5);
    assert_int_equal(ig_build_call(IG_CONV, &p->attrs, in, data, 2, out, 1, &p->call, &batch), 0);
    assert_true(kernel->supports(&p->call));
    p->packed_bytes = kernel->pack(&p->call, NULL);
    assert_true(p->packed_bytes == (size_t)ig_bytes(&p->w) || strstr(kernel->name, "first_mma")); /* those fill steps up */
    assert_true(p->packed_bytes <= sizeof p->packed);
    kernel->pack(&p->call, p->packed);
    p->call.weights = p->packed;
    p->call.zeros = p->zeros;
    p->call.in[0].data = p->in;
    p->call.out[0].data = p->out;
}

/*
 * Every barrier that a convolution has is needed: without it, a race. Of two runs the operands of one lie at odd addresses.
 * conv_16x128 has as many barriers as its sums need, which are of 120 products in every warp here. conv_half_mma* have one a step of
 * 32 channels and two around the sums, of which the first is needed where these lie upon the last step; where operands come through
 * registers, as at odd addresses, they are put two barriers before they are read. Without its first one conv_f32_first* reads from where no
 * row is. conv_f16_first_mma* have one when all is there, and two around the sums of either of a warp's tiles. conv_64x128 has one a step
 * and two around the sums that its halves give each other.
 */
static void barriers_are_needed(void **state)
{
    static const struct {
        const char *name;
        int32_t h, w, ic, k, barriers;
    } cases[] = {{"conv_f32_128x128__cuda", 9, 9, 24, 3, 3}, {"conv_f32_128x64__cuda", 9, 9, 24, 3, 3},
                 {"conv_f32_64x64__cuda", 9, 9, 24, 3, 3},   {"conv_f32_64x64s__cuda", 9, 9, 24, 3, 3},
                 {"conv_f32_32x32__cuda", 9, 9, 24, 3, 3},   {"conv_f32_32x32k4__cuda", 9, 9, 24, 3, 3},
                 {"conv_f32_mma64x64__cuda", 9, 9, 24, 3, 9}, {"conv_f32_mma64x64k2__cuda", 9, 9, 24, 3, 5},
                 {"conv_f32_mma64x128__cuda", 9, 9, 24, 3, 9},
                 {"conv_f16_64x64__cuda", 9, 9, 24, 3, 3}, {"conv_f16_mma64x64__cuda", 9, 9, 128, 1, 6},
                 {"conv_f16_mma64x64k2__cuda", 9, 9, 128, 1, 4}, {"conv_f16_mma128x64__cuda", 9, 9, 128, 1, 6},
                 {"conv_f32_first128x64__cuda", 9, 9, 3, 3, 2}, {"conv_f32_first64x32k2__cuda", 9, 9, 3, 3, 4},
                 {"conv_f32_first64x16k4__cuda", 9, 9, 4, 5, 4}, {"conv_f32_16x128__cuda", 5, 6, 480, 1, 8},
                 {"conv_f16_first_mma128x64__cuda", 9, 9, 3, 3, 5}, {"conv_f16_first_mma128x32__cuda", 9, 9, 4, 5, 5},
                 {"conv_f32_16x128k4__cuda", 5, 6, 1920, 1, 8}, {"conv_f32_64x128k8__cuda", 9, 9, 24, 3, 5}};
    static struct problem p;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *name = cases[i].name;
        problem_make(&p, ig_kernel_by_name(name), cases[i].h, cases[i].w, cases[i].ic, cases[i].k);
        for (int run = 0; run < 2; run++)
            if (emu_run(name, &p.call)) fail_msg("%s", emu_fault());
        for (int barrier = 0; barrier < cases[i].barriers; barrier++) {
            int races = 0, least = strstr(name, "_f16_mma") ? 1 : 2, is_first = strstr(name, "_first") != NULL;
            emu_omit_barrier(barrier);
            for (int run = 0; run < 2; run++)
                races += emu_run(name, &p.call) && (strstr(emu_fault(), "race on shared") || (is_first && strstr(emu_fault(), "no multiple")));
            emu_omit_barrier(-1);
            if (races < least) fail_msg("%s without barrier %d: %d races, not %d; '%s'", name, barrier, races, least, emu_fault());
        }
    }
}

/* So are those of recurrent layers: one before the first step, one behind each, and one more of a GRU whose reset comes before the product. */
static void recurrent_barriers_are_needed(void **state)
{
    enum { STEPS = 3, ROWS = 5, UNITS = 40, GATES = 4 };
    static const char *const names[] = {"recurrent_f32_kept__cuda", "recurrent_f32_1__cuda", "recurrent_f32_4__cuda"};
    static float x[STEPS * ROWS * GATES * UNITS], r[GATES * UNITS * UNITS], y[STEPS * ROWS * UNITS], last[ROWS * UNITS];
    (void)state;
    for (int i = 0; i < 3 * 4; i++) {
        const struct ig_recurrent a = {.kind = i % 4 < IG_LSTM ? i % 4 : i % 4 == IG_LSTM ? IG_LSTM : IG_GRU, .reset_after = i % 4 > IG_LSTM,
                                       .f = {IG_SIGMOID, 0, 0}, .g = {IG_TANH, 0, 0}, .u = {IG_TANH, 0, 0}};
        const int32_t rows = ig_gates_of(&a) * UNITS, barriers = a.kind == IG_GRU && !a.reset_after ? 1 + 2 * STEPS : 1 + STEPS;
        const struct ig_shape of_x = SHAPE(IG_F32, STEPS, ROWS, rows), of_r = SHAPE(IG_F32, 1, rows, UNITS);
        const struct ig_shape of_y = SHAPE(IG_F32, STEPS, 1, ROWS, UNITS), of_last = SHAPE(IG_F32, 1, ROWS, UNITS);
        const struct ig_shape *in[] = {&of_x, &of_r}, *out[] = {&of_y, &of_last};
        const void *data[] = {x, r};
        struct ig_call call;
        int batch;
        assert_int_equal(ig_build_call(IG_RECURRENT, &a, in, data, 2, out, 2, &call, &batch), 0);
        call.out[0].data = y, call.out[1].data = last;
        if (emu_run(names[i / 4], &call)) fail_msg("%s", emu_fault());
        for (int barrier = 0; barrier < barriers; barrier++) {
            emu_omit_barrier(barrier);
            int missed = emu_run(names[i / 4], &call) && strstr(emu_fault(), "race on shared");
            emu_omit_barrier(-1);
            if (!missed) fail_msg("%s of kind %d without barrier %d: '%s'", names[i / 4], i % 4, barrier, emu_fault());
        }
    }
}

/*
 * More units than a block's lanes have at once, or a warp's, read by quads or one by one, and more than other functions than recurrent_any have
 * room for.
 */
static void recurrent_rounds(void **state)
{
    enum { MOST = 2052, ROWS = 5, STEPS = 2, WEIGHTS = 4 * 516 * 516 };
    static const struct { const char *name; int32_t kind, after, steps, rows, units; } cases[] = {
        {"recurrent_f32_4__cuda", IG_RNN, 0, STEPS, ROWS, 132}, {"recurrent_f32_4__cuda", IG_GRU, 0, STEPS, ROWS, 132},
        {"recurrent_f32_4__cuda", IG_GRU, 1, STEPS, ROWS, 132}, {"recurrent_f32_4__cuda", IG_LSTM, 0, STEPS, ROWS, 132},
        {"recurrent_f32_1__cuda", IG_RNN, 0, STEPS, 1, 516},    {"recurrent_f32_1__cuda", IG_GRU, 0, STEPS, 1, 516},
        {"recurrent_f32_1__cuda", IG_LSTM, 0, STEPS, 1, 516},   {"recurrent_f32_1__cuda", IG_GRU, 0, STEPS, 2, 301},
        {"recurrent_f32_1__cuda", IG_LSTM, 0, STEPS, 2, 301},   {"recurrent_f32_1__cuda", IG_RNN, 0, 1, 1, MOST},
        {"recurrent_f32_spread__cuda", IG_RNN, 0, STEPS, 1, 1028}, {"recurrent_f32_spread__cuda", IG_GRU, 0, STEPS, 1, 516},
        {"recurrent_f32_spread__cuda", IG_LSTM, 0, STEPS, 1, 514}, {"recurrent_f32_spread4__cuda", IG_GRU, 1, STEPS, ROWS, 260},
        {"recurrent_f32_spread4__cuda", IG_LSTM, 0, STEPS, ROWS, 257}};
    static float x[4 * MOST * STEPS], h0[MOST], y[2][MOST * STEPS], r[MOST * MOST > WEIGHTS ? MOST * MOST : WEIGHTS];
    static double scratch[6 * MOST];
    struct rng rng = {1};
    (void)state;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)rng_real(&rng, -1, 1);
    for (size_t i = 0; i < sizeof r / sizeof *r; i++) r[i] = (float)rng_real(&rng, -0.1, 0.1);
    for (int i = 0; i < MOST; i++) h0[i] = (float)rng_real(&rng, -1, 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int32_t steps = cases[i].steps, b = cases[i].rows, n = cases[i].units, kind = cases[i].kind;
        const struct ig_recurrent a = {.kind = kind, .reset_after = cases[i].after, .f = {kind == IG_RNN ? IG_TANH : IG_SIGMOID, 0, 0},
                                       .g = {IG_TANH, 0, 0}, .u = {IG_TANH, 0, 0}};
        const struct ig_shape of_x = SHAPE(IG_F32, steps, b, ig_gates_of(&a) * n), of_r = SHAPE(IG_F32, 1, ig_gates_of(&a) * n, n);
        const struct ig_shape of_h = SHAPE(IG_F32, 1, b, n), of_y = SHAPE(IG_F32, steps, 1, b, n);
        const struct ig_shape *in[] = {&of_x, &of_r, NULL, &of_h}, *out[] = {&of_y};
        const void *data[] = {x, r, NULL, h0};
        struct ig_call call;
        int batch;
        assert_int_equal(ig_build_call(IG_RECURRENT, &a, in, data, 4, out, 1, &call, &batch), 0);
        call.out[0].data = y[0];
        if (emu_run(cases[i].name, &call)) fail_msg("%s", emu_fault());
        call.out[0].data = y[1];
        recurrent_f32_nd__ref(&call, ig_full_range(&call), scratch);
        for (int32_t k = 0; k < steps * b * n; k++)
            if (!(fabsf(y[0][k] - y[1][k]) <= 1e-5f))
                fail_msg("%s of kind %d, %d units: %g at %d, the reference says %g", cases[i].name, kind, n, (double)y[0][k], k, (double)y[1][k]);
    }
}

/* Of a row alone and of four, of two directions. */
static void recurrent_bits(void **state)
{
    enum { STEPS = 3, ROWS = 6, UNITS = 132, GATES = 4 };
    static float x[2 * STEPS * ROWS * GATES * UNITS], r[2 * GATES * UNITS * UNITS], y[3][2 * STEPS * ROWS * UNITS];
    static const char *const kernels[] = {"recurrent_f32_spread__cuda", "recurrent_f32_spread4__cuda", "recurrent_f32_spread8__cuda"};
    struct rng rng = {1};
    (void)state;
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)rng_real(&rng, -1, 1);
    for (size_t i = 0; i < sizeof r / sizeof *r; i++) r[i] = (float)rng_real(&rng, -0.1, 0.1);
    for (int i = 0; i < 4; i++) {
        const struct ig_recurrent a = {.kind = i < IG_LSTM ? i : i == IG_LSTM ? IG_LSTM : IG_GRU, .reset_after = i > IG_LSTM, .reverse = 2,
                                       .f = {IG_SIGMOID, 0, 0}, .g = {IG_TANH, 0, 0}, .u = {IG_TANH, 0, 0}};
        const int32_t rows = ig_gates_of(&a) * UNITS;
        const struct ig_shape of_x = SHAPE(IG_F32, STEPS, ROWS, 2 * rows), of_r = SHAPE(IG_F32, 2, rows, UNITS);
        const struct ig_shape of_y = SHAPE(IG_F32, STEPS, 2, ROWS, UNITS);
        const struct ig_shape *in[] = {&of_x, &of_r}, *out[] = {&of_y};
        const void *data[] = {x, r};
        struct ig_call call;
        int batch;
        assert_int_equal(ig_build_call(IG_RECURRENT, &a, in, data, 2, out, 1, &call, &batch), 0);
        for (int k = 0; k < 3; k++) {
            call.out[0].data = y[k];
            if (emu_run(kernels[k], &call)) fail_msg("%s", emu_fault());
            assert_memory_equal(y[0], y[k], sizeof y[0]);
        }
    }
}

/* Room for one channel less than is written. */
static void output_is_watched(void **state)
{
    static struct problem p;
    (void)state;
    problem_make(&p, ig_kernel_by_name("conv_f32_64x64__cuda"), 9, 9, 24, 3);
    struct ig_gpu_launch launch[IG_GPU_LAUNCHES];
    struct ig_call call = p.call;
    float *in = emu_alloc(p.in_bytes), *out = emu_alloc(p.out_bytes), *w = emu_alloc(p.packed_bytes), *z = emu_alloc(256);
    memcpy(in, p.in, p.in_bytes);
    memcpy(w, p.packed, p.packed_bytes);
    memset(z, 0, 256);
    emu_allow(in, p.in_bytes, EMU_READ);
    emu_allow(w, p.packed_bytes, EMU_READ);
    emu_allow(z, 256, EMU_READ);
    emu_allow(out, p.out_bytes - sizeof *out, EMU_WRITE);
    call.in[0].data = in, call.out[0].data = out, call.weights = w, call.zeros = z;
    assert_int_equal(ig_gpu_launcher("conv_f32_64x64__cuda")(&call, NULL, launch), 1);
    struct emu_dim grid = {launch->grid[0], launch->grid[1], launch->grid[2]};
    assert_int_equal(emu_launch(launch->function, emu_function(launch->function), grid, launch->block, launch->params), -1);
    if (!strstr(emu_fault(), "of device memory")) fail_msg("%s", emu_fault());
    emu_free(in), emu_free(out), emu_free(w), emu_free(z);
}

/* What computes a 1x1 layer of many groups or channels, of `type`, goes by grids that a GPU takes. How many kernels do. */
static int grids_fit(int32_t op, int32_t type, int32_t groups, int32_t ic, int32_t oc)
{
    static const float numbers[4];
    struct ig_shape x = {type, 4, {1, 1, 1, groups * ic}}, w = {type, 4, {groups * oc, ic, 1, 1}}, y = {type, 4, {1, 1, 1, groups * oc}};
    struct ig_conv conv = {.w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}, .groups = groups};
    struct ig_fc fc = {0};
    const struct ig_shape *in[] = {&x, &w}, *out[] = {&y};
    struct ig_gpu_launch launches[IG_GPU_LAUNCHES];
    struct ig_call call;
    int batch, fit = 0;
    if (op == IG_FC) x.rank = w.rank = y.rank = 2, x.dims[1] = ic, y.dims[1] = oc;
    const void *attrs = op == IG_FC ? (const void *)&fc : (const void *)&conv;
    assert_int_equal(ig_build_call((enum ig_op)op, attrs, in, (const void *[]){NULL, numbers}, 2, out, 1, &call, &batch), 0);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->op != op || k->isa != IG_ISA_CUDA || !k->supports(&call)) continue;
        fit++;
        for (int n = ig_gpu_launcher(k->name)(&call, NULL, launches); n-- > 0;)
            if (launches[n].grid[1] > EMU_MAX_GRID || launches[n].grid[2] > EMU_MAX_GRID)
                fail_msg("%s: a grid of %u x %u x %u", k->name, launches[n].grid[0], launches[n].grid[1], launches[n].grid[2]);
    }
    return fit;
}

static void grids_of_large_layers(void **state)
{
    (void)state;
    assert_true(grids_fit(IG_CONV, IG_F32, 4095, 8, 8) > 20);
    for (int32_t type = IG_F32;; type = IG_F16) {
        assert_true(grids_fit(IG_CONV, type, 4096, 8, 8) > 0);
        assert_true(grids_fit(IG_CONV, type, 1, 1, 1 << 22) > 0);
        assert_true(grids_fit(IG_FC, type, 1, 4, 1 << 22) > 0);
        if (type == IG_F16) break;
    }
}

/* Rows of taps that a tile of `pixels` has within a 14 x 14 image, of 3 x 3 `rate` apart: of all tiles. */
static int rows_within(int pixels, int rate)
{
    enum { SIDE = 14 };
    int n = 0;
    for (int m = 0; m < SIDE * SIDE; m += pixels)
        for (int ky = -1; ky <= 1; ky++) {
            int is_within = 0;
            for (int i = m; i < m + pixels && i < SIDE * SIDE; i++) is_within |= i / SIDE + ky * rate >= 0 && i / SIDE + ky * rate < SIDE;
            n += is_within;
        }
    return n;
}

/* A dilated convolution multiplies by no row of taps that is beyond the image for all of a tile's pixels, and loses none of the others. */
static void dilated_reads_rows_within(const char *name, int32_t type, int pixels, int rate)
{
    enum { SIDE = 14, C = 32, WIDE = 128, TAPS = 9, IN = SIDE * SIDE * C, OUT = SIDE * SIDE * WIDE, ROW = 3 * C * WIDE };
    static float x[IN], w[WIDE * C * TAPS], y[OUT], want[OUT], packed[WIDE * C * TAPS + 16], zeros[C + 16];
    struct ig_shape xs = {type, 4, {1, SIDE, SIDE, C}}, ws = {type, 4, {WIDE, C, 3, 3}}, ys = {type, 4, {1, SIDE, SIDE, WIDE}};
    struct ig_conv a = {.w = {1, 3, 3, 1, 1, 1, 1, rate, rate, 0, rate, rate, 0, rate, rate, 1, 1}, .groups = 1};
    const struct ig_shape *in[] = {&xs, &ws}, *out[] = {&ys};
    const void *data[] = {NULL, w};
    const struct ig_kernel *kernel = ig_kernel_by_name(name);
    const unsigned long long bytes = (unsigned long long)rows_within(pixels, rate) * ROW * (unsigned)ig_type_bytes(type);
    struct ig_call call;
    int batch;
    for (int i = 0; i < IN; i++) x[i] = type == IG_F32 ? (float)(i * 7 % 11 - 5) : 0;
    for (int i = 0; i < WIDE * C * TAPS; i++) w[i] = type == IG_F32 ? (float)(i * 5 % 13 - 6) : 0;
    assert_int_equal(ig_build_call(IG_CONV, &a, in, data, 2, out, 1, &call, &batch), 0);
    assert_true(kernel->supports(&call) && kernel->pack(&call, NULL) <= sizeof packed);
    kernel->pack(&call, packed);
    call.weights = packed, call.zeros = zeros, call.in[0].data = x, call.out[0].data = y;
    emu_watch_input(EMU_PACKED);
    int bad = emu_run(name, &call);
    emu_watch_input(-1);
    if (bad) fail_msg("%s", emu_fault());
    if (emu_watched() != bytes) fail_msg("%s, %d apart: %llu bytes of weights are read, not %llu", name, rate, emu_watched(), bytes);
    if (type != IG_F32) return;
    call.weights = NULL, call.in[1].data = w, call.out[0].data = want;
    ig_kernel_by_name("conv_f32_1x1__ref")->run(&call, ig_full_range(&call), NULL);
    assert_memory_equal(y, want, sizeof want);
}

static void dilated_read_rows_within(void **state)
{
    static const struct { const char *name; int32_t type, pixels; } cases[] = {
        {"conv_f32_64x64__cuda", IG_F32, 64},      {"conv_f32_32x32k4__cuda", IG_F32, 32},  {"conv_f32_mma64x64k2__cuda", IG_F32, 64},
        {"conv_f32_64x128k4__cuda", IG_F32, 64},   {"conv_f16_64x64k2__cuda", IG_F16, 64},  {"conv_f16_mma64x64__cuda", IG_F16, 64}};
    (void)state;
    assert_int_equal(rows_within(64, 12), 2 + 1 + 2 + 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int rate = 2; rate <= 12; rate += 5) dilated_reads_rows_within(cases[i].name, cases[i].type, cases[i].pixels, rate);
}

/*
 * A transposed convolution k x k of stride s from 8 x 8 x 32 to 8s x 8s x 32 multiplies by no tap that falls between inputs:
 * each of the k^2 is of one phase, whose 64 outputs are two tiles, or one, that read its 32 x 32 weights once each.
 */
static void deconv_multiplies_no_gaps(const char *name, int32_t type, unsigned tiles)
{
    enum { C = 32, IN = 8 * 8 * C };
    static float x[IN], w[C * C * 16], y[9 * IN], packed[C * C * 16 + 16], zeros[C + 16];
    static const int32_t cases[][2] = {{1, 2}, {2, 2}, {3, 2}, {4, 2}, {3, 3}, {4, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t k = cases[i][0], s = cases[i][1], top = k > s ? (k - s) / 2 : 0;
        struct ig_shape xs = {type, 4, {1, 8, 8, C}}, ws = {type, 4, {C, C, k, k}}, ys = {type, 4, {1, 8 * s, 8 * s, C}};
        struct ig_conv a = {.w = {1, k, k, 1, s, s, 1, 1, 1, 0, top, top, 0, k - s - top, k - s - top, 1, 1}, .groups = 1};
        const struct ig_shape *in[] = {&xs, &ws}, *out[] = {&ys};
        const void *data[] = {NULL, w};
        const struct ig_kernel *kernel = ig_kernel_by_name(name);
        struct ig_call call;
        int batch;
        assert_int_equal(ig_build_call(IG_DECONV, &a, in, data, 2, out, 1, &call, &batch), 0);
        assert_true(kernel->supports(&call) && kernel->pack(&call, NULL) <= sizeof packed);
        kernel->pack(&call, packed);
        call.weights = packed, call.zeros = zeros, call.in[0].data = x, call.out[0].data = y;
        emu_watch_input(EMU_PACKED);
        if (emu_run(kernel->name, &call)) fail_msg("%s", emu_fault());
        emu_watch_input(-1);
        assert_int_equal(emu_watched(), (unsigned long long)tiles * (unsigned)(k * k) * C * C * (unsigned)ig_type_bytes(type));
    }
}

static void deconvs_multiply_no_gaps(void **state)
{
    (void)state;
    deconv_multiplies_no_gaps("deconv_f32_32x32__cuda", IG_F32, 2);
    deconv_multiplies_no_gaps("deconv_f16_32x32__cuda", IG_F16, 2);
    deconv_multiplies_no_gaps("deconv_f16_mma64x64__cuda", IG_F16, 1);
}

enum { ROWS = 70, COLUMNS = 36, CHANNELS = 36 /* a ring's blocks have 32 of each */, PIXELS = ROWS * COLUMNS * CHANNELS };

struct strips { /* a depthwise convolution of k x k, and how its kernel goes */
    const char *kernel, *function;
    int k, columns; /* of a thread; 0: blocks of a ring */
    int barriers;   /* that a strip of four rows has, each of which is needed */
};

/* Of small integers, padded by half of k: exact in floats. */
static float depthwise(int k, const float *in, const float *weights, int y, int x, int c)
{
    float sum = 0;
    for (int t = 0; t < k * k; t++) {
        int iy = y + t / k - k / 2, ix = x + t % k - k / 2;
        if (iy >= 0 && iy < ROWS && ix >= 0 && ix < COLUMNS) sum += in[(iy * COLUMNS + ix) * CHANNELS + c] * weights[c * k * k + t];
    }
    return sum;
}

/* The launch for strips of so many rows. */
static int launch_strips(const struct strips *of, struct ig_gpu_launch launch, int32_t rows)
{
    struct ig_gpu_conv p;
    memcpy(&p, launch.params, sizeof p);
    p.chunk = rows;
    memcpy(launch.params, &p, sizeof p);
    unsigned strips = (ROWS + (unsigned)rows - 1) / (unsigned)rows;
    unsigned across = of->columns ? (unsigned)((COLUMNS + of->columns - 1) / of->columns) : 0;
    struct emu_dim wide = {(across * strips * CHANNELS + 127) / 128, 1, 1}, ring = {launch.grid[0], strips, 1};
    struct emu_dim grid = across ? wide : ring;
    return emu_launch(launch.function, emu_function(launch.function), grid, launch.block, launch.params);
}

static void check_strips(const struct strips *of, const struct ig_gpu_launch *launch, int32_t rows, const float *in, const float *weights,
                         float *out)
{
    memset(out, 0xff, PIXELS * sizeof *out);
    if (launch_strips(of, *launch, rows)) fail_msg("%s", emu_fault());
    for (int i = 0; i < PIXELS; i++)
        assert_true(out[i] == depthwise(of->k, in, weights, i / CHANNELS / COLUMNS, i / CHANNELS % COLUMNS, i % CHANNELS));
}

/* Only images too large for the other tests have strips of more rows than a few: here by hand, also with a rest. */
static void strips_of(const struct strips *of)
{
    static float weights[CHANNELS * 49], packed[CHANNELS * 64];
    const int32_t k = of->k, pad = k / 2;
    struct ig_shape xs = {IG_F32, 4, {1, ROWS, COLUMNS, CHANNELS}}, ws = {IG_F32, 4, {CHANNELS, 1, k, k}};
    struct ig_conv a = {.w = {1, k, k, 1, 1, 1, 1, 1, 1, 0, pad, pad, 0, pad, pad, 1, 1}, .groups = CHANNELS};
    const struct ig_shape *shapes[] = {&xs, &ws}, *result[] = {&xs};
    const struct ig_kernel *kernel = ig_kernel_by_name(of->kernel);
    float *in = emu_alloc(PIXELS * sizeof *in), *out = emu_alloc(PIXELS * sizeof *out), *w = emu_alloc(sizeof packed);
    struct ig_gpu_launch launch[IG_GPU_LAUNCHES];
    struct ig_call call;
    int batch;
    for (int i = 0; i < PIXELS; i++) in[i] = (float)(i * 7 % 13 - 6);
    for (int i = 0; i < CHANNELS * k * k; i++) weights[i] = (float)(i * 5 % 11 - 5);
    assert_int_equal(ig_build_call(IG_CONV, &a, shapes, (const void *[]){NULL, weights}, 2, result, 1, &call, &batch), 0);
    assert_true(kernel->supports(&call) && kernel->pack(&call, NULL) <= sizeof packed);
    kernel->pack(&call, packed);
    memcpy(w, packed, sizeof packed);
    emu_allow(in, PIXELS * sizeof *in, EMU_READ);
    emu_allow(w, sizeof packed, EMU_READ);
    emu_allow(out, PIXELS * sizeof *out, EMU_WRITE);
    call.in[0].data = in, call.out[0].data = out, call.weights = w;
    assert_int_equal(ig_gpu_launcher(kernel->name)(&call, NULL, launch), 1);
    assert_string_equal(launch->function, of->function);
    for (int32_t rows = 4; rows <= 64; rows *= 2) check_strips(of, launch, rows, in, weights, out);
    for (int barrier = 0; barrier < of->barriers; barrier++) {
        emu_omit_barrier(barrier);
        if (!launch_strips(of, *launch, 4)) fail_msg("barrier %d is not missed", barrier);
        emu_omit_barrier(-1);
        assert_non_null(strstr(emu_fault(), "race on shared pixels"));
    }
    emu_free(in), emu_free(out), emu_free(w);
}

static void strips_of_any_height(void **state)
{
    static const struct strips kernels[] = {{"conv_f32_depthwise_wide__cuda", "depthwise_5s1_wide", 5, 8, 0},
                                            {"conv_f32_depthwise_wide__cuda", "depthwise_7s1_wide", 7, 4, 0},
                                            {"conv_f32_depthwise_ring__cuda", "depthwise_5s1_ring", 5, 0, 8}};
    (void)state;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) strips_of(&kernels[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(barriers_are_needed),
        cmocka_unit_test(recurrent_barriers_are_needed),
        cmocka_unit_test(recurrent_rounds),
        cmocka_unit_test(recurrent_bits),
        cmocka_unit_test(output_is_watched),
        cmocka_unit_test(grids_of_large_layers),
        cmocka_unit_test(deconvs_multiply_no_gaps),
        cmocka_unit_test(dilated_read_rows_within),
        cmocka_unit_test(strips_of_any_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
