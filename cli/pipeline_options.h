/* What `ingot pipeline` is told on its command line. */
#ifndef CLI_PIPELINE_OPTIONS_H
#define CLI_PIPELINE_OPTIONS_H

#include "cli/cli.h"
#include "cli/pipeline.h"

enum { IG_PIPELINE_FILES = 8, IG_PIPELINE_PINS = 64, IG_PIPELINE_BEST = IG_WAYS }; /* the last: an algorithm, of cuts and team */

struct ig_pipeline_options {
    const char *path, *out;            /* the network, the result */
    struct ig_source_options source;
    struct ig_plan_options plan;
    const char *profiles[IG_PIPELINE_FILES], *pins[IG_PIPELINE_PINS];
    int32_t n_profiles, n_pins, n_processors, threads[IG_PIPE_PROCESSORS], algorithm;
    const char *names[IG_PIPE_PROCESSORS];
    int32_t cores[IG_PIPE_PROCESSORS]; /* the first of each set */
    int32_t gpu;                       /* the processor that is the GPU; -1: none */
    int measured;                      /* links */
    double link_us, link_gbytes, copy_us, copy_gbytes, compute, stream;
    double least_gain; /* percent more frames that stages must promise, or one processor is taken */
    int explain, gantt, json, modes, pareto; /* modes: enum ig_mode */
    struct ig_pipe_wish wish;
    int wished; /* an objective or a limit was given */
    const char *platform, *spec;
    struct ig_platform *board; /* NULL: sets of cores of a machine that is profiled */
};

/* 1: w is what the words say. 0: help was asked for, and *status is the verb's. Fatal, or usage, where they are wrong. */
int ig_pipeline_options(int argc, char **argv, struct ig_pipeline_options *w, int *status);

#endif
