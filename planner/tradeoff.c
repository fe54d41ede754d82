#include "planner/tradeoff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

static void append(struct ig_tradeoff *t, const struct ig_segments *s, const struct ig_segment_point *from,
                   int64_t weights, int32_t lean)
{
    struct ig_tradeoff_point *more = ig_must_alloc((size_t)t->n + 1, sizeof *more), *to = &more[t->n];
    if (t->n) memcpy(more, t->at, (size_t)t->n * sizeof *more);
    free(t->at);
    t->at = more;
    t->n++;
    *to = (struct ig_tradeoff_point){.bytes = from->bytes + weights, .arena_bytes = from->bytes,
                                     .ns = from->ns, .lean = lean, .n_given = from->n_bands};
    to->given = ig_must_alloc((size_t)from->n_bands, sizeof *to->given);
    for (int32_t i = 0; i < from->n_bands; i++) to->given[i] = s->bands[from->bands[i]];
    if (lean < IG_LEAN_LEAST || !from->leans) return;
    to->leans = ig_must_alloc((size_t)s->n_steps, sizeof *to->leans);
    memcpy(to->leans, from->leans, (size_t)s->n_steps * sizeof *to->leans);
}

static int by_bytes(const void *a, const void *b)
{
    const struct ig_tradeoff_point *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    return (x->lean > y->lean) - (x->lean < y->lean);
}

static void forget(struct ig_tradeoff_point *p)
{
    free(p->given);
    free(p->leans);
}

static void prune(struct ig_tradeoff *t)
{
    int32_t n = 0;
    if (t->n) qsort(t->at, (size_t)t->n, sizeof *t->at, by_bytes);
    for (int32_t i = 0; i < t->n; i++)
        if (!n || t->at[i].ns < t->at[n - 1].ns) t->at[n++] = t->at[i];
        else forget(&t->at[i]);
    t->n = n;
}

/* Layer by layer, with those kernels and without constraints. */
static struct ig_plan *plain_plan(const struct ig_graph *g, struct ig_plan_options o, int32_t lean, char *err,
                                  size_t err_bytes)
{
    o.lean = lean;
    o.bands = IG_BANDS_OFF;
    o.memory_budget = 0;
    o.max_latency_ms = o.min_fps = 0;
    return ig_plan_once(g, &o, err, err_bytes);
}

struct ig_plan *ig_tradeoff_plan_at(const struct ig_graph *g, struct ig_plan_options o, const struct ig_tradeoff_point *at,
                                    char *err, size_t err_bytes)
{
    o.lean = at->lean;
    o.leans = at->leans;
    o.bands = IG_BANDS_GIVEN;
    o.given = at->given;
    o.n_given = at->n_given;
    return ig_plan_once(g, &o, err, err_bytes);
}

/* Points are bounds until they are packed, and those of stages lack the slots: what the plan takes. */
static void settle(const struct ig_graph *g, struct ig_plan_options o, struct ig_tradeoff *t)
{
    o.memory_budget = 0;
    o.max_latency_ms = o.min_fps = 0;
    for (int32_t i = 0; i < t->n; i++) {
        char err[256];
        struct ig_plan *p = ig_tradeoff_plan_at(g, o, &t->at[i], err, sizeof err);
        if (p && p->arena_bytes > t->at[i].arena_bytes) {
            t->at[i].bytes += p->arena_bytes - t->at[i].arena_bytes;
            t->at[i].arena_bytes = p->arena_bytes;
        }
        ig_plan_free(p);
    }
}

/* All points of both, in `t`. */
static void merge(struct ig_tradeoff *t, struct ig_tradeoff *more)
{
    struct ig_tradeoff_point *all = ig_must_alloc((size_t)(t->n + more->n), sizeof *all);
    if (t->n) memcpy(all, t->at, (size_t)t->n * sizeof *all);
    if (more->n) memcpy(all + t->n, more->at, (size_t)more->n * sizeof *all);
    free(t->at);
    free(more->at);
    *t = (struct ig_tradeoff){t->n + more->n, all};
    prune(t);
}

static int same_kernels(const struct ig_plan *a, const struct ig_plan *b)
{
    for (int32_t i = 0; i < a->n_steps; i++)
        if (a->steps[i].kernel != b->steps[i].kernel) return 0;
    return 1;
}

/*
 * Segments of plans with kernels of `lean`, and where they are of the least weights, also of the ways after it. Returns
 * the most that the kernels' weights take, -1 where there is no plan.
 */
static int64_t find_segments(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_options *o,
                             int32_t lean, struct ig_segments *s, char *err, size_t err_bytes)
{
    int32_t genetic = o->algorithm == IG_ALGORITHM_NSGA2, last = lean < IG_LEAN_LEAST || genetic ? lean : IG_LEAN_WAYS - 1;
    int64_t weights = 0;
    struct ig_plan *before = NULL, *p = NULL;
    *s = (struct ig_segments){.n_steps = g->n_nodes};
    for (int32_t way = lean; way <= last; way++, before = p) {
        p = plain_plan(g, *o, way, err, err_bytes);
        if (p && (!before || !same_kernels(p, before))) ig_segments_add(g, views, o, p, way, s);
        if (p && p->weights_bytes > weights) weights = p->weights_bytes;
        ig_plan_free(before);
        if (!p) break;
    }
    if (!p) weights = -1;
    ig_plan_free(p);
    return weights;
}

static void add_front(const struct ig_segments *s, const struct ig_plan_options *o, int64_t weights, int32_t lean,
                      struct ig_tradeoff *t)
{
    struct ig_segment_front front;
    if (o->algorithm == IG_ALGORITHM_NSGA2 && !s->n_stages) ig_segments_nsga2(s, o->seed, IG_NSGA2_GENERATIONS, &front);
    else ig_segments_exact(s, &front);
    for (int32_t i = 0; i < front.n; i++) append(t, s, &front.at[i], weights, lean);
    ig_segment_front_free(&front);
}

int ig_tradeoff_make(const struct ig_graph *g, const struct ig_plan_options *options, struct ig_tradeoff *t,
                     char *err, size_t err_bytes)
{
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    struct ig_tradeoff found[IG_SEGMENTS_WAYS] = {{0, NULL}};
    int64_t weights = 0;
    ig_compute_views(g, views);
    for (int32_t lean = 0; lean <= IG_LEAN_LEAST && weights >= 0; lean++) {
        struct ig_segments s, v;
        weights = find_segments(g, views, options, lean, &s, err, err_bytes);
        for (enum ig_segments_way way = 0; way < IG_SEGMENTS_WAYS && weights >= 0; way++) {
            ig_segments_restrict(&s, way, &v);
            add_front(&v, options, weights, lean, &found[way]);
            free(v.at);
        }
        ig_segments_free(&s);
    }
    if (weights >= 0) settle(g, *options, &found[IG_SEGMENTS_APART]);
    *t = found[IG_SEGMENTS_APART];
    for (enum ig_segments_way way = 0; way < IG_SEGMENTS_APART; way++) {
        prune(&found[way]);
        if (weights >= 0) settle(g, *options, &found[way]);
        merge(t, &found[way]);
    }
    free(views);
    return weights >= 0 ? 0 : -1;
}

void ig_tradeoff_free(struct ig_tradeoff *t)
{
    for (int32_t i = 0; i < t->n; i++) forget(&t->at[i]);
    free(t->at);
}

/*
 * The longest that a frame may take; 0: as long as it likes. What stages make of it the sum of their times does not tell:
 * their plans are checked.
 */
static double most_ns(const struct ig_plan_options *o)
{
    if (o->n_stages) return 0;
    double latency = o->max_latency_ms * 1e6, frame = o->min_fps > 0 ? 1e9 / o->min_fps : 0;
    return latency > 0 && (frame <= 0 || latency < frame) ? latency : frame;
}

static int is_fast_enough(const struct ig_plan_options *o, const struct ig_tradeoff_point *at)
{
    return most_ns(o) <= 0 || (double)at->ns <= most_ns(o);
}

static int is_small_enough(const struct ig_plan_options *o, const struct ig_tradeoff_point *at)
{
    return o->memory_budget <= 0 || at->bytes <= o->memory_budget;
}

/* The limit of time that binds, and by how much the point misses it; characters written. */
static int say_limit(const struct ig_plan_options *o, const struct ig_tradeoff_point *near, char *err, size_t err_bytes)
{
    double ns = (double)near->ns, most = most_ns(o);
    if (o->max_latency_ms > 0 && most >= o->max_latency_ms * 1e6)
        return snprintf(err, err_bytes, "latency limit of %g ms exceeded by %.3f ms", most * 1e-6, (ns - most) * 1e-6);
    return snprintf(err, err_bytes, "rate of %g frames/s missed by %.3f", o->min_fps, o->min_fps - 1e9 / ns);
}

/* Which constraint fails, by how much, and what is next to it. The front has a point. */
static void explain(const struct ig_plan_options *o, const struct ig_tradeoff *t, char *err, size_t err_bytes)
{
    const struct ig_tradeoff_point *least = &t->at[0], *near = NULL;
    for (int32_t i = 0; i < t->n && is_small_enough(o, &t->at[i]); i++) near = &t->at[i];
    if (!near)
        snprintf(err, err_bytes,
                 "memory budget of %lld bytes exceeded by %lld: the least is %lld, arena %lld and weights %lld, at "
                 "%.3f ms a frame",
                 (long long)o->memory_budget, (long long)(least->bytes - o->memory_budget), (long long)least->bytes,
                 (long long)least->arena_bytes, (long long)(least->bytes - least->arena_bytes), (double)least->ns * 1e-6);
    if (!near || most_ns(o) <= 0) return;
    int at = say_limit(o, near, err, err_bytes);
    at += snprintf(err + at, err_bytes - (size_t)at, ": the fastest plan%s takes %.3f ms with %lld bytes",
                   o->memory_budget > 0 ? " within the budget" : "", (double)near->ns * 1e-6, (long long)near->bytes);
    const struct ig_tradeoff_point *next = near + 1, *end = t->at + t->n;
    while (next < end && !is_fast_enough(o, next)) next++;
    if (next < end)
        snprintf(err + at, err_bytes - (size_t)at, ", the budget is %lld; %lld bytes would do",
                 (long long)o->memory_budget, (long long)next->bytes);
}

struct ig_plan *ig_tradeoff_plan(const struct ig_graph *g, const struct ig_plan_options *o, char *err,
                                 size_t err_bytes)
{
    struct ig_tradeoff t;
    struct ig_plan *p = NULL;
    if (ig_tradeoff_make(g, o, &t, err, err_bytes)) {
        ig_tradeoff_free(&t);
        return NULL;
    }
    explain(o, &t, err, err_bytes);
    /* For least memory from the small end, else from the fast one; a plan that cannot be packed as tightly as its
       bound is passed over. */
    int small = o->objective == IG_OBJECTIVE_MEMORY;
    for (int32_t k = 0; k < t.n && !p; k++) {
        const struct ig_tradeoff_point *at = &t.at[small ? k : t.n - 1 - k];
        int64_t most = o->memory_budget > 0 && !small ? o->memory_budget : at->bytes;
        if (is_small_enough(o, at) && is_fast_enough(o, at)) p = ig_tradeoff_refine(g, *o, at, most, err, err_bytes);
    }
    ig_tradeoff_free(&t);
    return p;
}
