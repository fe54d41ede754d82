/*
 * onnxruntime's operators on quantised tensors: the ops that come out, what these compute after all passes against plain loops
 * over real numbers, and messages. Scales are powers of two, so that sums, products and means of few are exact.
 */
#include <math.h>

#include "tests/support/interp.h"
#include "tests/support/onnx_op.h"

enum { MOST = 256 };

struct tensor { /* quantised; its parameters are initializers: of 'a' "as" and "az" */
    int type;
    float scale;
    int32_t zero;
    int n;
    uint8_t at[MOST];
};

static struct tensor a, b, y;
static int has_zeros; /* else the zero points are not given */

static double real(const struct tensor *t, int i)
{
    return ((t->type == M_INT8 ? (int8_t)t->at[i] : t->at[i]) - t->zero) * (double)t->scale;
}

static uint8_t quantised(const struct tensor *t, double x)
{
    double least = t->type == M_INT8 ? -128 : 0, v = rint(x / (double)t->scale) + t->zero;
    return (uint8_t)(int)fmin(fmax(v, least), least + 255);
}

static void number(const char *name, float v)
{
    m_add_initializer(&m, m_tensor(&m, name, M_FLOAT, NO_DIMS, &v, sizeof v));
}

static void byte(const char *name, int type, int32_t v)
{
    uint8_t low = (uint8_t)v;
    m_add_initializer(&m, m_tensor(&m, name, type, NO_DIMS, &low, 1));
}

static void parameters(struct tensor *t, char name, int type, float scale, int32_t zero)
{
    *t = (struct tensor){.type = type, .scale = scale, .zero = has_zeros ? zero : 0, .n = 1};
    number((char[]){name, 's', 0}, scale);
    byte((char[]){name, 'z', 0}, type, zero);
}

/* An input of random bytes, or with `constant` an initializer. */
static void add_bytes(struct tensor *t, char name, int constant, int rank, const int64_t *dims)
{
    struct rng r = {(uint64_t)name};
    for (int i = 0; i < rank; i++)
        t->n *= (int)dims[i];
    assert_in_range(t->n, 1, MOST);
    for (int i = 0; i < t->n; i++)
        t->at[i] = (uint8_t)rng_int(&r, 0, 255);
    if (constant) m_add_initializer(&m, m_tensor(&m, (char[]){name, 0}, t->type, rank, dims, t->at, (size_t)t->n));
    else m_input(&m, (char[]){name, 0}, t->type, rank, dims);
}

/* A model of tensors a, b and y of that type; a is its first input. */
static void start(int type, int zeros, int rank, const int64_t *dims)
{
    m_init(&m, 13);
    m_opset(&m, "com.microsoft", 1);
    has_zeros = zeros;
    parameters(&a, 'a', type, 0.5f, 9);
    parameters(&b, 'b', type, 0.25f, 3);
    parameters(&y, 'y', type, 0.5f, 5);
    add_bytes(&a, 'a', 0, rank, dims);
}

/* A node of the domain; inputs whose names end in z are left out where there are no zero points. */
static Onnx__NodeProto *node(const char *op, const char *in)
{
    char list[64] = "";
    for (const char *p = in; *p;) {
        size_t n = strcspn(p, ",");
        if (has_zeros || p[n - 1] != 'z') strncat(list, p, n);
        p += n;
        if (*p && *p++) strcat(list, ",");
    }
    Onnx__NodeProto *made = m_node(&m, op, list, "out");
    made->domain = m_text(&m, "com.microsoft");
    return made;
}

/* --- results --- */

/* What the one output is after all passes; from malloc. */
static void *results(struct ig_graph *g)
{
    void *in[2] = {a.at, b.at}, *out = NULL;
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
    assert_int_equal(interp_run(g, ig_ref_eval, in, &out), 0);
    return out;
}

/* Output i is `want[i]`, quantised by y's parameters; ends g. */
static void check_bytes(struct ig_graph *g, const double *want, int n)
{
    const struct ig_shape s = g->values[g->outputs[0]].shape;
    assert_int_equal(s.type, y.type == M_INT8 ? IG_I8 : IG_U8);
    assert_int_equal(ig_count(&s), n);
    uint8_t *out = results(g);
    for (int i = 0; i < n; i++)
        if (out[i] != quantised(&y, want[i])) fail_msg("element %d is %d, not %d", i, out[i], quantised(&y, want[i]));
    free(out);
    ig_graph_free(g);
}

/* Calls with u8 and i8, with zero points and without. */
static void for_all(void (*test)(int type, int zeros))
{
    for (int i = 0; i < 4; i++)
        test(i & 1 ? M_INT8 : M_UINT8, i >> 1);
}

/* --- element-wise --- */

static void binary_of(int type, int zeros)
{
    double want[24];
    for (int product = 0; product < 2; product++)
        for (int broadcast = 0; broadcast < 2; broadcast++) {
            start(type, zeros, LIST(2, 3, 4));
            if (broadcast) add_bytes(&b, 'b', 0, LIST(3, 1));
            else add_bytes(&b, 'b', 0, LIST(2, 3, 4));
            node(product ? "QLinearMul" : "QLinearAdd", "a,as,az,b,bs,bz,ys,yz");
            struct ig_graph *g = must_import();
            if (broadcast) check_ops(g, OPS(IG_DEQUANTIZE, IG_DEQUANTIZE, IG_BINARY, IG_QUANTIZE));
            else check_ops(g, OPS(IG_QLINEAR_BINARY));
            assert_int_equal(g->nodes[broadcast ? 2 : 0].attrs.binary.kind, product ? IG_MUL : IG_ADD);
            for (int i = 0; i < 24; i++) {
                double u = real(&a, i), v = real(&b, broadcast ? i / 4 % 3 : i);
                want[i] = product ? u * v : u + v;
            }
            check_bytes(g, want, 24);
        }
}

static void binary(void **state)
{
    (void)state;
    for_all(binary_of);
}

static void unary_of(int type, int zeros)
{
    double want[3][40];
    for (int k = 0; k < 3; k++) {
        start(type, zeros, LIST(40));
        Onnx__NodeProto *n = node(k ? "QLinearLeakyRelu" : "QLinearSigmoid", "a,as,az,ys,yz");
        if (k == 2) m_attr_f(&m, n, "alpha", 0.25f);
        struct ig_graph *g = must_import();
        check_ops(g, OPS(IG_DEQUANTIZE, IG_UNARY, IG_QUANTIZE));
        for (int i = 0; i < 40; i++) {
            double x = real(&a, i);
            want[0][i] = 1 / (1 + exp(-x));
            want[1][i] = x < 0 ? (double)0.01f * x : x;
            want[2][i] = x < 0 ? 0.25 * x : x;
        }
        check_bytes(g, want[k], 40);
    }
}

static void unary(void **state)
{
    (void)state;
    for_all(unary_of);
}

static void where_of(int type, int zeros)
{
    static const uint8_t chosen[6] = {1, 0, 0, 1, 1, 0};
    double want[6];
    start(type, zeros, LIST(2, 3));
    add_bytes(&b, 'b', 0, LIST(3));
    m_add_initializer(&m, m_tensor(&m, "c", M_BOOL, LIST(2, 3), chosen, 6));
    node("QLinearWhere", "c,a,as,az,b,bs,bz,ys,yz");
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_DEQUANTIZE, IG_QUANTIZE, IG_DEQUANTIZE, IG_QUANTIZE, IG_WHERE));
    for (int i = 0; i < 6; i++)
        want[i] = chosen[i] ? real(&a, i) : real(&b, i % 3);
    check_bytes(g, want, 6);
}

static void where(void **state)
{
    (void)state;
    for_all(where_of);
}

static void concat_of(int type, int zeros)
{
    double want[20];
    start(type, zeros, LIST(2, 2, 3));
    add_bytes(&b, 'b', 0, LIST(2, 1, 3));
    m_attr_i(&m, node("QLinearConcat", "ys,yz,a,as,az,b,bs,bz"), "axis", -2);
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_DEQUANTIZE, IG_DEQUANTIZE, IG_CONCAT, IG_QUANTIZE));
    for (int i = 0; i < 18; i++)
        want[i] = i % 9 < 6 ? real(&a, i / 9 * 6 + i % 9) : real(&b, i / 9 * 3 + i % 9 - 6);
    check_bytes(g, want, 18);
}

static void concat(void **state)
{
    (void)state;
    for_all(concat_of);
}

/* Bytes alone where the parts have one scale: as much as ONNX's own Concat of them. */
static void concat_of_alike(void **state)
{
    (void)state;
    start(M_UINT8, 1, LIST(2, 2, 3));
    add_bytes(&b, 'b', 0, LIST(2, 1, 3));
    m_attr_i(&m, node("QLinearConcat", "as,az,a,as,az,b,as,az"), "axis", 1);
    struct ig_graph *g = must_import();
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
    for (int i = 0; i < g->n_nodes; i++)
        assert_true(g->nodes[i].op == IG_CONCAT || g->nodes[i].op == IG_COPY);
    ig_graph_free(g);
}

/* --- pools --- */

/* Element (n, c, y, x) of [2,3,4,4], or of [2,4,4,3]. */
static int at(int last, int n, int c, int row, int col)
{
    return last ? ((n * 4 + row) * 4 + col) * 3 + c : ((n * 3 + c) * 4 + row) * 4 + col;
}

/* Mean over rows and columns `from`.. by `extent`, those inside alone, or all. */
static double mean(int last, int n, int c, const int *from, int extent, int all)
{
    double sum = 0;
    int count = 0;
    for (int i = 0; i < extent * extent; i++) {
        int row = from[0] + i / extent, col = from[1] + i % extent, inside = row >= 0 && row < 4 && col >= 0 && col < 4;
        if (inside) sum += real(&a, at(last, n, c, row, col));
        count += inside || all;
    }
    return sum / count;
}

static void average_of(int type, int zeros)
{
    double want[2 * 3 * 9];
    for (int k = 0; k < 4; k++) {
        int last = k & 1, all = k >> 1;
        if (last) start(type, zeros, LIST(2, 4, 4, 3));
        else start(type, zeros, LIST(2, 3, 4, 4));
        Onnx__NodeProto *n = node("QLinearAveragePool", "a,as,az,ys,yz");
        m_attr_ints(&m, n, "kernel_shape", LIST(2, 2));
        m_attr_ints(&m, n, "strides", LIST(2, 2));
        m_attr_ints(&m, n, "pads", LIST(1, 1, 1, 1));
        m_attr_i(&m, n, "count_include_pad", all);
        m_attr_i(&m, n, "channels_last", last);
        struct ig_graph *g = must_import();
        if (last) check_ops(g, OPS(IG_DEQUANTIZE, IG_TRANSPOSE, IG_POOL, IG_TRANSPOSE, IG_QUANTIZE));
        else check_ops(g, OPS(IG_DEQUANTIZE, IG_POOL, IG_QUANTIZE));
        for (int i = 0; i < 54; i++) {
            int c = last ? i % 3 : i / 9 % 3, place = last ? i / 3 % 9 : i % 9;
            want[i] = mean(last, i / 27, c, (int[]){place / 3 * 2 - 1, place % 3 * 2 - 1}, 2, all);
        }
        check_bytes(g, want, 54);
    }
}

static void average_pool(void **state)
{
    (void)state;
    for_all(average_of);
}

static void global_of(int type, int zeros)
{
    double want[6];
    for (int last = 0; last < 2; last++) {
        if (last) start(type, zeros, LIST(2, 4, 4, 3));
        else start(type, zeros, LIST(2, 3, 4, 4));
        m_attr_i(&m, node("QLinearGlobalAveragePool", "a,as,az,ys,yz"), "channels_last", last);
        struct ig_graph *g = must_import();
        if (last) check_output(g, 0, LIST(2, 1, 1, 3));
        else check_output(g, 0, LIST(2, 3, 1, 1));
        for (int i = 0; i < 6; i++)
            want[i] = mean(last, i / 3, i % 3, (int[]){0, 0}, 4, 0);
        check_bytes(g, want, 6);
    }
}

static void global_pool(void **state)
{
    (void)state;
    for_all(global_of);
}

/* --- along axes --- */

static void reduce_of(int type, int zeros)
{
    double want[8] = {0};
    for (int keep = 0; keep < 2; keep++) {
        start(type, zeros, LIST(2, 4, 2, 2));
        Onnx__NodeProto *n = node("QLinearReduceMean", "a,as,az,ys,yz");
        m_attr_ints(&m, n, "axes", LIST(2, -1));
        m_attr_i(&m, n, "keepdims", keep);
        struct ig_graph *g = must_import();
        if (keep) check_output(g, 0, LIST(2, 4, 1, 1));
        else check_output(g, 0, LIST(2, 4));
        for (int i = 0; i < 8; i++)
            want[i] = (real(&a, 4 * i) + real(&a, 4 * i + 1) + real(&a, 4 * i + 2) + real(&a, 4 * i + 3)) / 4;
        check_bytes(g, want, 8);
    }
    start(type, zeros, LIST(8));
    node("QLinearReduceMean", "a,as,az,ys,yz");
    struct ig_graph *g = must_import();
    want[0] = 0;
    for (int i = 0; i < 8; i++)
        want[0] += real(&a, i) / 8;
    check_bytes(g, want, 1);
}

static void reduce_mean(void **state)
{
    (void)state;
    for_all(reduce_of);
}

/* Of rows of `inner` elements. */
static void softmax_rows(int inner, double *want, int n)
{
    for (int i = 0; i < n; i += inner) {
        double sum = 0;
        for (int k = i; k < i + inner; k++)
            sum += want[k] = exp(real(&a, k));
        for (int k = i; k < i + inner; k++)
            want[k] /= sum;
    }
}

static void softmax_of(int type, int zeros)
{
    static const struct {
        int opset, axis, inner; /* axis 9: not given */
    } cases[] = {{13, 2, 4}, {13, 9, 4}, {12, 9, 4}, {11, 1, 12}, {11, 0, 24}, {11, -1, 4}};
    double want[24];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(type, zeros, LIST(2, 3, 4));
        number("scale", 1 / 256.f);
        y.scale = 1 / 256.f;
        Onnx__NodeProto *n = node("QLinearSoftmax", "a,as,az,scale,yz");
        m_attr_i(&m, n, "opset", cases[i].opset);
        if (cases[i].axis != 9) m_attr_i(&m, n, "axis", cases[i].axis);
        struct ig_graph *g = must_import();
        softmax_rows(cases[i].inner, want, 24);
        check_bytes(g, want, 24);
    }
}

static void softmax(void **state)
{
    (void)state;
    for_all(softmax_of);
}

/* --- QGemm: [3,4] by [4,5] --- */

static const float column_scale[5] = {0.25f, 0.5f, 0.125f, 1, 2};
static const int8_t column_zero[5] = {1, 0, 3, 7, 2};
static const int32_t c_data[15] = {40, -300, 7, 25, -80, 16, 3, -9, 100, 64, -5, 33, 12, -77, 8};

struct gemm {
    int turned_a, turned_b, columns; /* columns: a scale and a zero point each */
    float alpha;
    int c_rows, c_columns; /* 0: no C */
    int on_bytes;          /* it becomes a convolution from bytes to bytes */
};

/* Element (i, k) of the product and C, with all scales. */
static double gemm_at(const struct gemm *t, int i, int k)
{
    double sum = 0, scale = (double)(t->columns ? column_scale[k] : b.scale);
    int zero = !has_zeros ? 0 : t->columns ? column_zero[k] : b.zero;
    for (int j = 0; j < 4; j++) {
        int w = (int8_t)b.at[t->turned_b ? k * 4 + j : j * 5 + k];
        sum += real(&a, t->turned_a ? j * 3 + i : i * 4 + j) * (w - zero) * scale;
    }
    if (t->c_rows)
        sum += c_data[(t->c_rows > 1 ? i : 0) * t->c_columns + (t->c_columns > 1 ? k : 0)] * (double)a.scale * scale;
    return (double)t->alpha * sum;
}

static void build_gemm(const struct gemm *t, int type, int zeros, int is_float)
{
    int64_t c_dims[2] = {t->c_rows ? t->c_rows : 1, t->c_rows ? t->c_columns : 1};
    char in[64];
    if (t->turned_a) start(type, zeros, LIST(4, 3));
    else start(type, zeros, LIST(3, 4));
    b.type = M_INT8;
    if (t->turned_b) add_bytes(&b, 'b', 1, LIST(5, 4));
    else add_bytes(&b, 'b', 1, LIST(4, 5));
    byte("wz", M_INT8, 3);
    m_add_initializer(&m, m_tensor(&m, "cs", M_FLOAT, LIST(5), column_scale, sizeof column_scale));
    m_add_initializer(&m, m_tensor(&m, "cz", M_INT8, LIST(5), column_zero, sizeof column_zero));
    m_add_initializer(&m, m_tensor(&m, "c", M_INT32, 2, c_dims, c_data, 4 * (size_t)(c_dims[0] * c_dims[1])));
    number("u", y.scale = 32);
    snprintf(in, sizeof in, "a,as,az,b,%s,%s%s", t->columns ? "cs,cz" : "bs,wz", t->c_rows ? "c" : "", is_float ? "" : ",u,qz");
    byte("qz", type, y.zero = 5);
    Onnx__NodeProto *n = node("QGemm", in);
    if (!zeros && !is_float) n->input[8] = m_text(&m, "qz"); /* that of the output says what it is */
    m_attr_i(&m, n, "transA", t->turned_a);
    m_attr_i(&m, n, "transB", t->turned_b);
    if (t->alpha < 1 || t->alpha > 1) m_attr_f(&m, n, "alpha", t->alpha);
}

static const struct gemm gemms[] = {
    {0, 0, 0, 1, 1, 5, 1}, {0, 1, 0, 1, 1, 5, 1},     {1, 0, 0, 1, 1, 5, 0},  {1, 1, 1, 0.5f, 1, 5, 0}, {0, 0, 1, 1, 1, 5, 1},
    {0, 1, 1, 1, 1, 5, 1}, {0, 0, 1, 0.5f, 1, 5, 1},  {0, 0, 0, 2, 0, 0, 1},  {0, 0, 0, -2, 1, 5, 0},   {0, 0, 1, 1, 3, 1, 0},
    {0, 0, 1, 1, 3, 5, 0}, {0, 1, 0, 0.25f, 3, 1, 0}, {0, 0, 0, 1, 1, 1, 1},
};

static int count_of(const struct ig_graph *g, enum ig_op op)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        n += g->nodes[i].op == (int32_t)op;
    return n;
}

static int convolutions_to_bytes(const struct ig_graph *g)
{
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        n += g->nodes[i].op == IG_QLINEAR_CONV && g->values[g->nodes[i].out[0]].shape.type != IG_F32;
    return n;
}

static void gemm_of(int type, int zeros)
{
    double want[15];
    for (size_t k = 0; k < sizeof gemms / sizeof *gemms; k++) {
        build_gemm(&gemms[k], type, zeros, 0);
        struct ig_graph *g = must_import();
        assert_int_equal(count_of(g, IG_MATMUL), 1);
        assert_int_equal(count_of(g, IG_QUANTIZE), 1);
        struct ig_graph *passed = ig_graph_clone(g);
        if (ig_run_passes(passed, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
        if (convolutions_to_bytes(passed) != gemms[k].on_bytes) fail_msg("case %d is not on bytes", (int)k);
        ig_graph_free(passed);
        for (int i = 0; i < 15; i++)
            want[i] = gemm_at(&gemms[k], i / 5, i % 5);
        check_bytes(g, want, 15);
    }
}

static void gemm(void **state)
{
    (void)state;
    for_all(gemm_of);
}

/* Without a scale of the output it is a float. */
static void float_gemm_of(int type, int zeros)
{
    for (size_t k = 0; k < sizeof gemms / sizeof *gemms; k++) {
        build_gemm(&gemms[k], type, zeros, 1);
        struct ig_graph *g = must_import();
        assert_int_equal(g->values[g->outputs[0]].shape.type, IG_F32);
        check_output(g, 0, LIST(3, 5));
        float *out = results(g);
        for (int i = 0; i < 15; i++) {
            double want = gemm_at(&gemms[k], i / 5, i % 5);
            if (fabs((double)out[i] - want) > 1e-5 * (1 + fabs(want))) fail_msg("case %d: %g, not %g", (int)k, (double)out[i], want);
        }
        free(out);
        ig_graph_free(g);
    }
}

static void float_gemm(void **state)
{
    (void)state;
    for_all(float_gemm_of);
}

/* --- the rest --- */

/* The domain's own copies of ONNX's operators, here along an axis. */
static void conversions(void **state)
{
    (void)state;
    start(M_INT8, 1, LIST(2, 3, 5));
    m_add_initializer(&m, m_tensor(&m, "cs", M_FLOAT, LIST(5), column_scale, sizeof column_scale));
    m_add_initializer(&m, m_tensor(&m, "cz", M_INT8, LIST(5), column_zero, sizeof column_zero));
    m_attr_i(&m, node("DequantizeLinear", "a,cs,cz"), "axis", 2);
    m.graph.node[0]->output[0] = m_text(&m, "f");
    node("QuantizeLinear", "f,ys,yz");
    struct ig_graph *g = must_import();
    double want[30];
    check_ops(g, OPS(IG_DEQUANTIZE, IG_QUANTIZE));
    for (int i = 0; i < 30; i++)
        want[i] = ((int8_t)a.at[i] - column_zero[i % 5]) * (double)column_scale[i % 5];
    check_bytes(g, want, 30);
}

static void messages(void **state)
{
    (void)state;
    static const struct {
        const char *op, *in, *part;
    } bad[] = {
        {"QLinearAdd", "a,s2,az,b,bs,bz,ys,yz", "net.onnx: node '(out)' (QLinearAdd): input 1 has 2 elements, not one"},
        {"QLinearMul", "a,as,az,b,bs,i8,ys,yz", "data and zero point (input 5) differ in type"},
        {"QLinearAdd", "a,as,az,b,bs,bz", "input 6 is missing"},
        {"QLinearAdd", "f,as,az,b,bs,bz,ys,yz", "input 0 of type f32; only u8 and i8 are supported"},
        {"QLinearAdd", "a,as,az,w,bs,bz,ys,yz", "does not broadcast"},
        {"QLinearSigmoid", "a,as,az,ys,i8", "data and zero point (input 4) differ in type"},
        {"QLinearConcat", "ys,yz,a,as", "4 inputs are not two and three for every part"},
        {"QLinearConcat", "ys,yz,a,as,az", "attribute 'axis' is missing"},
        {"QLinearSoftmax", "a,as,az,ys,yz", "attribute 'opset' is missing"},
        {"QLinearWhere", "a,a,as,az,b,bs,bz,ys,yz", "input 0 of type u8 is not supported"},
        {"QGemm", "f,as,az,w,bs,bz", "input 0 of type f32"},
        {"QGemm", "a,as,az,b,bs,bz", "inner dimensions 3 and 2 differ"},
        {"QGemm", "a,as,az,w,s2,bz", "input 4 is neither one number nor one per column (4)"},
        {"QGemm", "a,as,az,w,bs,bz,ys", "C is of type f32, not i32"},
        {"QGemm", "a,as,az,w,bs,bz,c5", "does not broadcast"},
        {"QGemm", "a,as,az,w,bs,bz,c3d", "C does not broadcast to the product"},
        {"QGemm", "a,as,az,w,bs,bz,,ys", "scale and zero point of its output must both be given, or neither"},
        {"QLinearAveragePool", "a,as,az,ys,yz", "rank 2"},
        {"QLinearTanh", "a,as,az,ys,yz",
         "(out)  com.microsoft.QLinearTanh-1  is onnxruntime's own, and not supported; export without its graph optimisations"},
    };
    static const float ones[5] = {1, 1, 1, 1, 1};
    static const int32_t zeros[12];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        start(M_UINT8, 1, LIST(2, 3));
        add_bytes(&b, 'b', 0, LIST(2, 3));
        m_input(&m, "w", M_UINT8, LIST(3, 4));
        m_input(&m, "f", M_FLOAT, LIST(2, 3));
        m_add_initializer(&m, m_tensor(&m, "s2", M_FLOAT, LIST(2), ones, 8));
        m_add_initializer(&m, m_tensor(&m, "c5", M_INT32, LIST(5), zeros, 20));
        m_add_initializer(&m, m_tensor(&m, "c3d", M_INT32, LIST(1, 2, 4), zeros, 32));
        byte("i8", M_INT8, 0);
        node(bad[i].op, bad[i].in);
        must_refuse(bad[i].part);
    }
}

/* A file that does not import the domain has its only version, as in onnxruntime; a newer one is not understood. */
static void versions(void **state)
{
    (void)state;
    for (int version = 0; version < 3; version++) {
        start(M_UINT8, 1, LIST(4));
        m.pb.opset_import[1]->version = version;
        if (!version) m.pb.n_opset_import = 1;
        node("QLinearSigmoid", "a,as,az,ys,yz");
        if (version == 2) must_refuse("opset 2 of com.microsoft is newer than 1, the newest that is understood");
        else ig_graph_free(must_import());
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(binary),       cmocka_unit_test(unary),       cmocka_unit_test(where),       cmocka_unit_test(concat),
        cmocka_unit_test(concat_of_alike), cmocka_unit_test(average_pool), cmocka_unit_test(global_pool), cmocka_unit_test(reduce_mean),
        cmocka_unit_test(softmax),      cmocka_unit_test(gemm),        cmocka_unit_test(float_gemm),  cmocka_unit_test(conversions),
        cmocka_unit_test(messages),     cmocka_unit_test(versions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
