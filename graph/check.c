/* Well-formedness of a graph: everything that the passes, the planner and the kernels take for granted. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "graph/graph.h"

enum { MANY = INT32_MAX };

static const struct arity {
    int32_t min_in, max_in, max_out;
} arities[IG_OPS] = {
    [IG_CONV] = {2, 4, 1},
    [IG_DECONV] = {2, 4, 1},
    [IG_POOL] = {1, 5, 2},
    [IG_GLOBAL_POOL] = {1, 1, 1},
    [IG_LRN] = {1, 1, 1},
    [IG_RESIZE] = {1, 1, 1},
    [IG_CONV_INTEGER] = {2, 7, 1},
    [IG_QLINEAR_CONV] = {8, 9, 1},
    [IG_DEFORM_CONV] = {3, 5, 1},
    [IG_MAX_UNPOOL] = {2, 2, 1},
    [IG_ROI_ALIGN] = {3, 3, 1},
    [IG_GRID_SAMPLE] = {2, 2, 1},
    [IG_COL2IM] = {1, 1, 1},
    [IG_FC] = {2, 4, 1},
    [IG_MATMUL] = {2, 2, 1},
    [IG_MATMUL_INTEGER] = {2, 7, 1},
    [IG_QLINEAR_MATMUL] = {8, 8, 1},
    [IG_UNARY] = {1, 1, 1},
    [IG_BINARY] = {2, 2, 1},
    [IG_WHERE] = {3, 3, 1},
    [IG_CAST] = {1, 1, 1},
    [IG_QUANTIZE] = {2, 3, 1},
    [IG_DEQUANTIZE] = {2, 3, 1},
    [IG_DYNAMIC_QUANTIZE] = {1, 1, 3},
    [IG_EXTREMES] = {1, 1, 1},
    [IG_QLINEAR_BINARY] = {8, 8, 1},
    [IG_QLINEAR_AFFINE] = {4, 4, 1},
    [IG_LOOKUP] = {2, 2, 1},
    [IG_SOFTMAX] = {1, 1, 1},
    [IG_REDUCE] = {1, 1, 1},
    [IG_ARG] = {1, 1, 1},
    [IG_NORM] = {1, 3, 3},
    [IG_CUMSUM] = {1, 1, 1},
    [IG_TOPK] = {1, 1, 2},
    [IG_RECURRENT] = {2, 6, 3},
    [IG_RESHAPE] = {1, 1, 1},
    [IG_TRANSPOSE] = {1, 1, 1},
    [IG_CONCAT] = {1, MANY, 1},
    [IG_SLICE] = {1, 1, 1},
    [IG_PAD] = {1, 1, 1},
    [IG_EXPAND] = {1, 1, 1},
    [IG_TILE] = {1, 1, 1},
    [IG_GATHER] = {2, 2, 1},
    [IG_GATHER_ELEMENTS] = {2, 2, 1},
    [IG_GATHER_ND] = {2, 2, 1},
    [IG_SCATTER_ELEMENTS] = {3, 3, 1},
    [IG_SCATTER_ND] = {3, 3, 1},
    [IG_ONE_HOT] = {2, 2, 1},
    [IG_TRIU] = {1, 1, 1},
    [IG_COPY] = {1, 1, 1},
};

struct complaint {
    char *err;
    size_t bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct complaint *to, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(to->err, to->bytes, format, args);
    va_end(args);
    return -1;
}

static int check_shape(const struct ig_value *v, const struct complaint *to) {
    const struct ig_shape *s = &v->shape;
    int64_t n = 1;
    if (!ig_type_bytes(s->type)) return refuse(to, "value '%s': unknown type %d", v->name, s->type);
    if (s->rank < 0 || s->rank > IG_MAX_RANK) return refuse(to, "value '%s': rank %d", v->name, s->rank);
    for (int i = 0; i < IG_MAX_RANK; i++) {
        int bad = i < s->rank ? s->dims[i] < 1 : s->dims[i] != 1;
        if (bad) return refuse(to, "value '%s': dimension %d is %d", v->name, i, s->dims[i]);
        n *= s->dims[i];
        if (n > INT32_MAX) return refuse(to, "value '%s' has more than 2^31 elements", v->name);
    }
    return 0;
}

static int by_text(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int check_unique(const char **names, int32_t n, const char *what, const struct complaint *to) {
    qsort(names, (size_t)n, sizeof *names, by_text);
    for (int i = 1; i < n; i++)
        if (!strcmp(names[i - 1], names[i])) return refuse(to, "two %s are named '%s'", what, names[i]);
    return 0;
}

static int check_names(const struct ig_graph *g, const struct complaint *to) {
    int32_t most = g->n_nodes > g->n_values ? g->n_nodes : g->n_values;
    if (!most) return 0;
    const char **names = malloc((size_t)most * sizeof *names);
    if (!names) return refuse(to, "out of memory");
    for (int i = 0; i < g->n_values; i++)
        names[i] = g->values[i].name;
    int bad = check_unique(names, g->n_values, "values", to);
    for (int i = 0; i < g->n_nodes; i++)
        names[i] = g->nodes[i].name;
    if (!bad) bad = check_unique(names, g->n_nodes, "nodes", to);
    free(names);
    return bad;
}

static int check_values(const struct ig_graph *g, const struct complaint *to) {
    for (int i = 0; i < g->n_values; i++)
        if (!g->values[i].name) return refuse(to, "value %d has no name", i);
    for (int i = 0; i < g->n_nodes; i++)
        if (!g->nodes[i].name || !g->nodes[i].onnx) return refuse(to, "node %d has no name", i);
    for (int i = 0; i < g->n_values; i++)
        if (check_shape(&g->values[i], to)) return -1;
    return check_names(g, to);
}

static int check_list(const struct ig_graph *g, const int32_t *list, int32_t n, const char *what,
                      const struct complaint *to) {
    for (int i = 0; i < n; i++) {
        if (list[i] < 0 || list[i] >= g->n_values) return refuse(to, "graph %s %d: no such value", what, i);
        for (int k = 0; k < i; k++)
            if (list[k] == list[i])
                return refuse(to, "'%s' is a graph %s twice", g->values[list[i]].name, what);
    }
    return 0;
}

static int check_arity(const struct ig_node *n, const struct complaint *to) {
    const struct arity *a = &arities[n->op];
    const char *op = ig_op_info((enum ig_op)n->op)->name;
    if (n->n_in < a->min_in || n->n_in > a->max_in)
        return refuse(to, "node '%s' (%s): %d inputs", n->name, op, n->n_in);
    if (n->n_out < 1 || n->n_out > a->max_out)
        return refuse(to, "node '%s' (%s): %d outputs", n->name, op, n->n_out);
    return 0;
}

/* An optional input lies behind the required ones, or is a zero point between them. */
static int may_be_absent(const struct ig_node *n, int32_t k) {
    if (n->op == IG_CONCAT) return 0;
    return k >= arities[n->op].min_in;
}

static int check_inputs(const struct ig_graph *g, const struct ig_node *n, const char *known,
                        const struct complaint *to) {
    for (int k = 0; k < n->n_in; k++) {
        int32_t v = n->in[k];
        if (v < -1 || v >= g->n_values) return refuse(to, "node '%s': input %d: no such value", n->name, k);
        if (v < 0 && !may_be_absent(n, k)) return refuse(to, "node '%s': input %d is missing", n->name, k);
        if (v >= 0 && !known[v])
            return refuse(to, "node '%s' reads '%s', which no earlier node, input or constant gives", n->name,
                          g->values[v].name);
    }
    return 0;
}

static int check_outputs(const struct ig_graph *g, int32_t index, char *known, const struct complaint *to) {
    const struct ig_node *n = &g->nodes[index];
    int wanted = 0;
    for (int k = 0; k < n->n_out; k++) {
        int32_t v = n->out[k];
        if (v < -1 || v >= g->n_values) return refuse(to, "node '%s': output %d: no such value", n->name, k);
        if (v < 0) continue;
        if (known[v])
            return refuse(to, "node '%s' writes '%s', which is given already", n->name, g->values[v].name);
        if (g->values[v].producer != index)
            return refuse(to, "value '%s': producer is %d, should be %d", g->values[v].name,
                          g->values[v].producer, index);
        known[v] = 1;
        wanted++;
    }
    return wanted ? 0 : refuse(to, "node '%s' has no output", n->name);
}

static int check_flow(const struct ig_graph *g, char *known, const struct complaint *to) {
    for (int i = 0; i < g->n_inputs; i++)
        known[g->inputs[i]] = 1;
    for (int i = 0; i < g->n_values; i++) {
        const struct ig_value *v = &g->values[i];
        if (v->data && known[i]) return refuse(to, "graph input '%s' is a constant", v->name);
        if (v->data) known[i] = 1;
        if (known[i] && v->producer != -1)
            return refuse(to, "value '%s' has a producer but needs none", v->name);
    }
    for (int i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        if (n->op < 0 || n->op >= IG_OPS) return refuse(to, "node '%s': unknown op %d", n->name, n->op);
        if (check_arity(n, to) || check_inputs(g, n, known, to) || check_outputs(g, i, known, to)) return -1;
        if (ig_check_attrs(g, n, to->err, to->bytes)) return -1;
    }
    for (int i = 0; i < g->n_outputs; i++)
        if (!known[g->outputs[i]])
            return refuse(to, "nothing gives output '%s'", g->values[g->outputs[i]].name);
    return 0;
}

int ig_graph_check(const struct ig_graph *g, char *err, size_t err_bytes) {
    const struct complaint to = {err, err_bytes};
    if (check_values(g, &to) || check_list(g, g->inputs, g->n_inputs, "input", &to) ||
        check_list(g, g->outputs, g->n_outputs, "output", &to))
        return -1;
    char *known = calloc((size_t)g->n_values + 1, 1);
    if (!known) return refuse(&to, "out of memory");
    int bad = check_flow(g, known, &to);
    free(known);
    return bad;
}
