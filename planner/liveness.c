/*
 * Lives and owners of values. A value is born at its producer's step and dies at its last reader's; all of a
 * band happens at once, at its last step. Views live in their root's storage; an element-wise result may take
 * over the storage of an operand that dies there.
 */
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/band.h"
#include "planner/memory.h"
#include "planner/views.h"

static void find_lives(const struct ig_graph *g, const int32_t *times, struct ig_storage *s)
{
    for (int32_t v = 0; v < g->n_values; v++)
        s[v].first = s[v].last = g->values[v].producer >= 0 ? times[g->values[v].producer] : 0;
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            int32_t v = g->nodes[i].in[k];
            if (v >= 0 && times[i] > s[v].last) s[v].last = times[i];
        }
    for (int32_t i = 0; i < g->n_outputs; i++)
        s[g->outputs[i]].last = g->n_nodes > 0 ? g->n_nodes - 1 : 0;
}

static void hold(struct ig_storage *owner, const struct ig_storage *member)
{
    if (member->first < owner->held_first) owner->held_first = member->first;
    if (member->last > owner->held_last) owner->held_last = member->last;
}

/* What a band's steps hand to each other is in no storage that others could share. */
static void find_rings(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                       struct ig_storage *s)
{
    if (!p->n_bands) return;
    struct ig_usage *usage = ig_must_alloc((size_t)g->n_values, sizeof *usage);
    ig_find_usage(g, views, usage);
    for (int32_t v = 0; v < g->n_values; v++)
        for (int32_t i = 0; i < p->n_bands; i++)
            if (ig_is_ring(usage, views[v].root, p->bands[i].first, p->bands[i].last)) s[v].memory = IG_MEMORY_RING;
    free(usage);
}

static void find_owners(const struct ig_graph *g, const struct ig_view *views, struct ig_storage *s)
{
    for (int32_t v = 0; v < g->n_values; v++) {
        s[v].owner = views[v].root;
        s[v].memory = ig_is_const(g, v) ? IG_MEMORY_WEIGHTS : IG_MEMORY_ARENA;
        s[v].held_first = INT32_MAX;
        s[v].held_last = -1;
    }
    for (int32_t v = 0; v < g->n_values; v++) hold(&s[s[v].owner], &s[v]);
    for (int32_t i = 0; i < g->n_inputs; i++) {
        s[g->inputs[i]].memory = IG_MEMORY_INPUT;
        s[g->inputs[i]].index = i;
    }
    for (int32_t i = 0; i < g->n_outputs; i++) {
        struct ig_storage *owner = &s[s[g->outputs[i]].owner];
        owner->memory = IG_MEMORY_OUTPUT;
        owner->index = i;
    }
}

/* Tensors of the node that are in `owner`'s storage. */
static int count_inside(const struct ig_node *n, const struct ig_storage *s, int32_t owner)
{
    int count = 0;
    for (int32_t i = 0; i < n->n_in; i++) count += n->in[i] >= 0 && s[n->in[i]].owner == owner;
    for (int32_t i = 0; i < n->n_out; i++) count += n->out[i] >= 0 && s[n->out[i]].owner == owner;
    return count;
}

/*
 * Is the band not cut, and do its members but the last read what is in that storage, if anything, always ahead of the
 * last one's writing? A block's residual may then be written over its input.
 */
static int is_ahead(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                    const struct ig_storage *s, int32_t owner, const struct ig_band *band)
{
    struct ig_reach reach[IG_MAX_BAND] = {{0}};
    struct ig_part part;
    int any = 0;
    if (!ig_part_of(g, views, p, band, &part)) return 0;
    for (int32_t i = 0; i < part.flow.n - 1; i++) {
        const struct ig_node *n = &g->nodes[p->steps[part.flow.step[i]].node];
        struct ig_call call;
        int32_t images, k = 0, inside = count_inside(n, s, owner);
        if (!inside) continue;
        while (k < n->n_in && (n->in[k] < 0 || s[n->in[k]].owner != owner)) k++;
        ig_node_call(g, views, n, &call, &images);
        if (inside > 1 || k == n->n_in || ig_bytes(&g->values[n->in[k]].shape) != ig_bytes(&g->values[owner].shape)) return 0;
        if (!ig_reach_of((enum ig_op)n->op, &call, k, &reach[i])) return 0;
        any = 1;
    }
    return !any || (!p->steps[band->last].split && ig_part_trails(&part, reach, band->rows));
}

/* Is one operand of the step the only tensor in `owner`'s storage that is needed, of all that happens at that time? */
static int is_alone(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                    const struct ig_storage *s, int32_t owner, int32_t step)
{
    const struct ig_band *band = ig_band_of(p, step);
    if (count_inside(&g->nodes[step], s, owner) != 1) return 0;
    return !band || is_ahead(g, views, p, s, owner, band);
}

static int same_extent(const struct ig_graph *g, int32_t a, int32_t b)
{
    const struct ig_shape *sa = &g->values[a].shape, *sb = &g->values[b].shape;
    struct ig_form fa = ig_form_of(sa), fb = ig_form_of(sb);
    return ig_type_bytes(sa->type) == ig_type_bytes(sb->type) && fa.rows == fb.rows && fa.w == fb.w &&
           fa.c == fb.c;
}

/* May the first output take over the storage of operand k, which must die whole at this step? */
static int may_overwrite(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                         const struct ig_storage *s, int32_t step, int32_t k)
{
    const struct ig_node *n = &g->nodes[step];
    if (k >= n->n_in || n->in[k] < 0) return 0;
    int32_t x = n->in[k], y = n->out[0], owner = s[x].owner;
    return s[owner].memory == IG_MEMORY_ARENA && s[y].memory == IG_MEMORY_ARENA && s[y].owner == y &&
           s[owner].held_last == step && ig_bytes(&g->values[owner].shape) == ig_bytes(&g->values[y].shape) &&
           same_extent(g, x, y) && ig_is_run(&views[x], ig_form_of(&g->values[x].shape)) &&
           is_alone(g, views, p, s, owner, step);
}

struct tenants {             /* the values in each owner's storage, as lists */
    int32_t *first, *next;   /* [n_values]; -1: end */
};

static struct tenants list_tenants(const struct ig_graph *g, const struct ig_storage *s)
{
    size_t n = (size_t)g->n_values;
    struct tenants t = {ig_must_alloc(n, sizeof *t.first), ig_must_alloc(n, sizeof *t.next)};
    for (int32_t v = 0; v < g->n_values; v++) t.first[v] = -1;
    for (int32_t v = 0; v < g->n_values; v++) {
        t.next[v] = t.first[s[v].owner];
        t.first[s[v].owner] = v;
    }
    return t;
}

static void overwrite(struct tenants *t, struct ig_storage *s, int32_t from, int32_t to)
{
    for (int32_t v = t->first[from], next; v >= 0; v = next) {
        next = t->next[v];
        s[v].owner = to;
        t->next[v] = t->first[to];
        t->first[to] = v;
    }
    t->first[from] = -1;
    if (s[from].held_last > s[to].held_last) s[to].held_last = s[from].held_last;
}

static void reuse_in_place(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                           struct ig_storage *s)
{
    static const struct { int32_t flag, operand; } ways[] = {
        {IG_IN_PLACE_0, 0}, {IG_IN_PLACE_1, 1}, {IG_IN_PLACE_3, 3}};
    struct tenants tenants = list_tenants(g, s);
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[i];
        const struct ig_kernel *kernel = p->steps[i].kernel;
        if (!kernel || n->out[0] < 0) continue;
        for (int w = 0; w < 3; w++) {
            if (!(kernel->flags & ways[w].flag) || !may_overwrite(g, views, p, s, i, ways[w].operand)) continue;
            overwrite(&tenants, s, n->out[0], s[n->in[ways[w].operand]].owner);
            break;
        }
    }
    free(tenants.first);
    free(tenants.next);
}

void ig_find_storage(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                     struct ig_storage *storage)
{
    int32_t *times = ig_must_alloc((size_t)p->n_steps, sizeof *times);
    for (int32_t v = 0; v < g->n_values; v++) storage[v] = (struct ig_storage){.owner = v};
    ig_step_times(p, times);
    find_lives(g, times, storage);
    free(times);
    find_owners(g, views, storage);
    find_rings(g, views, p, storage);
    reuse_in_place(g, views, p, storage);
}
