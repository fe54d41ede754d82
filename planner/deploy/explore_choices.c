#include "planner/deploy/explore_choices.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct maker {
    struct ig_choices *c;
    const struct ig_explore *x;
    int64_t n, room;             /* choices so far */
    int64_t first;               /* of the run that is looked at */
    const struct ig_explore_point *known;
    int32_t n_known, last;       /* the one that was better last time is asked first */
    int alive;                   /* a choice of this run would be of use but for what it holds beside weights */
};

static int is_better(const int64_t *of, int64_t ns, int64_t pj, int64_t bytes)
{
    return of[0] <= ns && of[1] <= pj && of[2] <= bytes && (of[0] < ns || of[1] < pj || of[2] < bytes);
}

/* 1 if a known deployment is better than anything that is no better than this. */
static int is_known(struct maker *m, int64_t ns, int64_t pj, int64_t bytes)
{
    if (m->n_known && is_better(m->known[m->last].x, ns, pj, bytes)) return 1;
    for (int32_t i = 0; i < m->n_known; i++)
        if (is_better(m->known[i].x, ns, pj, bytes)) {
            m->last = i;
            return 1;
        }
    return 0;
}

static int beats(const struct maker *m, const struct ig_choice *a, const struct ig_choice *b)
{
    if (m->c->by_latency && a->latency_ns > b->latency_ns) return 0;
    return a->x[0] <= b->x[0] && a->x[1] <= b->x[1] && a->x[2] <= b->x[2];
}

/* Keeps what is not beaten; what beats is moved to the front, where the next look begins. */
static void offer(struct maker *m, const struct ig_choice *now)
{
    struct ig_choice *of = m->c->at + m->first;
    int64_t n = m->n - m->first, kept = 0;
    if (is_known(m, now->x[0], now->x[1], now->x[2])) return;
    for (int64_t i = 0; i < n; i++) {
        if (!beats(m, &of[i], now)) continue;
        struct ig_choice first = of[i];
        of[i] = of[0];
        of[0] = first;
        return;
    }
    for (int64_t i = 0; i < n; i++)
        if (!beats(m, now, &of[i])) of[kept++] = of[i];
    m->n = m->first + kept;
    if (m->n == m->room) {
        m->room = 2 * m->room + 4096;
        struct ig_choice *more = realloc(m->c->at, (size_t)m->room * sizeof *more);
        if (!more) abort();
        m->c->at = more;
    }
    m->c->at[m->n++] = *now;
}

static void offer_one(struct maker *m, int32_t i, int32_t k, int32_t way)
{
    const struct ig_ranges *r = m->c->r;
    int64_t ns = ig_range_ns(r, way, i, k), limit = m->x->kinds[m->x->ways[way].kind].memory_bytes;
    if (ns >= IG_PIPE_NEVER || is_known(m, ns, ig_range_pj(r, way, i, k), r->weights[k] - r->weights[i])) return;
    m->alive = 1;
    ns += ig_range_receive_ns(r, way, i) + ig_range_send_ns(r, way, k);
    struct ig_choice now = {.x = {ns, m->x->ways[way].mw * ns, ig_range_bytes(r, way, i, k)}, .latency_ns = ns,
                            .way = {(int16_t)way, -1}};
    if (!limit || now.x[IG_EXPLORE_MEMORY] <= limit) offer(m, &now);
}

/* Nodes i .. j - 1 on way a, then j .. k - 1 on way b of the same device. */
static void offer_two(struct maker *m, int32_t i, int32_t j, int32_t k, int32_t a, int32_t b)
{
    const struct ig_ranges *r = m->c->r;
    int32_t kind = m->x->ways[a].kind;
    int64_t first = ig_range_ns(r, a, i, j), second = ig_range_ns(r, b, j, k), limit = m->x->kinds[kind].memory_bytes;
    if (first >= IG_PIPE_NEVER || second >= IG_PIPE_NEVER) return;
    int64_t between = ig_pipe_transfer(&m->x->own[kind], r->passing[j]), most = first > second ? first : second;
    int64_t pj = m->x->ways[a].mw * first + m->x->ways[b].mw * second;
    if (is_known(m, most, pj, r->weights[k] - r->weights[i])) return;
    m->alive = 1;
    first += ig_range_receive_ns(r, a, i);
    second += ig_range_send_ns(r, b, k);
    most = first > second ? first : second;
    pj = m->x->ways[a].mw * first + m->x->ways[b].mw * second;
    struct ig_choice now = {.x = {most > between ? most : between, pj,
                                  ig_range_bytes(r, a, i, j) + ig_range_bytes(r, b, j, k)},
                            .latency_ns = first + second + between, .way = {(int16_t)a, (int16_t)b}, .cut = (int16_t)j};
    if (!limit || now.x[IG_EXPLORE_MEMORY] <= limit) offer(m, &now);
}

/* Cores beside the GPU's host thread, and the GPU. */
static int together(const struct ig_explore *x, int32_t a, int32_t b)
{
    const struct ig_explore_way *u = &x->ways[a], *v = &x->ways[b];
    return u->kind == v->kind && u->gpu != v->gpu && u->cores + v->cores <= x->kinds[u->kind].cores;
}

static void offer_run(struct maker *m, int32_t i, int32_t k, int32_t kind)
{
    const struct ig_explore *x = m->x;
    for (int32_t a = 0; a < x->n_ways; a++)
        if (x->ways[a].kind == kind) offer_one(m, i, k, a);
    for (int32_t a = 0; a < x->n_ways && m->c->halves > 1; a++)
        for (int32_t b = 0; b < x->n_ways && x->ways[a].kind == kind; b++)
            for (int32_t j = i + 1; j < k && together(x, a, b); j++)
                if (ig_explore_may_cut(x, j)) offer_two(m, i, j, k, a, b);
}

static int by_time(const void *a, const void *b)
{
    const struct ig_choice *u = a, *v = b;
    for (int k = 0; k < IG_EXPLORE_AXES; k++)
        if (u->x[k] != v->x[k]) return u->x[k] < v->x[k] ? -1 : 1;
    return 0;
}

static void add_least(struct ig_choices *c)
{
    const struct ig_explore *x = c->r->x;
    for (int32_t v = 0; v < x->n; v++) {
        int64_t least = IG_PIPE_NEVER, pj = INT64_MAX;
        for (int32_t w = 0; w < x->n_ways; w++) {
            int64_t ns = ig_range_ns(c->r, w, v, v + 1);
            if (ns >= IG_PIPE_NEVER) continue;
            if (ns < least) least = ns;
            if (ns * x->ways[w].mw < pj) pj = ns * x->ways[w].mw;
        }
        c->least_ns[v + 1] = c->least_ns[v] + least;
        c->least_pj[v + 1] = c->least_pj[v] + pj;
    }
}

/* One device has all nodes; of two, one begins and one ends. */
static int may_be(const struct ig_explore *x, int32_t i, int32_t k, int32_t devices)
{
    int begins = i == 0, ends = k == x->n;
    return ig_explore_may_cut(x, i) && ig_explore_may_cut(x, k) && begins + ends >= 3 - devices;
}

void ig_choices_filter(struct ig_choices *c, const struct ig_explore_front *known)
{
    struct maker m = {.known = known->at, .n_known = known->n};
    const struct ig_explore *x = c->r->x;
    size_t rows = (size_t)(x->n + 1) * (size_t)(x->n + 1) * (size_t)x->n_kinds;
    for (size_t row = 0; row < rows; row++) {
        struct ig_choice *at = c->at + c->rows[row].begin;
        int32_t n = 0;
        for (int32_t i = 0; i < c->rows[row].n; i++)
            if (!is_known(&m, at[i].x[0], at[i].x[1], at[i].x[2])) at[n++] = at[i];
        c->rows[row].n = n;
    }
}

void ig_choices_make(const struct ig_ranges *r, int32_t devices, int32_t halves, int32_t by_latency,
                     const struct ig_explore_front *known, struct ig_choices *c)
{
    const struct ig_explore *x = r->x;
    struct maker m = {.c = c, .x = x, .known = known->at, .n_known = known->n};
    size_t n = (size_t)x->n + 1;
    *c = (struct ig_choices){.r = r, .halves = halves, .by_latency = by_latency};
    c->rows = ig_must_alloc(n * n * (size_t)x->n_kinds, sizeof *c->rows);
    c->low = ig_must_alloc(n, sizeof *c->low);
    c->least_ns = ig_must_alloc(n, sizeof *c->least_ns);
    c->least_pj = ig_must_alloc(n, sizeof *c->least_pj);
    add_least(c);
    for (int32_t k = 1; k <= x->n; k++) {
        c->low[k] = k;
        m.alive = 1;
        for (int32_t i = k - 1; i >= 0 && m.alive; c->low[k] = i--) { /* of no use: nor is any longer run */
            if (!may_be(x, i, k, devices)) continue;
            m.alive = 0;
            for (int32_t kind = 0; kind < x->n_kinds; kind++) {
                struct ig_choice_row *row = &c->rows[((size_t)k * n + (size_t)i) * (size_t)x->n_kinds + (size_t)kind];
                m.first = row->begin = m.n;
                offer_run(&m, i, k, kind);
                row->n = (int32_t)(m.n - m.first);
                if (row->n) qsort(c->at + m.first, (size_t)row->n, sizeof *c->at, by_time);
            }
        }
    }
}

void ig_choices_free(struct ig_choices *c)
{
    free(c->at);
    free(c->rows);
    free(c->low);
    free(c->least_ns);
    free(c->least_pj);
}
