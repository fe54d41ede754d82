#include "runtime/mpi/gpu.h"

#include <stdlib.h>

#include "runtime/team.h"

struct on_gpu {          /* a part */
    struct ig_team team; /* first: what a context holds; it has no threads */
    struct ig_gpu gpu;
    const char *name;
};

static void run_frame(struct ig_team *team, const struct ig_run *run)
{
    struct on_gpu *on = (struct on_gpu *)(void *)team;
    char why[200];
    if (ig_gpu_run(&on->gpu, run->inputs, run->outputs, why, sizeof why)) ig_die("%s: %s", on->name, why);
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
