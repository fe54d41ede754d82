/*
 * A pipeline of two stages on two cores, on one of which other programs may want to run all the time, by a clock of its
 * own. A core gives each of those who want it a slice in turn, who had the least first; a stage that wakes has the core at
 * once if it has had less than who runs there, or waits for the end of the slice.
 */
#ifndef TESTS_SUPPORT_SHARED_CORES_H
#define TESTS_SUPPORT_SHARED_CORES_H

#include <math.h>
#include <string.h>

#include "runtime/adapt.h"
#include "tests/support/rng.h"

enum { CORES_CUTS = 12, CORES_FRAMES = 4096, CORES_MOST = 4, CORES_NEVER = 1 << 30 };

struct scene {                      /* what is run, and beside what */
    int32_t n;                      /* alternatives */
    double ms[CORES_CUTS][2];       /* of a frame's stages */
    double noise;                   /* of their times */
    double slice;                   /* ms */
    int32_t spinners, core;         /* programs that always run, and where */
    int32_t preempts;               /* a stage that wakes need not wait */
    int32_t copies;                 /* of what passes from stage to stage */
    int32_t from, to;               /* frames between which they are there */
};

struct core {
    double had[1 + CORES_MOST];     /* ms, of the stage and of the others */
    double slice;                   /* that who runs has had of its slice */
    double rest, had_rest;          /* ms, in which nobody wanted it; when it was last told */
    int32_t runs;                   /* who; -1: nobody */
};

struct stage {
    int32_t done, wants;            /* frames; 1: it has a frame in work */
    double begun, left;             /* ms; begun: when it could have */
};

struct sim {
    const struct scene *of;
    struct ig_adapt adapt;
    struct rng rng;
    struct core cores[2];
    struct stage stages[2];
    double now, last, told;
    int32_t fixed;                  /* the alternative of all frames; -1: as the adaptation says */
    int32_t next;
    int32_t cut[CORES_FRAMES];
    double busy[CORES_FRAMES][2], out[CORES_FRAMES]; /* ms; when frames came out */
};

static inline double cores_normal(struct rng *r)
{
    return sqrt(-2 * log(rng_real(r, 1e-12, 1))) * cos(6.283185307179586 * rng_real(r, 0, 1));
}

/* Is that one ready to run on the core? 0: the stage. */
static inline int cores_ready(const struct sim *s, int32_t core, int32_t who)
{
    int32_t frame = s->stages[1].done;
    if (!who) return s->stages[core].wants;
    return core == s->of->core && who <= s->of->spinners && frame >= s->of->from && frame < s->of->to;
}

static inline int32_t cores_next(const struct sim *s, int32_t core)
{
    int32_t best = -1;
    for (int32_t i = 0; i <= CORES_MOST; i++)
        if (cores_ready(s, core, i) && (best < 0 || s->cores[core].had[i] < s->cores[core].had[best])) best = i;
    return best;
}

static inline void cores_give(struct core *c, int32_t who)
{
    c->runs = who;
    c->slice = 0;
}

/* What slept is not owed more than a slice for it. */
static inline void cores_wake(const struct sim *s, struct core *c, int32_t who)
{
    double at = c->runs >= 0 ? c->had[c->runs] : 0, least = at - s->of->slice;
    if (c->runs >= 0 && c->had[who] < least) c->had[who] = least;
    if (c->runs > 0 && !who && s->of->preempts && c->had[who] < at) cores_give(c, who);
}

static inline int cores_may_begin(const struct sim *s, int32_t stage)
{
    int32_t frame = s->stages[stage].done;
    return stage ? s->stages[0].done > frame : frame < s->stages[1].done + s->of->copies;
}

static inline void cores_begin(struct sim *s, int32_t stage)
{
    struct stage *t = &s->stages[stage];
    if (t->wants || t->done >= CORES_FRAMES || !cores_may_begin(s, stage)) return;
    if (!stage) s->cut[t->done] = s->fixed >= 0 ? s->fixed : s->next;
    t->wants = 1;
    t->begun = s->now;
    t->left = s->of->ms[s->cut[t->done]][stage] * exp(s->of->noise * cores_normal(&s->rng));
    cores_wake(s, &s->cores[stage], 0);
}

/* As the kernel counts it: in hundredths of a second. */
static inline void cores_tell(struct sim *s)
{
    double since = s->now - s->told;
    for (int i = 0; i < 2; i++) {
        struct core *c = &s->cores[i];
        double rest = floor(c->rest / 10) * 10 - c->had_rest;
        c->had_rest += rest;
        if (s->told > 0 && (rest == 0 || rest > .15 * since)) ig_adapt_tell(&s->adapt, i, rest > 0);
    }
    s->told = s->now;
}

static inline void cores_end(struct sim *s, int32_t stage)
{
    struct stage *t = &s->stages[stage];
    int32_t frame = t->done++;
    int64_t busy[2];
    s->busy[frame][stage] = s->now - t->begun;
    t->wants = 0;
    if (!stage) return;
    s->out[frame] = s->now;
    for (int i = 0; i < 2; i++) busy[i] = llround(s->busy[frame][i] * 1e6);
    if (s->now - s->told > 50) cores_tell(s);
    if (frame && s->fixed < 0)
        s->next = ig_adapt_frame(&s->adapt, s->cut[frame], busy, llround((s->now - s->last) * 1e6));
    s->last = s->now;
}

static inline void cores_run(struct sim *s, int32_t core, double ms)
{
    struct core *c = &s->cores[core];
    struct stage *t = &s->stages[core];
    if (c->runs < 0 || !cores_ready(s, core, c->runs)) cores_give(c, cores_next(s, core));
    else if (c->slice >= s->of->slice && cores_next(s, core) != c->runs) cores_give(c, cores_next(s, core));
    if (c->runs < 0) {
        c->rest += ms;
        return;
    }
    c->had[c->runs] += ms;
    c->slice += ms;
    if (c->runs) return;
    t->left -= ms;
    if (t->left <= 0) cores_end(s, core);
}

/* Up to `frames` frames more. */
static inline void cores_flow(struct sim *s, int32_t frames)
{
    double step = (s->of->ms[0][0] + s->of->ms[0][1]) / 70;
    for (int32_t end = s->stages[1].done + frames; s->stages[1].done < end;) {
        int32_t before = s->stages[1].done;
        for (int32_t i = 0; i < 2; i++) cores_begin(s, i);
        s->now += step;
        for (int32_t i = 0; i < 2; i++) cores_run(s, i, step);
        if (before < s->of->from && s->stages[1].done >= s->of->from) /* it comes at any time of its slice */
            s->cores[s->of->core].had[1] = s->cores[s->of->core].had[0] + rng_real(&s->rng, -1, 1) * s->of->slice;
    }
}

static inline void cores_start(struct sim *s, const struct scene *of, int32_t fixed, int32_t sigma, uint64_t seed)
{
    int64_t predicted[CORES_CUTS * 2];
    memset(s, 0, sizeof *s);
    s->of = of;
    s->fixed = fixed;
    s->rng.state = seed;
    s->cores[0].runs = s->cores[1].runs = -1;
    for (int32_t i = 0; i < of->n * 2; i++) predicted[i] = llround(of->ms[i / 2][i % 2] * 1e6);
    ig_adapt_start(&s->adapt, predicted, of->n, 2, (const int32_t[]){sigma, sigma}, 0);
}

/* Frames a ms that came out behind frame `from`, `n` of them. */
static inline double cores_rate(const struct sim *s, int32_t from, int32_t n)
{
    return n / (s->out[from + n] - s->out[from]);
}

#endif
