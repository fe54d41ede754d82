/* Sizes of an application: parts of tensors, phases, bytes; and a network as an application. */
#include "planner/app.h"

#include <stdlib.h>

#include "planner/alloc.h"

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Least rows that layer `l` writes at a time, of a tensor of `rows`. */
static int64_t least_written(const struct ig_app_layer *l, int64_t rows)
{
    return !l->parts || l->kind == IG_APP_WHOLE ? rows : 1;
}

static int64_t least_read(const struct ig_app_layer *l, int64_t rows)
{
    if (!l->parts || l->kind == IG_APP_WHOLE) return rows;
    return l->kind == IG_APP_WINDOW ? smaller(l->taps, rows) : 1;
}

int64_t ig_app_edge_elements(const struct ig_app *a, int32_t edge)
{
    const struct ig_app_edge *e = &a->edges[edge];
    int64_t written = least_written(&a->layers[e->from], e->rows), read = least_read(&a->layers[e->to], e->rows);
    return e->channels * (written > read ? written : read) * e->width;
}

int32_t ig_app_phases(const struct ig_app *a, int32_t layer)
{
    const struct ig_app_layer *l = &a->layers[layer];
    return l->parts && l->kind != IG_APP_WHOLE ? l->height : 1;
}

int64_t ig_app_bytes(const struct ig_app *a, int64_t buffer_elements, int32_t parameter_bytes,
                     int32_t data_bytes)
{
    int64_t parameters = 0;
    for (int32_t i = 0; i < a->n_layers; i++) parameters += a->layers[i].parameters;
    return parameters * parameter_bytes + buffer_elements * data_bytes;
}

int64_t ig_app_naive(const struct ig_app *a)
{
    int64_t sum = 0;
    for (int32_t e = 0; e < a->n_edges; e++) sum += ig_app_edge_elements(a, e);
    return sum;
}

/* --- from a graph --- */

static int renames(const struct ig_graph *g, const struct ig_node *n)
{
    return n->op == IG_RESHAPE || (n->op == IG_TRANSPOSE && ig_is_input(g, n->in[0]));
}

/* The value before it was renamed. */
static int32_t origin(const struct ig_graph *g, int32_t v)
{
    while (g->values[v].producer >= 0 && renames(g, &g->nodes[g->values[v].producer]))
        v = g->nodes[g->values[v].producer].in[0];
    return v;
}

/* Whether a layer may run by rows, and how many it reads. */
static void classify(const struct ig_graph *g, const struct ig_node *n, struct ig_app_layer *l)
{
    l->kind = IG_APP_WHOLE;
    switch (n->op) {
    case IG_CONV:
    case IG_POOL:
        l->kind = IG_APP_WINDOW;
        l->taps = n->op == IG_CONV ? n->attrs.conv.w.kh : n->attrs.pool.w.kh;
        break;
    case IG_GLOBAL_POOL: /* a window as high as the image */
        l->kind = IG_APP_WINDOW;
        l->taps = g->values[n->in[0]].shape.dims[1];
        break;
    case IG_UNARY:
    case IG_BINARY:
    case IG_LRN:
    case IG_CONCAT:
    case IG_COPY: l->kind = IG_APP_ACTIVATION; break;
    default: break;
    }
}

static void count_parameters(const struct ig_graph *g, const struct ig_node *n, struct ig_app_layer *l)
{
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && ig_is_const(g, n->in[k])) l->parameters += ig_count(&g->values[n->in[k]].shape);
}

static void set_extent(const struct ig_shape *s, struct ig_app_edge *e)
{
    int image = s->rank == 4;
    e->rows = image ? s->dims[1] : 1;
    e->width = image ? s->dims[2] : 1;
    e->channels = ig_count(s) / (e->rows * e->width);
}

/* layer_of[value]: the layer that makes it, -1: none. */
static void add_layers(const struct ig_graph *g, struct ig_app *a, int32_t *layer_of)
{
    for (int32_t v = 0; v < g->n_values; v++) layer_of[v] = -1;
    for (int32_t i = 0; i < g->n_inputs + g->n_nodes; i++) {
        const struct ig_node *n = i < g->n_inputs ? NULL : &g->nodes[i - g->n_inputs];
        if (n && renames(g, n)) continue;
        struct ig_app_layer *l = &a->layers[a->n_layers];
        int32_t v = n ? n->out[0] : g->inputs[i];
        *l = (struct ig_app_layer){.kind = IG_APP_ACTIVATION, .taps = 1, .first = a->n_layers, .last = a->n_layers};
        if (n) classify(g, n, l);
        if (n) count_parameters(g, n, l);
        l->height = g->values[v].shape.rank == 4 ? g->values[v].shape.dims[1] : 1;
        for (int32_t k = 0; n && k < n->n_out; k++)
            if (n->out[k] >= 0) layer_of[n->out[k]] = a->n_layers;
        if (!n) layer_of[v] = a->n_layers;
        a->n_layers++;
    }
}

/* A tensor in front of a reshape may be an image where the one behind is not: the edge is what was written. */
static void add_edges(const struct ig_graph *g, struct ig_app *a, const int32_t *layer_of)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        if (renames(g, n)) continue;
        for (int32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] < 0 || ig_is_const(g, n->in[k])) continue;
            int32_t v = origin(g, n->in[k]), moved = n->in[k];
            struct ig_app_edge *e = &a->edges[a->n_edges++];
            set_extent(&g->values[g->values[v].producer < 0 ? moved : v].shape, e);
            e->from = layer_of[v];
            e->to = layer_of[n->out[0]];
        }
    }
}

static int by_producer(const void *pa, const void *pb)
{
    const struct ig_app_edge *a = pa, *b = pb;
    return a->from != b->from ? a->from - b->from : a->to - b->to;
}

struct ig_app *ig_app_of_graph(const struct ig_graph *g)
{
    struct ig_app *a = ig_must_alloc(1, sizeof *a);
    int32_t *layer_of = ig_must_alloc((size_t)g->n_values, sizeof *layer_of);
    size_t reads = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) reads += (size_t)g->nodes[i].n_in;
    a->layers = ig_must_alloc((size_t)(g->n_inputs + g->n_nodes), sizeof *a->layers);
    a->edges = ig_must_alloc(reads, sizeof *a->edges);
    a->n_partitions = 1;
    a->steps = ig_must_alloc(1, sizeof *a->steps);
    a->concurrent = ig_must_alloc(1, 1);
    add_layers(g, a, layer_of);
    add_edges(g, a, layer_of);
    qsort(a->edges, (size_t)a->n_edges, sizeof *a->edges, by_producer);
    a->steps[0] = a->n_layers;
    free(layer_of);
    return a;
}

void ig_app_free(struct ig_app *a)
{
    if (!a) return;
    free(a->layers);
    free(a->edges);
    free(a->steps);
    free(a->concurrent);
    free(a);
}
