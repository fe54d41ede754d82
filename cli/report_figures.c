/* The figures of a report: what each layer does, takes and could take at best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/report.h"
#include "kernels_cpu/registry.h"
#include "planner/forecast.h"
#include "planner/select.h"

const char *const ig_kind_names[IG_KINDS] = {[IG_KIND_POINTWISE] = "pointwise convolutions",
                                             [IG_KIND_CONV] = "other convolutions",
                                             [IG_KIND_DEPTHWISE] = "depthwise convolutions",
                                             [IG_KIND_DENSE] = "matrix products",
                                             [IG_KIND_OTHER] = "everything else"};

static int32_t kind_of(const struct ig_graph *g, const struct ig_node *n)
{
    if (n->op == IG_FC || n->op == IG_MATMUL) return IG_KIND_DENSE;
    if (n->op != IG_CONV) return n->macs > 0 ? IG_KIND_CONV : IG_KIND_OTHER;
    const struct ig_shape *w = &g->values[n->in[1]].shape;
    int64_t window = 1;
    for (int32_t i = 2; i < w->rank; i++) window *= w->dims[i];
    if (n->attrs.conv.groups > 1 && w->dims[1] == 1) return IG_KIND_DEPTHWISE;
    return window == 1 ? IG_KIND_POINTWISE : IG_KIND_CONV;
}

/* Tensors that are rings never leave the cache. */
static double bytes_of(const struct ig_report *r, int32_t v)
{
    return v < 0 || r->p->buffers[v].memory == IG_MEMORY_RING ? 0 : (double)ig_bytes(&r->g->values[v].shape);
}

static double bytes_moved(const struct ig_report *r, const struct ig_node *n)
{
    double bytes = 0;
    for (int32_t i = 0; i < n->n_in; i++) bytes += bytes_of(r, n->in[i]);
    for (int32_t i = 0; i < n->n_out; i++) bytes += bytes_of(r, n->out[i]);
    return bytes;
}

/* --- what the machine can --- */

static const struct ig_processor *cpu_of(const struct ig_platform *b)
{
    for (int32_t i = 0; i < b->n_processors; i++)
        if (!strcmp(b->processors[i].type, "CPU")) return &b->processors[i];
    return NULL;
}

static double cores_of(const struct ig_processor *pe, int32_t threads)
{
    const struct ig_rate *rate = pe->rates; /* of the kernels' own instructions */
    if (pe->n_rates >= 1) {
        int32_t t = threads < rate->n ? threads : rate->n;
        return (double)rate->ops_per_s[t - 1] / (double)rate->ops_per_s[0];
    }
    return threads < pe->count ? threads : pe->count;
}

static int isa_of(const struct ig_plan *p)
{
    for (int isa = 0; isa < IG_ISAS; isa++)
        if (!strcmp(p->isa, ig_isa_name(isa))) return isa;
    return IG_ISA_REF;
}

/* A measured board: a channel from memory to one core, then one a cache; a paper's: what all cores share. */
static void roof_of_board(struct ig_roof *roof, const struct ig_platform *b, const struct ig_processor *pe,
                          int32_t threads)
{
    double cores = cores_of(pe, threads);
    roof->gflops = (double)pe->ops_per_s * cores * 1e-9;
    roof->gflops_from = b->name;
    if (!b->n_channels) return;
    roof->gbytes_from = b->name;
    roof->gbytes = (double)b->channels[0].bytes_per_s * (pe->n_teams ? cores : 1) * 1e-9;
    for (int32_t i = 1; i < b->n_channels && pe->n_teams; i++) {
        roof->caches[roof->n_caches].gbytes = (double)b->channels[i].bytes_per_s * cores * 1e-9;
        roof->caches[roof->n_caches++].name = b->channels[i].note;
    }
}

static void find_roof(struct ig_report *r)
{
    struct ig_roof *roof = &r->roof;
    const struct ig_processor *pe = r->board ? cpu_of(r->board) : NULL;
    ig_estimate_rates(isa_of(r->p), r->p->threads, &roof->gflops, &roof->gbytes);
    roof->gflops_from = roof->gbytes_from = "typical of such cores, not measured";
    if (pe) roof_of_board(roof, r->board, pe, r->p->threads);
    if (!r->profile || !(r->profile->peak_gflops > 0)) return;
    roof->gflops = r->profile->peak_gflops * r->p->threads;
    roof->gflops_from = "as measured with the profile";
}

/* --- times of a layer --- */

/* The timing of the step's kernel and cut. In a band, which is timed as one, the kernel's best cut stands in.
 */
static const struct ig_timing *timing_of(const struct ig_report *r, int32_t step)
{
    const struct ig_plan_step *s = &r->p->steps[step];
    const struct ig_timing *best = NULL;
    int in_band = ig_band_of(r->p, step) != NULL;
    for (int32_t i = 0; r->profile && i < r->profile->n; i++) {
        const struct ig_timing *t = &r->profile->timings[i];
        if (t->node != s->node || t->kernel != s->kernel || t->threads != r->p->threads) continue;
        if (!in_band && (t->split != s->split || t->chunk != s->chunk)) continue;
        if (!best || t->in_order_ns < best->in_order_ns) best = t;
    }
    return best;
}

/* Of the board, of the kernels that the plan names; NULL without costs. */
static struct ig_forecast *forecast_of(const struct ig_report *r)
{
    char err[4096];
    const struct ig_processor *pe = r->board ? cpu_of(r->board) : NULL;
    if (!pe || !pe->n_costs) return NULL;
    const struct ig_kernel **kernels = calloc((size_t)r->g->n_nodes + 1, sizeof(struct ig_kernel *));
    if (!kernels) ig_fatal("out of memory");
    for (int32_t i = 0; i < r->p->n_steps; i++) kernels[r->p->steps[i].node] = r->p->steps[i].kernel;
    struct ig_forecast_options o = {.board = r->board, .max_error = 1, .kernels = kernels};
    struct ig_forecast *f = ig_forecast_make(r->g, &o, err, sizeof err);
    free(kernels);
    return f;
}

/* What the forecast says of a node with the plan's threads; 0: nothing. */
static double forecast_ns(const struct ig_report *r, const struct ig_forecast *f,
                          const struct ig_plan_step *s)
{
    const struct ig_processor *pe = f ? cpu_of(r->board) : NULL;
    int32_t threads = s->chunks < r->p->threads ? s->chunks : r->p->threads;
    for (int32_t i = 0; f && i < f->n; i++) {
        const struct ig_forecast_on *on = &f->layers[i].on[pe - r->board->processors];
        if (f->layers[i].node != s->node || !on->kernel) continue;
        return on->a.s * f->layers[i].images * 1e9 / cores_of(pe, threads);
    }
    return 0;
}

static double stand_in_ns(const struct ig_report *r, const struct ig_view *views,
                          const struct ig_plan_step *s)
{
    struct ig_call call;
    int32_t images;
    if (!s->kernel) return 0;
    ig_node_call(r->g, views, &r->g->nodes[s->node], &call, &images);
    return ig_cut_ns(s->kernel, &call, (struct ig_cut){s->split, s->chunk, s->chunks}, r->p->threads, NULL) *
           images;
}

static void measure_layer(const struct ig_report *r, int32_t step, const struct ig_forecast *forecast,
                          const struct ig_view *views)
{
    const struct ig_plan_step *s = &r->p->steps[step];
    const struct ig_node *n = &r->g->nodes[s->node];
    struct ig_report_layer *l = &r->layers[step];
    const struct ig_timing *t = timing_of(r, step);
    l->kind = kind_of(r->g, n);
    if (!s->kernel) return;
    l->flops = 2 * n->macs;
    l->bytes = bytes_moved(r, n);
    l->ns = s->predicted_ns;
    l->roof_ns = fmax(l->flops / r->roof.gflops, l->bytes / r->roof.gbytes);
    if (t) l->alone_ns = t->alone_ns;
    if (t) l->in_order_ns = t->in_order_ns;
    l->estimated_ns = forecast_ns(r, forecast, s);
    l->calibrated = l->estimated_ns > 0;
    if (!l->calibrated) l->estimated_ns = stand_in_ns(r, views, s);
}

void ig_report_measure(struct ig_report *r)
{
    struct ig_view *views = calloc((size_t)r->g->n_values + 1, sizeof *views);
    r->layers = calloc((size_t)r->p->n_steps + 1, sizeof *r->layers);
    if (!views || !r->layers) ig_fatal("out of memory");
    ig_compute_views(r->g, views);
    find_roof(r);
    struct ig_forecast *forecast = forecast_of(r);
    for (int32_t i = 0; i < r->p->n_steps; i++) {
        measure_layer(r, i, forecast, views);
        r->flops += r->layers[i].flops;
        r->roof_ns += r->layers[i].roof_ns;
    }
    ig_forecast_free(forecast);
    free(views);
}
