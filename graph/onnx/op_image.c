/* Sampling ops: RoiAlign, GridSample, Col2Im, Resize, Upsample. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "graph/onnx/import.h"

void im_op_roi_align(struct im *m, const struct im_node *n)
{
    static const char *const modes[] = {"avg", "max", NULL}, *const coords[] = {"output_half_pixel",
                                                                                "half_pixel", NULL};
    int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_need(m, n, 2)}, y;
    struct im_emit e = {.op = IG_ROI_ALIGN, .n_in = 3, .in = in};
    struct ig_roi_align *a = &e.attrs.roi_align;
    int64_t dims[4] = {1, 1, im_int32(m, n, "output_height", 1, 1, 1 << 20),
                       im_int32(m, n, "output_width", 1, 1, 1 << 20)};
    a->mode = im_choice(m, n, "mode", "avg", modes);
    a->half_pixel = im_choice(m, n, "coordinate_transformation_mode", coords[n->opset >= 16], coords);
    a->sampling = im_int32(m, n, "sampling_ratio", 0, 0, 1 << 20);
    a->spatial_scale = im_float(m, n, "spatial_scale", 1);
    e.given[0] = im_make_shape(m, IG_F32, 4, dims);
    im_emit(m, &e, &y);
    im_set(m, n, 0, y);
}

/* Regions [n,5]: the image's number, x1, y1, x2, y2. */
void im_op_max_roi_pool(struct im *m, const struct im_node *n)
{
    int32_t rois = im_need(m, n, 1), y;
    struct ig_shape s = im_shape(m, rois);
    struct im_emit e = {.op = IG_ROI_ALIGN, .n_in = 3, .attrs.roi_align = {IG_ROI_POOL, 0, 0, im_float(m, n, "spatial_scale", 1)}};
    int64_t pooled[2], number[] = {s.dims[0]};
    if (im_ints(m, n, "pooled_shape", pooled, 2) != 2) im_fail(m, "pooled_shape has not 2 elements");
    if (s.rank != 2 || s.dims[1] != 5) im_fail(m, "rois must be [n,5]");
    int32_t first = im_slice(m, rois, (int32_t[]){0, 0}, (int32_t[]){1, 1}, (int64_t[]){s.dims[0], 1});
    int32_t boxes = im_slice(m, rois, (int32_t[]){0, 1}, (int32_t[]){1, 1}, (int64_t[]){s.dims[0], 4});
    e.in = (int32_t[]){im_need(m, n, 0), boxes, im_cast(m, im_reshape(m, first, 1, number), IG_I64)};
    e.given[0] = im_make_shape(m, IG_F32, 4, (int64_t[]){1, 1, pooled[0], pooled[1]});
    im_emit(m, &e, &y);
    im_set(m, n, 0, y);
}

/* Where element i of n lies, from -1 to 1: elements' centres, or the corners' at -1 and 1. */
static float grid_place(int64_t i, int64_t n, int corners)
{
    return (float)(corners ? -1 + 2.0 * (double)i / (double)(n - 1) : -1 + (2.0 * (double)i + 1) / (double)n);
}

/* [points, dims + 1]: each point's place, the last dim's first, and 1. */
static int32_t plain_grid(struct im *m, const int64_t *size, int dims, int corners)
{
    int64_t points = 1;
    void *data;
    for (int d = 0; d < dims; d++) points *= size[d];
    struct ig_shape s = im_make_shape(m, IG_F32, 2, (int64_t[]){points, dims + 1});
    int32_t v = im_const(m, &s, &data);
    float *to = data;
    for (int64_t i = 0; i < points; i++, to += dims + 1) {
        int64_t rest = i;
        for (int d = dims - 1; d >= 0; rest /= size[d], d--) to[dims - 1 - d] = grid_place(rest % size[d], size[d], corners);
        to[dims] = 1;
    }
    return v;
}

void im_op_affine_grid(struct im *m, const struct im_node *n)
{
    int32_t theta = im_need(m, n, 0);
    struct ig_shape s = im_shape(m, theta);
    int64_t size[5], to[5];
    int dims = im_const_ints(m, im_need(m, n, 1), "size", size, 5) - 2, corners = im_int(m, n, "align_corners", 0) != 0;
    if (dims < 2 || s.rank != 3 || s.dims[0] != size[0] || s.dims[1] != dims || s.dims[2] != dims + 1) im_fail(m, "theta's shape does not fit size");
    to[0] = size[0], to[dims + 1] = dims;
    for (int d = 0; d < dims; d++) {
        if (size[2 + d] < 1) im_fail(m, "size is below 1");
        if (corners && size[2 + d] == 1) im_refuse(m, "align_corners of one element");
        to[1 + d] = size[2 + d];
    }
    union ig_attrs a = {.matmul = {0, 1, 1}};
    int32_t grid = im_emit1(m, IG_MATMUL, 2, (int32_t[]){plain_grid(m, size + 2, dims, corners), theta}, &a);
    im_set(m, n, 0, im_reshape(m, grid, dims + 2, to));
}

void im_op_grid_sample(struct im *m, const struct im_node *n)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", "bilinear", "bicubic", NULL};
    static const char *const paddings[] = {"zeros", "border", "reflection", NULL};
    int32_t in[2] = {im_need(m, n, 0), im_need(m, n, 1)};
    int mode = im_choice(m, n, "mode", "linear", modes);
    union ig_attrs a = {.grid_sample = {mode < 3 ? mode : mode - 2,
                                        im_choice(m, n, "padding_mode", "zeros", paddings),
                                        im_int(m, n, "align_corners", 0) != 0}};
    if (a.grid_sample.mode == IG_CUBIC && im_shape(m, in[0]).rank != 4)
        im_refuse(m, "cubic sampling of volumes");
    im_set(m, n, 0, im_emit1(m, IG_GRID_SAMPLE, 2, in, &a));
}

static void image_list(struct im *m, const char *what, const int64_t *list, int count, int rank, int32_t *dst)
{
    if (count != rank) im_fail(m, "%s has %d elements, not %d", what, count, rank);
    for (int i = 0; i < rank; i++) {
        if (list[i] < 0 || list[i] > 1 << 24) im_fail(m, "%s holds %lld", what, (long long)list[i]);
        dst[i] = (int32_t)list[i];
    }
}

void im_op_col2im(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    union ig_attrs attrs = {.col2im = {.rank = 0}};
    struct ig_col2im *a = &attrs.col2im;
    int64_t image[8], list[16];
    int rank = im_const_ints(m, im_need(m, n, 1), "image_shape", image, 8);
    if (rank < 1 || rank > 3) im_refuse(m, "images of %d dimensions; 1 to 3 are supported", rank);
    a->rank = rank;
    image_list(m, "image_shape", image, rank, rank, a->image);
    image_list(m, "block_shape", list, im_const_ints(m, im_need(m, n, 2), "block_shape", list, 8), rank,
               a->block);
    for (int i = 0; i < rank; i++)
        a->dilation[i] = a->stride[i] = 1;
    int count = im_ints(m, n, "dilations", list, 8);
    if (count >= 0) image_list(m, "dilations", list, count, rank, a->dilation);
    count = im_ints(m, n, "strides", list, 8);
    if (count >= 0) image_list(m, "strides", list, count, rank, a->stride);
    count = im_ints(m, n, "pads", list, 16);
    if (count >= 0) image_list(m, "pads", list, count / 2, rank, a->begin);
    if (count >= 0) image_list(m, "pads", list + rank, count - rank, rank, a->end);
    im_set(m, n, 0, im_emit1(m, IG_COL2IM, 1, &x, &attrs));
}

struct sizes { /* what a Resize asks for, per dimension of the data */
    struct ig_shape x;
    float scale[IG_MAX_RANK];
    int64_t out[IG_MAX_RANK];
    int axes[IG_MAX_RANK], n_axes;
    int line; /* it has rank 3, and is seen as an image */
};

static void read_axes(struct im *m, const struct im_node *n, struct sizes *z)
{
    int64_t axes[IG_MAX_RANK];
    int count = im_ints(m, n, "axes", axes, IG_MAX_RANK);
    z->n_axes = count < 0 ? z->x.rank : count;
    if (count >= 0) im_mask(m, axes, count, z->x.rank);
    for (int i = 0; i < z->n_axes; i++)
        z->axes[i] = count < 0 ? i : im_axis(m, axes[i], z->x.rank);
    for (int i = 0; i < IG_MAX_RANK; i++) {
        z->scale[i] = 1;
        z->out[i] = z->x.dims[i];
    }
}

static void use_scales(struct im *m, struct sizes *z, const float *scales, int count,
                       const struct ig_resize *a)
{
    if (count != z->n_axes) im_fail(m, "scales has %d elements, not %d", count, z->n_axes);
    for (int i = 0; i < count; i++) {
        int d = z->axes[i];
        float part = a->coord == IG_TF_CROP_AND_RESIZE ? a->roi_end[d] - a->roi_begin[d] : 1;
        if (!(scales[i] > 0 && scales[i] < 1e9f)) im_fail(m, "scale %g is not positive", (double)scales[i]);
        double out = floorf((float)z->x.dims[d] * part * scales[i]);
        if (!(out >= 1 && out <= INT32_MAX))
            im_fail(m, "scale %g of dimension %d leaves nothing", (double)scales[i], d);
        z->scale[d] = scales[i];
        z->out[d] = (int64_t)out;
    }
}

/* sizes; with keep_aspect_ratio_policy the smallest (not_larger) or largest scale rules all axes. */
static void use_sizes(struct im *m, const struct im_node *n, struct sizes *z, const int64_t *sizes, int count)
{
    static const char *const policies[] = {"stretch", "not_larger", "not_smaller", NULL};
    int policy = im_choice(m, n, "keep_aspect_ratio_policy", "stretch", policies);
    double common = policy == 1 ? HUGE_VAL : 0;
    if (count != z->n_axes) im_fail(m, "sizes has %d elements, not %d", count, z->n_axes);
    for (int i = 0; i < count; i++) {
        if (sizes[i] < 1 || sizes[i] > INT32_MAX) im_fail(m, "sizes holds %lld", (long long)sizes[i]);
        double scale = (double)sizes[i] / z->x.dims[z->axes[i]];
        common = policy == 1 ? fmin(common, scale) : fmax(common, scale);
    }
    for (int i = 0; i < count; i++) {
        int d = z->axes[i];
        double out = policy ? floor(common * z->x.dims[d] + 0.5) : (double)sizes[i];
        z->out[d] = out < 1 ? 1 : out > INT32_MAX ? INT32_MAX : (int64_t)out;
        z->scale[d] = (float)(policy ? common : (double)sizes[i] / z->x.dims[d]);
    }
}

static void read_roi(struct im *m, int32_t roi, const struct sizes *z, struct ig_resize *a)
{
    float list[2 * IG_MAX_RANK];
    for (int i = 0; i < IG_MAX_RANK; i++)
        a->roi_end[i] = 1;
    if (a->coord != IG_TF_CROP_AND_RESIZE) return;
    int count = im_const_floats(m, roi, "roi", list, 2 * IG_MAX_RANK);
    if (count != 2 * z->n_axes) im_fail(m, "roi has %d elements, not %d", count, 2 * z->n_axes);
    for (int i = 0; i < count; i++) /* in units of the input: pixels' numbers are whole and in 32 bits */
        if (!(fabsf(list[i]) <= 1000)) im_fail(m, "roi holds %g, not a number from -1000 to 1000", (double)list[i]);
    for (int i = 0; i < z->n_axes; i++) {
        a->roi_begin[z->axes[i]] = list[i];
        a->roi_end[z->axes[i]] = list[z->n_axes + i];
    }
}

/* Between bytes it is interpolated in floats, which onnxruntime cuts off towards 0. */
static int is_mixed(const struct ig_resize *a, int32_t type)
{
    return a->mode == IG_LINEAR && !a->antialias && (type == IG_U8 || type == IG_I8);
}

/* [N, C, W] of which only W is resized is an image of one row, as kernels have them; returns that. */
static int32_t as_image(struct im *m, int32_t x, struct sizes *z, struct ig_resize *a)
{
    const int32_t *d = z->x.dims;
    z->line = z->x.rank == 3 && z->scale[0] == 1 && z->scale[1] == 1 && a->coord != IG_TF_CROP_AND_RESIZE;
    if (!z->line) return x;
    x = im_reshape(m, x, 4, (const int64_t[]){d[0], d[1], 1, d[2]});
    z->x = im_shape(m, x);
    z->scale[3] = z->scale[2], z->scale[2] = 1;
    z->out[3] = z->out[2], z->out[2] = 1;
    return x;
}

static void emit_resize(struct im *m, const struct im_node *n, int32_t x, struct sizes *z,
                        struct ig_resize *a)
{
    struct im_emit e = {.op = IG_RESIZE, .n_in = 1, .in = &x};
    int32_t y;
    x = as_image(m, x, z, a);
    memcpy(a->scale, z->scale, sizeof a->scale);
    e.attrs.resize = *a;
    if (is_mixed(a, z->x.type)) x = im_cast(m, x, IG_F32);
    e.given[0] = im_make_shape(m, im_shape(m, x).type, z->x.rank, z->out);
    im_emit(m, &e, &y);
    y = im_cast(m, y, z->x.type);
    im_set(m, n, 0, z->line ? im_reshape(m, y, 3, (const int64_t[]){z->out[0], z->out[1], z->out[3]}) : y);
}

static struct ig_resize resize_attrs(struct im *m, const struct im_node *n)
{
    static const char *const modes[] = {"nearest", "linear", "cubic", NULL};
    static const char *const coords[] = {
        "half_pixel",         "asymmetric",           "pytorch_half_pixel",   "align_corners",
        "tf_crop_and_resize", "half_pixel_symmetric", "tf_half_pixel_for_nn", NULL};
    static const char *const roundings[] = {"round_prefer_floor", "round_prefer_ceil", "floor", "ceil", NULL};
    struct ig_resize a = {.mode = im_choice(m, n, "mode", "nearest", modes)};
    if (n->opset < 11) {
        a.coord = IG_ASYMMETRIC;
        a.nearest = IG_NEAREST_FLOOR;
        return a;
    }
    a.coord = im_choice(m, n, "coordinate_transformation_mode", "half_pixel", coords);
    a.nearest = im_choice(m, n, "nearest_mode", "round_prefer_floor", roundings);
    a.exclude_outside = im_int(m, n, "exclude_outside", 0) != 0;
    a.antialias = im_int(m, n, "antialias", 0) != 0;
    a.cubic_a = im_float(m, n, "cubic_coeff_a", -0.75f);
    a.extrapolation = im_float(m, n, "extrapolation_value", 0);
    return a;
}

/* Resize-10 says nothing about rounding; its tests round down when enlarging and up when shrinking. */
static int shrinks(const struct sizes *z)
{
    int some = 0;
    for (int d = 0; d < z->x.rank; d++) {
        if (z->scale[d] > 1) return 0;
        some |= z->scale[d] < 1;
    }
    return some;
}

void im_op_resize(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    struct sizes z = {.x = im_shape(m, x)};
    struct ig_resize a = resize_attrs(m, n);
    float scales[IG_MAX_RANK];
    int64_t sizes[IG_MAX_RANK];
    int old = n->opset < 11;
    read_axes(m, n, &z);
    read_roi(m, old ? IM_ABSENT : im_in(m, n, 1), &z, &a);
    int n_scales = im_const_floats(m, im_in(m, n, old ? 1 : 2), "scales", scales, IG_MAX_RANK);
    int n_sizes = old ? -1 : im_const_ints(m, im_in(m, n, 3), "sizes", sizes, IG_MAX_RANK);
    if (n_sizes > 0)
        use_sizes(m, n, &z, sizes, n_sizes);
    else if (n_scales > 0)
        use_scales(m, &z, scales, n_scales, &a);
    else
        im_fail(m, "neither scales nor sizes are given");
    if (old && shrinks(&z)) a.nearest = IG_NEAREST_CEIL;
    emit_resize(m, n, x, &z, &a);
}

/* Upsample-1 has two scale attributes, 7 a list, 9 an input; all are Resize asymmetric, rounded down. */
void im_op_upsample(struct im *m, const struct im_node *n)
{
    static const char *const modes[] = {"nearest", "linear", "bilinear", NULL};
    int32_t x = im_need(m, n, 0);
    struct sizes z = {.x = im_shape(m, x)};
    struct ig_resize a = {.coord = IG_ASYMMETRIC, .nearest = IG_NEAREST_FLOOR};
    float scales[IG_MAX_RANK] = {1, 1, im_float(m, n, "height_scale", 1), im_float(m, n, "width_scale", 1)};
    int mode = im_choice(m, n, "mode", "nearest", modes), count = 4;
    a.mode = mode ? IG_LINEAR : IG_NEAREST;
    z.n_axes = z.x.rank;
    for (int i = 0; i < IG_MAX_RANK; i++) {
        z.axes[i] = i;
        z.scale[i] = 1;
        z.out[i] = z.x.dims[i];
        a.roi_end[i] = 1;
    }
    if (im_in(m, n, 1) != IM_ABSENT)
        count = im_const_floats(m, im_in(m, n, 1), "scales", scales, IG_MAX_RANK);
    else if (im_attr(n, "scales"))
        count = im_floats(m, n, "scales", scales, IG_MAX_RANK);
    use_scales(m, &z, scales, count, &a);
    emit_resize(m, n, x, &z, &a);
}
