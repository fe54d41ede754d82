#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/deploy/explore_rows.h"
#include "planner/deploy/need.h"
#include "planner/deploy/rewrite.h"

struct ig_rows ig_explore_part(int32_t rows, int32_t step, int32_t i, int32_t n)
{
    int64_t units = (rows + step - 1) / step;
    int64_t a = units * i / n * step, b = units * (i + 1) / n * step;
    return (struct ig_rows){(int32_t)a, b < rows ? (int32_t)b : rows};
}

/* Bytes of an operand that part i of n reads and its own device, which has as large a share of it, does not have. */
static void add_missing(const struct ig_graph *g, int32_t v, const struct ig_reading *r, struct ig_rows out, int32_t i,
                        int32_t n, int64_t *bytes, int32_t *messages)
{
    const struct ig_shape *s = &g->values[v].shape;
    if (r->kind == IG_READ_WHOLE || r->kind == IG_READ_NO || r->axis < 0) return;
    struct ig_rows want = ig_need_rows(r, out);
    int64_t row = ig_bytes(s) / s->dims[r->axis];
    for (int32_t q = 0; q < n; q++) {
        struct ig_rows theirs = ig_rows_common(want, ig_explore_part(r->in, 1, q, n));
        if (q == i || ig_rows_empty(theirs)) continue;
        *bytes += row * (theirs.b - theirs.a);
        ++*messages;
    }
}

static void split_into(const struct ig_graph *g, const struct ig_node *node, int32_t step, int32_t n,
                       struct ig_explore_split *to)
{
    int32_t axis = g->values[node->out[0]].shape.rank - 3;
    if (to->rows < n * step) return;
    for (int32_t i = 0; i < n; i++) {
        struct ig_rows out = ig_explore_part(to->rows, step, i, n);
        int64_t bytes = 0;
        int32_t messages = 0;
        for (int32_t k = 0; k < node->n_in; k++) {
            if (node->in[k] < 0 || ig_is_const(g, node->in[k])) continue;
            struct ig_reading r = ig_reading_of(g, node, k, axis);
            add_missing(g, node->in[k], &r, out, i, n, &bytes, &messages);
        }
        if (out.b - out.a > to->most[n]) to->most[n] = out.b - out.a;
        if (bytes <= to->bytes[n]) continue;
        to->bytes[n] = bytes;
        to->messages[n] = messages;
    }
}

struct ig_explore_split *ig_explore_splits(const struct ig_graph *g, const struct ig_explore_net *e, const uint8_t *layers)
{
    struct ig_explore_split *all = ig_must_alloc((size_t)e->net.p.n, sizeof *all);
    for (int32_t v = 0; v < e->net.p.n; v++) {
        const struct ig_plan_step *s = &e->plan->steps[e->net.first_step[v]];
        const struct ig_node *node = &g->nodes[s->node];
        int32_t rows = layers[s->node] ? ig_split_extent(g, s->node, IG_SPLIT_HEIGHT) : 0;
        int32_t step = ig_split_step(g, s->node, IG_SPLIT_HEIGHT, s->kernel);
        if (e->net.last_step[v] != e->net.first_step[v] || rows < 2 || step < 1) continue;
        all[v].rows = rows;
        for (int32_t n = 2; n <= IG_EXPLORE_GROUP; n++) split_into(g, node, step, n, &all[v]);
    }
    return all;
}
