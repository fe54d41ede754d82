/* Executes a model's steps, on the calling thread or on a team. No malloc, no stdio, no globals. */
#ifndef RUNTIME_RUN_H
#define RUNTIME_RUN_H

#include "runtime/step.h"

enum ig_status {
    IG_OK = 0,
    IG_ERROR_ARENA_SMALL, /* fewer bytes than the model needs for that many threads */
    IG_ERROR_ARENA_ALIGN, /* the arena does not start at a multiple of 64 */
    IG_ERROR_NULL,        /* an input, an output, the arena or the context is NULL */
    IG_ERROR_THREADS,     /* the system would not start a thread, or a count out of range */
    IG_ERROR_WEIGHTS,     /* no weights, or not this model's */
    IG_ERROR_STATE,       /* run before init, or of a network that there is not */
    IG_ERROR_STAGE,       /* of a frame: a stage could not compute it */
    IG_AGAIN,             /* no room for a frame now, or none is ready */
    IG_END,               /* the stream is over, or was stopped */
    IG_ERROR_PROCESSOR    /* it has not what the kernels need, or the system does not grant its use */
};

enum { IG_MAX_THREADS = 64 };

struct ig_team;

struct ig_run { /* one execution of one frame: what all threads share */
    const struct ig_model *model;
    char *arena; /* activations and scratch; then scratch of threads that the plan does not know */
    const char *weights;
    const void *const *inputs;
    void *const *outputs;
    int64_t *step_ns;          /* n_steps measured times, or NULL */
    int64_t (*clock_ns)(void); /* for step_ns */
    char *const *slots;        /* of a stage: for each slot, where the arena would begin if the frame's copy were
                                  the first; NULL: the first copies are the frame's */
};

/* How the threads of a run agree; NULL members: there is one thread. */
struct ig_sync {
    void (*barrier)(struct ig_team *team, int32_t thread); /* all threads have arrived; the next step's chunks are free */
    int32_t (*claim)(struct ig_team *team, int32_t thread, int32_t chunks); /* one of a step's; `chunks`: all are taken */
    const int64_t *passed_ns; /* when the frame began or the last barrier opened, in a timed run */
    struct ig_team *team;
};

/* Bytes that the arena must have for `threads` threads. */
static inline int64_t ig_arena_total(const struct ig_model *m, int32_t threads)
{
    return m->arena_bytes + (threads > m->threads ? threads - m->threads : 0) * m->scratch_bytes;
}

/* Thread `thread` of a run: all steps, in order; returns when this thread is done with the last one. */
void ig_run_steps(const struct ig_run *run, const struct ig_sync *sync, int32_t thread);
/* A line for a status, without a newline; never NULL. */
const char *ig_status_text(int status);

#endif
