#include "planner/deploy/explore_search.h"

#include <stdlib.h>

#include "planner/alloc.h"

enum { ROUNDS = 5 }; /* of floors that are lower and lower: ig_search_tighten */

static void count_devices(struct ig_search *s)
{
    int32_t kinds = s->x->n_kinds;
    for (int32_t state = 0; state < s->n_states; state++)
        for (int32_t k = 0; k < kinds; k++)
            s->used[state] += state / s->stride[k] % (s->x->kinds[k].count + 1);
    for (int32_t state = 0; state < s->n_states; state++)
        for (int32_t k = 0; k < kinds; k++) {
            int32_t used = state / s->stride[k] % (s->x->kinds[k].count + 1);
            s->room[state * kinds + k] = used < s->x->kinds[k].count;
        }
}

void ig_search_begin(struct ig_search *s, struct ig_choices *c, int32_t devices)
{
    *s = (struct ig_search){.c = c, .x = c->r->x, .n_states = 1};
    size_t n = (size_t)s->x->n + 1, kinds = (size_t)s->x->n_kinds;
    for (int32_t k = 0; k < s->x->n_kinds; k++) {
        s->stride[k] = s->n_states;
        s->n_states *= s->x->kinds[k].count + 1;
        s->devices += s->x->kinds[k].count;
    }
    if (s->devices > devices) s->devices = devices;
    size_t states = (size_t)s->n_states, cells = n * states * kinds;
    s->value = ig_must_alloc(cells, sizeof *s->value);
    s->before = ig_must_alloc(cells, sizeof *s->before);
    s->steps = ig_must_alloc(cells, sizeof *s->steps);
    s->cuts = ig_must_alloc(n, sizeof *s->cuts);
    s->live = ig_must_alloc(n, sizeof *s->live);
    s->reached = ig_must_alloc(n, sizeof *s->reached);
    s->need = ig_must_alloc(n, sizeof *s->need);
    s->used = ig_must_alloc(states, sizeof *s->used);
    s->room = ig_must_alloc(states * kinds, 1);
    s->links = ig_must_alloc(kinds * kinds * n, sizeof *s->links);
    count_devices(s);
    for (size_t pair = 0; pair < kinds * kinds; pair++)
        for (size_t i = 1; i < n; i++)
            s->links[pair * n + i] = ig_pipe_transfer(&s->x->link[pair / kinds][pair % kinds], c->r->passing[i]);
}

void ig_search_end(struct ig_search *s)
{
    void *owned[] = {s->value, s->before, s->steps, s->cuts, s->live, s->reached, s->need, s->used, s->room, s->links};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

static int64_t link_ns(const struct ig_search *s, int32_t cut, int32_t from, int32_t to)
{
    return s->links[(from * s->x->n_kinds + to) * (s->x->n + 1) + cut];
}

static int keeps(const int64_t *x, const struct ig_search_limits *l)
{
    return x[0] <= l->x[0] && x[1] <= l->x[1] && x[2] <= l->x[2];
}

static int may_be_run(const struct ig_search *s, int32_t first, int32_t end, const struct ig_search_limits *l)
{
    int64_t bound[IG_EXPLORE_AXES];
    ig_bounds_of(&s->c->bounds, s->cuts[first], s->cuts[end], bound);
    return keeps(bound, l);
}

/* From the last node on, each device as many as its bounds allow: a run that keeps the limits does so without its ends. */
static void find_need(struct ig_search *s, const struct ig_search_limits *l)
{
    int32_t end = s->n_cuts - 1, devices = 0;
    s->need[s->x->n] = 0;
    while (end > 0) {
        int32_t low = 0, first = end;
        while (low < first && devices < s->devices) {
            int32_t middle = (low + first) / 2;
            if (may_be_run(s, middle, end, l)) first = middle;
            else low = middle + 1;
        }
        devices = first < end ? devices + 1 : s->devices + 1;
        if (first == end) first = 0;
        while (end > first) s->need[s->cuts[--end]] = devices;
    }
}

/* Where may be cut within the limits, and which devices that takes. 0: there are not enough. */
static int list_cuts(struct ig_search *s, const struct ig_search_limits *l)
{
    s->n_cuts = 0;
    for (int32_t i = 0; i <= s->x->n; i++) {
        int passes = i == 0 || i == s->x->n;
        for (int32_t k = 0; k < s->x->n_kinds * s->x->n_kinds && !passes && ig_explore_may_cut(s->x, i); k++)
            passes = link_ns(s, i, k / s->x->n_kinds, k % s->x->n_kinds) <= l->x[IG_EXPLORE_PERIOD];
        if (passes) s->cuts[s->n_cuts++] = i;
    }
    find_need(s, l);
    return s->need[0] <= s->devices;
}

/* Are there devices for that run, the nodes in front of it and those behind it? */
static int has_place(const struct ig_search *s, int32_t i, int32_t k)
{
    return s->live[i] + 1 + s->need[k] <= s->devices;
}

/* 0: neither the run between those cuts nor any that begins further ahead can keep the limits. */
static int is_of_use(const struct ig_search *s, int32_t before, int32_t at, const struct ig_search_limits *l)
{
    if (before < 0) return 0;
    int32_t i = s->cuts[before], k = s->cuts[at];
    const int64_t *pj = s->c->bounds.pj, *weights = s->c->r->weights;
    if (i < s->c->low[k] || pj[k] - pj[i] > l->x[IG_EXPLORE_ENERGY] || weights[k] - weights[i] > l->x[IG_EXPLORE_MEMORY])
        return 0;
    return !has_place(s, i, k) || ig_choices_made(s->c, i, k) || may_be_run(s, before, at, l);
}

/* 1: the run has its place, and has been looked at. */
static int look(struct ig_search *s, int32_t i, int32_t k)
{
    if (!has_place(s, i, k)) return 0;
    if (!ig_choices_made(s->c, i, k)) ig_choices_make(s->c, i, k);
    s->cells++;
    return 1;
}

/* The least of that measure that a device of the kind needs for the run, within limits. */
static int64_t least_of(const struct ig_search *s, int32_t i, int32_t k, int32_t kind, int32_t axis,
                        const struct ig_search_limits *l)
{
    const struct ig_choice_row *row = ig_choices_row(s->c, i, k, kind);
    const struct ig_choice *at = s->c->at + row->begin;
    int64_t best = IG_SEARCH_NONE;
    if (!keeps(row->least, l)) return best;
    for (int32_t q = 0; q < row->n - 1 && at[q].x[IG_EXPLORE_PERIOD] <= l->x[IG_EXPLORE_PERIOD]; q++) {
        if (at[q].x[axis] >= best || !keeps(at[q].x, l)) continue;
        best = at[q].x[axis];
        if (best == row->least[axis]) break;
    }
    return best;
}

/* May one more device, of that kind, take a run that ends in front of node k? */
static int may_follow(const struct ig_search *s, int32_t state, int32_t kind, int32_t k)
{
    return s->room[state * s->x->n_kinds + kind] && s->used[state] + 1 + s->need[k] <= s->devices;
}

/* With devices of one kind: is a value no more than that known for nodes up to k, on so many devices or fewer? */
static int is_beaten(const struct ig_search *s, int32_t k, int32_t devices, int64_t value)
{
    const int64_t *at = s->value + (int64_t)k * s->n_states;
    for (int32_t u = s->live[k]; u <= devices; u++)
        if (at[u] <= value) return 1;
    return 0;
}

static void extend(struct ig_search *s, int32_t i, int32_t k, int32_t kind, int64_t run, int32_t axis,
                   const struct ig_search_limits *l)
{
    int32_t kinds = s->x->n_kinds, by_link = axis == IG_EXPLORE_PERIOD, row = s->n_states * kinds;
    for (int32_t before = 0; before < kinds; before++) {
        int64_t link = link_ns(s, i, before, kind), least = by_link && link > run ? link : run;
        if (link > l->x[IG_EXPLORE_PERIOD]) continue;
        for (int32_t state = 0; state < s->n_states; state++) {
            int32_t from = i * row + state * kinds + before, to = k * row + (state + s->stride[kind]) * kinds + kind;
            int64_t now = s->value[from];
            if (now == IG_SEARCH_NONE || !may_follow(s, state, kind, k)) continue;
            if (now < least) now = least;
            if (now >= s->value[to] || (kinds == 1 && is_beaten(s, k, state + 1, now))) continue;
            s->value[to] = now;
            s->before[to] = from;
            if (now < s->reached[k]) s->reached[k] = now;
            if (s->live[k] > s->used[state] + 1) s->live[k] = s->used[state] + 1;
        }
    }
}

/*
 * What nobody gets below: every run between neighbouring cuts is part of a device's. IG_SEARCH_NONE: one of them is too
 * much for any.
 */
static int64_t floor_of(const struct ig_search *s, int32_t axis, const struct ig_search_limits *l)
{
    int64_t most = 0;
    for (int32_t at = 1; at < s->n_cuts && most < IG_SEARCH_NONE; at++) {
        int32_t i = s->cuts[at - 1], k = s->cuts[at];
        int64_t bound[IG_EXPLORE_AXES], least;
        ig_bounds_of(&s->c->bounds, i, k, bound);
        if (axis == IG_EXPLORE_MEMORY) least = keeps(bound, l) ? bound[axis] : IG_SEARCH_NONE;
        else least = ig_bounds_least(&s->c->bounds, i, k, (enum ig_explore_axis)axis, l->x[0], l->x[1]);
        if (least > most) most = least;
    }
    return most;
}

/* Longer runs first: with them few devices are known to do, for which others can be passed over unseen. */
static void solve_to(struct ig_search *s, int32_t first, int32_t at, int32_t axis, const struct ig_search_limits *l)
{
    int32_t k = s->cuts[at];
    for (int32_t before = first; before < at; before++) {
        int32_t i = s->cuts[before], made = ig_choices_made(s->c, i, k);
        if (!has_place(s, i, k)) continue;
        if (s->x->n_kinds == 1) {
            int64_t value = s->reached[i], least = made ? ig_choices_row(s->c, i, k, 0)->least[axis] : 0;
            if (is_beaten(s, k, s->live[i] + 1, value > least ? value : least)) continue;
        }
        look(s, i, k);
        for (int32_t kind = 0; kind < s->x->n_kinds; kind++) {
            int64_t run = least_of(s, i, k, kind, axis, l);
            if (run < IG_SEARCH_NONE) extend(s, i, k, kind, run, axis, l);
        }
    }
}

/* All cells within the limits; values below `floor` count as that. */
static void solve(struct ig_search *s, int32_t axis, int64_t floor, const struct ig_search_limits *l)
{
    int64_t cells = (int64_t)(s->x->n + 1) * s->n_states * s->x->n_kinds;
    int32_t first = 0;
    s->solves++;
    for (int64_t q = 0; q < cells; q++) s->value[q] = IG_SEARCH_NONE;
    for (int32_t i = 0; i <= s->x->n; i++) {
        s->reached[i] = IG_SEARCH_NONE;
        s->live[i] = i ? IG_EXPLORE_DEVICES + 1 : 0;
    }
    s->value[0] = s->reached[0] = floor;
    for (int32_t at = 1; at < s->n_cuts; at++) {
        while (first < at && (s->cuts[first] < s->c->low[s->cuts[at]] || !may_be_run(s, first, at, l))) first++;
        solve_to(s, first, at, axis, l);
    }
}

/* The last cell of the best that was found, of equals of the fewest devices; -1: there is none. */
static int32_t best_end(const struct ig_search *s)
{
    int32_t row = s->n_states * s->x->n_kinds, end = -1;
    const int64_t *last = s->value + (int64_t)s->x->n * row;
    for (int32_t q = 0; q < row; q++) {
        if (last[q] == IG_SEARCH_NONE) continue;
        int32_t fewer = end < 0 ? -1 : s->used[q / s->x->n_kinds] - s->used[end / s->x->n_kinds];
        if (end < 0 || last[q] < last[end] || (last[q] == last[end] && fewer < 0)) end = q;
    }
    return end;
}

/* On the way to that cell: the most of another measure that a device needs, where each does with as little as it can. */
static int64_t most_on_the_way(const struct ig_search *s, int32_t end, int32_t axis, const struct ig_search_limits *l)
{
    int32_t kinds = s->x->n_kinds, row = s->n_states * kinds;
    int64_t most = 0;
    for (int32_t to = s->x->n * row + end; to >= row; to = s->before[to]) {
        int32_t from = s->before[to], i = from / row, kind = to % kinds;
        int64_t run = least_of(s, i, to / row, kind, axis, l), link = link_ns(s, i, from % kinds, kind);
        if (run > most) most = run;
        if (axis == IG_EXPLORE_PERIOD && link > most) most = link;
    }
    return most;
}

/*
 * A high floor makes a solve cheap, as more is good enough: so first the limit itself less one, then what is nearer and nearer
 * to what nobody gets below. What a solve finds above its floor is the least; at its floor, there may be less.
 */
int ig_search_tighten(struct ig_search *s, int32_t axis, int32_t next, struct ig_search_limits *l, int32_t *devices)
{
    int64_t least, found;
    int32_t end;
    if (!list_cuts(s, l) || (least = floor_of(s, axis, l)) == IG_SEARCH_NONE) return 0;
    for (int round = 0;; round++) {
        int64_t room = l->x[axis] == IG_SEARCH_NONE ? 0 : l->x[axis] - least, floor = least;
        if (room > 0 && round < ROUNDS) floor += room - 1 - (round ? (room - 1) >> (ROUNDS - round) : 0);
        solve(s, axis, floor, l);
        if ((end = best_end(s)) < 0) return 0;
        found = s->value[(int64_t)s->x->n * s->n_states * s->x->n_kinds + end];
        l->x[axis] = found;
        if (found > floor || floor == least) break;
        int64_t now = most_on_the_way(s, end, axis, l);
        l->x[axis] = now;
        if (now == least || !list_cuts(s, l)) break;
    }
    *devices = s->used[end / s->x->n_kinds];
    if (next >= 0) l->x[next] = most_on_the_way(s, end, next, l);
    return 1;
}

void ig_search_use_known(const struct ig_search *s, int32_t axis, struct ig_search_limits *l)
{
    for (int32_t i = 0; i < s->c->n_known; i++)
        if (keeps(s->c->known[i], l)) l->x[axis] = s->c->known[i][axis];
}

/* --- the best of all that keep the limits --- */

static int is_less(const struct ig_search_step *a, const struct ig_search_step *b)
{
    return a->sum != b->sum ? a->sum < b->sum : a->second < b->second;
}

static void extend_sum(struct ig_search *s, int32_t i, int32_t k, int32_t kind, int64_t by, int32_t by_energy,
                       const struct ig_search_limits *l)
{
    const struct ig_choice *choice = &s->c->at[by];
    int32_t kinds = s->x->n_kinds;
    if (s->live[k] > s->live[i] + 1) s->live[k] = s->live[i] + 1;
    const struct ig_search_step *from = s->steps + (int64_t)i * s->n_states * kinds;
    struct ig_search_step *to = s->steps + (int64_t)k * s->n_states * kinds + (int64_t)s->stride[kind] * kinds + kind;
    for (int32_t before = 0; before < kinds; before++) {
        int64_t link = link_ns(s, i, before, kind);
        if (link > l->x[IG_EXPLORE_PERIOD]) continue;
        for (int32_t state = 0; state < s->n_states; state++) {
            const struct ig_search_step *at = &from[state * kinds + before];
            if (at->sum == IG_SEARCH_NONE || !may_follow(s, state, kind, k)) continue;
            int64_t ns = choice->latency_ns + link, pj = choice->x[IG_EXPLORE_ENERGY];
            struct ig_search_step now = {at->sum + (by_energy ? pj : ns), at->second + (by_energy ? ns : pj), i, state, before, by};
            if (to[(int64_t)state * kinds].sum == IG_SEARCH_NONE || is_less(&now, &to[(int64_t)state * kinds]))
                to[(int64_t)state * kinds] = now;
        }
    }
}

static void put(struct ig_explore_point *p, const struct ig_choice *by, int32_t i, int32_t k, int32_t device)
{
    int two = by->way[1] >= 0;
    p->stages[p->n_stages++] = (struct ig_explore_stage){i, two ? by->cut : k, by->way[0], device};
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
    for (int32_t d = 0; d < n; d++) put(p, &s->c->at[path[n - 1 - d]->by], path[n - 1 - d]->from, ends[n - 1 - d], d);
    ig_explore_fill(s->c->r, p);
}

/* Those of a run on one kind that keep the limits. */
static void try_choices(struct ig_search *s, int32_t i, int32_t k, int32_t kind, int32_t by_energy,
                        const struct ig_search_limits *l)
{
    const struct ig_choice_row *row = ig_choices_row(s->c, i, k, kind);
    if (!keeps(row->least, l)) return;
    for (int64_t by = row->begin; by < row->begin + row->n - 1; by++)
        if (keeps(s->c->at[by].x, l)) extend_sum(s, i, k, kind, by, by_energy, l);
}

int ig_search_best(struct ig_search *s, const struct ig_search_limits *l, int32_t by_energy, int32_t fewest, struct ig_explore_point *p)
{
    int32_t n = s->x->n, kinds = s->x->n_kinds, end = -1;
    int64_t row = (int64_t)s->n_states * kinds;
    const struct ig_search_step *last = s->steps + n * row;
    s->solves++;
    if (!list_cuts(s, l)) return -1;
    for (int64_t q = 0; q < (n + 1) * row; q++) s->steps[q].sum = IG_SEARCH_NONE;
    for (int32_t i = 0; i <= n; i++) s->live[i] = i ? IG_EXPLORE_DEVICES + 1 : 0;
    s->steps[0].sum = s->steps[0].second = 0;
    for (int32_t at = 1; at < s->n_cuts; at++)
        for (int32_t before = at - 1; is_of_use(s, before, at, l); before--)
            for (int32_t kind = 0; kind < kinds && look(s, s->cuts[before], s->cuts[at]); kind++)
                try_choices(s, s->cuts[before], s->cuts[at], kind, by_energy, l);
    for (int32_t q = 0; q < row; q++) {
        int32_t fewer = end < 0 ? -1 : fewest ? s->used[q / kinds] - s->used[end / kinds] : 0;
        if (last[q].sum < IG_SEARCH_NONE && (fewer < 0 || (!fewer && is_less(&last[q], &last[end])))) end = q;
    }
    if (end < 0) return -1;
    trace(s, end / kinds, end % kinds, p);
    return 0;
}
