#include "runtime/gpu/stage.h"

static void *address_of(const struct ig_run *run, const struct ig_gpu_place *p)
{
    return run->slots[p->slot] + p->offset;
}

int ig_gpu_work(void *worker, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct ig_gpu_worker *w = worker;
    const struct ig_gpu_plan *plan = w->stage->plan;
    const void *inputs[IG_GPU_EDGES];
    void *outputs[IG_GPU_EDGES];
    if (stage != w->stage->stage) {
        ig_team_run(team, run);
        return IG_OK;
    }
    for (int32_t i = 0; i < plan->n_inputs; i++) inputs[i] = address_of(run, &w->stage->places[i]);
    for (int32_t i = 0; i < plan->n_outputs; i++) outputs[i] = address_of(run, &w->stage->places[plan->n_inputs + i]);
    int bad = w->slots.n_phases ? ig_gpu_slots_run(&w->slots, inputs, outputs, w->why, sizeof w->why)
                                : ig_gpu_run(w->gpu, inputs, outputs, w->why, sizeof w->why);
    return bad ? IG_ERROR_STAGE : IG_OK;
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
