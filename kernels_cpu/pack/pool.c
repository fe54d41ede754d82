/* Which poolings the vector kernels compute: float, maximum or average, without indices but where it says so; over at most two dims, or nd. */
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/window.h"

int ig_supports_pool_nd(const struct ig_call *call)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    int indices = call->n_out > 1 && call->out[1].shape;
    return ig_f32_to_f32(call) && !indices && (pool->kind == IG_POOL_MAX || pool->kind == IG_POOL_AVERAGE);
}

int ig_supports_pool(const struct ig_call *call)
{
    return ig_supports_pool_nd(call) && ig_is_flat(&((const struct ig_pool *)call->attrs)->w);
}

/* Is every window partly in the image? The maximum of one in the padding alone is -inf, or the least number. */
static int touches_image(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return w->top < w->kh && w->left < w->kw && (out->h - 1) * w->sh - w->top < in->h &&
           (out->w - 1) * w->sw - w->left < in->w;
}

/* What is outside counts as the edge's in their maxima. */
int ig_supports_pool_slide(const struct ig_call *call)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &pool->w;
    int small = (w->kw == 2 || w->kw == 3) && (w->sw == 1 || w->sw == 2);
    return ig_supports_pool(call) && small && w->kh == w->kw && w->dh == 1 && w->dw == 1 &&
           (pool->kind == IG_POOL_AVERAGE || touches_image(call));
}

int ig_supports_pool_bytes(const struct ig_call *call)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    int32_t type = call->in[0].shape->type;
    int indices = call->n_out > 1 && call->out[1].shape;
    return (type == IG_U8 || type == IG_I8) && type == call->out[0].shape->type && !indices && ig_is_flat(&pool->w) &&
           pool->kind == IG_POOL_MAX && touches_image(call);
}

int ig_supports_average_bytes(const struct ig_call *call)
{
    return call->n_in == 5 && pool_any_1x1__supports(call) && ig_is_flat(&((const struct ig_pool *)call->attrs)->w) && ig_is_f32(&call->in[1]) &&
           ig_is_f32(&call->in[3]);
}

int ig_supports_global_pool(const struct ig_call *call)
{
    const struct ig_global_pool *pool = (const struct ig_global_pool *)call->attrs;
    return ig_f32_to_f32(call) && (pool->kind == IG_POOL_MAX || pool->kind == IG_POOL_AVERAGE);
}

int ig_supports_pool_indices(const struct ig_call *call)
{
    return ig_f32_to_f32(call) && ((const struct ig_pool *)call->attrs)->kind == IG_POOL_MAX && call->n_out > 1 && call->out[1].shape;
}

size_t ig_scratch_pool_indices(const struct ig_call *call)
{
    return (size_t)ig_taps(&((const struct ig_pool *)call->attrs)->w) * sizeof(int64_t);
}

/* Are the extents that the window implies the output's? */
int ig_supports_unpool(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    const int32_t k[] = {w->kd, w->kh, w->kw}, s[] = {w->sd, w->sh, w->sw};
    const int32_t pads[] = {w->front + w->back, w->top + w->bottom, w->left + w->right};
    if (!max_unpool_f32_nd__supports(call)) return 0;
    for (int32_t d = 2, i = 5 - in->rank; d < in->rank; d++, i++)
        if ((int64_t)(in->dims[d] - 1) * s[i] - pads[i] + k[i] != out->dims[d]) return 0;
    return in->dims[0] == out->dims[0] && in->dims[1] == out->dims[1];
}
