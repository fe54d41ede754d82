/* The fold_affine pass: what it folds where, what it must leave alone, and that the numbers stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graph/late.h"
#include "tests/support/improve.h"

static int32_t deconv(struct ig_graph *g, int32_t x, int32_t oc, int32_t groups) {
    int32_t ic = g->values[x].shape.dims[3], in[2] = {x, build_const(g, DIMS(ic, oc / groups, 3, 3))};
    return build_node(g, IG_DECONV, ATTRS(.conv = {.w = build_window(3, 2, 1), .groups = groups}), 2, in,
                      NULL);
}

/* producer, then mul, add, sub, div and neg on it: all gone. */
static void affine_after(struct ig_graph *g, int32_t y) {
    const struct ig_shape *s = &g->values[y].shape;
    int32_t c = s->dims[s->rank - 1];
    y = binary(g, IG_MUL, y, build_const(g, DIMS(c)));
    y = binary(g, IG_ADD, build_const(g, DIMS(1, c)), y);
    y = binary(g, IG_SUB, build_const(g, DIMS(c)), y);
    y = binary(g, IG_DIV, y, build_scalar(g, 3));
    y = binary(g, IG_SUB, y, build_const(g, DIMS(c)));
    build_output(g, act(g, IG_NEG, 0, 0, y), "y");
    assert_true(improve_fully(g, ig_pass_fold_affine) > 0);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

static void affine_folds_into_the_op_before(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    affine_after(g, build_conv(g, image(g), 6, 3, 1, 1, 2));
    g = empty();
    affine_after(g, deconv(g, image(g), 6, 2)); /* without a bias */
    g = empty();
    affine_after(g, fc(g, build_input(g, "x", DIMS(2, 7)), 5));
}

static void affine_folds_into_the_op_after(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x =
        binary(g, IG_ADD, binary(g, IG_MUL, image(g), build_const(g, DIMS(4))), build_const(g, DIMS(4)));
    build_output(g, build_conv(g, x, 6, 3, 1, 0, 2), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
    g = empty();
    x = binary(g, IG_SUB, build_input(g, "x", DIMS(3, 4)), build_const(g, DIMS(4)));
    build_output(g, fc(g, x, 2), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

/* Weights of a large file, which are not there until they are asked for. */
static void an_offset_meets_late_weights(void **state) {
    (void)state;
    struct ig_graph *now = empty(), *g;
    int32_t x = binary(now, IG_ADD, build_input(now, "x", DIMS(3, 4)), build_const(now, DIMS(4)));
    build_output(now, fc(now, x, 2), "y");
    g = ig_graph_clone(now);
    const int32_t w = g->nodes[1].in[1];
    void *data = ig_graph_alloc(g, 8 * sizeof(float)); /* zeros */
    FILE *f = tmpfile();
    assert_true(f && fwrite(g->values[w].data, sizeof(float), 8, f) == 8 && !fflush(f));
    g->values[w].data = data;
    assert_int_equal(ig_late_add(g, data, fileno(f), 0, 8 * sizeof(float)), 0);
    fclose(f);
    assert_int_equal(ig_pass_fold_affine(now), ig_pass_fold_affine(g));
    assert_int_equal(g->n_nodes, 1);
    assert_memory_equal(g->values[g->nodes[0].in[2]].data, now->values[now->nodes[0].in[2]].data, 2 * sizeof(float));
    ig_graph_free(g);
    ig_graph_free(now);
}

static void padding_keeps_an_offset_out(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x =
        binary(g, IG_MUL, binary(g, IG_ADD, image(g), build_const(g, DIMS(4))), build_const(g, DIMS(4)));
    build_output(g, build_conv(g, x, 6, 3, 1, 1, 1), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 2); /* x' + offset, and the convolution with the scale in it */
    assert_int_equal(g->nodes[0].attrs.binary.kind, IG_ADD);
    ig_graph_free(g);
}

static void affine_respects_other_readers(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t a = build_conv(g, image(g), 6, 3, 1, 1, 1), b = build_conv(g, g->inputs[0], 6, 1, 1, 0, 1);
    build_output(g, binary(g, IG_MUL, a, build_const(g, DIMS(6))), "y");
    build_output(g, act(g, IG_SIN, 0, 0, a), "other"); /* a is read twice */
    build_output(g, b, "out");                         /* b is an output */
    build_output(g, binary(g, IG_MUL, b, build_const(g, DIMS(6))), "z");
    assert_int_equal(improve(g, ig_pass_fold_affine), 0);
    ig_graph_free(g);
}

static void shared_weights_get_a_copy(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = build_conv(g, x, 6, 3, 1, 1, 1),
            in[3] = {x, g->nodes[0].in[1], g->nodes[0].in[2]};
    int32_t b = build_node(g, IG_CONV, &g->nodes[0].attrs, 3, in, NULL);
    build_output(g, binary(g, IG_MUL, a, build_const(g, DIMS(6))), "scaled");
    build_output(g, b, "plain");
    assert_int_equal(improve(g, ig_pass_fold_affine), 1);
    assert_int_not_equal(g->nodes[0].in[1], g->nodes[1].in[1]);
    ig_graph_free(g);
}

static void a_residual_is_not_scaled(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), in[4] = {x, build_const(g, DIMS(4, 4, 1, 1)), -1, x};
    int32_t a = build_node(g, IG_CONV, ATTRS(.conv = {.w = build_window(1, 1, 0), .groups = 1}), 4, in, NULL);
    int32_t b = binary(g, IG_ADD, a, build_const(g, DIMS(4)));
    build_output(g, binary(g, IG_MUL, b, build_const(g, DIMS(4))), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(g->nodes[1].attrs.binary.kind, IG_MUL);
    ig_graph_free(g);
}

static void affine_chains_shrink(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = binary(g, IG_MUL, x, build_const(g, DIMS(4)));
    for (int i = 0; i < 3; i++)
        a = binary(g, i % 2 ? IG_MUL : IG_ADD, a, build_const(g, DIMS(4)));
    build_output(g, a, "vector");
    int32_t b = binary(g, IG_DIV, x, build_scalar(g, 255));
    build_output(g, binary(g, IG_SUB, b, build_scalar(g, 0.5f)), "scalar");
    build_output(g, binary(g, IG_MUL, binary(g, IG_ADD, x, build_const(g, DIMS(5, 4))), build_scalar(g, 2)),
                 "plane");
    build_output(g, binary(g, IG_ADD, build_input(g, "c", DIMS(4)), build_const(g, DIMS(2, 4))), "grows");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(build_count(g, IG_BINARY), 2 + 1 + 1); /* mul, add; plane; grows */
    assert_int_equal(build_count(g, IG_UNARY), 2);          /* scalar; plane's factor */
    ig_graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(affine_folds_into_the_op_before),
        cmocka_unit_test(affine_folds_into_the_op_after),
        cmocka_unit_test(an_offset_meets_late_weights),
        cmocka_unit_test(padding_keeps_an_offset_out),
        cmocka_unit_test(affine_respects_other_readers),
        cmocka_unit_test(shared_weights_get_a_copy),
        cmocka_unit_test(a_residual_is_not_scaled),
        cmocka_unit_test(affine_chains_shrink),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
