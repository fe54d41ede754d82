/*
 * By parts against layer by layer. Networks that run in turn share one arena and a budget: the points of their fronts are
 * chosen as `ingot share` does. Each network's plan then runs beside two without bands - the fastest of all, and the
 * fastest of those whose weights are as small - in turns, so that what slows one slows the others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bed.h"
#include "bench/profile.h"
#include "kernels_cpu/registry.h"
#include "planner/joint.h"

enum { MOST = 8, PLANS = 3, MOST_ROUNDS = 200, FRAMES = 3 };
enum { FASTEST, SMALL, PARTS };

struct net {
    struct ig_graph *graph;
    struct ig_plan_options options;
    struct ig_tradeoff front;
    struct ig_plan *plan[PLANS];
    double ns[PLANS][MOST_ROUNDS]; /* the least frame of a round */
    double middle[PLANS];
};

static void fail(const char *what, const char *why)
{
    fprintf(stderr, "parts: %s: %s\n", what, why);
    exit(1);
}

static void read_net(struct net *n, const char *graph, const char *profile)
{
    char err[4096];
    if (!(n->graph = ig_graph_read(graph, err, sizeof err))) fail(graph, err);
    struct ig_profile *p = ig_profile_read(profile, n->graph, err, sizeof err);
    if (!p) fail(profile, err);
    int32_t isa = ig_isa_by_name(p->isa);
    if (isa < 0) fail(profile, "its ISA is none of ours");
    n->options = (struct ig_plan_options){.target = "host", .isa = isa, .threads = p->threads, .profile = p,
                                          .max_error = IG_MAX_ERROR};
    if (ig_tradeoff_make(n->graph, &n->options, &n->front, err, sizeof err)) fail(graph, err);
}

static struct ig_plan *plan_apart(const struct net *n, int32_t lean)
{
    struct ig_plan_options o = n->options;
    char err[4096];
    o.bands = IG_BANDS_OFF;
    o.lean = lean;
    struct ig_plan *p = ig_plan_once(n->graph, &o, err, sizeof err);
    if (!p) fail(n->graph->name, err);
    return p;
}

/* The plans of the points within the budget; where packing takes more than they promise, of a lower budget. */
static void make_plans(struct net *nets, int32_t n, int64_t budget)
{
    struct ig_tradeoff fronts[MOST];
    int32_t point[MOST];
    char err[4096];
    for (int32_t i = 0; i < n; i++) {
        fronts[i] = nets[i].front;
        nets[i].plan[FASTEST] = plan_apart(&nets[i], 0);
        nets[i].plan[SMALL] = plan_apart(&nets[i], IG_LEAN_WAYS - 1);
    }
    for (int64_t left = budget;;) {
        int64_t arena = 0, weights = 0;
        int objective = budget ? IG_OBJECTIVE_LATENCY : IG_OBJECTIVE_MEMORY;
        if (ig_joint_choose(fronts, n, IG_JOINT_IN_TURN, objective, left, point)) fail("budget", "nothing is as small");
        struct ig_joint sum = ig_joint_sum(fronts, point, n, IG_JOINT_IN_TURN);
        for (int32_t i = 0; i < n; i++) {
            const struct ig_tradeoff_point *at = &fronts[i].at[point[i]];
            int64_t room = budget ? left - sum.weights_bytes : sum.arena_bytes;
            struct ig_plan *p = ig_tradeoff_refine(nets[i].graph, nets[i].options, at, at->bytes - at->arena_bytes + room, err,
                                                   sizeof err);
            if (!p) fail(nets[i].graph->name, err);
            nets[i].plan[PARTS] = p;
            weights += p->weights_bytes;
            if (p->arena_bytes > arena) arena = p->arena_bytes;
        }
        if (!budget || arena + weights <= budget) return;
        left -= arena + weights - budget;
        for (int32_t i = 0; i < n; i++) ig_plan_free(nets[i].plan[PARTS]);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double time_frames(struct ig_bed *bed, void **inputs, void **outputs)
{
    int64_t least = INT64_MAX;
    for (int i = 0; i <= FRAMES; i++) {
        int64_t start = ig_bench_ns();
        ig_ctx_run(&bed->ctx, (const void *const *)inputs, outputs);
        int64_t ns = ig_bench_ns() - start;
        if (i && ns < least) least = ns; /* the first finds the caches as another plan left them */
    }
    return (double)least;
}

static void say_steps(const struct net *n, struct ig_bed *beds, void **inputs, void **outputs)
{
    for (int k = 0; k < PLANS; k++) {
        const struct ig_lowered *l = beds[k].lowered;
        int64_t *ns = calloc((size_t)l->model.n_steps + 1, sizeof *ns), *least = calloc((size_t)l->model.n_steps + 1, sizeof *ns);
        for (int r = 0; r < 9; r++) {
            ig_ctx_run_timed(&beds[k].ctx, (const void *const *)inputs, outputs, ns, ig_bench_ns);
            for (int32_t s = 0; s < l->model.n_steps; s++)
                if (!r || ns[s] < least[s]) least[s] = ns[s];
        }
        for (int32_t s = 0; s < l->model.n_steps; s++)
            fprintf(stderr, "%s %d %3d %2d %9.1f us  %-34s %s\n", n->graph->name, k, s, l->steps[s].band, (double)least[s] / 1e3,
                    l->kernels[s]->name, l->nodes[s]->name);
        free(ns);
        free(least);
    }
}

static void time_net(struct net *n, int rounds, int steps)
{
    struct ig_bed beds[PLANS];
    char err[4096];
    for (int k = 0; k < PLANS; k++)
        if (ig_bed_make(&beds[k], ig_lower(n->graph, n->plan[k]), n->options.threads, err, sizeof err)) fail("run", err);
    const struct ig_model *m = &beds[0].lowered->model;
    void **inputs = ig_io_buffers(m->inputs, m->n_inputs), **outputs = ig_io_buffers(m->outputs, m->n_outputs);
    if (!inputs || !outputs) fail("run", "out of memory");
    for (int32_t i = 0; i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, inputs[i]);
    for (int r = 0; r < rounds; r++)
        for (int k = 0; k < PLANS; k++) n->ns[k][r] = time_frames(&beds[k], inputs, outputs);
    if (steps) say_steps(n, beds, inputs, outputs);
    ig_io_buffers_free(inputs, m->inputs, m->n_inputs);
    ig_io_buffers_free(outputs, m->outputs, m->n_outputs);
    for (int k = 0; k < PLANS; k++) {
        struct ig_lowered *l = beds[k].lowered;
        ig_bed_free(&beds[k]);
        ig_lowered_free(l);
    }
}

/* Throughput kept against plan k, percent: of every round, the median and the middle half. */
static void put_kept(const struct net *n, int k, int rounds)
{
    double kept[MOST_ROUNDS];
    for (int r = 0; r < rounds; r++) kept[r] = 100 * n->ns[k][r] / n->ns[PARTS][r];
    qsort(kept, (size_t)rounds, sizeof *kept, by_value);
    printf(" %.1f (%.1f..%.1f) |", kept[rounds / 2], kept[rounds / 4], kept[rounds * 3 / 4]);
}

static void put_net(struct net *n, int rounds)
{
    printf("| %s |", n->graph->name);
    for (int k = 0; k < PLANS; k++) {
        double sorted[MOST_ROUNDS];
        memcpy(sorted, n->ns[k], (size_t)rounds * sizeof *sorted);
        qsort(sorted, (size_t)rounds, sizeof *sorted, by_value);
        n->middle[k] = sorted[rounds / 2];
        printf(" %.3f | %.3f | %.3f |", (double)n->plan[k]->arena_bytes / 1e6, (double)n->plan[k]->weights_bytes / 1e6,
               n->middle[k] / 1e6);
    }
    put_kept(n, SMALL, rounds);
    put_kept(n, FASTEST, rounds);
    printf("\n");
}

static void put_sum(const struct net *nets, int32_t n)
{
    int64_t arena[PLANS] = {0}, weights[PLANS] = {0};
    double ns[PLANS] = {0};
    printf("| in turn |");
    for (int k = 0; k < PLANS; k++) {
        for (int32_t i = 0; i < n; i++) {
            if (nets[i].plan[k]->arena_bytes > arena[k]) arena[k] = nets[i].plan[k]->arena_bytes;
            weights[k] += nets[i].plan[k]->weights_bytes;
            ns[k] += nets[i].middle[k];
        }
        printf(" %.3f | %.3f | %.3f |", (double)arena[k] / 1e6, (double)weights[k] / 1e6, ns[k] / 1e6);
    }
    printf(" %.1f | %.1f |\nsum of arena and weights: %.3f MB by parts\n", 100 * ns[SMALL] / ns[PARTS],
           100 * ns[FASTEST] / ns[PARTS], (double)(arena[PARTS] + weights[PARTS]) / 1e6);
}

int main(int argc, char **argv)
{
    static struct net nets[MOST];
    int64_t budget = 0;
    int rounds = 15, steps = 0, at = 1;
    for (; at < argc && argv[at][0] == '-'; at++) {
        if (!strcmp(argv[at], "--budget") && at + 1 < argc) budget = (int64_t)(atof(argv[++at]) * 1e6 + 0.5);
        else if (!strcmp(argv[at], "--rounds") && at + 1 < argc) rounds = atoi(argv[++at]);
        else if (!strcmp(argv[at], "--steps")) steps = 1;
        else break;
    }
    int32_t n = (argc - at) / 2;
    if (n < 1 || n > MOST || (argc - at) % 2 || rounds < 0 || rounds > MOST_ROUNDS || argv[at][0] == '-') {
        fprintf(stderr, "usage: parts [--budget MB] [--rounds N] [--steps] GRAPH.json PROFILE.json...\n");
        return 2;
    }
    for (int32_t i = 0; i < n; i++) read_net(&nets[i], argv[at + 2 * i], argv[at + 2 * i + 1]);
    make_plans(nets, n, budget);
    printf("| network | fastest: arena MB | weights | ms | small weights: arena | weights | ms | by parts: arena | weights "
           "| ms | kept of small, %% | of fastest, %% |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n");
    for (int32_t i = 0; i < n; i++) {
        if (rounds) time_net(&nets[i], rounds, steps);
        else for (int k = 0; k < PLANS; k++) nets[i].ns[k][0] = nets[i].plan[k]->latency_ns;
        put_net(&nets[i], rounds ? rounds : 1);
        fflush(stdout);
    }
    put_sum(nets, n);
    return 0;
}
