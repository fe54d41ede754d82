/*
 * Bands whose rows branch: residual blocks, forks, dense blocks give the bits of their layers run whole, through rings
 * that are as short as one clock for all branches makes them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/band.h"
#include "planner/rows.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"
#include "tests/support/plans.h"

enum { NETS = 300 };

/* Any bands that do not meet, of any heights, cut into any pieces where they can be. */
static struct ig_plan *banded(const struct ig_graph *g, int32_t isa, int32_t threads, struct rng *r)
{
    struct ig_plan *off = plan_make(g, (struct ig_plan_options){.isa = isa, .threads = threads, .bands = IG_BANDS_OFF});
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_usage *usage = test_calloc((size_t)g->n_values, sizeof *usage);
    struct ig_band_timing *given = test_calloc((size_t)off->n_steps + 1, sizeof *given);
    int32_t n = 0;
    ig_compute_views(g, views);
    ig_find_usage(g, views, usage);
    for (int32_t first = 0; first < off->n_steps; first++) {
        struct ig_part part;
        int32_t last = first + rng_int(r, 1, 14);
        while (last > first && !ig_part_make(g, views, usage, off, first, last, &part)) last--;
        if (last <= first) continue;
        int32_t tile = ig_part_tile(&part), cut = threads > 1 && ig_part_is_divisible(&part);
        given[n++] = (struct ig_band_timing){.first = first, .last = last, .rows = tile * RNG_OF(r, 1, 1, 1, 2, 5),
                                             .chunk = cut ? tile * rng_int(r, 1, 6) : 0, .threads = threads,
                                             .n = part.flow.n};
        first = last;
    }
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = isa, .threads = threads, .bands = IG_BANDS_GIVEN,
                                                         .given = given, .n_given = n});
    assert_int_equal(p->n_bands, n);
    ig_plan_free(off);
    test_free(views);
    test_free(usage);
    test_free(given);
    return p;
}

struct tally { /* of bands */
    int bands, branching, keeping, pieces, longest;
};

static void count(const struct ig_graph *g, const struct ig_plan *p, struct tally *t)
{
    for (int32_t i = 0; i < p->n_bands; i++) {
        struct ig_flow f;
        int branching = 0;
        assert_true(ig_band_flow(g, p, &p->bands[i], &f));
        for (int32_t k = 1; k < f.n; k++) branching |= f.n_feeds[k] != 1 || f.feeds[k][0].from != 1u << (k - 1);
        t->bands++;
        t->branching += branching;
        t->keeping += f.kept != 1u << (f.n - 1);
        if (f.n > t->longest) t->longest = f.n;
    }
    for (int32_t v = 0; v < p->n_buffers; v++) t->pieces += p->buffers[v].ring_rows > 0 && p->buffers[v].alias_of >= 0;
}

static void assert_all_kinds(const struct tally *t)
{
    printf("# %d bands, %d branch, %d keep tensors whole, %d tensors lie in others' rings, up to %d layers\n", t->bands,
           t->branching, t->keeping, t->pieces, t->longest);
    int nets = (int)rng_share(NETS);
    assert_true(t->bands > nets && t->branching > nets / 2 && t->keeping > nets / 8 && t->pieces > nets / 4);
    assert_true(t->longest > 10);
}

/* In the reference kernels' hands, between guards, chunks from the last to the first. */
static void branches_compute_what_graphs_say(void **state)
{
    struct tally t = {0};
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(NETS); seed++) {
        struct rng r = {seed};
        struct ig_graph *g = seed % 2 ? net_random(&r, rng_int(&r, 5, 50)) : net_branches(&r, rng_int(&r, 1, 5));
        void *expected[64], *got[64];
        net_run(g, seed, expected);
        ig_prepare_views(g);
        if (seed % 4 == 3) ig_detach_pieces(g);
        struct ig_plan *p = banded(g, IG_ISA_REF, rng_int(&r, 1, 3), &r);
        count(g, p, &t);
        net_run_plan(g, p, seed, got);
        outputs_same(g, expected, got, seed);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_all_kinds(&t);
}

/* In the executor's, with the fastest kernels here, on any number of threads. */
static void threads_give_the_bits_of_whole_layers(void **state)
{
    int32_t isa = fastest_isa();
    struct tally t = {0};
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(NETS); seed++) {
        struct rng r = {seed + 5000};
        struct ig_graph *g = seed % 2 ? net_random(&r, rng_int(&r, 5, 50)) : net_branches(&r, rng_int(&r, 1, 5));
        void *expected[64], *got[64];
        ig_prepare_views(g);
        int32_t threads = rng_int(&r, 1, 4); /* one number for both plans: it has a say in the choice of kernels */
        struct ig_plan *whole = plan_make(g, (struct ig_plan_options){.isa = isa, .threads = threads, .bands = IG_BANDS_OFF});
        struct ig_plan *p = banded(g, isa, threads, &r);
        count(g, p, &t);
        net_run_tables(g, whole, 1, seed, expected);
        net_run_tables(g, p, rng_int(&r, 1, 4), seed, got);
        outputs_same(g, expected, got, seed);
        ig_plan_free(whole);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_all_kinds(&t);
}

/* --- rings --- */

/* The part as rows and windows alone; 0 where it is none of single rows and whole strides, or two write one ring. */
static int net_of(const struct ig_part *part, struct ig_row_net *net, struct ig_row_edge *edges, int64_t *row_bytes)
{
    *net = (struct ig_row_net){part->flow.n, 0, part->rows, row_bytes, edges};
    uint32_t written = 0;
    for (int32_t i = 0; i < part->flow.n; i++) {
        if (part->row_tile[i] != 1 || part->ring[i] < 0) {
            if (i < part->flow.n - 1) return 0;
        } else {
            if (written >> part->ring[i] & 1) return 0;
            written |= 1u << part->ring[i];
        }
        row_bytes[i] = i < part->flow.n - 1 ? part->row_bytes[part->ring[i]] : 0;
        for (int32_t k = 0; k < part->flow.n_feeds[i]; k++) {
            const struct ig_feed *f = &part->flow.feeds[i][k];
            int32_t from = 0;
            while (!(f->from >> from & 1)) from++;
            if (f->reach.div != 1 || f->from != 1u << from) return 0;
            struct ig_row_window w = {f->reach.hi - f->reach.lo + 1, 1, f->reach.mul, -f->reach.lo};
            edges[net->n_edges++] = (struct ig_row_edge){from, i, w, 1};
        }
    }
    return 1;
}

/*
 * Going through the phases gives the rows that one clock for all branches does, where every row is made as late as its
 * readers allow: in each ring. As early as possible is fewer bytes where a branch narrows before it waits.
 */
static void rings_are_those_of_one_clock(void **state)
{
    int parts = 0, early = 0;
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(10 * NETS); seed++) {
        struct rng r = {seed + 20000};
        struct ig_graph *g = net_branches(&r, rng_int(&r, 1, 4));
        ig_prepare_views(g);
        struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_ALL});
        struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
        ig_compute_views(g, views);
        for (int32_t i = 0; i < p->n_bands; i++) {
            struct ig_part part;
            struct ig_row_net net;
            struct ig_row_edge edges[IG_MAX_BAND * IG_MAX_FEEDS];
            struct ig_ticks t;
            int64_t row_bytes[IG_MAX_BAND];
            int32_t rings[IG_MAX_BAND];
            assert_true(ig_part_of(g, views, p, &p->bands[i], &part));
            if (!net_of(&part, &net, edges, row_bytes)) continue;
            ig_part_rings(&part, 1, ig_part_rows(&part), rings);
            if (!ig_ticks_make(&net, &t)) {
                int64_t best = t.bytes;
                ig_ticks_late(&net, &t);
                for (int32_t k = 0; k < net.n - 1; k++) assert_int_equal(rings[part.ring[k]], t.ring[k]);
                early += best < t.bytes;
                parts++;
            }
            ig_ticks_free(&t);
        }
        test_free(views);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    printf("# %d bands, %d of which would need less as early as possible\n", parts, early);
    assert_true(parts > (int)rng_share(NETS));
}

/* One row less and a row is gone when it is needed: always, but where a firing of many rows goes round the ring. */
static void rings_are_minimal(void **state)
{
    int rings = 0, slack = 0;
    (void)state;
    for (uint64_t seed = 0; seed < rng_share(NETS); seed++) {
        struct rng r = {seed + 9000};
        struct ig_graph *g = seed % 2 ? net_random(&r, rng_int(&r, 5, 50)) : net_branches(&r, rng_int(&r, 1, 5));
        ig_prepare_views(g);
        struct ig_plan *p = banded(g, IG_ISA_REF, rng_int(&r, 1, 3), &r);
        plan_shorten_rings(g, p, &rings, &slack);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    printf("# %d rings, %d of them with a row that is skipped\n", rings, slack);
    assert_true(rings > (int)rng_share(NETS) && slack * 5 < rings);
}

/* --- by hand --- */

static struct ig_plan *plan_of(const struct ig_graph *g, int32_t first, int32_t last, int32_t rows)
{
    int32_t n = 0;
    struct ig_plan *off = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF});
    for (int32_t i = first; i <= last; i++) n += off->steps[i].kernel != NULL;
    ig_plan_free(off);
    struct ig_band_timing band = {.first = first, .last = last, .rows = rows, .threads = 1, .n = n};
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_GIVEN,
                                                         .given = &band, .n_given = 1});
    assert_int_equal(p->n_bands, 1);
    return p;
}

/*
 * Two blocks of a ResNet, the first one's input projected, and the layer that halves them, as one. The first sum is
 * written over the projection, the second over the first, a row behind it; of that the 3x3 wants three.
 */
static void residual_blocks_share_a_ring(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 32, 8, 3), 16, 3, 1, -1);
    int32_t a = net_conv(g, net_conv(g, x, 8, 1, 1, -1), 8, 3, 1, -1), skip = net_conv(g, x, 32, 1, 1, -1);
    int32_t y = net_conv(g, a, 32, 1, 1, skip);
    int32_t z = net_conv(g, net_conv(g, net_conv(g, y, 8, 1, 1, -1), 8, 3, 1, -1), 32, 1, 1, y);
    const int32_t numbers[9] = {0, 1, 2, 3, 4, 5, 6, 7, 8};
    char text[200];
    (void)state;
    ig_add_output(g, net_conv(g, z, 8, 3, 2, -1));
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p = plan_of(g, 0, g->n_nodes - 1, 1);
    assert_int_equal(p->buffers[x].ring_rows, 2);
    assert_int_equal(p->buffers[a].ring_rows, 1);
    assert_int_equal(p->buffers[skip].ring_rows, 4);
    assert_int_equal(p->buffers[y].alias_of, skip);
    assert_int_equal(p->buffers[z].alias_of, skip);
    ig_schedule_text(g, p, &p->bands[0], numbers, text, sizeof text);
    assert_string_equal(text, "([l0][l1])x2 l2 l3 l4 l5 ([l0][l1][l2][l3][l4][l5][l6][l7][l0][l1][l2][l3][l4][l5][l6][l7][l8])x15 "
                              "l2 l3 l4 l5 ([l6][l7])x2 l8");
    p->buffers[x].bytes /= 2; /* x is read by the projection a row behind the 1x1 */
    p->buffers[x].ring_rows = 1;
    assert_int_equal(ig_validate(g, p, 0, text, sizeof text), IG_READ_OVERWRITTEN);
    ig_plan_free(p);
    ig_graph_free(g);
}

/* A fork's pieces lie in one ring of three rows, which the 3x3 behind it reads. */
static void forks_share_a_ring(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 20, 8, 3), 8, 1, 1, -1);
    int32_t a = net_conv(g, net_conv(g, x, 4, 1, 1, -1), 8, 5, 1, -1), b = net_conv(g, x, 4, 1, 1, -1);
    int32_t c = NET_CONCAT(g, 3, a, b);
    (void)state;
    ig_add_output(g, net_conv(g, c, 8, 3, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p = plan_of(g, 0, g->n_nodes - 1, 1);
    assert_int_equal(p->buffers[c].ring_rows, 3);
    assert_int_equal(p->buffers[a].alias_of, c);
    assert_int_equal(p->buffers[b].alias_of, c);
    assert_int_equal(p->buffers[b].offset - p->buffers[a].offset, 8 * 4);
    assert_int_equal(p->buffers[x].ring_rows, 3); /* the 5x5 is two rows ahead of the 1x1 beside it */
    ig_plan_free(p);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_compute_what_graphs_say),
        cmocka_unit_test(threads_give_the_bits_of_whole_layers),
        cmocka_unit_test(rings_are_those_of_one_clock),
        cmocka_unit_test(rings_are_minimal),
        cmocka_unit_test(residual_blocks_share_a_ring),
        cmocka_unit_test(forks_share_a_ring),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
