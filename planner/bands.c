/*
 * Which steps run by rows. Candidates are the runs of steps that can be a band (band.c) with some heights of a
 * phase; each gains what it is faster than its steps one after the other. The best set of candidates that do
 * not meet is found step by step: best(step) = max(best(step before), gain(candidate that ends here) + best(step
 * before its first)).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/band.h"
#include "planner/views.h"

static const int32_t heights[] = {1, 2, 4, 8, 16};
enum { HEIGHTS = sizeof heights / sizeof *heights, BRANCHED_HEIGHTS = 2, GROUP = 6 /* pixels of most kernels */ };

static const struct {
    double cache_bytes, far_bytes_per_ns, near_bytes_per_ns;
} machines[IG_ISAS] = {
    /* what rings may take of a core's second-level cache; what tensors beyond it, and weights in it, come
       with */
    [IG_ISA_REF] = {1 << 19, 45, 80},
    [IG_ISA_AVX2] = {1 << 19, 45, 80},
    [IG_ISA_AVXVNNI] = {1 << 19, 45, 80},
    [IG_ISA_AVX512] = {1 << 20, 45, 80},
    [IG_ISA_VNNI] = {1 << 20, 45, 80},
    [IG_ISA_AMX] = {1 << 20, 45, 80},
    [IG_ISA_NEON] = {1 << 18, 10, 16},
    [IG_ISA_FP16] = {1 << 18, 10, 16},
    [IG_ISA_DOTPROD] = {1 << 18, 10, 16},
};
static const double call_ns = 250, barrier_ns = 2000, tiny_ns = 20000;
static const double least_share = 0.5; /* of the steps' own times: what memory cannot save */
static const double least_gain = 0.01; /* of the time: less than that is noise */

/* --- estimate --- */

static double weight_bytes(const struct ig_graph *g, const struct ig_node *n)
{
    double bytes = 0;
    for (int32_t k = 0; k < n->n_in; k++)
        if (ig_is_const(g, n->in[k])) bytes += (double)ig_bytes(&g->values[n->in[k]].shape);
    return bytes;
}

/* Rows of the last step that a piece has, of `pieces` for each thread; 0: it is not cut. */
static int32_t chunk_of(const struct ig_part *c, int32_t threads, int32_t pieces, double apart)
{
    int32_t h = ig_part_rows(c), tile = ig_part_tile(c), chunk = (h + pieces * threads - 1) / (pieces * threads);
    chunk = (chunk + tile - 1) / tile * tile;
    return threads == 1 || apart < tiny_ns || chunk >= h || !ig_part_is_divisible(c) ? 0 : chunk;
}

/*
 * How much longer a convolution takes for `rows` rows a call than for all at once, as a group of pixels of a call's last
 * that is not full takes as long as others: 14 pixels are three groups of at most 6, as are 18.
 */
static double waste(const struct ig_graph *g, const struct ig_node *n, int32_t rows)
{
    struct ig_form f = ig_form_of(&g->values[n->out[0]].shape);
    double pixels = (double)f.w * rows, all = (double)f.w * f.rows;
    if ((n->op != IG_CONV && n->op != IG_DECONV) || rows < 1 || rows > f.rows) return 1;
    return ceil(pixels / GROUP) / pixels / (ceil(all / GROUP) / all);
}

/*
 * The steps' own times, less the way of the inner tensors to a farther cache and back, more for rows computed
 * twice, for threads that wait, for more calls, and for weights that every phase reads again.
 */
static double estimate(const struct ig_graph *g, const struct ig_plan *p, const struct ig_part *c,
                       int32_t isa, const struct ig_band_timing *t)
{
    int32_t h = ig_part_rows(c), chunk = t->chunk ? t->chunk : h, chunks = (h + chunk - 1) / chunk;
    double ns = 0, phases = (double)chunks * ((chunk + t->rows - 1) / t->rows),
           parallel = t->chunk ? p->threads : 1;
    int64_t computed[IG_MAX_BAND];
    ig_part_work(c, t->rows, chunk, computed);
    for (int32_t i = 0; i < c->flow.n; i++) {
        const struct ig_plan_step *s = &p->steps[c->flow.step[i]];
        const struct ig_node *n = &g->nodes[s->node];
        double tensor = (double)ig_bytes(&g->values[n->out[0]].shape);
        double calls = t->rows == ig_part_tile(c) ? (double)computed[i] / c->row_tile[i] : phases;
        double wasted = ig_part_is_chain(c) ? 1 : waste(g, n, (int32_t)((double)computed[i] / calls));
        ns += s->predicted_ns * (double)computed[i] / c->rows[i] * wasted;
        ns += calls * (call_ns + weight_bytes(g, n) / machines[isa].near_bytes_per_ns) / parallel;
        if (c->ring[i] < 0) continue;
        ns -= 2 * tensor / machines[isa].far_bytes_per_ns / parallel;
        if (p->threads > 1) ns -= barrier_ns;
    }
    double turns = (chunks + p->threads - 1) / p->threads;
    if (t->chunk) ns *= turns * chunk * p->threads / h;
    return ns > least_share * t->apart_ns ? ns : least_share * t->apart_ns;
}

/* --- candidates --- */

struct list {
    struct ig_band_timing *at;
    int32_t n, room;
};

static struct ig_band_timing *append(struct list *l)
{
    if (l->n == l->room) {
        struct ig_band_timing *more = ig_must_alloc((size_t)(l->room = 2 * l->room + 64), sizeof *more);
        if (l->n) memcpy(more, l->at, (size_t)l->n * sizeof *more);
        free(l->at);
        l->at = more;
    }
    l->at[l->n] = (struct ig_band_timing){0};
    return &l->at[l->n++];
}

static double ring_bytes(const struct ig_part *c, int32_t rows, int32_t chunk)
{
    int32_t rings[IG_MAX_BAND];
    double bytes = 0;
    ig_part_rings(c, rows, chunk, rings);
    for (int32_t i = 0; i < c->n_rings; i++) bytes += (double)c->row_bytes[i] * rings[i];
    return bytes;
}

static struct ig_band_timing timing_of(const struct ig_plan *p, const struct ig_part *c, int32_t rows,
                                       int32_t pieces)
{
    struct ig_band_timing t = {.rows = rows, .threads = p->threads, .n = c->flow.n};
    for (int32_t i = 0; i < t.n; i++) {
        t.kernels[i] = p->steps[c->flow.step[i]].kernel;
        t.apart_ns += p->steps[c->flow.step[i]].predicted_ns;
    }
    t.first = p->steps[c->flow.step[0]].node;
    t.last = p->steps[c->flow.step[t.n - 1]].node;
    t.chunk = chunk_of(c, p->threads, pieces, t.apart_ns);
    return t;
}

/* Heights whose rings fit the cache; the lowest in any case, and few where rows branch. */
static void add_candidates(const struct ig_graph *g, const struct ig_plan *p, const struct ig_part *c,
                           int32_t isa, int32_t pieces, struct list *l)
{
    int32_t tile = ig_part_tile(c), h = ig_part_rows(c), before = 0;
    for (int k = 0; k < (ig_part_is_chain(c) ? HEIGHTS : BRANCHED_HEIGHTS); k++) {
        int32_t rows = (heights[k] + tile - 1) / tile * tile;
        struct ig_band_timing t = timing_of(p, c, rows, pieces);
        int32_t chunk = t.chunk ? t.chunk : h;
        if (rows == before || rows > chunk || (pieces > 1 && !t.chunk)) continue;
        if (before && ring_bytes(c, rows, chunk) > machines[isa].cache_bytes) break;
        before = rows;
        t.in_order_ns = estimate(g, p, c, isa, &t);
        *append(l) = t;
    }
}

int32_t ig_band_candidates(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                           int32_t isa, enum ig_band_shape shape, struct ig_band_timing **bands)
{
    struct list l = {NULL, 0, 0};
    struct ig_usage *usage = ig_must_alloc((size_t)g->n_values, sizeof *usage);
    ig_find_usage(g, views, usage);
    for (int32_t last = 0; last < p->n_steps; last++) {
        struct ig_part c;
        int32_t first = shape == IG_SHAPE_ANY ? last : last - 1;
        for (int32_t n = last - first; first >= 0 && n <= IG_MAX_BAND; n += p->steps[first--].kernel != NULL) {
            if (!ig_part_make(g, views, usage, p, first, last, &c)) continue;
            int chain = ig_part_is_chain(&c);
            for (int32_t k = 1; k <= 1 + chain && (chain || shape != IG_SHAPE_CHAINS); k++)
                add_candidates(g, p, &c, isa, k, &l);
        }
    }
    free(usage);
    *bands = l.at;
    return l.n;
}

/* --- choice --- */

struct choice { /* of the best bands, by step */
    const struct ig_graph *g;
    const struct ig_view *views;
    struct ig_usage *usage;
    struct ig_plan *p;
    int32_t *step_of;                    /* by node: its step */
    double *best;                        /* gain of all that ends before this step */
    const struct ig_band_timing **taken; /* the band that ends at this step, or NULL */
};

/* Is the timing of what the plan would run? */
static int applies(const struct choice *c, const struct ig_band_timing *t)
{
    struct ig_part part;
    if (c->p->steps[c->step_of[t->first]].stage != c->p->steps[c->step_of[t->last]].stage) return 0;
    return ig_part_make(c->g, c->views, c->usage, c->p, c->step_of[t->first], c->step_of[t->last], &part) &&
           ig_part_suits(&part, c->p, t);
}

static void begin(struct choice *c)
{
    size_t n = (size_t)c->p->n_steps;
    c->usage = ig_must_alloc((size_t)c->g->n_values, sizeof *c->usage);
    c->step_of = ig_must_alloc(n, sizeof *c->step_of);
    c->best = ig_must_alloc(n + 1, sizeof *c->best);
    c->taken = ig_must_alloc(n, sizeof *c->taken);
    for (int32_t i = 0; i < c->p->n_steps; i++) c->step_of[c->p->steps[i].node] = i;
    ig_find_usage(c->g, c->views, c->usage);
}

static void end(struct choice *c)
{
    void *owned[] = {c->usage, c->step_of, c->best, c->taken};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) free(owned[i]);
}

/* All of the band at once; its steps are faster or slower in proportion. */
static void apply(struct choice *c, const struct ig_band_timing *t, struct ig_band *band)
{
    struct ig_plan *p = c->p;
    int32_t members[IG_MAX_BAND], images;
    struct ig_call call;
    *band = (struct ig_band){.first = c->step_of[t->first], .last = c->step_of[t->last], .rows = t->rows};
    int32_t n = ig_band_members(p, band, members);
    for (int32_t i = 0; i < n; i++) {
        struct ig_plan_step *s = &p->steps[members[i]];
        s->split = s->chunk = 0;
        s->chunks = 1;
        band->apart_ns += s->predicted_ns;
        if (t->apart_ns > 0) s->predicted_ns *= t->in_order_ns / t->apart_ns;
        band->predicted_ns += s->predicted_ns;
    }
    struct ig_plan_step *last = &p->steps[band->last];
    ig_node_call(c->g, c->views, &c->g->nodes[last->node], &call, &images);
    if (!t->chunk || t->chunk >= call.out[0].h) return;
    last->split = 1;
    last->chunk = t->chunk;
    last->chunks = (call.out[0].h + t->chunk - 1) / t->chunk;
}

static int by_last(const void *a, const void *b)
{
    const struct ig_band *x = a, *y = b;
    return (x->last > y->last) - (x->last < y->last);
}

/* The best of n timings, each worth gain[i]; those worth nothing are left out. */
static void pick(struct choice *c, const struct ig_band_timing *t, int32_t n, const double *gain)
{
    struct ig_plan *p = c->p;
    int32_t *last = ig_must_alloc((size_t)n, sizeof *last);
    for (int32_t i = 0; i < n; i++) last[i] = gain[i] > 0 && applies(c, &t[i]) ? c->step_of[t[i].last] : -1;
    for (int32_t s = 0; s < p->n_steps; s++) {
        c->best[s + 1] = c->best[s];
        for (int32_t i = 0; i < n; i++) {
            if (last[i] != s) continue;
            double all = gain[i] + c->best[c->step_of[t[i].first]];
            if (all <= c->best[s + 1]) continue;
            c->best[s + 1] = all;
            c->taken[s] = &t[i];
        }
    }
    free(last);
    p->bands = ig_must_alloc((size_t)p->n_steps, sizeof *p->bands);
    for (int32_t s = p->n_steps - 1; s >= 0; s--) {
        if (!c->taken[s]) continue;
        apply(c, c->taken[s], &p->bands[p->n_bands++]);
        s = p->bands[p->n_bands - 1].first;
    }
    if (p->n_bands) qsort(p->bands, (size_t)p->n_bands, sizeof *p->bands, by_last);
}

/* What it gains to take a timing, by the kind of choice: time; or tensors that vanish, then time. */
static double gain_of(const struct ig_band_timing *t, int32_t choice)
{
    double gain = t->apart_ns - t->in_order_ns;
    if (choice == IG_BANDS_AUTO) return gain > least_gain * t->apart_ns ? gain : 0;
    return t->n - 1 + 0.5 / (1 + t->in_order_ns / (t->apart_ns + 1));
}

void ig_choose_bands(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_options *o,
                     struct ig_plan *p)
{
    struct choice c = {.g = g, .views = views, .p = p};
    struct ig_band_timing *estimated = NULL;
    const struct ig_band_timing *t = o->given;
    int32_t n = o->n_given;
    if (o->bands == IG_BANDS_OFF) return;
    if (o->bands == IG_BANDS_AUTO && o->profile) {
        t = o->profile->bands;
        n = o->profile->n_bands;
    } else if (o->bands != IG_BANDS_GIVEN) {
        enum ig_band_shape shape = o->bands == IG_BANDS_ALL ? IG_SHAPE_ALL : IG_SHAPE_CHAINS;
        n = ig_band_candidates(g, views, p, o->isa, shape, &estimated);
        t = estimated;
    }
    double *gain = ig_must_alloc((size_t)n, sizeof *gain);
    for (int32_t i = 0; i < n; i++) gain[i] = gain_of(&t[i], o->bands);
    begin(&c);
    pick(&c, t, n, gain);
    end(&c);
    free(gain);
    free(estimated);
}
