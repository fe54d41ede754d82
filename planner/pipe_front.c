/* Front D: every contiguous plan of one, two or three stages, and of these the ones that no other beats in all
 * respects. */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/pipe_ideals.h"

/* --- every plan --- */

struct each {
    const struct ig_ideals *x;
    ig_pipe_visit *visit;
    void *arg;
    struct ig_pipe_plan now;
};

/* Stages that end at ideals ends[0..n), the last of which is everything. */
static void try_stages(struct each *s, const int32_t *ends, const int32_t *on, int32_t n)
{
    const struct ig_ideals *x = s->x;
    for (int32_t i = 0, from = 0; i < n; from = ends[i++]) {
        int64_t moved;
        if (ig_ideal_stage(x, from, ends[i], on[i], &moved) >= IG_PIPE_NEVER) return;
        ig_ideal_put(x, from, ends[i], on[i], i, &s->now);
    }
    s->now.n_stages = n;
    ig_pipe_fill(x->p, &s->now);
    s->visit(s->arg, &s->now);
}

static void try_ends(struct each *s, const int32_t *ends, int32_t n)
{
    int32_t k = s->x->p->n_processors;
    for (int32_t a = 0; a < k; a++) {
        if (n == 1) try_stages(s, ends, (const int32_t[]){a}, 1);
        for (int32_t b = 0; b < k && n > 1; b++) {
            if (n == 2 && b != a) try_stages(s, ends, (const int32_t[]){a, b}, 2);
            for (int32_t c = 0; c < k && n > 2 && b != a; c++)
                if (c != b) try_stages(s, ends, (const int32_t[]){a, b, c}, 3);
        }
    }
}

void ig_pipe_each(const struct ig_pipe *p, ig_pipe_visit *visit, void *arg)
{
    struct ig_ideals x;
    if (ig_ideals_make(p, IG_PIPE_MOST_IDEALS, &x)) return;
    struct each s = {.x = &x, .visit = visit, .arg = arg};
    int32_t last = x.n - 1;
    ig_pipe_plan_start(p, &s.now);
    try_ends(&s, (const int32_t[]){last}, 1);
    for (int32_t j = 1; j < last; j++) {
        try_ends(&s, (const int32_t[]){j, last}, 2);
        for (int32_t i = j + 1; i < last; i++)
            if (ig_ideal_within(&x, j, i)) try_ends(&s, (const int32_t[]){j, i, last}, IG_FRONT_STAGES);
    }
    ig_pipe_plan_free(&s.now);
    ig_ideals_free(&x);
}

/* --- the front --- */

struct fronts {
    const struct ig_pipe *p;
    struct ig_pipe_front *f;
    int32_t room;
};

static int covers(const struct ig_pipe_plan *a, const struct ig_pipe_plan *b)
{
    return a->period_ns <= b->period_ns && a->energy_pj <= b->energy_pj && a->memory_bytes <= b->memory_bytes;
}

static int same(const struct ig_pipe_plan *a, const struct ig_pipe_plan *b)
{
    return a->period_ns == b->period_ns && a->energy_pj == b->energy_pj && a->memory_bytes == b->memory_bytes;
}

static void make_room(struct fronts *s)
{
    if (s->f->n < s->room) return;
    int32_t wider = 2 * s->room + 16;
    struct ig_pipe_plan *plans = ig_must_alloc((size_t)wider, sizeof *plans);
    if (s->f->n) memcpy(plans, s->f->plans, (size_t)s->f->n * sizeof *plans);
    free(s->f->plans);
    s->f->plans = plans;
    s->room = wider;
}

static void offer(void *arg, const struct ig_pipe_plan *now)
{
    struct fronts *s = arg;
    struct ig_pipe_front *f = s->f;
    int32_t n = 0;
    f->points++;
    for (int32_t i = 0; i < f->n; i++)
        if (covers(&f->plans[i], now) && !(same(&f->plans[i], now) && ig_pipe_compare(now, &f->plans[i]) < 0)) return;
    for (int32_t i = 0; i < f->n; i++) {
        if (covers(now, &f->plans[i]))
            ig_pipe_plan_free(&f->plans[i]);
        else
            f->plans[n++] = f->plans[i];
    }
    f->n = n;
    make_room(s);
    ig_pipe_plan_start(s->p, &f->plans[f->n]);
    ig_pipe_plan_copy(&f->plans[f->n++], now);
}

static int by_period(const void *a, const void *b)
{
    return ig_pipe_compare(a, b);
}

void ig_pipe_front_make(const struct ig_pipe *p, struct ig_pipe_front *f)
{
    struct fronts s = {.p = p, .f = f};
    *f = (struct ig_pipe_front){.n = 0};
    ig_pipe_each(p, offer, &s);
    if (f->n) qsort(f->plans, (size_t)f->n, sizeof *f->plans, by_period);
}

void ig_pipe_front_free(struct ig_pipe_front *f)
{
    for (int32_t i = 0; i < f->n; i++) ig_pipe_plan_free(&f->plans[i]);
    free(f->plans);
    *f = (struct ig_pipe_front){.n = 0};
}
