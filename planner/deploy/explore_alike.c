/*
 * Devices of one kind: a state is how many of them are used. A cell's value is that of so many devices or fewer, so that
 * it is the last one to ask whether a run can still improve anything.
 */
#include "planner/deploy/explore_search.h"

/* The nodes up to k with a device more that takes `run` for those from i on. */
static void extend(struct ig_search *s, int32_t i, int32_t k, int64_t run)
{
    int32_t row = s->n_states, most = s->devices - s->need[k];
    const int64_t *from = s->value + (int64_t)i * row;
    int64_t *to = s->value + (int64_t)k * row;
    for (int32_t d = s->live[i]; d < most; d++) {
        int64_t now = from[d] > run ? from[d] : run;
        for (int32_t used = d + 1; used <= most && to[used] > now; used++) {
            to[used] = now;
            s->before[k * row + used] = i * row + d;
        }
        if (from[d] <= run) break;
    }
    if (s->live[k] > s->live[i] + 1) s->live[k] = s->live[i] + 1;
}

/* Longer runs first: with them few devices are known to do, for which others can be passed over unseen. */
static void solve_to(struct ig_search *s, int32_t first, int32_t at, int32_t axis, int64_t floor,
                     const struct ig_search_limits *l)
{
    int32_t k = s->cuts[at], most = s->devices - s->need[k];
    const int64_t *to = s->value + (int64_t)k * s->n_states;
    for (int32_t before = first; before < at; before++) {
        int32_t i = s->cuts[before], made = ig_choices_made(s->c, i, k);
        if (s->fewest[before] >= most || to[s->fewest[before] + 1] <= floor) break;
        if (s->live[i] >= most) continue;
        int64_t front = s->value[(int64_t)i * s->n_states + most - 1];
        int64_t least = made ? ig_choices_row(s->c, i, k, 0)->least[axis] : ig_bounds_of(&s->c->bounds, i, k)[axis];
        if (to[s->live[i] + 1] <= (front > least ? front : least)) continue;
        ig_search_look(s, i, k);
        int64_t run = ig_search_least(s, i, k, 0, axis, front, l);
        if (run < IG_SEARCH_NONE) extend(s, i, k, run);
    }
}

void ig_search_solve_alike(struct ig_search *s, int32_t axis, int64_t floor, const struct ig_search_limits *l)
{
    int32_t first = 0;
    s->solves++;
    for (int32_t at = 0; at < s->n_cuts; at++) {
        int64_t *to = s->value + (int64_t)s->cuts[at] * s->n_states;
        for (int32_t used = 0; used < s->n_states; used++) to[used] = at ? IG_SEARCH_NONE : floor;
        s->live[s->cuts[at]] = at ? IG_EXPLORE_DEVICES + 1 : 0;
    }
    s->fewest[0] = 0;
    for (int32_t at = 1; at < s->n_cuts; at++) {
        int32_t *live = &s->live[s->cuts[at]];
        first = ig_search_first(s, first, at, l);
        solve_to(s, first, at, axis, floor, l);
        s->fewest[at] = *live;
        for (int32_t q = at - 1; q > 0 && s->fewest[q] > *live; q--) s->fewest[q] = *live;
    }
}
