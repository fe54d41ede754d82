/* Sliding windows of any kind: window.cu. Each is for what the tiled kernels are not. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/quantized.h"
#include "kernels_gpu/launch/loops.h"

enum { CONV_POINTERS = 5, BYTES_POINTERS = 10, POOL_POINTERS = 3 };

static struct ig_gpu_axes axes_of(const struct ig_window *w)
{
    return (struct ig_gpu_axes){{w->kd, w->kh, w->kw}, {w->sd, w->sh, w->sw}, {w->dd, w->dh, w->dw}, {w->front, w->top, w->left}};
}

static int32_t elements(const struct ig_operand *o)
{
    return o->h * o->w * o->c;
}

/* --- convolutions --- */

static int floats(const struct ig_call *call)
{
    return ig_gpu_addresses_all(call) && (!ig_has(call, 3) || ig_is_float(call->in[3].shape->type));
}

int ig_gpu_supports_conv_window(const struct ig_call *call)
{
    return conv_f32_1x1__supports(call) && floats(call) && !ig_gpu_supports_conv(call) && !ig_gpu_supports_direct(call) &&
           !ig_gpu_supports_volume(call) && !ig_gpu_supports_half_direct(call);
}

int ig_gpu_supports_deconv_window(const struct ig_call *call)
{
    return deconv_f32_1x1__supports(call) && floats(call) && !ig_gpu_supports_deconv(call) && !ig_gpu_supports_half_deconv(call);
}

int ig_gpu_supports_fc_window(const struct ig_call *call)
{
    return fc_f32_1x1__supports(call) && floats(call) && !ig_gpu_supports_fc(call) && !ig_gpu_supports_half_fc(call);
}

static int32_t type_of(const struct ig_call *call, int k)
{
    return ig_has(call, k) ? call->in[k].shape->type : IG_F32;
}

static struct ig_gpu_window window_of(const struct ig_call *call, const struct ig_window *w, int32_t groups)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_gpu_window p = {.in = in->data, .weights = call->in[1].data, .bias = ig_gpu_in(call, 2),
                              .residual = ig_gpu_in(call, 3), .out = out->data, .in_d = w->in_d, .in_h = in->h / w->in_d,
                              .in_w = in->w, .in_row = (int32_t)in->row_stride, .in_pixel = (int32_t)in->pixel_stride,
                              .out_h = out->h / w->out_d, .out_w = out->w, .out_row = (int32_t)out->row_stride,
                              .out_pixel = (int32_t)out->pixel_stride, .count = elements(out), .channels = out->c,
                              .ic = in->c / groups, .oc = out->c / groups, .in_type = in->shape->type,
                              .weight_type = type_of(call, 1), .bias_type = type_of(call, 2), .residual_type = type_of(call, 3),
                              .out_type = out->shape->type, .w = axes_of(w)};
    int32_t taps = w->kd * w->kh * w->kw;
    p.weight_group = p.ic * p.oc * taps, p.weight_out = p.ic * taps, p.weight_in = taps;
    if (!ig_has(call, 3)) return p;
    p.residual_row = (int32_t)call->in[3].row_stride, p.residual_pixel = (int32_t)call->in[3].pixel_stride;
    return p;
}

static int fill(const struct ig_gpu_window *p, struct ig_gpu_launch *to)
{
    return ig_gpu_each(to, "conv_window", p->count, 128, CONV_POINTERS, p, sizeof *p);
}

int ig_gpu_conv_window(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    struct ig_gpu_window p = window_of(call, &a->w, a->groups);
    (void)scratch;
    p.act = ig_gpu_act_of(&a->act);
    return fill(&p, to);
}

int ig_gpu_deconv_window(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    struct ig_gpu_window p = window_of(call, &a->w, a->groups);
    int32_t taps = a->w.kd * a->w.kh * a->w.kw;
    (void)scratch;
    p.transposed = 1;
    p.weight_out = taps, p.weight_in = p.oc * taps;
    p.act = ig_gpu_act_of(&a->act);
    return fill(&p, to);
}

int ig_gpu_fc_window(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    static const struct ig_window one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    struct ig_gpu_window p = window_of(call, &one, 1);
    (void)scratch;
    p.act = ig_gpu_act_of(&((const struct ig_fc *)call->attrs)->act);
    return fill(&p, to);
}

/* --- quantised operands --- */

int ig_gpu_supports_conv_integer(const struct ig_call *call)
{
    return conv_integer_any_1x1__supports(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_supports_qlinear_conv(const struct ig_call *call)
{
    return qlinear_conv_any_1x1__supports(call) && ig_gpu_addresses_all(call) && ig_gpu_scale_fits(call, 1) &&
           ig_gpu_scale_fits(call, 4) && ig_gpu_scale_fits(call, 6) &&
           (!ig_has(call, 8) || (call->in[8].shape->type == IG_I32 && ig_count(call->in[8].shape) == call->out[0].c));
}

/* Inputs x_zero, w, w_zero are number zx, w, zw. */
static struct ig_gpu_window_bytes bytes_of(const struct ig_call *call, int zx, int weights, int zw)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &a->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return (struct ig_gpu_window_bytes){
        .in = in->data, .weights = call->in[weights].data, .in_zero = ig_gpu_in(call, zx), .weight_zero = ig_gpu_in(call, zw),
        .out = out->data, .in_d = w->in_d, .in_h = in->h / w->in_d, .in_w = in->w, .in_row = (int32_t)in->row_stride,
        .in_pixel = (int32_t)in->pixel_stride, .out_h = out->h / w->out_d, .out_w = out->w, .out_row = (int32_t)out->row_stride,
        .out_pixel = (int32_t)out->pixel_stride, .count = elements(out), .channels = out->c, .ic = in->c / a->groups,
        .oc = out->c / a->groups, .in_type = in->shape->type, .weight_type = call->in[weights].shape->type,
        .out_type = out->shape->type, .zx = ig_gpu_scaled_of(call, zx), .zw = ig_gpu_scaled_of(call, zw), .w = axes_of(w)};
}

int ig_gpu_conv_integer(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_window_bytes p = bytes_of(call, 2, 1, 3);
    (void)scratch;
    p.in_scale = (const float *)ig_gpu_in(call, 4), p.weight_scale = (const float *)ig_gpu_in(call, 5), p.bias = ig_gpu_in(call, 6);
    if (p.weight_scale) p.weight_scales = (int32_t)ig_count(call->in[5].shape);
    p.act = ig_gpu_act_of(&((const struct ig_conv *)call->attrs)->act);
    return ig_gpu_each(to, "conv_bytes", p.count, 128, BYTES_POINTERS, &p, sizeof p);
}

int ig_gpu_qlinear_conv(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_window_bytes p = bytes_of(call, 2, 3, 5);
    (void)scratch;
    p.in_scale = (const float *)call->in[1].data;
    p.weight_scale = (const float *)call->in[4].data, p.weight_scales = (int32_t)ig_count(call->in[4].shape);
    p.out_scale = (const float *)call->in[6].data;
    p.out_zero = ig_gpu_in(call, 7), p.out_zero_type = ig_has(call, 7) ? call->in[7].shape->type : IG_U8;
    p.bias = ig_gpu_in(call, 8);
    ig_quantized_bounds(&((const struct ig_conv *)call->attrs)->act, call->out[0].shape->type, &p.low, &p.high);
    return ig_gpu_each(to, "conv_bytes", p.count, 128, BYTES_POINTERS, &p, sizeof p);
}

/* --- pooling, normalisation across channels --- */

int ig_gpu_supports_pool_window(const struct ig_call *call)
{
    return call->n_in == 1 && pool_any_1x1__supports(call) && ig_gpu_addresses_all(call) && !ig_gpu_supports_pool(call) && !ig_gpu_supports_half_pool(call);
}

static struct ig_gpu_pools pools_of(const struct ig_call *call, const struct ig_window *w)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return (struct ig_gpu_pools){.in = in->data, .out = out->data, .in_d = w->in_d, .in_h = in->h / w->in_d, .in_w = in->w,
                                 .in_row = (int32_t)in->row_stride, .in_pixel = (int32_t)in->pixel_stride,
                                 .out_h = out->h / w->out_d, .out_w = out->w, .out_row = (int32_t)out->row_stride,
                                 .out_pixel = (int32_t)out->pixel_stride, .count = elements(out), .c = out->c,
                                 .in_type = in->shape->type, .out_type = out->shape->type, .w = axes_of(w)};
}

int ig_gpu_pool_window(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_pool *a = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &a->w;
    struct ig_gpu_pools p = pools_of(call, w);
    (void)scratch;
    p.index = (int64_t *)ig_gpu_out(call, 1);
    if (p.index) p.index_row = (int32_t)call->out[1].row_stride, p.index_pixel = (int32_t)call->out[1].pixel_stride;
    p.kind = a->kind, p.p = a->p, p.column_major = a->column_major, p.first = call->image * p.c;
    if (a->count_include_pad) {
        p.counted[0] = p.in_d + w->back - a->ceil_d;
        p.counted[1] = p.in_h + w->bottom - a->ceil_h;
        p.counted[2] = p.in_w + w->right - a->ceil_w;
    }
    return ig_gpu_each(to, "pool_window", p.count, 128, POOL_POINTERS, &p, sizeof p);
}

int ig_gpu_supports_pool_whole(const struct ig_call *call)
{
    return ig_ref_is_float(call) && ig_gpu_addresses_all(call) && !ig_gpu_supports_global_pool(call) && !ig_gpu_supports_half_global_pool(call);
}

int ig_gpu_pool_whole(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    static const struct ig_window one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    const struct ig_global_pool *a = (const struct ig_global_pool *)call->attrs;
    struct ig_gpu_pools p = pools_of(call, &one);
    (void)scratch;
    p.kind = a->kind, p.p = a->p;
    ig_gpu_fill(to, "pool_whole", ig_gpu_ceil(p.c, 32), 1, 1, 256, POOL_POINTERS, &p, sizeof p);
    return 1;
}

int ig_gpu_supports_lrn(const struct ig_call *call)
{
    return ig_ref_is_f32(call) && ig_gpu_addresses_all(call);
}

int ig_gpu_lrn(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_lrn *a = (const struct ig_lrn *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_gpu_lrn p = {.in = (const float *)in->data, .out = (float *)out->data, .w = out->w, .c = out->c,
                           .count = elements(out), .in_row = (int32_t)in->row_stride, .in_pixel = (int32_t)in->pixel_stride,
                           .out_row = (int32_t)out->row_stride, .out_pixel = (int32_t)out->pixel_stride,
                           .before = (a->size - 1) / 2, .after = a->size - 1 - (a->size - 1) / 2,
                           .scale = a->alpha / (float)a->size, .beta = a->beta, .bias = a->bias};
    (void)scratch;
    return ig_gpu_each(to, "lrn_f32", p.count, 128, 2, &p, sizeof p);
}
