/* Layers with a window: their shapes, nodes, weights, multiply-accumulates. */
#include "models/zoo/build.h"

#include <math.h>

struct window {
    int64_t k[2], s[2], pads[4]; /* h, w; pads in ONNX order: top, left, bottom, right */
    int32_t out[2];
};

static int64_t output_size(int64_t in, int64_t k, int64_t s, int64_t pads, int ceil)
{
    int64_t span = in + pads - k;
    return (ceil ? (span + s - 1) / s : span / s) + 1;
}

static struct window window(const struct zoo_layer *l, struct zoo_value x)
{
    int64_t s = l->stride ? l->stride : 1, in[2] = {x.h, x.w};
    int64_t pad[2] = {l->pad ? l->pad : l->pad_h, l->pad ? l->pad : l->pad_w};
    struct window w = {.k = {l->k ? l->k : l->kh, l->k ? l->k : l->kw}, .s = {s, s}};
    for (int i = 0; i < 2; i++) {
        int64_t end = pad[i] + l->pad_end;
        if (l->same) {
            int64_t total = ((in[i] + s - 1) / s - 1) * s + w.k[i] - in[i];
            pad[i] = total > 0 ? total / 2 : 0;
            end = total > 0 ? total - pad[i] : 0;
        }
        w.pads[i] = pad[i];
        w.pads[i + 2] = end;
        w.out[i] = (int32_t)output_size(in[i], w.k[i], s, pad[i] + end, l->ceil);
    }
    return w;
}

/* Part of the window's taps that fall inside the image, averaged over all outputs: padding adds nothing. */
static double inside(const struct window *w, int axis, int32_t in)
{
    int64_t taps = 0;
    for (int64_t o = 0; o < w->out[axis]; o++)
        for (int64_t t = 0; t < w->k[axis]; t++) {
            int64_t at = o * w->s[axis] - w->pads[axis] + t;
            taps += at >= 0 && at < in;
        }
    return (double)taps / (double)(w->out[axis] * w->k[axis]);
}

static void window_attributes(struct zoo *z, Onnx__NodeProto *n, const struct window *w, int same)
{
    zoo_attr_ints(z, n, "kernel_shape", w->k, 2);
    if (same) zoo_attr_string(z, n, "auto_pad", "SAME_UPPER");
    else zoo_attr_ints(z, n, "pads", w->pads, 4);
    zoo_attr_ints(z, n, "strides", w->s, 2);
}

/* Weights whose sum over `taps` inputs of mean square `power` has mean square 1. */
static const char *weight(struct zoo *z, const char *path, size_t n_dims, const int64_t *dims, double taps,
                          double power)
{
    double bound = sqrt(3.0 / (taps * power)); /* correctly rounded everywhere, unlike the rest of libm */
    return zoo_weight(z, zoo_format(z, "%s.weight", path), n_dims, dims, -bound, bound);
}

static const char *bias(struct zoo *z, const char *path, int64_t n)
{
    return zoo_weight(z, zoo_format(z, "%s.bias", path), 1, &n, -0.1, 0.1);
}

struct zoo_value zoo_conv(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l)
{
    struct window w = window(&l, x);
    int32_t groups = l.groups ? l.groups : 1;
    int64_t dims[] = {l.oc, x.c / groups, w.k[0], w.k[1]}, taps = dims[1] * dims[2] * dims[3];
    struct zoo_value y = {NULL, l.oc, w.out[0], w.out[1], 1, 0};
    const char *in[3] = {x.name};
    in[1] = weight(z, path, 4, dims, (double)taps * inside(&w, 0, x.h) * inside(&w, 1, x.w), x.power);
    if (l.bias) in[2] = bias(z, path, l.oc);
    Onnx__NodeProto *n = zoo_node(z, "Conv", path, in, l.bias ? 3 : 2, &y.name);
    zoo_attr_ints(z, n, "dilations", (int64_t[]){1, 1}, 2);
    zoo_attr_int(z, n, "group", groups);
    window_attributes(z, n, &w, l.same);
    z->counts.macs += taps * y.c * y.h * y.w;
    return y;
}

struct zoo_value zoo_deconv(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l)
{
    int64_t dims[] = {x.c, l.oc, l.k, l.k};
    struct zoo_value y = {NULL, l.oc, (x.h - 1) * l.stride + l.k, (x.w - 1) * l.stride + l.k, 1, 0};
    const char *in[2] = {x.name};
    in[1] = weight(z, path, 4, dims, (double)x.c * l.k * l.k / (l.stride * l.stride), x.power);
    Onnx__NodeProto *n = zoo_node(z, "ConvTranspose", path, in, 2, &y.name);
    zoo_attr_ints(z, n, "kernel_shape", dims + 2, 2);
    zoo_attr_ints(z, n, "strides", (int64_t[]){l.stride, l.stride}, 2);
    z->counts.macs += dims[0] * dims[1] * dims[2] * dims[3] * x.h * x.w;
    return y;
}

static struct zoo_value pool(struct zoo *z, const char *op, const char *path, struct zoo_value x,
                             struct zoo_layer l)
{
    struct window w = window(&l, x);
    struct zoo_value y = {NULL, x.c, w.out[0], w.out[1], x.power, x.mean};
    Onnx__NodeProto *n = zoo_node(z, op, path, &x.name, 1, &y.name);
    zoo_attr_int(z, n, "ceil_mode", l.ceil);
    if (op[0] == 'A') zoo_attr_int(z, n, "count_include_pad", !l.skip_pad);
    window_attributes(z, n, &w, l.same);
    return y;
}

struct zoo_value zoo_max_pool(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l)
{
    struct zoo_value y = pool(z, "MaxPool", path, x, l);
    y.power *= l.k > 2 ? 3 : 2.2; /* of 9 or 4 rectified normal values that are somewhat alike */
    y.mean = 0.85 * sqrt(y.power);
    return y;
}

struct zoo_value zoo_average_pool(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l)
{
    struct zoo_value y = pool(z, "AveragePool", path, x, l);
    if (l.k > 1) y.power = x.mean * x.mean + 0.5 * (x.power - x.mean * x.mean);
    return y;
}

struct zoo_value zoo_linear(struct zoo *z, const char *path, struct zoo_value x, int32_t outputs)
{
    struct zoo_value y = {NULL, outputs, 0, 0, 1, 0};
    const char *in[3] = {x.name};
    in[1] = weight(z, path, 2, (int64_t[]){outputs, x.c}, x.c, x.power);
    in[2] = bias(z, path, outputs);
    Onnx__NodeProto *n = zoo_node(z, "Gemm", path, in, 3, &y.name);
    zoo_attr_float(z, n, "alpha", 1);
    zoo_attr_float(z, n, "beta", 1);
    zoo_attr_int(z, n, "transB", 1);
    z->counts.macs += (int64_t)x.c * outputs;
    return y;
}
