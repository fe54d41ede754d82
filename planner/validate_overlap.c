/* What may lie over what else: that no row is lost, the replay of the bands has shown. */
#include <stdlib.h>

#include "planner/validate.h"
#include "planner/validate_bands.h"

static int32_t owner_of(const struct ig_check *c, int32_t v)
{
    int32_t owner = c->p->buffers[v].alias_of;
    return owner < 0 ? v : owner;
}

/* Does no step of the band write into v's storage, but the last one where it is `out`? Steps that run nothing write nothing. */
static int is_written_by_last_alone(const struct ig_check *c, const struct ig_band *b, int32_t v, int out)
{
    for (int32_t i = b->first; i <= b->last; i++) {
        const struct ig_node *n = ig_checked_node(c, i);
        for (int32_t k = 0; c->p->steps[i].kernel && k < n->n_out; k++)
            if (n->out[k] >= 0 && owner_of(c, n->out[k]) == v && (!out || i < b->last || n->out[k] != v)) return 0;
    }
    return !out || ig_checked_node(c, b->last)->out[0] == v;
}

/* The band at whose end x dies and y is born of its last step, which is not cut; NULL: there is none. */
static const struct ig_band *meeting(const struct ig_check *c, int32_t x, int32_t y)
{
    int32_t time = c->held_last[x];
    if (time != c->held_first[y] || c->band[time] < 0) return NULL;
    const struct ig_band *b = &c->p->bands[c->band[time]];
    if (c->held_first[x] >= b->first || c->p->steps[b->last].split || !c->p->steps[b->last].kernel) return NULL;
    return is_written_by_last_alone(c, b, x, 0) && is_written_by_last_alone(c, b, y, 1) ? b : NULL;
}

int ig_may_overlap(const struct ig_check *c, int32_t x, int32_t y)
{
    return meeting(c, x, y) || meeting(c, y, x);
}

/* Does each step of the band that reads what is in x's storage read all of x, once, by rows of its own? */
static int is_read_by_rows(const struct ig_check *c, const struct ig_band *b, int32_t x)
{
    int any = 0;
    for (int32_t i = b->first; i <= b->last; i++) {
        const struct ig_node *n = ig_checked_node(c, i);
        int reads = 0;
        for (int32_t k = 0; c->p->steps[i].kernel && k < n->n_in; k++) {
            if (n->in[k] < 0 || owner_of(c, n->in[k]) != x) continue;
            const struct ig_operand *in = &c->calls[i].in[k];
            int64_t row = in->row_stride * ig_type_bytes(in->shape->type);
            if (reads++ || n->op == IG_RESIZE || in->h * row != ig_bytes(&c->g->values[x].shape)) return 0;
            any = 1;
        }
    }
    return any;
}

int64_t ig_most_overlap(const struct ig_check *c, int32_t step)
{
    int64_t most = 0;
    int32_t band = c->band[step];
    if (band < 0 || c->p->bands[band].last != step) return 0;
    const struct ig_band *b = &c->p->bands[band];
    int32_t y = ig_checked_node(c, step)->out[0];
    if (y < 0 || !ig_owns_arena(c, y)) return 0;
    for (int32_t x = 0; x < c->g->n_values; x++) {
        if (x == y || !ig_owns_arena(c, x) || meeting(c, x, y) != b || !is_read_by_rows(c, b, x)) continue;
        int64_t in = ig_bytes(&c->g->values[x].shape), out = ig_bytes(&c->g->values[y].shape);
        int64_t distance = ig_replay_distance(c->g, c->p, b, c->calls, x);
        int64_t both = distance + in > out ? distance + in : out;
        if (distance > 0 && in + out - both > most) most = in + out - both;
    }
    return most;
}
