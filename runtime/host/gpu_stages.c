/*
 * A program whose pipeline has a stage on the GPU. Single frames and --threads are the CPU's. Without a GPU so is all: then
 * there are no stages, as one of them would have to do another's work.
 */
#include <stdio.h>

#include "runtime/host/gpu.h"
#include "runtime/host/stages.h"

static struct {
    struct ig_gpu_worker worker;
    struct ig_program as; /* the program: without a GPU it loses its stages */
    int told;
} on;

/* What the GPU says of the first frame that it fails. */
static int work(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run)
{
    struct ig_gpu_worker *w = arg;
    int status = ig_gpu_work(w, stage, team, run);
    if (status && !on.told++) fprintf(stderr, "%s\n", w->why);
    return status;
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
    if (ig_gpu_join(&on.worker, &ig_stages_pipeline, on.as.staged->pipe, s->ctx.arena, on.worker.why, sizeof on.worker.why))
        ig_die("%s", on.worker.why);
    ig_stages_pipeline.work = work;
}

int ig_gpu_stages_main(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *gpu)
{
    on.as = *cpu;
    return ig_gpu_main(argc, argv, &on.as, gpu);
}
