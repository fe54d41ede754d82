/* Which cuts of a network a trial runs: the best by its profile, the best by what that took, and their neighbours. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/trial.h"
#include "planner/alloc.h"
#include "planner/stages.h"

enum { CUTS = 3, CLIMBS = 3, HAND_OVER_NS = 2000 };
static const double even = 0.8; /* stages as alike as that make each other wait when they jitter, with a slot more less */
static const double far = 1.05; /* neighbours whose slowest stage is predicted so much slower are not tried */

/* --- a cut as a plan --- */

static int32_t slots_between(int64_t a_ns, int64_t b_ns)
{
    int64_t less = a_ns < b_ns ? a_ns : b_ns, more = a_ns < b_ns ? b_ns : a_ns;
    return (double)less >= even * (double)more ? 3 : 2;
}

static void put_option(struct ig_trial_entry *e)
{
    const struct ig_plan *p = e->plan;
    size_t at = 0;
    for (int32_t s = 0; s < p->n_stages && at < IG_TRIAL_TEXT; s++) {
        const struct ig_plan_stage *stage = &p->stages[s];
        at += (size_t)snprintf(e->option + at, IG_TRIAL_TEXT - at, "%s%s", s ? "," : "", stage->processor);
        if (s + 1 < p->n_stages && at < IG_TRIAL_TEXT)
            at += (size_t)snprintf(e->option + at, IG_TRIAL_TEXT - at, "/%d@%d", stage->slots, stage->last);
    }
}

static struct ig_plan *plan_of(const struct ig_trials *t, const struct ig_pipe_plan *cut)
{
    struct ig_plan_stage stages[IG_PLAN_STAGES];
    int32_t *of = ig_must_alloc((size_t)t->net.n_steps, sizeof *of);
    char err[4096];
    for (int32_t s = 0; s < cut->n_stages; s++) {
        stages[s] = t->sets[cut->processor[s]];
        stages[s].slots = s + 1 < cut->n_stages ? slots_between(cut->stage_ns[s], cut->stage_ns[s + 1]) : 2;
    }
    ig_pipe_step_stages(&t->net, cut, of);
    struct ig_plan *p = ig_plan_stages(t->g, &t->options, of, stages, cut->n_stages, err, sizeof err);
    if (!p) ig_fatal("%s: %s", t->g->name, err);
    free(of);
    return p;
}

/* The net's times as those of the cut's stages were. */
static void put_right(struct ig_trials *t, const struct ig_trial_entry *e)
{
    int32_t n = t->net.p.n_processors;
    double sum[IG_PLAN_STAGES] = {0};
    for (int32_t v = 0; v < t->net.p.n; v++) sum[e->cut.stage[v]] += (double)t->net.ns[(int64_t)v * n];
    for (int32_t v = 0; v < t->net.p.n; v++)
        for (int32_t k = 0; k < n; k++) {
            int32_t s = e->cut.stage[v];
            double factor = sum[s] > 0 ? e->found.stage_ns[s] / sum[s] : 1;
            t->net.ns[(int64_t)v * n + k] = (int64_t)((double)t->net.ns[(int64_t)v * n + k] * factor + 0.5);
        }
}

static int same_cut(const struct ig_pipe_plan *a, const struct ig_pipe_plan *b)
{
    return a->n_stages == b->n_stages && !memcmp(a->stage, b->stage, (size_t)a->n * sizeof *a->stage);
}

static int tried(const struct ig_trials *t, const struct ig_pipe_plan *cut)
{
    for (int32_t i = 0; i < t->n; i++)
        if (t->entries[i].cut.n && same_cut(&t->entries[i].cut, cut)) return 1;
    return 0;
}

static void try_cut(struct ig_trials *t, const struct ig_pipe_plan *cut)
{
    struct ig_trial_entry *e = ig_try(t, "pipeline", t->g, plan_of(t, cut));
    ig_pipe_plan_start(&t->net.p, &e->cut);
    ig_pipe_plan_copy(&e->cut, cut);
    put_option(e);
}

/* --- which --- */

/* A segment of stage `s` goes to the one behind (by 1) or comes from there (-1): 0, or -1 if it has no other. */
static int shift(struct ig_pipe_plan *cut, int32_t s, int by)
{
    int32_t from = by > 0 ? s : s + 1, to = by > 0 ? s + 1 : s, count = 0, edge = -1;
    for (int32_t v = 0; v < cut->n; v++) {
        if (cut->stage[v] != from) continue;
        if (by > 0 || !count) edge = v;
        count++;
    }
    if (count < 2) return -1;
    cut->stage[edge] = to;
    cut->on[edge] = cut->processor[to];
    return 0;
}

/* How many were tried. */
static int32_t try_neighbours(struct ig_trials *t, const struct ig_trial_entry *best)
{
    struct ig_pipe_plan cut;
    int32_t before = t->n;
    ig_pipe_plan_start(&t->net.p, &cut);
    put_right(t, best);
    for (int32_t s = 0; s + 1 < best->cut.n_stages; s++)
        for (int by = -1; by <= 1; by += 2) {
            ig_pipe_plan_copy(&cut, &best->cut);
            if (shift(&cut, s, by) || tried(t, &cut) || t->n == IG_TRIALS) continue;
            ig_pipe_fill(&t->net.p, &cut);
            if ((double)cut.period_ns <= far * best->found.period_ns) try_cut(t, &cut);
        }
    ig_pipe_plan_free(&cut);
    return t->n - before;
}

static const struct ig_trial_entry *fastest_cut(const struct ig_trials *t)
{
    const struct ig_trial_entry *best = NULL;
    for (int32_t i = 0; i < t->n; i++)
        if (t->entries[i].cut.n && (!best || t->entries[i].found.period_ns < best->found.period_ns))
            best = &t->entries[i];
    return best;
}

void ig_try_cuts(struct ig_trials *t)
{
    struct ig_pipe in_order = t->net.p;
    struct ig_pipe_plan cut;
    in_order.in_order = 1;
    in_order.reads_input = in_order.is_output = NULL;
    for (int32_t k = 0; k < t->n_sets; k++) in_order.in[k] = (struct ig_pipe_link){HAND_OVER_NS, 0};
    ig_pipe_plan_start(&in_order, &cut);
    for (int i = 0; i < CUTS; i++) {
        ig_pipe_stages(&in_order, &cut);
        if (cut.n_stages < 2 || tried(t, &cut)) break;
        try_cut(t, &cut);
        put_right(t, &t->entries[t->n - 1]);
    }
    ig_pipe_plan_free(&cut);
    for (int i = 0; i < CLIMBS && fastest_cut(t); i++) {
        ig_try_again(t, 1);
        if (!try_neighbours(t, fastest_cut(t))) break;
    }
}
