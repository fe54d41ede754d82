/*
 * Which cuts a program should carry. Loads make a processor up to three times slower; for each of a grid of them the
 * best cut is known. Some few are taken, greedily: each time the one that brings the sum over all loads of the period,
 * relative to the best cut's, down most.
 */
#include "planner/alternatives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/balance.h"
#include "planner/memory.h"
#include "planner/passes.h"
#include "planner/stages.h"
#include "planner/tradeoff.h"

static const double levels[] = {1, 1.25, 1.5, 2, 3}; /* times slower */
enum { LEVELS = sizeof levels / sizeof *levels };
static const double never = 1e15; /* ns of a step that the GPU cannot compute: no such cut is taken */

struct choice {
    const struct ig_graph *g;
    const struct ig_plan *p;
    const struct ig_platform *board;
    const struct ig_profile *gpu_times;
    int32_t n_steps, n_stages, n_processors, n_loads, n_cuts;
    int32_t processor[IG_PLAN_STAGES];
    double *ns;        /* [n_stages][n_steps] */
    double *gpu_ns;    /* [n_steps] by the GPU's kernels; NULL: no stage is the GPU's */
    double (*load)[IG_PLAN_PROCESSORS]; /* [n_loads] times slower */
    int32_t *stage_of; /* [n_cuts][n_steps]; first the plan's own, then the best of each load */
    double (*sum)[IG_PLAN_STAGES]; /* [n_cuts] */
    double *best;      /* [n_loads]: the period of the best cut */
};

/* --- loads --- */

static int32_t number_processors(const struct ig_plan *p, int32_t *processor)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_stages; i++) {
        int32_t k = 0;
        while (k < i && strcmp(p->stages[k].processor, p->stages[i].processor)) k++;
        processor[i] = k < i ? processor[k] : n++;
    }
    return n;
}

/* All of the grid but those where every processor is slower. */
static void list_loads(struct choice *c)
{
    int32_t all = 1;
    for (int32_t k = 0; k < c->n_processors; k++) all *= LEVELS;
    c->load = ig_must_alloc((size_t)all, sizeof *c->load);
    for (int32_t i = 0; i < all; i++) {
        int free_one = 0;
        for (int32_t k = 0, left = i; k < c->n_processors; k++, left /= LEVELS) {
            c->load[c->n_loads][k] = levels[left % LEVELS];
            free_one |= left % LEVELS == 0;
        }
        c->n_loads += free_one;
    }
}

/* --- times --- */

/* Of the GPU's stage. */
static int time_gpu(const struct ig_graph *g, const struct ig_plan_options *o, const struct ig_plan *p, struct choice *c,
                    char *err, size_t err_bytes)
{
    int32_t gpu = ig_gpu_stage_of(p);
    if (gpu < 0) return 0;
    double *ns = c->ns + (size_t)gpu * (size_t)p->n_steps;
    c->gpu_ns = ig_must_alloc((size_t)p->n_steps, sizeof *c->gpu_ns);
    if (ig_time_gpu_steps(g, o, c->gpu_ns, err, err_bytes)) return -1;
    for (int32_t i = 0; i < p->n_steps; i++) ns[i] = c->gpu_ns[i] < 0 ? never : c->gpu_ns[i];
    return 0;
}

/* Of each step on the threads of each stage, with p's kernels, in a network without stages. */
static int time_steps(const struct ig_graph *g, const struct ig_plan_options *options, const struct ig_plan *p,
                      struct choice *c, char *err, size_t err_bytes)
{
    struct ig_plan_options o = *options;
    o.like = p;
    o.stages = NULL;
    o.n_stages = 0;
    o.memory_budget = 0;
    o.max_latency_ms = o.min_fps = 0;
    for (int32_t s = 0; s < p->n_stages; s++) {
        int32_t same = 0;
        double *ns = c->ns + (size_t)s * (size_t)p->n_steps;
        if (ig_stage_is_gpu(&p->stages[s])) continue;
        while (same < s && (p->stages[same].threads != p->stages[s].threads || ig_stage_is_gpu(&p->stages[same]))) same++;
        if (same < s) {
            memcpy(ns, c->ns + (size_t)same * (size_t)p->n_steps, (size_t)p->n_steps * sizeof *ns);
            continue;
        }
        o.threads = p->stages[s].threads;
        struct ig_plan *whole = ig_plan_once(g, &o, err, err_bytes);
        if (!whole) return -1;
        for (int32_t i = 0; i < p->n_steps; i++) ns[i] = whole->steps[i].predicted_ns;
        ig_plan_free(whole);
    }
    if (time_gpu(g, options, p, c, err, err_bytes)) return -1;
    if (p->n_steps) {
        c->ns[0] += options->host_ns[0];
        c->ns[(size_t)p->n_stages * (size_t)p->n_steps - 1] += options->host_ns[1];
    }
    return 0;
}

static double period_of(const struct choice *c, int32_t cut, int32_t load)
{
    double busy[IG_PLAN_PROCESSORS] = {0}, most = 0;
    for (int32_t s = 0; s < c->n_stages; s++)
        busy[c->processor[s]] += c->sum[cut][s] * c->load[load][c->processor[s]];
    for (int32_t k = 0; k < c->n_processors; k++)
        if (busy[k] > most) most = busy[k];
    return most;
}

/* --- cuts --- */

/* What passing tensors to the GPU and from it takes with that cut; where to cut for a load is balanced without it. */
static void add_passes(const struct choice *c, const int32_t *stage_of, double *sum)
{
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    double ns[IG_PLAN_STAGES];
    memcpy(stages, c->p->stages, (size_t)c->n_stages * sizeof *stages);
    for (int32_t i = 0; i < c->n_steps; i++) {
        if (!i || stage_of[i] != stage_of[i - 1]) stages[stage_of[i]].first = i;
        stages[stage_of[i]].last = i;
    }
    ig_time_cut_passes(c->g, c->p, stages, c->n_stages, c->board, c->gpu_times, ns);
    for (int32_t i = 0; i < c->n_stages; i++) sum[i] += ns[i];
}

/* Counts the cut behind the others, unless it is one of them, or the GPU cannot compute its stage. */
static void add_cut(struct choice *c)
{
    const int32_t *of = c->stage_of + (size_t)c->n_cuts * (size_t)c->n_steps;
    double *sum = c->sum[c->n_cuts];
    memset(sum, 0, sizeof c->sum[0]);
    for (int32_t i = 0; i < c->n_steps; i++) sum[of[i]] += c->ns[(size_t)of[i] * (size_t)c->n_steps + (size_t)i];
    for (int32_t i = 0; i < c->n_stages; i++)
        if (sum[i] >= never) return;
    if (c->gpu_ns) add_passes(c, of, sum);
    for (int32_t i = 0; i < c->n_cuts; i++)
        if (!memcmp(c->sum[i], sum, sizeof c->sum[0])) return;
    c->n_cuts++;
}

static void list_cuts(const struct ig_plan *p, struct choice *c)
{
    double *slowed = ig_must_alloc((size_t)(c->n_stages * c->n_steps), sizeof *slowed);
    c->stage_of = ig_must_alloc((size_t)(c->n_loads + 1) * (size_t)c->n_steps, sizeof *c->stage_of);
    c->sum = ig_must_alloc((size_t)c->n_loads + 1, sizeof *c->sum);
    for (int32_t i = 0; i < c->n_steps; i++) c->stage_of[i] = p->steps[i].stage;
    add_cut(c);
    for (int32_t k = 0; k < c->n_loads; k++) {
        for (int32_t s = 0; s < c->n_stages; s++)
            for (int32_t i = 0; i < c->n_steps; i++)
                slowed[s * c->n_steps + i] = c->ns[s * c->n_steps + i] * c->load[k][c->processor[s]];
        ig_balance_runs(slowed, c->n_steps, c->n_stages, c->stage_of + (size_t)c->n_cuts * (size_t)c->n_steps);
        add_cut(c);
    }
    free(slowed);
    c->best = ig_must_alloc((size_t)c->n_loads, sizeof *c->best);
    for (int32_t k = 0; k < c->n_loads; k++) {
        c->best[k] = period_of(c, 0, k);
        for (int32_t i = 1; i < c->n_cuts; i++)
            if (period_of(c, i, k) < c->best[k]) c->best[k] = period_of(c, i, k);
    }
}

/* What `cut` beside those taken, whose periods are with[n_loads], would bring the sum down by. */
static double gain_of(const struct choice *c, const double *with, int32_t cut)
{
    double gain = 0;
    for (int32_t k = 0; k < c->n_loads; k++) {
        double t = period_of(c, cut, k);
        if (t < with[k]) gain += (with[k] - t) / c->best[k];
    }
    return gain;
}

/* The next cut to take; -1: none is of use. */
static int32_t next_cut(const struct choice *c, double *with)
{
    int32_t next = -1;
    double most = 1e-9;
    for (int32_t i = 1; i < c->n_cuts; i++) {
        double gain = gain_of(c, with, i);
        if (gain > most) most = gain, next = i;
    }
    for (int32_t k = 0; next >= 0 && k < c->n_loads; k++)
        if (period_of(c, next, k) < with[k]) with[k] = period_of(c, next, k);
    return next;
}

/* --- plans --- */

static int same_kernels(const struct ig_plan *a, const struct ig_plan *b)
{
    if (a->n_steps != b->n_steps || a->weights_bytes != b->weights_bytes) return 0;
    for (int32_t i = 0; i < a->n_steps; i++)
        if (a->steps[i].node != b->steps[i].node || a->steps[i].kernel != b->steps[i].kernel) return 0;
    return 1;
}

/* p's stages, with the GPU's time of that cut. */
static void copy_stages(const struct ig_plan *p, const struct choice *c, const int32_t *stage_of,
                        struct ig_plan_stage *stages)
{
    memcpy(stages, p->stages, (size_t)p->n_stages * sizeof *stages);
    for (int32_t s = 0; s < p->n_stages; s++) stages[s].gpu_ns = 0;
    for (int32_t i = 0; c->gpu_ns && i < p->n_steps; i++)
        if (ig_stage_is_gpu(&stages[stage_of[i]])) stages[stage_of[i]].gpu_ns += c->gpu_ns[i];
}

/* 1: it is p's last alternative now; 0: it would be beyond the budget; -1: error. */
static int add_plan(const struct ig_graph *g, const struct ig_plan_options *options, struct ig_plan *p,
                    const struct choice *c, const int32_t *stage_of, char *err, size_t err_bytes)
{
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    struct ig_plan_options o = *options;
    copy_stages(p, c, stage_of, stages);
    o.like = p;
    o.memory_budget = 0;
    o.max_latency_ms = o.min_fps = 0;
    struct ig_plan *other = ig_plan_stages(g, &o, stage_of, stages, p->n_stages, err, err_bytes);
    if (!other) return -1;
    p->others[p->n_others++] = other;
    if (same_kernels(p, other) &&
        (options->memory_budget <= 0 || ig_united_bytes(p) + p->weights_bytes <= options->memory_budget))
        return 1;
    ig_plan_free(p->others[--p->n_others]);
    return 0;
}

static void choice_free(struct choice *c)
{
    free(c->ns);
    free(c->gpu_ns);
    free(c->load);
    free(c->stage_of);
    free(c->sum);
    free(c->best);
}

static int choose(const struct ig_graph *g, const struct ig_plan_options *o, struct ig_plan *p, struct choice *c,
                  int32_t n, char *err, size_t err_bytes)
{
    int added = 1;
    if (time_steps(g, o, p, c, err, err_bytes)) return -1;
    list_loads(c);
    list_cuts(p, c);
    double *with = ig_must_alloc((size_t)c->n_loads, sizeof *with);
    for (int32_t k = 0; k < c->n_loads; k++) with[k] = period_of(c, 0, k);
    p->others = ig_must_alloc((size_t)n, sizeof *p->others);
    while (added > 0 && 1 + p->n_others < n) {
        int32_t cut = next_cut(c, with);
        if (cut < 0) break;
        added = add_plan(g, o, p, c, c->stage_of + (size_t)cut * (size_t)c->n_steps, err, err_bytes);
    }
    free(with);
    return added < 0 ? -1 : 0;
}

/* Pairs of stages that something may pass between. */
static int32_t most_slots(const struct ig_graph *g, const struct ig_plan *p)
{
    return g->n_inputs + g->n_outputs + p->n_stages * (p->n_stages - 1) / 2;
}

int ig_add_alternatives(const struct ig_graph *g, const struct ig_plan_options *o, struct ig_plan *p, int32_t n,
                        char *err, size_t err_bytes)
{
    struct choice c = {.g = g, .p = p, .board = o->board, .gpu_times = o->gpu_profile, .n_steps = p->n_steps, .n_stages = p->n_stages};
    if (n < 2 || p->n_stages < 2) return 0;
    c.n_processors = number_processors(p, c.processor);
    if (n > IG_PLAN_ALTERNATIVES || c.n_processors > IG_PLAN_PROCESSORS || most_slots(g, p) > IG_PLAN_SLOTS) {
        snprintf(err, err_bytes, "%d alternatives on %d processors with up to %d slots: at most %d, %d and %d", n,
                 c.n_processors, most_slots(g, p), IG_PLAN_ALTERNATIVES, IG_PLAN_PROCESSORS, IG_PLAN_SLOTS);
        return -1;
    }
    c.ns = ig_must_alloc((size_t)(p->n_stages * p->n_steps), sizeof *c.ns);
    int bad = choose(g, o, p, &c, n, err, err_bytes);
    choice_free(&c);
    return bad;
}
