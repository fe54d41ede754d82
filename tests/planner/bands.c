/* Bands: chains run by rows give the bits of their layers run whole, through rings that are as short as can
 * be. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "kernels_cpu/registry.h"
#include "planner/band.h"
#include "planner/memory.h"
#include "tests/support/isa.h"
#include "tests/support/nets.h"
#include "tests/support/node.h"
#include "tests/support/plans.h"

enum { NETS = 250 };

/* The shortest plan with bands of `rows` rows wherever one can be; every band's height is set anew, so that
 * all occur. */
static struct ig_plan *banded(const struct ig_graph *g, int32_t isa, int32_t threads, struct rng *r)
{
    struct ig_plan *all =
        plan_make(g, (struct ig_plan_options){.isa = isa, .threads = threads, .bands = IG_BANDS_ALL});
    struct ig_band_timing *given = test_calloc((size_t)all->n_bands + 1, sizeof *given);
    for (int32_t i = 0; i < all->n_bands; i++) {
        const struct ig_band *b = &all->bands[i];
        int32_t tile = all->steps[b->last].kernel->row_tile;
        struct ig_flow flow;
        assert_true(ig_band_flow(g, all, b, &flow));
        int divisible = flow.kept == 1u << (flow.n - 1);
        given[i] = (struct ig_band_timing){.first = all->steps[b->first].node,
                                           .last = all->steps[b->last].node,
                                           .rows = tile * rng_int(r, 1, 5),
                                           .chunk = threads > 1 && divisible ? tile * rng_int(r, 1, 6) : 0,
                                           .threads = threads,
                                           .n = flow.n};
    }
    struct ig_plan *p = plan_make(g, (struct ig_plan_options){
        .isa = isa, .threads = threads, .bands = IG_BANDS_GIVEN, .given = given, .n_given = all->n_bands});
    assert_int_equal(p->n_bands, all->n_bands);
    ig_plan_free(all);
    test_free(given);
    return p;
}

/* In the reference kernels' hands, between guards, chunks from the last to the first. */
static void bands_compute_what_graphs_say(void **state)
{
    int bands = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_chain(&r, rng_int(&r, 2, 12));
        void *expected[16], *got[16];
        net_run(g, seed, expected);
        ig_prepare_views(g);
        struct ig_plan *p = banded(g, IG_ISA_REF, rng_int(&r, 1, 4), &r);
        bands += p->n_bands;
        net_run_plan(g, p, seed, got);
        outputs_same(g, expected, got, seed);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(bands > NETS);
}

/* In the executor's, with the fastest kernels here, on any number of threads. */
static void threads_give_the_bits_of_whole_layers(void **state)
{
    int32_t isa = fastest_isa();
    int tall = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 2 * NETS; seed++) {
        struct rng r = {seed + 5000};
        struct ig_graph *g = net_chain(&r, rng_int(&r, 2, 12));
        void *expected[16], *got[16];
        ig_prepare_views(g);
        int32_t threads =
            rng_int(&r, 1, 4); /* one number for both plans: it has a say in the choice of kernels */
        struct ig_plan *whole =
            plan_make(g, (struct ig_plan_options){.isa = isa, .threads = threads, .bands = IG_BANDS_OFF});
        struct ig_plan *p = banded(g, isa, threads, &r);
        for (int32_t i = 0; i < p->n_steps; i++) {
            const struct ig_kernel *k = p->steps[i].kernel;
            tall += k && k->row_tile > 1 && ig_band_of(p, i);
        }
        net_run_tables(g, whole, 1, seed, expected);
        net_run_tables(g, p, rng_int(&r, 1, 4), seed, got);
        outputs_same(g, expected, got, seed);
        ig_plan_free(whole);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(tall > 10 || isa == IG_ISA_REF);
}

/* One row less and a row is gone when it is needed: always, but where dilation skips rows. */
static void rings_are_minimal(void **state)
{
    int rings = 0, slack = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed + 9000};
        struct ig_graph *g = net_chain(&r, rng_int(&r, 2, 10));
        ig_prepare_views(g);
        struct ig_plan *p = banded(g, IG_ISA_REF, rng_int(&r, 1, 3), &r);
        plan_shorten_rings(g, p, &rings, &slack);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    printf("# %d rings, %d of them with a row that dilation or a stride skips\n", rings, slack);
    assert_true(rings > NETS && slack * 5 < rings);
}

static int32_t tile; /* of the convolutions below */

/* The reference, for ranges that start and end at multiples of the tile or at the edge. */
static void tiled_conv(const struct ig_call *call, struct ig_range r, void *scratch)
{
    assert_int_equal(r.y0 % tile, 0);
    assert_true(r.y1 % tile == 0 || r.y1 == call->out[0].h);
    ig_kernel_by_name("conv_f32_1x1__ref")->run(call, r, scratch);
}

/* Half of the convolutions get a kernel with that tile; nothing is cut. */
static void retile(const struct ig_graph *g, struct ig_plan *p, struct rng *r, const struct ig_kernel *tiled)
{
    for (int32_t i = 0; i < p->n_steps; i++) {
        struct ig_plan_step *s = &p->steps[i];
        s->split = s->chunk = 0;
        s->chunks = 1;
        if (g->nodes[i].op == IG_CONV && rng_one_in(r, 2)) s->kernel = tiled;
    }
}

/* Bands of the kernels that p now has; its constants stay where they are. */
static void choose_anew(const struct ig_graph *g, struct ig_plan *p)
{
    const struct ig_plan_options all = {.isa = IG_ISA_REF, .threads = 2, .bands = IG_BANDS_ALL};
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_plan_buffer *placed = p->buffers;
    ig_compute_views(g, views);
    ig_choose_bands(g, views, &all, p);
    ig_measure_scratch(g, views, p);
    ig_place_buffers(g, views, p);
    for (int32_t v = 0; v < g->n_values; v++) {
        if (!ig_is_const(g, v)) continue;
        p->buffers[v].memory = placed[v].memory;
        p->buffers[v].offset = placed[v].offset;
    }
    ig_place_rings(g, views, p);
    free(placed);
    test_free(views);
}

/* Like Winograd's: kernels that compute several rows at a time begin only where a tile does. */
static void row_tiles_are_kept(void **state)
{
    int bands = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS / 2; seed++) {
        struct rng r = {seed + 700};
        struct ig_graph *g = net_chain(&r, rng_int(&r, 2, 10));
        struct ig_kernel tiled = *ig_kernel_by_name("conv_f32_1x1__ref");
        void *expected[16], *got[16];
        char why[512];
        tile = tiled.row_tile = RNG_OF(&r, 2, 4, 6);
        tiled.run = tiled_conv;
        net_run(g, seed, expected);
        ig_prepare_views(g);
        struct ig_plan *p =
            plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 2, .bands = IG_BANDS_OFF});
        retile(g, p, &r, &tiled);
        choose_anew(g, p);
        if (ig_validate(g, p, 0, why, sizeof why)) fail_msg("seed %d: %s", (int)seed, why);
        bands += p->n_bands;
        net_run_plan(g, p, seed, got);
        outputs_same(g, expected, got, seed);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(bands > NETS / 4);
}

/* A chain ends where somebody else reads too, at an output, and at what has to be whole. */
static void chains_end_where_they_must(void **state)
{
    struct ig_graph *g = net_new();
    int32_t a = net_conv(g, net_input(g, 1, 9, 9, 4), 4, 1, 1, -1), b = net_relu(g, a),
            c = net_conv(g, b, 4, 3, 1, -1);
    (void)state;
    ig_add_output(g, b);
    ig_add_output(g, net_global_pool(g, net_add(g, c, a)));
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *p =
        plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_ALL});
    assert_int_equal(p->n_bands, 1); /* of branches: all that is not whole */
    assert_int_equal(p->bands[0].first, 0);
    assert_int_equal(g->nodes[p->steps[p->bands[0].last].node].op, IG_BINARY);
    assert_true(p->buffers[b].ring_rows == 0 && p->buffers[a].ring_rows > 0 && p->buffers[c].ring_rows > 0);
    ig_plan_free(p);
    p = plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF});
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    struct ig_band_timing *chains;
    ig_compute_views(g, views);
    int32_t n = ig_band_candidates(g, views, p, IG_ISA_REF, IG_SHAPE_CHAINS, &chains);
    assert_true(n > 0);
    for (int32_t i = 0; i < n; i++) {
        assert_int_equal(chains[i].first, g->values[c].producer);
        assert_int_equal(g->nodes[chains[i].last].op, IG_BINARY);
    }
    free(chains);
    test_free(views);
    ig_plan_free(p);
    ig_graph_free(g);
}

/* expand, depthwise, project of 24 rows, one at a time: the middle one waits for the row below its own. */
static void schedules_are_loops(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 24, 24, 8), 8, 3, 1, -1);
    int32_t y = net_conv(g, net_depthwise(g, net_conv(g, x, 48, 1, 1, -1), 3, 1), 8, 1, 1, x);
    const int32_t numbers[3] = {1, 2, 3};
    char text[100];
    (void)state;
    ig_add_output(g, net_conv(g, net_relu(g, y), 8, 1, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    for (int32_t rows = 1; rows <= 8; rows *= 8) {
        struct ig_band_timing band = {.first = 1, .last = 3, .rows = rows, .threads = 1, .n = 3};
        struct ig_plan *p =
            plan_make(g, (struct ig_plan_options){
                .isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_GIVEN, .given = &band, .n_given = 1});
        size_t length = ig_schedule_text(g, p, &p->bands[0], numbers, text, sizeof text);
        assert_int_equal(length, strlen(text));
        assert_string_equal(text, rows == 1 ? "[l1]x2 ([l2][l3][l1])x22 ([l2][l3])x2"
                                            : "l1:9 l2:8 l3:8 l1:8 l2:8 l3:8 l1:7 l2:8 l3:8");
        assert_true(ig_schedule_text(g, p, &p->bands[0], numbers, text, 12) > 12);
        assert_int_equal(strlen(text), 11);
        assert_string_equal(text + 8, "...");
        ig_plan_free(p);
    }
    ig_graph_free(g);
}

/* Every row of the last layer once, of the others at least once and as often as is foretold. */
static void schedules_make_every_row(void **state)
{
    int bands = 0;
    (void)state;
    for (uint64_t seed = 0; seed < NETS; seed++) {
        struct rng r = {seed + 300};
        struct ig_graph *g = net_chain(&r, rng_int(&r, 2, 12));
        ig_prepare_views(g);
        struct ig_plan *p = banded(g, IG_ISA_REF, rng_int(&r, 1, 3), &r);
        struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
        ig_compute_views(g, views);
        for (int32_t i = 0; i < p->n_bands; i++, bands++) {
            const struct ig_plan_step *last = &p->steps[p->bands[i].last];
            struct ig_part c;
            int64_t computed[IG_MAX_BAND], made[IG_MAX_BAND] = {0};
            int32_t n;
            assert_true(ig_part_of(g, views, p, &p->bands[i], &c));
            int32_t h = ig_part_rows(&c), chunk = last->split ? last->chunk : h;
            ig_part_work(&c, p->bands[i].rows, chunk, computed);
            struct ig_firing *f = ig_part_firings(&c, p->bands[i].rows, chunk, &n);
            for (int32_t k = 0; k < n; k++) made[f[k].member] += f[k].rows;
            assert_memory_equal(made, computed, (size_t)c.flow.n * sizeof *made);
            assert_int_equal(made[c.flow.n - 1], h);
            free(f);
        }
        test_free(views);
        ig_plan_free(p);
        ig_graph_free(g);
    }
    assert_true(bands > NETS);
}

static char *text_of(const struct ig_plan *p, const struct ig_graph *g)
{
    char path[64], err[512];
    snprintf(path, sizeof path, "/tmp/bands_%ld.json", (long)getpid());
    if (ig_plan_write(p, g, path, err, sizeof err)) fail_msg("%s", err);
    struct ig_plan *q = ig_plan_read(path, g, err, sizeof err);
    if (!q) fail_msg("%s", err);
    if (ig_validate(g, q, 0, err, sizeof err)) fail_msg("%s", err);
    assert_int_equal(p->n_bands, q->n_bands);
    if (p->n_bands) assert_memory_equal(p->bands, q->bands, (size_t)p->n_bands * sizeof *p->bands);
    if (ig_plan_write(q, g, path, err, sizeof err)) fail_msg("%s", err);
    FILE *f = fopen(path, "r");
    char *text = test_calloc(1 << 20, 1);
    assert_non_null(f);
    size_t n = fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    remove(path);
    ig_plan_free(q);
    assert_true(n > 100);
    return text;
}

static void bands_survive_a_file(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rng r = {seed};
        struct ig_graph *g = net_chain(&r, 8);
        ig_prepare_views(g);
        struct ig_plan *p = banded(g, IG_ISA_REF, 2, &r);
        char *text = text_of(p, g);
        assert_true(!p->n_bands || strstr(text, "\"memory\":\"ring\""));
        test_free(text);
        ig_plan_free(p);
        ig_graph_free(g);
    }
}

/* What a profile says decides: the best set of bands that do not meet, none that is slower. */
static void the_profile_decides(void **state)
{
    struct ig_graph *g = net_new();
    int32_t y = net_input(g, 1, 16, 16, 4);
    (void)state;
    for (int i = 0; i < 5; i++) y = net_conv(g, y, 4, 3, 1, -1);
    ig_add_output(g, y);
    net_done(g);
    ig_prepare_views(g);
    struct ig_plan *off =
        plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .bands = IG_BANDS_OFF});
    const struct ig_kernel *k = off->steps[0].kernel;
    char none[1] = "";
    struct ig_band_timing t[] = {
        {0, 2, 2, 0, 1, 3, {k, k, k}, 100, 160}, /* 60 */
        {0, 1, 2, 0, 1, 2, {k, k}, 60, 100},     /* 40 */
        {2, 3, 4, 0, 1, 2, {k, k}, 60, 100},     /* 40: with the one before 80 */
        {2, 3, 2, 0, 1, 2, {k, k}, 70, 100},     {3, 4, 2, 0, 1, 2, {k, k}, 150, 100}, /* slower */
        {0, 3, 2, 0, 2, 4, {k, k, k, k}, 1, 900} /* of another number of threads */
    };
    struct ig_timing timings[5];
    for (int i = 0; i < 5; i++) timings[i] = (struct ig_timing){i, k, 0, 0, 1, 50, 50, 0};
    struct ig_profile profile = {.sha256 = none, .graph_sha256 = none, .cpu = none, .isa = none, .threads = 1,
                                 .n = 5, .n_bands = 6, .timings = timings, .bands = t};
    struct ig_plan *p =
        plan_make(g, (struct ig_plan_options){.isa = IG_ISA_REF, .threads = 1, .profile = &profile});
    assert_int_equal(p->n_bands, 2);
    assert_int_equal(p->bands[0].last, 1);
    assert_int_equal(p->bands[1].first, 2);
    assert_int_equal(p->bands[1].rows, 4);
    assert_true(p->latency_ns > 169.9 && p->latency_ns < 170.1); /* 50 + 2 * 100 * 0.6 */
    ig_plan_free(p);
    ig_plan_free(off);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_compute_what_graphs_say),
        cmocka_unit_test(threads_give_the_bits_of_whole_layers),
        cmocka_unit_test(rings_are_minimal),
        cmocka_unit_test(row_tiles_are_kept),
        cmocka_unit_test(chains_end_where_they_must),
        cmocka_unit_test(schedules_are_loops),
        cmocka_unit_test(schedules_make_every_row),
        cmocka_unit_test(bands_survive_a_file),
        cmocka_unit_test(the_profile_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
