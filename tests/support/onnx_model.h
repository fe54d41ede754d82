/* ONNX models in memory, for tests: one line an input, an initializer, a node or an attribute. */
#ifndef TESTS_SUPPORT_ONNX_MODEL_H
#define TESTS_SUPPORT_ONNX_MODEL_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "graph/graph.h"
#include "graph/onnx.pb-c.h"
#include "kernels_cpu/eval.h"

#define LIST(...)                                                                                            \
    (int)(sizeof((int64_t[]){__VA_ARGS__}) / 8), (const int64_t[])                                           \
    {                                                                                                        \
        __VA_ARGS__                                                                                          \
    }
#define NO_DIMS 0, NULL

enum {
    M_FLOAT = 1,
    M_UINT8 = 2,
    M_INT8 = 3,
    M_INT32 = 6,
    M_INT64 = 7,
    M_BOOL = 9,
    M_FLOAT16 = 10,
    M_DOUBLE = 11,
    M_BFLOAT16 = 16
};

struct m_block {
    struct m_block *next;
};

struct m_model {
    Onnx__ModelProto pb;
    Onnx__GraphProto graph;
    struct m_block *memory;
    uint8_t *bytes; /* after m_pack */
    size_t n_bytes;
};

static inline void *m_alloc(struct m_model *m, size_t bytes)
{
    struct m_block *b = calloc(1, sizeof *b + 8 + bytes);
    if (!b) abort();
    b->next = m->memory;
    m->memory = b;
    return b + 1;
}

static inline char *m_text(struct m_model *m, const char *s)
{
    return strcpy(m_alloc(m, strlen(s) + 1), s);
}

/* list[n] = item, in a bigger list. */
static inline void *m_append(struct m_model *m, void *list, size_t *n, void *item)
{
    void **bigger = m_alloc(m, (*n + 1) * sizeof *bigger);
    if (list) memcpy(bigger, list, *n * sizeof *bigger);
    bigger[(*n)++] = item;
    return bigger;
}

static inline void m_opset(struct m_model *m, const char *domain, int64_t version)
{
    Onnx__OperatorSetIdProto *o = m_alloc(m, sizeof *o);
    onnx__operator_set_id_proto__init(o);
    o->domain = m_text(m, domain);
    o->has_version = 1;
    o->version = version;
    m->pb.opset_import = m_append(m, m->pb.opset_import, &m->pb.n_opset_import, o);
}

static inline void m_init(struct m_model *m, int64_t opset)
{
    memset(m, 0, sizeof *m);
    onnx__model_proto__init(&m->pb);
    onnx__graph_proto__init(&m->graph);
    m->pb.graph = &m->graph;
    m->pb.has_ir_version = 1;
    m->pb.ir_version = 8;
    m_opset(m, "", opset);
}

static inline void m_free(struct m_model *m)
{
    for (struct m_block *b = m->memory, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    free(m->bytes);
}

static inline void m_pack(struct m_model *m)
{
    free(m->bytes);
    m->n_bytes = onnx__model_proto__get_packed_size(&m->pb);
    m->bytes = malloc(m->n_bytes + 1);
    if (!m->bytes) abort();
    onnx__model_proto__pack(&m->pb, m->bytes);
}

/* A graph input or output; a dim of 0 is symbolic: "d<index>". */
static inline Onnx__ValueInfoProto *m_info(struct m_model *m, const char *name, int type, int rank,
                                           const int64_t *dims)
{
    Onnx__ValueInfoProto *info = m_alloc(m, sizeof *info);
    Onnx__TypeProto *t = m_alloc(m, sizeof *t);
    Onnx__TypeProto__Tensor *tensor = m_alloc(m, sizeof *tensor);
    Onnx__TensorShapeProto *shape = m_alloc(m, sizeof *shape);
    onnx__value_info_proto__init(info);
    onnx__type_proto__init(t);
    onnx__type_proto__tensor__init(tensor);
    onnx__tensor_shape_proto__init(shape);
    info->name = m_text(m, name);
    info->type = t;
    t->tensor_type = tensor;
    tensor->has_elem_type = 1;
    tensor->elem_type = type;
    tensor->shape = shape;
    for (int i = 0; i < rank; i++) {
        Onnx__TensorShapeProto__Dimension *d = m_alloc(m, sizeof *d);
        onnx__tensor_shape_proto__dimension__init(d);
        d->has_dim_value = dims[i] != 0;
        d->dim_value = dims[i];
        if (!dims[i]) {
            d->dim_param = m_text(m, "d0");
            d->dim_param[1] = (char)('0' + i);
        }
        shape->dim = m_append(m, shape->dim, &shape->n_dim, d);
    }
    return info;
}

static inline Onnx__ValueInfoProto *m_input(struct m_model *m, const char *name, int type, int rank,
                                            const int64_t *dims)
{
    Onnx__ValueInfoProto *info = m_info(m, name, type, rank, dims);
    m->graph.input = m_append(m, m->graph.input, &m->graph.n_input, info);
    return info;
}

/* An output of unknown type and shape. */
static inline Onnx__ValueInfoProto *m_output(struct m_model *m, const char *name)
{
    Onnx__ValueInfoProto *info = m_info(m, name, 0, NO_DIMS);
    info->type = NULL;
    m->graph.output = m_append(m, m->graph.output, &m->graph.n_output, info);
    return info;
}

/* A tensor with raw data (NULL: none). */
static inline Onnx__TensorProto *m_tensor(struct m_model *m, const char *name, int type, int rank,
                                          const int64_t *dims, const void *data, size_t bytes)
{
    Onnx__TensorProto *t = m_alloc(m, sizeof *t);
    onnx__tensor_proto__init(t);
    t->name = m_text(m, name);
    t->has_data_type = 1;
    t->data_type = type;
    t->n_dims = (size_t)rank;
    t->dims = m_alloc(m, (size_t)rank * sizeof *t->dims);
    if (rank) memcpy(t->dims, dims, (size_t)rank * sizeof *dims);
    t->has_raw_data = data != NULL;
    t->raw_data.len = data ? bytes : 0;
    t->raw_data.data = m_alloc(m, bytes);
    if (data) memcpy(t->raw_data.data, data, bytes);
    return t;
}

static inline void m_add_initializer(struct m_model *m, Onnx__TensorProto *t)
{
    m->graph.initializer = m_append(m, m->graph.initializer, &m->graph.n_initializer, t);
}

/* f32 initializer with elements 0.5, 1.5, 2.5, ... */
static inline void m_weights(struct m_model *m, const char *name, int rank, const int64_t *dims)
{
    size_t n = 1;
    for (int i = 0; i < rank; i++)
        n *= (size_t)dims[i];
    float *data = m_alloc(m, n * sizeof *data);
    for (size_t i = 0; i < n; i++)
        data[i] = (float)i + 0.5f;
    m_add_initializer(m, m_tensor(m, name, M_FLOAT, rank, dims, data, n * sizeof *data));
}

/* 1-D i64 initializer */
static inline void m_ints(struct m_model *m, const char *name, int n, const int64_t *list)
{
    m_add_initializer(
        m, m_tensor(m, name, M_INT64, 1, (int64_t[]){n}, n ? (const void *)list : "", (size_t)n * 8));
}

/* Appends the comma-separated names; "" for none, ",b" for an absent first one. */
static inline char **m_names(struct m_model *m, const char *names, size_t *n)
{
    char **list = NULL;
    if (!*names) return NULL;
    for (char *p = m_text(m, names), *comma; p; p = comma ? comma + 1 : NULL) {
        comma = strchr(p, ',');
        if (comma) *comma = 0;
        list = m_append(m, list, n, p);
    }
    return list;
}

/* A node that belongs to no graph yet: of a function. */
static inline Onnx__NodeProto *m_loose_node(struct m_model *m, const char *op, const char *in,
                                            const char *out)
{
    Onnx__NodeProto *n = m_alloc(m, sizeof *n);
    onnx__node_proto__init(n);
    n->op_type = m_text(m, op);
    n->input = m_names(m, in, &n->n_input);
    n->output = m_names(m, out, &n->n_output);
    return n;
}

static inline Onnx__NodeProto *m_node(struct m_model *m, const char *op, const char *in, const char *out)
{
    Onnx__NodeProto *n = m_loose_node(m, op, in, out);
    m->graph.node = m_append(m, m->graph.node, &m->graph.n_node, n);
    return n;
}

static inline Onnx__AttributeProto *m_attr(struct m_model *m, Onnx__NodeProto *n, const char *name, int type)
{
    Onnx__AttributeProto *a = m_alloc(m, sizeof *a);
    onnx__attribute_proto__init(a);
    a->name = m_text(m, name);
    a->has_type = 1;
    a->type = type;
    if (n) n->attribute = m_append(m, n->attribute, &n->n_attribute, a);
    return a;
}

static inline void m_attr_i(struct m_model *m, Onnx__NodeProto *n, const char *name, int64_t v)
{
    Onnx__AttributeProto *a = m_attr(m, n, name, 2);
    a->has_i = 1;
    a->i = v;
}

static inline void m_attr_f(struct m_model *m, Onnx__NodeProto *n, const char *name, float v)
{
    Onnx__AttributeProto *a = m_attr(m, n, name, 1);
    a->has_f = 1;
    a->f = v;
}

static inline void m_attr_s(struct m_model *m, Onnx__NodeProto *n, const char *name, const char *v)
{
    Onnx__AttributeProto *a = m_attr(m, n, name, 3);
    a->has_s = 1;
    a->s.len = strlen(v);
    a->s.data = (uint8_t *)m_text(m, v);
}

static inline void m_attr_ints(struct m_model *m, Onnx__NodeProto *n, const char *name, int count,
                               const int64_t *list)
{
    Onnx__AttributeProto *a = m_attr(m, n, name, 7);
    a->n_ints = (size_t)count;
    a->ints = m_alloc(m, (size_t)count * 8);
    memcpy(a->ints, list, (size_t)count * 8);
}

static inline void m_attr_t(struct m_model *m, Onnx__NodeProto *n, const char *name, Onnx__TensorProto *t)
{
    m_attr(m, n, name, 4)->t = t;
}

/* A branch of an If, `name` being then_branch or else_branch, with those outputs, whose nodes are still to come. */
static inline Onnx__GraphProto *m_branch(struct m_model *m, Onnx__NodeProto *n, const char *name, const char *outputs)
{
    Onnx__GraphProto *g = m_alloc(m, sizeof *g);
    size_t count = 0;
    char **names = m_names(m, outputs, &count);
    onnx__graph_proto__init(g);
    for (size_t i = 0; i < count; i++) {
        Onnx__ValueInfoProto *out = m_alloc(m, sizeof *out);
        onnx__value_info_proto__init(out);
        out->name = names[i];
        g->output = m_append(m, g->output, &g->n_output, out);
    }
    m_attr(m, n, name, 5)->g = g;
    return g;
}

static inline Onnx__NodeProto *m_node_of(struct m_model *m, Onnx__GraphProto *g, const char *op, const char *in, const char *out)
{
    Onnx__NodeProto *n = m_loose_node(m, op, in, out);
    g->node = m_append(m, g->node, &g->n_node, n);
    return n;
}

/* Imports the model, folding with the reference kernels; a graph must be well-formed. NULL: see `err`. */
static inline struct ig_graph *m_import(struct m_model *m, struct ig_import_options options, char *err,
                                        size_t err_bytes)
{
    char why[256];
    options.eval = ig_ref_eval;
    m_pack(m);
    struct ig_graph *g = ig_import_bytes("net.onnx", m->bytes, m->n_bytes, &options, err, err_bytes);
    if (g) assert_int_equal(ig_graph_check(g, why, sizeof why), 0);
    return g;
}

/* Value v of g has these dims. */
static inline void m_check_shape(const struct ig_graph *g, int32_t v, int rank, const int64_t *dims)
{
    const struct ig_shape *s = &g->values[v].shape;
    assert_int_equal(s->rank, rank);
    for (int i = 0; i < rank; i++)
        assert_int_equal(s->dims[i], dims[i]);
}

#endif
