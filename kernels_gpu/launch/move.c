/* Transposes and resizes: transpose.cu, resize.cu. */
#include "kernels_cpu/common/resize.h"
#include "kernels_cpu/pack/half.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_gpu/launch/loops.h"

enum { DIMS = 5, LEAST_TILE = 8 /* rows of a tile that fill what memory hands out at once */ };

/* --- transposes --- */

struct axis {
    int32_t extent;
    int64_t stride; /* of the input */
};

/* The output's dims that are left when those of one element go and those that stay together become one; how many. */
static int collapse(const struct ig_call *call, struct axis *axes)
{
    const struct ig_transpose *t = (const struct ig_transpose *)call->attrs;
    const struct ig_shape *in = call->in[0].shape;
    int64_t strides[IG_MAX_RANK], stride = 1;
    int n = 0;
    for (int d = in->rank - 1; d >= 0; d--) {
        strides[d] = stride;
        stride *= in->dims[d];
    }
    for (int i = 0; i < in->rank; i++) {
        struct axis a = {in->dims[t->perm[i]], strides[t->perm[i]]};
        if (a.extent == 1) continue;
        if (n && axes[n - 1].stride == a.stride * a.extent) axes[n - 1] = (struct axis){axes[n - 1].extent * a.extent, a.stride};
        else axes[n++] = a;
    }
    return n;
}

int ig_gpu_supports_transpose(const struct ig_call *call)
{
    struct axis axes[IG_MAX_RANK];
    return ig_supports_transpose(call) && ig_gpu_holds_all(call) && collapse(call, axes) <= DIMS;
}

/* Two dims changed for each other, for every value of one before them. */
static int is_exchange(const struct axis *a, int n)
{
    return n >= 2 && n <= 3 && a[n - 2].stride == 1 && a[n - 1].stride == a[n - 2].extent &&
           (n == 2 || a[0].stride == (int64_t)a[1].extent * a[2].extent);
}

/* What is side by side stays so: a copy. */
static int move(const struct ig_call *call, const struct axis *axes, int n, struct ig_gpu_launch *to)
{
    struct ig_gpu_loops l = {0};
    int64_t stride = ig_count(call->out[0].shape);
    for (int i = 0; i < n; i++) {
        stride /= axes[i].extent;
        ig_gpu_loop(&l, axes[i].extent, axes[i].stride, stride, 0, 0);
    }
    return ig_gpu_move_loops(&l, call->in[0].data, call->out[0].data, 4, to);
}

/* By tiles of the output's last dim and the input's, which is `row` of the output. */
static int tiles(const struct ig_call *call, const struct axis *axes, int n, int row, struct ig_gpu_launch *to)
{
    struct ig_gpu_tiles p = {(const uint32_t *)call->in[0].data, (uint32_t *)call->out[0].data, axes[n - 1].extent, axes[row].extent,
                             (int32_t)axes[n - 1].stride, 0, 0, 0, {1, 1, 1}, {0}, {0}};
    int32_t stride = 1, count = 1;
    for (int i = n - 1, d = 2; i >= 0; i--) {
        if (i == row) p.out_step = stride;
        else if (i < n - 1) {
            p.dims[d] = axes[i].extent, p.in_at[d] = (int32_t)axes[i].stride, p.out_at[d--] = stride;
            count *= axes[i].extent;
        }
        stride *= axes[i].extent;
    }
    p.across = ig_gpu_ceil(p.width, 64);
    p.down = ig_gpu_ceil(p.height, 32);
    ig_gpu_fill(to, "transpose_64x32", p.across * p.down * count, 1, 1, 256, 2, &p, sizeof p);
    return 1;
}

int ig_gpu_transpose(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct axis axes[IG_MAX_RANK];
    int n = collapse(call, axes), row = n - 1;
    struct ig_gpu_transpose p = {(const uint32_t *)call->in[0].data, (uint32_t *)call->out[0].data, 1, {1, 1, 1, 1, 1}, {0}};
    (void)scratch;
    while (row > 0 && axes[row].stride != 1) row--;
    if (n && axes[n - 1].stride == 1) return move(call, axes, n, to);
    if (is_exchange(axes, n) || (n && axes[row].extent >= LEAST_TILE && axes[n - 1].extent >= LEAST_TILE)) return tiles(call, axes, n, row, to);
    for (int i = 0; i < n; i++) {
        p.dims[DIMS - n + i] = axes[i].extent;
        p.strides[DIMS - n + i] = (int32_t)axes[i].stride;
        p.count *= axes[i].extent;
    }
    ig_gpu_fill(to, "transpose_any", ig_gpu_ceil(p.count, 128), 1, 1, 128, 2, &p, sizeof p);
    return 1;
}

/* --- resizes --- */

int ig_gpu_supports_resize_nearest(const struct ig_call *call)
{
    return ig_supports_resize_nearest(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_resize_nearest(const struct ig_call *call)
{
    return ig_supports_half_resize_nearest(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_resize_nearest_bytes(const struct ig_call *call)
{
    return ig_supports_resize_nearest_bytes(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_resize_linear(const struct ig_call *call)
{
    return ig_supports_resize_linear(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_half_resize_linear(const struct ig_call *call)
{
    return ig_supports_half_resize_linear(call) && ig_gpu_holds_all(call);
}

static size_t lines_bytes(const struct ig_call *call)
{
    return (size_t)(call->out[0].h + call->out[0].w) * 3 * sizeof(int32_t);
}

static int32_t *put_line(int32_t *to, int32_t lo, int32_t hi, float weight)
{
    to[0] = lo;
    to[1] = hi;
    memcpy(to + 2, &weight, sizeof weight);
    return to + 3;
}

size_t ig_gpu_pack_resize_nearest(const struct ig_call *call, void *dst)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t *to = (int32_t *)dst;
    for (int32_t y = 0; to && y < out->h; y++) to = put_line(to, y / (out->h / in->h), y / (out->h / in->h), 0);
    for (int32_t x = 0; to && x < out->w; x++) to = put_line(to, x / (out->w / in->w), x / (out->w / in->w), 0);
    return lines_bytes(call);
}

static int32_t *put_lines(int32_t *to, struct ig_resize_dim dim)
{
    for (int32_t i = 0; i < dim.out; i++) {
        struct ig_between b = ig_resize_between(&dim, i);
        to = put_line(to, b.lo, b.hi, b.weight);
    }
    return to;
}

size_t ig_gpu_pack_resize_linear(const struct ig_call *call, void *dst)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    if (dst)
        put_lines(put_lines((int32_t *)dst, ig_resize_dim_of(r->coord, in->h, out->h, r->scale[1])),
                  ig_resize_dim_of(r->coord, in->w, out->w, r->scale[2]));
    return lines_bytes(call);
}

static const char *resize_function(const struct ig_call *call, const struct ig_gpu_resize *p, int vector)
{
    int linear = ((const struct ig_resize *)call->attrs)->mode == IG_LINEAR;
    if (ig_type_bytes(call->in[0].shape->type) == 1) return vector ? "resize_byte4" : "resize_byte_any";
    if (p->halves && linear) return vector ? "resize_blend_half4" : "resize_blend_half_any";
    if (p->halves) return vector ? "resize_half4" : "resize_half_any";
    return vector ? "resize_4" : "resize_any";
}

int ig_gpu_resize(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_gpu_resize p = {(const float *)in->data, (const int32_t *)call->weights, (float *)out->data,
                              (int32_t)in->row_stride, (int32_t)in->pixel_stride, out->h, out->w,
                              (int32_t)out->row_stride, (int32_t)out->pixel_stride, out->c,
                              (ig_gpu_is_halves(in) ? IG_GPU_IN_HALVES : 0) | (ig_gpu_is_halves(out) ? IG_GPU_OUT_HALVES : 0)};
    int vector = p.c % 4 == 0 && ig_gpu_is_vector(in) && ig_gpu_is_vector(out);
    (void)scratch;
    ig_gpu_fill(to, resize_function(call, &p, vector), ig_gpu_ceil((int64_t)p.out_h * p.out_w * ((p.c + 3) / 4), 128), 1, 1, 128, 3, &p, sizeof p);
    return 1;
}
