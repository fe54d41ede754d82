#include "runtime/gpu/stage.h"

#include <string.h>

static void *address_of(const struct ig_run *run, const struct ig_gpu_place *p)
{
    return run->slots[p->slot] + p->offset;
}

static struct ig_gpu *gpu_of(struct ig_gpu_worker *w, int32_t cut)
{
    return cut ? &w->others[cut - 1].gpu : w->gpu;
}

static struct ig_gpu_slots *slots_of(struct ig_gpu_worker *w, int32_t cut)
{
    return cut ? &w->others[cut - 1].slots : &w->slots;
}

int ig_gpu_cut_work(void *worker, int32_t cut, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct ig_gpu_worker *w = worker;
    const struct ig_gpu_stage *s = &w->stage[cut];
    struct ig_gpu_slots *slots = slots_of(w, cut);
    const void *inputs[IG_GPU_EDGES];
    void *outputs[IG_GPU_EDGES];
    if (stage != s->stage) {
        ig_team_run(team, run);
        return IG_OK;
    }
    for (int32_t i = 0; i < s->plan->n_inputs; i++) inputs[i] = address_of(run, &s->places[i]);
    for (int32_t i = 0; i < s->plan->n_outputs; i++) outputs[i] = address_of(run, &s->places[s->plan->n_inputs + i]);
    int bad = slots->n_phases ? ig_gpu_slots_run(slots, inputs, outputs, w->why, sizeof w->why)
                              : ig_gpu_run(gpu_of(w, cut), inputs, outputs, w->why, sizeof w->why);
    return bad ? IG_ERROR_STAGE : IG_OK;
}

int ig_gpu_work(void *worker, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    return ig_gpu_cut_work(worker, 0, stage, team, run);
}

int ig_gpu_open_others(struct ig_gpu_worker *worker, int32_t n, char *why, size_t bytes)
{
    while (worker->n_others < n) {
        int32_t i = worker->n_others;
        struct ig_gpu_beside *b = &worker->others[i];
        memset(b, 0, sizeof *b);
        if (ig_gpu_open_beside(&b->gpu, worker->gpu, worker->stage[1 + i].plan, why, bytes)) return -1;
        worker->n_others++;
        if (ig_gpu_try(&b->gpu, why, bytes)) return -1;
    }
    return 0;
}

void ig_gpu_part(struct ig_gpu_worker *worker)
{
    while (worker->n_others) ig_gpu_close(&worker->others[--worker->n_others].gpu);
    ig_gpu_close(worker->gpu);
}

int ig_gpu_join(struct ig_gpu_worker *worker, struct ig_pipeline *pipeline, const struct ig_pipe *pipe, void *arena, char *why,
                size_t bytes)
{
    if (ig_gpu_slots_open(&worker->slots, worker->gpu, worker->stage, pipe, arena, why, bytes)) return -1;
    pipeline->work = ig_gpu_work;
    pipeline->work_arg = worker;
    pipeline->place = worker->slots.n_phases ? ig_gpu_slot_place : NULL;
    pipeline->place_arg = &worker->slots;
    return 0;
}

int ig_gpu_join_cuts(struct ig_gpu_worker *worker, const struct ig_pipe *pipe, void *arena, char *why, size_t bytes)
{
    struct ig_gpu_range range = {INT64_MAX, 0};
    for (int32_t i = 0; i <= worker->n_others; i++)
        ig_gpu_slots_choose(slots_of(worker, i), gpu_of(worker, i), &worker->stage[i], pipe, arena, &range);
    ig_gpu_slots_lock(&worker->slots, &range);
    for (int32_t i = 0; i <= worker->n_others; i++)
        if (ig_gpu_slots_open_locked(slots_of(worker, i), &worker->slots, why, bytes)) return -1;
    return 0;
}
