/*
 * Whole networks on the GPU: planned for it, lowered to launches, and run by the GPU runtime on the emulated driver,
 * beside the CPU's plan of the same network.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/bed.h"
#include "gen/lower_gpu.h"
#include "models/zoo/zoo.h"
#include "planner/draw.h"
#include "planner/passes.h"
#include "tests/support/emulated.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"
#include "tests/support/nets_zoo.h"

enum { FEW_MACS = 800000000, FEWER_MACS = 400000000 };

/* profile: NULL: by estimates. */
static struct ig_plan *plan_for(const struct ig_graph *g, int isa, const struct ig_profile *profile)
{
    char err[300];
    struct ig_plan_options o = {.target = "test", .isa = isa, .threads = 1, .bands = IG_BANDS_OFF, .profile = profile,
                                .max_error = profile ? IG_MAX_ERROR : 0};
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) fail_msg("%s", err);
    return p;
}

static void fill(const struct ig_graph *g, uint64_t seed, void **in)
{
    for (int32_t i = 0; i < g->n_inputs; i++) {
        struct rng r = {seed};
        for (int64_t k = 0; k < ig_count(&g->values[g->inputs[i]].shape); k++) ((float *)in[i])[k] = (float)rng_real(&r, -1, 1);
    }
}

/* Whatever they cost. */
static void set_kinds(const struct ig_graph *g, struct ig_plan *p, int32_t kind)
{
    struct ig_platform board = {.n_processors = 0};
    ig_plan_passes(g, p, NULL, &board);
    for (int32_t i = 0; i < p->n_passes; i++) p->passes[i].kind = kind;
}

/* A GPU kernel of those that fit for each layer, drawn at random. */
static void draw(struct ig_profile *p, const struct ig_graph *g, uint64_t seed)
{
    if (ig_draw_profile(p, g, IG_ISA_CUDA, 1, &seed)) fail_msg("out of memory");
}

/* As net_run_tables, on the GPU, inputs and outputs of that kind, kernels by that profile or estimates (NULL). 0; -1: no GPU kernel
 * for a layer, which err names. */
static int run_gpu(const struct ig_graph *g, uint64_t seed, int32_t kind, const struct ig_profile *profile, void **out, char *err,
                   size_t err_bytes)
{
    struct ig_plan *p = plan_for(g, IG_ISA_CUDA, profile);
    set_kinds(g, p, kind);
    struct ig_lowered *l = ig_lower(g, p);
    struct ig_gpu_lowered *launches = ig_lower_gpu(l, err, err_bytes);
    int bad = !launches;
    if (launches) {
        struct ig_gpu gpu;
        void *constants = aligned_alloc(64, (size_t)(l->model.weights_bytes + 63) / 64 * 64);
        void **in = ig_io_buffers(l->model.inputs, l->model.n_inputs);
        memset(constants, 0, (size_t)l->model.weights_bytes);
        ig_fill_weights(l, constants);
        fill(g, seed, in);
        launches->plan.fatbin = "emulated";
        if (ig_gpu_open(&gpu, &launches->plan, constants, err, err_bytes)) fail_msg("%s", err);
        for (int frame = 0; frame < (profile ? 1 : 2); frame++) /* behind one of zeros */
            if (ig_gpu_run(&gpu, (const void *const *)in, out, err, err_bytes)) fail_msg("%s", err);
        ig_gpu_close(&gpu);
        ig_io_buffers_free(in, l->model.inputs, l->model.n_inputs);
        free(constants);
    }
    ig_gpu_lowered_free(launches);
    ig_lowered_free(l);
    ig_plan_free(p);
    return -bad;
}

static void compare(const char *name, const struct ig_shape *s, const float *want, const float *got, double bound)
{
    double most = 0, off = 0;
    for (int64_t i = 0; i < ig_count(s); i++) {
        most = fmax(most, fabs((double)want[i]));
        off = fmax(off, isnan(got[i]) ? INFINITY : fabs((double)got[i] - want[i]));
    }
    print_message("%s: off by %.1e of the largest output\n", name, off / most);
    if (!(off <= bound * most)) fail_msg("%s: off by %g where the largest output is %g", name, off, most);
}

/* 1: compared; 0: a layer has no GPU kernel. */
static int check_net(const char *name, struct ig_graph *g, int32_t kind, const struct ig_profile *profile, double bound)
{
    enum { OUTPUTS = 64 };
    void *want[OUTPUTS], *got[OUTPUTS];
    char err[300];
    assert_in_range(g->n_outputs, 1, OUTPUTS);
    for (int32_t i = 0; i < g->n_outputs; i++) got[i] = calloc(1, (size_t)ig_bytes(&g->values[g->outputs[i]].shape));
    int ran = !run_gpu(g, 7, kind, profile, got, err, sizeof err);
    if (ran) {
        struct ig_plan *p = plan_for(g, fastest_isa(), NULL);
        net_run_tables(g, p, 1, 7, want);
        ig_plan_free(p);
    }
    for (int32_t i = 0; i < g->n_outputs; i++) {
        if (ran) {
            compare(name, &g->values[g->outputs[i]].shape, want[i], got[i], bound);
            test_free(want[i]);
        }
        free(got[i]);
    }
    ig_graph_free(g);
    return ran;
}

static void random_chains(void **state)
{
    int compared = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        struct rng r = {seed};
        if (seed % 4 == 1) setenv("EMU_CUDA_DISCRETE", "1", 1);
        compared += check_net("a random chain", net_chain(&r, 12), (int32_t)(seed % 3), NULL, 1e-5);
        unsetenv("EMU_CUDA_DISCRETE");
    }
    assert_int_equal(compared, 40);
}

static void dense_block(void **state)
{
    (void)state;
    for (int chained = 0; chained < 2; chained++) {
        struct ig_graph *g = net_dense(4, chained);
        ig_prepare_views(g);
        assert_true(check_net("a dense block", g, chained, NULL, 1e-5));
    }
}

/* As many inputs and outputs as a GPU's program may have, of different sizes. */
static void many_ends(void **state)
{
    (void)state;
    for (int32_t kind = IG_PASS_PINNED; kind <= IG_PASS_MANAGED; kind++) {
        struct ig_graph *g = net_new();
        for (int32_t i = 0; i < IG_GPU_EDGES; i++) {
            const int32_t x = net_input(g, 1, 2, 3, i + 1);
            ig_add_output(g, net_add(g, x, x));
        }
        net_done(g);
        ig_prepare_views(g);
        assert_true(check_net("many inputs and outputs", g, kind, NULL, 1e-5));
    }
}

/* A cubic resize whose output is a slice of a concatenation's. */
static void a_resize_in_a_concat(void **state)
{
    struct ig_graph *g = net_new();
    const struct ig_shape twice = {IG_F32, 4, {1, 10, 14, 3, 1, 1, 1, 1}};
    int32_t x = net_input(g, 1, 5, 7, 3), parts[] = {ig_add_value(g, "a", &twice), ig_add_value(g, "b", &twice)};
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct ig_node *n = ig_add_node(g, NULL, IG_RESIZE, 1, 1);
        n->in[0] = x, n->out[0] = parts[i];
        n->attrs.resize = (struct ig_resize){.mode = i ? IG_CUBIC : IG_NEAREST, .nearest = IG_NEAREST_FLOOR, .cubic_a = -0.75f,
                                             .scale = {1, 2, 2, 1, 1, 1, 1, 1}};
    }
    ig_add_output(g, net_concat(g, 3, 2, parts));
    net_done(g);
    ig_prepare_views(g);
    assert_true(check_net("a resize in a concatenation", g, IG_PASS_PINNED, NULL, 1e-5));
}

/* Recurrent layers, by each kernel that may be drawn, in either precision. */
static void sequences(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct ig_graph *g = net_of_sequences();
        struct ig_profile drawn;
        if (seed % 2) assert_true(ig_pass_half(g));
        ig_prepare_views(g);
        draw(&drawn, g, seed);
        assert_true(check_net("sequences", g, (int32_t)(seed % 3), &drawn, seed % 2 ? 2e-3 : 1e-5));
        free(drawn.timings);
    }
}

static void by_estimates(void **state)
{
    (void)state;
    assert_true(check_net("mobilenet_v1_025", zoo_net("mobilenet_v1_025"), IG_PASS_MAPPED, NULL, 2e-5));
}

/* That network, prepared, in either precision. */
static struct ig_graph *net_of(const char *name, int half)
{
    struct ig_graph *g = zoo_net_unprepared(name);
    if (half) assert_true(ig_pass_half(g));
    ig_prepare_views(g);
    return g;
}

/* Each layer by a kernel drawn from those that it may have (INGOT_SEED=n: by others). */
static void check_drawn(const struct ig_zoo_net *net, int half, double bound)
{
    const char *given = getenv("INGOT_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    struct ig_graph *g = net_of(net->name, half);
    struct ig_profile drawn;
    print_message("INGOT_SEED=%llu\n", (unsigned long long)seed);
    draw(&drawn, g, seed);
    assert_true(check_net(net->name, g, IG_PASS_MAPPED, &drawn, bound));
    free(drawn.timings);
}

static int64_t macs_of(const struct ig_zoo_net *net)
{
    struct ig_zoo_counts n;
    ig_zoo_count(net, &n);
    return n.macs;
}

/* The benchmark networks. The large ones take long: with INGOT_LONG=1, which ninja test-long sets. */
static void zoo(void **state)
{
    (void)state;
    for (int32_t i = 0; ig_zoo_net(i); i++)
        if (macs_of(ig_zoo_net(i)) <= FEW_MACS || getenv("INGOT_LONG")) check_drawn(ig_zoo_net(i), 0, 2e-5);
}

/* Every tensor between layers is rounded, now one way and now the other where sums differ in their last bits: most in yolov3's 75 layers. */
static void zoo_in_halves(void **state)
{
    (void)state;
    for (int32_t i = 0; ig_zoo_net(i); i++) {
        const int few = macs_of(ig_zoo_net(i)) <= FEWER_MACS;
        if (few || getenv("INGOT_LONG")) check_drawn(ig_zoo_net(i), 1, few ? 2e-3 : 4e-3);
    }
}

/* Places of the staging are those that ig_gpu_place gives. */
static void where_they_are(void **state)
{
    struct ig_graph *g = zoo_net("mobilenet_v2");
    struct ig_plan *p = plan_for(g, IG_ISA_CUDA, NULL);
    char err[300];
    (void)state;
    for (int32_t kind = IG_PASS_PINNED; kind <= IG_PASS_MANAGED; kind++) {
        set_kinds(g, p, kind);
        struct ig_lowered *l = ig_lower(g, p);
        struct ig_gpu_lowered *launches = ig_lower_gpu(l, err, sizeof err);
        if (!launches) fail_msg("%s", err);
        assert_int_equal(launches->plan.outputs[0].kind, kind);
        assert_int_equal(launches->plan.inputs[0].kind, kind);
        if (kind) assert_int_equal(launches->plan.outputs[0].offset, (ig_bytes(l->model.inputs[0].shape) + 63) / 64 * 64);
        ig_gpu_lowered_free(launches);
        ig_lowered_free(l);
    }
    ig_plan_free(p);
    ig_graph_free(g);
}

/* Layers by kernels whose names have this part. */
static int32_t with_name(const struct ig_plan *p, const char *part)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_steps; i++) n += p->steps[i].kernel && strstr(p->steps[i].kernel->name, part) != NULL;
    return n;
}

/* Every benchmark network has launches for all of its layers, in either precision, and kernels made for these. */
static void zoo_lowers(void **state)
{
    (void)state;
    for (int32_t i = 0; ig_zoo_net(i / 2); i++) {
        const char *name = ig_zoo_net(i / 2)->name;
        struct ig_graph *g = net_of(name, i % 2);
        struct ig_plan *p = plan_for(g, IG_ISA_CUDA, NULL);
        struct ig_lowered *l = ig_lower(g, p);
        char err[300];
        struct ig_gpu_lowered *launches = ig_lower_gpu(l, err, sizeof err);
        if (!launches) fail_msg("%s: %s", name, err);
        assert_true(launches->plan.n_calls >= l->model.n_steps);
        assert_int_equal(with_name(p, "_window__cuda"), 0); /* which compute anything of any type, slowly */
        ig_gpu_lowered_free(launches);
        ig_lowered_free(l);
        ig_plan_free(p);
        ig_graph_free(g);
    }
}

/* Without a profile, in halves: where there are tensor cores they take what Winograd's algorithm takes where there are none. */
static void tensor_cores_by_estimates(void **state)
{
    struct ig_graph *g = net_of("resnet18", 1);
    (void)state;
    for (int32_t sm = 62; sm <= 72; sm += 10) {
        char err[300];
        struct ig_plan_options o = {.target = "test", .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF, .sm = sm, .max_error = IG_MAX_ERROR};
        struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
        if (!p) fail_msg("%s", err);
        const int32_t winograd = with_name(p, "_f16_winograd"), mma = with_name(p, "_f16_mma");
        print_message("sm_%d: %d layers by Winograd's algorithm, %d by tensor cores\n", sm, winograd, mma);
        assert_true(sm < 70 ? winograd > 10 : winograd == 0 && mma > 15);
        assert_int_equal(with_name(p, "_f16_first_mma"), sm >= 70);
        ig_plan_free(p);
    }
    ig_graph_free(g);
}

static struct ig_graph *net_transposed_in_halves(void)
{
    struct ig_graph *g = net_transposed();
    assert_true(ig_pass_half(g));
    ig_prepare_views(g);
    return g;
}

/* The one of the input has floats, which tensor cores do not multiply. */
static void transposed_in_halves(void **state)
{
    (void)state;
    for (int32_t sm = 62; sm <= 72; sm += 10) {
        struct ig_graph *g = net_transposed_in_halves();
        char err[300];
        struct ig_plan_options o = {.target = "test", .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF, .sm = sm, .max_error = IG_MAX_ERROR};
        struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
        if (!p) fail_msg("%s", err);
        assert_int_equal(with_name(p, "deconv_f16_"), 4);
        if (sm >= 70) assert_int_equal(with_name(p, "deconv_f16_mma"), 3);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    for (uint64_t seed = 0; seed < 6; seed++) {
        struct ig_graph *g = net_transposed_in_halves();
        struct ig_profile drawn;
        draw(&drawn, g, seed);
        assert_true(check_net("transposed convolutions in halves", g, (int32_t)(seed % 3), seed ? &drawn : NULL, 2e-3));
        free(drawn.timings);
    }
}

/* A constant of n numbers at random, or one that is given. */
static int32_t parameter(struct ig_graph *g, int32_t type, int32_t n, double low, double high)
{
    struct ig_shape s = {type, 1, {n, 1, 1, 1, 1, 1, 1, 1}};
    struct rng r = {(uint64_t)g->n_values};
    int32_t v = ig_add_const(g, "parameter", &s, NULL);
    void *data = (void *)(uintptr_t)g->values[v].data;
    for (int32_t i = 0; i < n; i++) {
        const double x = rng_real(&r, low, high);
        if (type == IG_F32) ((float *)data)[i] = (float)x;
        else if (type == IG_I32) ((int32_t *)data)[i] = (int32_t)x;
        else ((uint8_t *)data)[i] = (uint8_t)(int32_t)x;
    }
    return v;
}

static int32_t put_node(struct ig_graph *g, enum ig_op op, struct ig_shape s, int32_t n, const int32_t *in, const union ig_attrs *a)
{
    int32_t y = ig_add_value(g, "value", &s);
    struct ig_node *to = ig_add_node(g, NULL, op, n, 1);
    for (int32_t i = 0; i < n; i++) to->in[i] = in[i];
    to->out[0] = y;
    if (a) to->attrs = *a;
    return y;
}

/* From u8 to u8: k x k of stride s, padded so that its outputs are as many; clipped at its zero point, as relu is. */
static int32_t byte_conv(struct ig_graph *g, int32_t x, int32_t oc, int32_t groups, int32_t k, int32_t s)
{
    const struct ig_shape *from = &g->values[x].shape;
    const int32_t ic = from->dims[3], h = (from->dims[1] - 1) / s + 1, w = (from->dims[2] - 1) / s + 1;
    union ig_attrs a = {.conv = {.w = {1, k, k, 1, s, s, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1}, .groups = groups,
                                 .act = {IG_CLIP, 3, 255}}};
    struct ig_shape weights = {IG_I8, 4, {oc, ic / groups, k, k, 1, 1, 1, 1}}, to = {IG_U8, 4, {1, h, w, oc, 1, 1, 1, 1}};
    const int32_t in[] = {x, parameter(g, IG_F32, 1, 0.02, 0.02), parameter(g, IG_U8, 1, 3, 3), parameter(g, IG_I8, oc * ic / groups * k * k, -127, 127),
                          parameter(g, IG_F32, oc, 0.001, 0.003), parameter(g, IG_I8, 1, 0, 0), parameter(g, IG_F32, 1, 0.05, 0.05),
                          parameter(g, IG_U8, 1, 3, 3), parameter(g, IG_I32, oc, -2000, 2000)};
    g->values[in[3]].shape = weights;
    return put_node(g, IG_QLINEAR_CONV, to, 9, in, &a);
}

/* Of bytes between its first layer and its last: as MobileNets are, with a fully connected layer as a convolution of one pixel. */
static struct ig_graph *net_of_bytes(void)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 33, 29, 3);
    struct ig_shape s = g->values[x].shape;
    s.type = IG_U8;
    x = put_node(g, IG_QUANTIZE, s, 3, (const int32_t[]){x, parameter(g, IG_F32, 1, 0.02, 0.02), parameter(g, IG_U8, 1, 100, 100)}, NULL);
    x = byte_conv(g, x, 32, 1, 3, 2);
    x = byte_conv(g, x, 32, 32, 3, 1);
    x = byte_conv(g, x, 70, 1, 1, 1);
    x = byte_conv(g, x, 70, 70, 5, 2);
    x = byte_conv(g, x, 128, 1, 3, 2);
    x = byte_conv(g, x, 64, 2, 3, 16);
    x = byte_conv(g, x, 10, 1, 1, 1);
    s = g->values[x].shape;
    s.type = IG_F32;
    ig_add_output(g, put_node(g, IG_DEQUANTIZE, s, 3, (const int32_t[]){x, parameter(g, IG_F32, 1, 0.05, 0.05), parameter(g, IG_U8, 1, 3, 3)}, NULL));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

/* Tiles, tensor cores where there are some, and depthwise kernels, none of them the one of a thread an output; the CPU's bits. */
static void quantised(void **state)
{
    (void)state;
    for (int32_t sm = 62; sm <= 72; sm += 10) {
        struct ig_graph *g = net_of_bytes();
        char err[300];
        struct ig_plan_options o = {.target = "test", .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF, .sm = sm};
        struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
        if (!p) fail_msg("%s", err);
        assert_int_equal(with_name(p, "qlinear_conv_i8"), 7);
        assert_int_equal(with_name(p, "i8_depthwise"), 2);
        if (sm >= 72) assert_int_equal(with_name(p, "i8_mma"), 3); /* of one pixel half a tile is as good */
        assert_int_equal(with_name(p, "i8_gemv"), 1);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    for (uint64_t seed = 0; seed < 4; seed++) {
        struct ig_graph *g = net_of_bytes();
        struct ig_profile drawn;
        draw(&drawn, g, seed);
        assert_true(check_net("quantised", g, (int32_t)(seed % 3), seed ? &drawn : NULL, 0));
        free(drawn.timings);
    }
}

/* An image of 2048 x 2048 pixels, channels first, is turned by a grid that a GPU takes. */
static void a_large_image(void **state)
{
    struct ig_graph *g = net_new();
    const struct ig_shape first = {IG_F32, 4, {1, 3, 2048, 2048, 1, 1, 1, 1}}, last = {IG_F32, 4, {1, 2048, 2048, 3, 1, 1, 1, 1}};
    char err[300];
    (void)state;
    for (int back = 0; back < 2; back++) {
        int32_t x = back ? g->nodes[0].out[0] : net_input(g, 1, 3, 2048, 2048);
        int32_t y = ig_add_value(g, back ? "back" : "turned", back ? &first : &last);
        struct ig_node *n = ig_add_node(g, NULL, IG_TRANSPOSE, 1, 1);
        n->in[0] = x, n->out[0] = y;
        memcpy(n->attrs.transpose.perm, back ? (int32_t[]){0, 3, 1, 2} : (int32_t[]){0, 2, 3, 1}, 4 * sizeof(int32_t));
    }
    net_done(g);
    struct ig_plan *p = plan_for(g, IG_ISA_CUDA, NULL);
    struct ig_lowered *l = ig_lower(g, p);
    struct ig_gpu_lowered *launches = ig_lower_gpu(l, err, sizeof err);
    if (!launches) fail_msg("%s", err);
    assert_int_equal(launches->plan.n_calls, 2);
    for (int32_t i = 0; i < launches->plan.n_calls; i++) {
        const struct ig_gpu_call *c = &launches->calls[i];
        if (c->grid[1] > 65535 || c->grid[2] > 65535)
            fail_msg("%s: a grid of %u x %u x %u", launches->functions[c->function], c->grid[0], c->grid[1], c->grid[2]);
    }
    ig_gpu_lowered_free(launches);
    ig_lowered_free(l);
    ig_plan_free(p);
    ig_graph_free(g);
}

/* A resize of four dims, of which the GPU's changes three. */
static void a_layer_of_the_cpu_is_named(void **state)
{
    struct ig_graph *g = net_new();
    const int32_t twos[] = {1, 2, 2, 2, 2};
    const struct ig_shape fours = {IG_F32, 5, {1, 4, 4, 4, 4, 1, 1, 1}};
    char err[300];
    static float out[256];
    void *outputs[] = {out};
    int32_t x = net_reshape(g, net_relu(g, net_input(g, 1, 2, 2, 4)), 5, twos), y = ig_add_value(g, "y", &fours);
    struct ig_node *n = ig_add_node(g, NULL, IG_RESIZE, 1, 1);
    (void)state;
    n->in[0] = x, n->out[0] = y;
    n->attrs.resize = (struct ig_resize){.mode = IG_LINEAR, .scale = {1, 2, 2, 2, 2, 1, 1, 1}};
    net_done(g);
    assert_int_equal(run_gpu(g, 1, 0, NULL, outputs, err, sizeof err), -1);
    assert_non_null(strstr(err, "has no GPU kernel"));
    ig_graph_free(g);
}

static void every_op_has_a_kernel(void **state)
{
    (void)state;
    for (int op = 0; op < IG_OPS; op++) {
        int n = 0;
        for (int i = 0; i < ig_kernel_count(); i++) n += ig_kernel_at(i)->op == op && ig_kernel_at(i)->isa == IG_ISA_CUDA;
        if (!n) fail_msg("%s has no GPU kernel", ig_op_info((enum ig_op)op)->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_chains), cmocka_unit_test(dense_block), cmocka_unit_test(many_ends), cmocka_unit_test(a_resize_in_a_concat),
        cmocka_unit_test(sequences), cmocka_unit_test(by_estimates), cmocka_unit_test(zoo), cmocka_unit_test(zoo_in_halves),
        cmocka_unit_test(where_they_are), cmocka_unit_test(zoo_lowers), cmocka_unit_test(tensor_cores_by_estimates),
        cmocka_unit_test(transposed_in_halves), cmocka_unit_test(quantised),
        cmocka_unit_test(a_large_image), cmocka_unit_test(a_layer_of_the_cpu_is_named), cmocka_unit_test(every_op_has_a_kernel)};
    return cmocka_run_group_tests(tests, emulate, NULL);
}
