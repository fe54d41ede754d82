/* A program of a plan with stages: streams, --bench and --trace. */
#ifndef RUNTIME_HOST_STAGES_H
#define RUNTIME_HOST_STAGES_H

#include "runtime/host/program.h"
#include "runtime/pipeline.h"

struct ig_slot_words { /* of one of the pipe's slots */
    const char *name;   /* the tensor's; "several" in a block that alternatives share */
    const char *memory; /* where its copies are, and who copies them elsewhere */
};

struct ig_staged { /* filled by the generated main file */
    const struct ig_pipe *pipe;
    void (*run)(struct ig_session *s, const struct ig_options *o); /* ig_run_stages */
    const struct ig_cuts *cuts;       /* of a plan with alternatives; else NULL, and nothing of them is linked */
    const struct ig_cut_calls *calls; /* with them: ig_cut_calls */
    const struct ig_slot_words *slots; /* pipe->n_slots */
    void (*info)(const struct ig_program *p, int json); /* ig_stages_info */
};

/* What a program says of its alternatives; json: fields of an object, before others. */
struct ig_cut_calls {
    void (*attach)(struct ig_pipeline *p, const struct ig_cuts *cuts); /* before it starts */
    void (*info)(const struct ig_cuts *cuts, int json);
    void (*bench)(const struct ig_cuts *cuts, int json); /* with how often each ran */
};
extern const struct ig_cut_calls ig_cut_calls; /* runtime/host/cuts.c */

/* What stages do with frames of alternatives, if it is not ig_team_run: as in struct ig_cut_run. Set before the start. */
struct ig_cut_worker {
    int (*work)(void *arg, int32_t cut, int32_t stage, struct ig_team *team, const struct ig_run *run);
    void *arg;
};
extern struct ig_cut_worker ig_stages_worker;
extern struct ig_pipeline ig_stages_pipeline; /* the program's: who starts it may have given it a `work` */
/* What the command line asks of a pipeline: --bench, a stream, --trace. Starts it and stops it. */
void ig_run_stages(struct ig_session *s, const struct ig_options *o);
/* runtime/host/stages_info.c: lines of --info, or a member of its object with a comma behind it. */
void ig_stages_info(const struct ig_program *p, int json);
/* runtime/host/stages_bench.c */
void ig_bench_stages(struct ig_session *s, const struct ig_options *o, struct ig_pipeline *p);
void ig_trace_stages(struct ig_session *s, const char *path, struct ig_pipeline *p);

#endif
