/* graph.c, order.c, check.c: building, sorting, sweeping, cloning and refusing graphs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/builder.h"

/* x -> relu -> y */
static struct ig_graph *small(void) {
    struct ig_graph *g = ig_graph_new("small");
    int32_t x = build_input(g, "x", DIMS(1, 4));
    build_output(g, build_1(g, IG_UNARY, ACT(.kind = IG_RELU), x), "y");
    return g;
}

static void names_are_made_unique(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    struct ig_shape s = build_shape(IG_F32, DIMS(2));
    int32_t a = ig_add_value(g, "v", &s), b = ig_add_value(g, "v", &s), c = ig_add_value(g, "v", &s);
    assert_string_equal(g->values[a].name, "v");
    assert_string_equal(g->values[b].name, "v_1");
    assert_string_equal(g->values[c].name, "v_2");
    assert_string_equal(ig_add_node(g, NULL, IG_CONV, 2, 1)->name, "conv_0");
    assert_string_equal(ig_add_node(g, "conv_0", IG_CONV, 2, 1)->name, "conv_0_1");
    assert_int_equal(g->nodes[1].in[1], -1);
    static const char *const others[] = {"v_4", "v_05", "v_6_", "v_", "w_3", "v_99999999999999999999999"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_string_equal(g->values[ig_add_value(g, others[i], &s)].name, others[i]);
    static const char *const next[] = {"v_3", "v_5", "v_6"}; /* the least that is free */
    for (int i = 0; i < 3; i++)
        assert_string_equal(g->values[ig_add_value(g, "v", &s)].name, next[i]);
    for (int i = 0; i < 8000; i++) /* in no time */
        c = ig_add_value(g, "v", &s);
    assert_string_equal(g->values[c].name, "v_8006");
    ig_graph_free(g);
}

static void memory_is_aligned_and_zeroed(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    for (size_t bytes = 1; bytes < 1 << 20; bytes = bytes * 3 + 1) {
        char *p = ig_graph_alloc(g, bytes);
        assert_int_equal((uintptr_t)p % 64, 0);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(p[i], 0);
        memset(p, 1, bytes);
    }
    ig_graph_free(g);
}

static void arrays_grow(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    char err[256];
    int32_t v = build_input(g, "x", DIMS(3));
    for (int i = 0; i < 1000; i++)
        v = build_1(g, IG_UNARY, ACT(.kind = IG_ABS), v);
    build_output(g, v, "y");
    assert_int_equal(g->n_nodes, 1000);
    assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
    struct ig_graph *copy = ig_graph_clone(g);
    assert_int_equal(ig_graph_check(copy, err, sizeof err), 0);
    assert_ptr_not_equal(copy->nodes[7].in, g->nodes[7].in);
    ig_graph_free(copy);
    ig_graph_free(g);
}

static void clone_shares_constants_only(void **state) {
    (void)state;
    struct ig_graph *g = small();
    int32_t c = build_const(g, DIMS(8)), nodes = g->n_nodes;
    struct ig_graph *copy = ig_graph_clone(g);
    assert_ptr_equal(copy->values[c].data, g->values[c].data);
    build_1(copy, IG_UNARY, ACT(.kind = IG_ABS), 0);
    copy->nodes[0].in[0] = c;
    assert_int_equal(g->n_nodes, nodes);
    assert_int_equal(g->nodes[0].in[0], 0);
    ig_graph_free(copy);
    ig_graph_free(g);
}

static int released;

static void release(void *p, size_t bytes) {
    (void)p;
    released += (int)bytes;
}

static void owned_memory_is_released_once(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    char byte;
    ig_graph_own(g, &byte, 7, release);
    assert_int_equal(released, 0);
    ig_graph_free(g);
    assert_int_equal(released, 7);
}

static void sort_puts_producers_first(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    char err[256];
    int32_t x = build_input(g, "x", DIMS(3));
    int32_t a = build_1(g, IG_UNARY, ACT(.kind = IG_ABS), x),
            b = build_1(g, IG_UNARY, ACT(.kind = IG_EXP), a);
    int32_t late = build_1(g, IG_UNARY, ACT(.kind = IG_SIN), x);
    build_output(g, build_2(g, IG_BINARY, BIN(IG_ADD), a, b), "y");
    g->nodes[0].in[0] = late; /* node 0 now reads what node 2 makes */
    assert_int_equal(ig_graph_check(g, err, sizeof err), -1);
    assert_non_null(strstr(err, "which no earlier node"));
    assert_int_equal(ig_graph_sort(g, err, sizeof err), 0);
    assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
    assert_string_equal(g->nodes[0].name, "unary_2");
    assert_string_equal(g->nodes[1].name, "unary_0");
    assert_int_equal(g->values[late].producer, 0);
    ig_graph_free(g);
}

static void sort_keeps_a_sorted_order(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    char err[256], name[32];
    int32_t v[6] = {build_input(g, "x", DIMS(3))};
    for (int i = 1; i < 6; i++)
        v[i] = build_1(g, IG_UNARY, ACT(.kind = IG_ABS), v[i / 2]);
    for (int i = 1; i < 6; i++)
        ig_add_output(g, v[i]);
    assert_int_equal(ig_graph_sort(g, err, sizeof err), 0);
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "unary_%d", i);
        assert_string_equal(g->nodes[i].name, name);
    }
    ig_graph_free(g);
}

static void sort_names_a_cycle(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    char err[256];
    int32_t x = build_input(g, "x", DIMS(3));
    int32_t a = build_1(g, IG_UNARY, ACT(.kind = IG_ABS), x),
            b = build_1(g, IG_UNARY, ACT(.kind = IG_EXP), a);
    build_output(g, b, "y");
    g->nodes[0].in[0] = b;
    assert_int_equal(ig_graph_sort(g, err, sizeof err), -1);
    assert_string_equal(err, "the graph has a cycle: unary_1 -> unary_0 -> unary_1");
    ig_graph_free(g);
}

static void sweep_removes_what_nobody_reads(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    char err[256];
    int32_t unread = build_input(g, "unread", DIMS(2)), x = build_input(g, "x", DIMS(3));
    int32_t dead = build_1(g, IG_UNARY, ACT(.kind = IG_ABS), x);
    build_2(g, IG_BINARY, BIN(IG_ADD), dead, build_const(g, DIMS(3)));
    build_output(g, build_1(g, IG_UNARY, ACT(.kind = IG_RELU), x), "y");
    ig_graph_sweep(g);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->n_values, 3);
    assert_int_equal(g->n_inputs, 2); /* the graph's interface stays */
    assert_string_equal(g->values[g->inputs[0]].name, g->values[unread].name);
    assert_string_equal(g->values[g->outputs[0]].name, "y");
    assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
    ig_graph_free(g);
}

static void sweep_drops_second_outputs_that_nobody_reads(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    struct ig_shape s = build_shape(IG_F32, DIMS(2)), i = build_shape(IG_I64, DIMS(2));
    int32_t x = build_input(g, "x", DIMS(5)), y = ig_add_value(g, "y", &s), at = ig_add_value(g, "at", &i);
    struct ig_node *n = ig_add_node(g, "top", IG_TOPK, 1, 2);
    n->in[0] = x;
    n->out[0] = y;
    n->out[1] = at;
    ig_add_output(g, y);
    ig_graph_sweep(g);
    assert_int_equal(g->nodes[0].out[1], -1);
    assert_int_equal(g->n_values, 2);
    ig_graph_free(g);
}

static void replaced_outputs_keep_their_name(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = build_input(g, "x", DIMS(3)), a = build_1(g, IG_UNARY, ACT(.kind = IG_ABS), x);
    int32_t b = build_1(g, IG_UNARY, ACT(.kind = IG_NONE), a);
    build_output(g, b, "y");
    assert_int_equal(ig_use_count(g, a), 1);
    ig_replace_uses(g, b, a);
    assert_int_equal(g->outputs[0], a);
    assert_string_equal(g->values[a].name, "y");
    assert_true(ig_is_output(g, a) && !ig_is_output(g, b) && ig_is_input(g, x) && !ig_is_input(g, a));
    ig_graph_free(g);
}

/* --- ig_graph_check refuses each of these --- */

static void break_rank(struct ig_graph *g) {
    g->values[0].shape.rank = 9;
}
static void break_dim(struct ig_graph *g) {
    g->values[0].shape.dims[1] = 0;
}
static void break_unused_dim(struct ig_graph *g) {
    g->values[0].shape.dims[5] = 2;
}
static void break_type(struct ig_graph *g) {
    g->values[1].shape.type = IG_TYPES;
}
static void break_size(struct ig_graph *g) {
    g->values[0].shape.dims[0] = 1 << 30;
}
static void break_name(struct ig_graph *g) {
    g->values[1].name = g->values[0].name;
}
static void break_op(struct ig_graph *g) {
    g->nodes[0].op = IG_OPS;
}
static void break_input(struct ig_graph *g) {
    g->nodes[0].in[0] = 99;
}
static void break_required(struct ig_graph *g) {
    g->nodes[0].in[0] = -1;
}
static void break_arity(struct ig_graph *g) {
    g->nodes[0].n_in = 0;
}
static void break_output(struct ig_graph *g) {
    g->nodes[0].out[0] = 0;
}
static void break_no_output(struct ig_graph *g) {
    g->nodes[0].out[0] = -1;
}
static void break_producer(struct ig_graph *g) {
    g->values[1].producer = -1;
}
static void break_graph_input(struct ig_graph *g) {
    g->inputs[0] = 1;
}
static void break_graph_output(struct ig_graph *g) {
    g->outputs[0] = 77;
}
static void break_twice(struct ig_graph *g) {
    ig_add_output(g, g->outputs[0]);
}
static void break_const(struct ig_graph *g) {
    g->values[0].data = g->name;
}
static void break_kind(struct ig_graph *g) {
    g->nodes[0].attrs.unary.act.kind = IG_UNARIES;
}
static void break_shape(struct ig_graph *g) {
    g->values[1].shape.dims[1] = 5;
}

static void check_refuses_broken_graphs(void **state) {
    static const struct {
        void (*harm)(struct ig_graph *);
        const char *says;
    } cases[] = {
        {break_rank, "rank 9"},
        {break_dim, "dimension 1 is 0"},
        {break_unused_dim, "dimension 5 is 2"},
        {break_type, "unknown type"},
        {break_size, "2^31"},
        {break_name, "two values are named 'x'"},
        {break_op, "unknown op"},
        {break_input, "no such value"},
        {break_required, "is missing"},
        {break_arity, "0 inputs"},
        {break_output, "given already"},
        {break_no_output, "has no output"},
        {break_producer, "producer"},
        {break_graph_input, "has a producer"},
        {break_graph_output, "no such value"},
        {break_twice, "twice"},
        {break_const, "is a constant"},
        {break_kind, "kind out of range"},
        {break_shape, "the shape changes"},
    };
    (void)state;
    char err[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g = small();
        assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
        cases[i].harm(g);
        assert_int_equal(ig_graph_check(g, err, sizeof err), -1);
        if (!strstr(err, cases[i].says)) fail_msg("case %zu says: %s", i, err);
        ig_graph_free(g);
    }
}

/* --- a sum of quantised tensors: shape inference and the check refuse each of these --- */

static struct ig_graph *sum_of_bytes(void) {
    static const int32_t types[8] = {IG_U8, IG_F32, IG_U8, IG_I8, IG_F32, IG_I8, IG_F32, IG_U8};
    struct ig_graph *g = ig_graph_new("g");
    struct ig_shape y = build_shape(IG_U8, DIMS(2, 3));
    char name[16];
    struct ig_node *n = ig_add_node(g, "sum", IG_QLINEAR_BINARY, 8, 1);
    for (int k = 0; k < 8; k++) {
        struct ig_shape s = k == 0 || k == 3 ? build_shape(types[k], DIMS(2, 3)) : build_shape(types[k], 0, NULL);
        snprintf(name, sizeof name, "in%d", k);
        n->in[k] = ig_add_value(g, name, &s);
        ig_add_input(g, n->in[k]);
    }
    n->out[0] = ig_add_value(g, "y", &y);
    g->values[n->out[0]].producer = 0;
    ig_add_output(g, n->out[0]);
    return g;
}

static void break_sum_shape(struct ig_graph *g) {
    g->values[3].shape.dims[1] = 4;
}
static void break_sum_rank(struct ig_graph *g) {
    g->values[0].shape.rank = 3;
}
static void break_sum_parameter(struct ig_graph *g) {
    g->values[1].shape = build_shape(IG_F32, DIMS(3));
}
static void break_sum_kind(struct ig_graph *g) {
    g->nodes[0].attrs.binary.kind = IG_SUB;
}
static void break_sum_act(struct ig_graph *g) {
    g->nodes[0].attrs.binary.act.kind = IG_RELU;
}
static void break_sum_zero(struct ig_graph *g) {
    g->values[2].shape.type = IG_I8;
}
static void break_sum_type(struct ig_graph *g) {
    g->values[3].shape.type = IG_F32;
}

static void sums_of_bytes_are_checked(void **state) {
    static const struct {
        void (*harm)(struct ig_graph *);
        const char *inferred, *checked; /* NULL: nothing is wrong by it */
    } cases[] = {
        {break_sum_shape, "the two inputs differ in shape", "the shape changes"},
        {break_sum_rank, "the two inputs differ in shape", "the rank changes"},
        {break_sum_parameter, "input 1 has 3 elements, not one", "a parameter that is not one number"},
        {break_sum_kind, "sums and products only", "neither a sum nor a product"},
        {break_sum_act, NULL, "an activation other than clip"},
        {break_sum_zero, "data and zero point differ in type", NULL},
        {break_sum_type, "input 3 of type f32 is not supported", NULL},
    };
    (void)state;
    char err[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g = sum_of_bytes();
        assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
        assert_int_equal(ig_infer(g, &g->nodes[0], err, sizeof err), 0);
        cases[i].harm(g);
        assert_int_equal(ig_graph_check(g, err, sizeof err), cases[i].checked ? -1 : 0);
        if (cases[i].checked && !strstr(err, cases[i].checked)) fail_msg("case %zu says: %s", i, err);
        assert_int_equal(ig_infer(g, &g->nodes[0], err, sizeof err) < 0, cases[i].inferred != NULL);
        if (cases[i].inferred && !strstr(err, cases[i].inferred)) fail_msg("case %zu says: %s", i, err);
        ig_graph_free(g);
    }
}

/* --- a lookup: the same --- */

static struct ig_graph *lookup(void) {
    struct ig_graph *g = ig_graph_new("g");
    const struct ig_shape x = build_shape(IG_I8, DIMS(2, 3)), table = build_shape(IG_U8, DIMS(256)), y = build_shape(IG_U8, DIMS(2, 3));
    struct ig_node *n = ig_add_node(g, "lookup", IG_LOOKUP, 2, 1);
    n->in[0] = ig_add_value(g, "x", &x);
    n->in[1] = ig_add_value(g, "table", &table);
    n->out[0] = ig_add_value(g, "y", &y);
    g->values[n->out[0]].producer = 0;
    ig_add_input(g, n->in[0]);
    ig_add_input(g, n->in[1]);
    ig_add_output(g, n->out[0]);
    return g;
}

static void break_lookup_input(struct ig_graph *g) {
    g->values[0].shape.type = IG_F32;
}
static void break_lookup_table(struct ig_graph *g) {
    g->values[1].shape.type = IG_I32;
}
static void break_lookup_entries(struct ig_graph *g) {
    g->values[1].shape.dims[0] = 255;
}
static void break_lookup_rank(struct ig_graph *g) {
    g->values[1].shape = build_shape(IG_U8, DIMS(16, 16));
}
static void break_lookup_type(struct ig_graph *g) {
    g->values[2].shape.type = IG_I8;
}
static void break_lookup_shape(struct ig_graph *g) {
    g->values[2].shape.dims[1] = 4;
}

static void lookups_are_checked(void **state) {
    static const struct {
        void (*harm)(struct ig_graph *);
        const char *inferred, *checked; /* NULL: nothing is wrong by it; of the output inference says what it is */
    } cases[] = {
        {break_lookup_input, "input 0 of type f32 is not supported", "the input is not of bytes"},
        {break_lookup_table, "input 1 of type i32 is not supported", "the table is not of bytes"},
        {break_lookup_entries, "does not have 256 entries", "does not have 256 entries"},
        {break_lookup_rank, "input 1 ", "does not have 256 entries"},
        {break_lookup_type, NULL, "the table's type is not the output's"},
        {break_lookup_shape, NULL, "the shape changes"},
    };
    (void)state;
    char err[512];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g = lookup();
        assert_int_equal(ig_graph_check(g, err, sizeof err), 0);
        assert_int_equal(ig_infer(g, &g->nodes[0], err, sizeof err), 0);
        cases[i].harm(g);
        assert_int_equal(ig_graph_check(g, err, sizeof err), -1);
        if (!strstr(err, cases[i].checked)) fail_msg("case %zu says: %s", i, err);
        assert_int_equal(ig_infer(g, &g->nodes[0], err, sizeof err) < 0, cases[i].inferred != NULL);
        if (cases[i].inferred && !strstr(err, cases[i].inferred)) fail_msg("case %zu says: %s", i, err);
        ig_graph_free(g);
    }
}

static void macs_count_convolutions_and_products(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    g->channels_last = 1;
    int32_t x = build_input(g, "x", DIMS(1, 8, 8, 4));
    int32_t y = build_conv(g, x, 6, 3, 2, 1, 2); /* 4x4x6 outputs, 3*3*2 each */
    int32_t z = build_reshape(g, y, DIMS(2, 48));
    build_output(g, build_2(g, IG_FC, NULL, z, build_const(g, DIMS(10, 48))), "out");
    ig_count_macs(g);
    assert_true(g->nodes[0].macs == 4 * 4 * 6 * 18);
    assert_true(g->nodes[1].macs == 0);
    assert_true(g->nodes[2].macs == 2 * 10 * 48);
    ig_graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_are_made_unique),
        cmocka_unit_test(memory_is_aligned_and_zeroed),
        cmocka_unit_test(arrays_grow),
        cmocka_unit_test(clone_shares_constants_only),
        cmocka_unit_test(owned_memory_is_released_once),
        cmocka_unit_test(sort_puts_producers_first),
        cmocka_unit_test(sort_keeps_a_sorted_order),
        cmocka_unit_test(sort_names_a_cycle),
        cmocka_unit_test(sweep_removes_what_nobody_reads),
        cmocka_unit_test(sweep_drops_second_outputs_that_nobody_reads),
        cmocka_unit_test(replaced_outputs_keep_their_name),
        cmocka_unit_test(check_refuses_broken_graphs),
        cmocka_unit_test(sums_of_bytes_are_checked),
        cmocka_unit_test(lookups_are_checked),
        cmocka_unit_test(macs_count_convolutions_and_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
