/* ONNX file -> its layers: flattened and ordered as an import has them, but without weights and attributes. */
#include "graph/layers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "graph/onnx/import.h"

struct reading {
    struct im *m;
    struct ig_layers *l;
    int32_t *layer_of; /* [n_nodes] index of the layer; SPARE: needs no place */
    struct im_names taken;
};

enum { SPARE = -1 };

/* "/conv1/Conv_output_0" -> "_conv1_Conv_output_0", unless another tensor has that name: then as it is. */
static char *sent_name(struct reading *r, const char *tensor)
{
    char *name = ig_graph_strdup(r->l->memory, tensor);
    for (char *c = name; *c; c++)
        if (*c == '/') *c = '_';
    if (strcmp(name, tensor) && (im_find(r->m, &r->m->names, name, 0) || im_find(r->m, &r->taken, name, 0)))
        strcpy(name, tensor);
    im_find(r->m, &r->taken, name, 1);
    return name;
}

/* The node that makes an activation; NONE: no activation, INPUT: an input of the network does. */
enum { NONE = -3, INPUT = -2 };

static int32_t maker(const struct reading *r, const char *tensor)
{
    const struct im_name *e = *tensor ? im_find(r->m, &r->m->names, tensor, 0) : NULL;
    if (!e || e->init) return NONE;
    if (e->node < 0) return INPUT;
    return r->layer_of[e->node] == SPARE ? NONE : e->node;
}

static int needs_place(const struct reading *r, const struct im_node *n)
{
    if (!*n->domain && (!strcmp(n->op, "Shape") || !strcmp(n->op, "Size"))) return 0;
    for (int i = 0; i < n->n_in; i++)
        if (maker(r, n->in[i]) != NONE) return 1;
    return 0;
}

/* Which branch of an If is taken is not known without weights: it reads the outputs of both. */
static void read_branches(struct im *m)
{
    for (int i = 0; i < m->n_nodes; i++) {
        struct im_node *n = &m->nodes[i];
        if (!n->fork) continue;
        const char **in = im_array(m, (size_t)n->n_in + 2 * (size_t)n->n_out, sizeof *in);
        for (int k = 0; k < n->n_in; k++) in[k] = n->in[k];
        for (int k = 0; k < 2 * n->n_out; k++) in[n->n_in + k] = n->fork->out[k / n->n_out][k % n->n_out];
        n->n_in += 2 * n->n_out;
        n->in = in;
    }
}

/* Live nodes that compute from an activation are numbered, in the file's order. */
static void number(struct reading *r)
{
    struct im *m = r->m;
    for (int i = 0; i < m->n_nodes; i++)
        r->layer_of[i] = SPARE;
    for (const struct im_node *n; (n = im_next(m));) /* producers first */
        if (needs_place(r, n)) r->layer_of[n - m->nodes] = 0;
    for (int i = 0; i < m->n_nodes; i++)
        r->layer_of[i] = r->layer_of[i] == SPARE ? SPARE : r->l->n++;
    r->l->n_spare = m->n_nodes - r->l->n;
}

static void *array(const struct reading *r, int32_t n, size_t bytes)
{
    return ig_graph_alloc(r->l->memory, (size_t)n * bytes);
}

static void fill_inputs(const struct reading *r, const struct im_node *n, struct ig_layer_entry *e)
{
    e->in = array(r, n->n_in, sizeof *e->in);
    e->from = array(r, n->n_in, sizeof *e->from);
    for (int i = 0; i < n->n_in; i++) {
        int32_t node = maker(r, n->in[i]);
        if (node == NONE) continue;
        e->from[e->n_in] = node == INPUT ? -1 : r->layer_of[node];
        e->in[e->n_in++] = ig_graph_strdup(r->l->memory, n->in[i]);
    }
}

static void fill_outputs(struct reading *r, const struct im_node *n, struct ig_layer_entry *e)
{
    e->out = array(r, n->n_out, sizeof *e->out);
    e->sent = array(r, n->n_out, sizeof *e->sent);
    for (int i = 0; i < n->n_out; i++) {
        if (!*n->out[i]) continue;
        e->out[e->n_out] = ig_graph_strdup(r->l->memory, n->out[i]);
        e->sent[e->n_out++] = sent_name(r, n->out[i]);
    }
    e->autodice = e->n_out ? e->sent[0] : e->name;
}

static void fill(struct reading *r)
{
    struct ig_layers *l = r->l;
    int32_t spare = 0;
    l->at = array(r, l->n, sizeof *l->at);
    l->spare = array(r, l->n_spare, sizeof *l->spare);
    for (int i = 0; i < r->m->n_nodes; i++) {
        const struct im_node *n = &r->m->nodes[i];
        int32_t at = r->layer_of[i];
        struct ig_layer_entry *e = at == SPARE ? &l->spare[spare++] : &l->at[at];
        e->name = ig_graph_strdup(l->memory, n->name);
        e->op = ig_graph_strdup(l->memory, n->op);
        if (at != SPARE) fill_inputs(r, n, e);
        fill_outputs(r, n, e);
    }
}

static char **tensor_names(const struct reading *r, Onnx__ValueInfoProto *const *list, size_t n, int32_t *count)
{
    char **names = array(r, (int32_t)n, sizeof *names);
    for (size_t i = 0; i < n; i++)
        if (!im_find(r->m, &r->m->names, list[i]->name, 0)->init)
            names[(*count)++] = ig_graph_strdup(r->l->memory, list[i]->name);
    return names;
}

/* 0, or -1 with m->err filled. */
static int run(struct im *m, struct ig_layers *l, const void *bytes, size_t n)
{
    struct reading r = {.m = m, .l = l};
    jmp_buf here;
    m->stop = &here;
    if (setjmp(here)) return -1;
    im_parse(m, bytes, n);
    im_flatten(m);
    im_order(m);
    read_branches(m);
    r.layer_of = im_array(m, (size_t)m->n_nodes, sizeof *r.layer_of);
    number(&r);
    fill(&r);
    const Onnx__GraphProto *graph = m->model->graph;
    l->inputs = tensor_names(&r, graph->input, graph->n_input, &l->n_inputs);
    l->outputs = tensor_names(&r, graph->output, graph->n_output, &l->n_outputs);
    return 0;
}

struct ig_layers *ig_layers_bytes(const char *path, const void *bytes, size_t n, char *err, size_t err_bytes)
{
    static const struct ig_import_options none;
    struct im m = {.options = &none, .path = path, .err = err, .err_bytes = err_bytes};
    char why[256] = "out of memory";
    size_t slim_bytes = 0;
    void *slim = NULL;
    if (!im_check(&onnx__model_proto__descriptor, bytes, n, why, sizeof why)) slim = im_slim(bytes, n, &slim_bytes);
    if (!slim) {
        snprintf(err, err_bytes, "%s: %s", path, why);
        return NULL;
    }
    struct ig_graph *memory = ig_graph_new("layers");
    struct ig_layers *l = ig_graph_alloc(memory, sizeof *l);
    l->memory = memory;
    m.g = m.arena.g = ig_graph_new("layers");
    if (run(&m, l, slim, slim_bytes)) {
        ig_layers_free(l);
        l = NULL;
    }
    im_arena_free(&m.arena);
    ig_graph_free(m.g);
    free(slim);
    return l;
}

struct ig_layers *ig_layers_read(const char *path, char *err, size_t err_bytes)
{
    size_t n;
    void *bytes = im_map_file(path, &n, err, err_bytes);
    if (!bytes) return NULL;
    struct ig_layers *l = ig_layers_bytes(path, bytes, n, err, err_bytes);
    munmap(bytes, n);
    return l;
}

void ig_layers_free(struct ig_layers *l)
{
    if (l) ig_graph_free(l->memory);
}
