#include "planner/deploy/part_profile.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/costs.h"

static int32_t find_node(const struct ig_graph *g, const char *name)
{
    int32_t i = g->n_nodes - 1;
    while (i >= 0 && strcmp(g->nodes[i].name, name)) i--;
    return i;
}

static const struct ig_shape *made_by(const struct ig_graph *g, int32_t node)
{
    return &g->values[g->nodes[node].out[0]].shape;
}

/* A part's share of what the whole's timing cuts: rows or channels, in `chunk`s of the kernel's tile. */
static int32_t chunk_of(const struct ig_timing *t, const struct ig_shape *part, const struct ig_shape *all)
{
    int32_t tile = t->split == 1 ? t->kernel->row_tile : t->kernel->col_tile;
    double share = (double)part->dims[part->rank - 1] / all->dims[all->rank - 1];
    if (t->split == 1) share = (double)ig_count(part) / (double)ig_count(all) / share;
    if (!t->split || tile < 1) return t->chunk;
    int32_t tiles = (int32_t)(t->chunk * share / tile + .999);
    return (tiles > 1 ? tiles : 1) * tile;
}

struct ends {
    const struct ig_graph *prepared, *split;
    int32_t *at;  /* [prepared->n_nodes] of `split`, where it is whole; -1: in pieces, or a view's copy */
};

static void keep_bands(const struct ig_profile *of, const struct ends *e, struct ig_profile *to)
{
    for (int32_t i = 0; i < of->n_bands; i++) {
        struct ig_band_timing t = of->bands[i];
        int32_t first = e->at[t.first], whole = first >= 0;
        for (int32_t k = t.first; k <= t.last; k++) whole &= e->at[k] == first + k - t.first;
        t.last = first + t.last - t.first;
        t.first = first;
        if (whole) to->bands[to->n_bands++] = t;
    }
}

static void add_timings(const struct ig_profile *of, const struct ends *e, int32_t whole, int32_t node,
                        struct ig_profile *to)
{
    const struct ig_node *n = &e->split->nodes[node];
    double share = ig_node_work(e->split, n) / ig_node_work(e->prepared, &e->prepared->nodes[whole]);
    for (int32_t i = 0; i < of->n; i++) {
        struct ig_timing t = of->timings[i];
        if (t.node != whole) continue;
        t.node = node;
        if (e->at[whole] != node) {
            t.chunk = chunk_of(&t, made_by(e->split, node), made_by(e->prepared, whole));
            t.alone_ns *= share;
            t.in_order_ns *= share;
        }
        to->timings[to->n++] = t;
    }
}

struct ig_profile *ig_split_profile(const struct ig_profile *of, const struct ig_graph *prepared,
                                    const struct ig_graph *before, const struct ig_graph *split, const int32_t *whole)
{
    struct ig_profile *to = ig_must_alloc(1, sizeof *to);
    struct ends e = {prepared, split, ig_must_alloc((size_t)prepared->n_nodes, sizeof *e.at)};
    int32_t *from = ig_must_alloc((size_t)split->n_nodes, sizeof *from);
    size_t n = 0;
    for (int32_t i = 0; i < prepared->n_nodes; i++) e.at[i] = -1;
    for (int32_t i = 0; i < split->n_nodes; i++) {
        const char *name = whole[i] < 0 ? NULL : before->nodes[whole[i]].name;
        from[i] = name ? find_node(prepared, name) : -1;
        if (from[i] >= 0 && !strcmp(name, split->nodes[i].name)) e.at[from[i]] = i;
        for (int32_t k = 0; k < of->n; k++) n += of->timings[k].node == from[i];
    }
    *to = *of;
    to->sha256 = ig_copy_text(of->sha256);
    to->graph_sha256 = ig_copy_text(of->graph_sha256);
    to->cpu = ig_copy_text(of->cpu);
    to->isa = ig_copy_text(of->isa);
    to->timings = ig_must_alloc(n + 1, sizeof *to->timings);
    to->bands = ig_must_alloc((size_t)of->n_bands + 1, sizeof *to->bands);
    to->n = to->n_bands = 0;
    for (int32_t i = 0; i < split->n_nodes; i++)
        if (from[i] >= 0) add_timings(of, &e, from[i], i, to);
    keep_bands(of, &e, to);
    free(from);
    free(e.at);
    return to;
}
