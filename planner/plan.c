/* The planner from end to end: views, kernels, memory, weights, totals, and the constraints on them. */
#include "planner/plan.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/band.h"
#include "planner/memory.h"
#include "planner/passes.h"
#include "planner/select.h"
#include "planner/stages.h"
#include "planner/tradeoff.h"

static int select_all(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_options *o,
                      struct ig_plan *p, char *err, size_t err_bytes)
{
    struct ig_away *away = ig_must_alloc((size_t)g->n_nodes, sizeof *away);
    int bad = 0;
    ig_frame_away(g, views, away);
    p->n_steps = g->n_nodes;
    p->steps = ig_must_alloc((size_t)g->n_nodes, sizeof *p->steps);
    ig_begin_stages(o, p);
    for (int32_t i = 0; i < g->n_nodes && !bad; i++) {
        struct ig_plan_options own = *o;
        if (o->leans) own.lean = o->leans[i];
        bad = ig_select_staged(g, views, i, &away[i], &own, p, err, err_bytes);
    }
    free(away);
    if (bad) return -1;
    ig_choose_bands(g, views, o, p);
    for (int32_t i = 0; i < g->n_nodes; i++) p->latency_ns += p->steps[i].predicted_ns;
    ig_time_passes(g, p, o->like, o->board, o->gpu_profile);
    ig_size_slots(p);
    return 0;
}

/* A constant that is only in some step's packed weights has no bytes of its own: memory NONE. */
static void place_constants(const struct ig_graph *g, struct ig_plan *p)
{
    int64_t *packed = ig_must_alloc((size_t)p->n_steps, sizeof *packed), zeros;
    int64_t *consts = ig_must_alloc((size_t)g->n_values, sizeof *consts);
    p->weights_bytes = ig_weight_layout(g, p, &zeros, packed, consts);
    for (int32_t v = 0; v < g->n_values; v++) {
        struct ig_plan_buffer *b = &p->buffers[v];
        if (b->memory != IG_MEMORY_WEIGHTS) continue;
        if (consts[b->view.root] < 0)
            b->memory = IG_MEMORY_NONE;
        else
            b->offset += consts[b->view.root];
    }
    free(packed);
    free(consts);
}

static int check_constraints(const struct ig_plan *p, const struct ig_plan_options *o, char *err,
                             size_t err_bytes)
{
    int64_t memory = p->arena_bytes + p->weights_bytes;
    double ms = p->latency_ns * 1e-6, most_ms = o->max_latency_ms;
    if (o->memory_budget > 0 && memory > o->memory_budget) {
        snprintf(err, err_bytes,
                 "memory budget of %lld bytes exceeded by %lld: arena %lld (lower bound %lld), weights %lld",
                 (long long)o->memory_budget, (long long)(memory - o->memory_budget),
                 (long long)p->arena_bytes, (long long)p->arena_lower_bound_bytes,
                 (long long)p->weights_bytes);
        return -1;
    }
    if (most_ms > 0 && ms > most_ms) {
        snprintf(err, err_bytes, "latency limit of %g ms exceeded by %.3f ms: predicted %.3f ms", most_ms,
                 ms - most_ms, ms);
        return -1;
    }
    if (p->n_stages) ms = p->period_ns * 1e-6;
    if (o->min_fps > 0 && ms * o->min_fps > 1000) {
        snprintf(err, err_bytes, "rate of %g frames/s missed by %.3f: predicted %.3f", o->min_fps,
                 o->min_fps - 1000 / ms, 1000 / ms);
        return -1;
    }
    return 0;
}

struct ig_plan *ig_plan_make(const struct ig_graph *g, const struct ig_plan_options *options, char *err,
                             size_t err_bytes)
{
    struct ig_plan *p = NULL;
    int by_parts = options->bands == IG_BANDS_AUTO && !options->lean && (!options->n_stages || !options->like);
    if (options->objective != IG_OBJECTIVE_MEMORY || !by_parts) p = ig_plan_once(g, options, err, err_bytes);
    if (p || !by_parts) return p;
    if (options->objective != IG_OBJECTIVE_MEMORY && options->memory_budget <= 0 && options->max_latency_ms <= 0 &&
        options->min_fps <= 0)
        return NULL;
    return ig_tradeoff_plan(g, options, err, err_bytes);
}

struct ig_plan *ig_plan_once(const struct ig_graph *g, const struct ig_plan_options *options, char *err,
                             size_t err_bytes)
{
    struct ig_plan *p = ig_must_alloc(1, sizeof *p);
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    p->model = ig_copy_text(g->name);
    p->graph_sha256 = ig_copy_text(options->profile ? options->profile->graph_sha256 : "");
    p->profile_sha256 = ig_copy_text(options->profile ? options->profile->sha256 : "");
    p->target = ig_copy_text(options->target);
    p->isa = ig_copy_text(ig_isa_name(options->isa));
    p->threads = options->threads;
    p->memory_budget = options->memory_budget > 0 ? options->memory_budget : 0;
    p->dense_rings = options->lean >= IG_LEAN_LEAST;
    ig_compute_views(g, views);
    int bad = select_all(g, views, options, p, err, err_bytes);
    if (!bad) {
        ig_measure_scratch(g, views, p);
        ig_place_buffers(g, views, p);
        ig_place_rings(g, views, p);
        place_constants(g, p);
        ig_time_stages(p);
        bad = p->n_slots > IG_PLAN_SLOTS ? ig_too_many_slots(p, err, err_bytes) : 0;
    }
    if (!bad) {
        bad = check_constraints(p, options, err, err_bytes);
    }
    free(views);
    if (!bad) return p;
    ig_plan_free(p);
    return NULL;
}

void ig_plan_free(struct ig_plan *p)
{
    if (!p) return;
    for (int32_t i = 0; i < p->n_others; i++) ig_plan_free(p->others[i]);
    void *owned[] = {p->model, p->graph_sha256, p->profile_sha256, p->target,
                     p->isa,   p->steps,        p->buffers,        p->bands, p->stages, p->slots, p->passes, p->others, p};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}
