/* Layers that move more than they compute, as the benchmark networks have them: a graph of them, no two connected. */
#include <stdio.h>

#include "bench/micro/micro.h"

#define SHAPE(...) ((struct ig_shape){IG_F32, sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t), {__VA_ARGS__}})

static struct ig_node *node(struct ig_graph *g, enum ig_op op, int32_t n_in, struct ig_shape in, struct ig_shape out)
{
    char name[32];
    snprintf(name, sizeof name, "n%d", g->n_nodes);
    struct ig_node *n = ig_add_node(g, name, op, n_in, 1);
    snprintf(name, sizeof name, "x%d", g->n_nodes);
    n->in[0] = ig_add_value(g, name, &in);
    snprintf(name, sizeof name, "y%d", g->n_nodes);
    n->out[0] = ig_add_value(g, name, &out);
    return n;
}

static void pool(struct ig_graph *g, int32_t kind, int32_t extent, int32_t c, int32_t k, int32_t s, int32_t pad)
{
    int32_t out = (extent + 2 * pad - k) / s + 1;
    struct ig_node *n = node(g, IG_POOL, 1, SHAPE(1, extent, extent, c), SHAPE(1, out, out, c));
    n->attrs.pool = (struct ig_pool){.w = {1, k, k, 1, s, s, 1, 1, 1, 0, pad, pad, 0, pad, pad, 1, 1}, .kind = kind};
}

static void global_pool(struct ig_graph *g, int32_t extent, int32_t c)
{
    struct ig_node *n = node(g, IG_GLOBAL_POOL, 1, SHAPE(1, extent, extent, c), SHAPE(1, 1, 1, c));
    n->attrs.global_pool.kind = IG_POOL_AVERAGE;
}

/* NCHW to NHWC, or back. */
static void transpose(struct ig_graph *g, int32_t extent, int32_t c, int last)
{
    struct ig_shape first = SHAPE(1, c, extent, extent), then = SHAPE(1, extent, extent, c);
    struct ig_node *n = node(g, IG_TRANSPOSE, 1, last ? first : then, last ? then : first);
    n->attrs.transpose = last ? (struct ig_transpose){{0, 2, 3, 1}} : (struct ig_transpose){{0, 3, 1, 2}};
}

static void fc(struct ig_graph *g, int32_t k, int32_t c)
{
    struct ig_node *n = node(g, IG_FC, 2, SHAPE(1, k), SHAPE(1, c));
    n->in[1] = ig_add_const(g, "w", &SHAPE(c, k), NULL);
}

static void unary(struct ig_graph *g, int32_t kind, float alpha, float beta)
{
    struct ig_node *n = node(g, IG_UNARY, 1, SHAPE(1, 28, 28, 192), SHAPE(1, 28, 28, 192));
    n->attrs.unary.act = (struct ig_act){kind, alpha, beta};
}

/* With a tensor as large (a residual), or with a value for each channel (batch normalisation, attention). */
static void binary(struct ig_graph *g, int32_t kind, int32_t extent, int32_t c, int whole, int32_t act)
{
    struct ig_shape x = SHAPE(1, extent, extent, c), channels = SHAPE(1, 1, 1, c);
    struct ig_node *n = node(g, IG_BINARY, 2, x, x);
    n->in[1] = ig_add_value(g, "other", whole ? &x : &channels);
    n->attrs.binary = (struct ig_binary_attr){kind, {act, 0, 0}};
}

static void softmax(struct ig_graph *g, int32_t pixels, int32_t c)
{
    node(g, IG_SOFTMAX, 1, SHAPE(pixels, c), SHAPE(pixels, c))->attrs.axis = (struct ig_axis){1, IG_SOFTMAX_EXP};
}

static void resize(struct ig_graph *g, int32_t mode, int32_t extent, int32_t c, int32_t factor)
{
    int32_t out = extent * factor;
    struct ig_node *n = node(g, IG_RESIZE, 1, SHAPE(1, extent, extent, c), SHAPE(1, out, out, c));
    float f = (float)factor;
    n->attrs.resize = (struct ig_resize){.mode = mode, .coord = mode == IG_LINEAR ? IG_HALF_PIXEL : IG_ASYMMETRIC,
                                         .nearest = IG_NEAREST_FLOOR, .scale = {1, f, f, 1, 1, 1, 1, 1}};
}

struct ig_graph *ig_micro_streams(void)
{
    struct ig_graph *g = ig_graph_new("streams");
    pool(g, IG_POOL_MAX, 112, 64, 3, 2, 1);      /* ResNet */
    pool(g, IG_POOL_MAX, 55, 64, 3, 2, 0);       /* SqueezeNet, AlexNet */
    pool(g, IG_POOL_MAX, 35, 288, 3, 2, 0);      /* Inception */
    pool(g, IG_POOL_MAX, 14, 576, 3, 2, 1);
    pool(g, IG_POOL_MAX, 28, 192, 3, 1, 1);
    pool(g, IG_POOL_MAX, 14, 512, 3, 1, 1);
    pool(g, IG_POOL_AVERAGE, 35, 192, 3, 1, 1);
    pool(g, IG_POOL_AVERAGE, 17, 768, 3, 1, 1);
    pool(g, IG_POOL_MAX, 112, 128, 2, 2, 0);     /* VGG */
    pool(g, IG_POOL_MAX, 28, 512, 2, 2, 0);
    pool(g, IG_POOL_AVERAGE, 28, 256, 2, 2, 0);  /* DenseNet */
    global_pool(g, 7, 2048);
    global_pool(g, 7, 1280);
    global_pool(g, 28, 240);
    global_pool(g, 112, 32);
    transpose(g, 224, 3, 1);
    transpose(g, 224, 3, 0);
    transpose(g, 224, 21, 0);
    transpose(g, 13, 255, 0);
    transpose(g, 28, 192, 1);
    fc(g, 1280, 1000);
    fc(g, 2048, 1000);
    fc(g, 4096, 4096);
    binary(g, IG_ADD, 28, 128, 1, IG_NONE);
    binary(g, IG_ADD, 56, 256, 1, IG_RELU);
    binary(g, IG_MUL, 28, 240, 0, IG_NONE);
    binary(g, IG_MUL, 28, 192, 0, IG_NONE);      /* scale, then shift: DenseNet */
    binary(g, IG_ADD, 28, 192, 0, IG_RELU);
    binary(g, IG_ADD, 7, 1024, 0, IG_RELU);
    unary(g, IG_RELU, 0, 0);
    unary(g, IG_CLIP, 0, 6);
    unary(g, IG_LEAKY_RELU, 0.1f, 0);
    unary(g, IG_AFFINE, 2, 1);
    unary(g, IG_HARD_SIGMOID, 1 / 6.f, 0.5f);
    unary(g, IG_HARD_SWISH, 0, 0);
    unary(g, IG_SIGMOID, 0, 0);
    unary(g, IG_SWISH, 1, 0);
    unary(g, IG_TANH, 0, 0);
    softmax(g, 1, 1000);
    softmax(g, 784, 192);
    softmax(g, 50176, 21);
    resize(g, IG_NEAREST, 13, 256, 2);           /* YOLO */
    resize(g, IG_NEAREST, 26, 128, 2);
    resize(g, IG_LINEAR, 28, 64, 2);
    resize(g, IG_LINEAR, 28, 21, 8);
    g->channels_last = 1;
    return g;
}
