/* Pooling: pool.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/half.h"
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

int ig_gpu_supports_half_pool(const struct ig_call *call)
{
    return ig_supports_half_pool(call) && ig_gpu_is_halves(&call->in[0]) && ig_gpu_is_halves(&call->out[0]) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_global_pool(const struct ig_call *call)
{
    return ig_supports_half_global_pool(call) && ig_gpu_holds_all(call);
}

enum { LARGE_IMAGE = 1 << 18 }; /* outputs that fill a GPU also where a thread has sixteen */

static int is_3s1(const struct ig_window *w)
{
    return w->kh == 3 && w->kw == 3 && w->sh == 1 && w->sw == 1 && w->dh == 1 && w->dw == 1;
}

int ig_gpu_pool(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_pool *a = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &a->w;
    struct ig_gpu_pool p = operands(call);
    int vector = p.c % 4 == 0 && ig_gpu_is_vector(&call->in[0]) && ig_gpu_is_vector(&call->out[0]);
    int halves = ig_gpu_is_halves(&call->in[0]);
    (void)scratch;
    p.kh = w->kh, p.kw = w->kw, p.sh = w->sh, p.sw = w->sw, p.dh = w->dh, p.dw = w->dw, p.top = w->top, p.left = w->left;
    p.average = a->kind == IG_POOL_AVERAGE;
    if (a->count_include_pad) {
        p.counted_h = p.in_h + w->bottom - a->ceil_h;
        p.counted_w = p.in_w + w->right - a->ceil_w;
    }
    if (vector && is_3s1(w) && (int64_t)p.out_h * p.out_w * p.c >= LARGE_IMAGE)
        ig_gpu_fill(to, halves ? "pool_half3s1" : "pool_3s1", ig_gpu_ceil((int64_t)ig_gpu_ceil(p.out_h, 4) * p.out_w * (p.c / 4), 128), 1, 1, 128, 2, &p, sizeof p);
    else
        ig_gpu_fill(to, halves ? vector ? "pool_half4" : "pool_half_any" : vector ? "pool_4" : "pool_any",
                    ig_gpu_ceil((int64_t)p.out_h * p.out_w * ((p.c + 3) / 4), 128), 1, 1, 128, 2, &p, sizeof p);
    return 1;
}

enum { SPLIT_PIXELS = 256, PIECE_PIXELS = 64, MOST_PIECES = 256 };

/* Pieces of an image: as many as fill a GPU that a few channels alone would leave idle. */
static int32_t pieces(const struct ig_call *call)
{
    const struct ig_operand *in = &call->in[0];
    int32_t pixels = in->h * in->w, n = pixels / PIECE_PIXELS;
    return pixels < SPLIT_PIXELS ? 1 : n < MOST_PIECES ? n : MOST_PIECES;
}

size_t ig_gpu_scratch_global_pool(const struct ig_call *call)
{
    int32_t n = pieces(call);
    return n > 1 ? (size_t)n * (size_t)call->in[0].c * sizeof(float) : 0;
}

/* Of halves or floats to either. */
static void whole(const struct ig_gpu_whole *p, int from_halves, int to_halves, int32_t n, struct ig_gpu_launch *to)
{
    static const char *const functions[2][2] = {{"pool_global", "pool_global_to_half"}, {"pool_global_from_half", "pool_global_half"}};
    ig_gpu_fill(to, functions[from_halves][to_halves], ig_gpu_ceil(p->c, 32), n, 1, 256, 2, p, sizeof *p);
}

int ig_gpu_global_pool(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_operand *in = &call->in[0];
    int32_t n = pieces(call), pixels = in->h * in->w;
    int from_halves = ig_gpu_is_halves(in), to_halves = ig_gpu_is_halves(&call->out[0]);
    struct ig_gpu_whole p = {(const float *)in->data, (float *)call->out[0].data, in->h, in->w, in->c, (int32_t)in->row_stride,
                             (int32_t)in->pixel_stride, ig_gpu_ceil(pixels, n), pixels,
                             ((const struct ig_global_pool *)call->attrs)->kind == IG_POOL_AVERAGE};
    if (in->row_stride == in->w * in->pixel_stride) p.h = 1, p.w = pixels;
    if (n == 1) {
        whole(&p, from_halves, to_halves, 1, to);
        return 1;
    }
    struct ig_gpu_whole second = {(const float *)scratch, p.out, 1, n, p.c, 0, p.c, n, pixels, p.average};
    p.out = (float *)scratch, p.by = 0;
    whole(&p, from_halves, 0, n, &to[0]);
    whole(&second, 0, to_halves, 1, &to[1]);
    return 2;
}
