/*
 * The rewriting: node by node, in order, from the old list into a new one. Parts take what they need when
 * they are put there, so that all they read stands before them.
 */
#include "planner/deploy/rewrite.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"
#include "planner/deploy/channels.h"
#include "planner/deploy/slabs.h"
#include "planner/plan.h"

struct work {
    struct ig_rewrite w;
    const struct ig_split_options *options;
    struct ig_node *old;            /* [n_old] */
    int32_t n_old;
    int32_t *old_keys;
    struct ig_hsplit_order *orders; /* [n_old] by node; n of what is not split is 0 */
    struct ig_cut_layers cut;
    char *err;
    size_t err_bytes;
};

__attribute__((format(printf, 2, 3))) static int refuse(const struct work *k, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(k->err, k->err_bytes, format, args);
    va_end(args);
    return -1;
}

int32_t ig_split_step(const struct ig_graph *g, int32_t node, int32_t mode, const struct ig_kernel *kernel)
{
    const struct ig_node *n = &g->nodes[node];
    int32_t channels = mode == IG_SPLIT_OUT ? ig_channels_of(g, n, mode) : 0;
    if (mode == IG_SPLIT_IN) return 0;
    if (!kernel) return 1;
    if (mode == IG_SPLIT_OUT) {
        int32_t per_group = n->op == IG_CONV && channels ? channels / n->attrs.conv.groups : channels;
        return per_group > 1 && per_group < channels ? per_group : kernel->col_tile;
    }
    if (mode == IG_SPLIT_HEIGHT) return kernel->row_tile > 1 ? kernel->row_tile : 1;
    return kernel->tile_columns ? kernel->tile_columns : kernel->row_tile == 1; /* others' rows hang together */
}

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

void ig_split_round(int64_t *sizes, int32_t n, int32_t step)
{
    int64_t extent = 0, end = 0, begin = 0, unit = 0;
    for (int32_t i = 0; i < n; i++) extent += sizes[i];
    int64_t units = (extent + step - 1) / step, least = units >= n;
    for (int32_t i = 0; i < n; i++) {
        end += sizes[i];
        unit = i == n - 1 ? units : clamp((end + step / 2) / step, unit + least, units - least * (n - 1 - i));
        int64_t bound = unit * step < extent ? unit * step : extent;
        sizes[i] = bound - begin;
        begin = bound;
    }
}

static int is_by_rows(int32_t mode)
{
    return mode == IG_SPLIT_HEIGHT || mode == IG_SPLIT_WIDTH;
}

int32_t ig_split_extent(const struct ig_graph *g, int32_t node, int32_t mode)
{
    const struct ig_node *n = &g->nodes[node];
    return is_by_rows(mode) ? ig_rows_of(g, n, mode) : ig_channels_of(g, n, mode);
}

static int check_order(const struct work *k, const struct ig_hsplit_order *o)
{
    static const char *const modes[] = {"output channels", "input channels", "rows", "columns"};
    if (o->node < 0 || o->node >= k->n_old || o->mode < 0 || o->mode > IG_SPLIT_WIDTH || o->n < 1)
        return refuse(k, "a split of no layer, or into no parts");
    const struct ig_node *n = &k->old[o->node];
    const char *op = ig_op_info((enum ig_op)n->op)->name;
    int64_t extent = ig_split_extent(k->w.g, o->node, o->mode), sum = 0;
    if (k->orders[o->node].n) return refuse(k, "layer '%s' is split twice", n->name);
    if (o->n > 1 && !extent) return refuse(k, "layer '%s' (%s) cannot be split by %s", n->name, op, modes[o->mode]);
    for (int32_t i = 0; i < o->n; i++) {
        if (o->sizes[i] < 1 || o->keys[i] < 0) return refuse(k, "layer '%s': part %d of no size or key", n->name, i);
        sum += o->sizes[i];
    }
    if (o->n > 1 && sum != extent)
        return refuse(k, "layer '%s': parts of %lld %s add up to %lld", n->name, (long long)extent, modes[o->mode],
                      (long long)sum);
    if (k->options->kernels && o->n > 1 && o->mode == IG_SPLIT_IN)
        return refuse(k, "layer '%s': a sum over parts of the input channels has other bits", n->name);
    return 0;
}

/* Cut output channels at the kernel's tiles. */
static int round_channels(struct work *k, struct ig_hsplit_order *o)
{
    int32_t step = ig_split_step(k->w.g, o->node, o->mode, k->options->kernels[o->node]);
    int64_t *sizes = ig_graph_alloc(k->w.g, (size_t)o->n * sizeof *sizes);
    if (!step)
        return refuse(k, "layer '%s' gives other bits in pieces by the kernel of its plan", k->old[o->node].name);
    memcpy(sizes, o->sizes, (size_t)o->n * sizeof *sizes);
    ig_split_round(sizes, o->n, step);
    o->sizes = sizes;
    return 0;
}

/* What is in one part is no split. */
static int take_orders(struct work *k, const struct ig_hsplit_order *orders, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        if (check_order(k, &orders[i])) return -1;
        struct ig_hsplit_order *o = &k->orders[orders[i].node];
        if (orders[i].n == 1) k->old_keys[orders[i].node] = orders[i].keys[0];
        else *o = orders[i];
        if (o->n && o->mode == IG_SPLIT_OUT && k->options->kernels && round_channels(k, o)) return -1;
    }
    return 0;
}

static int take_slabs(struct work *k)
{
    struct ig_cut_layers *c = &k->cut;
    c->at = ig_must_alloc((size_t)k->n_old, sizeof *c->at);
    c->by_node = ig_must_alloc((size_t)k->n_old, sizeof *c->by_node);
    for (int32_t i = 0; i < k->n_old; i++) {
        const struct ig_hsplit_order *o = &k->orders[i];
        int cut = o->n && is_by_rows(o->mode);
        c->by_node[i] = cut ? c->n : -1;
        if (cut && ig_cut_layer_make(k->w.g, o, k->options, &c->at[c->n++], k->err, k->err_bytes)) return -1;
    }
    ig_fuse_slabs(k->w.g, c, k->options, k->old_keys);
    return 0;
}

/* Who reads a value: is the whole of it asked for, and where first? */
struct readers {
    int whole, any;
    int32_t first_whole, first_any; /* keys */
};

static void add_key(int *is, int32_t *first, int32_t key)
{
    if (!*is || key < *first) *first = key;
    *is = 1;
}

static struct readers readers_of(const struct work *k, int32_t v)
{
    struct readers r = {0, 0, 0, 0};
    for (int32_t i = 0; i < k->n_old; i++) {
        const struct ig_node *n = &k->old[i];
        const struct ig_hsplit_order *o = &k->orders[i];
        for (int32_t in = 0; in < n->n_in; in++) {
            if (n->in[in] != v) continue;
            if (!o->n) add_key(&r.whole, &r.first_whole, k->old_keys[i]);
            for (int32_t p = 0; p < o->n; p++) add_key(&r.any, &r.first_any, o->keys[p]);
        }
    }
    return r;
}

static void put_join(struct work *k, const struct ig_node *old, const struct ig_hsplit_order *o)
{
    struct readers r = readers_of(k, old->out[0]);
    if (r.whole) ig_join(&k->w, old->out[0], r.first_whole, old->name);
    else if (ig_is_output(k->w.g, old->out[0])) ig_join(&k->w, old->out[0], o->keys[0], old->name);
}

static void put_split(struct work *k, int32_t node)
{
    const struct ig_node *old = &k->old[node];
    const struct ig_hsplit_order *o = &k->orders[node];
    struct readers r = readers_of(k, old->out[0]);
    k->w.layer = old->name;
    if (o->mode == IG_SPLIT_IN) {
        ig_put_inputs(&k->w, old, o, r.whole ? r.first_whole : r.any ? r.first_any : o->keys[0]);
        return;
    }
    if (o->mode == IG_SPLIT_OUT) ig_put_outputs(&k->w, old, node, o);
    else ig_put_slabs(&k->w, old, &k->cut.at[k->cut.by_node[node]]);
    put_join(k, old, o);
}

static void put_whole(struct work *k, int32_t node)
{
    const struct ig_node *old = &k->old[node];
    ig_keep_node(&k->w, old, k->old_keys[node], node);
    for (int32_t i = 0; i < old->n_out; i++)
        if (old->out[i] >= 0)
            k->w.spread[old->out[i]] = (struct ig_spread){.whole = old->out[i], .key = k->old_keys[node]};
}

static int part_fits(const struct ig_graph *g, const struct ig_node *n, const struct ig_kernel *kernel)
{
    const struct ig_shape *in[IG_MAX_IN], *out[1] = {&g->values[n->out[0]].shape};
    const void *data[IG_MAX_IN];
    struct ig_call call;
    int images;
    if (n->n_in > IG_MAX_IN) return 1;
    for (int32_t i = 0; i < n->n_in; i++) {
        in[i] = n->in[i] < 0 ? NULL : &g->values[n->in[i]].shape;
        data[i] = n->in[i] < 0 ? NULL : g->values[n->in[i]].data;
    }
    return !ig_build_call((enum ig_op)n->op, &n->attrs, in, data, n->n_in, out, 1, &call, &images) &&
           ig_kernel_fits(kernel, n->op, &call);
}

/* Does the kernel that the whole layer has compute the part, too? */
static int check_kernels(const struct work *k)
{
    struct ig_graph *g = k->w.g;
    for (int32_t i = 0; i < g->n_nodes && k->options->kernels; i++) {
        const struct ig_node *n = &g->nodes[i];
        int32_t whole = k->w.whole[i];
        const struct ig_kernel *kernel = whole < 0 || !k->orders[whole].n ? NULL : k->options->kernels[whole];
        if (kernel && !part_fits(g, n, kernel))
            return refuse(k, "layer '%s': kernel %s of the whole does not compute its part '%s'", k->old[whole].name,
                          kernel->name, n->name);
    }
    return 0;
}

static int put_all(struct work *k)
{
    struct ig_graph *g = k->w.g;
    k->w.spread = ig_must_alloc((size_t)g->n_values, sizeof *k->w.spread);
    for (int32_t v = 0; v < g->n_values; v++) k->w.spread[v] = (struct ig_spread){.whole = v};
    g->nodes = NULL;
    g->n_nodes = 0;
    for (int32_t i = 0; i < k->n_old; i++) {
        if (k->orders[i].n) put_split(k, i);
        else put_whole(k, i);
    }
    free(k->w.spread);
    if (check_kernels(k) || ig_graph_sort(g, k->err, k->err_bytes)) return -1;
    return 0;
}

/* Sweeps, and takes along what is known of the nodes, whose order stays. */
static void drop_unread(struct ig_graph *g, int32_t *keys, int32_t *whole)
{
    int32_t n = g->n_nodes, from = 0;
    char **names = ig_must_alloc((size_t)n, sizeof *names);
    for (int32_t i = 0; i < n; i++) names[i] = g->nodes[i].name;
    ig_graph_sweep(g);
    for (int32_t i = 0; i < g->n_nodes; i++, from++) {
        while (names[from] != g->nodes[i].name) from++;
        keys[i] = keys[from];
        whole[i] = whole[from];
    }
    free(names);
}

int ig_split_graph(struct ig_graph *g, const struct ig_hsplit_order *orders, int32_t n,
                   const struct ig_split_options *options, int32_t **keys, int32_t **whole, char *err, size_t err_bytes)
{
    struct work k = {.w = {.g = g}, .options = options, .n_old = g->n_nodes, .old_keys = *keys, .err = err,
                     .err_bytes = err_bytes};
    k.old = ig_must_alloc((size_t)g->n_nodes, sizeof *k.old);
    k.orders = ig_must_alloc((size_t)g->n_nodes, sizeof *k.orders);
    memcpy(k.old, g->nodes, (size_t)g->n_nodes * sizeof *k.old);
    ig_count_macs(g);
    int bad = take_orders(&k, orders, n) || take_slabs(&k) || put_all(&k);
    if (!bad) {
        free(*keys);
        *keys = k.w.keys;
        *whole = k.w.whole;
        k.w.keys = k.w.whole = NULL;
        drop_unread(g, *keys, *whole);
        ig_count_macs(g);
        bad = ig_graph_check(g, err, err_bytes);
    }
    ig_cut_layers_free(&k.cut);
    ig_rewrite_free(&k.w);
    free(k.orders);
    free(k.old);
    return bad ? -1 : 0;
}
