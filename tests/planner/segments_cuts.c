/*
 * The exact front of bytes and time over every way to cut up to twelve steps: all 2^(n - 1) of them, none left out; and of
 * stages, whose bytes add up, all that cut between these.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/segments.h"
#include "tests/support/rng.h"

enum { MOST = 12, PROBLEMS = 300 };

struct problem {
    struct ig_segments s;
    struct ig_segment at[MOST * (MOST + 1) / 2];
    struct ig_band_timing bands[MOST * (MOST - 1) / 2];
    const struct ig_segment *of[MOST][MOST]; /* by first and last step */
};

/* A segment for every pair of steps; few different values, so that many lists are equal in one or in both. */
static void random_problem(struct rng *r, int32_t n, struct problem *p)
{
    int32_t most = RNG_OF(r, 3, 10, 1000);
    p->s = (struct ig_segments){.n_steps = n, .at = p->at, .bands = p->bands};
    for (int32_t last = 0; last < n; last++)
        for (int32_t first = 0; first <= last; first++) {
            struct ig_segment *s = &p->at[p->s.n++];
            *s = (struct ig_segment){first, last, first < last ? p->s.n_bands : -1, rng_int(r, 1, most),
                                     (int64_t)rng_int(r, 1, most) * (last - first + 1), 0};
            if (first < last) p->bands[p->s.n_bands++] = (struct ig_band_timing){.first = first, .last = last, .rows = 1};
            p->of[first][last] = s;
        }
}

static void random_stages(struct rng *r, struct ig_segments *s)
{
    int32_t most = s->n_steps < 4 ? s->n_steps : 4, n = rng_int(r, 1, most);
    for (int32_t i = 0, last = -1; i < n; i++) {
        last = i == n - 1 ? s->n_steps - 1 : rng_int(r, last + 1, s->n_steps - n + i);
        s->stage_last[s->n_stages++] = last;
    }
}

/* The steps behind which stages end, a bit each; the last step's where there is but one. */
static uint32_t stage_ends(const struct ig_segments *s)
{
    uint32_t ends = 1u << (s->n_steps - 1);
    for (int32_t i = 0; i < s->n_stages; i++) ends |= 1u << s->stage_last[i];
    return ends;
}

/* The list that cuts behind step i where bit i is set. */
static void cost(const struct problem *p, uint32_t cuts, int64_t *bytes, int64_t *ns)
{
    int64_t most = 0;
    uint32_t ends = stage_ends(&p->s);
    *bytes = *ns = 0;
    for (int32_t first = 0, i = 0; i < p->s.n_steps; i++) {
        if (i + 1 < p->s.n_steps && !(cuts >> i & 1)) continue;
        const struct ig_segment *s = p->of[first][i];
        if (s->bytes > most) most = s->bytes;
        *ns += s->ns;
        first = i + 1;
        if (!(ends >> i & 1)) continue;
        *bytes += most;
        most = 0;
    }
}

/* The bands of a point make the list that it is said to cost. */
static void assert_point(const struct problem *p, const struct ig_segment_point *at)
{
    uint32_t cuts = UINT32_MAX;
    int64_t bytes, ns;
    for (int32_t k = 0; k < at->n_bands; k++) {
        const struct ig_band_timing *b = &p->bands[at->bands[k]];
        for (int32_t i = b->first; i < b->last; i++) cuts &= ~(1u << i);
    }
    cost(p, cuts, &bytes, &ns);
    assert_int_equal(bytes, at->bytes);
    assert_int_equal(ns, at->ns);
}

static void assert_front(const struct problem *p, const struct ig_segment_front *f)
{
    uint8_t *reached = test_calloc((size_t)f->n, 1);
    for (uint32_t cuts = 0; cuts < 1u << (p->s.n_steps - 1); cuts++) {
        int64_t bytes, ns;
        int beaten = 0;
        if (stage_ends(&p->s) & ~(cuts | 1u << (p->s.n_steps - 1))) continue; /* a segment in two stages */
        cost(p, cuts, &bytes, &ns);
        for (int32_t i = 0; i < f->n; i++) {
            beaten |= f->at[i].bytes <= bytes && f->at[i].ns <= ns;
            reached[i] |= f->at[i].bytes == bytes && f->at[i].ns == ns;
        }
        assert_true(beaten);
    }
    for (int32_t i = 0; i < f->n; i++) {
        assert_true(reached[i]);
        assert_true(!i || (f->at[i].bytes > f->at[i - 1].bytes && f->at[i].ns < f->at[i - 1].ns));
        assert_point(p, &f->at[i]);
    }
    test_free(reached);
}

static void all_cuts(int staged)
{
    static struct problem p;
    const char *given = getenv("INGOT_SEED");
    struct rng r = {given ? strtoull(given, NULL, 10) : 12};
    int points = 0;
    print_message("INGOT_SEED=%llu\n", (unsigned long long)r.state);
    for (int i = 0; i < PROBLEMS; i++) {
        struct ig_segment_front front;
        random_problem(&r, i % MOST + 1, &p);
        if (staged) random_stages(&r, &p.s);
        ig_segments_exact(&p.s, &front);
        assert_front(&p, &front);
        points += front.n;
        ig_segment_front_free(&front);
    }
    assert_true(points > 2 * PROBLEMS);
}

static void segments_all_cuts(void **state)
{
    (void)state;
    all_cuts(0);
}

static void segments_of_stages(void **state)
{
    (void)state;
    all_cuts(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(segments_all_cuts), cmocka_unit_test(segments_of_stages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
