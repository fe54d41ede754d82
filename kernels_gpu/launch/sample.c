/* Samples of images: sample.cu. Operands are dense, but for resizes. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/resize.h"
#include "kernels_gpu/launch/loops.h"

/* --- resizes: of one image or of all, up to three dims change --- */

/* The first dim that a call sees: those of one image begin behind the batch. */
static int first_dim(const struct ig_operand *o)
{
    return (int64_t)o->h * o->w * o->c == ig_count(o->shape) ? 0 : 1;
}

/* A dim that is not copied as it is. */
static int changes(const struct ig_call *call, int d)
{
    const struct ig_resize *a = (const struct ig_resize *)call->attrs;
    int32_t in = call->in[0].shape->dims[d], out = call->out[0].shape->dims[d];
    if (in != out || a->scale[d] != 1) return 1;
    return in > 1 && a->coord == IG_TF_CROP_AND_RESIZE && a->roi_begin[d] != a->roi_end[d];
}

static int count_changes(const struct ig_call *call)
{
    int n = 0;
    for (int d = 0; d < call->in[0].shape->rank; d++) n += changes(call, d);
    return n;
}

int ig_gpu_supports_resize_any(const struct ig_call *call)
{
    if (!resize_any_nd__supports(call) || !ig_gpu_addresses_all(call) || ig_gpu_supports_resize_nearest(call) ||
        ig_gpu_supports_half_resize_nearest(call) || ig_gpu_supports_resize_nearest_bytes(call) || ig_gpu_supports_resize_linear(call) ||
        ig_gpu_supports_half_resize_linear(call))
        return 0;
    int first = first_dim(&call->in[0]);
    return first == first_dim(&call->out[0]) && (!first || !changes(call, 0)) && count_changes(call) <= IG_GPU_TAP_DIMS;
}

static struct ig_resize_axis axis_of(const struct ig_call *call, int d, int32_t o)
{
    return ig_resize_axis_of((const struct ig_resize *)call->attrs, d, call->in[0].shape->dims[d], call->out[0].shape->dims[d], o);
}

/* Most taps of an output index of dim d. */
static int32_t taps_of(const struct ig_call *call, int d)
{
    int32_t most = 1;
    for (int32_t o = 0; o < call->out[0].shape->dims[d]; o++) {
        struct ig_resize_axis s = axis_of(call, d, o);
        most = s.n > most ? s.n : most;
    }
    return most;
}

static struct ig_gpu_tap *put_taps(const struct ig_call *call, int d, struct ig_gpu_tap *to)
{
    const struct ig_resize *a = (const struct ig_resize *)call->attrs;
    int32_t n = taps_of(call, d);
    for (int32_t o = 0; o < call->out[0].shape->dims[d]; o++, to += n) {
        struct ig_resize_axis s = axis_of(call, d, o);
        for (int32_t k = 0; k < n; k++)
            to[k] = k < s.n ? (struct ig_gpu_tap){ig_resize_tap(&s, k), (float)ig_resize_weight(a, &s, k)}
                            : (struct ig_gpu_tap){0, 0};
        if (s.outside) to[0].at = -1;
    }
    return to;
}

size_t ig_gpu_pack_resize_any(const struct ig_call *call, void *dst)
{
    struct ig_gpu_tap *to = (struct ig_gpu_tap *)dst;
    size_t n = 0;
    for (int d = first_dim(&call->in[0]); d < call->in[0].shape->rank; d++) {
        if (!changes(call, d)) continue;
        n += (size_t)call->out[0].shape->dims[d] * (size_t)taps_of(call, d);
        if (to) to = put_taps(call, d, to);
    }
    return n * sizeof(struct ig_gpu_tap);
}

/* Elements from one index of dim d to the next. */
static int32_t step_of(const struct ig_operand *o, int d)
{
    const struct ig_shape *s = o->shape;
    if (d == s->rank - 1) return 1;
    if (s->rank > 2 && d == s->rank - 2) return (int32_t)o->pixel_stride;
    return (int32_t)(ig_span(s, d + 1, s->rank > 2 ? s->rank - 2 : 1) * o->row_stride);
}

int ig_gpu_resize_any(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_resize *a = (const struct ig_resize *)call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    struct ig_gpu_taps p = {.in = call->in[0].data, .table = (const struct ig_gpu_tap *)call->weights, .out = call->out[0].data,
                            .type = out->type, .move = a->mode == IG_NEAREST ? ig_type_bytes(out->type) : 0,
                            .outside = a->extrapolation, .from = in->type};
    int32_t table = 0;
    (void)scratch;
    for (int d = first_dim(&call->in[0]); d < in->rank; d++) {
        int32_t stride = step_of(&call->in[0], d), k = p.changing;
        p.dims[p.n] = out->dims[d];
        p.out_at[p.n] = step_of(&call->out[0], d);
        p.in_at[p.n] = changes(call, d) ? 0 : stride;
        if (changes(call, d)) {
            p.dim[k] = p.n, p.taps[k] = taps_of(call, d), p.first[k] = table, p.stride[k] = stride;
            table += p.taps[k] * out->dims[d];
            p.changing++;
        }
        p.n++;
    }
    p.count = call->out[0].h * call->out[0].w * call->out[0].c;
    return ig_gpu_each(to, "resize_taps", p.count, 128, 3, &p, sizeof p);
}

/* --- deformable convolution --- */

int ig_gpu_supports_deform_conv(const struct ig_call *call)
{
    for (int k = 1; k < call->n_in; k++)
        if (ig_has(call, k) && !ig_is_f32(&call->in[k])) return 0;
    return deform_conv_f32_nd__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_deform_conv(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_deform *a = (const struct ig_deform *)call->attrs;
    const struct ig_window *w = &a->w;
    const int32_t *in = call->in[0].shape->dims, *out = call->out[0].shape->dims;
    struct ig_gpu_deform p = {.in = (const float *)call->in[0].data, .weights = (const float *)call->in[1].data,
                              .offset = (const float *)call->in[2].data, .bias = (const float *)ig_gpu_in(call, 3),
                              .mask = (const float *)ig_gpu_in(call, 4), .out = (float *)call->out[0].data,
                              .count = (int32_t)ig_count(call->out[0].shape), .channels = in[1], .in_h = in[2], .in_w = in[3],
                              .out_c = out[1], .out_h = out[2], .out_w = out[3], .group_in = in[1] / a->groups,
                              .group_out = out[1] / a->groups, .offset_groups = a->offset_groups, .kh = w->kh, .kw = w->kw,
                              .sh = w->sh, .sw = w->sw, .dh = w->dh, .dw = w->dw, .top = w->top, .left = w->left};
    (void)scratch;
    return ig_gpu_each(to, "deform_conv", p.count, 128, 6, &p, sizeof p);
}

/* --- regions, grids, columns --- */

int ig_gpu_supports_roi_align(const struct ig_call *call)
{
    return roi_align_f32_nd__supports(call) && ig_is_f32(&call->in[1]) && ig_gpu_addresses_all(call);
}

int ig_gpu_roi_align(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_roi_align *a = (const struct ig_roi_align *)call->attrs;
    const int32_t *in = call->in[0].shape->dims, *out = call->out[0].shape->dims;
    struct ig_gpu_roi p = {.in = (const float *)call->in[0].data, .rois = (const float *)call->in[1].data,
                           .images = call->in[2].data, .out = (float *)call->out[0].data,
                           .count = (int32_t)ig_count(call->out[0].shape), .n = in[0], .h = in[1], .w = in[2], .c = in[3],
                           .out_h = out[1], .out_w = out[2], .index_type = call->in[2].shape->type, .mode = a->mode,
                           .half_pixel = a->half_pixel, .sampling = a->sampling, .scale = a->spatial_scale};
    (void)scratch;
    return ig_gpu_each(to, "roi_align", p.count, 128, 4, &p, sizeof p);
}

int ig_gpu_supports_grid_sample(const struct ig_call *call)
{
    return grid_sample_f32_nd__supports(call) && ig_is_f32(&call->in[1]) && ig_gpu_addresses_all(call);
}

int ig_gpu_grid_sample(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_grid_sample *a = (const struct ig_grid_sample *)call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    struct ig_gpu_grid p = {.in = (const float *)call->in[0].data, .grid = (const float *)call->in[1].data,
                            .out = (float *)call->out[0].data, .count = (int32_t)ig_count(out), .c = in->dims[1],
                            .points = (int32_t)ig_span(out, 2, out->rank), .rank = in->rank - 2, .in_dims = {1, 1, 1},
                            .mode = a->mode, .padding = a->padding, .align_corners = a->align_corners};
    (void)scratch;
    for (int d = 0; d < p.rank; d++) p.in_dims[3 - p.rank + d] = in->dims[2 + d];
    return ig_gpu_each(to, "grid_sample", p.count, 128, 3, &p, sizeof p);
}

int ig_gpu_supports_col2im(const struct ig_call *call)
{
    return ig_ref_is_f32(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_col2im(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_col2im *a = (const struct ig_col2im *)call->attrs;
    const struct ig_shape *in = call->in[0].shape;
    struct ig_gpu_columns p = {.in = (const float *)call->in[0].data, .out = (float *)call->out[0].data,
                               .count = (int32_t)ig_count(call->out[0].shape), .rank = a->rank, .pixels = 1, .taps = 1,
                               .columns = in->dims[in->rank - 1]};
    (void)scratch;
    for (int d = 0; d < a->rank; d++) {
        int32_t padded = a->image[d] + a->begin[d] + a->end[d];
        p.pixels *= a->image[d];
        p.taps *= a->block[d];
        p.image[d] = a->image[d], p.block[d] = a->block[d], p.dilation[d] = a->dilation[d];
        p.begin[d] = a->begin[d], p.stride[d] = a->stride[d];
        p.positions[d] = (padded - a->dilation[d] * (a->block[d] - 1) - 1) / a->stride[d] + 1;
    }
    return ig_gpu_each(to, "col2im", p.count, 128, 2, &p, sizeof p);
}

/* --- the inverse of a maximum pooling --- */

enum { UNPOOL_POINTERS = 4 };

int ig_gpu_supports_max_unpool(const struct ig_call *call)
{
    return max_unpool_f32_nd__supports(call) && ig_gpu_addresses_all(call);
}

size_t ig_gpu_scratch_max_unpool(const struct ig_call *call)
{
    return (size_t)ig_count(call->out[0].shape) * sizeof(int32_t);
}

int ig_gpu_max_unpool(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    const int32_t k[] = {w->kd, w->kh, w->kw}, s[] = {w->sd, w->sh, w->sw};
    const int32_t pads[] = {w->front + w->back, w->top + w->bottom, w->left + w->right};
    struct ig_gpu_unpool p = {.in = (const float *)call->in[0].data, .index = (const int64_t *)call->in[1].data,
                              .out = (float *)call->out[0].data, .winner = (int32_t *)scratch, .inputs = (int32_t)ig_count(in),
                              .outputs = (int32_t)ig_count(out), .rank = in->rank};
    for (int d = 0; d < in->rank; d++) {
        int i = d - in->rank + 3;
        p.dims[d] = d < 2 ? in->dims[d] : (in->dims[d] - 1) * s[i] - pads[i] + k[i];
        p.out_dims[d] = out->dims[d];
    }
    ig_gpu_each(&to[0], "unpool_none", p.outputs, 128, UNPOOL_POINTERS, &p, sizeof p);
    ig_gpu_each(&to[1], "unpool_last", p.inputs, 128, UNPOOL_POINTERS, &p, sizeof p);
    ig_gpu_each(&to[2], "unpool_put", p.outputs, 128, UNPOOL_POINTERS, &p, sizeof p);
    return 3;
}
