/* Which layers are split into what: the file's orders, and sizes by speed where it has none. */
#include <stdlib.h>
#include <string.h>

#include "cli/deploy.h"
#include "planner/alloc.h"
#include "planner/deploy/assign.h"
#include "planner/deploy/costs.h"
#include "planner/deploy/mistakes.h"

/* --- rates --- */

/* Is the node, by name, one that the orders split over the key? */
static int has_part(const struct ig_graph *g, const struct ig_split_orders *o, const char *name, int32_t key)
{
    for (int32_t i = 0; i < o->n; i++)
        for (int32_t k = 0; k < o->at[i].n; k++)
            if (o->at[i].keys[k] == key && !strcmp(g->nodes[o->at[i].node].name, name)) return 1;
    return 0;
}

/* Work a ns of the split layers, whole, on that key's threads; some number where they only move data. */
static double rate_of(const struct ig_deployment *d, const struct ig_split_orders *o, const struct ig_graph *prepared,
                      const struct ig_plan *p, int32_t key)
{
    double work = 0, ns = 0;
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &prepared->nodes[p->steps[i].node];
        if (!p->steps[i].kernel || !has_part(d->g, o, n->name, key)) continue;
        work += ig_node_work(prepared, n);
        ns += p->steps[i].predicted_ns;
    }
    return ns > 0 ? work / ns : ig_key_rate(&(struct ig_split_options){.rates = NULL}, key);
}

/* What each node of the network takes by the plan. */
static double *times_of(const struct ig_deployment *d, const struct ig_graph *prepared, const struct ig_plan *p)
{
    double *ns = ig_must_alloc((size_t)d->g->n_nodes, sizeof *ns);
    for (int32_t i = 0; i < p->n_steps; i++)
        for (int32_t v = 0; v < d->g->n_nodes && p->steps[i].kernel; v++)
            if (!strcmp(d->g->nodes[v].name, prepared->nodes[p->steps[i].node].name)) ns[v] = p->steps[i].predicted_ns;
    return ns;
}

/* By a plan of the whole network for each kind of key, threads and target: rates, and times of its nodes. */
static double *rates_of(const struct ig_deployment *d, const struct ig_split_orders *orders, const struct ig_graph *prepared,
                        const struct ig_plan_options *options, double **layer_ns)
{
    const struct ig_mapping *m = d->mapping;
    double *rates = ig_must_alloc((size_t)m->n, sizeof *rates);
    uint8_t *done = ig_must_alloc((size_t)m->n, sizeof *done);
    char err[4096];
    for (int32_t i = 0; i < m->n; i++) {
        struct ig_plan_options o = *options;
        if (done[i]) continue;
        o.threads = ig_key_threads(&m->keys[i]);
        o.target = ig_deploy_target(d, i);
        o.isa = ig_deploy_isa(d, o.target);
        if (ig_deploy_is_gpu(d, i)) o.isa = IG_ISA_CUDA, o.threads = 1, o.profile = d->on_gpu;
        struct ig_plan *p = ig_plan_make(prepared, &o, err, sizeof err);
        if (!p) ig_fatal("%s: %s", m->keys[i].name, err);
        for (int32_t k = i; k < m->n; k++) {
            if (m->keys[k].kind != m->keys[i].kind || ig_key_threads(&m->keys[k]) != o.threads || strcmp(ig_deploy_target(d, k), o.target)) continue;
            rates[k] = rate_of(d, orders, prepared, p, k);
            layer_ns[k] = times_of(d, prepared, p);
            done[k] = 1;
        }
        ig_plan_free(p);
    }
    free(done);
    return rates;
}

/* --- sizes --- */

/* Does the order go with the first: rows or columns over the same keys, in the same run? */
static int is_along(const struct ig_hsplit_order *a, const struct ig_hsplit_order *b)
{
    return (a->mode == IG_SPLIT_HEIGHT || a->mode == IG_SPLIT_WIDTH) && a->mode == b->mode && a->n == b->n &&
           !memcmp(a->keys, b->keys, (size_t)a->n * sizeof *a->keys);
}

/* The same shares of another extent, none of them lost that can be had. */
static void scale(const int64_t *from, int64_t all, int32_t n, int64_t extent, int64_t *sizes)
{
    int64_t end = 0, begin = 0;
    for (int32_t i = 0; i < n; i++) {
        end += from[i];
        int64_t bound = (end * extent + all / 2) / all;
        sizes[i] = bound - begin;
        begin = bound;
    }
}

/* Keys without a share are left out. */
static void drop_empty(struct ig_hsplit_order *o, int64_t *sizes, int32_t *keys)
{
    int32_t n = 0;
    for (int32_t i = 0; i < o->n; i++) {
        if (!sizes[i]) continue;
        sizes[n] = sizes[i];
        keys[n++] = keys[i];
    }
    o->n = n;
}

struct sharing {
    const struct ig_graph *g;
    const struct ig_split_options *options;
    const int32_t *node_keys;
    struct ig_split_orders *orders;
    uint8_t *open;   /* [n] orders without sizes */
};

/* Order i and all that are open along with it, which get the same shares. */
static void share_from(struct sharing *s, int32_t i)
{
    struct ig_hsplit_order *all = s->orders->at, *run = ig_must_alloc((size_t)s->orders->n, sizeof *run);
    int64_t *sizes = s->orders->sizes + (all[i].sizes - s->orders->sizes);
    int32_t *at = ig_must_alloc((size_t)s->orders->n, sizeof *at), n = 0;
    for (int32_t k = i; k < s->orders->n; k++) {
        if (!s->open[k] || (k != i && !is_along(&all[i], &all[k]))) continue;
        s->open[k] = 0;
        at[n] = k;
        run[n++] = all[k];
    }
    ig_split_share_run(s->g, run, n, s->options, s->node_keys, sizes);
    int64_t extent = ig_split_extent(s->g, run[0].node, run[0].mode);
    for (int32_t k = n - 1; k >= 0; k--) { /* the first last: the others are made of it */
        struct ig_hsplit_order *o = &all[at[k]];
        int64_t *own = s->orders->sizes + (o->sizes - s->orders->sizes);
        if (k) scale(sizes, extent, o->n, ig_split_extent(s->g, o->node, o->mode), own);
        drop_empty(o, own, s->orders->keys + (o->keys - s->orders->keys));
    }
    free(at);
    free(run);
}

/* Why the layer at that node (-1: at none) is not split as it is to be. */
static void cannot_be_split(const struct ig_graph *g, const struct ig_hsplit *s, int32_t node, struct ig_mistakes *wrong)
{
    char can[64] = "";
    for (int32_t mode = 0; ig_hsplit_mode(mode) && node >= 0; mode++) {
        if (ig_split_extent(g, node, mode) < 2) continue;
        if (*can) strcat(can, ", ");
        strcat(can, ig_hsplit_mode(mode));
    }
    if (node < 0) ig_mistake(wrong, "layer '%.200s' cannot be split: nothing is left of it", s->layer);
    else
        ig_mistake(wrong, "layer '%.200s' (%s) cannot be split by %s: %s%s", s->layer, ig_op_info((enum ig_op)g->nodes[node].op)->name,
                   ig_hsplit_mode(s->mode), *can ? "it can by " : "its pieces cannot be computed alone", can);
}

struct ig_split_orders ig_read_orders(const struct ig_deployment *d, const char *path, const struct ig_graph *prepared,
                                      const struct ig_plan_options *options, struct ig_split_options *split)
{
    const struct ig_hsplits *h = d->splits;
    struct ig_split_orders o = {.at = ig_must_alloc((size_t)h->n, sizeof *o.at), .n = h->n};
    int32_t *home = ig_must_alloc((size_t)d->layers->n, sizeof *home), all = 0, used = 0;
    uint8_t *open = ig_must_alloc((size_t)h->n, sizeof *open);
    struct ig_mistakes wrong = {.n = 0};
    char err[4096];
    for (int32_t i = 0; i < h->n; i++) all += h->at[i].n;
    o.sizes = ig_must_alloc((size_t)all, sizeof *o.sizes);
    o.keys = ig_must_alloc((size_t)all, sizeof *o.keys);
    ig_find_homes(d->g, d->layers, home);
    for (int32_t i = 0; i < h->n; used += h->at[i++].n) {
        const struct ig_hsplit *s = &h->at[i];
        int32_t node = home[s->index];
        int64_t extent = node < 0 ? 0 : ig_split_extent(d->g, node, s->mode);
        if (!extent) cannot_be_split(d->g, s, node, &wrong);
        for (int32_t k = 0; k < i; k++)
            if (node >= 0 && o.at[k].node == node)
                ig_mistake(&wrong, "layers '%.200s' and '%.200s' are computed as one: split either", h->at[k].layer, s->layer);
        open[i] = s->reading == IG_POINTS_AUTO;
        if (!open[i] && extent && ig_hsplit_sizes(s, extent, o.sizes + used, err, sizeof err)) ig_mistake(&wrong, "%s", err);
        for (int32_t k = 0; k < s->n; k++) o.keys[used + k] = ig_mapping_find(d->mapping, s->keys[k]);
        o.at[i] = (struct ig_hsplit_order){node, s->mode, s->n, o.sizes + used, o.keys + used};
    }
    if (ig_mistakes_tell(&wrong, path, err, sizeof err)) ig_fatal("%s", err);
    o.layer_ns = ig_must_alloc((size_t)d->mapping->n, sizeof *o.layer_ns);
    split->rates = o.rates = rates_of(d, &o, prepared, options, o.layer_ns);
    split->layer_ns = (const double *const *)o.layer_ns;
    struct sharing sharing = {d->g, split, d->key_of, &o, open};
    for (int32_t i = 0; i < h->n; i++)
        if (open[i]) share_from(&sharing, i);
    free(open);
    free(home);
    return o;
}
