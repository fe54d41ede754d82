/* How other operators become graph nodes: attributes, defaults, and what differs between opsets. */
#include <float.h>

#include "tests/support/onnx_op.h"

/* Output i is a copy of a constant: its data. */
static const void *constant(const struct ig_graph *g, int i)
{
    const struct ig_node *n = &g->nodes[g->values[g->outputs[i]].producer];
    assert_int_equal(n->op, IG_COPY);
    assert_non_null(g->values[n->in[0]].data);
    return g->values[n->in[0]].data;
}

static void softmax_versions(void **state)
{
    (void)state;
    begin(12, LIST(2, 3, 4), "Softmax", "x", "y");
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_RESHAPE, IG_SOFTMAX, IG_RESHAPE));
    assert_int_equal(g->values[g->nodes[0].out[0]].shape.dims[1], 12);
    ig_graph_free(g);
    begin(12, LIST(1, 10, 1, 1), "Softmax", "x", "y");
    g = must_import();
    check_ops(g, OPS(IG_SOFTMAX));
    assert_int_equal(g->nodes[0].attrs.axis.axis, 1);
    ig_graph_free(g);
    begin(13, LIST(2, 3, 4), "LogSoftmax", "x", "y");
    g = must_import();
    check_ops(g, OPS(IG_SOFTMAX));
    assert_int_equal(g->nodes[0].attrs.axis.axis, 2);
    assert_int_equal(g->nodes[0].attrs.axis.mode, IG_SOFTMAX_LOG);
    ig_graph_free(g);
}

static void clip_versions(void **state)
{
    (void)state;
    m_attr_f(&m, begin(6, LIST(4), "Clip", "x", "y"), "max", 6);
    struct ig_graph *g = must_import();
    assert_true(g->nodes[0].attrs.unary.act.alpha == -FLT_MAX && g->nodes[0].attrs.unary.act.beta == 6);
    ig_graph_free(g);
    begin(11, LIST(4), "Clip", "x,,high", "y");
    m_weights(&m, "high", NO_DIMS);
    g = must_import();
    assert_int_equal(g->nodes[0].attrs.unary.act.kind, IG_CLIP);
    assert_true(g->nodes[0].attrs.unary.act.beta == 0.5f);
    ig_graph_free(g);
    begin(11, LIST(4), "Clip", "x,low", "y");
    m_input(&m, "low", M_FLOAT, NO_DIMS); /* known only at run time */
    g = must_import();
    assert_int_equal(g->nodes[0].op, IG_BINARY);
    assert_int_equal(g->nodes[0].attrs.binary.kind, IG_MAX);
    ig_graph_free(g);
}

static void legacy_broadcast(void **state)
{
    (void)state;
    Onnx__NodeProto *n = begin(6, LIST(2, 3, 4, 5), "Add", "x,w", "y");
    m_weights(&m, "w", LIST(3, 4));
    m_attr_i(&m, n, "broadcast", 1);
    m_attr_i(&m, n, "axis", 1);
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_BINARY));
    const struct ig_shape *s = &g->values[g->nodes[0].in[1]].shape;
    assert_int_equal(s->rank, 3);
    assert_int_equal(s->dims[2], 1);
    ig_graph_free(g);
    begin(7, LIST(2, 3, 4, 5), "Add", "x,w", "y");
    m_weights(&m, "w", LIST(3, 4));
    must_refuse("does not broadcast");
    begin(6, LIST(2, 3, 4, 5), "PRelu", "x,w", "y");
    m_weights(&m, "w", LIST(3));
    g = must_import();
    assert_int_equal(g->values[g->nodes[0].in[1]].shape.rank, 3);
    ig_graph_free(g);
}

static void attribute_or_input(void **state)
{
    (void)state;
    m_attr_ints(&m, begin(11, LIST(1, 3, 1, 5), "Squeeze", "x", "y"), "axes", LIST(0, -2));
    struct ig_graph *g = must_import();
    check_output(g, 0, LIST(3, 5));
    ig_graph_free(g);
    begin(13, LIST(1, 3, 1, 5), "Squeeze", "x,axes", "y");
    m_ints(&m, "axes", LIST(2));
    g = must_import();
    check_output(g, 0, LIST(1, 3, 5));
    ig_graph_free(g);
    m_attr_ints(&m, begin(11, LIST(3, 5), "Unsqueeze", "x", "y"), "axes", LIST(-1, 0));
    g = must_import();
    check_output(g, 0, LIST(1, 3, 5, 1));
    ig_graph_free(g);
    m_attr_i(&m, begin(18, LIST(4, 5), "ReduceSumSquare", "x,axes", "y"), "noop_with_empty_axes", 1);
    m_ints(&m, "axes", 0, NULL);
    g = must_import();
    check_ops(g, OPS(IG_REDUCE));
    assert_int_equal(g->nodes[0].attrs.reduce.mask, 0);
    check_output(g, 0, LIST(4, 5));
    ig_graph_free(g);
    m_attr_i(&m, begin(18, LIST(4, 5), "Split", "x", "a,b"), "num_outputs", 2);
    m_attr_i(&m, m.graph.node[0], "axis", 1);
    g = must_import();
    check_output(g, 0, LIST(4, 3));
    check_output(g, 1, LIST(4, 2));
    ig_graph_free(g);
}

static void slices(void **state)
{
    (void)state;
    static const struct {
        int64_t from, to, step, n;
        int32_t start;
    } cases[] = {
        {1, INT64_MAX, 2, 5, 1}, {-1, INT64_MIN, -1, 10, 9}, {-1, -100, -3, 4, 9},     {0, -1, 1, 9, 0},
        {-100, 3, 1, 3, 0},      {8, 2, -2, 3, 8},           {0, 10, INT64_MAX, 1, 0}, {100, 0, -1, 9, 9},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(13, LIST(10), "Slice", "x,from,to,axes,steps", "y");
        m_ints(&m, "from", LIST(cases[i].from));
        m_ints(&m, "to", LIST(cases[i].to));
        m_ints(&m, "axes", LIST(0));
        m_ints(&m, "steps", LIST(cases[i].step));
        struct ig_graph *g = must_import();
        check_output(g, 0, LIST(cases[i].n));
        assert_int_equal(g->nodes[0].attrs.slice.start[0], cases[i].start);
        ig_graph_free(g);
    }
    Onnx__NodeProto *n = begin(9, LIST(10), "Slice", "x", "y");
    m_attr_ints(&m, n, "starts", LIST(5));
    m_attr_ints(&m, n, "ends", LIST(5));
    must_refuse("tensors of size zero are not supported");
}

static void dropout_mask(void **state)
{
    (void)state;
    begin(12, LIST(2, 2), "Dropout", "x", "y,mask");
    struct ig_graph *g = must_import();
    assert_memory_equal(constant(g, 1), "\1\1\1\1", 4);
    assert_int_equal(g->values[g->outputs[1]].shape.type, IG_BOOL);
    ig_graph_free(g);
}

static void gemm(void **state)
{
    (void)state;
    Onnx__NodeProto *n = begin(13, LIST(2, 3), "Gemm", "x,w,c", "y");
    m_weights(&m, "w", LIST(4, 3));
    m_weights(&m, "c", LIST(4));
    m_attr_i(&m, n, "transB", 1);
    m_attr_f(&m, n, "alpha", 2);
    m_attr_f(&m, n, "beta", 4);
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_MATMUL, IG_BINARY));
    assert_true(((const float *)g->values[g->nodes[0].in[1]].data)[1] == 3);
    assert_true(((const float *)g->values[g->nodes[1].in[1]].data)[1] == 6);
    assert_true(g->nodes[0].attrs.matmul.alpha == 1);
    assert_int_equal(g->nodes[0].attrs.matmul.trans_b, 1);
    ig_graph_free(g);
    begin(13, LIST(3), "MatMul", "x,w", "y");
    m_weights(&m, "w", LIST(2, 3, 4));
    g = must_import();
    check_output(g, 0, LIST(2, 4));
    ig_graph_free(g);
}

/* What importers compute of shapes alone. */
static void shape_constants(void **state)
{
    (void)state;
    static const int64_t dims[4] = {1, 2, 3, 4};
    m_attr_i(&m, begin(15, LIST(1, 2, 3, 4), "Shape", "x", "y"), "start", -3);
    m_attr_i(&m, m.graph.node[0], "end", 99);
    struct ig_graph *g = must_import();
    assert_memory_equal(constant(g, 0), dims + 1, 24);
    ig_graph_free(g);
    begin(15, LIST(1, 2, 3, 4), "Size", "x", "y");
    g = must_import();
    assert_int_equal(*(const int64_t *)constant(g, 0), 24);
    ig_graph_free(g);
    m_init(&m, 17);
    m_ints(&m, "from", LIST(4));
    m_ints(&m, "to", LIST(0));
    m_ints(&m, "by", LIST(-1));
    m_node(&m, "Range", "from,to,by", "y");
    g = must_import();
    check_output(g, 0, LIST(4));
    assert_int_equal(((const int64_t *)constant(g, 0))[3], 1);
    ig_graph_free(g);
    m_attr_i(&m, begin(15, LIST(2, 3), "EyeLike", "x", "y"), "k", 1);
    g = must_import();
    assert_memory_equal(constant(g, 0), ((float[]){0, 1, 0, 0, 0, 1}), 24);
    ig_graph_free(g);
}

/* Flatten as old PyTorch writes it: Reshape(x, Concat(Unsqueeze(Gather(Shape(x), 0)), -1)). */
static void shape_chain(void **state)
{
    (void)state;
    begin(11, LIST(2, 3, 4, 5), "Shape", "x", "shape");
    m_attr_i(&m, m_node(&m, "Gather", "shape,zero", "batch"), "axis", 0);
    m_attr_ints(&m, m_node(&m, "Unsqueeze", "batch", "list"), "axes", LIST(0));
    m_attr_i(&m, m_node(&m, "Concat", "list,rest", "to"), "axis", 0);
    m_node(&m, "Reshape", "x,to", "y");
    m_add_initializer(&m, m_tensor(&m, "zero", M_INT64, NO_DIMS, (int64_t[]){0}, 8));
    m_ints(&m, "rest", LIST(-1));
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_RESHAPE));
    check_output(g, 0, LIST(2, 60));
    ig_graph_free(g);
}

static void reshapes(void **state)
{
    (void)state;
    static const struct {
        int64_t dims[3];
        const char *part;
    } bad[] = {
        {{-1, -1, 2}, "the new shape holds -1"},
        {{7, -1, 2}, "24 elements do not fill the new shape"},
        {{INT64_MAX, 3, 2}, "the new shape needs more than the 24 elements there are"},
        {{2, 3, 2}, "[2,3,4] cannot be reshaped to [2,3,2]"},
        {{-2, 3, 2}, "the new shape holds -2"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        begin(14, LIST(2, 3, 4), "Reshape", "x,to", "y");
        m_ints(&m, "to", 3, bad[i].dims);
        must_refuse(bad[i].part);
    }
    begin(14, LIST(2, 3, 4), "Reshape", "x,to", "y");
    m_ints(&m, "to", LIST(4, 0, -1));
    struct ig_graph *g = must_import();
    check_output(g, 0, LIST(4, 3, 2));
    ig_graph_free(g);
}

/* Steps of the first sequence 2, of the second 3; the rest stays. */
static void reversed_sequences(void **state)
{
    (void)state;
    static const float want[2][6] = {{2.5f, 5.5f, 0.5f, 3.5f, 4.5f, 1.5f}, {1.5f, 0.5f, 2.5f, 5.5f, 4.5f, 3.5f}};
    for (int axis = 0; axis < 2; axis++) {
        Onnx__NodeProto *n = begin(10, LIST(1), "ReverseSequence", "data,lengths", "y");
        m_weights(&m, "data", LIST(3 - axis, 2 + axis));
        m_ints(&m, "lengths", LIST(2, 3));
        m_attr_i(&m, n, "time_axis", axis);
        m_attr_i(&m, n, "batch_axis", !axis);
        struct ig_graph *g = must_import();
        assert_memory_equal(constant(g, 0), want[axis], sizeof *want);
        ig_graph_free(g);
    }
    begin(10, LIST(3, 2), "ReverseSequence", "x,lengths", "y");
    m_ints(&m, "lengths", LIST(2, 4));
    must_refuse("a sequence of 4 elements, of 3");
    m_attr_i(&m, begin(10, LIST(3, 2), "ReverseSequence", "x,lengths", "y"), "time_axis", 1);
    m_ints(&m, "lengths", LIST(2, 2, 2));
    must_refuse("time_axis and batch_axis are the same");
}

static void determinants(void **state)
{
    (void)state;
    static const float numbers[] = {2, -1, 3, 0, 4, 5, 7, 1, -2}, want[] = {2, 3, -145}; /* of 1x1, 2x2 and 3x3 of them */
    for (int64_t size = 1; size <= 3; size++) {
        begin(11, LIST(1), "Det", "a", "y");
        m_add_initializer(&m, m_tensor(&m, "a", M_FLOAT, LIST(size, size), numbers, (size_t)(size * size) * sizeof *numbers));
        struct ig_graph *g = must_import();
        check_output(g, 0, NO_DIMS);
        assert_true(*(const float *)constant(g, 0) == want[size - 1]);
        ig_graph_free(g);
    }
    begin(11, LIST(2, 4, 4), "Det", "x", "y");
    must_refuse("determinants of more than 3 rows");
    begin(11, LIST(2, 4, 3), "Det", "x", "y");
    must_refuse("its matrices are not square");
}

static void index_checks(void **state)
{
    (void)state;
    begin(13, LIST(2, 3), "Gather", "x,i", "y");
    m_ints(&m, "i", LIST(0, 2));
    must_refuse("index 2 is outside 0..1");
    begin(13, LIST(2, 3), "Shape", "x", "s");
    m_node(&m, "Div", "s,zero", "y");
    m_ints(&m, "zero", LIST(0));
    must_refuse("an integer is divided by a constant zero");
    m_attr_i(&m, begin(13, LIST(2, 3), "TopK", "x,k", "v,i"), "axis", 1);
    m_ints(&m, "k", LIST(4));
    must_refuse("k is 4 of 3");
}

static void zeros(const char *name, int type, int rank, const int64_t *dims)
{
    static const char none[64];
    size_t n = type == M_FLOAT ? 4 : 1;
    for (int i = 0; i < rank; i++)
        n *= (size_t)dims[i];
    m_add_initializer(&m, m_tensor(&m, name, type, rank, dims, none, n));
}

/* Of x [2,6,3] along its second dim, by indices of that shape: the op that it is. */
static const struct ig_node *gathered(int rank, const int64_t *dims, const int64_t *indices, struct ig_graph **g)
{
    size_t n = 1;
    for (int d = 0; d < rank; d++) n *= (size_t)dims[d];
    m_attr_i(&m, begin(13, LIST(2, 6, 3), "Gather", "x,i", "y"), "axis", 1);
    m_add_initializer(&m, m_tensor(&m, "i", M_INT64, rank, dims, indices, n * sizeof *indices));
    *g = must_import();
    return &(*g)->nodes[0];
}

/* Constant indices that go up by equal steps are a slice. */
static void gathers_of_slices(void **state)
{
    static const struct { int rank; int64_t dims[2], indices[4]; int32_t start, step, n; } cases[] = {
        {0, {0}, {4}, 4, 1, 1}, {0, {0}, {-1}, 5, 1, 1}, {1, {3}, {1, 3, 5}, 1, 2, 3}, {2, {2, 2}, {-5, -4, -3, -2}, 1, 1, 4}};
    struct ig_graph *g;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct ig_node *n = gathered(cases[i].rank, cases[i].dims, cases[i].indices, &g);
        assert_int_equal(n->op, IG_SLICE);
        assert_int_equal(n->attrs.slice.start[1], cases[i].start);
        assert_int_equal(n->attrs.slice.step[1], cases[i].step);
        m_check_shape(g, n->out[0], LIST(2, cases[i].n, 3));
        if (cases[i].rank == 0) check_output(g, 0, LIST(2, 3));
        else if (cases[i].rank == 1) check_output(g, 0, LIST(2, cases[i].n, 3));
        else check_output(g, 0, LIST(2, 2, 2, 3));
        ig_graph_free(g);
    }
    for (int i = 0; i < 3; i++) { /* others are none */
        static const int64_t others[][3] = {{3, 2, 1}, {0, 1, 3}, {2, 2, 2}};
        assert_int_equal(gathered(LIST(3), others[i], &g)->op, IG_GATHER);
        ig_graph_free(g);
    }
}

/* A scale or zero point is one, or one per channel: a kernel reads no other number of them. */
static void quantized_parameters(void **state)
{
    (void)state;
    static const struct {
        const char *op, *in, *part;
    } bad[] = {
        {"MatMulInteger", "x,b,z2,z3", "input 3 has 3 elements, neither one nor 4"},
        {"MatMulInteger", "x,b,z3,z1", "input 2 has 3 elements, neither one nor 2"},
        {"MatMulInteger", "x,b,s1", "input 2 of type f32 is not supported"},
        {"QLinearMatMul", "x,s3,z1,b,s1,z1,s1,z1", "input 1 has 3 elements, neither one nor 2"},
        {"QLinearMatMul", "x,s1,z1,b,s1,z3,s1,z1", "input 5 has 3 elements, neither one nor 4"},
        {"ConvInteger", "i,w,z1,z2", "input 3 has 2 elements, neither one nor 3"},
        {"ConvInteger", "i,w,z2,z1", "input 2 has 2 elements, not one"},
        {"QLinearConv", "i,s1,z1,w,s2,z1,s1,z1", "input 4 has 2 elements, neither one nor 3"},
        {"QLinearConv", "i,s1,z1,w,s3,z3,s1,z2", "input 7 has 2 elements, not one"},
        {"QLinearConv", "i,s1,z1,w,s3,z3,s1,s1", "input 7 of type f32 is not supported"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        m_init(&m, 10);
        m_input(&m, "x", M_UINT8, LIST(2, 3));
        m_input(&m, "i", M_UINT8, LIST(1, 1, 4, 4));
        m_node(&m, bad[i].op, bad[i].in, "y");
        zeros("b", M_UINT8, LIST(3, 4));
        zeros("w", M_UINT8, LIST(3, 1, 2, 2));
        for (char n = '1'; n <= '3'; n++) {
            zeros((char[]){'z', n, 0}, M_UINT8, LIST(n - '0'));
            zeros((char[]){'s', n, 0}, M_FLOAT, LIST(n - '0'));
        }
        must_refuse(bad[i].part);
    }
}

/* Quantised weights are not made floats of before the quantised pass has seen them; a number, as a bound, is known at once. */
static void quantised_weights_stay(void **state)
{
    (void)state;
    begin(13, LIST(2, 3), "DequantizeLinear", "w,s", "d");
    zeros("w", M_INT8, LIST(2, 3));
    m_weights(&m, "s", NO_DIMS);
    m_node(&m, "Add", "x,d", "y");
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_DEQUANTIZE, IG_BINARY));
    ig_graph_free(g);
    begin(13, LIST(2, 3), "DequantizeLinear", "b,s", "d");
    zeros("b", M_INT8, NO_DIMS);
    m_weights(&m, "s", NO_DIMS);
    m_node(&m, "Clip", "x,d", "y");
    g = must_import();
    check_ops(g, OPS(IG_UNARY));
    ig_graph_free(g);
}

static void begin_resize(const char *mode)
{
    m_init(&m, 13);
    m_input(&m, "x", M_UINT8, LIST(1, 3, 4, 4));
    m_attr_s(&m, m_node(&m, "Resize", "x,,,sizes", "y"), "mode", mode);
    m_ints(&m, "sizes", LIST(1, 3, 8, 8));
}

/* The nearest are bytes themselves; what is between them is floats, cut off. */
static void resizes_of_bytes(void **state)
{
    (void)state;
    for (int linear = 0; linear < 2; linear++) {
        begin_resize(linear ? "linear" : "nearest");
        struct ig_graph *g = must_import();
        if (linear) check_ops(g, OPS(IG_CAST, IG_RESIZE, IG_CAST));
        else check_ops(g, OPS(IG_RESIZE));
        assert_int_equal(g->values[g->outputs[0]].shape.type, IG_U8);
        ig_graph_free(g);
    }
    begin_resize("cubic");
    must_refuse("input 0 of type u8");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(softmax_versions),
        cmocka_unit_test(clip_versions),
        cmocka_unit_test(legacy_broadcast),
        cmocka_unit_test(attribute_or_input),
        cmocka_unit_test(slices),
        cmocka_unit_test(dropout_mask),
        cmocka_unit_test(gemm),
        cmocka_unit_test(shape_constants),
        cmocka_unit_test(shape_chain),
        cmocka_unit_test(reshapes),
        cmocka_unit_test(reversed_sequences),
        cmocka_unit_test(determinants),
        cmocka_unit_test(index_checks),
        cmocka_unit_test(gathers_of_slices),
        cmocka_unit_test(quantized_parameters),
        cmocka_unit_test(quantised_weights_stay),
        cmocka_unit_test(resizes_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
