#include "runtime/mpi/gpu.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/gpu/slots.h"
#include "runtime/team.h"

struct on_gpu {          /* a part */
    struct ig_team team; /* first: what a context holds; it has no threads */
    struct ig_gpu gpu;
    const char *name;
    struct ig_gpu_slots slots;
    struct ig_gpu_stage stage;                     /* its buffers as a pipeline's slots, one an end: */
    struct ig_pipe pipe;
    struct ig_slot ends[2 * IG_GPU_EDGES];
    struct ig_gpu_place places[2 * IG_GPU_EDGES];
};

static void run_frame(struct ig_team *team, const struct ig_run *run)
{
    struct on_gpu *on = (struct on_gpu *)(void *)team;
    char why[200];
    if (on->slots.n_phases ? ig_gpu_slots_run(&on->slots, run->inputs, run->outputs, why, sizeof why)
                           : ig_gpu_run(&on->gpu, run->inputs, run->outputs, why, sizeof why))
        ig_die("%s: %s", on->name, why);
}

/* Appended blobs are those of all parts for the CPU, then for the GPU. */
static const void *constants_of(const struct ig_rank *r, int32_t i)
{
    const struct ig_rank_launches *l = &r->gpu->parts[i];
    const struct ig_model blob = {.weights_bytes = l->plan->constants_bytes, .weights_hash = l->constants_hash};
    return l->constants ? l->constants : ig_map_bundled_weights(&blob, r->n_parts + i);
}

static int open_part(const struct ig_rank *r, int32_t i, struct on_gpu *on, char *why, size_t bytes)
{
    if (ig_gpu_open(&on->gpu, r->gpu->parts[i].plan, constants_of(r, i), why, bytes)) return -1;
    if (!ig_gpu_try(&on->gpu, why, bytes)) return 0;
    ig_gpu_close(&on->gpu);
    return -1;
}

int ig_rank_gpu_open(const struct ig_rank *r, struct ig_ctx *ctx, char *why, size_t bytes)
{
    struct on_gpu *on = aligned_alloc(IG_LINE, ((size_t)r->n_parts + 1) * sizeof *on);
    if (!on) ig_die("out of memory");
    memset(on, 0, ((size_t)r->n_parts + 1) * sizeof *on);
    for (int32_t i = 0; i < r->n_parts; i++) {
        const struct ig_model *m = r->parts[i].program->model;
        on[i].name = m->name;
        if (!open_part(r, i, &on[i], why, bytes)) {
            ctx[i] = (struct ig_ctx){.model = m, .team = &on[i].team, .run_team = run_frame};
            continue;
        }
        while (i--) ig_gpu_close(&on[i].gpu);
        free(on);
        return -1;
    }
    return 0;
}

/* --- buffers where they are --- */

static struct on_gpu *part_of(const struct ig_ctx *ctx)
{
    return (struct on_gpu *)(void *)ctx->team;
}

/* The flows' memory is one block, which begins with that of the first. */
static void describe(const struct ig_rank *r, int32_t i, const struct ig_flow *flows, struct on_gpu *on)
{
    const struct ig_rank_part *p = &r->parts[i];
    const struct ig_model *m = p->program->model;
    for (int32_t k = 0; k < m->n_inputs + m->n_outputs; k++) {
        const struct ig_flow *f = &flows[k < m->n_inputs ? p->in[k] : p->out[k - m->n_inputs]];
        on->ends[k] = (struct ig_slot){.offset = f->data - flows->data, .bytes = ig_flow_room(f->bytes, 1), .copies = f->copies};
        on->places[k].slot = k;
    }
    on->pipe = (struct ig_pipe){.model = m, .slots = on->ends, .n_slots = m->n_inputs + m->n_outputs};
    on->stage = (struct ig_gpu_stage){.plan = r->gpu->parts[i].plan, .places = on->places};
}

int ig_rank_gpu_reach(const struct ig_rank *r, const struct ig_ctx *ctx, const struct ig_flow *flows, char *why,
                      size_t bytes)
{
    struct ig_gpu_range range = {INT64_MAX, 0};
    if (!r->n_parts) return 0;
    for (int32_t i = 0; i < r->n_parts; i++) {
        struct on_gpu *on = part_of(&ctx[i]);
        describe(r, i, flows, on);
        ig_gpu_slots_choose(&on->slots, &on->gpu, &on->stage, &on->pipe, flows->data, &range);
    }
    struct ig_gpu_slots *first = &part_of(&ctx[0])->slots;
    ig_gpu_slots_lock(first, &range);
    for (int32_t i = 0; i < r->n_parts; i++)
        if (ig_gpu_slots_open_locked(&part_of(&ctx[i])->slots, first, why, bytes)) return -1;
    return 0;
}
