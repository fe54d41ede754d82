/* Puts a context on a team of threads. */
#include "runtime/api.h"
#include "runtime/team.h"

int ig_ctx_start_threads(struct ig_ctx *ctx, struct ig_team *team, int32_t threads)
{
    if (!ctx || !team) return IG_ERROR_NULL;
    if (!ctx->model) return IG_ERROR_STATE;
    if (threads < 1 || threads > IG_MAX_THREADS) return IG_ERROR_THREADS;
    if (ctx->arena_bytes < ig_arena_total(ctx->model, threads)) return IG_ERROR_ARENA_SMALL;
    ig_ctx_stop_threads(ctx);
    int status = ig_team_start(team, threads);
    if (status) return status;
    ctx->team = team;
    ctx->run_team = ig_team_run;
    return IG_OK;
}

void ig_ctx_stop_threads(struct ig_ctx *ctx)
{
    if (!ctx) return;
    if (ctx->team) ig_team_stop(ctx->team);
    ctx->team = NULL;
}
