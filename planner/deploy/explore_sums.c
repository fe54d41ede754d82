/* The best of all deployments that keep the limits: a shortest path over the same cells. */
#include "planner/deploy/explore_search.h"

struct seeker {
    struct ig_search *s;
    const struct ig_search_limits *l;
    int32_t by_energy, fewest;
};

static int is_less(const struct ig_search_step *a, const struct ig_search_step *b)
{
    return a->sum != b->sum ? a->sum < b->sum : a->second < b->second;
}

/* Has a device of the kind anything to do that run with that is within the limits? */
static int can_run(const struct seeker *w, int32_t i, int32_t k, int32_t kind)
{
    return ig_search_least(w->s, i, k, kind, IG_EXPLORE_PERIOD, IG_SEARCH_NONE - 1, w->l) < IG_SEARCH_NONE;
}

static int any_can_run(const struct seeker *w, int32_t i, int32_t k)
{
    ig_search_look(w->s, i, k);
    for (int32_t kind = 0; kind < w->s->x->n_kinds; kind++)
        if (can_run(w, i, k, kind)) return 1;
    return 0;
}

/* What `need` is a bound of, so that no run is looked at that leads nowhere. */
static void need_exactly(const struct seeker *w)
{
    struct ig_search *s = w->s;
    int32_t far = s->n_cuts - 1;
    for (int32_t at = s->n_cuts - 2; at >= 0; at--) {
        int32_t i = s->cuts[at], found = s->devices + 1;
        while (far > at && !ig_search_may_run(s, at, far, w->l)) far--;
        for (int32_t behind = far; behind > at && found > s->need[i]; behind--) {
            int32_t k = s->cuts[behind], now = s->need[k] + 1;
            if (now < found && s->reach[i] + now <= s->devices && any_can_run(w, i, k)) found = now;
        }
        s->need[i] = found;
    }
}

/* By a run of that choice; NULL: asks whether one of at least that much would be better anywhere. */
static int extend(const struct seeker *w, int32_t i, int32_t k, int32_t kind, int64_t pj, int64_t ns,
                  const struct ig_choice *by)
{
    struct ig_search *s = w->s;
    int32_t kinds = s->x->n_kinds, better = 0;
    const struct ig_search_step *from = s->steps + (int64_t)i * s->n_states * kinds;
    struct ig_search_step *to = s->steps + ((int64_t)k * s->n_states + s->stride[kind]) * kinds + kind;
    for (int32_t before = 0; before < kinds; before++) {
        int64_t link = ig_search_link(s, i, before, kind);
        if (link > w->l->x[IG_EXPLORE_PERIOD]) continue;
        for (int32_t state = 0; state < s->n_states; state++) {
            const struct ig_search_step *at = &from[state * kinds + before];
            struct ig_search_step *best = &to[state * kinds], now = {.from = i, .state = state, .kind = before};
            if (at->sum == IG_SEARCH_NONE || !ig_search_may_follow(s, state, kind, k)) continue;
            now.sum = at->sum + (w->by_energy ? pj : ns + link);
            now.second = at->second + (w->by_energy ? ns + link : pj);
            if (best->sum < IG_SEARCH_NONE && !is_less(&now, best)) continue;
            better = 1;
            if (!by) return better;
            now.way[0] = by->way[0];
            now.way[1] = by->way[1];
            now.cut = by->cut;
            *best = now;
            if (s->live[k] > s->used[state] + 1) s->live[k] = s->used[state] + 1;
        }
    }
    return better;
}

static void try_run(const struct seeker *w, int32_t i, int32_t k)
{
    struct ig_search *s = w->s;
    const int64_t *bound = ig_bounds_of(&s->c->bounds, i, k);
    if (!ig_search_has_place(s, i, k)) return;
    if (w->fewest) ig_search_look(s, i, k);
    for (int32_t kind = 0; kind < s->x->n_kinds; kind++) {
        struct ig_choice by;
        if (!extend(w, i, k, kind, bound[IG_EXPLORE_ENERGY], bound[IG_EXPLORE_PERIOD], NULL)) continue;
        if (w->fewest && !can_run(w, i, k, kind)) continue;
        if (ig_choices_least(s->c, i, k, kind, w->l->x, w->by_energy, &by))
            extend(w, i, k, kind, by.x[IG_EXPLORE_ENERGY], by.latency_ns, &by);
    }
}

static void put(struct ig_explore_point *p, const struct ig_search_step *by, int32_t k, int32_t device)
{
    int two = by->way[1] >= 0;
    p->stages[p->n_stages++] = (struct ig_explore_stage){by->from, two ? by->cut : k, by->way[0], device};
    if (two) p->stages[p->n_stages++] = (struct ig_explore_stage){by->cut, k, by->way[1], device};
}

static void trace(const struct ig_search *s, int32_t state, int32_t kind, struct ig_explore_point *p)
{
    const struct ig_search_step *path[IG_EXPLORE_DEVICES], *at;
    int32_t n = 0, ends[IG_EXPLORE_DEVICES], k = s->x->n;
    *p = (struct ig_explore_point){.n_stages = 0};
    for (; k > 0; n++) {
        at = &s->steps[((int64_t)k * s->n_states + state) * s->x->n_kinds + kind];
        path[n] = at;
        ends[n] = k;
        k = at->from;
        state = at->state;
        kind = at->kind;
    }
    for (int32_t d = 0; d < n; d++) put(p, path[n - 1 - d], ends[n - 1 - d], d);
    ig_explore_fill(s->c->r, p);
}

/* Of the last cells. */
static int find_end(const struct seeker *w, struct ig_explore_point *p)
{
    const struct ig_search *s = w->s;
    int32_t kinds = s->x->n_kinds, row = s->n_states * kinds, end = -1;
    const struct ig_search_step *last = s->steps + (int64_t)s->x->n * row;
    for (int32_t q = 0; q < row; q++) {
        int32_t fewer = end < 0 ? -1 : w->fewest ? s->used[q / kinds] - s->used[end / kinds] : 0;
        if (last[q].sum < IG_SEARCH_NONE && (fewer < 0 || (!fewer && is_less(&last[q], &last[end])))) end = q;
    }
    if (end < 0) return -1;
    trace(s, end / kinds, end % kinds, p);
    return 0;
}

int ig_search_best(struct ig_search *s, const struct ig_search_limits *l, int32_t by_energy, int32_t fewest,
                   struct ig_explore_point *p)
{
    const struct seeker w = {s, l, by_energy, fewest};
    int32_t row = s->n_states * s->x->n_kinds, first = 0, devices = s->devices;
    s->solves++;
    if (!ig_search_cuts(s, l)) return -1;
    if (fewest) need_exactly(&w);
    if (fewest && s->x->n_kinds == 1 && s->need[0] <= devices) s->devices = s->need[0];
    for (int32_t at = 0; at < s->n_cuts; at++) {
        s->live[s->cuts[at]] = at ? IG_EXPLORE_DEVICES + 1 : 0;
        for (int32_t q = 0; q < row; q++) s->steps[(int64_t)s->cuts[at] * row + q].sum = IG_SEARCH_NONE;
    }
    s->steps[0].sum = s->steps[0].second = 0;
    for (int32_t at = 1; at < s->n_cuts; at++) {
        first = ig_search_first(s, first, at, l);
        if (s->reach[s->cuts[at]] + s->need[s->cuts[at]] > s->devices) continue;
        for (int32_t before = at - 1; before >= first; before--) try_run(&w, s->cuts[before], s->cuts[at]);
    }
    s->devices = devices;
    return find_end(&w, p);
}
