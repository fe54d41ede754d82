/*
 * Rounds: round r gives every layer its r-th candidate (kernel and cut, estimator's favourites first), bakes that plan in
 * memory, runs the network once to fill the arena, times each step alone (warm, repeated), then the whole network in order.
 * There are as many rounds as the layer with the most candidates has; layers with fewer start over and keep
 * their best figure.
 */
#include "bench/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "gen/lower.h"
#include "kernels_cpu/registry.h"
#include "runtime/api.h"
#include "runtime/team.h"

enum { MAX_CANDIDATES = 12, MAX_CUTS = 4, MAX_RUNS = 31, MIN_RUNS = 3 };

struct candidate {
    const struct ig_kernel *kernel;
    struct ig_cut cut;
    double estimate;
};

struct layer {
    struct candidate at[MAX_CANDIDATES];
    double alone[MAX_CANDIDATES], in_order[MAX_CANDIDATES]; /* ns; 0: not yet */
    int32_t n;
};

static void *memory(size_t bytes)
{
    void *p = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        fprintf(stderr, "ingot: out of memory: %zu bytes to profile in\n", bytes);
        exit(1);
    }
    return p;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int by_estimate(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->estimate != y->estimate) return x->estimate < y->estimate ? -1 : 1;
    return strcmp(x->kernel->name, y->kernel->name);
}

/* Every kernel of the ISA with every cut; the reference kernels only where the ISA has none. */
static void find_candidates(const struct ig_graph *g, const struct ig_view *views, int32_t node,
                            const struct ig_profile_options *o, struct layer *l)
{
    struct ig_call call;
    int32_t images;
    const struct ig_node *n = &g->nodes[node];
    if (ig_node_is_view(g, views, node)) return;
    ig_node_call(g, views, n, &call, &images);
    for (int isa = o->isa; isa >= 0 && !l->n; isa = isa ? IG_ISA_REF : -1)
        for (int k = 0; k < ig_kernel_count(); k++) {
            const struct ig_kernel *kernel = ig_kernel_at(k);
            struct ig_cut cuts[MAX_CUTS];
            if (kernel->isa != isa || !kernel->run || !ig_kernel_fits(kernel, n->op, &call)) continue;
            int count = ig_legal_cuts(kernel, &call, o->threads, cuts, MAX_CUTS);
            for (int c = 0; c < count && l->n < MAX_CANDIDATES; c++)
                l->at[l->n++] = (struct candidate){kernel, cuts[c], ig_estimate_ns(kernel, &call, o->threads) + c};
            if (isa == IG_ISA_REF && l->n) break;
        }
    qsort(l->at, (size_t)l->n, sizeof *l->at, by_estimate);
}

/* The plan's choices replaced by candidate `round` of each layer: through a profile that knows only those. */
static struct ig_plan *round_plan(const struct ig_graph *g, const struct layer *layers, int round,
                                  const struct ig_profile_options *o)
{
    char err[4096];
    struct ig_timing *t = calloc((size_t)g->n_nodes + 1, sizeof *t);
    struct ig_profile p = {.sha256 = (char *)"", .graph_sha256 = (char *)"", .cpu = (char *)"", .isa = (char *)"",
                           .threads = o->threads, .timings = t};
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct layer *l = &layers[i];
        if (!l->n) continue;
        const struct candidate *c = &l->at[round % l->n];
        t[p.n++] = (struct ig_timing){i, c->kernel, c->cut.split, c->cut.chunk, o->threads, 1, 1};
    }
    struct ig_plan_options options = {.target = "host", .isa = o->isa, .threads = o->threads, .profile = &p};
    struct ig_plan *plan = ig_plan_make(g, &options, err, sizeof err);
    free(t);
    if (!plan) {
        fprintf(stderr, "ingot: %s\n", err);
        exit(1);
    }
    return plan;
}

struct bed {                  /* a baked plan with its memory */
    struct ig_lowered *lowered;
    struct ig_ctx ctx;
    struct ig_team team;
    void *arena, *weights, **ios;
    size_t arena_bytes;
};

/* Floats in [0, 1), integers zero: valid for every op. */
static void fill(const struct ig_shape *s, void *data)
{
    uint32_t seed = 1;
    int64_t n = ig_count(s);
    for (int64_t i = 0; s->type == IG_F32 && i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        ((float *)data)[i] = (float)(seed >> 8) * 0x1p-24f;
    }
}

static void bed_make(struct bed *b, const struct ig_graph *g, const struct ig_plan *plan, int32_t threads)
{
    b->lowered = ig_lower(g, plan);
    const struct ig_model *m = &b->lowered->model;
    b->arena_bytes = (size_t)ig_arena_total(m, threads) + 64;
    b->arena = memory(b->arena_bytes);
    b->weights = memory((size_t)m->weights_bytes);
    ig_fill_weights(b->lowered, b->weights);
    b->ios = memory((size_t)(m->n_inputs + m->n_outputs + 1) * sizeof *b->ios);
    for (int32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
        const struct ig_shape *s = (i < m->n_inputs ? &m->inputs[i] : &m->outputs[i - m->n_inputs])->shape;
        b->ios[i] = memory((size_t)ig_bytes(s));
        if (i < m->n_inputs) fill(s, b->ios[i]);
    }
    ig_ctx_init(&b->ctx, m, b->weights, b->arena, b->arena_bytes);
    if (threads > 1 && ig_ctx_start_threads(&b->ctx, &b->team, threads)) {
        fprintf(stderr, "ingot: cannot start %d threads\n", threads);
        exit(1);
    }
}

static void bed_free(struct bed *b)
{
    const struct ig_model *m = &b->lowered->model;
    ig_ctx_stop_threads(&b->ctx);
    for (int32_t i = 0; i < m->n_inputs + m->n_outputs; i++)
        munmap(b->ios[i], (size_t)ig_bytes((i < m->n_inputs ? &m->inputs[i] : &m->outputs[i - m->n_inputs])->shape));
    munmap(b->ios, (size_t)(m->n_inputs + m->n_outputs + 1) * sizeof *b->ios);
    munmap(b->weights, m->weights_bytes ? (size_t)m->weights_bytes : 1);
    munmap(b->arena, b->arena_bytes);
    ig_lowered_free(b->lowered);
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

static double time_alone(struct bed *b, int32_t step, double budget_ns)
{
    struct ig_model one = b->lowered->model;
    int64_t ns[MAX_RUNS], begin = now_ns();
    int n = 0;
    one.steps += step;
    one.n_steps = 1;
    b->ctx.model = &one;
    ig_ctx_run(&b->ctx, (const void *const *)b->ios, b->ios + one.n_inputs);
    while (n < MAX_RUNS && (n < MIN_RUNS || (double)(now_ns() - begin) < budget_ns)) {
        int64_t start = now_ns();
        ig_ctx_run(&b->ctx, (const void *const *)b->ios, b->ios + one.n_inputs);
        ns[n++] = now_ns() - start;
    }
    b->ctx.model = &b->lowered->model;
    return median(ns, n);
}

/* step_ns[n_steps * MAX_RUNS], one row a step; returns the runs. */
static int time_in_order(struct bed *b, int64_t *step_ns, double budget_ns)
{
    int32_t steps = b->lowered->model.n_steps, n = 0;
    int64_t begin = now_ns(), *once = memory((size_t)(steps + 1) * sizeof *once);
    while (n < MAX_RUNS && (n < MIN_RUNS || (double)(now_ns() - begin) < budget_ns)) {
        ig_ctx_run_timed(&b->ctx, (const void *const *)b->ios, b->ios + b->lowered->model.n_inputs, once, now_ns);
        for (int32_t i = 0; i < steps; i++) step_ns[i * MAX_RUNS + n] = once[i];
        n++;
    }
    munmap(once, (size_t)(steps + 1) * sizeof *once);
    return n;
}

static void keep(double *best, double ns)
{
    if (!*best || ns < *best) *best = ns;
}

static void one_round(const struct ig_graph *g, struct layer *layers, int round, const struct ig_profile_options *o,
                      double budget_ns)
{
    struct ig_plan *plan = round_plan(g, layers, round, o);
    struct bed bed = {.arena = NULL};
    bed_make(&bed, g, plan, o->threads);
    int32_t steps = bed.lowered->model.n_steps;
    int64_t *step_ns = memory((size_t)(steps + 1) * MAX_RUNS * sizeof *step_ns);
    ig_ctx_run(&bed.ctx, (const void *const *)bed.ios, bed.ios + bed.lowered->model.n_inputs);
    int runs = time_in_order(&bed, step_ns, budget_ns / 2);
    for (int32_t s = 0; s < steps; s++) {
        struct layer *l = &layers[bed.lowered->nodes[s] - g->nodes];
        if (!l->n) continue;
        int at = round % l->n;
        keep(&l->in_order[at], median(step_ns + s * MAX_RUNS, runs));
        if (round < l->n) keep(&l->alone[at], time_alone(&bed, s, budget_ns / 2 / steps));
    }
    munmap(step_ns, (size_t)(steps + 1) * MAX_RUNS * sizeof *step_ns);
    bed_free(&bed);
    ig_plan_free(plan);
}

static char *copy(const char *s)
{
    char *p = strdup(s);
    if (!p) abort();
    return p;
}

static struct ig_profile *collect(const struct ig_graph *g, const struct layer *layers, const struct ig_profile_options *o)
{
    char cpu[256];
    struct ig_profile *p = calloc(1, sizeof *p);
    if (!p) abort();
    ig_cpu_name(cpu, sizeof cpu);
    *p = (struct ig_profile){.sha256 = copy(""), .graph_sha256 = copy(""), .cpu = copy(cpu),
                             .isa = copy(ig_isa_name(o->isa)), .threads = o->threads, .peak_gflops = ig_fma_peak()};
    p->timings = calloc((size_t)g->n_nodes * MAX_CANDIDATES + 1, sizeof *p->timings);
    if (!p->timings) abort();
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int c = 0; c < layers[i].n; c++) {
            const struct candidate *k = &layers[i].at[c];
            p->timings[p->n++] = (struct ig_timing){i, k->kernel, k->cut.split, k->cut.chunk, o->threads,
                                                    layers[i].alone[c], layers[i].in_order[c]};
        }
    return p;
}

struct ig_profile *ig_profile_take(const struct ig_graph *g, const struct ig_profile_options *o)
{
    struct layer *layers = calloc((size_t)g->n_nodes + 1, sizeof *layers);
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    if (!layers || !views) abort();
    ig_compute_views(g, views);
    int rounds = 1;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        find_candidates(g, views, i, o, &layers[i]);
        if (layers[i].n > rounds) rounds = layers[i].n;
    }
    int64_t start = now_ns();
    for (int r = 0; r < rounds; r++) {
        one_round(g, layers, r, o, o->seconds * 1e9 / rounds);
        if (o->progress) o->progress(r + 1, rounds, (double)(now_ns() - start) * 1e-9);
    }
    struct ig_profile *p = collect(g, layers, o);
    free(views);
    free(layers);
    return p;
}
