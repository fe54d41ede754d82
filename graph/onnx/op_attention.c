/*
 * Attention (opsets 23 to 25) and RotaryEmbedding (23), written out: products, a softmax and moves of what is there.
 *
 * Attention: Y = softmax(Q K^T scale + mask) V for every batch and head (Vaswani et al., Attention Is All You Need, 2017). Where a mask
 * allows nothing in a row, the row is zeros, as ONNX has it since 1.23; not so where a mask of floats has only -inf in one.
 */
#include <math.h>
#include <string.h>

#include "graph/onnx/import.h"

enum { SCORES, CAPPED, MASKED, WEIGHTS }; /* qk_matmul_output_mode */

/* What a score that is not allowed becomes: its exponential is 0 beside any other of half precision, too. */
static const float least = -65504;

struct attention {
    int32_t batch, heads, kv_heads, queries, keys, past; /* keys: those of the past, too */
    int is_flat;                                         /* tensors have three dims, heads in the last */
    int32_t allowed, bias;                               /* masks, or IM_ABSENT; */
    int may_be_empty;                                    /* a row of `allowed` */
    float scale, cap;
};

/* [batch][heads][n][size] of that, or of [batch][n][heads * size]. */
static int32_t to_heads(struct im *m, int32_t v, int is_flat, int32_t heads)
{
    const struct ig_shape s = im_shape(m, v);
    if (!is_flat) return v;
    const int64_t dims[] = {s.dims[0], s.dims[1], heads, s.dims[2] / heads};
    return im_transpose(m, im_reshape(m, v, 4, dims), (int32_t[]){0, 2, 1, 3});
}

static int32_t from_heads(struct im *m, int32_t v)
{
    const struct ig_shape s = im_shape(m, v);
    v = im_transpose(m, v, (int32_t[]){0, 2, 1, 3});
    return im_reshape(m, v, 3, (int64_t[]){s.dims[0], s.dims[2], (int64_t)s.dims[1] * s.dims[3]});
}

/* Heads of an input, which the attribute tells of a flat one. */
static int32_t heads_of(struct im *m, const struct im_node *n, const struct ig_shape *s, const char *attribute)
{
    if (s->rank == 4) return s->dims[1];
    const int32_t heads = im_int32(m, n, attribute, 0, 0, INT32_MAX);
    if (!heads) im_fail(m, "attribute '%s' is missing", attribute);
    if (s->dims[2] % heads) im_fail(m, "%d channels are not %d heads", s->dims[2], heads);
    return heads;
}

static int32_t joined(struct im *m, int32_t a, int32_t b, int32_t axis)
{
    const union ig_attrs along = {.axis = {axis, 0}};
    return im_emit1(m, IG_CONCAT, 2, (int32_t[]){a, b}, &along);
}

/* Behind those of the past, if there is any; output `out` is both. */
static int32_t behind_past(struct im *m, const struct im_node *n, int32_t v, int in, int out)
{
    const int32_t past = im_in(m, n, in);
    if (past >= 0) {
        const struct ig_shape s = im_shape(m, v), p = im_shape(m, past);
        if (p.rank != 4 || p.dims[0] != s.dims[0] || p.dims[1] != s.dims[1] || p.dims[3] != s.dims[3])
            im_fail(m, "its %s of the past do not fit", out == 1 ? "keys" : "values");
        v = joined(m, past, v, 2);
    }
    if (im_wants(m, n, out)) im_set(m, n, out, v);
    return v;
}

/* first, first + 1, ... along dim `along` of four. */
static int32_t count_up(struct im *m, int32_t first, int32_t count, int along)
{
    int64_t dims[4] = {1, 1, 1, 1};
    dims[along] = count;
    const struct ig_shape s = im_make_shape(m, IG_I64, 4, dims);
    void *data;
    const int32_t v = im_const(m, &s, &data);
    for (int32_t i = 0; i < count; i++) ((int64_t *)data)[i] = first + i;
    return v;
}

static int32_t both(struct im *m, int32_t a, int32_t b)
{
    return a == IM_ABSENT ? b : im_binary(m, IG_AND, a, b);
}

/* Keys that queries may look at by where they are, or IM_ABSENT: all. Of each of the batch only so many may be there, or all (IM_ABSENT). */
static int32_t window_of(struct im *m, const struct im_node *n, const struct attention *a, int32_t there)
{
    const int32_t left = im_int32(m, n, "left_window_size", -1, -1, INT32_MAX), right = im_int32(m, n, "right_window_size", -1, -1, INT32_MAX);
    const int is_causal = im_int(m, n, "is_causal", 0) != 0;
    const int32_t key = count_up(m, 0, a->keys, 3);
    int32_t allowed = IM_ABSENT, query = count_up(m, there == IM_ABSENT ? a->past : -a->queries, a->queries, 2); /* its place among the keys */
    if (there != IM_ABSENT) {
        there = im_reshape(m, there, 4, (int64_t[]){a->batch, 1, 1, 1});
        query = im_binary(m, IG_ADD, query, there);
        allowed = im_binary(m, IG_LESS, key, there);
    }
    if (is_causal || right >= 0)
        allowed = both(m, allowed, im_binary(m, IG_LESS, key, im_binary(m, IG_ADD, query, im_scalar(m, IG_I64, (is_causal ? 0 : right) + 1.0))));
    if (left >= 0) allowed = both(m, allowed, im_binary(m, IG_LESS, im_binary(m, IG_SUB, query, im_scalar(m, IG_I64, left + 1.0)), key));
    return allowed;
}

static int has_empty_row(struct im *m, int32_t v)
{
    const struct ig_shape s = im_shape(m, v);
    if (!im_is_const(m, v)) return 1;
    const uint8_t *at = m->g->values[v].data;
    const int64_t width = s.rank ? s.dims[s.rank - 1] : 1;
    for (int64_t i = 0; i < ig_count(&s); i += width, at += width)
        if (!memchr(at, 1, (size_t)width)) return 1;
    return 0;
}

/* A mask of fewer keys than there are allows no others. */
static int32_t widened(struct im *m, int32_t mask, int32_t keys)
{
    struct ig_shape s = im_shape(m, mask);
    void *data;
    if ((s.type != IG_BOOL && s.type != IG_F32) || !s.rank || s.dims[s.rank - 1] == 1 || s.dims[s.rank - 1] >= keys) return mask;
    s.dims[s.rank - 1] = keys - s.dims[s.rank - 1];
    const int32_t rest = im_const(m, &s, &data);
    for (int64_t i = 0; s.type == IG_F32 && i < ig_count(&s); i++) ((float *)data)[i] = least;
    return joined(m, mask, rest, s.rank - 1);
}

/* Its dims are those of the scores or 1. */
static void check_mask(struct im *m, const struct attention *a, const struct ig_shape *s)
{
    const int32_t scores[4] = {a->batch, a->heads, a->queries, a->keys};
    if (s->type != IG_BOOL && s->type != IG_F32) im_refuse(m, "its mask is neither of bool nor of float32");
    if (s->rank > 4) im_fail(m, "its mask has %d dimensions", s->rank);
    for (int d = 0; d < s->rank; d++) {
        const int32_t want = scores[4 - s->rank + d];
        if (s->dims[d] != 1 && s->dims[d] != want) im_fail(m, "dimension %d of its mask is %d, not %d", d, s->dims[d], want);
    }
}

static void read_masks(struct im *m, const struct im_node *n, struct attention *a)
{
    a->bias = IM_ABSENT;
    a->allowed = window_of(m, n, a, im_in(m, n, 6) == IM_ABSENT ? IM_ABSENT : im_need(m, n, 6));
    if (im_in(m, n, 3) != IM_ABSENT) {
        const int32_t mask = widened(m, im_need(m, n, 3), a->keys);
        const struct ig_shape s = im_shape(m, mask);
        check_mask(m, a, &s);
        if (s.type == IG_BOOL) a->allowed = both(m, a->allowed, mask);
        else a->bias = mask;
    }
    a->may_be_empty = a->allowed != IM_ABSENT && has_empty_row(m, a->allowed);
}

/* Rows of each head, or of all the heads that share a head of keys and values one behind the other. */
static int32_t grouped(struct im *m, const struct attention *a, int32_t v, int together)
{
    const struct ig_shape s = im_shape(m, v);
    const int32_t heads = together ? a->kv_heads : a->heads;
    if (a->heads == a->kv_heads) return v;
    return im_reshape(m, v, 4, (int64_t[]){a->batch, heads, (int64_t)a->heads * a->queries / heads, s.dims[3]});
}

static int32_t product(struct im *m, int32_t a, int32_t b)
{
    const union ig_attrs plain = {.matmul = {0, 0, 1}};
    return im_emit1(m, IG_MATMUL, 2, (int32_t[]){a, b}, &plain);
}

/* Output 3 is this. */
static int shows(struct im *m, const struct im_node *n, int mode)
{
    return im_wants(m, n, 3) && im_int32(m, n, "qk_matmul_output_mode", 0, SCORES, WEIGHTS) == mode;
}

static void show(struct im *m, const struct im_node *n, int mode, int32_t v)
{
    if (shows(m, n, mode)) im_set(m, n, 3, v);
}

static int32_t where(struct im *m, int32_t allowed, int32_t v, float other)
{
    return allowed == IM_ABSENT ? v : im_emit1(m, IG_WHERE, 3, (int32_t[]){allowed, v, im_scalar(m, IG_F32, other)}, NULL);
}

static int32_t weights_of(struct im *m, const struct im_node *n, const struct attention *a, int32_t q, int32_t k)
{
    const union ig_attrs last = {.axis = {3, IG_SOFTMAX_EXP}};
    q = im_unary(m, IG_AFFINE, q, a->scale, 0);
    int32_t v = grouped(m, a, product(m, grouped(m, a, q, 1), im_transpose(m, k, (int32_t[]){0, 1, 3, 2})), 0);
    show(m, n, SCORES, v);
    if (a->cap > 0) v = im_unary(m, IG_AFFINE, im_unary(m, IG_TANH, im_unary(m, IG_AFFINE, v, 1 / a->cap, 0), 0, 0), a->cap, 0);
    show(m, n, CAPPED, v);
    if (a->bias != IM_ABSENT) v = im_binary(m, IG_ADD, v, a->bias);
    if (shows(m, n, MASKED)) im_set(m, n, 3, where(m, a->allowed, v, -INFINITY));
    v = where(m, a->allowed, v, least);
    v = im_emit1(m, IG_SOFTMAX, 1, &v, &last);
    if (a->may_be_empty) v = im_binary(m, IG_MUL, v, im_cast(m, a->allowed, IG_F32));
    show(m, n, WEIGHTS, v);
    return v;
}

static void check(struct im *m, const struct im_node *n, const struct ig_shape s[3])
{
    for (int i = 0; i < 3; i++) {
        if (s[i].type != IG_F32) im_refuse(m, "only float32 data is supported");
        if (s[i].rank != s[0].rank || s[i].rank < 3 || s[i].rank > 4) im_fail(m, "its inputs have other dimensions than 3 or 4");
        if (s[i].dims[0] != s[0].dims[0]) im_fail(m, "its inputs have batches of %d and %d", s[0].dims[0], s[i].dims[0]);
    }
    if ((im_in(m, n, 4) == IM_ABSENT) != (im_in(m, n, 5) == IM_ABSENT)) im_fail(m, "it has keys or values of the past, not both");
}

void im_op_attention(struct im *m, const struct im_node *n)
{
    const int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_need(m, n, 2)};
    const struct ig_shape s[3] = {im_shape(m, in[0]), im_shape(m, in[1]), im_shape(m, in[2])};
    check(m, n, s);
    struct attention a = {.batch = s[0].dims[0], .is_flat = s[0].rank == 3, .heads = heads_of(m, n, &s[0], "q_num_heads"),
                          .kv_heads = heads_of(m, n, &s[1], "kv_num_heads"), .cap = im_float(m, n, "softcap", 0)};
    if (heads_of(m, n, &s[2], "kv_num_heads") != a.kv_heads || a.heads % a.kv_heads)
        im_fail(m, "%d heads of keys for %d of queries", a.kv_heads, a.heads);
    const int32_t q = to_heads(m, in[0], a.is_flat, a.heads);
    const int32_t k = behind_past(m, n, to_heads(m, in[1], a.is_flat, a.kv_heads), 4, 1);
    const int32_t v = behind_past(m, n, to_heads(m, in[2], a.is_flat, a.kv_heads), 5, 2);
    const struct ig_shape qs = im_shape(m, q), ks = im_shape(m, k), vs = im_shape(m, v);
    if (qs.dims[3] != ks.dims[3]) im_fail(m, "heads of queries have %d channels, of keys %d", qs.dims[3], ks.dims[3]);
    if (ks.dims[2] != vs.dims[2]) im_fail(m, "it has %d keys and %d values", ks.dims[2], vs.dims[2]);
    a.queries = qs.dims[2], a.keys = ks.dims[2], a.past = a.keys - (a.is_flat ? s[1].dims[1] : s[1].dims[2]);
    a.scale = im_float(m, n, "scale", 1 / sqrtf((float)qs.dims[3]));
    read_masks(m, n, &a);
    const int32_t weights = weights_of(m, n, &a, q, k);
    const int32_t y = grouped(m, &a, product(m, grouped(m, &a, weights, 1), v), 0);
    im_set(m, n, 0, a.is_flat ? from_heads(m, y) : y);
}

static void check_positions(struct im *m, int32_t v, int32_t rows)
{
    const struct ig_shape s = im_shape(m, v);
    if (!im_is_const(m, v) || s.type != IG_I64) return;
    const int64_t *at = m->g->values[v].data;
    for (int64_t i = 0; i < ig_count(&s); i++)
        if (at[i] < 0 || at[i] >= rows) im_misfit(m, "position %lld is outside 0..%d", (long long)at[i], rows - 1);
}

/* [batch][positions][half] of a table's rows, or of that: [batch][1][positions][half]. */
static int32_t angles(struct im *m, const struct im_node *n, int input)
{
    const union ig_attrs rows = {.axis = {0, 0}};
    int32_t v = im_need(m, n, input);
    if (im_in(m, n, 3) != IM_ABSENT) {
        const int32_t at = im_need(m, n, 3);
        check_positions(m, at, im_shape(m, v).dims[0]);
        v = im_emit1(m, IG_GATHER, 2, (int32_t[]){v, at}, &rows);
    }
    const struct ig_shape s = im_shape(m, v);
    if (s.rank != 3) im_fail(m, "its angles have %d dimensions", s.rank);
    return im_reshape(m, v, 4, (int64_t[]){s.dims[0], 1, s.dims[1], s.dims[2]});
}

/* Channels [from, from + count * step) of each head. */
static int32_t channels(struct im *m, int32_t v, int32_t from, int32_t step, int64_t count)
{
    const struct ig_shape s = im_shape(m, v);
    return im_slice(m, v, (int32_t[]){0, 0, 0, from}, (int32_t[]){1, 1, 1, step}, (int64_t[]){s.dims[0], s.dims[1], s.dims[2], count});
}

/* Channels of a, one of b behind each. */
static int32_t in_turns(struct im *m, int32_t a, int32_t b)
{
    const struct ig_shape s = im_shape(m, a);
    const int64_t apart[] = {s.dims[0], s.dims[1], s.dims[2], s.dims[3], 1}, together[] = {s.dims[0], s.dims[1], s.dims[2], 2 * (int64_t)s.dims[3]};
    return im_reshape(m, joined(m, im_reshape(m, a, 5, apart), im_reshape(m, b, 5, apart), 4), 4, together);
}

/* Pairs of channels turned by the angles of their positions (Su et al., RoFormer, 2021). */
void im_op_rotary_embedding(struct im *m, const struct im_node *n)
{
    const int32_t x = im_need(m, n, 0), cosine = angles(m, n, 1), sine = angles(m, n, 2);
    const struct ig_shape s = im_shape(m, x);
    if (s.rank < 3 || s.rank > 4) im_fail(m, "its input has %d dimensions", s.rank);
    const int32_t v = to_heads(m, x, s.rank == 3, heads_of(m, n, &s, "num_heads")), size = im_shape(m, v).dims[3];
    const int32_t turned = im_int32(m, n, "rotary_embedding_dim", 0, 0, size), count = turned ? turned : size, half = count / 2;
    const int is_interleaved = im_int(m, n, "interleaved", 0) != 0;
    if (count % 2 || im_shape(m, cosine).dims[3] != half || im_shape(m, sine).dims[3] != half)
        im_fail(m, "%d channels are not turned by %d angles", count, im_shape(m, cosine).dims[3]);
    const int32_t a = channels(m, v, 0, 1 + is_interleaved, half), b = channels(m, v, is_interleaved ? 1 : half, 1 + is_interleaved, half);
    const int32_t real = im_binary(m, IG_SUB, im_binary(m, IG_MUL, a, cosine), im_binary(m, IG_MUL, b, sine));
    const int32_t imaginary = im_binary(m, IG_ADD, im_binary(m, IG_MUL, a, sine), im_binary(m, IG_MUL, b, cosine));
    int32_t y = is_interleaved ? in_turns(m, real, imaginary) : joined(m, real, imaginary, 3);
    if (count < size) y = joined(m, y, channels(m, v, count, 1, size - count), 3);
    im_set(m, n, 0, s.rank == 3 ? from_heads(m, y) : y);
}
