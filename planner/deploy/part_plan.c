#include "planner/deploy/part_plan.h"

#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/order.h"

void ig_part_prepare(struct ig_graph *part)
{
    ig_prepare_views(part);
    ig_order_nodes(part, &(struct ig_order_gain){0});
    ig_count_macs(part);
}

/* A machine of another instruction set chooses its own. */
static int runs_on(const struct ig_kernel *k, int32_t isa)
{
    return k && ig_isa_has(isa, k->isa);
}

/* What ig_prepare_views adds, under names that other parts may have for something else. */
static int only_moves(int32_t op)
{
    return op == IG_COPY || op == IG_CONCAT;
}

/* node_of[whole->n_nodes]: a node's number in the part; -1: it is not there. */
static int32_t *find_nodes(const struct ig_graph *whole, const struct ig_graph *part)
{
    int32_t *node_of = ig_must_alloc((size_t)whole->n_nodes, sizeof *node_of);
    for (int32_t i = 0; i < whole->n_nodes; i++) {
        node_of[i] = part->n_nodes - 1;
        while (node_of[i] >= 0 && strcmp(part->nodes[node_of[i]].name, whole->nodes[i].name)) node_of[i]--;
    }
    return node_of;
}

/* The lines of the whole network's profile that are about the part: bands with all that is between their ends. */
static void cut_profile(const struct ig_profile *of, const int32_t *node_of, struct ig_profile *to)
{
    *to = *of;
    to->timings = ig_must_alloc((size_t)of->n, sizeof *to->timings);
    to->bands = ig_must_alloc((size_t)of->n_bands, sizeof *to->bands);
    to->n = to->n_bands = 0;
    for (int32_t i = 0; i < of->n; i++) {
        if (node_of[of->timings[i].node] < 0) continue;
        to->timings[to->n] = of->timings[i];
        to->timings[to->n++].node = node_of[of->timings[i].node];
    }
    for (int32_t i = 0; i < of->n_bands; i++) {
        struct ig_band_timing *t = &to->bands[to->n_bands];
        *t = of->bands[i];
        t->first = node_of[t->first];
        t->last = node_of[t->last];
        to->n_bands += t->first >= 0 && t->last >= t->first;
    }
}

struct ig_plan *ig_part_plan(const struct ig_graph *whole, const struct ig_plan *like, const struct ig_graph *part,
                             const struct ig_plan_options *o, char *err, size_t err_bytes)
{
    struct ig_plan_options own = *o;
    struct ig_profile profile;
    struct ig_plan kernels = {.n_steps = part->n_nodes};
    int32_t *node_of = find_nodes(whole, part);
    kernels.steps = ig_must_alloc((size_t)part->n_nodes, sizeof *kernels.steps);
    for (int32_t i = 0; like && i < like->n_steps; i++) {
        int32_t node = node_of[like->steps[i].node];
        const struct ig_kernel *kernel = like->steps[i].kernel;
        if (node >= 0 && !only_moves(part->nodes[node].op) && runs_on(kernel, o->isa)) kernels.steps[node].kernel = kernel;
    }
    own.like = like ? &kernels : NULL;
    if (o->profile) {
        cut_profile(o->profile, node_of, &profile);
        own.profile = &profile;
    }
    struct ig_plan *p = ig_plan_make(part, &own, err, err_bytes);
    if (o->profile) {
        free(profile.timings);
        free(profile.bands);
    }
    free(kernels.steps);
    free(node_of);
    return p;
}
