/* mapping.json: {"nodeA_arm123": ["c1", "c1_r"], "nodeA_gpu": ["c2"]}, read, checked whole, written. */
#include "planner/deploy/mapping.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/mistakes.h"
#include "planner/text.h"

enum { NAME = 200 }; /* bytes of a name in a message */

struct check { /* one reading */
    const struct ig_layers *l;
    struct ig_mapping *m;
    struct ig_mistakes wrong;
    int32_t *keys_of; /* [layers] how many keys each is on */
};

int ig_key_has(const struct ig_key *key, int32_t layer)
{
    int32_t low = 0, high = key->n_layers;
    while (low < high) {
        int32_t middle = (low + high) / 2;
        if (key->layers[middle] < layer)
            low = middle + 1;
        else
            high = middle;
    }
    return low < key->n_layers && key->layers[low] == layer;
}

int32_t ig_mapping_find(const struct ig_mapping *m, const char *key)
{
    for (int32_t i = 0; i < m->n; i++)
        if (!strcmp(m->keys[i].name, key)) return i;
    return -1;
}

static int ascending(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* The same layer under two names, or twice under one, is one layer of the key. */
static void sort_layers(struct ig_key *key)
{
    int32_t n = 0;
    qsort(key->layers, (size_t)key->n_layers, sizeof *key->layers, ascending);
    for (int32_t i = 0; i < key->n_layers; i++)
        if (!i || key->layers[i] != key->layers[n - 1]) key->layers[n++] = key->layers[i];
    key->n_layers = n;
}

static void read_layers(struct check *c, const char *name, const json_t *list, struct ig_key *key)
{
    size_t i;
    json_t *item;
    int32_t before = c->wrong.n;
    key->layers = ig_must_alloc(json_array_size(list), sizeof *key->layers);
    json_array_foreach((json_t *)(uintptr_t)list, i, item)
    {
        const char *text = json_string_value(item);
        int32_t layer = text ? ig_layer_find(c->l, text) : -1;
        if (!text)
            ig_mistake(&c->wrong, "key '%.*s': element %zu of its list is no name of a layer", NAME, name, i);
        else if (layer >= 0)
            key->layers[key->n_layers++] = layer;
        else if (!ig_layer_is_spare(c->l, text))
            ig_mistake(&c->wrong, "key '%.*s': the network has no layer '%.*s'", NAME, name, NAME, text);
    }
    sort_layers(key);
    if (!key->n_layers && before == c->wrong.n) ig_mistake(&c->wrong, "key '%.*s' has no layers that compute", NAME, name);
}

static void read_key(struct check *c, const char *name, const json_t *list)
{
    struct ig_key *key = &c->m->keys[c->m->n++];
    char why[512];
    if (ig_key_parse(name, key, why, sizeof why)) ig_mistake(&c->wrong, "%s", why);
    if (!json_is_array(list)) {
        ig_mistake(&c->wrong, "key '%.*s': what it runs must be a list of layers", NAME, name);
        return;
    }
    read_layers(c, name, list, key);
    for (int32_t i = 0; i < key->n_layers; i++) c->keys_of[key->layers[i]]++;
}

static int is_split(const struct ig_layers *l, int32_t layer, const char *const *split, int32_t n_split)
{
    for (int32_t i = 0; i < n_split; i++)
        if (ig_layer_find(l, split[i]) == layer) return 1;
    return 0;
}

/* " nodeA_cpu0 nodeB_cpu1": the keys that a layer is on. */
static const char *keys_with(const struct ig_mapping *m, int32_t layer, char *text, size_t bytes)
{
    size_t at = 0;
    for (int32_t i = 0; i < m->n && at + 1 < bytes; i++) {
        const struct ig_key *key = &m->keys[i];
        if (key->name && ig_key_has(key, layer)) at += (size_t)snprintf(text + at, bytes - at, " %s", key->name);
    }
    return text;
}

static void check_layers(struct check *c, const char *const *split, int32_t n_split)
{
    char keys[256] = "";
    for (int32_t i = 0; i < c->l->n; i++)
        if (c->keys_of[i] > 1 && !is_split(c->l, i, split, n_split))
            ig_mistake(&c->wrong, "layer '%.*s' is on %d keys, and horizontal.json does not split it:%s", NAME,
                       c->l->at[i].autodice, c->keys_of[i], keys_with(c->m, i, keys, sizeof keys));
    for (int32_t i = 0; i < c->l->n; i++)
        if (!c->keys_of[i]) ig_mistake(&c->wrong, "layer '%.*s' is on no key", NAME, c->l->at[i].autodice);
}

static void read_keys(struct check *c, json_t *root)
{
    const char *name;
    json_t *list;
    size_t n = json_object_size(root);
    if (!json_is_object(root)) ig_mistake(&c->wrong, "it must be an object of keys, each with a list of layers");
    else if (!n) ig_mistake(&c->wrong, "it has no keys");
    if (n > IG_MAX_KEYS) {
        ig_mistake(&c->wrong, "it has %zu keys; %d are possible", n, IG_MAX_KEYS);
        return;
    }
    c->m->keys = ig_must_alloc(n, sizeof *c->m->keys);
    json_object_foreach(root, name, list) read_key(c, name, list);
}

struct ig_mapping *ig_mapping_read(const char *path, const struct ig_layers *l, const char *const *split,
                                   int32_t n_split, char *err, size_t err_bytes)
{
    struct ig_reader r;
    json_t *root = ig_reader_open_any(&r, path, err, err_bytes);
    if (!root) return NULL;
    struct check c = {.l = l, .m = ig_must_alloc(1, sizeof *c.m)};
    c.keys_of = ig_must_alloc((size_t)l->n, sizeof *c.keys_of);
    read_keys(&c, root);
    if (c.m->n) check_layers(&c, split, n_split);
    json_decref(root);
    free(c.keys_of);
    if (!ig_mistakes_tell(&c.wrong, path, err, err_bytes)) return c.m;
    ig_mapping_free(c.m);
    return NULL;
}

void ig_mapping_free(struct ig_mapping *m)
{
    if (!m) return;
    for (int32_t i = 0; i < m->n; i++) ig_key_free(&m->keys[i]);
    free(m->keys);
    free(m);
}

void ig_mapping_leave_out(struct ig_mapping *m, int32_t key)
{
    ig_key_free(&m->keys[key]);
    memmove(&m->keys[key], &m->keys[key + 1], (size_t)(m->n - key - 1) * sizeof *m->keys);
    m->n--;
}

void ig_mapping_write(FILE *f, const struct ig_layers *l, const struct ig_mapping *m)
{
    fputs("{\n", f);
    for (int32_t i = 0; i < m->n; i++) {
        const struct ig_key *key = &m->keys[i];
        ig_put_text(f, key->name);
        fputs(": [", f);
        for (int32_t k = 0; k < key->n_layers; k++) {
            if (k) fputs(", ", f);
            ig_put_text(f, l->at[key->layers[k]].autodice);
        }
        fputs(i + 1 < m->n ? "],\n" : "]\n", f);
    }
    fputs("}\n", f);
}
