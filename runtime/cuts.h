/*
 * A pipeline whose frames may be cut in several ways, and which way the next one takes. The first stage gives each
 * frame its alternative, all others follow; order is kept and nothing drains. When a frame leaves the last stage, how
 * long each processor worked on it goes into runtime/adapt.h, whose answer holds from the next frame on. Work begins when
 * the stage could have begun: what it waits for its core, which another program has, is time that the frame takes.
 *
 * It is what the stages of a pipeline do (ig_pipeline.work): without it the pipeline knows one cut only.
 */
#ifndef RUNTIME_CUTS_H
#define RUNTIME_CUTS_H

#include "runtime/adapt.h"
#include "runtime/pipeline.h"
#include "runtime/rest.h"

struct ig_cut_frame { /* a frame on its way */
    int32_t cut;
    int64_t busy_ns[IG_MAX_STAGES], end_ns[IG_MAX_STAGES];
};

struct ig_cut_run {
    const struct ig_cuts *cuts;
    const struct ig_pipeline *pipeline;
    struct ig_cut_frame frames[IG_MAX_FLIGHT];
    struct ig_run runs[IG_MAX_STAGES]; /* of the frame that each stage is at */
    int32_t processor[IG_MAX_STAGES];
    struct ig_adapt adapt;       /* the last stage's, and all that follows up to last_ns */
    int64_t rest_ns[IG_REST_CORES], asked_ns; /* of cores, and when that was asked */
    _Atomic int32_t next;        /* alternative of the next frame to enter */
    uint32_t last_frame;         /* that came out */
    int64_t last_ns;             /* when; 0: none yet */
    _Atomic uint32_t ran[IG_ADAPT_ALTERNATIVES], switches; /* frames of each alternative; changes between frames */
    /* Set by the caller after ig_cuts_attach, or left alone: the frame's alternative, instead of the answer. */
    int32_t (*choose)(void *arg, uint32_t frame);
    void *choose_arg;
    /* The same: what a stage does with a frame of that alternative, instead of ig_team_run; the frame's status. */
    int (*work)(void *arg, int32_t cut, int32_t stage, struct ig_team *team, const struct ig_run *run);
    void *work_arg;
};

/*
 * Has the pipeline, which is cleared and not started yet, run these cuts; `r` is the caller's memory until it stops.
 * IG_OK, or IG_ERROR_STATE: more alternatives or processors than there can be.
 */
int ig_cuts_attach(struct ig_cut_run *r, const struct ig_cuts *cuts, struct ig_pipeline *p);

#endif
