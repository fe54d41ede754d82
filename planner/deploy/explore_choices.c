#include "planner/deploy/explore_choices.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

struct maker {                   /* of one run's choices on one kind */
    struct ig_choices *c;
    const struct ig_explore *x;
    int32_t i, k, kind;
    int64_t first;               /* of its choices */
    int64_t most[IG_EXPLORE_AXES]; /* what is more is of no use */
    int64_t rest[IG_EXPLORE_AXES]; /* what is less counts as that */
    int64_t bound[IG_EXPLORE_AXES]; /* nothing counts as less */
    int32_t done;                /* 1: one counts as that in all */
    int32_t beat;                /* number of the choice that was better last time */
    int32_t from[IG_EXPLORE_WAYS], to[IG_EXPLORE_WAYS]; /* where each way can begin behind another, and end in front of one */
    int64_t below[IG_EXPLORE_AXES]; /* what is not less in any of these is of no use; 0: nothing is */
    int32_t early[IG_EXPLORE_WAYS], late[IG_EXPLORE_WAYS]; /* as from and to, for less time than that */
    int32_t n_small;             /* cuts that may take less memory than that: c->small */
    int64_t begin[IG_EXPLORE_WAYS], end[IG_EXPLORE_WAYS]; /* of the run: sums of ns up to there, with what messages take */
    struct ig_choice *best;      /* the least by a sum, if that is sought: */
    int32_t by_energy;
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
    for (int32_t i = 0; i < c->n_known && c->known[i][IG_EXPLORE_PERIOD] <= x[IG_EXPLORE_PERIOD]; i++)
        if (is_better(c->known[i], x)) {
            c->last = i;
            return 1;
        }
    return 0;
}

static int covers(const int64_t *a, const int64_t *b)
{
    return a[0] <= b[0] && a[1] <= b[1] && a[2] <= b[2];
}

static void put(struct ig_choices *c, int64_t at, const struct ig_choice *now)
{
    if (c->n == c->room) {
        c->room = 2 * c->room + 4096;
        struct ig_choice *more = realloc(c->at, (size_t)c->room * sizeof *more);
        if (!more) abort();
        c->at = more;
    }
    memmove(c->at + at + 1, c->at + at, (size_t)(c->n - at) * sizeof *c->at);
    c->at[at] = *now;
    c->n++;
}

/* Keeps what is not beaten, by rising time. */
static void keep(struct maker *m, const struct ig_choice *now)
{
    struct ig_choices *c = m->c;
    struct ig_choice *of = c->at + m->first;
    int32_t n = (int32_t)(c->n - m->first), at = 0, kept;
    if (m->beat < n && covers(of[m->beat].x, now->x)) return;
    for (; at < n && of[at].x[0] <= now->x[0]; at++)
        if (covers(of[at].x, now->x)) {
            m->beat = at;
            return;
        }
    if (is_known(c, now->x)) return;
    while (at > 0 && of[at - 1].x[0] == now->x[0]) at--;
    kept = at;
    for (int32_t i = at; i < n; i++)
        if (!covers(now->x, of[i].x)) of[kept++] = of[i];
    c->n = m->first + kept;
    put(c, m->first + at, now);
    m->done |= covers(now->x, m->bound);
}

static void keep_least(struct maker *m, const struct ig_choice *now)
{
    int64_t sum = m->by_energy ? now->x[IG_EXPLORE_ENERGY] : now->latency_ns;
    int64_t second = m->by_energy ? now->latency_ns : now->x[IG_EXPLORE_ENERGY];
    int64_t least = m->by_energy ? m->best->x[IG_EXPLORE_ENERGY] : m->best->latency_ns;
    int64_t other = m->by_energy ? m->best->latency_ns : m->best->x[IG_EXPLORE_ENERGY];
    if (sum < least || (sum == least && second < other)) *m->best = *now;
}

static void offer(struct maker *m, struct ig_choice *now)
{
    m->c->priced++;
    for (int axis = 0; axis < IG_EXPLORE_AXES; axis++) {
        if (now->x[axis] > m->most[axis]) return;
        if (now->x[axis] < m->rest[axis]) now->x[axis] = m->rest[axis];
    }
    if (m->best) keep_least(m, now);
    else if (!m->c->n_known || !is_better(m->c->known[m->c->last], now->x)) keep(m, now);
}

static void offer_one(struct maker *m, int32_t way)
{
    const struct ig_ranges *r = m->c->r;
    int64_t n = m->x->n + 1, ns = ig_range_ns(r, way, m->i, m->k);
    if (ns >= IG_PIPE_NEVER) return;
    ns += m->c->receive[way * n + m->i] + m->c->send[way * n + m->k];
    struct ig_choice now = {.x = {ns, m->x->ways[way].mw * ns, ig_range_bytes(r, way, m->i, m->k)}, .latency_ns = ns,
                            .way = {(int16_t)way, -1}};
    offer(m, &now);
}

/* The first node in low .. high of which a way that goes on to the run's end takes no more time than that; or high + 1. */
static int32_t first_within(const int64_t *sums, int64_t end, int64_t ns, int32_t low, int32_t high)
{
    while (low <= high) {
        int32_t j = low + (high - low) / 2;
        if (end - sums[j] <= ns) high = j - 1;
        else low = j + 1;
    }
    return low;
}

/* Of either of two stages that take no more than so much; what is cut later takes the first longer, the second less. */
static void find_ends(const struct maker *m, int64_t ns, int32_t *from, int32_t *to)
{
    int64_t n = m->x->n + 1;
    for (int32_t w = 0; w < m->x->n_ways; w++) {
        const int64_t *sums = m->c->r->ns + w * n;
        if (m->x->ways[w].kind != m->kind) continue;
        from[w] = first_within(sums, m->end[w], ns, m->i + 1, m->k - 1);
        to[w] = first_within(sums, m->begin[w] + ns + 1, 0, m->i + 1, m->k - 1) - 1;
    }
}

/* Nodes i .. j - 1 on way a, then j .. k - 1 on way b of the same device. */
static void offer_two(struct maker *m, int32_t a, int32_t b, int32_t j)
{
    const struct ig_ranges *r = m->c->r;
    int64_t n = m->x->n + 1, between = m->c->between[m->kind * n + j];
    int64_t first = r->ns[a * n + j] - m->begin[a], second = m->end[b] - r->ns[b * n + j];
    int64_t most = first > second ? first : second;
    if (!ig_explore_may_cut(m->x, j)) return;
    struct ig_choice now = {.x = {most > between ? most : between, m->x->ways[a].mw * first + m->x->ways[b].mw * second,
                                  ig_range_bytes(r, a, m->i, j) + ig_range_bytes(r, b, j, m->k)},
                            .latency_ns = first + second + between, .way = {(int16_t)a, (int16_t)b}, .cut = (int16_t)j};
    offer(m, &now);
}

/* Cuts that may take less memory than `below`. */
static void list_small(struct maker *m)
{
    const struct ig_bounds *b = &m->c->bounds;
    int64_t n = m->x->n + 1, most = m->below[IG_EXPLORE_MEMORY] - (m->c->r->weights[m->k] - m->c->r->weights[m->i]);
    const int64_t *held = b->held + m->i * n, *behind = b->turned + m->k * n;
    m->n_small = 0;
    if (b->two[m->k * n + m->i] >= m->below[IG_EXPLORE_MEMORY]) return;
    for (int32_t j = m->i + 1; j < m->k; j++) {
        m->c->small[m->n_small] = (int16_t)j;
        m->n_small += held[j] + behind[j] < most;
    }
}

/* What is there already and takes the least time has to be beaten; what counts as no less anyway cannot be. */
static void set_below(struct maker *m)
{
    int64_t *below = m->below;
    m->n_small = 0;
    if (m->best) {
        below[0] = below[2] = 0;
        below[1] = m->by_energy && m->best->latency_ns < INT64_MAX ? m->best->x[IG_EXPLORE_ENERGY] + 1 : INT64_MAX;
    } else if (m->c->n == m->first) {
        below[0] = below[2] = 0;
        below[1] = INT64_MAX;
    } else {
        const int64_t *least = m->c->at[m->first].x;
        for (int axis = 0; axis < IG_EXPLORE_AXES; axis++) below[axis] = least[axis] > m->bound[axis] ? least[axis] : 0;
        list_small(m);
    }
}

/* Each cut that takes less of something than has to be beaten. */
static void offer_pair(struct maker *m, int32_t pair)
{
    const struct ig_bounds *b = &m->c->bounds;
    int32_t first = b->pairs[pair][0], second = b->pairs[pair][1];
    int64_t n = m->x->n + 1, limit = m->most[IG_EXPLORE_ENERGY];
    int64_t mw = m->x->ways[first].mw, mw_behind = m->x->ways[second].mw;
    const int64_t *ns = m->c->r->ns + first * n, *behind = m->c->r->ns + second * n, end = m->end[second];
    if (limit >= m->below[IG_EXPLORE_ENERGY]) limit = m->below[IG_EXPLORE_ENERGY] - 1;
    if (ig_bounds_two_pj(b, pair, m->i, m->k) <= limit)
        for (int32_t j = m->from[second]; j <= m->to[first]; j++)
            if (mw * (ns[j] - m->begin[first]) + mw_behind * (end - behind[j]) <= limit) offer_two(m, first, second, j);
    if (m->below[IG_EXPLORE_PERIOD])
        for (int32_t j = m->early[second]; j <= m->late[first]; j++) offer_two(m, first, second, j);
    for (int32_t q = 0; q < m->n_small; q++) {
        int32_t j = m->c->small[q];
        if (m->from[second] <= j && j <= m->to[first]) offer_two(m, first, second, j);
    }
}

/* May any pair of ways take less of something than has to be beaten? */
static int any_pair(const struct maker *m)
{
    const struct ig_bounds *b = &m->c->bounds;
    int64_t limit = m->most[IG_EXPLORE_ENERGY];
    if (m->below[0] || m->n_small) return 1;
    if (limit >= m->below[IG_EXPLORE_ENERGY]) limit = m->below[IG_EXPLORE_ENERGY] - 1;
    for (int32_t p = 0; p < b->n_pairs; p++)
        if (ig_bounds_two_pj(b, p, m->i, m->k) <= limit) return 1;
    return 0;
}

static void offer_pairs(struct maker *m)
{
    const struct ig_ranges *r = m->c->r;
    int64_t n = m->x->n + 1, limit = m->most[IG_EXPLORE_PERIOD];
    int is_set = 1;
    set_below(m);
    if (!any_pair(m)) return;
    for (int32_t w = 0; w < m->x->n_ways; w++) {
        m->begin[w] = r->ns[w * n + m->i] - m->c->receive[w * n + m->i];
        m->end[w] = r->ns[w * n + m->k] + m->c->send[w * n + m->k];
    }
    if (limit >= IG_PIPE_NEVER) limit = IG_PIPE_NEVER - 1;
    find_ends(m, limit, m->from, m->to);
    if (m->below[0]) find_ends(m, m->below[0] <= limit ? m->below[0] - 1 : limit, m->early, m->late);
    for (int32_t p = 0; p < m->c->bounds.n_pairs && !m->done; p++) {
        if (m->x->ways[m->c->bounds.pairs[p][0]].kind != m->kind) continue;
        if (!is_set) set_below(m);
        offer_pair(m, p);
        is_set = !m->best;
    }
}

static void offer_run(struct maker *m)
{
    const struct ig_explore *x = m->x;
    int64_t most = m->most[IG_EXPLORE_MEMORY], limit = x->kinds[m->kind].memory_bytes;
    if (limit && limit < most) m->most[IG_EXPLORE_MEMORY] = limit;
    m->done = m->beat = 0;
    for (int32_t a = 0; a < x->n_ways && !m->done; a++)
        if (x->ways[a].kind == m->kind) offer_one(m, a);
    if (m->c->bounds.n_pairs && m->k - m->i > 1 && !m->done) offer_pairs(m);
    m->most[IG_EXPLORE_MEMORY] = most;
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
static void set_most(struct maker *m)
{
    const int64_t *b = m->bound;
    m->most[0] = m->most[1] = m->most[2] = INT64_MAX;
    for (int32_t i = 0; i < m->c->n_known; i++) {
        const int64_t *x = m->c->known[i];
        int below[] = {x[0] <= b[0], x[1] <= b[1], x[2] <= b[2]};
        if (below[1] && below[2] && x[0] < m->most[0]) m->most[0] = x[0];
        if (below[0] && below[2] && x[1] < m->most[1]) m->most[1] = x[1];
        if (below[0] && below[1] && x[2] < m->most[2]) m->most[2] = x[2];
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

/* What the run takes at least by itself, and with the rest of a deployment: 0 if that is of no use. */
static int set_bounds(struct maker *m)
{
    const int64_t *own = ig_bounds_of(&m->c->bounds, m->i, m->k);
    if (m->i < m->c->low[m->k]) return 0;
    if (is_known(m->c, own)) {
        m->c->low[m->k] = m->i + 1;
        return 0;
    }
    ig_bounds_rest(&m->c->bounds, m->i, m->k, m->rest);
    for (int axis = 0; axis < IG_EXPLORE_AXES; axis++) {
        if (m->rest[axis] == INT64_MAX) return 0;
        m->bound[axis] = own[axis] > m->rest[axis] ? own[axis] : m->rest[axis];
    }
    if (is_known(m->c, m->bound)) return 0;
    set_most(m);
    return 1;
}

static void begin(struct maker *m, struct ig_choices *c, int32_t i, int32_t k)
{
    m->c = c;
    m->x = c->r->x;
    m->i = i;
    m->k = k;
    m->kind = 0;
    m->first = c->n;
    m->best = NULL;
}

void ig_choices_make(struct ig_choices *c, int32_t i, int32_t k)
{
    struct ig_choice_row *row = (struct ig_choice_row *)(uintptr_t)ig_choices_row(c, i, k, 0);
    struct maker m;
    begin(&m, c, i, k);
    int of_use = set_bounds(&m);
    for (; m.kind < m.x->n_kinds; m.kind++, row++) {
        m.first = row->begin = c->n;
        if (of_use) offer_run(&m);
        row->n = (int32_t)(c->n - m.first) + 1;
        set_least(c, row);
    }
}

int ig_choices_least(struct ig_choices *c, int32_t i, int32_t k, int32_t kind, const int64_t *limits, int32_t by_energy,
                     struct ig_choice *best)
{
    struct maker m;
    begin(&m, c, i, k);
    m.kind = kind;
    m.best = best;
    m.by_energy = by_energy;
    memset(m.rest, 0, sizeof m.rest);
    memset(m.bound, 0, sizeof m.bound);
    memcpy(m.most, limits, sizeof m.most);
    *best = (struct ig_choice){.x = {INT64_MAX, INT64_MAX, INT64_MAX}, .latency_ns = INT64_MAX};
    offer_run(&m);
    return best->latency_ns < INT64_MAX;
}

static void add_known(struct ig_choices *c, const int64_t *now)
{
    int32_t n = 0, at = 0;
    for (int32_t i = 0; i < c->n_known; i++)
        if (covers(c->known[i], now)) return;
    for (int32_t i = 0; i < c->n_known; i++)
        if (!covers(now, c->known[i])) memmove(c->known[n++], c->known[i], sizeof *c->known);
    while (at < n && c->known[at][IG_EXPLORE_PERIOD] <= now[IG_EXPLORE_PERIOD]) at++;
    memmove(c->known[at + 1], c->known[at], (size_t)(n - at) * sizeof *c->known);
    memcpy(c->known[at], now, sizeof *c->known);
    c->n_known = n + 1;
    c->last = at;
}

void ig_choices_know(struct ig_choices *c, const struct ig_explore_front *known)
{
    const struct ig_explore *x = c->r->x;
    size_t rows = (size_t)(x->n + 1) * (size_t)(x->n + 1) * (size_t)x->n_kinds;
    if (!known->n) return;
    int64_t(*all)[IG_EXPLORE_AXES] = realloc(c->known, (size_t)(c->n_known + known->n) * sizeof *all);
    if (!all) abort();
    c->known = all;
    for (int32_t i = 0; i < known->n; i++) add_known(c, known->at[i].x);
    for (size_t row = 0; row < rows && c->n; row++)
        if (c->rows[row].n > 1) {
            c->rows[row].n = 1 + keep_unknown(c, c->at + c->rows[row].begin, c->rows[row].n - 1);
            set_least(c, &c->rows[row]);
        }
}

void ig_choices_begin(const struct ig_ranges *r, int32_t halves, int32_t devices, struct ig_choices *c)
{
    const struct ig_explore *x = r->x;
    size_t n = (size_t)x->n + 1;
    *c = (struct ig_choices){.r = r};
    ig_bounds_make(r, halves, devices, &c->bounds);
    c->rows = ig_must_alloc(n * n * (size_t)x->n_kinds, sizeof *c->rows);
    c->low = ig_must_alloc(n, sizeof *c->low);
    c->small = ig_must_alloc(n, sizeof *c->small);
    c->between = ig_must_alloc(n * (size_t)x->n_kinds, sizeof *c->between);
    c->receive = ig_must_alloc(n * (size_t)x->n_ways, sizeof *c->receive);
    c->send = ig_must_alloc(n * (size_t)x->n_ways, sizeof *c->send);
    for (int32_t way = 0; way < x->n_ways; way++)
        for (int32_t j = 0; j <= x->n; j++) {
            c->receive[(size_t)way * n + (size_t)j] = ig_range_receive_ns(r, way, j);
            c->send[(size_t)way * n + (size_t)j] = ig_range_send_ns(r, way, j);
        }
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
    free(c->small);
    free(c->between);
    free(c->receive);
    free(c->send);
    free(c->known);
}
