/*
 * A network of one layer for each: 128 to 512 MiB are moved. Time of these kernels is memory's and does not depend on the
 * numbers, so that constants are all alike; but for indices, which name every row once, far from one another.
 */
#include "bench/gpu/wide.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/gpu/gpu.h"
#include "bench/gpu/limits.h"

enum { OPERANDS = 8, LARGE = 512, INPUT = 0x3d /* every byte of it: floats of 0.05 */ };

enum { GIVEN = 0, CONSTANT, PART /* the middle half of the channels of an input */ };

struct tensor {
    int32_t type, rank, dims[4];
    int kind;
};

struct layer {
    const char *name;
    int32_t op, n_in;
    struct tensor in[OPERANDS], out; /* out: the type, and the extents where inputs and attributes do not tell */
    union ig_attrs attrs;
};

#define F32(...) {IG_F32, (int)(sizeof((int32_t[]){__VA_ARGS__}) / 4), {__VA_ARGS__}, GIVEN}
#define OF(type, ...) {type, (int)(sizeof((int32_t[]){__VA_ARGS__}) / 4), {__VA_ARGS__}, GIVEN}
#define CONST(type, ...) {type, (int)(sizeof((int32_t[]){__VA_ARGS__}) / 4), {__VA_ARGS__}, CONSTANT}
#define PART_OF(type, ...) {type, (int)(sizeof((int32_t[]){__VA_ARGS__}) / 4), {__VA_ARGS__}, PART}
#define IMAGE 1, 512, 512, 128 /* 128 MiB of floats */
#define TALL 1, 1024, 512, 128
#define WINDOW(k, s, p) {.kd = 1, .kh = k, .kw = k, .sd = 1, .sh = s, .sw = s, .dd = 1, .dh = 1, .dw = 1, .top = p, .left = p, \
                         .bottom = p, .right = p, .in_d = 1, .out_d = 1}
#define POOLED(which, k, s, p) {.pool = {.w = WINDOW(k, s, p), .kind = which}}
#define DEPTHWISE(k, s) {.conv = {.w = WINDOW(k, s, k / 2), .groups = 128}}
#define ACT(which) {.unary = {.act = {which, 1, 0}}}
#define ONES {1, 1, 1, 1, 1, 1, 1, 1}

static const struct layer layers[] = {
    {"relu", IG_UNARY, 1, {F32(IMAGE)}, {0}, ACT(IG_RELU)},
    {"relu of 125 channels", IG_UNARY, 1, {F32(1, 512, 512, 125)}, {0}, ACT(IG_RELU)},
    {"relu of i32", IG_UNARY, 1, {OF(IG_I32, IMAGE)}, {IG_I32, 0, {0}, 0}, ACT(IG_RELU)},
    {"swish", IG_UNARY, 1, {F32(IMAGE)}, {0}, ACT(IG_SWISH)},
    {"add", IG_BINARY, 2, {F32(IMAGE), F32(IMAGE)}, {0}, {.binary = {.kind = IG_ADD}}},
    {"add by channel", IG_BINARY, 2, {F32(IMAGE), CONST(IG_F32, 128)}, {0}, {.binary = {.kind = IG_ADD}}},
    {"add of i32", IG_BINARY, 2, {OF(IG_I32, IMAGE), OF(IG_I32, IMAGE)}, {IG_I32, 0, {0}, 0}, {.binary = {.kind = IG_ADD}}},
    {"where", IG_WHERE, 3, {OF(IG_BOOL, IMAGE), F32(IMAGE), F32(IMAGE)}, {0}, {.axis = {0, 0}}},
    {"copy", IG_COPY, 1, {F32(IMAGE)}, {0}, {.axis = {0, 0}}},
    {"copy of half the channels", IG_COPY, 1, {PART_OF(IG_F32, IMAGE)}, {0}, {.axis = {0, 0}}},
    {"concat", IG_CONCAT, 2, {F32(1, 512, 512, 64), F32(1, 512, 512, 64)}, {0}, {.axis = {3, 0}}},
    {"concat of odd", IG_CONCAT, 2, {F32(1, 512, 512, 61), F32(1, 512, 512, 67)}, {0}, {.axis = {3, 0}}},
    {"transpose to planes", IG_TRANSPOSE, 1, {F32(IMAGE)}, {0}, {.transpose = {{0, 3, 1, 2}}}},
    {"transpose to pixels", IG_TRANSPOSE, 1, {F32(1, 128, 512, 512)}, {0}, {.transpose = {{0, 2, 3, 1}}}},
    {"transpose of rows", IG_TRANSPOSE, 1, {F32(IMAGE)}, {0}, {.transpose = {{0, 2, 1, 3}}}},
    {"transpose of all", IG_TRANSPOSE, 1, {F32(512, 8, 8, 1024)}, {0}, {.transpose = {{3, 1, 2, 0}}}},
    {"slice", IG_SLICE, 1, {F32(4, 1024, 128, 128)}, F32(2, 512, 128, 128), {.slice = {{1}, ONES}}},
    {"pad", IG_PAD, 1, {F32(IMAGE)}, {0}, {.pad = {.begin = {0, 1, 1, 0}, .end = {0, 1, 1, 0}}}},
    {"expand", IG_EXPAND, 1, {F32(1, 512, 1, 128)}, F32(IMAGE), {.axis = {0, 0}}},
    {"gather", IG_GATHER, 2, {F32(32768, 1024), CONST(IG_I64, 32768)}, {0}, {.axis = {0, 0}}},
    {"cast to i32", IG_CAST, 1, {F32(IMAGE)}, {IG_I32, 0, {0}, 0}, {.axis = {0, 0}}},
    {"cast to f16", IG_CAST, 1, {F32(IMAGE)}, {IG_F16, 0, {0}, 0}, {.axis = {0, 0}}},
    {"quantize", IG_QUANTIZE, 2, {F32(IMAGE), CONST(IG_F32, 1)}, {IG_U8, 0, {0}, 0}, {.axis = {1, 0}}},
    {"dequantize", IG_DEQUANTIZE, 2, {OF(IG_U8, IMAGE), CONST(IG_F32, 1)}, {0}, {.axis = {1, 0}}},
    {"add of bytes", IG_QLINEAR_BINARY, 8,
     {OF(IG_U8, IMAGE), CONST(IG_F32, 1), CONST(IG_U8, 1), OF(IG_U8, IMAGE), CONST(IG_F32, 1), CONST(IG_U8, 1), CONST(IG_F32, 1), CONST(IG_U8, 1)},
     {IG_U8, 0, {0}, 0}, {.binary = {.kind = IG_ADD}}},
    {"product of bytes by a pixel", IG_QLINEAR_BINARY, 8,
     {OF(IG_U8, IMAGE), CONST(IG_F32, 1), CONST(IG_U8, 1), OF(IG_U8, 1, 1, 1, 128), CONST(IG_F32, 1), CONST(IG_U8, 1), CONST(IG_F32, 1), CONST(IG_U8, 1)},
     {IG_U8, 0, {0}, 0}, {.binary = {.kind = IG_MUL}}},
    {"affine function of bytes", IG_QLINEAR_AFFINE, 4, {OF(IG_U8, IMAGE), CONST(IG_F32, 128), CONST(IG_F32, 128), CONST(IG_U8, 1)},
     {IG_U8, 0, {0}, 0}, ACT(IG_NONE)},
    {"lookup of bytes", IG_LOOKUP, 2, {OF(IG_U8, IMAGE), CONST(IG_U8, 256)}, {IG_U8, 0, {0}, 0}, {.axis = {0, 0}}},
    {"max pool 2x2 s2", IG_POOL, 1, {F32(TALL)}, {0}, POOLED(IG_POOL_MAX, 2, 2, 0)},
    {"max pool 3x3 s1", IG_POOL, 1, {F32(IMAGE)}, {0}, POOLED(IG_POOL_MAX, 3, 1, 1)},
    {"max pool 3x3 s2", IG_POOL, 1, {F32(TALL)}, {0}, POOLED(IG_POOL_MAX, 3, 2, 1)},
    {"average pool 3x3 s1", IG_POOL, 1, {F32(IMAGE)}, {0}, POOLED(IG_POOL_AVERAGE, 3, 1, 1)},
    {"average pool 2x2 s2", IG_POOL, 1, {F32(TALL)}, {0}, POOLED(IG_POOL_AVERAGE, 2, 2, 0)},
    {"average pool of bytes 3x3 s1", IG_POOL, 5, {OF(IG_U8, IMAGE), CONST(IG_F32, 1), CONST(IG_U8, 1), CONST(IG_F32, 1), CONST(IG_U8, 1)},
     {IG_U8, 0, {0}, 0}, POOLED(IG_POOL_AVERAGE, 3, 1, 1)},
    {"average pool of bytes 64x64", IG_POOL, 5, {OF(IG_U8, 1, 64, 64, 32768), CONST(IG_F32, 1), CONST(IG_U8, 1), CONST(IG_F32, 1), CONST(IG_U8, 1)},
     {IG_U8, 0, {0}, 0}, POOLED(IG_POOL_AVERAGE, 64, 1, 0)},
    {"global average pool", IG_GLOBAL_POOL, 1, {F32(TALL)}, {0}, {.global_pool = {.kind = IG_POOL_AVERAGE}}},
    {"softmax of 128", IG_SOFTMAX, 1, {F32(IMAGE)}, {0}, {.axis = {3, IG_SOFTMAX_EXP}}},
    {"softmax of 1024", IG_SOFTMAX, 1, {F32(1, 512, 64, 1024)}, {0}, {.axis = {3, IG_SOFTMAX_EXP}}},
    {"resize nearest", IG_RESIZE, 1, {F32(1, 512, 512, 64)}, F32(1, 1024, 1024, 64),
     {.resize = {.mode = IG_NEAREST, .coord = IG_ASYMMETRIC, .nearest = IG_NEAREST_FLOOR, .scale = {1, 2, 2, 1}}}},
    {"resize linear", IG_RESIZE, 1, {F32(1, 512, 512, 64)}, F32(1, 1024, 1024, 64),
     {.resize = {.mode = IG_LINEAR, .coord = IG_HALF_PIXEL, .scale = {1, 2, 2, 1}}}},
    {"reduce of rows", IG_REDUCE, 1, {F32(32768, 1024)}, {0}, {.reduce = {IG_REDUCE_MEAN, 1 << 1}}},
    {"reduce of columns", IG_REDUCE, 1, {F32(32768, 1024)}, {0}, {.reduce = {IG_REDUCE_MEAN, 1 << 0}}},
    {"reduce of the middle", IG_REDUCE, 1, {F32(128, 512, 512)}, {0}, {.reduce = {IG_REDUCE_MEAN, 1 << 1}}},
    {"layer norm", IG_NORM, 3, {F32(32768, 1024), CONST(IG_F32, 1024), CONST(IG_F32, 1024)}, {0},
     {.norm = {.kind = IG_NORM_LAYER, .axis = 1, .epsilon = 1e-5f}}},
    {"instance norm", IG_NORM, 3, {F32(IMAGE), CONST(IG_F32, 128), CONST(IG_F32, 128)}, {0},
     {.norm = {.kind = IG_NORM_INSTANCE, .epsilon = 1e-5f}}},
    {"depthwise 3x3 s1", IG_CONV, 2, {F32(IMAGE), CONST(IG_F32, 128, 1, 3, 3)}, {0}, DEPTHWISE(3, 1)},
    {"depthwise 3x3 s2", IG_CONV, 2, {F32(TALL), CONST(IG_F32, 128, 1, 3, 3)}, {0}, DEPTHWISE(3, 2)},
    {"depthwise 5x5 s1", IG_CONV, 2, {F32(IMAGE), CONST(IG_F32, 128, 1, 5, 5)}, {0}, DEPTHWISE(5, 1)},
    {"fully connected", IG_FC, 2, {F32(1, 16384), CONST(IG_F32, 4096, 16384)}, {0}, {.fc = {{0}}}},
};

static struct ig_shape shape_of(const struct tensor *t, int scale)
{
    struct ig_shape s = {t->type, t->rank, {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int32_t d = 0; d < t->rank; d++) s.dims[d] = t->dims[d] >= LARGE ? t->dims[d] / scale : t->dims[d];
    return s;
}

/* Indices of all rows, of which there is a power of two; or one number everywhere. */
static void fill(const struct ig_shape *s, void *data)
{
    int64_t n = ig_count(s);
    for (int64_t i = 0; i < n; i++)
        if (s->type == IG_I64) ((int64_t *)data)[i] = i * 12345 % n;
        else if (ig_type_bytes(s->type) == 1) ((uint8_t *)data)[i] = INPUT;
        else ((float *)data)[i] = 0.25f;
}

/* The channels of v that lie between the first quarter and the last. */
static int32_t middle(struct ig_graph *g, int32_t v, const struct ig_shape *part)
{
    struct ig_node *n = ig_add_node(g, "part", IG_SLICE, 1, 1);
    n->in[0] = v;
    for (int32_t d = 0; d < IG_MAX_RANK; d++) n->attrs.slice.step[d] = 1;
    n->attrs.slice.start[part->rank - 1] = part->dims[part->rank - 1] / 2;
    n->out[0] = ig_add_value(g, "p", part);
    return g->nodes[g->n_nodes - 1].out[0];
}

static int32_t operand(struct ig_graph *g, const struct tensor *t, int scale)
{
    struct ig_shape s = shape_of(t, scale), whole = s;
    if (t->kind == PART) whole.dims[s.rank - 1] *= 2;
    int32_t v = t->kind == CONSTANT ? ig_add_const(g, "c", &s, NULL) : ig_add_value(g, "x", &whole);
    if (t->kind == CONSTANT) fill(&s, (void *)(uintptr_t)g->values[v].data);
    else ig_add_input(g, v);
    return t->kind == PART ? middle(g, v, &s) : v;
}

static struct ig_graph *graph_of(const struct layer *l, int scale, char *err, size_t err_bytes)
{
    struct ig_graph *g = ig_graph_new("wide");
    struct ig_shape out = shape_of(&l->out, scale);
    int32_t in[OPERANDS], y;
    char why[200];
    g->channels_last = 1;
    for (int32_t i = 0; i < l->n_in; i++) in[i] = operand(g, &l->in[i], scale);
    y = ig_add_value(g, "y", &out);
    struct ig_node *n = ig_add_node(g, "layer", (enum ig_op)l->op, l->n_in, 1);
    memcpy(n->in, in, (size_t)l->n_in * sizeof *in);
    n->out[0] = y;
    n->attrs = l->attrs;
    ig_add_output(g, y);
    if (!ig_infer(g, n, why, sizeof why) && !ig_graph_sort(g, why, sizeof why) && !ig_graph_check(g, why, sizeof why)) {
        ig_count_macs(g);
        return g;
    }
    snprintf(err, err_bytes, "%s: %s", l->name, why);
    ig_graph_free(g);
    return NULL;
}

/* Of all layers so far. */
struct worst {
    int n;
    double share;
    const char *name;
    char gpu[64];
    double copy;
};

static void print(const struct layer *l, const struct ig_timing *t, double bytes, double copy, int best)
{
    double rate = bytes / t->alone_ns;
    if (best)
        printf("{\"wide\": \"%s\", \"kernel\": \"%s\", \"us\": %.2f, \"mib\": %.0f, \"gb_s\": %.1f, \"share\": %.3f}\n", l->name,
               t->kernel->name, t->alone_ns / 1e3, bytes / (1 << 20), rate, copy > 0 ? rate / copy : 0);
    else printf("# %-26s %-28s %9.2f us %8.1f GB/s %5.1f %%\n", l->name, t->kernel->name, t->alone_ns / 1e3, rate, copy > 0 ? 100 * rate / copy : 0);
    fflush(stdout);
}

static void report(const struct layer *l, const struct ig_graph *g, const struct ig_profile *p, int all, struct worst *w)
{
    const struct ig_timing *best = p->timings;
    double bytes = ig_gpu_moved(g, &g->nodes[p->timings[0].node]);
    for (int32_t i = 0; i < p->n; i++) {
        if (p->timings[i].alone_ns < best->alone_ns) best = &p->timings[i];
        if (all) print(l, &p->timings[i], bytes, w->copy, 0);
    }
    double share = w->copy > 0 ? bytes / best->alone_ns / w->copy : 0;
    print(l, best, bytes, w->copy, 1);
    if (!w->n++ || share < w->share) w->share = share, w->name = l->name;
}

static int layer(const struct layer *l, const void *const *modules, const struct ig_gpu_wide *how, struct worst *w, char *err,
                 size_t err_bytes)
{
    struct ig_graph *g = graph_of(l, how->scale, err, err_bytes);
    struct ig_gpu_bed b;
    char why[300];
    if (!g) return -1;
    struct ig_profile *p = ig_gpu_profile(g, modules, how->repeats, how->runs, how->wrong, why, sizeof why);
    int good = p != NULL;
    if (good && !(w->copy > 0)) {
        good = !ig_gpu_bed_make(&b, g, p, IG_MAX_ERROR, NULL, modules, why, sizeof why);
        if (good) w->copy = ig_gpu_limits(&b.gpu).copy, snprintf(w->gpu, sizeof w->gpu, "%s", b.gpu.name), ig_gpu_bed_free(&b);
    }
    if (good && !p->n) snprintf(why, sizeof why, "no kernel was timed"), good = 0;
    if (good) report(l, g, p, how->all, w);
    else snprintf(err, err_bytes, "%s: %s", l->name, why);
    ig_profile_free(p);
    ig_graph_free(g);
    return good ? 0 : -1;
}

int ig_gpu_wide(const void *const *modules, const struct ig_gpu_wide *how, char *err, unsigned long err_bytes)
{
    struct worst w = {0, 0, NULL, "", 0};
    int asked = 0, bad = 0;
    *err = 0;
    for (size_t i = 0; i < sizeof layers / sizeof *layers; i++) {
        if (how->only && strncmp(layers[i].name, how->only, strlen(how->only))) continue;
        asked++;
        if (bad && *err) fprintf(stderr, "gpu: --wide: %s\n", err), *err = 0;
        bad += layer(&layers[i], modules, how, &w, err, err_bytes) != 0;
    }
    if (!asked) snprintf(err, err_bytes, "no layer's name begins with %s", how->only);
    if (!w.n) return -1;
    printf("{\"network\": \"wide\", \"gpu\": \"%s\", \"copy_gb_s\": %.1f, \"layers\": %d, \"memory_bound_share\": %.3f, "
           "\"slowest\": \"%s\"}\n", w.gpu, w.copy, w.n, w.share, w.name);
    return bad ? -1 : 0;
}
