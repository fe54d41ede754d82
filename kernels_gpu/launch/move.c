/* Transposes and resizes: transpose.cu, resize.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/common/resize.h"
#include "kernels_cpu/pack/pack.h"

enum { DIMS = 5 };

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

int ig_gpu_transpose(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct axis axes[IG_MAX_RANK];
    int n = collapse(call, axes);
    struct ig_gpu_transpose p = {(const uint32_t *)call->in[0].data, (uint32_t *)call->out[0].data, 1, {1, 1, 1, 1, 1}, {0}};
    (void)scratch;
    for (int i = 0; i < n; i++) {
        p.dims[DIMS - n + i] = axes[i].extent;
        p.strides[DIMS - n + i] = (int32_t)axes[i].stride;
        p.count *= axes[i].extent;
    }
    if (is_exchange(axes, n))
        ig_gpu_fill(to, "transpose_32x32", ig_gpu_ceil(p.dims[4], 32) * ig_gpu_ceil(p.dims[3], 32), 1, p.dims[2], 256, 2, &p, sizeof p);
    else
        ig_gpu_fill(to, "transpose_any", ig_gpu_ceil(p.count, 128), 1, 1, 128, 2, &p, sizeof p);
    return 1;
}

/* --- resizes --- */

int ig_gpu_supports_resize_nearest(const struct ig_call *call)
{
    return ig_supports_resize_nearest(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_resize_linear(const struct ig_call *call)
{
    return ig_supports_resize_linear(call) && ig_gpu_holds_all(call);
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

int ig_gpu_resize(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_gpu_resize p = {(const float *)in->data, (const int32_t *)call->weights, (float *)out->data,
                              (int32_t)in->row_stride, (int32_t)in->pixel_stride, out->h, out->w,
                              (int32_t)out->row_stride, (int32_t)out->pixel_stride, out->c};
    int vector = p.c % 4 == 0 && ig_gpu_is_vector(in) && ig_gpu_is_vector(out);
    (void)scratch;
    ig_gpu_fill(to, vector ? "resize_4" : "resize_any", ig_gpu_ceil((int64_t)p.out_h * p.out_w * ((p.c + 3) / 4), 128), 1, 1,
                128, 3, &p, sizeof p);
    return 1;
}
