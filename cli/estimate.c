#include "cli/estimate.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "planner/explain.h"
#include "planner/forecast.h"
#include "planner/text.h"

/* This machine with the costs of its kernels, else without. */
static const char *host_path(char to[4096])
{
    static const char full[] = "out/platforms/host.json", quick[] = "out/platforms/machine.json";
    const char *path = ig_built(full, to);
    if (!access(path, R_OK)) return path;
    path = ig_built(quick, to);
    if (access(path, R_OK))
        ig_fatal("%s: not there yet; make it with 'ninja %s', or give --platform=tx2, xavier, neuraghe, zen4, xeon or a file",
                 quick, quick);
    fprintf(stderr, "ingot: this machine's kernels are not calibrated: its rates decide; 'ninja %s' does\n", full);
    return path;
}

/* Fatal with the boards that there are. */
_Noreturn static void no_board(const char *name)
{
    struct dirent **files;
    char there[512] = "", to[4096];
    int n = scandir(ig_built(INGOT_SRCDIR "/platforms", to), &files, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        const char *dot = strstr(files[i]->d_name, ".json");
        size_t at = strlen(there);
        if (dot) snprintf(there + at, sizeof there - at, " %.*s", (int)(dot - files[i]->d_name), files[i]->d_name);
    }
    ig_fatal("--platform: no board is called '%s'; there are:%s host, or give a file such as ./%s.json", name, there, name);
}

struct ig_platform *ig_load_board(const char *name)
{
    char path[4096], to[4096], err[4096];
    const char *found = path;
    snprintf(path, sizeof path, "%s", name);
    if (!strcmp(name, "host")) found = host_path(to);
    else if (!strchr(name, '/') && !strchr(name, '.')) {
        snprintf(path, sizeof path, "%s/platforms/%s.json", INGOT_SRCDIR, name);
        if (access(found = ig_built(path, to), R_OK)) no_board(name);
    }
    struct ig_platform *b = ig_platform_read(found, err, sizeof err);
    if (!b) ig_fatal("%s", err);
    return b;
}

/* The operating point of that clock on processor p; fatal with those that there are. */
static const struct ig_point *point_of(const struct ig_processor *p, double mhz)
{
    char there[256] = "";
    size_t n = 0;
    for (int32_t i = 0; i < p->n_points; i++) {
        if (fabs((double)p->points[i].hz - mhz * 1e6) < 1) return &p->points[i];
        n += (size_t)snprintf(there + n, sizeof there - n, " %g", (double)p->points[i].hz * 1e-6);
    }
    ig_fatal("--clock: %s has no operating point of %g MHz; there are:%s", p->type, mhz, n ? there : " none");
}

/* "TYPE=MHZ,...": the board's processors of these types run at these operating points. */
static void set_clocks(struct ig_platform *b, const char *text)
{
    while (*text) {
        size_t n = strcspn(text, "=");
        char *end = NULL;
        double mhz = text[n] ? strtod(text + n + 1, &end) : 0;
        int found = 0;
        if (!end || end == text + n + 1 || (*end && *end != ','))
            ig_fatal("--clock '%s': not TYPE=MHZ,..., e.g. CPU=1200", text);
        for (int32_t j = 0; j < b->n_processors; j++) {
            struct ig_processor *p = &b->processors[j];
            if (strlen(p->type) != n || strncmp(p->type, text, n)) continue;
            const struct ig_point point = *point_of(p, mhz);
            ig_processor_at(p, &point);
            found = 1;
        }
        if (!found) ig_fatal("--clock '%s': '%s' has no processor of that type", text, b->name);
        text = end + (*end == ',');
    }
}

static const char *bound_of(const struct ig_forecast_on *on, const struct ig_platform *b, char text[24])
{
    if (on->kernel)
        snprintf(text, 24, "calibrated");
    else if (on->a.bound == IG_BOUND_COMPUTE)
        snprintf(text, 24, "compute");
    else
        snprintf(text, 24, "channel %d", b->channels[on->a.bound].id);
    return text;
}

static void put_layers(const struct ig_graph *g, const struct ig_platform *b, const struct ig_forecast *f)
{
    char bound[24];
    printf("%-28s %-7s %-13s %10s %10s %10s %9s %9s  %s\n", "layer", "kind", "on", "MOPS", "rounded", "moved kB",
           "start ms", "ms", "bound");
    for (int32_t i = 0; i < f->n; i++) {
        const struct ig_forecast_layer *l = &f->layers[i];
        const struct ig_forecast_on *on = &l->on[l->pe];
        const struct ig_processor *pe = &b->processors[l->pe];
        int64_t moved = on->a.traffic[IG_X] + on->a.traffic[IG_Y] + on->a.traffic[IG_W];
        printf("%-28.28s %-7s %-13.13s %10.3f %10.3f %10.1f %9.3f %9.3f  %s\n", g->nodes[l->node].name,
               ig_layer_kind_names[l->layer.kind], pe->subtype[0] ? pe->subtype : pe->type,
               (double)on->a.ops_th * l->images * 1e-6, (double)on->a.ops_re * l->images * 1e-6,
               (double)moved * l->images * 1e-3, l->start_s * 1e3, on->s * 1e3, bound_of(on, b, bound));
    }
}

static void put_mj(const char *what, double mj)
{
    if (mj >= 0) printf("%s %.3f mJ a frame\n", what, mj);
}

static void put_totals(const struct ig_graph *g, const struct ig_platform *b, const struct ig_forecast *f)
{
    const struct ig_pipeline *p = &f->pipeline;
    printf("%s on %s, one layer after another: %.3f ms, %.3f frames/s (by operations alone %.3f ms, by the roofline "
           "%.3f ms)\n",
           g->name, b->name, f->latency_s * 1e3, 1 / f->latency_s, f->ops_s * 1e3, f->roofline_s * 1e3);
    put_mj("energy", f->mj);
    if (p->n_stages < 2) return;
    printf("as a pipeline of %d stages: %.3f frames/s, a frame takes %.3f ms through the stages, %.3f ms when they are "
           "full\n",
           p->n_stages, 1 / p->slowest_s, p->sum_s * 1e3, p->n_stages * p->slowest_s * 1e3);
    for (int32_t k = 0; k < p->n_stages; k++)
        printf("  stage %d on %s, from %s\n", k, b->processors[p->pe[k]].subtype,
               g->nodes[f->layers[p->first[k]].node].name);
    put_mj("energy as a pipeline", f->pipeline_mj);
}

static void put_json_layer(const struct ig_graph *g, const struct ig_platform *b, const struct ig_forecast_layer *l)
{
    const struct ig_forecast_on *on = &l->on[l->pe];
    char bound[24];
    printf("{\"bound\":\"%s\",", bound_of(on, b, bound));
    if (on->kernel) printf("\"kernel\":\"%s\",", on->kernel->name);
    printf("\"kind\":\"%s\",\"layer\":", ig_layer_kind_names[l->layer.kind]);
    ig_put_text(stdout, g->nodes[l->node].name);
    fputs(",\"ms\":", stdout);
    ig_put_double(stdout, on->s * 1e3);
    printf(",\"ops\":%lld,\"ops_rounded\":%lld,\"processor\":%d,\"start_ms\":", (long long)on->a.ops_th * l->images,
           (long long)on->a.ops_re * l->images, b->processors[l->pe].id);
    ig_put_double(stdout, l->start_s * 1e3);
    printf(",\"w_bytes\":%lld,\"x_bytes\":%lld,\"y_bytes\":%lld}", (long long)on->a.traffic[IG_W] * l->images,
           (long long)on->a.traffic[IG_X] * l->images, (long long)on->a.traffic[IG_Y] * l->images);
}

static void put_json_number(const char *key, double x)
{
    if (x < 0) return;
    printf("\"%s\":", key);
    ig_put_double(stdout, x);
    fputs(",\n", stdout);
}

static void put_json(const struct ig_graph *g, const struct ig_platform *b, const struct ig_forecast *f)
{
    fputs("{\n", stdout);
    put_json_number("energy_mj", f->mj);
    put_json_number("fps", 1 / f->latency_s);
    put_json_number("latency_ms", f->latency_s * 1e3);
    fputs("\"layers\":[\n", stdout);
    for (int32_t i = 0; i < f->n; i++) {
        put_json_layer(g, b, &f->layers[i]);
        fputs(i + 1 < f->n ? ",\n" : "\n],\n", stdout);
    }
    put_json_number("ops_ms", f->ops_s * 1e3);
    if (f->pipeline.n_stages) put_json_number("pipeline_fps", 1 / f->pipeline.slowest_s);
    fputs("\"platform\":", stdout);
    ig_put_text(stdout, b->name);
    fputs(",\n", stdout);
    put_json_number("roofline_ms", f->roofline_s * 1e3);
    printf("\"stages\":%d\n}\n", f->pipeline.n_stages);
}

/* Is that a node's name, or what an exporter wrapped as "/name/Op"? */
static int is_called(const struct ig_node *n, const char *name)
{
    const char *names[2] = {n->name, n->onnx};
    size_t bytes = strlen(name);
    for (int i = 0; i < 2; i++) {
        const char *s = names[i] + (names[i][0] == '/');
        if (!strcmp(names[i], name) || !strcmp(s, name)) return 1;
        if (!strncmp(s, name, bytes) && s[bytes] == '/' && !strchr(s + bytes + 1, '/')) return 1;
    }
    return 0;
}

static void explain_layer(const struct ig_node *n, const struct ig_platform *b, const struct ig_forecast_layer *layer)
{
    for (int32_t j = 0; j < b->n_processors; j++) {
        const struct ig_forecast_on *on = &layer->on[j];
        const struct ig_processor *pe = &b->processors[j];
        printf("%s on %s (%s)\n", n->name, pe->subtype[0] ? pe->subtype : pe->type, b->name);
        if (pe->mapped) {
            ig_explain_nest(stdout, &on->nest, IG_LISTING_TILES);
            ig_explain_analysis(stdout, &on->nest, &on->a);
        } else {
            printf("operations %lld, estimate %.6f ms: the board says rates alone\n", (long long)on->a.ops_th,
                   on->a.s * 1e3);
        }
        if (on->kernel) printf("calibrated, kernel %s: %.6f ms\n", on->kernel->name, on->a.s * 1e3);
    }
}

/* Fatal with layers that have that in their names, or with the first ones. */
_Noreturn static void no_layer(const struct ig_graph *g, const struct ig_forecast *f, const char *name)
{
    char like[400] = "";
    for (int pass = 0; pass < 2 && !like[0]; pass++)
        for (int32_t i = 0, n = 0; i < f->n && n < 5; i++) {
            const char *layer = g->nodes[f->layers[i].node].name;
            size_t at = strlen(like);
            if (!pass && !strstr(layer, name)) continue;
            snprintf(like + at, sizeof like - at, " %s", layer);
            n++;
        }
    ig_fatal("no layer is called '%s' (a view is none); there are, among others:%s; ingot inspect lists them", name, like);
}

static void explain(const struct ig_graph *g, const struct ig_platform *b, const struct ig_forecast *f,
                    const char *name)
{
    int found = 0;
    for (int32_t i = 0; i < f->n; i++) {
        const struct ig_node *n = &g->nodes[f->layers[i].node];
        if (!is_called(n, name)) continue;
        found = 1;
        explain_layer(n, b, &f->layers[i]);
    }
    if (!found) no_layer(g, f, name);
}

void ig_estimate(const struct ig_graph *g, const struct ig_estimate_options *o)
{
    char err[4096];
    struct ig_platform *b = ig_load_board(o->platform ? o->platform : "host");
    if (o->clocks) set_clocks(b, o->clocks);
    struct ig_forecast_options options = {.board = b,
                                          .best_tiles = o->best_tiles,
                                          .deadline_s = o->deadline_ms * 1e-3,
                                          .max_error = o->max_error};
    if (o->dist && ig_op_dist_parse(&options.dist, o->dist, b, err, sizeof err)) ig_fatal("--op-dist: %s", err);
    struct ig_forecast *f = ig_forecast_make(g, &options, err, sizeof err);
    if (!f) ig_fatal("%s", err);
    if (o->explain)
        explain(g, b, f, o->explain);
    else if (o->json)
        put_json(g, b, f);
    else {
        put_layers(g, b, f);
        put_totals(g, b, f);
    }
    ig_forecast_free(f);
    free(b);
}
