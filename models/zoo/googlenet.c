/* GoogLeNet with batch norm, as in torchvision, whose third branch has a 3x3 where the paper has a 5x5. */
#include "models/zoo/nets.h"

static struct zoo_value conv(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l)
{
    return zoo_conv_norm(z, path, (struct zoo_names){"conv", "bn", "relu"}, x, l, 1e-3f);
}

static struct zoo_value pool(struct zoo *z, const char *path, struct zoo_value x, int32_t k)
{
    return zoo_max_pool(z, path, x, (struct zoo_layer){.k = k, .stride = 2, .ceil = 1});
}

struct widths {
    int32_t one, reduce3, three, reduce5, five, pool;
};

static struct zoo_value inception(struct zoo *z, const char *name, struct zoo_value x, struct widths w)
{
    struct zoo_value b[4];
    char *path = zoo_format(z, "inception%s", name);
    b[0] = conv(z, zoo_format(z, "%s.branch1", path), x, (struct zoo_layer){.oc = w.one, .k = 1});
    b[1] = conv(z, zoo_format(z, "%s.branch2.0", path), x, (struct zoo_layer){.oc = w.reduce3, .k = 1});
    b[1] = conv(z, zoo_format(z, "%s.branch2.1", path), b[1],
                (struct zoo_layer){.oc = w.three, .k = 3, .pad = 1});
    b[2] = conv(z, zoo_format(z, "%s.branch3.0", path), x, (struct zoo_layer){.oc = w.reduce5, .k = 1});
    b[2] = conv(z, zoo_format(z, "%s.branch3.1", path), b[2],
                (struct zoo_layer){.oc = w.five, .k = 3, .pad = 1});
    b[3] = zoo_max_pool(z, zoo_format(z, "%s.branch4.0", path), x,
                        (struct zoo_layer){.k = 3, .pad = 1, .ceil = 1});
    b[3] = conv(z, zoo_format(z, "%s.branch4.1", path), b[3], (struct zoo_layer){.oc = w.pool, .k = 1});
    return zoo_concat(z, path, b, 4);
}

void zoo_googlenet(struct zoo *z, struct zoo_value x)
{
    x = conv(z, "conv1", x, (struct zoo_layer){.oc = 64, .k = 7, .stride = 2, .pad = 3});
    x = pool(z, "maxpool1", x, 3);
    x = conv(z, "conv2", x, (struct zoo_layer){.oc = 64, .k = 1});
    x = conv(z, "conv3", x, (struct zoo_layer){.oc = 192, .k = 3, .pad = 1});
    x = pool(z, "maxpool2", x, 3);
    x = inception(z, "3a", x, (struct widths){64, 96, 128, 16, 32, 32});
    x = inception(z, "3b", x, (struct widths){128, 128, 192, 32, 96, 64});
    x = pool(z, "maxpool3", x, 3);
    x = inception(z, "4a", x, (struct widths){192, 96, 208, 16, 48, 64});
    x = inception(z, "4b", x, (struct widths){160, 112, 224, 24, 64, 64});
    x = inception(z, "4c", x, (struct widths){128, 128, 256, 24, 64, 64});
    x = inception(z, "4d", x, (struct widths){112, 144, 288, 32, 64, 64});
    x = inception(z, "4e", x, (struct widths){256, 160, 320, 32, 128, 128});
    x = pool(z, "maxpool4", x, 2);
    x = inception(z, "5a", x, (struct widths){256, 160, 320, 32, 128, 128});
    x = inception(z, "5b", x, (struct widths){384, 192, 384, 48, 128, 128});
    zoo_classifier(z, "fc", x, 1000);
}
