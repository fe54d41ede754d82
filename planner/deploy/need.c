/* The row recurrence, by operator. */
#include "planner/deploy/need.h"

static int32_t dim_of(const struct ig_graph *g, int32_t value, int32_t axis)
{
    return g->values[value].shape.dims[axis];
}

/* The extents of a window along an axis of a tensor of so many dimensions; rank 3 has columns alone. */
static int take_window(const struct ig_window *w, int32_t rank, int32_t axis, struct ig_reading *r)
{
    int rows = rank == 4 && axis == 1;
    if (!rows && axis != rank - 2) return 0;
    if (rank != 3 && rank != 4) return 0;
    r->k = rows ? w->kh : w->kw;
    r->s = rows ? w->sh : w->sw;
    r->d = rows ? w->dh : w->dw;
    r->before = rows ? w->top : w->left;
    return 1;
}

static struct ig_reading windowed(struct ig_reading r, const struct ig_window *w, int32_t rank,
                                  int32_t axis, int32_t kind)
{
    if (take_window(w, rank, axis, &r)) r.kind = kind;
    return r;
}

/* Row y is made of rows about (y + 1/2)/f - 1/2, or y/f, whose nearest is that of floor(y/f) in either case. */
static struct ig_reading scaled(struct ig_reading r, const struct ig_resize *a, int32_t axis)
{
    int32_t f = r.out / r.in;
    int halves = a->coord == IG_HALF_PIXEL || (a->coord == IG_PYTORCH_HALF_PIXEL && r.out > 1);
    int rounds = a->nearest == IG_ROUND_PREFER_FLOOR || a->nearest == IG_ROUND_PREFER_CEIL;
    if (r.in == r.out && a->scale[axis] == 1 && a->coord != IG_TF_CROP_AND_RESIZE) r.kind = IG_READ_SAME;
    if (r.kind || r.out % r.in || a->scale[axis] != (float)f || a->antialias || a->exclude_outside) return r;
    r.s = f;
    r.taps = a->mode == IG_LINEAR ? 2 : 1;
    r.shift = a->mode == IG_LINEAR && halves ? 1 - f : 0;
    if (a->mode == IG_LINEAR && (halves || a->coord == IG_ASYMMETRIC)) r.kind = IG_READ_SCALED;
    if (a->mode == IG_NEAREST && halves && rounds) r.kind = IG_READ_SCALED;
    if (a->mode == IG_NEAREST && a->coord == IG_ASYMMETRIC && a->nearest == IG_NEAREST_FLOOR) r.kind = IG_READ_SCALED;
    return r;
}

static struct ig_reading whole(struct ig_reading r)
{
    r.kind = IG_READ_WHOLE;
    return r;
}

/* Numpy's broadcasting: what has no such dimension, or 1 there, is read whole. */
static struct ig_reading broadcast(struct ig_reading r)
{
    r.kind = r.axis < 0 || (r.in == 1 && r.out != 1) ? IG_READ_WHOLE : IG_READ_SAME;
    return r;
}

static int is_kept(const struct ig_node *n, int32_t axis)
{
    const struct ig_norm *norm = &n->attrs.norm;
    switch (n->op) {
    case IG_SOFTMAX:
    case IG_CONCAT:
    case IG_QUANTIZE:
    case IG_DEQUANTIZE: return n->attrs.axis.axis != axis;
    case IG_NORM:
        if (norm->kind == IG_NORM_LAYER || norm->kind == IG_NORM_RMS) return norm->axis > axis;
        return norm->kind == IG_NORM_LP && norm->axis != axis;
    case IG_PAD: return !n->attrs.pad.begin[axis] && !n->attrs.pad.end[axis];
    case IG_SLICE: return n->attrs.slice.step[axis] == 1;
    default: return 1;
    }
}

/* Input k is a tensor like the output; others are read whole. */
static int is_data(const struct ig_node *n, int32_t k)
{
    return k == 0 || n->op == IG_CONCAT;
}

static struct ig_reading same(struct ig_reading r, const struct ig_node *n, int32_t k, int32_t axis)
{
    if (!is_data(n, k)) r.kind = IG_READ_WHOLE;
    else if (is_kept(n, axis) && r.in == r.out) r.kind = IG_READ_SAME;
    return r;
}

/* Weights and biases are read whole, a residual as the output is. */
static struct ig_reading convolved(struct ig_reading r, const struct ig_node *n, int32_t k, int32_t rank, int32_t axis)
{
    r.kind = k ? IG_READ_WHOLE : IG_READ_NO;
    if (k == 3 && (n->op == IG_CONV || n->op == IG_DECONV)) r.kind = IG_READ_SAME;
    if (k) return r;
    return windowed(r, &n->attrs.conv.w, rank, axis, n->op == IG_DECONV ? IG_READ_BACK : IG_READ_WINDOW);
}

struct ig_reading ig_reading_of(const struct ig_graph *g, const struct ig_node *n, int32_t k, int32_t axis)
{
    const struct ig_shape *y = &g->values[n->out[0]].shape, *x = &g->values[n->in[k]].shape;
    struct ig_reading r = {.axis = axis - y->rank + x->rank, .out = y->dims[axis]};
    r.in = r.axis >= 0 ? dim_of(g, n->in[k], r.axis) : 1;
    if (axis < 1 || axis >= y->rank - 1) return r;
    for (int32_t i = 1; i < n->n_out; i++)
        if (n->out[i] >= 0) return r;
    switch (n->op) {
    case IG_CONV:
    case IG_DECONV:
    case IG_CONV_INTEGER:
    case IG_QLINEAR_CONV: return convolved(r, n, k, y->rank, axis);
    case IG_POOL:
        if (k) return whole(r);
        return windowed(r, &n->attrs.pool.w, y->rank, axis, IG_READ_WINDOW);
    case IG_RESIZE: return scaled(r, &n->attrs.resize, axis);
    case IG_BINARY:
    case IG_WHERE: return broadcast(r);
    case IG_QLINEAR_BINARY: return k == 0 || k == 3 ? broadcast(r) : whole(r);
    case IG_LRN:
    case IG_UNARY:
    case IG_CAST:
    case IG_COPY:
    case IG_QUANTIZE:
    case IG_DEQUANTIZE:
    case IG_QLINEAR_AFFINE:
    case IG_LOOKUP:
    case IG_SOFTMAX:
    case IG_NORM:
    case IG_CONCAT:
    case IG_PAD:
    case IG_SLICE: return same(r, n, k, axis);
    default: return r;
    }
}

static struct ig_rows unclamped(const struct ig_reading *r, struct ig_rows out)
{
    int32_t last = out.b - 1, reach = r->d * (r->k - 1);
    switch (r->kind) {
    case IG_READ_SAME: return out;
    case IG_READ_WINDOW: return (struct ig_rows){out.a * r->s - r->before, last * r->s - r->before + reach + 1};
    case IG_READ_BACK:
        return (struct ig_rows){-ig_floor_div(reach - out.a - r->before, r->s),
                                ig_floor_div(last + r->before, r->s) + 1};
    case IG_READ_SCALED:
        return (struct ig_rows){ig_floor_div(2 * out.a + r->shift, 2 * r->s),
                                ig_floor_div(2 * last + r->shift, 2 * r->s) + r->taps};
    default: return (struct ig_rows){0, r->in};
    }
}

/* Without the rows whose windows lie in the padding alone. */
static struct ig_rows out_of_padding(const struct ig_reading *r, struct ig_rows out)
{
    int32_t first = -ig_floor_div(r->d * (r->k - 1) - r->before, r->s);
    int32_t last = ig_floor_div(r->in - 1 + r->before, r->s);
    return ig_rows_common(out, (struct ig_rows){first, last + 1});
}

struct ig_rows ig_need_rows(const struct ig_reading *r, struct ig_rows out)
{
    if (r->kind == IG_READ_WINDOW) out = out_of_padding(r, out);
    if (ig_rows_empty(out)) return (struct ig_rows){0, 0};
    return ig_rows_common(unclamped(r, out), (struct ig_rows){0, r->in});
}

static struct ig_rows scaled_rows(const struct ig_reading *r, struct ig_rows good)
{
    struct ig_rows need = ig_need_rows(r, good);
    return (struct ig_rows){need.a * r->s, need.b * r->s};
}

struct ig_rows ig_made_rows(const struct ig_reading *r, struct ig_rows good)
{
    if (ig_rows_empty(good)) return (struct ig_rows){0, 0};
    if (r->kind == IG_READ_SCALED) return scaled_rows(r, good);
    while (r->kind == IG_READ_WINDOW && ig_rows_empty(ig_need_rows(r, good))) {
        if (unclamped(r, good).b <= 0) good.b++;
        else good.a--;
    }
    return good;
}

/*
 * The first row that a transposed window meets lies above the first that it makes: the padding is not
 * negative.
 */
static struct ig_rows taken_back(const struct ig_reading *r, struct ig_rows made)
{
    struct ig_rows need = ig_need_rows(r, made);
    int32_t first = ig_floor_div(made.a + r->before, r->s);
    if (first > r->in - 1) first = r->in - 1;
    if (first < 0) first = 0;
    return ig_rows_hull(need, (struct ig_rows){first, first + 1});
}

struct ig_rows ig_taken_rows(const struct ig_reading *r, struct ig_rows good, struct ig_rows made)
{
    if (ig_rows_empty(good)) return (struct ig_rows){0, 0};
    if (r->kind == IG_READ_SCALED) return ig_need_rows(r, good);
    if (r->kind == IG_READ_BACK) return taken_back(r, made);
    return ig_need_rows(r, made);
}
