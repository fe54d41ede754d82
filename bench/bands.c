/*
 * Rounds. Each bakes a plan with as many untimed candidates as do not meet, the most promising first, and
 * runs it and the plan without bands in turns, so that whatever else slows the machine slows both. What then
 * is the best set is timed as a whole: a band that only looked good by luck, or only beside other neighbours,
 * loses its place, and the next best set is timed. Of hundreds of trials some look good by luck: a gain counts
 * that was seen twice.
 */
#include "bench/bands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/band_times.h"
#include "bench/turns.h"

enum { SLICES = 4 }; /* of the time that is left, one is a choice's */
static const double hopeless =
    0.9; /* of the layers' own time: a height that is that much slower spoils the others */

struct trial {
    struct ig_band_times at;
    double hope; /* estimated gain, ns; the order of the trials */
};

struct bands {
    const struct ig_graph *g;
    const struct ig_profile_options *o;
    struct ig_profile *p;
    struct ig_plan *plan; /* without bands */
    struct trial *trials;
    int32_t n;
    struct ig_turns turns;
    int64_t end_ns;
    char *err;
    size_t err_bytes;
};

static int by_hope(const void *a, const void *b)
{
    const struct trial *x = a, *y = b;
    if (x->hope != y->hope) return x->hope > y->hope ? -1 : 1;
    if (x->at.t.last != y->at.t.last) return x->at.t.last < y->at.t.last ? -1 : 1;
    if (x->at.t.first != y->at.t.first) return x->at.t.first < y->at.t.first ? -1 : 1;
    return x->at.t.rows != y->at.t.rows ? x->at.t.rows - y->at.t.rows : x->at.t.chunk - y->at.t.chunk;
}

static int find_trials(struct bands *b)
{
    struct ig_band_timing *found;
    struct ig_view *views = calloc((size_t)b->g->n_values + 1, sizeof *views);
    if (!views) return -1;
    ig_compute_views(b->g, views);
    b->n = ig_band_candidates(b->g, views, b->plan, b->o->isa, IG_SHAPE_CHAINS, &found);
    free(views);
    b->trials = calloc((size_t)b->n + 1, sizeof *b->trials);
    for (int32_t i = 0; b->trials && i < b->n; i++)
        b->trials[i] = (struct trial){.at.t = found[i], .hope = found[i].apart_ns - found[i].in_order_ns};
    free(found);
    if (!b->trials) return -1;
    qsort(b->trials, (size_t)b->n, sizeof *b->trials, by_hope);
    return 0;
}

static struct ig_plan *make_plan(struct bands *b, int32_t choice, const struct ig_band_timing *given,
                                 int32_t n)
{
    const struct ig_plan_options options = {.target = "host",
                                            .isa = b->o->isa,
                                            .threads = b->o->threads,
                                            .profile = b->p,
                                            .max_error = IG_MAX_ERROR,
                                            .bands = choice,
                                            .given = given,
                                            .n_given = n};
    return ig_plan_make(b->g, &options, b->err, b->err_bytes);
}

/* --- timing --- */

static struct trial *trial_of(struct bands *b, const struct ig_plan *plan, const struct ig_band *band)
{
    int32_t first = plan->steps[band->first].node, last = plan->steps[band->last].node;
    for (int32_t i = 0; i < b->n; i++) {
        const struct ig_band_timing *t = &b->trials[i].at.t;
        if (t->first == first && t->last == last && t->rows == band->rows &&
            t->chunk == plan->steps[band->last].chunk)
            return &b->trials[i];
    }
    return NULL;
}

/* A height that is far too slow takes the hope from the band's other heights. */
static void learn(struct bands *b, const struct trial *of)
{
    if (of->at.t.in_order_ns * hopeless < of->at.t.apart_ns) return;
    for (int32_t i = 0; i < b->n; i++)
        if (b->trials[i].at.t.first == of->at.t.first && b->trials[i].at.t.last == of->at.t.last && !b->trials[i].at.timed)
            b->trials[i].hope -= of->at.t.apart_ns;
}

/* Runs both plans in turns; fills in the times of plan's bands: a trial, or what `confirms` one. */
static int try_plan(struct bands *b, const struct ig_plan *plan, int64_t until_ns, int confirms)
{
    double *in_order = calloc((size_t)plan->n_bands + 1, sizeof *in_order);
    double *apart = calloc((size_t)plan->n_bands + 1, sizeof *apart);
    int status = in_order && apart ? ig_turns_run(&b->turns, plan, until_ns, in_order, apart, b->err, b->err_bytes) : -1;
    for (int32_t i = 0; !status && i < plan->n_bands; i++) {
        struct trial *t = trial_of(b, plan, &plan->bands[i]);
        if (!t) continue;
        ig_band_note(&t->at, in_order[i], apart[i], confirms);
        learn(b, t);
    }
    free(in_order);
    free(apart);
    return status;
}

/* --- rounds --- */

/* Untimed trials with hope that do not meet, into given[]. */
static int32_t next_trials(struct bands *b, struct ig_band_timing *given)
{
    int32_t n = 0, members[IG_MAX_BAND];
    uint8_t *taken = calloc((size_t)b->g->n_nodes + 1, 1);
    for (int32_t i = 0; taken && i < b->n; i++) {
        const struct ig_band_timing *t = &b->trials[i].at.t;
        const struct ig_band band = {.first = t->first, .last = t->last};
        int32_t count = ig_band_members(b->plan, &band, members), free_of_others = 1;
        if (b->trials[i].at.timed || b->trials[i].hope <= 0) continue;
        for (int32_t k = 0; k < count; k++) free_of_others &= !taken[members[k]];
        if (!free_of_others) continue;
        for (int32_t k = 0; k < count; k++) taken[members[k]] = 1;
        given[n++] = *t;
    }
    free(taken);
    return n;
}

/* 1: timed, 0: nothing left to time, -1 */
static int one_round(struct bands *b)
{
    struct ig_band_timing *given = calloc((size_t)b->n + 1, sizeof *given);
    if (!given) return -1;
    int32_t n = next_trials(b, given);
    int status = n > 0;
    if (n) {
        struct ig_plan *plan = make_plan(b, IG_BANDS_GIVEN, given, n);
        if (!plan || try_plan(b, plan, 0, 0)) status = -1;
        ig_plan_free(plan);
    }
    free(given);
    return status;
}

/* The timed trials become the profile's, as they were seen or as they are believed. */
static void publish(struct bands *b, int believed)
{
    b->p->n_bands = 0;
    for (int32_t i = 0; i < b->n; i++) {
        const struct ig_band_times *at = &b->trials[i].at;
        if (at->timed) b->p->bands[b->p->n_bands++] = believed ? ig_band_believed(at) : at->t;
    }
}

/* How many bands the choice has, which is timed once more; -1 with a line in b->err. */
static int confirm(struct bands *b, int64_t until_ns)
{
    publish(b, 0);
    struct ig_plan *plan = make_plan(b, IG_BANDS_AUTO, NULL, 0);
    int n = plan ? plan->n_bands : -1;
    if (n > 0 && try_plan(b, plan, until_ns, 1)) n = -1;
    ig_plan_free(plan);
    return n;
}

static void say(const struct bands *b)
{
    int timed = 0;
    for (int32_t i = 0; i < b->n; i++) timed += b->trials[i].at.timed;
    if (b->o->progress) b->o->progress(timed, b->n + 1);
}

/* Trials for three quarters of the time, then the choice, over and over. */
static int all_rounds(struct bands *b)
{
    int64_t start = ig_bench_ns(), left = b->end_ns - start, until = start + left / 4 * 3;
    int status;
    do {
        qsort(b->trials, (size_t)b->n, sizeof *b->trials, by_hope);
        status = one_round(b);
        say(b);
    } while (status > 0 && ig_bench_ns() < until);
    int64_t now = ig_bench_ns();
    do {
        if (status >= 0) status = confirm(b, now + (b->end_ns - now) / SLICES);
        now = ig_bench_ns();
    } while (status > 0 && now < b->end_ns);
    publish(b, 1);
    return status < 0 ? -1 : 0;
}

static int by_record(const void *a, const void *b)
{
    const struct ig_band_timing *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->last != y->last) return x->last < y->last ? -1 : 1;
    return x->rows != y->rows ? x->rows - y->rows : x->chunk - y->chunk;
}

int ig_profile_bands(const struct ig_graph *g, const struct ig_profile_options *o, int64_t end_ns,
                     struct ig_profile *p, char *err, size_t err_bytes)
{
    struct bands b = {.g = g, .o = o, .p = p, .end_ns = end_ns, .err = err, .err_bytes = err_bytes};
    snprintf(err, err_bytes, "out of memory");
    b.plan = make_plan(&b, IG_BANDS_OFF, NULL, 0);
    if (!b.plan) return -1;
    int status = find_trials(&b);
    if (!status && b.n && b.trials[0].hope > 0) {
        p->bands = calloc((size_t)b.n + 1, sizeof *p->bands);
        status = p->bands ? ig_turns_begin(&b.turns, g, b.plan, o->threads, err, err_bytes) : -1;
        if (!status) status = all_rounds(&b);
        if (p->bands) {
            qsort(p->bands, (size_t)p->n_bands, sizeof *p->bands, by_record);
            ig_turns_end(&b.turns);
        }
    }
    free(b.trials);
    ig_plan_free(b.plan);
    return status;
}
