/*
 * Rounds. Each makes the front by the profile as it is and times its points, the one with the most of untimed bands first:
 * the point's plan, as the runtime runs it, in turns with one of the same kernels and no bands. As times change who is on
 * the front, the next round makes it anew.
 */
#include "bench/fronts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/turns.h"
#include "planner/tradeoff.h"

struct fronts {
    const struct ig_graph *g;
    struct ig_plan_options o;
    struct ig_profile *p;
    int32_t timed;           /* points */
    int64_t end_ns;
    char *err;
    size_t err_bytes;
};

static int same_key(const struct ig_band_timing *a, const struct ig_band_timing *b)
{
    return a->first == b->first && a->last == b->last && a->rows == b->rows && a->chunk == b->chunk &&
           a->threads == b->threads && a->n == b->n && !memcmp(a->kernels, b->kernels, (size_t)a->n * sizeof *a->kernels);
}

/* Is there such a band in the profile, or is it a layer alone, of which a profile has the time? */
static int is_timed(const struct ig_profile *p, const struct ig_band_timing *t)
{
    int32_t i = 0;
    while (i < p->n_bands && !same_key(&p->bands[i], t)) i++;
    return t->n < 2 || i < p->n_bands;
}

static double untimed_ns(const struct ig_profile *p, const struct ig_tradeoff_point *at)
{
    double ns = 0;
    for (int32_t i = 0; i < at->n_given; i++)
        if (!is_timed(p, &at->given[i])) ns += at->given[i].apart_ns;
    return ns;
}

/* The point with the most of untimed bands, of those not tried; -1: none. *left: how many have any. */
static int32_t next_point(const struct fronts *f, const struct ig_tradeoff *t, const uint8_t *tried, int32_t *left)
{
    int32_t best = -1;
    double most = 0;
    *left = 0;
    for (int32_t i = 0; i < t->n; i++) {
        double ns = tried[i] ? 0 : untimed_ns(f->p, &t->at[i]);
        *left += ns > 0;
        if (ns <= most) continue;
        most = ns;
        best = i;
    }
    return best;
}

static struct ig_band_timing key_of(const struct ig_plan *plan, const struct ig_band *band)
{
    const struct ig_plan_step *last = &plan->steps[band->last];
    struct ig_band_timing t = {.first = plan->steps[band->first].node, .last = last->node, .rows = band->rows,
                               .chunk = last->chunk, .threads = plan->threads};
    int32_t members[IG_MAX_BAND];
    t.n = ig_band_members(plan, band, members);
    for (int32_t i = 0; i < t.n; i++) t.kernels[i] = plan->steps[members[i]].kernel;
    return t;
}

/* The plan's bands that the profile lacks. 0 or -1. */
static int add_records(struct fronts *f, const struct ig_plan *plan, const double *in_order_ns, const double *apart_ns)
{
    struct ig_profile *p = f->p;
    struct ig_band_timing *more = realloc(p->bands, (size_t)(p->n_bands + plan->n_bands + 1) * sizeof *more);
    if (!more) return -1;
    p->bands = more;
    for (int32_t i = 0; i < plan->n_bands; i++) {
        struct ig_band_timing t = key_of(plan, &plan->bands[i]);
        if (is_timed(p, &t)) continue;
        t.in_order_ns = in_order_ns[i];
        t.apart_ns = apart_ns[i];
        p->bands[p->n_bands++] = t;
    }
    return 0;
}

static int time_plans(struct fronts *f, const struct ig_plan *apart, const struct ig_plan *plan, int64_t until_ns)
{
    struct ig_turns turns;
    double *in_order = calloc((size_t)plan->n_bands + 1, sizeof *in_order);
    double *ns = calloc((size_t)plan->n_bands + 1, sizeof *ns);
    int status = in_order && ns ? 0 : -1;
    if (!status) {
        status = ig_turns_begin(&turns, f->g, apart, f->o.threads, f->err, f->err_bytes);
        if (!status) status = ig_turns_run(&turns, plan, until_ns, in_order, ns, f->err, f->err_bytes);
        if (!status) status = add_records(f, plan, in_order, ns);
        ig_turns_end(&turns);
    }
    free(in_order);
    free(ns);
    return status;
}

static int time_point(struct fronts *f, const struct ig_tradeoff_point *at, int64_t until_ns)
{
    struct ig_plan_options off = f->o;
    off.lean = at->lean;
    off.leans = at->leans;
    off.bands = IG_BANDS_OFF;
    struct ig_plan *apart = ig_plan_once(f->g, &off, f->err, f->err_bytes);
    struct ig_plan *plan = apart ? ig_tradeoff_plan_at(f->g, f->o, at, f->err, f->err_bytes) : NULL;
    int status = plan ? time_plans(f, apart, plan, until_ns) : -1;
    ig_plan_free(plan);
    ig_plan_free(apart);
    f->timed++;
    return status;
}

/* 1: points were timed, 0: nothing is left, or no time, -1 */
static int one_round(struct fronts *f, const struct ig_profile_options *o)
{
    struct ig_tradeoff t;
    int status = ig_tradeoff_make(f->g, &f->o, &t, f->err, f->err_bytes), before = f->timed;
    uint8_t *tried = calloc((size_t)t.n + 1, 1);
    if (!tried) status = -1;
    while (!status && (!f->timed || ig_bench_ns() < f->end_ns)) {
        int32_t left, best = next_point(f, &t, tried, &left);
        if (best < 0) break;
        int64_t now = ig_bench_ns();
        tried[best] = 1;
        status = time_point(f, &t.at[best], now + (f->end_ns - now) / left);
        if (o->progress) o->progress(f->timed, f->timed + left);
    }
    free(tried);
    ig_tradeoff_free(&t);
    return status ? -1 : f->timed > before;
}

static int by_key(const void *a, const void *b)
{
    const struct ig_band_timing *x = a, *y = b;
    if (x->first != y->first) return x->first < y->first ? -1 : 1;
    if (x->last != y->last) return x->last < y->last ? -1 : 1;
    if (x->rows != y->rows) return x->rows < y->rows ? -1 : 1;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    for (int32_t i = 0; i < x->n && i < y->n; i++)
        if (x->kernels[i] != y->kernels[i]) return strcmp(x->kernels[i]->name, y->kernels[i]->name);
    return 0;
}

int ig_profile_fronts(const struct ig_graph *g, const struct ig_profile_options *o, int64_t end_ns, struct ig_profile *p,
                      char *err, size_t err_bytes)
{
    struct fronts f = {.g = g, .p = p, .end_ns = end_ns, .err = err, .err_bytes = err_bytes};
    f.o = (struct ig_plan_options){.target = "host", .isa = o->isa, .threads = o->threads, .profile = p,
                                   .max_error = IG_MAX_ERROR};
    int status = 1;
    snprintf(err, err_bytes, "out of memory");
    while (status > 0 && (!f.timed || ig_bench_ns() < end_ns)) status = one_round(&f, o);
    if (p->n_bands) qsort(p->bands, (size_t)p->n_bands, sizeof *p->bands, by_key);
    return status < 0 ? -1 : 0;
}
