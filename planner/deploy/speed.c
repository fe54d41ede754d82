/* Sizes of parts by the speed of their keys and of the links to them. */
#include <math.h>
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/deploy/costs.h"
#include "planner/deploy/shares.h"

struct share {           /* of one layer of a run */
    int32_t node;
    int64_t extent, step; /* of what is divided; parts are whole steps of it */
};

struct run {
    const struct ig_graph *g;
    const struct ig_split_options *options;
    const struct ig_hsplit_order *order; /* the first */
    struct share *at;
    int32_t n;
    double in_bytes, out_bytes;
    int32_t from;        /* the key that has its input */
};

/* A part of the layer that goes with so many rows of the first one: its tiles, whole, of all. */
static double share_of(const struct share *s, int64_t rows, int64_t all)
{
    double mine = (double)rows * (double)s->extent / (double)all, steps = ceil(mine / (double)s->step - 1e-9);
    double made = steps * (double)s->step;
    return made < (double)s->extent ? made / (double)s->extent : 1;
}

/* A part's arithmetic, what it is sent and what it sends to the first part's key, where the join may be. */
static double part_ns(const void *context, int32_t part, int64_t rows)
{
    const struct run *r = context;
    const struct ig_hsplit_order *o = r->order;
    double share = (double)rows / (double)r->at[0].extent, ns = 0;
    double in = o->mode == IG_SPLIT_OUT ? 1 : share, out = o->mode == IG_SPLIT_IN ? 1 : share;
    for (int32_t i = 0; i < r->n; i++)
        ns += ig_layer_ns(r->options, r->g, r->at[i].node, o->keys[part]) * share_of(&r->at[i], rows, r->at[0].extent);
    return ns + ig_keys_link_ns(r->options, r->from, o->keys[part], r->in_bytes * in) +
           ig_keys_link_ns(r->options, o->keys[part], o->keys[0], r->out_bytes * out);
}

/* What passes between nodes of `in` and others; from: the key of the first value that enters. */
static void add_passing(const struct ig_graph *g, const uint8_t *in, const int32_t *keys, struct run *l)
{
    int entered = 0;
    for (int32_t v = 0; v < g->n_values; v++) {
        int32_t by = g->values[v].producer;
        int made = by >= 0 && in[by], inside = 0, outside = ig_is_output(g, v);
        for (int32_t i = 0; i < g->n_nodes; i++)
            for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
                if (g->nodes[i].in[k] != v) continue;
                inside |= in[i];
                outside |= !in[i];
            }
        if (ig_is_const(g, v)) continue;
        if (made && outside) l->out_bytes += (double)ig_bytes(&g->values[v].shape);
        if (made || !inside) continue;
        l->in_bytes += (double)ig_bytes(&g->values[v].shape);
        if (!entered++) l->from = by < 0 ? 0 : keys[by];
    }
}

double ig_split_share(const struct ig_graph *g, const struct ig_hsplit_order *order,
                      const struct ig_split_options *options, const int32_t *keys, int64_t *sizes)
{
    return ig_split_share_run(g, order, 1, options, keys, sizes);
}

static int64_t divisor(int64_t a, int64_t b)
{
    return b ? divisor(b, a % b) : a;
}

/* Rows of the first layer that are whole steps of all of them; of the first alone where parts would be too few. */
static int64_t common_step(const struct run *r)
{
    int64_t step = r->at[0].step, all = r->at[0].extent;
    for (int32_t i = 1; i < r->n && step * r->order->n <= all; i++) {
        int64_t of = all * r->at[i].step, own = of / divisor(of, r->at[i].extent);
        step = step / divisor(step, own) * own;
    }
    return step * r->order->n <= all ? step : r->at[0].step;
}

double ig_split_share_run(const struct ig_graph *g, const struct ig_hsplit_order *orders, int32_t n,
                          const struct ig_split_options *options, const int32_t *keys, int64_t *sizes)
{
    uint8_t *in = ig_must_alloc((size_t)g->n_nodes, sizeof *in);
    struct run r = {.g = g, .options = options, .order = orders, .n = n};
    r.at = ig_must_alloc((size_t)n, sizeof *r.at);
    for (int32_t i = 0; i < n; i++) {
        const struct ig_hsplit_order *o = &orders[i];
        int32_t step = options->kernels ? ig_split_step(g, o->node, o->mode, options->kernels[o->node]) : 1;
        r.at[i] = (struct share){o->node, ig_split_extent(g, o->node, o->mode), step > 0 ? step : 1};
        in[o->node] = 1;
    }
    add_passing(g, in, keys, &r);
    double ns = ig_share_rows(r.at[0].extent, common_step(&r), orders->n, part_ns, &r, sizes);
    free(in);
    free(r.at);
    return ns;
}
