#include "planner/aggregate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

double ig_schedule(const struct ig_work *w, int32_t *pe, double *start_s)
{
    double now = 0;
    for (int32_t i = 0; i < w->n; i++) {
        const double *s = w->s + (int64_t)i * w->n_pes;
        int32_t best = 0;
        for (int32_t j = 1; j < w->n_pes; j++)
            if (s[j] < s[best]) best = j;
        if (isinf(s[best])) return -1 - i;
        start_s[i] = now;
        pe[i] = best;
        now += s[best];
    }
    return now;
}

/* --- pipeline: f[used][i], the least slowest stage of layers [0, i) on exactly the processors `used` --- */

struct cut {
    const struct ig_work *w;
    int32_t states, place[IG_MAX_PROCESSORS]; /* `used` is a number in mixed radix count+1 */
    double *f;
    int32_t *from, *kind; /* [used][i]: first layer and processor of the last stage */
};

static int32_t of_kind(const struct ig_work *w, int32_t j)
{
    return w->count ? w->count[j] : 1;
}

static int32_t used_of(const struct cut *c, int32_t state, int32_t j)
{
    return state / c->place[j] % (of_kind(c->w, j) + 1);
}

static void start_cut(struct cut *c, const struct ig_work *w)
{
    *c = (struct cut){.w = w, .states = 1};
    for (int32_t j = 0; j < w->n_pes; j++) {
        c->place[j] = c->states;
        c->states *= of_kind(w, j) + 1;
    }
    size_t row = (size_t)w->n + 1, cells = row * (size_t)c->states;
    c->f = ig_must_alloc(cells, sizeof *c->f);
    c->from = ig_must_alloc(cells, sizeof *c->from);
    c->kind = ig_must_alloc(cells, sizeof *c->kind);
    for (size_t i = 0; i < cells; i++) c->f[i] = i ? INFINITY : 0;
}

static void end_cut(struct cut *c)
{
    void *owned[] = {c->f, c->from, c->kind};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* The last stage of layers [0, i) in `state` runs on j: where does it start? A longer one is never shorter in time. */
static void try_last(struct cut *c, int32_t state, int32_t i, int32_t j)
{
    const struct ig_work *w = c->w;
    int64_t row = w->n + 1, cell = state * row + i;
    const double *before = c->f + (state - c->place[j]) * row;
    double s = 0;
    for (int32_t k = i - 1; k >= 0 && s < c->f[cell]; k--) {
        s += w->s[(int64_t)k * w->n_pes + j];
        double stage = s + (k && w->copy_s ? w->copy_s[k] : 0), slowest = fmax(before[k], stage);
        if (slowest >= c->f[cell]) continue;
        c->f[cell] = slowest;
        c->from[cell] = k;
        c->kind[cell] = j;
    }
}

static int32_t stages_of(const struct cut *c, int32_t state)
{
    int32_t n = 0;
    for (int32_t j = 0; j < c->w->n_pes; j++) n += used_of(c, state, j);
    return n;
}

static void trace(const struct cut *c, int32_t state, struct ig_pipeline *p)
{
    const struct ig_work *w = c->w;
    int32_t i = w->n;
    p->n_stages = stages_of(c, state);
    p->sum_s = 0;
    for (int32_t stage = p->n_stages - 1; stage >= 0; stage--) {
        int64_t cell = (int64_t)state * (w->n + 1) + i;
        int32_t j = p->pe[stage] = c->kind[cell], first = p->first[stage] = c->from[cell];
        for (int32_t k = first; k < i; k++) p->sum_s += w->s[(int64_t)k * w->n_pes + j];
        if (first && w->copy_s) p->sum_s += w->copy_s[first];
        i = first;
        state -= c->place[j];
    }
}

int ig_pipeline_cut(const struct ig_work *w, struct ig_pipeline *p)
{
    struct cut c;
    int32_t best = 0;
    start_cut(&c, w);
    for (int32_t state = 1; state < c.states; state++) {
        for (int32_t i = 1; i <= w->n; i++)
            for (int32_t j = 0; j < w->n_pes; j++)
                if (used_of(&c, state, j)) try_last(&c, state, i, j);
        double now = c.f[(int64_t)state * (w->n + 1) + w->n], then = c.f[(int64_t)best * (w->n + 1) + w->n];
        if (stages_of(&c, state) <= IG_MAX_STAGES &&
            (now < then || (now == then && !isinf(now) && stages_of(&c, state) < stages_of(&c, best))))
            best = state;
    }
    p->slowest_s = c.f[(int64_t)best * (w->n + 1) + w->n];
    p->n_stages = 0;
    if (!isinf(p->slowest_s)) trace(&c, best, p);
    end_cut(&c);
    return p->n_stages && w->n ? 0 : -1;
}

double ig_network_mj(const struct ig_platform *b, double layers_mj, const double *busy_s, double deadline_s)
{
    double mj = layers_mj;
    if (layers_mj < 0) return IG_UNKNOWN;
    for (int32_t j = 0; j < b->n_processors; j++) {
        double idle_s = deadline_s - busy_s[j];
        if (idle_s <= 0) continue;
        if (b->processors[j].idle_w < 0) return IG_UNKNOWN;
        mj += idle_s * b->processors[j].idle_w * 1e3;
    }
    return mj;
}
