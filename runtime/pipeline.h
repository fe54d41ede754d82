/*
 * A pipeline: consecutive frames in the stages of a plan, each stage a team of threads on cores of its own.
 *
 * Between stages there are only gates, a count of the frames that have passed: each has one writer, and whoever waits
 * for a frame, or for a slot that is free again, waits at the gate of the one who makes it so. A stage begins a frame
 * when the gate before it has let it through and, for each tensor that the stage is the first to touch, the last stage
 * that reads it has given up the frame whose copy this one takes. Frames keep their order, whatever becomes of them.
 *
 * One thread pushes and one pops; they may be the same.
 */
#ifndef RUNTIME_PIPELINE_H
#define RUNTIME_PIPELINE_H

#include "runtime/stage.h"
#include "runtime/team.h"

enum { IG_MAX_FLIGHT = 32 }; /* frames between push and pop, a power of two; a plan allows fewer as a rule */

struct ig_gate {
    /* Frames that have passed, times 2; odd: no more will come. A futex word. */
    _Alignas(IG_LINE) _Atomic uint32_t count;
    _Atomic int32_t sleepers; /* threads in a futex wait */
};

struct ig_span { /* a stage's work on a frame, ns by the pipeline's clock */
    int64_t begin, end;
};

struct ig_pipeline;

struct ig_stage_run { /* a stage at work; its thread's own */
    struct ig_team team;
    struct ig_pipeline *pipeline;
    int32_t stage;
    pthread_t thread;
    void *base[IG_MAX_SLOTS]; /* of this frame's copies, by slot: the inputs' and outputs' own, else the arena as if the
                                 copy were the first */
    int32_t copy[IG_MAX_SLOTS]; /* the frame's */
    int64_t busy_ns;            /* at work so far */
    _Atomic int32_t state;      /* enum ig_status, or -1 while it starts */
};

struct ig_pipeline {
    const struct ig_pipe *pipe; /* NULL: stopped */
    const char *weights;
    char *arena;
    int32_t spins;                           /* of a stage that waits, before it sleeps */
    int32_t end[2][IG_MAX_SLOTS];            /* copies that the next push and pop take, by slot */
    struct ig_gate gates[IG_MAX_STAGES + 2]; /* of push, of the stages, of pop */
    _Atomic int32_t stopped;                 /* the stages leave after their frame */
    int32_t status[IG_MAX_FLIGHT];           /* of a frame */
    struct ig_stage_run stages[IG_MAX_STAGES];
    /*
     * Set by the caller after ig_pipeline_clear, or left alone. work: what a stage does, instead of ig_team_run;
     * returns enum ig_status, the frame's if it is not IG_OK.
     */
    int (*work)(void *arg, int32_t stage, struct ig_team *team, const struct ig_run *run);
    void *work_arg;
    /* Where a slot's copy is; NULL, of the function or from it: at its place in the arena. */
    char *(*place)(void *arg, int32_t slot, int32_t copy);
    void *place_arg;
    int64_t (*clock_ns)(void); /* for busy_ns and spans */
    struct ig_span *spans;     /* [n_spans][n_stages] of the first frames */
    uint32_t n_spans;
};

void ig_pipeline_clear(struct ig_pipeline *p);
/*
 * Starts the stages. `p` is the caller's memory, cleared; arena: at least pipe->model->arena_bytes, aligned to 64, in
 * use until the stop. Threads keep to their stage's cores as far as this process may use them. IG_OK or an error; then
 * nothing runs.
 */
int ig_pipeline_start(struct ig_pipeline *p, const struct ig_pipe *pipe, const void *weights, void *arena,
                      size_t bytes);
/*
 * From any thread: the stages leave after the frame that they are at, and whoever waits in a push or a pop comes back
 * with IG_END, or a frame that was ready. The pipeline is then to be stopped.
 */
void ig_pipeline_shut(struct ig_pipeline *p);
/* The same, and waits for the stages; no other thread is in a push or a pop any more. May be called again, and a start
 * after it. */
void ig_pipeline_stop(struct ig_pipeline *p);

/*
 * Where the next frame's inputs go, in[n_inputs], to be filled before ig_push_end. wait: until there is room. IG_OK,
 * IG_AGAIN, or IG_END after the stream's end. May be called again before ig_push_end.
 */
int ig_push_begin(struct ig_pipeline *p, void **in, int wait);
void ig_push_end(struct ig_pipeline *p);
/* Copies a frame in. Who waits for room needs another thread that pops. */
int ig_push(struct ig_pipeline *p, const void *const *in, int wait);
/* No more frames will come: pop gives IG_END behind the last one. */
void ig_push_close(struct ig_pipeline *p);

/*
 * Where the oldest frame's outputs are, out[n_outputs], to be read until ig_pop_end. wait: until it is ready. IG_OK,
 * the frame's error (it is there, and to be ended, but its outputs are nothing), IG_AGAIN, or IG_END. *ready, if not
 * NULL: whether there is a frame.
 */
int ig_pop_begin(struct ig_pipeline *p, void **out, int wait, int *ready);
void ig_pop_end(struct ig_pipeline *p);
/* Copies its outputs out, unless it has an error. */
int ig_pop(struct ig_pipeline *p, void *const *out, int wait);

#endif
