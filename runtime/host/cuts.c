/* A program that carries several cuts: what they are, and how often each ran. */
#include "runtime/cuts.h"
#include "runtime/host/stages.h"

static struct ig_cut_run run;

static void attach(struct ig_pipeline *p, const struct ig_cuts *cuts)
{
    int status = ig_cuts_attach(&run, cuts, p);
    if (status) ig_die("%s", ig_status_text(status));
    run.work = ig_stages_worker.work;
    run.work_arg = ig_stages_worker.arg;
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

/* ran: NULL, or how many frames each one had. */
static void print(const struct ig_cuts *cuts, int json, const _Atomic uint32_t *ran)
{
    if (json) printf("\"alternatives\":[");
    for (int32_t i = 0; i < cuts->n; i++) {
        printf(json ? "%s{" : "%salternative ", i && json ? "," : "");
        if (!json) printf("%d: ", (int)i);
        if (json && ran) printf("\"ran\":%u,", (unsigned)atomic_load(&ran[i]));
        if (json) printf("\"stages\":[");
        print_stages(cuts, i, json);
        if (!json && ran) printf(", ran %u times", (unsigned)atomic_load(&ran[i]));
        printf(json ? "]}" : "\n");
    }
    if (json) putchar(']');
}

static void info(const struct ig_cuts *cuts, int json)
{
    print(cuts, json, NULL);
    if (json) putchar(',');
}

static void bench(const struct ig_cuts *cuts, int json)
{
    unsigned switches = (unsigned)atomic_load(&run.switches);
    if (json) printf("\"alternative_switches\":%u,", switches);
    print(cuts, json, run.ran);
    if (json) putchar(',');
    else printf("%u switches between alternatives\n", switches);
}

const struct ig_cut_calls ig_cut_calls = {attach, info, bench};
