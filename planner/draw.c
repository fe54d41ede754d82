#include "planner/draw.h"

#include <stdlib.h>

#include "kernels_cpu/registry.h"
#include "planner/nsga2.h"
#include "planner/views.h"

enum { MAX_CUTS = 64 };

static void draw_time(struct ig_profile *p, int32_t node, const struct ig_kernel *k, const struct ig_call *call, uint64_t *state)
{
    struct ig_cut cuts[MAX_CUTS];
    int n = ig_legal_cuts(k, call, p->threads, NULL, cuts, MAX_CUTS);
    struct ig_cut cut = cuts[ig_draw(state, (uint64_t)n)];
    p->timings[p->n++] = (struct ig_timing){.node = node, .kernel = k, .split = cut.split, .chunk = cut.chunk, .threads = p->threads,
                                            .alone_ns = 1e8 + 1e3 * (double)ig_draw(state, 1000000), .error = k->error};
}

int ig_draw_profile(struct ig_profile *p, const struct ig_graph *g, int isa, int32_t threads, uint64_t *state)
{
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    *p = (struct ig_profile){.sha256 = (char *)"", .graph_sha256 = (char *)"", .threads = threads};
    p->timings = calloc((size_t)g->n_nodes * (size_t)ig_kernel_count() + 1, sizeof *p->timings);
    if (views && p->timings) ig_compute_views(g, views);
    for (int32_t node = 0; views && p->timings && node < g->n_nodes; node++) {
        const struct ig_node *n = &g->nodes[node];
        struct ig_call call;
        int32_t batch;
        if (ig_node_is_view(g, views, node)) continue;
        ig_node_call(g, views, n, &call, &batch);
        for (int i = 0; i < ig_kernel_count(); i++) {
            const struct ig_kernel *k = ig_kernel_at(i);
            if (ig_isa_has(isa, k->isa) && ig_kernel_fits(k, n->op, &call)) draw_time(p, node, k, &call, state);
        }
    }
    free(views);
    return views && p->timings ? 0 : -1;
}
