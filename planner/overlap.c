/*
 * How far apart the two must be is found by going through all firings of the band: when rows of the output are there up
 * to some byte, what is still to be read of the input must begin behind it. The rows of one call count as written before
 * any is read: a kernel may take them in any order.
 */
#include "planner/overlap.h"

#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/band.h"
#include "planner/views.h"

struct finder {
    const struct ig_graph *g;
    const struct ig_view *views;
    const struct ig_plan *p;
    const struct ig_storage *s;
    struct ig_part part;
    struct ig_firing *firings;
    int32_t n;
};

static const struct ig_node *node_of(const struct finder *f, int32_t member)
{
    return &f->g->nodes[f->p->steps[f->part.flow.step[member]].node];
}

static int64_t bytes_of(const struct finder *f, int32_t v)
{
    return ig_bytes(&f->g->values[v].shape);
}

/* What the last member alone writes, all that its storage holds when it is written; -1: no such tensor. */
static int32_t born(const struct finder *f, int32_t time)
{
    int32_t last = f->part.flow.n - 1, y = node_of(f, last)->out[0];
    if (f->s[y].owner != y || f->s[y].memory != IG_MEMORY_ARENA || f->s[y].held_first != time) return -1;
    for (int32_t i = 0; i < last; i++)
        if (f->s[node_of(f, i)->out[0]].owner == y) return -1;
    return y;
}

struct reading {             /* how a member reads what is in a storage */
    struct ig_reach reach;
    int32_t rows;            /* that it takes it for; 0: it does not read it */
};

/* 0 if the rows of x's storage that member i reads cannot be followed. */
static int find_reading(const struct finder *f, int32_t i, int32_t x, struct reading *r)
{
    const struct ig_node *n = node_of(f, i);
    struct ig_call call;
    int32_t images, reads = 0;
    *r = (struct reading){.rows = 0};
    if (f->s[n->out[0]].owner == x) return 0;
    ig_node_call(f->g, f->views, n, &call, &images);
    for (int32_t k = 0; k < n->n_in; k++) {
        if (n->in[k] < 0 || f->s[n->in[k]].owner != x) continue;
        r->rows = call.in[k].h;
        int64_t row = call.in[k].row_stride * ig_type_bytes(call.in[k].shape->type);
        if (reads++ || n->op == IG_RESIZE || r->rows * row != bytes_of(f, x)) return 0;
        if (!ig_reach_of((enum ig_op)n->op, &call, k, &r->reach)) return 0;
    }
    return 1;
}

/* From the last firing back: where each member that is still to come begins to read, and how far the output then is. */
static int64_t least_distance(const struct finder *f, int32_t x, int32_t y, const struct reading *readings)
{
    int32_t next[IG_MAX_BAND], last = f->part.flow.n - 1;
    int64_t most = IG_ALIGN, in = bytes_of(f, x), out_row = bytes_of(f, y) / f->part.rows[last];
    for (int32_t i = 0; i <= last; i++) next[i] = readings[i].rows;
    for (int32_t t = f->n - 1; t >= 0; t--) {
        const struct ig_firing *now = &f->firings[t];
        int32_t i = now->member, from = now->end - now->rows;
        const struct reading *r = &readings[i];
        if (r->rows) next[i] = ig_reach_rows(&r->reach, from, from + 1, r->rows).a;
        for (r = readings; i == last && r <= readings + last; r++) {
            int32_t row = next[r - readings];
            int64_t distance = row < r->rows ? now->end * out_row - row * (in / r->rows) : 0;
            if (distance > most) most = distance;
        }
    }
    return (most + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

static struct ig_overlap overlap_with(const struct finder *f, int32_t x, int32_t y)
{
    struct reading readings[IG_MAX_BAND];
    struct ig_overlap none = {-1, -1, 0, 0};
    int any = 0;
    for (int32_t i = 0; i < f->part.flow.n; i++) {
        if (!find_reading(f, i, x, &readings[i])) return none;
        any |= readings[i].rows > 0;
    }
    if (!any) return none;
    int64_t distance = least_distance(f, x, y, readings), in = bytes_of(f, x), out = bytes_of(f, y);
    return (struct ig_overlap){y, x, distance, in + out - (distance + in > out ? distance + in : out)};
}

struct ig_overlap ig_find_overlap(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                                  const struct ig_storage *storage, const struct ig_band *band)
{
    struct finder f = {.g = g, .views = views, .p = p, .s = storage};
    struct ig_overlap best = {-1, -1, 0, 0};
    if (p->steps[band->last].split || !ig_part_of(g, views, p, band, &f.part)) return best;
    int32_t y = born(&f, band->last);
    if (y < 0) return best;
    f.firings = ig_part_firings(&f.part, band->rows, ig_part_rows(&f.part), &f.n);
    for (int32_t x = 0; x < g->n_values; x++) {
        const struct ig_storage *s = &storage[x];
        if (s->owner != x || s->memory != IG_MEMORY_ARENA || s->held_last != band->last || s->held_first >= band->first)
            continue;
        struct ig_overlap o = overlap_with(&f, x, y);
        if (o.gain > best.gain) best = o;
    }
    free(f.firings);
    return best;
}

int64_t ig_overlap_gain(const struct ig_overlap *overlaps, const struct ig_plan *p, int32_t step)
{
    for (int32_t i = 0; i < p->n_bands; i++)
        if (p->bands[i].last == step) return overlaps[i].gain;
    return 0;
}
