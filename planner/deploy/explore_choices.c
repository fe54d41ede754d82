#include "planner/deploy/explore_choices.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct maker {                   /* of one run's choices on one kind */
    struct ig_choices *c;
    const struct ig_explore *x;
    int32_t i, k, kind;
    int64_t first;               /* of its choices */
    int64_t most[IG_EXPLORE_AXES]; /* what is more, a known deployment beats, as the run needs its bounds at least */
};

static int is_better(const int64_t *of, const int64_t *than)
{
    return of[0] <= than[0] && of[1] <= than[1] && of[2] <= than[2] &&
           (of[0] < than[0] || of[1] < than[1] || of[2] < than[2]);
}

/* 1 if a known deployment is better than anything that is no better than this. */
static int is_known(struct ig_choices *c, const int64_t *x)
{
    if (c->n_known && is_better(c->known[c->last], x)) return 1;
    for (int32_t i = 0; i < c->n_known; i++)
        if (is_better(c->known[i], x)) {
            c->last = i;
            return 1;
        }
    return 0;
}

static int beats(const struct ig_choices *c, const struct ig_choice *a, const struct ig_choice *b)
{
    if (c->by_latency && a->latency_ns > b->latency_ns) return 0;
    return a->x[0] <= b->x[0] && a->x[1] <= b->x[1] && a->x[2] <= b->x[2];
}

/* Keeps what is not beaten; what beats is moved to the front, where the next look begins. */
static void offer(struct maker *m, const struct ig_choice *now)
{
    struct ig_choices *c = m->c;
    struct ig_choice *of = c->at + m->first;
    int64_t n = c->n - m->first, kept = 0, limit = m->x->kinds[m->kind].memory_bytes;
    if (limit && now->x[IG_EXPLORE_MEMORY] > limit) return;
    for (int64_t i = 0; i < n; i++) {
        if (!beats(c, &of[i], now)) continue;
        struct ig_choice first = of[i];
        of[i] = of[0];
        of[0] = first;
        return;
    }
    if (is_known(c, now->x)) return;
    for (int64_t i = 0; i < n; i++)
        if (!beats(c, now, &of[i])) of[kept++] = of[i];
    c->n = m->first + kept;
    if (c->n == c->room) {
        c->room = 2 * c->room + 4096;
        struct ig_choice *more = realloc(c->at, (size_t)c->room * sizeof *more);
        if (!more) abort();
        c->at = more;
    }
    c->at[c->n++] = *now;
}

static int is_too_much(const struct maker *m, const struct ig_choice *now)
{
    return now->x[0] > m->most[0] || now->x[1] > m->most[1] || now->x[2] > m->most[2];
}

static void offer_one(struct maker *m, int32_t way)
{
    const struct ig_ranges *r = m->c->r;
    int64_t ns = ig_range_ns(r, way, m->i, m->k);
    if (ns >= IG_PIPE_NEVER) return;
    ns += ig_range_receive_ns(r, way, m->i) + ig_range_send_ns(r, way, m->k);
    struct ig_choice now = {.x = {ns, m->x->ways[way].mw * ns, ig_range_bytes(r, way, m->i, m->k)}, .latency_ns = ns,
                            .way = {(int16_t)way, -1}};
    if (!is_too_much(m, &now)) offer(m, &now);
}

/* Nodes i .. j - 1 on way a, then j .. k - 1 on way b of the same device, for every j. */
static void offer_two(struct maker *m, int32_t a, int32_t b)
{
    const struct ig_ranges *r = m->c->r;
    int64_t n = m->x->n + 1, limit = m->most[IG_EXPLORE_PERIOD], weights = r->weights[m->k] - r->weights[m->i];
    const int64_t *by_a = r->ns + a * n, *by_b = r->ns + b * n, *between = m->c->between + m->kind * n;
    const int64_t *held = r->held + m->i * n, *scratch = r->scratch + (a * n + m->i) * n;
    const int64_t *held_behind = r->held + m->k, *scratch_behind = r->scratch + b * n * n + m->k;
    int64_t receives = ig_range_receive_ns(r, a, m->i), sends = ig_range_send_ns(r, b, m->k);
    if (limit >= IG_PIPE_NEVER) limit = IG_PIPE_NEVER - 1;
    for (int32_t j = m->i + 1; j < m->k; j++) {
        int64_t first = by_a[j] - by_a[m->i] + receives, second = by_b[m->k] - by_b[j] + sends;
        int64_t most = first > second ? first : second;
        if (first > limit) return;
        if (second > limit || !ig_explore_may_cut(m->x, j)) continue;
        struct ig_choice now = {.x = {most > between[j] ? most : between[j],
                                      m->x->ways[a].mw * first + m->x->ways[b].mw * second,
                                      weights + held[j] + scratch[j] + held_behind[j * n] + scratch_behind[j * n]},
                                .latency_ns = first + second + between[j], .way = {(int16_t)a, (int16_t)b},
                                .cut = (int16_t)j};
        if (is_too_much(m, &now) || (m->c->n_known && is_better(m->c->known[m->c->last], now.x))) continue;
        offer(m, &now);
    }
}

static void offer_run(struct maker *m)
{
    const struct ig_explore *x = m->x;
    for (int32_t a = 0; a < x->n_ways; a++)
        if (x->ways[a].kind == m->kind) offer_one(m, a);
    for (int32_t a = 0; a < x->n_ways && m->c->bounds.halves > 1; a++)
        for (int32_t b = 0; b < x->n_ways && x->ways[a].kind == m->kind; b++)
            if (ig_ways_share(x, a, b)) offer_two(m, a, b);
}

static int by_time(const void *a, const void *b)
{
    const struct ig_choice *u = a, *v = b;
    for (int k = 0; k < IG_EXPLORE_AXES; k++)
        if (u->x[k] != v->x[k]) return u->x[k] < v->x[k] ? -1 : 1;
    return 0;
}

/* Of choices that stand in a row, those that no known deployment is better than; returns how many. */
static int32_t keep_unknown(struct ig_choices *c, struct ig_choice *at, int64_t n)
{
    int32_t kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (!is_known(c, at[i].x)) at[kept++] = at[i];
    return kept;
}

/* For each measure the least of a known deployment that is as good as the run's bounds in the others. */
static void set_most(struct maker *m, const int64_t *bound)
{
    for (int axis = 0; axis < IG_EXPLORE_AXES; axis++) {
        int u = (axis + 1) % IG_EXPLORE_AXES, v = (axis + 2) % IG_EXPLORE_AXES;
        m->most[axis] = INT64_MAX;
        for (int32_t i = 0; i < m->c->n_known; i++) {
            const int64_t *x = m->c->known[i];
            if (x[u] <= bound[u] && x[v] <= bound[v] && x[axis] < m->most[axis]) m->most[axis] = x[axis];
        }
    }
}

static void set_least(const struct ig_choices *c, struct ig_choice_row *row)
{
    for (int axis = 0; axis < IG_EXPLORE_AXES; axis++) {
        row->least[axis] = INT64_MAX;
        for (int32_t i = 0; i < row->n - 1; i++)
            if (c->at[row->begin + i].x[axis] < row->least[axis]) row->least[axis] = c->at[row->begin + i].x[axis];
    }
}

void ig_choices_make(struct ig_choices *c, int32_t i, int32_t k)
{
    struct ig_choice_row *row = (struct ig_choice_row *)(uintptr_t)ig_choices_row(c, i, k, 0);
    struct maker m = {.c = c, .x = c->r->x, .i = i, .k = k};
    int64_t bound[IG_EXPLORE_AXES];
    ig_bounds_of(&c->bounds, i, k, bound);
    int of_use = i >= c->low[k] && !is_known(c, bound);
    if (!of_use && c->low[k] <= i) c->low[k] = i + 1;
    if (of_use) set_most(&m, bound);
    for (; m.kind < m.x->n_kinds; m.kind++, row++) {
        m.first = row->begin = c->n;
        if (of_use) offer_run(&m);
        int32_t kept = (int32_t)(c->n - m.first);
        row->n = kept + 1;
        set_least(c, row);
        if (kept) qsort(c->at + m.first, (size_t)kept, sizeof *c->at, by_time);
    }
}

void ig_choices_know(struct ig_choices *c, const struct ig_explore_front *known)
{
    const struct ig_explore *x = c->r->x;
    size_t rows = (size_t)(x->n + 1) * (size_t)(x->n + 1) * (size_t)x->n_kinds;
    if (!known->n) return;
    int64_t(*all)[IG_EXPLORE_AXES] = realloc(c->known, (size_t)(c->n_known + known->n) * sizeof *all);
    if (!all) abort();
    c->known = all;
    for (int32_t i = 0; i < known->n; i++) {
        int64_t *now = all[c->n_known];
        memcpy(now, known->at[i].x, sizeof *all);
        if (is_known(c, now)) continue;
        c->n_known++;
    }
    for (size_t row = 0; row < rows; row++)
        if (c->rows[row].n > 1) {
            c->rows[row].n = 1 + keep_unknown(c, c->at + c->rows[row].begin, c->rows[row].n - 1);
            set_least(c, &c->rows[row]);
        }
}

void ig_choices_begin(const struct ig_ranges *r, int32_t halves, int32_t by_latency, struct ig_choices *c)
{
    const struct ig_explore *x = r->x;
    size_t n = (size_t)x->n + 1;
    *c = (struct ig_choices){.r = r, .by_latency = by_latency};
    ig_bounds_make(r, halves, &c->bounds);
    c->rows = ig_must_alloc(n * n * (size_t)x->n_kinds, sizeof *c->rows);
    c->low = ig_must_alloc(n, sizeof *c->low);
    c->between = ig_must_alloc(n * (size_t)x->n_kinds, sizeof *c->between);
    for (int32_t kind = 0; kind < x->n_kinds; kind++)
        for (size_t j = 0; j < n; j++)
            c->between[(size_t)kind * n + j] = ig_pipe_transfer(&x->own[kind], r->passing[j]);
}

void ig_choices_free(struct ig_choices *c)
{
    ig_bounds_free(&c->bounds);
    free(c->at);
    free(c->rows);
    free(c->low);
    free(c->between);
    free(c->known);
}
