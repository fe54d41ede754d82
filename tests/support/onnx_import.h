/* Tests of whole models: imported with options, or refused in words. */
#ifndef TESTS_SUPPORT_ONNX_IMPORT_H
#define TESTS_SUPPORT_ONNX_IMPORT_H

#include "tests/support/onnx_model.h"

static char err[IG_ERROR_BYTES];

static inline struct ig_graph *import_with(struct m_model *m, struct ig_import_options options)
{
    return m_import(m, options, err, sizeof err);
}

static inline struct ig_graph *import(struct m_model *m)
{
    struct ig_graph *g = import_with(m, (struct ig_import_options){0});
    if (!g) fail_msg("%s", err);
    return g;
}

static inline void refuse_with(struct m_model *m, struct ig_import_options options, const char *part)
{
    struct ig_graph *g = import_with(m, options);
    assert_null(g);
    if (!strstr(err, part)) fail_msg("'%s' is not in '%s'", part, err);
    m_free(m);
}

static inline void refuse(struct m_model *m, const char *part)
{
    refuse_with(m, (struct ig_import_options){0}, part);
}

/* x [1,2,4,4] -> Relu -> y */
static inline void small(struct m_model *m)
{
    m_init(m, 17);
    m_input(m, "x", M_FLOAT, LIST(1, 2, 4, 4));
    m_node(m, "Relu", "x", "y");
    m_output(m, "y");
}

#endif
