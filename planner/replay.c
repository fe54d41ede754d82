/*
 * Per value: is it whole in memory now? Writing a tensor breaks every other one that has a byte in common
 * with it, but for what is the same memory on purpose: a step that moves nothing leaves its inputs and
 * outputs both whole.
 */
#include "planner/replay.h"

#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/validate_bands.h"

enum { NEVER = -2, WHOLE = -1 };  /* else: the value that overwrote it */

struct shadow {
    const struct ig_graph *g;
    const struct ig_plan *p;
    const int32_t *band;     /* [n_steps] */
    const struct ig_box *boxes;
    int32_t *state;          /* [n_values] */
    int32_t *pieces;         /* [n_values] room for a list of values */
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
    if (memory != IG_MEMORY_ARENA && memory != IG_MEMORY_OUTPUT && memory != IG_MEMORY_SLOT) find(s, IG_BAD_ALIAS, step, v, v);
    for (int32_t u = 0; u < s->g->n_values; u++)
        if (u != v && s->state[u] == WHOLE && ig_box_meet(&s->boxes[u], &s->boxes[v])) s->state[u] = v;
    s->state[v] = WHOLE;
}

static int is_ring(const struct shadow *s, int32_t v)
{
    return s->boxes[v].memory == IG_MEMORY_RING;
}

/*
 * Value x, all of operand k of a member or a piece of it, and there before the band, while the value `out` is written:
 * they may only meet where the last member takes the operand over in place, or where the band is not cut and the last
 * member writes over it row by row, from the same place on or from below, which is replayed with the rings.
 */
static void check_meeting(struct shadow *s, int32_t last, int32_t step, int32_t k, int32_t x, int32_t out)
{
    const struct ig_box *to = &s->boxes[out], *whole = &s->boxes[s->g->nodes[s->p->steps[step].node].in[k]];
    const struct ig_plan_step *ps = &s->p->steps[last];
    if (!ig_box_meet(&s->boxes[x], to)) return;
    if (out == s->g->nodes[ps->node].out[0]) {
        if (owner_of(s, x) != owner_of(s, out) && !ps->split) return;
        if (ig_box_equal(whole, to) && (step == last ? (ps->kernel->flags & in_place_flag(k)) != 0 : !ps->split)) return;
    }
    find(s, owner_of(s, x) == owner_of(s, out) ? IG_BAD_ALIAS : IG_OVERLAP_LIVE, last, x, out);
}

/* Operand k of a member: what of it is not of the band's own making must be there, and stay. */
static void read_operand(struct shadow *s, const struct ig_walked *w, int32_t i, int32_t k)
{
    int32_t last = w->step[w->n - 1], v = s->g->nodes[s->p->steps[w->step[i]].node].in[k];
    int32_t n = ig_pieces_of(s->g, s->p, v, s->pieces, 0);
    for (int32_t j = 0; j < n; j++) {
        int32_t x = s->pieces[j], own = 0;
        for (int32_t m = 0; m < w->n; m++) own |= w->value[m] == x;
        if (own) continue; /* row by row, in replay_band.c */
        read_value(s, last, x);
        for (int32_t m = 0; m < w->n; m++)
            if (!is_ring(s, w->value[m])) check_meeting(s, last, w->step[i], k, x, w->value[m]);
    }
}

/* A step that runs nothing stands behind those that write what it gets. */
static void check_view_order(struct shadow *s, int32_t step, int32_t last)
{
    const struct ig_node *n = &s->g->nodes[s->p->steps[step].node];
    for (int32_t later = step + 1; later <= last; later++) {
        const struct ig_node *by = &s->g->nodes[s->p->steps[later].node];
        for (int32_t k = 0; k < n->n_in; k++)
            for (int32_t o = 0; o < by->n_out; o++)
                if (n->in[k] >= 0 && n->in[k] == by->out[o]) find(s, IG_BAD_ORDER, step, n->in[k], -1);
    }
}

/* A band is one step: it reads what its members read of others, and writes what stays. */
static void run_band(struct shadow *s, const struct ig_band *band)
{
    struct ig_walked w = ig_walk_band(s->g, s->p, band);
    for (int32_t i = 0; i < w.n; i++)
        for (int32_t k = 0; k < s->g->nodes[s->p->steps[w.step[i]].node].n_in; k++)
            if (s->g->nodes[s->p->steps[w.step[i]].node].in[k] >= 0) read_operand(s, &w, i, k);
    for (int32_t i = 0; i < w.n; i++)
        for (int32_t m = 0; m < i && !is_ring(s, w.value[i]); m++)
            if (!is_ring(s, w.value[m]) && ig_box_meet(&s->boxes[w.value[i]], &s->boxes[w.value[m]]))
                find(s, IG_BAD_ALIAS, band->last, w.value[m], w.value[i]);
    for (int32_t i = 0; i < w.n; i++)
        if (!is_ring(s, w.value[i])) write_value(s, band->last, w.value[i]);
    for (int32_t i = band->first; i <= band->last; i++) {
        int32_t out = s->g->nodes[s->p->steps[i].node].out[0];
        if (s->p->steps[i].kernel) continue;
        check_view_order(s, i, band->last);
        if (!is_ring(s, out)) s->state[out] = WHOLE;
    }
}

static void run_step(struct shadow *s, int32_t step)
{
    int32_t band = s->band[step];
    if (band >= 0) {
        if (s->p->bands[band].last == step) run_band(s, &s->p->bands[band]);
        return;
    }
    const struct ig_node *n = &s->g->nodes[s->p->steps[step].node];
    const struct ig_kernel *kernel = s->p->steps[step].kernel;
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0) read_value(s, step, n->in[k]);
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
    s.pieces = ig_must_alloc((size_t)g->n_values, sizeof *s.pieces);
    for (int32_t v = 0; v < g->n_values; v++)
        s.state[v] = ig_is_const(g, v) || ig_is_input(g, v) ? WHOLE : NEVER;
    for (int32_t i = 0; i < p->n_steps; i++) run_step(&s, i);
    for (int32_t i = 0; i < g->n_outputs; i++) read_value(&s, p->n_steps, g->outputs[i]);
    free(s.state);
    free(s.pieces);
    return s.found;
}
