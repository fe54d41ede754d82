#include "tests/support/nets.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/node.h"

struct ig_graph *net_new(void)
{
    struct ig_graph *g = ig_graph_new("net");
    g->channels_last = 1;
    return g;
}

static struct ig_shape shape_of(const struct ig_graph *g, int32_t v)
{
    return g->values[v].shape;
}

/* A node of one output. */
static int32_t add(struct ig_graph *g, enum ig_op op, const union ig_attrs *attrs, struct ig_shape out,
                   int32_t n_in, const int32_t *in)
{
    char name[32];
    snprintf(name, sizeof name, "v%d", g->n_values);
    int32_t v = ig_add_value(g, name, &out);
    struct ig_node *n = ig_add_node(g, NULL, op, n_in, 1);
    for (int32_t i = 0; i < n_in; i++) n->in[i] = in[i];
    n->out[0] = v;
    if (attrs) n->attrs = *attrs;
    return v;
}

int32_t net_input(struct ig_graph *g, int32_t n, int32_t h, int32_t w, int32_t c)
{
    struct ig_shape s = SHAPE(IG_F32, n, h, w, c);
    int32_t v = ig_add_value(g, "input", &s);
    ig_add_input(g, v);
    return v;
}

static int32_t constant(struct ig_graph *g, struct ig_shape s)
{
    struct rng r = {(uint64_t)g->n_values};
    int32_t v = ig_add_const(g, "weights", &s, NULL);
    float *data = (float *)(uintptr_t)g->values[v].data;
    for (int64_t i = 0; i < ig_count(&s); i++) data[i] = (float)rng_int(&r, -2, 2);
    return v;
}

static struct ig_window window(int32_t k, int32_t stride)
{
    struct ig_window w = {1, k, k, 1, stride, stride, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1};
    return w;
}

static struct ig_shape windowed(struct ig_shape s, const struct ig_window *w, int32_t c)
{
    return SHAPE(IG_F32, s.dims[0], (s.dims[1] + w->top + w->bottom - (w->kh - 1) * w->dh - 1) / w->sh + 1,
                 (s.dims[2] + w->left + w->right - (w->kw - 1) * w->dw - 1) / w->sw + 1, c);
}

int32_t net_conv_window(struct ig_graph *g, int32_t x, int32_t oc, const struct ig_window *w, int32_t groups,
                        int32_t residual)
{
    union ig_attrs a = {.conv = {.w = *w, .groups = groups}};
    int32_t weights = constant(g, SHAPE(IG_F32, oc, shape_of(g, x).dims[3] / groups, w->kh, w->kw));
    const int32_t in[4] = {x, weights, constant(g, SHAPE(IG_F32, oc)), residual};
    return add(g, IG_CONV, &a, windowed(shape_of(g, x), w, oc), residual < 0 ? 3 : 4, in);
}

int32_t net_conv(struct ig_graph *g, int32_t x, int32_t oc, int32_t k, int32_t stride, int32_t residual)
{
    struct ig_window w = window(k, stride);
    return net_conv_window(g, x, oc, &w, 1, residual);
}

int32_t net_deconv(struct ig_graph *g, int32_t x, int32_t oc, int32_t k, int32_t stride)
{
    union ig_attrs a = {.conv = {.w = window(k, stride), .groups = 1}};
    struct ig_shape s = shape_of(g, x);
    int32_t w = constant(g, SHAPE(IG_F32, s.dims[3], oc, k, k)), more = k - 2 * (k / 2);
    s = SHAPE(IG_F32, s.dims[0], (s.dims[1] - 1) * stride + more, (s.dims[2] - 1) * stride + more, oc);
    return add(g, IG_DECONV, &a, s, 2, (const int32_t[]){x, w});
}

int32_t net_depthwise(struct ig_graph *g, int32_t x, int32_t k, int32_t stride)
{
    struct ig_window w = window(k, stride);
    int32_t c = shape_of(g, x).dims[3];
    return net_conv_window(g, x, c, &w, c, -1);
}

int32_t net_pool_window(struct ig_graph *g, int32_t x, const struct ig_window *w, int32_t kind)
{
    union ig_attrs a = {.pool = {.w = *w, .kind = kind}};
    return add(g, IG_POOL, &a, windowed(shape_of(g, x), w, shape_of(g, x).dims[3]), 1, &x);
}

int32_t net_pool(struct ig_graph *g, int32_t x, int32_t k, int32_t stride)
{
    struct ig_window w = window(k, stride);
    return net_pool_window(g, x, &w, IG_POOL_MAX);
}

int32_t net_resize(struct ig_graph *g, int32_t x, int32_t factor, int32_t mode)
{
    float f = (float)factor;
    union ig_attrs a = {.resize = {.mode = mode, .coord = mode == IG_LINEAR ? IG_HALF_PIXEL : IG_ASYMMETRIC,
                                   .nearest = IG_NEAREST_FLOOR, .scale = {1, f, f, 1, 1, 1, 1, 1}}};
    struct ig_shape s = shape_of(g, x);
    return add(g, IG_RESIZE, &a, SHAPE(IG_F32, s.dims[0], s.dims[1] * factor, s.dims[2] * factor, s.dims[3]), 1, &x);
}

int32_t net_global_pool(struct ig_graph *g, int32_t x)
{
    union ig_attrs a = {.global_pool = {.kind = IG_POOL_MAX}};
    return add(g, IG_GLOBAL_POOL, &a, SHAPE(IG_F32, shape_of(g, x).dims[0], 1, 1, shape_of(g, x).dims[3]), 1,
               &x);
}

int32_t net_relu(struct ig_graph *g, int32_t x)
{
    union ig_attrs a = {.unary = {.act = {.kind = IG_RELU}}};
    return add(g, IG_UNARY, &a, shape_of(g, x), 1, &x);
}

int32_t net_softmax(struct ig_graph *g, int32_t x)
{
    union ig_attrs a = {.axis = {.axis = shape_of(g, x).rank - 1, .mode = IG_SOFTMAX_EXP}};
    return add(g, IG_SOFTMAX, &a, shape_of(g, x), 1, &x);
}

int32_t net_add(struct ig_graph *g, int32_t a, int32_t b)
{
    union ig_attrs attrs = {.binary = {.kind = IG_ADD}};
    return add(g, IG_BINARY, &attrs, shape_of(g, a), 2, (const int32_t[]){a, b});
}

int32_t net_scale(struct ig_graph *g, int32_t x)
{
    union ig_attrs attrs = {.binary = {.kind = IG_MUL}};
    struct ig_shape s = shape_of(g, x);
    int32_t c = constant(g, SHAPE(IG_F32, s.dims[s.rank - 1]));
    return add(g, IG_BINARY, &attrs, s, 2, (const int32_t[]){x, c});
}

int32_t net_fc(struct ig_graph *g, int32_t x, int32_t n)
{
    union ig_attrs a = {.fc = {.act = {.kind = IG_NONE}}};
    struct ig_shape s = shape_of(g, x);
    int32_t w = constant(g, SHAPE(IG_F32, n, s.dims[1])), b = constant(g, SHAPE(IG_F32, n));
    return add(g, IG_FC, &a, SHAPE(IG_F32, s.dims[0], n), 3, (const int32_t[]){x, w, b});
}

static int32_t reals(struct ig_graph *g, struct ig_shape s)
{
    struct rng r = {(uint64_t)g->n_values};
    int32_t v = ig_add_const(g, "weights", &s, NULL);
    float *data = (float *)(uintptr_t)g->values[v].data;
    for (int64_t i = 0; i < ig_count(&s); i++) data[i] = (float)rng_real(&r, -0.25, 0.25);
    return v;
}

int32_t net_recurrent(struct ig_graph *g, int32_t x, int32_t kind, int32_t directions, int32_t units)
{
    const struct ig_act sigmoid = {IG_SIGMOID, 0, 0}, tanh = {IG_TANH, 0, 0};
    union ig_attrs fc = {.fc = {.act = {.kind = IG_NONE}}}, a = {.recurrent = {.kind = kind, .reverse = 1 << (directions - 1)}};
    const struct ig_shape s = shape_of(g, x);
    const int32_t t = s.dims[0], b = s.dims[1], rows = ig_gates_of(&a.recurrent) * units, all = directions * rows;
    a.recurrent.f = kind == IG_RNN ? tanh : sigmoid;
    a.recurrent.g = a.recurrent.u = tanh;
    a.recurrent.reset_after = kind == IG_GRU;
    x = net_reshape(g, x, 2, (int32_t[]){t * b, s.dims[2]});
    const int32_t w = reals(g, SHAPE(IG_F32, all, s.dims[2])), bias = reals(g, SHAPE(IG_F32, all));
    x = net_reshape(g, add(g, IG_FC, &fc, SHAPE(IG_F32, t * b, all), 3, (const int32_t[]){x, w, bias}), 3, (int32_t[]){t, b, all});
    int32_t in[] = {x, reals(g, SHAPE(IG_F32, directions, rows, units)), -1, -1, -1, -1};
    in[3] = reals(g, SHAPE(IG_F32, directions, b, units));
    if (kind == IG_GRU) in[2] = reals(g, SHAPE(IG_F32, directions, units));
    if (kind == IG_LSTM) in[4] = reals(g, SHAPE(IG_F32, directions, b, units));
    if (kind == IG_LSTM) in[5] = reals(g, SHAPE(IG_F32, directions, 3 * units));
    return add(g, IG_RECURRENT, &a, SHAPE(IG_F32, t, directions, b, units), 6, in);
}

struct ig_graph *net_of_sequences(void)
{
    enum { STEPS = 12, ROWS = 2, UNITS = 36 };
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, STEPS, ROWS, 3), 8, 3, 1, -1);
    x = net_recurrent(g, net_reshape(g, x, 3, (int32_t[]){STEPS, ROWS, 8}), IG_LSTM, 2, UNITS);
    x = net_recurrent(g, net_reshape(g, x, 3, (int32_t[]){STEPS, 2 * ROWS, UNITS}), IG_GRU, 2, UNITS);
    x = net_recurrent(g, net_reshape(g, x, 3, (int32_t[]){STEPS, 4 * ROWS, UNITS}), IG_RNN, 1, UNITS);
    ig_add_output(g, x);
    net_done(g);
    return g;
}

int32_t net_concat(struct ig_graph *g, int32_t axis, int32_t n, const int32_t *x)
{
    union ig_attrs a = {.axis = {.axis = axis}};
    struct ig_shape s = shape_of(g, x[0]);
    s.dims[axis] = 0;
    for (int32_t i = 0; i < n; i++) s.dims[axis] += shape_of(g, x[i]).dims[axis];
    return add(g, IG_CONCAT, &a, s, n, x);
}

int32_t net_reshape(struct ig_graph *g, int32_t x, int32_t rank, const int32_t *dims)
{
    return add(g, IG_RESHAPE, NULL, make_shape(IG_F32, dims, rank), 1, &x);
}

int32_t net_flatten(struct ig_graph *g, int32_t x)
{
    struct ig_shape s = shape_of(g, x);
    return net_reshape(g, x, 2, (const int32_t[]){s.dims[0], s.dims[1] * s.dims[2] * s.dims[3]});
}

int32_t net_slice(struct ig_graph *g, int32_t x, int32_t axis, int32_t start, int32_t count, int32_t step)
{
    union ig_attrs a = {.slice = {.step = {1, 1, 1, 1, 1, 1, 1, 1}}};
    struct ig_shape s = shape_of(g, x);
    a.slice.start[axis] = start;
    a.slice.step[axis] = step;
    s.dims[axis] = count;
    return add(g, IG_SLICE, &a, s, 1, &x);
}

int32_t net_transpose(struct ig_graph *g, int32_t x)
{
    union ig_attrs a = {.transpose = {.perm = {0, 2, 1, 3}}};
    struct ig_shape s = shape_of(g, x);
    return add(g, IG_TRANSPOSE, &a, SHAPE(IG_F32, s.dims[0], s.dims[2], s.dims[1], s.dims[3]), 1, &x);
}

void net_done(struct ig_graph *g)
{
    char err[1024] = "";
    if (ig_graph_sort(g, err, sizeof err) || ig_graph_check(g, err, sizeof err)) fail_msg("%s", err);
}

/* --- random networks --- */

/* A value of the same shape as x in all dims but `axis` (-1: in all); x itself if there is no other. */
static int32_t partner(const struct ig_graph *g, struct rng *r, int32_t x, int32_t axis, int32_t first)
{
    int32_t found = x, met = 0;
    for (int32_t v = first; v < g->n_values; v++) {
        struct ig_shape a = shape_of(g, v), b = shape_of(g, x);
        if (ig_is_const(g, v) || a.rank != b.rank) continue;
        if (axis >= 0) a.dims[axis] = b.dims[axis] = 0;
        if (memcmp(a.dims, b.dims, sizeof a.dims) == 0 && rng_one_in(r, ++met)) found = v;
    }
    return found;
}

static int32_t random_concat(struct ig_graph *g, struct rng *r, int32_t x)
{
    int32_t axis = rng_int(r, 1, 10) < 8 ? 3 : rng_int(r, 0, 3), n = rng_one_in(r, 8) ? 11 : rng_int(r, 2, 4);
    int32_t pieces[11];
    for (int32_t i = 0; i < n; i++) pieces[i] = i ? partner(g, r, x, axis, 0) : x;
    return net_concat(g, axis, n, pieces);
}

static int32_t random_slice(struct ig_graph *g, struct rng *r, int32_t x)
{
    int32_t axis = rng_int(r, 0, 3), extent = shape_of(g, x).dims[axis], step = rng_one_in(r, 4) ? 2 : 1;
    int32_t count = rng_int(r, 1, (extent + step - 1) / step);
    return net_slice(g, x, axis, rng_int(r, 0, extent - 1 - (count - 1) * step), count, step);
}

static int32_t random_reshape(struct ig_graph *g, struct rng *r, int32_t x)
{
    struct ig_shape s = shape_of(g, x);
    const int32_t merged[4] = {s.dims[0], 1, s.dims[1] * s.dims[2], s.dims[3]};
    const int32_t mixed[4] = {s.dims[0], s.dims[1], s.dims[3], s.dims[2]};
    return net_reshape(g, x, 4, rng_one_in(r, 2) ? merged : mixed);
}

static int32_t random_node(struct ig_graph *g, struct rng *r, int32_t x)
{
    struct ig_shape s = shape_of(g, x);
    int64_t size = ig_count(&s);
    switch (rng_int(r, 0, 12)) {
    case 0:
    case 1: return net_conv(g, x, rng_int(r, 1, 5), RNG_OF(r, 1, 3), 1, -1);
    case 2: {
        int32_t other = partner(g, r, x, 3, 0);
        return net_conv(g, x, shape_of(g, other).dims[3], 1, 1, other);
    }
    case 3: return net_pool(g, x, 3, size > 500 ? 2 : 1);
    case 4: return net_relu(g, x);
    case 5: return net_scale(g, x);
    case 6: return net_add(g, x, partner(g, r, x, -1, 0));
    case 7: return net_softmax(g, x);
    case 8: return net_transpose(g, x);
    case 9: return random_slice(g, r, x);
    case 10: return random_reshape(g, r, x);
    default: return size < 2000 ? random_concat(g, r, x) : net_relu(g, x);
    }
}

struct ig_graph *net_random(struct rng *r, int32_t nodes)
{
    struct ig_graph *g = net_new();
    int32_t values[256], n = 0, batch = rng_one_in(r, 3) ? 2 : 1;
    values[n++] = net_input(g, batch, rng_int(r, 1, 5), rng_int(r, 1, 5), rng_int(r, 1, 6));
    for (int32_t i = 0; i < nodes && n < 256; i++) {
        int32_t near = n > 6 ? n - 6 : 0;
        values[n] = random_node(g, r, values[rng_int(r, rng_one_in(r, 4) ? 0 : near, n - 1)]);
        n++;
    }
    for (int32_t i = 0; i < n; i++)
        if ((!ig_use_count(g, values[i]) && values[i] != g->inputs[0]) || rng_one_in(r, 12))
            ig_add_output(g, values[i]);
    net_done(g);
    return g;
}

struct ig_graph *net_transposed(void)
{
    struct ig_graph *g = net_new();
    int32_t x = net_input(g, 1, 17, 13, 6), a = net_relu(g, net_conv(g, x, 40, 3, 1, -1)), b = net_relu(g, net_conv(g, a, 64, 3, 2, -1));
    int32_t up = net_relu(g, net_deconv(g, b, 24, 3, 2)), grown = net_deconv(g, x, 8, 3, 2); /* 17 x 13, and 33 x 25 */
    int32_t c = net_relu(g, net_deconv(g, NET_CONCAT(g, 3, a, up), 8, 3, 2));
    ig_add_output(g, net_deconv(g, net_scale(g, net_add(g, c, grown)), 5, 5, 3));
    net_done(g);
    return g;
}

struct ig_graph *net_two_convs(int32_t side)
{
    struct ig_graph *g = net_new();
    int32_t x = net_conv(g, net_input(g, 1, side, side, 3), 16, 3, 1, -1);
    ig_add_output(g, net_conv(g, x, 16, 3, 1, -1));
    net_done(g);
    ig_prepare_views(g);
    return g;
}

struct ig_graph *net_dense(int32_t layers, int chained)
{
    struct ig_graph *g = net_new();
    int32_t pieces[64] = {net_conv(g, net_input(g, 1, 8, 8, 3), 8, 3, 1, -1)}, all = pieces[0];
    for (int32_t i = 1; i <= layers; i++) {
        int32_t y = net_conv(g, net_relu(g, net_scale(g, all)), 4, 3, 1, -1);
        pieces[i] = y;
        all = chained ? NET_CONCAT(g, 3, all, y) : net_concat(g, 3, i + 1, pieces);
    }
    ig_add_output(g, net_flatten(g, net_global_pool(g, net_relu(g, net_scale(g, all)))));
    net_done(g);
    return g;
}

int32_t net_count(const struct ig_graph *g, int32_t op)
{
    int32_t n = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) n += g->nodes[i].op == op;
    return n;
}
