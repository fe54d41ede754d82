/* ConvNeXt-T, as exporters before opset 17 write it: layer normalisation by means, squares and roots, GELU by Erf. */
#include <math.h>

#include "models/zoo/nets.h"

static struct zoo_value two(struct zoo *z, const char *op, const char *path, struct zoo_value like, const char *a, const char *b)
{
    zoo_node(z, op, path, (const char *[]){a, b}, 2, &like.name);
    return like;
}

static struct zoo_value with_scalar(struct zoo *z, const char *op, const char *path, struct zoo_value x, float value)
{
    return two(z, op, path, x, x.name, zoo_scalar(z, path, value));
}

static struct zoo_value permuted(struct zoo *z, const char *path, struct zoo_value x, const int64_t perm[4])
{
    struct zoo_value y = x;
    zoo_attr_ints(z, zoo_node(z, "Transpose", path, &x.name, 1, &y.name), "perm", perm, 4);
    return y;
}

static struct zoo_value pixels(struct zoo *z, const char *path, struct zoo_value x)
{
    return permuted(z, path, x, (const int64_t[]){0, 2, 3, 1});
}

static struct zoo_value planes(struct zoo *z, const char *path, struct zoo_value x)
{
    return permuted(z, path, x, (const int64_t[]){0, 3, 1, 2});
}

static struct zoo_value mean(struct zoo *z, const char *path, struct zoo_value x)
{
    struct zoo_value y = x;
    zoo_attr_ints(z, zoo_node(z, "ReduceMean", path, &x.name, 1, &y.name), "axes", (const int64_t[]){-1}, 1);
    return y;
}

/* Of the channels of x, [1, h, w, c]. */
static struct zoo_value layer_norm(struct zoo *z, const char *path, struct zoo_value x)
{
    const int64_t n = x.c;
    const char *scale = zoo_weight(z, zoo_format(z, "%s.weight", path), 1, &n, 0.5, 1.5);
    const char *bias = zoo_weight(z, zoo_format(z, "%s.bias", path), 1, &n, -0.1, 0.1);
    const char *inner = zoo_format(z, "%s.variance", path);
    struct zoo_value d = two(z, "Sub", path, x, x.name, mean(z, path, x).name);
    struct zoo_value variance = mean(z, inner, with_scalar(z, "Pow", path, d, 2)), root = variance;
    variance = with_scalar(z, "Add", inner, variance, 1e-6f);
    zoo_node(z, "Sqrt", path, &variance.name, 1, &root.name);
    d = two(z, "Div", path, d, d.name, root.name);
    d = two(z, "Mul", path, d, d.name, scale);
    d = two(z, "Add", path, d, d.name, bias);
    d.power = 13 / 12.;
    d.mean = 0;
    return d;
}

static struct zoo_value linear(struct zoo *z, const char *path, struct zoo_value x, int32_t outputs)
{
    const int64_t dims[2] = {x.c, outputs}, n = outputs;
    const double bound = sqrt(3 / (x.c * x.power));
    const char *weight = zoo_weight(z, zoo_format(z, "%s.weight", path), 2, dims, -bound, bound);
    struct zoo_value y = {NULL, outputs, x.h, x.w, 1, 0};
    y = two(z, "MatMul", path, y, x.name, weight);
    z->counts.macs += dims[0] * dims[1] * x.h * x.w;
    return two(z, "Add", path, y, zoo_weight(z, zoo_format(z, "%s.bias", path), 1, &n, -0.1, 0.1), y.name);
}

static struct zoo_value gelu(struct zoo *z, const char *path, struct zoo_value x)
{
    struct zoo_value e = with_scalar(z, "Div", path, x, 1.41421354f), y = e;
    zoo_node(z, "Erf", path, &e.name, 1, &y.name);
    y = with_scalar(z, "Add", zoo_format(z, "%s.one", path), y, 1);
    y = two(z, "Mul", path, y, x.name, y.name);
    y = with_scalar(z, "Mul", zoo_format(z, "%s.half", path), y, 0.5f);
    y.power = 0.425 * x.power; /* of a normal value of variance 1 */
    y.mean = 0.43 * sqrt(y.power);
    return y;
}

static struct zoo_value block(struct zoo *z, const char *path, struct zoo_value x)
{
    const int64_t dims[3] = {x.c, 1, 1};
    struct zoo_value y = zoo_conv(z, zoo_format(z, "%s.block.0", path), x, (struct zoo_layer){.oc = x.c, .k = 7, .pad = 3, .groups = x.c, .bias = 1});
    y = layer_norm(z, zoo_format(z, "%s.block.2", path), pixels(z, zoo_format(z, "%s.block.1", path), y));
    y = gelu(z, zoo_format(z, "%s.block.4", path), linear(z, zoo_format(z, "%s.block.3", path), y, 4 * x.c));
    y = linear(z, zoo_format(z, "%s.block.5", path), y, x.c);
    y = planes(z, zoo_format(z, "%s.block.6", path), y);
    y = two(z, "Mul", path, y, zoo_weight(z, zoo_format(z, "%s.layer_scale", path), 3, dims, 0.1, 0.5), y.name);
    y.power *= 0.1;
    return zoo_add(z, path, y, x);
}

/* Over the channels of x, [1, c, h, w]. */
static struct zoo_value norm(struct zoo *z, const char *path, struct zoo_value x)
{
    return planes(z, zoo_format(z, "%s.planes", path), layer_norm(z, path, pixels(z, path, x)));
}

void zoo_convnext_tiny(struct zoo *z, struct zoo_value x)
{
    static const int32_t depth[4] = {3, 3, 9, 3};
    for (int stage = 0; stage < 4; stage++) {
        char *path = zoo_format(z, "features.%d", 2 * stage);
        struct zoo_layer l = {.oc = 96 << stage, .k = stage ? 2 : 4, .stride = stage ? 2 : 4, .bias = 1};
        if (stage) x = norm(z, zoo_format(z, "%s.0", path), x);
        x = zoo_conv(z, zoo_format(z, stage ? "%s.1" : "%s.0", path), x, l);
        if (!stage) x = norm(z, zoo_format(z, "%s.1", path), x);
        for (int i = 0; i < depth[stage]; i++) x = block(z, zoo_format(z, "features.%d.%d", 2 * stage + 1, i), x);
    }
    x = norm(z, "classifier.0", zoo_global_pool(z, "avgpool", x));
    x = zoo_flatten(z, "classifier.1", x);
    zoo_output(z, zoo_linear(z, "classifier.2", x, 1000), "output");
}
