#include "kernels_cpu/problem.h"

#include <string.h>

int ig_is_spatial(enum ig_op op)
{
    switch (op) {
    case IG_CONV:
    case IG_DECONV:
    case IG_POOL:
    case IG_GLOBAL_POOL:
    case IG_LRN:
    case IG_RESIZE:
    case IG_CONV_INTEGER:
    case IG_QLINEAR_CONV: return 1;
    default: return 0;
    }
}

int ig_reads_zeros(enum ig_op op)
{
    return ig_is_spatial(op) && op != IG_GLOBAL_POOL;
}

static int reaches_beyond(const struct ig_window *w, const struct ig_operand *in, const struct ig_operand *out)
{
    return w->front > 0 || w->top > 0 || w->left > 0 || (w->out_d - 1) * w->sd + (w->kd - 1) * w->dd - w->front >= w->in_d ||
           (out->h / w->out_d - 1) * w->sh + (w->kh - 1) * w->dh - w->top >= in->h / w->in_d ||
           (out->w - 1) * w->sw + (w->kw - 1) * w->dw - w->left >= in->w;
}

size_t ig_zeros_read(const struct ig_kernel *k, const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    if (!ig_reads_zeros((enum ig_op)k->op) || k->isa == IG_ISA_REF || (k->flags & IG_NO_ZEROS)) return 0;
    if ((k->flags & IG_PAD_ZEROS) && !reaches_beyond(&conv->w, &call->in[0], &call->out[0])) return 0;
    return ig_zeros_bytes(call);
}

int ig_packs_input(const struct ig_kernel *k, int i)
{
    const int all = k->op == IG_QLINEAR_CONV || k->op == IG_QLINEAR_AFFINE || k->op == IG_CONV_INTEGER || k->op == IG_MATMUL_INTEGER;
    return k->pack && i > 0 && (i < 3 || all);
}

static int32_t span(const struct ig_shape *s, int from, int to)
{
    int32_t n = 1;
    for (int i = from; i < to; i++) n *= s->dims[i];
    return n;
}

int ig_is_along_axes(enum ig_op op)
{
    switch (op) {
    case IG_SOFTMAX:
    case IG_REDUCE:
    case IG_ARG:
    case IG_NORM:
    case IG_CUMSUM:
    case IG_TOPK:
    case IG_PAD:
    case IG_EXPAND:
    case IG_TILE:
    case IG_GATHER:
    case IG_GATHER_ELEMENTS: return 1;
    default: return 0;
    }
}

void ig_collapse(enum ig_op op, const struct ig_shape *shape, int32_t *n, int32_t *h, int32_t *w, int32_t *c)
{
    int rank = shape->rank, images = ig_is_spatial(op) && rank >= 3;
    *n = images ? shape->dims[0] : 1;
    *c = rank ? shape->dims[rank - 1] : 1;
    if (op == IG_RECURRENT && rank == 4) {
        *w = shape->dims[0];
        *h = span(shape, 1, 3);
    } else if (op == IG_FC || rank < 3 || (ig_is_along_axes(op) && span(shape, 0, rank - 2) == 1)) {
        *w = 1;
        *h = span(shape, 0, rank - 1);
    } else {
        *w = shape->dims[rank - 2];
        *h = span(shape, images, rank - 2);
    }
}

int32_t ig_images_of(enum ig_op op, const struct ig_shape *shape)
{
    int32_t n, h, w, c;
    ig_collapse(op, shape, &n, &h, &w, &c);
    return n;
}

static void describe_hwc(const struct ig_shape *shape, int32_t h, int32_t w, int32_t c, struct ig_operand *o)
{
    *o = (struct ig_operand){NULL, shape, h, w, c, h, (int64_t)w * c, c};
}

void ig_describe(const struct ig_shape *shape, enum ig_op op, struct ig_operand *o)
{
    int32_t n, h, w, c;
    ig_collapse(op, shape, &n, &h, &w, &c);
    describe_hwc(shape, h, w, c, o);
}

/* `s` with ones on the left, up to `rank` dims. */
static struct ig_shape aligned(const struct ig_shape *s, int32_t rank)
{
    struct ig_shape to = {s->type, rank, {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int i = 0; i < s->rank; i++) to.dims[rank - s->rank + i] = s->dims[i];
    return to;
}

/* Constants that only kernels of their op understand: seen as one line. */
static int is_weight(enum ig_op op, int i)
{
    switch (op) {
    case IG_CONV:
    case IG_FC: return i == 1 || i == 2;
    case IG_DECONV:
    case IG_CONV_INTEGER:
    case IG_QLINEAR_CONV:
    case IG_QUANTIZE:
    case IG_DEQUANTIZE:
    case IG_LOOKUP:
    case IG_POOL:
    case IG_QLINEAR_AFFINE: return i >= 1;
    case IG_QLINEAR_BINARY: return i != 0 && i != 3;
    default: return 0;
    }
}

static void describe_input(enum ig_op op, int i, const struct ig_shape *s, const struct ig_shape *out,
                           struct ig_operand *o)
{
    if (is_weight(op, i)) {
        describe_hwc(s, 1, 1, (int32_t)ig_count(s), o);
    } else if ((op == IG_BINARY || op == IG_WHERE) && out && s->rank < out->rank) {
        struct ig_shape wide = aligned(s, out->rank);
        ig_describe(&wide, op, o);
        o->shape = s;
    } else {
        ig_describe(s, op, o);
    }
}

int ig_build_call(enum ig_op op, const void *attrs, const struct ig_shape *const *in_shapes,
                  const void *const *in_data, int32_t n_in, const struct ig_shape *const *out_shapes,
                  int32_t n_out, struct ig_call *call, int *batch)
{
    int32_t h, w, c, n = 1;
    if (n_in > IG_MAX_IN || n_out > IG_MAX_OUT) return -1;
    memset(call, 0, sizeof *call);
    call->attrs = attrs;
    call->n_in = n_in;
    call->n_out = n_out;
    for (int i = 0; i < n_in; i++) {
        if (!in_shapes[i]) continue;
        describe_input(op, i, in_shapes[i], n_out ? out_shapes[0] : NULL, &call->in[i]);
        if (in_data) call->in[i].data = (void *)in_data[i];
    }
    for (int i = 0; i < n_out; i++)
        if (out_shapes[i]) ig_describe(out_shapes[i], op, &call->out[i]);
    if (n_in && in_shapes[0]) ig_collapse(op, in_shapes[0], &n, &h, &w, &c);
    *batch = n;
    return 0;
}

int ig_is_image(enum ig_op op, int i)
{
    return ig_is_spatial(op) && (i == 0 || (op == IG_CONV && i == 3));
}

static void move_on(struct ig_operand *o, int n)
{
    if (!o->data) return;
    int64_t elements = (int64_t)o->h * o->row_stride;
    o->data = (char *)o->data + n * elements * ig_type_bytes(o->shape->type);
}

struct ig_call ig_call_image(enum ig_op op, const struct ig_call *whole, int n)
{
    struct ig_call one = *whole;
    one.image = n;
    for (int i = 0; i < one.n_in; i++)
        if (ig_is_image(op, i)) move_on(&one.in[i], n);
    for (int i = 0; i < one.n_out && ig_is_spatial(op); i++) move_on(&one.out[i], n);
    return one;
}

struct ig_range ig_full_range(const struct ig_call *call)
{
    const struct ig_operand *o = &call->out[0];
    for (int i = 1; i < call->n_out && !o->shape; i++) o = &call->out[i];
    return (struct ig_range){0, o->h, 0, o->c};
}
