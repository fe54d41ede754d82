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
    int told, n_others;
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

/* Launches of the alternatives behind the first, if there are some. */
static struct ig_gpu *open_others(const struct ig_gpu *first, const struct ig_gpu_stage *stage, const struct ig_cuts *cuts)
{
    int32_t n = cuts ? cuts->n - 1 : 0;
    char why[300];
    struct ig_gpu *others = calloc((size_t)n + 1, sizeof *others);
    if (!others) ig_die("out of memory");
    for (int32_t i = 0; i < n; i++)
        if (ig_gpu_open_beside(&others[i], first, stage[1 + i].plan, why, sizeof why) ||
            ig_gpu_try(&others[i], why, sizeof why))
            ig_die("%s", why);
    on.n_others = n;
    return others;
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
    on.worker = (struct ig_gpu_worker){gpu, p->stage, "", open_others(gpu, p->stage, on.as.staged->cuts)};
    ig_stages_pipeline.work = work;
    ig_stages_pipeline.work_arg = &on.worker;
    ig_stages_worker = (struct ig_cut_worker){cut_work, &on.worker};
}

int ig_gpu_stages_main(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *gpu)
{
    on.as = *cpu;
    int status = ig_gpu_main(argc, argv, &on.as, gpu);
    while (on.n_others) ig_gpu_close(&on.worker.others[--on.n_others]);
    ig_gpu_shut();
    return status;
}
