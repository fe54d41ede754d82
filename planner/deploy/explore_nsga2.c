#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/explore.h"
#include "planner/nsga2.h"

enum { MOST = 2 * IG_EXPLORE_PEOPLE, WAYS_OF_A_DEVICE = 3, RESOURCES = IG_EXPLORE_DEVICES * WAYS_OF_A_DEVICE };

struct resource {
    int32_t device, way;
};

struct world {
    const struct ig_ranges *r;
    const struct ig_explore *x;
    struct resource resources[RESOURCES];
    int32_t n, range;            /* resources; genes are 0..range - 1 */
    uint64_t state;
    int64_t evaluations;
    struct ig_nsga2_one people[MOST];
};

/* One core, all cores and the GPU of a kind; how many there are. */
static int32_t ways_of(const struct ig_explore *x, int32_t kind, int32_t *ways)
{
    int32_t one = -1, all = -1, gpu = -1, n = 0;
    for (int32_t w = 0; w < x->n_ways; w++) {
        if (x->ways[w].kind != kind) continue;
        if (x->ways[w].gpu) gpu = w;
        else if (one < 0 || x->ways[w].cores < x->ways[one].cores) one = w;
        if (!x->ways[w].gpu && (all < 0 || x->ways[w].cores > x->ways[all].cores)) all = w;
    }
    if (one >= 0) ways[n++] = one;
    if (all >= 0 && all != one) ways[n++] = all;
    if (gpu >= 0) ways[n++] = gpu;
    return n;
}

static void list_resources(struct world *w)
{
    int32_t device = 0;
    for (int32_t kind = 0; kind < w->x->n_kinds; kind++) {
        int32_t ways[WAYS_OF_A_DEVICE], n = ways_of(w->x, kind, ways);
        for (int32_t i = 0; i < w->x->kinds[kind].count; i++, device++)
            for (int32_t q = 0; q < n; q++) w->resources[w->n++] = (struct resource){device, ways[q]};
    }
    w->range = w->x->n * (w->n / device > 1 ? w->n / device : 1); /* some one resource a device is used at first */
}

/* Used resources in the order of their genes, of equals the first; returns how many. */
static int32_t sort_used(const struct world *w, const int32_t *genes, int32_t *used)
{
    int32_t n = 0;
    for (int32_t i = 0; i < w->n; i++) {
        int32_t at = n;
        if (genes[i] >= w->x->n) continue;
        for (; at > 0 && genes[used[at - 1]] > genes[i]; at--) used[at] = used[at - 1];
        used[at] = i;
        n++;
    }
    return n;
}

/* May the stage share the device of the one before, which is alone there? */
static int joins(const struct ig_explore *x, const struct resource *a, const struct resource *b)
{
    const struct ig_explore_way *u = &x->ways[a->way], *v = &x->ways[b->way];
    return !x->apart && a->device == b->device && u->gpu != v->gpu && u->cores + v->cores <= x->kinds[u->kind].cores;
}

/* Where the stage of that gene begins: where it may. */
static int32_t begin_of(const struct world *w, int32_t gene)
{
    while (!ig_explore_may_cut(w->x, gene)) gene++;
    return gene;
}

/*
 * Devices of a kind are alike: every stage gets one of its kind, as long as there are any, whichever its resource is of. It
 * is wrong by the nodes that are on none, or where they cannot run.
 */
static void decode(struct world *w, const int32_t *genes, struct ig_explore_point *p, struct ig_nsga2_one *o)
{
    int32_t used[RESOURCES], taken[IG_EXPLORE_KINDS] = {0}, n = sort_used(w, genes, used), shared = 1, device = -1;
    const struct resource *before = NULL;
    p->n_stages = 0;
    o->wrong = n ? 0 : w->x->n;
    for (int32_t i = 0; i < n; i++) {
        const struct resource *now = &w->resources[used[i]];
        int32_t first = i ? begin_of(w, genes[used[i]]) : 0;
        int32_t end = i + 1 < n ? begin_of(w, genes[used[i + 1]]) : w->x->n;
        int32_t kind = w->x->ways[now->way].kind;
        if (end == first) continue;
        shared = !shared && before && joins(w->x, before, now);
        device += !shared;
        taken[kind] += !shared;
        if (taken[kind] > w->x->kinds[kind].count || ig_range_ns(w->r, now->way, first, end) >= IG_PIPE_NEVER)
            o->wrong += end - first;
        else
            p->stages[p->n_stages++] = (struct ig_explore_stage){first, end, now->way, device};
        before = now;
    }
}

/* Does every device hold what it has to? Stages of one device follow each other. */
static int fits(const struct world *w, const struct ig_explore_point *p)
{
    int64_t bytes = 0;
    for (int32_t s = 0; s < p->n_stages; s++) {
        const struct ig_explore_stage *at = &p->stages[s];
        int64_t limit = w->x->kinds[w->x->ways[at->way].kind].memory_bytes;
        bytes = (s && at->device == at[-1].device ? bytes : 0) + ig_range_bytes(w->r, at->way, at->first, at->end);
        if (limit && bytes > limit) return 0;
    }
    return 1;
}

static void evaluate(struct world *w, struct ig_nsga2_one *o, struct ig_explore_point *p)
{
    decode(w, o->genes, p, o);
    w->evaluations++;
    memset(o->x, 0, sizeof o->x);
    if (!o->wrong) o->wrong = !fits(w, p);
    if (o->wrong) return;
    ig_explore_fill(w->r, p);
    memcpy(o->x, p->x, sizeof o->x);
}

static int32_t new_gene(struct world *w)
{
    return (int32_t)ig_draw(&w->state, (uint64_t)w->range);
}

static void bear(struct world *w, struct ig_nsga2_one *child)
{
    const int32_t *a = ig_nsga2_pick(w->people, IG_EXPLORE_PEOPLE, &w->state)->genes;
    const int32_t *b = ig_nsga2_pick(w->people, IG_EXPLORE_PEOPLE, &w->state)->genes;
    int32_t *genes = child->genes, crossed = (int32_t)ig_draw(&w->state, 2);
    for (int32_t i = 0; i < w->n; i++) {
        genes[i] = crossed && ig_draw(&w->state, 2) ? b[i] : a[i];
        if (!ig_draw(&w->state, 10)) genes[i] = new_gene(w);
    }
}

/* Those of rank 0 that differ. */
static void take(struct world *w, struct ig_explore_front *f)
{
    ig_nsga2_rank(w->people, IG_EXPLORE_PEOPLE);
    f->at = ig_must_alloc(IG_EXPLORE_PEOPLE, sizeof *f->at);
    for (int32_t i = 0; i < IG_EXPLORE_PEOPLE && !w->people[i].rank; i++) {
        struct ig_nsga2_one *o = &w->people[i];
        if (o->wrong || (f->n && !memcmp(f->at[f->n - 1].x, o->x, sizeof o->x))) continue;
        decode(w, o->genes, &f->at[f->n], o);
        ig_explore_fill(w->r, &f->at[f->n++]);
    }
    f->cells = w->evaluations;
}

void ig_explore_nsga2(const struct ig_ranges *r, uint64_t seed, int32_t generations, struct ig_explore_front *f)
{
    struct world *w = ig_must_alloc(1, sizeof *w);
    struct ig_explore_point *p = ig_must_alloc(1, sizeof *p);
    *f = (struct ig_explore_front){.n = 0};
    *w = (struct world){.r = r, .x = r->x, .state = seed};
    list_resources(w);
    for (int32_t i = 0; i < MOST; i++) {
        int32_t *genes = w->people[i].genes = ig_must_alloc((size_t)w->n, sizeof *genes);
        for (int32_t k = 0; k < w->n; k++) genes[k] = new_gene(w);
        evaluate(w, &w->people[i], p);
    }
    for (int32_t g = 0; g < generations; g++) {
        ig_nsga2_sort(w->people, MOST);
        for (int32_t i = IG_EXPLORE_PEOPLE; i < MOST; i++) {
            bear(w, &w->people[i]);
            evaluate(w, &w->people[i], p);
        }
    }
    ig_nsga2_sort(w->people, MOST);
    take(w, f);
    for (int32_t i = 0; i < MOST; i++) free(w->people[i].genes);
    free(p);
    free(w);
}
