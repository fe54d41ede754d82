/* AlexNet, "One weird trick" variant as in torchvision: no groups, no local response normalization. */
#include "models/zoo/nets.h"

static struct zoo_value conv(struct zoo *z, int index, struct zoo_value x, struct zoo_layer l)
{
    l.bias = 1;
    x = zoo_conv(z, zoo_format(z, "features.%d", index), x, l);
    return zoo_relu(z, zoo_format(z, "features.%d", index + 1), x);
}

static struct zoo_value pool(struct zoo *z, int index, struct zoo_value x)
{
    return zoo_max_pool(z, zoo_format(z, "features.%d", index), x, (struct zoo_layer){.k = 3, .stride = 2});
}

void zoo_alexnet(struct zoo *z, struct zoo_value x)
{
    x = conv(z, 0, x, (struct zoo_layer){.oc = 64, .k = 11, .stride = 4, .pad = 2});
    x = pool(z, 2, x);
    x = conv(z, 3, x, (struct zoo_layer){.oc = 192, .k = 5, .pad = 2});
    x = pool(z, 5, x);
    x = conv(z, 6, x, (struct zoo_layer){.oc = 384, .k = 3, .pad = 1});
    x = conv(z, 8, x, (struct zoo_layer){.oc = 256, .k = 3, .pad = 1});
    x = conv(z, 10, x, (struct zoo_layer){.oc = 256, .k = 3, .pad = 1});
    x = pool(z, 12, x);
    x = zoo_average_pool(z, "avgpool", x, (struct zoo_layer){.k = 1}); /* adaptive to 6x6, as exported */
    x = zoo_flatten(z, "flatten", x);
    x = zoo_relu(z, "classifier.2", zoo_linear(z, "classifier.1", x, 4096));
    x = zoo_relu(z, "classifier.5", zoo_linear(z, "classifier.4", x, 4096));
    zoo_output(z, zoo_linear(z, "classifier.6", x, 1000), "output");
}
