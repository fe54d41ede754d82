/*
 * The exact front. All three measures are those of the worst device, so that with two of them bounded the least of the
 * third is a bottleneck path over (nodes done, devices used of each kind): one dynamic programme. The front is walked by
 * falling period; for the period that is allowed, its points between energy and memory stand in a staircase, each with
 * the least period that it needs. The one that needs most is on the front; with a period less it falls, and new ones are
 * searched for in the gap that it leaves, which no others bound.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/explore_choices.h"

#define NONE INT64_MAX

struct search {
    const struct ig_choices *c;
    const struct ig_explore *x;
    int32_t n_states;                    /* of devices used: mixed radix of the kinds */
    int32_t stride[IG_EXPLORE_KINDS];
    int64_t *value;                      /* [n + 1][n_states][n_kinds] kind of the last device */
    struct step *steps;                  /* the same, of least sums */
    int32_t *cuts, n_cuts;               /* nodes before which the last solve could cut: 0, ..., n */
    int32_t devices, *live;              /* at most; [n + 1] the fewest that the nodes up to there have a place on */
    uint8_t *room;                       /* [n_states][n_kinds] 1: one more device of the kind may be used */
    int64_t solves, cells;
};

struct step {
    int64_t sum, second;                 /* NONE: not reached */
    int32_t from, state, kind;           /* of the device before */
    const struct ig_choice *by;
};

struct limits {
    int64_t x[IG_EXPLORE_AXES];
};

static int32_t devices_of(const struct search *s, int32_t state)
{
    int32_t n = 0;
    for (int32_t k = 0; k < s->x->n_kinds; k++) n += state / s->stride[k] % (s->x->kinds[k].count + 1);
    return n;
}

static void begin(struct search *s, const struct ig_choices *c, int32_t devices)
{
    *s = (struct search){.c = c, .x = c->r->x, .n_states = 1, .devices = devices};
    for (int32_t k = 0; k < s->x->n_kinds; k++) {
        s->stride[k] = s->n_states;
        s->n_states *= s->x->kinds[k].count + 1;
    }
    size_t cells = (size_t)(s->x->n + 1) * (size_t)(s->n_states * s->x->n_kinds);
    s->value = ig_must_alloc(cells, sizeof *s->value);
    s->steps = ig_must_alloc(cells, sizeof *s->steps);
    s->cuts = ig_must_alloc((size_t)s->x->n + 1, sizeof *s->cuts);
    s->live = ig_must_alloc((size_t)s->x->n + 1, sizeof *s->live);
    s->room = ig_must_alloc((size_t)(s->n_states * s->x->n_kinds), 1);
    for (int32_t state = 0; state < s->n_states; state++)
        for (int32_t k = 0; k < s->x->n_kinds; k++) {
            int32_t used = state / s->stride[k] % (s->x->kinds[k].count + 1);
            s->room[state * s->x->n_kinds + k] = used < s->x->kinds[k].count && devices_of(s, state) < devices;
        }
}

static void end(struct search *s)
{
    free(s->value);
    free(s->steps);
    free(s->room);
    free(s->cuts);
    free(s->live);
}

static int64_t link_ns(const struct search *s, int32_t cut, int32_t from, int32_t to)
{
    return cut ? ig_pipe_transfer(&s->x->link[from][to], s->c->r->passing[cut]) : 0;
}

static void list_cuts(struct search *s, const struct limits *l)
{
    s->n_cuts = 0;
    for (int32_t i = 0; i <= s->x->n; i++) s->live[i] = i ? IG_EXPLORE_DEVICES + 1 : 0;
    for (int32_t i = 0; i <= s->x->n; i++) {
        int passes = i == 0 || i == s->x->n;
        for (int32_t k = 0; k < s->x->n_kinds * s->x->n_kinds && !passes && ig_explore_may_cut(s->x, i); k++)
            passes = link_ns(s, i, k / s->x->n_kinds, k % s->x->n_kinds) <= l->x[IG_EXPLORE_PERIOD];
        if (passes) s->cuts[s->n_cuts++] = i;
    }
}

/* Between those two cuts: not if no run that begins there or further ahead can keep the limits. */
static int is_of_use(const struct search *s, int32_t before, int32_t at, const struct limits *l)
{
    const int64_t *least = s->c->least_ns, *pj = s->c->least_pj, *weights = s->c->r->weights;
    if (before < 0) return 0;
    int32_t i = s->cuts[before], k = s->cuts[at];
    return i >= s->c->low[k] && (least[k] - least[i] + s->c->halves - 1) / s->c->halves <= l->x[IG_EXPLORE_PERIOD] &&
           pj[k] - pj[i] <= l->x[IG_EXPLORE_ENERGY] && weights[k] - weights[i] <= l->x[IG_EXPLORE_MEMORY];
}

static int keeps(const struct ig_choice *at, const struct limits *l)
{
    return at->x[0] <= l->x[0] && at->x[1] <= l->x[1] && at->x[2] <= l->x[2];
}

/* The least of that measure that a device of the kind needs for the run, within limits. */
static int64_t least_of(const struct search *s, int32_t i, int32_t k, int32_t kind, int32_t axis, const struct limits *l)
{
    const struct ig_choice *at;
    int32_t n = ig_choices_of(s->c, i, k, kind, &at);
    int64_t best = NONE;
    for (int32_t q = 0; q < n && at[q].x[IG_EXPLORE_PERIOD] <= l->x[IG_EXPLORE_PERIOD]; q++)
        if (at[q].x[axis] < best && keeps(&at[q], l)) best = at[q].x[axis];
    return best;
}

static void extend(struct search *s, int32_t i, int32_t k, int32_t kind, int64_t run, int32_t axis, const struct limits *l)
{
    int32_t kinds = s->x->n_kinds, by_link = axis == IG_EXPLORE_PERIOD;
    if (s->live[k] > s->live[i] + 1) s->live[k] = s->live[i] + 1;
    const int64_t *from = s->value + (int64_t)i * s->n_states * kinds;
    int64_t *to = s->value + (int64_t)k * s->n_states * kinds + (int64_t)s->stride[kind] * kinds + kind;
    for (int32_t before = 0; before < kinds; before++) {
        int64_t link = link_ns(s, i, before, kind), least = by_link && link > run ? link : run;
        if (link > l->x[IG_EXPLORE_PERIOD]) continue;
        for (int32_t state = 0; state < s->n_states; state++) {
            int64_t now = from[state * kinds + before];
            if (now == NONE || !s->room[state * kinds + kind]) continue;
            if (now < least) now = least;
            if (now < to[(int64_t)state * kinds]) to[(int64_t)state * kinds] = now;
        }
    }
}

/* The least of that measure among deployments within the limits, of that measure, too; NONE: there is none. */
static int64_t least(struct search *s, int32_t axis, const struct limits *l)
{
    int32_t n = s->x->n, kinds = s->x->n_kinds;
    int64_t row = (int64_t)s->n_states * kinds, best = NONE;
    for (int64_t q = 0; q < (n + 1) * row; q++) s->value[q] = NONE;
    s->value[0] = 0;
    s->solves++;
    list_cuts(s, l);
    for (int32_t at = 1; at < s->n_cuts; at++)
        for (int32_t before = at - 1; is_of_use(s, before, at, l); before--)
            for (int32_t kind = 0; kind < kinds; kind++) {
                int32_t i = s->cuts[before], k = s->cuts[at];
                if (s->live[i] + 1 + (k < n) > s->devices) continue;
                int64_t run = least_of(s, i, k, kind, axis, l);
                s->cells++;
                if (run < NONE) extend(s, i, k, kind, run, axis, l);
            }
    for (int64_t q = 0; q < row; q++)
        if (s->value[n * row + q] < best) best = s->value[n * row + q];
    return best;
}

/* --- the best of all that keep the limits --- */

static int is_less(const struct step *a, const struct step *b)
{
    return a->sum != b->sum ? a->sum < b->sum : a->second < b->second;
}

static void extend_sum(struct search *s, int32_t i, int32_t k, int32_t kind, const struct ig_choice *by, int32_t by_energy,
                       const struct limits *l)
{
    int32_t kinds = s->x->n_kinds;
    if (s->live[k] > s->live[i] + 1) s->live[k] = s->live[i] + 1;
    const struct step *from = s->steps + (int64_t)i * s->n_states * kinds;
    struct step *to = s->steps + (int64_t)k * s->n_states * kinds + (int64_t)s->stride[kind] * kinds + kind;
    for (int32_t before = 0; before < kinds; before++) {
        int64_t link = link_ns(s, i, before, kind);
        if (link > l->x[IG_EXPLORE_PERIOD]) continue;
        for (int32_t state = 0; state < s->n_states; state++) {
            const struct step *at = &from[state * kinds + before];
            if (at->sum == NONE || !s->room[state * kinds + kind]) continue;
            int64_t ns = by->latency_ns + link, pj = by->x[IG_EXPLORE_ENERGY];
            struct step now = {at->sum + (by_energy ? pj : ns), at->second + (by_energy ? ns : pj), i, state, before, by};
            if (to[(int64_t)state * kinds].sum == NONE || is_less(&now, &to[(int64_t)state * kinds]))
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

static void trace(const struct search *s, int32_t state, int32_t kind, struct ig_explore_point *p)
{
    const struct step *path[IG_EXPLORE_DEVICES], *at;
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
    for (int32_t d = 0; d < n; d++) put(p, path[n - 1 - d]->by, path[n - 1 - d]->from, ends[n - 1 - d], d);
    ig_explore_fill(s->c->r, p);
}

/* fewest: devices first, then the sums. */
static int best(struct search *s, const struct limits *l, int32_t by_energy, int32_t fewest, struct ig_explore_point *p)
{
    int32_t n = s->x->n, kinds = s->x->n_kinds, end = -1;
    int64_t row = (int64_t)s->n_states * kinds;
    const struct step *last = s->steps + n * row;
    const struct ig_choice *by;
    for (int64_t q = 0; q < (n + 1) * row; q++) s->steps[q].sum = NONE;
    s->steps[0].sum = s->steps[0].second = 0;
    s->solves++;
    list_cuts(s, l);
    for (int32_t at = 1; at < s->n_cuts; at++)
        for (int32_t before = at - 1; is_of_use(s, before, at, l); before--)
            for (int32_t kind = 0; kind < kinds; kind++) {
                int32_t i = s->cuts[before], k = s->cuts[at];
                if (s->live[i] + 1 + (k < n) > s->devices) continue;
                int32_t choices = ig_choices_of(s->c, i, k, kind, &by);
                s->cells++;
                for (int32_t q = 0; q < choices; q++)
                    if (keeps(&by[q], l)) extend_sum(s, i, k, kind, &by[q], by_energy, l);
            }
    for (int32_t q = 0; q < row; q++) {
        int32_t fewer = end < 0 ? -1 : fewest ? devices_of(s, q / kinds) - devices_of(s, end / kinds) : 0;
        if (last[q].sum < NONE && (fewer < 0 || (!fewer && is_less(&last[q], &last[end])))) end = q;
    }
    if (end < 0) return -1;
    trace(s, end / kinds, end % kinds, p);
    return 0;
}

/* --- the front --- */

struct stair {                   /* by rising energy and falling memory */
    int64_t x[IG_EXPLORE_AXES];
};

struct staircase {
    int32_t n, room;
    struct stair *at;
};

static void insert(struct staircase *t, int32_t at, struct stair now)
{
    if (t->n == t->room) {
        t->room = 2 * t->room + 64;
        struct stair *more = realloc(t->at, (size_t)t->room * sizeof *more);
        if (!more) abort();
        t->at = more;
    }
    memmove(t->at + at + 1, t->at + at, (size_t)(t->n - at) * sizeof *t->at);
    t->at[at] = now;
    t->n++;
}

/* All stairs within the period between number at - 1 and number at, in the order of rising energy. */
static void fill_gap(struct search *s, struct staircase *t, int32_t at, int64_t period)
{
    for (;; at++) {
        int64_t memory = at ? t->at[at - 1].x[IG_EXPLORE_MEMORY] - 1 : NONE;
        int64_t energy = at < t->n ? t->at[at].x[IG_EXPLORE_ENERGY] - 1 : NONE;
        struct limits l = {{period, energy, memory}};
        if ((l.x[IG_EXPLORE_ENERGY] = least(s, IG_EXPLORE_ENERGY, &l)) == NONE) return;
        l.x[IG_EXPLORE_MEMORY] = least(s, IG_EXPLORE_MEMORY, &l);
        l.x[IG_EXPLORE_PERIOD] = least(s, IG_EXPLORE_PERIOD, &l);
        insert(t, at, (struct stair){{l.x[0], l.x[1], l.x[2]}});
    }
}

static void add_point(struct search *s, struct ig_explore_front *f, const struct stair *at)
{
    struct limits l = {{at->x[0], at->x[1], at->x[2]}};
    struct ig_explore_point *more = realloc(f->at, (size_t)(f->n + 1) * sizeof *more);
    if (!more) abort();
    f->at = more;
    best(s, &l, 1, 1, &f->at[f->n++]);
}

/* The front of what the choices allow, behind what f has; f's counts go on. */
static void walk(struct search *s, struct ig_explore_front *f)
{
    struct staircase t = {0, 0, NULL};
    fill_gap(s, &t, 0, NONE);
    while (t.n) {
        int32_t top = 0;
        for (int32_t i = 1; i < t.n; i++)
            if (t.at[i].x[IG_EXPLORE_PERIOD] > t.at[top].x[IG_EXPLORE_PERIOD]) top = i;
        struct stair fallen = t.at[top];
        add_point(s, f, &fallen);
        memmove(t.at + top, t.at + top + 1, (size_t)(--t.n - top) * sizeof *t.at);
        fill_gap(s, &t, top, fallen.x[IG_EXPLORE_PERIOD] - 1);
    }
    free(t.at);
}

/* The three deployments that are the least on one axis each, and then on the others. */
static void walk_corners(struct search *s, struct ig_explore_front *f)
{
    for (int32_t first = 0; first < IG_EXPLORE_AXES; first++) {
        struct limits l = {{NONE, NONE, NONE}};
        for (int32_t i = 0; i < IG_EXPLORE_AXES; i++) {
            int32_t axis = (first + i) % IG_EXPLORE_AXES;
            if ((l.x[axis] = least(s, axis, &l)) == NONE) return;
        }
        add_point(s, f, &(struct stair){{l.x[0], l.x[1], l.x[2]}});
    }
}

/* One round over these choices; what it finds takes the place of what f has. */
static void round_of(struct search *s, const struct ig_choices *c, int32_t devices,
                     void (*go)(struct search *, struct ig_explore_front *), struct ig_explore_front *f)
{
    free(f->at);
    f->at = NULL;
    f->n = 0;
    begin(s, c, devices);
    go(s, f);
    f->solves += s->solves;
    f->cells += s->cells;
    end(s);
}

/* Devices with one stage each: first the corners, which then keep the choices few. */
static void explore_apart(const struct ig_ranges *r, int32_t devices, struct ig_explore_front *f)
{
    struct ig_choices c;
    struct search s;
    *f = (struct ig_explore_front){.n = 0};
    ig_choices_make(r, devices, 1, 0, f, &c);
    round_of(&s, &c, devices, walk_corners, f);
    ig_choices_filter(&c, f);
    round_of(&s, &c, devices, walk, f);
    ig_choices_free(&c);
}

/* *c: choices for fewer devices that are all there are, to go on with, or none yet (c->at NULL). */
static void explore_with(const struct ig_ranges *r, int32_t devices, struct ig_choices *c, const struct ig_explore_front *known,
                         struct ig_explore_front *f)
{
    struct search s;
    explore_apart(r, devices, f);
    if (r->x->apart) return;
    if (c->at)
        ig_choices_filter(c, f);
    else
        ig_choices_make(r, devices, 2, 0, f, c);
    if (known) ig_choices_filter(c, known);
    round_of(&s, c, devices, walk, f);
}

void ig_explore_exact(const struct ig_ranges *r, int32_t devices, struct ig_explore_front *f)
{
    struct ig_choices c = {.at = NULL};
    explore_with(r, devices, &c, NULL, f);
    ig_choices_free(&c);
}

/* a is as good as b, on as few devices; with the energy of waiting, too. */
static int replaces(const struct ig_explore_point *a, const struct ig_explore_point *b)
{
    return a->n_devices <= b->n_devices && a->period_ns <= b->period_ns && a->device_pj <= b->device_pj &&
           a->memory_bytes <= b->memory_bytes;
}

static void merge(struct ig_explore_front *to, const struct ig_explore_front *of)
{
    struct ig_explore_point *all = realloc(to->at, (size_t)(to->n + of->n + 1) * sizeof *all);
    int32_t n = to->n;
    if (!all) abort();
    to->at = all;
    for (int32_t i = 0; i < of->n; i++) {
        int32_t k = 0;
        while (k < to->n && !replaces(&all[k], &of->at[i])) k++;
        if (k == to->n) all[to->n++] = of->at[i];
    }
    for (int32_t i = n; i < to->n; i++) /* of the new ones, two may differ in nothing but the energy of waiting */
        for (int32_t k = to->n - 1; k > i; k--)
            if (replaces(&all[k], &all[i])) {
                all[i] = all[k];
                memmove(&all[k], &all[k + 1], (size_t)(--to->n - k) * sizeof *all);
                k = to->n;
            }
    to->solves += of->solves;
    to->cells += of->cells;
}

void ig_explore_all(const struct ig_ranges *r, struct ig_explore_front *f)
{
    int32_t devices = 0;
    struct ig_choices c = {.at = NULL};
    for (int32_t k = 0; k < r->x->n_kinds; k++) devices += r->x->kinds[k].count;
    *f = (struct ig_explore_front){.n = 0};
    for (int32_t n = 1; n <= devices; n++) {
        struct ig_explore_front of;
        explore_with(r, n, &c, f, &of);
        merge(f, &of);
        ig_explore_front_free(&of);
        if (n > 2) continue; /* from three on, all runs are there */
        ig_choices_free(&c);
        c = (struct ig_choices){.at = NULL};
    }
    ig_choices_free(&c);
}

int ig_explore_least(const struct ig_ranges *r, struct ig_explore_limits limits, enum ig_explore_sum sum,
                     struct ig_explore_point *p)
{
    const struct ig_explore_front none = {.n = 0};
    struct ig_choices c;
    struct search s;
    struct limits l = {{limits.period_ns ? limits.period_ns : NONE, limits.pj ? limits.pj : NONE,
                        limits.bytes ? limits.bytes : NONE}};
    ig_choices_make(r, IG_EXPLORE_DEVICES, r->x->apart ? 1 : 2, sum == IG_EXPLORE_LATENCY, &none, &c);
    begin(&s, &c, IG_EXPLORE_DEVICES);
    int failed = best(&s, &l, sum == IG_EXPLORE_TOTAL_ENERGY, 0, p);
    end(&s);
    ig_choices_free(&c);
    return failed;
}
