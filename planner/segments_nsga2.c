/*
 * NSGA-II: fast non-dominated sorting, crowding distance, binary tournaments, two-parent uniform crossover, mutation of
 * a single gene. All in integers.
 */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/segments.h"

enum { PEOPLE = 64, MOST = 2 * PEOPLE };

struct one {
    uint8_t *genes;          /* [n_steps] */
    int64_t bytes, ns;
    int32_t rank;
    int64_t crowding;        /* larger: lonelier */
};

struct world {
    const struct ig_segments *s;
    int32_t *begin;          /* [n_steps + 1] segments that end at step j are begin[j] .. begin[j+1]-1 */
    uint64_t state;
    struct one people[MOST]; /* parents, then children */
};

/* splitmix64 (Steele, Lea & Flood 2014). */
static uint64_t draw(struct world *w, uint64_t n)
{
    uint64_t z = w->state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
}

/* The segment that ends at step `last` after at least step `from`, all by parts: the longest, of those the smallest. */
static const struct ig_segment *segment_at(const struct world *w, const uint8_t *genes, int32_t last, int32_t from)
{
    const struct ig_segment *best = NULL;
    for (int32_t i = w->begin[last]; i < w->begin[last + 1]; i++) {
        const struct ig_segment *s = &w->s->at[i];
        if (s->first < from || (s->band >= 0 && !genes[last])) continue;
        if (!best || s->first < best->first || (s->first == best->first && s->bytes < best->bytes)) best = s;
    }
    return best;
}

/* From the last step to the first; bands[n_steps]: those taken, from the last; returns how many. */
static int32_t decode(const struct world *w, struct one *o, int32_t *bands)
{
    int32_t n = 0;
    o->bytes = o->ns = 0;
    for (int32_t last = w->s->n_steps - 1; last >= 0;) {
        int32_t from = last;
        while (from > 0 && o->genes[from] && o->genes[from - 1]) from--;
        const struct ig_segment *s = segment_at(w, o->genes, last, from);
        if (s->band >= 0) bands[n++] = s->band;
        if (s->bytes > o->bytes) o->bytes = s->bytes;
        o->ns += s->ns;
        last = s->first - 1;
    }
    return n;
}

static int dominates(const struct one *a, const struct one *b)
{
    return a->bytes <= b->bytes && a->ns <= b->ns && (a->bytes < b->bytes || a->ns < b->ns);
}

/* Rank 0: dominated by nobody; 1: by those of rank 0 only; ... */
static void rank(struct world *w, int32_t n)
{
    for (int32_t i = 0; i < n; i++) w->people[i].rank = -1;
    for (int32_t left = n, r = 0; left > 0; r++) {
        uint8_t beaten[MOST] = {0};
        for (int32_t i = 0; i < n; i++)
            for (int32_t k = 0; k < n && w->people[i].rank < 0; k++)
                beaten[i] |= w->people[k].rank < 0 && dominates(&w->people[k], &w->people[i]);
        for (int32_t i = 0; i < n; i++)
            if (w->people[i].rank < 0 && !beaten[i]) {
                w->people[i].rank = r;
                left--;
            }
    }
}

static int by_rank_and_bytes(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return (x->ns > y->ns) - (x->ns < y->ns);
}

static int by_rank_and_crowding(const void *a, const void *b)
{
    const struct one *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->crowding != y->crowding) return x->crowding > y->crowding ? -1 : 1;
    return by_rank_and_bytes(a, b);
}

/* Millionths of the extent of all, in both measures; the ends of a rank are lonely beyond measure. */
static void crowd(struct world *w, int32_t n)
{
    int64_t low[2] = {INT64_MAX, INT64_MAX}, high[2] = {0, 0};
    for (int32_t i = 0; i < n; i++) {
        const int64_t x[2] = {w->people[i].bytes, w->people[i].ns};
        for (int k = 0; k < 2; k++) {
            if (x[k] < low[k]) low[k] = x[k];
            if (x[k] > high[k]) high[k] = x[k];
        }
    }
    qsort(w->people, (size_t)n, sizeof *w->people, by_rank_and_bytes);
    for (int32_t i = 0; i < n; i++) {
        struct one *o = &w->people[i], *a = o - 1, *b = o + 1;
        o->crowding = INT64_MAX;
        if (i == 0 || i == n - 1 || a->rank != o->rank || b->rank != o->rank) continue;
        o->crowding = (b->bytes - a->bytes) * 1000000 / (high[0] - low[0] + 1) +
                      (a->ns - b->ns) * 1000000 / (high[1] - low[1] + 1);
    }
}

static const struct one *tournament(struct world *w)
{
    const struct one *a = &w->people[draw(w, PEOPLE)], *b = &w->people[draw(w, PEOPLE)];
    return by_rank_and_crowding(a, b) <= 0 ? a : b;
}

static void bear(struct world *w, struct one *child)
{
    const struct one *a = tournament(w), *b = tournament(w);
    int32_t n = w->s->n_steps;
    for (int32_t i = 0; i < n; i++) child->genes[i] = draw(w, 2) ? a->genes[i] : b->genes[i];
    child->genes[draw(w, (uint64_t)n)] ^= 1;
}

static void begin(struct world *w, int32_t *bands)
{
    int32_t n = w->s->n_steps, at = 0;
    w->begin = ig_must_alloc((size_t)n + 1, sizeof *w->begin);
    for (int32_t j = 0; j < n; j++) {
        w->begin[j] = at;
        while (at < w->s->n && w->s->at[at].last == j) at++;
    }
    w->begin[n] = at;
    for (int32_t i = 0; i < MOST; i++) {
        w->people[i].genes = ig_must_alloc((size_t)n, 1);
        for (int32_t k = 0; k < n; k++) /* nothing and everything by parts are among the first */
            w->people[i].genes[k] = (uint8_t)(i == 0 ? 0 : i == 1 ? 1 : draw(w, 2));
        decode(w, &w->people[i], bands);
    }
}

/* Those of rank 0 that differ. */
static void take(struct world *w, int32_t *bands, struct ig_segment_front *front)
{
    rank(w, PEOPLE);
    qsort(w->people, PEOPLE, sizeof *w->people, by_rank_and_bytes);
    front->n = 0;
    front->at = ig_must_alloc(PEOPLE, sizeof *front->at);
    for (int32_t i = 0; i < PEOPLE && !w->people[i].rank; i++) {
        struct one *o = &w->people[i];
        struct ig_segment_point *p = &front->at[front->n];
        if (front->n && p[-1].bytes == o->bytes) continue;
        *p = (struct ig_segment_point){.n_bands = decode(w, o, bands), .bytes = o->bytes, .ns = o->ns};
        p->bands = ig_must_alloc((size_t)p->n_bands, sizeof *p->bands);
        for (int32_t k = 0; k < p->n_bands; k++) p->bands[k] = bands[p->n_bands - 1 - k];
        front->n++;
    }
}

void ig_segments_nsga2(const struct ig_segments *s, uint64_t seed, int32_t generations,
                       struct ig_segment_front *front)
{
    struct world *w = ig_must_alloc(1, sizeof *w);
    int32_t *bands = ig_must_alloc((size_t)s->n_steps, sizeof *bands);
    w->s = s;
    w->state = seed;
    begin(w, bands);
    for (int32_t i = 0; i < generations && s->n_steps > 0; i++) {
        rank(w, MOST);
        crowd(w, MOST);
        qsort(w->people, MOST, sizeof *w->people, by_rank_and_crowding);
        for (int32_t k = PEOPLE; k < MOST; k++) {
            bear(w, &w->people[k]);
            decode(w, &w->people[k], bands);
        }
    }
    rank(w, MOST);
    crowd(w, MOST);
    qsort(w->people, MOST, sizeof *w->people, by_rank_and_crowding);
    take(w, bands, front);
    for (int32_t i = 0; i < MOST; i++) free(w->people[i].genes);
    free(w->begin);
    free(bands);
    free(w);
}
