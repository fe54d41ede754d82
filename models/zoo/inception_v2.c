/*
 * Inception v2 (BN-Inception, Ioffe & Szegedy 2015) as TF-Slim defines it: first layer separable (depthwise
 * multiplier 8, then 1x1; a bias, no batch norm), SAME padding, 1000 classes and background. Slim's batch
 * norms have no scale; here they have one, as converters add it: the published count is therefore the folded
 * one.
 */
#include "models/zoo/nets.h"

static struct zoo_value conv(struct zoo *z, const char *path, struct zoo_value x, int32_t oc, int32_t k,
                             int32_t stride)
{
    return zoo_conv_norm(z, path, (struct zoo_names){"Conv2D", "BatchNorm", "Relu"}, x,
                         (struct zoo_layer){.oc = oc, .k = k, .stride = stride, .same = 1}, 1e-3f);
}

static struct zoo_value step(struct zoo *z, const char *module, const char *layer, struct zoo_value x,
                             int32_t oc, int32_t k, int32_t stride)
{
    return conv(z, zoo_format(z, "%s.%s", module, layer), x, oc, k, stride);
}

struct widths {
    int32_t one, reduce3, three, reduce_double3, double3, pool;
};

static struct zoo_value mixed(struct zoo *z, const char *path, struct zoo_value x, struct widths w,
                              int max_pool)
{
    struct zoo_value b[4];
    struct zoo_layer pool = {.k = 3, .same = 1, .skip_pad = 1};
    b[0] = step(z, path, "Branch_0.Conv2d_0a_1x1", x, w.one, 1, 1);
    b[1] = step(z, path, "Branch_1.Conv2d_0a_1x1", x, w.reduce3, 1, 1);
    b[1] = step(z, path, "Branch_1.Conv2d_0b_3x3", b[1], w.three, 3, 1);
    b[2] = step(z, path, "Branch_2.Conv2d_0a_1x1", x, w.reduce_double3, 1, 1);
    b[2] = step(z, path, "Branch_2.Conv2d_0b_3x3", b[2], w.double3, 3, 1);
    b[2] = step(z, path, "Branch_2.Conv2d_0c_3x3", b[2], w.double3, 3, 1);
    b[3] = max_pool ? zoo_max_pool(z, zoo_format(z, "%s.Branch_3.MaxPool_0a_3x3", path), x, pool)
                    : zoo_average_pool(z, zoo_format(z, "%s.Branch_3.AvgPool_0a_3x3", path), x, pool);
    b[3] = step(z, path, "Branch_3.Conv2d_0b_1x1", b[3], w.pool, 1, 1);
    return zoo_concat(z, path, b, 4);
}

static struct zoo_value reduction(struct zoo *z, const char *path, struct zoo_value x, int32_t reduce3,
                                  int32_t three, int32_t reduce_double3, int32_t double3)
{
    struct zoo_value b[3];
    b[0] = step(z, path, "Branch_0.Conv2d_0a_1x1", x, reduce3, 1, 1);
    b[0] = step(z, path, "Branch_0.Conv2d_1a_3x3", b[0], three, 3, 2);
    b[1] = step(z, path, "Branch_1.Conv2d_0a_1x1", x, reduce_double3, 1, 1);
    b[1] = step(z, path, "Branch_1.Conv2d_0b_3x3", b[1], double3, 3, 1);
    b[1] = step(z, path, "Branch_1.Conv2d_1a_3x3", b[1], double3, 3, 2);
    b[2] = zoo_max_pool(z, zoo_format(z, "%s.Branch_2.MaxPool_1a_3x3", path), x,
                        (struct zoo_layer){.k = 3, .stride = 2, .same = 1});
    return zoo_concat(z, path, b, 3);
}

static struct zoo_value stem(struct zoo *z, struct zoo_value x)
{
    struct zoo_layer pool = {.k = 3, .stride = 2, .same = 1};
    x = zoo_conv(z, "Conv2d_1a_7x7.depthwise", x,
                 (struct zoo_layer){.oc = 24, .k = 7, .stride = 2, .groups = 3, .same = 1});
    x = zoo_conv(z, "Conv2d_1a_7x7.pointwise", x, (struct zoo_layer){.oc = 64, .k = 1, .bias = 1});
    x = zoo_relu(z, "Conv2d_1a_7x7.Relu", x);
    x = zoo_max_pool(z, "MaxPool_2a_3x3", x, pool);
    x = conv(z, "Conv2d_2b_1x1", x, 64, 1, 1);
    x = conv(z, "Conv2d_2c_3x3", x, 192, 3, 1);
    return zoo_max_pool(z, "MaxPool_3a_3x3", x, pool);
}

void zoo_inception_v2(struct zoo *z, struct zoo_value x)
{
    x = stem(z, x);
    x = mixed(z, "Mixed_3b", x, (struct widths){64, 64, 64, 64, 96, 32}, 0);
    x = mixed(z, "Mixed_3c", x, (struct widths){64, 64, 96, 64, 96, 64}, 0);
    x = reduction(z, "Mixed_4a", x, 128, 160, 64, 96);
    x = mixed(z, "Mixed_4b", x, (struct widths){224, 64, 96, 96, 128, 128}, 0);
    x = mixed(z, "Mixed_4c", x, (struct widths){192, 96, 128, 96, 128, 128}, 0);
    x = mixed(z, "Mixed_4d", x, (struct widths){160, 128, 160, 128, 160, 96}, 0);
    x = mixed(z, "Mixed_4e", x, (struct widths){96, 128, 192, 160, 192, 96}, 0);
    x = reduction(z, "Mixed_5a", x, 128, 192, 192, 256);
    x = mixed(z, "Mixed_5b", x, (struct widths){352, 192, 320, 160, 224, 128}, 0);
    x = mixed(z, "Mixed_5c", x, (struct widths){352, 192, 320, 192, 224, 128}, 1);
    x = zoo_average_pool(z, "Logits.AvgPool_1a_7x7", x, (struct zoo_layer){.k = 7});
    x = zoo_conv(z, "Logits.Conv2d_1c_1x1", x, (struct zoo_layer){.oc = 1001, .k = 1, .bias = 1});
    zoo_output(z, zoo_softmax(z, "Predictions", zoo_flatten(z, "Logits.SpatialSqueeze", x)), "output");
}
