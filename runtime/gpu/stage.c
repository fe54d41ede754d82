#include "runtime/gpu/stage.h"

static void *address_of(const struct ig_run *run, const struct ig_gpu_place *p)
{
    return run->slots[p->slot] + p->offset;
}

int ig_gpu_cut_work(void *worker, int32_t cut, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct ig_gpu_worker *w = worker;
    const struct ig_gpu_stage *s = &w->stage[cut];
    const void *inputs[IG_GPU_EDGES];
    void *outputs[IG_GPU_EDGES];
    if (stage != s->stage) {
        ig_team_run(team, run);
        return IG_OK;
    }
    for (int32_t i = 0; i < s->plan->n_inputs; i++) inputs[i] = address_of(run, &s->places[i]);
    for (int32_t i = 0; i < s->plan->n_outputs; i++) outputs[i] = address_of(run, &s->places[s->plan->n_inputs + i]);
    return ig_gpu_run(cut ? &w->others[cut - 1] : w->gpu, inputs, outputs, w->why, sizeof w->why) ? IG_ERROR_STAGE : IG_OK;
}

int ig_gpu_work(void *worker, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    return ig_gpu_cut_work(worker, 0, stage, team, run);
}
