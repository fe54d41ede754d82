/*
 * Rounds. Each gives every layer its next candidate (bench/candidates.h), bakes that plan in memory, runs the
 * network once to touch all memory, times the steps in order, then walks the steps once more and repeats each
 * one alone: the steps before it have just run, so its inputs are those of a real frame, and what a step in
 * place overwrites is put back before every repetition. The budget shortens the repetitions first; the rounds
 * that time each kernel's favourite cut are always done, those that look at rivals again and those
 * for other cuts only while there is time, and not for kernels that are hopeless: those have had their run. Then come
 * the bands (bench/bands.h), and where they are asked for those of small plans (bench/fronts.h), and at last whole
 * frames (bench/whole.h).
 */
#include "bench/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bands.h"
#include "bench/bed.h"
#include "bench/candidates.h"
#include "bench/fronts.h"
#include "bench/whole.h"
#include "kernels_cpu/registry.h"

enum {
    MAX_RUNS = 31,
    HOPELESS_RUNS = 2, /* the first warms up */
    ENOUGH_RUNS = 3,
    PASSES = 8         /* over the net that a round of ENOUGH_RUNS makes */
};

static const double share_of_kernels = 0.6; /* of the budget; the rest is for bands, and at the end: */
static const double share_of_fronts = 0.25; /* where they are timed */
static const double share_of_whole = 0.1;

struct profiler {
    const struct ig_graph *g;
    const struct ig_profile_options *o;
    struct ig_layer_candidates *layers; /* by node */
    struct ig_bed bed;                  /* of this round */
    void **inputs, **outputs;
    const struct ig_plan *plan;
    struct ig_candidate **timed; /* by step of the tables */
    int64_t *step_ns;            /* [n_steps][MAX_RUNS] */
    int round, rounds;
    char *err;
    size_t err_bytes;
};

int64_t ig_bench_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int no_memory(struct profiler *p)
{
    snprintf(p->err, p->err_bytes, "out of memory");
    return -1;
}

/* The plan that gives every layer its next candidate: made by the planner from a profile that knows only
 * those. */
static struct ig_plan *round_plan(struct profiler *p)
{
    struct ig_timing *t = calloc((size_t)p->g->n_nodes + 1, sizeof *t);
    char none[1] = "";
    struct ig_profile chosen = {.sha256 = none,
                                .graph_sha256 = none,
                                .cpu = none,
                                .isa = none,
                                .threads = p->o->threads,
                                .timings = t};
    if (!t) {
        no_memory(p);
        return NULL;
    }
    for (int32_t i = 0; i < p->g->n_nodes; i++) {
        const struct ig_candidate *c = ig_candidates_next(&p->layers[i]);
        if (c)
            t[chosen.n++] = (struct ig_timing){i, c->kernel, c->cut.split, c->cut.chunk, p->o->threads, 1, 1, 0};
    }
    struct ig_plan_options options = {.target = "host",
                                      .isa = p->o->isa,
                                      .threads = p->o->threads,
                                      .profile = &chosen,
                                      .bands = IG_BANDS_OFF};
    struct ig_plan *plan = ig_plan_make(p->g, &options, p->err, p->err_bytes);
    free(t);
    return plan;
}

void ig_bench_fill(const struct ig_shape *s, void *data)
{
    uint32_t seed = 1;
    int64_t n = ig_count(s);
    for (int64_t i = 0; s->type == IG_F32 && i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        ((float *)data)[i] = (float)(seed >> 8) * 0x1p-24f;
    }
}

static int by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static double median(int64_t *ns, int n)
{
    qsort(ns, (size_t)n, sizeof *ns, by_value);
    return (double)ns[n / 2];
}

static void keep(double *best, double ns)
{
    if (ns < 1) ns = 1;
    if (*best <= 0 || ns < *best) *best = ns;
}

static void run_frame(struct profiler *p, int64_t *step_ns)
{
    ig_ctx_run_timed(&p->bed.ctx, (const void *const *)p->inputs, p->outputs, step_ns, ig_bench_ns);
}

static void say(const struct profiler *p)
{
    if (p->o->progress) p->o->progress(p->round, p->rounds);
}

static int time_in_order(struct profiler *p, int least, int64_t until_ns)
{
    int32_t steps = p->bed.lowered->model.n_steps, n = 0;
    int64_t *once = calloc((size_t)steps + 1, sizeof *once);
    if (!once) return no_memory(p);
    while (n < MAX_RUNS && (n < least || ig_bench_ns() < until_ns)) {
        run_frame(p, once);
        for (int32_t s = 0; s < steps; s++) p->step_ns[s * MAX_RUNS + n] = once[s];
        n++;
        say(p);
    }
    for (int32_t s = 0; s < steps; s++)
        if (p->timed[s]) {
            keep(&p->timed[s]->in_order, median(p->step_ns + s * MAX_RUNS, n));
            p->timed[s]->looks++;
        }
    free(once);
    return 0;
}

/* Bytes that `p` spans in the arena, over all images. */
static size_t extent(const struct ig_place *p)
{
    int64_t rows = ig_count(p->shape) / p->w / p->c;
    int64_t last = (rows - 1) * p->row_stride + (int64_t)(p->w - 1) * p->pixel_stride + p->c;
    return (size_t)(last * ig_type_bytes(p->shape->type));
}

/* The output of a step that is also its input, and where it is; NULL if it has none. */
static char *overwritten(const struct profiler *p, const struct ig_step *s, size_t *bytes)
{
    for (int32_t k = 0; k < s->n_in; k++)
        for (int32_t o = 0; o < s->n_out; o++)
            if (s->in[k].space == IG_SPACE_ARENA && s->out[o].space == IG_SPACE_ARENA &&
                s->in[k].offset == s->out[o].offset) {
                *bytes = extent(&s->out[o]);
                return (char *)p->bed.arena + s->out[o].offset;
            }
    return NULL;
}

/*
 * Runs `step` at least once; the first of several runs is not counted. Leaves the arena as one run would. 0,
 * or -1 without memory.
 */
static int time_alone(struct profiler *p, int32_t step, int least, int64_t until_ns)
{
    int64_t ns[MAX_RUNS];
    int n = 0, most = p->timed[step] && p->timed[step]->looks <= IG_LOOKS ? MAX_RUNS : 1;
    if (most > 1 && ig_candidate_hopeless(p->timed[step])) most = HOPELESS_RUNS, least = 1;
    size_t bytes = 0;
    char *at = most > 1 ? overwritten(p, &p->bed.lowered->steps[step], &bytes) : NULL,
         *saved = at ? malloc(bytes) : NULL;
    if (at && !saved) return no_memory(p);
    if (at) memcpy(saved, at, bytes);
    while (n < most && (n < least || ig_bench_ns() < until_ns)) {
        if (at && n) memcpy(at, saved, bytes);
        int64_t start = ig_bench_ns();
        ig_bed_step(&p->bed, step, (const void *const *)p->inputs, p->outputs);
        ns[n++] = ig_bench_ns() - start;
    }
    free(saved);
    if (most > 1) keep(&p->timed[step]->alone, n > 1 ? median(ns + 1, n - 1) : (double)ns[0]);
    return 0;
}

static int time_steps(struct profiler *p, int64_t budget_ns)
{
    int32_t steps = p->bed.lowered->model.n_steps;
    int64_t start = ig_bench_ns();
    run_frame(p, NULL);
    int64_t frame = ig_bench_ns() - start;
    int least = frame * PASSES < budget_ns ? ENOUGH_RUNS : 1;
    int status = time_in_order(p, least, start + budget_ns / 2);
    for (int32_t s = 0; !status && s < steps; s++) {
        status = time_alone(p, s, least, ig_bench_ns() + budget_ns / 2 / steps);
        say(p);
    }
    return status;
}

/* The candidates that the plan's steps are: what the timings will be of. */
static void find_timed(struct profiler *p)
{
    for (int32_t i = 0, at = 0; i < p->plan->n_steps; i++)
        if (p->plan->steps[i].kernel)
            p->timed[at++] = ig_candidates_of_step(&p->layers[p->plan->steps[i].node], &p->plan->steps[i]);
}

static int run_bed(struct profiler *p, int64_t budget_ns)
{
    const struct ig_model *m = &p->bed.lowered->model;
    p->inputs = ig_io_buffers(m->inputs, m->n_inputs);
    p->outputs = ig_io_buffers(m->outputs, m->n_outputs);
    p->timed = calloc((size_t)m->n_steps + 1, sizeof *p->timed);
    p->step_ns = calloc((size_t)(m->n_steps + 1) * MAX_RUNS, sizeof *p->step_ns);
    int status = p->inputs && p->outputs && p->timed && p->step_ns ? 0 : no_memory(p);
    if (!status) {
        for (int32_t i = 0; i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, p->inputs[i]);
        find_timed(p);
        status = time_steps(p, budget_ns);
    }
    ig_io_buffers_free(p->inputs, m->inputs, m->n_inputs);
    ig_io_buffers_free(p->outputs, m->outputs, m->n_outputs);
    free(p->timed);
    free(p->step_ns);
    return status;
}

static int one_round(struct profiler *p, int64_t budget_ns)
{
    struct ig_plan *plan = round_plan(p);
    if (!plan) return -1;
    struct ig_lowered *l = ig_lower(p->g, plan);
    p->plan = plan;
    int status = ig_bed_make(&p->bed, l, p->o->threads, p->err, p->err_bytes);
    if (!status) {
        status = run_bed(p, budget_ns);
        ig_bed_free(&p->bed);
    }
    ig_lowered_free(l);
    ig_plan_free(plan);
    return status;
}

/* 0 or -1. A round gets its share of what is left; those that only time further cuts must fit in it. */
static int all_rounds(struct profiler *p)
{
    int needed = 1;
    int64_t begin = ig_bench_ns(), end = begin + (int64_t)(p->o->seconds * share_of_kernels * 1e9), longest = 0;
    p->rounds = 1;
    for (int32_t i = 0; i < p->g->n_nodes; i++) {
        if (p->layers[i].n > p->rounds) p->rounds = p->layers[i].n;
        if (p->layers[i].n_kernels > needed) needed = p->layers[i].n_kernels;
    }
    p->rounds += needed * (IG_LOOKS - 1);
    for (p->round = 0; p->round < p->rounds; p->round++) {
        int64_t start = ig_bench_ns(), left = end - start;
        if (p->round >= needed && left < longest) break;
        if (one_round(p, left > 0 ? left / (p->rounds - p->round) : 0)) return -1;
        longest = ig_bench_ns() - start;
    }
    if (p->o->progress) p->o->progress(p->rounds, p->rounds);
    return 0;
}

static int by_record(const void *a, const void *b)
{
    const struct ig_timing *x = a, *y = b;
    if (x->node != y->node) return x->node < y->node ? -1 : 1;
    int order = strcmp(x->kernel->name, y->kernel->name);
    if (order) return order;
    if (x->split != y->split) return x->split < y->split ? -1 : 1;
    return (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static char *copy(const char *s)
{
    char *p = strdup(s);
    if (!p) abort();
    return p;
}

static struct ig_profile *collect(const struct ig_graph *g, const struct ig_layer_candidates *layers,
                                  const struct ig_profile_options *o)
{
    char cpu[256];
    int32_t most = 1;
    for (int32_t i = 0; i < g->n_nodes; i++) most += layers[i].n;
    struct ig_profile *p = calloc(1, sizeof *p);
    struct ig_timing *t = calloc((size_t)most, sizeof *t);
    if (!p || !t) abort();
    ig_cpu_name(cpu, sizeof cpu);
    *p = (struct ig_profile){.sha256 = copy(""),
                             .graph_sha256 = copy(""),
                             .cpu = copy(cpu),
                             .isa = copy(ig_isa_name(o->isa)),
                             .threads = o->threads,
                             .peak_gflops = ig_fma_peak(),
                             .timings = t};
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t c = 0; c < layers[i].n; c++) {
            const struct ig_candidate *k = &layers[i].at[c];
            if (k->in_order > 0)
                t[p->n++] = (struct ig_timing){i,          k->kernel, k->cut.split, k->cut.chunk,
                                               o->threads, k->alone,  k->in_order,  k->error};
        }
    qsort(t, (size_t)p->n, sizeof *t, by_record);
    return p;
}

/* What plans may run by rows, p's timings being there. 0 or -1. */
static int all_bands(const struct profiler *p, int64_t end, struct ig_profile *profile)
{
    int64_t fronts = p->o->fronts ? (int64_t)(p->o->seconds * share_of_fronts * 1e9) : 0;
    if (ig_profile_bands(p->g, p->o, end - fronts, profile, p->err, p->err_bytes)) return -1;
    return p->o->fronts ? ig_profile_fronts(p->g, p->o, end, profile, p->err, p->err_bytes) : 0;
}

/* Bands, then all as it is in whole frames. 0 or -1. */
static int all_whole(const struct profiler *p, int64_t end, struct ig_profile *profile)
{
    if (all_bands(p, end - (int64_t)(p->o->seconds * share_of_whole * 1e9), profile)) return -1;
    return ig_profile_whole(p->g, p->o, end, profile, p->err, p->err_bytes);
}

struct ig_profile *ig_profile_take(const struct ig_graph *g, const struct ig_profile_options *o, char *err,
                                   size_t err_bytes)
{
    struct profiler p = {.g = g, .o = o, .err = err, .err_bytes = err_bytes};
    int64_t end = ig_bench_ns() + (int64_t)(o->seconds * 1e9);
    struct ig_profile *profile = NULL;
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    struct ig_away *away = calloc((size_t)g->n_nodes + 1, sizeof *away);
    p.layers = calloc((size_t)g->n_nodes + 1, sizeof *p.layers);
    if (views && away && p.layers) {
        ig_compute_views(g, views);
        ig_frame_away(g, views, away);
        for (int32_t i = 0; i < g->n_nodes; i++)
            ig_candidates_find(g, views, i, o->isa, o->threads, &away[i], &p.layers[i]);
        if (!all_rounds(&p)) profile = collect(g, p.layers, o);
        if (profile && all_whole(&p, end, profile)) {
            ig_profile_free(profile);
            profile = NULL;
        }
    } else no_memory(&p);
    free(views);
    free(away);
    free(p.layers);
    return profile;
}
