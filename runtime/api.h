/* What the generated <prefix>_... functions are made of: a context over caller's memory. */
#ifndef RUNTIME_API_H
#define RUNTIME_API_H

#include "runtime/run.h"

struct ig_ctx {
    const struct ig_model *model; /* NULL before init */
    const char *weights;
    char *arena;
    int64_t arena_bytes;
    struct ig_team *team; /* NULL: the caller's thread alone */
    void (*run_team)(struct ig_team *team, const struct ig_run *run);
};

/*
 * Makes `ctx` ready to run `model` on one thread. arena: 64-byte aligned, at least ig_arena_total(model, 1)
 * bytes, the caller's, in use until the last run. weights: 64-byte aligned blob of the model. Returns enum
 * ig_status.
 */
int ig_ctx_init(struct ig_ctx *ctx, const struct ig_model *model, const void *weights, void *arena,
                size_t bytes);
/* One frame: inputs[n_inputs], outputs[n_outputs] dense tensors of the caller, any alignment of their element
 * type. */
int ig_ctx_run(const struct ig_ctx *ctx, const void *const *inputs, void *const *outputs);
/* The same, and measures each step (ns by `clock_ns`) into step_ns[n_steps]. */
int ig_ctx_run_timed(const struct ig_ctx *ctx, const void *const *inputs, void *const *outputs,
                     int64_t *step_ns, int64_t (*clock_ns)(void));

/* runtime/threads.c, hosted programs only: runs on `threads` threads from now on, `team` being the caller's
 * memory. */
struct ig_team;
int ig_ctx_start_threads(struct ig_ctx *ctx, struct ig_team *team, int32_t threads);
void ig_ctx_stop_threads(struct ig_ctx *ctx);

#endif
