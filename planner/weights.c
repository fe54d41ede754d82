/* Where everything lies in the weight blob; the planner asks how long it is, gen fills it. */
#include <stdlib.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"
#include "planner/plan.h"

static int64_t place(int64_t *end, int64_t bytes)
{
    int64_t at = *end;
    *end += (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
    return at;
}

/* The constant that holds v's elements, or -1; some a packing kernel has eaten. */
static int32_t constant_of(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_step *step,
                           int32_t k)
{
    int32_t v = g->nodes[step->node].in[k];
    if (v < 0) return -1;
    if (ig_packs_input(step->kernel, k) && ig_is_const(g, v)) return -1;
    int32_t root = p->buffers[v].view.root;
    return ig_is_const(g, root) ? root : -1;
}

static int64_t place_zeros(const struct ig_graph *g, const struct ig_plan *p, const struct ig_view *views,
                           int64_t *end)
{
    size_t most = IG_ALIGN;
    for (int32_t i = 0; i < p->n_steps; i++) {
        struct ig_call call;
        int32_t batch;
        if (!p->steps[i].kernel) continue;
        ig_node_call(g, views, &g->nodes[p->steps[i].node], &call, &batch);
        size_t bytes = ig_zeros_read(p->steps[i].kernel, &call);
        if (bytes > most) most = bytes;
    }
    return place(end, (int64_t)most);
}

int64_t ig_weight_layout(const struct ig_graph *g, const struct ig_plan *p, int64_t *zeros, int64_t *packed,
                         int64_t *consts)
{
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    int64_t end = 0;
    for (int32_t v = 0; v < g->n_values; v++) {
        views[v] = p->buffers[v].view;
        consts[v] = -1;
    }
    *zeros = place_zeros(g, p, views, &end);
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *step = &p->steps[i];
        const struct ig_node *n = &g->nodes[step->node];
        struct ig_call call;
        int32_t batch;
        packed[i] = -1;
        if (!step->kernel) continue;
        ig_node_call(g, views, n, &call, &batch);
        if (step->kernel->pack) packed[i] = place(&end, (int64_t)step->kernel->pack(&call, NULL));
        for (int32_t k = 0; k < n->n_in; k++) {
            int32_t c = constant_of(g, p, step, k);
            if (c >= 0 && consts[c] < 0) consts[c] = place(&end, ig_bytes(&g->values[c].shape));
        }
    }
    free(views);
    return end;
}
