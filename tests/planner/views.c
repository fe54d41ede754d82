/* Which values become views, where copies go, and that what runs on views computes the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/nets.h"

static struct ig_view *views_of(const struct ig_graph *g)
{
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    ig_compute_views(g, views);
    return views;
}

static void assert_view(const struct ig_view *views, int32_t v, int32_t root, int64_t offset, int64_t row,
                        int64_t pixel)
{
    assert_int_equal(views[v].root, root);
    assert_int_equal(views[v].offset, offset);
    assert_int_equal(views[v].row_stride, row);
    assert_int_equal(views[v].pixel_stride, pixel);
}

/* Every concat, slice and reshape of the prepared graph is a view (all), or so many are not. */
static int kernels_that_move(const struct ig_graph *g)
{
    struct ig_view *views = views_of(g);
    int n = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int32_t op = g->nodes[i].op;
        if (op == IG_CONCAT || op == IG_SLICE || op == IG_RESHAPE) n += !ig_node_is_view(g, views, i);
    }
    test_free(views);
    return n;
}

static void concat_of_channels(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 2, 5, 6, 3);
    int32_t a = net_conv(g, x, 4, 1, 1, -1), b = net_conv(g, x, 8, 3, 1, -1), c = NET_CONCAT(g, 3, a, b);
    (void)state;
    ig_add_output(g, c);
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 0);
    struct ig_view *views = views_of(g);
    assert_view(views, c, c, 0, 6 * 12, 12);
    assert_view(views, a, c, 0, 6 * 12, 12);
    assert_view(views, b, c, 4, 6 * 12, 12);
    test_free(views);
    ig_graph_free(g);
}

static void concat_of_columns_and_rows(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 5, 6, 3);
    int32_t a = net_conv(g, x, 4, 1, 1, -1), b = net_conv(g, x, 4, 1, 1, -1), w = NET_CONCAT(g, 2, a, b);
    int32_t c = net_conv(g, x, 4, 1, 1, -1), d = net_conv(g, x, 4, 1, 1, -1), h = NET_CONCAT(g, 1, c, d);
    (void)state;
    ig_add_output(g, w);
    ig_add_output(g, h);
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 0);
    struct ig_view *views = views_of(g);
    assert_view(views, a, w, 0, 12 * 4, 4);
    assert_view(views, b, w, 6 * 4, 12 * 4, 4);
    assert_view(views, c, h, 0, 6 * 4, 4);
    assert_view(views, d, h, 5 * 6 * 4, 6 * 4, 4);
    test_free(views);
    ig_graph_free(g);
}

static void slices(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, 8, 6, 3), 6, 1, 1, -1);
    int32_t c = net_slice(g, x, 3, 2, 3, 1), w = net_slice(g, x, 2, 1, 3, 2), h = net_slice(g, x, 1, 1, 4, 2);
    int32_t s = net_slice(g, x, 3, 0, 3, 2), both = net_slice(g, w, 3, 4, 2, 1);
    (void)state;
    for (int i = 0; i < 5; i++) ig_add_output(g, net_relu(g, (int32_t[]){c, w, h, s, both}[i]));
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 0);
    struct ig_view *views = views_of(g);
    assert_view(views, c, x, 2, 36, 6);
    assert_view(views, w, x, 6, 36, 12);
    assert_view(views, h, x, 36, 72, 6);
    assert_view(views, s, s, 0, 18, 3); /* every other channel: a kernel's work */
    assert_view(views, both, x, 10, 36, 12);
    assert_int_equal(kernels_that_move(g), 1);
    test_free(views);
    ig_graph_free(g);
}

static void copies_where_a_piece_is_taken(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 4, 4, 3), a = net_conv(g, x, 4, 1, 1, -1), b = net_conv(g, x, 4, 1, 1, -1);
    (void)state;
    ig_add_output(g, NET_CONCAT(g, 3, x, a));    /* a graph input */
    ig_add_output(g, NET_CONCAT(g, 3, a, b, b)); /* in two concats; twice in one */
    ig_add_output(g, b);                         /* a graph output */
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 4);
    assert_int_equal(net_count(g, IG_COPY), 4);
    assert_int_equal(kernels_that_move(g), 0);
    ig_graph_free(g);
}

static void copies_for_dense_kernels(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 4, 4, 3), a = net_conv(g, x, 4, 1, 1, -1), b = net_transpose(g, a);
    (void)state;
    ig_add_output(g, NET_CONCAT(g, 3, a, b)); /* transpose reads a and writes b, both dense */
    ig_add_output(g, net_transpose(g, net_slice(g, net_relu(g, x), 3, 1, 2, 1)));
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 3);
    ig_graph_free(g);
}

static void dense_blocks_copy_nothing(void **state)
{
    (void)state;
    for (int chained = 0; chained < 2; chained++) {
        struct ig_graph *g = net_dense(12, chained);
        assert_int_equal(ig_prepare_views(g), 0);
        assert_int_equal(kernels_that_move(g), 0);
        struct ig_view *views = views_of(g);
        int32_t roots = 0;
        for (int32_t i = 0; i < g->n_nodes; i++)
            if (g->nodes[i].op == IG_CONCAT) roots += views[g->nodes[i].out[0]].root == g->nodes[i].out[0];
        assert_int_equal(roots, 1); /* the last concat holds all the others */
        test_free(views);
        ig_graph_free(g);
    }
}

/* Heads of a detector: reshaped, then concatenated along the boxes; one memory, no copies. */
static void reshapes_follow_their_concat(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 8, 8, 3), y = net_pool(g, x, 3, 2), heads[2];
    (void)state;
    heads[0] = net_reshape(g, net_conv(g, x, 8, 3, 1, -1), 3, (const int32_t[]){1, 128, 4});
    heads[1] = net_reshape(g, net_conv(g, y, 8, 3, 1, -1), 3, (const int32_t[]){1, 32, 4});
    int32_t all = net_concat(g, 1, 2, heads);
    ig_add_output(g, all);
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 0);
    struct ig_view *views = views_of(g);
    assert_view(views, g->nodes[g->values[heads[1]].producer].in[0], all, 512, 4 * 8, 8);
    test_free(views);
    ig_graph_free(g);
}

static void reshape_of_strided_piece(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 4, 4, 3), a = net_conv(g, x, 4, 1, 1, -1), b = net_conv(g, x, 4, 1, 1, -1);
    int32_t same_pixels = net_reshape(g, a, 3, (const int32_t[]){1, 16, 4});
    (void)state;
    ig_add_output(g, NET_CONCAT(g, 3, a, b));
    ig_add_output(g, net_softmax(g, same_pixels)); /* strides say it */
    ig_add_output(g, net_fc(g, net_flatten(g, b), 5)); /* they cannot */
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 1);
    assert_int_equal(kernels_that_move(g), 0);
    ig_graph_free(g);
}

static void outputs(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 4, 4, 3), a = net_relu(g, x), flat = net_flatten(g, a);
    (void)state;
    ig_add_output(g, flat);                        /* whole storage through a reshape: none */
    ig_add_output(g, a);                           /* the same storage again */
    ig_add_output(g, net_slice(g, a, 3, 0, 1, 1)); /* a part */
    ig_add_output(g, x);                           /* an input */
    const char *names[] = {g->values[flat].name, g->values[a].name};
    char kept[2][32];
    for (int i = 0; i < 2; i++) strcpy(kept[i], names[i]);
    net_done(g);
    assert_int_equal(ig_prepare_views(g), 3);
    assert_string_equal(g->values[g->outputs[0]].name, kept[0]);
    assert_string_equal(g->values[g->outputs[1]].name, kept[1]);
    assert_string_equal(g->values[g->inputs[0]].name, "input");
    ig_graph_free(g);
}

/* [2,h,w,c] along h is no box of rows: a kernel, in a tree if a call has no room. */
static void concat_that_is_no_view(void **state)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 2, 2, 2, 1), pieces[23];
    char err[256];
    (void)state;
    for (int i = 0; i < 23; i++) pieces[i] = net_scale(g, x);
    ig_add_output(g, net_concat(g, 1, 23, pieces));
    net_done(g);
    void *before[1], *after[1];
    net_run(g, 5, before);
    assert_int_equal(ig_prepare_views(g), 0);
    assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
    assert_int_equal(net_count(g, IG_CONCAT), 3);
    for (int32_t i = 0; i < g->n_nodes; i++) assert_true(g->nodes[i].n_in <= IG_MAX_IN);
    net_run(g, 5, after);
    assert_memory_equal(before[0], after[0], 23 * 2 * 2 * 2 * 4);
    test_free(before[0]);
    test_free(after[0]);
    ig_graph_free(g);
}

/* As above with thousands: of a tree, so that a value is copied as often as the tree is high, not once for every group. */
static void wide_concat_that_is_no_view(void **state)
{
    enum { WIDE = 3000 };
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 2, 1, 1, 1), pieces[WIDE], highest = 0;
    char err[256];
    (void)state;
    for (int i = 0; i < WIDE; i++) pieces[i] = net_scale(g, x);
    ig_add_output(g, net_concat(g, 1, WIDE, pieces));
    net_done(g);
    void *before[1], *after[1];
    net_run(g, 5, before);
    ig_prepare_views(g);
    assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
    int32_t *height = test_calloc((size_t)g->n_values, sizeof *height);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        const struct ig_node *n = &g->nodes[i];
        assert_true(n->n_in <= IG_MAX_IN);
        for (int32_t k = 0; k < n->n_in && n->op == IG_CONCAT; k++)
            if (height[n->in[k]] >= height[n->out[0]]) height[n->out[0]] = height[n->in[k]] + 1;
        if (height[n->out[0]] > highest) highest = height[n->out[0]];
    }
    assert_int_equal(highest, 4); /* 9^3 < 3000 < 9^4 */
    net_run(g, 5, after);
    assert_memory_equal(before[0], after[0], WIDE * 2 * 4);
    test_free(height);
    test_free(before[0]);
    test_free(after[0]);
    ig_graph_free(g);
}

/* Preparing a prepared graph changes nothing: what is written to a file means the same when read back. */
static void prepared_once_is_enough(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 300; seed++) {
        struct rng r = {seed};
        char err[1024];
        struct ig_graph *g = net_random(&r, rng_int(&r, 1, 40));
        ig_prepare_views(g);
        if (ig_graph_check(g, err, sizeof err)) fail_msg("seed %d: %s", (int)seed, err);
        int32_t nodes = g->n_nodes;
        if (ig_prepare_views(g) || g->n_nodes != nodes) fail_msg("seed %d: prepared again", (int)seed);
        ig_graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(concat_of_channels),         cmocka_unit_test(concat_of_columns_and_rows),
        cmocka_unit_test(slices),                     cmocka_unit_test(copies_where_a_piece_is_taken),
        cmocka_unit_test(copies_for_dense_kernels),   cmocka_unit_test(dense_blocks_copy_nothing),
        cmocka_unit_test(reshapes_follow_their_concat), cmocka_unit_test(reshape_of_strided_piece),
        cmocka_unit_test(outputs),                    cmocka_unit_test(concat_that_is_no_view),
        cmocka_unit_test(wide_concat_that_is_no_view), cmocka_unit_test(prepared_once_is_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
