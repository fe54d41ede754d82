/* How RNN, GRU and LSTM become a product and a node per direction; what is refused. */
#include "tests/support/interp.h"
#include "tests/support/onnx_op.h"

enum { T = 5, B = 2, I = 3, H = 4 };

static void strings(Onnx__NodeProto *n, const char *name, int count, const char *const *list)
{
    Onnx__AttributeProto *a = m_attr(&m, n, name, 8);
    a->n_strings = (size_t)count;
    a->strings = m_alloc(&m, (size_t)count * sizeof *a->strings);
    for (int i = 0; i < count; i++) a->strings[i] = (ProtobufCBinaryData){strlen(list[i]), (uint8_t *)m_text(&m, list[i])};
}

static void floats(Onnx__NodeProto *n, const char *name, int count, const float *list)
{
    Onnx__AttributeProto *a = m_attr(&m, n, name, 6);
    a->n_floats = (size_t)count;
    a->floats = m_alloc(&m, (size_t)count * sizeof *a->floats);
    memcpy(a->floats, list, (size_t)count * sizeof *a->floats);
}

/* x [T,B,I] and weights w, r, b of so many directions and gates. */
static Onnx__NodeProto *layer(const char *op, int directions, int gates, const char *in, const char *out)
{
    Onnx__NodeProto *n = begin(14, LIST(T, B, I), op, in, out);
    m_weights(&m, "w", LIST(directions, gates * H, I));
    m_weights(&m, "r", LIST(directions, gates * H, H));
    m_weights(&m, "b", LIST(directions, 2 * gates * H));
    if (directions == 2) m_attr_s(&m, n, "direction", "bidirectional");
    return n;
}

static const struct ig_node *only(const struct ig_graph *g, int op)
{
    const struct ig_node *found = NULL;
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == op) {
            assert_null(found);
            found = &g->nodes[i];
        }
    assert_non_null(found);
    return found;
}

static const float *data(const struct ig_graph *g, int32_t v)
{
    assert_true(v >= 0 && g->values[v].data);
    return (const float *)g->values[v].data;
}

static void one_direction(void **state)
{
    (void)state;
    layer("LSTM", 1, 4, "x,w,r,b", "y,h,c");
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_RESHAPE, IG_MATMUL, IG_BINARY, IG_RESHAPE, IG_RECURRENT));
    const struct ig_node *n = &g->nodes[4];
    const struct ig_recurrent *a = &n->attrs.recurrent;
    m_check_shape(g, g->nodes[1].out[0], LIST(1, T * B, 4 * H));
    m_check_shape(g, n->in[0], LIST(T, B, 4 * H));
    m_check_shape(g, n->in[1], LIST(1, 4 * H, H));
    for (int k = 2; k < 6; k++) assert_int_equal(n->in[k], -1);
    assert_int_equal(a->kind, IG_LSTM);
    assert_true(a->f.kind == IG_SIGMOID && a->g.kind == IG_TANH && a->u.kind == IG_TANH && !a->reverse && a->clip == 0);
    const float *bias = data(g, g->nodes[2].in[1]);
    for (int i = 0; i < 4 * H; i++) assert_true(bias[i] == (float)(2 * i + 4 * H + 1)); /* of W and of R */
    check_output(g, 0, LIST(T, 1, B, H));
    check_output(g, 1, LIST(1, B, H));
    check_output(g, 2, LIST(1, B, H));
    assert_true(n->macs == 0);
    ig_count_macs(g);
    assert_true(n->macs == T * B * 4 * H * H);
    ig_graph_free(g);
}

static void both_directions(void **state)
{
    (void)state;
    layer("LSTM", 2, 4, "x,w,r", "y,h");
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_RESHAPE, IG_MATMUL, IG_RESHAPE, IG_RECURRENT));
    const struct ig_node *n = &g->nodes[3];
    assert_true(n->out[1] >= 0 && n->out[2] == -1 && n->attrs.recurrent.reverse == 2);
    m_check_shape(g, n->in[0], LIST(T, B, 2 * 4 * H));
    m_check_shape(g, n->in[1], LIST(2, 4 * H, H));
    check_output(g, 0, LIST(T, 2, B, H));
    check_output(g, 1, LIST(2, B, H));
    ig_graph_free(g);
}

/* The recurrent bias of gate h is within what r multiplies. */
static void reset_after(void **state)
{
    (void)state;
    m_attr_i(&m, layer("GRU", 1, 3, "x,w,r,b", "y"), "linear_before_reset", 1);
    struct ig_graph *g = must_import();
    const struct ig_node *n = only(g, IG_RECURRENT);
    const float *bias = data(g, only(g, IG_BINARY)->in[1]), *own = data(g, n->in[2]);
    assert_true(n->attrs.recurrent.reset_after);
    for (int i = 0; i < 2 * H; i++) assert_true(bias[i] == (float)(2 * i + 3 * H + 1));
    for (int i = 0; i < H; i++) assert_true(bias[2 * H + i] == (float)(2 * H + i) + 0.5f && own[i] == (float)(5 * H + i) + 0.5f);
    ig_graph_free(g);
    layer("GRU", 1, 3, "x,w,r,b", "y");
    g = must_import();
    n = only(g, IG_RECURRENT);
    assert_true(!n->attrs.recurrent.reset_after && n->in[2] == -1);
    ig_graph_free(g);
}

static void rows_first(void **state)
{
    (void)state;
    m_attr_i(&m, layer("GRU", 1, 3, "x,w,r,,,h0", "y,h"), "layout", 1);
    m_input(&m, "h0", M_FLOAT, LIST(T, 1, H)); /* x is T rows of B steps */
    struct ig_graph *g = must_import();
    m_check_shape(g, only(g, IG_RECURRENT)->in[0], LIST(B, T, 3 * H));
    m_check_shape(g, only(g, IG_RECURRENT)->in[3], LIST(1, T, H));
    check_output(g, 0, LIST(T, B, 1, H));
    check_output(g, 1, LIST(T, 1, H));
    ig_graph_free(g);
}

/* Directions of other activations are nodes of their own. */
static void activations(void **state)
{
    (void)state;
    static const char *const names[] = {"HardSigmoid", "relu", "LeakyRelu", "SIGMOID", "HardSigmoid", "Elu"};
    static const float alpha[] = {0.3f, 0.4f, 0.5f}, beta[] = {0.6f};
    Onnx__NodeProto *n = layer("LSTM", 2, 4, "x,w,r", "y");
    strings(n, "activations", 6, names);
    floats(n, "activation_alpha", 3, alpha);
    floats(n, "activation_beta", 1, beta);
    m_attr_f(&m, n, "clip", 2.5f);
    m_attr_i(&m, n, "input_forget", 1);
    struct ig_graph *g = must_import();
    const struct ig_recurrent *a[2] = {NULL, NULL};
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == IG_RECURRENT) a[g->nodes[i].attrs.recurrent.reverse] = &g->nodes[i].attrs.recurrent;
    assert_true(a[0]->f.kind == IG_HARD_SIGMOID && a[0]->f.alpha == 0.3f && a[0]->f.beta == 0.6f);
    assert_true(a[0]->g.kind == IG_RELU && a[0]->u.kind == IG_LEAKY_RELU && a[0]->u.alpha == 0.4f);
    assert_true(a[1]->f.kind == IG_SIGMOID && a[1]->g.kind == IG_HARD_SIGMOID && a[1]->g.alpha == 0.5f && a[1]->g.beta == 0.5f);
    assert_true(a[1]->u.kind == IG_ELU && a[1]->u.alpha == 1 && a[1]->clip == 2.5f && a[1]->input_forget);
    check_output(g, 0, LIST(T, 2, B, H));
    ig_graph_free(g);
}

static void lengths(void **state)
{
    (void)state;
    layer("RNN", 1, 1, "x,w,r,,lengths", "y");
    m_ints(&m, "lengths", LIST(T, T));
    struct ig_graph *g = must_import();
    assert_int_equal(only(g, IG_RECURRENT)->attrs.recurrent.f.kind, IG_TANH);
    ig_graph_free(g);
    layer("RNN", 1, 1, "x,w,r,,lengths", "y");
    m_ints(&m, "lengths", LIST(T, T - 1));
    must_refuse("sequence_lens of other than the 5 steps are not supported");
    layer("RNN", 1, 1, "x,w,r,,lengths", "y");
    m_ints(&m, "lengths", LIST(T, T, T));
    must_refuse("3 sequence_lens for a batch of 2");
    layer("RNN", 1, 1, "x,w,r,,lengths", "y");
    m_input(&m, "lengths", M_INT64, LIST(B));
    must_refuse("sequence_lens that are computed are not supported");
}

static void checks(void **state)
{
    (void)state;
    strings(layer("RNN", 1, 1, "x,w,r", "y"), "activations", 1, (const char *const[]){"Affine"});
    must_refuse("activation 'Affine' is not supported");
    strings(layer("RNN", 1, 1, "x,w,r", "y"), "activations", 2, (const char *const[]){"Tanh", "Tanh"});
    must_refuse("2 activations where 1 are needed");
    m_attr_i(&m, layer("RNN", 1, 1, "x,w,r", "y"), "hidden_size", 5);
    must_refuse("hidden_size is not the last dimension of R, 4");
    m_attr_f(&m, layer("RNN", 1, 1, "x,w,r", "y"), "clip", 0);
    must_refuse("clip is not above 0");
    layer("RNN", 1, 3, "x,w,r", "y");
    must_refuse("dimension 1 of W is 12, not 4");
    layer("GRU", 1, 3, "x,w,r,,,h0", "y");
    m_weights(&m, "h0", LIST(1, B, H + 1));
    must_refuse("dimension 2 of initial_h is 5, not 4");
    m_attr_s(&m, layer("RNN", 1, 1, "x,w,r", "y"), "direction", "sideways");
    must_refuse("direction 'sideways' is not supported");
}

/* n floats from -5/8 to 5/8, others for every `from`. */
static void eighths(float *to, int from, int n)
{
    for (int i = 0; i < n; i++) to[i] = (float)((i * 5 + from) % 11 - 5) / 8;
}

static void tensor(const char *name, int from, int rank, const int64_t *dims)
{
    float data[64];
    int n = 1;
    for (int i = 0; i < rank; i++) n *= (int)dims[i];
    eighths(data, from, n);
    m_add_initializer(&m, m_tensor(&m, name, M_FLOAT, rank, dims, data, (size_t)n * sizeof *data));
}

enum { SMALL = 2, STEPS = 3, ELEMENTS = STEPS * 2 * SMALL * SMALL };

/* Both directions of two units, for two rows of two inputs. */
static Onnx__NodeProto *small(const char *op, int gates, const char *in, const char *out)
{
    Onnx__NodeProto *n = begin(14, LIST(STEPS, SMALL, SMALL), op, in, out);
    m_attr_s(&m, n, "direction", "bidirectional");
    tensor("w", 1, LIST(2, gates * SMALL, SMALL));
    tensor("r", 2, LIST(2, gates * SMALL, SMALL));
    tensor("b", 3, LIST(2, 2 * gates * SMALL));
    tensor("h0", 4, LIST(2, SMALL, SMALL));
    tensor("c0", 5, LIST(2, SMALL, SMALL));
    tensor("p", 6, LIST(2, 3 * SMALL));
    return n;
}

/* As imported, and after the passes. */
static void check_values(const float *const *want, int outputs)
{
    struct ig_graph *g = must_import();
    float x[STEPS * SMALL * SMALL], *out[3];
    eighths(x, 7, STEPS * SMALL * SMALL);
    for (int passed = 0; passed < 2; passed++) {
        if (passed) assert_int_equal(ig_run_passes(g, ig_ref_eval, err, sizeof err), 0);
        assert_int_equal(interp_run(g, ig_ref_eval, (void *[]){x}, (void **)out), 0);
        for (int k = 0; k < outputs; k++) {
            int64_t n = ig_count(&g->values[g->outputs[k]].shape);
            for (int64_t i = 0; i < n; i++) assert_float_equal(out[k][i], want[k][i], 1e-6);
            free(out[k]);
        }
    }
    ig_graph_free(g);
}

/* What onnxruntime 1.32 gives. */
static void values(void **state)
{
    (void)state;
    static const float after[ELEMENTS] = {-0.0511246622f, 0.361226022f, -0.103545628f, 0.310160369f, -0.0279540196f, -0.318396777f,
                                          -0.0395948812f, -0.320105255f, -0.336400002f, 0.0790017694f, -0.354468822f, 0.0752632096f,
                                          0.0614072159f, -0.0475872904f, 0.0307008438f, -0.0673860461f, -0.444735795f, -0.041992709f,
                                          -0.453322887f, -0.0280955732f, -0.0364796966f, 0.0951288193f, -0.109678641f, 0.0432910733f};
    static const float before[ELEMENTS] = {0.0843013152f, 0.314570338f, 0.0285977647f, 0.262830704f, -0.106230669f, -0.187078685f, -0.117924407f,
                                           -0.178112492f, -0.13993454f, 0.00440475345f, -0.159166723f, 0.000372111797f, 0.00223373994f,
                                           0.0549319014f, -0.0285851024f, 0.0419361219f, -0.222535104f, -0.132766724f, -0.230046242f,
                                           -0.119507521f, -0.0851814225f, 0.162429154f, -0.158663005f, 0.11311321f};
    static const float y[ELEMENTS] = {-0.106532313f, 0.0669773221f, -0.11424575f, 0.0147352451f, 0.0681205988f, 0.125399888f, 0.0569923446f,
                                      0.102886364f, -0.181237161f, -0.0193960126f, -0.179305688f, -0.0466184095f, 0.00894330163f, 0.0297618322f,
                                      -0.0256569758f, -0.00764706777f, -0.206685439f, -0.0712460876f, -0.201620981f, -0.0904990733f,
                                      -0.0811350569f, 0.0683528557f, -0.138242036f, 0.014819623f};
    static const float h[] = {-0.206685439f, -0.0712460876f, -0.201620981f, -0.0904990733f, 0.0681205988f, 0.125399888f, 0.0569923446f,
                              0.102886364f};
    static const float c[] = {-0.431090772f, -0.184478164f, -0.434509456f, -0.244463041f, 0.182429671f, 0.204252586f, 0.152119443f, 0.166820586f};
    m_attr_i(&m, small("GRU", 3, "x,w,r,b,,h0", "y"), "linear_before_reset", 1);
    check_values((const float *const[]){after}, 1);
    small("GRU", 3, "x,w,r,b,,h0", "y");
    check_values((const float *const[]){before}, 1);
    m_attr_f(&m, small("LSTM", 4, "x,w,r,b,,h0,c0,p", "y,h,c"), "clip", 0.5f);
    check_values((const float *const[]){y, h, c}, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_direction), cmocka_unit_test(both_directions), cmocka_unit_test(reset_after), cmocka_unit_test(rows_first),
        cmocka_unit_test(activations),   cmocka_unit_test(lengths),         cmocka_unit_test(checks),
        cmocka_unit_test(values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
