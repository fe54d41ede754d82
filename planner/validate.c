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
#include "planner/validate_bands.h"
#include "planner/validate_call.h"

struct check {
    const struct ig_graph *g;
    const struct ig_plan *p;
    struct ig_box *boxes;        /* [n_values] */
    struct ig_call *calls;       /* [n_steps], as the plan's strides say; empty where nothing runs */
    int32_t *first, *last;       /* [n_values] steps: born, last read */
    int32_t *held_first, *held_last; /* [n_values] the same of an owner and all that share its storage */
    int32_t *band;               /* [n_steps] the band that a step is in, or -1 */
    int64_t budget;
    char *why;
    size_t why_bytes;
};

__attribute__((format(printf, 3, 4))) static int say(struct check *c, int verdict, const char *format, ...)
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
        "OK",        "BAD_COUNT", "BAD_BAND", "BAD_KERNEL", "BAD_SIZE", "MISALIGNED", "OUT_OF_ARENA", "BAD_ORDER",
        "BAD_ALIAS", "BAD_CUT", "READ_OVERWRITTEN", "OVERLAP_LIVE", "BAD_HEIGHT", "BAD_BOUND", "OVER_BUDGET"};
    return verdict >= 0 && verdict < IG_VERDICTS ? names[verdict] : "?";
}

static const char *value_name(const struct check *c, int32_t v)
{
    return c->g->values[v].name;
}

static const struct ig_node *node_of(const struct check *c, int32_t step)
{
    return &c->g->nodes[c->p->steps[step].node];
}

static int check_count(struct check *c)
{
    const struct ig_graph *g = c->g;
    const struct ig_plan *p = c->p;
    if (p->n_steps != g->n_nodes)
        return say(c, IG_BAD_COUNT, "%d steps for %d nodes", p->n_steps, g->n_nodes);
    if (p->n_buffers != g->n_values)
        return say(c, IG_BAD_COUNT, "%d buffers for %d values", p->n_buffers, g->n_values);
    for (int32_t v = 0; v < g->n_values; v++) {
        if (p->buffers[v].value != v) return say(c, IG_BAD_COUNT, "no buffer for '%s'", value_name(c, v));
        if (p->buffers[v].alias_of < -1 || p->buffers[v].alias_of >= g->n_values)
            return say(c, IG_BAD_COUNT, "'%s' is an alias of nothing", value_name(c, v));
    }
    uint8_t *seen = ig_must_alloc((size_t)g->n_nodes, 1);
    int bad = 0;
    for (int32_t i = 0; i < p->n_steps && !bad; i++) {
        int32_t node = p->steps[i].node;
        if (node < 0 || node >= g->n_nodes)
            bad = say(c, IG_BAD_COUNT, "step %d runs no node", i);
        else if (seen[node]++)
            bad = say(c, IG_BAD_COUNT, "node '%s' runs twice", g->nodes[node].name);
    }
    free(seen);
    return bad;
}

/* Bands are chains, no step is in two, and what they hand on inside is in rings, nothing else is. */
static int check_bands(struct check *c)
{
    int32_t bad = ig_walk_bands(c->g, c->p, c->band);
    if (bad >= 0) return say(c, IG_BAD_BAND, "band %d is no chain, or meets another", bad);
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int inner = ig_is_inner(c->g, c->p, c->band, v);
        if (inner != (b->memory == IG_MEMORY_RING) || inner != (b->ring_rows > 0) || (inner && b->alias_of >= 0))
            return say(c, IG_BAD_BAND, "'%s' is %s, its memory is not", value_name(c, v),
                       inner ? "a ring" : "no ring");
        if (b->alias_of >= 0 && c->p->buffers[b->alias_of].memory == IG_MEMORY_RING)
            return say(c, IG_BAD_BAND, "'%s' shares a ring", value_name(c, v));
    }
    return IG_PLAN_OK;
}

/* When a step happens: a band at its last step. */
static int32_t time_of(const struct check *c, int32_t step)
{
    return c->band[step] < 0 ? step : c->p->bands[c->band[step]].last;
}

static int check_kernel(struct check *c, int32_t step)
{
    const struct ig_node *n = node_of(c, step);
    const struct ig_kernel *k = c->p->steps[step].kernel;
    struct ig_call *call = &c->calls[step];
    if (!k) {
        if (n->op == IG_RESHAPE || n->op == IG_CONCAT || n->op == IG_SLICE) return IG_PLAN_OK;
        return say(c, IG_BAD_KERNEL, "step %d: '%s' has no kernel", step, n->name);
    }
    if (k->op != n->op)
        return say(c, IG_BAD_KERNEL, "step %d: %s does not compute '%s'", step, k->name, n->name);
    if (k->isa != IG_ISA_REF && strcmp(ig_isa_name(k->isa), c->p->isa))
        return say(c, IG_BAD_KERNEL, "step %d: %s is not of %s", step, k->name, c->p->isa);
    if (!ig_placed_call(c->g, c->p, c->boxes, n, call) || (!(k->flags & IG_STRIDED) && !ig_is_dense(call)))
        return say(c, IG_BAD_KERNEL, "step %d: %s cannot take the strides of '%s'", step, k->name, n->name);
    if (k->supports && !k->supports(call))
        return say(c, IG_BAD_KERNEL, "step %d: %s does not support '%s'", step, k->name, n->name);
    return IG_PLAN_OK;
}

static int check_kernels(struct check *c)
{
    int bad = 0;
    for (int32_t i = 0; i < c->p->n_steps && !bad; i++) bad = check_kernel(c, i);
    return bad;
}

static int check_sizes(struct check *c)
{
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int64_t bytes = b->ring_rows ? ig_ring_bytes(c->g, b) : ig_bytes(&c->g->values[v].shape);
        if (b->bytes != bytes)
            return say(c, IG_BAD_SIZE, "'%s' has %lld bytes, not %lld", value_name(c, v), (long long)bytes,
                       (long long)b->bytes);
        int64_t end = b->ring_rows || b->memory == IG_MEMORY_NONE ? b->offset + bytes : ig_box_end(&c->boxes[v]);
        if (b->alias_of < 0 && end - b->offset != bytes)
            return say(c, IG_BAD_SIZE, "'%s' owns its storage but is not dense", value_name(c, v));
    }
    return IG_PLAN_OK;
}

static int check_alignment(struct check *c)
{
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int64_t align = b->alias_of < 0 ? IG_ALIGN : ig_type_bytes(c->g->values[v].shape.type);
        if (b->offset % align)
            return say(c, IG_MISALIGNED, "'%s' lies at %lld, no multiple of %lld", value_name(c, v),
                       (long long)b->offset, (long long)align);
    }
    for (int32_t i = 0; i < c->p->n_steps; i++)
        if (c->p->steps[i].scratch_offset % IG_ALIGN)
            return say(c, IG_MISALIGNED, "the scratch of step %d lies at %lld", i,
                       (long long)c->p->steps[i].scratch_offset);
    return IG_PLAN_OK;
}

/* Bytes of the memory that v is in; -1: no such memory for it. */
static int64_t memory_bytes(const struct check *c, int32_t v)
{
    const struct ig_plan_buffer *b = &c->p->buffers[v];
    const struct ig_graph *g = c->g;
    switch (b->memory) {
    case IG_MEMORY_NONE: return ig_is_const(g, v) ? INT64_MAX : -1;
    case IG_MEMORY_ARENA:
        return ig_is_const(g, v) || ig_is_input(g, v) || ig_is_output(g, v) ? -1 : c->p->arena_bytes;
    case IG_MEMORY_RING: return c->p->scratch_bytes;
    case IG_MEMORY_WEIGHTS: return ig_is_input(g, v) || ig_is_output(g, v) ? -1 : c->p->weights_bytes;
    case IG_MEMORY_INPUT:
        return b->index < 0 || b->index >= g->n_inputs ? -1 : ig_bytes(&g->values[g->inputs[b->index]].shape);
    case IG_MEMORY_OUTPUT:
        return b->index < 0 || b->index >= g->n_outputs ? -1
                                                        : ig_bytes(&g->values[g->outputs[b->index]].shape);
    default: return -1;
    }
}

static int check_range(struct check *c)
{
    const struct ig_graph *g = c->g;
    for (int32_t v = 0; v < g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int64_t room = memory_bytes(c, v);
        if (room < 0)
            return say(c, IG_OUT_OF_ARENA, "'%s' is in a memory where it cannot be", value_name(c, v));
        int64_t end = b->ring_rows ? b->offset + b->bytes : ig_box_end(&c->boxes[v]);
        if (b->offset < 0 || end > room)
            return say(c, IG_OUT_OF_ARENA, "'%s' ends at %lld of %lld bytes", value_name(c, v), (long long)end,
                       (long long)room);
    }
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_plan_step *s = &c->p->steps[i];
        if (s->scratch_offset < 0 || s->scratch_bytes < 0 ||
            s->scratch_offset + s->scratch_bytes * ig_scratch_threads(c->p, s) > c->p->arena_bytes)
            return say(c, IG_OUT_OF_ARENA, "the scratch of step %d ends behind the arena", i);
    }
    for (int32_t i = 0; i < g->n_inputs + g->n_outputs; i++) {
        int is_input = i < g->n_inputs, index = is_input ? i : i - g->n_inputs;
        const struct ig_plan_buffer *b = &c->p->buffers[is_input ? g->inputs[index] : g->outputs[index]];
        int32_t memory = is_input ? IG_MEMORY_INPUT : IG_MEMORY_OUTPUT;
        if (b->memory != memory || b->index != index || b->offset)
            return say(c, IG_OUT_OF_ARENA, "'%s' is not the caller's %s %d", value_name(c, b->value),
                       is_input ? "input" : "output", index);
    }
    return IG_PLAN_OK;
}

static void widen(int32_t *first, int32_t *last, int32_t a, int32_t b)
{
    if (a < *first) *first = a;
    if (b > *last) *last = b;
}

/* Births and last readings by the plan's order of steps; owners are held as long as anything in their storage
 * lives. */
static void find_lives(struct check *c)
{
    const struct ig_graph *g = c->g;
    int32_t end = c->p->n_steps > 0 ? c->p->n_steps - 1 : 0;
    for (int32_t v = 0; v < g->n_values; v++) c->first[v] = c->last[v] = 0;
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_node *n = node_of(c, i);
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

static int check_order(struct check *c, const struct ig_replay *replay)
{
    if (replay->verdict == IG_BAD_ORDER)
        return say(c, IG_BAD_ORDER, "step %d reads '%s' before it is written", replay->step,
                   value_name(c, replay->value));
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        int own = b->alias_of < 0;
        int32_t first = own ? c->held_first[v] : c->first[v], last = own ? c->held_last[v] : c->last[v];
        if (b->first != first || b->last != last)
            return say(c, IG_BAD_ORDER, "'%s' is needed in steps %d..%d, not %d..%d", value_name(c, v), first,
                       last, b->first, b->last);
    }
    return IG_PLAN_OK;
}

static struct ig_box piece_of(const struct check *c, const struct ig_node *n, int32_t k)
{
    int64_t start[IG_MAX_RANK] = {0};
    int32_t axis = n->attrs.axis.axis;
    for (int32_t i = 0; i < k; i++) start[axis] += c->g->values[n->in[i]].shape.dims[axis];
    return ig_box_part(c->g, &c->p->buffers[n->out[0]], start, c->g->values[n->in[k]].shape.dims, NULL);
}

static struct ig_box slice_of(const struct check *c, const struct ig_node *n)
{
    int64_t start[IG_MAX_RANK] = {0};
    for (int32_t i = 0; i < c->g->values[n->in[0]].shape.rank; i++) start[i] = n->attrs.slice.start[i];
    return ig_box_part(c->g, &c->p->buffers[n->in[0]], start, c->g->values[n->out[0]].shape.dims,
                       n->attrs.slice.step);
}

/* A step without a kernel: are its tensors the same bytes already? */
static int check_view(struct check *c, int32_t step)
{
    const struct ig_node *n = node_of(c, step);
    int same = 1;
    if (c->p->steps[step].kernel) return IG_PLAN_OK;
    for (int32_t k = 0; k < n->n_in && same; k++) {
        struct ig_box in = c->boxes[n->in[k]], out = c->boxes[n->out[0]];
        if (n->op == IG_CONCAT) out = piece_of(c, n, k);
        if (n->op == IG_SLICE) in = slice_of(c, n);
        same = ig_box_equal(&in, &out);
    }
    return same ? IG_PLAN_OK
                : say(c, IG_BAD_ALIAS, "step %d: nothing runs, yet '%s' moves data", step, n->name);
}

static int check_aliases(struct check *c, const struct ig_replay *replay)
{
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v], *owner;
        if (b->alias_of < 0) continue;
        owner = &c->p->buffers[b->alias_of];
        if (owner->alias_of >= 0 || owner->memory != b->memory || owner->index != b->index ||
            b->offset < owner->offset ||
            (b->memory != IG_MEMORY_NONE && ig_box_end(&c->boxes[v]) > owner->offset + owner->bytes))
            return say(c, IG_BAD_ALIAS, "'%s' is not inside '%s'", value_name(c, v),
                       value_name(c, b->alias_of));
    }
    for (int32_t i = 0; i < c->p->n_steps; i++)
        if (check_view(c, i)) return IG_BAD_ALIAS;
    if (replay->verdict == IG_BAD_ALIAS)
        return say(c, IG_BAD_ALIAS, "step %d needs '%s', which '%s' has overwritten in place", replay->step,
                   value_name(c, replay->value), value_name(c, replay->by));
    return IG_PLAN_OK;
}

static int check_cuts(struct check *c)
{
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_plan_step *s = &c->p->steps[i];
        int64_t chunks = 1;
        if (s->split < 0 || s->split > 2 || (!s->kernel && s->split))
            return say(c, IG_BAD_CUT, "step %d: split %d", i, s->split);
        if (s->split) {
            struct ig_range full = ig_full_range(&c->calls[i]);
            int64_t extent = s->split == 1 ? full.y1 : full.c1;
            int32_t tile = s->split == 1 ? s->kernel->row_tile : s->kernel->col_tile;
            if (!tile || s->chunk <= 0 || s->chunk % tile)
                return say(c, IG_BAD_CUT, "step %d: chunk %d, tile %d", i, s->chunk, tile);
            chunks = (extent + s->chunk - 1) / s->chunk;
        }
        if (s->chunks != chunks)
            return say(c, IG_BAD_CUT, "step %d: %d chunks, not %lld", i, s->chunks, (long long)chunks);
    }
    return IG_PLAN_OK;
}

static int check_rings(struct check *c)
{
    for (int32_t i = 0; i < c->p->n_bands; i++) {
        int32_t v = ig_replay_band(c->g, c->p, &c->p->bands[i], c->calls);
        if (v == -2) return say(c, IG_BAD_CUT, "band %d cannot run by phases of %d rows", i, c->p->bands[i].rows);
        if (v >= 0)
            return say(c, IG_READ_OVERWRITTEN, "band %d needs rows of '%s' that its ring of %d has lost", i,
                       value_name(c, v), c->p->buffers[v].ring_rows);
    }
    return IG_PLAN_OK;
}

static int64_t round_up(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

static int owns_arena(const struct check *c, int32_t v)
{
    return c->p->buffers[v].alias_of < 0 && c->p->buffers[v].memory == IG_MEMORY_ARENA;
}

/* All threads' scratch of a step: 0, or where it meets what lives. */
static int check_scratch(struct check *c, int32_t step)
{
    const struct ig_plan_step *s = &c->p->steps[step];
    int64_t end = s->scratch_offset + s->scratch_bytes * ig_scratch_threads(c->p, s);
    for (int32_t v = 0; v < c->g->n_values && s->scratch_bytes; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        if (owns_arena(c, v) && b->first <= step && step <= b->last && s->scratch_offset < b->offset + b->bytes &&
            b->offset < end)
            return say(c, IG_OVERLAP_LIVE, "the scratch of step %d overlaps '%s'", step, value_name(c, v));
    }
    return IG_PLAN_OK;
}

static int check_overlaps(struct check *c, const struct ig_replay *replay)
{
    for (int32_t i = 0; i < c->p->n_steps; i++)
        if (check_scratch(c, i)) return IG_OVERLAP_LIVE;
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *a = &c->p->buffers[v];
        if (!owns_arena(c, v)) continue;
        for (int32_t u = 0; u < v; u++) {
            const struct ig_plan_buffer *b = &c->p->buffers[u];
            if (!owns_arena(c, u) || a->first > b->last || b->first > a->last) continue;
            if (a->offset < b->offset + b->bytes && b->offset < a->offset + a->bytes)
                return say(c, IG_OVERLAP_LIVE, "'%s' and '%s' overlap in steps %d..%d", value_name(c, u),
                           value_name(c, v), a->first > b->first ? a->first : b->first,
                           a->last < b->last ? a->last : b->last);
        }
    }
    for (int32_t i = 0; i < c->p->n_bands; i++) {
        int32_t clash;
        ig_band_scratch(c->g, c->p, &c->p->bands[i], c->calls, &clash);
        if (clash >= 0) return say(c, IG_OVERLAP_LIVE, "the ring of '%s' is not its alone", value_name(c, clash));
    }
    if (replay->verdict == IG_OVERLAP_LIVE)
        return say(c, IG_OVERLAP_LIVE, "step %d needs '%s', which '%s' has overwritten", replay->step,
                   value_name(c, replay->value), value_name(c, replay->by));
    return IG_PLAN_OK;
}

/* Scratch of a step, or of the band that ends there. */
static int64_t needed_scratch(const struct check *c, int32_t step)
{
    const struct ig_kernel *k = c->p->steps[step].kernel;
    int32_t band = c->band[step], clash;
    if (band < 0) return k && k->scratch ? round_up((int64_t)k->scratch(&c->calls[step])) : 0;
    return c->p->bands[band].last == step ? ig_band_scratch(c->g, c->p, &c->p->bands[band], c->calls, &clash) : 0;
}

/* Bytes of the blob: zeros, packed weights, and each constant that a step reads as it is. */
static int64_t needed_weights(const struct check *c)
{
    int64_t zeros = IG_ALIGN, weights = 0;
    uint8_t *counted = ig_must_alloc((size_t)c->g->n_values, 1);
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_kernel *k = c->p->steps[i].kernel;
        const struct ig_node *n = node_of(c, i);
        if (!k) continue;
        int64_t zero = ig_reads_zeros((enum ig_op)n->op) ? (int64_t)ig_zeros_bytes(&c->calls[i]) : 0;
        if (zero > zeros) zeros = zero;
        if (k->pack) weights += round_up((int64_t)k->pack(&c->calls[i], NULL));
        for (int32_t j = 0; j < n->n_in; j++) {
            int32_t v = n->in[j];
            if (v < 0 || c->p->buffers[v].memory != IG_MEMORY_WEIGHTS) continue;
            if (k->pack && (j == 1 || j == 2) && ig_is_const(c->g, v)) continue;
            if (c->p->buffers[v].alias_of >= 0) v = c->p->buffers[v].alias_of;
            if (!counted[v]++) weights += round_up(ig_bytes(&c->g->values[v].shape));
        }
    }
    free(counted);
    return weights + round_up(zeros);
}

static int check_height(struct check *c)
{
    int64_t height = 0, scratch = 0, weights = needed_weights(c);
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_plan_step *s = &c->p->steps[i];
        int64_t bytes = needed_scratch(c, i), end = s->scratch_offset + bytes * ig_scratch_threads(c->p, s);
        if (s->scratch_bytes != bytes)
            return say(c, IG_BAD_HEIGHT, "step %d needs %lld bytes of scratch, not %lld", i, (long long)bytes,
                       (long long)s->scratch_bytes);
        if (bytes > scratch) scratch = bytes;
        if (bytes && end > height) height = end;
    }
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        if (owns_arena(c, v) && b->offset + b->bytes > height) height = b->offset + b->bytes;
    }
    const struct { const char *what; int64_t has, needs; } totals[] = {
        {"arena", c->p->arena_bytes, height},
        {"scratch", c->p->scratch_bytes, scratch},
        {"weights", c->p->weights_bytes, weights}};
    for (int i = 0; i < 3; i++)
        if (totals[i].has != totals[i].needs)
            return say(c, IG_BAD_HEIGHT, "%s is %lld bytes, not %lld", totals[i].what,
                       (long long)totals[i].needs, (long long)totals[i].has);
    return IG_PLAN_OK;
}

static int check_bound(struct check *c)
{
    int64_t most = 0;
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_plan_step *s = &c->p->steps[i];
        int64_t live = s->scratch_bytes * ig_scratch_threads(c->p, s);
        for (int32_t v = 0; v < c->g->n_values; v++)
            if (owns_arena(c, v) && c->held_first[v] <= i && i <= c->held_last[v])
                live += ig_bytes(&c->g->values[v].shape);
        if (live > most) most = live;
    }
    if (most == c->p->arena_lower_bound_bytes) return IG_PLAN_OK;
    return say(c, IG_BAD_BOUND, "lower bound is %lld bytes, not %lld", (long long)most,
               (long long)c->p->arena_lower_bound_bytes);
}

static int check_budget(struct check *c)
{
    int64_t memory = c->p->arena_bytes + c->p->weights_bytes;
    if (c->budget <= 0 || memory <= c->budget) return IG_PLAN_OK;
    return say(c, IG_OVER_BUDGET, "%lld bytes, %lld over the budget", (long long)memory,
               (long long)(memory - c->budget));
}

static int check_all(struct check *c)
{
    int bad = check_count(c);
    if (bad || (bad = check_bands(c))) return bad;
    for (int32_t v = 0; v < c->g->n_values; v++) c->boxes[v] = ig_box_of(c->g, &c->p->buffers[v]);
    if ((bad = check_kernels(c)) || (bad = check_sizes(c)) || (bad = check_alignment(c)) ||
        (bad = check_range(c)))
        return bad;
    find_lives(c);
    struct ig_replay replay = ig_replay_plan(c->g, c->p, c->band, c->boxes);
    if ((bad = check_order(c, &replay)) || (bad = check_aliases(c, &replay)) || (bad = check_cuts(c)))
        return bad;
    if ((bad = check_rings(c))) return bad;
    if ((bad = check_overlaps(c, &replay)) || (bad = check_height(c)) || (bad = check_bound(c))) return bad;
    return check_budget(c);
}

int ig_validate(const struct ig_graph *g, const struct ig_plan *p, int64_t memory_budget, char *why,
                size_t why_bytes)
{
    size_t values = (size_t)g->n_values;
    int32_t *lives = ig_must_alloc(4 * values, sizeof *lives);
    struct check c = {.g = g, .p = p, .budget = memory_budget, .why = why, .why_bytes = why_bytes,
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
