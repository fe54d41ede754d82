/*
 * The front has one choice of kernels for all of a band. Here every layer in turn, the one that may gain most first,
 * gets the fastest kernel of all ways with which the plan as a whole still keeps its bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/tradeoff.h"

enum { WAYS = IG_LEAN_WAYS - IG_LEAN_LEAST };

struct refinement {
    const struct ig_graph *g;
    struct ig_plan_options o;
    struct ig_plan *ways[WAYS]; /* layer by layer, with kernels of each */
    struct ig_plan *p;          /* the best so far */
    uint8_t *leans;             /* its */
    int64_t most, loose;        /* bytes that a plan may have; and the arena beyond its lower bound */
};

struct gain {
    double ns;
    int32_t node;
};

static int by_gain(const void *a, const void *b)
{
    const struct gain *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static double ns_of(const struct refinement *r, int32_t lean, int32_t node)
{
    return r->ways[lean - IG_LEAN_LEAST]->steps[node].predicted_ns;
}

static const struct ig_kernel *kernel_of(const struct refinement *r, int32_t lean, int32_t node)
{
    return r->ways[lean - IG_LEAN_LEAST]->steps[node].kernel;
}

/* The plan with the ways of `leans`, if it is one and has its bands. */
static int try(struct refinement *r)
{
    char err[256];
    struct ig_plan *p = ig_plan_once(r->g, &r->o, err, sizeof err);
    if (!p) return 0;
    int better = p->n_bands == r->o.n_given && p->arena_bytes + p->weights_bytes <= r->most &&
                 p->arena_bytes - p->arena_lower_bound_bytes <= r->loose && p->latency_ns < r->p->latency_ns;
    struct ig_plan *worse = better ? r->p : p;
    if (better) r->p = p;
    ig_plan_free(worse);
    return better;
}

/* Ways from the fastest on, until one is accepted; 1: one was. */
static int improve(struct refinement *r, int32_t node)
{
    int32_t now = r->leans[node], tried = 0;
    for (;;) {
        int32_t best = -1;
        for (int32_t way = IG_LEAN_LEAST; way < IG_LEAN_WAYS; way++)
            if (!(tried >> way & 1) && ns_of(r, way, node) < 0.99 * ns_of(r, now, node) &&
                (best < 0 || ns_of(r, way, node) < ns_of(r, best, node)))
                best = way;
        r->leans[node] = (uint8_t)(best < 0 ? now : best);
        if (best < 0) return 0;
        if (try(r)) return 1;
        for (int32_t way = IG_LEAN_LEAST; way < IG_LEAN_WAYS; way++)
            if (kernel_of(r, way, node) == kernel_of(r, best, node)) tried |= 1 << way;
    }
}

static int one_pass(struct refinement *r)
{
    struct gain *gains = ig_must_alloc((size_t)r->g->n_nodes, sizeof *gains);
    int better = 0;
    for (int32_t i = 0; i < r->g->n_nodes; i++) {
        double least = ns_of(r, r->leans[i], i);
        for (int32_t way = IG_LEAN_LEAST; way < IG_LEAN_WAYS; way++)
            if (ns_of(r, way, i) < least) least = ns_of(r, way, i);
        gains[i] = (struct gain){ns_of(r, r->leans[i], i) - least, i};
    }
    qsort(gains, (size_t)r->g->n_nodes, sizeof *gains, by_gain);
    for (int32_t i = 0; i < r->g->n_nodes && gains[i].ns > 0; i++) better |= improve(r, gains[i].node);
    free(gains);
    return better;
}

static struct ig_plan *layer_by_layer(const struct ig_graph *g, struct ig_plan_options o, int32_t lean)
{
    char err[256];
    o.lean = lean;
    o.leans = NULL;
    o.bands = IG_BANDS_OFF;
    return ig_plan_once(g, &o, err, sizeof err);
}

struct ig_plan *ig_tradeoff_refine(const struct ig_graph *g, struct ig_plan_options o, const struct ig_tradeoff_point *at,
                                   int64_t most, char *err, size_t err_bytes)
{
    struct refinement r = {.g = g, .o = o, .most = most};
    r.p = ig_tradeoff_plan_at(g, o, at, err, err_bytes);
    if (!r.p || !at->leans || r.p->n_bands != at->n_given) return r.p;
    struct ig_band_timing *given = ig_must_alloc((size_t)at->n_given, sizeof *given);
    for (int32_t i = 0; i < at->n_given; i++) {
        given[i] = at->given[i];
        memset(given[i].kernels, 0, sizeof given[i].kernels);
    }
    r.leans = ig_must_alloc((size_t)g->n_nodes, sizeof *r.leans);
    memcpy(r.leans, at->leans, (size_t)g->n_nodes * sizeof *r.leans);
    r.o.memory_budget = 0;
    r.o.max_latency_ms = r.o.min_fps = 0;
    r.o.lean = at->lean;
    r.o.leans = r.leans;
    r.o.bands = IG_BANDS_GIVEN;
    r.o.given = given;
    r.o.n_given = at->n_given;
    r.loose = r.p->arena_bytes - r.p->arena_lower_bound_bytes;
    int whole = 1;
    for (int32_t way = 0; way < WAYS; way++) whole &= !!(r.ways[way] = layer_by_layer(g, r.o, IG_LEAN_LEAST + way));
    for (int pass = 0; whole && pass < 2 && one_pass(&r); pass++) {}
    r.p->memory_budget = o.memory_budget > 0 ? o.memory_budget : 0;
    for (int32_t way = 0; way < WAYS; way++) ig_plan_free(r.ways[way]);
    free(given);
    free(r.leans);
    return r.p;
}
