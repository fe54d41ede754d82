/* Contexts: argument checks and one frame. Freestanding. */
#include "runtime/api.h"

int ig_ctx_init(struct ig_ctx *ctx, const struct ig_model *model, const void *weights, void *arena,
                size_t bytes)
{
    if (!ctx) return IG_ERROR_NULL;
    ctx->model = NULL;
    ctx->team = NULL;
    ctx->run_team = NULL;
    if (!arena && ig_arena_total(model, 1)) return IG_ERROR_NULL;
    if (!weights) return IG_ERROR_WEIGHTS;
    if ((uintptr_t)arena % 64) return IG_ERROR_ARENA_ALIGN;
    if ((int64_t)bytes < ig_arena_total(model, 1)) return IG_ERROR_ARENA_SMALL;
    ctx->model = model;
    ctx->weights = weights;
    ctx->arena = arena;
    ctx->arena_bytes = (int64_t)bytes;
    return IG_OK;
}

int ig_ctx_run_timed(const struct ig_ctx *ctx, const void *const *inputs, void *const *outputs,
                     int64_t *step_ns, int64_t (*clock_ns)(void))
{
    if (!ctx || !inputs || !outputs) return IG_ERROR_NULL;
    if (!ctx->model) return IG_ERROR_STATE;
    for (int32_t i = 0; i < ctx->model->n_inputs; i++)
        if (!inputs[i]) return IG_ERROR_NULL;
    for (int32_t i = 0; i < ctx->model->n_outputs; i++)
        if (!outputs[i]) return IG_ERROR_NULL;
    const struct ig_run run = {ctx->model, ctx->arena, ctx->weights, inputs, outputs, step_ns, clock_ns, NULL};
    const struct ig_sync alone = {NULL, NULL, NULL, NULL};
    if (ctx->team) ctx->run_team(ctx->team, &run);
    else ig_run_steps(&run, &alone, 0);
    return IG_OK;
}

int ig_ctx_run(const struct ig_ctx *ctx, const void *const *inputs, void *const *outputs)
{
    return ig_ctx_run_timed(ctx, inputs, outputs, NULL, NULL);
}
