/* Pipelines for an objective within limits: which plan that is, or which limit no plan keeps, in words. */
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/pipeline.h"
#include "planner/plan.h"

static const char *const objectives[] = {[IG_OBJECTIVE_LATENCY] = "latency", [IG_OBJECTIVE_MEMORY] = "memory",
                                         [IG_OBJECTIVE_THROUGHPUT] = "time between results",
                                         [IG_OBJECTIVE_ENERGY] = "energy a frame"};

int ig_pipeline_powers(const struct ig_platform *b)
{
    for (int32_t k = 0; b && k < b->n_processors; k++)
        if (b->processors[k].active_w < 0 || b->processors[k].idle_w < 0) return 0;
    return b != NULL;
}

void ig_pipeline_choose(struct ig_pipeline_report *r, const struct ig_platform *b)
{
    const struct ig_pipe_wish *w = r->wish;
    struct ig_pipe in_order = r->net->p;
    int by_energy = w->objective == IG_OBJECTIVE_ENERGY;
    if ((by_energy || w->energy_pj) && !ig_pipeline_powers(b))
        ig_fatal("%s needs active_w and idle_w of every processor, in the file of --platform", by_energy ? "--objective=energy" : "--max-mj");
    in_order.in_order = 1;
    ig_pipe_choose(&in_order, w, &r->of[IG_WAY_OBJECTIVE], &r->choice);
    if (w->objective == IG_OBJECTIVE_LATENCY || (by_energy && w->period_ns)) ig_pipe_choose_map(&r->net->p, w, &r->any);
}

/* "cpu:0 up to conv3, cpu:1" */
static void put_cuts(FILE *f, const struct ig_pipeline_report *r, const struct ig_pipe_plan *p)
{
    for (int32_t s = 0, v = 0; s < p->n_stages; s++) {
        while (v < p->n && p->stage[v] == s) v++;
        fprintf(f, "%s%s", s ? ", " : "", r->net->p.processors[p->processor[s]]);
        if (v < p->n) fprintf(f, " up to %s", r->net->p.names[v - 1]);
    }
}

static void put_costs(FILE *f, const struct ig_pipeline_report *r, const struct ig_pipe_plan *p)
{
    fprintf(f, "a result every %.3f ms, latency %.3f ms, %lld bytes", (double)p->period_ns * 1e-6,
            (double)p->latency_ns * 1e-6, (long long)p->memory_bytes);
    if (p->energy_pj) fprintf(f, ", %.3f mJ a frame", (double)p->energy_pj * 1e-9);
    if (p->energy_pj && r->wish->period_ns > p->period_ns) fprintf(f, " at %.4g frames/s", 1e9 / (double)r->wish->period_ns);
}

static void put_missed(FILE *f, const struct ig_pipe_wish *w, const struct ig_pipe_plan *p)
{
    const char *before = "";
    if (w->period_ns && p->period_ns > w->period_ns) {
        fprintf(f, "%s--min-fps %.6g missed by %.6g", before, 1e9 / (double)w->period_ns,
                1e9 / (double)w->period_ns - 1e9 / (double)p->period_ns);
        before = ", ";
    }
    if (w->latency_ns && p->latency_ns > w->latency_ns) {
        fprintf(f, "%s--max-latency-ms %.6g exceeded by %.6g", before, (double)w->latency_ns * 1e-6,
                (double)(p->latency_ns - w->latency_ns) * 1e-6);
        before = ", ";
    }
    if (w->memory_bytes && p->memory_bytes > w->memory_bytes) {
        fprintf(f, "%s--memory-budget %lld exceeded by %lld bytes", before, (long long)w->memory_bytes,
                (long long)(p->memory_bytes - w->memory_bytes));
        before = ", ";
    }
    if (w->energy_pj && p->energy_pj > w->energy_pj)
        fprintf(f, "%s--max-mj %.6g exceeded by %.6g", before, (double)w->energy_pj * 1e-9,
                (double)(p->energy_pj - w->energy_pj) * 1e-9);
}

void ig_pipeline_refuse(const struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *p = &r->of[IG_WAY_OBJECTIVE];
    char *text = NULL;
    size_t n;
    if (r->choice.kept) return;
    if (!p->n_stages) ig_fatal("%s: no processors can run all of it in up to three stages", r->g->name);
    FILE *f = open_memstream(&text, &n);
    if (!f) ig_fatal("out of memory");
    put_missed(f, r->wish, p);
    fprintf(f, " by the nearest of %lld plans: ", (long long)r->choice.looked);
    put_cuts(f, r, p);
    fputs("; ", f);
    put_costs(f, r, p);
    fclose(f);
    ig_fatal("%s: %s", r->g->name, text);
}

void ig_pipeline_wish(FILE *f, const struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *p = &r->of[IG_WAY_OBJECTIVE];
    int32_t objective = r->wish->objective;
    fprintf(f, "least %s of %lld plans of up to three stages, of which %lld keep the limits: ", objectives[objective],
            (long long)r->choice.looked, (long long)r->choice.kept);
    put_costs(f, r, p);
    fputs("\n", f);
    if (r->any.n_stages) {
        fprintf(f, "any map%s that was found: ", r->any.proven ? "" : ", not proven,");
        put_costs(f, r, &r->any);
        fputs("\n", f);
    }
    if (objective == IG_OBJECTIVE_LATENCY && r->team_ns && r->team_ns < p->latency_ns)
        fprintf(f, "all cores as one team take %.3f ms from end to end\n", (double)r->team_ns * 1e-6);
}
