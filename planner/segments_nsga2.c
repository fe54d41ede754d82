/* NSGA-II: two-parent uniform crossover, mutation of a single gene; planner/nsga2.h has the rest. */
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/nsga2.h"
#include "planner/segments.h"

enum { PEOPLE = 64, MOST = 2 * PEOPLE };

struct world {
    const struct ig_segments *s;
    int32_t *begin;          /* [n_steps + 1] segments that end at step j are begin[j] .. begin[j+1]-1 */
    uint64_t state;
    struct ig_nsga2_one people[MOST]; /* parents, then children; x: bytes, ns; genes[n_steps] */
};

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
static int32_t decode(const struct world *w, struct ig_nsga2_one *o, int32_t *bands)
{
    const uint8_t *genes = o->genes;
    int32_t n = 0;
    o->x[0] = o->x[1] = 0;
    for (int32_t last = w->s->n_steps - 1; last >= 0;) {
        int32_t from = last;
        while (from > 0 && genes[from] && genes[from - 1]) from--;
        const struct ig_segment *s = segment_at(w, genes, last, from);
        if (s->band >= 0) bands[n++] = s->band;
        if (s->bytes > o->x[0]) o->x[0] = s->bytes;
        o->x[1] += s->ns;
        last = s->first - 1;
    }
    return n;
}

static void bear(struct world *w, struct ig_nsga2_one *child)
{
    const struct ig_nsga2_one *a = ig_nsga2_pick(w->people, PEOPLE, &w->state);
    const struct ig_nsga2_one *b = ig_nsga2_pick(w->people, PEOPLE, &w->state);
    const uint8_t *of_a = a->genes, *of_b = b->genes;
    uint8_t *genes = child->genes;
    int32_t n = w->s->n_steps;
    for (int32_t i = 0; i < n; i++) genes[i] = ig_draw(&w->state, 2) ? of_a[i] : of_b[i];
    genes[ig_draw(&w->state, (uint64_t)n)] ^= 1;
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
        uint8_t *genes = w->people[i].genes = ig_must_alloc((size_t)n, 1);
        for (int32_t k = 0; k < n; k++) /* nothing and everything by parts are among the first */
            genes[k] = (uint8_t)(i == 0 ? 0 : i == 1 ? 1 : ig_draw(&w->state, 2));
        decode(w, &w->people[i], bands);
    }
}

/* Those of rank 0 that differ. */
static void take(struct world *w, int32_t *bands, struct ig_segment_front *front)
{
    ig_nsga2_rank(w->people, PEOPLE);
    front->n = 0;
    front->at = ig_must_alloc(PEOPLE, sizeof *front->at);
    for (int32_t i = 0; i < PEOPLE && !w->people[i].rank; i++) {
        struct ig_nsga2_one *o = &w->people[i];
        struct ig_segment_point *p = &front->at[front->n];
        if (front->n && p[-1].bytes == o->x[0]) continue;
        *p = (struct ig_segment_point){.n_bands = decode(w, o, bands), .bytes = o->x[0], .ns = o->x[1]};
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
        ig_nsga2_sort(w->people, MOST);
        for (int32_t k = PEOPLE; k < MOST; k++) {
            bear(w, &w->people[k]);
            decode(w, &w->people[k], bands);
        }
    }
    ig_nsga2_sort(w->people, MOST);
    take(w, bands, front);
    for (int32_t i = 0; i < MOST; i++) free(w->people[i].genes);
    free(w->begin);
    free(bands);
    free(w);
}
