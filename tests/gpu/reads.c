/*
 * What the planner says of how often GPU kernels read their operands (planner/reads.h), against what they do on the
 * emulator, which counts what a warp's lanes read together as one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "kernels_gpu/emu/run.h"
#include "planner/reads.h"
#include "tests/support/nets.h"
#include "tests/support/node.h"

static struct ig_graph *g; /* of the case */
static struct rng rng;

/* Reals between the corners of a grid; indices of the first three. */
static void fill(void *data, const struct ig_shape *s)
{
    for (int64_t i = 0; i < ig_count(s); i++) switch (s->type) {
        case IG_F32: ((float *)data)[i] = (float)rng_real(&rng, -0.9, 0.9); break;
        case IG_F16: ((uint16_t *)data)[i] = ig_float_to_half((float)rng_real(&rng, -0.9, 0.9)); break;
        case IG_I64: ((int64_t *)data)[i] = rng_int(&rng, 0, 2); break;
        case IG_I32: ((int32_t *)data)[i] = rng_int(&rng, 0, 2); break;
        default: ((uint8_t *)data)[i] = (uint8_t)rng_int(&rng, 0, 2);
        }
}

static int32_t value(struct ig_shape s)
{
    char name[16];
    snprintf(name, sizeof name, "v%d", g->n_values);
    return ig_add_value(g, name, &s);
}

static int32_t constant(struct ig_shape s)
{
    int32_t v = ig_add_const(g, "constant", &s, NULL);
    fill((void *)(uintptr_t)g->values[v].data, &s);
    return v;
}

static void node(enum ig_op op, const union ig_attrs *attrs, struct ig_shape out, int32_t n_in, const int32_t *in)
{
    int32_t y = value(out);
    struct ig_node *n = ig_add_node(g, NULL, op, n_in, 1);
    for (int32_t k = 0; k < n_in; k++) n->in[k] = in[k];
    n->out[0] = y;
    if (attrs) n->attrs = *attrs;
}

#define NODE(op, attrs, out, ...) \
    node(op, attrs, out, sizeof((int32_t[]){__VA_ARGS__}) / 4, (const int32_t[]){__VA_ARGS__})

/* What the call needs beside its shapes. */
static void give_memory(struct ig_call *call, const struct ig_kernel *k)
{
    for (int32_t i = 0; i < call->n_in; i++) {
        const struct ig_shape *s = call->in[i].shape;
        if (!s || call->in[i].data) continue;
        call->in[i].data = test_calloc((size_t)ig_bytes(s), 1);
        fill(call->in[i].data, s);
    }
    for (int32_t i = 0; i < call->n_out; i++)
        if (call->out[i].shape) call->out[i].data = test_calloc((size_t)ig_bytes(call->out[i].shape), 1);
    call->zeros = test_calloc(ig_zeros_bytes(call), 1);
    if (!k->pack) return;
    size_t bytes = (k->pack(call, NULL) + 63) / 64 * 64;
    void *packed = aligned_alloc(64, bytes ? bytes : 64);
    k->pack(call, packed);
    call->weights = packed;
}

static void take_memory(struct ig_call *call, const struct ig_kernel *k)
{
    const struct ig_node *n = &g->nodes[0];
    for (int32_t i = 0; i < call->n_in; i++)
        if (call->in[i].shape && !g->values[n->in[i]].data) test_free(call->in[i].data);
    for (int32_t i = 0; i < call->n_out; i++)
        if (call->out[i].shape) test_free(call->out[i].data);
    test_free((void *)(uintptr_t)call->zeros);
    if (k->pack) free((void *)(uintptr_t)call->weights);
}

static void begin(void)
{
    g = net_new();
    rng = (struct rng){1};
}

/* Floats of the case become halves: constants; all. */
static void halve_some(int constants)
{
    for (int32_t v = 0; v < g->n_values; v++) {
        struct ig_value *of = &g->values[v];
        if (of->shape.type != IG_F32 || (constants && !of->data)) continue;
        of->shape.type = IG_F16;
        if (of->data) fill((void *)(uintptr_t)of->data, &of->shape); /* in half the room */
    }
}

static void halve(void)
{
    halve_some(0);
}

/* Input `k` of the case's node as the kernel reads it, within a share of what the planner says; then the case is over. */
static void end(const char *kernel, int32_t k, double within)
{
    const struct ig_kernel *of = ig_kernel_by_name(kernel);
    const struct ig_node *n = &g->nodes[0];
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_call call;
    int32_t batch;
    double said = ig_gpu_reads(g, n, k, of);
    if (!of) fail_msg("no kernel %s", kernel);
    ig_compute_views(g, views);
    ig_node_call(g, views, n, &call, &batch);
    if (batch != 1 || !ig_kernel_fits(of, n->op, &call)) fail_msg("%s does not compute the case", kernel);
    give_memory(&call, of);
    emu_watch_input(k);
    if (emu_run(kernel, &call)) fail_msg("%s", emu_fault());
    emu_watch_input(-1);
    if (emu_run(kernel, &call)) fail_msg("again: %s", emu_fault()); /* the next one's operands are aligned as this one's were first */
    double is = (double)emu_watched() / (double)ig_bytes(&g->values[n->in[k]].shape);
    print_message("%s, input %d: %.3f reads, %.3f by the planner\n", kernel, k, is, said);
    if (!(fabs(is - said) <= within * said)) fail_msg("%s reads input %d %g times, not %g", kernel, k, is, said);
    take_memory(&call, of);
    test_free(views);
    ig_graph_free(g);
}

#define EXACT 1e-6

/* --- windows --- */

static struct ig_window window(int32_t k, int32_t s)
{
    return (struct ig_window){1, k, k, 1, s, s, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
}

static void image(int32_t side, int32_t c)
{
    begin();
    net_input(g, 1, side, side, c);
}

/* Of groups of 4, 8, 16 and 32 channels; two rows of outputs go by one row each. */
static void grouped_convolutions(void **state)
{
    (void)state;
    for (int32_t c = 4; c <= 32; c *= 2)
        for (int32_t stride = 1; stride <= 2; stride++) {
            struct ig_window w = window(3, stride);
            image(15 * stride + 3, 64);
            net_conv_window(g, 0, 64, &w, 64 / c, -1);
            end(stride == 1 ? "conv_f32_grouped1x4__cuda" : "conv_f32_grouped2x4__cuda", 0, EXACT);
        }
}

/* Of few channels: 16 x 16 outputs are two blocks of the patch each, and of 128 channels four. */
static void first_convolutions(void **state)
{
    (void)state;
    for (int32_t k = 3; k <= 7; k += 2)
        for (int32_t stride = 1; stride <= 2; stride++) {
            struct ig_window w = window(k, stride);
            image(15 * stride + k, k == 5 ? 1 : 3);
            net_conv_window(g, 0, k == 5 ? 128 : 64, &w, 1, -1);
            end("conv_f32_first128x64__cuda", 0, EXACT);
        }
}

/* The same of weights that are halves: 32 x 32 outputs are whole blocks of both shapes. */
static void first_convolutions_in_halves(void **state)
{
    (void)state;
    for (int32_t k = 3; k <= 7; k += 2)
        for (int32_t stride = 1; stride <= 2; stride++) {
            struct ig_window w = window(k, stride);
            image(31 * stride + k, k == 5 ? 1 : 3);
            net_conv_window(g, 0, k == 5 ? 128 : 64, &w, 1, -1);
            halve_some(1);
            end("conv_f16_first_mma128x64__cuda", 0, EXACT);
        }
}

static void convolutions(void **state)
{
    struct ig_window w = window(3, 1);
    (void)state;
    image(18, 64);
    net_conv_window(g, 0, 128, &w, 1, -1);
    end("conv_f32_64x64__cuda", 0, EXACT);
    image(18, 64);
    net_conv_window(g, 0, 128, &w, 2, -1);
    end("conv_f32_64x64__cuda", 0, EXACT);
    image(18, 32);
    net_conv_window(g, 0, 32, &w, 32, -1);
    end("conv_f32_depthwise__cuda", 0, EXACT);
    image(22, 32);
    w = window(7, 1);
    net_conv_window(g, 0, 32, &w, 32, -1);
    end("conv_f32_depthwise__cuda", 0, EXACT);
    for (int32_t k = 3; k <= 5; k += 2) {
        image(16 + 2 * (k - 1), 32);
        w = window(k, 1);
        w.dh = w.dw = 2;
        net_conv_window(g, 0, 32, &w, 32, -1);
        end("conv_f32_depthwise__cuda", 0, EXACT);
    }
    for (int32_t k = 3; k <= 7; k += 2) {
        w = window(k, 2);
        image(15 * 2 + k, 32);
        net_conv_window(g, 0, 32, &w, 32, -1);
        end("conv_f32_depthwise__cuda", 0, EXACT);
    }
    image(18, 64);
    w = window(3, 1);
    net_conv_window(g, 0, 128, &w, 1, -1);
    halve();
    end("conv_f16_64x64__cuda", 0, EXACT);
    image(18, 32);
    net_conv_window(g, 0, 32, &w, 32, -1);
    halve();
    end("conv_f16_depthwise__cuda", 0, EXACT);
    image(8, 64);
    net_deconv(g, 0, 64, 2, 2);
    end("deconv_f32_64x64__cuda", 0, 0.2); /* its edge is cut */
    static const char *const on_halves[] = {"deconv_f16_64x64__cuda", "deconv_f16_32x32__cuda", "deconv_f16_mma64x64__cuda"};
    for (int i = 0; i < 3; i++) {
        image(8, 64);
        net_deconv(g, 0, i == 1 ? 32 : 64, 2, 2);
        halve();
        end(on_halves[i], 0, 0.2);
    }
}

/* Weights that are made at run time, and quantised operands: a thread an output. */
static void convolutions_one_by_one(void **state)
{
    union ig_attrs a = {.conv = {.w = window(3, 1), .groups = 1}};
    (void)state;
    for (int32_t k = 0; k < 2; k++) {
        image(10, 8);
        NODE(IG_CONV, &a, SHAPE(IG_F32, 1, 8, 8, 64), 0, value(SHAPE(IG_F32, 64, 8, 3, 3)));
        end("conv_any_window__cuda", k, EXACT);
        begin();
        NODE(IG_CONV_INTEGER, &a, SHAPE(IG_I32, 1, 8, 8, 64), value(SHAPE(IG_U8, 1, 10, 10, 8)),
             value(SHAPE(IG_U8, 64, 8, 3, 3)));
        end("conv_integer_any_1__cuda", k, EXACT);
    }
}

/* Parameters that are constants: tiles. */
static void convolution_of_bytes(const char *kernel, int32_t side, int32_t ic, int32_t oc, int32_t groups, int32_t k, int32_t s, double within)
{
    union ig_attrs a = {.conv = {.w = window(k, s), .groups = groups}};
    int32_t out = (side - k) / s + 1;
    begin();
    NODE(IG_QLINEAR_CONV, &a, SHAPE(IG_U8, 1, out, out, oc), value(SHAPE(IG_U8, 1, side, side, ic)), constant(SHAPE(IG_F32, 1)),
         constant(SHAPE(IG_U8, 1)), constant(SHAPE(IG_I8, oc, ic / groups, k, k)), constant(SHAPE(IG_F32, 1)), constant(SHAPE(IG_I8, 1)),
         constant(SHAPE(IG_F32, 1)), constant(SHAPE(IG_U8, 1)));
    end(kernel, 0, within);
}

static void convolutions_of_bytes(void **state)
{
    (void)state;
    convolution_of_bytes("qlinear_conv_i8_64x64__cuda", 18, 64, 128, 1, 3, 1, EXACT);
    convolution_of_bytes("qlinear_conv_i8_mma64x64__cuda", 18, 128, 128, 2, 3, 1, EXACT);
    convolution_of_bytes("qlinear_conv_i8_depthwise__cuda", 18, 32, 32, 32, 3, 1, EXACT);
    convolution_of_bytes("qlinear_conv_i8_gemv__cuda", 3, 512, 64, 1, 1, 1, EXACT);
    for (int32_t c = 4; c <= 32; c *= 2)
        for (int32_t s = 1; s <= 2; s++) convolution_of_bytes("qlinear_conv_i8_grouped1x4__cuda", 15 * s + 3, 64, 64, 64 / c, 3, s, EXACT);
}

static void volumes(void **state)
{
    union ig_attrs a = {.conv = {.w = {3, 3, 3, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 6, 4}, .groups = 1}};
    (void)state;
    begin();
    NODE(IG_CONV, &a, SHAPE(IG_F32, 1, 4, 8, 8, 128), value(SHAPE(IG_F32, 1, 6, 10, 10, 16)),
         constant(SHAPE(IG_F32, 128, 16, 3, 3, 3)));
    end("conv_f32_volume64x64__cuda", 0, EXACT);
    a.conv.groups = 8;
    begin();
    NODE(IG_CONV, &a, SHAPE(IG_F32, 1, 4, 8, 8, 32), value(SHAPE(IG_F32, 1, 6, 10, 10, 8)),
         constant(SHAPE(IG_F32, 32, 1, 3, 3, 3)));
    end("conv_any_window__cuda", 0, EXACT);
}

static void pools(void **state)
{
    struct ig_window w = window(3, 2);
    (void)state;
    image(17, 32);
    net_pool_window(g, 0, &w, IG_POOL_AVERAGE);
    end("pool_f32_4__cuda", 0, EXACT);
    image(17, 32);
    net_pool_window(g, 0, &w, IG_POOL_AVERAGE);
    halve();
    end("pool_f16_4__cuda", 0, EXACT);
    image(7, 64);
    net_global_pool(g, 0);
    end("global_pool_f32_8x32__cuda", 0, EXACT);
    union ig_attrs a = {.lrn = {.size = 5, .alpha = 1, .beta = 1, .bias = 1}};
    image(4, 64);
    NODE(IG_LRN, &a, SHAPE(IG_F32, 1, 4, 4, 64), 0);
    end("lrn_f32_1__cuda", 0, 0.05);
}

static void maximum_of_bytes(void **state)
{
    union ig_attrs a = {.pool = {.w = window(3, 2), .kind = IG_POOL_MAX}};
    (void)state;
    begin();
    NODE(IG_POOL, &a, SHAPE(IG_I8, 1, 8, 8, 64), value(SHAPE(IG_I8, 1, 17, 17, 64)));
    end("pool_i8_max4__cuda", 0, EXACT);
}

/* Average of bytes over k x k pixels: input i. */
static void average_of_bytes(int32_t side, int32_t c, int32_t k, int32_t i)
{
    union ig_attrs a = {.pool = {.w = window(k, 1), .kind = IG_POOL_AVERAGE}};
    int32_t out = side - k + 1;
    begin();
    NODE(IG_POOL, &a, SHAPE(IG_I8, 1, out, out, c), value(SHAPE(IG_U8, 1, side, side, c)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_U8, 1)),
         value(SHAPE(IG_F32, 1)), value(SHAPE(IG_I8, 1)));
    end("pool_i8_4__cuda", i, EXACT);
}

static void averages_of_bytes(void **state)
{
    (void)state;
    for (int32_t i = 0; i < 5; i++) {
        average_of_bytes(10, 32, 3, i);
        average_of_bytes(7, 64, 7, i);
        average_of_bytes(40, 72, 40, i); /* in pieces */
    }
}

static void samples(void **state)
{
    (void)state;
    image(8, 128);
    net_resize(g, 0, 2, IG_LINEAR);
    end("resize_f32_linear__cuda", 0, EXACT);
    image(8, 128);
    net_resize(g, 0, 2, IG_LINEAR);
    halve();
    end("resize_f16_linear__cuda", 0, EXACT);
    image(8, 128);
    net_resize(g, 0, 2, IG_NEAREST);
    end("resize_f32_nearest__cuda", 0, EXACT);
    image(8, 128);
    net_resize(g, 0, 2, IG_NEAREST);
    halve();
    end("resize_b16_nearest__cuda", 0, EXACT);
    union ig_attrs twice = {.resize = {.mode = IG_NEAREST, .coord = IG_ASYMMETRIC, .nearest = IG_NEAREST_FLOOR, .scale = {1, 2, 2, 1}}};
    begin();
    NODE(IG_RESIZE, &twice, SHAPE(IG_U8, 1, 16, 16, 128), value(SHAPE(IG_U8, 1, 8, 8, 128)));
    end("resize_b8_nearest__cuda", 0, EXACT);
    union ig_attrs deform = {.deform = {.w = window(3, 1), .groups = 1, .offset_groups = 2}};
    for (int32_t k = 0; k < 3; k++) {
        begin();
        NODE(IG_DEFORM_CONV, &deform, SHAPE(IG_F32, 1, 8, 16, 32), value(SHAPE(IG_F32, 1, 4, 18, 34)),
             constant(SHAPE(IG_F32, 8, 4, 3, 3)), value(SHAPE(IG_F32, 1, 36, 16, 32)));
        end("deform_conv_f32_1__cuda", k, k ? EXACT : 0.2);
    }
    union ig_attrs grid = {.grid_sample = {.mode = IG_LINEAR}};
    for (int32_t k = 0; k < 2; k++) {
        begin();
        NODE(IG_GRID_SAMPLE, &grid, SHAPE(IG_F32, 1, 5, 32, 32), value(SHAPE(IG_F32, 1, 5, 64, 64)),
             value(SHAPE(IG_F32, 1, 32, 32, 2)));
        end("grid_sample_f32_1__cuda", k, k ? EXACT : 0.05);
    }
}

/* --- products --- */

static void products(void **state)
{
    union ig_attrs a = {.matmul = {.alpha = 1}};
    (void)state;
    for (int32_t rows = 4; rows <= 64; rows += 60) {
        begin();
        value(SHAPE(IG_F32, rows, 256));
        net_fc(g, 0, 128);
        end(rows == 4 ? "fc_f32_gemv__cuda" : "fc_f32_64x64__cuda", 0, EXACT);
    }
    for (int32_t k = 0; k < 2; k++) {
        begin();
        NODE(IG_MATMUL, &a, SHAPE(IG_F32, 3, 192, 128), value(SHAPE(IG_F32, 3, 192, 48)), value(SHAPE(IG_F32, 48, 128)));
        end("matmul_f32_64x64__cuda", k, EXACT);
        begin();
        NODE(IG_MATMUL, &a, SHAPE(IG_I32, 8, 64), value(SHAPE(IG_I32, 8, 16)), value(SHAPE(IG_I32, 16, 64)));
        end("matmul_any_1__cuda", k, EXACT);
        begin();
        NODE(IG_MATMUL_INTEGER, NULL, SHAPE(IG_I32, 8, 64), value(SHAPE(IG_U8, 8, 16)), value(SHAPE(IG_U8, 16, 64)));
        end("matmul_integer_any_1__cuda", k, EXACT);
    }
}

/* --- element by element, and along axes --- */

static void element_wise(void **state)
{
    union ig_attrs add = {.binary = {.kind = IG_ADD}};
    (void)state;
    image(8, 128);
    net_relu(g, 0);
    end("unary_f32_4__cuda", 0, EXACT);
    for (int32_t k = 0; k < 2; k++) {
        begin();
        NODE(IG_BINARY, &add, SHAPE(IG_I32, 4, 8, 16, 64), value(SHAPE(IG_I32, 4, 8, 16, 64)), value(SHAPE(IG_I32, 4, 1, 16, 1)));
        end("binary_any_nd__cuda", k, EXACT);
        begin();
        NODE(IG_WHERE, NULL, SHAPE(IG_F32, 16, 128), value(SHAPE(IG_BOOL, 16, 1)), value(SHAPE(IG_F32, 16, 128)),
             value(SHAPE(IG_F32, 128)));
        end("where_any_1__cuda", k, k ? 0.8 : EXACT); /* of two it reads one */
    }
    union ig_attrs quantize = {.axis = {.axis = 1}};
    for (int32_t k = 0; k < 2; k++) {
        begin();
        NODE(IG_QUANTIZE, &quantize, SHAPE(IG_U8, 16, 64), value(SHAPE(IG_F32, 16, 64)), value(SHAPE(IG_F32, 1)));
        end("quantize_any_1__cuda", k, EXACT);
    }
    for (int32_t k = 0; k < 8; k++) {
        begin();
        NODE(IG_QLINEAR_BINARY, &add, SHAPE(IG_U8, 16, 64), value(SHAPE(IG_I8, 16, 64)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_I8, 1)),
             value(SHAPE(IG_U8, 16, 64)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_U8, 1)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_U8, 1)));
        end("qlinear_binary_any_4__cuda", k, EXACT);
        int32_t c = k < 4 ? 64 : 256; /* a narrow pixel, which lanes of a warp share, and a wide one */
        begin();
        NODE(IG_QLINEAR_BINARY, &add, SHAPE(IG_U8, 1, 8, 8, c), value(SHAPE(IG_I8, 1, 8, 8, c)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_I8, 1)),
             value(SHAPE(IG_U8, 1, 1, 1, c)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_U8, 1)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_U8, 1)));
        end("qlinear_binary_any_4__cuda", k == 7 ? 3 : k, EXACT);
    }
    for (int32_t k = 0; k < 8; k++) {
        int32_t side = k < 4 ? 8 : 80; /* a pixel a thread, and more */
        begin();
        NODE(IG_QLINEAR_AFFINE, NULL, SHAPE(IG_U8, 1, side, side, 64), value(SHAPE(IG_I8, 1, side, side, 64)), value(SHAPE(IG_F32, 64)),
             value(SHAPE(IG_F32, 64)), value(SHAPE(IG_U8, 1)));
        end("qlinear_affine_any_4__cuda", k % 4, EXACT);
    }
    for (int32_t k = 0; k < 4; k++) {
        begin();
        int32_t rows = k < 2 ? 40 : 5000; /* few blocks, and more than are on a GPU at once */
        NODE(IG_LOOKUP, NULL, SHAPE(IG_I8, rows, 64), value(SHAPE(IG_U8, rows, 64)), value(SHAPE(IG_I8, 256)));
        end("lookup_any_4__cuda", k % 2, EXACT);
    }
}

static void along_axes(void **state)
{
    (void)state;
    image(3, 200);
    net_softmax(g, 0);
    end("softmax_f32_128__cuda", 0, EXACT);
    image(5, 200);
    net_softmax(g, 0);
    end("softmax_f32_128__cuda", 0, EXACT);
    for (int32_t side = 3; side <= 5; side += 2) {
        image(side, 200);
        net_softmax(g, 0);
        halve();
        end("softmax_f16_128__cuda", 0, EXACT);
    }
    static const int32_t kinds[] = {IG_REDUCE_MEAN, IG_REDUCE_LOG_SUM_EXP};
    for (int i = 0; i < 2; i++) {
        union ig_attrs a = {.reduce = {.kind = kinds[i], .mask = 2}};
        begin();
        NODE(IG_REDUCE, &a, SHAPE(IG_F32, 6, 1), value(SHAPE(IG_F32, 6, 200)));
        end("reduce_any_128__cuda", 0, EXACT);
    }
    static const int32_t norms[] = {IG_NORM_LAYER, IG_NORM_RMS};
    for (int i = 0; i < 4; i++) {
        union ig_attrs a = {.norm = {.kind = norms[i / 2], .axis = 1, .epsilon = 1e-5f}};
        begin();
        NODE(IG_NORM, &a, SHAPE(IG_F32, 6, 256), value(SHAPE(IG_F32, 6, 256)), value(SHAPE(IG_F32, 256)));
        end("norm_f32_128__cuda", i % 2, EXACT);
    }
    union ig_attrs across = {.norm = {.kind = IG_NORM_MVN, .mask = 1, .epsilon = 1e-5f}};
    begin();
    NODE(IG_NORM, &across, SHAPE(IG_F32, 6, 256), value(SHAPE(IG_F32, 6, 256)));
    end("norm_f32_128__cuda", 0, EXACT);
    union ig_attrs arg = {.arg = {.axis = 1}}, topk = {.topk = {.axis = 1, .largest = 1}};
    begin();
    NODE(IG_ARG, &arg, SHAPE(IG_I64, 300, 1), value(SHAPE(IG_F32, 300, 40)));
    end("arg_any_128__cuda", 0, 0.1);
    begin();
    NODE(IG_TOPK, &topk, SHAPE(IG_F32, 300, 3), value(SHAPE(IG_F32, 300, 40)));
    g->nodes[0].n_out = 1;
    end("topk_any_128__cuda", 0, 0.4); /* as many with the best so far as come before it */
    begin();
    int32_t x = value(SHAPE(IG_F32, 1000)), y[] = {value(SHAPE(IG_U8, 1000)), value(SHAPE(IG_F32, 1)), value(SHAPE(IG_U8, 1))};
    struct ig_node *n = ig_add_node(g, NULL, IG_DYNAMIC_QUANTIZE, 1, 3);
    n->in[0] = x;
    for (int i = 0; i < 3; i++) n->out[i] = y[i];
    end("dynamic_quantize_f32_256__cuda", 0, EXACT);
}

/* R in registers, and read for each step; biases, of few and of many units. */
static void recurrent(void **state)
{
    static const struct { int32_t units, k; const char *kernel; } cases[] = { /* R, bias and h0: inputs 1 to 3 */
        {64, 0, "recurrent_f32_kept__cuda"}, {64, 1, "recurrent_f32_kept__cuda"}, {96, 0, "recurrent_f32_1__cuda"},
        {96, 1, "recurrent_f32_1__cuda"},    {96, 2, "recurrent_f32_1__cuda"},    {96, 3, "recurrent_f32_1__cuda"},
        {96, 0, "recurrent_f32_spread__cuda"}, {96, 1, "recurrent_f32_spread__cuda"}, {96, 2, "recurrent_f32_spread__cuda"},
        {96, 3, "recurrent_f32_spread__cuda"}, {96, 1, "recurrent_f32_4__cuda"}, {96, 2, "recurrent_f32_4__cuda"}, {96, 3, "recurrent_f32_4__cuda"},
        {96, 1, "recurrent_f32_spread4__cuda"}, {96, 2, "recurrent_f32_spread4__cuda"}, {96, 3, "recurrent_f32_spread4__cuda"}};
    const union ig_attrs gru = {.recurrent = {.kind = IG_GRU, .reverse = 2, .reset_after = 1, .f = {IG_SIGMOID, 0, 0}, .g = {IG_TANH, 0, 0}}};
    const union ig_attrs lstm = {.recurrent = {.kind = IG_LSTM, .f = {IG_SIGMOID, 0, 0}, .g = {IG_TANH, 0, 0}, .u = {IG_TANH, 0, 0}}};
    union ig_attrs reset = gru;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t n = cases[i].units;
        begin();
        NODE(IG_RECURRENT, &gru, SHAPE(IG_F32, 5, 2, 3, n), value(SHAPE(IG_F32, 5, 3, 2 * 3 * n)), constant(SHAPE(IG_F32, 2, 3 * n, n)),
             constant(SHAPE(IG_F32, 2, n)), value(SHAPE(IG_F32, 2, 3, n)));
        end(cases[i].kernel, cases[i].k, cases[i].k == 3 ? 0.02 : EXACT); /* a GRU's units read their own h once more */
    }
    reset.recurrent.reset_after = 0;
    begin();
    NODE(IG_RECURRENT, &reset, SHAPE(IG_F32, 5, 2, 8, 64), value(SHAPE(IG_F32, 5, 8, 2 * 3 * 64)), constant(SHAPE(IG_F32, 2, 3 * 64, 64)),
         -1, value(SHAPE(IG_F32, 2, 8, 64)));
    end("recurrent_f32_spread4__cuda", 3, 0.03);
    for (int32_t k = 1; k < 4; k += 2) {
        begin();
        NODE(IG_RECURRENT, &lstm, SHAPE(IG_F32, 3, 2, 13, 64), value(SHAPE(IG_F32, 3, 13, 2 * 4 * 64)), constant(SHAPE(IG_F32, 2, 4 * 64, 64)),
             -1, value(SHAPE(IG_F32, 2, 13, 64)), value(SHAPE(IG_F32, 2, 13, 64)));
        end("recurrent_f32_spread8__cuda", k, EXACT);
    }
    begin();
    NODE(IG_RECURRENT, &lstm, SHAPE(IG_F32, 5, 1, 3, 64), value(SHAPE(IG_F32, 5, 3, 4 * 64)), constant(SHAPE(IG_F32, 1, 4 * 64, 64)),
         -1, value(SHAPE(IG_F32, 1, 3, 64)), value(SHAPE(IG_F32, 1, 3, 64)));
    end("recurrent_f32_spread__cuda", 3, EXACT);
}

/* --- data that moves --- */

static void moves(void **state)
{
    union ig_attrs first = {.axis = {.axis = 0}}, last = {.axis = {.axis = 1}};
    (void)state;
    begin();
    NODE(IG_EXPAND, NULL, SHAPE(IG_F32, 8, 128), value(SHAPE(IG_F32, 1, 128)));
    end("expand_any_1__cuda", 0, EXACT);
    image(8, 64);
    net_slice(g, 0, 1, 7, 4, -2);
    end("slice_any_1__cuda", 0, EXACT);
    for (int32_t k = 0; k < 2; k++) {
        begin();
        NODE(IG_GATHER, &first, SHAPE(IG_F32, 6, 64), value(SHAPE(IG_F32, 10, 64)), value(SHAPE(IG_I64, 6)));
        end("gather_any_1__cuda", k, EXACT);
        begin();
        NODE(IG_GATHER_ND, &first, SHAPE(IG_F32, 8, 5, 64), value(SHAPE(IG_F32, 6, 5, 64)), value(SHAPE(IG_I64, 8, 1)));
        end("gather_nd_any_1__cuda", k, EXACT);
        begin();
        NODE(IG_ONE_HOT, &last, SHAPE(IG_F32, 8, 64), value(SHAPE(IG_I64, 8)), value(SHAPE(IG_F32, 2)));
        end("one_hot_any_1__cuda", k, k ? 1.5 : EXACT); /* of a warp not all read the same of two */
    }
    for (int32_t k = 1; k < 3; k++) {
        begin();
        NODE(IG_SCATTER_ND, &first, SHAPE(IG_F32, 6, 256), value(SHAPE(IG_F32, 6, 256)), value(SHAPE(IG_I64, 4, 1)),
             value(SHAPE(IG_F32, 4, 256)));
        end("scatter_nd_any_1__cuda", k, EXACT);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions), cmocka_unit_test(first_convolutions), cmocka_unit_test(first_convolutions_in_halves),
        cmocka_unit_test(grouped_convolutions), cmocka_unit_test(convolutions_one_by_one), cmocka_unit_test(convolutions_of_bytes), cmocka_unit_test(volumes), cmocka_unit_test(pools), cmocka_unit_test(maximum_of_bytes),
        cmocka_unit_test(averages_of_bytes),
        cmocka_unit_test(samples),      cmocka_unit_test(products),                cmocka_unit_test(element_wise),
        cmocka_unit_test(along_axes),   cmocka_unit_test(recurrent),               cmocka_unit_test(moves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
