/* Computational tensors (Table 3) and their refinement (Listings 3-6 of the ALOHA paper). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "planner/explain.h"
#include "planner/plan.h"
#include "tests/support/board.h"
#include "tests/support/builder.h"

/* Layer l1 of the paper: X [128,28,28], Y [512,28,28], K 1x1. */
static const struct ig_conv_size l1 = {128, 512, 28, 28, 28, 28, 1, 1, 1};

static void assert_loops(const struct ig_layer *l, const int64_t *n)
{
    for (int d = 0; d < IG_LOOPS; d++) assert_int_equal(l->n[d], n[d]);
}
#define LOOPS(...)                                                                                                     \
    (const int64_t[IG_LOOPS])                                                                                          \
    {                                                                                                                  \
        __VA_ARGS__                                                                                                    \
    }

/* The layer of the last node of g. */
static struct ig_layer layer_of(struct ig_graph *g)
{
    struct ig_view *views = calloc((size_t)g->n_values, sizeof *views);
    struct ig_call call;
    struct ig_layer l;
    int32_t batch;
    ig_compute_views(g, views);
    ig_count_macs(g);
    ig_node_call(g, views, &g->nodes[g->n_nodes - 1], &call, &batch);
    ig_layer_of_call(&l, g->nodes[g->n_nodes - 1].op, &call);
    free(views);
    return l;
}

static struct ig_graph *image(int32_t *x, int32_t h, int32_t w, int32_t c)
{
    struct ig_graph *g = ig_graph_new("layer");
    g->channels_last = 1;
    *x = build_input(g, "x", DIMS(1, h, w, c));
    return g;
}

static void assert_conv(int32_t ic, int32_t oc, int32_t size, int32_t k, int32_t stride, int32_t groups)
{
    int32_t x, out = (size + 2 * (k / 2) - k) / stride + 1;
    struct ig_graph *g = image(&x, size, size, ic);
    build_conv(g, x, oc, k, stride, k / 2, groups);
    struct ig_layer l = layer_of(g);
    assert_loops(&l, LOOPS(oc, ic / groups, out, out, k, k));
    assert_int_equal(l.kind, IG_LAYER_CONV);
    assert_int_equal(ig_layer_ops(&l), (int64_t)(2 * g->nodes[0].macs));
    assert_int_equal(l.elements[IG_X], ic * size * size);
    assert_int_equal(l.elements[IG_W], oc * ic / groups * k * k);
    assert_int_equal(ig_layer_has(&l, IG_X, IG_OF), groups > 1);
    ig_graph_free(g);
}

static void assert_plain(void)
{
    int32_t x;
    struct ig_graph *g = image(&x, 9, 7, 24);
    build_1(g, IG_UNARY, ACT(IG_RELU, 0, 0), x);
    struct ig_layer relu = layer_of(g);
    assert_loops(&relu, LOOPS(24, 1, 9, 7, 1, 1));
    assert_int_equal(ig_layer_ops(&relu), 24 * 9 * 7);
    build_2(g, IG_BINARY, BIN(IG_ADD), x, x);
    struct ig_layer add = layer_of(g);
    assert_loops(&add, LOOPS(24, 1, 9, 7, 1, 1));
    assert_int_equal(add.elements[IG_X], 2 * 24 * 9 * 7);
    assert_true(ig_layer_has(&relu, IG_X, IG_OF) && ig_layer_has(&add, IG_X, IG_OF));
    ig_graph_free(g);
}

static void assert_pool(void)
{
    int32_t x;
    struct ig_graph *g = image(&x, 14, 14, 32);
    build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 2, 1), .kind = IG_POOL_MAX}), x);
    struct ig_layer pool = layer_of(g);
    assert_loops(&pool, LOOPS(32, 1, 7, 7, 3, 3));
    assert_int_equal(ig_layer_ops(&pool), 32 * 7 * 7 * 9); /* one max a step */
    build_1(g, IG_GLOBAL_POOL, NULL, x);
    struct ig_layer all = layer_of(g);
    assert_loops(&all, LOOPS(32, 1, 1, 1, 14, 14));
    ig_graph_free(g);
}

static void assert_gemm(void)
{
    struct ig_graph *g = ig_graph_new("gemm");
    struct ig_layer table;
    int32_t x = build_input(g, "x", DIMS(1, 512 * 7 * 7));
    build_2(g, IG_FC, NULL, x, build_const(g, DIMS(40, 512 * 7 * 7)));
    struct ig_layer l = layer_of(g);
    assert_loops(&l, LOOPS(40, 512 * 7 * 7, 1, 1, 1, 1));
    assert_int_equal(ig_layer_ops(&l), (int64_t)(2 * g->nodes[0].macs));
    ig_graph_free(g);
    ig_layer_gemm(&table, 512, 7, 7, 40);
    assert_loops(&table, LOOPS(40, 512, 7, 7, 1, 1));
    assert_int_equal(ig_layer_ops(&table), ig_layer_ops(&l));
    assert_false(ig_layer_has(&table, IG_Y, IG_FH) || ig_layer_has(&table, IG_Y, IG_FW)); /* summed over */
    assert_true(ig_layer_has(&table, IG_W, IG_FH) && ig_layer_has(&table, IG_W, IG_FW));
}

static void assert_deconv(void)
{
    int32_t x;
    struct ig_graph *g = image(&x, 5, 6, 8);
    build_node(g, IG_DECONV, ATTRS(.conv = {.w = build_window(2, 2, 0), .groups = 1}), 2,
               (int32_t[]){x, build_const(g, DIMS(8, 4, 2, 2))}, NULL);
    struct ig_layer l = layer_of(g);
    assert_loops(&l, LOOPS(4, 8, 5, 6, 2, 2));
    assert_int_equal(ig_layer_ops(&l), (int64_t)(2 * g->nodes[0].macs));
    ig_graph_free(g);
}

static void tensor_from_layer(void **state)
{
    (void)state;
    assert_conv(128, 512, 28, 1, 1, 1);
    assert_conv(3, 64, 224, 7, 2, 1);
    assert_conv(32, 48, 17, 5, 1, 4);
    assert_conv(40, 40, 30, 3, 2, 40);
    assert_plain();
    assert_pool();
    assert_gemm();
    assert_deconv();
}

/* --- Listings: what the paper prints for l1 on NEURAghe --- */

struct bench {
    struct ig_platform *board;
    struct ig_layer layer;
    struct ig_nest nest;
};

static struct bench on(const char *board, struct ig_conv_size size)
{
    struct bench b = {.board = board_read(board)};
    ig_layer_conv(&b.layer, &size);
    return b;
}

static void assert_text(const struct bench *b, int listing, const char *name)
{
    char *text, path[64];
    size_t n;
    FILE *f = open_memstream(&text, &n);
    ig_explain_nest(f, &b->nest, listing);
    fclose(f);
    snprintf(path, sizeof path, "planner/%s.txt", name);
    assert_int_equal(golden_check(path, text), 0);
    free(text);
}

static void refine_listing3(void **state)
{
    struct bench b = on("neuraghe", l1);
    (void)state;
    ig_nest_start(&b.nest, &b.layer, b.board, &b.board->processors[0]);
    const int order[] = {IG_IF, IG_OF, IG_FH, IG_FW, IG_KH, IG_KW}; /* Table 4 leaves KW out: level 5, as printed */
    for (int level = 0; level < IG_LOOPS; level++) assert_int_equal(b.nest.level[order[level]], level);
    assert_loops(&b.layer, LOOPS(512, 128, 28, 28, 1, 1));
    assert_int_equal(ig_layer_ops(&b.layer), 102760448);
    assert_text(&b, IG_LISTING_ORDER, "listing3");
    free(b.board);
}

static void refine_listing4(void **state)
{
    struct bench b = on("neuraghe", l1);
    (void)state;
    ig_nest_start(&b.nest, &b.layer, b.board, &b.board->processors[0]);
    assert_int_equal(b.nest.t[IG_IF], 15);
    assert_int_equal(b.nest.p[IG_IF], 9);
    assert_int_equal(b.nest.t[IG_OF], 52);
    assert_int_equal(b.nest.p[IG_OF], 10);
    assert_int_equal(b.nest.t[IG_FH], 28);
    assert_int_equal(b.nest.t[IG_FW], 7);
    assert_int_equal(b.nest.p[IG_FW], 4);
    assert_text(&b, IG_LISTING_LANES, "listing4");
    free(b.board);
}

static void refine_listing5(void **state)
{
    struct bench b = on("neuraghe", l1);
    (void)state;
    ig_nest_start(&b.nest, &b.layer, b.board, &b.board->processors[0]);
    assert_int_equal(ig_nest_bytes(&b.nest, IG_X), 9 * 28 * 7 * 4 * 2);
    assert_int_equal(ig_nest_bytes(&b.nest, IG_W), 9 * 52 * 10 * (1 * 1 + 1) * 2);
    assert_int_equal(ig_nest_bytes(&b.nest, IG_Y), 815360);
    assert_text(&b, IG_LISTING_TRANSFERS, "listing5");
    free(b.board);
}

static void refine_listing6(void **state)
{
    struct bench b = on("neuraghe", l1);
    (void)state;
    assert_true(ig_nest_refine(&b.nest, &b.layer, b.board, &b.board->processors[0]));
    assert_int_equal(b.nest.tiles[IG_OF], 6);
    assert_int_equal(b.nest.t[IG_OF], 9);
    assert_int_equal(b.nest.last[IG_OF], 7);
    assert_int_equal(b.nest.tiles[IG_FH], 1);
    assert_int_equal(ig_nest_bytes(&b.nest, IG_W), 9 * 9 * 10 * (1 * 1 + 1) * 2);
    assert_int_equal(ig_nest_bytes(&b.nest, IG_Y), 141120);
    /* The paper's product has six full tiles, 114307200; its value, 110.07e6, has the last one cut short. */
    assert_int_equal(ig_nest_ops(&b.nest), 110073600);
    assert_text(&b, IG_LISTING_TILES, "listing6");
    free(b.board);
}

static void infeasible_named(void **state)
{
    struct bench b = on("neuraghe", (struct ig_conv_size){3, 16, 512, 512, 512, 512, 11, 1, 1});
    char *text;
    size_t n;
    (void)state;
    assert_false(ig_nest_refine(&b.nest, &b.layer, b.board, &b.board->processors[0]));
    assert_int_equal(b.nest.infeasible, IG_X);
    ig_nest_tile(&b.nest, IG_FH, 1);
    assert_int_equal(ig_nest_bytes(&b.nest, IG_X), 11 * 522 * 9 * 2); /* one row of windows, of 73728 B */
    struct ig_analysis a;
    ig_nest_refine(&b.nest, &b.layer, b.board, &b.board->processors[0]);
    ig_analyse(&a, &b.nest);
    FILE *f = open_memstream(&text, &n);
    ig_explain_analysis(f, &b.nest, &a);
    fclose(f);
    assert_non_null(strstr(text, "infeasible: X does not fit memory 0"));
    free(text);
    int columns = 1 << IG_OF | 1 << IG_FH;
    assert_false(ig_nest_best(&b.nest, &b.layer, b.board, &b.board->processors[0], columns));
    assert_true(ig_nest_best(&b.nest, &b.layer, b.board, &b.board->processors[0], columns | 1 << IG_FW));
    assert_true(b.nest.tiles[IG_FW] > 1);
    free(b.board);
    b = on("tx2", l1);
    assert_true(ig_nest_refine(&b.nest, &b.layer, b.board, &b.board->processors[0]));
    assert_int_equal(b.nest.not_limitable, 1 << IG_X);
    ig_analyse(&a, &b.nest);
    f = open_memstream(&text, &n);
    ig_explain_analysis(f, &b.nest, &a);
    fclose(f);
    assert_non_null(strstr(text, "X (401408 B) exceeds memory 1 (131072 B), not limitable"));
    free(text);
    free(b.board);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(tensor_from_layer), cmocka_unit_test(refine_listing3),
                                       cmocka_unit_test(refine_listing4),   cmocka_unit_test(refine_listing5),
                                       cmocka_unit_test(refine_listing6),   cmocka_unit_test(infeasible_named)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
