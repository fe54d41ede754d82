/*
 * Frame after frame, the weights of a layer were last touched a frame ago, and its output's memory by the last layer
 * that needed as much of the arena.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/plan.h"

struct touched {   /* by a layer, bytes */
    int32_t node;
    double images; /* inputs and outputs: about what the arena holds at the time */
    double weights;
};

static struct touched touched_by(int32_t node, const struct ig_call *call)
{
    struct touched t = {node, 0, 0};
    for (int32_t i = 0; i < call->n_in; i++) {
        const struct ig_operand *o = &call->in[i];
        if (!o->shape) continue;
        if (o->data)
            t.weights += (double)ig_bytes(o->shape);
        else
            t.images += (double)ig_bytes(o->shape);
    }
    for (int32_t i = 0; i < call->n_out; i++)
        if (call->out[i].shape) t.images += (double)ig_bytes(call->out[i].shape);
    return t;
}

/* Of layer i, going back over the frame before. */
static struct ig_away away_of(const struct touched *t, int32_t n, int32_t i)
{
    struct ig_away away = {0, 0};
    double most = 0, weights = 0;
    for (int32_t back = 1; back <= n; back++) {
        const struct touched *then = &t[(i - back + n) % n];
        weights += then->weights;
        if (then->images > most) most = then->images;
        if (away.output <= 0 && (then->images >= t[i].images || back == n)) away.output = weights + most;
    }
    away.weights = weights + most;
    return away;
}

void ig_frame_away(const struct ig_graph *g, const struct ig_view *views, struct ig_away *at)
{
    struct touched *t = ig_must_alloc((size_t)g->n_nodes, sizeof *t);
    int32_t n = 0;
    memset(at, 0, (size_t)g->n_nodes * sizeof *at);
    for (int32_t node = 0; node < g->n_nodes; node++) {
        struct ig_call call;
        int32_t images;
        if (ig_node_is_view(g, views, node)) continue;
        ig_node_call(g, views, &g->nodes[node], &call, &images);
        if (call.n_out) t[n++] = touched_by(node, &call);
    }
    for (int32_t i = 0; i < n; i++) at[t[i].node] = away_of(t, n, i);
    free(t);
}
