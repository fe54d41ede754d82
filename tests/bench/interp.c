/* The interpreter on small graphs, and the comparison of its results with expected ones. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bench/compare.h"
#include "bench/interp.h"
#include "bench/testset.h"
#include "tests/support/node.h"

static int32_t add_unary(struct ig_graph *g, enum ig_unary kind, float alpha, int32_t in)
{
    int32_t out = ig_add_value(g, "y", &g->values[in].shape);
    struct ig_node *n = ig_add_node(g, NULL, IG_UNARY, 1, 1);
    n->in[0] = in;
    n->out[0] = out;
    n->attrs.unary.act = (struct ig_act){kind, alpha, 0};
    return out;
}

struct seen {
    int32_t n;
    float first;
};

static void watch(void *context, int32_t value, const void *data)
{
    struct seen *s = context;
    (void)value;
    if (s->n++ == 0) s->first = *(const float *)data;
}

/* x -> |x| -> 2|x| + constant; outputs: the sum, |x| (which the sum reads too), x itself. */
static void chain(void **state)
{
    (void)state;
    struct ig_graph *g = ig_graph_new("chain");
    struct ig_shape s = SHAPE(IG_F32, 2);
    float x[2] = {-1, 3}, sum[2], magnitude[2], same[2], bias[2] = {10, 20};
    int32_t in = ig_add_value(g, "x", &s), constant = ig_add_const(g, "b", &s, bias);
    ig_add_input(g, in);
    int32_t abs = add_unary(g, IG_ABS, 0, in), twice = add_unary(g, IG_AFFINE, 2, abs);
    int32_t out = ig_add_value(g, "sum", &s);
    struct ig_node *n = ig_add_node(g, NULL, IG_BINARY, 2, 1);
    n->in[0] = twice, n->in[1] = constant, n->out[0] = out;
    n->attrs.binary.kind = IG_ADD;
    ig_add_output(g, out);
    ig_add_output(g, abs);
    ig_add_output(g, in);
    g->channels_last = 1;
    struct seen seen = {0, 0};
    assert_int_equal(
        ig_interp_watched(g, (const void *[]){x}, (void *[]){sum, magnitude, same}, watch, &seen), 0);
    assert_memory_equal(sum, ((float[]){12, 26}), sizeof sum);
    assert_memory_equal(magnitude, ((float[]){1, 3}), sizeof magnitude);
    assert_memory_equal(same, x, sizeof same);
    assert_int_equal(seen.n, 3);
    assert_float_equal(seen.first, 1, 0);
    g->nodes[1].op = IG_REDUCE; /* no kernel reduces to f16 */
    g->values[twice].shape.type = IG_F16;
    assert_int_equal(ig_interp(g, (const void *[]){x}, (void *[]){sum, magnitude, same}), 2);
    ig_graph_free(g);
}

static int compare(const float *got, double *error)
{
    const float ref[3] = {100, 0, -INFINITY};
    struct ig_shape s = SHAPE(IG_F32, 3);
    char err[256];
    *error = 0;
    return ig_compare(&s, got, &s, ref, &ig_node_tolerance, error, err, sizeof err);
}

static void tolerance(void **state)
{
    (void)state;
    double error;
    assert_int_equal(compare((float[]){100.1f, -0.0009f, -INFINITY}, &error), 0);
    assert_float_equal(error, 0.1, 1e-5);
    assert_int_equal(compare((float[]){100.2f, 0, -INFINITY}, &error), -1);
    assert_int_equal(compare((float[]){100, 0.0011f, -INFINITY}, &error), -1);
    assert_int_equal(compare((float[]){NAN, 0, -INFINITY}, &error), -1);
    assert_int_equal(compare((float[]){100, 0, INFINITY}, &error), -1);
    assert_int_equal(compare((float[]){100, 0, -3e38f}, &error), -1);
}

static void binding(void **state)
{
    (void)state;
    struct ig_testset t = {.n_in = 3,
                           .in = {{.name = "x", .shape = SHAPE(IG_F32, 2, 2)},
                                  {.name = "shape", .shape = SHAPE(IG_I64, 2)},
                                  {.name = "w", .shape = SHAPE(IG_F32, 2, 2)}}};
    struct ig_bind binds[IG_TESTSET_TENSORS];
    for (int i = 0; i < 3; i++) t.in[i].data = &t;
    assert_int_equal(ig_testset_bind(&t, 0, binds), 0);
    assert_int_equal(ig_testset_bind(&t, 1, binds), 1);
    assert_null(binds[0].data);
    assert_string_equal(binds[1].name, "shape");
    assert_ptr_equal(binds[1].data, &t);
    assert_null(binds[2].data);
    assert_int_equal(ig_testset_bind(&t, 2, binds), 2);
    assert_null(binds[0].data);
    assert_int_equal(ig_testset_bind(&t, 3, binds), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chain),
        cmocka_unit_test(tolerance),
        cmocka_unit_test(binding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
