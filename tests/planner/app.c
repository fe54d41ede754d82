/* Seed 002's worked example and its algorithm, where it is right and where it is not; and our own placement. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/app.h"
#include "planner/baseline.h"
#include "planner/share.h"
#include "tests/support/rng.h"

enum { MOST_LAYERS = 16, MOST_EDGES = 24, MOST_PARTITIONS = 4 };

struct example {
    struct ig_app app;
    struct ig_app_layer layers[MOST_LAYERS];
    struct ig_app_edge edges[MOST_EDGES];
    int32_t steps[MOST_PARTITIONS];
    uint8_t concurrent[MOST_PARTITIONS * MOST_PARTITIONS];
};

static void begin(struct example *x, int32_t layers, int32_t edges, int32_t partitions)
{
    x->app = (struct ig_app){layers, edges, partitions, x->layers, x->edges, x->steps, x->concurrent};
}

/*
 * APP of section 2.3: CNN1 = l1..l5 with l2 a 5x5 convolution and a skip from l2 to l4, in partition P1; CNN2 =
 * l1..l4, cut after l2 into P2 and P3, which are a pipeline: J = {{P1}, {P2, P3}}. Layers 0-4 are CNN1's.
 */
static void make_app(struct example *x)
{
    static const int32_t steps[3] = {5, 2, 2};
    memset(x, 0, sizeof *x);
    begin(x, 9, 9, 3);
    memcpy(x->steps, steps, sizeof steps);
    for (int32_t i = 0; i < 9; i++) {
        int32_t partition = i < 5 ? 0 : i < 7 ? 1 : 2, step = i < 5 ? i : (i - 5) % 2;
        x->layers[i] = (struct ig_app_layer){IG_APP_WINDOW, 1, i < 5 ? 32 : 28, 0, i >= 5, partition, step, step, 0};
    }
    x->layers[1].taps = x->layers[6].taps = 5;
    x->layers[1].parameters = 8 * 3 * 5 * 5 + 8;
    x->layers[4].kind = IG_APP_ACTIVATION;
    static const struct ig_app_edge edges[9] = {
        {0, 1, 0, 3, 32, 32}, {1, 2, 0, 8, 32, 32}, {1, 3, 0, 8, 32, 32}, {2, 3, 0, 8, 32, 32},
        {3, 4, 0, 16, 32, 32}, {5, 6, 1, 3, 32, 32}, {6, 7, 1, 8, 28, 28}, {6, 7, 2, 8, 28, 28},
        {7, 8, 2, 10, 1, 1}};
    memcpy(x->edges, edges, sizeof edges);
    x->concurrent[1 * 3 + 2] = x->concurrent[2 * 3 + 1] = 1;
}

static void assert_buffers(const struct ig_app *a, int32_t n, const int32_t *buffer, const int64_t *size,
                           int64_t total)
{
    struct ig_app_buffers b;
    ig_app_reuse(a, &b);
    assert_int_equal(b.n, n);
    assert_int_equal(b.total, total);
    assert_memory_equal(b.buffer, buffer, (size_t)a->n_edges * sizeof *buffer);
    assert_memory_equal(b.size, size, (size_t)n * sizeof *size);
    for (int32_t i = 0; i < n; i++) { /* Eq. 4 */
        int64_t most = 0;
        for (int32_t e = 0; e < a->n_edges; e++)
            if (b.buffer[e] == i && ig_app_edge_elements(a, e) > most) most = ig_app_edge_elements(a, e);
        assert_int_equal(most, b.size[i]);
    }
    ig_app_buffers_free(&b);
}

/* What the checker says of Algorithm 1's buffers, laid one after the other. */
static int judge_reuse(const struct ig_app *a)
{
    int64_t offset[MOST_EDGES], base[MOST_EDGES];
    struct ig_app_buffers b;
    char why[128];
    ig_app_reuse(a, &b);
    ig_share_stack(b.size, b.n, base);
    for (int32_t e = 0; e < a->n_edges; e++) offset[e] = base[b.buffer[e]];
    ig_app_buffers_free(&b);
    return ig_app_check(a, 1, offset, why, sizeof why);
}

/* Our placement is accepted; its bytes. */
static int64_t place(const struct ig_app *a, int32_t data_bytes, int64_t *bound)
{
    int64_t offset[MOST_EDGES], end = 0;
    char why[128] = "";
    int64_t arena = ig_app_place(a, data_bytes, offset, bound);
    if (ig_app_check(a, data_bytes, offset, why, sizeof why)) fail_msg("%s", why);
    for (int32_t e = 0; e < a->n_edges; e++) {
        assert_true(offset[e] >= 0 && offset[e] % IG_ALIGN == 0);
        int64_t top = offset[e] + ig_app_edge_elements(a, e) * data_bytes;
        if (top > end) end = top;
    }
    assert_int_equal(end, arena);
    assert_true(*bound <= arena);
    return arena;
}

static void mem_table1(void **state)
{
    static const int64_t sizes[9] = {3072, 8192, 8192, 8192, 16384, 3072, 6272, 6272, 10};
    struct example x;
    (void)state;
    make_app(&x);
    for (int32_t e = 0; e < 9; e++) assert_int_equal(ig_app_edge_elements(&x.app, e), sizes[e]);
    assert_int_equal(ig_app_naive(&x.app), 59658);
    assert_int_equal(ig_app_bytes(&x.app, 59658, 4, 4), 59658 * 4 + (8 * 75 + 8) * 4); /* Eqs. 1-3 */
    assert_int_equal(ig_app_bytes(&x.app, 59658, 1, 2), 59658 * 2 + 8 * 75 + 8);
}

static void mem_alg1_table8(void **state)
{
    static const int32_t buffer[9] = {0, 1, 2, 0, 1, 0, 1, 2, 3};
    static const int64_t size[4] = {8192, 16384, 8192, 10};
    struct example x;
    (void)state;
    make_app(&x);
    assert_buffers(&x.app, 4, buffer, size, 32778);
    assert_int_equal(judge_reuse(&x.app), IG_APP_OK);
}

/* l3, l4, l5 of CNN1 by parts, one row each: l1 l2 ([l3][l4][l5]) x 32. */
static void run_by_parts(struct example *x)
{
    for (int32_t i = 2; i < 5; i++) {
        x->layers[i].parts = 1;
        x->layers[i].first = i;
        x->layers[i].last = i + 3 * 31;
    }
    x->steps[0] = 2 + 3 * 32;
}

/*
 * The paper prints 256 for the last buffer and 19,712 in all; e45 is 16 channels of one row of 32, which is 512.
 */
static void mem_alg1_table9(void **state)
{
    static const int32_t buffer[9] = {0, 1, 2, 0, 3, 0, 1, 2, 3};
    static const int64_t size[4] = {3072, 8192, 8192, 512};
    static const int32_t phases[9] = {1, 1, 32, 32, 32, 1, 1, 1, 1};
    struct example x;
    (void)state;
    make_app(&x);
    run_by_parts(&x);
    for (int32_t i = 0; i < 9; i++) assert_int_equal(ig_app_phases(&x.app, i), phases[i]);
    assert_buffers(&x.app, 4, buffer, size, 19968);
    assert_true(ig_app_bytes(&x.app, 19968, 0, 1) <= 20000); /* the example's constraint, parameters aside */
    assert_int_equal(judge_reuse(&x.app), IG_APP_OK);
}

static void mem_alg1_no_j(void **state)
{
    static const int32_t buffer[9] = {0, 1, 2, 0, 1, 0, 1, 0, 1};
    static const int64_t size[3] = {8192, 16384, 8192};
    struct example x;
    int64_t bound;
    (void)state;
    make_app(&x);
    memset(x.concurrent, 0, sizeof x.concurrent);
    assert_buffers(&x.app, 3, buffer, size, 32768);
    struct ig_app_buffers b;
    int64_t offset[9], base[3];
    char why[128];
    ig_app_reuse(&x.app, &b);
    ig_share_stack(b.size, b.n, base);
    for (int32_t e = 0; e < 9; e++) offset[e] = base[b.buffer[e]];
    ig_app_buffers_free(&b);
    make_app(&x); /* the pipeline is there all the same */
    assert_int_equal(ig_app_check(&x.app, 1, offset, why, sizeof why), IG_APP_CONCURRENT_OVERLAP);
    assert_string_equal(ig_app_verdict_name(IG_APP_CONCURRENT_OVERLAP), "CONCURRENT_OVERLAP");
    assert_int_equal(place(&x.app, 1, &bound), 32768);
    assert_int_equal(bound, 32768);
}

/* One network in two partitions that run in turn: the second may not write where the first left its result. */
static void mem_alg1_sequential_partitions(void **state)
{
    struct example x = {.steps = {2, 2}};
    int64_t bound;
    (void)state;
    begin(&x, 4, 3, 2);
    for (int32_t i = 0; i < 4; i++)
        x.layers[i] = (struct ig_app_layer){IG_APP_WINDOW, 3, 8, 0, 0, i / 2, i % 2, i % 2, 0};
    x.edges[0] = (struct ig_app_edge){0, 1, 0, 2, 8, 8};
    x.edges[1] = (struct ig_app_edge){1, 2, 0, 4, 8, 8};
    x.edges[2] = (struct ig_app_edge){2, 3, 1, 4, 8, 8};
    assert_int_equal(judge_reuse(&x.app), IG_APP_OVERLAP_LIVE);
    assert_int_equal(place(&x.app, 4, &bound), 2 * 4 * 64 * 4);
    assert_int_equal(bound, 2 * 4 * 64 * 4);
}

/* Random applications: networks cut into partitions, some of them pipelines. */
static void random_app(struct rng *r, struct example *x)
{
    memset(x, 0, sizeof *x);
    begin(x, rng_int(r, 2, MOST_LAYERS), 0, rng_int(r, 1, MOST_PARTITIONS));
    int32_t n = x->app.n_partitions, cnn = 0, partition = 0;
    for (int32_t i = 0; i < x->app.n_layers; i++) {
        if (partition < n - 1 && rng_one_in(r, 3) && x->steps[partition]) {
            partition++;
            if (rng_one_in(r, 3)) cnn++;
            else x->concurrent[partition * n + partition - 1] = (uint8_t)rng_int(r, 0, 1);
        }
        int32_t step = x->steps[partition]++;
        x->layers[i] = (struct ig_app_layer){IG_APP_WINDOW, 3, 8, 0, cnn, partition, step, step, 0};
    }
    for (int32_t p = partition + 1; p < n; p++) x->steps[p] = 1;
    for (int32_t p = 0; p < n; p++)
        for (int32_t q = 0; q < p; q++) x->concurrent[q * n + p] = x->concurrent[p * n + q];
    for (int32_t i = 1; i < x->app.n_layers; i++)
        for (int32_t from = i - 1; from >= 0 && x->app.n_edges < MOST_EDGES - 1; from -= rng_int(r, 1, 6)) {
            const struct ig_app_layer *a = &x->layers[from], *b = &x->layers[i];
            int slots = x->concurrent[a->partition * n + b->partition];
            if (a->cnn != b->cnn || (a->partition < b->partition - 1)) continue;
            struct ig_app_edge e = {from, i, a->partition, rng_int(r, 1, 9), 8, rng_int(r, 1, 9)};
            x->edges[x->app.n_edges++] = e;
            e.partition = b->partition;
            if (slots) x->edges[x->app.n_edges++] = e;
        }
}

static void placements_are_safe(void **state)
{
    struct rng r = {1};
    int unsound = 0, optimal = 0;
    (void)state;
    for (int i = 0; i < 2000; i++) {
        struct example x;
        int64_t bound;
        random_app(&r, &x);
        optimal += place(&x.app, 4, &bound) == bound;
        unsound += judge_reuse(&x.app) != IG_APP_OK;
    }
    assert_true(optimal > 1900);
    assert_true(unsound > 100); /* the checker does find what Algorithm 1 overlooks */
}

/* --- arenas of several networks --- */

static void alternating_networks_share(void **state)
{
    static const int64_t arenas[3] = {1000, 5000, 3000};
    (void)state;
    assert_int_equal(ig_share_alternate(arenas, 3), 5000);
    assert_int_equal(ig_share_alternate(arenas, 0), 0);
}

static void concurrent_stages_stack(void **state)
{
    static const int64_t arenas[4] = {100, 0, 64, 30};
    int64_t base[4];
    (void)state;
    assert_int_equal(ig_share_stack(arenas, 4, base), 128 + 64 + 30);
    assert_int_equal(base[0], 0);
    assert_int_equal(base[1], 128);
    assert_int_equal(base[2], 128);
    assert_int_equal(base[3], 192);
    assert_int_equal(ig_share_stack(arenas, 2, base), 100);
}

static void chained_networks_are_one_timeline(void **state)
{
    /* The second network's input is the first one's output, alive across the seam: 64 + 128 there. */
    struct ig_pack_item items[] = {{0, 2, 128, 0}, {1, 3, 64, 0}, {0, 1, 128, 0}, {0, 2, 64, 0}};
    (void)state;
    int32_t steps = ig_share_chain(items, 2, 0, 2);
    assert_int_equal(ig_share_chain(items + 2, 2, steps, 2), 4);
    assert_int_equal(items[2].lower, 2);
    assert_int_equal(items[3].upper, 4);
    struct ig_pack_result r = ig_pack_offsets(items, 4);
    assert_int_equal(r.max_live, 64 + 128 + 64);
    assert_int_equal(r.height, r.max_live);
}

/* --- other people's placements --- */

static int64_t live_bytes(const struct ig_pack_item *items, int32_t n)
{
    int64_t most = 0;
    for (int32_t i = 0; i < n; i++) {
        int64_t now = 0;
        for (int32_t j = 0; j < n; j++)
            if (items[j].lower <= items[i].lower && items[i].lower < items[j].upper) now += items[j].size;
        if (now > most) most = now;
    }
    return most;
}

static void baselines_by_hand(void **state)
{
    struct ig_pack_item items[] = {{0, 2, 128, 0}, {1, 3, 192, 0}, {2, 4, 64, 0}, {3, 5, 256, 0}};
    (void)state;
    assert_int_equal(ig_baseline_by_size(items, 4), 320); /* 256 and 192 below, 128 on 192, 64 on 256 */
    assert_int_equal(items[0].offset, 192);
    assert_int_equal(items[1].offset, 0);
    assert_int_equal(items[2].offset, 256);
    assert_int_equal(items[3].offset, 0);
    assert_int_equal(ig_baseline_best_fit(items, 4), 128 + 256); /* 64 into 128's, 256 into what was 192's */
    assert_int_equal(ig_baseline_reuse(items, 4), 128 + 256);
}

static void baselines_are_placements(void **state)
{
    struct rng r = {2};
    (void)state;
    for (int i = 0; i < 500; i++) {
        struct ig_pack_item items[30];
        int32_t n = rng_int(&r, 1, 30);
        for (int32_t k = 0; k < n; k++) {
            int32_t from = rng_int(&r, 0, 20);
            items[k] = (struct ig_pack_item){from, rng_int(&r, from + 1, 22), 64 * rng_int(&r, 1, 40), 0};
        }
        int64_t height = ig_baseline_by_size(items, n), live = live_bytes(items, n);
        for (int32_t a = 0; a < n; a++) {
            assert_true(items[a].offset + items[a].size <= height);
            for (int32_t b = 0; b < a; b++)
                assert_true(items[a].lower >= items[b].upper || items[b].lower >= items[a].upper ||
                            items[a].offset >= items[b].offset + items[b].size ||
                            items[b].offset >= items[a].offset + items[a].size);
        }
        assert_true(height >= live);
        assert_true(ig_baseline_best_fit(items, n) >= live);
        assert_true(ig_baseline_reuse(items, n) >= live);
        assert_true(ig_pack_offsets(items, n).height <= height);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mem_table1),
        cmocka_unit_test(mem_alg1_table8),
        cmocka_unit_test(mem_alg1_table9),
        cmocka_unit_test(mem_alg1_no_j),
        cmocka_unit_test(mem_alg1_sequential_partitions),
        cmocka_unit_test(placements_are_safe),
        cmocka_unit_test(alternating_networks_share),
        cmocka_unit_test(concurrent_stages_stack),
        cmocka_unit_test(chained_networks_are_one_timeline),
        cmocka_unit_test(baselines_by_hand),
        cmocka_unit_test(baselines_are_placements),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
