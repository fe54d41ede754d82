/* The stage that is the GPU's: which one it is, and how long its kernels take. */
#include <stdio.h>

#include "planner/stages.h"

int32_t ig_gpu_stage_of(const struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_stages; i++)
        if (ig_stage_is_gpu(&p->stages[i])) return i;
    return -1;
}

int ig_step_is_gpu(const struct ig_plan *p, int32_t step)
{
    return !p->n_stages || p->steps[step].stage == ig_gpu_stage_of(p);
}

static double add_steps(const struct ig_graph *g, const struct ig_plan *whole, const int32_t *stage_of, int32_t stage,
                        char *err, size_t err_bytes)
{
    double ns = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_plan_step *s = &whole->steps[i];
        if (stage_of[i] != stage || !s->kernel) continue;
        if (s->kernel->isa != IG_ISA_CUDA) {
            snprintf(err, err_bytes, "the GPU's stage has node '%s' (%s), which no GPU kernel computes: cut elsewhere",
                     g->nodes[i].name, ig_op_info((enum ig_op)g->nodes[i].op)->name);
            return -1;
        }
        ns += s->predicted_ns;
    }
    return ns;
}

int ig_time_gpu_stage(const struct ig_graph *g, const struct ig_plan_options *options, const int32_t *stage_of,
                      struct ig_plan_stage *stages, int32_t n_stages, char *err, size_t err_bytes)
{
    struct ig_plan_options o = {.target = options->target, .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF,
                                .max_error = options->max_error};
    int32_t stage = 0;
    while (stage < n_stages && !ig_stage_is_gpu(&stages[stage])) stage++;
    if (stage == n_stages) return 0;
    struct ig_plan *whole = ig_plan_make(g, &o, err, err_bytes);
    if (!whole) return -1;
    double ns = add_steps(g, whole, stage_of, stage, err, err_bytes);
    ig_plan_free(whole);
    if (ns < 0) return -1;
    stages[stage].gpu_ns = ns;
    return 0;
}
