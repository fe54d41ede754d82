/* Large tensors that are quantised by their own extremes: the same bytes, scale and zero point by nodes that threads share. */
#include "tests/support/improve.h"

/* x by its own extremes; all three are outputs. */
static void quantise(struct ig_graph *g, int32_t x)
{
    const struct ig_shape one = build_shape(IG_F32, 0, NULL);
    struct ig_shape bytes = g->values[x].shape, zero = one;
    bytes.type = zero.type = IG_U8;
    const int32_t out[3] = {ig_add_value(g, "bytes", &bytes), ig_add_value(g, "scale", &one), ig_add_value(g, "zero", &zero)};
    struct ig_node *n = ig_add_node(g, "quantise", IG_DYNAMIC_QUANTIZE, 1, 3);
    n->in[0] = x;
    for (int k = 0; k < 3; k++) {
        n->out[k] = out[k];
        g->values[out[k]].producer = g->n_nodes - 1;
        build_output(g, out[k], g->values[out[k]].name);
    }
}

static void large_ones_are_shared(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    quantise(g, build_input(g, "x", DIMS(1, 130, 127, 1)));
    assert_int_equal(improve_within(g, ig_pass_extremes, 0), 1);
    assert_int_equal(g->n_nodes, 3);
    assert_int_equal(build_count(g, IG_EXTREMES), 1);
    assert_int_equal(build_count(g, IG_DYNAMIC_QUANTIZE), 1);
    assert_int_equal(build_count(g, IG_QUANTIZE), 1);
    assert_int_equal(improve_within(g, ig_pass_extremes, 0), 0);
    ig_graph_free(g);
}

static void small_ones_stay(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    quantise(g, image(g));
    assert_int_equal(improve_within(g, ig_pass_extremes, 0), 0);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(large_ones_are_shared), cmocka_unit_test(small_ones_stay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
