/* Normalisations. */
#include <math.h>

#include "graph/onnx/import.h"

/* Shape of a per-channel constant that broadcasts over data of rank `rank`: [C,1,..]. */
static struct ig_shape channel_shape(struct im *m, int32_t c, int32_t rank)
{
    int64_t dims[IG_MAX_RANK] = {c, 1, 1, 1, 1, 1, 1, 1};
    return im_make_shape(m, IG_F32, rank - 1, dims);
}

/* y = x * scale/sqrt(var + eps) + (bias - mean * scale/sqrt(var + eps)), the constants computed in double. */
static int32_t constant_batch_norm(struct im *m, int32_t x, const int32_t *p, const struct ig_shape *shape,
                                   double eps)
{
    void *mul, *add;
    int32_t v_mul = im_const(m, shape, &mul), v_add = im_const(m, shape, &add);
    const float *scale = m->g->values[p[0]].data, *bias = m->g->values[p[1]].data;
    const float *mean = m->g->values[p[2]].data, *var = m->g->values[p[3]].data;
    for (int64_t i = 0; i < ig_count(shape); i++) {
        double factor = (double)scale[i] / sqrt((double)var[i] + eps);
        ((float *)mul)[i] = (float)factor;
        ((float *)add)[i] = (float)((double)bias[i] - (double)mean[i] * factor);
    }
    return im_binary(m, IG_ADD, im_binary(m, IG_MUL, x, v_mul), v_add);
}

static int32_t runtime_batch_norm(struct im *m, int32_t x, const int32_t *p, const struct ig_shape *shape,
                                  double eps)
{
    int64_t dims[IG_MAX_RANK];
    int32_t q[4];
    for (int i = 0; i < shape->rank; i++)
        dims[i] = shape->dims[i];
    for (int i = 0; i < 4; i++)
        q[i] = im_reshape(m, p[i], shape->rank, dims);
    int32_t deviation = im_unary(m, IG_SQRT, im_binary(m, IG_ADD, q[3], im_scalar(m, IG_F32, eps)), 0, 0);
    int32_t y = im_binary(m, IG_DIV, im_binary(m, IG_SUB, x, q[2]), deviation);
    return im_binary(m, IG_ADD, im_binary(m, IG_MUL, y, q[0]), q[1]);
}

/* Training mode: mean and variance are those of the data. On weights it is their standardisation, as in networks without other
 * normalisation; on images it is a mistake, as it would be the batch's. */
static void batch_statistics(struct im *m, const struct im_node *n, int32_t x, int32_t *mean, int32_t *variance)
{
    if (!im_is_const(m, x) || im_wants(m, n, 1) || im_wants(m, n, 2))
        im_refuse(m, "training mode; export the model for inference");
    int32_t mask = ((1 << im_shape(m, x).rank) - 1) & ~2; /* all dims but the channels */
    *mean = im_reduce(m, IG_REDUCE_MEAN, x, mask);
    int32_t centred = im_binary(m, IG_SUB, x, *mean);
    *variance = im_reduce(m, IG_REDUCE_MEAN, im_binary(m, IG_MUL, centred, centred), mask);
}

void im_op_batch_norm(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), p[4], constant = 1;
    struct ig_shape sx = im_shape(m, x);
    if (sx.rank < 2) im_fail(m, "data of rank %d has no channels", sx.rank);
    if (sx.type != IG_F32) im_refuse(m, "only float32 data is supported");
    struct ig_shape shape = channel_shape(m, sx.dims[1], sx.rank);
    for (int i = 0; i < 4; i++) {
        p[i] = im_need(m, n, 1 + i);
        struct ig_shape s = im_shape(m, p[i]);
        if (!i && n->opset < 9 && !im_int(m, n, "spatial", 1)) shape = s; /* a parameter per activation */
        if (ig_count(&s) != ig_count(&shape) || s.type != IG_F32)
            im_fail(m, "parameter %d has %lld elements for %d channels", i, (long long)ig_count(&s),
                    sx.dims[1]);
        constant &= im_is_const(m, p[i]);
    }
    double eps = (double)im_float(m, n, "epsilon", 1e-5f);
    if (n->opset >= 14 && im_int(m, n, "training_mode", 0)) {
        batch_statistics(m, n, x, &p[2], &p[3]);
        constant &= im_is_const(m, p[2]) && im_is_const(m, p[3]);
    }
    im_set(m, n, 0,
           constant ? constant_batch_norm(m, x, p, &shape, eps) : runtime_batch_norm(m, x, p, &shape, eps));
}

static int32_t emit_norm(struct im *m, const int32_t in[3], struct ig_norm norm)
{
    union ig_attrs a = {.norm = norm};
    return im_emit1(m, IG_NORM, 3, in, &a);
}

void im_op_instance_norm(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_need(m, n, 2)};
    struct ig_norm a = {.kind = IG_NORM_INSTANCE, .groups = 1, .epsilon = im_float(m, n, "epsilon", 1e-5f)};
    im_set(m, n, 0, emit_norm(m, in, a));
}

/* A parameter per group as one per channel. */
static int32_t per_channel(struct im *m, int32_t v, int32_t channels, int32_t groups)
{
    struct ig_shape s = im_shape(m, v), index = im_make_shape(m, IG_I64, 1, (int64_t[]){channels});
    union ig_attrs a = {.axis = {0, 0}};
    void *data;
    if (s.rank != 1 || s.dims[0] != groups || groups == channels) return v;
    int32_t indices = im_const(m, &index, &data);
    for (int32_t c = 0; c < channels; c++)
        ((int64_t *)data)[c] = c / (channels / groups);
    return im_emit1(m, IG_GATHER, 2, (int32_t[]){v, indices}, &a);
}

void im_op_group_norm(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_need(m, n, 2)};
    struct ig_shape x = im_shape(m, in[0]);
    struct ig_norm a = {.kind = IG_NORM_GROUP, .epsilon = im_float(m, n, "epsilon", 1e-5f)};
    a.groups = im_int32(m, n, "num_groups", 0, 1, INT32_MAX);
    if (x.rank < 3 || x.dims[1] % a.groups) im_fail(m, "the channels do not fall into %d groups", a.groups);
    for (int i = 1; i < 3 && n->opset < 21; i++)
        in[i] = per_channel(m, in[i], x.dims[1], a.groups);
    im_set(m, n, 0, emit_norm(m, in, a));
}

/* Scale or bias with all of the elements that are normalised. */
static int32_t full_parameter(struct im *m, const struct im_node *n, int i, const struct ig_shape *x,
                              int32_t axis)
{
    int64_t dims[IG_MAX_RANK];
    if (im_in(m, n, i) == IM_ABSENT) return IM_ABSENT;
    int32_t v = im_need(m, n, i);
    for (int k = axis; k < x->rank; k++)
        dims[k - axis] = x->dims[k];
    struct ig_shape s = im_shape(m, v), want = im_make_shape(m, IG_F32, x->rank - axis, dims);
    return ig_count(&s) == ig_count(&want) ? v : im_expand(m, v, &want);
}

/* The optional outputs of LayerNormalization: mean and 1/sqrt(var + eps). */
static void statistics(struct im *m, const struct im_node *n, int32_t x, int32_t mask, float epsilon)
{
    int32_t mean = im_reduce(m, IG_REDUCE_MEAN, x, mask);
    im_set(m, n, 1, mean);
    if (!im_wants(m, n, 2)) return;
    int32_t centred = im_binary(m, IG_SUB, x, mean);
    int32_t variance = im_reduce(m, IG_REDUCE_MEAN, im_binary(m, IG_MUL, centred, centred), mask);
    int32_t root =
        im_unary(m, IG_SQRT, im_binary(m, IG_ADD, variance, im_scalar(m, IG_F32, (double)epsilon)), 0, 0);
    im_set(m, n, 2, im_unary(m, IG_RECIPROCAL, root, 0, 0));
}

void im_op_layer_norm(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, x);
    struct ig_norm a = {.kind = im_op_find(n)->kind, .epsilon = im_float(m, n, "epsilon", 1e-5f)};
    a.axis = im_axis(m, im_int(m, n, "axis", -1), s.rank);
    int32_t in[3] = {x, full_parameter(m, n, 1, &s, a.axis), IM_ABSENT};
    if (a.kind == IG_NORM_LAYER) in[2] = full_parameter(m, n, 2, &s, a.axis);
    im_set(m, n, 0, emit_norm(m, in, a));
    int32_t mask = (1 << s.rank) - (1 << a.axis);
    if (a.kind == IG_NORM_LAYER && (im_wants(m, n, 1) || im_wants(m, n, 2)))
        statistics(m, n, x, mask, a.epsilon);
}

void im_op_lp_norm(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_need(m, n, 0), IM_ABSENT, IM_ABSENT};
    struct ig_norm a = {.kind = IG_NORM_LP, .p = im_int32(m, n, "p", 2, 1, 2)};
    a.axis = im_axis(m, im_int(m, n, "axis", -1), im_shape(m, in[0]).rank);
    union ig_attrs attrs = {.norm = a};
    im_set(m, n, 0, im_emit1(m, IG_NORM, 1, in, &attrs));
}

void im_op_mvn(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    int64_t axes[IG_MAX_RANK] = {0, 2, 3};
    int count = im_ints(m, n, "axes", axes, IG_MAX_RANK);
    if (n->opset < 9)
        im_refuse(m, "it is experimental before opset 9; convert the model to opset 9 or later");
    union ig_attrs a = {.norm = {.kind = IG_NORM_MVN, .epsilon = 1e-9f}};
    a.norm.mask = im_mask(m, axes, count < 0 ? 3 : count, im_shape(m, x).rank);
    im_set(m, n, 0, im_emit1(m, IG_NORM, 1, &x, &a));
}
