/* Reference kernels of the tensor operators against hand-computed cases, through the evaluator. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "tests/support/node.h"

/* Evaluates into a poisoned buffer and compares with `want`: exactly, or f32 within 1e-6. */
static void check(enum ig_op op, union ig_attrs attrs, const struct tensor *in, int n_in, struct tensor want)
{
    unsigned char got[1024];
    int64_t bytes = ig_bytes(&want.shape);
    struct tensor out = {want.shape, got};
    assert_true(bytes < (int64_t)sizeof got);
    memset(got, 0xa5, sizeof got);
    assert_int_equal(eval_node(op, attrs, in, n_in, &out, 1), 0);
    assert_int_equal(got[bytes], 0xa5);
    if (want.shape.type != IG_F32) {
        assert_memory_equal(got, want.data, (size_t)bytes);
        return;
    }
    for (int64_t i = 0; i < ig_count(&want.shape); i++)
        assert_float_equal(((float *)(void *)got)[i], ((float *)want.data)[i], 1e-6f);
}

#define CHECK(op, attrs, want, ...)                  \
    check(op, attrs, (struct tensor[]){__VA_ARGS__}, \
          (int)(sizeof((struct tensor[]){__VA_ARGS__}) / sizeof(struct tensor)), want)
#define FLOATS(...) ((float[]){__VA_ARGS__})
#define LONGS(...) ((int64_t[]){__VA_ARGS__})
#define INTS(...) ((int32_t[]){__VA_ARGS__})
#define BYTES(...) ((uint8_t[]){__VA_ARGS__})
#define AXIS(a, m) ((union ig_attrs){.axis = {a, m}})

static void softmax(void **state)
{
    (void)state;
    float third = logf(3);
    struct tensor x = TENSOR(IG_F32, FLOATS(0, third, 1000, 1000), 2, 2);
    CHECK(IG_SOFTMAX, AXIS(1, IG_SOFTMAX_EXP), TENSOR(IG_F32, FLOATS(0.25f, 0.75f, 0.5f, 0.5f), 2, 2), x);
    CHECK(IG_SOFTMAX, AXIS(1, IG_SOFTMAX_HARD), TENSOR(IG_F32, FLOATS(0, 1, 1, 0), 2, 2), x);
    struct tensor y = TENSOR(IG_F32, FLOATS(0, 5, third, 5), 2, 2);
    CHECK(IG_SOFTMAX, AXIS(0, IG_SOFTMAX_EXP), TENSOR(IG_F32, FLOATS(0.25f, 0.5f, 0.75f, 0.5f), 2, 2), y);
    CHECK(IG_SOFTMAX, AXIS(0, IG_SOFTMAX_LOG),
          TENSOR(IG_F32, FLOATS(-logf(4), -logf(2), third - logf(4), -logf(2)), 2, 2), y);
}

#define REDUCE(k, m) ((union ig_attrs){.reduce = {k, m}})

static void reduce_f32(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(1, -2, 3, 4, 5, -6), 2, 3);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_SUM, 1), TENSOR(IG_F32, FLOATS(5, 3, -3), 3), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_SUM, 2), TENSOR(IG_F32, FLOATS(2, 3), 2, 1), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_MEAN, 3), TENSOR(IG_F32, FLOATS(5 / 6.0f), 1), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_MAX, 2), TENSOR(IG_F32, FLOATS(3, 5), 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_MIN, 2), TENSOR(IG_F32, FLOATS(-2, -6), 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_PROD, 2), TENSOR(IG_F32, FLOATS(-6, -120), 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_L1, 2), TENSOR(IG_F32, FLOATS(6, 15), 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_L2, 2), TENSOR(IG_F32, FLOATS(sqrtf(14), sqrtf(77)), 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_SUM_SQUARE, 2), TENSOR(IG_F32, FLOATS(14, 77), 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_LOG_SUM, 2), TENSOR(IG_F32, FLOATS(logf(2), logf(3)), 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_L1, 0), TENSOR(IG_F32, FLOATS(1, 2, 3, 4, 5, 6), 2, 3), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_SUM, 0), x, x);
    struct tensor big = TENSOR(IG_F32, FLOATS(512, 512), 2);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_LOG_SUM_EXP, 1), TENSOR(IG_F32, FLOATS(512 + logf(2)), 1), big);
    float y, lines[][2] = {{-INFINITY, NAN}, {NAN, INFINITY}};
    for (int i = 0; i < 2; i++) {
        struct tensor in = TENSOR(IG_F32, lines[i], 2), out = TENSOR(IG_F32, &y, 1);
        assert_int_equal(eval_node(IG_REDUCE, REDUCE(IG_REDUCE_LOG_SUM_EXP, 1), &in, 1, &out, 1), 0);
        assert_true(isnan(y));
    }
}

static void reduce_middle_axis_of_integers(void **state)
{
    (void)state;
    int64_t huge = (int64_t)1 << 60;
    struct tensor x = TENSOR(IG_I64, LONGS(huge, 1, 1, 2, 3, 4, 5, 6), 2, 2, 2);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_SUM, 2), TENSOR(IG_I64, LONGS(huge + 1, 3, 8, 10), 2, 2), x);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_MAX, 5), TENSOR(IG_I64, LONGS(huge, 6), 2), x);
    struct tensor b = TENSOR(IG_U8, BYTES(7, 200, 3), 3);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_MIN, 1), TENSOR(IG_U8, BYTES(3), 1), b);
    struct tensor i = TENSOR(IG_I32, INTS(-3, -4), 2);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_MEAN, 1), TENSOR(IG_I32, INTS(-3), 1), i);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_L1, 1), TENSOR(IG_I32, INTS(7), 1), i);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_SUM_SQUARE, 1), TENSOR(IG_I32, INTS(25), 1), i);
    CHECK(IG_REDUCE, REDUCE(IG_REDUCE_L2, 1), TENSOR(IG_I32, INTS(5), 1), i);
}

#define ARG(a, m, l) ((union ig_attrs){.arg = {a, m, l}})

static void arg(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(2, 2, 1, 0, 7, 0), 2, 3);
    CHECK(IG_ARG, ARG(1, 0, 0), TENSOR(IG_I64, LONGS(0, 1), 2), x);
    CHECK(IG_ARG, ARG(1, 0, 1), TENSOR(IG_I64, LONGS(1, 1), 2), x);
    CHECK(IG_ARG, ARG(1, 1, 0), TENSOR(IG_I64, LONGS(2, 0), 2), x);
    CHECK(IG_ARG, ARG(0, 1, 1), TENSOR(IG_I64, LONGS(1, 0, 1), 1, 3), x);
}

static void topk(void **state)
{
    (void)state;
    float values[4];
    int64_t indices[4];
    struct tensor x = TENSOR(IG_F32, FLOATS(3, 9, 9, 1, 4, 2, 2, 8), 2, 4);
    struct tensor out[2] = {TENSOR(IG_F32, values, 2, 2), TENSOR(IG_I64, indices, 2, 2)};
    assert_int_equal(eval_node(IG_TOPK, (union ig_attrs){.topk = {1, 1}}, &x, 1, out, 2), 0);
    assert_memory_equal(values, FLOATS(9, 9, 8, 4), sizeof values);
    assert_memory_equal(indices, LONGS(1, 2, 3, 0), sizeof indices);
    assert_int_equal(eval_node(IG_TOPK, (union ig_attrs){.topk = {1, 0}}, &x, 1, out, 2), 0);
    assert_memory_equal(values, FLOATS(1, 3, 2, 2), sizeof values);
    assert_memory_equal(indices, LONGS(3, 0, 1, 2), sizeof indices);
    struct tensor down[2] = {{x.shape, NULL}, TENSOR(IG_I64, indices, 1, 4)};
    assert_int_equal(eval_node(IG_TOPK, (union ig_attrs){.topk = {0, 1}}, &x, 1, down, 2), 0);
    assert_memory_equal(indices, LONGS(1, 0, 0, 1), sizeof indices);
}

#define NORM(...) ((union ig_attrs){.norm = {__VA_ARGS__}})

static void norm_layer(void **state)
{
    (void)state;
    float y[4], mean[2], inverse[2];
    struct tensor in[3] = {TENSOR(IG_F32, FLOATS(1, 3, -2, 2), 2, 2), TENSOR(IG_F32, FLOATS(10, 20), 2),
                           TENSOR(IG_F32, FLOATS(1, 2), 2)};
    struct tensor out[3] = {TENSOR(IG_F32, y, 2, 2), TENSOR(IG_F32, mean, 2, 1),
                            TENSOR(IG_F32, inverse, 2, 1)};
    assert_int_equal(eval_node(IG_NORM, NORM(.kind = IG_NORM_LAYER, .axis = 1), in, 3, out, 3), 0);
    assert_memory_equal(y, FLOATS(-9, 22, -9, 22), sizeof y);
    assert_memory_equal(mean, FLOATS(2, 0), sizeof mean);
    assert_memory_equal(inverse, FLOATS(1, 0.5f), sizeof inverse);
}

static void norm_kinds(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(3, 4, 0, 0), 2, 2), s = TENSOR(IG_F32, FLOATS(2, 1), 2);
    float rms = 1 / sqrtf(13.5f);
    CHECK(IG_NORM, NORM(.kind = IG_NORM_RMS, .axis = 1, .epsilon = 1),
          TENSOR(IG_F32, FLOATS(6 * rms, 4 * rms, 0, 0), 2, 2), x, s);
    CHECK(IG_NORM, NORM(.kind = IG_NORM_LP, .axis = 1, .p = 2),
          TENSOR(IG_F32, FLOATS(0.6f, 0.8f, 0, 0), 2, 2), x);
    CHECK(IG_NORM, NORM(.kind = IG_NORM_LP, .axis = 0, .p = 1), TENSOR(IG_F32, FLOATS(1, 1, 0, 0), 2, 2), x);
    CHECK(IG_NORM, NORM(.kind = IG_NORM_MVN, .mask = 1, .epsilon = 0.5f),
          TENSOR(IG_F32, FLOATS(0.75f, 0.8f, -0.75f, -0.8f), 2, 2), x);
}

/* Channels last, [1, 1, 2, 4]: instance works on columns, group on pairs of columns. */
static void norm_of_images(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(1, 10, 7, 0, 3, 30, 7, 4), 1, 1, 2, 4);
    struct tensor one = TENSOR(IG_F32, FLOATS(1, 1, 1, 2), 4), zero = TENSOR(IG_F32, FLOATS(0, 0, 5, 1), 4);
    CHECK(IG_NORM, NORM(.kind = IG_NORM_INSTANCE, .epsilon = 1e-10f),
          TENSOR(IG_F32, FLOATS(-1, -1, 5, -1, 1, 1, 5, 3), 1, 1, 2, 4), x, one, zero);
    struct tensor g = TENSOR(IG_F32, FLOATS(1, 3, 0, 0, 1, 3, 4, 4), 1, 2, 4);
    CHECK(IG_NORM, NORM(.kind = IG_NORM_GROUP, .groups = 2, .epsilon = 1e-10f),
          TENSOR(IG_F32, FLOATS(-1, 1, 4, -1, -1, 1, 6, 3), 1, 2, 4), g, one, zero);
}

#define CUMSUM(a, e, r) ((union ig_attrs){.cumsum = {a, e, r}})

static void cumsum(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(1, 2, 3, 4, 5, 6), 2, 3), i = TENSOR(IG_I32, INTS(1, 2, 3), 3);
    CHECK(IG_CUMSUM, CUMSUM(1, 0, 0), TENSOR(IG_F32, FLOATS(1, 3, 6, 4, 9, 15), 2, 3), x);
    CHECK(IG_CUMSUM, CUMSUM(0, 0, 0), TENSOR(IG_F32, FLOATS(1, 2, 3, 5, 7, 9), 2, 3), x);
    CHECK(IG_CUMSUM, CUMSUM(1, 1, 1), TENSOR(IG_F32, FLOATS(5, 3, 0, 11, 6, 0), 2, 3), x);
    CHECK(IG_CUMSUM, CUMSUM(0, 1, 0), TENSOR(IG_I32, INTS(0, 1, 3), 3), i);
}

static void transpose(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_U8, BYTES(0, 1, 2, 3, 4, 5), 1, 2, 3);
    CHECK(IG_TRANSPOSE, ((union ig_attrs){.transpose = {{2, 0, 1}}}),
          TENSOR(IG_U8, BYTES(0, 3, 1, 4, 2, 5), 3, 1, 2), x);
    struct tensor f = TENSOR(IG_I64, LONGS(1, 2, 3, 4), 2, 2);
    CHECK(IG_TRANSPOSE, ((union ig_attrs){.transpose = {{1, 0}}}), TENSOR(IG_I64, LONGS(1, 3, 2, 4), 2, 2),
          f);
}

#define SLICE(...) ((union ig_attrs){.slice = {__VA_ARGS__}})

static void slice(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_I32, INTS(0, 1, 2, 3, 4, 5, 6, 7), 2, 4);
    CHECK(IG_SLICE, SLICE({1, 3}, {1, -2}), TENSOR(IG_I32, INTS(7, 5), 1, 2), x);
    CHECK(IG_SLICE, SLICE({0, 1}, {1, 2}), TENSOR(IG_I32, INTS(1, 3, 5, 7), 2, 2), x);
}

#define PAD(...) ((union ig_attrs){.pad = {__VA_ARGS__}})

static void pad(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(1, 2, 3), 1, 3);
    CHECK(IG_PAD, PAD({1, 1}, {0, 2}, IG_PAD_CONSTANT, 9),
          TENSOR(IG_F32, FLOATS(9, 9, 9, 9, 9, 9, 9, 1, 2, 3, 9, 9), 2, 6), x);
    CHECK(IG_PAD, PAD({0, 3}, {0, 2}, IG_PAD_REFLECT, 0),
          TENSOR(IG_F32, FLOATS(2, 3, 2, 1, 2, 3, 2, 1), 1, 8), x);
    CHECK(IG_PAD, PAD({0, 2}, {0, 1}, IG_PAD_EDGE, 0), TENSOR(IG_F32, FLOATS(1, 1, 1, 2, 3, 3), 1, 6), x);
    CHECK(IG_PAD, PAD({0, 2}, {0, 4}, IG_PAD_WRAP, 0),
          TENSOR(IG_F32, FLOATS(2, 3, 1, 2, 3, 1, 2, 3, 1), 1, 9), x);
    CHECK(IG_PAD, PAD({0, -1}, {0, 2}, IG_PAD_CONSTANT, 0), TENSOR(IG_F32, FLOATS(2, 3, 0, 0), 1, 4), x);
    CHECK(IG_PAD, PAD({0, 1}, {0, -1}, IG_PAD_REFLECT, 0), TENSOR(IG_F32, FLOATS(2, 1, 2), 1, 3), x);
    struct tensor i = TENSOR(IG_I64, LONGS(7), 1);
    CHECK(IG_PAD, PAD({1}, {1}, IG_PAD_CONSTANT, -3), TENSOR(IG_I64, LONGS(-3, 7, -3), 3), i);
}

static void repeat(void **state)
{
    (void)state;
    union ig_attrs none = {{{0}, 0, {0}}};
    struct tensor column = TENSOR(IG_I8, BYTES(1, 2), 2, 1), x = TENSOR(IG_I64, LONGS(1, 2, 3, 4), 2, 2);
    CHECK(IG_EXPAND, none, TENSOR(IG_I8, BYTES(1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2), 2, 2, 3), column);
    CHECK(IG_TILE, none, TENSOR(IG_I64, LONGS(1, 2, 1, 2, 3, 4, 3, 4), 2, 4), x);
    CHECK(IG_TILE, none, TENSOR(IG_I64, LONGS(1, 2, 3, 4, 1, 2, 3, 4), 4, 2), x);
}

static void gather(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(1, 2, 3, 4, 5, 6), 3, 2);
    struct tensor rows = TENSOR(IG_I64, LONGS(-1, 0), 2), columns = TENSOR(IG_I32, INTS(1), 1);
    CHECK(IG_GATHER, AXIS(0, 0), TENSOR(IG_F32, FLOATS(5, 6, 1, 2), 2, 2), x, rows);
    CHECK(IG_GATHER, AXIS(1, 0), TENSOR(IG_F32, FLOATS(2, 4, 6), 3, 1), x, columns);
    struct tensor each = TENSOR(IG_I64, LONGS(0, -1, 1, 0), 2, 2);
    CHECK(IG_GATHER_ELEMENTS, AXIS(0, 0), TENSOR(IG_F32, FLOATS(1, 6, 3, 2), 2, 2), x, each);
    CHECK(IG_GATHER_ELEMENTS, AXIS(1, 0), TENSOR(IG_F32, FLOATS(1, 2, 4, 3), 2, 2), x, each);
    struct tensor tuples = TENSOR(IG_I64, LONGS(2, 0, -3, 1), 2, 2),
                  singles = TENSOR(IG_I64, LONGS(1, 0, -1), 3, 1);
    CHECK(IG_GATHER_ND, AXIS(0, 0), TENSOR(IG_F32, FLOATS(5, 2), 2), x, tuples);
    CHECK(IG_GATHER_ND, AXIS(1, 0), TENSOR(IG_F32, FLOATS(2, 3, 6), 3), x, singles);
    CHECK(IG_GATHER_ND, AXIS(0, 0), TENSOR(IG_F32, FLOATS(3, 4, 1, 2, 5, 6), 3, 2), x, singles);
}

static void scatter(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_F32, FLOATS(1, 2, 3, 4), 4), at = TENSOR(IG_I64, LONGS(1, -1, 1), 3);
    struct tensor u = TENSOR(IG_F32, FLOATS(10, 20, 3), 3), tuples = TENSOR(IG_I64, LONGS(1, -1, 1), 3, 1);
    CHECK(IG_SCATTER_ELEMENTS, AXIS(0, IG_SCATTER_NONE), TENSOR(IG_F32, FLOATS(1, 3, 3, 20), 4), x, at, u);
    CHECK(IG_SCATTER_ELEMENTS, AXIS(0, IG_SCATTER_ADD), TENSOR(IG_F32, FLOATS(1, 15, 3, 24), 4), x, at, u);
    CHECK(IG_SCATTER_ND, AXIS(0, IG_SCATTER_MUL), TENSOR(IG_F32, FLOATS(1, 60, 3, 80), 4), x, tuples, u);
    CHECK(IG_SCATTER_ND, AXIS(0, IG_SCATTER_MAX), TENSOR(IG_F32, FLOATS(1, 10, 3, 20), 4), x, tuples, u);
    CHECK(IG_SCATTER_ND, AXIS(0, IG_SCATTER_MIN), TENSOR(IG_F32, FLOATS(1, 2, 3, 4), 4), x, tuples, u);
    struct tensor m = TENSOR(IG_I32, INTS(0, 0, 0, 0), 2, 2), row = TENSOR(IG_I64, LONGS(-1), 1, 1);
    struct tensor update = TENSOR(IG_I32, INTS(5, 6), 1, 2);
    CHECK(IG_SCATTER_ND, AXIS(0, IG_SCATTER_ADD), TENSOR(IG_I32, INTS(0, 0, 5, 6), 2, 2), m, row, update);
    CHECK(IG_SCATTER_ELEMENTS, AXIS(1, IG_SCATTER_NONE), TENSOR(IG_I32, INTS(6, 0, 0, 0), 2, 2), m,
          TENSOR(IG_I64, LONGS(0, 0), 1, 2), update);
}

static void one_hot(void **state)
{
    (void)state;
    struct tensor i = TENSOR(IG_I64, LONGS(1, -1, 9), 3), v = TENSOR(IG_F32, FLOATS(2, 7), 2);
    CHECK(IG_ONE_HOT, AXIS(1, 0), TENSOR(IG_F32, FLOATS(2, 7, 2, 7, 2, 2), 3, 2), i, v);
    CHECK(IG_ONE_HOT, AXIS(0, 0), TENSOR(IG_F32, FLOATS(2, 2, 2, 7, 7, 2), 2, 3), i, v);
}

#define TRIU(k, u) ((union ig_attrs){.triu = {k, u}})

static void triu(void **state)
{
    (void)state;
    struct tensor x = TENSOR(IG_I64, LONGS(1, 2, 3, 4, 5, 6), 2, 3);
    CHECK(IG_TRIU, TRIU(0, 1), TENSOR(IG_I64, LONGS(1, 2, 3, 0, 5, 6), 2, 3), x);
    CHECK(IG_TRIU, TRIU(1, 1), TENSOR(IG_I64, LONGS(0, 2, 3, 0, 0, 6), 2, 3), x);
    CHECK(IG_TRIU, TRIU(-1, 0), TENSOR(IG_I64, LONGS(0, 0, 0, 4, 0, 0), 2, 3), x);
}

/* -2 .. 253: scale 1, zero 2; halves go to the even neighbour. */
static void dynamic_quantize(void **state)
{
    (void)state;
    uint8_t y[4], zero;
    float scale;
    struct tensor x = TENSOR(IG_F32, FLOATS(-2, 253, 0.5f, 1.5f), 4);
    struct tensor out[3] = {TENSOR(IG_U8, y, 4), TENSOR(IG_F32, &scale, 1), TENSOR(IG_U8, &zero, 1)};
    union ig_attrs none = {{{0}, 0, {0}}};
    assert_int_equal(eval_node(IG_DYNAMIC_QUANTIZE, none, &x, 1, out, 3), 0);
    assert_float_equal(scale, 1, 0);
    assert_int_equal(zero, 2);
    assert_memory_equal(y, BYTES(0, 255, 2, 4), 4);
    float zeros[4] = {0};
    x.data = zeros;
    assert_int_equal(eval_node(IG_DYNAMIC_QUANTIZE, none, &x, 1, out, 3), 0);
    assert_memory_equal(y, BYTES(0, 0, 0, 0), 4);
}

enum { PAIRS = 65536 };

/* a + b or a * b: dequantised, computed in floats and quantised again. */
static void by_floats(int32_t kind, const struct tensor *in, struct tensor *out)
{
    static float fa[PAIRS], fb[PAIRS], fy[PAIRS];
    struct tensor floats[2] = {TENSOR(IG_F32, fa, 256, 256), TENSOR(IG_F32, fb, 256, 256)}, y = TENSOR(IG_F32, fy, 256, 256);
    assert_int_equal(eval_node(IG_DEQUANTIZE, AXIS(0, 0), in, 3, &floats[0], 1), 0);
    assert_int_equal(eval_node(IG_DEQUANTIZE, AXIS(0, 0), in + 3, 3, &floats[1], 1), 0);
    assert_int_equal(eval_node(IG_BINARY, (union ig_attrs){.binary = {.kind = kind}}, floats, 2, &y, 1), 0);
    struct tensor quantize[3] = {y, in[6], in[7]};
    assert_int_equal(eval_node(IG_QUANTIZE, AXIS(0, 0), quantize, 3, out, 1), 0);
}

/* What pair i of bytes stands for, in quanta of y. */
static double exact(int32_t kind, const struct tensor *in, int i)
{
    double a = ((const uint8_t *)in[0].data)[i] - (double)*(const uint8_t *)in[2].data, b = ((const int8_t *)in[3].data)[i] - (double)*(const int8_t *)in[5].data;
    double fa = a * (double)*(const float *)in[1].data, fb = b * (double)*(const float *)in[4].data;
    return (kind == IG_ADD ? fa + fb : fa * fb) / (double)*(const float *)in[6].data;
}

/* Every pair of bytes, as floats give it but where these round a tie, or as good as one, to either side. */
static void qlinear_binary(void **state)
{
    static uint8_t a[PAIRS], b[PAIRS], want[PAIRS], got[PAIRS], clip[PAIRS];
    float a_scale = 0.0173f, b_scale = 0.0491f, y_scale[2] = {0.0614f, 0.0702f};
    uint8_t a_zero = 113, y_zero = 7;
    int8_t b_zero = -5;
    (void)state;
    for (int i = 0; i < PAIRS; i++) a[i] = (uint8_t)(i >> 8), b[i] = (uint8_t)i;
    for (int32_t kind = IG_ADD; kind <= IG_MUL; kind += IG_MUL - IG_ADD) {
        struct tensor in[8] = {TENSOR(IG_U8, a, 256, 256), TENSOR(IG_F32, &a_scale, 1), TENSOR(IG_U8, &a_zero, 1),
                               TENSOR(IG_I8, b, 256, 256), TENSOR(IG_F32, &b_scale, 1), TENSOR(IG_I8, &b_zero, 1),
                               TENSOR(IG_F32, &y_scale[kind == IG_MUL], 1), TENSOR(IG_U8, &y_zero, 1)};
        struct tensor out = TENSOR(IG_U8, got, 256, 256), clipped_out = TENSOR(IG_U8, clip, 256, 256), by = TENSOR(IG_U8, want, 256, 256);
        int ties = 0;
        by_floats(kind, in, &by);
        assert_int_equal(eval_node(IG_QLINEAR_BINARY, (union ig_attrs){.binary = {.kind = kind}}, in, 8, &out, 1), 0);
        for (int i = 0; i < PAIRS; i++) {
            double v = exact(kind, in, i);
            if (got[i] == want[i]) continue;
            assert_in_range(got[i] - want[i] + 1, 0, 2);
            assert_true(fabs(fabs(v - rint(v)) - 0.5) < 1e-4);
            ties++;
        }
        assert_in_range(ties, 0, PAIRS / 1000);
        union ig_attrs clipped = {.binary = {.kind = kind, .act = {IG_CLIP, 20, 99}}};
        assert_int_equal(eval_node(IG_QLINEAR_BINARY, clipped, in, 8, &clipped_out, 1), 0);
        for (int i = 0; i < PAIRS; i++) assert_int_equal(clip[i], got[i] < 20 ? 20 : got[i] > 99 ? 99 : got[i]);
    }
}

/* Every byte, by the byte as it is stored, whatever its sign. */
static void lookup(void **state)
{
    uint8_t x[256], table[256], got[256];
    (void)state;
    for (int i = 0; i < 256; i++) x[i] = (uint8_t)(i * 7), table[i] = (uint8_t)(i * 29 + 3);
    for (int32_t types = 0; types < 4; types++) {
        struct tensor in[2] = {TENSOR(types & 1 ? IG_I8 : IG_U8, x, 4, 64), TENSOR(types & 2 ? IG_I8 : IG_U8, table, 256)};
        struct tensor out = TENSOR(types & 2 ? IG_I8 : IG_U8, got, 4, 64);
        memset(got, 0, sizeof got);
        assert_int_equal(eval_node(IG_LOOKUP, AXIS(0, 0), in, 2, &out, 1), 0);
        for (int i = 0; i < 256; i++) assert_int_equal(got[i], table[x[i]]);
    }
}

/* What onnxruntime 1.32 gives for the same as a MaxRoiPool. */
static void regions(void **state)
{
    (void)state;
    const struct tensor in[3] = {TENSOR(IG_F32, FLOATS(3, -1, 4, -1, 5, -9, 2, -6, 5, 3, -5, 8), 1, 3, 4, 1),
                                 TENSOR(IG_F32, FLOATS(0, 0, 3, 2, 1, 1, 5, 3, 4, 1, 2, 0, -7, -7, -5, -5), 4, 4), TENSOR(IG_I64, LONGS(0, 0, 0, 0), 4)};
    CHECK(IG_ROI_ALIGN, ((union ig_attrs){.roi_align = {IG_ROI_POOL, 0, 0, 0.5f}}),
          TENSOR(IG_F32, FLOATS(3, 4, 5, 2, 2, 2, 3, 8, 2, 2, 2, 2, 0, 0, 0, 0), 4, 2, 2, 1), in[0], in[1], in[2]);
    CHECK(IG_ROI_ALIGN, ((union ig_attrs){.roi_align = {IG_ROI_POOL, 0, 0, 1}}),
          TENSOR(IG_F32, FLOATS(5, 4, 5, 8, 8, 8, 8, 8, 0, 0, 0, 0, 0, 0, 0, 0), 4, 2, 2, 1), in[0], in[1], in[2]);
}

/* H = 1 or 2, activations that leave integers. */
static void recurrent(void **state)
{
    (void)state;
    const struct ig_act relu = {IG_RELU, 0, 0};
    struct ig_recurrent a = {.kind = IG_RNN, .f = relu, .g = relu, .u = relu};
    struct tensor none = TENSOR(IG_F32, NULL, 1), h2 = TENSOR(IG_F32, FLOATS(1, 1), 1, 1, 2), h1 = TENSOR(IG_F32, FLOATS(1), 1, 1, 1);
    struct tensor steps = TENSOR(IG_F32, FLOATS(1, -2, 3, 1), 2, 1, 2), square = TENSOR(IG_F32, FLOATS(1, 2, 0, -1), 1, 2, 2);
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(4, 0, 7, 1), 2, 1, 1, 2), steps, square, none, h2);
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(1, 0, 4, 1), 2, 1, 1, 2), steps, square);
    a.reverse = 1;
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(7, 0, 6, 0), 2, 1, 1, 2), steps, square, none, h2);
    a.reverse = 2; /* the second of two directions */
    struct tensor both = TENSOR(IG_F32, FLOATS(1, -2, 1, -2, 3, 1, 3, 1), 2, 1, 4), squares = TENSOR(IG_F32, FLOATS(1, 2, 0, -1, 1, 2, 0, -1), 2, 2, 2);
    struct tensor h4 = TENSOR(IG_F32, FLOATS(1, 1, 1, 1), 2, 1, 2);
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(4, 0, 7, 0, 7, 1, 6, 0), 2, 2, 1, 2), both, squares, none, h4);
    a.reverse = 0, a.kind = IG_GRU;
    struct tensor three = TENSOR(IG_F32, FLOATS(2, 3, 1), 1, 1, 3), column = TENSOR(IG_F32, FLOATS(1, -1, 2), 1, 3, 1), own = TENSOR(IG_F32, FLOATS(4), 1, 1);
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(-7), 1, 1, 1, 1), three, column, none, h1);
    a.reset_after = 1;
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(-23), 1, 1, 1, 1), three, column, own, h1);
    a.reset_after = 0, a.clip = 2;
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(0), 1, 1, 1, 1), three, column, none, h1);
    a.clip = 0, a.kind = IG_LSTM;
    struct tensor four = TENSOR(IG_F32, FLOATS(1, 2, 3, -1), 1, 1, 4), gates = TENSOR(IG_F32, FLOATS(1, 1, 1, 3), 1, 4, 1);
    struct tensor c0 = TENSOR(IG_F32, FLOATS(2), 1, 1, 1), peepholes = TENSOR(IG_F32, FLOATS(1, 2, -1), 1, 3);
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(324), 1, 1, 1, 1), four, gates, none, h1, c0, peepholes);
    a.input_forget = 1;
    CHECK(IG_RECURRENT, (union ig_attrs){.recurrent = a}, TENSOR(IG_F32, FLOATS(14), 1, 1, 1, 1), four, gates, none, h1, c0, peepholes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(regions),
        cmocka_unit_test(softmax),
        cmocka_unit_test(reduce_f32),
        cmocka_unit_test(reduce_middle_axis_of_integers),
        cmocka_unit_test(arg),
        cmocka_unit_test(topk),
        cmocka_unit_test(norm_layer),
        cmocka_unit_test(norm_kinds),
        cmocka_unit_test(norm_of_images),
        cmocka_unit_test(cumsum),
        cmocka_unit_test(recurrent),
        cmocka_unit_test(transpose),
        cmocka_unit_test(slice),
        cmocka_unit_test(pad),
        cmocka_unit_test(repeat),
        cmocka_unit_test(gather),
        cmocka_unit_test(scatter),
        cmocka_unit_test(one_hot),
        cmocka_unit_test(triu),
        cmocka_unit_test(dynamic_quantize),
        cmocka_unit_test(qlinear_binary),
        cmocka_unit_test(lookup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
