#include "planner/stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/select.h"

static const double near = 0.1; /* stages whose times differ by less jitter in turns: a slot more evens it out */

static int check_stages(const struct ig_graph *g, const int32_t *stage_of, const struct ig_plan_stage *stages,
                        int32_t n, char *err, size_t err_bytes)
{
    int32_t at = 0;
    if (n < 1 || n > IG_PLAN_STAGES || n > g->n_nodes) {
        snprintf(err, err_bytes, "%d stages for %d steps: from 1 to %d, a step each at least", n, g->n_nodes,
                 IG_PLAN_STAGES);
        return -1;
    }
    for (int32_t i = 0; i < g->n_nodes; at = stage_of[i++])
        if (stage_of[i] < at || stage_of[i] > at + (i > 0) || stage_of[i] >= n) {
            snprintf(err, err_bytes, "node '%s' is in stage %d behind one of stage %d: stages are runs of steps",
                     g->nodes[i].name, stage_of[i], at);
            return -1;
        }
    if (at != n - 1) {
        snprintf(err, err_bytes, "stage %d has no steps", at + 1);
        return -1;
    }
    for (int32_t i = 0; i < n; i++)
        if (stages[i].threads < 1 || stages[i].slots < 0 || stages[i].slots > 16) {
            snprintf(err, err_bytes, "stage %d: %d threads, %d slots", i, stages[i].threads, stages[i].slots);
            return -1;
        }
    return 0;
}

struct ig_plan *ig_plan_stages(const struct ig_graph *g, const struct ig_plan_options *options, const int32_t *stage_of,
                               const struct ig_plan_stage *stages, int32_t n_stages, char *err, size_t err_bytes)
{
    struct ig_plan_stage own[IG_PLAN_STAGES];
    struct ig_plan_options o = *options;
    if (check_stages(g, stage_of, stages, n_stages, err, err_bytes)) return NULL;
    o.threads = 1;
    for (int32_t i = 0, step = 0; i < n_stages; i++) {
        own[i] = stages[i];
        own[i].first = step;
        while (step < g->n_nodes && stage_of[step] == i) step++;
        own[i].last = step - 1;
        if (own[i].threads > o.threads) o.threads = own[i].threads;
    }
    for (int32_t i = 0; i < n_stages; i++) /* without a GPU all threads run its steps */
        if (ig_stage_is_gpu(&own[i])) own[i].threads = o.threads;
    o.stages = own;
    o.n_stages = n_stages;
    return ig_plan_make(g, &o, err, err_bytes);
}

/* The first stage with the same processor. */
static int32_t processor_of(const struct ig_plan *p, int32_t stage)
{
    int32_t i = 0;
    while (strcmp(p->stages[i].processor, p->stages[stage].processor)) i++;
    return i;
}

void ig_begin_stages(const struct ig_plan_options *o, struct ig_plan *p)
{
    if (!o->n_stages) return;
    p->n_stages = o->n_stages;
    p->stages = ig_must_alloc((size_t)o->n_stages, sizeof *p->stages);
    memcpy(p->stages, o->stages, (size_t)o->n_stages * sizeof *p->stages);
    for (int32_t i = 0; i < p->n_stages; i++)
        for (int32_t k = p->stages[i].first; k <= p->stages[i].last; k++) {
            p->steps[k].stage = i;
            p->steps[k].processor = processor_of(p, i);
        }
}

int ig_select_staged(const struct ig_graph *g, const struct ig_view *views, int32_t node, const struct ig_away *away,
                     const struct ig_plan_options *o, struct ig_plan *p, char *err, size_t err_bytes)
{
    struct ig_plan_step *s = &p->steps[node];
    struct ig_plan_options own = *o;
    int32_t stage = s->stage, processor = s->processor;
    own.threads = ig_step_threads(p, s);
    int bad = ig_select_step(g, views, node, away, &own, s, err, err_bytes);
    s->stage = stage;
    s->processor = processor;
    return bad;
}

void ig_size_slots(struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_stages; i++) {
        double a = ig_stage_ns(p, i), b = i + 1 < p->n_stages ? ig_stage_ns(p, i + 1) : 0;
        if (!p->stages[i].slots) p->stages[i].slots = a - b < near * a && b - a < near * b ? 3 : 2;
    }
}

int32_t ig_slot_copies(const struct ig_plan *p, int32_t from, int32_t to)
{
    int32_t copies = to - from + p->stages[from < 0 ? 0 : from].slots - 1;
    return copies > 0 ? copies : 1;
}

static void add_slot(const struct ig_graph *g, struct ig_plan *p, struct ig_storage *s, int32_t v, int32_t from,
                     int32_t to)
{
    p->slots[p->n_slots++] = (struct ig_plan_slot){.value = v,
                                                   .from = from,
                                                   .to = to,
                                                   .copies = ig_slot_copies(p, from, to),
                                                   .bytes = ig_slot_bytes(ig_bytes(&g->values[v].shape))};
    if (s[v].memory != IG_MEMORY_ARENA) return;
    s[v].memory = IG_MEMORY_SLOT;
    s[v].index = p->n_slots - 1;
}

void ig_find_slots(const struct ig_graph *g, struct ig_plan *p, struct ig_storage *s)
{
    p->slots = ig_must_alloc((size_t)g->n_values, sizeof *p->slots);
    for (int32_t i = 0; i < g->n_inputs; i++)
        add_slot(g, p, s, g->inputs[i], -1, p->steps[s[g->inputs[i]].held_last].stage);
    for (int32_t i = 0; i < g->n_outputs; i++) {
        int32_t v = s[g->outputs[i]].owner;
        add_slot(g, p, s, v, p->steps[s[v].held_first].stage, p->n_stages);
    }
    for (int32_t v = 0; v < g->n_values; v++) {
        if (s[v].owner != v || s[v].memory != IG_MEMORY_ARENA) continue;
        int32_t from = p->steps[s[v].held_first].stage, to = p->steps[s[v].held_last].stage;
        if (from < to) add_slot(g, p, s, v, from, to);
    }
}

void ig_place_slots(struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_slots; i++) {
        p->slots[i].offset = p->arena_bytes;
        p->arena_bytes += p->slots[i].bytes * p->slots[i].copies;
        p->arena_lower_bound_bytes += p->slots[i].bytes * p->slots[i].copies;
    }
}

int ig_too_many_slots(const struct ig_plan *p, char *err, size_t err_bytes)
{
    snprintf(err, err_bytes, "%d tensors pass between the stages and the caller, at most %d can: cut elsewhere",
             p->n_slots, IG_PLAN_SLOTS);
    return -1;
}

int ig_stages_are_sound(const struct ig_plan *p)
{
    int32_t step = 0;
    if (p->n_stages > IG_PLAN_STAGES || p->n_slots > IG_PLAN_SLOTS) return 0;
    for (int32_t i = 0; i < p->n_stages; i++) {
        const struct ig_plan_stage *s = &p->stages[i];
        if (s->first != step || s->last < s->first || s->last >= p->n_steps || s->threads < 1 || s->slots < 1) return 0;
        for (; step <= s->last; step++)
            if (p->steps[step].stage != i || p->steps[step].processor != processor_of(p, i)) return 0;
    }
    for (int32_t i = 0; i < p->n_slots; i++) {
        const struct ig_plan_slot *s = &p->slots[i];
        if (s->from < -1 || s->from >= s->to || s->to > p->n_stages || s->copies < 1) return 0;
    }
    return !p->n_stages || step == p->n_steps;
}
