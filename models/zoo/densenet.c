/* DenseNet-121: growth 32, bottlenecks of 128, pre-activation; every layer concatenates all before it in its
 * block. */
#include "models/zoo/nets.h"

enum { GROWTH = 32, BOTTLENECK = 4 * GROWTH, MAX_LAYERS = 24 };
static const float EPSILON = 1e-5f;

static struct zoo_value norm_relu(struct zoo *z, const char *path, const char *suffix, struct zoo_value x)
{
    x = zoo_batch_norm(z, zoo_format(z, "%s.norm%s", path, suffix), x, EPSILON);
    return zoo_relu(z, zoo_format(z, "%s.relu%s", path, suffix), x);
}

static struct zoo_value dense_block(struct zoo *z, int index, struct zoo_value x, int layers)
{
    struct zoo_value all[MAX_LAYERS + 1] = {x};
    char *block = zoo_format(z, "features.denseblock%d", index);
    for (int i = 1; i <= layers; i++) {
        char *path = zoo_format(z, "%s.denselayer%d", block, i);
        struct zoo_value y = zoo_concat(z, path, all, i);
        y = zoo_conv(z, zoo_format(z, "%s.conv1", path), norm_relu(z, path, "1", y),
                     (struct zoo_layer){.oc = BOTTLENECK, .k = 1});
        all[i] = zoo_conv(z, zoo_format(z, "%s.conv2", path), norm_relu(z, path, "2", y),
                          (struct zoo_layer){.oc = GROWTH, .k = 3, .pad = 1});
    }
    return zoo_concat(z, block, all, layers + 1);
}

static struct zoo_value transition(struct zoo *z, int index, struct zoo_value x)
{
    char *path = zoo_format(z, "features.transition%d", index);
    x = zoo_conv(z, zoo_format(z, "%s.conv", path), norm_relu(z, path, "", x),
                 (struct zoo_layer){.oc = x.c / 2, .k = 1});
    return zoo_average_pool(z, zoo_format(z, "%s.pool", path), x, (struct zoo_layer){.k = 2, .stride = 2});
}

void zoo_densenet121(struct zoo *z, struct zoo_value x)
{
    static const int layers[4] = {6, 12, 24, 16};
    x = zoo_conv_norm(z, "features", (struct zoo_names){"conv0", "norm0", "relu0"}, x,
                      (struct zoo_layer){.oc = 64, .k = 7, .stride = 2, .pad = 3}, EPSILON);
    x = zoo_max_pool(z, "features.pool0", x, (struct zoo_layer){.k = 3, .stride = 2, .pad = 1});
    for (int i = 0; i < 4; i++) {
        x = dense_block(z, i + 1, x, layers[i]);
        if (i < 3) x = transition(z, i + 1, x);
    }
    zoo_classifier(z, "classifier", norm_relu(z, "features", "5", x), 1000);
}
