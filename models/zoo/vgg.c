/* VGG-16 (D) and VGG-19 (E), without batch norm. */
#include "models/zoo/nets.h"

static void vgg(struct zoo *z, struct zoo_value x, const int32_t depth[5])
{
    static const int32_t width[5] = {64, 128, 256, 512, 512};
    int index = 0;
    for (int stage = 0; stage < 5; stage++) {
        for (int i = 0; i < depth[stage]; i++, index += 2) {
            struct zoo_layer l = {.oc = width[stage], .k = 3, .pad = 1, .bias = 1};
            x = zoo_conv(z, zoo_format(z, "features.%d", index), x, l);
            x = zoo_relu(z, zoo_format(z, "features.%d", index + 1), x);
        }
        x = zoo_max_pool(z, zoo_format(z, "features.%d", index++), x,
                         (struct zoo_layer){.k = 2, .stride = 2});
    }
    x = zoo_average_pool(z, "avgpool", x, (struct zoo_layer){.k = 1}); /* adaptive to 7x7, as exported */
    x = zoo_flatten(z, "flatten", x);
    x = zoo_relu(z, "classifier.1", zoo_linear(z, "classifier.0", x, 4096));
    x = zoo_relu(z, "classifier.4", zoo_linear(z, "classifier.3", x, 4096));
    zoo_output(z, zoo_linear(z, "classifier.6", x, 1000), "output");
}

void zoo_vgg16(struct zoo *z, struct zoo_value x)
{
    vgg(z, x, (const int32_t[]){2, 2, 3, 3, 3});
}

void zoo_vgg19(struct zoo *z, struct zoo_value x)
{
    vgg(z, x, (const int32_t[]){2, 2, 4, 4, 4});
}
