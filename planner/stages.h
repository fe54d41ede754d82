/*
 * Stages: a plan cut into runs of steps that work on consecutive frames at the same time, each on its own processor.
 * Who cuts where is decided elsewhere; here is what follows from it: kernels for each stage's threads, an arena for
 * each, slots for what passes between them, and how fast all of it is.
 */
#ifndef PLANNER_STAGES_H
#define PLANNER_STAGES_H

#include "planner/memory.h"

/*
 * The plan with these stages: stage_of[n_nodes] is the stage of each step (node), never less than that of the one
 * before; of stages[n_stages] processor, cores, threads and slots count. NULL with a line in err.
 */
struct ig_plan *ig_plan_stages(const struct ig_graph *g, const struct ig_plan_options *options, const int32_t *stage_of,
                               const struct ig_plan_stage *stages, int32_t n_stages, char *err, size_t err_bytes);
/*
 * "cpu:0@conv3,cpu:1-2/3@11,cpu:3": processors in order, with /N their slots, and @ the last step that they run, by
 * node name or number; the last has none. One of them may be the GPU, "gpu". Without any @ the cuts are those of the least greatest stage, by the times of
 * `whole`, a plan without stages, but not with a GPU. Fills stages[IG_PLAN_STAGES] and stage_of[n_nodes]; returns n_stages, or -1 with
 * a line in err.
 */
int32_t ig_parse_stages(const struct ig_graph *g, const struct ig_plan *whole, const char *text,
                        struct ig_plan_stage *stages, int32_t *stage_of, char *err, size_t err_bytes);
/* Cores of such stages beside the first that is a set of cores, a bit each. 0, or -1 with a line in err. */
int ig_stages_beside(const char *text, uint64_t *cores, char *err, size_t err_bytes);
/* Cuts n_steps of ns[] into n runs, the greatest sum as small as it can be: stage_of[n_steps]. */
void ig_balance_stages(const double *ns, int32_t n_steps, int32_t n, int32_t *stage_of);

/* --- steps of ig_plan_once --- */

/* Gives p the options' stages; its steps are there, empty. */
void ig_begin_stages(const struct ig_plan_options *o, struct ig_plan *p);
/* ig_select_step of step `node` of p, for the threads of its stage. */
int ig_select_staged(const struct ig_graph *g, const struct ig_view *views, int32_t node, const struct ig_away *away,
                     const struct ig_plan_options *o, struct ig_plan *p, char *err, size_t err_bytes);
/* How many slots each stage has that was not told. */
void ig_size_slots(struct ig_plan *p);
/* Makes p->slots of all storage that passes between stages, which says so. */
void ig_find_slots(const struct ig_graph *g, struct ig_plan *p, struct ig_storage *s);
/* Places them behind p->arena_bytes. */
void ig_place_slots(struct ig_plan *p);
/* 1 if steps and stages name each other and slots are between stages: what a file says may be anything. */
int ig_stages_are_sound(const struct ig_plan *p);
/* p->period_ns and full_ns. */
void ig_time_stages(struct ig_plan *p);
/* -1, with a line in err. */
int ig_too_many_slots(const struct ig_plan *p, char *err, size_t err_bytes);

static inline int64_t ig_slot_bytes(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

/* 1 if step `step` is one of the GPU's stage, or p has no stages. */
int ig_step_is_gpu(const struct ig_plan *p, int32_t step);
/* ns[n_nodes] of every step by the GPU's kernels, with the options' target; < 0: it has none. -1 with a line in err. */
int ig_time_gpu_steps(const struct ig_graph *g, const struct ig_plan_options *options, double *ns, char *err,
                      size_t err_bytes);
/*
 * gpu_ns of the GPU's stage, if there is one, by a plan of the GPU's kernels with the options' target. -1 with a line in
 * err: a step of it has none.
 */
int ig_time_gpu_stage(const struct ig_graph *g, const struct ig_plan_options *options, const int32_t *stage_of,
                      struct ig_plan_stage *stages, int32_t n_stages, char *err, size_t err_bytes);
/*
 * Copies that a tensor from stage `from` to stage `to` has (-1 and n_stages: the caller): one for each stage that may
 * hold another frame of it, and as many more as the stage that makes it gives its neighbour beyond one.
 */
int32_t ig_slot_copies(const struct ig_plan *p, int32_t from, int32_t to);

#endif
