/* Pipelines on a board that is described, not at hand: times by its estimate, and clocks by its operating points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/cli.h"
#include "cli/estimate.h"
#include "cli/pipeline.h"
#include "planner/alloc.h"
#include "planner/forecast.h"
#include "planner/pipe_dvfs.h"

static struct ig_forecast *forecast(const struct ig_graph *g, const struct ig_platform *b)
{
    struct ig_forecast_options o = {.board = b, .max_error = IG_MAX_ERROR};
    char err[4096];
    struct ig_forecast *f = ig_forecast_make(g, &o, err, sizeof err);
    if (!f) ig_fatal("%s", err);
    return f;
}

/* ns[n][n_processors of the board] of the net's segments, whose steps' nodes are in `node_of`. */
static void times(const struct ig_graph *g, const struct ig_platform *b, const struct ig_plan *plan,
                  const struct ig_pipe_net *net, int64_t *ns)
{
    struct ig_forecast *f = forecast(g, b);
    int32_t k = b->n_processors, *segment = ig_must_alloc((size_t)g->n_nodes, sizeof *segment);
    for (int32_t v = 0; v < g->n_nodes; v++) segment[v] = -1;
    for (int32_t i = 0; i < plan->n_steps; i++) segment[plan->steps[i].node] = net->segment[i];
    memset(ns, 0, (size_t)net->p.n * (size_t)k * sizeof *ns);
    for (int32_t i = 0; i < f->n; i++)
        for (int32_t j = 0; j < k && segment[f->layers[i].node] >= 0; j++) {
            double s = f->layers[i].on[j].s;
            int64_t *at = &ns[(int64_t)segment[f->layers[i].node] * k + j];
            if (!isfinite(s))
                *at = IG_PIPE_NEVER;
            else if (*at < IG_PIPE_NEVER)
                *at += llround(s * 1e9);
        }
    for (int32_t j = 0; j < k; j++) {
        const struct ig_processor *on = &b->processors[j];
        int runs = !strcasecmp(on->type, "CPU") && on->hz > 0;
        ig_pipe_net_host_time(net, ns, k, j, runs ? IG_HOST_OPS_HZ / (double)on->hz : 0);
    }
    free(segment);
    ig_forecast_free(f);
}

void ig_pipeline_board(const struct ig_graph *g, const struct ig_platform *b, const struct ig_plan *plan,
                       struct ig_pipe_net *net)
{
    free(net->ns);
    net->ns = ig_must_alloc((size_t)net->p.n * (size_t)b->n_processors, sizeof *net->ns);
    net->p.ns = net->ns;
    net->p.n_processors = b->n_processors;
    times(g, b, plan, net, net->ns);
}

/* --- clocks --- */

static int64_t milliwatts(const struct ig_processor *p, const struct ig_point *point, int idle)
{
    double w = idle ? point->idle_w : point->active_w;
    if (w < 0)
        ig_fatal("--modes: %s at %.0f MHz has no %s power in the board's file: none is published; docs/formats.md says how to measure it",
                 p->type, (double)point->hz * 1e-6, idle ? "idle" : "active");
    return llround(w * 1e3);
}

static int32_t fastest(const struct ig_processor *p)
{
    int32_t best = 0;
    for (int32_t i = 1; i < p->n_points; i++)
        if (p->points[i].hz > p->points[best].hz) best = i;
    return best;
}

/* Estimates of processor j's layers at all its points, and what they say of cycles and of memory. */
static void fit_clocks(const struct ig_graph *g, const struct ig_platform *b, const struct ig_plan *plan,
                       const struct ig_pipe_net *net, int32_t j, int64_t *cycles, int64_t *memory_ns)
{
    const struct ig_processor *p = &b->processors[j];
    int32_t points = p->n_points, order[IG_MAX_POINTS] = {0};
    size_t cells = (size_t)net->p.n * (size_t)b->n_processors;
    int64_t *ns = ig_must_alloc(cells * (size_t)points, sizeof *ns), khz[IG_MAX_POINTS], of[IG_MAX_POINTS];
    int misfits = 0;
    for (int32_t i = 0; i < points; i++) order[i] = i;
    order[0] = fastest(p);
    order[order[0]] = 0;
    for (int32_t i = 0; i < points; i++) {
        struct ig_platform at = *b;
        ig_processor_at(&at.processors[j], &p->points[order[i]]);
        khz[i] = p->points[order[i]].hz / 1000;
        times(g, &at, plan, net, ns + (size_t)i * cells);
    }
    for (int32_t v = 0; v < net->p.n; v++) {
        for (int32_t i = 0; i < points; i++) of[i] = ns[(size_t)i * cells + (size_t)(v * b->n_processors + j)];
        if (of[0] >= IG_PIPE_NEVER) ig_fatal("--modes: %s does not run on %s", net->p.names[v], p->type);
        misfits += ig_dvfs_fit(khz, of, points, &cycles[v], &memory_ns[v]) != 0;
    }
    if (misfits)
        fprintf(stderr, "ingot: %d of %d layers on %s are more than 5 %% off cycles / clock + memory time\n", misfits,
                net->p.n, p->type);
    free(ns);
}

static void put_mode(FILE *f, const char *mode, const struct ig_dvfs *d, const struct ig_platform *b,
                     const struct ig_pipe_net *net, const struct ig_dvfs_plan *plan, const struct ig_dvfs_plan *base)
{
    if (!plan->found) {
        fprintf(f, "  %-11s none\n", mode);
        return;
    }
    fprintf(f, "  %-11s %9.3f ms %9.3f mJ %+7.1f %% time %+7.1f %% energy;", mode, (double)plan->period_ns * 1e-6,
            (double)plan->energy_pj * 1e-9, 100 * ((double)plan->period_ns / (double)base->period_ns - 1),
            100 * ((double)plan->energy_pj / (double)base->energy_pj - 1));
    for (int k = 0; k < 2; k++)
        fprintf(f, " %s %.0f MHz%s", b->processors[k].type, (double)d->on[k].points[plan->point[k]].khz * 1e-3,
                k ? "" : ",");
    if (plan->cut < d->n)
        fprintf(f, "; %s up to %s\n", b->processors[plan->first].type, net->p.names[plan->cut - 1]);
    else
        fprintf(f, "; %s alone\n", b->processors[plan->first].type);
}

void ig_pipeline_modes(FILE *f, const struct ig_graph *g, const struct ig_platform *b, const struct ig_plan *plan,
                       const struct ig_pipe_net *net, int modes)
{
    size_t n = (size_t)net->p.n;
    struct ig_dvfs d = {.n = net->p.n};
    uint8_t *kind = ig_must_alloc(n, 1);
    int64_t *layers = ig_must_alloc(6 * (n + 1), sizeof *layers);
    int32_t top[2];
    if (b->n_processors != 2) ig_fatal("--modes: %s has %d kinds of processors, not two", b->name, b->n_processors);
    d.kind = kind;
    for (int32_t j = 0; j < 2; j++) {
        const struct ig_processor *p = &b->processors[j];
        int64_t *cycles = layers + (size_t)j * 3 * (n + 1), *memory = cycles + n + 1, *load = memory + n + 1;
        if (p->n_points < 2) ig_fatal("--modes: %s has fewer than two operating points in the board's file", p->type);
        d.on[j] = (struct ig_dvfs_processor){.n = p->n_points, .cycles = cycles, .memory_ns = memory, .load_ns = load};
        for (int32_t i = 0; i < p->n_points; i++) {
            int64_t active = milliwatts(p, &p->points[i], 0);
            d.on[j].points[i] = (struct ig_dvfs_point){
                p->points[i].hz / 1000, {active, active, active}, milliwatts(p, &p->points[i], 1)};
        }
        top[j] = fastest(p);
        for (int32_t v = 0; v < net->p.n; v++)
            for (int32_t u = 0; u <= v; u++) { /* what is read across a cut in front of v + 1 */
                int crosses = 0;
                for (int32_t w = v + 1; w < net->p.n && !crosses; w++)
                    for (int32_t e = net->first[w]; e < net->first[w + 1]; e++) crosses |= net->preds[e] == u;
                if (crosses) load[v + 1] += ig_pipe_transfer(&net->p.in[j], net->bytes[u]);
            }
        fit_clocks(g, b, plan, net, j, cycles, memory);
    }
    struct ig_dvfs_plan base = ig_dvfs_single(&d, top), basic = ig_dvfs_basic(&d, top);
    struct ig_dvfs_plan save = ig_dvfs_power_save(&d, base.period_ns), boost = ig_dvfs_boost(&d, base.energy_pj);
    fprintf(f, "modes, with the board's powers; power-save keeps the baseline's rate, boost its energy a frame:\n");
    if (modes & IG_MODE_BASELINE) put_mode(f, "baseline", &d, b, net, &base, &base);
    if (modes & IG_MODE_BASIC) put_mode(f, "basic", &d, b, net, &basic, &base);
    if (modes & IG_MODE_SAVE) put_mode(f, "power-save", &d, b, net, &save, &base);
    if (modes & IG_MODE_BOOST) put_mode(f, "boost", &d, b, net, &boost, &base);
    free(kind);
    free(layers);
}
