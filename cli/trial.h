/* `ingot trial`: whole plans at work, in turns, and which of them is the fastest. */
#ifndef CLI_TRIAL_H
#define CLI_TRIAL_H

#include <stdio.h>

#include "bench/trial.h"
#include "planner/pipe_graph.h"

enum { IG_TRIALS = 12, IG_TRIAL_TEXT = 512 };

struct ig_trial_entry {
    const struct ig_graph *g;    /* whose plan it is */
    const char *what;            /* "single", "team", "pipeline" */
    char option[IG_TRIAL_TEXT];  /* of a pipeline, as of --stages; else "" */
    struct ig_pipe_plan cut;     /* of a pipeline */
    struct ig_plan *plan;
    struct ig_trial *trial;
    struct ig_found found;       /* once it has run */
    double foretold_ns, foretold_full_ns, foretold_alone_ns; /* by the profile alone */
};

struct ig_trials { /* what is tried of one network */
    const struct ig_graph *g;
    struct ig_plan_options options;            /* of one set of cores, with its profile */
    struct ig_plan_stage sets[IG_PLAN_STAGES]; /* of cores, all of as many */
    int32_t n_sets, n, chosen;
    struct ig_trial_entry entries[IG_TRIALS];
    struct ig_plan *whole;                     /* the plan whose segments are cut */
    struct ig_pipe_net net;                    /* its times, put right by every cut that has run */
    double seconds;                            /* of all trials */
};

/* cli/trial_cuts.c: tries the cut that is best by the profile, then what is best by what it took, until that stays, and
 * from the fastest on the cuts beside it. */
void ig_try_cuts(struct ig_trials *t);
/* Adds an entry of that plan of a graph, which is then its own, and runs it for some rounds. */
struct ig_trial_entry *ig_try(struct ig_trials *t, const char *what, const struct ig_graph *g, struct ig_plan *plan);
/* So many more rounds in turns: of those that may be the fastest, and of one set and a team in any case. */
void ig_try_again(struct ig_trials *t, int32_t rounds);
/* All entries as a table, and as one object. */
void ig_trials_text(FILE *f, const struct ig_trials *t);
void ig_trials_json(FILE *f, const struct ig_trials *t);

#endif
