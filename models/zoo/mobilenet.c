/* MobileNet v1 (Keras: a 1x1 convolution classifies, padding is one-sided) and v2 (torchvision). */
#include "models/zoo/nets.h"

static struct zoo_value conv_v1(struct zoo *z, const char *conv, struct zoo_value x, struct zoo_layer l)
{
    x = zoo_batch_norm(z, zoo_format(z, "%s_bn", conv), zoo_conv(z, conv, x, l), 1e-3f);
    return zoo_relu6(z, zoo_format(z, "%s_relu", conv), x);
}

/* 3x3 with stride 2 on an even size: padding only at bottom and right. */
static struct zoo_layer window_v1(int32_t oc, int32_t stride, int32_t groups)
{
    struct zoo_layer l = {.oc = oc, .k = 3, .stride = stride, .groups = groups};
    if (stride == 2) l.pad_end = 1;
    else l.pad = 1;
    return l;
}

static void mobilenet_v1(struct zoo *z, struct zoo_value x, int32_t divisor)
{
    static const int32_t width[13] = {64, 128, 128, 256, 256, 512, 512, 512, 512, 512, 512, 1024, 1024};
    static const int32_t stride[13] = {1, 2, 1, 2, 1, 2, 1, 1, 1, 1, 1, 2, 1};
    x = conv_v1(z, "conv1", x, window_v1(32 / divisor, 2, 1));
    for (int i = 0; i < 13; i++) {
        x = conv_v1(z, zoo_format(z, "conv_dw_%d", i + 1), x, window_v1(x.c, stride[i], x.c));
        x = conv_v1(z, zoo_format(z, "conv_pw_%d", i + 1), x,
                    (struct zoo_layer){.oc = width[i] / divisor, .k = 1});
    }
    x = zoo_global_pool(z, "global_average_pooling2d", x);
    x = zoo_conv(z, "conv_preds", x, (struct zoo_layer){.oc = 1000, .k = 1, .bias = 1});
    zoo_output(z, zoo_softmax(z, "act_softmax", zoo_flatten(z, "reshape_2", x)), "output");
}

void zoo_mobilenet_v1(struct zoo *z, struct zoo_value x)
{
    mobilenet_v1(z, x, 1);
}

void zoo_mobilenet_v1_025(struct zoo *z, struct zoo_value x)
{
    mobilenet_v1(z, x, 4);
}

static struct zoo_value conv_v2(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l)
{
    x = zoo_conv_norm(z, path, (struct zoo_names){"0", "1", NULL}, x, l, 1e-5f);
    return zoo_relu6(z, zoo_format(z, "%s.2", path), x);
}

static struct zoo_value inverted(struct zoo *z, const char *path, struct zoo_value x, int32_t expand,
                                 int32_t oc, int32_t stride)
{
    struct zoo_value y = x;
    int i = 0;
    char *linear[2];
    if (expand > 1)
        y = conv_v2(z, zoo_format(z, "%s.conv.%d", path, i++), y,
                    (struct zoo_layer){.oc = expand * x.c, .k = 1});
    y = conv_v2(z, zoo_format(z, "%s.conv.%d", path, i++), y,
                (struct zoo_layer){.oc = y.c, .k = 3, .stride = stride, .pad = 1, .groups = y.c});
    for (int j = 0; j < 2; j++) linear[j] = zoo_format(z, "conv.%d", i++);
    y = zoo_conv_norm(z, path, (struct zoo_names){linear[0], linear[1], NULL}, y,
                      (struct zoo_layer){.oc = oc, .k = 1}, 1e-5f);
    return stride == 1 && x.c == oc ? zoo_add(z, path, x, y) : y;
}

void zoo_mobilenet_v2(struct zoo *z, struct zoo_value x)
{
    static const struct {
        int32_t expand, oc, n, stride;
    } rows[] = {{1, 16, 1, 1}, {6, 24, 2, 2},  {6, 32, 3, 2}, {6, 64, 4, 2},
                {6, 96, 3, 1}, {6, 160, 3, 2}, {6, 320, 1, 1}};
    int index = 1;
    x = conv_v2(z, "features.0", x, (struct zoo_layer){.oc = 32, .k = 3, .stride = 2, .pad = 1});
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
        for (int i = 0; i < rows[r].n; i++)
            x = inverted(z, zoo_format(z, "features.%d", index++), x, rows[r].expand, rows[r].oc,
                         i ? 1 : rows[r].stride);
    x = conv_v2(z, "features.18", x, (struct zoo_layer){.oc = 1280, .k = 1});
    zoo_classifier(z, "classifier.1", x, 1000);
}
