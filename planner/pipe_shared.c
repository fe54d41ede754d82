/*
 * Recurrence B for three stages: every pair of ideals J in I, every three processors of which neighbours differ. What
 * the times alone, without transfers, make no better than the best plan so far is passed over.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/pipe_ideals.h"

struct pair_search {
    const struct ig_ideals *x;
    struct ig_pipe_plan *best, now;
    int64_t least;        /* first time through: of all periods without transfers */
    int32_t at[2], on[3]; /* and where it was */
    int measured;         /* second time: plans are made and compared */
};

static void make_plan(struct pair_search *s, int32_t j, int32_t i, const int32_t *on)
{
    const struct ig_ideals *x = s->x;
    int32_t ends[] = {0, j, i, x->n - 1}, stages = 0;
    for (int k = 0; k < 3; k++)
        if (ends[k] < ends[k + 1]) ig_ideal_put(x, ends[k], ends[k + 1], on[k], stages++, &s->now);
    s->now.n_stages = stages;
    ig_pipe_fill(x->p, &s->now);
    s->now.proven = 1;
    if (ig_pipe_compare(&s->now, s->best) < 0) ig_pipe_plan_copy(s->best, &s->now);
}

/* Stages J, I - J and the rest last at least that long without transfers, and no longer than the limit. */
static void take(struct pair_search *s, int32_t j, int32_t i, const int32_t *on, int64_t ns)
{
    if (!ig_ideal_within(s->x, j, i)) return;
    if (s->measured) {
        make_plan(s, j, i, on);
    } else if (ns < s->least) {
        s->least = ns;
        s->at[0] = j;
        s->at[1] = i;
        memcpy(s->on, on, sizeof s->on);
    }
}

static int64_t at_least(const struct pair_search *s)
{
    return s->measured ? s->best->period_ns : s->least - 1;
}

/* All ideals I behind J. A first and a last stage on one processor add up. */
static void all_ends(struct pair_search *s, int32_t j, const int32_t *on)
{
    const struct ig_ideals *x = s->x;
    int32_t n = x->p->n_processors, last = x->n - 1;
    const int64_t *w = x->ns + (int64_t)j * n, *all = x->ns + (int64_t)last * n;
    int64_t head = w[on[0]], before = w[on[1]], shared = on[0] == on[2] ? head : 0;
    if (head > at_least(s)) return;
    for (int32_t i = j + 1; i < last; i++) {
        const int64_t *v = x->ns + (int64_t)i * n;
        int64_t middle = v[on[1]] - before, tail = all[on[2]] - v[on[2]] + shared, limit = at_least(s);
        if (middle > limit || tail > limit) continue;
        int64_t most = middle > tail ? middle : tail;
        take(s, j, i, on, most > head ? most : head);
    }
}

/* Two stages: the rest of J on the second processor. */
static void all_halves(struct pair_search *s, const int32_t *on)
{
    const struct ig_ideals *x = s->x;
    int32_t n = x->p->n_processors, last = x->n - 1;
    for (int32_t j = 1; j < last; j++) {
        int64_t head = x->ns[(int64_t)j * n + on[0]],
                tail = x->ns[(int64_t)last * n + on[1]] - x->ns[(int64_t)j * n + on[1]];
        if (head <= at_least(s) && tail <= at_least(s)) take(s, j, last, on, head > tail ? head : tail);
    }
}

static void all_pairs(struct pair_search *s)
{
    int32_t n = s->x->p->n_processors;
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            if (a != b) all_halves(s, (const int32_t[]){a, b, a});
            for (int32_t c = 0; c < n && b != a; c++)
                for (int32_t j = 1; j < s->x->n - 1 && c != b; j++) all_ends(s, j, (const int32_t[]){a, b, c});
        }
}

void ig_pipe_shared(const struct ig_pipe *p, struct ig_pipe_plan *plan)
{
    struct ig_ideals x;
    plan->n_stages = 0;
    ig_pipe_single(p, plan);
    if (p->n_processors > 3) ig_pipe_stages(p, plan);
    if (ig_ideals_make(p, IG_PIPE_MOST_IDEALS, &x)) return;
    struct pair_search s = {.x = &x, .best = plan, .least = IG_PIPE_NEVER};
    ig_pipe_plan_start(p, &s.now);
    all_pairs(&s);
    if (s.least < IG_PIPE_NEVER) {
        make_plan(&s, s.at[0], s.at[1], s.on);
        s.measured = 1;
        all_pairs(&s);
    }
    ig_pipe_plan_free(&s.now);
    ig_ideals_free(&x);
}
