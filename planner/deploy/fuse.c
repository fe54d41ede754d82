/*
 * Fused or exchanged: a run's layers, in order, are cut into segments by dynamic programming. A segment
 * costs the slowest key's arithmetic, rows that it computes although another key does so too counted, and
 * before it the longest that a key waits for rows of others.
 */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/costs.h"
#include "planner/deploy/slabs.h"

enum { LONGEST = 96 }; /* layers of a segment that are tried */
enum { PART_NS = 20000, BYTES_PER_NS = 10 }; /* of a part more: starting it; reading its weights, passing its rows */

struct run {
    const struct ig_graph *g;
    const struct ig_split_options *options;
    const int32_t *node_keys;
    struct ig_cut_layers *c;
    int32_t *layer;            /* [n] indices, in the order of their nodes */
    int32_t n, parts;
    int32_t *last;             /* [n_values] place in the run of its last reader; INT32_MAX: read outside of the run */
    int32_t *place;            /* [n_values] place of the layer that makes it, -1: none of the run */
    struct ig_rows *want;      /* [n_values][parts] */
};

static struct ig_cut_layer *layer_at(const struct run *r, int32_t i)
{
    return &r->c->at[r->layer[i]];
}

static const struct ig_node *node_at(const struct run *r, int32_t i)
{
    return &r->g->nodes[layer_at(r, i)->node];
}

static int is_same_run(const struct ig_cut_layer *a, const struct ig_cut_layer *b)
{
    return a->axis == b->axis && a->n == b->n && !memcmp(a->keys, b->keys, (size_t)a->n * sizeof *a->keys);
}

static void find_runs(struct ig_cut_layers *c)
{
    for (int32_t i = 0; i < c->n; i++) {
        c->at[i].run = -1;
        for (int32_t k = 0; k < i && c->at[i].run < 0; k++)
            if (is_same_run(&c->at[k], &c->at[i])) c->at[i].run = c->at[k].run;
        if (c->at[i].run < 0) c->at[i].run = c->n_runs++;
    }
}

static int32_t place_of_node(const struct run *r, int32_t node)
{
    int32_t i = node < 0 ? -1 : r->c->by_node[node];
    return i >= 0 && r->c->at[i].run == layer_at(r, 0)->run ? r->c->at[i].place : -1;
}

/* Does the reader at that place go along with its operand's pieces? */
static int follows(const struct run *r, int32_t at, int32_t k)
{
    if (at < 0) return 0;
    const struct ig_reading *read = &layer_at(r, at)->reads[k];
    return read->kind != IG_READ_WHOLE && read->axis == layer_at(r, at)->axis;
}

static void find_readers(struct run *r)
{
    for (int32_t v = 0; v < r->g->n_values; v++) {
        r->place[v] = place_of_node(r, r->g->values[v].producer);
        r->last[v] = ig_is_output(r->g, v) ? INT32_MAX : -1;
    }
    for (int32_t i = 0; i < r->g->n_nodes; i++) {
        const struct ig_node *n = &r->g->nodes[i];
        int32_t at = place_of_node(r, i);
        for (int32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] < 0) continue;
            int32_t place = follows(r, at, k) ? at : INT32_MAX;
            if (r->last[n->in[k]] < place) r->last[n->in[k]] = place;
        }
    }
}

/* good and made of the layers from i to j, the last first; what they want of all others is in `want`. */
static void derive(struct run *r, int32_t i, int32_t j)
{
    memset(r->want, 0, (size_t)r->g->n_values * (size_t)r->parts * sizeof *r->want);
    for (int32_t at = j; at >= i; at--) {
        struct ig_cut_layer *layer = layer_at(r, at);
        const struct ig_node *n = node_at(r, at);
        int leaves = r->last[n->out[0]] > j;
        for (int32_t p = 0; p < r->parts; p++) {
            struct ig_rows rows = r->want[n->out[0] * r->parts + p];
            ig_slab_settle(layer, p, leaves ? ig_rows_hull(rows, layer->slabs[p].own) : rows);
            if (ig_rows_empty(layer->slabs[p].good)) continue;
            for (int32_t k = 0; k < n->n_in; k++) {
                if (n->in[k] < 0 || !follows(r, at, k)) continue;
                struct ig_rows *want = &r->want[n->in[k] * r->parts + p];
                *want = ig_rows_hull(*want, ig_slab_takes(layer, p, k));
            }
        }
    }
}

/* What part p waits for rows of value v that the segment from layer i on does not make. */
static double arrival_ns(const struct run *r, int32_t v, int32_t p, int32_t i, int32_t key)
{
    struct ig_rows want = r->want[v * r->parts + p];
    int32_t by = r->g->values[v].producer, from = r->place[v];
    if (ig_rows_empty(want) || from >= i) return 0;
    const struct ig_shape *s = &r->g->values[v].shape;
    int32_t axis = layer_at(r, 0)->axis;
    double row = s->rank > axis ? (double)ig_bytes(s) / s->dims[axis] : (double)ig_bytes(s), ns = 0;
    if (from < 0) return ig_keys_link_ns(r->options, by < 0 ? 0 : r->node_keys[by], key, row * (want.b - want.a));
    const struct ig_cut_layer *layer = layer_at(r, from);
    for (int32_t q = 0; q < r->parts; q++) {
        struct ig_rows theirs = ig_rows_common(want, layer->slabs[q].own);
        if (q != p) ns += ig_keys_link_ns(r->options, layer->keys[q], key, row * (theirs.b - theirs.a));
    }
    return ns;
}

/* --- rows that others wait for --- */

/* Parts of earlier layers that the segment from layer i on reads: what of them goes to other keys, and how long. */
static void note_borders(struct run *r, int32_t i)
{
    for (int32_t v = 0; v < r->g->n_values; v++) {
        if (r->place[v] < 0 || r->place[v] >= i) continue;
        struct ig_cut_layer *layer = layer_at(r, r->place[v]);
        for (int32_t p = 0; p < r->parts; p++) {
            double ns = arrival_ns(r, v, p, i, layer_at(r, i)->keys[p]);
            if (ns > layer->wait_ns) layer->wait_ns = ns;
            for (int32_t q = 0; q < r->parts; q++) {
                struct ig_slab *s = &layer->slabs[q];
                struct ig_rows theirs = ig_rows_common(r->want[v * r->parts + p], s->own);
                if (q == p || ig_rows_empty(theirs)) continue;
                if (q > p && theirs.b - s->own.a > s->lead) s->lead = theirs.b - s->own.a;
                if (q < p && s->own.b - theirs.a > s->tail) s->tail = s->own.b - theirs.a;
            }
        }
    }
}

/* ns that part p computes of so many rows behind those that others wait for; *extra: what it takes to do so apart. */
static double late_ns(const struct run *r, const struct ig_cut_layer *layer, int32_t p, int32_t rows, double *extra)
{
    const struct ig_node *n = &r->g->nodes[layer->node];
    double share = (double)rows / layer->reads[0].out;
    double bytes = share * (double)ig_bytes(&r->g->values[n->out[0]].shape);
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && ig_is_const(r->g, n->in[k])) bytes += (double)ig_bytes(&r->g->values[n->in[k]].shape);
    *extra = PART_NS + bytes / BYTES_PER_NS;
    return share * ig_layer_ns(r->options, r->g, layer->node, layer->keys[p]);
}

/* Behind the cut: which parts compute what others wait for first. All of a layer or none, as it is the last that counts. */
static void delay(const struct run *r, struct ig_cut_layer *layer)
{
    double least = DBL_MAX, most = 0, extra;
    for (int32_t p = 0; p < r->parts; p++) {
        if (!layer->slabs[p].lead && !layer->slabs[p].tail) continue;
        ig_slab_delay(layer, p);
        struct ig_rows late = layer->slabs[p].late;
        double ns = ig_rows_empty(late) ? 0 : late_ns(r, layer, p, late.b - late.a, &extra);
        if (ns < least) least = ns;
        if (ns > 0 && extra > most) most = extra;
    }
    double saved = least < layer->wait_ns ? least : layer->wait_ns;
    if (r->options->border == IG_BORDER_ALWAYS || saved > most) return;
    for (int32_t p = 0; p < r->parts; p++) layer->slabs[p].late = (struct ig_rows){0, 0};
}

/* The same of arrival_ns where borders go first, as far as is known before the cut: owners compute the rest meanwhile. */
static double awaited_ns(const struct run *r, int32_t v, int32_t p, int32_t i, int32_t key)
{
    double wait = arrival_ns(r, v, p, i, key), saved = wait, extra, most = 0;
    if (r->options->border == IG_BORDER_LAST || wait <= 0 || r->place[v] < 0) return wait;
    const struct ig_cut_layer *layer = layer_at(r, r->place[v]);
    for (int32_t q = 0; q < r->parts; q++) {
        struct ig_rows own = layer->slabs[q].own, theirs = ig_rows_common(r->want[v * r->parts + p], own);
        int32_t rest = own.b - own.a - (theirs.b - theirs.a);
        if (q == p || ig_rows_empty(theirs)) continue;
        double ns = 2 * rest < own.b - own.a ? 0 : late_ns(r, layer, q, rest, &extra);
        if (ns < saved) saved = ns;
        if (ns > 0 && extra > most) most = extra;
    }
    return saved > most ? wait - saved + most : wait;
}

static double segment_ns(struct run *r, int32_t i, int32_t j)
{
    double slowest = 0, longest = 0;
    derive(r, i, j);
    for (int32_t p = 0; p < r->parts; p++) {
        int32_t key = layer_at(r, i)->keys[p];
        double work = 0, wait = 0;
        for (int32_t at = i; at <= j; at++) {
            const struct ig_cut_layer *layer = layer_at(r, at);
            struct ig_rows made = layer->slabs[p].made;
            work += ig_layer_ns(r->options, r->g, layer->node, key) * (made.b - made.a) / layer->reads[0].out;
        }
        for (int32_t v = 0; v < r->g->n_values; v++) wait += awaited_ns(r, v, p, i, key);
        if (work > slowest) slowest = work;
        if (wait > longest) longest = wait;
    }
    return slowest + longest;
}

/* first[j]: the first layer of the best segment that ends with layer j. */
static void choose(struct run *r, int32_t *first)
{
    double *best = ig_must_alloc((size_t)r->n + 1, sizeof *best);
    for (int32_t j = 0; j < r->n; j++) {
        best[j + 1] = DBL_MAX;
        for (int32_t i = j; i >= 0 && j - i < LONGEST; i--) {
            double ns = best[i] + segment_ns(r, i, j);
            if (ns >= best[j + 1]) continue;
            best[j + 1] = ns;
            first[j] = i;
        }
    }
    free(best);
}

static void cut_run(struct run *r)
{
    int32_t *first = ig_must_alloc((size_t)r->n, sizeof *first);
    int32_t how = r->options->cuts;
    for (int32_t j = 0; j < r->n; j++) first[j] = how == IG_CUTS_EXCHANGED ? j : 0;
    if (how == IG_CUTS_CHEAPEST) choose(r, first);
    for (int32_t j = r->n - 1, i; j >= 0; j = i - 1) {
        i = first[j];
        derive(r, i, j);
        note_borders(r, i);
        for (int32_t at = i; at <= j; at++) layer_at(r, at)->segment = r->c->n_segments;
        r->c->n_segments++;
    }
    for (int32_t at = 0; at < r->n && r->options->border; at++) delay(r, layer_at(r, at));
    free(first);
}

void ig_fuse_slabs(const struct ig_graph *g, struct ig_cut_layers *c, const struct ig_split_options *options,
                   const int32_t *keys)
{
    struct run r = {.g = g, .options = options, .node_keys = keys, .c = c};
    size_t values = (size_t)g->n_values;
    find_runs(c);
    r.layer = ig_must_alloc((size_t)c->n, sizeof *r.layer);
    r.last = ig_must_alloc(values, sizeof *r.last);
    r.place = ig_must_alloc(values, sizeof *r.place);
    for (int32_t run = 0; run < c->n_runs; run++) {
        r.n = 0;
        for (int32_t i = 0; i < c->n; i++)
            if (c->at[i].run == run) r.layer[c->at[i].place = r.n++] = i;
        r.parts = layer_at(&r, 0)->n;
        r.want = ig_must_alloc(values * (size_t)r.parts, sizeof *r.want);
        find_readers(&r);
        cut_run(&r);
        free(r.want);
    }
    free(r.layer);
    free(r.last);
    free(r.place);
}
