/* Layers of ONNX files: names in all forms, who reads whom, what needs no place. */
#include "tests/support/deploy.h"
#include "planner/deploy/mapping.h"

static void assert_layer(const struct ig_layers *l, const char *name, const char *in, const char *out)
{
    char text[256] = "";
    int32_t i = ig_layer_find(l, name);
    if (i < 0) fail_msg("there is no layer '%s'", name);
    for (int32_t k = 0; k < l->at[i].n_in; k++) sprintf(text + strlen(text), "%s%s", k ? "," : "", l->at[i].in[k]);
    assert_string_equal(text, in);
    text[0] = 0;
    for (int32_t k = 0; k < l->at[i].n_out; k++) sprintf(text + strlen(text), "%s%s", k ? "," : "", l->at[i].out[k]);
    assert_string_equal(text, out);
}

/* Every producer is found by index, and makes what is read. */
static void assert_makers(const struct ig_layers *l)
{
    for (int32_t i = 0; i < l->n; i++)
        for (int32_t k = 0; k < l->at[i].n_in; k++) {
            int32_t from = l->at[i].from[k], found = from < 0;
            for (int32_t o = 0; !found && o < l->at[from].n_out; o++) found = !strcmp(l->at[from].out[o], l->at[i].in[k]);
            assert_true(found);
        }
}

static void layers_of_a_file(void **state)
{
    struct ig_layers *l = d_layers("Conv x,w>c1; Relu c1>r1; Conv r1,w>c2; Add r1,c2>s; Split s>a,b; Concat b,a>y", "y");
    (void)state;
    assert_int_equal(l->n, 6);
    assert_int_equal(l->n_spare, 0);
    assert_layer(l, "c1", "x", "c1");
    assert_layer(l, "s", "r1,c2", "s");
    assert_layer(l, "a", "s", "a,b");
    assert_layer(l, "y", "b,a", "y");
    assert_int_equal(ig_layer_find(l, "b"), -1);
    assert_int_equal(ig_layer_find(l, "x"), -1);
    assert_int_equal(ig_layer_find(l, ""), -1);
    assert_int_equal(l->at[0].from[0], -1);
    assert_string_equal(l->inputs[0], "x");
    assert_string_equal(l->outputs[0], "y");
    assert_int_equal(l->n_inputs, 1);
    assert_makers(l);
    ig_layers_free(l);
}

/* The names of a mapping: the public tool's, those that examples of it have, and what a viewer shows. */
static void map_names(void **state)
{
    struct m_model m;
    char err[512];
    (void)state;
    d_model(&m, "Conv x,w>/features.0/Conv_output_0; Relu /features.0/Conv_output_0>y", "y");
    m.graph.node[0]->name = m_text(&m, "/features.0/Conv");
    m.graph.node[1]->name = m_text(&m, "last");
    m_pack(&m);
    struct ig_layers *l = ig_layers_bytes("net.onnx", m.bytes, m.n_bytes, err, sizeof err);
    assert_non_null(l);
    assert_string_equal(l->at[0].autodice, "_features.0_Conv_output_0");
    assert_string_equal(l->at[0].name, "/features.0/Conv");
    static const char *const names[] = {"_features.0_Conv_output_0", "_features_0_Conv_output_0",
                                        "/features.0/Conv_output_0", "/features.0/Conv"};
    for (int i = 0; i < 4; i++) assert_int_equal(ig_layer_find(l, names[i]), 0);
    assert_int_equal(ig_layer_find(l, "last"), 1);
    assert_int_equal(ig_layer_find(l, "y"), 1);
    assert_int_equal(ig_layer_find(l, "_features.0_Conv"), -1);
    ig_layers_free(l);
    m_free(&m);
}

/* A tensor keeps its name where '_' for '/' would give it that of another. */
static void names_stay_apart(void **state)
{
    struct ig_layers *l = d_layers("Relu x>a/b; Relu a/b>a_b; Relu a_b>c/d/e; Relu c/d/e>c_d/e; Relu c_d/e>y", "y");
    (void)state;
    static const char *const want[] = {"a/b", "a_b", "c_d_e", "c_d/e", "y"};
    for (int i = 0; i < 5; i++) {
        assert_string_equal(l->at[i].autodice, want[i]);
        assert_int_equal(ig_layer_find(l, want[i]), i);
    }
    ig_layers_free(l);
}

/* Constants, shapes, what is made of them, and what no output needs: none has to be mapped, each may be. */
static void spare_nodes(void **state)
{
    struct ig_layers *l = d_layers("Constant >k; Identity w>w2; Conv x,w2>c; Shape c>n; Mul n,k>k2; Relu c>dead;"
                                   "Reshape c,k2>y", "y");
    static const char *const spare[] = {"k", "w2", "n", "k2", "dead"};
    (void)state;
    assert_int_equal(l->n, 2);
    assert_int_equal(l->n_spare, 5);
    assert_layer(l, "c", "x", "c");
    assert_layer(l, "y", "c", "y");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(ig_layer_find(l, spare[i]), -1);
        assert_true(ig_layer_is_spare(l, spare[i]));
    }
    assert_false(ig_layer_is_spare(l, "c"));
    struct ig_mapping *m = d_mapping(l, "{\"a_cpu0\": [\"k\", \"c\", \"dead\", \"y\"]}");
    assert_int_equal(m->keys[0].n_layers, 2);
    ig_mapping_free(m);
    ig_layers_free(l);
}

/* The file's order, not the graph's; an optional output without a name; a node that reads a tensor twice. */
static void odd_nodes(void **state)
{
    struct ig_layers *l = d_layers("Add c,c>y; Dropout x>c,", "y");
    (void)state;
    assert_layer(l, "y", "c,c", "y");
    assert_layer(l, "c", "x", "c");
    assert_int_equal(ig_layer_find(l, "y"), 0);
    assert_makers(l);
    ig_layers_free(l);
}

/* Of an If both branches may be taken: what it reads, and what their nodes read of the layers around it, is known. */
static void branches_of_an_if(void **state)
{
    struct m_model m;
    char err[512];
    (void)state;
    d_model(&m, "Conv x,w>c1; Shape c1>s; If s>i; Relu i>y", "y");
    m_node_of(&m, m_branch(&m, m.graph.node[2], "then_branch", "r"), "Pad", "c1", "r");
    m_branch(&m, m.graph.node[2], "else_branch", "c1");
    m_pack(&m);
    struct ig_layers *l = ig_layers_bytes("net.onnx", m.bytes, m.n_bytes, err, sizeof err);
    if (!l) fail_msg("%s", err);
    assert_int_equal(l->n, 4);
    assert_int_equal(l->n_spare, 1);
    assert_layer(l, "i/then1/r", "c1", "i/then1/r");
    assert_layer(l, "i", "i/then1/r,c1", "i");
    assert_layer(l, "y", "i", "y");
    assert_makers(l);
    ig_layers_free(l);
    m_free(&m);
}

/* Every prefix of a file is refused in one line, or is a file; no byte that changes makes more of it than an answer. */
static void damaged_files(void **state)
{
    struct m_model m;
    char err[512];
    (void)state;
    d_model(&m, "Conv x,w>c1; Relu c1>r1; Split r1>a,b; Concat b,a>y", "y");
    uint8_t *bytes = malloc(m.n_bytes);
    for (size_t n = 0; n < m.n_bytes; n++) {
        memcpy(bytes, m.bytes, n);
        struct ig_layers *l = ig_layers_bytes("net.onnx", bytes, n, err, sizeof err);
        if (!l && (strncmp(err, "net.onnx: ", 10) || strchr(err, '\n'))) fail_msg("%zu bytes: '%s'", n, err);
        ig_layers_free(l);
    }
    for (size_t i = 0; i < 8 * m.n_bytes; i++) {
        memcpy(bytes, m.bytes, m.n_bytes);
        bytes[i / 8] ^= (uint8_t)(1 << i % 8);
        struct ig_layers *l = ig_layers_bytes("net.onnx", bytes, m.n_bytes, err, sizeof err);
        if (l) assert_makers(l);
        else if (strncmp(err, "net.onnx: ", 10) || strchr(err, '\n')) fail_msg("bit %zu: '%s'", i, err);
        ig_layers_free(l);
    }
    free(bytes);
    m_free(&m);
}

static void files_that_are_none(void **state)
{
    char err[512];
    (void)state;
    assert_null(ig_layers_read("/nowhere/net.onnx", err, sizeof err));
    assert_string_equal(err, "/nowhere/net.onnx: No such file or directory");
    assert_null(ig_layers_read("/tmp", err, sizeof err));
    assert_string_equal(err, "/tmp: a folder: name the .onnx file in it");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(layers_of_a_file), cmocka_unit_test(map_names),
                                       cmocka_unit_test(names_stay_apart), cmocka_unit_test(spare_nodes),
                                       cmocka_unit_test(odd_nodes), cmocka_unit_test(branches_of_an_if), cmocka_unit_test(damaged_files),
                                       cmocka_unit_test(files_that_are_none)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
