#include "tests/support/isa.h"
#include "tests/support/parts.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/deploy/channels.h"
#include "planner/deploy/slabs.h"
#include "planner/tradeoff.h"
#include "tests/support/nets.h"

int32_t split_isa(void)
{
    return fastest_isa();
}

void split_sizes(struct rng *r, int32_t n, int64_t extent, int64_t *sizes)
{
    for (int32_t i = 0; i < n; i++) sizes[i] = 1;
    int64_t left = extent - n;
    for (int32_t i = 0; i < n - 1; i++) {
        int64_t more = rng_one_in(r, 3) ? 0 : rng_int(r, 0, (int32_t)left);
        sizes[i] += more;
        left -= more;
    }
    sizes[n - 1] += left;
}

static void random_keys(struct rng *r, int32_t *keys)
{
    int32_t all[SPLIT_KEYS];
    for (int32_t i = 0; i < SPLIT_KEYS; i++) all[i] = i;
    for (int32_t i = 0; i < SPLIT_PARTS; i++) {
        int32_t k = rng_int(r, i, SPLIT_KEYS - 1), key = all[k];
        all[k] = all[i];
        keys[i] = all[i] = key;
    }
}

struct split_orders split_some(struct rng *r, const struct ig_graph *g, int32_t mode, int32_t one_in)
{
    size_t n = (size_t)g->n_nodes;
    struct split_orders o = {.at = ig_must_alloc(n, sizeof *o.at), .sizes = ig_must_alloc(n, sizeof *o.sizes),
                             .keys = ig_must_alloc(n, sizeof *o.keys)};
    int32_t usual[SPLIT_PARTS], parts = rng_int(r, 2, SPLIT_PARTS);
    random_keys(r, usual);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t extent = ig_rows_of(g, &g->nodes[i], mode), k = o.n;
        int32_t n_parts = rng_one_in(r, 8) ? rng_int(r, 2, SPLIT_PARTS) : parts;
        if (extent < n_parts || !rng_one_in(r, one_in)) continue;
        memcpy(o.keys[k], usual, sizeof usual);
        if (rng_one_in(r, 8)) random_keys(r, o.keys[k]);
        split_sizes(r, n_parts, extent, o.sizes[k]);
        o.at[o.n++] = (struct ig_hsplit_order){i, mode, n_parts, o.sizes[k], o.keys[k]};
    }
    return o;
}

static int is_ordered(const struct split_orders *o, int32_t node)
{
    for (int32_t i = 0; i < o->n; i++)
        if (o->at[i].node == node) return 1;
    return 0;
}

void split_more(struct rng *r, const struct ig_graph *g, int32_t one_in, struct split_orders *o)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t extent = ig_channels_of(g, &g->nodes[i], IG_SPLIT_OUT), parts = rng_int(r, 2, SPLIT_PARTS), k = o->n;
        if (extent < 32 * parts || is_ordered(o, i) || !rng_one_in(r, one_in)) continue;
        random_keys(r, o->keys[k]);
        split_sizes(r, parts, extent, o->sizes[k]);
        o->at[o->n++] = (struct ig_hsplit_order){i, IG_SPLIT_OUT, parts, o->sizes[k], o->keys[k]};
    }
}

void split_orders_free(struct split_orders *o)
{
    free(o->at);
    free(o->sizes);
    free(o->keys);
}

static const struct ig_kernel *any_kernel(const struct ig_graph *g, const struct ig_view *views, int32_t node,
                                          int32_t isa, double max_error, struct rng *r)
{
    const struct ig_kernel *found = NULL;
    struct ig_call call;
    int32_t batch, met = 0;
    if (ig_node_is_view(g, views, node)) return NULL;
    ig_node_call(g, views, &g->nodes[node], &call, &batch);
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (!ig_isa_has(isa, k->isa) || k->error > max_error) continue;
        if (ig_kernel_fits(k, g->nodes[node].op, &call) && rng_one_in(r, ++met)) found = k;
    }
    return found;
}

static struct ig_plan *plan_with(const struct ig_graph *g, const struct ig_kernel *const *kernels, int32_t isa,
                                 double max_error)
{
    struct ig_plan like = {.steps = ig_must_alloc((size_t)g->n_nodes, sizeof *like.steps)};
    struct ig_plan_options o = {.target = "host", .isa = isa, .threads = 1, .bands = IG_BANDS_OFF};
    o.max_error = max_error;
    char err[1024] = "";
    for (int32_t i = 0; kernels && i < g->n_nodes; i++) like.steps[i].kernel = kernels[i];
    if (kernels) o.like = &like;
    struct ig_plan *p = ig_plan_once(g, &o, err, sizeof err);
    if (!p || ig_validate(g, p, 0, err, sizeof err)) fail_msg("%s: %s", g->name, err);
    free(like.steps);
    return p;
}

static int32_t node_named(const struct ig_graph *g, const char *name)
{
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (!strcmp(g->nodes[i].name, name)) return i;
    return -1;
}

struct split_whole split_whole_make(const struct ig_graph *g, int32_t isa, double max_error, struct rng *r)
{
    struct split_whole w = {.prepared = ig_graph_clone(g)};
    ig_prepare_views(w.prepared);
    const struct ig_graph *p = w.prepared;
    const struct ig_kernel **any = ig_must_alloc((size_t)p->n_nodes, sizeof *any);
    struct ig_view *views = ig_must_alloc((size_t)p->n_values, sizeof *views);
    ig_compute_views(p, views);
    for (int32_t i = 0; r && i < p->n_nodes; i++) any[i] = any_kernel(p, views, i, isa, max_error, r);
    w.plan = plan_with(p, r ? any : NULL, isa, max_error);
    w.kernels = ig_must_alloc((size_t)g->n_nodes, sizeof *w.kernels);
    for (int32_t i = 0; i < g->n_nodes; i++) w.kernels[i] = w.plan->steps[node_named(p, g->nodes[i].name)].kernel;
    free(any);
    free(views);
    return w;
}

void split_whole_free(struct split_whole *w)
{
    free(w->kernels);
    ig_plan_free(w->plan);
    ig_graph_free(w->prepared);
}

/* The plan of a split graph whose views are prepared; what stands for nodes of the whole has their kernels. */
static struct ig_plan *plan_split(const struct ig_graph *g, const struct ig_graph *rewritten, const int32_t *whole_of,
                                  const struct split_whole *whole, int32_t isa)
{
    struct ig_plan *p = plan_with(g, NULL, isa, 1);
    if (!whole) return p;
    const struct ig_kernel **kernels = ig_must_alloc((size_t)g->n_nodes, sizeof *kernels);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t at = node_named(rewritten, g->nodes[i].name), of = at < 0 ? -1 : whole_of[at];
        kernels[i] = of < 0 || !whole->kernels[of] ? p->steps[i].kernel : whole->kernels[of];
    }
    ig_plan_free(p);
    p = plan_with(g, kernels, isa, 1);
    free(kernels);
    return p;
}

static void check_rewritten(const struct ig_graph *g, const int32_t *keys)
{
    for (int32_t i = 0; i < g->n_nodes; i++) assert_in_range(keys[i] % IG_LATE, 0, SPLIT_KEYS - 1);
}

int split_run(const struct ig_graph *g, const struct split_orders *o, int32_t cuts, const struct split_whole *whole,
              int32_t isa, uint64_t seed, void **out, struct ig_graph **made, char *err, size_t err_bytes)
{
    struct ig_graph *split = ig_graph_clone(g);
    struct ig_split_options options = {.kernels = whole ? whole->kernels : NULL, .cuts = cuts, .border = o->border};
    int32_t *keys = ig_must_alloc((size_t)g->n_nodes, sizeof *keys), *whole_of = NULL;
    struct rng r = {seed};
    for (int32_t i = 0; i < g->n_nodes; i++) keys[i] = rng_int(&r, 0, SPLIT_KEYS - 1);
    if (ig_split_graph(split, o->at, o->n, &options, &keys, &whole_of, err, err_bytes)) {
        free(keys);
        ig_graph_free(split);
        return -1;
    }
    check_rewritten(split, keys);
    struct ig_graph *prepared = ig_graph_clone(split);
    ig_prepare_views(prepared);
    struct ig_plan *p = plan_split(prepared, split, whole_of, whole, isa);
    net_run_tables(prepared, p, 1, seed, out);
    ig_plan_free(p);
    ig_graph_free(prepared);
    free(keys);
    free(whole_of);
    if (made) *made = split;
    else ig_graph_free(split);
    return 0;
}

void split_outputs_near(const struct ig_graph *g, void **a, void **b)
{
    for (int32_t i = 0; i < g->n_outputs; i++) {
        const float *x = a[i], *y = b[i];
        int64_t n = ig_count(&g->values[g->outputs[i]].shape);
        double most = 0, off = 0;
        for (int64_t k = 0; k < n; k++) {
            most = fmax(most, fabs((double)x[k]));
            off = fmax(off, fabs((double)x[k] - (double)y[k]));
        }
        if (!(off <= 1e-4 * most + 1e-6)) fail_msg("%s: output %d is off by %g of %g", g->name, i, off, most);
        test_free(a[i]);
        test_free(b[i]);
    }
}
