/*
 * Layers of quantised tensors: a float op between DEQUANTIZE and QUANTIZE as the op on bytes that gives the same, but for
 * rounding. Averages are in quantised_pool.c, what is linear channel by channel in quantised_affine.c. A product with a
 * constant matrix is a 1x1 convolution, whose rows are pixels; of what is flattened one by a
 * window as large as the image, so that nothing is transposed.
 */
#include <math.h>
#include <string.h>

#include "graph/late.h"
#include "graph/passes/edit.h"
#include "graph/passes/quantised.h"

static const struct ig_window one_tap = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};

struct layer {            /* of a convolution or product */
    struct quantised x, w; /* w constant */
    int32_t bias;         /* float value; -1: none */
    int32_t outputs;      /* channels or columns */
};

/* --- biases --- */

static double element(const struct ig_graph *g, int32_t v, int64_t i) {
    const struct ig_value *x = &g->values[v];
    return ig_as_double(x->shape.type, x->data, ig_count(&x->shape) > 1 ? i : 0);
}

struct bias {              /* (value - zero) scale, or the value alone where scale is -1 */
    int32_t value, scale, zero;
};

/* A constant float, or a DEQUANTIZE of a constant, with one element or one per output. */
static int read_bias(const struct ig_graph *g, int32_t v, int32_t outputs, struct bias *b) {
    const struct ig_node *n = edit_producer(g, v, IG_DEQUANTIZE);
    const struct ig_shape *s = &g->values[v].shape;
    *b = (struct bias){v, -1, -1};
    if (n) *b = (struct bias){n->in[0], n->in[1], n->n_in > 2 ? n->in[2] : -1};
    if (!ig_is_const(g, b->value) || (!n && s->type != IG_F32)) return 0;
    if (ig_count(s) != 1 && (ig_count(s) != outputs || s->dims[s->rank - 1] != outputs)) return 0;
    if (b->scale >= 0 && !edit_f32(g, b->scale)) return 0;
    if (b->zero >= 0 && !ig_is_const(g, b->zero)) return 0;
    for (int k = 0; k < 3; k++) {
        int32_t from = k == 0 ? b->value : k == 1 ? b->scale : b->zero;
        if (from >= 0) ig_late_fetch(g, g->values[from].data);
    }
    return 1;
}

/* Bias i as a multiple of `unit`: the very number that was quantised by it, else the nearest. */
static double multiple(const struct ig_graph *g, const struct bias *b, int64_t i, double unit) {
    double value = element(g, b->value, i), scale = b->scale < 0 ? 1 : element(g, b->scale, i);
    if (b->zero >= 0) value -= element(g, b->zero, i);
    if (b->scale >= 0 && fabs(scale - unit) <= 5e-7 * unit) return value;
    return rint(value * scale / unit);
}

/*
 * The layer's bias in i32, in units of x_scale w_scale. -1: none; -2: it has one that 31 bits do not hold, or that is run
 * time's.
 */
static int32_t integer_bias(struct ig_graph *g, const struct layer *l) {
    const struct ig_shape shape = {.type = IG_I32, .rank = 1, .dims = {l->outputs, 1, 1, 1, 1, 1, 1, 1}};
    const double most = 1 << 30;
    struct bias b;
    if (l->bias < 0) return -1;
    if (!read_bias(g, l->bias, l->outputs, &b)) return -2;
    int32_t made = ig_add_const(g, g->values[l->bias].name, &shape, NULL);
    int32_t *to = (int32_t *)(uintptr_t)g->values[made].data;
    for (int32_t i = 0; i < l->outputs; i++) {
        double n = multiple(g, &b, i, element(g, l->x.scale, 0) * element(g, l->w.scale, i));
        if (!(fabs(n) <= most)) return -2;
        to[i] = (int32_t)n;
    }
    return made;
}

/* --- convolutions --- */

/* Weights whose scales, if there are several, run along dim `outputs`. */
static int read_weights(const struct ig_graph *g, int32_t v, int32_t outputs, struct quantised *w) {
    if (!quantised_read(g, v, w) || !ig_is_const(g, w->value)) return 0;
    const struct ig_shape *s = &g->values[w->value].shape;
    int64_t scales = ig_count(&g->values[w->scale].shape);
    return scales == 1 || (w->axis == outputs && scales == s->dims[outputs]);
}

/* Node becomes the convolution, with a bias that integer_bias made. */
static void become_conv(struct ig_graph *g, int32_t node, const struct layer *l, int32_t bias, const struct ig_conv *conv,
                        const struct quantised_end *end) {
    int32_t in[9] = {l->x.value, l->x.scale, quantised_zero(g, &l->x), l->w.value, l->w.scale, quantised_zero(g, &l->w),
                     end->y.scale, quantised_zero(g, &end->y), bias};
    edit_become(g, node, IG_QLINEAR_CONV, bias < 0 ? 8 : 9, in);
    g->nodes[node].attrs.conv = *conv;
    g->nodes[node].attrs.conv.act = end->clip;
}

static void drop(struct ig_graph *g, int32_t node) {
    if (node >= 0) edit_kill(&g->nodes[node]);
}

/* Scales of w, one for each output, times those of q, channel by channel, or divided by them. */
static int32_t scaled(struct ig_graph *g, const struct layer *l, const struct quantised *q, int is_divided) {
    const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {l->outputs, 1, 1, 1, 1, 1, 1, 1}};
    int32_t made = ig_add_const(g, g->values[l->w.scale].name, &shape, NULL);
    float *to = (float *)(uintptr_t)g->values[made].data;
    for (int32_t i = 0; i < l->outputs; i++) {
        double w = element(g, l->w.scale, i), by = element(g, q->scale, i);
        to[i] = (float)(is_divided ? w / by : w * by);
    }
    return made;
}

struct quantised quantised_unit(struct ig_graph *g, const struct quantised *q) {
    const int32_t type = g->values[q->value].shape.type;
    const struct ig_shape real = {IG_F32, 0, {1, 1, 1, 1, 1, 1, 1, 1}}, byte = {type, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    const float one = 1;
    struct quantised unit = {.value = q->value, .scale = ig_add_const(g, "one", &real, &one)};
    unit.zero = ig_add_const(g, "zero", &byte, q->zero < 0 ? NULL : g->values[q->zero].data);
    return unit;
}

/* A depthwise convolution's input whose channels have scales of their own: weights take these. */
static int read_channels(struct ig_graph *g, const struct ig_node *n, struct layer *l) {
    const struct ig_shape *s = &g->values[n->in[0]].shape;
    if (!quantised_by_channel(g, &l->x) || n->attrs.conv.groups != s->dims[1] || l->outputs != s->dims[1]) return 0;
    l->w.scale = scaled(g, l, &l->x, 0);
    l->x = quantised_unit(g, &l->x);
    return 1;
}

static int read_convolution(struct ig_graph *g, const struct ig_node *n, struct layer *l) {
    *l = (struct layer){.bias = n->n_in > 2 ? n->in[2] : -1};
    if (n->op != IG_CONV || n->attrs.conv.act.kind != IG_NONE || (n->n_in > 3 && n->in[3] >= 0)) return 0;
    if (!quantised_read(g, n->in[0], &l->x) || !read_weights(g, n->in[1], 0, &l->w)) return 0;
    l->outputs = g->values[l->w.value].shape.dims[0];
    return ig_count(&g->values[l->x.scale].shape) == 1 || read_channels(g, n, l);
}

/* Of volumes, which only reference kernels on bytes compute: those on floats are many times as fast. */
static int has_depth(const struct ig_window *w) {
    return w->kd > 1 || w->in_d > 1 || w->out_d > 1;
}

int quantised_convolution(struct ig_graph *g, const struct quantised_end *by) {
    struct quantised_end copy = *by, *end = &copy;
    if (end->float_value < 0 || g->values[end->float_value].producer < 0) return 0;
    int32_t node = g->values[end->float_value].producer;
    const struct ig_node *n = &g->nodes[node];
    const struct ig_conv conv = n->attrs.conv;
    struct layer l;
    if (has_depth(&conv.w) || !read_convolution(g, n, &l)) return 0;
    int32_t bias = integer_bias(g, &l);
    if (bias == -2) return 0;
    if (ig_count(&g->values[end->y.scale].shape) > 1) {
        l.w.scale = scaled(g, &l, &end->y, 1);
        end->y = quantised_unit(g, &end->y);
    }
    become_conv(g, node, &l, bias, &conv, end);
    drop(g, end->act);
    edit_take_output(g, node, end->node);
    return 1;
}

/* --- products --- */

static int32_t transposed(struct ig_graph *g, int32_t x, const int32_t *perm) {
    struct ig_shape shape = edit_permuted_shape(&g->values[x].shape, perm);
    int32_t y = edit_append(g, g->values[x].name, IG_TRANSPOSE, x, &shape);
    memcpy(edit_last(g)->attrs.transpose.perm, perm, (size_t)shape.rank * sizeof *perm);
    return y;
}

/*
 * [.., M,K] as an image of K channels, [N,K,..,M]; where M is 1 no more than another shape, and else what the layout pass
 * cancels.
 */
static int32_t as_image(struct ig_graph *g, int32_t x) {
    struct ig_shape s = g->values[x].shape;
    int32_t perm[IG_MAX_RANK] = {0}, last = s.rank - 1;
    if (s.rank == 2) {
        struct ig_shape wide = {s.type, 3, {1, s.dims[0], s.dims[1], 1, 1, 1, 1, 1}};
        if (s.dims[0] == 1) wide.dims[1] = s.dims[1], wide.dims[2] = 1;
        x = edit_reshaped(g, x, &wide);
        if (s.dims[0] == 1) return x;
        last = 2;
    }
    for (int i = 1; i <= last; i++) perm[i] = i == 1 ? last : i - 1;
    return transposed(g, x, perm);
}

/* The image [M,C,..] that [M,K] is flattened from, or -1. */
static int32_t flattened(const struct ig_graph *g, int32_t x) {
    const struct ig_node *n = edit_producer(g, x, IG_RESHAPE);
    const struct ig_shape *s = &g->values[x].shape, *from = n ? &g->values[n->in[0]].shape : NULL;
    return n && s->rank == 2 && from->rank >= 3 && from->rank <= 5 && from->dims[0] == s->dims[0] ? n->in[0] : -1;
}

/* One that is as large as the image. */
static struct ig_window whole(const struct ig_shape *image) {
    struct ig_window w = one_tap;
    w.kw = image->dims[image->rank - 1];
    if (image->rank > 3) w.kh = image->dims[image->rank - 2];
    if (image->rank > 4) w.kd = w.in_d = image->dims[2];
    return w;
}

/* The way back: an image with its channels last. What one pixel alone has needs no more than another shape. */
static int32_t from_image(struct ig_graph *g, int32_t y) {
    const struct ig_shape *s = &g->values[y].shape;
    int32_t perm[IG_MAX_RANK] = {0}, last = s->rank - 1;
    if (ig_count(s) == (int64_t)s->dims[0] * s->dims[1]) return y;
    for (int i = 1; i <= last; i++) perm[i] = i == last ? 1 : i + 1;
    return transposed(g, y, perm);
}

/*
 * The right side [K,N], or [N,K], as weights of the shape `to` but for its first dim: [N,K,1,..], or [N,C,..] of what is
 * flattened.
 */
static int32_t as_weights(struct ig_graph *g, int32_t b, int is_turned, const struct ig_shape *to) {
    static const int32_t turn[2] = {1, 0};
    struct ig_shape s = g->values[b].shape, shape = s;
    if (!is_turned) {
        shape = edit_permuted_shape(&s, turn);
        int32_t made = ig_add_const(g, g->values[b].name, &shape, NULL);
        ig_late_fetch(g, g->values[b].data);
        edit_permute(&s, g->values[b].data, turn, (void *)(uintptr_t)g->values[made].data);
        b = made;
    }
    for (int i = 1; i < to->rank; i++) shape.dims[i] = to->dims[i];
    shape.rank = to->rank;
    return edit_reshaped(g, b, &shape);
}

/* Node, a product x w, becomes a convolution, and node end->node, whose result it is, the way back from images. */
static void become_product(struct ig_graph *g, int32_t node, struct layer *l, int is_turned, int32_t bias,
                           const struct quantised_end *end) {
    struct ig_shape shape = g->values[end->y.value].shape, made, taps;
    struct ig_conv conv = {.w = one_tap, .groups = 1};
    int32_t from = flattened(g, l->x.value);
    l->x.value = from < 0 ? as_image(g, l->x.value) : from;
    made = taps = g->values[l->x.value].shape;
    if (from >= 0) conv.w = whole(&made);
    else if (made.rank == 5) conv.w.in_d = conv.w.out_d = made.dims[2];
    for (int i = 2; i < made.rank; i++) (from < 0 ? &taps : &made)->dims[i] = 1;
    l->w.value = as_weights(g, l->w.value, is_turned, &taps);
    made.type = shape.type;
    made.dims[1] = l->outputs;
    int32_t image = ig_add_value(g, g->values[end->y.value].name, &made);
    become_conv(g, node, l, bias, &conv, end);
    g->nodes[node].out[0] = image;
    g->values[image].producer = node;
    int32_t back = from_image(g, image);
    edit_become(g, end->node, IG_RESHAPE, 1, &back);
    g->nodes[end->node].out[0] = end->y.value;
    g->values[end->y.value].producer = end->node;
}

/* The MATMUL that float value v is, plus a bias: its node and the bias' ADD, or -1. */
static int32_t read_product(const struct ig_graph *g, int32_t v, int32_t *add, struct layer *l) {
    const struct ig_node *n = &g->nodes[g->values[v].producer];
    *add = l->bias = -1;
    if (n->op == IG_MATMUL) return g->values[v].producer;
    if (n->op != IG_BINARY || n->attrs.binary.kind != IG_ADD || n->attrs.binary.act.kind != IG_NONE) return -1;
    for (int k = 0; k < 2; k++) {
        if (!edit_producer(g, n->in[k], IG_MATMUL) || edit_sole_reader(g, n->in[k]) != g->values[v].producer) continue;
        if (!edit_same_shape(&g->values[n->in[k]].shape, &g->values[v].shape)) continue;
        *add = g->values[v].producer;
        l->bias = n->in[1 - k];
        return g->values[n->in[k]].producer;
    }
    return -1;
}

/* A matrix or a stack of them by one constant matrix. */
static int fits_image(const struct ig_graph *g, int32_t a, int32_t b) {
    int32_t rank = g->values[a].shape.rank;
    return rank >= 2 && rank <= 5 && g->values[b].shape.rank == 2 && ig_is_const(g, b) && !ig_is_const(g, a);
}

/* Both sides of product n, of which the constant one may be turned. */
static int read_factors(const struct ig_graph *g, const struct ig_node *n, struct layer *l, int32_t *turned) {
    const struct ig_matmul a = n->attrs.matmul;
    if (a.trans_a || a.alpha < 1 || a.alpha > 1 || !quantised_read_one(g, n->in[0], &l->x)) return 0;
    if (!read_weights(g, n->in[1], a.trans_b ? 0 : 1, &l->w) || !fits_image(g, l->x.value, l->w.value)) return 0;
    l->outputs = g->values[l->w.value].shape.dims[a.trans_b ? 0 : 1];
    *turned = a.trans_b;
    return 1;
}

/* The same of a product by x: the image that x is flattened from, or what as_image makes of x, has a depth. */
static int makes_depth(const struct ig_graph *g, int32_t x) {
    const int32_t from = flattened(g, x);
    const struct ig_shape *s = &g->values[from < 0 ? x : from].shape;
    return s->rank == 5 && s->dims[from < 0 ? 1 : 2] > 1;
}

static int product(struct ig_graph *g, const struct quantised_end *end) {
    struct layer l;
    int32_t add, node = read_product(g, end->float_value, &add, &l), turned;
    if (node < 0 || !read_factors(g, &g->nodes[node], &l, &turned) || makes_depth(g, l.x.value)) return 0;
    int32_t bias = integer_bias(g, &l);
    if (bias == -2) return 0;
    drop(g, add);
    drop(g, end->act);
    become_product(g, node, &l, turned, bias, end);
    return 1;
}

/* One number for all. */
static int is_number(const struct ig_graph *g, int32_t v) {
    return ig_is_const(g, v) && ig_count(&g->values[v].shape) == 1;
}

/*
 * The product of what is not a constant on both sides, from floats and back to bytes: vectors multiply these. Scales and zero
 * points are one number each.
 */
static int in_floats(struct ig_graph *g, int32_t node) {
    int32_t in[8], factor[2], y = g->nodes[node].out[0];
    memcpy(in, g->nodes[node].in, sizeof in);
    for (int k = 0; k < 8; k++)
        if (k % 3 && !is_number(g, in[k])) return 0;
    if (ig_is_const(g, in[0]) || ig_is_const(g, in[3])) return 0;
    for (int k = 0; k < 2; k++) {
        struct ig_shape s = g->values[in[3 * k]].shape;
        s.type = IG_F32;
        factor[k] = edit_append(g, g->values[in[3 * k]].name, IG_DEQUANTIZE, in[3 * k], &s);
        edit_become(g, g->n_nodes - 1, IG_DEQUANTIZE, 3, in + 3 * k);
    }
    struct ig_shape s = g->values[y].shape;
    s.type = IG_F32;
    int32_t product = ig_add_value(g, g->values[y].name, &s);
    edit_become(g, node, IG_MATMUL, 2, factor);
    g->nodes[node].attrs.matmul = (struct ig_matmul){.alpha = 1};
    g->nodes[node].out[0] = product;
    g->values[product].producer = node;
    ig_add_node(g, NULL, IG_QUANTIZE, 3, 1);
    edit_become(g, g->n_nodes - 1, IG_QUANTIZE, 3, (int32_t[]){product, in[6], in[7]});
    edit_last(g)->out[0] = y;
    g->values[y].producer = g->n_nodes - 1;
    return 1;
}

int quantised_matmul(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node];
    struct layer l = {.x = {n->in[0], n->in[1], n->in[2], 0}, .w = {n->in[3], n->in[4], n->in[5], 0}, .bias = -1};
    struct quantised_end end = {.y = {n->out[0], n->in[6], n->in[7], 0}};
    if (!is_number(g, l.x.scale) || !is_number(g, l.x.zero)) return 0;
    if (!is_number(g, end.y.scale) || !is_number(g, end.y.zero)) return 0;
    if (in_floats(g, node)) return 1;
    if (!fits_image(g, l.x.value, l.w.value) || !ig_is_const(g, l.w.scale) || !ig_is_const(g, l.w.zero)) return 0;
    l.outputs = g->values[l.w.value].shape.dims[1];
    ig_add_node(g, NULL, IG_RESHAPE, 1, 1);
    end.node = g->n_nodes - 1;
    become_product(g, node, &l, 0, -1, &end);
    return 1;
}

/* --- what stays floats behind --- */

/* The layer's own result as a float: scale 1, and a zero point of floats. */
static struct quantised_end no_end(struct ig_graph *g, int32_t v) {
    const struct ig_shape shape = {.type = IG_F32, .rank = 0, .dims = {1, 1, 1, 1, 1, 1, 1, 1}};
    const float one = 1, zero = 0;
    struct quantised_end end = {.float_value = v, .act = -1, .clip = {.kind = IG_NONE}, .y = {.value = v}};
    end.y.scale = ig_add_const(g, "one", &shape, &one);
    end.y.zero = ig_add_const(g, "zero", &shape, &zero);
    return end;
}

static int open_convolution(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node];
    const struct ig_conv conv = n->attrs.conv;
    struct layer l;
    if (has_depth(&conv.w) || !read_convolution(g, n, &l)) return 0;
    int32_t bias = integer_bias(g, &l);
    if (bias == -2) return 0;
    const struct quantised_end end = no_end(g, n->out[0]);
    become_conv(g, node, &l, bias, &conv, &end);
    return 1;
}

/* Float value v, a product, perhaps with a bias. */
static int open_product(struct ig_graph *g, int32_t v) {
    struct layer l;
    int32_t add, node = read_product(g, v, &add, &l), turned;
    if (node < 0 || !read_factors(g, &g->nodes[node], &l, &turned) || makes_depth(g, l.x.value)) return 0;
    int32_t bias = integer_bias(g, &l);
    if (bias == -2) return 0;
    struct quantised_end end = no_end(g, v);
    if (add < 0) ig_add_node(g, NULL, IG_RESHAPE, 1, 1);
    end.node = add < 0 ? g->n_nodes - 1 : add;
    become_product(g, node, &l, turned, bias, &end);
    return 1;
}

int quantised_open_layer(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node];
    if (n->op == IG_CONV) return open_convolution(g, node);
    if (n->op != IG_MATMUL) return 0;
    int32_t reader = edit_sole_reader(g, n->out[0]);
    if (reader >= 0 && g->nodes[reader].op == IG_BINARY && open_product(g, g->nodes[reader].out[0])) return 1;
    return open_product(g, g->nodes[node].out[0]);
}

/* --- sums and products of two tensors --- */

/* Which operand is one pixel of the other's images; 1 where both have one shape; -1 where neither is so. */
static int pixel_of(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *a = &g->values[n->in[0]].shape, *b = &g->values[n->in[1]].shape;
    if (edit_same_shape(a, b) || ig_is_pixel(g, b, a)) return 1;
    return ig_is_pixel(g, a, b) ? 0 : -1;
}

static int binary(struct ig_graph *g, const struct quantised_end *end) {
    int32_t node = g->values[end->float_value].producer;
    const struct ig_node *n = &g->nodes[node];
    const struct ig_binary_attr attr = {.kind = n->attrs.binary.kind, .act = end->clip};
    struct quantised a, b;
    if (n->op != IG_BINARY || (attr.kind != IG_ADD && attr.kind != IG_MUL) || n->attrs.binary.act.kind != IG_NONE) return 0;
    int k = pixel_of(g, n);
    if (k < 0 || !quantised_read_one(g, n->in[1 - k], &a) || !quantised_read_one(g, n->in[k], &b)) return 0;
    int32_t in[8] = {a.value, a.scale, quantised_zero(g, &a), b.value, b.scale, quantised_zero(g, &b),
                     end->y.scale, quantised_zero(g, &end->y)};
    edit_become(g, node, IG_QLINEAR_BINARY, 8, in);
    g->nodes[node].attrs.binary = attr;
    drop(g, end->act);
    edit_take_output(g, node, end->node);
    return 1;
}

int quantised_layer(struct ig_graph *g, const struct quantised_end *end) {
    if (end->float_value < 0 || g->values[end->float_value].producer < 0) return 0;
    return quantised_convolution(g, end) || product(g, end) || binary(g, end) || quantised_pool(g, end) || quantised_affine(g, end);
}
