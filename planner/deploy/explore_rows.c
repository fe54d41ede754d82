/*
 * A group of devices is a kind of device of its own: with some groups of one size taken out of a kind, the problem is one of
 * single devices again, and the exact front of every such problem together has all that is good.
 */
#include "planner/deploy/explore_rows.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct groups {                  /* `count` groups of `size` devices of a kind */
    const struct ig_explore *of; /* the problem without them */
    const struct ig_explore_split *split;
    int32_t kind, size, count;
    struct ig_explore x;         /* the problem with them */
    int32_t single[IG_EXPLORE_WAYS]; /* the way of one device that each way stands for */
    int64_t *ns, *scratch;
};

/* What a group's devices send its first one, or are sent by it, of a tensor; its cores' share counted. */
static int64_t meet_ns(const struct groups *g, int64_t bytes)
{
    const struct ig_pipe_link *link[] = {&g->of->link[g->kind][g->kind], &g->of->receives[g->kind], &g->of->sends[g->kind]};
    int64_t others = g->size - 1, ns = 0;
    for (int i = 0; i < 3; i++) ns += others * ig_pipe_transfer(link[i], (bytes + g->size - 1) / g->size);
    return ns;
}

/* What the part that waits longest waits for rows of others. */
static int64_t exchange_ns(const struct groups *g, const struct ig_explore_split *s)
{
    int64_t messages = s->messages[g->size], bytes = s->bytes[g->size], ns = 0;
    const struct ig_pipe_link *link[] = {&g->of->link[g->kind][g->kind], &g->of->receives[g->kind], &g->of->sends[g->kind]};
    if (!messages) return 0;
    for (int i = 0; i < 3; i++) ns += messages * ig_pipe_transfer(link[i], (bytes + messages - 1) / messages);
    return ns;
}

static int is_split(const struct groups *g, int32_t v)
{
    return g->split[v].most[g->size] > 0;
}

static int64_t node_ns(const struct groups *g, int32_t v, int64_t whole)
{
    const struct ig_explore *x = g->of;
    const struct ig_explore_split *s = &g->split[v];
    int64_t ns = whole;
    if (is_split(g, v)) {
        ns = (whole * s->most[g->size] + s->rows - 1) / s->rows + exchange_ns(g, s);
        if (x->reads_input && x->reads_input[v]) ns += meet_ns(g, x->input_bytes);
        if (x->is_output && x->is_output[v]) ns += meet_ns(g, x->bytes[v]);
    }
    for (int32_t e = x->first[v]; e < x->first[v + 1]; e++) /* joined before it, or cut */
        if (is_split(g, v) != is_split(g, x->preds[e])) ns += meet_ns(g, x->bytes[x->preds[e]]);
    return ns;
}

/* Links of a group: as many messages as it has devices, all bytes through one of the two ends. */
static void add_links(struct groups *g)
{
    struct ig_explore *x = &g->x;
    int32_t kind = x->n_kinds - 1;
    for (int32_t k = 0; k < x->n_kinds; k++) {
        int32_t other = k == kind ? g->kind : k;
        x->link[k][kind] = g->of->link[other][g->kind];
        x->link[kind][k] = g->of->link[g->kind][other];
        x->link[k][kind].x0_ns *= g->size;
        if (k != kind) x->link[kind][k].x0_ns *= g->size;
    }
    x->own[kind] = g->of->own[g->kind];
    x->sends[kind] = g->of->sends[g->kind];
    x->receives[kind] = g->of->receives[g->kind];
}

static void fill_times(struct groups *g)
{
    const struct ig_explore *x = g->of;
    int32_t ways = g->x.n_ways;
    g->ns = ig_must_alloc((size_t)x->n * (size_t)ways, sizeof *g->ns);
    g->scratch = ig_must_alloc((size_t)x->n * (size_t)ways, sizeof *g->scratch);
    for (int32_t v = 0; v < x->n; v++)
        for (int32_t w = 0; w < ways; w++) {
            int64_t from = (int64_t)v * x->n_ways + g->single[w], to = (int64_t)v * ways + w, ns = x->ns[from];
            g->ns[to] = w < x->n_ways || ns >= IG_PIPE_NEVER ? ns : node_ns(g, v, ns);
            g->scratch[to] = x->scratch ? x->scratch[from] : 0;
        }
    g->x.ns = g->ns;
    if (x->scratch) g->x.scratch = g->scratch;
}

/* 0, or -1: there is no room for another kind. */
static int open_groups(struct groups *g)
{
    const struct ig_explore *x = g->of;
    struct ig_explore *to = &g->x;
    if (x->n_kinds == IG_EXPLORE_KINDS) return -1;
    *to = *x;
    for (int32_t w = 0; w < x->n_ways; w++) g->single[w] = w;
    for (int32_t w = 0; w < x->n_ways; w++) {
        if (x->ways[w].kind != g->kind || x->ways[w].gpu) continue;
        if (to->n_ways == IG_EXPLORE_WAYS) return -1;
        g->single[to->n_ways] = w;
        to->ways[to->n_ways] = x->ways[w];
        to->ways[to->n_ways++].kind = x->n_kinds;
    }
    to->kinds[x->n_kinds] = x->kinds[g->kind];
    to->kinds[to->n_kinds++].count = g->count;
    to->kinds[g->kind].count -= g->size * g->count;
    add_links(g);
    fill_times(g);
    return 0;
}

/* A point of the problem with groups as one of its devices: returns how many groups it has. */
static int32_t translate(const struct groups *g, const struct ig_ranges *r, struct ig_explore_point *p)
{
    int32_t groups = 0;
    const struct ig_explore_point was = *p;
    for (int32_t s = 0; s < p->n_stages; s++) {
        struct ig_explore_stage *at = &p->stages[s];
        int is_group = at->way >= g->of->n_ways;
        at->device += groups * (g->size - 1);
        if (!is_group) continue;
        const struct ig_explore_way *way = &g->x.ways[at->way];
        struct ig_explore_group *group = &p->group[s];
        *group = (struct ig_explore_group){.devices = g->size, .ns = ig_explore_stage_ns(r, &was, s),
                                           .bytes = ig_range_bytes(r, at->way, at->first, at->end)};
        for (int32_t v = at->first; v < at->end; v++) group->n_split += is_split(g, v);
        at->way = g->single[at->way];
        p->n_devices += g->size - 1;
        p->cores += (g->size - 1) * way->cores;
        p->total_pj += (g->size - 1) * (way->mw * group->ns + g->of->kinds[g->kind].idle_mw * p->period_ns);
        groups++;
    }
    return groups;
}

/* --- the front of all --- */

static int replaces(const struct ig_explore_point *a, const struct ig_explore_point *b)
{
    return a->n_devices <= b->n_devices && a->period_ns <= b->period_ns && a->device_pj <= b->device_pj &&
           a->memory_bytes <= b->memory_bytes;
}

static void offer(struct ig_explore_front *f, const struct ig_explore_point *p)
{
    int32_t n = 0;
    for (int32_t i = 0; i < f->n; i++)
        if (replaces(&f->at[i], p)) return;
    for (int32_t i = 0; i < f->n; i++)
        if (!replaces(p, &f->at[i])) f->at[n++] = f->at[i];
    struct ig_explore_point *all = realloc(f->at, (size_t)(n + 1) * sizeof *all);
    if (!all) abort();
    f->at = all;
    f->at[n++] = *p;
    f->n = n;
}

static int by_devices(const void *a, const void *b)
{
    const struct ig_explore_point *p = a, *q = b;
    if (p->n_devices != q->n_devices) return p->n_devices < q->n_devices ? -1 : 1;
    if (p->period_ns != q->period_ns) return p->period_ns > q->period_ns ? -1 : 1;
    return p->memory_bytes != q->memory_bytes ? (p->memory_bytes < q->memory_bytes ? -1 : 1)
                                              : (p->device_pj > q->device_pj) - (p->device_pj < q->device_pj);
}

static void add_groups(struct groups *g, struct ig_explore_front *f)
{
    struct ig_ranges r;
    struct ig_explore_front found;
    if (open_groups(g)) return;
    ig_ranges_make(&g->x, &r);
    ig_explore_all(&r, &found);
    for (int32_t i = 0; i < found.n; i++)
        if (translate(g, &r, &found.at[i])) offer(f, &found.at[i]);
    f->solves += found.solves;
    f->cells += found.cells;
    f->priced += found.priced;
    ig_explore_front_free(&found);
    ig_ranges_free(&r);
    free(g->ns);
    free(g->scratch);
}

void ig_explore_rows(const struct ig_ranges *r, const struct ig_explore_split *split, int32_t devices,
                     struct ig_explore_front *f)
{
    ig_explore_all(r, f);
    for (int32_t kind = 0; kind < r->x->n_kinds; kind++)
        for (int32_t size = 2; size <= devices && size <= r->x->kinds[kind].count; size++)
            for (int32_t count = 1; count * size <= r->x->kinds[kind].count; count++) {
                struct groups g = {.of = r->x, .split = split, .kind = kind, .size = size, .count = count};
                add_groups(&g, f);
            }
    qsort(f->at, (size_t)f->n, sizeof *f->at, by_devices);
}
