/*
 * In turn: for every arena that any point has, the points that fit it compete by weights and time alone, which add up over
 * networks. At once: arena and weights add up both. Either way sums are built network by network, and of those only the
 * front of bytes and time is kept.
 */
#include "planner/joint.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/share.h"

struct label { /* points of the first networks */
    int64_t bytes, ns;
    int32_t before, point;
};

struct level {
    int32_t n;
    struct label *at;
};

static int64_t aligned(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

struct ig_joint ig_joint_sum(const struct ig_tradeoff *fronts, const int32_t *point, int32_t n, int way)
{
    struct ig_joint sum = {0, 0, 0};
    int64_t *arena = ig_must_alloc((size_t)n, sizeof *arena), *base = ig_must_alloc((size_t)n, sizeof *base);
    for (int32_t i = 0; i < n; i++) {
        const struct ig_tradeoff_point *p = &fronts[i].at[point[i]];
        arena[i] = p->arena_bytes;
        sum.weights_bytes += p->bytes - p->arena_bytes;
        sum.ns += p->ns;
    }
    sum.arena_bytes = way == IG_JOINT_AT_ONCE ? aligned(ig_share_stack(arena, n, base)) : ig_share_alternate(arena, n);
    free(arena);
    free(base);
    return sum;
}

static int by_bytes(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    return (x->point > y->point) - (x->point < y->point);
}

static void prune(struct level *l)
{
    int32_t n = 0;
    qsort(l->at, (size_t)l->n, sizeof *l->at, by_bytes);
    for (int32_t i = 0; i < l->n; i++)
        if (!n || l->at[i].ns < l->at[n - 1].ns) l->at[n++] = l->at[i];
    l->n = n;
}

static int64_t cost(const struct ig_tradeoff_point *p, int way)
{
    return p->bytes - p->arena_bytes + (way == IG_JOINT_AT_ONCE ? aligned(p->arena_bytes) : 0);
}

/* The next network's points of at most that arena, behind every label of the level before. */
static void extend(struct level *to, const struct level *from, const struct ig_tradeoff *front, int way, int64_t most)
{
    to->at = ig_must_alloc((size_t)from->n * (size_t)front->n, sizeof *to->at);
    to->n = 0;
    for (int32_t i = 0; i < from->n; i++)
        for (int32_t k = 0; k < front->n; k++) {
            const struct ig_tradeoff_point *p = &front->at[k];
            if (p->arena_bytes > most) continue;
            to->at[to->n++] = (struct label){from->at[i].bytes + cost(p, way), from->at[i].ns + p->ns, i, k};
        }
    prune(to);
}

struct best {
    int found, within;        /* within: of the budget */
    struct ig_joint sum;
    int32_t *point;
};

/* Is `now` to be taken instead? What is within the budget is; then the objective decides, then the other quantity. */
static int is_better(const struct best *best, struct ig_joint now, int within, int objective)
{
    int64_t a = now.arena_bytes + now.weights_bytes, b = best->sum.arena_bytes + best->sum.weights_bytes;
    if (!best->found || within != best->within) return !best->found || within;
    if (objective == IG_OBJECTIVE_MEMORY || !within) return a != b ? a < b : now.ns < best->sum.ns;
    return now.ns != best->sum.ns ? now.ns < best->sum.ns : a < b;
}

/* All sums with arenas of at most `most` bytes. */
static void try_arena(const struct ig_tradeoff *fronts, int32_t n, int way, int objective, int64_t budget, int64_t most,
                      struct best *best)
{
    struct label none = {0, 0, -1, -1};
    struct level *levels = ig_must_alloc((size_t)n + 1, sizeof *levels);
    int32_t *point = ig_must_alloc((size_t)n, sizeof *point);
    levels[0] = (struct level){1, &none};
    for (int32_t i = 0; i < n; i++) extend(&levels[i + 1], &levels[i], &fronts[i], way, most);
    for (int32_t k = 0; k < levels[n].n; k++) {
        for (int32_t i = n, at = k; i > 0; at = levels[i].at[at].before, i--) point[i - 1] = levels[i].at[at].point;
        struct ig_joint sum = ig_joint_sum(fronts, point, n, way);
        int within = budget <= 0 || sum.arena_bytes + sum.weights_bytes <= budget;
        if (!is_better(best, sum, within, objective)) continue;
        best->found = 1;
        best->within = within;
        best->sum = sum;
        memcpy(best->point, point, (size_t)n * sizeof *point);
    }
    for (int32_t i = 1; i <= n; i++) free(levels[i].at);
    free(levels);
    free(point);
}

int ig_joint_choose(const struct ig_tradeoff *fronts, int32_t n, int way, int objective, int64_t budget, int32_t *point)
{
    struct best best = {.point = point};
    if (way == IG_JOINT_AT_ONCE) try_arena(fronts, n, way, objective, budget, INT64_MAX, &best);
    else
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < fronts[i].n; k++)
                try_arena(fronts, n, way, objective, budget, fronts[i].at[k].arena_bytes, &best);
    return best.within ? 0 : -1;
}
