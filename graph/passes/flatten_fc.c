/*
 * A classifier's flatten: TRANSPOSE (channels-last to ONNX's order) + RESHAPE to [M,K] + FC. The weights are
 * permuted instead, so that the image is read as it lies. Element-wise functions between RESHAPE and FC do
 * not mind.
 */
#include "graph/late.h"
#include "graph/passes/edit.h"

#include <stdlib.h>
#include <string.h>

/* The node `op` that makes v for one reader only, or NULL. */
static struct ig_node *sole_producer(const struct ig_graph *g, int32_t v, enum ig_op op) {
    return edit_sole_reader(g, v) < 0 ? NULL : edit_producer(g, v, op);
}

/* 1 if flattening y = x under perm to `rows` rows leaves every element in its row. */
static int keeps_rows(const struct ig_shape *x, const int32_t *perm, int32_t rows) {
    if (rows == 1) return x->rank < IG_MAX_RANK;
    return x->rank > 0 && perm[0] == 0 && x->dims[0] == rows;
}

/* 1 if nobody else reads those bytes, under this name or another one. */
static int is_alone(const struct ig_graph *g, int32_t w) {
    if (!g->own_constants || ig_use_count(g, w) != 1 || ig_is_output(g, w)) return 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (v != w && g->values[v].data == g->values[w].data) return 0;
    return 1;
}

/* Row by row, so that large weights are not there twice. */
static void permute_in_place(const struct ig_shape *shape, const int32_t *perm, char *data) {
    struct ig_shape row = *shape;
    int32_t rows = row.dims[0];
    row.dims[0] = 1;
    size_t bytes = (size_t)ig_bytes(&row);
    char *copy = malloc(bytes);
    if (!copy) abort();
    for (int32_t i = 0; i < rows; i++, data += bytes) {
        memcpy(copy, data, bytes);
        edit_permute(&row, copy, perm, data);
    }
    free(copy);
}

/* The columns of weights w [N,K], K being the dims of y behind its rows, in the order in which x has them. */
static int32_t permuted_weights(struct ig_graph *g, int32_t w, const struct ig_shape *y, const int32_t *perm,
                                int32_t rows) {
    int first = rows == 1 ? 0 : 1; /* the first dim of y that is in K */
    const struct ig_shape old = g->values[w].shape;
    struct ig_shape from = {
        .type = IG_F32, .rank = y->rank - first + 1, .dims = {old.dims[0], 1, 1, 1, 1, 1, 1, 1}};
    int32_t back[IG_MAX_RANK] = {0};
    for (int i = first; i < y->rank; i++) {
        from.dims[1 + i - first] = y->dims[i];
        back[1 + perm[i] - first] = 1 + i - first;
    }
    struct ig_late *late = ig_late_of(g, g->values[w].data);
    if (late && !late->from.rank && !first && is_alone(g, w)) {
        late->from = from;
        memcpy(late->perm, back, sizeof back);
        return w;
    }
    ig_late_fetch(g, g->values[w].data);
    if (!first && is_alone(g, w)) {
        permute_in_place(&from, back, (char *)(uintptr_t)g->values[w].data);
        return w;
    }
    int32_t made = ig_add_const(g, g->values[w].name, &old, NULL);
    edit_permute(&from, g->values[w].data, back, (void *)(uintptr_t)g->values[made].data);
    return made;
}

static int rewrite(struct ig_graph *g, int32_t fc) {
    int32_t v = g->nodes[fc].in[0];
    struct ig_node *n;
    if (!edit_f32(g, g->nodes[fc].in[1])) return 0;
    while ((n = sole_producer(g, v, IG_UNARY)))
        v = n->in[0];
    struct ig_node *reshape = sole_producer(g, v, IG_RESHAPE);
    struct ig_node *transpose = reshape ? sole_producer(g, reshape->in[0], IG_TRANSPOSE) : NULL;
    if (!transpose) return 0;
    const struct ig_shape *x = &g->values[transpose->in[0]].shape, y = g->values[transpose->out[0]].shape;
    int32_t rows = g->values[reshape->out[0]].shape.dims[0];
    if (g->values[reshape->out[0]].shape.rank != 2 || !keeps_rows(x, transpose->attrs.transpose.perm, rows))
        return 0;
    g->nodes[fc].in[1] = permuted_weights(g, g->nodes[fc].in[1], &y, transpose->attrs.transpose.perm, rows);
    reshape->in[0] = transpose->in[0];
    edit_kill(transpose);
    return 1;
}

int ig_pass_flatten_fc(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].n_out && g->nodes[i].op == IG_FC) rewrites += rewrite(g, i);
    return edit_finish(g, rewrites);
}
