/* Winograd's convolutions, 3x3, 5x5, 7x7, of one row or column, and 3x3 of stride 2: winograd.cu around conv.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/pack.h"

enum { POINTERS = 6, CONV_POINTERS = 7, MOST_FEW = 96 /* tiles that conv_16x128 is offered for */ };

static const struct transforms { /* tiles of `rows` outputs down, those of a filter of `k` taps across */
    int32_t rows, columns, k, stride;
    int halves; /* pixels are */
    const char *in, *out;
} all_transforms[] = {
    {2, 2, 3, 1, 0, "winograd2_in", "winograd2_out"},
    {2, 2, 3, 1, 1, "winograd2_in_half", "winograd2_out_half"},
    {4, 4, 3, 1, 0, "winograd4_in", "winograd4_out"},
    {4, 4, 3, 1, 1, "winograd4_in_half", "winograd4_out_half"},
    {2, 2, 5, 1, 0, "winograd2of5_in", "winograd2of5_out"},
    {4, 4, 5, 1, 0, "winograd4of5_in", "winograd4of5_out"},
    {2, 2, 7, 1, 0, "winograd2of7_in", "winograd2of7_out"},
    {2, 2, 3, 2, 0, "winograd2s2_in", "winograd2s2_out"},
    {4, 4, 3, 2, 0, "winograd4s2_in", "winograd4s2_out"},
    {1, 4, 3, 1, 0, "winograd4line3_in", "winograd4line3_out"},
    {1, 4, 5, 1, 0, "winograd4line5_in", "winograd4line5_out"},
    {1, 4, 7, 1, 0, "winograd4line7_in", "winograd4line7_out"},
};

/* A column is a line, too. */
static const struct transforms *transforms_of(const struct ig_winograd_shape *s, int halves)
{
    const struct transforms *t = all_transforms;
    int is_column = s->kw == 1;
    while (t->halves != halves || t->rows != (is_column ? s->columns : s->rows) || t->columns != (is_column ? s->rows : s->columns) ||
           t->k != (is_column ? s->kh : s->kw) || t->stride != s->stride)
        t++;
    return t;
}

static int32_t points_of(const struct ig_call *call, int32_t m)
{
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, m, m);
    return ig_winograd_points(&shape);
}

static int64_t tiles_of(const struct ig_call *call, int32_t m)
{
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, m, m);
    return (int64_t)ig_gpu_ceil(call->out[0].h, shape.rows) * ig_gpu_ceil(call->out[0].w, shape.columns);
}

/* V and M must be addressed by 32 bits. */
static int fits(const struct ig_call *call, int32_t m)
{
    int64_t most = call->in[0].c > call->out[0].c ? call->in[0].c : call->out[0].c;
    return ig_gpu_holds_all(call) && tiles_of(call, m) * points_of(call, m) * (most + 3) < INT32_MAX / 4;
}

#define SUPPORTS(name, windows, m)                          \
    int name(const struct ig_call *call)                    \
    {                                                       \
        return windows(call) && fits(call, m);              \
    }                                                       \
    int name##_few(const struct ig_call *call)              \
    {                                                       \
        return name(call) && tiles_of(call, m) <= MOST_FEW; \
    }
SUPPORTS(ig_gpu_supports_winograd2, ig_supports_winograd, 2)
SUPPORTS(ig_gpu_supports_winograd4, ig_supports_winograd, 4)
SUPPORTS(ig_gpu_supports_winograd2of5, ig_supports_winograd_of5, 2)
SUPPORTS(ig_gpu_supports_winograd4of5, ig_supports_winograd_of5, 4)
SUPPORTS(ig_gpu_supports_winograd2of7, ig_supports_winograd_of7, 2)
SUPPORTS(ig_gpu_supports_winograd2s2, ig_supports_winograd_s2, 2)
SUPPORTS(ig_gpu_supports_winograd4s2, ig_supports_winograd_s2, 4)
SUPPORTS(ig_gpu_supports_winograd4line, ig_supports_winograd_line, 4)

/* The bias, then U[point][ic4][oc4]. */
static size_t pack(const struct ig_call *call, int32_t m, void *dst)
{
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, m, m);
    int32_t ic = call->in[0].c, oc = call->out[0].c, oc4 = ig_gpu_round4(oc);
    const struct ig_winograd_layout l = {.point = (int64_t)ig_gpu_round4(ic) * oc4, .panel = 16, .channel = oc4};
    int64_t bias = ig_gpu_bias_room(call), floats = bias + ig_winograd_points(&shape) * l.point;
    float *to = (float *)dst;
    if (!dst) return (size_t)floats * sizeof(float);
    memset(to, 0, (size_t)floats * sizeof *to);
    if (bias) memcpy(to, call->in[2].data, (size_t)oc * sizeof *to);
    ig_winograd_filters((const float *)call->in[1].data, ic, oc, &shape, &l, to + bias);
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
    return (size_t)tiles_of(call, m) * (size_t)points_of(call, m) * (size_t)ig_gpu_round4(call->in[0].c);
}

static size_t scratch(const struct ig_call *call, int32_t m)
{
    return (v_floats(call, m) + (size_t)tiles_of(call, m) * (size_t)points_of(call, m) * (size_t)ig_gpu_round4(call->out[0].c)) *
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

static void swap(int32_t *a, int32_t *b)
{
    int32_t was = *a;
    *a = *b;
    *b = was;
}

/* Rows and columns of the picture change places. */
static void turn(struct ig_gpu_winograd *p)
{
    swap(&p->in_h, &p->in_w);
    swap(&p->in_row, &p->in_pixel);
    swap(&p->top, &p->left);
    swap(&p->out_h, &p->out_w);
    swap(&p->out_row, &p->out_pixel);
    swap(&p->residual_row, &p->residual_pixel);
    swap(&p->tiles_y, &p->tiles_x);
}

static struct ig_gpu_winograd operands(const struct ig_call *call, int32_t m, void *room)
{
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, m, m);
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0], *residual = &call->in[3];
    struct ig_gpu_winograd p = {.in = (const float *)in->data, .v = (float *)room,
                                .bias = ig_has(call, 2) ? (const float *)call->weights : NULL, .out = (float *)out->data,
                                .in_h = in->h, .in_w = in->w, .in_row = (int32_t)in->row_stride,
                                .in_pixel = (int32_t)in->pixel_stride, .top = a->w.top, .left = a->w.left, .out_h = out->h,
                                .out_w = out->w, .out_row = (int32_t)out->row_stride, .out_pixel = (int32_t)out->pixel_stride,
                                .tiles_y = ig_gpu_ceil(out->h, shape.rows), .tiles_x = ig_gpu_ceil(out->w, shape.columns), .ic = in->c,
                                .ic4 = ig_gpu_round4(in->c), .oc = out->c, .oc4 = ig_gpu_round4(out->c), .act = ig_gpu_act_of(&a->act)};
    p.m = (const float *)room + v_floats(call, m);
    p.halves = ig_gpu_halves_of(call);
    if (ig_has(call, 3)) {
        p.residual = (const float *)residual->data;
        p.residual_row = (int32_t)residual->row_stride, p.residual_pixel = (int32_t)residual->pixel_stride;
    }
    if (shape.kw == 1) turn(&p);
    return p;
}

/* M = V U: 1x1 over a picture of tiles whose channels are the points', a group each. */
static struct ig_gpu_conv product(const struct ig_call *call, const struct ig_gpu_winograd *t, int32_t points)
{
    struct ig_gpu_conv p = {.in = t->v, .weights = (const float *)call->weights + ig_gpu_bias_room(call),
                            .zeros = (const float *)call->zeros, .out = (float *)(uintptr_t)t->m, .in_h = t->tiles_y,
                            .in_w = t->tiles_x, .in_row = t->tiles_x * points * t->ic4, .in_pixel = points * t->ic4,
                            .out_h = t->tiles_y, .out_w = t->tiles_x, .out_row = t->tiles_x * points * t->oc4,
                            .out_pixel = points * t->oc4, .groups = points, .ic = t->ic4, .oc = t->oc4, .oc4 = t->oc4,
                            .weight_group = t->ic4 * t->oc4, .weight_tap = t->ic4 * t->oc4, .kh = 1, .kw = 1, .sh = 1,
                            .sw = 1, .dh = 1, .dw = 1, .splits = 1, .vector_out = 1};
    p.chunk = ig_gpu_ceil(p.ic, 16);
    return p;
}

static const struct tile { /* of conv.cu, conv_mma.cu */
    const char *function;
    int32_t rows, columns;
    uint32_t threads;
} tile_16x128 = {"conv_16x128", 16, 128, 128}, tile_32x32 = {"conv_32x32", 32, 32, 64}, tile_64x64 = {"conv_64x64", 64, 64, 64},
  tile_128x64 = {"conv_128x64", 128, 64, 128}, tile_mma64x64 = {"conv_mma64x64", 64, 64, 128},
  tile_mma64x128 = {"conv_mma64x128", 64, 128, 256};

static int launch(const struct ig_call *call, int32_t m, const struct tile *tile, void *room, struct ig_gpu_launch *to)
{
    const struct ig_winograd_shape shape = ig_winograd_shape_of(call, m, m);
    const struct transforms *by = transforms_of(&shape, ig_gpu_is_halves(&call->in[0]));
    struct ig_gpu_winograd t = operands(call, m, room);
    struct ig_gpu_conv p = product(call, &t, ig_winograd_points(&shape));
    int64_t tiles = tiles_of(call, m);
    if (tile == &tile_64x64 && (tiles <= 32 || p.oc <= 32)) tile = &tile_32x32;
    ig_gpu_fill(&to[0], by->in, ig_gpu_ceil(tiles * t.ic4, 128), 1, 1, 128, POINTERS, &t, sizeof t);
    ig_gpu_fill(&to[1], tile->function, ig_gpu_ceil(tiles, tile->rows), ig_gpu_ceil(p.oc, tile->columns), p.groups, tile->threads,
                CONV_POINTERS, &p, sizeof p);
    ig_gpu_fill(&to[2], by->out, ig_gpu_ceil(tiles * t.oc, 128), 1, 1, 128, POINTERS, &t, sizeof t);
    return 3;
}

#define WINOGRAD(name, m, tile)                                                \
    int name(const struct ig_call *call, void *room, struct ig_gpu_launch *to) \
    {                                                                          \
        return launch(call, m, tile, room, to);                                \
    }
WINOGRAD(ig_gpu_winograd2, 2, &tile_64x64)
WINOGRAD(ig_gpu_winograd2_16x128, 2, &tile_16x128)
WINOGRAD(ig_gpu_winograd2_128x64, 2, &tile_128x64)
WINOGRAD(ig_gpu_winograd4, 4, &tile_64x64)
WINOGRAD(ig_gpu_winograd4_16x128, 4, &tile_16x128)
WINOGRAD(ig_gpu_winograd4_32x32, 4, &tile_32x32)
WINOGRAD(ig_gpu_winograd4_128x64, 4, &tile_128x64)
WINOGRAD(ig_gpu_winograd2_mma64x64, 2, &tile_mma64x64)
WINOGRAD(ig_gpu_winograd2_mma64x128, 2, &tile_mma64x128)
WINOGRAD(ig_gpu_winograd4_mma64x64, 4, &tile_mma64x64)
WINOGRAD(ig_gpu_winograd4_mma64x128, 4, &tile_mma64x128)
