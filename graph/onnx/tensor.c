/*
 * TensorProto -> constant of the graph. Types that the graph lacks are widened or narrowed where that is
 * exact enough.
 */
#include "graph/onnx/import.h"

#include "graph/late.h"

#include <string.h>

enum {
    ONNX_FLOAT = 1,
    ONNX_UINT8,
    ONNX_INT8,
    ONNX_UINT16,
    ONNX_INT16,
    ONNX_INT32,
    ONNX_INT64,
    ONNX_STRING,
    ONNX_BOOL,
    ONNX_FLOAT16,
    ONNX_DOUBLE,
    ONNX_UINT32,
    ONNX_UINT64,
    ONNX_BFLOAT16 = 16,
    ONNX_UINT4 = 21,
    ONNX_INT4,
    ONNX_TYPES = 27
};

enum { MAX_DOUBLES = 1024 }; /* double constants up to here are taken for scalars and shape arithmetic */

struct type {
    const char *name;
    int8_t graph;  /* enum ig_type of a constant, or -1 */
    int8_t bytes;  /* of an element of raw_data */
    int8_t native; /* the graph's type holds it as it is, at run time too */
};

static const struct type types[ONNX_TYPES] = {
    [0] = {"undefined", -1, 0, 0},
    [ONNX_FLOAT] = {"float", IG_F32, 4, 1},
    [ONNX_UINT8] = {"uint8", IG_U8, 1, 1},
    [ONNX_INT8] = {"int8", IG_I8, 1, 1},
    [ONNX_UINT16] = {"uint16", IG_I32, 2, 0},
    [ONNX_INT16] = {"int16", IG_I32, 2, 0},
    [ONNX_INT32] = {"int32", IG_I32, 4, 1},
    [ONNX_INT64] = {"int64", IG_I64, 8, 1},
    [ONNX_STRING] = {"string", -1, 0, 0},
    [ONNX_BOOL] = {"bool", IG_BOOL, 1, 1},
    [ONNX_FLOAT16] = {"float16", IG_F32, 2, 0},
    [ONNX_DOUBLE] = {"double", IG_F32, 8, 0},
    [ONNX_UINT32] = {"uint32", IG_I64, 4, 0},
    [ONNX_UINT64] = {"uint64", IG_I64, 8, 0},
    [14] = {"complex64", -1, 0, 0},
    [15] = {"complex128", -1, 0, 0},
    [ONNX_BFLOAT16] = {"bfloat16", IG_F32, 2, 0},
    [17] = {"float8e4m3fn", -1, 0, 0},
    [18] = {"float8e4m3fnuz", -1, 0, 0},
    [19] = {"float8e5m2", -1, 0, 0},
    [20] = {"float8e5m2fnuz", -1, 0, 0},
    [ONNX_UINT4] = {"uint4", IG_U8, 0, 0},
    [ONNX_INT4] = {"int4", IG_I8, 0, 0},
    [23] = {"float4e2m1", -1, 0, 0},
    [24] = {"float8e8m0", -1, 0, 0},
    [25] = {"uint2", -1, 0, 0},
    [26] = {"int2", -1, 0, 0},
};

int32_t im_type(int32_t t, const char **name)
{
    int known = t >= 0 && t < ONNX_TYPES;
    *name = known ? types[t].name : "unknown";
    return known ? types[t].graph : -1;
}

int32_t im_runtime_type(struct im *m, int32_t t, const char *what)
{
    const char *name;
    int32_t type = im_type(t, &name);
    if (t == ONNX_FLOAT16) return IG_F16;
    if (type >= 0 && types[t].native) return type;
    im_refuse(m, "%s has type %s; convert the model to float32 (or int32, int64, int8, uint8, bool)", what,
              name);
}

static float bfloat(uint16_t bits)
{
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

struct source { /* where the elements are: raw bytes, or one of the typed fields */
    const Onnx__TensorProto *t;
    const uint8_t *raw; /* NULL: typed */
    size_t n;
};

/* Two elements have a byte, the first one its lower half. */
static int is_narrow(int32_t type)
{
    return type == ONNX_UINT4 || type == ONNX_INT4;
}

static int64_t narrow(const struct source *s, size_t i)
{
    int32_t byte = s->raw ? s->raw[i / 2] : s->t->int32_data[i / 2], v = byte >> i % 2 * 4 & 15;
    return s->t->data_type == ONNX_INT4 && v > 7 ? v - 16 : v;
}

#define RAW(type) (memcpy(&type##_value, s->raw + i * sizeof type##_value, sizeof type##_value), type##_value)

/* Element i of an integer type; bits of a 16-bit float. */
static int64_t integer(const struct source *s, size_t i)
{
    uint16_t u16_value;
    int16_t i16_value;
    int32_t i32_value;
    uint32_t u32_value;
    int64_t i64_value;
    int32_t type = s->t->data_type;
    if (is_narrow(type)) return narrow(s, i);
    if (!s->raw) {
        if (type == ONNX_INT64) return s->t->int64_data[i];
        if (type == ONNX_UINT32 || type == ONNX_UINT64) return (int64_t)s->t->uint64_data[i];
        return s->t->int32_data[i];
    }
    switch (type) {
    case ONNX_INT8:
        return (int8_t)s->raw[i];
    case ONNX_UINT8:
    case ONNX_BOOL:
        return s->raw[i];
    case ONNX_INT16:
        return RAW(i16);
    case ONNX_INT32:
        return RAW(i32);
    case ONNX_UINT32:
        return RAW(u32);
    case ONNX_INT64:
    case ONNX_UINT64:
        return RAW(i64);
    default:
        return RAW(u16);
    }
}

static float real(const struct source *s, size_t i)
{
    float f32_value;
    double f64_value;
    switch (s->t->data_type) {
    case ONNX_FLOAT:
        return s->raw ? RAW(f32) : s->t->float_data[i];
    case ONNX_DOUBLE:
        return (float)(s->raw ? RAW(f64) : s->t->double_data[i]);
    case ONNX_FLOAT16:
        return ig_half_to_float((uint16_t)integer(s, i));
    default:
        return bfloat((uint16_t)integer(s, i));
    }
}

static void convert(const struct source *s, int32_t type, void *dst)
{
    for (size_t i = 0; i < s->n; i++) {
        switch (type) {
        case IG_F32:
            ((float *)dst)[i] = real(s, i);
            break;
        case IG_I32:
            ((int32_t *)dst)[i] = (int32_t)integer(s, i);
            break;
        case IG_I64:
            ((int64_t *)dst)[i] = integer(s, i);
            break;
        case IG_F16:
            ((uint16_t *)dst)[i] = (uint16_t)integer(s, i);
            break;
        case IG_BOOL:
            ((uint8_t *)dst)[i] = integer(s, i) != 0;
            break;
        default:
            ((uint8_t *)dst)[i] = (uint8_t)integer(s, i);
        }
    }
}

/* Elements in the typed field that belongs to the type, and where they start. */
static size_t typed(const Onnx__TensorProto *t, const void **p)
{
    switch (t->data_type) {
    case ONNX_FLOAT:
        *p = t->float_data;
        return t->n_float_data;
    case ONNX_INT64:
        *p = t->int64_data;
        return t->n_int64_data;
    case ONNX_DOUBLE:
        *p = t->double_data;
        return t->n_double_data;
    case ONNX_UINT32:
    case ONNX_UINT64:
        *p = t->uint64_data;
        return t->n_uint64_data;
    default:
        *p = t->int32_data;
        return t->n_int32_data;
    }
}

/* A large matrix [N,K] that one Gemm alone reads, as it is: no node that import folds needs its elements. */
static int may_be_late(struct im *m, const Onnx__TensorProto *t)
{
    int reads = 0;
    if (!m->options->unsettled || t->data_type != ONNX_FLOAT || t->n_dims != 2 || !t->name) return 0;
    if (t->raw_data.len != sizeof(struct im_ticket) || im_find(m, &m->names, t->name, 0) == NULL) return 0;
    for (int i = 0; i < m->n_nodes; i++)
        for (int k = 0; k < m->nodes[i].n_in; k++) {
            const struct im_node *n = &m->nodes[i];
            if (strcmp(n->in[k], t->name)) continue;
            if (reads++ || k != 1 || strcmp(n->op, "Gemm") || *n->domain) return 0;
            if (im_int(m, n, "transB", 0) != 1 || im_float(m, n, "alpha", 1) != 1) return 0;
        }
    for (size_t i = 0; i < m->model->graph->n_output; i++)
        if (!strcmp(m->model->graph->output[i]->name, t->name)) return 0;
    return reads == 1;
}

/* What a thin copy has left out, read from the file; NULL: the bytes are no ticket. */
static const uint8_t *left_out(struct im *m, const Onnx__TensorProto *t, size_t bytes, const char *what)
{
    struct im_ticket ticket;
    if (!m->file || t->raw_data.len != sizeof ticket) return NULL;
    memcpy(&ticket, t->raw_data.data, sizeof ticket);
    if (ticket.magic != IM_TICKET) return NULL;
    if (ticket.bytes != bytes)
        im_fail(m, "%s has %zu bytes of data, its shape needs %zu", what, (size_t)ticket.bytes, bytes);
    char *data = ig_graph_alloc(m->g, bytes);
    if (may_be_late(m, t) && !ig_late_add(m->g, data, m->file - 1, (int64_t)ticket.offset, (int64_t)bytes))
        return (uint8_t *)data;
    if (im_read(m->file - 1, data, bytes, (int64_t)ticket.offset)) im_fail(m, "%s: its data cannot be read", what);
    return (uint8_t *)data;
}

static struct source find_data(struct im *m, const Onnx__TensorProto *t, size_t n, const char *what)
{
    struct source s = {t, NULL, n};
    size_t entries = is_narrow(t->data_type) ? (n + 1) / 2 : n;
    size_t bytes = is_narrow(t->data_type) ? entries : n * (size_t)types[t->data_type].bytes;
    const void *p;
    if (t->has_data_location && t->data_location == 1) {
        s.raw = im_external(m, t, bytes, what);
    } else if (t->has_raw_data && (t->raw_data.len || !typed(t, &p))) {
        s.raw = left_out(m, t, bytes, what);
        if (s.raw) return s;
        if (t->raw_data.len != bytes)
            im_fail(m, "%s has %zu bytes of data, its shape needs %zu", what, t->raw_data.len, bytes);
        s.raw = t->raw_data.data;
    } else if (typed(t, &p) != entries) {
        im_fail(m, "%s has %zu elements of data, its shape needs %zu", what, typed(t, &p), entries);
    }
    return s;
}

/* The data as it lies in memory, where it may become the constant without a copy; else NULL. */
static const void *in_place(const struct source *s)
{
    const void *p = s->raw;
    int32_t type = s->t->data_type;
    int wide = type == ONNX_FLOAT || type == ONNX_INT32 || type == ONNX_INT64;
    if (type == ONNX_BOOL || !types[type].native || (!s->raw && !wide)) return NULL;
    if (s->n * (size_t)types[type].bytes < IM_LARGE) return NULL;
    if (!s->raw) typed(s->t, &p);
    return p;
}

static void check_type(struct im *m, const Onnx__TensorProto *t, size_t n, const char *what)
{
    const char *name;
    int32_t type = im_type(t->has_data_type ? t->data_type : 0, &name);
    if (type < 0 || (t->data_type == ONNX_DOUBLE && n > MAX_DOUBLES))
        im_refuse(m, "%s has type %s; convert the model to float32", what, name);
}

/* dims -> shape, with *n elements; 1 if the tensor is empty. */
static int read_dims(struct im *m, const Onnx__TensorProto *t, struct ig_shape *shape, const char *what)
{
    int empty = 0;
    if (t->n_dims > IG_MAX_RANK)
        im_refuse(m, "%s has %zu dimensions; at most %d are supported", what, t->n_dims, IG_MAX_RANK);
    for (size_t i = 0; i < t->n_dims; i++) {
        if (t->dims[i] < 0 || t->dims[i] > INT32_MAX)
            im_fail(m, "%s has a dimension of %lld", what, (long long)t->dims[i]);
        empty |= t->dims[i] == 0;
    }
    if (!empty) {
        *shape = im_make_shape(m, shape->type, (int32_t)t->n_dims, t->dims);
        return 0;
    }
    shape->rank = (int32_t)t->n_dims;
    for (int i = 0; i < IG_MAX_RANK; i++)
        shape->dims[i] = i < shape->rank ? (int32_t)t->dims[i] : 1;
    return 1;
}

static void note_narrow(struct im *m, int32_t v)
{
    struct im_narrow *n = im_alloc(m, sizeof *n);
    *n = (struct im_narrow){v, m->narrow};
    m->narrow = n;
}

int im_is_narrow(const struct im *m, int32_t v)
{
    const struct im_narrow *n = m->narrow;
    while (n && n->value != v) n = n->next;
    return n != NULL;
}

int32_t im_tensor(struct im *m, const Onnx__TensorProto *t, const char *name, const char *what)
{
    check_type(m, t, 0, what);
    struct ig_shape shape = {.type = types[t->data_type].graph};
    if (m->keep_half && t->data_type == ONNX_FLOAT16) shape.type = IG_F16;
    if (read_dims(m, t, &shape, what)) return im_empty(m, &shape);
    size_t n = (size_t)ig_count(&shape);
    check_type(m, t, n, what);
    struct source s = find_data(m, t, n, what);
    if (t->data_type == ONNX_FLOAT16 || t->data_type == ONNX_BFLOAT16) m->g->onnx_halves += (int64_t)n;
    const void *data = in_place(&s);
    if (!data) {
        void *made = ig_graph_alloc(m->g, (size_t)ig_bytes(&shape));
        convert(&s, shape.type, made);
        data = made;
    }
    int32_t v = ig_add_value(m->g, name, &shape);
    m->g->values[v].data = data;
    if (is_narrow(t->data_type)) note_narrow(m, v);
    return v;
}
