/* The placement of an application's edges in one arena: stages that run at the same time are stacked, the rest shares
 * one timeline. */
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/app.h"
#include "planner/plan.h"

static int64_t aligned(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}


/*
 * Partitions that run at the same time, directly or through others, are a cluster. Clusters run in turn; one of
 * several partitions takes one step of the timeline, in which its block is held.
 */
struct layout {
    const struct ig_app *a;
    int32_t data_bytes;
    int32_t *cluster;        /* [n_partitions] its least partition */
    int32_t *members;        /* [n_partitions] of the cluster that this is the least of */
    int32_t *at;             /* [n_partitions] first step on the timeline */
    int64_t *inner;          /* [n_edges] offset within the cluster's block */
    int64_t *block;          /* [n_partitions] bytes of the cluster's block */
    int64_t *needed;         /* [n_partitions] its lower bound */
};

static void find_clusters(struct layout *l)
{
    const struct ig_app *a = l->a;
    for (int32_t p = 0; p < a->n_partitions; p++) l->cluster[p] = p;
    for (int32_t p = 0; p < a->n_partitions; p++)
        for (int32_t q = 0; q < p; q++) {
            if (!a->concurrent[p * a->n_partitions + q] || l->cluster[p] == l->cluster[q]) continue;
            int32_t x = l->cluster[p], y = l->cluster[q], least = x < y ? x : y, other = x < y ? y : x;
            for (int32_t r = 0; r < a->n_partitions; r++)
                if (l->cluster[r] == other) l->cluster[r] = least;
        }
    for (int32_t p = 0; p < a->n_partitions; p++) l->members[l->cluster[p]]++;
    for (int32_t p = 0, step = 0; p < a->n_partitions; p++) {
        l->at[p] = l->at[l->cluster[p]];
        if (l->cluster[p] != p) continue;
        l->at[p] = step;
        step += l->members[p] > 1 ? 1 : a->steps[p];
    }
}

static int32_t cluster_of_layer(const struct layout *l, int32_t layer)
{
    return l->cluster[l->a->layers[layer].partition];
}

/* Does the edge lie wholly inside a cluster of several partitions? */
static int is_inside(const struct layout *l, int32_t e)
{
    int32_t c = cluster_of_layer(l, l->a->edges[e].from);
    return l->members[c] > 1 && c == cluster_of_layer(l, l->a->edges[e].to);
}

static int64_t edge_bytes(const struct layout *l, int32_t e)
{
    return ig_app_edge_elements(l->a, e) * l->data_bytes;
}

/* An edge's life in its partition's own steps; a slot's is the whole frame. */
static struct ig_pack_item own_item(const struct layout *l, int32_t e)
{
    const struct ig_app_layer *from = &l->a->layers[l->a->edges[e].from], *to = &l->a->layers[l->a->edges[e].to];
    return (struct ig_pack_item){from->first, to->last + 1, edge_bytes(l, e), 0};
}

/* Packs the edges within partition p on top of the cluster's block. */
static void add_stage(struct layout *l, int32_t p)
{
    const struct ig_app *a = l->a;
    int32_t c = l->cluster[p], n = 0;
    struct ig_pack_item *items = ig_must_alloc((size_t)a->n_edges, sizeof *items);
    int32_t *edge = ig_must_alloc((size_t)a->n_edges, sizeof *edge);
    for (int32_t e = 0; e < a->n_edges; e++) {
        if (a->layers[a->edges[e].from].partition != p || a->layers[a->edges[e].to].partition != p) continue;
        edge[n] = e;
        items[n++] = own_item(l, e);
    }
    int64_t base = aligned(l->block[c]);
    struct ig_pack_result r = ig_pack_offsets(items, n);
    for (int32_t i = 0; i < n; i++) l->inner[edge[i]] = base + items[i].offset;
    if (r.height) l->block[c] = base + r.height;
    if (r.height) l->needed[c] = aligned(l->needed[c]) + r.max_live;
    free(items);
    free(edge);
}

/* Edges between two stages are slots: each has its bytes to itself. */
static void add_slots(struct layout *l)
{
    const struct ig_app *a = l->a;
    for (int32_t e = 0; e < a->n_edges; e++) {
        int32_t c = cluster_of_layer(l, a->edges[e].from);
        if (!is_inside(l, e) || a->layers[a->edges[e].from].partition == a->layers[a->edges[e].to].partition)
            continue;
        l->inner[e] = aligned(l->block[c]);
        l->block[c] = l->inner[e] + edge_bytes(l, e);
        l->needed[c] = aligned(l->needed[c]) + edge_bytes(l, e);
    }
}

/* An edge that is not inside a cluster of several: from its writer's step to its reader's. */
static struct ig_pack_item timeline_item(const struct layout *l, int32_t e)
{
    const struct ig_app_layer *from = &l->a->layers[l->a->edges[e].from], *to = &l->a->layers[l->a->edges[e].to];
    int32_t first = l->at[from->partition], last = l->at[to->partition];
    if (l->members[l->cluster[from->partition]] == 1) first += from->first;
    if (l->members[l->cluster[to->partition]] == 1) last += to->last;
    return (struct ig_pack_item){first, last + 1, edge_bytes(l, e), 0};
}

/* Bytes that the worst block is above its own bound: nothing, where every stage meets it. */
static int64_t most_waste(const struct layout *l)
{
    int64_t most = 0;
    for (int32_t c = 0; c < l->a->n_partitions; c++)
        if (l->block[c] - l->needed[c] > most) most = l->block[c] - l->needed[c];
    return most;
}

static int64_t pack_timeline(struct layout *l, int64_t *offset, int64_t *bound)
{
    const struct ig_app *a = l->a;
    size_t room = (size_t)(a->n_edges + a->n_partitions);
    struct ig_pack_item *items = ig_must_alloc(room, sizeof *items);
    int32_t *of = ig_must_alloc(room, sizeof *of), n = 0; /* the edge, or ~cluster */
    for (int32_t e = 0; e < a->n_edges; e++) {
        if (is_inside(l, e)) continue;
        of[n] = e;
        items[n++] = timeline_item(l, e);
    }
    for (int32_t c = 0; c < a->n_partitions; c++) {
        if (l->members[c] < 2) continue;
        of[n] = ~c;
        items[n++] = (struct ig_pack_item){l->at[c], l->at[c] + 1, l->block[c], 0};
    }
    struct ig_pack_result r = ig_pack_offsets(items, n);
    for (int32_t i = 0; i < n; i++) {
        if (of[i] >= 0) offset[of[i]] = items[i].offset;
        for (int32_t e = 0; e < a->n_edges && of[i] < 0; e++)
            if (is_inside(l, e) && cluster_of_layer(l, a->edges[e].from) == ~of[i])
                offset[e] = items[i].offset + l->inner[e];
    }
    *bound = r.max_live - most_waste(l);
    free(items);
    free(of);
    return r.height;
}

int64_t ig_app_place(const struct ig_app *a, int32_t data_bytes, int64_t *offset, int64_t *bound)
{
    size_t partitions = (size_t)a->n_partitions;
    struct layout l = {.a = a, .data_bytes = data_bytes};
    l.cluster = ig_must_alloc(partitions, sizeof *l.cluster);
    l.members = ig_must_alloc(partitions, sizeof *l.members);
    l.at = ig_must_alloc(partitions, sizeof *l.at);
    l.inner = ig_must_alloc((size_t)a->n_edges, sizeof *l.inner);
    l.block = ig_must_alloc(partitions, sizeof *l.block);
    l.needed = ig_must_alloc(partitions, sizeof *l.needed);
    find_clusters(&l);
    add_slots(&l);
    for (int32_t p = 0; p < a->n_partitions; p++)
        if (l.members[l.cluster[p]] > 1) add_stage(&l, p);
    int64_t arena = pack_timeline(&l, offset, bound);
    void *owned[] = {l.cluster, l.members, l.at, l.inner, l.block, l.needed};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    return arena;
}
