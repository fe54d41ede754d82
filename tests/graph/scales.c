/* Products of integers that become floats at once, bit for bit what the nodes behind them gave. */
#include "tests/support/improve.h"

struct quantised {
    int32_t bytes, scale, zero;
};

/* x by its own extremes. */
static struct quantised quantised(struct ig_graph *g, int32_t x)
{
    const struct ig_shape one = build_shape(IG_F32, 0, NULL);
    struct ig_shape bytes = g->values[x].shape, zero = one;
    bytes.type = zero.type = IG_U8;
    const struct quantised q = {ig_add_value(g, "bytes", &bytes), ig_add_value(g, "scale", &one), ig_add_value(g, "zero", &zero)};
    struct ig_node *n = ig_add_node(g, "quantise", IG_DYNAMIC_QUANTIZE, 1, 3);
    n->in[0] = x;
    n->out[0] = q.bytes, n->out[1] = q.scale, n->out[2] = q.zero;
    for (int k = 0; k < 3; k++) g->values[n->out[k]].producer = g->n_nodes - 1;
    return q;
}

static int32_t byte_const(struct ig_graph *g, int32_t rank, const int32_t *dims)
{
    const struct ig_shape s = build_shape(IG_U8, rank, dims);
    return ig_add_const(g, "w", &s, NULL);
}

static int32_t weights(struct ig_graph *g, int32_t rank, const int32_t *dims)
{
    const int32_t v = byte_const(g, rank, dims);
    uint8_t *w = (uint8_t *)(uintptr_t)g->values[v].data;
    for (int64_t i = 0; i < ig_count(&g->values[v].shape); i++) w[i] = (uint8_t)(i * 37 % 251);
    return v;
}

/* Sums of [6,5] by [5,7]. */
static int32_t product(struct ig_graph *g, const struct quantised *q)
{
    const struct ig_shape y = build_shape(IG_I32, DIMS(6, 7));
    return build_node(g, IG_MATMUL_INTEGER, NULL, 4, (int32_t[]){q->bytes, weights(g, DIMS(5, 7)), q->zero, byte_const(g, 0, NULL)}, &y);
}

/* Sums of an image of four channels by 3x3 windows to three. */
static int32_t convolution(struct ig_graph *g, const struct quantised *q)
{
    struct ig_shape y = g->values[q->bytes].shape;
    y.type = IG_I32, y.dims[3] = 3;
    return build_node(g, IG_CONV_INTEGER, ATTRS(.conv = {.w = build_window(3, 1, 1), .groups = 1}), 3,
                      (int32_t[]){q->bytes, weights(g, DIMS(3, 4, 3, 3)), q->zero}, &y);
}

static int32_t as_floats(struct ig_graph *g, int32_t sums)
{
    struct ig_shape y = g->values[sums].shape;
    y.type = IG_F32;
    return build_node(g, IG_CAST, NULL, 1, &sums, &y);
}

static int32_t scaled(struct ig_graph *g, int32_t sums, int32_t scale)
{
    return binary(g, IG_MUL, as_floats(g, sums), scale);
}

static const struct ig_node *the_product(const struct ig_graph *g)
{
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == IG_CONV_INTEGER || g->nodes[i].op == IG_MATMUL_INTEGER) return &g->nodes[i];
    return NULL;
}

static void scales_and_bias_go_into_a_product(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    const struct quantised q = quantised(g, build_input(g, "x", DIMS(6, 5)));
    const int32_t y = scaled(g, product(g, &q), binary(g, IG_MUL, q.scale, build_const(g, DIMS(7))));
    build_output(g, act(g, IG_RELU, 0, 0, binary(g, IG_ADD, build_const(g, DIMS(1, 7)), y)), "y");
    assert_int_equal(improve_within(g, ig_pass_scales, 0), 2);
    assert_int_equal(improve_within(g, ig_pass_fuse_activation, 0), 1);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(the_product(g)->in[4], q.scale);
    assert_int_equal(the_product(g)->attrs.fc.act.kind, IG_RELU);
    ig_graph_free(g);
}

static void scales_and_bias_go_into_a_convolution(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    const struct quantised q = quantised(g, image(g));
    const int32_t y = scaled(g, convolution(g, &q), binary(g, IG_MUL, build_scalar(g, 0.37f), q.scale));
    const int32_t sum = binary(g, IG_ADD, y, build_const(g, DIMS(3)));
    g->nodes[g->n_nodes - 1].attrs.binary.act = (struct ig_act){.kind = IG_HARD_SWISH};
    build_output(g, sum, "y");
    assert_int_equal(improve_within(g, ig_pass_scales, 0), 2);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(the_product(g)->n_in, 7);
    assert_int_equal(the_product(g)->attrs.conv.act.kind, IG_HARD_SWISH);
    ig_graph_free(g);
}

/* As the layout pass leaves scales that ONNX has as [3,1,1]. */
static void scales_of_another_shape_go_in(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    const struct quantised q = quantised(g, build_input(g, "x", DIMS(1, 3, 5, 4)));
    const int32_t scales = binary(g, IG_MUL, q.scale, build_const(g, DIMS(3, 1, 1)));
    build_output(g, scaled(g, convolution(g, &q), build_reshape(g, scales, DIMS(1, 1, 1, 3))), "y");
    build_output(g, scaled(g, convolution(g, &q), scales), "by_row");
    build_output(g, scaled(g, convolution(g, &q), build_reshape(g, scales, DIMS(1, 3, 1, 1))), "by_row_too");
    assert_int_equal(improve_within(g, ig_pass_scales, 0), 1);
    assert_int_equal(build_count(g, IG_CAST), 2);
    assert_int_equal(ig_count(&g->values[the_product(g)->in[5]].shape), 3);
    ig_graph_free(g);
}

/* One number that is found when the network runs is the input's scale, the weights have none then. */
static void a_scale_alone_goes_in(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    const struct quantised q = quantised(g, image(g));
    build_output(g, scaled(g, convolution(g, &q), q.scale), "y");
    assert_int_equal(improve_within(g, ig_pass_scales, 0), 1);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(the_product(g)->in[5], -1);
    ig_graph_free(g);
}

static void what_would_round_otherwise_stays(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    const struct quantised q = quantised(g, image(g));
    build_output(g, scaled(g, convolution(g, &q), build_const(g, DIMS(1, 6, 5, 3))), "constant");
    build_output(g, scaled(g, convolution(g, &q), build_input(g, "scales", DIMS(3))), "found_by_channel");
    build_output(g, scaled(g, convolution(g, &q), binary(g, IG_MUL, q.scale, build_const(g, DIMS(5, 3)))), "by_column");
    const int32_t sums = convolution(g, &q);
    build_output(g, scaled(g, sums, q.scale), "sums_read_twice");
    build_output(g, sums, "sums");
    assert_int_equal(improve_within(g, ig_pass_scales, 0), 0);
    ig_graph_free(g);
}

static void a_bias_that_is_none_stays(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    const struct quantised q = quantised(g, image(g));
    build_output(g, binary(g, IG_ADD, scaled(g, convolution(g, &q), q.scale), build_const(g, DIMS(1, 1, 5, 3))), "by_column");
    build_output(g, binary(g, IG_ADD, act(g, IG_RELU, 0, 0, scaled(g, convolution(g, &q), q.scale)), build_const(g, DIMS(3))), "later");
    assert_int_equal(improve_within(g, ig_pass_scales, 0), 2);
    assert_int_equal(build_count(g, IG_BINARY), 2);
    ig_graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_and_bias_go_into_a_product),
        cmocka_unit_test(scales_and_bias_go_into_a_convolution),
        cmocka_unit_test(scales_of_another_shape_go_in),
        cmocka_unit_test(a_scale_alone_goes_in),
        cmocka_unit_test(what_would_round_otherwise_stays),
        cmocka_unit_test(a_bias_that_is_none_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
