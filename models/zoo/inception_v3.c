/* Inception v3: modules A to E of torchvision, inputs of 299x299. */
#include "models/zoo/nets.h"

static struct zoo_value conv(struct zoo *z, const char *module, const char *name, struct zoo_value x,
                             struct zoo_layer l)
{
    return zoo_conv_norm(z, zoo_format(z, "%s%s", module, name), (struct zoo_names){"conv", "bn", "relu"}, x,
                         l, 1e-3f);
}

static struct zoo_layer square(int32_t oc, int32_t k)
{
    return (struct zoo_layer){.oc = oc, .k = k, .pad = k / 2};
}

static struct zoo_layer row(int32_t oc, int32_t k) /* 1 x k */
{
    return (struct zoo_layer){.oc = oc, .kh = 1, .kw = k, .pad_w = k / 2};
}

static struct zoo_layer column(int32_t oc, int32_t k) /* k x 1 */
{
    return (struct zoo_layer){.oc = oc, .kh = k, .kw = 1, .pad_h = k / 2};
}

static struct zoo_layer halve(int32_t oc)
{
    return (struct zoo_layer){.oc = oc, .k = 3, .stride = 2};
}

static struct zoo_value pool_branch(struct zoo *z, const char *m, struct zoo_value x, int32_t oc)
{
    x = zoo_average_pool(z, zoo_format(z, "%s.branch_pool_average", m), x,
                         (struct zoo_layer){.k = 3, .pad = 1});
    return conv(z, m, ".branch_pool", x, square(oc, 1));
}

static struct zoo_value halve_pool(struct zoo *z, const char *m, struct zoo_value x)
{
    return zoo_max_pool(z, zoo_format(z, "%s.branch_pool", m), x, (struct zoo_layer){.k = 3, .stride = 2});
}

static struct zoo_value module_a(struct zoo *z, const char *m, struct zoo_value x, int32_t pool)
{
    struct zoo_value b[4];
    b[0] = conv(z, m, ".branch1x1", x, square(64, 1));
    b[1] = conv(z, m, ".branch5x5_1", x, square(48, 1));
    b[1] = conv(z, m, ".branch5x5_2", b[1], square(64, 5));
    b[2] = conv(z, m, ".branch3x3dbl_1", x, square(64, 1));
    b[2] = conv(z, m, ".branch3x3dbl_2", b[2], square(96, 3));
    b[2] = conv(z, m, ".branch3x3dbl_3", b[2], square(96, 3));
    b[3] = pool_branch(z, m, x, pool);
    return zoo_concat(z, m, b, 4);
}

static struct zoo_value module_b(struct zoo *z, const char *m, struct zoo_value x)
{
    struct zoo_value b[3];
    b[0] = conv(z, m, ".branch3x3", x, halve(384));
    b[1] = conv(z, m, ".branch3x3dbl_1", x, square(64, 1));
    b[1] = conv(z, m, ".branch3x3dbl_2", b[1], square(96, 3));
    b[1] = conv(z, m, ".branch3x3dbl_3", b[1], halve(96));
    b[2] = halve_pool(z, m, x);
    return zoo_concat(z, m, b, 3);
}

static struct zoo_value module_c(struct zoo *z, const char *m, struct zoo_value x, int32_t c7)
{
    struct zoo_value b[4];
    b[0] = conv(z, m, ".branch1x1", x, square(192, 1));
    b[1] = conv(z, m, ".branch7x7_1", x, square(c7, 1));
    b[1] = conv(z, m, ".branch7x7_2", b[1], row(c7, 7));
    b[1] = conv(z, m, ".branch7x7_3", b[1], column(192, 7));
    b[2] = conv(z, m, ".branch7x7dbl_1", x, square(c7, 1));
    b[2] = conv(z, m, ".branch7x7dbl_2", b[2], column(c7, 7));
    b[2] = conv(z, m, ".branch7x7dbl_3", b[2], row(c7, 7));
    b[2] = conv(z, m, ".branch7x7dbl_4", b[2], column(c7, 7));
    b[2] = conv(z, m, ".branch7x7dbl_5", b[2], row(192, 7));
    b[3] = pool_branch(z, m, x, 192);
    return zoo_concat(z, m, b, 4);
}

static struct zoo_value module_d(struct zoo *z, const char *m, struct zoo_value x)
{
    struct zoo_value b[3];
    b[0] = conv(z, m, ".branch3x3_1", x, square(192, 1));
    b[0] = conv(z, m, ".branch3x3_2", b[0], halve(320));
    b[1] = conv(z, m, ".branch7x7x3_1", x, square(192, 1));
    b[1] = conv(z, m, ".branch7x7x3_2", b[1], row(192, 7));
    b[1] = conv(z, m, ".branch7x7x3_3", b[1], column(192, 7));
    b[1] = conv(z, m, ".branch7x7x3_4", b[1], halve(192));
    b[2] = halve_pool(z, m, x);
    return zoo_concat(z, m, b, 3);
}

/* 1x3 and 3x1 side by side. */
static struct zoo_value fork(struct zoo *z, const char *m, const char *a, const char *b, struct zoo_value x)
{
    struct zoo_value two[2] = {conv(z, m, a, x, row(384, 3)), conv(z, m, b, x, column(384, 3))};
    return zoo_concat(z, zoo_format(z, "%s%s_concat", m, a), two, 2);
}

static struct zoo_value module_e(struct zoo *z, const char *m, struct zoo_value x)
{
    struct zoo_value b[4];
    b[0] = conv(z, m, ".branch1x1", x, square(320, 1));
    b[1] = conv(z, m, ".branch3x3_1", x, square(384, 1));
    b[1] = fork(z, m, ".branch3x3_2a", ".branch3x3_2b", b[1]);
    b[2] = conv(z, m, ".branch3x3dbl_1", x, square(448, 1));
    b[2] = conv(z, m, ".branch3x3dbl_2", b[2], square(384, 3));
    b[2] = fork(z, m, ".branch3x3dbl_3a", ".branch3x3dbl_3b", b[2]);
    b[3] = pool_branch(z, m, x, 192);
    return zoo_concat(z, m, b, 4);
}

static struct zoo_value stem(struct zoo *z, struct zoo_value x)
{
    x = conv(z, "Conv2d_1a_3x3", "", x, halve(32));
    x = conv(z, "Conv2d_2a_3x3", "", x, (struct zoo_layer){.oc = 32, .k = 3});
    x = conv(z, "Conv2d_2b_3x3", "", x, square(64, 3));
    x = zoo_max_pool(z, "maxpool1", x, (struct zoo_layer){.k = 3, .stride = 2});
    x = conv(z, "Conv2d_3b_1x1", "", x, square(80, 1));
    x = conv(z, "Conv2d_4a_3x3", "", x, (struct zoo_layer){.oc = 192, .k = 3});
    return zoo_max_pool(z, "maxpool2", x, (struct zoo_layer){.k = 3, .stride = 2});
}

void zoo_inception_v3(struct zoo *z, struct zoo_value x)
{
    x = stem(z, x);
    x = module_a(z, "Mixed_5b", x, 32);
    x = module_a(z, "Mixed_5c", x, 64);
    x = module_a(z, "Mixed_5d", x, 64);
    x = module_b(z, "Mixed_6a", x);
    x = module_c(z, "Mixed_6b", x, 128);
    x = module_c(z, "Mixed_6c", x, 160);
    x = module_c(z, "Mixed_6d", x, 160);
    x = module_c(z, "Mixed_6e", x, 192);
    x = module_d(z, "Mixed_7a", x);
    x = module_e(z, "Mixed_7b", x);
    x = module_e(z, "Mixed_7c", x);
    zoo_classifier(z, "fc", x, 1000);
}
