/* What a step costs beside its kernel: a model of steps that do nothing, run by a team. */
#include "bench/machine.h"
#include "bench/profile.h"
#include "runtime/team.h"

enum { STEPS = 256, FRAMES = 200 };

static void nothing(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)call;
    (void)range;
    (void)scratch;
}

int64_t ig_step_overhead_ns(int32_t threads)
{
    static _Alignas(IG_LINE) char memory[IG_LINE];
    static struct ig_step steps[STEPS];
    static struct ig_team team;
    const struct ig_model m = {.name = "nothing", .steps = steps, .n_steps = STEPS, .threads = threads};
    const struct ig_run run = {.model = &m, .arena = memory, .weights = memory};
    int64_t least = 0;
    for (int i = 0; i < STEPS; i++)
        steps[i] = (struct ig_step){.run = nothing,
                                    .images = 1,
                                    .rows = threads,
                                    .cols = 1,
                                    .split = 1,
                                    .chunk = 1,
                                    .chunks = threads,
                                    .weights = -1};
    if (ig_team_start(&team, threads)) return 0;
    for (int i = 0; i < FRAMES; i++) {
        int64_t start = ig_bench_ns();
        ig_team_run(&team, &run);
        int64_t ns = ig_bench_ns() - start;
        if (!least || ns < least) least = ns;
    }
    ig_team_stop(&team);
    return (least + STEPS - 1) / STEPS;
}
