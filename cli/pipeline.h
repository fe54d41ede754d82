/* What `ingot pipeline` found: every algorithm's plan for one network on some processors. */
#ifndef CLI_PIPELINE_H
#define CLI_PIPELINE_H

#include <stdio.h>

#include "planner/pipe_graph.h"
#include "planner/pipe_wish.h"
#include "planner/platform.h"

enum ig_way { /* algorithms, from what others did to what is possible */
              IG_WAY_SINGLE = 0,
              IG_WAY_TEAM,
              IG_WAY_ALGORITHM1_PRINTED,
              IG_WAY_ALGORITHM1,
              IG_WAY_NEUROPIPE_PRINTED,
              IG_WAY_NEUROPIPE,
              IG_WAY_CUTS,
              IG_WAY_STAGES,
              IG_WAY_SHARED,
              IG_WAY_MAP,
              IG_WAY_OBJECTIVE, /* the best by --objective within limits; the last */
              IG_WAYS
};
extern const char *const ig_way_names[IG_WAYS]; /* as of --algorithm */

struct ig_pipeline_report {
    const struct ig_graph *g;
    const struct ig_pipe_net *net;
    const char *times; /* where they come from, in words */
    int32_t ideals;    /* -1: too many to count */
    int64_t team_ns;   /* all cores together on one frame; 0: not known */
    int32_t team_threads;
    int64_t bound_ns;
    struct ig_pipe_plan of[IG_WAYS]; /* n_stages 0: there is none */
    int32_t chosen;                  /* enum ig_way */
    double least_gain;               /* percent: stages promise less, and one processor was chosen; else 0 */
    const struct ig_pipe_wish *wish; /* NULL: as many frames a second as there can be */
    struct ig_pipe_choice choice;    /* of the wish */
    struct ig_pipe_plan any;         /* any map for the wish; n_stages 0: not looked for */
};

/* A table of all, on f. */
void ig_pipeline_table(FILE *f, const struct ig_pipeline_report *r);
/* The chosen plan's stages, and why it is what it is. */
void ig_pipeline_stages(FILE *f, const struct ig_pipeline_report *r);
void ig_pipeline_explain(FILE *f, const struct ig_pipeline_report *r);
/* The same as `ingot plan --stages` takes them; nothing where stages are no runs of steps. */
void ig_pipeline_option(FILE *f, const struct ig_pipeline_report *r);
/* Which stage has which frame when, for some frames, one line a stage. */
void ig_pipeline_gantt(FILE *f, const struct ig_pipeline_report *r);
/* Plans between the shortest period and the least memory (and energy), one a line. */
void ig_pipeline_front(FILE *f, const struct ig_pipeline_report *r);
/* Everything as one object. */
void ig_pipeline_json(FILE *f, const struct ig_pipeline_report *r);

/* Times of the segments on a board's processors, as its estimate has them, instead of the ones that the net has. */
void ig_pipeline_board(const struct ig_graph *g, const struct ig_platform *b, const struct ig_plan *plan,
                       struct ig_pipe_net *net);
/*
 * Baseline, basic, power-save and boost at the board's operating points, those of `modes`, a bit of enum ig_mode each. Fatal
 * where a power is not known.
 */
enum ig_mode { IG_MODE_BASELINE = 1, IG_MODE_BASIC = 2, IG_MODE_SAVE = 4, IG_MODE_BOOST = 8, IG_MODES_ALL = 15 };
void ig_pipeline_modes(FILE *f, const struct ig_graph *g, const struct ig_platform *b, const struct ig_plan *plan,
                       const struct ig_pipe_net *net, int modes);

/*
 * in[n]: what it takes each of n sets of cores, more than its own tensors do, to read what any other one wrote, as timed now
 * between their first cores. A line on stderr for each direction, with how well it fits. Fatal where it does not.
 */
void ig_pipeline_measure(const char *const *names, const int32_t *cores, int32_t n, struct ig_pipe_link *in);
/* 1 if the board, which may be NULL, says what each of its processors draws at work and idle. */
int ig_pipeline_powers(const struct ig_platform *b);
/* Fills the plan of r->wish. Fatal where it needs powers that the board, which may be NULL, does not say. */
void ig_pipeline_choose(struct ig_pipeline_report *r, const struct ig_platform *b);
/* Fatal if no plan keeps the wish's limits: which, by how much, and the nearest. */
void ig_pipeline_refuse(const struct ig_pipeline_report *r);
/* What the plan of r->wish costs, and of how many it is the best. */
void ig_pipeline_wish(FILE *f, const struct ig_pipeline_report *r);

#endif
