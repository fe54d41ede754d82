/* The importer's frame: names, inputs and outputs, functions, order, refusals. */
#include "tests/support/onnx_import.h"

static void names_and_origin(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    m.graph.node[0]->name = m_text(&m, "first");
    struct ig_graph *g = import(&m);
    assert_string_equal(g->name, "net");
    assert_int_equal(g->opset, 17);
    assert_int_equal(g->onnx_nodes, 1);
    assert_int_equal(strlen(g->source_sha256), 64);
    assert_string_equal(g->nodes[0].name, "first");
    assert_string_equal(g->nodes[0].onnx, "Relu-17");
    assert_string_equal(g->values[g->inputs[0]].name, "x");
    assert_string_equal(g->values[g->outputs[0]].name, "y");
    assert_int_equal(g->values[g->outputs[0]].shape.type, IG_F32);
    ig_graph_free(g);
    m_free(&m);
}

static void symbolic_dims(void **state)
{
    (void)state;
    struct ig_bind b = {.name = "x", .shape = {IG_F32, 4, {2, 3, 8, 9, 1, 1, 1, 1}}};
    struct ig_import_options options = {.binds = &b, .n_binds = 1};
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_FLOAT, LIST(0, 3, 0, 0));
    m_input(&m, "y", M_FLOAT, LIST(0, 3, 0, 0)); /* the same symbols */
    m_node(&m, "Add", "x,y", "z");
    m_output(&m, "z");
    struct ig_graph *g = import_with(&m, options);
    assert_non_null(g);
    m_check_shape(g, g->outputs[0], LIST(2, 3, 8, 9));
    ig_graph_free(g);
    assert_null(import_with(&m, (struct ig_import_options){0}));
    assert_string_equal(
        err, "net.onnx: input 'x': dimension 2 (d2) is not known; give it with --input-shape x=1x3x224x224");
    b.shape.rank = 3;
    assert_null(import_with(&m, options));
    assert_non_null(strstr(err, "input 'x' has rank 4, what is given rank 3"));
    b.shape.rank = 4;
    b.shape.dims[1] = 4;
    assert_null(import_with(&m, options));
    assert_non_null(strstr(err, "does the network take x=2x4x8x9?"));
    b.name = "w";
    refuse_with(&m, options, "there is no input 'w'; the inputs are: x, y");
}

/* What is bound goes before what the file says, but for data. */
static void other_sizes(void **state)
{
    (void)state;
    const float data[5] = {0};
    struct ig_bind b = {.name = "x", .shape = {IG_F32, 2, {2, 5, 1, 1, 1, 1, 1, 1}}};
    const struct ig_import_options options = {.binds = &b, .n_binds = 1};
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_FLOAT, LIST(1, 3));
    m_node(&m, "Relu", "x", "y");
    m_output(&m, "y");
    struct ig_graph *g = import_with(&m, options);
    if (!g) fail_msg("%s", err);
    m_check_shape(g, g->inputs[0], LIST(2, 5));
    m_check_shape(g, g->outputs[0], LIST(2, 5));
    ig_graph_free(g);
    b.shape.dims[1] = 1 << 30;
    assert_null(import_with(&m, options));
    assert_string_equal(err, "net.onnx: input 'x': 2x1073741824 are more than 2147483647 elements");
    b.shape.dims[0] = 1, b.shape.dims[1] = 5;
    b.data = data;
    refuse_with(&m, options, "input 'x': dimension 1 is 3 in the file and cannot be bound to data of 5");
}

/* Where such a size does not fit, it is asked whether the network takes it. */
static void doubtful_sizes(void **state)
{
    (void)state;
    const int64_t parts[2] = {2, 1};
    struct ig_bind b = {.name = "x", .shape = {IG_F32, 2, {5, 1, 1, 1, 1, 1, 1, 1}}};
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_FLOAT, LIST(3, 1));
    m_ints(&m, "parts", 2, parts);
    m_node(&m, "Split", "x,parts", "y,z");
    m_output(&m, "y");
    m_output(&m, "z");
    refuse_with(&m, (struct ig_import_options){.binds = &b, .n_binds = 1}, "the parts make 3, not 5; does the network take x=5x1?");
}

/* Names that some writers give to every open dimension make none equal. */
static void nameless_dims(void **state)
{
    (void)state;
    static const char *const names[] = {"?", "-1", "None", ""};
    struct ig_bind b = {.name = "x", .shape = {IG_F32, 4, {1, 3, 8, 9, 1, 1, 1, 1}}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct m_model m;
        m_init(&m, 17);
        Onnx__ValueInfoProto *x = m_input(&m, "x", M_FLOAT, LIST(0, 3, 0, 0));
        for (int d = 2; d < 4; d++) x->type->tensor_type->shape->dim[d]->dim_param = m_text(&m, names[i]);
        m_node(&m, "Relu", "x", "y");
        m_output(&m, "y");
        struct ig_graph *g = import_with(&m, (struct ig_import_options){.binds = &b, .n_binds = 1});
        if (!g) fail_msg("%s: %s", names[i], err);
        m_check_shape(g, g->outputs[0], LIST(1, 3, 8, 9));
        ig_graph_free(g);
        refuse(&m, "dimension 2 (unnamed) is not known; give it with --input-shape x=1x3x224x224");
    }
}

static void remedy(const int64_t *dims, const char *bound, const char *shape)
{
    struct ig_bind b = {.name = "w", .shape = {IG_F32, 4, {1, 1, 1, 96, 1, 1, 1, 1}}};
    struct m_model m;
    m_init(&m, 17);
    Onnx__ValueInfoProto *w = m_input(&m, "w", M_FLOAT, LIST(1, 1, 1, 0));
    w->type->tensor_type->shape->dim[3]->dim_param = m_text(&m, bound);
    m_input(&m, "x", M_FLOAT, 4, dims);
    m_node(&m, "Add", "x,w", "y");
    m_output(&m, "y");
    refuse_with(&m, (struct ig_import_options){.binds = &b, .n_binds = 1}, shape);
}

/* Channels lie where the file has few of them, and what is known of a symbol is part of the guess. */
static void remedies(void **state)
{
    (void)state;
    remedy((const int64_t[]){0, 0, 0, 3}, "w", "give it with --input-shape x=1x224x224x3");
    remedy((const int64_t[]){0, 0, 0, 0}, "w", "give it with --input-shape x=1x3x224x224");
    remedy((const int64_t[]){0, 0, 0, 3}, "d1", "give it with --input-shape x=1x96x224x3");
    remedy((const int64_t[]){0, 1, 0, 3}, "w", "give it with --input-shape x=1x1x224x3");
}

static void default_batch(void **state)
{
    (void)state;
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_FLOAT, LIST(0, 3));
    m_node(&m, "Relu", "x", "y");
    m_output(&m, "y");
    struct ig_graph *g = import(&m);
    m_check_shape(g, g->inputs[0], LIST(1, 3));
    ig_graph_free(g);
    m_free(&m);
}

static void bound_constant(void **state)
{
    (void)state;
    static const int64_t shape[2] = {2, 16};
    struct ig_bind b = {"shape", {IG_I64, 1, {2, 1, 1, 1, 1, 1, 1, 1}}, shape};
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_FLOAT, LIST(1, 2, 4, 4));
    m_input(&m, "shape", M_INT64, LIST(2));
    m_node(&m, "Reshape", "x,shape", "y");
    m_output(&m, "y");
    struct ig_graph *g = import_with(&m, (struct ig_import_options){.binds = &b, .n_binds = 1});
    assert_non_null(g);
    assert_int_equal(g->n_inputs, 1);
    m_check_shape(g, g->outputs[0], LIST(2, 16));
    ig_graph_free(g);
    refuse(&m, "shape is computed from data and must be constant");
}

static void half_edges(void **state)
{
    (void)state;
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_FLOAT16, LIST(4));
    m_node(&m, "Exp", "x", "y");
    Onnx__ValueInfoProto *out = m_info(&m, "y", M_FLOAT16, LIST(4));
    m.graph.output = m_append(&m, NULL, &m.graph.n_output, out);
    struct ig_graph *g = import(&m);
    assert_int_equal(g->values[g->inputs[0]].shape.type, IG_F16);
    assert_int_equal(g->values[g->outputs[0]].shape.type, IG_F32);
    assert_string_equal(g->values[g->outputs[0]].name, "y");
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(g->nodes[1].op, IG_UNARY);
    assert_int_equal(g->values[g->nodes[1].in[0]].shape.type, IG_F32);
    ig_graph_free(g);
    m_free(&m);
}

static void double_input(void **state)
{
    (void)state;
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_DOUBLE, LIST(4));
    m_node(&m, "Exp", "x", "y");
    m_output(&m, "y");
    refuse(&m, "input 'x' has type double");
}

/* Outputs that are an input, a constant, an alias, or listed twice, are tensors of their own. */
static void odd_outputs(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    m_weights(&m, "w", LIST(2));
    m_node(&m, "Identity", "y", "alias");
    m_output(&m, "x");
    m_output(&m, "w");
    m_output(&m, "alias");
    m_output(&m, "y");
    struct ig_graph *g = import(&m);
    assert_int_equal(g->n_outputs, 5);
    for (int i = 0; i < 5; i++) {
        assert_false(ig_is_const(g, g->outputs[i]) || ig_is_input(g, g->outputs[i]));
        for (int k = 0; k < i; k++)
            assert_int_not_equal(g->outputs[i], g->outputs[k]);
    }
    assert_string_equal(g->values[g->outputs[2]].name, "w");
    assert_string_equal(g->values[g->outputs[3]].name, "alias");
    ig_graph_free(g);
    m_free(&m);
}

static void cut_outputs(void **state)
{
    (void)state;
    static const char *const at[] = {"y"}, *const nowhere[] = {"q"};
    struct m_model m;
    small(&m);
    m_node(&m, "NonZero", "y", "z");
    m_output(&m, "z");
    struct ig_graph *g = import_with(&m, (struct ig_import_options){.outputs = at, .n_outputs = 1});
    assert_non_null(g);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
    refuse_with(&m, (struct ig_import_options){.outputs = nowhere, .n_outputs = 1},
                "no tensor 'q' to cut the graph at");
}

static void unsupported_report(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    m_node(&m, "NonZero", "y", "a")->name = m_text(&m, "where");
    m_node(&m, "Gelu", "y", "b")->domain = m_text(&m, "com.microsoft");
    m_opset(&m, "com.microsoft", 1);
    m_node(&m, "Frobnicate", "b", "c");
    m_node(&m, "Relu", "c", "d"); /* behind a refused node: not its fault */
    m_output(&m, "a");
    m_output(&m, "d");
    refuse(&m, "net.onnx: 3 nodes cannot be compiled:\n"
               "  where  NonZero-17  its output's shape depends on the data; cut the graph before it with "
               "--outputs\n"
               "  (b)  com.microsoft.Gelu-1  is onnxruntime's own, and not supported; export without its graph optimisations\n"
               "  (c)  Frobnicate-17  is no operator that is known");
}

/* onnxruntime's own recurrent operators, which no export without its optimisations would take away. */
static void recurrent_report(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    m_node(&m, "DynamicQuantizeLSTM", "y", "a")->domain = m_text(&m, "com.microsoft");
    m_opset(&m, "com.microsoft", 1);
    m_output(&m, "a");
    refuse(&m, "(a)  com.microsoft.DynamicQuantizeLSTM-1  it quantises as it runs, which is not supported; give the network as it was before");
}

static void wrong_node(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    Onnx__NodeProto *n = m_node(&m, "Transpose", "y", "z");
    n->name = m_text(&m, "turn");
    m_attr_ints(&m, n, "perm", LIST(0, 1, 2));
    m_output(&m, "z");
    refuse(&m, "net.onnx: node 'turn' (Transpose): perm has 3 elements for a tensor of rank 4");
    small(&m);
    n = m_node(&m, "Transpose", "y", "z"); /* a name cannot break the line, nor command a terminal */
    n->name = m_text(&m, "a\n\033[2Jb");
    m_attr_ints(&m, n, "perm", LIST(0, 1, 2));
    m_output(&m, "z");
    refuse(&m, "net.onnx: node 'a??[2Jb' (Transpose): perm has 3 elements for a tensor of rank 4");
}

/* Where shapes do not fit that the file leaves open, the one that was given may be none for the network. */
static void doubted_shape(void **state)
{
    (void)state;
    struct ig_bind b = {.name = "x", .shape = {IG_F32, 4, {1, 3, 224, 96, 1, 1, 1, 1}}};
    const struct ig_import_options options = {.binds = &b, .n_binds = 1};
    for (int known = 0; known < 2; known++) {
        struct m_model m;
        m_init(&m, 17);
        m_input(&m, "x", M_FLOAT, LIST(0, 3, known ? 224 : 0, 96));
        m_input(&m, "w", M_FLOAT, LIST(1, 3, 48, 96));
        m_node(&m, "Add", "x,w", "y")->name = m_text(&m, "sum");
        m_output(&m, "y");
        assert_null(import_with(&m, options));
        assert_ptr_equal(strstr(err, "net.onnx: node 'sum' (Add): "), err);
        assert_int_equal(!strstr(err, "; does the network take x=1x3x224x96?"), known);
        m_free(&m);
    }
}

static void order(void **state)
{
    (void)state;
    struct m_model m;
    m_init(&m, 17);
    m_input(&m, "x", M_FLOAT, LIST(4));
    m_node(&m, "Exp", "b", "c");
    m_node(&m, "Abs", "a", "b");
    m_node(&m, "Relu", "x", "a");
    m_output(&m, "c");
    struct ig_graph *g = import(&m);
    assert_int_equal(g->nodes[0].attrs.unary.act.kind, IG_RELU);
    assert_int_equal(g->nodes[2].attrs.unary.act.kind, IG_EXP);
    ig_graph_free(g);
    m.graph.node[2]->input[0] = m_text(&m, "c");
    refuse(&m, "the graph has a cycle: 'c' 'b' 'a'");
}

static void broken_graphs(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    m_node(&m, "Abs", "x", "y");
    refuse(&m, "tensor 'y' is made twice");
    small(&m);
    m_node(&m, "Abs", "nothing", "z");
    m_output(&m, "z");
    refuse(&m, "tensor 'nothing' is read, but nothing makes it");
    small(&m);
    m_output(&m, "nowhere");
    refuse(&m, "tensor 'nowhere' is read, but nothing makes it");
    small(&m);
    m_weights(&m, "w", LIST(2));
    m_weights(&m, "w", LIST(2));
    refuse(&m, "initializer 'w' is there twice");
    small(&m);
    m.pb.opset_import[0]->version = 99;
    refuse(&m, "opset 99 is newer than");
}

/* my.NAME, which makes r of a. */
static Onnx__FunctionProto *new_function(struct m_model *m, const char *name)
{
    Onnx__FunctionProto *f = m_alloc(m, sizeof *f);
    onnx__function_proto__init(f);
    f->name = m_text(m, name);
    f->domain = m_text(m, "my");
    f->input = m_names(m, "a", &f->n_input);
    f->output = m_names(m, "r", &f->n_output);
    return f;
}

/* f(a; alpha = 0.5) = LeakyRelu(a, alpha) + a, called by g; inlined twice with other attributes. */
static void functions(void **state)
{
    (void)state;
    struct m_model m;
    m_init(&m, 17);
    m_opset(&m, "my", 1);
    Onnx__FunctionProto *f = new_function(&m, "f");
    Onnx__NodeProto *leaky = m_loose_node(&m, "LeakyRelu", "a", "t"),
                    *add = m_loose_node(&m, "Add", "t,a", "r");
    m_attr(&m, leaky, "alpha", 1)->ref_attr_name = m_text(&m, "slope");
    f->node = m_append(&m, f->node, &f->n_node, leaky);
    f->node = m_append(&m, f->node, &f->n_node, add);
    Onnx__AttributeProto *fallback = m_attr(&m, NULL, "slope", 1);
    fallback->has_f = 1;
    fallback->f = 0.5f;
    f->attribute_proto = m_append(&m, f->attribute_proto, &f->n_attribute_proto, fallback);
    m.pb.functions = m_append(&m, m.pb.functions, &m.pb.n_functions, f);
    m_input(&m, "x", M_FLOAT, LIST(4));
    Onnx__NodeProto *one = m_node(&m, "f", "x", "y"), *two = m_node(&m, "f", "y", "z");
    one->domain = two->domain = m_text(&m, "my");
    one->name = m_text(&m, "one");
    m_attr_f(&m, one, "slope", 0.25f);
    m_output(&m, "z");
    struct ig_graph *g = import(&m);
    assert_int_equal(g->n_nodes, 4);
    assert_true(g->nodes[0].attrs.unary.act.alpha == 0.25f);
    assert_true(g->nodes[2].attrs.unary.act.alpha == 0.5f);
    assert_string_equal(g->values[g->nodes[0].out[0]].name, "one/t");
    ig_graph_free(g);
    f->node[1] = m_loose_node(&m, "f", "t", "r");
    f->node[1]->domain = m_text(&m, "my");
    refuse(&m, "functions are nested more than");
}

/* A few bytes of functions, each of which calls the next one twice, must not ask for 2^24 calls. */
static void empty_functions(void **state)
{
    (void)state;
    struct m_model m;
    small(&m);
    m_opset(&m, "my", 1);
    for (char i = 'a'; i < 'y'; i++) {
        Onnx__FunctionProto *f = m_alloc(&m, sizeof *f);
        onnx__function_proto__init(f);
        f->name = m_text(&m, (char[]){i, 0});
        f->domain = m_text(&m, "my");
        for (int k = 0; i < 'x' && k < 2; k++) {
            Onnx__NodeProto *call = m_loose_node(&m, (char[]){(char)(i + 1), 0}, "", "");
            call->domain = m_text(&m, "my");
            f->node = m_append(&m, f->node, &f->n_node, call);
        }
        m.pb.functions = m_append(&m, m.pb.functions, &m.pb.n_functions, f);
    }
    m_node(&m, "a", "", "")->domain = m_text(&m, "my");
    refuse(&m, "it calls functions more than 32768 times");
}

/* A constant in a function is as many as there are calls, which the budget of constants bounds. */
static void constants_of_functions(void **state)
{
    (void)state;
    static const float zeros[64];
    struct m_model m;
    m_init(&m, 17);
    m_opset(&m, "my", 1);
    Onnx__FunctionProto *f = new_function(&m, "f");
    Onnx__NodeProto *constant = m_loose_node(&m, "Constant", "", "c"), *add = m_loose_node(&m, "Add", "a,c", "r");
    m_attr_t(&m, constant, "value", m_tensor(&m, "", M_FLOAT, LIST(64), zeros, sizeof zeros));
    f->node = m_append(&m, f->node, &f->n_node, constant);
    f->node = m_append(&m, f->node, &f->n_node, add);
    m.pb.functions = m_append(&m, m.pb.functions, &m.pb.n_functions, f);
    m_input(&m, "a", M_FLOAT, LIST(64));
    for (char i = 'a'; i < 'u'; i++)
        m_node(&m, "f", (char[]){i, 0}, (char[]){(char)(i + 1), 0})->domain = m_text(&m, "my");
    m_output(&m, "u");
    struct ig_graph *g = import_with(&m, (struct ig_import_options){.max_bytes = 20 * sizeof zeros});
    assert_non_null(g);
    ig_graph_free(g);
    refuse_with(&m, (struct ig_import_options){.max_bytes = 19 * sizeof zeros}, "its constants are too large");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_origin),
        cmocka_unit_test(symbolic_dims),
        cmocka_unit_test(other_sizes),
        cmocka_unit_test(doubtful_sizes),
        cmocka_unit_test(nameless_dims),
        cmocka_unit_test(remedies),
        cmocka_unit_test(default_batch),
        cmocka_unit_test(bound_constant),
        cmocka_unit_test(half_edges),
        cmocka_unit_test(double_input),
        cmocka_unit_test(odd_outputs),
        cmocka_unit_test(cut_outputs),
        cmocka_unit_test(unsupported_report),
        cmocka_unit_test(recurrent_report),
        cmocka_unit_test(doubted_shape),
        cmocka_unit_test(wrong_node),
        cmocka_unit_test(order),
        cmocka_unit_test(broken_graphs),
        cmocka_unit_test(functions),
        cmocka_unit_test(empty_functions),
        cmocka_unit_test(constants_of_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
