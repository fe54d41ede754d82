/* Layers cut by rows: a part's rows, its attributes, its node. */
#include "planner/deploy/slabs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

static int32_t axis_of(const struct ig_graph *g, const struct ig_node *n, int32_t mode)
{
    int32_t rank = g->values[n->out[0]].shape.rank;
    return mode == IG_SPLIT_HEIGHT ? rank - 3 : rank - 2;
}

int32_t ig_rows_of(const struct ig_graph *g, const struct ig_node *n, int32_t mode)
{
    int32_t axis = axis_of(g, n, mode);
    if (axis < 1) return 0;
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && ig_reading_of(g, n, k, axis).kind == IG_READ_NO) return 0;
    return g->values[n->out[0]].shape.dims[axis];
}

static void find_reads(const struct ig_graph *g, const struct ig_node *n, struct ig_cut_layer *layer)
{
    for (int32_t k = 0; k < n->n_in; k++) {
        layer->reads[k] = (struct ig_reading){.kind = IG_READ_WHOLE};
        if (n->in[k] >= 0) layer->reads[k] = ig_reading_of(g, n, k, layer->axis);
    }
}

/* Factors whose halves and quarters are exact give every slab the weights that the whole has. */
static int has_exact_weights(const struct ig_node *n, const struct ig_reading *r)
{
    return r->kind != IG_READ_SCALED || n->attrs.resize.mode == IG_NEAREST || (r->s & (r->s - 1)) == 0;
}

static int refuse(const struct ig_node *n, const char *why, char *err, size_t err_bytes)
{
    snprintf(err, err_bytes, "layer '%s' (%s) %s", n->name, ig_op_info((enum ig_op)n->op)->name, why);
    return -1;
}

int ig_cut_layer_make(const struct ig_graph *g, const struct ig_hsplit_order *o, const struct ig_split_options *options,
                      struct ig_cut_layer *layer, char *err, size_t err_bytes)
{
    const struct ig_node *n = &g->nodes[o->node];
    int32_t begin = 0;
    *layer = (struct ig_cut_layer){.node = o->node, .n = o->n, .keys = o->keys, .step = 1,
                                    .axis = axis_of(g, n, o->mode)};
    layer->reads = ig_must_alloc((size_t)n->n_in, sizeof *layer->reads);
    layer->slabs = ig_must_alloc((size_t)o->n, sizeof *layer->slabs);
    find_reads(g, n, layer);
    int64_t *sizes = ig_must_alloc((size_t)o->n, sizeof *sizes);
    memcpy(sizes, o->sizes, (size_t)o->n * sizeof *sizes);
    if (options->kernels) {
        layer->step = ig_split_step(g, o->node, o->mode, options->kernels[o->node]);
        if (layer->step) ig_split_round(sizes, o->n, layer->step);
    }
    for (int32_t i = 0; i < o->n; begin += (int32_t)sizes[i++])
        layer->slabs[i].own = (struct ig_rows){begin, begin + (int32_t)sizes[i]};
    free(sizes);
    if (!layer->step) return refuse(n, "gives other bits in pieces by the kernel of its plan", err, err_bytes);
    if (options->kernels && !has_exact_weights(n, &layer->reads[0]))
        return refuse(n, "gives other bits in pieces by that factor", err, err_bytes);
    return 0;
}

void ig_cut_layers_free(struct ig_cut_layers *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        free(c->at[i].reads);
        free(c->at[i].slabs);
    }
    free(c->at);
    free(c->by_node);
}

/* To multiples of the layer's step, or the edge. */
static struct ig_rows aligned(const struct ig_cut_layer *layer, struct ig_rows r)
{
    int32_t s = layer->step, most = layer->reads[0].out;
    if (ig_rows_empty(r)) return (struct ig_rows){0, 0};
    r = (struct ig_rows){r.a / s * s, (r.b + s - 1) / s * s};
    return r.b > most ? (struct ig_rows){r.a, most} : r;
}

void ig_slab_settle(struct ig_cut_layer *layer, int32_t i, struct ig_rows rows)
{
    struct ig_slab *s = &layer->slabs[i];
    s->good = aligned(layer, rows);
    s->made = aligned(layer, ig_made_rows(&layer->reads[0], s->good));
}

struct ig_rows ig_slab_takes(const struct ig_cut_layer *layer, int32_t i, int32_t k)
{
    const struct ig_slab *s = &layer->slabs[i];
    return ig_taken_rows(&layer->reads[k], s->good, s->made);
}

/* The rows as a part of their own. */
static struct ig_cut_layer part_of(const struct ig_cut_layer *layer, int32_t i, struct ig_rows rows, struct ig_slab *slab)
{
    struct ig_cut_layer one = *layer;
    *slab = (struct ig_slab){.own = ig_rows_common(layer->slabs[i].own, rows)};
    one.slabs = slab;
    one.n = 1;
    ig_slab_settle(&one, 0, rows);
    return one;
}

/* Does it take of every operand no more than the whole part? */
static int is_inside(const struct ig_cut_layer *layer, int32_t i, struct ig_rows rows)
{
    struct ig_slab slab;
    struct ig_cut_layer one = part_of(layer, i, rows, &slab);
    struct ig_rows all = ig_slab_takes(layer, i, 0), own = ig_slab_takes(&one, 0, 0);
    return ig_rows_empty(rows) || (all.a <= own.a && own.b <= all.b);
}

void ig_slab_delay(struct ig_cut_layer *layer, int32_t i)
{
    struct ig_slab *s = &layer->slabs[i];
    struct ig_rows good = s->good, late = good;
    int32_t step = layer->step;
    if (s->lead) late.a = (s->own.a + s->lead + step - 1) / step * step;
    if (s->tail) late.b = (s->own.b - s->tail) / step * step;
    s->late = (struct ig_rows){0, 0};
    if ((late.a == good.a && late.b == good.b) || 2 * (late.b - late.a) < good.b - good.a) return;
    if (is_inside(layer, i, (struct ig_rows){good.a, late.a}) && is_inside(layer, i, late) &&
        is_inside(layer, i, (struct ig_rows){late.b, good.b}))
        s->late = late;
}

/* Padding on both sides of the rows that a part takes. */
struct sides {
    int32_t before, after;
};

static struct sides sides_of(const struct ig_reading *r, struct ig_rows made, struct ig_rows in)
{
    int32_t reach = r->d * (r->k - 1) + 1, rows = in.b - in.a, n = made.b - made.a;
    if (r->kind == IG_READ_BACK) {
        int32_t before = made.a + r->before - in.a * r->s;
        return (struct sides){before, (rows - 1) * r->s + reach - before - n};
    }
    int32_t before = in.a - (made.a * r->s - r->before);
    return (struct sides){before, (n - 1) * r->s + reach - rows - before};
}

static void pad_window(struct ig_window *w, int columns, struct sides s)
{
    if (columns) {
        w->left = s.before;
        w->right = s.after;
    } else {
        w->top = s.before;
        w->bottom = s.after;
    }
}

/* What ceil_mode adds behind the explicit padding stays last. */
static void pad_pool(struct ig_pool *p, int columns, struct sides s)
{
    int32_t counted = columns ? p->w.right - p->ceil_w : p->w.bottom - p->ceil_h;
    int32_t beyond = s.after > counted ? s.after - counted : 0;
    if (columns) p->ceil_w = beyond;
    else p->ceil_h = beyond;
    pad_window(&p->w, columns, s);
}

static void set_attrs(struct ig_node *n, const struct ig_cut_layer *layer, int32_t rank, struct ig_rows made,
                      struct ig_rows in)
{
    const struct ig_reading *r = &layer->reads[0];
    if (r->kind != IG_READ_WINDOW && r->kind != IG_READ_BACK) return;
    int columns = layer->axis == rank - 2;
    if (n->op == IG_POOL) pad_pool(&n->attrs.pool, columns, sides_of(r, made, in));
    else pad_window(&n->attrs.conv.w, columns, sides_of(r, made, in));
}

/* What the whole part takes of its operands, in[n_in], on its key. */
static void fetch_operands(struct ig_rewrite *w, const struct ig_node *old, const struct ig_cut_layer *layer, int32_t i,
                           int32_t *in)
{
    for (int32_t k = 0; k < old->n_in; k++) {
        if (old->in[k] < 0) in[k] = -1;
        else if (layer->reads[k].kind == IG_READ_WHOLE) in[k] = ig_fetch_whole(w, old->in[k], layer->keys[i]);
        else in[k] = ig_fetch(w, old->in[k], layer->reads[k].axis, ig_slab_takes(layer, i, k), layer->keys[i]);
    }
}

/* Operand k of a node for some of the part's rows, cut on that node's key. */
static int32_t operand(struct ig_rewrite *w, const struct ig_node *old, const struct ig_cut_layer *layer, int32_t i,
                       const struct ig_cut_layer *one, int32_t k, int32_t fetched, int32_t key)
{
    if (old->in[k] < 0 || layer->reads[k].kind == IG_READ_WHOLE) return fetched;
    struct ig_rows all = ig_slab_takes(layer, i, k), own = ig_slab_takes(one, 0, k);
    if (ig_is_const(w->g, old->in[k])) return ig_fetch(w, old->in[k], layer->reads[k].axis, own, layer->keys[i]);
    return ig_slice_of(w, fetched, layer->reads[k].axis, (struct ig_rows){own.a - all.a, own.b - all.a}, key,
                       layer->keys[i]);
}

/* A node for rows of part i that are good, named by `word`. */
static void put_rows(struct ig_rewrite *w, const struct ig_node *old, const struct ig_cut_layer *layer, int32_t i,
                     struct ig_rows rows, const int32_t *fetched, const char *word, int32_t key, struct ig_piece *piece)
{
    struct ig_slab s;
    struct ig_cut_layer one = part_of(layer, i, rows, &s);
    struct ig_shape y = w->g->values[old->out[0]].shape;
    int32_t *in = ig_must_alloc((size_t)old->n_in, sizeof *in);
    char *name = ig_must_alloc(strlen(old->name) + 32, 1);
    for (int32_t k = 0; k < old->n_in; k++) in[k] = operand(w, old, layer, i, &one, k, fetched[k], key);
    snprintf(name, strlen(old->name) + 32, "%s_%s%c_%d", old->name, word, layer->axis == y.rank - 2 ? 'w' : 'h',
             layer->keys[i]);
    y.dims[layer->axis] = s.made.b - s.made.a;
    struct ig_node *n = ig_new_node(w, name, (enum ig_op)old->op, old->n_in, &y, key, layer->node);
    memcpy(n->in, in, (size_t)old->n_in * sizeof *in);
    n->onnx = old->onnx;
    n->attrs = old->attrs;
    set_attrs(n, layer, y.rank, s.made, ig_slab_takes(&one, 0, 0));
    struct ig_rows good = {s.good.a - s.made.a, s.good.b - s.made.a};
    *piece = (struct ig_piece){ig_slice_of(w, n->out[0], layer->axis, good, key, layer->keys[i]), layer->keys[i], s.good,
                               ig_rows_common(layer->slabs[i].own, s.good)};
    free(name);
    free(in);
}

/* One node, or those of the rows that others wait for and then that of the rest; their pieces in order. */
static void put_slab(struct ig_rewrite *w, const struct ig_node *old, const struct ig_cut_layer *layer, int32_t i,
                     struct ig_spread *to)
{
    struct ig_rows good = layer->slabs[i].good, late = layer->slabs[i].late;
    struct ig_rows first = {good.a, late.a}, last = {late.b, good.b};
    int32_t *in = ig_must_alloc((size_t)old->n_in, sizeof *in), key = layer->keys[i];
    fetch_operands(w, old, layer, i, in);
    if (ig_rows_empty(late)) put_rows(w, old, layer, i, good, in, "split", key, &to->at[to->n++]);
    else {
        struct ig_piece *at = &to->at[to->n], *middle = at + !ig_rows_empty(first);
        if (!ig_rows_empty(first)) put_rows(w, old, layer, i, first, in, "first", key, at);
        if (!ig_rows_empty(last)) put_rows(w, old, layer, i, last, in, "last", key, middle + 1);
        put_rows(w, old, layer, i, late, in, "split", key + IG_LATE, middle);
        to->n += 1 + !ig_rows_empty(first) + !ig_rows_empty(last);
    }
    free(in);
}

void ig_put_slabs(struct ig_rewrite *w, const struct ig_node *old, const struct ig_cut_layer *layer)
{
    struct ig_spread *to = &w->spread[old->out[0]];
    *to = (struct ig_spread){.whole = -1, .axis = layer->axis};
    to->at = ig_graph_alloc(w->g, (size_t)layer->n * 3 * sizeof *to->at);
    for (int32_t i = 0; i < layer->n; i++)
        if (!ig_rows_empty(layer->slabs[i].good)) put_slab(w, old, layer, i, to);
}
