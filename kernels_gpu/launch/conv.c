/* Convolution and fully connected layers: conv.cu, conv_mma.cu, conv_wide.cu, depthwise.cu, grouped.cu, fc.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/pack.h"

enum { POINTERS = 7, UNIT = 16, MMA_UNIT = 32 /* of sums: conv.cuh */ };
enum { WIDE_GROUP = 8 /* fewer channels of a group are not worth a tile */ };
enum { MOST_FEW = 64 /* pixels that conv_16x128 is offered for */, MOST_WIDE = 256 /* conv_64x128 */, MOST_GEMV = 16 /* and fc_gemv */ };
enum { MOST_GROUPED = 32 /* channels of a group that grouped.cu is offered for: of more a tile is full */ };

struct tiling { /* of conv.cu, conv_mma.cu, conv_wide.cu */
    const char *quads, *any; /* functions for aligned pixels, and for all */
    int32_t rows, columns; /* BM, BN; `any` may have smaller ones */
    uint32_t quads_threads;
    int32_t any_rows, any_columns;
    uint32_t any_threads;
    int32_t unit;
    int32_t splits;
};

/* --- which --- */

int ig_gpu_supports_direct(const struct ig_call *call)
{
    return ig_supports_conv(call) && ig_gpu_holds_all(call);
}

int ig_gpu_supports_conv(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    return ig_supports_conv_gemm(call) && ig_gpu_holds_all(call) && ig_gpu_fits_grid(a->groups, call->out[0].c / a->groups);
}

/* One tap inside the picture, of so many pixels at most. */
static int is_pointwise(const struct ig_call *call, int32_t pixels)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return w->kh == 1 && w->kw == 1 && !w->top && !w->left && !w->bottom && !w->right && (int64_t)call->out[0].h * call->out[0].w <= pixels;
}

int ig_gpu_supports_conv_few(const struct ig_call *call)
{
    return ig_gpu_supports_conv(call) && is_pointwise(call, MOST_FEW);
}

int ig_gpu_supports_conv_wide(const struct ig_call *call)
{
    return ig_gpu_supports_conv(call) && (int64_t)call->out[0].h * call->out[0].w <= MOST_WIDE;
}

int ig_gpu_supports_conv_gemv(const struct ig_call *call)
{
    return ig_gpu_supports_direct(call) && ((const struct ig_conv *)call->attrs)->groups == 1 && is_pointwise(call, MOST_GEMV);
}

int ig_gpu_supports_depthwise(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    int is_dilated = w->dh > 1 || w->dw > 1;
    return ig_supports_depthwise(call) && ig_gpu_holds_all(call) && (w->kh == 3 || w->kh == 5 || (w->kh == 7 && !is_dilated)) && w->kw == w->kh &&
           (w->sh == 1 || (w->sh == 2 && !is_dilated)) && w->sw == w->sh;
}

/* Large images: more outputs a thread. */
int ig_gpu_supports_depthwise_wide(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    return ig_gpu_supports_depthwise(call) && a->w.kh >= 5 && a->w.sh == 1 && a->w.dh == 1 && a->w.dw == 1;
}

int ig_gpu_supports_depthwise_ring(const struct ig_call *call)
{
    return ig_gpu_supports_depthwise_wide(call) && ((const struct ig_conv *)call->attrs)->w.kh == 5;
}

/* 3x3 over groups of fours of channels. */
int ig_gpu_supports_grouped(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &a->w;
    int32_t ic = call->in[0].c / a->groups, oc = call->out[0].c / a->groups;
    return ig_gpu_supports_direct(call) && a->groups > 1 && ic % 4 == 0 && oc % 4 == 0 && ic <= MOST_GROUPED && oc <= MOST_GROUPED &&
           w->kh == 3 && w->kw == 3 && (w->sh == 1 || w->sh == 2) && w->sw == w->sh && w->dh == 1 && w->dw == 1;
}

int ig_gpu_supports_volume(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    return !ig_is_flat(&a->w) && ig_f32_to_f32(call) && ig_is_const_f32(call, 1) && (!ig_has(call, 2) || ig_is_const_f32(call, 2)) &&
           ig_residual_fits(call) && ig_act_fits(&a->act) && ig_gpu_holds_all(call) && call->out[0].c / a->groups >= WIDE_GROUP &&
           ig_gpu_fits_grid(a->groups, call->out[0].c / a->groups);
}

int ig_gpu_supports_fc(const struct ig_call *call)
{
    return ig_supports_fc(call) && ig_gpu_holds_all(call) && ig_gpu_fits_grid(1, call->out[0].c);
}

/* --- weights --- */

float *ig_gpu_put_bias(const struct ig_call *call, float *to)
{
    int64_t room = ig_gpu_bias_room(call);
    for (int64_t i = 0; i < room; i++) to[i] = i < call->out[0].c ? ((const float *)call->in[2].data)[i] : 0;
    return to + room;
}

struct layout { /* a group's weights in ONNX's order: strides of an output channel, an input channel and a tap */
    int32_t groups, ic, oc, taps;
    int64_t group, out, in;
};

static int32_t round_up(int32_t n, int32_t to)
{
    return (n + to - 1) / to * to;
}

/* [group][tap][ic][oc, rounded up to `columns`]; a cache has the lines of so many output channels until all their values are used. */
static size_t pack(const struct ig_call *call, const struct layout *l, int32_t columns, void *dst)
{
    enum { AT_ONCE = 16 };
    int32_t oc4 = round_up(l->oc, columns);
    const float *w = (const float *)call->in[1].data;
    float *to = dst ? ig_gpu_put_bias(call, (float *)dst) : NULL;
    int64_t tap = (int64_t)l->ic * oc4;
    for (int32_t g = 0; to && g < l->groups; g++, to += l->taps * tap)
        for (int32_t first = 0; first < oc4; first += AT_ONCE)
            for (int32_t i = 0; i < l->ic; i++)
                for (int32_t t = 0; t < l->taps; t++)
                    for (int32_t o = first; o < oc4 && o < first + AT_ONCE; o++)
                        to[t * tap + (int64_t)i * oc4 + o] = o < l->oc ? w[g * l->group + o * l->out + i * l->in + t] : 0;
    return (size_t)(ig_gpu_bias_room(call) + l->groups * l->taps * tap) * sizeof(float);
}

static size_t pack_conv(const struct ig_call *call, int32_t columns, void *dst)
{
    struct layout l = {1, call->in[0].c, call->out[0].c, 1, 0, 0, 1};
    if (call->in[1].shape->rank > 2) { /* not a fully connected layer */
        const struct ig_conv *a = (const struct ig_conv *)call->attrs;
        l.groups = a->groups, l.ic /= a->groups, l.oc /= a->groups, l.taps = a->w.kd * a->w.kh * a->w.kw;
    }
    l.in = l.taps;
    l.out = (int64_t)l.ic * l.taps;
    l.group = l.oc * l.out;
    return pack(call, &l, columns, dst);
}

size_t ig_gpu_pack_conv(const struct ig_call *call, void *dst)
{
    return pack_conv(call, 4, dst);
}

size_t ig_gpu_pack_conv8(const struct ig_call *call, void *dst)
{
    return pack_conv(call, 8, dst);
}

size_t ig_gpu_pack_depthwise(const struct ig_call *call, void *dst)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    struct layout l = {1, 1, call->out[0].c, w->kh * w->kw, 0, w->kh * w->kw, 0};
    return pack(call, &l, 4, dst);
}

size_t ig_gpu_pack_grouped(const struct ig_call *call, void *dst)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    int32_t taps = a->w.kh * a->w.kw, ic = call->in[0].c / a->groups;
    struct layout l = {1, ic, call->out[0].c, taps, 0, (int64_t)ic * taps, taps};
    return pack(call, &l, 4, dst);
}

size_t ig_gpu_pack_gemv(const struct ig_call *call, void *dst)
{
    size_t n = (size_t)call->out[0].c * (size_t)call->in[0].c * sizeof(float);
    if (dst) memcpy(ig_gpu_put_bias(call, (float *)dst), call->in[1].data, n);
    return (size_t)ig_gpu_bias_room(call) * sizeof(float) + n;
}

/* --- parameters --- */

static void operands(struct ig_gpu_conv *p, const struct ig_call *call)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0], *residual = &call->in[3];
    const float *packed = (const float *)call->weights;
    p->in = (const float *)in->data;
    p->out = (float *)out->data;
    p->zeros = (const float *)call->zeros;
    p->bias = ig_has(call, 2) ? packed : NULL;
    p->weights = packed + ig_gpu_bias_room(call);
    p->in_row = (int32_t)in->row_stride, p->in_pixel = (int32_t)in->pixel_stride;
    p->out_row = (int32_t)out->row_stride, p->out_pixel = (int32_t)out->pixel_stride;
    p->in_h = in->h, p->in_w = in->w, p->out_h = out->h, p->out_w = out->w;
    p->vector_out = ig_gpu_is_vector(out);
    if (!ig_has(call, 3)) return;
    p->residual = (const float *)residual->data;
    p->residual_row = (int32_t)residual->row_stride, p->residual_pixel = (int32_t)residual->pixel_stride;
    p->vector_out &= ig_gpu_is_vector(residual);
}

struct ig_gpu_conv ig_gpu_conv_of(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &a->w;
    struct ig_gpu_conv p = {.groups = a->groups, .ic = call->in[0].c / a->groups, .oc = call->out[0].c / a->groups,
                            .kh = w->kh, .kw = w->kw, .sh = w->sh, .sw = w->sw, .dh = w->dh, .dw = w->dw,
                            .top = w->top, .left = w->left, .splits = 1, .act = ig_gpu_act_of(&a->act)};
    operands(&p, call);
    p.oc4 = ig_gpu_round4(p.oc);
    p.weight_tap = p.ic * p.oc4;
    p.weight_group = p.kh * p.kw * p.weight_tap;
    p.vector_out &= p.oc % 4 == 0;
    return p;
}

struct ig_gpu_conv ig_gpu_fc_of(const struct ig_call *call)
{
    const struct ig_fc *a = (const struct ig_fc *)call->attrs;
    struct ig_gpu_conv p = {.groups = 1, .ic = call->in[0].c, .oc = call->out[0].c, .kh = 1, .kw = 1, .sh = 1, .sw = 1,
                            .dh = 1, .dw = 1, .splits = 1, .act = ig_gpu_act_of(&a->act)};
    operands(&p, call);
    p.oc4 = ig_gpu_round4(p.oc);
    p.vector_out &= p.oc % 4 == 0;
    return p;
}

/* --- launches --- */

static int32_t groups_of(const struct ig_call *call)
{
    return call->in[1].shape->rank > 2 ? ((const struct ig_conv *)call->attrs)->groups : 1;
}

size_t ig_gpu_partial_bytes(const struct ig_call *call, int32_t columns, int32_t splits)
{
    const struct ig_operand *out = &call->out[0];
    int32_t groups = groups_of(call);
    return (size_t)out->h * (size_t)out->w * (size_t)(groups * round_up(out->c / groups, columns)) * (size_t)splits * sizeof(float);
}

#define SPLIT(n)                                                \
    size_t ig_gpu_scratch_split##n(const struct ig_call *call) \
    {                                                           \
        return ig_gpu_partial_bytes(call, 4, n);                \
    }
SPLIT(2)
SPLIT(3)
SPLIT(4)
SPLIT(8)
SPLIT(16)

void ig_gpu_split(struct ig_gpu_conv *p, int32_t unit, int32_t splits, void *scratch)
{
    int32_t units = p->kh * p->kw * ig_gpu_ceil(p->ic, unit);
    p->chunk = ig_gpu_ceil(units, splits);
    p->splits = p->chunk ? ig_gpu_ceil(units, p->chunk) : 1;
    p->partial = (float *)scratch;
}

static int gemm(const struct ig_call *call, struct ig_gpu_conv p, const struct tiling *t, void *scratch,
                struct ig_gpu_launch *to)
{
    int quads = p.ic % 4 == 0 && ig_gpu_is_vector(&call->in[0]);
    int32_t rows = quads ? t->rows : t->any_rows, columns = quads ? t->columns : t->any_columns;
    int64_t pixels = (int64_t)p.out_h * p.out_w;
    ig_gpu_split(&p, t->unit, t->splits, scratch);
    ig_gpu_fill(&to[0], quads ? t->quads : t->any, ig_gpu_ceil(pixels, rows), ig_gpu_ceil(p.oc, columns),
                p.groups * p.splits, quads ? t->quads_threads : t->any_threads, POINTERS, &p, sizeof p);
    if (p.splits == 1) return 1;
    ig_gpu_fill(&to[1], "conv_reduce", ig_gpu_ceil(pixels * (p.oc4 / 4), 128), p.groups, 1, 128, POINTERS, &p, sizeof p);
    return 2;
}

#define OF_128x128 "conv_128x128", "conv_any64x64", 128, 128, 256, 64, 64, 128, UNIT
#define OF_128x64 "conv_128x64", "conv_any64x64", 128, 64, 128, 64, 64, 128, UNIT
#define OF_64x64 "conv_64x64", "conv_any64x64", 64, 64, 64, 64, 64, 128, UNIT
#define OF_64x64s "conv_64x64s", "conv_any64x64", 64, 64, 128, 64, 64, 128, UNIT
#define OF_16x128 "conv_16x128", "conv_any16x128", 16, 128, 128, 16, 128, 128, UNIT
#define OF_64x128 "conv_64x128", "conv_any64x128", 64, 128, 128, 64, 128, 128, UNIT
#define OF_mma64x64 "conv_mma64x64", "conv_mma_any64x64", 64, 64, 128, 64, 64, 128, MMA_UNIT
#define OF_mma64x128 "conv_mma64x128", "conv_mma_any64x128", 64, 128, 256, 64, 128, 256, MMA_UNIT
#define OF_32x32 "conv_32x32", "conv_any32x32", 32, 32, 64, 32, 32, 64, UNIT

/* A kernel of a tile and of so many pieces of the sum, more of which fill a chip where outputs are few. */
#define TILE(name, tile, pieces)                                                                \
    static const struct tiling tile_##name = {OF_##tile, pieces};                               \
    int ig_gpu_conv_##name(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to) \
    {                                                                                           \
        return gemm(call, ig_gpu_conv_of(call), &tile_##name, scratch, to);                     \
    }
TILE(128x128, 128x128, 1)
TILE(128x128k2, 128x128, 2)
TILE(128x128k4, 128x128, 4)
TILE(128x64, 128x64, 1)
TILE(128x64k2, 128x64, 2)
TILE(128x64k3, 128x64, 3)
TILE(128x64k4, 128x64, 4)
TILE(128x64k8, 128x64, 8)
TILE(64x64, 64x64, 1)
TILE(64x64k2, 64x64, 2)
TILE(64x64k4, 64x64, 4)
TILE(64x64k8, 64x64, 8)
TILE(64x64k16, 64x64, 16)
TILE(64x64s, 64x64s, 1)
TILE(16x128, 16x128, 1)
TILE(16x128k4, 16x128, 4)
TILE(64x128k4, 64x128, 4)
TILE(64x128k8, 64x128, 8)
TILE(mma64x64, mma64x64, 1)
TILE(mma64x64k2, mma64x64, 2)
TILE(mma64x64k4, mma64x64, 4)
TILE(mma64x64k8, mma64x64, 8)
TILE(mma64x128, mma64x128, 1)
TILE(mma64x128k2, mma64x128, 2)
TILE(mma64x128k4, mma64x128, 4)
TILE(mma64x128k8, mma64x128, 8)
TILE(32x32, 32x32, 1)
TILE(32x32k4, 32x32, 4)
TILE(32x32k16, 32x32, 16)

int ig_gpu_fc_64x64(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    return gemm(call, ig_gpu_fc_of(call), &tile_64x64, scratch, to);
}

int ig_gpu_fc_32x32k16(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    return gemm(call, ig_gpu_fc_of(call), &tile_32x32k16, scratch, to);
}

int ig_gpu_gemv_fill(const struct ig_call *call, const struct ig_gpu_conv *p, int halves, struct ig_gpu_launch *to)
{
    static const char *const functions[2][2][2] = {{{"fc_gemv_any", "fc_gemv"}, {NULL, NULL}},
                                                   {{"fc_half_floats_gemv_any", "fc_half_floats_gemv"}, {"fc_half_gemv_any", "fc_half_gemv"}}};
    int vector = p->ic % 4 == 0 && ig_gpu_is_vector(&call->in[0]);
    ig_gpu_fill(to, functions[halves][ig_gpu_is_halves(&call->in[0])][vector], ig_gpu_ceil(p->oc, 4),
                ig_gpu_ceil((int64_t)p->out_h * p->out_w, 4), 1, 128, POINTERS, p, sizeof *p);
    return 1;
}

int ig_gpu_fc_gemv(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_fc_of(call);
    (void)scratch;
    return ig_gpu_gemv_fill(call, &p, 0, to);
}

int ig_gpu_conv_gemv(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_conv_of(call);
    (void)scratch;
    return ig_gpu_gemv_fill(call, &p, 0, to);
}

static int one_by_one(const struct ig_gpu_conv *p, struct ig_gpu_launch *to)
{
    int64_t outputs = (int64_t)p->out_h * p->out_w * p->groups * p->oc;
    ig_gpu_fill(to, "conv_direct", ig_gpu_ceil(outputs, 128), 1, 1, 128, POINTERS, p, sizeof *p);
    return 1;
}

int ig_gpu_conv_direct(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_conv p = ig_gpu_conv_of(call);
    (void)scratch;
    return one_by_one(&p, to);
}

static int volume(const struct ig_call *call, const struct tiling *t, struct ig_gpu_launch *to)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    struct ig_gpu_volume p = {.flat = ig_gpu_conv_of(call),
                              .depth = {w->in_d, call->in[0].h / w->in_d, call->out[0].h / w->out_d, w->kh, w->sd, w->dd, w->front}};
    int quads = p.flat.ic % 4 == 0 && ig_gpu_is_vector(&call->in[0]);
    int64_t pixels = (int64_t)p.flat.out_h * p.flat.out_w;
    p.flat.kh = w->kd * w->kh;
    p.flat.weight_group = p.flat.kh * p.flat.kw * p.flat.weight_tap;
    ig_gpu_split(&p.flat, UNIT, t->splits, NULL);
    ig_gpu_fill(to, quads ? t->quads : t->any, ig_gpu_ceil(pixels, t->rows), ig_gpu_ceil(p.flat.oc, t->columns), p.flat.groups,
                quads ? t->quads_threads : t->any_threads, POINTERS, &p, sizeof p);
    return 1;
}

int ig_gpu_conv_volume64x64(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    static const struct tiling t = {"conv_volume64x64", "conv_volume_any64x64", 64, 64, 128, 64, 64, 128, UNIT, 1};
    (void)scratch;
    return volume(call, &t, to);
}

int ig_gpu_conv_volume32x32(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    static const struct tiling t = {"conv_volume32x32", "conv_volume_any32x32", 32, 32, 64, 32, 32, 64, UNIT, 1};
    (void)scratch;
    return volume(call, &t, to);
}

struct window_tile { /* of depthwise.cu: a thread's outputs */
    const char *name;
    int32_t k, s, rows, columns; /* s 0: stride 1, dilated */
};

/* A kernel of quads on operands that allow it. */
int ig_gpu_are_quads(const struct ig_call *call, const struct ig_gpu_conv *p)
{
    return p->groups * p->oc % 4 == 0 && ig_gpu_is_vector(&call->in[0]) && ig_gpu_is_vector(&call->out[0]) &&
           (!p->residual || ig_gpu_is_vector(&call->in[3]));
}

struct ig_gpu_conv ig_gpu_depthwise_of(const struct ig_call *call)
{
    struct ig_gpu_conv p = ig_gpu_conv_of(call);
    p.weight_tap = p.oc4 = ig_gpu_round4(p.groups);
    p.weight_group = 1;
    return p;
}

void ig_gpu_depthwise_fill(const struct ig_gpu_conv *p, int halves, struct ig_gpu_launch *to)
{
    static const struct window_tile tiles[2][8] = {
        {{"depthwise_3s1", 3, 1, 2, 4}, {"depthwise_3s2", 3, 2, 2, 2}, {"depthwise_5s1", 5, 1, 2, 2}, {"depthwise_5s2", 5, 2, 1, 2},
         {"depthwise_7s1", 7, 1, 2, 4}, {"depthwise_7s2", 7, 2, 1, 2}, {"depthwise_3d", 3, 0, 2, 4}, {"depthwise_5d", 5, 0, 2, 2}},
        {{"depthwise_half3s1", 3, 1, 2, 4}, {"depthwise_half3s2", 3, 2, 2, 2}, {"depthwise_half5s1", 5, 1, 2, 2},
         {"depthwise_half5s2", 5, 2, 1, 2}, {"depthwise_half7s1", 7, 1, 2, 4}, {"depthwise_half7s2", 7, 2, 1, 2},
         {"depthwise_half3d", 3, 0, 2, 4}, {"depthwise_half5d", 5, 0, 2, 2}}};
    const struct window_tile *t = tiles[halves];
    int is_dilated = p->dh > 1 || p->dw > 1;
    while (t->k != p->kh || t->s != (is_dilated ? 0 : p->sh)) t++;
    int64_t down = (int64_t)ig_gpu_ceil(p->out_h, t->rows * p->dh) * p->dh, across = (int64_t)ig_gpu_ceil(p->out_w, t->columns * p->dw) * p->dw;
    int64_t threads = down * across * (p->oc4 / 4);
    ig_gpu_fill(to, t->name, ig_gpu_ceil(threads, 128), 1, 1, 128, POINTERS, p, sizeof *p);
}

int ig_gpu_conv_depthwise(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_conv p = ig_gpu_depthwise_of(call);
    (void)scratch;
    if (!ig_gpu_are_quads(call, &p)) return one_by_one(&p, to);
    ig_gpu_depthwise_fill(&p, 0, to);
    return 1;
}

/* Rows that a thread goes down, of `across` threads side by side: it reads four or six more than it writes, but a chip wants blocks. */
static int32_t rows_down(int64_t across, int32_t out_h)
{
    enum { MOST_ROWS = 64, LEAST_ROWS = 4, BLOCKS = 512 };
    int32_t rows = MOST_ROWS;
    while (rows > LEAST_ROWS && across * ig_gpu_ceil(out_h, rows) < BLOCKS * 128) rows /= 2;
    return rows;
}

int ig_gpu_conv_depthwise_wide(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_conv p = ig_gpu_depthwise_of(call);
    int seven = p.kh == 7;
    int64_t across = (int64_t)ig_gpu_ceil(p.out_w, seven ? 4 : 8) * p.groups;
    (void)scratch;
    p.chunk = rows_down(across, p.out_h);
    ig_gpu_fill(to, seven ? "depthwise_7s1_wide" : "depthwise_5s1_wide", ig_gpu_ceil(across * ig_gpu_ceil(p.out_h, p.chunk), 128), 1, 1, 128,
                POINTERS, &p, sizeof p);
    return 1;
}

/* Of pixels whose quads are aligned. */
int ig_gpu_conv_depthwise_ring(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    enum { COLUMNS = 32, CHANNELS = 64, THREADS = 256 };
    struct ig_gpu_conv p = ig_gpu_depthwise_of(call);
    int64_t blocks = (int64_t)ig_gpu_ceil(p.out_w, COLUMNS) * ig_gpu_ceil(p.groups, CHANNELS);
    if (p.groups % 4 || !ig_gpu_is_vector(&call->in[0])) return ig_gpu_conv_depthwise_wide(call, scratch, to);
    p.chunk = rows_down(blocks * THREADS, p.out_h);
    ig_gpu_fill(to, "depthwise_5s1_ring", blocks, ig_gpu_ceil(p.out_h, p.chunk), 1, THREADS, POINTERS, &p, sizeof p);
    return 1;
}

/* Of `rows` x 4 outputs a thread; of operands whose quads are not aligned, 1 x 4. */
int ig_gpu_grouped_fill(const struct ig_call *call, const struct ig_gpu_conv *of, int rows, int halves, struct ig_gpu_launch *to)
{
    static const char *const functions[2][3][2] = {
        {{"grouped_anys1", "grouped_anys2"}, {"grouped_1x4s1", "grouped_1x4s2"}, {"grouped_2x4s1", "grouped_2x4s2"}},
        {{"grouped_half_anys1", "grouped_half_anys2"}, {"grouped_half1x4s1", "grouped_half1x4s2"}, {"grouped_half2x4s1", "grouped_half2x4s2"}}};
    struct ig_gpu_conv p = *of;
    p.oc4 = p.groups * p.oc;
    p.weight_tap = p.ic * p.oc4;
    p.weight_group = p.oc;
    int are_quads = ig_gpu_are_quads(call, &p), rows_of = are_quads ? rows : 1;
    int64_t threads = (int64_t)ig_gpu_ceil(p.out_h, rows_of) * ig_gpu_ceil(p.out_w, 4) * (p.oc4 / 4);
    ig_gpu_fill(to, functions[halves][are_quads ? rows : 0][p.sh - 1], ig_gpu_ceil(threads, 128), 1, 1, 128, POINTERS, &p, sizeof p);
    return 1;
}

int ig_gpu_conv_grouped2x4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_conv_of(call);
    (void)scratch;
    return ig_gpu_grouped_fill(call, &p, 2, 0, to);
}

int ig_gpu_conv_grouped1x4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_conv p = ig_gpu_conv_of(call);
    (void)scratch;
    return ig_gpu_grouped_fill(call, &p, 1, 0, to);
}
