/* Attention and RotaryEmbedding beside what they say, written out as sums; what is refused. */
#include "tests/support/interp.h"
#include "tests/support/onnx_op.h"

enum { CASES = 300, INPUTS = 7 };

/* One case, drawn. */
struct attention {
    int32_t batch, heads, kv_heads, queries, keys, past, size, v_size; /* keys: not those of the past */
    int is_flat, is_causal, masks, has_lengths;                        /* masks: 0, M_BOOL or M_FLOAT */
    int32_t left, right, mode;                                         /* windows; what the fourth output is */
    double scale, cap;                                                 /* 0: not given */
    int32_t mask_rank, mask[4];                                        /* its dims are the last of these four */
    void *in[INPUTS];                                                  /* as the operator's inputs are; NULL: none */
};

static struct attention draw(struct rng *r)
{
    struct attention a = {.batch = rng_int(r, 1, 2), .kv_heads = rng_int(r, 1, 3), .queries = rng_int(r, 1, 5), .keys = rng_int(r, 1, 6),
                          .size = rng_int(r, 1, 5), .v_size = rng_int(r, 1, 5), .is_flat = rng_int(r, 0, 1), .is_causal = rng_int(r, 0, 1),
                          .masks = RNG_OF(r, 0, M_BOOL, M_FLOAT), .left = rng_int(r, -1, 3), .right = rng_int(r, -1, 3), .mode = rng_int(r, 0, 3),
                          .mask_rank = rng_int(r, 1, 4)};
    a.heads = a.kv_heads * rng_int(r, 1, 3);
    if (rng_one_in(r, 2)) a.past = rng_int(r, 1, 4);
    else a.has_lengths = rng_one_in(r, 2);
    if (rng_one_in(r, 2)) a.scale = rng_real(r, 0.1, 2);
    if (rng_one_in(r, 3)) a.cap = rng_real(r, 0.5, 3);
    const int32_t whole[] = {a.batch, a.heads, a.queries, a.past + a.keys};
    for (int i = 0; i < 4; i++) a.mask[i] = 4 - i > a.mask_rank || rng_one_in(r, 4) ? 1 : whole[i];
    if (a.mask[3] > 2 && a.masks && rng_one_in(r, 3)) {
        a.mask[3] = rng_int(r, 2, a.mask[3] - 1); /* of the first keys; of floats, alone: beside what else is not allowed they are not the least */
        if (a.masks == M_FLOAT) a.is_causal = a.has_lengths = 0, a.left = a.right = -1;
    }
    return a;
}

static int32_t total(const struct attention *a)
{
    return a->past + a->keys;
}

static void tensor(struct attention *a, int i, const char *name, int type, int rank, const int64_t *dims, struct rng *r)
{
    struct ig_shape s = {type == M_FLOAT ? IG_F32 : type == M_BOOL ? IG_BOOL : IG_I64, rank, {0}};
    for (int d = 0; d < rank; d++) s.dims[d] = (int32_t)dims[d];
    m_input(&m, name, type, rank, dims);
    a->in[i] = malloc((size_t)ig_bytes(&s));
    interp_fill(&s, rng_next(r), a->in[i]);
}

/* [batch][heads][n][size], or flat. */
static void heads(struct attention *a, int i, const char *name, int32_t of, int32_t n, int32_t size, struct rng *r)
{
    if (a->is_flat) tensor(a, i, name, M_FLOAT, LIST(a->batch, n, of * size), r);
    else tensor(a, i, name, M_FLOAT, LIST(a->batch, of, n, size), r);
}

static void build(struct attention *a, struct rng *r)
{
    char in[64];
    m_init(&m, 25);
    snprintf(in, sizeof in, "q,k,v,%s,%s,%s", a->masks ? "mask" : "", a->past ? "pk,pv" : ",", a->has_lengths ? "lengths" : "");
    Onnx__NodeProto *n = m_node(&m, "Attention", in, "y,key,value,scores");
    heads(a, 0, "q", a->heads, a->queries, a->size, r);
    heads(a, 1, "k", a->kv_heads, a->keys, a->size, r);
    heads(a, 2, "v", a->kv_heads, a->keys, a->v_size, r);
    const int64_t mask[] = {a->mask[0], a->mask[1], a->mask[2], a->mask[3]};
    if (a->masks) tensor(a, 3, "mask", a->masks, a->mask_rank, mask + 4 - a->mask_rank, r);
    if (a->past) tensor(a, 4, "pk", M_FLOAT, LIST(a->batch, a->kv_heads, a->past, a->size), r);
    if (a->past) tensor(a, 5, "pv", M_FLOAT, LIST(a->batch, a->kv_heads, a->past, a->v_size), r);
    if (a->has_lengths) tensor(a, 6, "lengths", M_INT64, LIST(a->batch), r);
    for (int32_t b = 0; a->has_lengths && b < a->batch; b++) ((int64_t *)a->in[6])[b] = rng_int(r, 0, a->keys);
    if (a->is_flat) m_attr_i(&m, n, "q_num_heads", a->heads);
    if (a->is_flat) m_attr_i(&m, n, "kv_num_heads", a->kv_heads);
    if (a->is_causal) m_attr_i(&m, n, "is_causal", 1);
    m_attr_i(&m, n, "left_window_size", a->left);
    m_attr_i(&m, n, "right_window_size", a->right);
    m_attr_i(&m, n, "qk_matmul_output_mode", a->mode);
    if (a->scale > 0) m_attr_f(&m, n, "scale", (float)a->scale);
    if (a->cap > 0) m_attr_f(&m, n, "softcap", (float)a->cap);
}

/* Channel c of row i of a head, those of the past first. */
static double at(const struct attention *a, int input, int32_t of, int32_t size, int32_t b, int32_t head, int32_t i, int32_t c)
{
    const int32_t past = input ? a->past : 0, n = input ? a->keys : a->queries;
    const float *x = a->in[i < past ? input + 3 : input];
    if (i < past) return x[((b * of + head) * past + i) * size + c];
    i -= past;
    return a->is_flat ? x[((b * n + i) * of + head) * size + c] : x[((b * of + head) * n + i) * size + c];
}

static int64_t of_mask(const struct attention *a, int32_t b, int32_t head, int32_t i, int32_t j)
{
    const int32_t index[] = {b, head, i, j};
    int64_t place = 0;
    for (int d = 0; d < 4; d++) place = place * a->mask[d] + (a->mask[d] > 1 ? index[d] : 0);
    return place;
}

/* Key j is one that the mask does not reach. */
static int is_behind(const struct attention *a, int32_t j)
{
    return a->masks && a->mask[3] > 1 && j >= a->mask[3];
}

static int allowed(const struct attention *a, int32_t b, int32_t head, int32_t i, int32_t j)
{
    const int32_t length = a->has_lengths ? (int32_t)((const int64_t *)a->in[6])[b] : total(a);
    const int32_t p = i + (a->has_lengths ? length - a->queries : a->past);
    if (is_behind(a, j)) return 0;
    if (a->masks == M_BOOL && !((const uint8_t *)a->in[3])[of_mask(a, b, head, i, j)]) return 0;
    return j < length && (!a->is_causal || j <= p) && (a->left < 0 || j >= p - a->left) && (a->right < 0 || j <= p + a->right);
}

/* One row of scores, in the end weights; of[] is what the fourth output has of it. */
static void weigh(const struct attention *a, int32_t b, int32_t head, int32_t i, double *w, double *of)
{
    const double scale = a->scale > 0 ? a->scale : 1 / sqrt(a->size);
    double most = -INFINITY, sum = 0;
    for (int32_t j = 0; j < total(a); j++) {
        double s = 0;
        for (int32_t c = 0; c < a->size; c++)
            s += at(a, 0, a->heads, a->size, b, head, i, c) * at(a, 1, a->kv_heads, a->size, b, head / (a->heads / a->kv_heads), j, c);
        w[j] = s *= scale;
        if (a->mode == 0) of[j] = s;
        if (a->cap > 0) w[j] = s = a->cap * tanh(s / a->cap);
        if (a->mode == 1) of[j] = s;
        if (a->masks == M_FLOAT && !is_behind(a, j)) w[j] += (double)((const float *)a->in[3])[of_mask(a, b, head, i, j)];
        if (!allowed(a, b, head, i, j)) w[j] = -INFINITY;
        if (a->mode == 2) of[j] = a->masks == M_FLOAT && is_behind(a, j) ? s - 65504 : w[j];
        most = fmax(most, w[j]);
    }
    for (int32_t j = 0; j < total(a); j++) sum += w[j] = isinf(most) ? 0 : exp(w[j] - most);
    for (int32_t j = 0; j < total(a); j++) {
        w[j] = sum > 0 ? w[j] / sum : 0;
        if (a->mode == 3) of[j] = w[j];
    }
}

static void near(int seed, const char *what, double got, double want)
{
    if (isinf(want) ? got == want : fabs(got - want) <= 2e-6 * (1 + fabs(want))) return;
    fail_msg("case %d: %s: %g for %g", seed, what, got, want);
}

static void check(const struct attention *a, float *const *out, int seed)
{
    double w[16], of[16];
    for (int32_t b = 0; b < a->batch; b++)
        for (int32_t head = 0; head < a->heads; head++)
            for (int32_t i = 0; i < a->queries; i++) {
                weigh(a, b, head, i, w, of);
                for (int32_t j = 0; j < total(a); j++)
                    near(seed, "scores", (double)out[3][((b * a->heads + head) * a->queries + i) * total(a) + j], of[j]);
                for (int32_t c = 0; c < a->v_size; c++) {
                    double y = 0;
                    for (int32_t j = 0; j < total(a); j++) y += w[j] * at(a, 2, a->kv_heads, a->v_size, b, head / (a->heads / a->kv_heads), j, c);
                    near(seed, "y", (double)out[0][(a->is_flat ? (b * a->queries + i) * a->heads + head : (b * a->heads + head) * a->queries + i) * a->v_size + c], y);
                }
            }
    for (int32_t b = 0; b < a->batch; b++)
        for (int32_t head = 0; head < a->kv_heads; head++)
            for (int32_t j = 0; j < total(a); j++) {
                const int32_t row = (b * a->kv_heads + head) * total(a) + j;
                for (int32_t c = 0; c < a->size; c++) near(seed, "key", (double)out[1][row * a->size + c], at(a, 1, a->kv_heads, a->size, b, head, j, c));
                for (int32_t c = 0; c < a->v_size; c++)
                    near(seed, "value", (double)out[2][row * a->v_size + c], at(a, 2, a->kv_heads, a->v_size, b, head, j, c));
            }
}

/* As imported, and after the passes. */
static void random_attention(void **state)
{
    (void)state;
    for (int seed = 1; seed <= CASES; seed++) {
        struct rng r = {(uint64_t)seed};
        struct attention a = draw(&r);
        float *out[4];
        void *in[INPUTS];
        int n = 0;
        build(&a, &r);
        struct ig_graph *g = must_import();
        for (int i = 0; i < INPUTS; i++)
            if (a.in[i]) in[n++] = a.in[i];
        for (int passed = 0; passed < 2; passed++) {
            if (passed) assert_int_equal(ig_run_passes(g, ig_ref_eval, err, sizeof err), 0);
            assert_int_equal(interp_run(g, ig_ref_eval, in, (void **)out), 0);
            check(&a, out, seed);
            for (int i = 0; i < 4; i++) free(out[i]);
        }
        ig_graph_free(g);
        for (int i = 0; i < INPUTS; i++) free(a.in[i]);
    }
}

/* As an exporter would write it, of plain heads. */
static void plain(void **state)
{
    (void)state;
    Onnx__NodeProto *n = begin(23, LIST(1, 5, 8), "Attention", "x,x,x", "y");
    m_attr_i(&m, n, "q_num_heads", 2), m_attr_i(&m, n, "kv_num_heads", 2);
    struct ig_graph *g = must_import();
    check_ops(g, OPS(IG_RESHAPE, IG_TRANSPOSE, IG_RESHAPE, IG_TRANSPOSE, IG_RESHAPE, IG_TRANSPOSE, IG_UNARY, IG_TRANSPOSE, IG_MATMUL, IG_SOFTMAX, IG_MATMUL,
                     IG_TRANSPOSE, IG_RESHAPE));
    ig_graph_free(g);
}

static Onnx__NodeProto *of_heads(int q, int kv, const char *in)
{
    Onnx__NodeProto *n = begin(24, LIST(1, 4, 12), "Attention", in, "y");
    m_input(&m, "wide", M_FLOAT, LIST(1, 4, 18));
    m_input(&m, "long", M_FLOAT, LIST(1, 5, 12));
    m_input(&m, "two", M_FLOAT, LIST(2, 4, 12));
    m_input(&m, "image", M_FLOAT, LIST(1, 2, 4, 6));
    m_input(&m, "many", M_FLOAT, LIST(1, 1, 2, 4, 4));
    m_input(&m, "ints", M_INT32, LIST(1, 4, 12));
    if (q) m_attr_i(&m, n, "q_num_heads", q);
    if (kv) m_attr_i(&m, n, "kv_num_heads", kv);
    return n;
}

static void refused(void **state)
{
    static const struct { int q, kv; const char *in, *why; } cases[] = {
        {0, 2, "x,x,x", "attribute 'q_num_heads' is missing"},
        {5, 2, "x,x,x", "12 channels are not 5 heads"},
        {3, 2, "x,x,x", "2 heads of keys for 3 of queries"},
        {2, 2, "x,wide,x", "heads of queries have 6 channels, of keys 9"},
        {2, 2, "x,x,long", "it has 4 keys and 5 values"},
        {2, 2, "x,two,two", "its inputs have batches of 1 and 2"},
        {2, 2, "x,image,x", "its inputs have other dimensions than 3 or 4"},
        {2, 2, "ints,ints,ints", "only float32 data is supported"},
        {2, 2, "x,x,x,ints", "its mask is neither of bool nor of float32"},
        {2, 2, "x,x,x,x", "dimension 2 of its mask is 12, not 4"},
        {2, 2, "x,x,x,many", "its mask has 5 dimensions"},
        {2, 2, "x,x,x,,image", "it has keys or values of the past, not both"},
        {3, 3, "x,x,x,,image,image", "its keys of the past do not fit"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        of_heads(cases[i].q, cases[i].kv, cases[i].in);
        must_refuse(cases[i].why);
    }
}

/* What the operator says of channel c of a position whose channels are x. */
static double turned(const float *x, int32_t c, int32_t count, int interleaved, const float *cosine, const float *sine)
{
    if (c >= count) return (double)x[c];
    const int32_t half = count / 2, pair = interleaved ? c / 2 : c % half, first = interleaved ? 2 * pair : pair, second = interleaved ? first + 1 : first + half;
    const double a = (double)x[first], b = (double)x[second], k = (double)cosine[pair], s = (double)sine[pair];
    return c == first ? a * k - b * s : a * s + b * k;
}

static void random_rotary(void **state)
{
    enum { ROWS = 6 };
    (void)state;
    for (int seed = 1; seed <= CASES / 3; seed++) {
        struct rng r = {(uint64_t)seed};
        const int32_t batch = rng_int(&r, 1, 2), of = rng_int(&r, 1, 3), n = rng_int(&r, 1, 4), size = 2 * rng_int(&r, 1, 4), interleaved = rng_int(&r, 0, 1);
        const int32_t part = rng_one_in(&r, 2) ? 0 : 2 * rng_int(&r, 1, size / 2), count = part ? part : size, half = count / 2;
        const int is_flat = rng_int(&r, 0, 1), is_table = rng_int(&r, 0, 1);
        struct attention a = {.batch = batch, .queries = n, .is_flat = is_flat};
        float *y;
        m_init(&m, 23);
        Onnx__NodeProto *node = m_node(&m, "RotaryEmbedding", is_table ? "q,c,s,at" : "q,c,s", "y");
        heads(&a, 0, "q", of, n, size, &r);
        for (int i = 1; i < 3; i++)
            if (is_table) tensor(&a, i, i == 1 ? "c" : "s", M_FLOAT, LIST(ROWS, half), &r);
            else tensor(&a, i, i == 1 ? "c" : "s", M_FLOAT, LIST(batch, n, half), &r);
        if (is_table) tensor(&a, 3, "at", M_INT64, LIST(batch, n), &r);
        if (is_flat) m_attr_i(&m, node, "num_heads", of);
        m_attr_i(&m, node, "interleaved", interleaved), m_attr_i(&m, node, "rotary_embedding_dim", part);
        struct ig_graph *g = must_import();
        assert_int_equal(interp_run(g, ig_ref_eval, a.in, (void **)&y), 0);
        for (int32_t b = 0; b < batch; b++)
            for (int32_t h = 0; h < of; h++)
                for (int32_t i = 0; i < n; i++) {
                    const int64_t row = is_flat ? (b * n + i) * of + h : (b * of + h) * n + i, angle = is_table ? ((int64_t *)a.in[3])[b * n + i] : b * n + i;
                    for (int32_t c = 0; c < size; c++)
                        near(seed, "y", (double)y[row * size + c],
                             turned((float *)a.in[0] + row * size, c, count, interleaved, (float *)a.in[1] + angle * half, (float *)a.in[2] + angle * half));
                }
        free(y);
        ig_graph_free(g);
        for (int i = 0; i < INPUTS; i++) free(a.in[i]);
    }
}

static void rotary_refused(void **state)
{
    (void)state;
    m_attr_i(&m, begin(23, LIST(1, 4, 12), "RotaryEmbedding", "x,c,c", "y"), "num_heads", 2);
    m_weights(&m, "c", LIST(1, 4, 2));
    must_refuse("6 channels are not turned by 2 angles");
    m_attr_i(&m, begin(23, LIST(1, 2, 12), "RotaryEmbedding", "x,c,c,at", "y"), "num_heads", 2);
    m_weights(&m, "c", LIST(4, 3));
    m_add_initializer(&m, m_tensor(&m, "at", M_INT64, LIST(1, 2), (const int64_t[]){1, 4}, 16));
    must_refuse("position 4 is outside 0..3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(plain), cmocka_unit_test(random_attention), cmocka_unit_test(refused),
                                       cmocka_unit_test(random_rotary), cmocka_unit_test(rotary_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
