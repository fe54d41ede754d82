/*
 * How fast a pipeline is. A stage begins frame k when it has ended the one before, when the stage before it has ended
 * this one, and when a copy of each tensor that it makes has been given up by its last reader. From one result to the
 * next it then takes the longest of what a processor's stages take together and what all stages that hold a slot take,
 * over its copies. If frames always wait, there are as many on their way as may be, and each takes so many periods.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/stages.h"

enum { SETTLE = 64, FRAMES = 256 }; /* frames until nothing changes any more, and all */

double ig_stage_ns(const struct ig_plan *p, int32_t i)
{
    double ns = p->stages[i].pass_ns;
    if (ig_stage_is_gpu(&p->stages[i])) return ns + p->stages[i].gpu_ns;
    for (int32_t k = p->stages[i].first; k <= p->stages[i].last; k++) ns += p->steps[k].predicted_ns;
    return ns;
}

int32_t ig_plan_flight(const struct ig_plan *p)
{
    int32_t frames = 1 + p->n_stages;
    for (int32_t i = 0; i + 1 < p->n_stages; i++)
        if (p->stages[i].slots > 2) frames += p->stages[i].slots - 2;
    return frames < IG_PLAN_FLIGHT ? frames : IG_PLAN_FLIGHT;
}

static double later(double a, double b)
{
    return a > b ? a : b;
}

struct times {
    const struct ig_plan *p;
    int32_t flight;
    double ns[IG_PLAN_STAGES];
    double *end;    /* [frames][n_stages] */
    double *popped; /* [frames] */
};

/* When the last reader of slot s has given up the copy that frame k gets; the caller pops at once. */
static double room(const struct times *t, const struct ig_plan_slot *s, int32_t k)
{
    int32_t before = k - s->copies;
    if (before < 0) return 0;
    return s->to == t->p->n_stages ? t->popped[before] : t->end[before * t->p->n_stages + s->to];
}

/* Returns when it is pushed. */
static double run_frame(struct times *t, int32_t k)
{
    const struct ig_plan *p = t->p;
    double *end = t->end + k * p->n_stages, pushed = k < t->flight ? 0 : t->popped[k - t->flight];
    for (int32_t i = 0; i < p->n_slots; i++)
        if (p->slots[i].from < 0) pushed = later(pushed, room(t, &p->slots[i], k));
    for (int32_t j = 0; j < p->n_stages; j++) {
        double at = later(j ? end[j - 1] : pushed, k ? end[j - p->n_stages] : 0);
        for (int32_t i = 0; i < p->n_slots; i++)
            if (p->slots[i].from == j) at = later(at, room(t, &p->slots[i], k));
        end[j] = at + t->ns[j];
    }
    t->popped[k] = end[p->n_stages - 1];
    return pushed;
}

/* Stages of one processor take turns: none of them can give less than their sum. */
static double busiest(const struct times *t)
{
    double sum[IG_PLAN_STAGES] = {0}, most = 0;
    for (int32_t j = 0; j < t->p->n_stages; j++) {
        double *of = &sum[t->p->steps[t->p->stages[j].first].processor];
        *of += t->ns[j];
        most = later(most, *of);
    }
    return most;
}

/* A copy of a slot is taken until all stages that touch it are done with a frame: of c copies each lasts c periods. */
static double slowest_slot(const struct times *t)
{
    double most = 0;
    for (int32_t i = 0; i < t->p->n_slots; i++) {
        const struct ig_plan_slot *s = &t->p->slots[i];
        double ns = 0;
        for (int32_t j = s->from < 0 ? 0 : s->from; j <= s->to && j < t->p->n_stages; j++) ns += t->ns[j];
        most = later(most, ns / s->copies);
    }
    return most;
}

void ig_time_stages(struct ig_plan *p)
{
    struct times t = {.p = p};
    if (!p->n_stages) return;
    t.flight = ig_plan_flight(p);
    t.end = ig_must_alloc((size_t)(FRAMES * p->n_stages), sizeof *t.end);
    t.popped = ig_must_alloc(FRAMES, sizeof *t.popped);
    for (int32_t j = 0; j < p->n_stages; j++) t.ns[j] = ig_stage_ns(p, j);
    p->period_ns = later(busiest(&t), slowest_slot(&t));
    p->full_ns = 0;
    for (int32_t k = 0; k < FRAMES; k++) {
        double begin = run_frame(&t, k);
        if (k >= SETTLE) p->full_ns += (t.popped[k] - begin) / (FRAMES - SETTLE);
    }
    free(t.end);
    free(t.popped);
}
