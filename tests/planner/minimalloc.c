/*
 * Eleven hard packing problems like those that Moffitt published with MiniMalloc (ASPLOS 2023), A to K: buffers of
 * accelerator programs that fill 1 MiB with hardly a gap. Ours are rectangles of the same height and count, cut by a
 * seed; a folder of the published CSV files, if $INGOT_MINIMALLOC names one, is solved as well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "planner/pack.h"
#include "tests/support/pack_csv.h"
#include "tests/support/rng.h"

enum { KIB = 1024, CAPACITY = 1 << 20, UNIT = 1024, STEPS = 1000 };

static const struct instance {
    char letter;
    int32_t buffers, live_kib; /* as published */
    uint64_t seed;             /* of ours */
    int64_t nodes;             /* that ours takes, all restarts: the same on every machine */
    int64_t published_nodes;   /* that the published one takes in 1 MiB, likewise */
} instances[] = {
    {'A', 154, 1024, 33, 3877, 800},
    {'B', 170, 1024, 5, 170, 521},
    {'C', 203, 1015, 36, 19725, 205},
    {'D', 213, 963, 14, 42006, 2422},
    {'E', 215, 1024, 44, 15875, 529174},
    {'F', 296, 1024, 10, 3858, 1521},
    {'G', 308, 1024, 21, 12055, 3405},
    {'H', 316, 1024, 10, 4115, 321},
    {'I', 374, 1024, 1, 4869, 252021},
    {'J', 409, 966, 4, 16792, 2157},
    {'K', 454, 1024, 1, 22302, 58750},
};

/* Parts of a full rectangle: pieces are cut in time or in height, the larger ones sooner. */
static int32_t cut(struct rng *r, const struct instance *x, struct ig_pack_item *items)
{
    int32_t n = 1;
    items[0] = (struct ig_pack_item){0, STEPS, (int64_t)x->live_kib * KIB, 0};
    while (n < x->buffers) {
        struct ig_pack_item *a = &items[rng_int(r, 0, n - 1)], *b = &items[rng_int(r, 0, n - 1)];
        if (b->size * (b->upper - b->lower) > a->size * (a->upper - a->lower)) a = b;
        struct ig_pack_item piece = *a;
        if (rng_one_in(r, 2)) {
            if (a->upper - a->lower < 2) continue;
            a->upper = piece.lower = rng_int(r, a->lower + 1, a->upper - 1);
        } else {
            if (a->size < 2 * UNIT) continue;
            a->size = UNIT * (int64_t)rng_int(r, 1, (int32_t)(a->size / UNIT) - 1);
            piece.size -= a->size;
        }
        items[n++] = piece;
    }
    return n;
}

static void assert_placed(const struct ig_pack_item *items, int32_t n, int64_t capacity)
{
    for (int32_t i = 0; i < n; i++) {
        assert_true(items[i].offset >= 0 && items[i].offset + items[i].size <= capacity);
        for (int32_t j = 0; j < i; j++)
            assert_true(items[i].lower >= items[j].upper || items[j].lower >= items[i].upper ||
                        items[i].offset >= items[j].offset + items[j].size ||
                        items[j].offset >= items[i].offset + items[i].size);
    }
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); /* others may be running */
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void solve_published(const struct instance *x)
{
    struct ig_pack_item items[PACK_CSV_ROWS];
    const char *folder = getenv("INGOT_MINIMALLOC");
    char path[4096];
    if (!folder) return;
    snprintf(path, sizeof path, "%s/%c.%d.csv", folder, x->letter, CAPACITY);
    int32_t n = pack_csv_read(path, items);
    if (n < 0) fail_msg("%s: no such problem", path);
    double start = seconds();
    int64_t nodes = 0, *offsets = test_calloc((size_t)n, sizeof *offsets);
    struct ig_sections p;
    ig_sections_make(&p, items, n);
    struct ig_search *search = ig_search_new(&p);
    assert_int_equal(ig_search_run(search, CAPACITY, 1 << 22, &nodes, offsets), IG_SEARCH_SOLVED);
    for (int32_t b = 0; b < p.n; b++) items[p.id[b]].offset = offsets[b];
    ig_search_free(search);
    ig_sections_free(&p);
    test_free(offsets);
    start = seconds() - start;
    print_message("%c published: %d buffers, %ld nodes, %.3f s\n", x->letter, n, (long)nodes, start);
    assert_int_equal(n, x->buffers);
    assert_int_equal(nodes, x->published_nodes);
    assert_placed(items, n, CAPACITY);
}

static void pack_minimalloc(void **state)
{
    const struct instance *x = *state;
    struct ig_pack_item items[PACK_CSV_ROWS];
    struct rng r = {x->seed};
    int32_t n = cut(&r, x, items);
    double start = seconds();
    struct ig_pack_result result = ig_pack_offsets(items, n);
    start = seconds() - start;
    print_message("%c: %d buffers, %ld nodes, %.3f s\n", x->letter, n, (long)result.nodes, start);
    assert_placed(items, n, (int64_t)x->live_kib * KIB);
    assert_int_equal(result.height, result.max_live);
    assert_int_equal(result.nodes, x->nodes);
    solve_published(x);
}

static void pack_csv(void **state)
{
    struct ig_pack_item items[PACK_CSV_ROWS];
    (void)state;
    assert_int_equal(pack_csv_parse("id,lower,upper,size\n0,5,7,64\n1,0,9,128\n", items), 2);
    assert_int_equal(items[0].lower, 5);
    assert_int_equal(items[1].upper, 9);
    assert_int_equal(items[1].size, 128);
    assert_int_equal(pack_csv_parse("size,buffer_id,start,end,hint\r\n64,b0,5,7,-1\r\n", items), 1);
    assert_int_equal(items[0].upper, 8);
    assert_int_equal(pack_csv_parse("id,lower,upper\n0,5,7\n", items), -1);
    assert_int_equal(pack_csv_parse("id,lower,upper,size\n0,5\n", items), -1);
    assert_int_equal(pack_csv_parse("id,lower,upper,size\n0,7,5,64\n", items), -1);
    assert_int_equal(pack_csv_parse("", items), -1);
    assert_int_equal(pack_csv_read("/nonexistent", items), -1);
}

#define PROBLEM(letter, i) {"pack_minimalloc_" letter, pack_minimalloc, NULL, NULL, (void *)&problems[i]}

int main(void)
{
    static struct instance problems[sizeof instances / sizeof *instances];
    memcpy(problems, instances, sizeof instances);
    const struct CMUnitTest tests[] = {
        PROBLEM("a", 0),
        PROBLEM("b", 1),
        PROBLEM("c", 2),
        PROBLEM("d", 3),
        PROBLEM("e", 4),
        PROBLEM("f", 5),
        PROBLEM("g", 6),
        PROBLEM("h", 7),
        PROBLEM("i", 8),
        PROBLEM("j", 9),
        PROBLEM("k", 10),
        cmocka_unit_test(pack_csv),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
