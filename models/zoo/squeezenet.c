/* SqueezeNet 1.1. */
#include "models/zoo/nets.h"

static struct zoo_value conv(struct zoo *z, const char *path, const char *relu, struct zoo_value x,
                             struct zoo_layer l)
{
    l.bias = 1;
    return zoo_relu(z, relu, zoo_conv(z, path, x, l));
}

static struct zoo_value fire(struct zoo *z, int index, struct zoo_value x, int32_t squeeze, int32_t expand)
{
    struct zoo_value branch[2];
    char *path = zoo_format(z, "features.%d", index);
    x = conv(z, zoo_format(z, "%s.squeeze", path), zoo_format(z, "%s.squeeze_activation", path), x,
             (struct zoo_layer){.oc = squeeze, .k = 1});
    branch[0] = conv(z, zoo_format(z, "%s.expand1x1", path), zoo_format(z, "%s.expand1x1_activation", path),
                     x, (struct zoo_layer){.oc = expand, .k = 1});
    branch[1] = conv(z, zoo_format(z, "%s.expand3x3", path), zoo_format(z, "%s.expand3x3_activation", path),
                     x, (struct zoo_layer){.oc = expand, .k = 3, .pad = 1});
    return zoo_concat(z, path, branch, 2);
}

static struct zoo_value pool(struct zoo *z, int index, struct zoo_value x)
{
    struct zoo_layer l = {.k = 3, .stride = 2, .ceil = 1};
    return zoo_max_pool(z, zoo_format(z, "features.%d", index), x, l);
}

void zoo_squeezenet1_1(struct zoo *z, struct zoo_value x)
{
    x = conv(z, "features.0", "features.1", x, (struct zoo_layer){.oc = 64, .k = 3, .stride = 2});
    x = pool(z, 2, x);
    x = fire(z, 3, x, 16, 64);
    x = fire(z, 4, x, 16, 64);
    x = pool(z, 5, x);
    x = fire(z, 6, x, 32, 128);
    x = fire(z, 7, x, 32, 128);
    x = pool(z, 8, x);
    x = fire(z, 9, x, 48, 192);
    x = fire(z, 10, x, 48, 192);
    x = fire(z, 11, x, 64, 256);
    x = fire(z, 12, x, 64, 256);
    x = conv(z, "classifier.1", "classifier.2", x, (struct zoo_layer){.oc = 1000, .k = 1});
    x = zoo_global_pool(z, "classifier.3", x);
    zoo_output(z, zoo_flatten(z, "flatten", x), "output");
}
