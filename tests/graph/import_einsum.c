/* Einsum: which nodes an equation becomes, what is refused, and random equations against sums over all indices. */
#include <stdio.h>

#include "tests/support/interp.h"
#include "tests/support/onnx_op.h"

/* A model of one Einsum with inputs `in`, x being of these dims. */
static void begin_einsum(const char *equation, int rank, const int64_t *dims, const char *in)
{
    m_attr_s(&m, begin(12, rank, dims, "Einsum", in, "result"), "equation", equation);
}

static struct ig_graph *of_two(const char *equation, int rank, const int64_t *dims, int rank_y, const int64_t *dims_y)
{
    begin_einsum(equation, rank, dims, "x,y");
    m_input(&m, "y", M_FLOAT, rank_y, dims_y);
    return must_import();
}

/* The same with constant weights on the right. */
static struct ig_graph *of_weights(const char *equation, int rank, const int64_t *dims, int rank_w, const int64_t *dims_w)
{
    begin_einsum(equation, rank, dims, "x,w");
    m_weights(&m, "w", rank_w, dims_w);
    return must_import();
}

static void check_matmul(const struct ig_graph *g, int node, int trans_a, int trans_b)
{
    assert_int_equal(g->nodes[node].op, IG_MATMUL);
    assert_int_equal(g->nodes[node].attrs.matmul.trans_a, trans_a);
    assert_int_equal(g->nodes[node].attrs.matmul.trans_b, trans_b);
}

/* Products whose dims lie as a MATMUL wants them are just that. */
static void plain_products(void **state)
{
    (void)state;
    static const struct {
        const char *equation;
        int64_t x[4], y[4];
        int trans_a, trans_b;
    } cases[] = {
        {"bhid,bhjd->bhij", {2, 3, 4, 5}, {2, 3, 6, 5}, 0, 1},
        {"b h i j, b h j d -> b h i d", {2, 3, 4, 5}, {2, 3, 5, 6}, 0, 0},
        {"B H J I , B H J D -> B H I D", {2, 3, 5, 4}, {2, 3, 5, 6}, 1, 0},
        {"...ij,...jk", {2, 3, 4, 5}, {2, 3, 5, 6}, 0, 0},
        {"bhij,bhjd->bhdi", {2, 3, 4, 5}, {2, 3, 5, 6}, 1, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g = of_two(cases[i].equation, 4, cases[i].x, 4, cases[i].y);
        check_ops(g, OPS(IG_MATMUL));
        check_matmul(g, 0, cases[i].trans_a, cases[i].trans_b);
        ig_graph_free(g);
    }
}

/* Several labels are one dim of the matrix where that needs no transpose. */
static void merged_products(void **state)
{
    (void)state;
    struct ig_graph *g = of_two("bqc,bchw->bqhw", LIST(2, 3, 4), LIST(2, 4, 5, 6));
    check_ops(g, OPS(IG_RESHAPE, IG_MATMUL, IG_RESHAPE));
    check_output(g, 0, LIST(2, 3, 5, 6));
    ig_graph_free(g);
    g = of_two("bchw,bcij->bhwij", LIST(2, 3, 4, 5), LIST(2, 3, 6, 7));
    check_ops(g, OPS(IG_RESHAPE, IG_RESHAPE, IG_MATMUL, IG_RESHAPE));
    check_matmul(g, 2, 1, 0);
    ig_graph_free(g);
    g = of_two("bk,bkn->bn", LIST(2, 3), LIST(2, 3, 4));
    check_ops(g, OPS(IG_RESHAPE, IG_MATMUL, IG_RESHAPE));
    ig_graph_free(g);
    g = of_two("bkn,bk->bn", LIST(2, 3, 4), LIST(2, 3)); /* the vector is the left side */
    check_ops(g, OPS(IG_RESHAPE, IG_MATMUL, IG_RESHAPE));
    check_matmul(g, 1, 0, 0);
    ig_graph_free(g);
    g = of_two("bhwc,wkc->bhwk", LIST(2, 3, 4, 5), LIST(4, 6, 5));
    check_ops(g, OPS(IG_TRANSPOSE, IG_RESHAPE, IG_MATMUL, IG_RESHAPE, IG_TRANSPOSE));
    ig_graph_free(g);
    g = of_two("bhwc,wkc->bhwk", LIST(1, 1, 4, 5), LIST(4, 6, 5)); /* dims of 1 move for nothing */
    check_ops(g, OPS(IG_RESHAPE, IG_MATMUL, IG_RESHAPE));
    ig_graph_free(g);
    g = of_two("bhwc,hkc->bhwk", LIST(1, 3, 4, 5), LIST(3, 6, 5));
    check_ops(g, OPS(IG_MATMUL));
    check_matmul(g, 0, 0, 1);
    ig_graph_free(g);
}

/* The only node of g after the passes that is of op. */
static const struct ig_node *after_passes(struct ig_graph *g, enum ig_op op)
{
    const struct ig_node *found = NULL;
    assert_int_equal(ig_run_passes(g, ig_ref_eval, err, sizeof err), 0);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == (int32_t)op) {
            assert_null(found);
            found = &g->nodes[i];
        }
    assert_non_null(found);
    return found;
}

/* A product with a constant matrix becomes a layer with weights, whichever side it is on; the very constant where it lies so. */
static void weights(void **state)
{
    (void)state;
    struct ig_graph *g = of_weights("ij,jk->ik", LIST(2, 3), LIST(3, 4));
    check_ops(g, OPS(IG_MATMUL));
    after_passes(g, IG_FC);
    ig_graph_free(g);
    g = of_weights("bij,jk->bik", LIST(2, 3, 4), LIST(4, 5));
    check_ops(g, OPS(IG_MATMUL));
    after_passes(g, IG_CONV);
    ig_graph_free(g);
    g = of_weights("bij,kj->bik", LIST(2, 3, 4), LIST(5, 4));
    check_ops(g, OPS(IG_MATMUL));
    check_matmul(g, 0, 0, 1);
    after_passes(g, IG_CONV);
    ig_graph_free(g);
    begin_einsum("kj,bij->bik", LIST(2, 3, 4), "w,x");
    m_weights(&m, "w", LIST(5, 4));
    g = must_import();
    check_ops(g, OPS(IG_MATMUL));
    check_matmul(g, 0, 0, 1);
    ig_graph_free(g);
    g = of_weights("abcdei,ik->abcdek", LIST(2, 3, 2, 3, 2, 4), LIST(4, 5)); /* two dims are one in a convolution */
    check_ops(g, OPS(IG_RESHAPE, IG_MATMUL, IG_RESHAPE));
    after_passes(g, IG_CONV);
    ig_graph_free(g);
    g = of_weights("bchw,oc->bohw", LIST(1, 3, 4, 5), LIST(6, 3));
    check_ops(g, OPS(IG_TRANSPOSE, IG_MATMUL, IG_TRANSPOSE));
    after_passes(g, IG_CONV);
    ig_graph_free(g);
    g = of_weights("bmd,bnm->bnd", LIST(2, 3, 4), LIST(2, 5, 3)); /* one matrix an image: no layer */
    check_ops(g, OPS(IG_MATMUL));
    ig_graph_free(g);
}

/* One input, and products without a sum or without a label of one side alone. */
static void no_products(void **state)
{
    (void)state;
    static const struct {
        const char *equation;
        int32_t n, ops[5];
    } cases[] = {
        {"ij->ji", 1, {IG_TRANSPOSE}},
        {"ij->i", 2, {IG_REDUCE, IG_RESHAPE}},
        {"ij->", 2, {IG_REDUCE, IG_RESHAPE}},
        {"ji", 1, {IG_TRANSPOSE}},
        {"ii->i", 2, {IG_RESHAPE, IG_SLICE}},
        {"ii", 4, {IG_RESHAPE, IG_SLICE, IG_REDUCE, IG_RESHAPE}},
        {"ij,ij->ij", 1, {IG_BINARY}},
        {"ij,j->ij", 1, {IG_BINARY}},
        {"i,j->ij", 2, {IG_RESHAPE, IG_BINARY}},
        {"bi,bi->b", 3, {IG_BINARY, IG_REDUCE, IG_RESHAPE}},
        {"ij,jk->i", 5, {IG_REDUCE, IG_RESHAPE, IG_RESHAPE, IG_MATMUL, IG_RESHAPE}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *comma = strchr(cases[i].equation, ','), *arrow = strstr(cases[i].equation, "->");
        int rank = (int)strcspn(cases[i].equation, ",-"), rank_y = comma ? (int)(arrow - comma) - 1 : 0;
        begin_einsum(cases[i].equation, rank, (int64_t[]){3, 3}, comma ? "x,y" : "x");
        if (comma) m_input(&m, "y", M_FLOAT, rank_y, (int64_t[]){3, 3});
        struct ig_graph *g = must_import();
        if (cases[i].n != g->n_nodes) fail_msg("'%s': %d nodes", cases[i].equation, g->n_nodes);
        check_ops(g, cases[i].n, cases[i].ops);
        ig_graph_free(g);
    }
}

/* MATMUL is of floats alone. */
static void integers(void **state)
{
    (void)state;
    m_init(&m, 12);
    m_input(&m, "x", M_INT32, LIST(2, 3));
    m_input(&m, "y", M_INT32, LIST(3, 4));
    m_attr_s(&m, m_node(&m, "Einsum", "x,y", "z"), "equation", "ij,jk");
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_RESHAPE, IG_TRANSPOSE, IG_BINARY, IG_REDUCE, IG_RESHAPE));
    assert_int_equal(g->values[g->outputs[0]].shape.type, IG_I32);
    check_output(g, 0, LIST(2, 4));
    ig_graph_free(g);
}

static void refusals(void **state)
{
    (void)state;
    static char full[400], most[3 * 130];
    static const struct {
        const char *equation, *part;
    } cases[] = {
        {"ij,jk->ik,", "node '(result)' (Einsum): 'ik,' is no term of an equation"},
        {"ij,j1->i", "'j1' is no term of an equation"},
        {"ij,j\x80->i", "is no term of an equation"},
        {"ij,j.->i", "'j.' is no term of an equation"},
        {"ij,......->i", "'......' is no term of an equation"},
        {"ij,jk->ik->", "'ik->' is no term of an equation"},
        {"ij->ij", "its equation has 1 terms for 2 inputs"},
        {"", "its equation has 1 terms for 2 inputs"},
        {"ij,jk,->ik", "its equation has 3 terms for 2 inputs"},
        {"ijk,jk->i", "'ijk' of its equation does not fit a tensor of rank 2"},
        {"ijk...,jk->i", "'ijk...' of its equation does not fit a tensor of rank 2"},
        {"i,jk->i", "'i' of its equation does not fit a tensor of rank 2"},
        {"ij,jk->iz", "'z' of the result of its equation is in no input"},
        {"ij,jk->iik", "'i' is there twice in the result of its equation"},
        {"ij,ik->jk", "dimensions 'i' of its inputs are 2 and 3"},
        {"...,...->...", "dimensions '...' of its inputs are 2 and 3"},
        {"ii,jk->jk", "dimensions 'i' of an input are 2 and 3"},
        {"i...,jk->ijk", "the result of its equation leaves out the ellipsis"},
        {"ij,jk->abcdefghi", "a result of rank 9; at most 8 is supported"},
        {full, "an equation of 256 characters or more is not supported"},
        {most, "its equation has 127 terms for 2 inputs"},
    };
    memset(full, 'i', sizeof full - 1);
    for (int i = 0; i < 126; i++)
        memcpy(most + 2 * i, "i,", 3);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin_einsum(cases[i].equation, LIST(2, 3), "x,y");
        m_input(&m, "y", M_FLOAT, LIST(3, 4));
        must_refuse(cases[i].part);
    }
    begin(12, LIST(2, 3), "Einsum", "x", "result");
    must_refuse("attribute 'equation' is missing");
    begin_einsum("ai,bi,ci->i", LIST(1, 2), "x,y,z");
    m_input(&m, "y", M_FLOAT, LIST(1, 1));
    m_input(&m, "z", M_FLOAT, LIST(1, 3));
    must_refuse("dimensions 'i' of its inputs are 2 and 3");
    begin_einsum("abcde,fghij,kl->ak", LIST(1, 1, 1, 1, 2), "x,x,y"); /* what is of no use later is summed first */
    m_input(&m, "y", M_FLOAT, LIST(3, 4));
    ig_graph_free(must_import());
    begin_einsum("abcde,fghij,abcde,fghij->", LIST(1, 1, 1, 1, 2), "x,x,x,x");
    must_refuse("a product of rank 10; at most 8 is supported");
}

enum { LETTERS = 5, MOST_INPUTS = 3, MOST_RANK = 4, WIDE = 2, MOST_LABELS = 5 + WIDE };

/*
 * A random equation: what its inputs' dims are called, and the result's. Letters are 0.., dims of an ellipsis, counted from the right,
 * follow them.
 */
struct sum {
    struct rng r;
    int32_t size[MOST_LABELS];
    int n, rank[MOST_INPUTS], label[MOST_INPUTS][MOST_RANK], wide; /* the widest ellipsis */
    int64_t dims[MOST_INPUTS][MOST_RANK];
    float *data[MOST_INPUTS];
    int n_out, out[MOST_LABELS];
    char text[128];
};

static void write_label(struct sum *s, int label)
{
    strcat(s->text, (char[]){(char)("aBcDz"[label]), 0});
    if (rng_one_in(&s->r, 4)) strcat(s->text, " ");
}

/* Input i: letters, some of them twice, with an ellipsis of so many dims, or of none where `dots` is -1. */
static void random_input(struct sum *s, int i, int dots)
{
    int letters = rng_int(&s->r, 0, MOST_RANK - (dots < 0 ? 0 : dots)), at = rng_int(&s->r, 0, letters), n = 0;
    if (i) strcat(s->text, ",");
    for (int k = 0; k <= letters; k++) {
        if (k == at && dots >= 0) {
            strcat(s->text, "...");
            for (int d = dots - 1; d >= 0; d--)
                s->label[i][n++] = LETTERS + d;
        }
        if (k < letters) write_label(s, s->label[i][n++] = rng_int(&s->r, 0, LETTERS - 1));
    }
    if (dots > s->wide) s->wide = dots;
    s->rank[i] = n;
    int32_t one = rng_one_in(&s->r, 3) ? rng_int(&s->r, 0, MOST_LABELS - 1) : -1; /* is broadcast */
    for (int k = 0; k < n; k++)
        s->dims[i][k] = s->label[i][k] == one ? 1 : s->size[s->label[i][k]];
}

static int uses_of(const struct sum *s, int label)
{
    int n = 0;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->rank[i]; k++)
            n += s->label[i][k] == label;
    return n;
}

/* The largest: an input's dim may be 1. */
static int64_t true_size(const struct sum *s, int label)
{
    int64_t size = 1;
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < s->rank[i]; k++)
            if (s->label[i][k] == label && s->dims[i][k] > size) size = s->dims[i][k];
    return size;
}

/* Sorted where it is implied: capital letters first. */
static void random_result(struct sum *s)
{
    static const int sorted[LETTERS] = {1, 3, 0, 2, 4};
    int implied = rng_one_in(&s->r, 4), shift = implied ? 0 : rng_int(&s->r, 0, LETTERS - 1), dots = -1;
    if (!implied) {
        strcat(s->text, "->");
        dots = rng_int(&s->r, 0, LETTERS - 1);
    }
    for (int k = -1; k < LETTERS; k++) {
        if (k == dots) {
            if (!implied && s->wide) strcat(s->text, "...");
            for (int d = s->wide - 1; d >= 0; d--)
                s->out[s->n_out++] = LETTERS + d;
        }
        int label = k < 0 ? 0 : sorted[(k + shift) % LETTERS], uses = k < 0 ? 0 : uses_of(s, label);
        if (implied ? uses != 1 : !uses || rng_one_in(&s->r, 2)) continue;
        s->out[s->n_out++] = label;
        if (!implied) write_label(s, label);
    }
}

static void random_sum(struct sum *s, uint64_t seed)
{
    *s = (struct sum){.r = {seed}};
    s->n = rng_int(&s->r, 1, MOST_INPUTS);
    for (int i = 0; i < MOST_LABELS; i++)
        s->size[i] = rng_int(&s->r, 1, 3);
    for (int i = 0; i < s->n; i++)
        random_input(s, i, rng_one_in(&s->r, 3) ? rng_int(&s->r, 0, WIDE) : -1);
    random_result(s);
    for (int i = 0; i < s->n; i++) {
        int64_t n = 1;
        for (int k = 0; k < s->rank[i]; k++)
            n *= s->dims[i][k];
        s->data[i] = malloc((size_t)n * sizeof(float));
        for (int64_t k = 0; k < n; k++)
            s->data[i][k] = (float)rng_int(&s->r, -3, 3);
    }
}

/* The product of the inputs' elements at the labels' indices. */
static float term_at(const struct sum *s, const int64_t *index)
{
    float product = 1;
    for (int i = 0; i < s->n; i++) {
        int64_t at = 0;
        for (int k = 0; k < s->rank[i]; k++)
            at = at * s->dims[i][k] + (s->dims[i][k] == 1 ? 0 : index[s->label[i][k]]);
        product *= s->data[i][at];
    }
    return product;
}

static void sum_up(const struct sum *s, float *result)
{
    int64_t index[MOST_LABELS] = {0};
    for (int label = 0; label < MOST_LABELS;) {
        int64_t at = 0;
        for (int k = 0; k < s->n_out; k++)
            at = at * true_size(s, s->out[k]) + index[s->out[k]];
        result[at] += term_at(s, index);
        for (label = 0; label < MOST_LABELS && ++index[label] == true_size(s, label); label++)
            index[label] = 0;
    }
}

/* Some inputs are constant. */
static struct ig_graph *import_sum(struct sum *s, void **inputs)
{
    static const char *const names[MOST_INPUTS] = {"a", "b", "c"}, *const lists[MOST_INPUTS] = {"a", "a,b", "a,b,c"};
    int n = 0;
    m_init(&m, 12);
    for (int i = 0; i < s->n; i++) {
        int64_t count = 1;
        for (int k = 0; k < s->rank[i]; k++)
            count *= s->dims[i][k];
        if (i && rng_one_in(&s->r, 3)) {
            m_add_initializer(&m, m_tensor(&m, names[i], M_FLOAT, s->rank[i], s->dims[i], s->data[i], (size_t)count * sizeof(float)));
        } else {
            m_input(&m, names[i], M_FLOAT, s->rank[i], s->dims[i]);
            inputs[n++] = s->data[i];
        }
    }
    m_attr_s(&m, m_node(&m, "Einsum", lists[s->n - 1], "z"), "equation", s->text);
    return import();
}

static void one_sum(uint64_t seed)
{
    struct sum s;
    void *inputs[MOST_INPUTS], *outputs[1];
    random_sum(&s, seed);
    struct ig_graph *g = import_sum(&s, inputs);
    if (!g) fail_msg("seed %llu, '%s': %s", (unsigned long long)seed, s.text, err);
    const struct ig_shape *shape = &g->values[g->outputs[0]].shape;
    float *want = calloc((size_t)ig_count(shape), sizeof *want);
    assert_int_equal(shape->rank, s.n_out);
    for (int k = 0; k < s.n_out; k++)
        assert_int_equal(shape->dims[k], true_size(&s, s.out[k]));
    sum_up(&s, want);
    for (int passes = 0; passes < 2; passes++) {
        if (passes) assert_int_equal(ig_run_passes(g, ig_ref_eval, err, sizeof err), 0);
        assert_int_equal(interp_run(g, ig_ref_eval, inputs, outputs), 0);
        int64_t at = interp_difference(&g->values[g->outputs[0]].shape, want, outputs[0], 0);
        if (at >= 0) fail_msg("seed %llu, '%s': element %lld differs", (unsigned long long)seed, s.text, (long long)at);
        free(outputs[0]);
    }
    free(want);
    for (int i = 0; i < s.n; i++)
        free(s.data[i]);
    ig_graph_free(g);
}

static void random_sums(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++)
        one_sum(seed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_products), cmocka_unit_test(merged_products), cmocka_unit_test(weights),
        cmocka_unit_test(no_products),    cmocka_unit_test(integers),        cmocka_unit_test(refusals),
        cmocka_unit_test(random_sums),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
