/*
 * Is this plan one that can be run? Everything is recomputed from the graph: sizes, lives, which tensors are
 * boxes of which, the arena's height and its lower bound; then the plan is run in the shadow (replay.c).
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/replay.h"
#include "planner/validate.h"
#include "planner/validate_bands.h"
#include "planner/validate_call.h"

int ig_say(struct ig_check *c, int verdict, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(c->why, c->why_bytes, format, args);
    va_end(args);
    return verdict;
}

const char *ig_verdict_name(int verdict)
{
    static const char *const names[IG_VERDICTS] = {
        "OK", "BAD_COUNT", "BAD_BAND", "BAD_KERNEL", "BAD_SIZE", "MISALIGNED", "OUT_OF_ARENA", "BAD_ORDER", "BAD_ALIAS",
        "BAD_CUT", "PHASE_GAP", "PHASE_TWICE", "READ_UNWRITTEN", "READ_OVERWRITTEN", "OVERLAP_LIVE", "SLOT_RACE",
        "BAD_HEIGHT", "BAD_BOUND", "OVER_BUDGET"};
    return verdict >= 0 && verdict < IG_VERDICTS ? names[verdict] : "?";
}

static int check_count(struct ig_check *c)
{
    const struct ig_graph *g = c->g;
    const struct ig_plan *p = c->p;
    if (p->n_steps != g->n_nodes)
        return ig_say(c, IG_BAD_COUNT, "%d steps for %d nodes", p->n_steps, g->n_nodes);
    if (p->n_buffers != g->n_values)
        return ig_say(c, IG_BAD_COUNT, "%d buffers for %d values", p->n_buffers, g->n_values);
    for (int32_t v = 0; v < g->n_values; v++) {
        if (p->buffers[v].value != v) return ig_say(c, IG_BAD_COUNT, "no buffer for '%s'", ig_value_name(c, v));
        if (p->buffers[v].alias_of < -1 || p->buffers[v].alias_of >= g->n_values)
            return ig_say(c, IG_BAD_COUNT, "'%s' is an alias of nothing", ig_value_name(c, v));
    }
    uint8_t *seen = ig_must_alloc((size_t)g->n_nodes, 1);
    int bad = 0;
    for (int32_t i = 0; i < p->n_steps && !bad; i++) {
        int32_t node = p->steps[i].node;
        if (node < 0 || node >= g->n_nodes)
            bad = ig_say(c, IG_BAD_COUNT, "step %d runs no node", i);
        else if (seen[node]++)
            bad = ig_say(c, IG_BAD_COUNT, "node '%s' runs twice", g->nodes[node].name);
    }
    free(seen);
    return bad;
}

/* The band whose steps write v, or put it together; -1: none. */
static int32_t band_of(const struct ig_check *c, int32_t v)
{
    for (int32_t i = 0; i < c->p->n_steps; i++)
        if (c->p->steps[i].node == c->g->values[v].producer) return c->band[i];
    return -1;
}

/* No step is in two bands, and only what is handed on inside one is in rings. */
static int check_bands(struct ig_check *c)
{
    int32_t bad = ig_walk_bands(c->g, c->p, c->band);
    if (bad >= 0) return ig_say(c, IG_BAD_BAND, "band %d has steps that cannot be in one, or meets another", bad);
    for (int32_t i = 0; i < c->p->n_bands; i++)
        if (c->p->buffers[ig_checked_node(c, c->p->bands[i].last)->out[0]].memory == IG_MEMORY_RING)
            return ig_say(c, IG_BAD_BAND, "what the last step of band %d writes is a ring", i);
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int ring = b->memory == IG_MEMORY_RING;
        if (ring != (b->ring_rows > 0) || (ring && !ig_is_inner(c->g, c->p, c->band, v)))
            return ig_say(c, IG_BAD_BAND, "'%s' is %s, its memory is not", ig_value_name(c, v),
                          ring ? "no ring" : "a ring");
        if (b->alias_of < 0 || (!ring && c->p->buffers[b->alias_of].memory != IG_MEMORY_RING)) continue;
        if (!ig_is_in_ring(c->g, c->p, v, b->alias_of) || band_of(c, v) != band_of(c, b->alias_of))
            return ig_say(c, IG_BAD_BAND, "'%s' is not in the ring of '%s'", ig_value_name(c, v),
                          ig_value_name(c, b->alias_of));
    }
    return IG_PLAN_OK;
}

/* When a step happens: a band at its last step. */
static int32_t time_of(const struct ig_check *c, int32_t step)
{
    return c->band[step] < 0 ? step : c->p->bands[c->band[step]].last;
}

static int check_kernel(struct ig_check *c, int32_t step)
{
    const struct ig_node *n = ig_checked_node(c, step);
    const struct ig_kernel *k = c->p->steps[step].kernel;
    struct ig_call *call = &c->calls[step];
    if (!k) {
        if (n->op == IG_RESHAPE || n->op == IG_CONCAT || n->op == IG_SLICE) return IG_PLAN_OK;
        return ig_say(c, IG_BAD_KERNEL, "step %d: '%s' has no kernel", step, n->name);
    }
    if (k->op != n->op)
        return ig_say(c, IG_BAD_KERNEL, "step %d: %s does not compute '%s'", step, k->name, n->name);
    if (!ig_isa_has(ig_isa_by_name(c->p->isa), k->isa))
        return ig_say(c, IG_BAD_KERNEL, "step %d: %s is not of %s", step, k->name, c->p->isa);
    if (!ig_placed_call(c->g, c->p, c->boxes, n, call) || (!(k->flags & IG_STRIDED) && !ig_is_dense(call)))
        return ig_say(c, IG_BAD_KERNEL, "step %d: %s cannot take the strides of '%s'", step, k->name, n->name);
    if (k->supports && !k->supports(call))
        return ig_say(c, IG_BAD_KERNEL, "step %d: %s does not support '%s'", step, k->name, n->name);
    return IG_PLAN_OK;
}

static int check_kernels(struct ig_check *c)
{
    int bad = 0;
    for (int32_t i = 0; i < c->p->n_steps && !bad; i++) bad = check_kernel(c, i);
    return bad;
}

/* Can every band go by rows, as its kernels are? */
static int check_rows_pass(struct ig_check *c)
{
    for (int32_t i = 0; i < c->p->n_bands; i++)
        if (!ig_band_can_run(c->g, c->p, &c->p->bands[i], c->calls))
            return ig_say(c, IG_BAD_BAND, "band %d has steps that cannot go by rows", i);
    return IG_PLAN_OK;
}

static void widen(int32_t *first, int32_t *last, int32_t a, int32_t b)
{
    if (a < *first) *first = a;
    if (b > *last) *last = b;
}

/* Births and last readings by the plan's order of steps; owners are held as long as anything in their storage
 * lives. */
static void find_lives(struct ig_check *c)
{
    const struct ig_graph *g = c->g;
    int32_t end = c->p->n_steps > 0 ? c->p->n_steps - 1 : 0;
    for (int32_t v = 0; v < g->n_values; v++) c->first[v] = c->last[v] = 0;
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_node *n = ig_checked_node(c, i);
        int32_t now = time_of(c, i);
        for (int32_t k = 0; k < n->n_in; k++)
            if (n->in[k] >= 0 && now > c->last[n->in[k]]) c->last[n->in[k]] = now;
        for (int32_t k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0) {
                c->first[n->out[k]] = now;
                if (c->last[n->out[k]] < now) c->last[n->out[k]] = now;
            }
    }
    for (int32_t i = 0; i < g->n_outputs; i++) c->last[g->outputs[i]] = end;
    memcpy(c->held_first, c->first, (size_t)g->n_values * sizeof *c->first);
    memcpy(c->held_last, c->last, (size_t)g->n_values * sizeof *c->last);
    for (int32_t v = 0; v < g->n_values; v++) {
        int32_t owner = c->p->buffers[v].alias_of;
        if (owner >= 0) widen(&c->held_first[owner], &c->held_last[owner], c->first[v], c->last[v]);
    }
}

static int check_order(struct ig_check *c, const struct ig_replay *replay)
{
    if (replay->verdict == IG_BAD_ORDER)
        return ig_say(c, IG_BAD_ORDER, "step %d reads '%s' before it is written", replay->step,
                   ig_value_name(c, replay->value));
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int own = b->alias_of < 0;
        int32_t first = own ? c->held_first[v] : c->first[v], last = own ? c->held_last[v] : c->last[v];
        if (b->first != first || b->last != last)
            return ig_say(c, IG_BAD_ORDER, "'%s' is needed in steps %d..%d, not %d..%d", ig_value_name(c, v), first,
                       last, b->first, b->last);
    }
    return IG_PLAN_OK;
}

/* Input k, which begins at `from` along the axis. */
static struct ig_box piece_of(const struct ig_check *c, const struct ig_node *n, int32_t k, int64_t from)
{
    int64_t start[IG_MAX_RANK] = {0};
    start[n->attrs.axis.axis] = from;
    return ig_box_part(c->g, &c->p->buffers[n->out[0]], start, c->g->values[n->in[k]].shape.dims, NULL);
}

static struct ig_box slice_of(const struct ig_check *c, const struct ig_node *n)
{
    int64_t start[IG_MAX_RANK] = {0};
    for (int32_t i = 0; i < c->g->values[n->in[0]].shape.rank; i++) start[i] = n->attrs.slice.start[i];
    return ig_box_part(c->g, &c->p->buffers[n->in[0]], start, c->g->values[n->out[0]].shape.dims,
                       n->attrs.slice.step);
}

/* A step without a kernel: are its tensors the same bytes already? */
static int check_view(struct ig_check *c, int32_t step)
{
    const struct ig_node *n = ig_checked_node(c, step);
    int64_t from = 0;
    int same = 1;
    if (c->p->steps[step].kernel) return IG_PLAN_OK;
    for (int32_t k = 0; k < n->n_in && same; k++) {
        struct ig_box in = c->boxes[n->in[k]], out = c->boxes[n->out[0]];
        if (n->op == IG_CONCAT) out = piece_of(c, n, k, from);
        if (n->op == IG_SLICE) in = slice_of(c, n);
        same = ig_box_equal(&in, &out);
        if (n->op == IG_CONCAT) from += c->g->values[n->in[k]].shape.dims[n->attrs.axis.axis];
    }
    return same ? IG_PLAN_OK
                : ig_say(c, IG_BAD_ALIAS, "step %d: nothing runs, yet '%s' moves data", step, n->name);
}

static int check_aliases(struct ig_check *c, const struct ig_replay *replay)
{
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v], *owner;
        if (b->alias_of < 0) continue;
        owner = &c->p->buffers[b->alias_of];
        if (owner->alias_of >= 0 || owner->memory != b->memory || owner->index != b->index ||
            b->offset < owner->offset ||
            (b->memory != IG_MEMORY_NONE && b->memory != IG_MEMORY_RING && ig_box_end(&c->boxes[v]) > owner->offset + owner->bytes))
            return ig_say(c, IG_BAD_ALIAS, "'%s' is not inside '%s'", ig_value_name(c, v),
                       ig_value_name(c, b->alias_of));
    }
    for (int32_t i = 0; i < c->p->n_steps; i++)
        if (check_view(c, i)) return IG_BAD_ALIAS;
    if (replay->verdict == IG_BAD_ALIAS)
        return ig_say(c, IG_BAD_ALIAS, "step %d needs '%s', which '%s' has overwritten in place", replay->step,
                   ig_value_name(c, replay->value), ig_value_name(c, replay->by));
    return IG_PLAN_OK;
}

/* All threads' scratch of a step: 0, or where it meets what lives. */
static int check_scratch(struct ig_check *c, int32_t step)
{
    const struct ig_plan_step *s = &c->p->steps[step];
    int64_t end = s->scratch_offset + s->scratch_bytes * ig_scratch_threads(c->p, s);
    for (int32_t v = 0; v < c->g->n_values && s->scratch_bytes; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        if (ig_owns_arena(c, v) && b->first <= step && step <= b->last && s->scratch_offset < b->offset + b->bytes &&
            b->offset < end)
            return ig_say(c, IG_OVERLAP_LIVE, "the scratch of step %d overlaps '%s'", step, ig_value_name(c, v));
    }
    return IG_PLAN_OK;
}

static int check_overlaps(struct ig_check *c, const struct ig_replay *replay)
{
    for (int32_t i = 0; i < c->p->n_steps; i++)
        if (check_scratch(c, i)) return IG_OVERLAP_LIVE;
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *a = &c->p->buffers[v];
        if (!ig_owns_arena(c, v)) continue;
        for (int32_t u = 0; u < v; u++) {
            const struct ig_plan_buffer *b = &c->p->buffers[u];
            if (!ig_owns_arena(c, u) || a->first > b->last || b->first > a->last) continue;
            if (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes && !ig_may_overlap(c, u, v))
                return ig_say(c, IG_OVERLAP_LIVE, "'%s' and '%s' overlap in steps %d..%d", ig_value_name(c, u),
                           ig_value_name(c, v), a->first > b->first ? a->first : b->first,
                           a->last < b->last ? a->last : b->last);
        }
    }
    for (int32_t i = 0; i < c->p->n_bands; i++) {
        int32_t clash;
        ig_band_scratch(c->g, c->p, &c->p->bands[i], c->calls, &clash);
        if (clash >= 0) return ig_say(c, IG_OVERLAP_LIVE, "the ring of '%s' is not its alone", ig_value_name(c, clash));
    }
    if (replay->verdict == IG_OVERLAP_LIVE)
        return ig_say(c, IG_OVERLAP_LIVE, "step %d needs '%s', which '%s' has overwritten", replay->step,
                   ig_value_name(c, replay->value), ig_value_name(c, replay->by));
    return IG_PLAN_OK;
}

static int check_all(struct ig_check *c)
{
    int bad = check_count(c);
    if (bad || (bad = check_bands(c)) || (bad = ig_check_stages(c))) return bad;
    for (int32_t v = 0; v < c->g->n_values; v++) c->boxes[v] = ig_box_of(c->g, &c->p->buffers[v]);
    if ((bad = check_kernels(c)) || (bad = check_rows_pass(c)) || (bad = ig_check_places(c))) return bad;
    find_lives(c);
    struct ig_replay replay = ig_replay_plan(c->g, c->p, c->band, c->boxes);
    if ((bad = check_order(c, &replay)) || (bad = check_aliases(c, &replay)) || (bad = ig_check_rows(c))) return bad;
    if ((bad = check_overlaps(c, &replay)) || (bad = ig_check_slots(c))) return bad;
    return ig_check_totals(c);
}

int ig_validate(const struct ig_graph *g, const struct ig_plan *p, int64_t memory_budget, char *why,
                size_t why_bytes)
{
    size_t values = (size_t)g->n_values;
    int32_t *lives = ig_must_alloc(4 * values, sizeof *lives);
    struct ig_check c = {.g = g, .p = p, .budget = memory_budget, .why = why, .why_bytes = why_bytes,
                      .first = lives, .last = lives + values, .held_first = lives + 2 * values,
                      .held_last = lives + 3 * values};
    c.boxes = ig_must_alloc(values, sizeof *c.boxes);
    c.calls = ig_must_alloc((size_t)(p->n_steps > 0 ? p->n_steps : 0), sizeof *c.calls);
    c.band = ig_must_alloc((size_t)(p->n_steps > 0 ? p->n_steps : 0), sizeof *c.band);
    if (why_bytes) why[0] = 0;
    int verdict = check_all(&c);
    free(lives);
    free(c.boxes);
    free(c.calls);
    free(c.band);
    return verdict;
}
