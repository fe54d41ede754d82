/*
 * Rounds. Each bakes a plan with as many untimed candidates as do not meet, the most promising first, and
 * runs it and the plan without bands in turns, so that whatever else slows the machine slows both. What then
 * is the best set is timed as a whole: a band that only looked good by luck, or only beside other neighbours,
 * loses its place, and the next best set is timed.
 */
#include "bench/bands.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bed.h"

enum { MAX_RUNS = 15, LEAST_RUNS = 3, CONFIRMATIONS = 4 };
static const double hopeless =
    0.9; /* of the layers' own time: a height that is that much slower spoils the others */

struct trial {
    struct ig_band_timing t; /* the estimate until it is timed */
    double hope;             /* estimated gain, ns; the order of the trials */
    int timed;
};

struct arena_pair { /* the two plans that are run in turns */
    struct ig_bed whole, banded;
    void **inputs, **outputs;
    int64_t *step_ns;
};

struct bands {
    const struct ig_graph *g;
    const struct ig_profile_options *o;
    struct ig_profile *p;
    struct ig_plan *plan; /* without bands */
    struct ig_lowered *lowered;
    struct trial *trials;
    int32_t n;
    struct arena_pair pair;
    int64_t end_ns;
    char *err;
    size_t err_bytes;
};

static int by_hope(const void *a, const void *b)
{
    const struct trial *x = a, *y = b;
    if (x->hope != y->hope) return x->hope > y->hope ? -1 : 1;
    if (x->t.last != y->t.last) return x->t.last < y->t.last ? -1 : 1;
    if (x->t.first != y->t.first) return x->t.first < y->t.first ? -1 : 1;
    return x->t.rows != y->t.rows ? x->t.rows - y->t.rows : x->t.chunk - y->t.chunk;
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
        b->trials[i] = (struct trial){found[i], found[i].apart_ns - found[i].in_order_ns, 0};
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

/* The least is what the machine can do; all above it is others' doing. */
static double least(const int64_t *ns, int n)
{
    int64_t m = ns[0];
    for (int i = 1; i < n; i++)
        if (ns[i] < m) m = ns[i];
    return (double)m;
}

static void run(struct arena_pair *p, struct ig_bed *bed)
{
    ig_ctx_run_timed(&bed->ctx, (const void *const *)p->inputs, p->outputs, p->step_ns, ig_bench_ns);
}

/* Time of the table's steps that run nodes of the band in the last frame. */
static int64_t time_of(const struct bands *b, const struct ig_lowered *l, const struct ig_plan *plan,
                       const struct ig_band *band)
{
    int32_t members[IG_MAX_BAND], n = ig_band_members(plan, band, members);
    int64_t ns = 0;
    for (int32_t s = 0; s < l->model.n_steps; s++)
        for (int32_t i = 0; i < n; i++)
            if (l->nodes[s] == &b->g->nodes[plan->steps[members[i]].node]) ns += b->pair.step_ns[s];
    return ns;
}

static struct trial *trial_of(struct bands *b, const struct ig_plan *plan, const struct ig_band *band)
{
    int32_t first = plan->steps[band->first].node, last = plan->steps[band->last].node;
    for (int32_t i = 0; i < b->n; i++) {
        const struct ig_band_timing *t = &b->trials[i].t;
        if (t->first == first && t->last == last && t->rows == band->rows &&
            t->chunk == plan->steps[band->last].chunk)
            return &b->trials[i];
    }
    return NULL;
}

/* A height that is far too slow takes the hope from the band's other heights. */
static void learn(struct bands *b, const struct trial *of)
{
    if (of->t.in_order_ns * hopeless < of->t.apart_ns) return;
    for (int32_t i = 0; i < b->n; i++)
        if (b->trials[i].t.first == of->t.first && b->trials[i].t.last == of->t.last && !b->trials[i].timed)
            b->trials[i].hope -= of->t.apart_ns;
}

/* Runs both plans in turns; fills in the times of plan's bands. */
static int time_plan(struct bands *b, struct ig_plan *plan, struct ig_lowered *l, int runs_at_least, int64_t until_ns)
{
    int64_t *ns = calloc((size_t)plan->n_bands * 2 * MAX_RUNS + 1, sizeof *ns);
    int runs = 0;
    if (!ns) return -1;
    run(&b->pair, &b->pair.whole);
    run(&b->pair, &b->pair.banded);
    for (; runs < MAX_RUNS && (runs < runs_at_least || ig_bench_ns() < until_ns); runs++) {
        run(&b->pair, &b->pair.whole);
        for (int32_t i = 0; i < plan->n_bands; i++)
            ns[2 * i * MAX_RUNS + runs] = time_of(b, b->lowered, plan, &plan->bands[i]);
        run(&b->pair, &b->pair.banded);
        for (int32_t i = 0; i < plan->n_bands; i++)
            ns[(2 * i + 1) * MAX_RUNS + runs] = time_of(b, l, plan, &plan->bands[i]);
    }
    for (int32_t i = 0; i < plan->n_bands; i++) {
        struct trial *t = trial_of(b, plan, &plan->bands[i]);
        if (!t) continue;
        t->t.apart_ns = least(ns + 2 * i * MAX_RUNS, runs);
        t->t.in_order_ns = least(ns + (2 * i + 1) * MAX_RUNS, runs);
        t->timed = 1;
        learn(b, t);
    }
    free(ns);
    return 0;
}

static int try_plan(struct bands *b, struct ig_plan *plan, int runs_at_least, int64_t until_ns)
{
    struct ig_lowered *l = ig_lower(b->g, plan);
    int status = ig_bed_share(&b->pair.banded, l, b->o->threads, &b->pair.whole, b->err, b->err_bytes);
    if (!status) {
        status = time_plan(b, plan, l, runs_at_least, until_ns);
        ig_bed_free(&b->pair.banded);
    }
    ig_lowered_free(l);
    return status;
}

/* --- rounds --- */

/* Untimed trials with hope that do not meet, into given[]. */
static int32_t next_trials(struct bands *b, struct ig_band_timing *given)
{
    int32_t n = 0, members[IG_MAX_BAND];
    uint8_t *taken = calloc((size_t)b->g->n_nodes + 1, 1);
    for (int32_t i = 0; taken && i < b->n; i++) {
        const struct ig_band_timing *t = &b->trials[i].t;
        const struct ig_band band = {.first = t->first, .last = t->last};
        int32_t count = ig_band_members(b->plan, &band, members), free_of_others = 1;
        if (b->trials[i].timed || b->trials[i].hope <= 0) continue;
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
        if (!plan || try_plan(b, plan, LEAST_RUNS, 0)) status = -1;
        ig_plan_free(plan);
    }
    free(given);
    return status;
}

/* The timed trials become the profile's. */
static void publish(struct bands *b)
{
    b->p->n_bands = 0;
    for (int32_t i = 0; i < b->n; i++)
        if (b->trials[i].timed) b->p->bands[b->p->n_bands++] = b->trials[i].t;
}

static int confirm(struct bands *b, int64_t until_ns)
{
    publish(b);
    struct ig_plan *plan = make_plan(b, IG_BANDS_AUTO, NULL, 0);
    int status = plan ? plan->n_bands ? try_plan(b, plan, LEAST_RUNS, until_ns) : 0 : -1;
    ig_plan_free(plan);
    publish(b);
    return status;
}

static void say(const struct bands *b)
{
    int timed = 0;
    for (int32_t i = 0; i < b->n; i++) timed += b->trials[i].timed;
    if (b->o->progress) b->o->progress(timed, b->n + 1);
}

/* Trials for three quarters of the time, then the choice, several times over. */
static int all_rounds(struct bands *b)
{
    int64_t start = ig_bench_ns(), left = b->end_ns - start, until = start + left / 4 * 3;
    int status;
    do {
        qsort(b->trials, (size_t)b->n, sizeof *b->trials, by_hope);
        status = one_round(b);
        say(b);
    } while (status > 0 && ig_bench_ns() < until);
    for (int i = 0; status >= 0 && i < CONFIRMATIONS; i++) {
        int64_t now = ig_bench_ns();
        if (i && now >= b->end_ns) break;
        status = confirm(b, now + (b->end_ns - now) / (CONFIRMATIONS - i));
    }
    return status < 0 ? -1 : 0;
}

static int by_record(const void *a, const void *b)
{
    const struct ig_band_timing *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->last != y->last) return x->last < y->last ? -1 : 1;
    return x->rows != y->rows ? x->rows - y->rows : x->chunk - y->chunk;
}

static int run_pair(struct bands *b)
{
    const struct ig_model *m = &b->lowered->model;
    if (ig_bed_make(&b->pair.whole, b->lowered, b->o->threads, b->err, b->err_bytes)) return -1;
    b->pair.inputs = ig_io_buffers(m->inputs, m->n_inputs);
    b->pair.outputs = ig_io_buffers(m->outputs, m->n_outputs);
    b->pair.step_ns = calloc((size_t)m->n_steps + 1, sizeof *b->pair.step_ns);
    b->p->bands = calloc((size_t)b->n + 1, sizeof *b->p->bands);
    int status = b->pair.inputs && b->pair.outputs && b->pair.step_ns && b->p->bands ? 0 : -1;
    if (!status) {
        for (int32_t i = 0; i < m->n_inputs; i++) ig_bench_fill(m->inputs[i].shape, b->pair.inputs[i]);
        status = all_rounds(b);
        qsort(b->p->bands, (size_t)b->p->n_bands, sizeof *b->p->bands, by_record);
    }
    ig_io_buffers_free(b->pair.inputs, m->inputs, m->n_inputs);
    ig_io_buffers_free(b->pair.outputs, m->outputs, m->n_outputs);
    free(b->pair.step_ns);
    ig_bed_free(&b->pair.whole);
    return status;
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
        b.lowered = ig_lower(g, b.plan);
        status = run_pair(&b);
        ig_lowered_free(b.lowered);
    }
    free(b.trials);
    ig_plan_free(b.plan);
    return status;
}
