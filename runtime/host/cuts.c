/* A program that carries several cuts: what they are, and how often each ran. */
#include "runtime/cuts.h"
#include "runtime/host/stages.h"

static struct ig_cut_run run;

static void attach(struct ig_pipeline *p, const struct ig_cuts *cuts)
{
    int status = ig_cuts_attach(&run, cuts, p);
    if (status) ig_die("%s", ig_status_text(status));
}

static void print_stages(const struct ig_cuts *cuts, int32_t cut, int json)
{
    int32_t n = cuts->pipe->n_stages;
    for (int32_t i = 0; i < n; i++) {
        const struct ig_stage *s = &cuts->stages[cut * n + i];
        printf(json ? "%s{\"layers\":%d,\"predicted_ms\":%.4f}" : "%s%d layers %.3f ms", i ? json ? "," : " + " : "",
               s->model.n_steps, s->predicted_ns * 1e-6);
    }
}

static void print(const struct ig_cuts *cuts, int json, int ran)
{
    if (json && ran) printf("\"alternative_switches\":%u,", (unsigned)atomic_load(&run.switches));
    if (json) printf("\"alternatives\":[");
    for (int32_t i = 0; i < cuts->n; i++) {
        unsigned frames = (unsigned)atomic_load(&run.ran[i]);
        printf(json ? "%s{" : "%salternative ", i && json ? "," : "");
        if (!json) printf("%d: ", (int)i);
        if (json && ran) printf("\"ran\":%u,", frames);
        if (json) printf("\"stages\":[");
        print_stages(cuts, i, json);
        if (json) printf("]}");
        else if (ran) printf(", ran %u times\n", frames);
        else putchar('\n');
    }
    if (json) printf("],");
    else if (ran) printf("%u switches between alternatives\n", (unsigned)atomic_load(&run.switches));
}

static void info(const struct ig_cuts *cuts, int json)
{
    print(cuts, json, 0);
}

static void bench(const struct ig_cuts *cuts, int json)
{
    print(cuts, json, 1);
}

const struct ig_cut_calls ig_cut_calls = {attach, info, bench};
