/* What it costs that threads take a layer together: layers of no work, one chunk for each thread. */
#include <stdlib.h>

#include "bench/micro/micro.h"
#include "runtime/api.h"
#include "runtime/team.h"

enum { STEPS = 1000 };

static void nothing(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)call, (void)range, (void)scratch;
}

static void frame(void *data)
{
    static const float in;
    static float out;
    ig_ctx_run((struct ig_ctx *)data, (const void *const[]){&in}, (void *const[]){&out});
}

double ig_micro_team(int32_t threads)
{
    static const struct ig_shape shape = {IG_F32, 2, {64, 64}};
    static const struct ig_place place = {
        .shape = &shape, .space = IG_SPACE_ARENA, .h = 1, .w = 64, .c = 64, .ring_rows = 1, .row_stride = 4096,
        .pixel_stride = 64};
    static _Alignas(64) char arena[16384 + 64], weights[64];
    static struct ig_step steps[STEPS];
    static struct ig_team team;
    struct ig_model model = {.name = "nothing", .steps = steps, .n_steps = STEPS, .threads = threads,
                             .arena_bytes = 16384, .weights_bytes = sizeof weights};
    struct ig_ctx ctx;
    for (int32_t i = 0; i < STEPS; i++)
        steps[i] = (struct ig_step){.run = nothing, .out = &place, .weights = -1, .n_out = 1, .images = 1, .rows = 1,
                                    .cols = 64, .split = 2, .chunk = 64 / threads, .chunks = threads};
    if (ig_ctx_init(&ctx, &model, weights, arena, sizeof arena)) return 0;
    if (ig_ctx_start_threads(&ctx, &team, threads)) return 0;
    double ns = ig_time_least(frame, &ctx, 0.2) / STEPS;
    ig_ctx_stop_threads(&ctx);
    return ns;
}
