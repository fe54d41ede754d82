/* The stage that is the GPU's: which one it is, and how long its kernels take. */
#include <stdio.h>
#include <stdlib.h>

#include "planner/alloc.h"
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

int ig_time_gpu_steps(const struct ig_graph *g, const struct ig_plan_options *options, double *ns, char *err,
                      size_t err_bytes)
{
    struct ig_plan_options o = {.target = options->target, .isa = IG_ISA_CUDA, .threads = 1, .bands = IG_BANDS_OFF,
                                .max_error = options->max_error, .profile = options->gpu_profile};
    struct ig_plan *whole = ig_plan_make(g, &o, err, err_bytes);
    if (!whole) return -1;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_plan_step *s = &whole->steps[i];
        ns[i] = !s->kernel ? 0 : s->kernel->isa == IG_ISA_CUDA ? s->predicted_ns : -1;
    }
    ig_plan_free(whole);
    return 0;
}

static double add_steps(const struct ig_graph *g, const double *each, const int32_t *stage_of, int32_t stage, char *err,
                        size_t err_bytes)
{
    double ns = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        if (stage_of[i] != stage) continue;
        if (each[i] < 0) {
            snprintf(err, err_bytes, "the GPU's stage has node '%s' (%s), which no GPU kernel computes: cut elsewhere",
                     g->nodes[i].name, ig_op_info((enum ig_op)g->nodes[i].op)->name);
            return -1;
        }
        ns += each[i];
    }
    return ns;
}

int ig_time_gpu_stage(const struct ig_graph *g, const struct ig_plan_options *options, const int32_t *stage_of,
                      struct ig_plan_stage *stages, int32_t n_stages, char *err, size_t err_bytes)
{
    int32_t stage = 0;
    while (stage < n_stages && !ig_stage_is_gpu(&stages[stage])) stage++;
    if (stage == n_stages) return 0;
    double *each = ig_must_alloc((size_t)g->n_nodes, sizeof *each), ns = -1;
    if (!ig_time_gpu_steps(g, options, each, err, err_bytes)) ns = add_steps(g, each, stage_of, stage, err, err_bytes);
    free(each);
    if (ns < 0) return -1;
    stages[stage].gpu_ns = ns;
    return 0;
}
