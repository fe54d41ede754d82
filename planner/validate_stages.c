/*
 * Two stages work at the same time: whatever both touch must be in a slot, with a copy for every frame that may be on
 * its way between them, and all else of theirs must lie apart.
 */
#include "planner/validate.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/stages.h"

static int32_t stage_of(const struct ig_check *c, int32_t step)
{
    return c->p->steps[step].stage;
}

int ig_check_stages(struct ig_check *c)
{
    const struct ig_plan *p = c->p;
    int32_t step = 0, gpus = 0;
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        gpus += ig_stage_is_gpu(s);
        if (gpus > 1 || (ig_stage_is_gpu(s) && (strcmp(s->processor, "gpu") || s->cores)))
            return ig_say(c, IG_BAD_COUNT, "stage %d is on '%s', of which there is one, without cores", i, s->processor);
        if (s->first != step || s->last < s->first || s->last >= p->n_steps || s->threads < 1 || s->slots < 1)
            return ig_say(c, IG_BAD_COUNT, "stage %d has steps %d..%d, %d threads and %d slots behind step %d", i,
                          s->first, s->last, s->threads, s->slots, step - 1);
        for (; step <= s->last; step++)
            if (stage_of(c, step) != i)
                return ig_say(c, IG_BAD_COUNT, "step %d is in stage %d, not %d", step, i, stage_of(c, step));
    }
    if (p->n_stages && step != p->n_steps) return ig_say(c, IG_BAD_COUNT, "step %d is in no stage", step);
    for (int32_t i = 0; p->n_stages && i < p->n_bands; i++)
        if (stage_of(c, p->bands[i].first) != stage_of(c, p->bands[i].last))
            return ig_say(c, IG_BAD_BAND, "band %d is in two stages", i);
    return IG_PLAN_OK;
}

/* From which stage to which one storage is touched, by the graph; -1 and n_stages: the caller. */
static void span_of(const struct ig_check *c, int32_t v, int32_t *from, int32_t *to)
{
    const struct ig_plan_buffer *b = &c->p->buffers[v];
    *from = b->memory == IG_MEMORY_INPUT ? -1 : stage_of(c, c->held_first[v]);
    *to = b->memory == IG_MEMORY_OUTPUT ? c->p->n_stages : stage_of(c, c->held_last[v]);
}

/* Slot of storage v; -1: none. */
static int32_t slot_of(const struct ig_check *c, int32_t v)
{
    int32_t i = 0;
    while (i < c->p->n_slots && c->p->slots[i].value != v) i++;
    return i < c->p->n_slots ? i : -1;
}

/* A copy for every stage behind the first that may hold another frame, and those that its plan gives its neighbour. */
static int check_slot(struct ig_check *c, int32_t v)
{
    const struct ig_plan_buffer *b = &c->p->buffers[v];
    int32_t from, to, i = slot_of(c, v);
    span_of(c, v, &from, &to);
    if (from == to && i < 0 && b->memory == IG_MEMORY_ARENA) return IG_PLAN_OK;
    if (i < 0 || from == to || b->memory == IG_MEMORY_ARENA || (b->memory == IG_MEMORY_SLOT && b->index != i))
        return ig_say(c, IG_SLOT_RACE, "'%s' passes from stage %d to %d, its memory is not so", ig_value_name(c, v),
                      from, to);
    const struct ig_plan_slot *s = &c->p->slots[i];
    int32_t copies = to - from - 1 + c->p->stages[from < 0 ? 0 : from].slots;
    if (s->from != from || s->to != to || s->copies < copies)
        return ig_say(c, IG_SLOT_RACE, "'%s' passes from stage %d to %d through %d slots, not from %d to %d through %d",
                      ig_value_name(c, v), from, to, copies, s->from, s->to, s->copies);
    if (s->bytes < b->bytes || s->bytes % IG_ALIGN || s->offset % IG_ALIGN)
        return ig_say(c, IG_SLOT_RACE, "the slots of '%s' overlap, or lie askew", ig_value_name(c, v));
    return IG_PLAN_OK;
}

struct extent { /* bytes of the arena that are one stage's, or a slot's */
    int64_t offset, end;
    int32_t stage;
    const char *name;
};

static int by_offset(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Sorted by offset, those of a stage may meet: what is kept is the furthest end so far, and the furthest of another. */
static int check_apart(struct ig_check *c, struct extent *e, int32_t n)
{
    struct extent far = {0, 0, -1, ""}, other = far;
    qsort(e, (size_t)n, sizeof *e, by_offset);
    for (int32_t i = 0; i < n; i++) {
        const struct extent *met = e[i].stage == far.stage ? &other : &far;
        if (e[i].offset < met->end)
            return ig_say(c, IG_SLOT_RACE, "'%s' and '%s', which are in use at the same time, overlap", met->name,
                          e[i].name);
        if (e[i].stage == far.stage) {
            if (e[i].end > far.end) far = e[i];
        } else if (e[i].end > far.end) {
            other = far;
            far = e[i];
        } else if (e[i].end > other.end) {
            other = e[i];
        }
    }
    return IG_PLAN_OK;
}

int ig_check_slots(struct ig_check *c)
{
    const struct ig_plan *p = c->p;
    int32_t n = 0, bad = 0;
    if (!p->n_stages) return p->n_slots ? ig_say(c, IG_SLOT_RACE, "slots, but no stages") : IG_PLAN_OK;
    struct extent *e = ig_must_alloc((size_t)(p->n_buffers + p->n_steps + p->n_slots), sizeof *e);
    for (int32_t v = 0; v < p->n_buffers && !bad; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (b->alias_of >= 0 || b->memory == IG_MEMORY_NONE || b->memory == IG_MEMORY_WEIGHTS ||
            b->memory == IG_MEMORY_RING)
            continue;
        bad = check_slot(c, v);
        if (b->memory == IG_MEMORY_ARENA)
            e[n++] =
                (struct extent){b->offset, b->offset + b->bytes, stage_of(c, c->held_first[v]), ig_value_name(c, v)};
    }
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        int64_t bytes = s->scratch_bytes * ig_scratch_threads(p, s);
        if (bytes) e[n++] = (struct extent){s->scratch_offset, s->scratch_offset + bytes, s->stage, "scratch"};
    }
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        if (!bad && (s->copies < 1 || s->value < 0 || s->value >= p->n_buffers || slot_of(c, s->value) != i))
            bad = ig_say(c, IG_SLOT_RACE, "slot %d is of nothing, or of what has one", i);
        if (!bad)
            e[n++] = (struct extent){s->offset, s->offset + s->copies * s->bytes, p->n_stages + i,
                                     ig_value_name(c, s->value)};
    }
    if (!bad) bad = check_apart(c, e, n);
    free(e);
    return bad;
}
