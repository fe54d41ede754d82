/* What computes nothing goes: identities, pairs of transposes, operands that repeat by themselves; what only looks like it stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/improve.h"
#include "tests/support/rng.h"

static void identities_go(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = act(g, IG_ABS, 0, 0, image(g)), a = act(g, IG_NONE, 0, 0, x);
    a = build_like(g, IG_SLICE, ATTRS(.slice = {.step = {1, 1, 1, 1}}), a);
    a = build_1(g, IG_PAD, ATTRS(.pad = {.value = 1}), a);
    a = build_reshape(g, a, DIMS(1, 6, 5, 4));
    a = build_1(g, IG_CAST, NULL, a);
    a = build_1(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), a);
    a = build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(1, 1, 0)}), a);
    a = binary(g, IG_MUL, build_scalar(g, 1), a);
    a = binary(g, IG_SUB, a, build_scalar(g, 0));
    build_output(g, build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 1, 2, 3}}), a), "y");
    assert_int_equal(improve_fully(g, ig_pass_identity), 10);
    assert_int_equal(g->n_nodes, 1);
    assert_string_equal(g->values[g->outputs[0]].name, "y");
    ig_graph_free(g);
}

static void lookalikes_of_identities_stay(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = act(g, IG_ABS, 0, 0, build_input(g, "x", DIMS(1, 5, 5, 4)));
    build_output(g, build_like(g, IG_SLICE, ATTRS(.slice = {.start = {0, 4}, .step = {1, -1, 1, 1}}), x),
                 "flip");
    build_output(g, build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 2, 1, 3}}), x), "turn");
    build_output(g, binary(g, IG_SUB, build_scalar(g, 0), x), "negate");
    build_output(g, binary(g, IG_DIV, build_scalar(g, 1), act(g, IG_AFFINE, 1, 1, x)), "reciprocal");
    int32_t same = act(g, IG_NONE, 0, 0, g->inputs[0]);
    build_output(g, same, "input_as_output");
    assert_int_equal(improve(g, ig_pass_identity), 0);
    ig_graph_free(g);
}

static void pairs_of_transposes_merge(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    int32_t b = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 2, 3, 1}}), a);
    build_output(g, act(g, IG_RELU, 0, 0, b), "back");
    build_output(g, build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 1, 3, 2}}), a), "on");
    improve_fully(g, ig_pass_identity);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 1);
    ig_graph_free(g);
}

/* Some order of x's dims. */
static int32_t transposed(struct ig_graph *g, struct rng *r, int32_t x) {
    union ig_attrs a = {.transpose = {{0, 1, 2, 3, 4, 5, 6, 7}}};
    for (int32_t i = g->values[x].shape.rank - 1; i > 0; i--) {
        int32_t j = rng_int(r, 0, i), d = a.transpose.perm[i];
        a.transpose.perm[i] = a.transpose.perm[j];
        a.transpose.perm[j] = d;
    }
    return build_1(g, IG_TRANSPOSE, &a, x);
}

/* Neighbouring dims joined at random, or some of them split. */
static struct ig_shape reshaped(struct rng *r, const struct ig_shape *x, int joins) {
    struct ig_shape s = {.type = x->type};
    for (int32_t d = 0; d < x->rank; d++) {
        int32_t n = x->dims[d], part = RNG_OF(r, 1, 2, 3, 4);
        if (joins && s.rank && rng_one_in(r, 2)) {
            s.dims[s.rank - 1] *= n;
            continue;
        }
        if (!joins && n % part == 0 && rng_one_in(r, 2)) s.dims[s.rank++] = part, n /= part;
        s.dims[s.rank++] = n;
    }
    return s;
}

/* Transposition, reshape, transposition: one is left, or none. */
static void transposes_around_a_reshape_are_one(void **state) {
    struct rng r = {1};
    (void)state;
    for (int i = 0; i < 400; i++) {
        struct ig_graph *g = empty();
        int32_t dims[6], joins = i % 2, rank = joins ? rng_int(&r, 2, 6) : rng_int(&r, 2, 4);
        for (int32_t d = 0; d < rank; d++) dims[d] = joins ? rng_int(&r, 1, 4) : RNG_OF(&r, 1, 2, 3, 4, 6, 8);
        int32_t y = transposed(g, &r, build_input(g, "x", rank, dims));
        const struct ig_shape to = reshaped(&r, &g->values[y].shape, joins);
        build_output(g, transposed(g, &r, build_reshape(g, y, to.rank, to.dims)), "y");
        for (int n = 1; n;) n = improve(g, ig_pass_identity) + improve(g, ig_pass_transposes);
        assert_true(build_count(g, IG_TRANSPOSE) <= 1);
        ig_graph_free(g);
    }
}

/* A reshape that does both; one in the middle that is read by others. */
static void transposes_that_need_each_other_stay(void **state) {
    struct ig_graph *g = empty();
    union ig_attrs turn = {.transpose = {{1, 0}}};
    int32_t x = build_input(g, "x", DIMS(4, 6)), y = build_reshape(g, build_1(g, IG_TRANSPOSE, &turn, x), DIMS(8, 3));
    (void)state;
    build_output(g, build_1(g, IG_TRANSPOSE, &turn, y), "y");
    y = build_reshape(g, build_1(g, IG_TRANSPOSE, &turn, x), DIMS(3, 2, 4));
    build_output(g, y, "read");
    build_output(g, build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {2, 0, 1}}), y), "once");
    assert_int_equal(improve(g, ig_pass_transposes), 0);
    ig_graph_free(g);
}

static void a_transpose_of_size_1_dims_is_a_reshape(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(1, 1, 1, 4));
    int32_t a = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    build_output(g, build_reshape(g, a, DIMS(1, 4)), "y");
    improve_fully(g, ig_pass_identity);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->nodes[0].op, IG_RESHAPE);
    ig_graph_free(g);
}

static int32_t expand(struct ig_graph *g, int32_t x, int32_t rank, const int32_t *dims) {
    struct ig_shape to = {.type = IG_F32, .rank = rank};
    for (int i = 0; i < IG_MAX_RANK; i++) to.dims[i] = i < rank ? dims[i] : 1;
    return build_node(g, IG_EXPAND, NULL, 1, &x, &to);
}

/* As torch writes x / |x|. */
static void operands_repeat_by_themselves(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(2, 3, 4)), row = build_input(g, "row", DIMS(4)), column = build_input(g, "column", DIMS(3, 1));
    build_output(g, binary(g, IG_DIV, x, expand(g, column, DIMS(2, 3, 4))), "all");
    build_output(g, binary(g, IG_SUB, expand(g, row, DIMS(3, 4)), expand(g, column, DIMS(3, 4))), "both");
    improve_fully(g, ig_pass_identity);
    assert_int_equal(build_count(g, IG_EXPAND), 0);
    ig_graph_free(g);
}

static void operands_that_make_the_shape_stay(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(3, 4)), row = build_input(g, "row", DIMS(4)), slope = build_input(g, "slope", DIMS(3, 4));
    build_output(g, binary(g, IG_ADD, x, expand(g, row, DIMS(2, 3, 4))), "rank");
    build_output(g, binary(g, IG_MUL, expand(g, row, DIMS(3, 4)), row), "rows");
    build_output(g, binary(g, IG_PRELU, expand(g, row, DIMS(3, 4)), slope), "prelu");
    assert_int_equal(improve(g, ig_pass_identity), 0);
    ig_graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities_go),
        cmocka_unit_test(lookalikes_of_identities_stay),
        cmocka_unit_test(pairs_of_transposes_merge),
        cmocka_unit_test(transposes_around_a_reshape_are_one),
        cmocka_unit_test(transposes_that_need_each_other_stay),
        cmocka_unit_test(a_transpose_of_size_1_dims_is_a_reshape),
        cmocka_unit_test(operands_repeat_by_themselves),
        cmocka_unit_test(operands_that_make_the_shape_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
