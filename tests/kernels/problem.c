/* The [h, w, c] view of tensors, calls built from shapes, and the evaluator around the kernels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "tests/support/node.h"

static void view_is(enum ig_op op, struct ig_shape s, int n, int h, int w, int c)
{
    int32_t at[4];
    ig_collapse(op, &s, &at[0], &at[1], &at[2], &at[3]);
    assert_int_equal(at[0], n);
    assert_int_equal(at[1], h);
    assert_int_equal(at[2], w);
    assert_int_equal(at[3], c);
}

static void collapse(void **state)
{
    (void)state;
    view_is(IG_CONV, SHAPE(IG_F32, 2, 5, 6, 3), 2, 5, 6, 3);
    view_is(IG_POOL, SHAPE(IG_F32, 2, 4, 5, 6, 3), 2, 20, 6, 3);
    view_is(IG_POOL, SHAPE(IG_F32, 2, 6, 3), 2, 1, 6, 3);
    view_is(IG_UNARY, SHAPE(IG_F32, 2, 5, 6, 3), 1, 10, 6, 3);
    view_is(IG_UNARY, SHAPE(IG_F32, 7, 3), 1, 7, 1, 3);
    view_is(IG_UNARY, SHAPE(IG_F32, 3), 1, 1, 1, 3);
    view_is(IG_UNARY, make_shape(IG_F32, NULL, 0), 1, 1, 1, 1);
    view_is(IG_FC, SHAPE(IG_F32, 7, 3), 1, 7, 1, 3);
    view_is(IG_FC, SHAPE(IG_F32, 2, 7, 3), 1, 14, 1, 3);
    view_is(IG_RESIZE, SHAPE(IG_F32, 7, 3), 1, 7, 1, 3);
    view_is(IG_NORM, SHAPE(IG_F32, 1, 7, 3), 1, 7, 1, 3);
    view_is(IG_NORM, SHAPE(IG_F32, 2, 7, 3), 1, 2, 7, 3);
    view_is(IG_SOFTMAX, SHAPE(IG_F32, 1, 1, 7, 3), 1, 7, 1, 3);
    view_is(IG_BINARY, SHAPE(IG_F32, 1, 7, 3), 1, 1, 7, 3);
}

static void describe(void **state)
{
    (void)state;
    struct ig_shape s = SHAPE(IG_F32, 2, 5, 6, 3);
    struct ig_operand o;
    ig_describe(&s, IG_CONV, &o);
    assert_ptr_equal(o.shape, &s);
    assert_null(o.data);
    assert_int_equal(o.ring_rows, 5);
    assert_int_equal(o.row_stride, 18);
    assert_int_equal(o.pixel_stride, 3);
}

static void build_broadcast(void **state)
{
    (void)state;
    struct ig_shape out = SHAPE(IG_F32, 2, 5, 6, 3), row = SHAPE(IG_F32, 6, 3), channel = SHAPE(IG_F32, 3);
    struct ig_call call;
    int batch;
    assert_int_equal(ig_build_call(IG_WHERE, NULL, (const struct ig_shape *[]){&row, &channel, &out}, NULL, 3,
                                   (const struct ig_shape *[]){&out}, 1, &call, &batch),
                     0);
    assert_int_equal(batch, 1);
    assert_int_equal(call.in[0].h, 1);
    assert_int_equal(call.in[0].w, 6);
    assert_int_equal(call.in[1].w, 1);
    assert_int_equal(call.in[1].c, 3);
    assert_int_equal(call.in[1].shape->rank, 1);
    assert_int_equal(call.in[2].h, 10);
    assert_int_equal(call.out[0].h, 10);
    assert_int_equal(ig_build_call(IG_CONCAT, NULL, NULL, NULL, IG_MAX_IN + 1, NULL, 1, &call, &batch), -1);
}

static void build_conv(void **state)
{
    (void)state;
    float x[60] = {0}, w[24] = {0}, residual[80] = {0}, y[80] = {0};
    struct ig_shape xs = SHAPE(IG_F32, 2, 5, 2, 3), ws = SHAPE(IG_F32, 8, 3, 1, 1),
                    ys = SHAPE(IG_F32, 2, 5, 1, 8);
    const struct ig_shape *shapes[] = {&xs, &ws, NULL, &ys}, *out[] = {&ys};
    struct ig_call call, second;
    int batch;
    assert_int_equal(ig_build_call(IG_CONV, NULL, shapes, (const void *[]){x, w, NULL, residual}, 4, out, 1,
                                   &call, &batch),
                     0);
    call.out[0].data = y;
    assert_int_equal(batch, 2);
    assert_int_equal(call.in[1].c, 24);
    assert_null(call.in[2].shape);
    second = ig_call_image(IG_CONV, &call, 1);
    assert_ptr_equal(second.in[0].data, x + 30);
    assert_ptr_equal(second.in[1].data, w);
    assert_ptr_equal(second.in[3].data, residual + 40);
    assert_ptr_equal(second.out[0].data, y + 40);
    assert_int_equal(ig_full_range(&second).y1, 5);
    assert_int_equal(ig_full_range(&second).c1, 8);
}

static void concat_of_many(void **state)
{
    (void)state;
    float data[12][2], y[24];
    struct tensor in[12], out = TENSOR(IG_F32, y, 2, 12);
    for (int i = 0; i < 12; i++) {
        data[i][0] = (float)i;
        data[i][1] = (float)(100 + i);
        in[i] = TENSOR(IG_F32, data[i], 2, 1);
    }
    assert_int_equal(eval_node(IG_CONCAT, (union ig_attrs){.axis = {1, 0}}, in, 12, &out, 1), 0);
    for (int i = 0; i < 12; i++) {
        assert_float_equal(y[i], i, 0);
        assert_float_equal(y[12 + i], 100 + i, 0);
    }
}

static void global_pool_of_a_batch(void **state)
{
    (void)state;
    float x[] = {1, 2, 3, 4, 10, 20, 30, 40}, y[4];
    struct tensor in = TENSOR(IG_F32, x, 2, 1, 2, 2), out = TENSOR(IG_F32, y, 2, 1, 1, 2);
    assert_int_equal(
        eval_node(IG_GLOBAL_POOL, (union ig_attrs){.global_pool = {IG_POOL_AVERAGE, 0}}, &in, 1, &out, 1), 0);
    assert_memory_equal(y, ((float[]){2, 3, 20, 30}), sizeof y);
}

static void refusals(void **state)
{
    (void)state;
    uint16_t half[2] = {0};
    struct tensor in = TENSOR(IG_F16, half, 2), out = TENSOR(IG_F16, half, 1);
    assert_int_equal(eval_node(IG_REDUCE, (union ig_attrs){.reduce = {IG_REDUCE_SUM, 1}}, &in, 1, &out, 1),
                     -1);
    struct ig_node node = {.op = IG_CONV};
    struct ig_graph onnx_layout = {.channels_last = 0};
    assert_int_equal(ig_ref_eval(&onnx_layout, &node, NULL, NULL), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collapse),        cmocka_unit_test(describe),
        cmocka_unit_test(build_broadcast), cmocka_unit_test(build_conv),
        cmocka_unit_test(concat_of_many),  cmocka_unit_test(global_pool_of_a_batch),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
