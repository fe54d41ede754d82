/* The GPU runtime against an emulated driver: frames through a captured graph, and what it says when something is missing. */
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "kernels_gpu/launch/launch.h"
#include "runtime/gpu/gpu.h"

enum { SIDE = 9, IN = 24, MIDDLE = 40, CLASSES = 10, PIXELS = SIDE * SIDE, CONSTANTS = 1 << 16, ARENA = 1 << 18 };

/* convolution 3x3 with ReLU, average over the image, fully connected */
struct network {
    struct ig_shape x, w1, y1, y2, flat, w2, y3;
    struct ig_conv conv;
    struct ig_global_pool pool;
    struct ig_fc fc;
    float conv_weights[MIDDLE * IN * 9], fc_weights[CLASSES * MIDDLE];
    char constants[CONSTANTS];
    int64_t constants_bytes, arena_bytes;
    const char *functions[8];
    struct ig_gpu_call calls[8];
    uint64_t params[8][IG_GPU_WORDS];
    int32_t n_functions, n_calls;
    struct ig_gpu_copy input, output;
    struct ig_gpu_plan plan;
};

static struct ig_shape shape(int rank, int32_t a, int32_t b, int32_t c, int32_t d)
{
    return (struct ig_shape){.type = IG_F32, .rank = rank, .dims = {a, b, c, d, 1, 1, 1, 1}};
}

static void *arena(int64_t offset)
{
    return (void *)(uintptr_t)IG_GPU_ADDRESS(IG_GPU_ARENA, offset);
}

static struct ig_call call_of(enum ig_op op, const void *attrs, const struct ig_shape *x, const struct ig_shape *w,
                              const void *weights, const struct ig_shape *y)
{
    const struct ig_shape *in[] = {x, w}, *out[] = {y};
    const void *data[] = {NULL, weights};
    struct ig_call call;
    int batch;
    assert_int_equal(ig_build_call(op, attrs, in, data, w ? 2 : 1, out, 1, &call, &batch), 0);
    return call;
}

/* The call of a layer by a kernel of the name, its tensors at these places of the arena; what generators do. */
static void add(struct network *n, const char *kernel, size_t (*pack)(const struct ig_call *, void *),
                struct ig_call call, int64_t in, int64_t out, int64_t scratch)
{
    struct ig_gpu_launch launches[IG_GPU_LAUNCHES];
    if (pack) {
        pack(&call, n->constants + n->constants_bytes);
        call.weights = (void *)(uintptr_t)IG_GPU_ADDRESS(IG_GPU_CONSTANTS, n->constants_bytes);
        n->constants_bytes += (int64_t)(pack(&call, NULL) + 255) / 256 * 256;
    }
    call.zeros = (void *)(uintptr_t)IG_GPU_ADDRESS(IG_GPU_CONSTANTS, 0);
    call.in[0].data = arena(in);
    call.out[0].data = arena(out);
    int count = ig_gpu_launcher(kernel)(&call, arena(scratch), launches);
    for (int i = 0; i < count; i++, n->n_calls++) {
        const struct ig_gpu_launch *l = &launches[i];
        struct ig_gpu_call *c = &n->calls[n->n_calls];
        memcpy(n->params[n->n_calls], l->params, l->bytes);
        *c = (struct ig_gpu_call){(uint32_t)n->n_functions, {l->grid[0], l->grid[1], l->grid[2]}, l->block, l->pointers,
                                  (l->bytes + 7) / 8, l->turns, n->params[n->n_calls]};
        n->functions[n->n_functions++] = l->function;
    }
}

static void network_make(struct network *n)
{
    int64_t x = 0, y1 = x + PIXELS * IN * 4 + 64, y2 = y1 + PIXELS * MIDDLE * 4 + 64, y3 = y2 + MIDDLE * 4 + 96;
    int64_t scratch = (y3 + CLASSES * 4 + 255) / 256 * 256;
    memset(n, 0, sizeof *n);
    n->x = shape(4, 1, SIDE, SIDE, IN), n->w1 = shape(4, MIDDLE, IN, 3, 3), n->y1 = shape(4, 1, SIDE, SIDE, MIDDLE);
    n->y2 = shape(4, 1, 1, 1, MIDDLE), n->flat = shape(2, 1, MIDDLE, 1, 1), n->w2 = shape(2, CLASSES, MIDDLE, 1, 1);
    n->y3 = shape(2, 1, CLASSES, 1, 1);
    n->conv = (struct ig_conv){{1, 3, 3, 1, 1, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1}, 1, {IG_RELU, 0, 0}};
    n->pool = (struct ig_global_pool){IG_POOL_AVERAGE, 0};
    for (int i = 0; i < MIDDLE * IN * 9; i++) n->conv_weights[i] = (float)(i % 5 - 2);
    for (int i = 0; i < CLASSES * MIDDLE; i++) n->fc_weights[i] = (float)(i % 7 - 3);
    n->constants_bytes = 1024; /* zeros */
    add(n, "conv_f32_32x32k4__cuda", ig_gpu_pack_conv,
        call_of(IG_CONV, &n->conv, &n->x, &n->w1, n->conv_weights, &n->y1), x, y1, scratch);
    add(n, "global_pool_f32_8x32__cuda", NULL, call_of(IG_GLOBAL_POOL, &n->pool, &n->y1, NULL, NULL, &n->y2),
        y1, y2, 0);
    add(n, "fc_f32_gemv__cuda", ig_gpu_pack_gemv, call_of(IG_FC, &n->fc, &n->flat, &n->w2, n->fc_weights, &n->y3), y2,
        y3, 0);
    n->input = (struct ig_gpu_copy){x, PIXELS * IN * 4, 0};
    n->output = (struct ig_gpu_copy){y3, CLASSES * 4, 0};
    n->plan = (struct ig_gpu_plan){"fatbin", n->functions, n->calls, &n->input, &n->output, n->n_functions, n->n_calls, 1, 1,
                                   ARENA, CONSTANTS, NULL, 0};
}

static void run_reference(const char *kernel, struct ig_call call, float *in, float *out)
{
    call.in[0].data = in;
    call.out[0].data = out;
    ig_kernel_by_name(kernel)->run(&call, ig_full_range(&call), NULL);
}

static void reference(const struct network *n, float *x, float *y)
{
    float y1[PIXELS * MIDDLE], y2[MIDDLE];
    run_reference("conv_f32_1x1__ref", call_of(IG_CONV, &n->conv, &n->x, &n->w1, n->conv_weights, &n->y1), x, y1);
    run_reference("global_pool_f32_1x1__ref", call_of(IG_GLOBAL_POOL, &n->pool, &n->y1, NULL, NULL, &n->y2), y1, y2);
    run_reference("fc_f32_1x1__ref", call_of(IG_FC, &n->fc, &n->flat, &n->w2, n->fc_weights, &n->y3), y2, y);
}

static struct network network;
static char why[200];

static int open_it(struct ig_gpu *gpu)
{
    why[0] = 0;
    return ig_gpu_open(gpu, &network.plan, network.constants, why, sizeof why);
}

/* Whether this machine has a driver, asked by another process: once loaded, it would answer to the emulated one's name. */
static int there_is_a_driver(void)
{
    int status;
    pid_t child = fork();
    if (!child) _exit(!dlopen("libcuda.so.1", RTLD_NOW));
    assert_int_equal(waitpid(child, &status, 0), child);
    return !status;
}

/* The first test: later ones load the emulated driver, which then answers to that name. */
static void without_a_driver(void **state)
{
    struct ig_gpu gpu;
    (void)state;
    if (there_is_a_driver()) skip();
    assert_int_equal(open_it(&gpu), -1);
    assert_non_null(strstr(why, "no CUDA driver: libcuda.so.1"));
}

static void frames(void **state)
{
    struct ig_gpu gpu;
    float x[PIXELS * IN], y[CLASSES], want[CLASSES];
    const void *in[] = {x};
    void *out[] = {y};
    (void)state;
    if (open_it(&gpu)) fail_msg("%s", why);
    assert_string_equal(gpu.name, "Emulated GPU");
    assert_int_equal(gpu.sm, 62);
    for (int frame = 0; frame < 3; frame++) {
        for (int i = 0; i < PIXELS * IN; i++) x[i] = (float)((i * 7 + frame * 13) % 11 - 5);
        memset(y, 0xff, sizeof y);
        if (ig_gpu_run(&gpu, in, out, why, sizeof why)) fail_msg("%s", why);
        reference(&network, x, want);
        for (int i = 0; i < CLASSES; i++)
            if (!(fabsf(y[i] - want[i]) <= 1e-5f * fabsf(want[i]) + 1e-4f))
                fail_msg("frame %d, class %d: %g instead of %g", frame, i, (double)y[i], (double)want[i]);
    }
    ig_gpu_close(&gpu);
    ig_gpu_close(&gpu);
}

/* A GRU whose reset comes before its product: a launch that is done twice for each step, and counts. */
static void turns(void **state)
{
    enum { STEPS = 5, ROWS = 2, UNITS = 20, GATES = 3, X = STEPS * ROWS * GATES * UNITS, Y = STEPS * ROWS * UNITS, R = GATES * UNITS * UNITS };
    static struct network n;
    const struct ig_recurrent gru = {.kind = IG_GRU, .f = {IG_SIGMOID, 0, 0}, .g = {IG_TANH, 0, 0}};
    const struct ig_shape of_x = shape(3, STEPS, ROWS, GATES * UNITS, 1), of_r = shape(3, 1, GATES * UNITS, UNITS, 1);
    const struct ig_shape of_y = shape(4, STEPS, 1, ROWS, UNITS);
    struct ig_call call = call_of(IG_RECURRENT, &gru, &of_x, &of_r, (void *)(uintptr_t)IG_GPU_ADDRESS(IG_GPU_CONSTANTS, 1024), &of_y);
    float x[X], y[Y], want[Y], *r = (float *)(void *)(n.constants + 1024);
    double scratch[5 * UNITS];
    struct ig_gpu gpu;
    const void *in[] = {x};
    void *out[] = {y};
    (void)state;
    for (int i = 0; i < X; i++) x[i] = (float)(i * 7 % 11 - 5) / 8;
    for (int i = 0; i < R; i++) r[i] = (float)(i * 5 % 13 - 6) / 32;
    add(&n, "recurrent_f32_spread__cuda", NULL, call, 0, sizeof x, (X + Y) * 4);
    assert_int_equal(n.n_calls, 1);
    assert_int_equal(n.calls[0].turns, 2 * STEPS);
    n.input = (struct ig_gpu_copy){0, sizeof x, 0}, n.output = (struct ig_gpu_copy){sizeof x, sizeof y, 0};
    n.plan = (struct ig_gpu_plan){"fatbin", n.functions, n.calls, &n.input, &n.output, 1, 1, 1, 1, ARENA, CONSTANTS, NULL, 0};
    call.in[0].data = x, call.in[1].data = r, call.out[0].data = want;
    ig_kernel_by_name("recurrent_f32_nd__ref")->run(&call, ig_full_range(&call), scratch);
    if (ig_gpu_open(&gpu, &n.plan, n.constants, why, sizeof why)) fail_msg("%s", why);
    for (int frame = 0; frame < 2; frame++) {
        if (ig_gpu_run(&gpu, in, out, why, sizeof why)) fail_msg("%s", why);
        for (int i = 0; i < Y; i++)
            if (!(fabsf(y[i] - want[i]) <= 1e-5f)) fail_msg("frame %d: %g at %d instead of %g", frame, (double)y[i], i, (double)want[i]);
    }
    ig_gpu_close(&gpu);
}

/* What is missing is named, nothing stays open, and the next attempt works. */
static void failures(void **state)
{
    static const struct { const char *what, *words; } cases[] = {
        {"device", "the CUDA driver finds no device"},
        {"image", "Emulated GPU is an sm_62, for which this program has no code"},
        {"memory", "Emulated GPU has no 65536 bytes of memory left"}};
    struct ig_gpu gpu;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        setenv("EMU_CUDA_FAILS", cases[i].what, 1);
        int bad = open_it(&gpu);
        unsetenv("EMU_CUDA_FAILS");
        assert_int_equal(bad, -1);
        assert_string_equal(why, cases[i].words);
    }
    if (open_it(&gpu)) fail_msg("%s", why);
    ig_gpu_close(&gpu);
}

/* A module of another chip is passed over. */
static void several_modules(void **state)
{
    static const void *const others[] = {"of another chip", "fatbin"};
    struct ig_gpu_plan saved = network.plan;
    struct ig_gpu gpu;
    (void)state;
    network.plan.fatbin = "of another chip";
    network.plan.others = others;
    network.plan.n_others = 1;
    assert_int_equal(open_it(&gpu), -1);
    assert_string_equal(why, "Emulated GPU is an sm_62, for which this program has no code");
    network.plan.n_others = 2;
    int bad = open_it(&gpu);
    network.plan = saved;
    assert_int_equal(bad, 0);
    ig_gpu_close(&gpu);
}

/* A driver that is older than the toolkit takes PTX, if it is not newer either. */
static void old_driver(void **state)
{
    static const struct { const char *other, *words; } cases[] = {
        {".version 6.5\n.target sm_62\n", NULL},
        {".version 7.8\n.target sm_62\n", "loading the kernels failed: CUDA_ERROR_INVALID_IMAGE (CUDA error 200)"},
        {"of another chip", "loading the kernels failed: CUDA_ERROR_INVALID_IMAGE (CUDA error 200)"}};
    struct ig_gpu_plan saved = network.plan;
    struct ig_gpu gpu;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const void *others[] = {cases[i].other};
        network.plan.others = others;
        network.plan.n_others = 1;
        setenv("EMU_CUDA_FAILS", "old", 1);
        int bad = open_it(&gpu);
        unsetenv("EMU_CUDA_FAILS");
        network.plan = saved;
        assert_int_equal(bad, cases[i].words ? -1 : 0);
        if (bad) assert_string_equal(why, cases[i].words);
        else ig_gpu_close(&gpu);
    }
}

static int64_t clock_of_calls(void)
{
    static int64_t now;
    return now += 5;
}

/* Layer by layer, each timed: the bits of the graph. */
static void apart(void **state)
{
    static const int32_t first[] = {0, 2, 3, 4};
    struct ig_gpu gpu;
    float x[PIXELS * IN], y[CLASSES], z[CLASSES];
    const void *in[] = {x};
    int64_t ns[3] = {0, 0, 0};
    (void)state;
    assert_int_equal(network.n_calls, first[3]);
    for (int i = 0; i < PIXELS * IN; i++) x[i] = (float)(i * 7 % 11 - 5);
    if (open_it(&gpu)) fail_msg("%s", why);
    if (ig_gpu_try(&gpu, why, sizeof why)) fail_msg("%s", why);
    if (ig_gpu_run(&gpu, in, (void *[]){y}, why, sizeof why)) fail_msg("%s", why);
    if (ig_gpu_run_apart(&gpu, in, (void *[]){z}, first, 3, ns, clock_of_calls, why, sizeof why)) fail_msg("%s", why);
    ig_gpu_close(&gpu);
    assert_memory_equal(y, z, sizeof y);
    for (int i = 0; i < 3; i++) assert_int_equal(ns[i], 5);
}

static void a_function_is_missing(void **state)
{
    struct ig_gpu gpu;
    const char *saved = network.functions[0];
    (void)state;
    network.functions[0] = "no_such_kernel";
    assert_int_equal(open_it(&gpu), -1);
    network.functions[0] = saved;
    assert_string_equal(why, "no_such_kernel failed: CUDA_ERROR_NOT_FOUND (CUDA error 500)");
}

static void a_launch_fails(void **state)
{
    struct ig_gpu gpu;
    float x[PIXELS * IN] = {0}, y[CLASSES];
    const void *in[] = {x};
    void *out[] = {y};
    (void)state;
    if (open_it(&gpu)) fail_msg("%s", why);
    setenv("EMU_CUDA_FAILS", "launch", 1);
    int bad = ig_gpu_run(&gpu, in, out, why, sizeof why);
    unsetenv("EMU_CUDA_FAILS");
    assert_int_equal(bad, -1);
    assert_string_equal(why, "running a frame on the GPU failed: CUDA_ERROR_LAUNCH_FAILED (CUDA error 719)");
    ig_gpu_close(&gpu);
}

static int make(void **state)
{
    (void)state;
    network_make(&network);
    return 0;
}

static int emulate(void **state)
{
    static void *driver;
    (void)state;
    if (!driver) driver = dlopen("out/emu/libcuda.so.1", RTLD_NOW);
    if (!driver) fprintf(stderr, "%s\n", dlerror());
    return driver ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_driver),
        cmocka_unit_test_setup(frames, emulate),
        cmocka_unit_test_setup(turns, emulate),
        cmocka_unit_test_setup(failures, emulate),
        cmocka_unit_test_setup(several_modules, emulate),
        cmocka_unit_test_setup(old_driver, emulate),
        cmocka_unit_test_setup(apart, emulate),
        cmocka_unit_test_setup(a_function_is_missing, emulate),
        cmocka_unit_test_setup(a_launch_fails, emulate),
    };
    return cmocka_run_group_tests(tests, make, NULL);
}
