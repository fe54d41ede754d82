/* Which resizes the vector kernels compute: images [N,H,W,C] of which only H and W change, by taps volumes, too; what samples of a grid need. */
#include "kernels_cpu/common/deform_conv.h"
#include "kernels_cpu/common/grid_sample.h"
#include "kernels_cpu/common/roi_align.h"
#include "kernels_cpu/common/resize_taps.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

static int is_image(const struct ig_call *call)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return in->shape->rank == 4 && in->shape->dims[0] == out->shape->dims[0] &&
           in->c == out->c && r->scale[0] == 1 && r->scale[3] == 1 && !r->antialias && !r->exclude_outside;
}

/* Whole factors, and a map that gives floor(x / k): each pixel is repeated. */
static int repeats_pixels(const struct ig_call *call)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    if (!is_image(call) || r->mode != IG_NEAREST || out->h % in->h || out->w % in->w) return 0;
    if (r->scale[1] != (float)(out->h / in->h) || r->scale[2] != (float)(out->w / in->w)) return 0;
    int rounds = r->nearest == IG_ROUND_PREFER_FLOOR || r->nearest == IG_ROUND_PREFER_CEIL;
    return (r->coord == IG_ASYMMETRIC && r->nearest == IG_NEAREST_FLOOR) || (r->coord == IG_HALF_PIXEL && rounds);
}

int ig_supports_resize_nearest(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && repeats_pixels(call);
}

int ig_supports_resize_nearest_bytes(const struct ig_call *call)
{
    const int32_t type = call->in[0].shape->type;
    return ig_type_bytes(type) == 1 && call->out[0].shape->type == type && repeats_pixels(call);
}

int ig_supports_resize_linear(const struct ig_call *call)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    return ig_f32_to_f32(call) && is_image(call) && r->mode == IG_LINEAR &&
           (r->coord == IG_HALF_PIXEL || r->coord == IG_ASYMMETRIC || r->coord == IG_PYTORCH_HALF_PIXEL ||
            r->coord == IG_ALIGN_CORNERS);
}

static int is_volume(const struct ig_call *call)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    return ig_f32_to_f32(call) && in->rank == 5 && in->dims[0] == out->dims[0] && in->dims[4] == out->dims[4] && r->scale[0] == 1 &&
           r->scale[4] == 1;
}

int ig_supports_resize_taps(const struct ig_call *call)
{
    return (resize_f32_1x1__supports(call) || is_volume(call)) && !((const struct ig_resize *)call->attrs)->antialias &&
           !ig_supports_resize_nearest(call) && !ig_supports_resize_linear(call);
}

size_t ig_scratch_resize_taps(const struct ig_call *call)
{
    return (size_t)call->out[0].w * sizeof(struct ig_resize_taps);
}

size_t ig_scratch_grid_sample(const struct ig_call *call)
{
    return ig_sample_bytes(call);
}

size_t ig_scratch_roi_align(const struct ig_call *call)
{
    const struct ig_roi_align *a = (const struct ig_roi_align *)call->attrs;
    const int32_t *in = call->in[0].shape->dims;
    return ((size_t)ig_roi_most(a, in[1]) + (size_t)ig_roi_most(a, in[2])) * sizeof(struct ig_roi_weight);
}

size_t ig_scratch_deform_conv(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_deform *)call->attrs)->w;
    const size_t corners = (size_t)(w->kh * w->kw * IG_DEFORM_PIXELS);
    return (size_t)ig_deform_floats(call) * sizeof(float) + corners * sizeof(struct ig_deform_corners);
}
