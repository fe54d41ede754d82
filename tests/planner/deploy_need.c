/*
 * The row recurrence against brute force: which rows each layer's windows touch, said by the layer's
 * definition.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/deploy/need.h"
#include "tests/support/nets.h"

enum { NETS = 400, MOST_ROWS = 512 };

struct touched {
    unsigned char row[MOST_ROWS];
};

static struct ig_window any_window(struct rng *r)
{
    struct ig_window w = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    w.kh = rng_int(r, 1, 5);
    w.sh = rng_int(r, 1, 3);
    w.dh = rng_int(r, 1, 2);
    w.top = rng_int(r, 0, 3);
    w.bottom = rng_int(r, 0, 3);
    return w;
}

static int fits(const struct ig_window *w, int32_t h)
{
    return h + w->top + w->bottom >= (w->kh - 1) * w->dh + 1;
}

/* Of x, by a transposed convolution with padding of its own. */
static int32_t any_deconv(struct ig_graph *g, struct rng *r, int32_t x)
{
    struct ig_window w = any_window(r);
    struct ig_shape s = g->values[x].shape;
    int32_t reach = (w.kh - 1) * w.dh;
    if (w.top > reach) w.top = reach;
    int32_t h = (s.dims[1] - 1) * w.sh + reach + 1 - w.top - w.bottom;
    if (h < 1 || h >= MOST_ROWS) return net_relu(g, x);
    int32_t y = net_deconv(g, x, 1, 1, 1);
    struct ig_node *n = &g->nodes[g->n_nodes - 1];
    n->attrs.conv.w = w;
    g->values[n->in[1]].shape.dims[2] = w.kh;
    g->values[y].shape.dims[1] = h;
    return y;
}

/* A value of the shape of x. */
static int32_t partner(const struct ig_graph *g, struct rng *r, int32_t x)
{
    int32_t found = x, met = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (!ig_is_const(g, v) && !memcmp(&g->values[v].shape, &g->values[x].shape, sizeof g->values[x].shape) &&
            rng_one_in(r, ++met))
            found = v;
    return found;
}

static int32_t any_layer(struct ig_graph *g, struct rng *r, int32_t x)
{
    struct ig_window w = any_window(r);
    struct ig_shape s = g->values[x].shape;
    switch (rng_int(r, 0, 9)) {
    case 0:
    case 1:
    case 2: return fits(&w, s.dims[1]) ? net_conv_window(g, x, 1, &w, 1, -1) : net_relu(g, x);
    case 3: return fits(&w, s.dims[1]) ? net_pool_window(g, x, &w, IG_POOL_MAX) : net_softmax(g, x);
    case 4: return any_deconv(g, r, x);
    case 5: return net_scale(g, x);
    case 6: return s.dims[1] < MOST_ROWS / 3 ? net_resize(g, x, rng_int(r, 1, 3), rng_int(r, 0, 1)) : net_relu(g, x);
    case 7: return net_add(g, x, partner(g, r, x));
    case 8: return net_conv(g, x, 1, 1, 1, partner(g, r, x));
    default: return net_add(g, partner(g, r, x), x);
    }
}

/* One channel, one column. */
static struct ig_graph *any_net(struct rng *r, int chain)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, rng_int(r, 1, 40), 1, 1), made[16], n = 0;
    made[n++] = x;
    while (n < 12) {
        x = any_layer(g, r, chain ? x : made[rng_int(r, n > 3 ? n - 3 : 0, n - 1)]);
        made[n++] = x;
    }
    ig_add_output(g, x);
    net_done(g);
    ig_graph_sweep(g);
    return g;
}

static void touch(struct touched *t, int32_t y, int32_t h)
{
    if (y >= 0 && y < h) t->row[y] = 1;
}

/* Rows of operand k that row y of the output is made of, with those between a dilated window's. */
static void touch_operand(const struct ig_graph *g, const struct ig_node *n, int32_t k, int32_t y, struct touched *t)
{
    const struct ig_window *w = n->op == IG_POOL ? &n->attrs.pool.w : &n->attrs.conv.w;
    int32_t h = g->values[n->in[k]].shape.dims[1], f = g->values[n->out[0]].shape.dims[1] / h;
    if (n->op == IG_DECONV) {
        for (int32_t i = 0; i < h; i++)
            for (int32_t tap = 0; tap <= (w->kh - 1) * w->dh; tap++)
                if (i * w->sh + tap - w->top == y) touch(t, i, h);
    } else if ((n->op == IG_CONV && k == 0) || n->op == IG_POOL) {
        for (int32_t tap = 0; tap <= (w->kh - 1) * w->dh; tap++) touch(t, y * w->sh - w->top + tap, h);
    } else if (n->op == IG_RESIZE && n->attrs.resize.mode == IG_LINEAR && f > 1) {
        double x = (y + .5) / f - .5;
        int32_t low = (int32_t)(x + 1000) - 1000;
        touch(t, low, h);
        touch(t, low + 1, h);
    } else {
        touch(t, n->op == IG_RESIZE ? y / f : y, h);
    }
}

static struct ig_rows hull_of(const struct touched *t)
{
    struct ig_rows r = {0, 0};
    for (int32_t y = 0; y < MOST_ROWS; y++)
        if (t->row[y]) r = ig_rows_hull(r, (struct ig_rows){y, y + 1});
    return r;
}

static int is_image(const struct ig_graph *g, const struct ig_node *n, int32_t k)
{
    return n->in[k] >= 0 && !ig_is_const(g, n->in[k]);
}

/* From the last layer to the first, the hull of all readers at each. */
static void need_rows(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = any_net(&r, seed % 2 == 0);
        struct touched *touched = calloc((size_t)g->n_values, sizeof *touched);
        struct ig_rows *need = calloc((size_t)g->n_values, sizeof *need);
        int32_t last = g->outputs[0], h = g->values[last].shape.dims[1], a = rng_int(&r, 0, h - 1);
        need[last] = (struct ig_rows){a, rng_int(&r, a + 1, h)};
        for (int32_t y = need[last].a; y < need[last].b; y++) touched[last].row[y] = 1;
        for (int32_t i = g->n_nodes - 1; i >= 0; i--) {
            const struct ig_node *n = &g->nodes[i];
            struct ig_rows want = hull_of(&touched[n->out[0]]);
            assert_int_equal(want.a, need[n->out[0]].a);
            assert_int_equal(want.b, need[n->out[0]].b);
            for (int32_t k = 0; k < n->n_in; k++) {
                if (!is_image(g, n, k)) continue;
                struct ig_reading read = ig_reading_of(g, n, k, 1);
                assert_int_not_equal(read.kind, IG_READ_NO);
                need[n->in[k]] = ig_rows_hull(need[n->in[k]], ig_need_rows(&read, want));
                for (int32_t y = want.a; y < want.b; y++) touch_operand(g, n, k, y, &touched[n->in[k]]);
            }
        }
        free(touched);
        free(need);
        ig_graph_free(g);
    }
}

/* Both tensors by the row, their parameters whole. */
static void sums_of_bytes(void **state)
{
    struct ig_graph *g = net_new();
    const struct ig_shape bytes = {IG_U8, 4, {1, 9, 5, 3, 1, 1, 1, 1}}, zero = {IG_U8, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    const struct ig_shape scale = {IG_F32, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    struct ig_node *n = ig_add_node(g, "sum", IG_QLINEAR_BINARY, 8, 1);
    (void)state;
    for (int32_t k = 0; k < 8; k++) n->in[k] = ig_add_value(g, "x", k == 0 || k == 3 ? &bytes : k == 1 || k == 4 || k == 6 ? &scale : &zero);
    n->out[0] = ig_add_value(g, "y", &bytes);
    for (int32_t k = 0; k < 8; k++)
        assert_int_equal(ig_reading_of(g, n, k, 1).kind, k == 0 || k == 3 ? IG_READ_SAME : IG_READ_WHOLE);
    ig_graph_free(g);
}

/* A table whole. */
static void lookups(void **state)
{
    struct ig_graph *g = net_new();
    const struct ig_shape bytes = {IG_U8, 4, {1, 9, 5, 3, 1, 1, 1, 1}}, entries = {IG_U8, 1, {256, 1, 1, 1, 1, 1, 1, 1}};
    struct ig_node *n = ig_add_node(g, "lookup", IG_LOOKUP, 2, 1);
    (void)state;
    n->in[0] = ig_add_value(g, "x", &bytes);
    n->in[1] = ig_add_value(g, "table", &entries);
    n->out[0] = ig_add_value(g, "y", &bytes);
    assert_int_equal(ig_reading_of(g, n, 0, 1).kind, IG_READ_SAME);
    assert_int_equal(ig_reading_of(g, n, 1, 1).kind, IG_READ_WHOLE);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(need_rows), cmocka_unit_test(sums_of_bytes), cmocka_unit_test(lookups)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
