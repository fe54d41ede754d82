#include "planner/reads.h"

#include <math.h>
#include <string.h>

enum { WARP = 32, TILE = 64, GEMV_ROWS = 16, WIDE_GROUP = 8, MOST_GROUPED = 32 /* kernels_gpu/launch/conv.c */ };

struct operand {             /* an input of a node */
    const struct ig_graph *g;
    const struct ig_node *n;
    int32_t k;
    const struct ig_shape *in, *out; /* its shape; of the first output that is there */
    const struct ig_kernel *by;
};

static double elements(const struct ig_shape *s)
{
    int64_t n = ig_count(s);
    return n > 0 ? (double)n : 1;
}

/* Extent of a dim counted from the last, 0; 1 beyond the first. */
static double extent(const struct ig_shape *s, int32_t from_last)
{
    return from_last < s->rank ? s->dims[s->rank - 1 - from_last] : 1;
}

/* Lanes of a warp that read one address, of so many neighbours that do. */
static double together(double neighbours)
{
    return neighbours < 1 ? 1 : neighbours < WARP ? neighbours : WARP;
}

static double tiles(double n)
{
    return ceil(n / TILE);
}

/* Where every output reads so many elements of the operand, and `neighbours` the same one at once. */
static double each_reads(const struct operand *o, double loads, double neighbours)
{
    return loads * elements(o->out) / elements(o->in) / together(neighbours);
}

/* --- windows: channels are the last dim --- */

static double taps_of(const struct ig_window *w)
{
    return (double)w->kd * w->kh * w->kw;
}

static double pixels(const struct ig_shape *s)
{
    return elements(s) / extent(s, 0);
}

/* Taps that read each pixel of the input; of a transposed convolution a pixel's outputs are as many as it has taps. */
static double taps_on_pixel(const struct operand *o, const struct ig_window *w)
{
    double strides = o->n->op == IG_DECONV ? (double)w->sd * w->sh * w->sw : 1;
    return taps_of(w) / strides * pixels(o->out) / pixels(o->in);
}

static int is_float(const struct ig_shape *s)
{
    return s->type == IG_F32 || s->type == IG_F16;
}

/*
 * What conv.cu computes, conv_half.cu or fc.cu; else window.cu does, a thread an output: volumes that are transposed, of narrow groups or
 * of halves, and weights that are made at run time.
 */
static int is_tiled(const struct operand *o)
{
    const struct ig_value *x = &o->g->values[o->n->in[0]], *w = &o->g->values[o->n->in[1]];
    const struct ig_conv *a = &o->n->attrs.conv;
    int floats = w->shape.type == IG_F32 && x->shape.type == IG_F32 && o->out->type == IG_F32;
    int halves = w->shape.type == IG_F16 && is_float(&x->shape) && is_float(o->out);
    int fits = o->n->op == IG_FC || (a->w.kd == 1 && a->w.in_d == 1 && a->w.out_d == 1) ||
               (o->n->op == IG_CONV && floats && extent(o->out, 0) / a->groups >= WIDE_GROUP);
    return (floats || halves) && w->data && fits;
}

/* depthwise.cu: a thread's OY x OX outputs share what they read. 0: it does not compute this. */
static double of_depthwise(const struct operand *o)
{
    static const struct { int32_t k, s; double rows, columns; } kernels[] = {{3, 1, 2, 4}, {3, 2, 2, 2}, {5, 1, 2, 2},
                                                                             {5, 2, 1, 2}, {7, 1, 2, 4}, {7, 2, 1, 2}};
    const struct ig_conv *a = &o->n->attrs.conv;
    const struct ig_window *w = &a->w;
    const int is_dilated = w->dh > 1 || w->dw > 1;
    if (o->n->op != IG_CONV || w->kd > 1 || w->in_d > 1 || a->groups != extent(o->in, 0) || a->groups != extent(o->out, 0)) return 0;
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++) {
        double k = kernels[i].k, s = kernels[i].s, rows = kernels[i].rows, columns = kernels[i].columns;
        if (w->kh != k || w->kw != k || w->sh != s || w->sw != s || (is_dilated && (k > 5 || s > 1))) continue;
        return ((rows - 1) * s + k) * ((columns - 1) * s + k) / (rows * columns) * pixels(o->out) / pixels(o->in);
    }
    return 0;
}

/*
 * grouped.cu, grouped_bytes.cu: of a row of taps a row of four outputs shares what it reads, and lanes that compute a group's channels read
 * as one. 0: they do not compute this.
 */
static double of_grouped(const struct operand *o)
{
    const struct ig_conv *a = &o->n->attrs.conv;
    const struct ig_window *w = &a->w;
    int32_t ic = (int32_t)extent(o->in, 0) / a->groups, oc = (int32_t)extent(o->out, 0) / a->groups, bytes = o->n->op == IG_QLINEAR_CONV;
    if ((o->n->op != IG_CONV && !bytes) || w->kd > 1 || w->in_d > 1 || a->groups == 1 || w->kh != 3 || w->kw != 3 || w->sh > 2 || w->sw != w->sh ||
        w->dh > 1 || w->dw > 1 || (ic % 4 && !bytes) || oc % 4 || ic > MOST_GROUPED || oc > MOST_GROUPED)
        return 0;
    return 3 * (3 * w->sw + 3) / 4. * pixels(o->out) / pixels(o->in);
}

/*
 * first.cu, and first_half.cu where weights are halves: a block has the patch of a rectangle of outputs, and up to 64 channels of these. 0: they do
 * not compute this, or under a window or stride that is rare (11x11 of 4), or of pixels that are halves, which a TX2 reads by conv_half.cu: more
 * reads are said then than there are. Of halves and an odd stride a TX2's are fewer.
 */
static double of_first(const struct operand *o)
{
    enum { MOST_CHANNELS = 4 };
    const struct ig_conv *a = &o->n->attrs.conv;
    const struct ig_window *w = &a->w;
    if (o->n->op != IG_CONV || o->in->type != IG_F32 || w->kd > 1 || w->in_d > 1 || a->groups > 1 || extent(o->in, 0) > MOST_CHANNELS) return 0;
    if (w->kh < 3 || w->kw < 3 || w->kh > 7 || w->kw > 7 || w->sh > 2 || w->sw > 2 || w->dh > 1 || w->dw > 1) return 0;
    const int is_wide = o->g->values[o->n->in[1]].shape.type == IG_F16 && w->sw % 2, rows = is_wide ? 4 : 8, columns = is_wide ? 32 : 16;
    double patch = (double)((rows - 1) * w->sh + w->kh) * ((columns - 1) * w->sw + w->kw);
    return patch / (rows * columns) * pixels(o->out) / pixels(o->in) * tiles(extent(o->out, 0));
}

/* The image: its pixels by their taps, its channels by every tile of outputs. The others where they are made at run time. */
static double of_conv(const struct operand *o)
{
    const struct ig_conv *a = &o->n->attrs.conv;
    double oc = extent(o->out, 0), of_group = oc / a->groups;
    if (o->k == 3) return 1;
    if (o->k) return pixels(o->out) / together(WARP / oc);
    if (!is_tiled(o)) return taps_on_pixel(o, &a->w) * of_group / together(of_group);
    double shared = of_depthwise(o) + of_grouped(o) + of_first(o); /* at most one of them is */
    return shared > 0 ? shared : taps_on_pixel(o, &a->w) * tiles(of_group);
}

enum { PACKED_TAPS = 257, BLOCK_TAPS = 32, FEW_QUADS = 1 << 14 }; /* kernels_gpu/launch/pool_bytes.c */

/* Scales and zeros of an average of bytes: once a warp of threads that have four channels each, or for every 32 channels that a block has. */
static double of_average_of_bytes(const struct operand *o)
{
    double taps = taps_of(&o->n->attrs.pool.w), quads = pixels(o->out) * ceil(extent(o->out, 0) / 4);
    int by_blocks = taps > PACKED_TAPS || (taps >= BLOCK_TAPS && quads < FEW_QUADS);
    return by_blocks ? pixels(o->out) * ceil(extent(o->out, 0) / WARP) : ceil(quads / WARP);
}

enum { LARGE_IMAGE = 1 << 18 };

/* pool.cu: of large images four outputs one below the other share the rows of a 3x3 window. */
static double of_pool(const struct operand *o)
{
    const struct ig_window *w = &o->n->attrs.pool.w;
    int shared = o->n->attrs.pool.kind != IG_POOL_LP && is_float(o->in) && o->in->type == o->out->type && o->n->n_out == 1 && w->kd == 1 && w->in_d == 1 &&
                 w->kh == 3 && w->kw == 3 && w->sh == 1 && w->sw == 1 && w->dh == 1 && w->dw == 1 &&
                 fmod(extent(o->out, 0), 4) == 0 && elements(o->out) >= LARGE_IMAGE;
    if (o->k) return of_average_of_bytes(o);
    return taps_on_pixel(o, w) / (shared ? 2 : 1);
}

/* What conv_bytes.cu computes: parameters are constants. */
static int is_packed_bytes(const struct operand *o)
{
    const struct ig_window *w = &o->n->attrs.conv.w;
    for (int32_t k = 1; k < o->n->n_in; k++)
        if (o->n->in[k] >= 0 && !o->g->values[o->n->in[k]].data) return 0;
    return o->n->op == IG_QLINEAR_CONV && w->kd == 1 && w->in_d == 1 && w->out_d == 1;
}

/* Its image: by every tile of outputs, rows of taps of few channels, every four channels of a pixel or few, or one of them. */
static double of_packed_bytes(const struct operand *o)
{
    const struct ig_conv *a = &o->n->attrs.conv;
    double of_group = extent(o->out, 0) / a->groups;
    if (of_group == 1 && extent(o->in, 0) == a->groups) return taps_on_pixel(o, &a->w);
    if (a->groups == 1 && taps_of(&a->w) == 1 && pixels(o->out) <= GEMV_ROWS) return taps_on_pixel(o, &a->w) * ceil(of_group / 4);
    const double shared = of_grouped(o);
    return shared > 0 ? shared : taps_on_pixel(o, &a->w) * tiles(of_group);
}

/* A thread an output; weights are input `w`, scales and zeros are read by all. */
static double of_conv_bytes(const struct operand *o, int32_t w)
{
    const struct ig_conv *a = &o->n->attrs.conv;
    double oc = extent(o->out, 0), of_group = oc / a->groups;
    if (o->k == 0) return is_packed_bytes(o) ? of_packed_bytes(o) : taps_on_pixel(o, &a->w) * of_group / together(of_group);
    if (o->k == w) return pixels(o->out) / together(WARP / oc);
    return each_reads(o, 1, extent(o->in, 0) > 1 ? 1 : WARP);
}

/* Each output goes through the channels of its group, and reads four pixels a tap; its neighbours are pixels. */
static double of_deform(const struct operand *o)
{
    const struct ig_deform *a = &o->n->attrs.deform;
    double loads = taps_of(&a->w) * o->g->values[o->n->in[1]].shape.dims[1], plane = extent(o->out, 0) * extent(o->out, 1);
    switch (o->k) {
    case 0: return each_reads(o, 4 * loads, 1);
    case 1: return each_reads(o, loads, plane);
    case 2: return each_reads(o, 2 * loads, 1);
    case 3: return each_reads(o, 1, plane);
    default: return each_reads(o, loads, 1);
    }
}

static double of_roi_align(const struct operand *o)
{
    double samples = o->n->attrs.roi_align.sampling > 0 ? o->n->attrs.roi_align.sampling : 2;
    double region = extent(o->out, 0) * extent(o->out, 1) * extent(o->out, 2);
    return o->k ? each_reads(o, o->k == 1 ? 4 : 1, region) : each_reads(o, 4 * samples * samples, 1);
}

static double of_grid_sample(const struct operand *o)
{
    int32_t mode = o->n->attrs.grid_sample.mode, dims = o->in->rank - 2;
    if (o->k) return each_reads(o, extent(o->in, 0), 1);
    return each_reads(o, pow(mode == IG_NEAREST ? 1 : mode == IG_LINEAR ? 2 : 4, dims), 1);
}

/* resize.cu blends four pixels, whatever the mode; resize_taps reads what there are. */
static double of_resize(const struct operand *o)
{
    const struct ig_resize *a = &o->n->attrs.resize;
    double loads = 1, taps = a->mode == IG_NEAREST ? 1 : a->mode == IG_LINEAR ? 2 : 4;
    for (int32_t d = 0; d < o->in->rank; d++) {
        double shrinks = a->antialias && a->mode != IG_NEAREST ? (double)o->in->dims[d] / o->out->dims[d] : 1;
        if (o->in->dims[d] != o->out->dims[d]) loads *= taps * (shrinks > 1 ? shrinks : 1);
    }
    return each_reads(o, a->mode == IG_NEAREST && o->in->type == IG_F32 ? 4 : loads, 1);
}

/* --- products --- */

static double of_fc(const struct operand *o)
{
    double rows = pixels(o->out), columns = extent(o->out, 0);
    if (o->k == 1) return rows;
    if (o->k) return each_reads(o, 1, 1);
    if (!is_tiled(o)) return columns / together(columns);
    return rows <= GEMV_ROWS ? columns : tiles(columns);
}

/* a is input 0, b input `b`; batches broadcast. Rows and columns that one of rank 1 lacks are one. */
static double of_matmul(const struct operand *o, int32_t b)
{
    const struct ig_shape *left = &o->g->values[o->n->in[0]].shape, *right = &o->g->values[o->n->in[b]].shape;
    int32_t trans_a = o->n->op == IG_MATMUL && o->n->attrs.matmul.trans_a;
    double columns = right->rank > 1 ? extent(o->out, 0) : 1, length = extent(left, left->rank > 1 && trans_a);
    double rows = left->rank > 1 ? extent(o->out, right->rank > 1) : 1;
    double all = length * elements(o->out) / elements(o->in); /* if each output read its own */
    int tiled = o->n->op == IG_MATMUL && o->in->type == IG_F32;
    if (o->k == 0) return tiled ? all / columns * tiles(columns) : all / together(columns);
    if (o->k == b) return tiled ? all / rows * tiles(rows) : all / together(WARP / columns);
    return each_reads(o, 1, elements(o->in) > 1 ? 1 : WARP);
}

/* --- along axes --- */

enum { SOFTMAX_PIXELS = 16, SOFTMAX_KEPT = 1024, NORM_KEPT = 2048, NORM_PIXELS = 256 }; /* softmax.cu, norm.cu: what stays in registers is read once */

static int keeps_softmax(const struct ig_node *n, const struct ig_shape *out)
{
    int last = n->attrs.axis.axis == -1 || n->attrs.axis.axis == out->rank - 1;
    return last && n->attrs.axis.mode != IG_SOFTMAX_HARD && pixels(out) >= SOFTMAX_PIXELS && extent(out, 0) <= SOFTMAX_KEPT;
}

/* Whether a group's members are the last dims, which lie side by side, and few enough. */
static int keeps_norm(const struct ig_norm *a, const struct ig_shape *out)
{
    int32_t mask = a->kind == IG_NORM_MVN ? a->mask : a->kind == IG_NORM_LP ? 1 << a->axis : (1 << out->rank) - (1 << a->axis);
    double members = 1;
    int32_t d = out->rank - 1;
    if (a->kind == IG_NORM_INSTANCE || a->kind == IG_NORM_GROUP) return 0;
    for (; d >= 0 && mask >> d & 1; d--) members *= out->dims[d];
    return mask == (1 << out->rank) - (1 << (d + 1)) && members > 1 && members <= NORM_KEPT;
}

/* Visits of each element: a maximum or a mean comes before what needs it. */
static double visits(const struct ig_node *n, const struct ig_shape *out)
{
    int32_t axis = n->attrs.topk.axis < 0 ? n->attrs.topk.axis + out->rank : n->attrs.topk.axis;
    switch (n->op) {
    case IG_SOFTMAX: return keeps_softmax(n, out) ? 1 : n->attrs.axis.mode == IG_SOFTMAX_HARD ? 2 : 3;
    case IG_NORM: return n->attrs.norm.kind == IG_NORM_INSTANCE && out->dims[0] == 1 && pixels(out) >= NORM_PIXELS ? 2 : keeps_norm(&n->attrs.norm, out) ? 1 : n->attrs.norm.kind == IG_NORM_RMS || n->attrs.norm.kind == IG_NORM_LP ? 2 : 3;
    case IG_REDUCE: return n->attrs.reduce.kind == IG_REDUCE_LOG_SUM_EXP ? 2 : 1;
    case IG_DYNAMIC_QUANTIZE: return 2;
    case IG_ARG: return 2; /* with the best so far */
    default: return 4.0 * out->dims[axis] - 2; /* TopK: with the last and with the best, for every rank */
    }
}

static int is_by(const struct operand *o, const char *part)
{
    return o->by && strstr(o->by->name, part);
}

/* recurrent_spread.cu: each unit reads what h of its rows is first, the last row again in place of those beyond the batch. */
static double of_first_h(const struct operand *o, double rows)
{
    return ceil(o->out->dims[2] / rows) * rows / o->out->dims[2] * o->out->dims[3];
}

/*
 * recurrent.cu: R of few units stays in registers for all steps; of more it is read for each, as biases and peepholes are, by one row of the
 * batch, by four or by eight.
 */
static double of_recurrent(const struct operand *o)
{
    enum { KEPT_UNITS = 64, KEPT_UNITS_OF_RNN = 128 }; /* kernels_gpu/launch/recurrent.c */
    double steps = o->out->dims[0], batch = o->out->dims[2], rows = is_by(o, "8__cuda") ? 8 : is_by(o, "4__cuda") ? 4 : 1;
    int few = o->out->dims[3] <= (o->n->attrs.recurrent.kind == IG_RNN ? KEPT_UNITS_OF_RNN : KEPT_UNITS);
    int kept = o->by ? is_by(o, "_kept__cuda") : few;
    if (o->k == 3 && is_by(o, "_spread")) return of_first_h(o, rows);
    if (o->k == 0 || o->k == 3 || o->k == 4) return 1;
    return ceil(batch / rows) * (o->k == 1 && kept ? 1 : steps);
}

/* --- data that moves --- */

/* Indices of gathers and scatters, which those of one slice read together. */
static double of_index(const struct operand *o)
{
    const struct ig_shape *data = &o->g->values[o->n->in[0]].shape;
    int32_t axis = o->n->attrs.axis.axis;
    double inner = 1, run, wide = 1; /* a thread's elements: as many as 16 bytes hold */
    int32_t bytes;
    switch (o->n->op) {
    case IG_GATHER:
        for (int32_t d = (axis < 0 ? axis + data->rank : axis) + 1; d < data->rank; d++) inner *= data->dims[d];
        for (bytes = ig_type_bytes(data->type); bytes < 16 && fmod(inner, 2) == 0; bytes *= 2) inner /= 2, wide *= 2;
        return each_reads(o, 1 / wide, inner);
    case IG_GATHER_ND: return each_reads(o, extent(o->in, 0), elements(o->out) / pixels(o->in));
    case IG_SCATTER_ND:
        run = elements(&o->g->values[o->n->in[2]].shape) / pixels(o->in);
        return run / together(run);
    default: return 1;
    }
}

/* Every output reads an element; neighbours the same one where the last dim is broadcast. */
static double of_broadcast(const struct operand *o)
{
    return each_reads(o, 1, extent(o->in, 0) > 1 ? 1 : extent(o->out, 0));
}

static double of_one_hot(const struct operand *o)
{
    int last = o->n->attrs.axis.axis == -1 || o->n->attrs.axis.axis == o->out->rank - 1;
    return o->k ? each_reads(o, 1, WARP) : each_reads(o, 1, last ? extent(o->out, 0) : 1);
}

static int is_byte(const struct ig_shape *s)
{
    return s->type == IG_U8 || s->type == IG_I8;
}

/* Parameters that are one number each serve four neighbours at once: convert.cu. */
static double of_quantize(const struct operand *o)
{
    const struct ig_node *n = o->n;
    const struct ig_value *v = o->g->values;
    const struct ig_shape *x = &v[n->in[0]].shape, *zero = n->n_in > 2 && n->in[2] >= 0 ? &v[n->in[2]].shape : NULL;
    int fits = (n->op == IG_QUANTIZE ? x->type == IG_F32 : is_byte(x)) && ig_count(&v[n->in[1]].shape) == 1 &&
               (!zero || (ig_count(zero) == 1 && is_byte(zero)));
    return of_broadcast(o) / (fits && o->k ? 4 : 1);
}

/* The same of two operands: a thread takes four elements of each, also of one pixel for all, whose words neighbours share where it is narrow. */
static double of_qlinear_binary(const struct operand *o)
{
    if (o->k != 0 && o->k != 3) return each_reads(o, 1, WARP) / 4;
    return each_reads(o, 1, elements(o->in) < elements(o->out) ? WARP * 4 / extent(o->out, 0) : 1);
}

/* A thread takes four channels of up to four pixels, and their factors once. */
static double of_qlinear_affine(const struct operand *o)
{
    double quads = ceil(extent(o->out, 0) / 4), all = pixels(o->out) * quads, some = fmin(fmax(ceil(all / (128 * 512)), 1), 4);
    double first = ceil(pixels(o->out) / some);
    return o->k == 0 ? 1 : o->k == 3 ? ceil(first * quads / WARP) : first / together(WARP / quads);
}

/* A block of 128 threads reads the table once, for up to four times four elements each. */
static double of_lookup(const struct operand *o)
{
    double quads = ceil(elements(o->out) / 4), blocks = ceil(quads / 128);
    if (blocks > 512) blocks = fmax(512, ceil(quads / 512));
    return o->k ? blocks : 1;
}

static double reads_of(const struct operand *o)
{
    const struct ig_node *n = o->n;
    switch (n->op) {
    case IG_CONV:
    case IG_DECONV: return of_conv(o);
    case IG_CONV_INTEGER: return of_conv_bytes(o, 1);
    case IG_QLINEAR_CONV: return of_conv_bytes(o, 3);
    case IG_POOL: return of_pool(o);
    case IG_LRN: return n->attrs.lrn.size + 1;
    case IG_RESIZE: return o->k ? 1 : of_resize(o);
    case IG_DEFORM_CONV: return of_deform(o);
    case IG_ROI_ALIGN: return of_roi_align(o);
    case IG_GRID_SAMPLE: return of_grid_sample(o);
    case IG_FC: return of_fc(o);
    case IG_MATMUL:
    case IG_MATMUL_INTEGER: return of_matmul(o, 1);
    case IG_QLINEAR_MATMUL: return of_matmul(o, 3);
    case IG_SOFTMAX:
    case IG_REDUCE:
    case IG_ARG:
    case IG_DYNAMIC_QUANTIZE: return visits(n, o->out);
    case IG_TOPK: return o->k ? 1 : visits(n, o->out);
    case IG_RECURRENT: return of_recurrent(o);
    case IG_NORM: return o->k ? of_broadcast(o) : visits(n, o->out);
    case IG_BINARY:
    case IG_WHERE:
    case IG_EXPAND:
    case IG_TILE:
    case IG_SLICE: return of_broadcast(o);
    case IG_QUANTIZE:
    case IG_DEQUANTIZE: return of_quantize(o);
    case IG_QLINEAR_BINARY: return of_qlinear_binary(o);
    case IG_QLINEAR_AFFINE: return of_qlinear_affine(o);
    case IG_LOOKUP: return of_lookup(o);
    case IG_GATHER:
    case IG_GATHER_ND:
    case IG_GATHER_ELEMENTS: return o->k ? of_index(o) : each_reads(o, 1, 1);
    case IG_SCATTER_ND: return o->k == 1 ? of_index(o) : 1;
    case IG_ONE_HOT: return of_one_hot(o);
    default: return 1; /* each element once: what is element-wise, copies, global pools, running sums, scatters */
    }
}

double ig_gpu_reads(const struct ig_graph *g, const struct ig_node *n, int32_t k, const struct ig_kernel *by)
{
    int32_t first = 0;
    while (first < n->n_out - 1 && n->out[first] < 0) first++;
    struct operand o = {g, n, k, &g->values[n->in[k]].shape, &g->values[n->out[first]].shape, by};
    return reads_of(&o);
}
