/* Element-wise operators of several tensors. */
#include "graph/onnx/import.h"

/* Before opset 7 the second operand is aligned at `axis` (default: at the end) where `broadcast` is set. */
static int32_t legacy_align(struct im *m, const struct im_node *n, int32_t a, int32_t b)
{
    struct ig_shape sa = im_shape(m, a), sb = im_shape(m, b);
    int64_t dims[IG_MAX_RANK], axis = im_int(m, n, "axis", sa.rank - sb.rank);
    if (n->opset >= 7 || !im_int(m, n, "broadcast", 0) || sb.rank >= sa.rank || !sb.rank) return b;
    if (axis < 0) axis += sa.rank;
    if (axis < 0 || axis + sb.rank > sa.rank)
        im_fail(m, "axis %lld does not fit the shapes", (long long)axis);
    int32_t rank = sa.rank - (int32_t)axis;
    for (int i = 0; i < rank; i++)
        dims[i] = i < sb.rank ? sb.dims[i] : 1;
    return im_reshape(m, b, rank, dims);
}

void im_op_binary(struct im *m, const struct im_node *n)
{
    int32_t a = im_need(m, n, 0), b = legacy_align(m, n, a, im_need(m, n, 1));
    im_set(m, n, 0, im_binary(m, im_op_find(n)->kind, a, b));
}

static int32_t chain(struct im *m, const struct im_node *n, int32_t kind)
{
    int32_t sum = im_need(m, n, 0);
    for (int i = 1; i < n->n_in; i++)
        sum = im_binary(m, kind, sum, im_need(m, n, i));
    return sum;
}

void im_op_variadic(struct im *m, const struct im_node *n)
{
    im_set(m, n, 0, chain(m, n, im_op_find(n)->kind));
}

void im_op_mean(struct im *m, const struct im_node *n)
{
    int32_t sum = chain(m, n, IG_ADD);
    im_set(m, n, 0, n->n_in > 1 ? im_binary(m, IG_DIV, sum, im_scalar(m, IG_F32, n->n_in)) : sum);
}

/* The result has the base's type; an integer base with a float exponent is computed in f32. */
void im_op_pow(struct im *m, const struct im_node *n)
{
    int32_t base = im_need(m, n, 0), exponent = legacy_align(m, n, base, im_need(m, n, 1));
    int32_t type = im_shape(m, base).type, other = im_shape(m, exponent).type;
    int32_t common = other == IG_F32 ? IG_F32 : type;
    int32_t y = im_binary(m, IG_POW, im_cast(m, base, common), im_cast(m, exponent, common));
    im_set(m, n, 0, im_cast(m, y, type));
}

void im_op_mod(struct im *m, const struct im_node *n)
{
    im_set(m, n, 0,
           im_binary(m, im_int(m, n, "fmod", 0) ? IG_FMOD : IG_MOD, im_need(m, n, 0), im_need(m, n, 1)));
}

/* Before opset 7, and in files that kept the habit, a slope [C] belongs to dimension 1. */
void im_op_prelu(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), slope = im_need(m, n, 1);
    struct ig_shape sx = im_shape(m, x), ss = im_shape(m, slope);
    int64_t dims[IG_MAX_RANK] = {ss.dims[0], 1, 1, 1, 1, 1, 1, 1};
    int channels = ss.rank == 1 && sx.rank > 2 && ss.dims[0] > 1 && ss.dims[0] == sx.dims[1];
    if (channels && (n->opset < 7 || ss.dims[0] != sx.dims[sx.rank - 1]))
        slope = im_reshape(m, slope, sx.rank - 1, dims);
    im_set(m, n, 0, im_binary(m, IG_PRELU, x, slope));
}

void im_op_shift(struct im *m, const struct im_node *n)
{
    static const char *const directions[] = {"LEFT", "RIGHT", NULL};
    int right = im_choice(m, n, "direction", "", directions);
    im_set(m, n, 0, im_binary(m, right ? IG_SHIFT_RIGHT : IG_SHIFT_LEFT, im_need(m, n, 0), im_need(m, n, 1)));
}

void im_op_where(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_need(m, n, 2)};
    im_set(m, n, 0, im_emit1(m, IG_WHERE, 3, in, NULL));
}
