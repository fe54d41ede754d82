#include "planner/forecast.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/features.h"

enum { ALL_TILES = 1 << IG_OF | 1 << IG_FH | 1 << IG_FW };

int ig_op_dist_parse(struct ig_op_dist *d, const char *text, const struct ig_platform *b, char *err, size_t err_bytes)
{
    while (*text) {
        size_t n = strcspn(text, "="), m = text[n] ? strcspn(text + n + 1, ",") : 0;
        int32_t kind = 0, j = 0;
        while (kind < IG_LAYER_KINDS &&
               (strlen(ig_layer_kind_names[kind]) != n || strncmp(ig_layer_kind_names[kind], text, n)))
            kind++;
        while (j < b->n_processors &&
               (strlen(b->processors[j].type) != m || strncmp(b->processors[j].type, text + n + 1, m)))
            j++;
        if (!text[n] || kind == IG_LAYER_KINDS || j == b->n_processors || d->n == IG_MAX_DIST) {
            snprintf(err, err_bytes,
                     "'%s': not KIND=TYPE; kinds: conv gemm pool relu add deconv other; types: those of the board's "
                     "processors",
                     text);
            return -1;
        }
        d->at[d->n].kind = kind;
        strcpy(d->at[d->n++].type, b->processors[j].type);
        text += n + 1 + m;
        text += *text == ',';
    }
    return 0;
}

static int allowed(const struct ig_op_dist *d, int32_t kind, const char *type)
{
    int named = 0;
    for (int32_t i = 0; i < d->n; i++) {
        if (d->at[i].kind != kind) continue;
        if (!strcmp(d->at[i].type, type)) return 1;
        named = 1;
    }
    return !named;
}

/* The fastest of the kernels that the processor has costs for, or the one given. */
static void calibrate(struct ig_forecast_on *on, const struct ig_forecast_options *o, const struct ig_processor *pe,
                      int32_t node, int32_t op, const struct ig_call *call, const struct ig_caches *caches)
{
    for (int i = 0; i < ig_kernel_count() && pe->n_costs; i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (o->kernels && k != o->kernels[node]) continue;
        if (k->isa == IG_ISA_REF || k->error > ig_error_allowed(o->max_error, call) || !ig_kernel_fits(k, op, call)) continue;
        double ns = ig_cost_ns(pe, caches, k, call, NULL);
        if (ns < 0 || (on->kernel && ns * 1e-9 >= on->a.s)) continue;
        on->kernel = k;
        on->a.s = ns * 1e-9;
    }
}

static void place(struct ig_forecast_layer *l, int32_t j, const struct ig_forecast_options *o, int32_t op,
                  const struct ig_call *call, const struct ig_caches *caches)
{
    const struct ig_platform *b = o->board;
    const struct ig_processor *pe = &b->processors[j];
    struct ig_forecast_on *on = &l->on[j];
    on->fits = 1;
    if (!pe->mapped) {
        ig_analyse_rates(&on->a, &l->layer, b, pe);
    } else {
        on->fits = !o->best_tiles && ig_nest_refine(&on->nest, &l->layer, b, pe);
        if (!on->fits) on->fits = ig_nest_best(&on->nest, &l->layer, b, pe, ALL_TILES);
        ig_analyse(&on->a, &on->nest);
    }
    calibrate(on, o, pe, l->node, op, call, caches);
    on->s = allowed(&o->dist, l->layer.kind, pe->type) && (on->fits || on->kernel) ? on->a.s * l->images : INFINITY;
}

/* Bytes that node `node` and later ones read of what earlier ones made; several views of one tensor count once. */
static int64_t crossing(const struct ig_graph *g, const struct ig_view *views, int32_t node, uint8_t *seen)
{
    int64_t bytes = 0;
    memset(seen, 0, (size_t)g->n_values);
    for (int32_t i = node; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            int32_t v = g->nodes[i].in[k];
            if (v < 0 || g->values[v].producer < 0 || g->values[v].producer >= node || seen[views[v].root]++) continue;
            bytes += ig_bytes(&g->values[views[v].root].shape);
        }
    return bytes;
}

static double fastest_channel(const struct ig_platform *b)
{
    double most = 0;
    for (int32_t c = 0; c < b->n_channels; c++)
        if ((double)b->channels[c].bytes_per_s > most) most = (double)b->channels[c].bytes_per_s;
    return most;
}

static void make_pipeline(struct ig_forecast *f, const struct ig_platform *b, const struct ig_graph *g,
                          const struct ig_view *views, struct ig_work w, double deadline_s)
{
    double *copy = ig_must_alloc((size_t)f->n, sizeof *copy), busy[IG_MAX_PROCESSORS] = {0}, mj = 0;
    uint8_t *seen = ig_must_alloc((size_t)g->n_values, 1);
    for (int32_t i = 1; i < f->n; i++)
        copy[i] = (double)crossing(g, views, f->layers[i].node, seen) / fastest_channel(b);
    w.copy_s = copy;
    if (ig_pipeline_cut(&w, &f->pipeline)) f->pipeline.n_stages = 0;
    for (int32_t k = 0; k < f->pipeline.n_stages; k++) {
        int32_t end = k + 1 < f->pipeline.n_stages ? f->pipeline.first[k + 1] : f->n, j = f->pipeline.pe[k];
        for (int32_t i = f->pipeline.first[k]; i < end; i++) {
            const struct ig_forecast_on *on = &f->layers[i].on[j];
            busy[j] += on->s;
            mj = mj < 0 || on->a.mj < 0 ? IG_UNKNOWN : mj + on->a.mj * f->layers[i].images;
        }
    }
    f->pipeline_mj = ig_network_mj(b, mj, busy, deadline_s > 0 ? deadline_s : f->pipeline.slowest_s);
    free(copy);
    free(seen);
}

/* Algorithm 1 and the sums over its mapping. Returns the layer that nobody takes, or -1. */
static int32_t schedule(struct ig_forecast *f, const struct ig_work *w, const struct ig_forecast_options *o)
{
    int32_t *pe = ig_must_alloc((size_t)f->n, sizeof *pe);
    double *start = ig_must_alloc((size_t)f->n, sizeof *start), busy[IG_MAX_PROCESSORS] = {0}, mj = 0;
    f->latency_s = ig_schedule(w, pe, start);
    for (int32_t i = 0; i < f->n && f->latency_s >= 0; i++) {
        struct ig_forecast_layer *l = &f->layers[i];
        const struct ig_forecast_on *on = &l->on[pe[i]];
        l->pe = pe[i];
        l->start_s = start[i];
        busy[l->pe] += on->s;
        f->ops_s += on->a.ops_s * l->images;
        f->roofline_s += on->a.roofline_s * l->images;
        mj = mj < 0 || on->a.mj < 0 ? IG_UNKNOWN : mj + on->a.mj * l->images;
    }
    f->mj = ig_network_mj(o->board, mj, busy, o->deadline_s > 0 ? o->deadline_s : f->latency_s);
    free(pe);
    free(start);
    return f->latency_s < 0 ? (int32_t)(-1 - f->latency_s) : -1;
}

static int32_t aggregate(struct ig_forecast *f, const struct ig_forecast_options *o, const struct ig_graph *g,
                         const struct ig_view *views)
{
    const struct ig_platform *b = o->board;
    int32_t count[IG_MAX_PROCESSORS], nobody;
    double *s = ig_must_alloc((size_t)(f->n * b->n_processors), sizeof *s);
    struct ig_work w = {.n = f->n, .n_pes = b->n_processors, .s = s, .count = count};
    for (int32_t j = 0; j < b->n_processors; j++) {
        count[j] = b->processors[j].count;
        for (int32_t i = 0; i < f->n; i++) s[i * b->n_processors + j] = f->layers[i].on[j].s;
    }
    nobody = schedule(f, &w, o);
    if (nobody < 0) make_pipeline(f, b, g, views, w, o->deadline_s);
    free(s);
    return nobody;
}

static void take_layer(struct ig_forecast_layer *l, const struct ig_away *away, const struct ig_graph *g,
                       const struct ig_view *views, const struct ig_forecast_options *o)
{
    struct ig_call call;
    ig_node_call(g, views, &g->nodes[l->node], &call, &l->images);
    l->on = ig_must_alloc((size_t)o->board->n_processors, sizeof *l->on);
    ig_layer_of_call(&l->layer, g->nodes[l->node].op, &call);
    for (int32_t j = 0; j < o->board->n_processors; j++) {
        struct ig_caches caches = ig_caches_of(o->board, &o->board->processors[j], away);
        place(l, j, o, g->nodes[l->node].op, &call, &caches);
    }
}

struct ig_forecast *ig_forecast_make(const struct ig_graph *g, const struct ig_forecast_options *o, char *err,
                                     size_t err_bytes)
{
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    struct ig_forecast *f = ig_must_alloc(1, sizeof *f);
    f->layers = ig_must_alloc((size_t)g->n_nodes, sizeof *f->layers);
    ig_compute_views(g, views);
    struct ig_away *away = ig_must_alloc((size_t)g->n_nodes, sizeof *away);
    ig_frame_away(g, views, away);
    for (int32_t node = 0; node < g->n_nodes; node++) {
        struct ig_call call;
        int32_t images;
        if (ig_node_is_view(g, views, node)) continue;
        ig_node_call(g, views, &g->nodes[node], &call, &images);
        if (call.n_out) f->layers[f->n++] = (struct ig_forecast_layer){.node = node, .images = images};
    }
    for (int32_t i = 0; i < f->n; i++) take_layer(&f->layers[i], &away[f->layers[i].node], g, views, o);
    free(away);
    int32_t nobody = aggregate(f, o, g, views);
    free(views);
    if (nobody < 0) return f;
    snprintf(err, err_bytes, "no processor of '%s' takes layer '%s'", o->board->name,
             g->nodes[f->layers[nobody].node].name);
    ig_forecast_free(f);
    return NULL;
}

void ig_forecast_free(struct ig_forecast *f)
{
    for (int32_t i = 0; f && i < f->n; i++) free(f->layers[i].on);
    if (f) free(f->layers);
    free(f);
}
