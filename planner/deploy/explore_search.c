#include "planner/deploy/explore_search.h"

#include <stdlib.h>

#include "planner/alloc.h"

enum {
    ROUNDS = 5,                  /* of floors that are lower and lower: ig_search_tighten */
    HALVINGS = 8                 /* of where the lowest is: raise_floor */
};

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
    s->fewest = ig_must_alloc(n, sizeof *s->fewest);
    s->reached = ig_must_alloc(n, sizeof *s->reached);
    s->reach = ig_must_alloc(n, sizeof *s->reach);
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
    void *owned[] = {s->value, s->before, s->steps, s->cuts, s->live, s->fewest,
                     s->reached, s->reach, s->need, s->used, s->room, s->links};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
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
            if (ig_search_may_run(s, middle, end, l)) first = middle;
            else low = middle + 1;
        }
        devices = first < end ? devices + 1 : s->devices + 1;
        if (first == end) first = 0;
        while (end > first) s->need[s->cuts[--end]] = devices;
    }
}

/* The same from the first node on. */
static void find_reach(struct ig_search *s, const struct ig_search_limits *l)
{
    int32_t last = s->n_cuts - 1, start = 0, devices = 0;
    s->reach[0] = 0;
    while (start < last) {
        int32_t end = start, high = last;
        while (end < high && devices < s->devices) {
            int32_t middle = (end + high + 1) / 2;
            if (ig_search_may_run(s, start, middle, l)) end = middle;
            else high = middle - 1;
        }
        devices = end > start ? devices + 1 : s->devices + 1;
        if (end == start) end = last;
        while (start < end) s->reach[s->cuts[++start]] = devices;
    }
}

/* Leaves out cuts that no deployment within the limits has; 0: there were none. */
static int drop_cuts(struct ig_search *s)
{
    int32_t n = 0, was = s->n_cuts;
    for (int32_t at = 0; at < was; at++)
        if (s->reach[s->cuts[at]] + s->need[s->cuts[at]] <= s->devices) s->cuts[n++] = s->cuts[at];
    s->n_cuts = n;
    return n < was;
}

int ig_search_cuts(struct ig_search *s, const struct ig_search_limits *l)
{
    s->n_cuts = 0;
    for (int32_t i = 0; i <= s->x->n; i++)
        if (ig_explore_may_cut(s->x, i) && s->c->bounds.link[i] <= l->x[IG_EXPLORE_PERIOD]) s->cuts[s->n_cuts++] = i;
    do {
        find_need(s, l);
        if (s->need[0] > s->devices) return 0;
        find_reach(s, l);
    } while (drop_cuts(s));
    return 1;
}

int32_t ig_search_first(const struct ig_search *s, int32_t first, int32_t at, const struct ig_search_limits *l)
{
    while (first < at && (s->cuts[first] < s->c->low[s->cuts[at]] || !ig_search_may_run(s, first, at, l))) first++;
    return first;
}

int64_t ig_search_least(const struct ig_search *s, int32_t i, int32_t k, int32_t kind, int32_t axis, int64_t enough,
                        const struct ig_search_limits *l)
{
    const struct ig_choice_row *row = ig_choices_row(s->c, i, k, kind);
    const struct ig_choice *at = s->c->at + row->begin;
    int64_t best = IG_SEARCH_NONE;
    if (!ig_search_keeps(row->least, l)) return best;
    if (enough < row->least[axis]) enough = row->least[axis];
    for (int32_t q = 0; q < row->n - 1 && at[q].x[IG_EXPLORE_PERIOD] <= l->x[IG_EXPLORE_PERIOD]; q++) {
        if (at[q].x[axis] >= best || !ig_search_keeps(at[q].x, l)) continue;
        best = at[q].x[axis];
        if (best <= enough) break;
    }
    return best;
}

static void extend(struct ig_search *s, int32_t i, int32_t k, int32_t kind, int64_t run, int32_t axis,
                   const struct ig_search_limits *l)
{
    int32_t kinds = s->x->n_kinds, by_link = axis == IG_EXPLORE_PERIOD, row = s->n_states * kinds;
    for (int32_t before = 0; before < kinds; before++) {
        int64_t link = ig_search_link(s, i, before, kind), least = by_link && link > run ? link : run;
        if (link > l->x[IG_EXPLORE_PERIOD]) continue;
        for (int32_t state = 0; state < s->n_states; state++) {
            int32_t from = i * row + state * kinds + before, to = k * row + (state + s->stride[kind]) * kinds + kind;
            int64_t now = s->value[from];
            if (now == IG_SEARCH_NONE || !ig_search_may_follow(s, state, kind, k)) continue;
            if (now < least) now = least;
            if (now >= s->value[to]) continue;
            s->value[to] = now;
            s->before[to] = from;
            if (now < s->reached[k]) s->reached[k] = now;
            if (s->live[k] > s->used[state] + 1) s->live[k] = s->used[state] + 1;
        }
    }
}

/* What nobody gets below: every run between neighbouring cuts is part of a device's. */
static int64_t floor_of(const struct ig_search *s, int32_t axis)
{
    const struct ig_bounds *b = &s->c->bounds;
    int64_t most = b->front[(int64_t)b->devices * (s->x->n + 1) + s->x->n][axis];
    for (int32_t at = 1; at < s->n_cuts; at++) {
        int64_t least = ig_bounds_of(b, s->cuts[at - 1], s->cuts[at])[axis];
        if (least > most) most = least;
    }
    return most;
}

static void solve_to(struct ig_search *s, int32_t first, int32_t at, int32_t axis, const struct ig_search_limits *l)
{
    int32_t k = s->cuts[at];
    for (int32_t before = first; before < at; before++) {
        int32_t i = s->cuts[before];
        if (!ig_search_has_place(s, i, k)) continue;
        ig_search_look(s, i, k);
        for (int32_t kind = 0; kind < s->x->n_kinds; kind++) {
            int64_t run = ig_search_least(s, i, k, kind, axis, s->reached[i], l);
            if (run < IG_SEARCH_NONE) extend(s, i, k, kind, run, axis, l);
        }
    }
}

/* All cells within the limits; values below `floor` count as that. */
static void solve(struct ig_search *s, int32_t axis, int64_t floor, const struct ig_search_limits *l)
{
    int32_t first = 0, row = s->n_states * s->x->n_kinds;
    s->solves++;
    for (int32_t at = 0; at < s->n_cuts; at++) {
        int32_t i = s->cuts[at];
        for (int32_t q = 0; q < row; q++) s->value[(int64_t)i * row + q] = IG_SEARCH_NONE;
        s->reached[i] = IG_SEARCH_NONE;
        s->live[i] = at ? IG_EXPLORE_DEVICES + 1 : 0;
    }
    s->value[0] = s->reached[0] = floor;
    for (int32_t at = 1; at < s->n_cuts; at++) {
        first = ig_search_first(s, first, at, l);
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
        int64_t run = ig_search_least(s, i, to / row, kind, axis, 0, l), link = ig_search_link(s, i, from % kinds, kind);
        if (run > most) most = run;
        if (axis == IG_EXPLORE_PERIOD && link > most) most = link;
    }
    return most;
}

/* Do the bounds allow that a limit is so much? */
static int may_do(struct ig_search *s, int32_t axis, int64_t most, const struct ig_search_limits *l)
{
    struct ig_search_limits tried = *l;
    tried.x[axis] = most;
    return ig_search_cuts(s, &tried);
}

/* What that limit has to be at least for enough devices by the bounds; no less than `least`. */
static int64_t raise_floor(struct ig_search *s, int32_t axis, int64_t least, const struct ig_search_limits *l)
{
    int64_t high = l->x[axis];
    for (int32_t round = 0; round < HALVINGS && least < high; round++) {
        int64_t middle = least + (high - least) / 2;
        if (may_do(s, axis, middle, l)) high = middle;
        else least = middle + 1;
    }
    return least;
}

/*
 * A high floor makes a solve cheap, as more is good enough: so first the limit itself less one, then what is nearer and
 * nearer to what nobody gets below. What a solve finds above its floor is the least; at its floor, there may be less.
 */
int ig_search_tighten(struct ig_search *s, int32_t axis, int32_t next, int32_t is_there, struct ig_search_limits *l)
{
    int64_t least, found;
    int32_t end;
    if (!ig_search_cuts(s, l) || (least = floor_of(s, axis)) > l->x[axis]) return 0;
    if (is_there && !may_do(s, axis, l->x[axis] - 1, l)) return 1;
    for (int round = 0;; round++) {
        if (round == 1) least = raise_floor(s, axis, least, l);
        if (!ig_search_cuts(s, l)) return round > 0;
        int64_t room = l->x[axis] == IG_SEARCH_NONE ? 0 : l->x[axis] - least, floor = least;
        if (room > 0 && round < ROUNDS) floor += room - 1 - (round ? (room - 1) >> (ROUNDS - round) : 0);
        if (s->x->n_kinds == 1) ig_search_solve_alike(s, axis, floor, l);
        else solve(s, axis, floor, l);
        if ((end = best_end(s)) < 0) return 0;
        found = s->value[(int64_t)s->x->n * s->n_states * s->x->n_kinds + end];
        l->x[axis] = found;
        if (found > floor || floor == least) break;
        l->x[axis] = most_on_the_way(s, end, axis, l);
        if (l->x[axis] == least) break;
    }
    if (next >= 0) l->x[next] = most_on_the_way(s, end, next, l);
    return 1;
}

void ig_search_use_known(const struct ig_search *s, int32_t axis, struct ig_search_limits *l)
{
    for (int32_t i = 0; i < s->c->n_known; i++)
        if (ig_search_keeps(s->c->known[i], l)) l->x[axis] = s->c->known[i][axis];
}
