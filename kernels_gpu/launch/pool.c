/* Pooling: pool.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/pack.h"

static struct ig_gpu_pool operands(const struct ig_call *call)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return (struct ig_gpu_pool){.in = (const float *)in->data, .out = (float *)out->data,
                                .in_h = in->h, .in_w = in->w, .in_row = (int32_t)in->row_stride,
                                .in_pixel = (int32_t)in->pixel_stride, .out_h = out->h, .out_w = out->w,
                                .out_row = (int32_t)out->row_stride, .out_pixel = (int32_t)out->pixel_stride, .c = out->c};
}

int ig_gpu_supports_pool(const struct ig_call *call)
{
    return ig_supports_pool(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_global_pool(const struct ig_call *call)
{
    return ig_supports_global_pool(call) && ig_gpu_holds_all(call);
}

int ig_gpu_pool(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_pool *a = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &a->w;
    struct ig_gpu_pool p = operands(call);
    int vector = p.c % 4 == 0 && ig_gpu_is_vector(&call->in[0]) && ig_gpu_is_vector(&call->out[0]);
    (void)scratch;
    p.kh = w->kh, p.kw = w->kw, p.sh = w->sh, p.sw = w->sw, p.dh = w->dh, p.dw = w->dw, p.top = w->top, p.left = w->left;
    p.average = a->kind == IG_POOL_AVERAGE;
    if (a->count_include_pad) {
        p.counted_h = p.in_h + w->bottom - a->ceil_h;
        p.counted_w = p.in_w + w->right - a->ceil_w;
    }
    ig_gpu_fill(to, vector ? "pool_4" : "pool_any", ig_gpu_ceil((int64_t)p.out_h * p.out_w * ((p.c + 3) / 4), 128), 1, 1,
                128, 2, &p, sizeof p);
    return 1;
}

int ig_gpu_global_pool(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_pool p = operands(call);
    (void)scratch;
    p.average = ((const struct ig_global_pool *)call->attrs)->kind == IG_POOL_AVERAGE;
    ig_gpu_fill(to, "pool_global", ig_gpu_ceil(p.c, 32), 1, 1, 256, 2, &p, sizeof p);
    return 1;
}
