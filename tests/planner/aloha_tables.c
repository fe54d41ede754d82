/* What the ALOHA paper prints beside its listings: its platforms, its example's totals, its claims, and its slips. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/analyse.h"
#include "planner/explain.h"
#include "tests/support/board.h"

struct place { int32_t level, channel, memory, limit; };

struct table { /* Tables 4 and 5, the accelerator's part and the first processor beside it */
    const char *board;
    int64_t memories[3], channels[3];
    const char *type, *subtype;
    int64_t ops_per_s, hz, overhead_ns;
    int32_t lanes[3], loops[3][2]; /* -1: one loop */
    int32_t order[IG_LOOPS];
    struct place place[IG_ROLES];
    double active_w, idle_w, pj_per_bit;
    const char *cpu;
    int64_t cpu_ops_per_s, cpu_hz;
};

static const struct table tables[] = {
    {"neuraghe", {73728, 163840, 92160}, {720000000, 720000000, 2880000000}, "accelerator", "FPGA engine", 129600000000,
     180000000, 100000, {9, 10, 4}, {{IG_IF, -1}, {IG_OF, -1}, {IG_FW, -1}},
     {IG_IF, IG_OF, IG_FH, IG_FW, IG_KH, IG_KW}, /* KW is left out in print; its level 5 is the one that is free */
     {[IG_X] = {1, 0, 0, IG_FH}, [IG_Y] = {0, 1, 1, IG_OF}, [IG_W] = {1, 2, 2, IG_OF}}, 3.6, 1.8, 91, "Cortex-A53",
     9600000000, 1200000000},
    {"tx2", {8589934592, 131072, 524288}, {20000000000, 20000000000, 35000000000}, "accelerator", "GPU", 666600000000,
     1300000000, 10000, {2, 16, 128}, {{IG_IF, -1}, {IG_OF, -1}, {IG_FH, IG_FW}},
     {IG_OF, IG_IF, IG_FH, IG_FW, IG_KH, IG_KW},
     {[IG_X] = {0, 1, 1, IG_OF}, [IG_Y] = {0, 0, 0, IG_OF}, [IG_W] = {0, 0, 0, IG_OF}}, 15, IG_UNKNOWN, IG_UNKNOWN,
     "Cortex-A57", 16280000000, 2350000000},
};

/* What is printed, be it beside the value that is used instead. */
static int64_t as_printed(int64_t used, int64_t printed)
{
    return printed == IG_UNKNOWN ? used : printed;
}

static void assert_grid(const struct table *t, const struct ig_processor *p)
{
    assert_int_equal(p->n_grid, 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(p->grid[k].lanes, t->lanes[k]);
        assert_int_equal(p->grid[k].n_loops, t->loops[k][1] < 0 ? 1 : 2);
        for (int32_t i = 0; i < p->grid[k].n_loops; i++) assert_int_equal(p->grid[k].loops[i], t->loops[k][i]);
    }
    for (int level = 0; level < IG_LOOPS; level++) assert_int_equal(p->order[level], t->order[level]);
}

static void assert_board(const struct table *t)
{
    struct ig_platform *b = board_read(t->board);
    const struct ig_processor *p = &b->processors[0], *cpu = &b->processors[1];
    for (int i = 0; i < 3; i++) {
        assert_int_equal(b->stores[i].id, i);
        assert_int_equal(b->stores[i].bytes, t->memories[i]);
        assert_int_equal(b->channels[i].id, i);
        assert_int_equal(as_printed(b->channels[i].bytes_per_s, b->channels[i].printed), t->channels[i]);
    }
    assert_string_equal(p->type, t->type);
    assert_string_equal(p->subtype, t->subtype);
    assert_int_equal(as_printed(p->ops_per_s, p->printed), t->ops_per_s);
    assert_int_equal(p->hz, t->hz);
    assert_int_equal(p->overhead_ns, t->overhead_ns);
    assert_true(p->active_w == t->active_w && p->idle_w == t->idle_w && p->dram_pj_per_bit == t->pj_per_bit);
    assert_grid(t, p);
    for (int role = 0; role < IG_ROLES; role++) {
        const struct place *want = &t->place[role];
        assert_int_equal(p->place[role].level, want->level);
        assert_int_equal(b->channels[p->place[role].channel].id, want->channel);
        assert_int_equal(b->stores[p->place[role].memory].id, want->memory);
        assert_int_equal(p->place[role].limit, want->limit);
    }
    assert_string_equal(cpu->type, "CPU");
    assert_string_equal(cpu->subtype, t->cpu);
    assert_int_equal(cpu->ops_per_s, t->cpu_ops_per_s);
    assert_int_equal(as_printed(cpu->hz, cpu->printed_hz), t->cpu_hz);
    free(b);
}

static void tables_4_and_5(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) assert_board(&tables[i]);
}

/* Where two printed numbers contradict each other, which of them is used. */
static void slips_of_the_tables(void **state)
{
    struct ig_platform *n = board_read("neuraghe"), *t = board_read("tx2");
    (void)state;
    /* Channel 2 moves 8 B at 180 MHz; 2.88 GB/s is the sum of all three. */
    assert_int_equal(n->channels[2].bytes_per_s, 8 * 180000000LL);
    assert_int_equal(n->channels[0].bytes_per_s + n->channels[1].bytes_per_s + n->channels[2].bytes_per_s, 2880000000);
    /* 256 lanes at 1.3 GHz are 665.6 GOPS, at 1.302 GHz the 666.6 that are printed. */
    assert_int_equal(t->processors[0].ops_per_s, 665600000000);
    assert_int_equal(256 * 2 * 1302000000LL / 100000000, 6666);
    /* 16.28 GOPS are one core's at 2.035 GHz, not at 2.35. */
    assert_int_equal(t->processors[1].hz, 2035000000);
    /* The text gives memories 0, 1, 2 to weights, activations, results: the sizes fit the table's X, Y, W. */
    assert_int_equal(n->stores[0].bytes, 9 * 4096 * 2);
    assert_int_equal(n->stores[1].bytes, 2 * 10 * 4096 * 2);
    assert_int_equal(n->stores[2].bytes, 90 * 512 * 2);
    free(n);
    free(t);
}

/* --- l1 on NEURAghe, beyond estimate_l1 --- */

/* Listing 6's printed product has six full tiles; its value, and every total here, has the last one cut short. */
static void l1_with_six_full_tiles(void **state)
{
    struct ig_platform *b = board_read("neuraghe");
    const struct ig_conv_size size = {128, 512, 28, 28, 28, 28, 1, 1, 1};
    struct ig_layer l;
    struct ig_nest n;
    struct ig_analysis a;
    (void)state;
    ig_layer_conv(&l, &size);
    assert_true(ig_nest_refine(&n, &l, b, &b->processors[0]));
    ig_analyse(&a, &n);
    int64_t tiles = n.tiles[IG_OF], loads = n.t0[IG_IF];
    assert_int_equal(tiles * loads * 9 * n.t[IG_OF] * 10 * n.t[IG_FH] * n.t[IG_FW] * 4 * 2, 114307200);
    assert_int_equal(a.ops_re, 110073600); /* printed: 110.07e6 */
    int64_t y = tiles * ig_nest_bytes(&n, IG_Y), w = tiles * loads * ig_nest_bytes(&n, IG_W);
    assert_int_equal(y, 846720);
    assert_int_equal(w, 291600);
    assert_true(y * 1000000 / b->channels[1].bytes_per_s == 1176 && w * 10000000 / b->channels[2].bytes_per_s == 2025);
    assert_int_equal(a.bound, 0); /* so either reading takes the same time: X decides */
    assert_true(a.channel_s[0] > 1.176e-3);
    free(b);
}

/* Equation 13: 3.6 W for 1.864 ms, and 91 pJ for each of 8 * 2,366,240 bits. */
static void l1_energy(void **state)
{
    struct ig_platform *b = board_read("neuraghe");
    const struct ig_conv_size size = {128, 512, 28, 28, 28, 28, 1, 1, 1};
    struct ig_layer l;
    struct ig_nest n;
    struct ig_analysis a;
    char text[32];
    (void)state;
    ig_layer_conv(&l, &size);
    ig_nest_refine(&n, &l, b, &b->processors[0]);
    ig_analyse(&a, &n);
    assert_int_equal(a.traffic[IG_X] + a.traffic[IG_Y] + a.traffic[IG_W], 2366240);
    snprintf(text, sizeof text, "%.6f", a.s * 1e3 * b->processors[0].active_w);
    assert_string_equal(text, "6.710400");
    snprintf(text, sizeof text, "%.6f", a.mj - a.s * 1e3 * b->processors[0].active_w);
    assert_string_equal(text, "1.722623");
    free(b);
}

/* --- listings of all boards --- */

/* Step 3: transfers lie outside every parallel loop, be two loops fused or not; stores close what loads opened. */
static void transfers_lie_outside_lanes(void **state)
{
    static const char *const boards[] = {"neuraghe", "tx2", "xavier", "zen4"};
    static const struct ig_conv_size sizes[] = {{128, 512, 28, 28, 28, 28, 1, 1, 1}, {3, 64, 224, 224, 112, 112, 7, 2, 1}};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof boards / sizeof *boards; i++) {
        struct ig_platform *b = board_read(boards[i / 2]);
        struct ig_layer l;
        struct ig_nest n;
        char *text, *lanes;
        size_t bytes;
        FILE *f = open_memstream(&text, &bytes);
        ig_layer_conv(&l, &sizes[i % 2]);
        ig_nest_refine(&n, &l, b, &b->processors[0]);
        ig_explain_nest(f, &n, IG_LISTING_TILES);
        fclose(f);
        assert_non_null(lanes = strstr(text, "for par0 "));
        if (strstr(lanes, "load(")) fail_msg("%s:\n%s", boards[i / 2], text);
        assert_non_null(strstr(lanes, "store("));
        free(text);
        free(b);
    }
}

/* --- claims --- */

static int hundredths(double x)
{
    return (int)(100 * x + 0.5);
}

/* The gains that the paper claims, from the mean errors that it prints. */
static void gains_of_the_paper(void **state)
{
    (void)state;
    assert_int_equal(hundredths(63.4 / 12.7), 499);                     /* "5x" in latency: a ratio of errors */
    assert_int_equal(hundredths((100 - 11.3) / (100 - 52.7)), 188);     /* "1.9x" in energy: a ratio of accuracies */
    assert_int_equal(hundredths(52.7 / 11.3), 466);                     /* by errors, as in latency, it were 4.66x */
    assert_int_equal(hundredths(48. / 21), 229);                        /* "1.6x" of networks follows from neither pair */
    assert_int_equal(hundredths(450. / 27), 1667);
    assert_true(56.5 * 3 > 100); /* TX2's "3x" cannot be of times: one that is too short is never off by over 100 % */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tables_4_and_5), cmocka_unit_test(slips_of_the_tables),
                                       cmocka_unit_test(l1_with_six_full_tiles), cmocka_unit_test(l1_energy),
                                       cmocka_unit_test(transfers_lie_outside_lanes),
                                       cmocka_unit_test(gains_of_the_paper)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
