/*
 * Two transpositions with a reshape between them are one where the reshape only splits dims, or only joins neighbouring ones: as depth to
 * space of pixels with their channels last is, whose result becomes an image with its channels first.
 */
#include <string.h>

#include "graph/passes/edit.h"

enum { MOST = 8 /* dims */ };

/* fine's dims from first[d] to first[d + 1] make up dim d of coarse; 0 if they do not. */
static int parts_of(const struct ig_shape *fine, const struct ig_shape *coarse, int32_t first[MOST + 1]) {
    int32_t i = 0;
    for (int32_t d = 0; d < coarse->rank; d++) {
        int64_t n = 1;
        for (first[d] = i; n < coarse->dims[d] && i < fine->rank; i++) n *= fine->dims[i];
        if (n != coarse->dims[d]) return 0;
    }
    while (i < fine->rank && fine->dims[i] == 1) i++;
    first[coarse->rank] = i;
    return i == fine->rank && fine->rank <= MOST;
}

/* `node` reads, in place of what it read, x transposed and then seen as what it makes. */
static void put_joined(struct ig_graph *g, int32_t node, int32_t x, const int32_t *perm) {
    const struct ig_shape shape = edit_permuted_shape(&g->values[x].shape, perm);
    int32_t y = edit_append(g, "transposed", IG_TRANSPOSE, x, &shape);
    memcpy(edit_last(g)->attrs.transpose.perm, perm, (size_t)shape.rank * sizeof *perm);
    edit_become(g, node, IG_RESHAPE, 1, &y);
}

/* The reshape joins dims that the first transposition has made: the second moves their parts along. */
static int join(struct ig_graph *g, int32_t node, const struct ig_node *first, int32_t between) {
    int32_t part[MOST + 1], perm[MOST] = {0}, n = 0;
    const int32_t *last = g->nodes[node].attrs.transpose.perm;
    const struct ig_shape *coarse = &g->values[between].shape;
    if (!parts_of(&g->values[first->out[0]].shape, coarse, part)) return 0;
    for (int32_t d = 0; d < coarse->rank; d++)
        for (int32_t i = part[last[d]]; i < part[last[d] + 1]; i++) perm[n++] = first->attrs.transpose.perm[i];
    put_joined(g, node, first->in[0], perm);
    return 1;
}

/* It splits such dims: they may as well be split before. */
static int split(struct ig_graph *g, int32_t node, const struct ig_node *first, int32_t between) {
    int32_t part[MOST + 1], place[MOST], perm[MOST] = {0};
    const struct ig_shape *coarse = &g->values[first->out[0]].shape, *fine = &g->values[between].shape;
    struct ig_shape shape = *fine;
    if (!parts_of(fine, coarse, part)) return 0;
    for (int32_t d = 0, n = 0; d < coarse->rank; d++) { /* dim d of what is transposed first */
        int32_t i = 0;
        while (first->attrs.transpose.perm[i] != d) i++;
        for (int32_t k = part[i]; k < part[i + 1]; k++, n++) shape.dims[n] = fine->dims[k], place[k] = n;
    }
    for (int32_t k = 0; k < fine->rank; k++) perm[k] = place[g->nodes[node].attrs.transpose.perm[k]];
    int32_t x = edit_reshaped(g, first->in[0], &shape);
    edit_become(g, node, IG_TRANSPOSE, 1, &x);
    memcpy(g->nodes[node].attrs.transpose.perm, perm, (size_t)fine->rank * sizeof *perm);
    return 1;
}

static int rewrite(struct ig_graph *g, int32_t node) {
    int32_t between = g->nodes[node].in[0];
    const struct ig_node *reshape = g->nodes[node].op == IG_TRANSPOSE ? edit_producer(g, between, IG_RESHAPE) : NULL;
    if (!reshape || edit_sole_reader(g, between) < 0 || edit_sole_reader(g, reshape->in[0]) < 0) return 0;
    const struct ig_node *producer = edit_producer(g, reshape->in[0], IG_TRANSPOSE);
    if (!producer) return 0;
    const struct ig_node first = *producer; /* nodes move when there are more */
    return join(g, node, &first, between) || split(g, node, &first, between);
}

int ig_pass_transposes(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0, n = g->n_nodes; i < n; i++)
        if (g->nodes[i].n_out) rewrites += rewrite(g, i);
    return edit_finish(g, rewrites);
}
