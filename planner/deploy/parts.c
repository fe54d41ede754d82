/*
 * Parts by depth, then merged. A node's depth is the number of key changes on the longest path to it: nodes of one key
 * and depth never wait for another key in between, and every step from part to part goes deeper, so that these parts
 * are acyclic. Two parts of a key become one where no path from one to the other leads through a third: what such a
 * path would make is a cycle, and nothing else can. reach[a] is kept exact from merge to merge.
 */
#include "planner/deploy/parts.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct web {              /* parts on their way; a merged one is gone */
    const struct ig_graph *g;
    int32_t n, words;
    int32_t *key, *depth;
    int32_t *of;          /* [n_nodes] part */
    uint64_t *next;       /* [n][words] parts that read what it makes */
    uint64_t *reach;      /* [n][words] parts on any path from it */
    uint8_t *gone;
};

static uint64_t *row(const struct web *w, uint64_t *table, int32_t i)
{
    return table + (size_t)i * (size_t)w->words;
}

static int has(const uint64_t *set, int32_t i)
{
    return (int)(set[i >> 6] >> (i & 63) & 1);
}

static void add(uint64_t *set, int32_t i)
{
    set[i >> 6] |= UINT64_C(1) << (i & 63);
}

static void drop(uint64_t *set, int32_t i)
{
    set[i >> 6] &= ~(UINT64_C(1) << (i & 63));
}

static void join(const struct web *w, uint64_t *to, const uint64_t *from)
{
    for (int32_t i = 0; i < w->words; i++) to[i] |= from[i];
}

/* The node that makes v; -1: a constant, or an input of the network. */
static int32_t maker(const struct ig_graph *g, int32_t v)
{
    return v < 0 ? -1 : g->values[v].producer;
}

/* The part of that key and depth, a new one at the end if there is none. */
static int32_t part_of(struct web *w, int32_t key, int32_t depth)
{
    int32_t i = w->n - 1;
    while (i >= 0 && (w->key[i] != key || w->depth[i] != depth)) i--;
    if (i >= 0) return i;
    w->key[w->n] = key;
    w->depth[w->n] = depth;
    return w->n++;
}

static void begin(struct web *w, const int32_t *key_of)
{
    const struct ig_graph *g = w->g;
    size_t n = (size_t)g->n_nodes;
    w->key = ig_must_alloc(n, sizeof *w->key);
    w->depth = ig_must_alloc(n, sizeof *w->depth);
    w->of = ig_must_alloc(n, sizeof *w->of);
    w->gone = ig_must_alloc(n, 1);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t depth = 0;
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            int32_t from = maker(g, g->nodes[i].in[k]);
            if (from < 0) continue;
            int32_t least = w->depth[w->of[from]] + (key_of[from] != key_of[i]);
            if (least > depth) depth = least;
        }
        w->of[i] = part_of(w, key_of[i], depth);
    }
    w->words = (w->n + 63) / 64;
}

/* Edges go from lesser to greater depths, so that reach is made from the deepest parts on. */
static void connect(struct web *w)
{
    const struct ig_graph *g = w->g;
    int32_t deepest = 0;
    w->next = ig_must_alloc((size_t)w->n * (size_t)w->words, sizeof *w->next);
    w->reach = ig_must_alloc((size_t)w->n * (size_t)w->words, sizeof *w->reach);
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            int32_t from = maker(g, g->nodes[i].in[k]);
            if (from >= 0 && w->of[from] != w->of[i]) add(row(w, w->next, w->of[from]), w->of[i]);
        }
    for (int32_t i = 0; i < w->n; i++)
        if (w->depth[i] > deepest) deepest = w->depth[i];
    for (int32_t depth = deepest; depth >= 0; depth--)
        for (int32_t i = 0; i < w->n; i++) {
            if (w->depth[i] != depth) continue;
            join(w, row(w, w->reach, i), row(w, w->next, i));
            for (int32_t k = 0; k < w->n; k++)
                if (has(row(w, w->next, i), k)) join(w, row(w, w->reach, i), row(w, w->reach, k));
        }
}

/* Is there a path from a to b through a third part? */
static int is_around(const struct web *w, int32_t a, int32_t b)
{
    if (!has(row(w, w->reach, a), b)) return 0;
    for (int32_t i = 0; i < w->n; i++)
        if (i != b && has(row(w, w->next, a), i) && has(row(w, w->reach, i), b)) return 1;
    return 0;
}

/* b becomes a. */
static void merge(struct web *w, int32_t a, int32_t b)
{
    uint64_t *next = row(w, w->next, a), *reach = row(w, w->reach, a);
    join(w, next, row(w, w->next, b));
    join(w, reach, row(w, w->reach, b));
    drop(next, a), drop(next, b);
    drop(reach, a), drop(reach, b);
    w->gone[b] = 1;
    for (int32_t i = 0; i < w->n; i++) {
        uint64_t *to = row(w, w->next, i), *far = row(w, w->reach, i);
        if (i == a || w->gone[i]) continue;
        if (has(to, b)) add(to, a);
        drop(to, b);
        if (!has(far, a) && !has(far, b)) continue;
        join(w, far, reach);
        add(far, a);
        drop(far, b);
    }
    for (int32_t i = 0; i < w->g->n_nodes; i++)
        if (w->of[i] == b) w->of[i] = a;
}

static void merge_all(struct web *w)
{
    for (int merged = 1; merged;) {
        merged = 0;
        for (int32_t a = 0; a < w->n; a++)
            for (int32_t b = a + 1; b < w->n && !w->gone[a]; b++) {
                if (w->gone[b] || w->key[a] != w->key[b] || is_around(w, a, b) || is_around(w, b, a)) continue;
                merge(w, a, b);
                merged = 1;
            }
    }
}

/* waits[part]: parts before it that are not done. */
static void count_waits(const struct web *w, int32_t *waits)
{
    for (int32_t i = 0; i < w->n; i++)
        for (int32_t k = 0; k < w->n; k++) waits[k] += !w->gone[i] && has(row(w, w->next, i), k);
}

/* The parts that are left, topologically; of those that may be next the one with the first node. Returns how many. */
static int32_t sort(const struct web *w, int32_t *order)
{
    uint8_t *done = ig_must_alloc((size_t)w->n, 1);
    int32_t *waits = ig_must_alloc((size_t)w->n, sizeof *waits), n = 0;
    count_waits(w, waits);
    for (int32_t i = 0; i < w->g->n_nodes; i++) {
        int32_t part = w->of[i];
        if (done[part] || waits[part]) continue;
        done[part] = 1;
        order[n++] = part;
        for (int32_t k = 0; k < w->n; k++) waits[k] -= has(row(w, w->next, part), k);
        i = -1; /* an earlier node may wait no more */
    }
    free(done);
    free(waits);
    return n;
}

static void put(int32_t **list, int32_t *n, int32_t v)
{
    for (int32_t i = 0; i < *n; i++)
        if ((*list)[i] == v) return;
    int32_t *more = realloc(*list, (size_t)(*n + 1) * sizeof *more);
    if (!more) abort();
    *list = more;
    more[(*n)++] = v;
}

static int is_read_elsewhere(const struct ig_graph *g, const int32_t *of, int32_t v, int32_t part)
{
    for (int32_t i = 0; i < g->n_nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == v && of[i] != part) return 1;
    return ig_is_output(g, v);
}

static void fill_part(const struct ig_graph *g, const int32_t *of, int32_t part, struct ig_part *p)
{
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        if (of[i] != part) continue;
        put(&p->nodes, &p->n_nodes, i);
        for (int32_t k = 0; k < n->n_in; k++) {
            int32_t from = maker(g, n->in[k]);
            if (n->in[k] < 0 || ig_is_const(g, n->in[k]) || (from >= 0 && of[from] == part)) continue;
            put(&p->in, &p->n_in, n->in[k]);
        }
        for (int32_t k = 0; k < n->n_out; k++)
            if (n->out[k] >= 0 && is_read_elsewhere(g, of, n->out[k], part)) put(&p->out, &p->n_out, n->out[k]);
    }
}

static void fill_passing(const struct ig_graph *g, const struct ig_parts *p, int32_t v, int32_t from,
                         struct ig_passing *to)
{
    *to = (struct ig_passing){.value = v, .from = from};
    if (ig_is_output(g, v)) put(&to->to, &to->n_to, -1);
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t k = 0; k < p->at[i].n_in; k++)
            if (p->at[i].in[k] == v) put(&to->to, &to->n_to, i);
}

static void list_passing(const struct ig_graph *g, struct ig_parts *p)
{
    int32_t n = g->n_inputs;
    for (int32_t i = 0; i < p->n; i++) n += p->at[i].n_out;
    p->passing = ig_must_alloc((size_t)n, sizeof *p->passing);
    for (int32_t i = 0; i < g->n_inputs; i++)
        fill_passing(g, p, g->inputs[i], -1, &p->passing[p->n_passing++]);
    for (int32_t i = 0; i < p->n; i++)
        for (int32_t k = 0; k < p->at[i].n_out; k++)
            fill_passing(g, p, p->at[i].out[k], i, &p->passing[p->n_passing++]);
}

struct ig_parts *ig_parts_make(const struct ig_graph *g, const int32_t *key_of)
{
    struct web w = {.g = g};
    struct ig_parts *p = ig_must_alloc(1, sizeof *p);
    begin(&w, key_of);
    connect(&w);
    merge_all(&w);
    int32_t *order = ig_must_alloc((size_t)w.n, sizeof *order);
    p->n = sort(&w, order);
    p->at = ig_must_alloc((size_t)p->n, sizeof *p->at);
    for (int32_t i = 0; i < p->n; i++) {
        p->at[i].key = w.key[order[i]];
        fill_part(g, w.of, order[i], &p->at[i]);
    }
    list_passing(g, p);
    void *owned[] = {order, w.key, w.depth, w.of, w.next, w.reach, w.gone};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
    return p;
}

void ig_parts_free(struct ig_parts *p)
{
    if (!p) return;
    for (int32_t i = 0; i < p->n; i++) {
        free(p->at[i].nodes);
        free(p->at[i].in);
        free(p->at[i].out);
    }
    for (int32_t i = 0; i < p->n_passing; i++) free(p->passing[i].to);
    free(p->at);
    free(p->passing);
    free(p);
}

struct ig_graph *ig_part_graph(const struct ig_graph *g, const struct ig_part *part, const char *name)
{
    struct ig_graph *c = ig_graph_clone(g);
    c->name = ig_graph_strdup(c, name);
    for (int32_t i = 0; i < part->n_nodes; i++) c->nodes[i] = c->nodes[part->nodes[i]];
    c->n_nodes = part->n_nodes;
    c->n_inputs = c->n_outputs = 0;
    for (int32_t i = 0; i < part->n_in; i++) ig_add_input(c, part->in[i]);
    for (int32_t i = 0; i < part->n_out; i++) ig_add_output(c, part->out[i]);
    ig_graph_sweep(c);
    return c;
}
