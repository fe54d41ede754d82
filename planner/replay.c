/*
 * Per value: is it whole in memory now? Writing a tensor breaks every other one that has a byte in common
 * with it, but for what is the same memory on purpose: a step that moves nothing leaves its inputs and
 * outputs both whole.
 */
#include "planner/replay.h"

#include <stdlib.h>

#include "planner/alloc.h"

enum { NEVER = -2, WHOLE = -1 };  /* else: the value that overwrote it */

struct shadow {
    const struct ig_graph *g;
    const struct ig_plan *p;
    const int32_t *band;     /* [n_steps] */
    const struct ig_box *boxes;
    int32_t *state;          /* [n_values] */
    struct ig_replay found;
};

static void find(struct shadow *s, int verdict, int32_t step, int32_t value, int32_t by)
{
    if (s->found.verdict == IG_PLAN_OK || verdict < s->found.verdict)
        s->found = (struct ig_replay){verdict, step, value, by};
}

static int32_t owner_of(const struct shadow *s, int32_t v)
{
    int32_t alias = s->p->buffers[v].alias_of;
    return alias < 0 ? v : alias;
}

static void read_value(struct shadow *s, int32_t step, int32_t v)
{
    int32_t by = s->state[v];
    if (by == WHOLE) return;
    if (by == NEVER)
        find(s, IG_BAD_ORDER, step, v, -1);
    else
        find(s, owner_of(s, v) == owner_of(s, by) ? IG_BAD_ALIAS : IG_OVERLAP_LIVE, step, v, by);
}

static int in_place_flag(int32_t k)
{
    return k == 0 ? IG_IN_PLACE_0 : k == 1 ? IG_IN_PLACE_1 : k == 3 ? IG_IN_PLACE_3 : 0;
}

/* An output may meet an input of the same step only where the kernel allows it: first output, same bytes,
 * same order. */
static void check_in_place(struct shadow *s, int32_t step, const struct ig_kernel *kernel, int32_t k,
                           int32_t o)
{
    const struct ig_node *n = &s->g->nodes[s->p->steps[step].node];
    const struct ig_box *x = &s->boxes[n->in[k]], *y = &s->boxes[n->out[o]];
    if (!ig_box_meet(x, y)) return;
    if (o == 0 && (kernel->flags & in_place_flag(k)) && ig_box_equal(x, y)) return;
    find(s, owner_of(s, n->in[k]) == owner_of(s, n->out[o]) ? IG_BAD_ALIAS : IG_OVERLAP_LIVE, step, n->in[k],
         n->out[o]);
}

static void write_value(struct shadow *s, int32_t step, int32_t v)
{
    int32_t memory = s->boxes[v].memory;
    if (memory != IG_MEMORY_ARENA && memory != IG_MEMORY_OUTPUT) find(s, IG_BAD_ALIAS, step, v, v);
    for (int32_t u = 0; u < s->g->n_values; u++)
        if (u != v && s->state[u] == WHOLE && ig_box_meet(&s->boxes[u], &s->boxes[v])) s->state[u] = v;
    s->state[v] = WHOLE;
}

static int is_ring(const struct shadow *s, int32_t v)
{
    return s->boxes[v].memory == IG_MEMORY_RING;
}

/*
 * What the band's other members read from outside stays as it is while the last one, `step`, writes; but what its first
 * reads may be written over row by row where the band is not cut: that is replayed with the rings.
 */
static void read_band(struct shadow *s, int32_t step)
{
    int32_t out = s->g->nodes[s->p->steps[step].node].out[0], first = s->p->bands[s->band[step]].first;
    for (int32_t i = 0; i < step; i++) {
        const struct ig_node *n = &s->g->nodes[s->p->steps[i].node];
        if (s->band[i] != s->band[step]) continue;
        for (int32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] < 0 || is_ring(s, n->in[k])) continue;
            read_value(s, step, n->in[k]);
            if (i == first && !s->p->steps[step].split && ig_box_equal(&s->boxes[n->in[k]], &s->boxes[out])) continue;
            if (ig_box_meet(&s->boxes[n->in[k]], &s->boxes[out]))
                find(s, owner_of(s, n->in[k]) == owner_of(s, out) ? IG_BAD_ALIAS : IG_OVERLAP_LIVE, step, n->in[k],
                     out);
        }
    }
}

static void run_step(struct shadow *s, int32_t step)
{
    int32_t band = s->band[step];
    if (band >= 0 && s->p->bands[band].last != step) return;
    if (band >= 0) read_band(s, step);
    const struct ig_node *n = &s->g->nodes[s->p->steps[step].node];
    const struct ig_kernel *kernel = s->p->steps[step].kernel;
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && !is_ring(s, n->in[k])) read_value(s, step, n->in[k]);
    for (int32_t o = 0; o < n->n_out; o++) {
        if (n->out[o] < 0) continue;
        for (int32_t k = 0; kernel && k < n->n_in; k++)
            if (n->in[k] >= 0) check_in_place(s, step, kernel, k, o);
        for (int32_t q = 0; q < o; q++)
            if (n->out[q] >= 0 && ig_box_meet(&s->boxes[n->out[q]], &s->boxes[n->out[o]]))
                find(s, IG_BAD_ALIAS, step, n->out[q], n->out[o]);
        if (kernel)
            write_value(s, step, n->out[o]);
        else
            s->state[n->out[o]] = WHOLE;
    }
}

struct ig_replay ig_replay_plan(const struct ig_graph *g, const struct ig_plan *p, const int32_t *band,
                                const struct ig_box *boxes)
{
    struct shadow s = {.g = g, .p = p, .band = band, .boxes = boxes, .found = {IG_PLAN_OK, -1, -1, -1}};
    s.state = ig_must_alloc((size_t)g->n_values, sizeof *s.state);
    for (int32_t v = 0; v < g->n_values; v++)
        s.state[v] = ig_is_const(g, v) || ig_is_input(g, v) ? WHOLE : NEVER;
    for (int32_t i = 0; i < p->n_steps; i++) run_step(&s, i);
    for (int32_t i = 0; i < g->n_outputs; i++) read_value(&s, p->n_steps, g->outputs[i]);
    free(s.state);
    return s.found;
}
