/*
 * Plan -> the runtime's tables, in memory. gen/emit.c prints them as C; the profiler runs them as they are.
 */
#ifndef GEN_LOWER_H
#define GEN_LOWER_H

#include "planner/plan.h"
#include "runtime/stage.h"
#include "runtime/step.h"

struct ig_lowered {
    const struct ig_graph *graph;
    const struct ig_plan *plan;
    struct ig_model model;            /* points into the arrays below */
    struct ig_step *steps;            /* the plan's steps that run something, in order; a band's together */
    struct ig_layer *layers;          /* one per step */
    const struct ig_kernel **kernels; /* one per step */
    const struct ig_node **nodes;     /* one per step */
    int64_t *packed;                  /* weight offset per plan step, -1: none */
    int64_t *consts;                  /* weight offset per value, -1: not in the blob */
    struct ig_io *ios;
    struct ig_pipe pipe;              /* of a plan with stages; else n_stages 0 */
    struct ig_stage *stages;          /* pipe's; of cuts, if there are some */
    struct ig_cuts cuts;              /* of a plan with alternatives; else n 0 */
    struct ig_lowered **others;       /* [cuts.n - 1]: the other alternatives, in the same memory */
    const struct ig_share_of *part;       /* where this one's is; NULL: where its plan says */
    struct ig_united united;          /* of the first of several */
    void **owned; /* malloc'ed blocks, freed with this */
    int32_t n_owned;
};

/* Builds the tables. Never fails on a valid plan (ig_validate); allocation failure ends the program. */
struct ig_lowered *ig_lower(const struct ig_graph *g, const struct ig_plan *p);
/* The same with weights where those of `whole` are, another plan of the graph that has p's kernels and more. */
struct ig_lowered *ig_lower_sharing(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan *whole);
void ig_lowered_free(struct ig_lowered *l);
/* Fills the weight blob: blob[l->model.weights_bytes], 64-byte aligned, zeroed by the caller; sets
 * l->model.weights_hash. */
void ig_fill_weights(struct ig_lowered *l, void *blob);
/* Those of the nodes that nodes[] marks, for programs that run no others; without a hash. */
void ig_fill_weights_of(struct ig_lowered *l, const char *nodes, void *blob);
void ig_set_weights_hash(struct ig_lowered *l, uint64_t hash);

#endif
