/* Winograd's F(2,3) and F(4,3): winograd.cu around conv.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/pack.h"

enum { POINTERS = 6, CONV_POINTERS = 7 };

static int32_t points_of(int32_t m)
{
    return (m + 2) * (m + 2);
}

static int64_t tiles_of(const struct ig_call *call, int32_t m)
{
    return (int64_t)ig_gpu_ceil(call->out[0].h, m) * ig_gpu_ceil(call->out[0].w, m);
}

/* V and M must be addressed by 32 bits. */
static int supports(const struct ig_call *call, int32_t m)
{
    if (!ig_supports_winograd(call) || !ig_gpu_holds_all(call)) return 0;
    int64_t most = call->in[0].c > call->out[0].c ? call->in[0].c : call->out[0].c;
    return tiles_of(call, m) * points_of(m) * (most + 3) < INT32_MAX / 4;
}

int ig_gpu_supports_winograd2(const struct ig_call *call)
{
    return supports(call, 2);
}

int ig_gpu_supports_winograd4(const struct ig_call *call)
{
    return supports(call, 4);
}

/* The bias, then U[point][ic4][oc4]. */
static size_t pack(const struct ig_call *call, int32_t m, void *dst)
{
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, m, m);
    int32_t ic = call->in[0].c, oc = call->out[0].c, oc4 = ig_gpu_round4(oc);
    int64_t plane = (int64_t)ig_gpu_round4(ic) * oc4, bias = ig_gpu_bias_floats(call), floats = bias + points_of(m) * plane;
    float *to = (float *)dst;
    if (!dst) return (size_t)floats * sizeof(float);
    memset(to, 0, (size_t)floats * sizeof *to);
    if (bias) memcpy(to, call->in[2].data, (size_t)oc * sizeof *to);
    for (int32_t o = 0; o < oc; o++)
        for (int32_t c = 0; c < ic; c++)
            ig_winograd_filter((const float *)call->in[1].data + ((int64_t)o * ic + c) * 9, &shape,
                               to + bias + (int64_t)c * oc4 + o, plane);
    return (size_t)floats * sizeof(float);
}

size_t ig_gpu_pack_winograd2(const struct ig_call *call, void *dst)
{
    return pack(call, 2, dst);
}

size_t ig_gpu_pack_winograd4(const struct ig_call *call, void *dst)
{
    return pack(call, 4, dst);
}

static size_t v_floats(const struct ig_call *call, int32_t m)
{
    return (size_t)tiles_of(call, m) * (size_t)points_of(m) * (size_t)ig_gpu_round4(call->in[0].c);
}

static size_t scratch(const struct ig_call *call, int32_t m)
{
    return (v_floats(call, m) + (size_t)tiles_of(call, m) * (size_t)points_of(m) * (size_t)ig_gpu_round4(call->out[0].c)) *
           sizeof(float);
}

size_t ig_gpu_scratch_winograd2(const struct ig_call *call)
{
    return scratch(call, 2);
}

size_t ig_gpu_scratch_winograd4(const struct ig_call *call)
{
    return scratch(call, 4);
}

static struct ig_gpu_winograd transforms(const struct ig_call *call, int32_t m, void *room)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0], *residual = &call->in[3];
    struct ig_gpu_winograd p = {.in = (const float *)in->data, .v = (float *)room,
                                .bias = ig_has(call, 2) ? (const float *)call->weights : NULL, .out = (float *)out->data,
                                .in_h = in->h, .in_w = in->w, .in_row = (int32_t)in->row_stride,
                                .in_pixel = (int32_t)in->pixel_stride, .top = a->w.top, .left = a->w.left, .out_h = out->h,
                                .out_w = out->w, .out_row = (int32_t)out->row_stride, .out_pixel = (int32_t)out->pixel_stride,
                                .tiles_y = ig_gpu_ceil(out->h, m), .tiles_x = ig_gpu_ceil(out->w, m), .ic = in->c,
                                .ic4 = ig_gpu_round4(in->c), .oc = out->c, .oc4 = ig_gpu_round4(out->c), .act = ig_gpu_act_of(&a->act)};
    p.m = (const float *)room + v_floats(call, m);
    if (!ig_has(call, 3)) return p;
    p.residual = (const float *)residual->data;
    p.residual_row = (int32_t)residual->row_stride, p.residual_pixel = (int32_t)residual->pixel_stride;
    return p;
}

/* M = V U: 1x1 over a picture of tiles whose channels are the points', a group each. */
static struct ig_gpu_conv product(const struct ig_call *call, const struct ig_gpu_winograd *t, int32_t m)
{
    int32_t points = points_of(m);
    struct ig_gpu_conv p = {.in = t->v, .weights = (const float *)call->weights + ig_gpu_bias_floats(call),
                            .zeros = (const float *)call->zeros, .out = (float *)(uintptr_t)t->m, .in_h = t->tiles_y,
                            .in_w = t->tiles_x, .in_row = t->tiles_x * points * t->ic4, .in_pixel = points * t->ic4,
                            .out_h = t->tiles_y, .out_w = t->tiles_x, .out_row = t->tiles_x * points * t->oc4,
                            .out_pixel = points * t->oc4, .groups = points, .ic = t->ic4, .oc = t->oc4, .oc4 = t->oc4,
                            .weight_group = t->ic4 * t->oc4, .weight_tap = t->ic4 * t->oc4, .kh = 1, .kw = 1, .sh = 1,
                            .sw = 1, .dh = 1, .dw = 1, .splits = 1, .vector_out = 1};
    p.chunk = ig_gpu_ceil(p.ic, 16);
    return p;
}

static int launch(const struct ig_call *call, int32_t m, int32_t rows, void *room, struct ig_gpu_launch *to)
{
    struct ig_gpu_winograd t = transforms(call, m, room);
    struct ig_gpu_conv p = product(call, &t, m);
    int64_t tiles = tiles_of(call, m);
    ig_gpu_fill(&to[0], m == 2 ? "winograd2_in" : "winograd4_in", ig_gpu_ceil(tiles * t.ic4, 128), 1, 1, 128, POINTERS, &t,
                sizeof t);
    if (rows == 64 && (tiles <= 32 || p.oc <= 32))
        ig_gpu_fill(&to[1], "conv_32x32", ig_gpu_ceil(tiles, 32), ig_gpu_ceil(p.oc, 32), p.groups, 64, CONV_POINTERS, &p, sizeof p);
    else
        ig_gpu_fill(&to[1], rows == 64 ? "conv_64x64" : "conv_128x64", ig_gpu_ceil(tiles, rows), ig_gpu_ceil(p.oc, 64), p.groups,
                    (uint32_t)rows, CONV_POINTERS, &p, sizeof p);
    ig_gpu_fill(&to[2], m == 2 ? "winograd2_out" : "winograd4_out", ig_gpu_ceil(tiles * t.oc, 128), 1, 1, 128, POINTERS, &t,
                sizeof t);
    return 3;
}

#define WINOGRAD(name, m, rows)                                                              \
    int name(const struct ig_call *call, void *room, struct ig_gpu_launch *to)               \
    {                                                                                        \
        return launch(call, m, rows, room, to);                                              \
    }
WINOGRAD(ig_gpu_winograd2, 2, 64)
WINOGRAD(ig_gpu_winograd2_128x64, 2, 128)
WINOGRAD(ig_gpu_winograd4, 4, 64)
WINOGRAD(ig_gpu_winograd4_128x64, 4, 128)
