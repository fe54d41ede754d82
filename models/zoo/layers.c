/*
 * Layers without a window. The model of `power` and `mean` takes values as normally distributed. Of libm it
 * uses square roots only, which are correctly rounded everywhere, and fmin.
 */
#include "models/zoo/build.h"

#include <math.h>

static struct zoo_value unary(struct zoo *z, const char *op, const char *path, struct zoo_value x)
{
    zoo_node(z, op, path, &x.name, 1, &x.name);
    return x;
}

/* Fits E[max(0,X)^2] / E[X^2] and E[max(0,X)] of N(m, 1) for m from 0, where they are 1/2 and 0.4, to 1. */
static struct zoo_value rectified(struct zoo_value x)
{
    double tilt = sqrt(x.mean * x.mean / x.power);
    x.power *= fmin(1, 0.5 + 0.77 * tilt);
    x.mean = fmin(0.95, 0.564 + 0.31 * tilt) * sqrt(x.power);
    return x;
}

/*
 * Statistics and scales as of a trained network, a few times apart: the running variance lies around the
 * modelled power, so that a batch norm also normalizes. Mean of scale^2 / variance: 13/12 ln 3 = 1.19; the
 * bias adds .0033.
 */
struct zoo_value zoo_batch_norm(struct zoo *z, const char *path, struct zoo_value x, float epsilon)
{
    int64_t n = x.c;
    double scale = z->norm_scale;
    struct zoo_value y = x;
    const char *in[5] = {x.name};
    in[1] = zoo_random(z, zoo_format(z, "%s.weight", path), 1, &n, 0.5 * scale, 1.5 * scale);
    in[2] = zoo_random(z, zoo_format(z, "%s.bias", path), 1, &n, -0.1, 0.1);
    in[3] = zoo_random(z, zoo_format(z, "%s.running_mean", path), 1, &n, -0.1, 0.1);
    in[4] = zoo_random(z, zoo_format(z, "%s.running_var", path), 1, &n, 0.5 * x.power, 1.5 * x.power);
    z->counts.parameters += 2 * n; /* statistics are not parameters */
    z->counts.folded += n;         /* the scale goes into a neighbour's weights, the bias stays */
    Onnx__NodeProto *node = zoo_node(z, "BatchNormalization", path, in, 5, &y.name);
    zoo_attr_float(z, node, "epsilon", epsilon);
    zoo_attr_float(z, node, "momentum", 0.9f);
    y.power = 1.19 * scale * scale;
    y.mean = x.mean * sqrt(y.power / x.power);
    return y;
}

struct zoo_value zoo_relu(struct zoo *z, const char *path, struct zoo_value x)
{
    return rectified(unary(z, "Relu", path, x));
}

struct zoo_value zoo_relu6(struct zoo *z, const char *path, struct zoo_value x)
{
    struct zoo_value y = x;
    const char *low = zoo_scalar(z, zoo_format(z, "%s.min", path), 0);
    const char *high = zoo_scalar(z, zoo_format(z, "%s.max", path), 6);
    zoo_node(z, "Clip", path, (const char *[]){x.name, low, high}, 3, &y.name);
    return rectified(y);
}

struct zoo_value zoo_leaky_relu(struct zoo *z, const char *path, struct zoo_value x, float slope)
{
    struct zoo_value y = x;
    Onnx__NodeProto *n = zoo_node(z, "LeakyRelu", path, &x.name, 1, &y.name);
    zoo_attr_float(z, n, "alpha", slope);
    return rectified(y);
}

struct zoo_value zoo_sigmoid(struct zoo *z, const char *path, struct zoo_value x)
{
    x = unary(z, "Sigmoid", path, x);
    x.power = 0.25 + fmin(0.05 * x.power, 0.25);
    x.mean = 0.5;
    return x;
}

struct zoo_value zoo_swish(struct zoo *z, const char *path, struct zoo_value x)
{
    struct zoo_value y = x, s = zoo_sigmoid(z, path, x);
    zoo_node(z, "Mul", path, (const char *[]){x.name, s.name}, 2, &y.name);
    y.power *= y.power > 4 ? 0.48 : 0.37; /* small values are halved, large ones rectified */
    y.mean = (y.power > 4 ? 0.52 : 0.35) * sqrt(y.power);
    return y;
}

struct zoo_value zoo_tanh(struct zoo *z, const char *path, struct zoo_value x)
{
    x = unary(z, "Tanh", path, x);
    x.power *= 0.66;
    return x;
}

struct zoo_value zoo_scale(struct zoo *z, const char *path, struct zoo_value x, float factor)
{
    struct zoo_value y = x;
    const char *in[2] = {x.name, zoo_scalar(z, path, factor)};
    zoo_node(z, "Mul", path, in, 2, &y.name);
    y.power *= (double)factor * (double)factor;
    y.mean *= (double)factor;
    return y;
}

struct zoo_value zoo_softmax(struct zoo *z, const char *path, struct zoo_value x)
{
    struct zoo_value y = x;
    Onnx__NodeProto *n = zoo_node(z, "Softmax", path, &x.name, 1, &y.name);
    zoo_attr_int(z, n, "axis", 1);
    return y;
}

struct zoo_value zoo_add(struct zoo *z, const char *path, struct zoo_value a, struct zoo_value b)
{
    struct zoo_value y = a;
    zoo_node(z, "Add", path, (const char *[]){a.name, b.name}, 2, &y.name);
    y.power = a.power + b.power + 2 * a.mean * b.mean;
    y.mean = a.mean + b.mean;
    return y;
}

struct zoo_value zoo_gate(struct zoo *z, const char *path, struct zoo_value x, struct zoo_value gate)
{
    struct zoo_value y = x;
    zoo_node(z, "Mul", path, (const char *[]){gate.name, x.name}, 2, &y.name);
    y.power *= gate.power;
    y.mean *= gate.mean;
    return y;
}

struct zoo_value zoo_concat(struct zoo *z, const char *path, const struct zoo_value *x, int32_t n)
{
    struct zoo_value y = {NULL, 0, x[0].h, x[0].w, 0, 0};
    const char **in = zoo_alloc(z, (size_t)n * sizeof *in);
    for (int32_t i = 0; i < n; i++) {
        in[i] = x[i].name;
        y.c += x[i].c;
        y.power += x[i].power * x[i].c;
        y.mean += x[i].mean * x[i].c;
    }
    y.power /= y.c;
    y.mean /= y.c;
    Onnx__NodeProto *node = zoo_node(z, "Concat", path, in, (size_t)n, &y.name);
    zoo_attr_int(z, node, "axis", 1);
    return y;
}

struct zoo_value zoo_global_pool(struct zoo *z, const char *path, struct zoo_value x)
{
    x = unary(z, "GlobalAveragePool", path, x);
    x.power = x.mean * x.mean + 0.2 * (x.power - x.mean * x.mean); /* channels differ in their means */
    x.h = x.w = 1;
    return x;
}

struct zoo_value zoo_flatten(struct zoo *z, const char *path, struct zoo_value x)
{
    struct zoo_value y = {NULL, x.c * x.h * x.w, 0, 0, x.power, x.mean};
    Onnx__NodeProto *n = zoo_node(z, "Flatten", path, &x.name, 1, &y.name);
    zoo_attr_int(z, n, "axis", 1);
    return y;
}

struct zoo_value zoo_upsample(struct zoo *z, const char *path, struct zoo_value x)
{
    struct zoo_value y = {NULL, x.c, 2 * x.h, 2 * x.w, x.power, x.mean};
    const char *scales = zoo_data(z, zoo_format(z, "%s.scales", path), 1, (float[]){1, 1, 2, 2}, 4);
    Onnx__NodeProto *n = zoo_node(z, "Resize", path, (const char *[]){x.name, "", scales}, 3, &y.name);
    zoo_attr_string(z, n, "coordinate_transformation_mode", "asymmetric");
    zoo_attr_string(z, n, "mode", "nearest");
    zoo_attr_string(z, n, "nearest_mode", "floor");
    return y;
}

struct zoo_value zoo_crop(struct zoo *z, const char *path, struct zoo_value x, int32_t offset, int32_t size)
{
    enum { INT64 = 7 };
    struct zoo_value y = {NULL, x.c, size, size, x.power, x.mean};
    int64_t start = offset, end = offset + size;
    const char *in[4] = {x.name};
    in[1] = zoo_data(z, zoo_format(z, "%s.starts", path), INT64, (int64_t[]){start, start}, 2);
    in[2] = zoo_data(z, zoo_format(z, "%s.ends", path), INT64, (int64_t[]){end, end}, 2);
    in[3] = zoo_data(z, zoo_format(z, "%s.axes", path), INT64, (int64_t[]){2, 3}, 2);
    zoo_node(z, "Slice", path, in, 4, &y.name);
    return y;
}
