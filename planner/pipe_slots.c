#include "planner/pipe_slots.h"

#include <stdlib.h>

#include "planner/alloc.h"

static int32_t processor_of(const struct ig_slots *s, int32_t j)
{
    return s->on ? s->on[j] : j;
}

static void raise(struct ig_ratio *r, int64_t num, int64_t den)
{
    if ((__int128)num * r->den > (__int128)r->num * den) *r = (struct ig_ratio){num, den};
}

struct ig_ratio ig_slots_period(const struct ig_slots *s)
{
    struct ig_ratio r = {0, 1};
    for (int32_t j = 0; j < s->n; j++) {
        int64_t load = 0;
        for (int32_t i = 0; i < s->n; i++) load += processor_of(s, i) == processor_of(s, j) ? s->ns[i] : 0;
        raise(&r, load, 1);
        if (j + 1 < s->n) raise(&r, s->ns[j] + s->ns[j + 1], s->slots[j]);
    }
    for (int32_t i = 0; i < s->n_skips; i++) {
        int64_t sum = 0;
        for (int32_t j = s->skips[i].from; j <= s->skips[i].to; j++) sum += s->ns[j];
        raise(&r, sum, s->skips[i].slots);
    }
    return r;
}

/* --- simulation --- */

struct clockwork {
    const struct ig_slots *s;
    int64_t *start, interval;
    int32_t frames, *done; /* [n] frames that the stage has computed */
    int64_t *idle_from;    /* [n] by the first stage of the processor: when it is free */
};

static int64_t end_of(const struct clockwork *c, int32_t j, int32_t frame)
{
    return frame < 0 ? 0 : c->start[(int64_t)frame * c->s->n + j] + c->s->ns[j];
}

static int32_t owner(const struct ig_slots *s, int32_t j)
{
    int32_t i = 0;
    while (processor_of(s, i) != processor_of(s, j)) i++;
    return i;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* When stage j can start its next frame; -1: what it waits for has not been computed yet. */
static int64_t ready(const struct clockwork *c, int32_t j)
{
    const struct ig_slots *s = c->s;
    int32_t k = c->done[j];
    int64_t at = later(c->idle_from[owner(s, j)], j ? 0 : k * c->interval);
    if (k >= c->frames || (j && c->done[j - 1] <= k)) return -1;
    if (j) at = later(at, end_of(c, j - 1, k));
    if (j + 1 < s->n) {
        if (c->done[j + 1] <= k - s->slots[j]) return -1;
        at = later(at, end_of(c, j + 1, k - s->slots[j]));
    }
    for (int32_t i = 0; i < s->n_skips; i++) {
        if (s->skips[i].from != j) continue;
        if (c->done[s->skips[i].to] <= k - s->skips[i].slots) return -1;
        at = later(at, end_of(c, s->skips[i].to, k - s->skips[i].slots));
    }
    return at;
}

int64_t ig_slots_run(const struct ig_slots *s, int32_t frames, int64_t interval_ns, int64_t *start)
{
    struct clockwork c = {.s = s, .start = start, .interval = interval_ns, .frames = frames};
    c.done = ig_must_alloc((size_t)s->n, sizeof *c.done);
    c.idle_from = ig_must_alloc((size_t)s->n, sizeof *c.idle_from);
    for (int64_t left = (int64_t)frames * s->n; left; left--) {
        int32_t next = -1;
        int64_t first = 0;
        for (int32_t j = s->n - 1; j >= 0; j--) {
            int64_t at = ready(&c, j);
            if (at < 0 || (next >= 0 && at >= first)) continue;
            next = j;
            first = at;
        }
        start[(int64_t)c.done[next]++ * s->n + next] = first;
        c.idle_from[owner(s, next)] = first + s->ns[next];
    }
    int64_t last = end_of(&c, s->n - 1, frames - 1);
    free(c.done);
    free(c.idle_from);
    return last;
}

int32_t ig_slots_between(int64_t a_ns, int64_t b_ns)
{
    int64_t less = a_ns < b_ns ? a_ns : b_ns, more = a_ns < b_ns ? b_ns : a_ns;
    return more * 10 <= less * 11 ? 3 : 2;
}
