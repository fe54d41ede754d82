/* ResNet-18, 50 and 101, ResNeXt-50. */
#include "models/zoo/nets.h"

static const float EPSILON = 1e-5f;

static struct zoo_value shortcut(struct zoo *z, const char *path, struct zoo_value x, int32_t oc,
                                 int32_t stride)
{
    if (x.c == oc && stride == 1) return x;
    return zoo_conv_norm(z, path, (struct zoo_names){"downsample.0", "downsample.1", NULL}, x,
                         (struct zoo_layer){.oc = oc, .k = 1, .stride = stride}, EPSILON);
}

static struct zoo_value join(struct zoo *z, const char *path, const char *relu, struct zoo_value a,
                             struct zoo_value b)
{
    return zoo_relu(z, zoo_format(z, "%s.%s", path, relu), zoo_add(z, path, a, b));
}

static struct zoo_value basic(struct zoo *z, const char *path, struct zoo_value x, int32_t width,
                              int32_t stride)
{
    struct zoo_value y =
        zoo_conv_norm(z, path, (struct zoo_names){"conv1", "bn1", "relu"}, x,
                      (struct zoo_layer){.oc = width, .k = 3, .stride = stride, .pad = 1}, EPSILON);
    y = zoo_conv_norm(z, path, (struct zoo_names){"conv2", "bn2", NULL}, y,
                      (struct zoo_layer){.oc = width, .k = 3, .pad = 1}, EPSILON);
    return join(z, path, "relu_1", y, shortcut(z, path, x, width, stride));
}

/* 1x1, 3x3 of `inner` channels in groups, 1x1 of `width` times four. */
static struct zoo_value three(struct zoo *z, const char *path, struct zoo_value x, int32_t width, int32_t inner, int32_t groups,
                              int32_t stride)
{
    struct zoo_value y = zoo_conv_norm(z, path, (struct zoo_names){"conv1", "bn1", "relu"}, x,
                                       (struct zoo_layer){.oc = inner, .k = 1}, EPSILON);
    y = zoo_conv_norm(z, path, (struct zoo_names){"conv2", "bn2", "relu_1"}, y,
                      (struct zoo_layer){.oc = inner, .k = 3, .stride = stride, .pad = 1, .groups = groups}, EPSILON);
    y = zoo_conv_norm(z, path, (struct zoo_names){"conv3", "bn3", NULL}, y,
                      (struct zoo_layer){.oc = 4 * width, .k = 1}, EPSILON);
    return join(z, path, "relu_2", y, shortcut(z, path, x, 4 * width, stride));
}

static struct zoo_value bottleneck(struct zoo *z, const char *path, struct zoo_value x, int32_t width,
                                   int32_t stride)
{
    return three(z, path, x, width, width, 1, stride);
}

/* 32 groups, of 4 channels in the first stage. */
static struct zoo_value aggregated(struct zoo *z, const char *path, struct zoo_value x, int32_t width,
                                   int32_t stride)
{
    return three(z, path, x, width, 2 * width, 32, stride);
}

typedef struct zoo_value block_fn(struct zoo *z, const char *path, struct zoo_value x, int32_t width,
                                  int32_t stride);

static void resnet(struct zoo *z, struct zoo_value x, block_fn *block, const int32_t depth[4])
{
    x = zoo_conv(z, "conv1", x, (struct zoo_layer){.oc = 64, .k = 7, .stride = 2, .pad = 3});
    x = zoo_relu(z, "relu", zoo_batch_norm(z, "bn1", x, EPSILON));
    x = zoo_max_pool(z, "maxpool", x, (struct zoo_layer){.k = 3, .stride = 2, .pad = 1});
    for (int stage = 0; stage < 4; stage++)
        for (int i = 0; i < depth[stage]; i++)
            x = block(z, zoo_format(z, "layer%d.%d", stage + 1, i), x, 64 << stage, stage && !i ? 2 : 1);
    zoo_classifier(z, "fc", x, 1000);
}

void zoo_resnet18(struct zoo *z, struct zoo_value x)
{
    resnet(z, x, basic, (const int32_t[]){2, 2, 2, 2});
}

void zoo_resnet50(struct zoo *z, struct zoo_value x)
{
    resnet(z, x, bottleneck, (const int32_t[]){3, 4, 6, 3});
}

void zoo_resnet101(struct zoo *z, struct zoo_value x)
{
    resnet(z, x, bottleneck, (const int32_t[]){3, 4, 23, 3});
}

void zoo_resnext50(struct zoo *z, struct zoo_value x)
{
    resnet(z, x, aggregated, (const int32_t[]){3, 4, 6, 3});
}
