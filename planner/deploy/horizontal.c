/*
 * horizontal.json: {"fc6": ["lop", [2048, 65535], ["nodeA_cpu0", "nodeB_cpu0"]]}. Our explicit form has
 * {"sizes": [2048, 2048]}, {"ends": [2048, 4096]} or "auto" where AutoDiCE has the bare list.
 */
#include "planner/deploy/horizontal.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/mistakes.h"
#include "planner/text.h"

enum { NAME = 200, MODES = 4 };

static const char *const mode_names[MODES] = {"lop", "lip", "height", "width"};

const char *ig_hsplit_mode(int32_t mode)
{
    return mode < 0 || mode >= MODES ? NULL : mode_names[mode];
}

struct check {
    const struct ig_layers *l;
    struct ig_hsplits *h;
    struct ig_mistakes wrong;
};

static const json_t *read_reading(struct ig_hsplit *s, const json_t *points)
{
    const json_t *sizes = json_object_get(points, "sizes"), *ends = json_object_get(points, "ends");
    if (!json_is_object(points)) return points;
    s->reading = sizes ? IG_POINTS_SIZES : IG_POINTS_ENDS;
    return json_object_size(points) != 1 ? NULL : sizes ? sizes : ends;
}

static int is_auto(const json_t *points)
{
    return json_is_string(points) && !strcmp(json_string_value(points), "auto");
}

static const char *read_points(struct ig_hsplit *s, const json_t *all)
{
    const json_t *points = read_reading(s, json_array_get(all, 1)), *keys = json_array_get(all, 2);
    size_t n = json_array_size(is_auto(points) ? keys : points);
    if (!json_is_array(points) && !is_auto(points))
        return "its points must be a list of numbers, {\"sizes\": [..]}, {\"ends\": [..]} or \"auto\"";
    if (n < 2 || n > IG_MAX_KEYS) return "it must have two parts at least, and 1024 at most";
    s->n = (int32_t)n;
    if (is_auto(points)) s->reading = IG_POINTS_AUTO;
    if (is_auto(points)) return NULL;
    s->points = ig_must_alloc(n, sizeof *s->points);
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(points, i);
        if (!json_is_integer(x) || json_integer_value(x) < 1 || json_integer_value(x) > INT32_MAX)
            return "its points must be whole numbers from 1 to 2147483647";
        s->points[i] = json_integer_value(x);
    }
    return NULL;
}

static const char *read_keys(struct ig_hsplit *s, const json_t *keys)
{
    if (!json_is_array(keys) || json_array_size(keys) != (size_t)s->n) return "it must have as many keys as points";
    s->keys = ig_must_alloc((size_t)s->n, sizeof *s->keys);
    for (int32_t i = 0; i < s->n; i++) {
        const char *key = json_string_value(json_array_get(keys, (size_t)i));
        if (!key) return "its keys must be names";
        s->keys[i] = ig_copy_text(key);
    }
    for (int32_t i = 0; i < s->n; i++)
        for (int32_t k = 0; k < i; k++)
            if (!strcmp(s->keys[i], s->keys[k])) return "two of its parts are on one key";
    return NULL;
}

static const char *read_split(struct check *c, struct ig_hsplit *s, const json_t *all)
{
    const char *mode = json_string_value(json_array_get(all, 0));
    s->index = ig_layer_find(c->l, s->layer);
    if (s->index < 0) return "the network has no such layer";
    if (ig_hsplits_find(c->h, s->index) != s) return "it is split twice, under two names";
    if (json_array_size(all) != 3 || !mode) return "it must be a list of mode, points and keys";
    while (s->mode < MODES && strcmp(mode, mode_names[s->mode])) s->mode++;
    if (s->mode == MODES) return "its mode is none of lop, lip, height and width";
    const char *why = read_points(s, all);
    return why ? why : read_keys(s, json_array_get(all, 2));
}

struct ig_hsplits *ig_hsplits_read(const char *path, const struct ig_layers *l, char *err, size_t err_bytes)
{
    struct ig_reader r;
    const char *layer, *why;
    json_t *root = ig_reader_open_any(&r, path, err, err_bytes), *all;
    if (!root) return NULL;
    struct check c = {.l = l, .h = ig_must_alloc(1, sizeof *c.h)};
    if (!json_is_object(root)) ig_mistake(&c.wrong, "it must be an object of layers, each with mode, points and keys");
    c.h->at = ig_must_alloc(json_object_size(root), sizeof *c.h->at);
    json_object_foreach(root, layer, all)
    {
        struct ig_hsplit *s = &c.h->at[c.h->n++];
        s->layer = ig_copy_text(layer);
        why = read_split(&c, s, all);
        if (why) ig_mistake(&c.wrong, "layer '%.*s': %s", NAME, layer, why);
    }
    json_decref(root);
    if (!ig_mistakes_tell(&c.wrong, path, err, err_bytes)) return c.h;
    ig_hsplits_free(c.h);
    return NULL;
}

void ig_hsplits_free(struct ig_hsplits *h)
{
    if (!h) return;
    for (int32_t i = 0; i < h->n; i++) {
        struct ig_hsplit *s = &h->at[i];
        for (int32_t k = 0; k < s->n && s->keys; k++) free(s->keys[k]);
        free(s->keys);
        free(s->points);
        free(s->layer);
    }
    free(h->at);
    free(h);
}

const struct ig_hsplit *ig_hsplits_find(const struct ig_hsplits *h, int32_t layer)
{
    for (int32_t i = 0; h && i < h->n; i++)
        if (h->at[i].index == layer) return &h->at[i];
    return NULL;
}

const char **ig_hsplits_layers(const struct ig_hsplits *h)
{
    int32_t n = h ? h->n : 0;
    const char **names = ig_must_alloc((size_t)n, sizeof *names);
    for (int32_t i = 0; i < n; i++) names[i] = h->at[i].layer;
    return names;
}

static int is_part(const struct ig_hsplit *s, const char *key)
{
    for (int32_t i = 0; i < s->n; i++)
        if (!strcmp(s->keys[i], key)) return 1;
    return 0;
}

int ig_hsplits_match(const struct ig_hsplits *h, const struct ig_layers *l, const struct ig_mapping *m,
                     const char *path, char *err, size_t err_bytes)
{
    struct ig_mistakes wrong = {.n = 0};
    for (int32_t i = 0; i < h->n; i++) {
        const struct ig_hsplit *s = &h->at[i];
        const char *layer = l->at[s->index].autodice;
        for (int32_t k = 0; k < s->n; k++) {
            int32_t at = ig_mapping_find(m, s->keys[k]);
            const char *why = at < 0 ? "which the mapping has not"
                              : ig_key_has(&m->keys[at], s->index) ? NULL
                                                                   : "which does not list it in the mapping";
            if (why) ig_mistake(&wrong, "layer '%.*s' has a part on key '%.*s', %s", NAME, layer, NAME, s->keys[k], why);
        }
        for (int32_t k = 0; k < m->n; k++)
            if (ig_key_has(&m->keys[k], s->index) && !is_part(s, m->keys[k].name))
                ig_mistake(&wrong, "layer '%.*s' is on key '%.*s' in the mapping, but no part of it is", NAME, layer, NAME,
                           m->keys[k].name);
    }
    return ig_mistakes_tell(&wrong, path, err, err_bytes);
}
