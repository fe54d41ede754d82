/* If: which branch is taken, what its names mean, and that the other does not matter. */
#include "tests/support/onnx_import.h"

/* An initializer of one bool. */
static void flag(struct m_model *m, const char *name, int value)
{
    m_add_initializer(m, m_tensor(m, name, M_BOOL, NO_DIMS, &(uint8_t){(uint8_t)value}, 1));
}

/* An If of that condition and output, one branch being Exp(x), the other Abs(x), both named `r`. */
static Onnx__NodeProto *exp_or_abs(struct m_model *m, Onnx__NodeProto *n)
{
    m_node_of(m, m_branch(m, n, "then_branch", "r"), "Exp", "x", "r");
    m_node_of(m, m_branch(m, n, "else_branch", "r"), "Abs", "x", "r");
    return n;
}

/* x [2,3]; y = If(flag c) */
static void begin_if(struct m_model *m, int c)
{
    m_init(m, 17);
    m_input(m, "x", M_FLOAT, LIST(2, 3));
    m_input(m, "p", M_BOOL, LIST(1)); /* known at run time */
    flag(m, "c", c);
    m_output(m, "y");
}

static void check_unary(struct m_model *m, int n, const int32_t *kinds)
{
    struct ig_graph *g = import(m);
    assert_int_equal(g->n_nodes, n);
    for (int i = 0; i < n; i++) {
        assert_int_equal(g->nodes[i].op, IG_UNARY);
        assert_int_equal(g->nodes[i].attrs.unary.act.kind, kinds[i]);
    }
    ig_graph_free(g);
}

#define KINDS(...) (int)(sizeof((const int32_t[]){__VA_ARGS__}) / 4), ((const int32_t[]){__VA_ARGS__})

static void taken(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        struct m_model m;
        begin_if(&m, c);
        exp_or_abs(&m, m_node(&m, "If", "c", "y"))->name = m_text(&m, "choice");
        check_unary(&m, KINDS(c ? IG_EXP : IG_ABS));
        struct ig_graph *g = import(&m);
        assert_string_equal(g->values[g->outputs[0]].name, "y");
        assert_string_equal(g->nodes[0].onnx, c ? "Exp-17" : "Abs-17");
        ig_graph_free(g);
        m_free(&m);
    }
}

/* x of rank 3: its middle dim goes where it is 1, as PyTorch's squeeze of a dim whose size is open. */
static void condition_of_shape(void **state)
{
    (void)state;
    for (int64_t d = 1; d < 3; d++) {
        struct m_model m;
        m_init(&m, 11);
        m_input(&m, "in", M_FLOAT, LIST(2, d, 4));
        m_ints(&m, "one", LIST(1));
        m_node(&m, "Relu", "in", "x");
        m_node(&m, "Shape", "x", "shape");
        m_node(&m, "Gather", "shape,one", "d");
        m_node(&m, "Equal", "one,d", "c");
        Onnx__NodeProto *n = m_node(&m, "If", "c", "y");
        m_attr_ints(&m, m_node_of(&m, m_branch(&m, n, "then_branch", "a"), "Squeeze", "x", "a"), "axes", LIST(1));
        m_node_of(&m, m_branch(&m, n, "else_branch", "b"), "Identity", "x", "b");
        m_output(&m, "y");
        struct ig_graph *g = import(&m);
        if (d == 1) m_check_shape(g, g->outputs[0], LIST(2, 4));
        else m_check_shape(g, g->outputs[0], LIST(2, 2, 4));
        ig_graph_free(g);
        m_free(&m);
    }
}

/* The inner If's branches read names of both graphs around them, and one name is each graph's own. */
static void nested(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    m_node(&m, "Neg", "x", "t");
    Onnx__NodeProto *n = m_node(&m, "If", "c", "y");
    Onnx__GraphProto *then = m_branch(&m, n, "then_branch", "r");
    m_node_of(&m, then, "Exp", "t", "t2");
    m_node_of(&m, then, "Not", "c", "d");
    Onnx__NodeProto *inner = m_node_of(&m, then, "If", "d", "r");
    m_node_of(&m, m_branch(&m, inner, "then_branch", "t3"), "Abs", "t", "t3");
    Onnx__GraphProto *other = m_branch(&m, inner, "else_branch", "t3");
    m_node_of(&m, other, "Ceil", "t2", "s");
    m_node_of(&m, other, "Floor", "s", "t3");
    Onnx__GraphProto *last = m_branch(&m, n, "else_branch", "s");
    m_node_of(&m, last, "Sqrt", "t", "s");
    check_unary(&m, KINDS(IG_NEG, IG_EXP, IG_CEIL, IG_FLOOR));
    m_free(&m);
}

/* A name that a branch makes is another one than that of the graph around it, also where it comes from there. */
static void shadows(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    m_node(&m, "Neg", "x", "t");
    Onnx__NodeProto *n = m_node(&m, "If", "c", "z");
    Onnx__GraphProto *then = m_branch(&m, n, "then_branch", "t");
    m_node_of(&m, then, "Exp", "x", "t");
    m_node_of(&m, m_branch(&m, n, "else_branch", "t"), "Abs", "t", "u");
    m_node(&m, "Add", "z,t", "y");
    struct ig_graph *g = import(&m);
    assert_int_equal(g->n_nodes, 3);
    assert_int_equal(g->nodes[2].op, IG_BINARY);
    assert_int_not_equal(g->nodes[2].in[0], g->nodes[2].in[1]);
    ig_graph_free(g);
    m_free(&m);
}

/* Outputs may be the branch's own weights, a tensor from around it, one of these twice, or a constant without elements. */
static void outputs(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    m_node(&m, "Neg", "x", "t");
    Onnx__NodeProto *n = m_node(&m, "If", "c", "y,z,v,axes");
    Onnx__GraphProto *then = m_branch(&m, n, "then_branch", "w,t,t,none");
    static const float one[3] = {1, 2, 3};
    Onnx__TensorProto *w = m_tensor(&m, "w", M_FLOAT, LIST(3), one, sizeof one);
    then->initializer = m_append(&m, then->initializer, &then->n_initializer, w);
    w = m_tensor(&m, "none", M_INT64, LIST(0), "", 0);
    then->initializer = m_append(&m, then->initializer, &then->n_initializer, w);
    m_branch(&m, n, "else_branch", "x,x,x,x");
    m_node(&m, "ReduceSum", "v,axes", "s");
    m_output(&m, "z");
    m_output(&m, "s");
    struct ig_graph *g = import(&m);
    m_check_shape(g, g->outputs[0], LIST(3));
    m_check_shape(g, g->outputs[1], LIST(2, 3));
    m_check_shape(g, g->outputs[2], LIST(1, 1));
    assert_string_equal(g->values[g->outputs[0]].name, "y");
    assert_string_equal(g->values[g->outputs[1]].name, "z");
    ig_graph_free(g);
    m_free(&m);
}

/* Both branches have weights of one name, which is that of weights around them, too. */
static void weights(void **state)
{
    (void)state;
    for (int c = 0; c < 2; c++) {
        struct m_model m;
        begin_if(&m, c);
        m_weights(&m, "w", LIST(3));
        Onnx__NodeProto *n = m_node(&m, "If", "c", "z");
        static const float values[2][3] = {{7, 7, 7}, {9, 9, 9}};
        for (int i = 0; i < 2; i++) {
            Onnx__GraphProto *g = m_branch(&m, n, i ? "else_branch" : "then_branch", "r");
            Onnx__TensorProto *w = m_tensor(&m, "w", M_FLOAT, LIST(3), values[i], sizeof values[i]);
            g->initializer = m_append(&m, g->initializer, &g->n_initializer, w);
            m_node_of(&m, g, "Mul", "x,w", "r");
        }
        m_node(&m, "Mul", "z,w", "y");
        struct ig_graph *g = import(&m);
        assert_int_equal(g->n_nodes, 2);
        const float *inner = (const float *)g->values[g->nodes[0].in[1]].data, *outer = (const float *)g->values[g->nodes[1].in[1]].data;
        assert_true(inner[0] == (c ? 7 : 9) && outer[1] == 1.5f);
        ig_graph_free(g);
        m_free(&m);
    }
}

/* Unknown operators, wrong shapes and refusals in the branch that is not taken, or that only it reads, are nobody's business. */
static void not_taken(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    m_node(&m, "NonZero", "x", "far");
    exp_or_abs(&m, m_node(&m, "If", "far", "farther"));
    Onnx__NodeProto *n = m_node(&m, "If", "c", "y,unread");
    Onnx__GraphProto *then = m_branch(&m, n, "then_branch", "r,u"), *other = m_branch(&m, n, "else_branch", "r,u");
    m_node_of(&m, then, "Exp", "x", "r");
    m_node_of(&m, then, "Frobnicate", "x", "u");
    m_node_of(&m, other, "Frobnicate", "x", "a");
    m_attr_ints(&m, m_node_of(&m, other, "Transpose", "x", "b"), "perm", LIST(7, 7, 7));
    m_node_of(&m, other, "Loop", "a,b,far,farther", "r");
    exp_or_abs(&m, m_node_of(&m, other, "If", "p", "u"));
    check_unary(&m, KINDS(IG_EXP));
    flag(&m, "d", 0);
    n->input[0] = m_text(&m, "d");
    other->node[2]->input[1] = m_text(&m, "a"); /* not what would end the import */
    refuse(&m, "net.onnx: 3 nodes cannot be compiled:\n"
               "  (y/else4/a)  Frobnicate-17  is no operator that is known\n"
               "  (far)  NonZero-17  its output's shape depends on the data; cut the graph before it with --outputs\n"
               "  (y/else4/r)  Loop-17  control flow is not supported; export with fixed shapes, or simplify the model (onnxsim)");
}

/* The same where it is taken; what was known before is reported before. */
static void unknown_in_taken(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    Onnx__NodeProto *n = m_node(&m, "If", "c", "a");
    n->name = m_text(&m, "pick");
    Onnx__GraphProto *then = m_branch(&m, n, "then_branch", "r"), *other = m_branch(&m, n, "else_branch", "r");
    m_node_of(&m, then, "Loop", "x", "r")->name = m_text(&m, "inside");
    m_node_of(&m, other, "Exp", "x", "r");
    m_node(&m, "NonZero", "a", "y")->name = m_text(&m, "outside");
    refuse(&m, "net.onnx: 2 nodes cannot be compiled:\n"
               "  outside  NonZero-17  its output's shape depends on the data; cut the graph before it with --outputs\n"
               "  inside  Loop-17  control flow is not supported; export with fixed shapes, or simplify the model (onnxsim)");
}

static void at_run_time(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    exp_or_abs(&m, m_node(&m, "If", "p", "a"))->name = m_text(&m, "choice");
    exp_or_abs(&m, m_node(&m, "If", "c", "b"));
    m_node(&m, "Add", "a,b", "y");
    struct ig_bind bind = {"p", {IG_BOOL, 1, {1, 1, 1, 1, 1, 1, 1, 1}}, &(uint8_t){1}};
    struct ig_graph *g = import_with(&m, (struct ig_import_options){.binds = &bind, .n_binds = 1});
    if (!g) fail_msg("%s", err);
    assert_int_equal(g->n_nodes, 3);
    ig_graph_free(g);
    refuse(&m, "net.onnx: 1 node cannot be compiled:\n  choice  If-17  its condition depends on the network's input; bind the input "
               "that decides it, export without the branch, or cut the graph before it with --outputs");
}

/* Each If reads what the one before it has, from within its branches: not by recursion, which so many would overflow. */
static void chain(void **state)
{
    (void)state;
    enum { LENGTH = 8000 };
    struct m_model m;
    begin_if(&m, 0);
    m.graph.n_output = 0;
    for (int i = 0; i < LENGTH; i++) {
        char name[2][16];
        for (int k = 0; k < 2; k++) snprintf(name[k], sizeof name[k], i + k ? "x%d" : "x", i + k);
        Onnx__NodeProto *n = m_node(&m, "If", "c", name[1]);
        m_node_of(&m, m_branch(&m, n, "then_branch", "r"), "Exp", name[0], "r");
        m_branch(&m, n, "else_branch", name[0]);
        if (i == LENGTH - 1) m_output(&m, name[1]);
    }
    struct ig_graph *g = import(&m);
    assert_int_equal(g->n_nodes, 1); /* a copy: the output is the input */
    ig_graph_free(g);
    m_free(&m);
}

/* f(a, b) = If(c) {b} else {If(not c) {a + t} else {b}}, t = -a, called twice by names of its own. */
static void in_function(void **state)
{
    (void)state;
    struct m_model m;
    m_init(&m, 17);
    m_opset(&m, "my", 1);
    Onnx__FunctionProto *f = m_alloc(&m, sizeof *f);
    onnx__function_proto__init(f);
    f->name = m_text(&m, "f");
    f->domain = m_text(&m, "my");
    f->input = m_names(&m, "a,b,flag", &f->n_input);
    f->output = m_names(&m, "r", &f->n_output);
    Onnx__NodeProto *list[] = {m_loose_node(&m, "Neg", "a", "t"), m_loose_node(&m, "Not", "flag", "no"), m_loose_node(&m, "If", "flag", "r")};
    for (int i = 0; i < 3; i++) f->node = m_append(&m, f->node, &f->n_node, list[i]);
    m_branch(&m, list[2], "then_branch", "b");
    Onnx__NodeProto *inner = m_node_of(&m, m_branch(&m, list[2], "else_branch", "q"), "If", "no", "q");
    m_node_of(&m, m_branch(&m, inner, "then_branch", "s"), "Add", "a,t", "s");
    m_branch(&m, inner, "else_branch", "b");
    m.pb.functions = m_append(&m, m.pb.functions, &m.pb.n_functions, f);
    m_input(&m, "b", M_FLOAT, LIST(4)); /* what it calls a */
    m_input(&m, "a", M_FLOAT, LIST(4));
    flag(&m, "yes", 1);
    flag(&m, "flag", 0);
    m_node(&m, "f", "b,a,flag", "one")->domain = m_text(&m, "my");
    m_node(&m, "f", "a,one,yes", "two")->domain = m_text(&m, "my");
    m_output(&m, "two");
    struct ig_graph *g = import(&m);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(g->nodes[1].op, IG_BINARY);
    assert_int_equal(g->nodes[1].in[0], g->inputs[0]);
    assert_int_equal(g->nodes[0].in[0], g->inputs[0]);
    ig_graph_free(g);
    m_free(&m);
}

/* No bit that changes makes more of a file than a graph or one line. */
static void damaged(void **state)
{
    (void)state;
    const struct ig_import_options options = {.eval = ig_ref_eval, .max_bytes = 1 << 16};
    struct m_model m;
    begin_if(&m, 1);
    Onnx__NodeProto *n = m_node(&m, "If", "c", "y");
    Onnx__GraphProto *g = m_branch(&m, n, "then_branch", "r");
    g->initializer = m_append(&m, NULL, &g->n_initializer, m_tensor(&m, "w", M_FLOAT, NO_DIMS, &(float){2}, 4));
    m_node_of(&m, g, "Mul", "x,w", "t");
    exp_or_abs(&m, m_node_of(&m, g, "If", "c", "r"));
    m_node_of(&m, m_branch(&m, n, "else_branch", "r"), "Loop", "x", "r");
    m_pack(&m);
    for (size_t i = 0; i < 8 * m.n_bytes; i++) {
        m.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        struct ig_graph *net = ig_import_bytes("net.onnx", m.bytes, m.n_bytes, &options, err, sizeof err);
        m.bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        if (!net && strncmp(err, "net.onnx: ", 10)) fail_msg("bit %zu: '%s'", i, err);
        ig_graph_free(net);
    }
    m_free(&m);
}

static void broken(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1); /* a branch that reads what its If makes */
    Onnx__NodeProto *n = m_node(&m, "If", "c", "y");
    m_node_of(&m, m_branch(&m, n, "then_branch", "r"), "Exp", "y", "r");
    m_branch(&m, n, "else_branch", "x");
    refuse(&m, "the graph has a cycle: 'y' 'y/then1/r'");
    begin_if(&m, 1); /* a condition that is made of it */
    n = exp_or_abs(&m, m_node(&m, "If", "d", "y"));
    m_node(&m, "Not", "y", "d");
    refuse(&m, "the graph has a cycle: 'y' 'd'");
    begin_if(&m, 1); /* two that read each other's, from within */
    n = m_node(&m, "If", "c", "y");
    m_branch(&m, n, "then_branch", "z");
    m_branch(&m, n, "else_branch", "x");
    n = m_node(&m, "If", "c", "z");
    m_branch(&m, n, "then_branch", "y");
    m_branch(&m, n, "else_branch", "x");
    refuse(&m, "the graph has a cycle: 'y' 'z'");
    begin_if(&m, 1);
    n = m_node(&m, "If", "c", "y");
    n->name = m_text(&m, "half");
    m_branch(&m, n, "then_branch", "x");
    refuse(&m, "net.onnx: node 'half' (If): it lacks a branch");
    begin_if(&m, 1);
    n = m_node(&m, "If", "c", "y");
    m_branch(&m, n, "then_branch", "x");
    m_branch(&m, n, "else_branch", "x,x");
    refuse(&m, "net.onnx: the else branch of 'y' has 2 outputs, not the node's 1");
    begin_if(&m, 1);
    n = m_node(&m, "If", "c", "y");
    Onnx__GraphProto *g = m_branch(&m, n, "then_branch", "x");
    g->input = m_append(&m, NULL, &g->n_input, m_info(&m, "i", M_FLOAT, LIST(2)));
    m_branch(&m, n, "else_branch", "x");
    refuse(&m, "net.onnx: the then branch of 'y' has inputs");
    begin_if(&m, 1);
    n = m_node(&m, "If", "c", "y");
    m_branch(&m, n, "then_branch", "x");
    m_branch(&m, n, "else_branch", "nothing");
    refuse(&m, "net.onnx: node '(y)' (If): tensor 'nothing' is read, but nothing makes it");
}

/* What a branch makes is nobody else's; in it, too, each tensor is made once. */
static void broken_names(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    exp_or_abs(&m, m_node(&m, "If", "c", "z"));
    m_node(&m, "Add", "z,r", "y");
    refuse(&m, "tensor 'r' is read, but nothing makes it");
    begin_if(&m, 1);
    Onnx__NodeProto *n = exp_or_abs(&m, m_node(&m, "If", "c", "y"));
    m_node_of(&m, n->attribute[1]->g, "Abs", "x", "r");
    refuse(&m, "tensor 'y/else2/r' is made twice");
    begin_if(&m, 1);
    n = m_node(&m, "If", "c", "y");
    Onnx__GraphProto *g = m_branch(&m, n, "then_branch", "");
    g->output = m_append(&m, NULL, &g->n_output, m_info(&m, "", M_FLOAT, LIST(2)));
    m_branch(&m, n, "else_branch", "x");
    refuse(&m, "node '(y)' (If): tensor '' is read, but nothing makes it");
}

static void broken_conditions(void **state)
{
    (void)state;
    struct m_model m;
    begin_if(&m, 1);
    m_ints(&m, "i", LIST(1));
    exp_or_abs(&m, m_node(&m, "If", "i", "y"));
    refuse(&m, "node '(y)' (If): its condition must be one bool");
    begin_if(&m, 1);
    m_add_initializer(&m, m_tensor(&m, "two", M_BOOL, LIST(2), "\1\1", 2));
    exp_or_abs(&m, m_node(&m, "If", "two", "y"));
    refuse(&m, "node '(y)' (If): its condition must be one bool");
    begin_if(&m, 1);
    exp_or_abs(&m, m_node(&m, "If", "", "y"));
    refuse(&m, "node '(y)' (If): input 0 is missing");
}

/* The function named `name`, of nothing, that has one If of two branches, which are still to come. */
static Onnx__NodeProto *if_of_function(struct m_model *m, const char *name)
{
    Onnx__FunctionProto *f = m_alloc(m, sizeof *f);
    onnx__function_proto__init(f);
    f->name = m_text(m, name);
    f->domain = m_text(m, "my");
    Onnx__NodeProto *n = m_loose_node(m, "If", "c", "");
    f->node = m_append(m, f->node, &f->n_node, n);
    m->pb.functions = m_append(m, m->pb.functions, &m->pb.n_functions, f);
    return n;
}

/* Small files that ask for much: of calls, depth and names. */
static void greedy(void **state)
{
    (void)state;
    static const char *const branches[] = {"then_branch", "else_branch"};
    struct m_model m;
    begin_if(&m, 1);
    m_opset(&m, "my", 1);
    for (char i = 'a'; i < 'p'; i++) {
        Onnx__NodeProto *n = if_of_function(&m, (char[]){i, 0});
        for (int k = 0; k < 2; k++) {
            Onnx__GraphProto *g = m_branch(&m, n, branches[k], "");
            if (i < 'o') m_node_of(&m, g, (char[]){(char)(i + 1), 0}, "", "")->domain = m_text(&m, "my");
        }
    }
    m_node(&m, "a", "", "")->domain = m_text(&m, "my");
    refuse(&m, "it calls functions more than 32768 times");
    begin_if(&m, 1);
    m_opset(&m, "my", 1);
    Onnx__NodeProto *n = if_of_function(&m, "f");
    for (int k = 0; k < 2; k++) m_node_of(&m, m_branch(&m, n, branches[k], ""), "f", "", "")->domain = m_text(&m, "my");
    m_node(&m, "f", "", "")->domain = m_text(&m, "my");
    refuse(&m, "nested more than 32 deep at");
    begin_if(&m, 1);
    m_opset(&m, "my", 1);
    n = if_of_function(&m, "f");
    Onnx__GraphProto *g = m_branch(&m, n, "then_branch", "");
    m_branch(&m, n, "else_branch", "");
    for (int i = 0; i < 2000; i++) {
        char name[16];
        snprintf(name, sizeof name, "w%d", i);
        g->initializer = m_append(&m, g->initializer, &g->n_initializer, m_tensor(&m, name, M_FLOAT, NO_DIMS, &(float){1}, 4));
    }
    for (int i = 0; i < 600; i++) m_node(&m, "f", "", "")->domain = m_text(&m, "my");
    refuse(&m, "the branches of its Ifs make more than 1048576 tensors");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taken),
        cmocka_unit_test(condition_of_shape),
        cmocka_unit_test(nested),
        cmocka_unit_test(shadows),
        cmocka_unit_test(outputs),
        cmocka_unit_test(weights),
        cmocka_unit_test(not_taken),
        cmocka_unit_test(unknown_in_taken),
        cmocka_unit_test(at_run_time),
        cmocka_unit_test(chain),
        cmocka_unit_test(in_function),
        cmocka_unit_test(damaged),
        cmocka_unit_test(broken),
        cmocka_unit_test(broken_names),
        cmocka_unit_test(broken_conditions),
        cmocka_unit_test(greedy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
