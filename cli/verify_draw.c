/* A plan whose kernels, cuts and bands are drawn, so that networks are tested with more than what is fastest here. */
#include <stdlib.h>
#include <string.h>

#include "cli/verify.h"
#include "kernels_cpu/registry.h"
#include "planner/nsga2.h"
#include "planner/views.h"

enum { MAX_CUTS = 64 };

static void draw_times(struct ig_profile *p, int32_t node, const struct ig_kernel *k, const struct ig_call *call, uint64_t *state)
{
    struct ig_cut cuts[MAX_CUTS];
    int n = ig_legal_cuts(k, call, p->threads, NULL, cuts, MAX_CUTS);
    struct ig_cut cut = cuts[ig_draw(state, (uint64_t)n)];
    p->timings[p->n++] = (struct ig_timing){.node = node, .kernel = k, .split = cut.split, .chunk = cut.chunk, .threads = p->threads,
                                            .alone_ns = 1e8 + 1e3 * (double)ig_draw(state, 1000000), .error = k->error};
}

static void draw_kernels(struct ig_profile *p, const struct ig_graph *g, int isa, uint64_t *state)
{
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    if (!views) ig_fatal("out of memory");
    ig_compute_views(g, views);
    for (int32_t node = 0; node < g->n_nodes; node++) {
        const struct ig_node *n = &g->nodes[node];
        struct ig_call call;
        int32_t batch;
        if (ig_node_is_view(g, views, node)) continue;
        ig_node_call(g, views, n, &call, &batch);
        for (int i = 0; i < ig_kernel_count(); i++) {
            const struct ig_kernel *k = ig_kernel_at(i);
            if (ig_isa_has(isa, k->isa) && ig_kernel_fits(k, n->op, &call)) draw_times(p, node, k, &call, state);
        }
    }
    free(views);
}

/* The folder in which model.onnx lies, whatever folders that one is in. */
static const char *case_of(const char *model)
{
    const char *at = strrchr(model, '/');
    while (at && at > model && at[-1] != '/') at--;
    return at ? at : model;
}

void ig_verify_draw(const struct ig_graph *g, const struct ig_verify_options *o, const char *model, struct ig_profile *p,
                    struct ig_plan_options *po)
{
    static const int32_t bands[] = {IG_BANDS_AUTO, IG_BANDS_OFF, IG_BANDS_CHAINS, IG_BANDS_ALL};
    uint64_t state = o->draw;
    for (const char *at = case_of(model); *at; at++) state = state * 31 + (unsigned char)*at;
    *p = (struct ig_profile){.sha256 = (char *)"", .graph_sha256 = (char *)"", .threads = o->threads};
    p->timings = calloc((size_t)g->n_nodes * (size_t)ig_kernel_count() + 1, sizeof *p->timings);
    if (!p->timings) ig_fatal("out of memory");
    draw_kernels(p, g, o->isa, &state);
    po->profile = p;
    if (o->fatbin) return;
    po->bands = bands[ig_draw(&state, 4)];
    if (!ig_draw(&state, 4)) po->objective = IG_OBJECTIVE_MEMORY;
}
