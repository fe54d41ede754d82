/* Are the plan's totals those of its buffers and steps? */
#include "planner/validate.h"

#include <stdlib.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"
#include "planner/validate_bands.h"

static int64_t round_up(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

/* Scratch of a step, or of the band that ends there. */
static int64_t needed_scratch(const struct ig_check *c, int32_t step)
{
    const struct ig_kernel *k = c->p->steps[step].kernel;
    int32_t band = c->band[step], clash;
    if (band < 0) return k && k->scratch ? round_up((int64_t)k->scratch(&c->calls[step])) : 0;
    return c->p->bands[band].last == step ? ig_band_scratch(c->g, c->p, &c->p->bands[band], c->calls, &clash) : 0;
}

/* Bytes of the blob: zeros, packed weights, and each constant that a step reads as it is. */
static int64_t needed_weights(const struct ig_check *c)
{
    int64_t zeros = IG_ALIGN, weights = 0;
    uint8_t *counted = ig_must_alloc((size_t)c->g->n_values, 1);
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_kernel *k = c->p->steps[i].kernel;
        const struct ig_node *n = ig_checked_node(c, i);
        if (!k) continue;
        int64_t zero = (int64_t)ig_zeros_read(k, &c->calls[i]);
        if (zero > zeros) zeros = zero;
        if (k->pack) weights += round_up((int64_t)k->pack(&c->calls[i], NULL));
        for (int32_t j = 0; j < n->n_in; j++) {
            int32_t v = n->in[j];
            if (v < 0 || c->p->buffers[v].memory != IG_MEMORY_WEIGHTS) continue;
            if (ig_packs_input(k, j) && ig_is_const(c->g, v)) continue;
            if (c->p->buffers[v].alias_of >= 0) v = c->p->buffers[v].alias_of;
            if (!counted[v]++) weights += round_up(ig_bytes(&c->g->values[v].shape));
        }
    }
    free(counted);
    return weights + round_up(zeros);
}

static int check_height(struct ig_check *c)
{
    int64_t height = 0, scratch = 0, weights = needed_weights(c);
    for (int32_t i = 0; i < c->p->n_steps; i++) {
        const struct ig_plan_step *s = &c->p->steps[i];
        int64_t bytes = needed_scratch(c, i), end = s->scratch_offset + bytes * ig_scratch_threads(c->p, s);
        if (s->scratch_bytes != bytes)
            return ig_say(c, IG_BAD_HEIGHT, "step %d needs %lld bytes of scratch, not %lld", i, (long long)bytes,
                       (long long)s->scratch_bytes);
        if (bytes > scratch) scratch = bytes;
        if (bytes && end > height) height = end;
    }
    for (int32_t v = 0; v < c->g->n_values; v++) {
        const struct ig_plan_buffer *b = &c->p->buffers[v];
        if (ig_owns_arena(c, v) && b->offset + b->bytes > height) height = b->offset + b->bytes;
    }
    for (int32_t i = 0; i < c->p->n_slots; i++) {
        const struct ig_plan_slot *s = &c->p->slots[i];
        if (s->offset + s->copies * s->bytes > height) height = s->offset + s->copies * s->bytes;
    }
    const struct { const char *what; int64_t has, needs; } totals[] = {
        {"arena", c->p->arena_bytes, height},
        {"scratch", c->p->scratch_bytes, scratch},
        {"weights", c->p->weights_bytes, weights}};
    for (int i = 0; i < 3; i++)
        if (totals[i].has != totals[i].needs)
            return ig_say(c, IG_BAD_HEIGHT, "%s is %lld bytes, not %lld", totals[i].what,
                       (long long)totals[i].needs, (long long)totals[i].has);
    return IG_PLAN_OK;
}

/* Most live bytes of the steps from `first` to `last`. */
static int64_t most_live(const struct ig_check *c, int32_t first, int32_t last)
{
    int64_t most = 0;
    for (int32_t i = first; i <= last; i++) {
        const struct ig_plan_step *s = &c->p->steps[i];
        int64_t live = s->scratch_bytes * ig_scratch_threads(c->p, s) - ig_most_overlap(c, i);
        for (int32_t v = 0; v < c->g->n_values; v++)
            if (ig_owns_arena(c, v) && c->held_first[v] <= i && i <= c->held_last[v])
                live += ig_bytes(&c->g->values[v].shape);
        if (live > most) most = live;
    }
    return most;
}

/* Stages hold what they hold at the same time. */
static int check_bound(struct ig_check *c)
{
    int64_t most = c->p->n_stages ? 0 : most_live(c, 0, c->p->n_steps - 1);
    for (int32_t i = 0; i < c->p->n_stages; i++)
        most += round_up(most_live(c, c->p->stages[i].first, c->p->stages[i].last));
    for (int32_t i = 0; i < c->p->n_slots; i++) most += c->p->slots[i].copies * c->p->slots[i].bytes;
    if (most == c->p->arena_lower_bound_bytes) return IG_PLAN_OK;
    return ig_say(c, IG_BAD_BOUND, "lower bound is %lld bytes, not %lld", (long long)most,
               (long long)c->p->arena_lower_bound_bytes);
}

static int check_budget(struct ig_check *c)
{
    int64_t memory = c->p->arena_bytes + c->p->weights_bytes;
    if (c->budget <= 0 || memory <= c->budget) return IG_PLAN_OK;
    return ig_say(c, IG_OVER_BUDGET, "%lld bytes, %lld over the budget", (long long)memory,
               (long long)(memory - c->budget));
}

int ig_check_totals(struct ig_check *c)
{
    int bad = check_height(c);
    if (bad || (bad = check_bound(c))) return bad;
    return check_budget(c);
}
