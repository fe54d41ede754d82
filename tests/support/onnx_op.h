/* Tests of one operator a model: built, imported, looked at. */
#ifndef TESTS_SUPPORT_ONNX_OP_H
#define TESTS_SUPPORT_ONNX_OP_H

#include "tests/support/onnx_model.h"

static char err[IG_ERROR_BYTES];
static struct m_model m;

/* The model as built so far, its last node's outputs being the graph's. */
static inline struct ig_graph *import(void)
{
    const Onnx__NodeProto *last = m.graph.node[m.graph.n_node - 1];
    for (size_t i = 0; i < last->n_output; i++)
        m_output(&m, last->output[i]);
    struct ig_graph *g = m_import(&m, (struct ig_import_options){0}, err, sizeof err);
    m_free(&m);
    return g;
}

static inline struct ig_graph *must_import(void)
{
    struct ig_graph *g = import();
    if (!g) fail_msg("%s", err);
    return g;
}

static inline void must_refuse(const char *part)
{
    assert_null(import());
    if (!strstr(err, part)) fail_msg("'%s' is not in '%s'", part, err);
}

/* A model of that opset whose input x is f32 of these dims, and its first node. */
static inline Onnx__NodeProto *begin(int64_t opset, int rank, const int64_t *dims, const char *op, const char *in,
                                     const char *out)
{
    m_init(&m, opset);
    m_input(&m, "x", M_FLOAT, rank, dims);
    return m_node(&m, op, in, out);
}

static inline void check_output(const struct ig_graph *g, int i, int rank, const int64_t *dims)
{
    m_check_shape(g, g->outputs[i], rank, dims);
}

static inline void check_ops(const struct ig_graph *g, int n, const int32_t *ops)
{
    assert_int_equal(g->n_nodes, n);
    for (int i = 0; i < n; i++)
        assert_int_equal(g->nodes[i].op, ops[i]);
}

#define OPS(...) (int)(sizeof((const int32_t[]){__VA_ARGS__}) / 4), ((const int32_t[]){__VA_ARGS__})

#endif
