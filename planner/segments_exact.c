/*
 * front[j]: the best ways to run steps 0 .. j-1. For every segment that ends at step j-1, each way to run what comes
 * before it, with the segment: max(bytes), sum(ns). What another way is as good as in both is dropped.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/segments.h"

struct label {
    int64_t bytes, ns;
    int32_t before, at;      /* label in the front at step `at` that this one goes on from */
    int32_t band, lean;      /* of the segment; -1: a step alone */
};

struct front {
    int32_t n, room;
    struct label *at;
};

static void append(struct front *f, struct label l)
{
    if (f->n == f->room) {
        struct label *more = ig_must_alloc((size_t)(f->room = 2 * f->room + 16), sizeof *more);
        if (f->n) memcpy(more, f->at, (size_t)f->n * sizeof *more);
        free(f->at);
        f->at = more;
    }
    f->at[f->n++] = l;
}

static int by_bytes(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    if (x->ns != y->ns) return x->ns < y->ns ? -1 : 1;
    if (x->at != y->at) return x->at < y->at ? 1 : -1; /* shorter segments first: the same plan every time */
    if (x->before != y->before) return x->before < y->before ? -1 : 1;
    if (x->lean != y->lean) return (x->lean > y->lean) - (x->lean < y->lean);
    return (x->band > y->band) - (x->band < y->band);
}

static void prune(struct front *f)
{
    int32_t n = 0;
    if (f->n) qsort(f->at, (size_t)f->n, sizeof *f->at, by_bytes);
    for (int32_t i = 0; i < f->n; i++)
        if (!n || f->at[i].ns < f->at[n - 1].ns) f->at[n++] = f->at[i];
    f->n = n;
}

static void extend(const struct front *from, const struct ig_segment *s, struct front *to)
{
    for (int32_t i = 0; i < from->n; i++) {
        const struct label *l = &from->at[i];
        int64_t bytes = l->bytes > s->bytes ? l->bytes : s->bytes;
        append(to, (struct label){bytes, l->ns + s->ns, i, s->first, s->band, s->lean});
    }
}

/* The bands and kernels on the way to that label. */
static void trace(const struct front *fronts, int32_t at, int32_t label, struct ig_segment_point *p)
{
    const struct label *end = &fronts[at].at[label], *l = end;
    *p = (struct ig_segment_point){.bytes = end->bytes, .ns = end->ns};
    for (int32_t i = at; i > 0; i = l->at, l = &fronts[i].at[l->before]) p->n_bands += l->band >= 0;
    p->bands = ig_must_alloc((size_t)p->n_bands, sizeof *p->bands);
    p->leans = ig_must_alloc((size_t)at, sizeof *p->leans);
    l = end;
    for (int32_t i = at, k = p->n_bands; i > 0; i = l->at, l = &fronts[i].at[l->before]) {
        memset(p->leans + l->at, l->lean, (size_t)(i - l->at));
        if (l->band >= 0) p->bands[--k] = l->band;
    }
}

void ig_segments_exact(const struct ig_segments *s, struct ig_segment_front *front)
{
    struct front *fronts = ig_must_alloc((size_t)s->n_steps + 1, sizeof *fronts);
    append(&fronts[0], (struct label){0, 0, 0, 0, -1, 0});
    for (int32_t i = 0; i < s->n;) {
        struct front *to = &fronts[s->at[i].last + 1];
        for (int32_t last = s->at[i].last; i < s->n && s->at[i].last == last; i++)
            extend(&fronts[s->at[i].first], &s->at[i], to);
        prune(to);
    }
    front->n = fronts[s->n_steps].n;
    front->at = ig_must_alloc((size_t)front->n, sizeof *front->at);
    for (int32_t i = 0; i < front->n; i++) trace(fronts, s->n_steps, i, &front->at[i]);
    for (int32_t i = 0; i <= s->n_steps; i++) free(fronts[i].at);
    free(fronts);
}

void ig_segment_front_free(struct ig_segment_front *front)
{
    for (int32_t i = 0; i < front->n; i++) {
        free(front->at[i].bands);
        free(front->at[i].leans);
    }
    free(front->at);
}
