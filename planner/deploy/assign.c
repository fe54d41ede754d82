/* Layers -> nodes -> keys. */
#include "planner/deploy/assign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

static int32_t node_named(const struct ig_graph *g, const char *name)
{
    for (int32_t i = 0; *name && i < g->n_nodes; i++)
        if (!strcmp(g->nodes[i].name, name)) return i;
    return -1;
}

/* Who computes what node i of a pass only brings into the network's own layout. */
static int32_t behind_layout(const struct ig_graph *g, int32_t i)
{
    const struct ig_node *n = &g->nodes[i];
    while (n->op == IG_TRANSPOSE && !strcmp(n->onnx, "pass") && g->values[n->in[0]].producer >= 0)
        n = &g->nodes[i = g->values[n->in[0]].producer];
    return i;
}

/* The node that makes the tensor of that name; -1: none does any more. */
static int32_t maker_of(const struct ig_graph *g, const char *tensor)
{
    for (int32_t v = 0; v < g->n_values; v++)
        if (g->values[v].producer >= 0 && !strcmp(g->values[v].name, tensor)) return behind_layout(g, g->values[v].producer);
    return -1;
}

static int32_t home_of(const struct ig_graph *g, const struct ig_layer_entry *l)
{
    int32_t node = node_named(g, l->name);
    for (int32_t k = 0; node < 0 && k < l->n_out; k++) node = maker_of(g, l->out[k]);
    return node;
}

static int32_t layer_that_makes(const struct ig_layers *l, const char *tensor)
{
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->at[i].n_out; k++)
            if (!strcmp(l->at[i].out[k], tensor)) return i;
    return -1;
}

struct links {          /* the file's network, both ways */
    int32_t n;          /* pairs */
    int32_t *from, *to; /* layers */
};

static void link_layers(const struct ig_layers *l, struct links *k)
{
    int32_t n = 0;
    for (int32_t i = 0; i < l->n; i++) n += l->at[i].n_in;
    k->n = 0;
    k->from = ig_must_alloc((size_t)n, sizeof *k->from);
    k->to = ig_must_alloc((size_t)n, sizeof *k->to);
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t j = 0; j < l->at[i].n_in; j++) {
            int32_t from = layer_that_makes(l, l->at[i].in[j]);
            if (from < 0) continue;
            k->from[k->n] = from;
            k->to[k->n++] = i;
        }
}

/*
 * Ring by ring from the layers that have a home, each that has none takes a neighbour's: its first reader's, else that of
 * who makes its first input. Homes of a ring wait in next[], so that all of them are as near as they can be.
 */
static void spread(const struct ig_layers *l, const struct links *k, int32_t *home)
{
    int32_t *next = ig_must_alloc((size_t)l->n, sizeof *next);
    for (int changed = 1; changed;) {
        changed = 0;
        memcpy(next, home, (size_t)l->n * sizeof *next);
        for (int32_t i = k->n - 1; i >= 0; i--)
            if (home[k->to[i]] < 0 && home[k->from[i]] >= 0) next[k->to[i]] = home[k->from[i]], changed = 1;
        for (int32_t i = k->n - 1; i >= 0; i--)
            if (home[k->from[i]] < 0 && home[k->to[i]] >= 0) next[k->from[i]] = home[k->to[i]], changed = 1;
        memcpy(home, next, (size_t)l->n * sizeof *next);
    }
    free(next);
}

void ig_find_homes(const struct ig_graph *g, const struct ig_layers *l, int32_t *home)
{
    struct links k;
    for (int32_t i = 0; i < l->n; i++) home[i] = home_of(g, &l->at[i]);
    link_layers(l, &k);
    spread(l, &k, home);
    free(k.from);
    free(k.to);
}

/* Layer -> its first key. */
static void keys_of_layers(const struct ig_mapping *m, int32_t n, int32_t *key)
{
    for (int32_t i = 0; i < n; i++) key[i] = -1;
    for (int32_t k = m->n - 1; k >= 0; k--)
        for (int32_t i = 0; i < m->keys[k].n_layers; i++) key[m->keys[k].layers[i]] = k;
}

/* The layer that decides about node i; -1: none does. */
static int32_t layer_of_node(const struct ig_graph *g, const struct ig_layers *l, const int32_t *home, int32_t i)
{
    const struct ig_node *n = &g->nodes[i];
    int32_t layer = -1;
    for (int32_t k = l->n - 1; k >= 0; k--)
        if (home[k] == i && (layer < 0 || strcmp(l->at[layer].name, n->name))) layer = k;
    for (int32_t k = 0; layer < 0 && k < n->n_out; k++)
        if (n->out[k] >= 0) layer = layer_that_makes(l, g->values[n->out[k]].name);
    return layer;
}

static int32_t first_readers_key(const struct ig_graph *g, const int32_t *key_of, int32_t node)
{
    const struct ig_node *n = &g->nodes[node];
    for (int32_t i = node + 1; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in && key_of[i] >= 0; k++)
            for (int32_t o = 0; o < n->n_out; o++)
                if (n->out[o] >= 0 && g->nodes[i].in[k] == n->out[o]) return key_of[i];
    return -1;
}

static int32_t producers_key(const struct ig_graph *g, const int32_t *key_of, int32_t node)
{
    const struct ig_node *n = &g->nodes[node];
    for (int32_t k = 0; k < n->n_in; k++) {
        int32_t from = n->in[k] < 0 ? -1 : g->values[n->in[k]].producer;
        if (from >= 0 && key_of[from] >= 0) return key_of[from];
    }
    return -1;
}

/* Nodes of passes: from the outputs towards the inputs by who reads them, then the other way by who makes their inputs. */
static void fill_gaps(const struct ig_graph *g, int32_t *key_of)
{
    for (int32_t i = g->n_nodes - 1; i >= 0; i--)
        if (key_of[i] < 0) key_of[i] = first_readers_key(g, key_of, i);
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (key_of[i] < 0) key_of[i] = producers_key(g, key_of, i);
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (key_of[i] < 0) key_of[i] = 0;
}

static const char *name_of(const struct ig_layer_entry *l)
{
    return *l->name ? l->name : l->autodice;
}

static void tell(const struct ig_graph *g, const struct ig_layers *l, const struct ig_mapping *m, const int32_t *key,
                 const int32_t *home, const int32_t *key_of, ig_note_fn *note, void *to)
{
    char line[1024];
    for (int32_t i = 0; i < l->n; i++) {
        if (home[i] < 0 || key[i] < 0 || key_of[home[i]] == key[i]) continue;
        snprintf(line, sizeof line, "layer '%s' of %s is part of '%s' and runs there, on %s", name_of(&l->at[i]),
                 m->keys[key[i]].name, g->nodes[home[i]].name, m->keys[key_of[home[i]]].name);
        note(to, line);
    }
}

void ig_assign_keys(const struct ig_graph *g, const struct ig_layers *l, const struct ig_mapping *m, int32_t *key_of,
                    ig_note_fn *note, void *to)
{
    int32_t *home = ig_must_alloc((size_t)l->n, sizeof *home), *key = ig_must_alloc((size_t)l->n, sizeof *key);
    ig_find_homes(g, l, home);
    keys_of_layers(m, l->n, key);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t layer = layer_of_node(g, l, home, i);
        key_of[i] = layer < 0 ? -1 : key[layer];
    }
    fill_gaps(g, key_of);
    if (note) tell(g, l, m, key, home, key_of, note, to);
    free(home);
    free(key);
}
