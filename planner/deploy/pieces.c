/*
 * Getting some of a tensor onto a key: of its pieces those that are there already as far as they go, the
 * rest from the keys that own it, each slice cut before it is sent.
 */
#include "planner/deploy/pieces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

static void *grown(void *array, int32_t *room, int32_t n, size_t bytes)
{
    if (n < *room) return array;
    *room = *room ? *room * 2 : 64;
    array = realloc(array, (size_t)*room * bytes);
    if (array) return array;
    fprintf(stderr, "ingot: out of memory\n");
    exit(1);
}

static void note(struct ig_rewrite *w, int32_t node, int32_t key, int32_t whole)
{
    if (node >= w->room) {
        int32_t room = w->room;
        w->keys = grown(w->keys, &w->room, node, sizeof *w->keys);
        w->whole = grown(w->whole, &room, node, sizeof *w->whole);
    }
    w->keys[node] = key;
    w->whole[node] = whole;
}

struct ig_node *ig_new_node(struct ig_rewrite *w, const char *name, enum ig_op op, int32_t n_in,
                            const struct ig_shape *out, int32_t key, int32_t whole)
{
    int32_t v = ig_add_value(w->g, name, out);
    struct ig_node *n = ig_add_node(w->g, name, op, n_in, 1);
    n->out[0] = v;
    note(w, w->g->n_nodes - 1, key, whole);
    return n;
}

void ig_keep_node(struct ig_rewrite *w, const struct ig_node *old, int32_t key, int32_t whole)
{
    struct ig_node *n = ig_add_node(w->g, old->name, (enum ig_op)old->op, 0, 0);
    *n = *old;
    note(w, w->g->n_nodes - 1, key, whole);
}

static const struct ig_got *find(const struct ig_rewrite *w, int32_t v, int32_t axis, struct ig_rows rows, int32_t key)
{
    for (int32_t i = 0; i < w->n_got; i++) {
        const struct ig_got *x = &w->got[i];
        if (x->value == v && x->axis == axis && x->key == key && x->rows.a == rows.a && x->rows.b == rows.b) return x;
    }
    return NULL;
}

static int32_t keep(struct ig_rewrite *w, int32_t v, int32_t axis, struct ig_rows rows, int32_t key, int32_t made)
{
    w->got = grown(w->got, &w->room_got, w->n_got, sizeof *w->got);
    w->got[w->n_got++] = (struct ig_got){v, axis, key, made, rows};
    return made;
}

static int32_t extent_of(const struct ig_rewrite *w, int32_t v, int32_t axis)
{
    return w->g->values[v].shape.dims[axis];
}

static struct ig_node *named_node(struct ig_rewrite *w, const char *what, int32_t number, enum ig_op op, int32_t n_in,
                                  const struct ig_shape *out, int32_t key)
{
    size_t bytes = strlen(w->layer) + strlen(what) + 16;
    char *name = ig_must_alloc(bytes, 1);
    snprintf(name, bytes, "%s_%s_%d", w->layer, what, number);
    struct ig_node *n = ig_new_node(w, name, op, n_in, out, key, -1);
    free(name);
    return n;
}

int32_t ig_slice_of(struct ig_rewrite *w, int32_t v, int32_t axis, struct ig_rows rows, int32_t key, int32_t for_key)
{
    if (rows.a == 0 && rows.b == extent_of(w, v, axis)) return v;
    const struct ig_got *x = find(w, v, axis, rows, key);
    if (x) return x->made;
    struct ig_shape s = w->g->values[v].shape;
    s.dims[axis] = rows.b - rows.a;
    struct ig_node *n = named_node(w, "hsplit", for_key, IG_SLICE, 1, &s, key);
    n->in[0] = v;
    for (int i = 0; i < IG_MAX_RANK; i++) n->attrs.slice.step[i] = 1;
    n->attrs.slice.start[axis] = rows.a;
    return keep(w, v, axis, rows, key, n->out[0]);
}

int32_t ig_slice_of_const(struct ig_graph *g, int32_t v, int32_t axis, struct ig_rows rows)
{
    struct ig_shape s = g->values[v].shape;
    if (rows.a == 0 && rows.b == s.dims[axis]) return v;
    const char *from = g->values[v].data;
    int64_t outer = 1, bytes = ig_type_bytes(s.type), whole = s.dims[axis];
    for (int32_t i = 0; i < axis; i++) outer *= s.dims[i];
    for (int32_t i = axis + 1; i < s.rank; i++) bytes *= s.dims[i];
    s.dims[axis] = rows.b - rows.a;
    if (outer == 1) {
        int32_t made = ig_add_value(g, g->values[v].name, &s);
        g->values[made].data = from + rows.a * bytes;
        return made;
    }
    int32_t made = ig_add_const(g, g->values[v].name, &s, NULL);
    char *to = (char *)(uintptr_t)g->values[made].data;
    size_t run = (size_t)(s.dims[axis] * bytes);
    for (int64_t i = 0; i < outer; i++) memcpy(to + (size_t)i * run, from + (i * whole + rows.a) * bytes, run);
    return made;
}

/* One value of several along an axis, on `key`. */
static int32_t put_together(struct ig_rewrite *w, const int32_t *values, int32_t n, int32_t axis, int32_t key)
{
    if (n == 1) return values[0];
    struct ig_shape s = w->g->values[values[0]].shape;
    for (int32_t i = 1; i < n; i++) s.dims[axis] += extent_of(w, values[i], axis);
    struct ig_node *join = named_node(w, "hjoin", key, IG_CONCAT, n, &s, key);
    join->attrs.axis.axis = axis;
    memcpy(join->in, values, (size_t)n * sizeof *values);
    return join->out[0];
}

static int holds(struct ig_rows r, int32_t y)
{
    return r.a <= y && y < r.b;
}

/* From row y on: the piece to take it from, and up to where. */
static const struct ig_piece *next_piece(const struct ig_spread *s, int32_t y, int32_t key, int32_t *end)
{
    const struct ig_piece *owner = NULL;
    int32_t here = INT32_MAX;
    for (int32_t i = 0; i < s->n; i++) {
        const struct ig_piece *p = &s->at[i];
        if (p->key == key && holds(p->at, y)) {
            *end = p->at.b;
            return p;
        }
        if (p->key == key && p->at.a > y && p->at.a < here) here = p->at.a;
        if (holds(p->own, y)) owner = p;
    }
    if (owner) *end = owner->own.b < here ? owner->own.b : here;
    return owner;
}

static int32_t fetch_along(struct ig_rewrite *w, const struct ig_spread *s, struct ig_rows rows, int32_t key)
{
    int32_t *values = ig_must_alloc((size_t)(rows.b - rows.a), sizeof *values), n = 0;
    for (int32_t y = rows.a, end; y < rows.b; y = end) {
        const struct ig_piece *p = next_piece(s, y, key, &end);
        if (!p) {
            fprintf(stderr, "ingot: row %d of an operand of '%s' is on no key\n", y, w->layer);
            abort();
        }
        if (end > rows.b) end = rows.b;
        values[n++] = ig_slice_of(w, p->value, s->axis, (struct ig_rows){y - p->at.a, end - p->at.a}, p->key, key);
    }
    int32_t made = put_together(w, values, n, s->axis, key);
    free(values);
    return made;
}

/* Of every piece the same rows of another axis. */
static int32_t fetch_across(struct ig_rewrite *w, const struct ig_spread *s, int32_t axis, struct ig_rows rows,
                            int32_t key)
{
    int32_t *values = ig_must_alloc((size_t)s->n, sizeof *values), n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const struct ig_piece *p = &s->at[i];
        if (ig_rows_empty(p->own)) continue;
        struct ig_rows own = {p->own.a - p->at.a, p->own.b - p->at.a};
        int32_t mine = ig_slice_of(w, p->value, s->axis, own, p->key, p->key);
        values[n++] = ig_slice_of(w, mine, axis, rows, p->key, key);
    }
    int32_t made = put_together(w, values, n, s->axis, key);
    free(values);
    return made;
}

int32_t ig_fetch(struct ig_rewrite *w, int32_t v, int32_t axis, struct ig_rows rows, int32_t key)
{
    const struct ig_spread *s = &w->spread[v];
    if (ig_is_const(w->g, v)) return ig_slice_of_const(w->g, v, axis, rows);
    if (s->whole >= 0 && (s->key == key || !s->n)) return ig_slice_of(w, s->whole, axis, rows, s->key, key);
    const struct ig_got *x = find(w, -2 - v, axis, rows, key);
    if (x) return x->made;
    int32_t made = s->axis == axis ? fetch_along(w, s, rows, key) : fetch_across(w, s, axis, rows, key);
    return keep(w, -2 - v, axis, rows, key, made);
}

int32_t ig_fetch_whole(struct ig_rewrite *w, int32_t v, int32_t key)
{
    const struct ig_spread *s = &w->spread[v];
    if (ig_is_const(w->g, v)) return v;
    if (s->whole >= 0 && (s->key == key || !s->n)) return s->whole;
    return ig_fetch(w, v, s->axis, (struct ig_rows){0, extent_of(w, v, s->axis)}, key);
}

void ig_join(struct ig_rewrite *w, int32_t v, int32_t key, const char *name)
{
    struct ig_spread *s = &w->spread[v];
    int32_t *values = ig_must_alloc((size_t)s->n, sizeof *values), n = 0;
    for (int32_t i = 0; i < s->n; i++) {
        const struct ig_piece *p = &s->at[i];
        struct ig_rows own = {p->own.a - p->at.a, p->own.b - p->at.a};
        if (!ig_rows_empty(own)) values[n++] = ig_slice_of(w, p->value, s->axis, own, p->key, key);
    }
    struct ig_node *join = ig_add_node(w->g, name, IG_CONCAT, n, 1);
    note(w, w->g->n_nodes - 1, key, -1);
    join->attrs.axis.axis = s->axis;
    memcpy(join->in, values, (size_t)n * sizeof *values);
    join->out[0] = v;
    free(values);
    s->whole = v;
    s->key = key;
}

void ig_rewrite_free(struct ig_rewrite *w)
{
    free(w->got);
    free(w->keys);
    free(w->whole);
}
