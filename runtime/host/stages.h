/* A program of a plan with stages: streams, --bench and --trace. */
#ifndef RUNTIME_HOST_STAGES_H
#define RUNTIME_HOST_STAGES_H

#include "runtime/host/program.h"
#include "runtime/pipeline.h"

struct ig_staged { /* filled by the generated main file */
    const struct ig_pipe *pipe;
    void (*run)(struct ig_session *s, const struct ig_options *o); /* ig_run_stages */
};

extern struct ig_pipeline ig_stages_pipeline; /* the program's: who starts it may have given it a `work` */
/* What the command line asks of a pipeline: --bench, a stream, --trace. Starts it and stops it. */
void ig_run_stages(struct ig_session *s, const struct ig_options *o);
/* runtime/host/stages_bench.c */
void ig_bench_stages(struct ig_session *s, const struct ig_options *o, struct ig_pipeline *p);
void ig_trace_stages(struct ig_session *s, const char *path, struct ig_pipeline *p);

#endif
