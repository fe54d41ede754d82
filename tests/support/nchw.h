/*
 * Evaluates nodes of graphs in ONNX's layout: spatial ops by plain loops over c, y and x, all others by the
 * reference kernels, which are the same in any layout.
 */
#ifndef TESTS_SUPPORT_NCHW_H
#define TESTS_SUPPORT_NCHW_H

#include <math.h>

#include "kernels_cpu/eval.h"

struct image {
    const float *data;
    int c, h, w;
};

static inline struct image image_of(const struct ig_graph *g, int32_t v, const void *data) {
    const int32_t *dims = g->values[v].shape.dims;
    return (struct image){data, dims[1], dims[2], dims[3]};
}

static inline double conv_at(const struct ig_conv *a, struct image x, struct image w, int oc,
                             int oc_per_group, int y0, int x0) {
    double sum = 0;
    for (int c = 0; c < w.c; c++)
        for (int ky = 0; ky < w.h; ky++)
            for (int kx = 0; kx < w.w; kx++) {
                int y = y0 * a->w.sh - a->w.top + ky, col = x0 * a->w.sw - a->w.left + kx;
                int ic = oc / oc_per_group * w.c + c;
                if (y < 0 || y >= x.h || col < 0 || col >= x.w) continue;
                sum += (double)x.data[(ic * x.h + y) * x.w + col] *
                       w.data[((oc * w.c + c) * w.h + ky) * w.w + kx];
            }
    return sum;
}

static inline void conv_nchw(const struct ig_graph *g, const struct ig_node *n, const void *const *in,
                             float *out) {
    struct image x = image_of(g, n->in[0], in[0]), w = image_of(g, n->in[1], in[1]),
                 y = image_of(g, n->out[0], out);
    const struct ig_conv *a = &n->attrs.conv;
    for (int c = 0; c < y.c; c++)
        for (int i = 0; i < y.h; i++)
            for (int k = 0; k < y.w; k++)
                *out++ = (float)(conv_at(a, x, w, c, y.c / a->groups, i, k) +
                                 (in[2] ? ((const float *)in[2])[c] : 0));
}

/* Maxima, with their ONNX indices if wanted, or averages. */
static inline void pool_nchw(const struct ig_graph *g, const struct ig_node *n, const void *const *in,
                             void *const *out) {
    struct image x = image_of(g, n->in[0], in[0]), y = image_of(g, n->out[0], out[0]);
    const struct ig_window *w = &n->attrs.pool.w;
    for (int64_t i = 0; i < ig_count(&g->values[n->out[0]].shape); i++) {
        int64_t c = i / (y.h * y.w), best = -1, taken = 0;
        double sum = 0;
        for (int k = 0; k < w->kh * w->kw; k++) {
            int64_t row = i / y.w % y.h * w->sh - w->top + k / w->kw,
                    col = i % y.w * w->sw - w->left + k % w->kw;
            if (row < 0 || row >= x.h || col < 0 || col >= x.w) continue;
            int64_t at = (c * x.h + row) * x.w + col;
            if (best < 0 || x.data[at] > x.data[best]) best = at;
            sum += x.data[at];
            taken++;
        }
        if (n->attrs.pool.count_include_pad) taken = w->kh * w->kw;
        ((float *)out[0])[i] = n->attrs.pool.kind == IG_POOL_AVERAGE ? (float)(sum / (double)taken) : x.data[best];
        if (n->n_out > 1) ((int64_t *)out[1])[i] = best;
    }
}

static inline void mean_nchw(const struct ig_graph *g, const struct ig_node *n, const void *const *in,
                             float *out) {
    struct image x = image_of(g, n->in[0], in[0]);
    for (int64_t i = 0; i < ig_count(&g->values[n->out[0]].shape); i++) {
        double sum = 0;
        for (int k = 0; k < x.h * x.w; k++)
            sum += x.data[i * x.h * x.w + k];
        out[i] = (float)(sum / (x.h * x.w));
    }
}

/* Instance and group normalisation of [N, C, ...]: of each run of channels that is a group. */
static inline void norm_nchw(const struct ig_graph *g, const struct ig_node *n, const void *const *in,
                             float *out) {
    const struct ig_shape *s = &g->values[n->in[0]].shape;
    const struct ig_norm *a = &n->attrs.norm;
    int64_t c = s->dims[1], groups = a->kind == IG_NORM_GROUP ? a->groups : c, all = ig_count(s);
    int64_t pixels = all / s->dims[0] / c, run = c / groups * pixels;
    const float *x = in[0], *scale = in[1], *bias = in[2];
    for (int64_t at = 0; at < all; at += run) {
        double mean = 0, variance = 0;
        for (int64_t i = 0; i < run; i++)
            mean += x[at + i] / (double)run;
        for (int64_t i = 0; i < run; i++)
            variance += (x[at + i] - mean) * (x[at + i] - mean) / (double)run;
        for (int64_t i = at; i < at + run; i++)
            out[i] = (float)((x[i] - mean) / sqrt(variance + a->epsilon) * scale[i / pixels % c] + bias[i / pixels % c]);
    }
}

/* Batch 1, rank 4; conv, max and average pool, average global pool; normalisations of any batch and rank. */
static inline int eval_nchw(const struct ig_graph *g, const struct ig_node *n, const void *const *in,
                            void *const *out) {
    switch (n->op) {
    case IG_CONV:
        conv_nchw(g, n, in, out[0]);
        return 0;
    case IG_POOL:
        pool_nchw(g, n, in, out);
        return 0;
    case IG_GLOBAL_POOL:
        mean_nchw(g, n, in, out[0]);
        return 0;
    case IG_NORM:
        if (n->attrs.norm.kind != IG_NORM_INSTANCE && n->attrs.norm.kind != IG_NORM_GROUP)
            return ig_ref_eval(g, n, in, out);
        norm_nchw(g, n, in, out[0]);
        return 0;
    default:
        return ig_ref_eval(g, n, in, out);
    }
}

#endif
