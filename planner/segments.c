/* Which segments there are, and what each costs: the tensors held around it are read off the plan that has just it. */
#include "planner/segments.h"

#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/band.h"
#include "planner/overlap.h"

struct maker {
    const struct ig_graph *g;
    const struct ig_view *views;
    struct ig_plan p;        /* its steps, and the one band that is looked at */
    struct ig_band band;
    struct ig_storage *storage;
    struct ig_usage *usage;
    int32_t *step_of;        /* by node */
    struct ig_segments *s;
    int32_t room;
    int measured;            /* there is a profile */
    int32_t lean;            /* of p */
};

/* What passes between stages is in slots, whatever the bands are. */
static void find_storage(struct maker *m)
{
    ig_find_storage(m->g, m->views, &m->p, m->storage);
    for (int32_t v = 0; m->p.n_stages && v < m->g->n_values; v++) {
        struct ig_storage *s = &m->storage[v];
        if (s->owner == v && s->memory == IG_MEMORY_ARENA &&
            m->p.steps[s->held_first].stage != m->p.steps[s->held_last].stage)
            s->memory = IG_MEMORY_SLOT;
    }
}

/* Bytes of tensors in the arena in that step. */
static int64_t held(const struct maker *m, int32_t step)
{
    int64_t bytes = 0;
    for (int32_t v = 0; v < m->g->n_values; v++) {
        const struct ig_storage *s = &m->storage[v];
        if (s->owner == v && s->memory == IG_MEMORY_ARENA && s->held_first <= step && step <= s->held_last)
            bytes += ig_bytes(&m->g->values[v].shape);
    }
    return bytes;
}

static void add(struct maker *m, struct ig_segment segment)
{
    struct ig_segments *s = m->s;
    segment.lean = m->lean;
    if (s->n == m->room) {
        struct ig_segment *more = ig_must_alloc((size_t)(m->room = 2 * m->room + 64), sizeof *more);
        if (s->n) memcpy(more, s->at, (size_t)s->n * sizeof *more);
        free(s->at);
        s->at = more;
    }
    s->at[s->n++] = segment;
}

static int64_t whole(double ns)
{
    return ns < 1 ? 0 : (int64_t)(ns + 0.5);
}

static void add_steps(struct maker *m)
{
    m->p.n_bands = 0;
    find_storage(m);
    ig_measure_scratch(m->g, m->views, &m->p);
    for (int32_t i = 0; i < m->p.n_steps; i++) {
        const struct ig_plan_step *s = &m->p.steps[i];
        int64_t bytes = held(m, i) + s->scratch_bytes * ig_scratch_threads(&m->p, s);
        add(m, (struct ig_segment){i, i, -1, bytes, whole(s->predicted_ns), 0});
    }
}

/* Tensors that are held while the steps first .. last run as a band; *gain: less those bytes, as two of them overlap. */
static int64_t held_around(struct maker *m, int32_t first, int32_t last, int32_t rows, int cut, int64_t *gain)
{
    int32_t split = m->p.steps[last].split;
    m->band = (struct ig_band){.first = first, .last = last, .rows = rows};
    m->p.n_bands = 1;
    m->p.steps[last].split = cut;
    find_storage(m);
    *gain = ig_find_overlap(m->g, m->views, &m->p, m->storage, &m->band).gain;
    m->p.steps[last].split = split;
    return held(m, last) - *gain;
}

static void add_band(struct maker *m, int32_t index, int is_measured)
{
    const struct ig_band_timing *t = &m->s->bands[index];
    struct ig_part part;
    int32_t rings[IG_MAX_BAND], first = m->step_of[t->first], last = m->step_of[t->last];
    int64_t offset[IG_MAX_BAND], gain;
    if (m->p.steps[first].stage != m->p.steps[last].stage) return;
    if (!ig_part_make(m->g, m->views, m->usage, &m->p, first, last, &part) || !ig_part_suits(&part, &m->p, t)) return;
    int32_t h = ig_part_rows(&part), chunk = t->chunk && t->chunk < h ? t->chunk : h;
    int64_t scratch = ig_part_scratch(&part, t->rows, chunk, rings, offset);
    double ns = 0;
    for (int32_t i = first; i <= last; i++) ns += m->p.steps[i].predicted_ns;
    if (t->apart_ns > 0 && (is_measured || !m->measured || t->in_order_ns > t->apart_ns))
        ns *= t->in_order_ns / t->apart_ns;
    scratch *= chunk < h ? ig_step_threads(&m->p, &m->p.steps[last]) : 1;
    int64_t bytes = held_around(m, first, last, t->rows, chunk < h, &gain) + scratch;
    m->s->gain[index] = gain;
    if (first == last && !gain) return; /* by rows for nothing */
    add(m, (struct ig_segment){first, last, index, bytes, whole(ns), 0});
}

static int by_last(const void *a, const void *b)
{
    const struct ig_segment *x = a, *y = b;
    if (x->last != y->last) return (x->last > y->last) - (x->last < y->last);
    if (x->first != y->first) return (x->first > y->first) - (x->first < y->first);
    if (x->lean != y->lean) return (x->lean > y->lean) - (x->lean < y->lean);
    return (x->band > y->band) - (x->band < y->band);
}

/* Of the same kernels, too: those of smaller ones are not in the profile. */
static int same_band(const struct ig_band_timing *a, const struct ig_band_timing *b)
{
    for (int32_t i = 0; i < a->n && i < b->n; i++)
        if (a->kernels[i] && b->kernels[i] && a->kernels[i] != b->kernels[i]) return 0;
    return a->first == b->first && a->last == b->last && a->rows == b->rows && a->chunk == b->chunk &&
           a->threads == b->threads;
}

/* The profile's bands, then those of the estimate that it has not timed; how many are the profile's. */
static int32_t list_bands(const struct maker *m, const struct ig_plan_options *o)
{
    struct ig_band_timing *estimated = NULL;
    int32_t n = ig_band_candidates(m->g, m->views, &m->p, o->isa, IG_SHAPE_ANY, &estimated);
    int32_t timed = o->profile ? o->profile->n_bands : 0;
    struct ig_segments *s = m->s;
    size_t room = (size_t)(s->n_bands + 2 * n + timed);
    struct ig_band_timing *more = ig_must_alloc(room, sizeof *more), *own = more + s->n_bands;
    int64_t *gain = ig_must_alloc(room, sizeof *gain);
    if (s->n_bands) {
        memcpy(more, s->bands, (size_t)s->n_bands * sizeof *more);
        memcpy(gain, s->gain, (size_t)s->n_bands * sizeof *gain);
    }
    free(s->bands);
    free(s->gain);
    s->bands = more;
    s->gain = gain;
    for (int32_t i = 0; i < timed; i++) s->bands[s->n_bands++] = o->profile->bands[i];
    for (int32_t i = 0; i < n; i++) {
        int32_t k = 0;
        while (k < timed && !same_band(&own[k], &estimated[i])) k++;
        if (k == timed) s->bands[s->n_bands++] = estimated[i];
        if (!estimated[i].chunk || estimated[i].threads == 1) continue;
        s->bands[s->n_bands] = estimated[i]; /* by one thread: one set of rings, and a residual in place */
        s->bands[s->n_bands].chunk = 0;
        s->bands[s->n_bands++].in_order_ns *= estimated[i].threads;
    }
    free(estimated);
    return timed;
}

void ig_segments_make(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_options *options,
                      const struct ig_plan *p, struct ig_segments *s)
{
    *s = (struct ig_segments){.n_steps = p->n_steps};
    ig_segments_add(g, views, options, p, 0, s);
}

void ig_segments_add(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_options *options,
                     const struct ig_plan *p, int32_t lean, struct ig_segments *s)
{
    struct maker m = {.g = g, .views = views, .p = *p, .s = s, .room = s->n, .measured = options->profile != NULL,
                      .lean = lean};
    int32_t first = s->n_bands;
    s->n_stages = p->n_stages;
    for (int32_t i = 0; i < p->n_stages; i++) s->stage_last[i] = p->stages[i].last;
    m.p.steps = ig_must_alloc((size_t)p->n_steps, sizeof *m.p.steps);
    if (p->n_steps) memcpy(m.p.steps, p->steps, (size_t)p->n_steps * sizeof *p->steps);
    m.p.bands = &m.band;
    m.p.n_bands = 0;
    m.storage = ig_must_alloc((size_t)g->n_values, sizeof *m.storage);
    m.step_of = ig_must_alloc((size_t)g->n_nodes, sizeof *m.step_of);
    m.usage = ig_must_alloc((size_t)g->n_values, sizeof *m.usage);
    ig_find_usage(g, views, m.usage);
    for (int32_t i = 0; i < p->n_steps; i++) m.step_of[p->steps[i].node] = i;
    int32_t n_measured = list_bands(&m, options);
    add_steps(&m);
    for (int32_t i = first; i < s->n_bands; i++) add_band(&m, i, i - first < n_measured);
    qsort(s->at, (size_t)s->n, sizeof *s->at, by_last);
    free(m.p.steps);
    free(m.storage);
    free(m.step_of);
    free(m.usage);
}

/* Is there the same band of the same kernels in lower phases, next to it? */
static int has_lower(const struct ig_segments *s, int32_t i)
{
    const struct ig_segment *at = &s->at[i];
    for (int32_t k = i; k >= 0 && s->at[k].last == at->last && s->at[k].first == at->first; k--)
        if (s->at[k].lean == at->lean && s->at[k].band >= 0 &&
            s->bands[s->at[k].band].rows < s->bands[at->band].rows)
            return 1;
    return 0;
}

void ig_segments_restrict(const struct ig_segments *s, enum ig_segments_way way, struct ig_segments *v)
{
    *v = *s;
    v->n = 0;
    v->at = ig_must_alloc((size_t)s->n, sizeof *v->at);
    for (int32_t i = 0; i < s->n; i++) {
        struct ig_segment segment = s->at[i];
        int is_band = segment.band >= 0;
        if (is_band && way == IG_SEGMENTS_LOW && has_lower(s, i)) continue;
        if (is_band && way == IG_SEGMENTS_APART && segment.first == segment.last) continue;
        if (is_band && way == IG_SEGMENTS_APART) segment.bytes += s->gain[segment.band];
        v->at[v->n++] = segment;
    }
}

void ig_segments_free(struct ig_segments *s)
{
    free(s->gain);
    free(s->at);
    free(s->bands);
}
