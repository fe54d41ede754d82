/* Constants, and operators whose result follows from shapes alone: the importer computes them itself. */
#include <math.h>
#include <string.h>

#include "graph/onnx/import.h"

static int32_t int_constant(struct im *m, int32_t rank, const int64_t *list, size_t n)
{
    void *data;
    struct ig_shape s = {.type = IG_I64, .rank = 1};
    if (!n) return im_empty(m, &s);
    s = im_make_shape(m, IG_I64, rank, (int64_t[]){(int64_t)n});
    int32_t v = im_const(m, &s, &data);
    memcpy(data, list, n * sizeof *list);
    return v;
}

static int32_t float_constant(struct im *m, int32_t rank, const float *list, size_t n)
{
    void *data;
    struct ig_shape s = {.type = IG_F32, .rank = 1};
    if (!n) return im_empty(m, &s);
    s = im_make_shape(m, IG_F32, rank, (int64_t[]){(int64_t)n});
    int32_t v = im_const(m, &s, &data);
    memcpy(data, list, n * sizeof *list);
    return v;
}

/* A body that is inlined at many calls has its tensors as often. */
static int32_t tensor_constant(struct im *m, const struct im_node *n, const Onnx__TensorProto *t)
{
    int32_t v = im_tensor(m, t, n->n_out ? n->out[0] : "", "the value");
    if (v >= 0 && n->scope) im_charge(m, ig_bytes(&m->g->values[v].shape));
    return v;
}

void im_op_constant(struct im *m, const struct im_node *n)
{
    const Onnx__AttributeProto *a;
    if ((a = im_attr(n, "value")) && a->t)
        im_set(m, n, 0, tensor_constant(m, n, a->t));
    else if ((a = im_attr(n, "value_int")))
        im_set(m, n, 0, int_constant(m, 0, &a->i, 1));
    else if ((a = im_attr(n, "value_ints")))
        im_set(m, n, 0, int_constant(m, 1, a->ints, a->n_ints));
    else if ((a = im_attr(n, "value_float")))
        im_set(m, n, 0, float_constant(m, 0, &a->f, 1));
    else if ((a = im_attr(n, "value_floats")))
        im_set(m, n, 0, float_constant(m, 1, a->floats, a->n_floats));
    else if (im_attr(n, "value_string") || im_attr(n, "value_strings"))
        im_refuse(m, "strings are not supported");
    else if (im_attr(n, "sparse_value"))
        im_refuse(m, "sparse constants are not supported; store the tensor densely");
    else
        im_fail(m, "it has no value");
}

/* All elements of dst become the one at src. */
static void fill(void *dst, const void *src, size_t bytes, int64_t n)
{
    uint64_t zero = 0, wide;
    uint32_t word;
    if (!memcmp(src, &zero, bytes)) return; /* new constants are zero */
    if (bytes == 1) {
        memset(dst, *(const uint8_t *)src, (size_t)n);
    } else if (bytes == 4) {
        memcpy(&word, src, 4);
        for (int64_t i = 0; i < n; i++)
            ((uint32_t *)dst)[i] = word;
    } else {
        memcpy(&wide, src, 8);
        for (int64_t i = 0; i < n; i++)
            ((uint64_t *)dst)[i] = wide;
    }
}

void im_op_constant_of_shape(struct im *m, const struct im_node *n)
{
    int64_t dims[IG_MAX_RANK];
    int rank = im_const_ints(m, im_in(m, n, 0), "the shape", dims, IG_MAX_RANK);
    const Onnx__AttributeProto *a = im_attr(n, "value");
    int32_t value = a && a->t ? im_tensor(m, a->t, "value", "the value") : im_scalar(m, IG_F32, 0);
    struct ig_shape one = im_shape(m, value), s = {.rank = rank};
    void *data;
    int empty = 0;
    if (rank < 0) im_fail(m, "input 0 is missing");
    if (value < 0 || ig_count(&one) != 1) im_fail(m, "its value must have one element");
    for (int i = 0; i < rank; i++)
        empty |= dims[i] == 0;
    s.type = one.type;
    if (empty) {
        for (int i = 0; i < rank; i++)
            s.dims[i] = dims[i] > 0 && dims[i] <= INT32_MAX ? (int32_t)dims[i] : 0;
        im_set(m, n, 0, im_empty(m, &s));
        return;
    }
    s = im_make_shape(m, one.type, rank, dims);
    int32_t v = im_const(m, &s, &data);
    fill(data, m->g->values[value].data, (size_t)ig_type_bytes(one.type), ig_count(&s));
    im_set(m, n, 0, v);
}

static int32_t data_input(struct im *m, const struct im_node *n)
{
    int32_t x = im_in(m, n, 0);
    if (x == IM_ABSENT) im_fail(m, "input 0 is missing");
    return x;
}

static int64_t clip_index(int64_t i, int64_t rank)
{
    if (i < 0) i = i < -rank ? 0 : i + rank;
    return i > rank ? rank : i;
}

void im_op_shape(struct im *m, const struct im_node *n)
{
    struct ig_shape s = im_shape(m, data_input(m, n));
    int64_t list[IG_MAX_RANK];
    int64_t from = clip_index(im_int(m, n, "start", 0), s.rank),
            to = clip_index(im_int(m, n, "end", s.rank), s.rank);
    for (int i = 0; i < s.rank; i++)
        list[i] = s.dims[i];
    im_set(m, n, 0, int_constant(m, 1, list + from, to > from ? (size_t)(to - from) : 0));
}

void im_op_size(struct im *m, const struct im_node *n)
{
    struct ig_shape s = im_shape(m, data_input(m, n));
    int64_t count = ig_count(&s);
    im_set(m, n, 0, int_constant(m, 0, &count, 1));
}

/*
 * Elements of start, start + delta, ... before limit; computed in double, where all sizes that can be held
 * are exact.
 */
static int64_t range_count(struct im *m, double start, double limit, double delta)
{
    double n = ceil((limit - start) / delta);
    if (!(delta != 0) || !(n < 4294967296.0)) im_fail(m, "a range from %g to %g by %g", start, limit, delta);
    return n > 0 ? (int64_t)n : 0;
}

static void range_floats(struct im *m, const struct im_node *n)
{
    float p[3];
    void *data;
    struct ig_shape s = {.type = IG_F32, .rank = 1};
    for (int i = 0; i < 3; i++)
        im_const_floats(m, im_need(m, n, i), "a bound of the range", &p[i], 1);
    int64_t count = range_count(m, (double)p[0], (double)p[1], (double)p[2]);
    int32_t v;
    if (count) {
        s = im_make_shape(m, IG_F32, 1, &count);
        v = im_const(m, &s, &data);
        for (int64_t i = 0; i < count; i++)
            ((float *)data)[i] = (float)((double)p[0] + (double)i * (double)p[2]);
    } else {
        v = im_empty(m, &s);
    }
    im_set(m, n, 0, v);
}

void im_op_range(struct im *m, const struct im_node *n)
{
    int64_t p[3];
    void *data;
    int32_t type = im_shape(m, im_need(m, n, 0)).type, v;
    if (type == IG_F32) {
        range_floats(m, n);
        return;
    }
    for (int i = 0; i < 3; i++)
        im_const_ints(m, im_need(m, n, i), "a bound of the range", &p[i], 1);
    int64_t count = range_count(m, (double)p[0], (double)p[1], (double)p[2]);
    struct ig_shape s = {.type = IG_I64, .rank = 1};
    if (count) {
        s = im_make_shape(m, IG_I64, 1, &count);
        v = im_const(m, &s, &data);
        for (int64_t i = 0; i < count; i++)
            ((int64_t *)data)[i] = (int64_t)((uint64_t)p[0] + (uint64_t)i * (uint64_t)p[2]);
        if (type == IG_I32) { /* narrowed in place: element i of i32 ends before element i of i64 starts */
            for (int64_t i = 0; i < count; i++)
                ((int32_t *)data)[i] = (int32_t)((int64_t *)data)[i];
            m->g->values[v].shape.type = IG_I32;
        }
    } else {
        v = im_empty(m, &s);
    }
    im_set(m, n, 0, v);
}

void im_op_eye_like(struct im *m, const struct im_node *n)
{
    struct ig_shape s = im_shape(m, im_need(m, n, 0));
    int32_t dtype = im_int32(m, n, "dtype", 0, 0, 100);
    int64_t k = im_int(m, n, "k", 0);
    const char *name;
    void *data;
    if (s.rank != 2) im_fail(m, "data of rank %d is no matrix", s.rank);
    if (dtype) s.type = im_type(dtype, &name);
    if (s.type < 0) im_refuse(m, "type %s is not supported", name);
    int32_t v = im_const(m, &s, &data), one = im_scalar(m, s.type, 1);
    size_t bytes = (size_t)ig_type_bytes(s.type);
    for (int64_t i = 0; i < s.dims[0] && k < INT32_MAX && k > -INT32_MAX; i++)
        if (i + k >= 0 && i + k < s.dims[1])
            memcpy((char *)data + (size_t)(i * s.dims[1] + i + k) * bytes, m->g->values[one].data, bytes);
    im_set(m, n, 0, v);
}

void im_op_one_hot(struct im *m, const struct im_node *n)
{
    int32_t in[2] = {im_need(m, n, 0), im_need(m, n, 2)}, depth_v = im_need(m, n, 1), y;
    struct ig_shape i = im_shape(m, in[0]), values = im_shape(m, in[1]);
    struct im_emit e = {.op = IG_ONE_HOT, .n_in = 2, .in = in};
    int64_t depth = 0, dims[IG_MAX_RANK];
    float real = 0;
    if (im_shape(m, depth_v).type == IG_F32) {
        im_const_floats(m, depth_v, "depth", &real, 1);
        depth = real >= 1 && real < 2147483648.0f ? (int64_t)real : 0;
    } else {
        im_const_ints(m, depth_v, "depth", &depth, 1);
    }
    if (i.rank >= IG_MAX_RANK) im_refuse(m, "a result of rank %d", i.rank + 1);
    if (i.type != IG_I32 && i.type != IG_I64) in[0] = im_cast(m, in[0], IG_I64);
    int32_t axis = e.attrs.axis.axis = im_axis(m, im_int(m, n, "axis", -1), i.rank + 1);
    for (int k = 0; k <= i.rank; k++)
        dims[k] = k == axis ? depth : i.dims[k < axis ? k : k - 1];
    e.given[0] = im_make_shape(m, values.type, i.rank + 1, dims);
    im_emit(m, &e, &y);
    im_set(m, n, 0, y);
}
