/* ingot pipeline: which stages a network should be cut into for several processors, by every algorithm there is. */
#include <stdlib.h>
#include <string.h>

#include "cli/estimate.h"
#include "cli/pipeline_options.h"
#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/pipe_baselines.h"
#include "planner/pipe_contention.h"
#include "planner/pipe_ideals.h"
#include "runtime/run.h"

/* --- times --- */

struct times {
    struct ig_profile *profiles[IG_PIPELINE_FILES];
    struct ig_plan *plans[IG_PIPE_PROCESSORS + 1];
    int estimated;
};

static const struct ig_profile *profile_for(const struct ig_pipeline_options *w, const struct times *t, int32_t threads, int32_t isa)
{
    for (int32_t i = 0; i < w->n_profiles; i++)
        if (t->profiles[i]->threads == threads && !strcmp(t->profiles[i]->isa, ig_isa_name(isa))) return t->profiles[i];
    return NULL;
}

static void read_profiles(const struct ig_pipeline_options *w, const struct ig_graph *g, struct times *t)
{
    char err[4096], hex[65];
    ig_hash_graph(g, w->path, hex);
    for (int32_t i = 0; i < w->n_profiles; i++) {
        t->profiles[i] = ig_profile_read(w->profiles[i], g, err, sizeof err);
        if (!t->profiles[i]) ig_fatal("%s", err);
        if (strcmp(t->profiles[i]->graph_sha256, hex))
            ig_fatal("%s: taken of another graph; take a new profile", w->profiles[i]);
        if (w->gpu >= 0 && !strcmp(t->profiles[i]->isa, ig_isa_name(IG_ISA_CUDA))) continue;
        if (strcmp(t->profiles[i]->isa, ig_isa_name(w->plan.isa)))
            ig_fatal("%s: taken with %s kernels, the plan is for %s", w->profiles[i], t->profiles[i]->isa,
                     ig_isa_name(w->plan.isa));
    }
}

static int32_t isa_of(const struct ig_pipeline_options *w, int32_t k)
{
    return k == w->gpu ? (int32_t)IG_ISA_CUDA : w->plan.isa;
}

static struct ig_plan *plan_for(const struct ig_pipeline_options *w, const struct ig_graph *g, struct times *t, int32_t threads,
                                int32_t isa)
{
    struct ig_plan_options o = w->plan;
    char err[4096];
    o.threads = threads;
    o.isa = isa;
    o.profile = profile_for(w, t, threads, isa);
    struct ig_plan *p = ig_plan_make(g, &o, err, sizeof err);
    if (!p) ig_fatal("%s: %s", g->name, err);
    return p;
}

/* One plan for the GPU, and one for each number of threads; processors of as many cores share it. */
static void make_plans(struct ig_pipeline_options *w, const struct ig_graph *g, struct times *t, const struct ig_plan **of)
{
    for (int32_t k = 1; k < w->n_processors; k++)
        if (w->threads[k] != w->threads[0] || w->gpu >= 0) w->plan.bands = IG_BANDS_OFF;
    for (int32_t k = 0; k < w->n_processors; k++) {
        t->estimated |= !profile_for(w, t, w->threads[k], isa_of(w, k));
        for (int32_t i = 0; i < k && !t->plans[k]; i++)
            if (w->threads[i] == w->threads[k] && isa_of(w, i) == isa_of(w, k)) of[k] = of[i];
        if (!of[k]) of[k] = t->plans[k] = plan_for(w, g, t, w->threads[k], isa_of(w, k));
    }
}

/* --- the problem --- */

static struct ig_pipe_link link_of(double us, double gbytes)
{
    return (struct ig_pipe_link){(int64_t)(us * 1e3), gbytes > 0 ? (int64_t)(1e6 / gbytes) : 0};
}

static int32_t processor_named(const struct ig_pipeline_options *w, const char *name)
{
    for (int32_t k = 0; k < w->n_processors; k++)
        if (!strcmp(w->names[k], name)) return k;
    ig_fatal("--pin: '%s' is none of the processors", name);
}

static void pin(const struct ig_pipeline_options *w, const struct ig_graph *g, const struct ig_plan *plan, struct ig_pipe_net *net,
                const char *text)
{
    const char *sign = strrchr(text, '=');
    if (!sign) ig_fatal("--pin=%s: NODE=PROCESSOR", text);
    int32_t k = processor_named(w, sign + 1), ends[] = {0, net->p.n - 1};
    for (int32_t i = 0; i < 2 * net->host; i++) {
        if (strncmp(net->names[ends[i]], text, (size_t)(sign - text)) || net->names[ends[i]][sign - text]) continue;
        for (int32_t j = 0; j < w->n_processors; j++)
            if (j != k) net->ns[(int64_t)ends[i] * w->n_processors + j] = IG_PIPE_NEVER;
        return;
    }
    for (int32_t i = 0; i < plan->n_steps; i++) {
        const char *name = g->nodes[plan->steps[i].node].name;
        if (strlen(name) != (size_t)(sign - text) || strncmp(name, text, (size_t)(sign - text))) continue;
        if (net->segment[i] < 0) ig_fatal("--pin: %s moves no data, it runs nowhere", name);
        for (int32_t j = 0; j < w->n_processors; j++)
            if (j != k) net->ns[(int64_t)net->segment[i] * w->n_processors + j] = IG_PIPE_NEVER;
        return;
    }
    ig_fatal("--pin: there is no node '%.*s'", (int)(sign - text), text);
}

static void add_host_ops(const struct ig_pipeline_options *w, const struct ig_graph *g, struct ig_pipe_net *net)
{
    struct ig_host_ops o;
    ig_input_spec(w->spec, g, &o);
    ig_pipe_net_host(net, o.pre_ns, o.post_ns);
}

/* The GPU runs what it has kernels for, and copies what it reads of others and leaves to them, frames and results too. */
static void add_gpu(const struct ig_pipeline_options *w, const struct times *t, const struct ig_plan *plan, struct ig_pipe_net *net)
{
    const struct ig_profile *of = profile_for(w, t, 1, IG_ISA_CUDA);
    ig_pipe_net_only(plan, IG_ISA_CUDA, net, w->gpu);
    ig_pipe_net_host_time(net, net->ns, w->n_processors, w->gpu, 0);
    net->p.in[w->gpu] = net->p.out[w->gpu] = w->copy_us < 0 ? link_of(10, 12) : link_of(w->copy_us, w->copy_gbytes);
    if (w->copy_us < 0 && of && of->copies.known) {
        net->p.in[w->gpu] = (struct ig_pipe_link){of->copies.in.ns, of->copies.in.fs_per_byte};
        net->p.out[w->gpu] = (struct ig_pipe_link){of->copies.out.ns, of->copies.out.fs_per_byte};
    }
    net->p.reads_input = net->reads_input;
    net->p.is_output = net->is_output;
}

static void make_problem(const struct ig_pipeline_options *w, const struct ig_graph *g, const struct times *t,
                         const struct ig_plan *const *plans, struct ig_pipe_net *net)
{
    char err[4096];
    ig_pipe_net_make(g, plans, w->board ? 1 : w->n_processors, net);
    if (w->spec) add_host_ops(w, g, net);
    if (w->board) ig_pipeline_board(g, w->board, plans[0], net);
    for (int32_t k = 0; k < w->n_processors && ig_pipeline_powers(w->board); k++) {
        net->p.active_mw[k] = (int64_t)(w->board->processors[k].active_w * 1e3);
        net->p.idle_mw[k] = (int64_t)(w->board->processors[k].idle_w * 1e3);
    }
    net->p.processors = w->names;
    for (int32_t k = 0; k < w->n_processors; k++)
        net->p.in[k] = link_of(w->link_us, w->link_gbytes);
    if (w->measured) ig_pipeline_measure(w->names, w->cores, w->n_processors, net->p.in);
    net->p.reads_input = NULL; /* frames and results lie in memory whoever reads them first */
    net->p.is_output = NULL;
    if (w->gpu >= 0) add_gpu(w, t, plans[w->gpu], net);
    for (int32_t i = 0; i < w->n_pins; i++) pin(w, g, plans[0], net, w->pins[i]);
    if (ig_pipe_check(&net->p, err, sizeof err)) ig_fatal("%s: %s", g->name, err);
}

/* All times as they are while every other processor works: what the report then plans with. */
static void contend(const struct ig_pipeline_options *w, struct ig_pipe_net *net)
{
    struct ig_contention c = {.streams = NULL};
    int32_t busy[IG_PIPE_PROCESSORS], *streams = ig_must_alloc((size_t)net->p.n, sizeof *streams);
    double gflops, gbytes;
    size_t cells = (size_t)net->p.n * (size_t)w->n_processors;
    int64_t *ns = ig_must_alloc(cells, sizeof *ns);
    ig_estimate_rates(w->plan.isa, 1, &gflops, &gbytes);
    ig_pipe_streams(net, gbytes, streams);
    c.streams = streams;
    for (int32_t k = 0; k < w->n_processors; k++) {
        busy[k] = 1000;
        for (int32_t q = 0; q < w->n_processors; q++) {
            c.kappa[k][q][0] = (int32_t)(1000 * w->compute);
            c.kappa[k][q][1] = (int32_t)(1000 * w->stream);
        }
    }
    ig_contended_ns(&net->p, &c, busy, ns);
    memcpy(net->ns, ns, cells * sizeof *ns);
    free(ns);
    free(streams);
}

/* --- the algorithms --- */

static void run_all(const struct ig_pipeline_options *w, struct ig_pipeline_report *r)
{
    const struct ig_pipe *p = &r->net->p;
    struct ig_pipe in_order = *p;
    struct ig_ideals x;
    in_order.in_order = 1;
    struct ig_pipe_cut cut = ig_algorithm1_printed(p);
    if (cut.ns < IG_PIPE_NEVER) cut.index++;
    ig_pipe_cut_plan(p, &cut, &r->of[IG_WAY_ALGORITHM1_PRINTED]);
    cut = ig_algorithm1(p);
    ig_pipe_cut_plan(p, &cut, &r->of[IG_WAY_ALGORITHM1]);
    for (int32_t printed = 0; printed < 2 && w->n_processors == 2; printed++)
        ig_neuropipe_plan(p, 0, 1, r->net->operations, printed, &r->of[IG_WAY_NEUROPIPE - printed]);
    ig_pipe_stages(&in_order, &r->of[IG_WAY_CUTS]);
    ig_pipe_stages(p, &r->of[IG_WAY_STAGES]);
    ig_pipe_shared(p, &r->of[IG_WAY_SHARED]);
    ig_pipe_map(p, IG_PIPE_LABELS, &r->of[IG_WAY_MAP]);
    for (int32_t way = IG_WAY_CUTS; way < IG_WAY_OBJECTIVE; way++) /* which works alone, without contention */
        if (ig_pipe_compare(&r->of[IG_WAY_SINGLE], &r->of[way]) < 0)
            ig_pipe_plan_copy(&r->of[way], &r->of[IG_WAY_SINGLE]);
    r->ideals = ig_ideals_make(p, IG_PIPE_MOST_IDEALS, &x) ? -1 : x.n;
    if (r->ideals >= 0) ig_ideals_free(&x);
}

/* Do stages promise less than is asked of them? */
static int too_little(const struct ig_pipeline_options *w, const struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *single = &r->of[IG_WAY_SINGLE], *cuts = &r->of[IG_WAY_CUTS];
    return single->n_stages && cuts->n_stages > 1 &&
           (double)single->period_ns < (1 + w->least_gain / 100) * (double)cuts->period_ns;
}

static void choose(const struct ig_pipeline_options *w, struct ig_pipeline_report *r)
{
    const struct ig_pipe_plan *cuts = &r->of[IG_WAY_CUTS];
    r->chosen = w->wished ? IG_WAY_OBJECTIVE : w->algorithm;
    if (r->chosen == IG_PIPELINE_BEST)
        r->chosen = r->team_ns && (!cuts->n_stages || r->team_ns < cuts->period_ns) ? IG_WAY_TEAM : IG_WAY_CUTS;
    if (r->chosen == IG_WAY_CUTS && too_little(w, r)) r->chosen = IG_WAY_SINGLE, r->least_gain = w->least_gain;
    if (r->chosen == IG_WAY_TEAM && r->team_ns) return;
    if (r->chosen == IG_WAY_TEAM || !r->of[r->chosen].n_stages)
        ig_fatal("%s: %s finds no plan for these processors and pins", r->g->name, ig_way_names[r->chosen]);
}

static void report(const struct ig_pipeline_options *w, const struct ig_pipeline_report *r, const struct ig_plan *plan)
{
    FILE *f = ig_open_output(w->out);
    if (w->json)
        ig_pipeline_json(f, r);
    else
        ig_pipeline_table(f, r);
    if (!w->json) ig_pipeline_stages(f, r);
    if (w->wished && !w->json) ig_pipeline_wish(f, r);
    if (w->gantt && !w->json) ig_pipeline_gantt(f, r);
    if (w->pareto && !w->json) ig_pipeline_front(f, r);
    if (w->explain && !w->json) ig_pipeline_explain(f, r);
    if (w->modes) ig_pipeline_modes(f, r->g, w->board, plan, r->net, w->modes);
    ig_close_output();
}

/* The board's kinds of processors are the processors then, one of each. */
static void take_board(struct ig_pipeline_options *w)
{
    if (!w->platform) {
        if (w->modes) ig_fatal("--modes, --power-save, --boost: only with --platform, whose file has operating points and powers");
        return;
    }
    w->board = ig_load_board(w->platform);
    w->gpu = -1;
    w->n_processors = w->board->n_processors;
    for (int32_t k = 0; k < w->n_processors; k++) {
        w->names[k] = w->board->processors[k].type;
        w->threads[k] = 1;
    }
}

static void run(struct ig_pipeline_options *w)
{
    struct ig_graph *g = ig_load_graph(w->path, &w->source);
    struct times t = {.estimated = 0};
    const struct ig_plan *of[IG_PIPE_PROCESSORS] = {NULL};
    struct ig_pipe_net net;
    struct ig_pipeline_report r = {.g = g, .net = &net};
    take_board(w);
    read_profiles(w, g, &t);
    make_plans(w, g, &t, of);
    r.times = t.estimated ? "are estimated (no profile of that many threads)" : "come from the profile";
    if (w->board) r.times = "are the board's, estimated";
    for (int32_t k = 0; k < w->n_processors; k++) r.team_threads += w->threads[k];
    if (!w->board && w->gpu < 0 && r.team_threads <= IG_MAX_THREADS && !w->n_pins &&
        (t.estimated || profile_for(w, &t, r.team_threads, w->plan.isa))) {
        t.plans[IG_PIPE_PROCESSORS] = plan_for(w, g, &t, r.team_threads, w->plan.isa);
        r.team_ns = (int64_t)t.plans[IG_PIPE_PROCESSORS]->latency_ns;
    }
    make_problem(w, g, &t, of, &net);
    if (r.team_ns && net.host) r.team_ns += (int64_t)(net.host_ns[0] + net.host_ns[1]);
    for (int32_t i = 0; i < IG_WAYS; i++) ig_pipe_plan_start(&net.p, &r.of[i]);
    ig_pipe_plan_start(&net.p, &r.any);
    ig_pipe_single(&net.p, &r.of[IG_WAY_SINGLE]);
    r.bound_ns = ig_pipe_bound(&net.p);
    if (w->compute > 1 || w->stream > 1) contend(w, &net);
    run_all(w, &r);
    if (w->wished) {
        r.wish = &w->wish;
        ig_pipeline_choose(&r, w->board);
        ig_pipeline_refuse(&r);
    }
    choose(w, &r);
    report(w, &r, of[0]);
    free(w->board);
    for (int32_t i = 0; i < IG_WAYS; i++) ig_pipe_plan_free(&r.of[i]);
    ig_pipe_plan_free(&r.any);
    for (int32_t i = 0; i <= IG_PIPE_PROCESSORS; i++) ig_plan_free(t.plans[i]);
    for (int32_t i = 0; i < w->n_profiles; i++) ig_profile_free(t.profiles[i]);
    ig_pipe_net_free(&net);
    ig_graph_free(g);
}

int ig_verb_pipeline(int argc, char **argv)
{
    struct ig_pipeline_options w;
    int status;
    if (!ig_pipeline_options(argc, argv, &w, &status)) return status;
    run(&w);
    return 0;
}
