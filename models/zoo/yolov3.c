/*
 * YOLOv3: Darknet-53 and three detection heads for COCO (3 boxes x 85). Outputs are the maps in front of
 * darknet's [yolo] layers, coarse to fine. Modules are numbered like the layers of yolov3.cfg.
 */
#include "models/zoo/nets.h"

enum { BOXES = 3 * 85 };

struct yolo {
    struct zoo *z;
    int index; /* of the next layer in yolov3.cfg */
};

static char *path(struct yolo *y, const char *name)
{
    return zoo_format(y->z, "module_list.%d.%s", y->index, name);
}

static struct zoo_value conv(struct yolo *y, struct zoo_value x, int32_t oc, int32_t k, int32_t stride)
{
    x = zoo_conv_norm(y->z, zoo_format(y->z, "module_list.%d", y->index),
                      (struct zoo_names){"Conv2d", "BatchNorm2d", NULL}, x,
                      (struct zoo_layer){.oc = oc, .k = k, .stride = stride, .pad = k / 2}, 1e-5f);
    x = zoo_leaky_relu(y->z, path(y, "activation"), x, 0.1f);
    y->index++;
    return x;
}

static struct zoo_value residual(struct yolo *y, struct zoo_value x)
{
    struct zoo_value b = conv(y, x, x.c / 2, 1, 1);
    x = zoo_add(y->z, path(y, "shortcut"), conv(y, b, x.c, 3, 1), x);
    y->index++;
    return x;
}

/* Five convolutions of a head; the value returned is what the next, finer head starts from. */
static struct zoo_value head(struct yolo *y, struct zoo_value x, int32_t width, const char *output)
{
    struct zoo_value branch = {0};
    for (int i = 0; i < 3; i++) {
        branch = conv(y, x, width, 1, 1);
        x = conv(y, branch, 2 * width, 3, 1);
    }
    x = zoo_conv(y->z, path(y, "Conv2d"), x, (struct zoo_layer){.oc = BOXES, .k = 1, .bias = 1});
    zoo_output(y->z, x, output);
    y->index += 3; /* the convolution, [yolo], [route] */
    return branch;
}

static struct zoo_value finer(struct yolo *y, struct zoo_value x, struct zoo_value skip)
{
    x = conv(y, x, x.c / 2, 1, 1);
    x = zoo_upsample(y->z, path(y, "upsample"), x);
    y->index++;
    x = zoo_concat(y->z, path(y, "route"), (struct zoo_value[]){x, skip}, 2);
    y->index++;
    return x;
}

void zoo_yolov3(struct zoo *z, struct zoo_value x)
{
    static const int depth[5] = {1, 2, 8, 8, 4};
    struct zoo_value stage[5];
    struct yolo y = {z, 0};
    x = conv(&y, x, 32, 3, 1);
    for (int s = 0; s < 5; s++) {
        x = conv(&y, x, 64 << s, 3, 2);
        for (int i = 0; i < depth[s]; i++) x = residual(&y, x);
        stage[s] = x;
    }
    x = head(&y, x, 512, "output_13");
    x = head(&y, finer(&y, x, stage[3]), 256, "output_26");
    head(&y, finer(&y, x, stage[2]), 128, "output_52");
}
