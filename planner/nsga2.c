#include "planner/nsga2.h"

#include <stdlib.h>
#include <string.h>

uint64_t ig_draw(uint64_t *state, uint64_t n)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

static int dominates(const struct ig_nsga2_one *a, const struct ig_nsga2_one *b)
{
    int less = 0;
    if (a->wrong || b->wrong) return a->wrong < b->wrong;
    for (int k = 0; k < IG_NSGA2_AXES; k++) {
        if (a->x[k] > b->x[k]) return 0;
        less |= a->x[k] < b->x[k];
    }
    return less;
}

static int compare_x(const struct ig_nsga2_one *a, const struct ig_nsga2_one *b, int from)
{
    if (a->rank != b->rank) return a->rank < b->rank ? -1 : 1;
    for (int i = 0; i < IG_NSGA2_AXES; i++) {
        int k = (from + i) % IG_NSGA2_AXES;
        if (a->x[k] != b->x[k]) return a->x[k] < b->x[k] ? -1 : 1;
    }
    return 0;
}

static int by_first(const void *a, const void *b)
{
    return compare_x(a, b, 0);
}

static int by_second(const void *a, const void *b)
{
    return compare_x(a, b, 1);
}

static int by_third(const void *a, const void *b)
{
    return compare_x(a, b, 2);
}

static int by_rank_and_crowding(const void *a, const void *b)
{
    const struct ig_nsga2_one *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->crowding != y->crowding) return x->crowding > y->crowding ? -1 : 1;
    return compare_x(x, y, 0);
}

static void set_ranks(struct ig_nsga2_one *all, int32_t n)
{
    int16_t beaten[IG_NSGA2_MOST][IG_NSGA2_MOST]; /* whom each one beats */
    int32_t by[IG_NSGA2_MOST] = {0}, beats[IG_NSGA2_MOST] = {0}, now[IG_NSGA2_MOST], left = 0;
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < n; k++)
            if (dominates(&all[i], &all[k])) {
                beaten[i][beats[i]++] = (int16_t)k;
                by[k]++;
            }
    for (int32_t i = 0; i < n; i++)
        if (!by[i]) now[left++] = i;
    for (int32_t r = 0; left; r++) {
        int32_t next[IG_NSGA2_MOST], more = 0;
        for (int32_t i = 0; i < left; i++) {
            all[now[i]].rank = r;
            for (int32_t k = 0; k < beats[now[i]]; k++)
                if (!--by[beaten[now[i]][k]]) next[more++] = beaten[now[i]][k];
        }
        memcpy(now, next, (size_t)more * sizeof *now);
        left = more;
    }
}

void ig_nsga2_rank(struct ig_nsga2_one *all, int32_t n)
{
    set_ranks(all, n);
    qsort(all, (size_t)n, sizeof *all, by_first);
}

/* The ends of a rank are lonely beyond measure. */
static void crowd(struct ig_nsga2_one *all, int32_t n, int axis)
{
    static int (*const by[])(const void *, const void *) = {by_first, by_second, by_third};
    int64_t low = INT64_MAX, high = 0;
    for (int32_t i = 0; i < n; i++) {
        if (all[i].x[axis] < low) low = all[i].x[axis];
        if (all[i].x[axis] > high) high = all[i].x[axis];
    }
    qsort(all, (size_t)n, sizeof *all, by[axis]);
    for (int32_t i = 0; i < n; i++) {
        struct ig_nsga2_one *o = &all[i], *a = o - 1, *b = o + 1;
        if (i == 0 || i == n - 1 || a->rank != o->rank || b->rank != o->rank)
            o->crowding = INT64_MAX;
        else if (o->crowding < INT64_MAX)
            o->crowding += (int64_t)((__int128)(b->x[axis] - a->x[axis]) * 1000000 / (high - low + 1));
    }
}

void ig_nsga2_sort(struct ig_nsga2_one *all, int32_t n)
{
    int empty = 1;
    set_ranks(all, n);
    for (int32_t i = 0; i < n; i++) {
        all[i].crowding = 0;
        empty &= !all[i].x[IG_NSGA2_AXES - 1];
    }
    for (int axis = 0; axis < IG_NSGA2_AXES - empty; axis++) crowd(all, n, axis);
    qsort(all, (size_t)n, sizeof *all, by_rank_and_crowding);
}

const struct ig_nsga2_one *ig_nsga2_pick(const struct ig_nsga2_one *all, int32_t n, uint64_t *state)
{
    const struct ig_nsga2_one *a = &all[ig_draw(state, (uint64_t)n)], *b = &all[ig_draw(state, (uint64_t)n)];
    return by_rank_and_crowding(a, b) <= 0 ? a : b;
}
