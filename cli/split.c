/* Layers in parts, by the rewriting that deployments have: parts read slices, which are views, and write into one tensor. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "planner/alloc.h"
#include "planner/deploy/rewrite.h"

enum { MOST_PARTS = 16, CHANNELS = 16, ROWS = 12 }; /* parts begin at such multiples, whatever kernel computes them */
static const double long_share = 1.0 / 6, part_share = 1.0 / 12; /* of a frame: what is split, and into what */

struct splits {
    struct ig_graph *g;
    const char *path;
    int32_t n;
    struct ig_hsplit_order *orders; /* [n_nodes] */
};

static int32_t node_named(const struct splits *s, const char *name)
{
    for (int32_t i = 0; i < s->g->n_nodes; i++)
        if (!strcmp(s->g->nodes[i].name, name)) return i;
    ig_fatal("%s: --split: there is no layer '%s'", s->path, name);
}

static int can_be_split(const struct ig_graph *g, int32_t node)
{
    return g->nodes[node].op == IG_FC || g->nodes[node].op == IG_CONV;
}

/* By rows where each part has enough of them, else by output channels, of which then each has weights of its own. */
static int32_t mode_for(const struct splits *s, int32_t node, int32_t parts)
{
    int32_t rows = s->g->nodes[node].op == IG_CONV ? ig_split_extent(s->g, node, IG_SPLIT_HEIGHT) : 0;
    return rows >= 2 * ROWS * parts ? IG_SPLIT_HEIGHT : IG_SPLIT_OUT;
}

/* Every part on a key of its own, which tells their names apart. */
static void add_split(struct splits *s, int32_t node, int32_t parts)
{
    int64_t *sizes = ig_must_alloc((size_t)parts, sizeof *sizes);
    int32_t *keys = ig_must_alloc((size_t)parts, sizeof *keys), mode = mode_for(s, node, parts);
    int32_t extent = can_be_split(s->g, node) ? ig_split_extent(s->g, node, mode) : 0;
    int32_t step = mode == IG_SPLIT_HEIGHT ? ROWS : CHANNELS;
    if (extent < parts) ig_fatal("%s: --split: layer '%s' has no %d parts", s->path, s->g->nodes[node].name, parts);
    for (int32_t i = 0; i < parts; i++) {
        sizes[i] = (int64_t)extent * (i + 1) / parts - (int64_t)extent * i / parts;
        keys[i] = i;
    }
    ig_split_round(sizes, parts, extent >= step * parts ? step : 1);
    s->orders[s->n++] = (struct ig_hsplit_order){.node = node, .mode = mode, .n = parts, .sizes = sizes, .keys = keys};
}

static void read_splits(struct splits *s, const char *text)
{
    char *copy = strdup(text), *state = NULL;
    for (char *item = strtok_r(copy, ",", &state); item; item = strtok_r(NULL, ",", &state)) {
        char *sign = strrchr(item, '='), *end = NULL;
        long parts = sign ? strtol(sign + 1, &end, 10) : 0;
        if (!sign || end == sign + 1 || *end || parts < 2 || parts > MOST_PARTS)
            ig_fatal("--split=%s: auto, or LAYER=N with 2 to %d parts", text, MOST_PARTS);
        *sign = 0;
        int32_t node = node_named(s, item);
        for (int32_t i = 0; i < s->n; i++)
            if (s->orders[i].node == node) ig_fatal("--split=%s: '%s' twice", text, item);
        add_split(s, node, (int32_t)parts);
    }
    free(copy);
}

/* ns of each node by the estimate, [n_nodes]. */
static double *estimate(const struct splits *s)
{
    struct ig_plan_options o = {.target = "host", .isa = ig_host_isa(), .threads = 1, .max_error = IG_MAX_ERROR};
    struct ig_graph *whole = ig_graph_clone(s->g);
    double *ns = ig_must_alloc((size_t)s->g->n_nodes, sizeof *ns);
    char err[4096];
    ig_finish_graph(whole, s->path, 0);
    o.bands = IG_BANDS_OFF;
    struct ig_plan *p = ig_plan_make(whole, &o, err, sizeof err);
    if (!p) ig_fatal("%s: %s", s->path, err);
    for (int32_t i = 0; i < p->n_steps; i++)
        for (int32_t k = 0; k < s->g->n_nodes; k++)
            if (!strcmp(s->g->nodes[k].name, whole->nodes[p->steps[i].node].name)) ns[k] = p->steps[i].predicted_ns;
    ig_plan_free(p);
    ig_graph_free(whole);
    return ns;
}

static void choose_splits(struct splits *s)
{
    double *ns = estimate(s), sum = 0;
    for (int32_t i = 0; i < s->g->n_nodes; i++) sum += ns[i];
    for (int32_t i = 0; i < s->g->n_nodes; i++) {
        int32_t parts = (int32_t)fmin(ceil(ns[i] / sum / part_share), MOST_PARTS);
        if (ns[i] <= long_share * sum || !can_be_split(s->g, i)) continue;
        if (ig_split_extent(s->g, i, mode_for(s, i, parts)) >= CHANNELS * parts) add_split(s, i, parts);
    }
    free(ns);
}

struct ig_graph *ig_load_split(const char *path, const struct ig_source_options *o, const char *layers)
{
    struct ig_graph *g = ig_import_graph(path, o);
    struct splits s = {.g = g, .path = path};
    struct ig_split_options how = {.kernels = NULL};
    int32_t *whole = NULL, *keys;
    char err[4096];
    g->own_constants = 1;
    ig_fold_graph(g, path, o->half);
    g->own_constants = 0;
    ig_count_macs(g);
    s.orders = ig_must_alloc((size_t)g->n_nodes, sizeof *s.orders);
    keys = ig_must_alloc((size_t)g->n_nodes, sizeof *keys);
    if (strcmp(layers, "auto")) read_splits(&s, layers);
    else choose_splits(&s);
    if (s.n && ig_split_graph(g, s.orders, s.n, &how, &keys, &whole, err, sizeof err)) ig_fatal("%s: %s", path, err);
    for (int32_t i = 0; i < s.n; i++) {
        free((void *)(uintptr_t)s.orders[i].sizes);
        free((void *)(uintptr_t)s.orders[i].keys);
    }
    free(s.orders);
    free(keys);
    free(whole);
    ig_finish_graph(g, path, o->detach);
    return g;
}
