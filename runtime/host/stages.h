/* A program of a plan with stages: streams, --bench and --trace. */
#ifndef RUNTIME_HOST_STAGES_H
#define RUNTIME_HOST_STAGES_H

#include "runtime/host/program.h"
#include "runtime/pipeline.h"

struct ig_staged { /* filled by the generated main file */
    const struct ig_pipe *pipe;
    void (*run)(struct ig_session *s, const struct ig_options *o); /* ig_run_stages */
    const struct ig_cuts *cuts;       /* of a plan with alternatives; else NULL, and nothing of them is linked */
    const struct ig_cut_calls *calls; /* with them: ig_cut_calls */
};

/* What a program says of its alternatives; json: fields of an object, before others. */
struct ig_cut_calls {
    void (*attach)(struct ig_pipeline *p, const struct ig_cuts *cuts); /* before it starts */
    void (*info)(const struct ig_cuts *cuts, int json);
    void (*bench)(const struct ig_cuts *cuts, int json); /* with how often each ran */
};
extern const struct ig_cut_calls ig_cut_calls; /* runtime/host/cuts.c */

/* What the command line asks of a pipeline: --bench, a stream, --trace. Starts it and stops it. */
void ig_run_stages(struct ig_session *s, const struct ig_options *o);
/* runtime/host/stages_bench.c */
void ig_bench_stages(struct ig_session *s, const struct ig_options *o, struct ig_pipeline *p);
void ig_trace_stages(struct ig_session *s, const char *path, struct ig_pipeline *p);

#endif
