/*
 * A program whose pipeline has a stage on the GPU. Single frames and --threads are the CPU's. Without a GPU so is all: then
 * there are no stages, as one of them would have to do another's work.
 */
#include <stdio.h>
#include <stdlib.h>

#include "runtime/host/gpu.h"
#include "runtime/host/stages.h"

static struct {
    struct ig_gpu_worker worker;
    struct ig_program as; /* the program: without a GPU it loses its stages */
    int told;
} on;

/* What the GPU says of the first frame that it fails. */
static int cut_work(void *arg, int32_t cut, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct ig_gpu_worker *w = arg;
    int status = ig_gpu_cut_work(w, cut, stage, team, run);
    if (status && !on.told++) fprintf(stderr, "%s\n", w->why);
    return status;
}

static int work(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    return cut_work(arg, 0, stage, team, run);
}

/* Launches of the alternatives behind the first, if there are some, and the slots of all. */
static int join(struct ig_gpu_worker *w, void *arena)
{
    const struct ig_staged *staged = on.as.staged;
    int32_t n = staged->cuts ? staged->cuts->n - 1 : 0;
    if (!n) return ig_gpu_join(w, &ig_stages_pipeline, staged->pipe, arena, w->why, sizeof w->why);
    if (!(w->others = calloc((size_t)n, sizeof *w->others))) ig_die("out of memory");
    if (ig_gpu_open_others(w, n, w->why, sizeof w->why)) return -1;
    return ig_gpu_join_cuts(w, staged->pipe, arena, w->why, sizeof w->why);
}

static int most_threads(const struct ig_pipe *pipe)
{
    int most = 1;
    for (int i = 0; i < pipe->n_stages; i++)
        if (pipe->stages[i].model.threads > most) most = pipe->stages[i].model.threads;
    return most;
}

void ig_gpu_stages_start(struct ig_session *s, int threads)
{
    int asked;
    const struct ig_gpu_program *p = ig_gpu_program_of(&asked);
    struct ig_gpu *gpu = ig_gpu_look();
    if (!gpu) {
        if (!asked) threads = most_threads(on.as.staged->pipe);
        on.as.staged = NULL;
    }
    ig_start(s, threads);
    if (!gpu) return;
    on.worker.gpu = gpu;
    on.worker.stage = p->stage;
    if (join(&on.worker, s->ctx.arena)) ig_die("%s", on.worker.why);
    ig_stages_pipeline.work = work;
    ig_stages_worker = (struct ig_cut_worker){cut_work, &on.worker};
}

int ig_gpu_stages_main(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *gpu)
{
    on.as = *cpu;
    int status = ig_gpu_main(argc, argv, &on.as, gpu);
    if (on.worker.gpu) ig_gpu_part(&on.worker);
    ig_gpu_shut();
    return status;
}
