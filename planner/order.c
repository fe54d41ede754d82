/*
 * best[I + v] = min over v of max(best[I], held while v runs after I). Forwards all ideals are listed, level by level;
 * backwards each gets the least peak of what is still to come; then the order is read off from the start, always the
 * smallest node that keeps to the optimum.
 */
#include "planner/order.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

void ig_order_net_make(struct ig_order_net *net, int32_t n, int32_t n_stores)
{
    *net = (struct ig_order_net){.n = n, .n_stores = n_stores, .words = (n + 63) / 64};
    net->size = ig_must_alloc((size_t)n_stores, sizeof *net->size);
    net->touch = ig_must_alloc((size_t)n_stores * (size_t)net->words, sizeof *net->touch);
    net->needs = ig_must_alloc((size_t)n * (size_t)net->words, sizeof *net->needs);
    net->over = ig_must_alloc((size_t)n, sizeof *net->over);
    for (int32_t v = 0; v < n; v++)
        for (int w = 0; w < IG_ORDER_WAYS; w++) net->over[v][w] = (struct ig_order_over){-1, -1};
}

void ig_order_net_free(struct ig_order_net *net)
{
    free(net->size);
    free(net->touch);
    free(net->needs);
    free(net->over);
}

static void put(uint64_t *set, int32_t node)
{
    set[node / 64] |= UINT64_C(1) << node % 64;
}

static int has(const uint64_t *set, int32_t node)
{
    return set[node / 64] >> node % 64 & 1;
}

static int meets(const uint64_t *a, const uint64_t *b, int32_t words)
{
    for (int32_t i = 0; i < words; i++)
        if (a[i] & b[i]) return 1;
    return 0;
}

static int inside(const uint64_t *a, const uint64_t *b, int32_t words)
{
    for (int32_t i = 0; i < words; i++)
        if (a[i] & ~b[i]) return 0;
    return 1;
}

void ig_order_touch(struct ig_order_net *net, int32_t store, int32_t node)
{
    put(net->touch + (size_t)store * (size_t)net->words, node);
}

void ig_order_need(struct ig_order_net *net, int32_t node, int32_t before)
{
    put(net->needs + (size_t)node * (size_t)net->words, before);
}

static const uint64_t *touch_of(const struct ig_order_net *net, int32_t store)
{
    return net->touch + (size_t)store * (size_t)net->words;
}

static int32_t **list_stores(const struct ig_order_net *net)
{
    int32_t **stores = ig_must_alloc((size_t)net->n, sizeof *stores);
    for (int32_t v = 0; v < net->n; v++) {
        int32_t n = 0;
        for (int32_t s = 0; s < net->n_stores; s++) n += has(touch_of(net, s), v);
        stores[v] = ig_must_alloc((size_t)n + 1, sizeof **stores);
        n = 0;
        for (int32_t s = 0; s < net->n_stores; s++)
            if (has(touch_of(net, s), v)) stores[v][n++] = s;
        stores[v][n] = -1;
    }
    return stores;
}

static void free_stores(const struct ig_order_net *net, int32_t **stores)
{
    for (int32_t v = 0; v < net->n; v++) free(stores[v]);
    free(stores);
}

/* Bytes that node v need not have beside the rest, by writing over what dies: `before` has run, `after` is + v. */
static int64_t saved_in_place(const struct ig_order_net *net, const uint64_t *before, const uint64_t *after,
                              int32_t v)
{
    for (int w = 0; w < IG_ORDER_WAYS; w++) {
        struct ig_order_over o = net->over[v][w];
        if (o.in < 0 || meets(touch_of(net, o.out), before, net->words)) continue;
        if (inside(touch_of(net, o.in), after, net->words)) return net->size[o.out];
    }
    return 0;
}

/* *live: bytes held between steps, of `before` and then of `after`. Returns what is held while v runs. */
static int64_t run(const struct ig_order_net *net, const int32_t *stores, const uint64_t *before,
                   const uint64_t *after, int32_t v, int64_t *live)
{
    int64_t held, dies = 0;
    for (; *stores >= 0; stores++) {
        if (!meets(touch_of(net, *stores), before, net->words)) *live += net->size[*stores];
        if (inside(touch_of(net, *stores), after, net->words)) dies += net->size[*stores];
    }
    held = *live - saved_in_place(net, before, after, v);
    *live -= dies;
    return held;
}

int64_t ig_order_peak(const struct ig_order_net *net, const int32_t *order)
{
    int32_t **stores = list_stores(net);
    uint64_t *before = ig_must_alloc((size_t)net->words, sizeof *before);
    uint64_t *after = ig_must_alloc((size_t)net->words, sizeof *after);
    int64_t live = 0, peak = 0;
    for (int32_t i = 0; i < net->n; i++) {
        put(after, order[i]);
        int64_t held = run(net, stores[order[i]], before, after, order[i], &live);
        if (held > peak) peak = held;
        put(before, order[i]);
    }
    free(before);
    free(after);
    free_stores(net, stores);
    return peak;
}

/* --- all ideals --- */

struct ideals {
    const struct ig_order_net *net;
    int32_t **stores;
    int32_t n, limit;
    uint64_t *sets;          /* [limit + 1][words], by size of set */
    int64_t *live;           /* [limit] bytes held after it */
    int64_t *to_come;        /* [limit] least peak of the rest */
    int32_t *table;          /* open addressing: index + 1 */
    size_t table_size;
};

static uint64_t *set_of(const struct ideals *d, int32_t i)
{
    return d->sets + (size_t)i * (size_t)d->net->words;
}

static size_t hash(const uint64_t *set, int32_t words)
{
    uint64_t h = 0;
    for (int32_t i = 0; i < words; i++) {
        h = (h ^ set[i]) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    return (size_t)h;
}

/* The slot of that set in the table. */
static int32_t *slot_of(const struct ideals *d, const uint64_t *set)
{
    size_t bytes = (size_t)d->net->words * sizeof *set, at = hash(set, d->net->words) & (d->table_size - 1);
    while (d->table[at] && memcmp(set_of(d, d->table[at] - 1), set, bytes)) at = (at + 1) & (d->table_size - 1);
    return &d->table[at];
}

static int may_run(const struct ideals *d, const uint64_t *set, int32_t v)
{
    const struct ig_order_net *net = d->net;
    return !has(set, v) && inside(net->needs + (size_t)v * (size_t)net->words, set, net->words);
}

/* The set with v, written behind the last ideal. */
static uint64_t *with(const struct ideals *d, const uint64_t *set, int32_t v)
{
    uint64_t *next = set_of(d, d->n);
    memcpy(next, set, (size_t)d->net->words * sizeof *set);
    put(next, v);
    return next;
}

/* Lists all ideals that follow from the empty one; 0 if there are too many. */
static int list_ideals(struct ideals *d)
{
    *slot_of(d, set_of(d, 0)) = d->n = 1;
    for (int32_t i = 0; i < d->n; i++)
        for (int32_t v = 0; v < d->net->n; v++) {
            if (!may_run(d, set_of(d, i), v)) continue;
            uint64_t *next = with(d, set_of(d, i), v);
            int32_t *slot = slot_of(d, next);
            if (*slot) continue;
            if (d->n == d->limit) return 0;
            d->live[d->n] = d->live[i];
            run(d->net, d->stores[v], set_of(d, i), next, v, &d->live[d->n]);
            *slot = ++d->n;
        }
    return 1;
}

/* The peak of running v after ideal i and then the best that is left; *next: the ideal then. */
static int64_t peak_through(const struct ideals *d, int32_t i, int32_t v, int32_t *next)
{
    uint64_t *after = with(d, set_of(d, i), v);
    int64_t live = d->live[i], held = run(d->net, d->stores[v], set_of(d, i), after, v, &live);
    *next = *slot_of(d, after) - 1;
    return held > d->to_come[*next] ? held : d->to_come[*next];
}

static void look_back(struct ideals *d)
{
    for (int32_t i = d->n - 2; i >= 0; i--) {
        d->to_come[i] = INT64_MAX;
        for (int32_t v = 0; v < d->net->n; v++) {
            int32_t next;
            if (!may_run(d, set_of(d, i), v)) continue;
            int64_t peak = peak_through(d, i, v, &next);
            if (peak < d->to_come[i]) d->to_come[i] = peak;
        }
    }
}

static void read_order(const struct ideals *d, int32_t *order)
{
    for (int32_t i = 0, step = 0, next = 0; step < d->net->n; step++, i = next) {
        int32_t v = 0;
        while (!may_run(d, set_of(d, i), v) || peak_through(d, i, v, &next) > d->to_come[0]) v++;
        order[step] = v;
    }
}

int64_t ig_order_best(const struct ig_order_net *net, int32_t limit, int32_t *order, int32_t *ideals)
{
    struct ideals d = {.net = net, .limit = limit, .table_size = 4};
    size_t room = (size_t)limit;
    while (d.table_size < 2 * room) d.table_size *= 2;
    d.stores = list_stores(net);
    d.sets = ig_must_alloc((room + 1) * (size_t)net->words, sizeof *d.sets);
    d.live = ig_must_alloc(room, sizeof *d.live);
    d.to_come = ig_must_alloc(room, sizeof *d.to_come);
    d.table = ig_must_alloc(d.table_size, sizeof *d.table);
    int64_t peak = -1;
    if (list_ideals(&d)) {
        look_back(&d);
        read_order(&d, order);
        peak = d.to_come[0];
    }
    *ideals = d.n;
    free_stores(net, d.stores);
    free(d.sets);
    free(d.live);
    free(d.to_come);
    free(d.table);
    return peak;
}
