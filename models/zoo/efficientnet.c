/* EfficientNet-B0: inverted bottlenecks with squeeze-and-excitation; Swish exported as Sigmoid and Mul. */
#include "models/zoo/nets.h"

enum { SPREAD = 16 }; /* how much smaller than 1 the mean square of a gate's logit is */

static struct zoo_value conv(struct zoo *z, const char *path, int swish, struct zoo_value x,
                             struct zoo_layer l)
{
    x = zoo_conv_norm(z, path, (struct zoo_names){"0", "1", NULL}, x, l, 1e-5f);
    return swish ? zoo_swish(z, zoo_format(z, "%s.2", path), x) : x;
}

/*
 * The gates stay near one half: wide open or shut by what they see, sixteen of them in a row would amplify
 * the smallest difference between two inputs beyond bounds, or damp it away.
 */
static struct zoo_value excite(struct zoo *z, const char *path, struct zoo_value x, int32_t squeeze)
{
    struct zoo_value s = zoo_global_pool(z, zoo_format(z, "%s.avgpool", path), x);
    s = zoo_conv(z, zoo_format(z, "%s.fc1", path), s, (struct zoo_layer){.oc = squeeze, .k = 1, .bias = 1});
    s = zoo_swish(z, zoo_format(z, "%s.activation", path), s);
    s.power *= SPREAD;
    s = zoo_conv(z, zoo_format(z, "%s.fc2", path), s, (struct zoo_layer){.oc = x.c, .k = 1, .bias = 1});
    s.power /= SPREAD;
    s = zoo_sigmoid(z, zoo_format(z, "%s.scale_activation", path), s);
    return zoo_gate(z, path, x, s);
}

struct row {
    int32_t expand, k, stride, oc, n;
};

static struct zoo_value block(struct zoo *z, const char *path, struct zoo_value x, const struct row *r,
                              int32_t stride)
{
    struct zoo_value y = x;
    int i = 0;
    if (r->expand > 1)
        y = conv(z, zoo_format(z, "%s.block.%d", path, i++), 1, y,
                 (struct zoo_layer){.oc = r->expand * x.c, .k = 1});
    y = conv(z, zoo_format(z, "%s.block.%d", path, i++), 1, y,
             (struct zoo_layer){.oc = y.c, .k = r->k, .stride = stride, .pad = r->k / 2, .groups = y.c});
    y = excite(z, zoo_format(z, "%s.block.%d", path, i++), y, x.c / 4);
    y = conv(z, zoo_format(z, "%s.block.%d", path, i), 0, y, (struct zoo_layer){.oc = r->oc, .k = 1});
    return stride == 1 && x.c == r->oc ? zoo_add(z, path, y, x) : y;
}

void zoo_efficientnet_b0(struct zoo *z, struct zoo_value x)
{
    static const struct row rows[7] = {{1, 3, 1, 16, 1}, {6, 3, 2, 24, 2},  {6, 5, 2, 40, 2},
                                       {6, 3, 2, 80, 3}, {6, 5, 1, 112, 3}, {6, 5, 2, 192, 4},
                                       {6, 3, 1, 320, 1}};
    z->norm_scale = 6; /* Swish is then close to ReLU: small signals do not fade, large ones do not grow */
    x = conv(z, "features.0", 1, x, (struct zoo_layer){.oc = 32, .k = 3, .stride = 2, .pad = 1});
    for (int r = 0; r < 7; r++)
        for (int i = 0; i < rows[r].n; i++)
            x = block(z, zoo_format(z, "features.%d.%d", r + 1, i), x, &rows[r], i ? 1 : rows[r].stride);
    x = conv(z, "features.8", 1, x, (struct zoo_layer){.oc = 1280, .k = 1});
    zoo_classifier(z, "classifier.1", x, 1000);
}
