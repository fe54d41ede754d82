/*
 * front[j]: the best ways to run the first j steps of a stage. For every segment that ends there, each way to run what
 * comes before it, with the segment: max(bytes), sum(ns). What another way is as good as in both is dropped. Stages hold
 * their bytes at the same time: of two fronts, all sums of a point of each, and what is best of these.
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

/* at: of the segment's first step in its stage. */
static void extend(const struct front *from, const struct ig_segment *s, int32_t at, struct front *to)
{
    for (int32_t i = 0; i < from->n; i++) {
        const struct label *l = &from->at[i];
        int64_t bytes = l->bytes > s->bytes ? l->bytes : s->bytes;
        append(to, (struct label){bytes, l->ns + s->ns, i, at, s->band, s->lean});
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

/* Of steps [begin, end). */
static void stage_front(const struct ig_segments *s, int32_t begin, int32_t end, struct ig_segment_front *front)
{
    int32_t n = end - begin;
    struct front *fronts = ig_must_alloc((size_t)n + 1, sizeof *fronts);
    append(&fronts[0], (struct label){0, 0, 0, 0, -1, 0});
    for (int32_t i = 0; i < s->n;) {
        int32_t last = s->at[i].last;
        for (; i < s->n && s->at[i].last == last; i++)
            if (begin <= s->at[i].first && last < end)
                extend(&fronts[s->at[i].first - begin], &s->at[i], s->at[i].first - begin, &fronts[last - begin + 1]);
        if (begin <= last && last < end) prune(&fronts[last - begin + 1]);
    }
    front->n = fronts[n].n;
    front->at = ig_must_alloc((size_t)front->n, sizeof *front->at);
    for (int32_t i = 0; i < front->n; i++) trace(fronts, n, i, &front->at[i]);
    for (int32_t i = 0; i <= n; i++) free(fronts[i].at);
    free(fronts);
}

/* a's list, of n_a steps, and then b's, of n_b. */
static struct ig_segment_point both(const struct ig_segment_point *a, int32_t n_a, const struct ig_segment_point *b,
                                    int32_t n_b)
{
    struct ig_segment_point p = {.bytes = a->bytes + b->bytes, .ns = a->ns + b->ns, .n_bands = a->n_bands + b->n_bands};
    p.bands = ig_must_alloc((size_t)p.n_bands, sizeof *p.bands);
    p.leans = ig_must_alloc((size_t)(n_a + n_b), sizeof *p.leans);
    if (a->n_bands) memcpy(p.bands, a->bands, (size_t)a->n_bands * sizeof *p.bands);
    if (b->n_bands) memcpy(p.bands + a->n_bands, b->bands, (size_t)b->n_bands * sizeof *p.bands);
    memcpy(p.leans, a->leans, (size_t)n_a);
    memcpy(p.leans + n_a, b->leans, (size_t)n_b);
    return p;
}

/* The best of the sums becomes `a`, of n_a + n_b steps; b is freed. */
static void add_up(struct ig_segment_front *a, int32_t n_a, struct ig_segment_front *b, int32_t n_b)
{
    struct front sums = {0, 0, NULL};
    for (int32_t i = 0; i < a->n; i++)
        for (int32_t k = 0; k < b->n; k++)
            append(&sums, (struct label){a->at[i].bytes + b->at[k].bytes, a->at[i].ns + b->at[k].ns, i, k, -1, 0});
    prune(&sums);
    struct ig_segment_front sum = {sums.n, ig_must_alloc((size_t)sums.n, sizeof *sum.at)};
    for (int32_t i = 0; i < sums.n; i++)
        sum.at[i] = both(&a->at[sums.at[i].before], n_a, &b->at[sums.at[i].at], n_b);
    ig_segment_front_free(a);
    ig_segment_front_free(b);
    free(sums.at);
    *a = sum;
}

void ig_segments_exact(const struct ig_segments *s, struct ig_segment_front *front)
{
    int32_t at = s->n_stages ? s->stage_last[0] + 1 : s->n_steps;
    stage_front(s, 0, at, front);
    for (int32_t i = 1; i < s->n_stages; i++) {
        struct ig_segment_front next;
        int32_t end = s->stage_last[i] + 1;
        stage_front(s, at, end, &next);
        add_up(front, at, &next, end - at);
        at = end;
    }
}

void ig_segment_front_free(struct ig_segment_front *front)
{
    for (int32_t i = 0; i < front->n; i++) {
        free(front->at[i].bands);
        free(front->at[i].leans);
    }
    free(front->at);
}
