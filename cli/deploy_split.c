/* Layers that several keys share: the network before and after it is rewritten, and the kernels that stay. */
#include <stdlib.h>
#include <string.h>

#include "cli/deploy.h"
#include "kernels_cpu/eval.h"
#include "planner/alloc.h"
#include "planner/deploy/part_plan.h"
#include "planner/deploy/part_profile.h"

/* kernels[n_nodes] of d->g, by name, of the plan of the network with its views prepared. */
static const struct ig_kernel **kernels_of(const struct ig_graph *g, const struct ig_graph *prepared,
                                           const struct ig_plan *plan)
{
    const struct ig_kernel **kernels = ig_must_alloc((size_t)g->n_nodes, sizeof *kernels);
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < plan->n_steps; k++)
            if (!strcmp(g->nodes[i].name, prepared->nodes[plan->steps[k].node].name)) kernels[i] = plan->steps[k].kernel;
    return kernels;
}

/* The kernels that nodes of the new graph are pinned to, as a plan of it. */
static struct ig_plan *plan_like(const struct ig_deployment *d, const struct ig_graph *before, const int32_t *whole,
                                 const struct ig_kernel *const *kernels)
{
    struct ig_plan *like = ig_must_alloc(1, sizeof *like);
    like->n_steps = d->g->n_nodes;
    like->steps = ig_must_alloc((size_t)like->n_steps, sizeof *like->steps);
    for (int32_t i = 0; i < like->n_steps; i++) {
        like->steps[i].node = i;
        if (whole[i] < 0) continue;
        if (d->exact || !strcmp(d->g->nodes[i].name, before->nodes[whole[i]].name)) like->steps[i].kernel = kernels[whole[i]];
    }
    return like;
}

struct ig_graph *ig_deploy_load_unprepared(const char *path, const struct ig_source_options *o)
{
    struct ig_graph *g = ig_import_graph(path, o);
    char err[4096];
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) ig_fatal("%s: %s", path, err);
    if (o->half) ig_pass_half(g);
    ig_count_macs(g);
    return g;
}

/* From now on a profile is of d's graph in pieces. */
static struct ig_profile *split_profile(struct ig_deployment *d, const struct ig_profile *of, const struct ig_graph *prepared,
                                        const struct ig_graph *before, const int32_t *whole)
{
    if (!of) return NULL;
    struct ig_profile *split = ig_split_profile(of, prepared, before, d->g, whole);
    ig_profile_free((struct ig_profile *)(uintptr_t)of);
    return split;
}

struct ig_plan *ig_deploy_split(struct ig_deployment *d, const char *path)
{
    char err[4096];
    struct ig_graph *before = ig_graph_clone(d->g), *prepared = ig_graph_clone(d->g);
    int32_t *whole = NULL, *devices = ig_must_alloc((size_t)d->mapping->n, sizeof *devices);
    ig_part_prepare(prepared);
    ig_deploy_read_profiles(d, prepared);
    if (!d->options.threads) d->options.threads = ig_deploy_threads(d);
    struct ig_plan_options options = d->options;
    options.bands = IG_BANDS_OFF;
    struct ig_plan *plan = ig_plan_make(prepared, &options, err, sizeof err);
    if (!plan) ig_fatal("%s: %s", d->onnx, err);
    const struct ig_kernel **kernels = kernels_of(d->g, prepared, plan);
    for (int32_t i = 0; i < d->mapping->n; i++)
        devices[i] = d->site ? ig_site_find(d->site, d->mapping->keys[i].device) : -1;
    struct ig_split_options o = {.kernels = d->exact ? kernels : NULL, .border = d->border, .site = d->site, .devices = d->site ? devices : NULL};
    struct ig_split_orders orders = ig_read_orders(d, path, prepared, &options, &o);
    if (ig_split_graph(d->g, orders.at, d->splits->n, &o, &d->key_of, &whole, err, sizeof err)) ig_fatal("%s: %s", path, err);
    ig_count_macs(d->g);
    d->options.profile = split_profile(d, d->options.profile, prepared, before, whole);
    d->alone = split_profile(d, d->alone, prepared, before, whole);
    d->on_gpu = split_profile(d, d->on_gpu, prepared, before, whole);
    struct ig_plan *like = plan_like(d, before, whole, kernels);
    for (int32_t i = 0; i < d->mapping->n; i++) free(orders.layer_ns[i]);
    void *owned[] = {orders.at, orders.sizes, orders.keys, orders.rates, orders.layer_ns, whole, devices, kernels};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    ig_plan_free(plan);
    ig_graph_free(prepared);
    ig_graph_free(before);
    return like;
}
