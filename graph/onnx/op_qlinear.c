/*
 * onnxruntime's operators on quantised tensors, domain com.microsoft: what QuantFormat.QOperator writes. A sum or product of
 * two tensors of one shape is an op of its own; all else is the float op between a DEQUANTIZE and a QUANTIZE, which the
 * quantised pass turns into ops on bytes where it can.
 */
#include "graph/onnx/import.h"

/* --- parameters --- */

/* Input i: one number for a whole tensor. */
static int32_t number(struct im *m, const struct im_node *n, int i)
{
    int32_t v = im_need(m, n, i);
    struct ig_shape s = im_shape(m, v);
    if (ig_count(&s) != 1) im_fail(m, "input %d has %lld elements, not one", i, (long long)ig_count(&s));
    return v;
}

/* Input i: the zero point of bytes of `type`; 0 where it is absent. */
static int32_t zero_point(struct im *m, const struct im_node *n, int i, int32_t type)
{
    if (im_in(m, n, i) == IM_ABSENT) return im_scalar(m, type, 0);
    int32_t v = number(m, n, i);
    if (im_shape(m, v).type != type) im_fail(m, "data and zero point (input %d) differ in type", i);
    return v;
}

/* Input i: a tensor of bytes. */
static int32_t bytes(struct im *m, const struct im_node *n, int i)
{
    int32_t v = im_need(m, n, i), type = im_shape(m, v).type;
    if (type != IG_U8 && type != IG_I8) im_refuse(m, "input %d of type %s; only u8 and i8 are supported", i, ig_type_name(type));
    return v;
}

static int32_t dequantize(struct im *m, int32_t x, int32_t scale, int32_t zero, int32_t axis)
{
    union ig_attrs a = {.axis = {axis, 0}};
    return im_emit1(m, IG_DEQUANTIZE, zero < 0 ? 2 : 3, (int32_t[]){x, scale, zero}, &a);
}

/* Inputs i..i+2, a tensor, its scale and zero point, as floats. */
static int32_t floats(struct im *m, const struct im_node *n, int i)
{
    int32_t x = bytes(m, n, i);
    return dequantize(m, x, number(m, n, i + 1), zero_point(m, n, i + 2, im_shape(m, x).type), 0);
}

/* y by the scale and the zero point that are inputs i and i + 1, in bytes of `type`. */
static int32_t quantize(struct im *m, const struct im_node *n, int32_t y, int i, int32_t type)
{
    int32_t in[3] = {y, number(m, n, i), zero_point(m, n, i + 1, type)};
    return im_emit1(m, IG_QUANTIZE, 3, in, NULL);
}

/* The type of zero point i; of tensor x where it is absent. */
static int32_t type_of(struct im *m, const struct im_node *n, int i, int x)
{
    return im_shape(m, bytes(m, n, im_in(m, n, i) == IM_ABSENT ? x : i)).type;
}

/* The output is y, quantised as inputs i and i + 1 say, in bytes of input 0's type. */
static void set_quantized(struct im *m, const struct im_node *n, int32_t y, int i)
{
    im_set(m, n, 0, quantize(m, n, y, i, im_shape(m, im_need(m, n, 0)).type));
}

/* --- element-wise --- */

static int same_shape(const struct ig_shape *a, const struct ig_shape *b)
{
    for (int i = 0; i < a->rank && i < b->rank; i++)
        if (a->dims[i] != b->dims[i]) return 0;
    return a->rank == b->rank;
}

void im_op_qlinear_binary(struct im *m, const struct im_node *n)
{
    int32_t a = bytes(m, n, 0), b = bytes(m, n, 3), type = im_shape(m, a).type;
    struct ig_shape sa = im_shape(m, a), sb = im_shape(m, b);
    union ig_attrs attrs = {.binary = {.kind = im_op_find(n)->kind}};
    if (!same_shape(&sa, &sb)) {
        set_quantized(m, n, im_binary(m, attrs.binary.kind, floats(m, n, 0), floats(m, n, 3)), 6);
        return;
    }
    int32_t in[8] = {a, number(m, n, 1), zero_point(m, n, 2, type), b, number(m, n, 4), zero_point(m, n, 5, sb.type),
                     number(m, n, 6), zero_point(m, n, 7, type)};
    im_set(m, n, 0, im_emit1(m, IG_QLINEAR_BINARY, 8, in, &attrs));
}

void im_op_qlinear_unary(struct im *m, const struct im_node *n)
{
    int32_t kind = im_op_find(n)->kind;
    float alpha = kind == IG_LEAKY_RELU ? im_float(m, n, "alpha", 0.01f) : 0;
    set_quantized(m, n, im_unary(m, kind, floats(m, n, 0), alpha, 0), 3);
}

/* Both are quantised anew before one is chosen: bytes are. */
void im_op_qlinear_where(struct im *m, const struct im_node *n)
{
    int32_t type = type_of(m, n, 8, 1);
    int32_t in[3] = {im_need(m, n, 0), quantize(m, n, floats(m, n, 1), 7, type), quantize(m, n, floats(m, n, 4), 7, type)};
    im_set(m, n, 0, im_emit1(m, IG_WHERE, 3, in, NULL));
}

/* --- pools --- */

/* x with its channels, which `last` says are last, in dim 1; with `back` the other way round. */
static int32_t turned(struct im *m, int32_t x, int last, int back)
{
    int32_t perm[IG_MAX_RANK] = {0}, rank = im_shape(m, x).rank;
    if (!last || rank < 3) return x;
    for (int i = 1; i < rank; i++)
        perm[i] = back ? (i == rank - 1 ? 1 : i + 1) : i == 1 ? rank - 1 : i - 1;
    return im_transpose(m, x, perm);
}

void im_op_qlinear_pool(struct im *m, const struct im_node *n)
{
    int last = im_int(m, n, "channels_last", 0) != 0;
    int32_t y;
    im_pool(m, n, turned(m, floats(m, n, 0), last, 0), 1, &y);
    set_quantized(m, n, turned(m, y, last, 1), 3);
}

void im_op_qlinear_global_pool(struct im *m, const struct im_node *n)
{
    int last = im_int(m, n, "channels_last", 0) != 0;
    union ig_attrs a = {.global_pool = {.kind = im_op_find(n)->kind}};
    int32_t x = turned(m, floats(m, n, 0), last, 0);
    set_quantized(m, n, turned(m, im_emit1(m, IG_GLOBAL_POOL, 1, &x, &a), last, 1), 3);
}

/* --- along axes --- */

void im_op_qlinear_reduce(struct im *m, const struct im_node *n)
{
    int64_t axes[IG_MAX_RANK];
    int count = im_ints(m, n, "axes", axes, IG_MAX_RANK);
    set_quantized(m, n, im_reduce_axes(m, n, floats(m, n, 0), axes, count), 3);
}

/* `opset` is that of the Softmax which it was made from; the axis is the last one by default in all of them. */
void im_op_qlinear_softmax(struct im *m, const struct im_node *n)
{
    if (!im_attr(n, "opset")) im_fail(m, "attribute 'opset' is missing");
    set_quantized(m, n, im_softmax(m, n, floats(m, n, 0), im_int(m, n, "opset", 0), -1), 3);
}

/* Scale and zero point of the output, then tensor, scale and zero point of every part. */
void im_op_qlinear_concat(struct im *m, const struct im_node *n)
{
    int32_t parts = (n->n_in - 2) / 3, *in = im_array(m, (size_t)n->n_in, sizeof *in);
    if (parts < 1 || parts * 3 + 2 != n->n_in) im_fail(m, "%d inputs are not two and three for every part", n->n_in);
    for (int i = 0; i < parts; i++)
        in[i] = floats(m, n, 2 + 3 * i);
    if (!im_attr(n, "axis")) im_fail(m, "attribute 'axis' is missing");
    union ig_attrs a = {.axis = {im_axis(m, im_int(m, n, "axis", 0), im_shape(m, in[0]).rank), 0}};
    im_set(m, n, 0, quantize(m, n, im_emit1(m, IG_CONCAT, parts, in, &a), 0, type_of(m, n, 1, 2)));
}

/* --- QGemm --- */

/* Input i, a number or one per column. */
static int32_t column(struct im *m, const struct im_node *n, int i, int32_t columns)
{
    int32_t v = im_need(m, n, i);
    struct ig_shape s = im_shape(m, v);
    if (ig_count(&s) == 1) return v;
    if (s.rank != 1 || s.dims[0] != columns) im_fail(m, "input %d is neither one number nor one per column (%d)", i, columns);
    return v;
}

/* v as often as `like` has numbers. */
static int32_t as_many(struct im *m, int32_t v, int32_t like)
{
    struct ig_shape s = im_shape(m, v), to = im_shape(m, like);
    return ig_count(&to) > ig_count(&s) ? im_expand(m, im_reshape(m, v, 1, (int64_t[]){1}), &to) : v;
}

struct factor { /* B of QGemm */
    int32_t value, scale; /* floats; its scale, with alpha in it */
};

static struct factor right_factor(struct im *m, const struct im_node *n, int turned_b)
{
    int32_t b = bytes(m, n, 3), axis = turned_b ? 0 : 1;
    float alpha = im_float(m, n, "alpha", 1);
    struct ig_shape s = im_shape(m, b);
    if (s.rank != 2) im_fail(m, "its operands must be matrices");
    int32_t scale = column(m, n, 4, s.dims[axis]);
    int32_t zero = im_in(m, n, 5) == IM_ABSENT ? im_scalar(m, s.type, 0) : column(m, n, 5, s.dims[axis]);
    if (alpha < 1 || alpha > 1) scale = im_binary(m, IG_MUL, scale, im_scalar(m, IG_F32, (double)alpha));
    int32_t scales = as_many(m, scale, zero);
    return (struct factor){dequantize(m, b, scales, as_many(m, zero, scales), axis), scales};
}

/* Input 6, C, as floats: multiples of the products' scale. */
static int32_t bias(struct im *m, const struct im_node *n, int32_t scale)
{
    int32_t c = im_need(m, n, 6);
    struct ig_shape s = im_shape(m, c), many = im_shape(m, scale);
    if (s.type != IG_I32) im_fail(m, "C is of type %s, not i32", ig_type_name(s.type));
    if (ig_count(&many) == 1) return dequantize(m, c, scale, IM_ABSENT, 0);
    if (s.rank && s.dims[s.rank - 1] == many.dims[0]) return dequantize(m, c, scale, IM_ABSENT, s.rank - 1);
    return im_binary(m, IG_MUL, im_cast(m, c, IG_F32), scale);
}

void im_op_qgemm(struct im *m, const struct im_node *n)
{
    union ig_attrs t = {.matmul = {im_int(m, n, "transA", 0) != 0, im_int(m, n, "transB", 0) != 0, 1}};
    int32_t a = floats(m, n, 0);
    struct factor b = right_factor(m, n, t.matmul.trans_b);
    int is_float = im_in(m, n, 7) == IM_ABSENT;
    if (is_float != (im_in(m, n, 8) == IM_ABSENT)) im_refuse(m, "scale and zero point of its output must both be given, or neither");
    if (im_shape(m, a).rank != 2) im_fail(m, "its operands must be matrices");
    int32_t y = im_emit1(m, IG_MATMUL, 2, (int32_t[]){a, b.value}, &t);
    if (im_in(m, n, 6) != IM_ABSENT) {
        struct ig_shape product = im_shape(m, y);
        y = im_binary(m, IG_ADD, y, bias(m, n, im_binary(m, IG_MUL, number(m, n, 1), b.scale)));
        struct ig_shape sum = im_shape(m, y);
        if (!same_shape(&product, &sum)) im_fail(m, "C does not broadcast to the product");
    }
    im_set(m, n, 0, is_float ? y : quantize(m, n, y, 7, type_of(m, n, 8, 0)));
}
