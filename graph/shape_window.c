/* Shapes of ops that slide a window, in ONNX's layout ([N,C,...]) and channels-last ([N,...,C]). */
#include "graph/shape_internal.h"

enum {
    MAX_WINDOW = 1 << 24
}; /* kernel extents, strides, dilations and padding: keeps the kernels' int32 sums exact */

struct window_dim {
    int64_t k, s, d, before, after;
};

/* Spatial dim i of `rank` (1..3), counted from the outermost: 1-D windows live in w, 2-D in h and w. */
static struct window_dim dim_of(const struct ig_window *w, int i, int rank)
{
    struct window_dim all[3] = {{w->kd, w->sd, w->dd, w->front, w->back},
                                {w->kh, w->sh, w->dh, w->top, w->bottom},
                                {w->kw, w->sw, w->dw, w->left, w->right}};
    return all[3 - rank + i];
}

static int check_window(struct infer *q, const struct ig_window *w, int rank)
{
    for (int i = 0; i < rank; i++) {
        struct window_dim d = dim_of(w, i, rank);
        if (d.k < 1 || d.s < 1 || d.d < 1)
            return infer_fail(q, "kernel, stride and dilation must be at least 1");
        if (d.k > MAX_WINDOW || d.s > MAX_WINDOW || d.d > MAX_WINDOW)
            return infer_fail(q, "kernel, stride or dilation is above %d", MAX_WINDOW);
        if (d.before < -MAX_WINDOW || d.before > MAX_WINDOW || d.after < -MAX_WINDOW || d.after > MAX_WINDOW)
            return infer_fail(q, "padding is outside +-%d", MAX_WINDOW);
    }
    return 0;
}

enum { ONNX_SPACE = 2 }; /* the first spatial dim of what stays in ONNX's layout */

static int first_space(const struct infer *q)
{
    return q->g->channels_last ? 1 : 2;
}

/* dims = [N, C or space ...] of the output: space, whose first dim is `space`, as the window leaves it, channels oc. */
static int slide(struct infer *q, const struct ig_window *w, const struct ig_shape *x, int64_t oc, int space,
                 int64_t *dims)
{
    int rank = x->rank - 2;
    if (check_window(q, w, rank)) return -1;
    dims[0] = x->dims[0];
    dims[space == 1 ? x->rank - 1 : 1] = oc;
    for (int i = 0; i < rank; i++) {
        struct window_dim d = dim_of(w, i, rank);
        int64_t in = x->dims[space + i], reach = (d.k - 1) * d.d + 1;
        int64_t padded = in + d.before + d.after;
        if (d.before < 0 || d.after < 0) return infer_fail(q, "negative padding is not supported");
        if (padded > INT32_MAX) return infer_fail(q, "the padded image is too large");
        if (reach > padded)
            return infer_fail(q, "the window (%lld) is larger than the padded image (%lld)", (long long)reach,
                              (long long)padded);
        dims[space + i] = (padded - reach) / d.s + 1;
    }
    return 0;
}

static int check_weights(struct infer *q, const struct ig_conv *a, const struct ig_shape *x,
                         const struct ig_shape *w)
{
    int rank = x->rank - 2;
    if (w->rank != x->rank) return infer_fail(q, "the weights have rank %d, the data %d", w->rank, x->rank);
    if (a->groups < 1) return infer_fail(q, "group %d is below 1", a->groups);
    for (int i = 0; i < rank; i++)
        if (w->dims[2 + i] != dim_of(&a->w, i, rank).k)
            return infer_fail(q, "kernel_shape does not match the weights' shape");
    return 0;
}

static int check_bias(struct infer *q, int i, int types, int64_t oc)
{
    if (!infer_in(q, i)) return 0;
    const struct ig_shape *b = infer_want(q, i, types, 1, 1);
    if (!b) return -1;
    if (b->dims[0] == oc) return 0;
    return infer_fail(q, "the bias has %d elements for %lld output channels", b->dims[0], (long long)oc);
}

static int conv_like(struct infer *q, const struct ig_shape *x, const struct ig_shape *w, int32_t type)
{
    const struct ig_conv *a = &q->n->attrs.conv;
    int64_t dims[IG_MAX_RANK];
    if (check_weights(q, a, x, w)) return -1;
    int64_t c = x->dims[ig_channel_dim(q->g, x)], oc = w->dims[0];
    if ((int64_t)w->dims[1] * a->groups != c || oc % a->groups)
        return infer_fail(q, "weights for %lld input channels in %d groups do not fit data of %lld channels",
                          (long long)w->dims[1] * a->groups, a->groups, (long long)c);
    if (slide(q, &a->w, x, oc, first_space(q), dims)) return -1;
    return infer_set(q, 0, type, x->rank, dims);
}

int infer_conv(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 3, 5), *w = x ? infer_want(q, 1, T_F32, 3, 5) : NULL;
    if (!w || check_bias(q, 2, T_F32, w->dims[0])) return -1;
    return conv_like(q, x, w, IG_F32);
}

int infer_conv_integer(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_BYTE, 3, 5), *w = x ? infer_want(q, 1, T_BYTE, 3, 5) : NULL;
    if (!w || infer_parameter(q, 2, T_BYTE, 1) || infer_parameter(q, 3, T_BYTE, w->dims[0])) return -1;
    return infer_scales(q, w->dims[0]) ? -1 : conv_like(q, x, w, infer_in(q, 4) ? IG_F32 : IG_I32);
}

int infer_qlinear_conv(struct infer *q)
{
    static const int types[8] = {T_BYTE, T_F32, T_BYTE, T_BYTE, T_F32, T_BYTE, T_F32, T_BYTE | T_F32};
    for (int i = 0; i < 8; i++)
        if (!infer_want(q, i, types[i], 0, IG_MAX_RANK)) return -1;
    const struct ig_shape *x = infer_want(q, 0, T_BYTE, 3, 5), *w = x ? infer_want(q, 3, T_BYTE, 3, 5) : NULL;
    if (!w || check_bias(q, 8, T_I32, w->dims[0])) return -1;
    for (int i = 1; i < 8; i++)
        if (i != 3 && infer_parameter(q, i, types[i], i == 4 || i == 5 ? w->dims[0] : 1)) return -1;
    return conv_like(q, x, w, infer_in(q, 7)->type);
}

int infer_deconv(struct infer *q)
{
    const struct ig_conv *a = &q->n->attrs.conv;
    const struct ig_shape *x = infer_want(q, 0, T_F32, 3, 5), *w = x ? infer_want(q, 1, T_F32, 3, 5) : NULL;
    int64_t dims[IG_MAX_RANK];
    if (!w || check_weights(q, a, x, w) || check_window(q, &a->w, x->rank - 2)) return -1;
    int64_t c = x->dims[ig_channel_dim(q->g, x)], oc = (int64_t)w->dims[1] * a->groups;
    if (w->dims[0] != c || c % a->groups)
        return infer_fail(q, "weights for %d input channels in %d groups do not fit data of %lld channels",
                          w->dims[0], a->groups, (long long)c);
    if (check_bias(q, 2, T_F32, oc)) return -1;
    dims[0] = x->dims[0];
    dims[ig_channel_dim(q->g, x)] = oc;
    for (int i = 0; i < x->rank - 2; i++) {
        struct window_dim d = dim_of(&a->w, i, x->rank - 2);
        int64_t in = x->dims[first_space(q) + i];
        dims[first_space(q) + i] = d.s * (in - 1) + (d.k - 1) * d.d + 1 - d.before - d.after;
    }
    return infer_set(q, 0, IG_F32, x->rank, dims);
}

/* Scales and zero points of an average of bytes. */
static int check_pool_parameters(struct infer *q)
{
    for (int i = 1; i < 5; i++)
        if (infer_parameter(q, i, i % 2 ? T_F32 : T_BYTE, 1)) return -1;
    if (infer_in(q, 2)->type == infer_in(q, 0)->type) return 0;
    return infer_fail(q, "data and zero point differ in type");
}

int infer_pool(struct infer *q)
{
    const struct ig_pool *a = &q->n->attrs.pool;
    int is_quantised = q->n->n_in == 5, types = is_quantised ? T_BYTE : a->kind == IG_POOL_MAX ? T_F32 | T_BYTE : T_F32;
    const struct ig_shape *x = infer_want(q, 0, types, 3, 5);
    int64_t dims[IG_MAX_RANK];
    if (!x || slide(q, &a->w, x, x->dims[ig_channel_dim(q->g, x)], first_space(q), dims) || (is_quantised && check_pool_parameters(q))) return -1;
    if (infer_set(q, 0, is_quantised ? infer_in(q, 4)->type : x->type, x->rank, dims)) return -1;
    return q->n->n_out > 1 ? infer_set(q, 1, IG_I64, x->rank, dims) : 0;
}

int infer_global_pool(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 2, IG_MAX_RANK);
    if (!x) return -1;
    struct ig_shape y = *x;
    for (int i = 0; i < x->rank - 2; i++)
        y.dims[first_space(q) + i] = 1;
    return infer_like(q, 0, &y, y.type);
}

int infer_deform_conv(struct infer *q)
{
    const struct ig_deform *a = &q->n->attrs.deform;
    const struct ig_shape *x = infer_want(q, 0, T_F32, 4, 4), *w = x ? infer_want(q, 1, T_F32, 4, 4) : NULL;
    const struct ig_shape *offset = w ? infer_want(q, 2, T_F32, 4, 4) : NULL;
    if (!offset || check_bias(q, 3, T_F32, w->dims[0])) return -1;
    struct ig_conv conv = {.w = a->w, .groups = a->groups};
    int64_t dims[IG_MAX_RANK];
    if (check_weights(q, &conv, x, w)) return -1;
    if ((int64_t)w->dims[1] * a->groups != x->dims[1] || w->dims[0] % a->groups || a->offset_groups < 1 ||
        x->dims[1] % a->offset_groups)
        return infer_fail(q, "weights, group and offset_group do not fit data of %d channels", x->dims[1]);
    if (slide(q, &a->w, x, w->dims[0], ONNX_SPACE, dims)) return -1;
    int64_t taps = (int64_t)a->w.kh * a->w.kw * a->offset_groups;
    const struct ig_shape *mask = infer_in(q, 4);
    if (offset->dims[0] != x->dims[0] || offset->dims[1] != 2 * taps || offset->dims[2] != dims[2] ||
        offset->dims[3] != dims[3])
        return infer_fail(q, "the offset's shape does not fit");
    if (mask && (!infer_want(q, 4, T_F32, 4, 4) || mask->dims[0] != x->dims[0] || mask->dims[1] != taps ||
                 mask->dims[2] != dims[2] || mask->dims[3] != dims[3]))
        return infer_fail(q, "the mask's shape or type does not fit");
    return infer_set(q, 0, IG_F32, 4, dims);
}

int infer_max_unpool(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 3, 5), *i = x ? infer_want(q, 1, T_I64, 3, 5) : NULL;
    const struct ig_shape *y = i ? infer_given(q, 0, T_F32) : NULL;
    if (!y) return -1;
    if (i->rank != x->rank || y->rank != x->rank)
        return infer_fail(q, "data, indices and output differ in rank");
    for (int k = 0; k < x->rank; k++)
        if (i->dims[k] != x->dims[k]) return infer_fail(q, "data and indices differ in shape");
    return 0;
}

int infer_roi_align(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 4, 4),
                          *rois = x ? infer_want(q, 1, T_F32, 2, 2) : NULL;
    const struct ig_shape *batch = rois ? infer_want(q, 2, T_INDEX, 1, 1) : NULL;
    const struct ig_shape *y = batch ? infer_given(q, 0, T_F32) : NULL;
    if (!y) return -1;
    if (rois->dims[1] != 4 || batch->dims[0] != rois->dims[0] || y->rank != 4)
        return infer_fail(q, "rois must be [n,4] and batch_indices [n]");
    int64_t dims[4] = {rois->dims[0], y->dims[1], y->dims[2], y->dims[3]};
    dims[ig_channel_dim(q->g, x)] = x->dims[ig_channel_dim(q->g, x)];
    return infer_set(q, 0, IG_F32, 4, dims);
}

int infer_grid_sample(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 4, 5),
                          *grid = x ? infer_want(q, 1, T_F32, 4, 5) : NULL;
    int64_t dims[IG_MAX_RANK];
    if (!grid) return -1;
    if (grid->rank != x->rank || grid->dims[0] != x->dims[0] || grid->dims[grid->rank - 1] != x->rank - 2)
        return infer_fail(q, "the grid's shape does not fit the data's");
    dims[0] = x->dims[0];
    dims[1] = x->dims[1];
    for (int i = 2; i < x->rank; i++)
        dims[i] = grid->dims[i - 1];
    return infer_set(q, 0, IG_F32, x->rank, dims);
}

/* Positions of the block along dim i of the image. */
static int64_t col2im_blocks(const struct ig_col2im *a, int i)
{
    int64_t padded = (int64_t)a->image[i] + a->begin[i] + a->end[i];
    int64_t reach = (int64_t)(a->block[i] - 1) * a->dilation[i] + 1;
    return reach > padded ? 0 : (padded - reach) / a->stride[i] + 1;
}

static int check_col2im(struct infer *q, const struct ig_col2im *a)
{
    if (a->rank < 1 || a->rank > 3)
        return infer_fail(q, "images of %d dimensions are not supported", a->rank);
    for (int i = 0; i < a->rank; i++) {
        int32_t positive[4] = {a->image[i], a->block[i], a->dilation[i], a->stride[i]};
        for (int k = 0; k < 4; k++)
            if (positive[k] < 1 || positive[k] > MAX_WINDOW)
                return infer_fail(q, "a size is outside 1..%d", MAX_WINDOW);
        if (a->begin[i] < 0 || a->end[i] < 0 || a->begin[i] > MAX_WINDOW || a->end[i] > MAX_WINDOW)
            return infer_fail(q, "padding is outside 0..%d", MAX_WINDOW);
    }
    return 0;
}

int infer_col2im(struct infer *q)
{
    const struct ig_col2im *a = &q->n->attrs.col2im;
    const struct ig_shape *x = infer_want(q, 0, T_F32, 3, 3);
    if (!x || check_col2im(q, a)) return -1;
    int64_t dims[IG_MAX_RANK] = {x->dims[0]}, blocks = 1, block = 1;
    for (int i = 0; i < a->rank; i++) {
        int64_t n = col2im_blocks(a, i);
        blocks = n > INT32_MAX / blocks ? INT32_MAX : blocks * n;
        block = a->block[i] > INT32_MAX / block ? INT32_MAX : block * a->block[i];
        if (!blocks) return infer_fail(q, "the block is larger than the padded image");
        dims[2 + i] = a->image[i];
    }
    if (x->dims[1] % block || x->dims[2] != blocks)
        return infer_fail(q, "data of %d x %d does not hold %lld blocks of %lld", x->dims[1], x->dims[2],
                          (long long)blocks, (long long)block);
    dims[1] = x->dims[1] / block;
    return infer_set(q, 0, IG_F32, 2 + a->rank, dims);
}
