/* The versions of each logical value, and how a missing one is made. */
#include "graph/passes/layout.h"

#include <string.h>

#include "graph/passes/edit.h"

void layout_identity(int32_t rank, int32_t *perm) {
    for (int i = 0; i < rank; i++)
        perm[i] = i;
}

void layout_channels_last(int32_t rank, int32_t *perm) {
    layout_identity(rank, perm);
    if (rank < 3) return;
    for (int i = 1; i < rank - 1; i++)
        perm[i] = i + 1;
    perm[rank - 1] = 1;
}

int layout_same(int32_t rank, const int32_t *a, const int32_t *b) {
    return !rank || !memcmp(a, b, (size_t)rank * sizeof *a);
}

void layout_add(struct layout *l, int32_t v, int32_t value, const int32_t *perm) {
    struct layout_version *version = ig_graph_alloc(l->g, sizeof *version), **end = &l->of[v].versions;
    version->value = value;
    memcpy(version->perm, perm, (size_t)l->of[v].shape.rank * sizeof *perm);
    while (*end)
        end = &(*end)->next;
    *end = version;
}

void layout_define(struct layout *l, int32_t v, const int32_t *perm) {
    l->g->values[v].shape = edit_permuted_shape(&l->of[v].shape, perm);
    layout_add(l, v, v, perm);
}

/* 1 if a tensor of logical shape s has the same bytes in both orders: they differ in dims of size 1 only. */
static int same_bytes(const struct ig_shape *s, const int32_t *a, const int32_t *b) {
    for (int i = 0, k = 0;; i++, k++) {
        while (i < s->rank && s->dims[a[i]] == 1)
            i++;
        while (k < s->rank && s->dims[b[k]] == 1)
            k++;
        if (i == s->rank || k == s->rank) return i == k;
        if (a[i] != b[k]) return 0;
    }
}

/* Tensor x under the permutation p: a view, a permuted constant, or a TRANSPOSE. */
static int32_t permuted(struct ig_graph *g, int32_t x, const int32_t *p, const char *name) {
    struct ig_shape from = g->values[x].shape, to = edit_permuted_shape(&from, p);
    if (edit_keeps_order(&from, p)) return edit_reshaped(g, x, &to);
    if (ig_is_const(g, x)) {
        int32_t y = ig_add_const(g, name, &to, NULL);
        edit_permute(&from, g->values[x].data, p, (void *)(uintptr_t)g->values[y].data);
        return y;
    }
    int32_t y = edit_append(g, name, IG_TRANSPOSE, x, &to);
    memcpy(edit_last(g)->attrs.transpose.perm, p, (size_t)from.rank * sizeof *p);
    return y;
}

static struct layout_version *find(const struct layout *l, int32_t v, const int32_t *perm) {
    const struct ig_shape *s = &l->of[v].shape;
    struct layout_version *alike = NULL;
    for (struct layout_version *x = l->of[v].versions; x; x = x->next) {
        if (layout_same(s->rank, x->perm, perm)) return x;
        if (!alike && same_bytes(s, x->perm, perm)) alike = x;
    }
    return alike;
}

int32_t layout_demand(struct layout *l, int32_t v, const int32_t *perm) {
    const struct layout_version *from = find(l, v, perm);
    int32_t rank = l->of[v].shape.rank, step[IG_MAX_RANK] = {0}, plain[IG_MAX_RANK];
    char name[512];
    if (from && layout_same(rank, from->perm, perm)) return from->value;
    if (!from) {
        from = l->of[v].versions;
        l->changes++;
    }
    for (int i = 0; i < rank; i++)
        while (from->perm[step[i]] != perm[i])
            step[i]++;
    layout_identity(rank, plain);
    snprintf(name, sizeof name, "%.480s_%s", l->g->values[v].name,
             layout_same(rank, perm, plain) ? "plain" : "permuted");
    int32_t value = permuted(l->g, from->value, step, name);
    layout_add(l, v, value, perm);
    return value;
}

int32_t layout_demand_plain(struct layout *l, int32_t v) {
    int32_t perm[IG_MAX_RANK];
    layout_identity(IG_MAX_RANK, perm);
    return v < 0 ? -1 : layout_demand(l, v, perm);
}

int32_t layout_demand_broadcast(struct layout *l, int32_t v, int32_t rank, const int32_t *perm) {
    struct ig_graph *g = l->g;
    const struct ig_shape s = l->of[v].shape;
    struct ig_shape padded = {.type = s.type, .rank = rank};
    int32_t plain[IG_MAX_RANK];
    layout_identity(rank, plain);
    if (s.rank == rank) return layout_demand(l, v, perm);
    if (ig_count(&s) == 1 || layout_same(rank, perm, plain)) return layout_demand_plain(l, v);
    for (int i = 0; i < IG_MAX_RANK; i++)
        padded.dims[i] = 1;
    for (int i = 0; i < s.rank; i++)
        padded.dims[rank - s.rank + i] = s.dims[i];
    return permuted(g, edit_reshaped(g, layout_demand_plain(l, v), &padded), perm, g->values[v].name);
}

int64_t layout_cost(const struct layout *l, int32_t v, const int32_t *perm) {
    const struct layout_logical *x = &l->of[v];
    if (find(l, v, perm) || ig_is_const(l->g, x->versions->value)) return 0;
    return ig_bytes(&x->shape);
}
