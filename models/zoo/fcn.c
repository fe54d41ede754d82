/*
 * FCN-8s on VGG-16 (Shelhamer, Long, Darrell 2016; voc-fcn8s): the first convolution pads by 100, so that any
 * image gives a score map; transposed convolutions bring it back, sums with pool4 and pool3 refine it, crops
 * align it.
 */
#include "models/zoo/nets.h"

enum { CLASSES = 21, FIRST_PAD = 100 };

struct taps {
    struct zoo_value pool[5];
};

static struct zoo_value conv(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l)
{
    l.bias = 1;
    return zoo_conv(z, path, x, l);
}

static struct taps body(struct zoo *z, struct zoo_value x)
{
    static const int32_t depth[5] = {2, 2, 3, 3, 3}, width[5] = {64, 128, 256, 512, 512};
    struct taps t;
    for (int s = 0; s < 5; s++) {
        for (int i = 0; i < depth[s]; i++) {
            struct zoo_layer l = {.oc = width[s], .k = 3, .pad = s + i ? 1 : FIRST_PAD};
            x = conv(z, zoo_format(z, "conv%d_%d", s + 1, i + 1), x, l);
            x = zoo_relu(z, zoo_format(z, "relu%d_%d", s + 1, i + 1), x);
        }
        struct zoo_layer pool = {.k = 2, .stride = 2, .ceil = 1};
        t.pool[s] = x = zoo_max_pool(z, zoo_format(z, "pool%d", s + 1), x, pool);
    }
    return t;
}

/* Scores of pool `level`, cropped by `offset` to x's size, added to x. */
static struct zoo_value refine(struct zoo *z, int level, int32_t offset, struct zoo_value x,
                               const struct taps *t)
{
    char *score = zoo_format(z, "score_pool%d", level);
    struct zoo_value s = conv(z, score, t->pool[level - 1], (struct zoo_layer){.oc = CLASSES, .k = 1});
    s = zoo_crop(z, zoo_format(z, "%sc", score), s, offset, x.h);
    return zoo_add(z, zoo_format(z, "fuse_pool%d", level), x, s);
}

void zoo_fcn(struct zoo *z, struct zoo_value x)
{
    struct taps t = body(z, x);
    struct zoo_value y = conv(z, "fc6", t.pool[4], (struct zoo_layer){.oc = 4096, .k = 7});
    y = conv(z, "fc7", zoo_relu(z, "relu6", y), (struct zoo_layer){.oc = 4096, .k = 1});
    y = conv(z, "score_fr", zoo_relu(z, "relu7", y), (struct zoo_layer){.oc = CLASSES, .k = 1});
    y = zoo_deconv(z, "upscore2", y, (struct zoo_layer){.oc = CLASSES, .k = 4, .stride = 2});
    y = refine(z, 4, 5, y, &t);
    y = zoo_deconv(z, "upscore_pool4", y, (struct zoo_layer){.oc = CLASSES, .k = 4, .stride = 2});
    y = refine(z, 3, 9, y, &t);
    y = zoo_deconv(z, "upscore8", y, (struct zoo_layer){.oc = CLASSES, .k = 16, .stride = 8});
    zoo_output(z, zoo_crop(z, "score", y, 31, x.h), "output");
}
