/*
 * The exact front. All three measures are those of the worst device, so that with two of them bounded the least of the
 * third is a bottleneck path over (nodes done, devices used of each kind): one dynamic programme. The front is walked by
 * falling period; for the period that is allowed, its points between energy and memory stand in a staircase, each with
 * the least period that it needs. The one that needs most is on the front; with a period less it falls, and new ones are
 * searched for in the gap that it leaves, which no others bound.
 * A limit is never wider than what the best deployment that is known takes (`ig_search_use_known`).
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/deploy/explore_search.h"
#include "planner/deploy/explore_seeds.h"

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
static void fill_gap(struct ig_search *s, struct staircase *t, int32_t at, int64_t period)
{
    for (;; at++) {
        int64_t memory = at ? t->at[at - 1].x[IG_EXPLORE_MEMORY] - 1 : IG_SEARCH_NONE;
        int64_t energy = at < t->n ? t->at[at].x[IG_EXPLORE_ENERGY] - 1 : IG_SEARCH_NONE;
        struct ig_search_limits l = {{period, energy, memory}};
        ig_search_use_known(s, IG_EXPLORE_ENERGY, &l);
        if (!ig_search_tighten(s, IG_EXPLORE_ENERGY, IG_EXPLORE_MEMORY, 0, &l)) return;
        ig_search_use_known(s, IG_EXPLORE_MEMORY, &l);
        ig_search_tighten(s, IG_EXPLORE_MEMORY, IG_EXPLORE_PERIOD, 1, &l);
        ig_search_use_known(s, IG_EXPLORE_PERIOD, &l);
        ig_search_tighten(s, IG_EXPLORE_PERIOD, -1, 1, &l);
        insert(t, at, (struct stair){{l.x[0], l.x[1], l.x[2]}});
    }
}

/*
 * Of the deployments that are as good as that. Where devices have one stage there may be none: limits are also those of known
 * deployments, which may have two.
 */
static void add_point(struct ig_search *s, struct ig_explore_front *f, const struct stair *at)
{
    struct ig_search_limits l = {{at->x[0], at->x[1], at->x[2]}};
    struct ig_explore_point *more = realloc(f->at, (size_t)(f->n + 1) * sizeof *more);
    if (!more) abort();
    f->at = more;
    f->n += !ig_search_best(s, &l, 1, 1, &f->at[f->n]);
}

/* The front of what the choices allow, behind what f has; f's counts go on. */
static void walk(struct ig_search *s, struct ig_explore_front *f)
{
    struct staircase t = {0, 0, NULL};
    fill_gap(s, &t, 0, IG_SEARCH_NONE);
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
static void walk_corners(struct ig_search *s, struct ig_explore_front *f)
{
    for (int32_t first = 0; first < IG_EXPLORE_AXES; first++) {
        struct ig_search_limits l = {{IG_SEARCH_NONE, IG_SEARCH_NONE, IG_SEARCH_NONE}};
        for (int32_t i = 0; i < IG_EXPLORE_AXES; i++) {
            int32_t axis = (first + i) % IG_EXPLORE_AXES;
            ig_search_use_known(s, axis, &l);
            if (!ig_search_tighten(s, axis, -1, i > 0, &l)) return;
        }
        add_point(s, f, &(struct stair){{l.x[0], l.x[1], l.x[2]}});
    }
}

/* One round over these choices; what it finds takes the place of what f has. */
static void round_of(struct ig_choices *c, int32_t devices, void (*go)(struct ig_search *, struct ig_explore_front *),
                     struct ig_explore_front *f)
{
    struct ig_search s;
    free(f->at);
    f->at = NULL;
    f->n = 0;
    ig_search_begin(&s, c, devices);
    go(&s, f);
    f->solves += s.solves;
    f->cells += s.cells;
    ig_search_end(&s);
}

/* Devices with so many stages each. With little known first the corners, which then keep the choices few. */
static void explore_halves(const struct ig_ranges *r, int32_t halves, int32_t devices,
                           const struct ig_explore_front *const *known, struct ig_explore_front *f)
{
    struct ig_choices c;
    ig_choices_begin(r, halves, devices, &c);
    for (; *known; known++) ig_choices_know(&c, *known);
    if (halves == 1) {
        round_of(&c, devices, walk_corners, f);
        ig_choices_know(&c, f);
    }
    round_of(&c, devices, walk, f);
    f->priced += c.priced;
    ig_choices_free(&c);
}

/* Stages that a device may have. */
static int32_t halves_of(const struct ig_explore *x)
{
    for (int32_t w = 0; w < x->n_ways && !x->apart; w++)
        if (x->ways[w].gpu) return 2;
    return 1;
}

/* known: of fewer devices. */
static void explore_with(const struct ig_ranges *r, int32_t devices, const struct ig_explore_front *known,
                         struct ig_explore_front *f)
{
    struct ig_explore_front seeds, apart = {.n = 0};
    int32_t halves = halves_of(r->x);
    ig_explore_seeds(r, devices, &seeds);
    *f = (struct ig_explore_front){.n = 0};
    if (halves > 1) {
        explore_halves(r, 1, devices, (const struct ig_explore_front *[]){&seeds, known, NULL}, &apart);
        f->solves = apart.solves;
        f->cells = apart.cells;
        f->priced = apart.priced;
    }
    explore_halves(r, halves, devices, (const struct ig_explore_front *[]){&seeds, known, &apart, NULL}, f);
    ig_explore_front_free(&apart);
    ig_explore_front_free(&seeds);
}

void ig_explore_exact(const struct ig_ranges *r, int32_t devices, struct ig_explore_front *f)
{
    const struct ig_explore_front none = {.n = 0};
    explore_with(r, devices, &none, f);
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
    to->priced += of->priced;
}

void ig_explore_all(const struct ig_ranges *r, struct ig_explore_front *f)
{
    int32_t devices = 0;
    for (int32_t k = 0; k < r->x->n_kinds; k++) devices += r->x->kinds[k].count;
    *f = (struct ig_explore_front){.n = 0};
    for (int32_t n = 1; n <= devices; n++) {
        struct ig_explore_front of;
        explore_with(r, n, f, &of);
        merge(f, &of);
        ig_explore_front_free(&of);
    }
}

int ig_explore_least(const struct ig_ranges *r, struct ig_explore_limits limits, enum ig_explore_sum sum,
                     struct ig_explore_point *p)
{
    struct ig_choices c;
    struct ig_search s;
    struct ig_search_limits l = {{limits.period_ns ? limits.period_ns : IG_SEARCH_NONE, limits.pj ? limits.pj : IG_SEARCH_NONE,
                        limits.bytes ? limits.bytes : IG_SEARCH_NONE}};
    ig_choices_begin(r, halves_of(r->x), IG_EXPLORE_DEVICES, &c);
    ig_search_begin(&s, &c, IG_EXPLORE_DEVICES);
    int failed = ig_search_best(&s, &l, sum == IG_EXPLORE_TOTAL_ENERGY, 0, p);
    ig_search_end(&s);
    ig_choices_free(&c);
    return failed;
}
