#include "planner/pipe_dvfs.h"

#include <stdlib.h>

#include "planner/alloc.h"

struct sums {         /* of one processor at one point: of layers 0..i - 1 */
    int64_t *ns, *pj; /* [n + 1] time; energy beyond idle */
};

struct tables {
    const struct ig_dvfs *d;
    struct sums of[2][IG_DVFS_POINTS];
};

static int64_t layer_ns(const struct ig_dvfs_processor *p, const struct ig_dvfs_point *at, int32_t i)
{
    return p->memory_ns[i] + p->cycles[i] / at->khz * 1000000 + p->cycles[i] % at->khz * 1000000 / at->khz;
}

static void start(struct tables *t, const struct ig_dvfs *d)
{
    t->d = d;
    for (int k = 0; k < 2; k++)
        for (int32_t f = 0; f < d->on[k].n; f++) {
            const struct ig_dvfs_point *at = &d->on[k].points[f];
            struct sums *s = &t->of[k][f];
            s->ns = ig_must_alloc(2 * ((size_t)d->n + 1), sizeof *s->ns);
            s->pj = s->ns + d->n + 1;
            for (int32_t i = 0; i < d->n; i++) {
                int64_t ns = layer_ns(&d->on[k], at, i);
                s->ns[i + 1] = s->ns[i] + ns;
                s->pj[i + 1] = s->pj[i] + ns * (at->active_mw[d->kind[i]] - at->idle_mw);
            }
        }
}

static void end(struct tables *t)
{
    for (int k = 0; k < 2; k++)
        for (int32_t f = 0; f < t->d->on[k].n; f++) free(t->of[k][f].ns);
}

static int64_t idle_mw(const struct ig_dvfs *d, const int32_t *point)
{
    return d->board_mw + d->on[0].points[point[0]].idle_mw + d->on[1].points[point[1]].idle_mw;
}

/* Transfers are paid at the power of convolutions. */
static void cost(const struct tables *t, struct ig_dvfs_plan *plan, int64_t period_ns)
{
    const struct ig_dvfs *d = t->d;
    int32_t a = plan->first, b = !a;
    const struct sums *first = &t->of[a][plan->point[a]], *second = &t->of[b][plan->point[b]];
    const struct ig_dvfs_point *at_a = &d->on[a].points[plan->point[a]], *at_b = &d->on[b].points[plan->point[b]];
    int64_t in_a = d->on[a].load_ns[0], in_b = plan->cut < d->n ? d->on[b].load_ns[plan->cut] : 0;
    int64_t s0 = first->ns[plan->cut] + in_a, s1 = second->ns[d->n] - second->ns[plan->cut] + in_b;
    plan->period_ns = s0 > s1 ? s0 : s1;
    plan->energy_pj = first->pj[plan->cut] + second->pj[d->n] - second->pj[plan->cut] +
                      in_a * (at_a->active_mw[0] - at_a->idle_mw) + in_b * (at_b->active_mw[0] - at_b->idle_mw) +
                      idle_mw(d, plan->point) * (period_ns ? period_ns : plan->period_ns);
}

/* No cut at these points is faster: for any m in 0..1, T >= sum of min(m * t0, (1 - m) * t1) over layers. */
static int64_t period_bound(const struct tables *t, const int32_t *point)
{
    enum { PARTS = 16 };
    const struct ig_dvfs *d = t->d;
    const struct sums *x = &t->of[0][point[0]], *y = &t->of[1][point[1]];
    int64_t most = 0;
    for (int64_t m = 1; m < PARTS; m++) {
        int64_t sum = 0;
        for (int32_t i = 0; i < d->n; i++) {
            int64_t a = m * (x->ns[i + 1] - x->ns[i]), b = (PARTS - m) * (y->ns[i + 1] - y->ns[i]);
            sum += a < b ? a : b;
        }
        if (sum > most) most = sum;
    }
    return (most + PARTS - 1) / PARTS;
}

static int64_t energy_bound(const struct tables *t, const int32_t *point, int64_t period_ns)
{
    const struct ig_dvfs *d = t->d;
    const struct sums *x = &t->of[0][point[0]], *y = &t->of[1][point[1]];
    int64_t sum = idle_mw(d, point) * period_ns;
    for (int32_t i = 0; i < d->n; i++) {
        int64_t a = x->pj[i + 1] - x->pj[i], b = y->pj[i + 1] - y->pj[i];
        sum += a < b ? a : b;
    }
    return sum;
}

struct wish {                     /* one of both is a limit, the other is minimised */
    int64_t period_ns, energy_pj; /* 0: minimised */
};

static int better(const struct wish *w, const struct ig_dvfs_plan *a, const struct ig_dvfs_plan *b)
{
    if (w->period_ns && a->period_ns > w->period_ns) return 0;
    if (w->energy_pj && a->energy_pj > w->energy_pj) return 0;
    if (!b->found) return 1;
    int64_t x[] = {a->period_ns, a->energy_pj}, y[] = {b->period_ns, b->energy_pj};
    int first = w->period_ns ? 1 : 0;
    return x[first] != y[first] ? x[first] < y[first] : x[!first] < y[!first];
}

struct pair { /* of points, with what no cut there can beat */
    int32_t point[2];
    int64_t bound; /* of what is minimised */
    int hopeless;  /* the limit cannot be kept */
};

static int by_bound(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    if (x->bound != y->bound) return x->bound < y->bound ? -1 : 1;
    for (int k = 0; k < 2; k++)
        if (x->point[k] != y->point[k]) return x->point[k] < y->point[k] ? -1 : 1;
    return 0;
}

/* All pairs of points, the most promising first. */
static struct pair *all_pairs(const struct tables *t, const struct wish *w, int32_t *n)
{
    const struct ig_dvfs *d = t->d;
    struct pair *pairs = ig_must_alloc((size_t)d->on[0].n * (size_t)d->on[1].n, sizeof *pairs);
    *n = 0;
    for (int32_t i = 0; i < d->on[0].n; i++)
        for (int32_t k = 0; k < d->on[1].n; k++) {
            struct pair *p = &pairs[(*n)++];
            *p = (struct pair){.point = {i, k}};
            int64_t ns = period_bound(t, p->point), pj = energy_bound(t, p->point, w->period_ns ? w->period_ns : ns);
            p->bound = w->period_ns ? pj : ns;
            p->hopeless = w->period_ns ? ns > w->period_ns : w->energy_pj && pj > w->energy_pj;
        }
    qsort(pairs, (size_t)*n, sizeof *pairs, by_bound);
    return pairs;
}

static void all_cuts(const struct tables *t, const struct wish *w, const int32_t *point, struct ig_dvfs_plan *best,
                     int64_t *looked)
{
    for (int32_t first = 0; first < 2; first++)
        for (int32_t cut = 1; cut <= t->d->n; cut++) {
            struct ig_dvfs_plan now = {.found = 1, .first = first, .cut = cut, .point = {point[0], point[1]}};
            cost(t, &now, w->period_ns);
            ++*looked;
            if (better(w, &now, best)) *best = now;
        }
}

struct ig_dvfs_plan ig_dvfs_search(const struct ig_dvfs *d, int64_t period_ns, int64_t energy_pj, int prune,
                                   int64_t *looked)
{
    struct tables t;
    struct wish w = {period_ns, energy_pj};
    struct ig_dvfs_plan best = {.found = 0};
    start(&t, d);
    *looked = 0;
    int32_t n;
    struct pair *pairs = all_pairs(&t, &w, &n);
    for (int32_t i = 0; i < n; i++) {
        int64_t found = w.period_ns ? best.energy_pj : best.period_ns;
        if (prune && (pairs[i].hopeless || (best.found && pairs[i].bound > found))) continue;
        all_cuts(&t, &w, pairs[i].point, &best, looked);
    }
    free(pairs);
    end(&t);
    return best;
}

struct ig_dvfs_plan ig_dvfs_basic(const struct ig_dvfs *d, const int32_t *point)
{
    struct tables t;
    struct wish w = {0, 0};
    struct ig_dvfs_plan best = {.found = 0};
    int64_t looked = 0;
    start(&t, d);
    all_cuts(&t, &w, point, &best, &looked);
    end(&t);
    return best;
}

struct ig_dvfs_plan ig_dvfs_single(const struct ig_dvfs *d, const int32_t *point)
{
    struct tables t;
    struct wish w = {0, 0};
    struct ig_dvfs_plan best = {.found = 0};
    start(&t, d);
    for (int32_t first = 0; first < 2; first++) {
        struct ig_dvfs_plan now = {.found = 1, .first = first, .cut = d->n, .point = {point[0], point[1]}};
        cost(&t, &now, 0);
        if (better(&w, &now, &best)) best = now;
    }
    end(&t);
    return best;
}

struct ig_dvfs_plan ig_dvfs_power_save(const struct ig_dvfs *d, int64_t period_ns)
{
    int64_t looked;
    return ig_dvfs_search(d, period_ns, 0, 1, &looked);
}

struct ig_dvfs_plan ig_dvfs_boost(const struct ig_dvfs *d, int64_t energy_pj)
{
    int64_t looked;
    return ig_dvfs_search(d, 0, energy_pj, 1, &looked);
}

int ig_dvfs_fit(const int64_t *khz, const int64_t *ns, int32_t n, int64_t *cycles, int64_t *memory_ns)
{
    int64_t f = khz[0], g = khz[1], d = ns[0] - ns[1];
    if (n < 2 || f == g) return -1;
    /* t0 - t1 = a (1/f - 1/g): a in cycles, clocks in kHz, times in ns */
    __int128 a = (__int128)d * f * g / (g - f) / 1000000;
    if (a < 0) a = 0;
    *cycles = (int64_t)a;
    *memory_ns = ns[0] - (int64_t)(a * 1000000 / f);
    if (*memory_ns < 0) *memory_ns = 0;
    for (int32_t i = 2; i < n; i++) {
        int64_t off = *memory_ns + (int64_t)(a * 1000000 / khz[i]) - ns[i];
        if ((off < 0 ? -off : off) * 20 > ns[i]) return -1;
    }
    return 0;
}
