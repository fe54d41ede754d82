/* QLinearConv whose parameters are constants: conv_bytes.cu, grouped_bytes.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/ref/quantized.h"

enum { POINTERS = 8, STEP = 64, ROOM = 64 /* what packed parts are multiples of */ };
enum { MOST_FEW = 16 /* pixels that a GEMV is offered for */, MOST_GROUPED = 32 /* channels of a group that grouped_bytes.cu is for */ };
enum { IN_ZERO = 2, WEIGHTS = 3, WEIGHT_ZERO = 5, OUT_ZERO = 7, BIAS = 8 }; /* inputs */

enum layout { LINES, DEPTHWISE, GROUPED };

struct block {          /* a function: a block's pixels, channels and threads */
    const char *function;
    int32_t rows, columns;
    uint32_t threads;
};

struct tiling {         /* of pixels that come 16 bytes at a time, 4, or by single bytes */
    struct block pieces, words, bytes;
    int32_t splits;
};

static int32_t round_up(int64_t n, int32_t to)
{
    return (int32_t)((n + to - 1) / to * to);
}

/* --- which --- */

static int32_t type_of(const struct ig_call *call, int k)
{
    return call->in[k].shape->type;
}

/* Known when the plan is made, or absent. */
static int is_settled(const struct ig_call *call, int k)
{
    return !ig_has(call, k) || call->in[k].data;
}

static int32_t terms(const struct ig_call *call)
{
    return (int32_t)(ig_count(call->in[WEIGHTS].shape) / call->out[0].c);
}

/* Weight i less its zero point. */
static int32_t weight(const struct ig_call *call, int64_t i)
{
    const struct ig_operand *w = &call->in[WEIGHTS];
    int32_t zero = (int32_t)ig_parameter(call, WEIGHT_ZERO, i / terms(call));
    return (w->shape->type == IG_I8 ? ((const int8_t *)w->data)[i] : ((const uint8_t *)w->data)[i]) - zero;
}

static int are_signed_bytes(const struct ig_call *call)
{
    int32_t n = terms(call), middle = type_of(call, WEIGHTS) == IG_I8 ? 0 : 128;
    for (int32_t c = 0; c < call->out[0].c; c++) {
        if ((int32_t)ig_parameter(call, WEIGHT_ZERO, c) == middle) continue;
        for (int64_t i = 0; i < n; i++) {
            int32_t w = weight(call, (int64_t)c * n + i);
            if (w < -128 || w > 127) return 0;
        }
    }
    return 1;
}

/* No sum needs more than 32 bits. */
static int sums_fit(const struct ig_call *call)
{
    double most = 255.0 * 128 * terms(call);
    for (int32_t c = 0; c < call->out[0].c; c++)
        if (fabs(ig_parameter(call, BIAS, c)) + most > INT32_MAX) return 0;
    return 1;
}

static int is_float(const struct ig_call *call)
{
    return call->out[0].shape->type == IG_F32;
}

static int bounds_fit(const struct ig_call *call)
{
    int32_t low, high, type = call->out[0].shape->type, least = type == IG_I8 ? -128 : 0;
    ig_quantized_bounds(&((const struct ig_conv *)call->attrs)->act, type, &low, &high);
    return least <= low && low <= high && high <= least + 255;
}

static int supports(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    if (!ig_gpu_supports_qlinear_conv(call) || !ig_is_flat(&a->w) || !ig_gpu_holds_all(call)) return 0;
    if (!ig_gpu_fits_grid(a->groups, call->out[0].c / a->groups)) return 0;
    for (int k = 1; k < call->n_in; k++)
        if (!is_settled(call, k)) return 0;
    return (is_float(call) || bounds_fit(call)) && sums_fit(call) && are_signed_bytes(call);
}

static int is_depthwise(const struct ig_call *call)
{
    int32_t groups = ((const struct ig_conv *)call->attrs)->groups;
    return groups == call->in[0].c && groups == call->out[0].c;
}

/* Bytes of an output channel's line of weights. */
static int64_t depth_of(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    return round_up((int64_t)a->w.kh * a->w.kw * ig_gpu_round4(call->in[0].c / a->groups), STEP);
}

int ig_gpu_supports_bytes(const struct ig_call *call)
{
    return supports(call) && (!is_depthwise(call) || call->in[0].c == 1) && depth_of(call) * call->out[0].c < INT32_MAX;
}

int ig_gpu_supports_bytes_depthwise(const struct ig_call *call)
{
    return is_depthwise(call) && supports(call);
}

/* 3x3 over groups of few channels, outputs by fours. */
int ig_gpu_supports_bytes_grouped(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &a->w;
    int32_t ic = call->in[0].c / a->groups, oc = call->out[0].c / a->groups;
    return a->groups > 1 && ic <= MOST_GROUPED && oc % 4 == 0 && oc <= MOST_GROUPED && w->kh == 3 && w->kw == 3 && (w->sh == 1 || w->sh == 2) &&
           w->sw == w->sh && w->dh == 1 && w->dw == 1 && ig_gpu_supports_bytes(call);
}

/* The window is the image, as that of a fully connected layer behind it is: one pixel of all its channels, as the weights lie, too. */
static int takes_all(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *in = &call->in[0];
    return w->kh == in->h && w->kw == in->w && w->dh * w->dw == 1 && call->out[0].h * call->out[0].w == 1 && !w->top && !w->left &&
           in->c % 4 == 0 && in->pixel_stride == in->c && in->row_stride == (int64_t)in->w * in->c;
}

int ig_gpu_supports_bytes_gemv(const struct ig_call *call)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    return ig_gpu_supports_bytes(call) && a->groups == 1 && ((a->w.kh == 1 && a->w.kw == 1) || takes_all(call)) &&
           (int64_t)call->out[0].h * call->out[0].w <= MOST_FEW;
}

/* --- weights: ends, padding, bias, scales, weights --- */

struct parts {          /* bytes from the first */
    int64_t pad, bias, scale, weights, end;
    int32_t groups, ic, oc, oc4, taps;
};

static int64_t weight_bytes(const struct ig_call *call, const struct parts *p, enum layout layout)
{
    if (layout == DEPTHWISE) return (int64_t)round_up(p->taps, 4) * p->oc4;
    return (layout == GROUPED ? (int64_t)p->taps * ig_gpu_round4(p->ic) : depth_of(call)) * call->out[0].c;
}

static struct parts parts_of(const struct ig_call *call, enum layout layout)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    int32_t groups = layout == DEPTHWISE ? 1 : a->groups;
    struct parts p = {.groups = groups, .ic = call->in[0].c / groups, .oc = call->out[0].c / groups, .taps = a->w.kh * a->w.kw};
    p.oc4 = ig_gpu_round4(p.oc);
    int64_t channels = round_up((int64_t)p.groups * p.oc4 * 4, ROOM);
    p.pad = ROOM;
    p.bias = p.pad + round_up(p.ic, ROOM);
    p.scale = p.bias + channels;
    p.weights = p.scale + channels;
    p.end = p.weights + weight_bytes(call, &p, layout);
    return p;
}

static uint8_t pad_byte(const struct ig_call *call)
{
    return (uint8_t)(int32_t)ig_parameter(call, IN_ZERO, 0);
}

/* Of the scaled sum: least, largest, what is added then; four bytes of padding. */
static void put_ends(const struct ig_call *call, char *to)
{
    int32_t low, high, zero = (int32_t)ig_parameter(call, OUT_ZERO, 0);
    ig_quantized_bounds(&((const struct ig_conv *)call->attrs)->act, call->out[0].shape->type, &low, &high);
    float ends[3] = {(float)(low - zero), (float)(high - zero), (float)zero};
    memcpy(to, ends, sizeof ends);
    memset(to + sizeof ends, pad_byte(call), 4);
}

/* The input's zero point, as a signed byte is less than it, is taken from every product: so much of it is the bias'. */
static uint32_t folded_bias(const struct ig_call *call, int32_t c)
{
    int32_t zero = (int32_t)ig_parameter(call, IN_ZERO, 0) - (type_of(call, 0) == IG_U8 ? 128 : 0), n = terms(call), sum = 0;
    for (int32_t i = 0; i < n; i++) sum += weight(call, (int64_t)c * n + i);
    return (uint32_t)(int64_t)ig_parameter(call, BIAS, c) - (uint32_t)zero * (uint32_t)sum;
}

static void put_channels(const struct ig_call *call, const struct parts *p, char *to)
{
    for (int32_t c = 0; c < p->groups * p->oc; c++) {
        int64_t at = (int64_t)(c / p->oc * p->oc4 + c % p->oc) * 4;
        uint32_t bias = folded_bias(call, c);
        float scale = ig_scale(call, 1, 0) * ig_scale(call, 4, c) / ig_scale(call, 6, 0);
        memcpy(to + p->bias + at, &bias, sizeof bias);
        memcpy(to + p->scale + at, &scale, sizeof scale);
    }
}

/* Head and channels of what is zero otherwise. */
static void put_head(const struct ig_call *call, const struct parts *p, char *to)
{
    memset(to, 0, (size_t)p->end);
    put_ends(call, to);
    memset(to + p->pad, pad_byte(call), (size_t)p->ic);
    put_channels(call, p, to);
}

size_t ig_gpu_pack_bytes(const struct ig_call *call, void *dst)
{
    struct parts p = parts_of(call, LINES);
    int64_t depth = depth_of(call), tap = ig_gpu_round4(p.ic);
    if (!dst) return (size_t)p.end;
    put_head(call, &p, (char *)dst);
    int8_t *to = (int8_t *)dst + p.weights;
    for (int64_t c = 0; c < call->out[0].c; c++, to += depth)
        for (int64_t i = 0; i < p.ic; i++)
            for (int64_t t = 0; t < p.taps; t++) to[t * tap + i] = (int8_t)weight(call, (c * p.ic + i) * p.taps + t);
    return (size_t)p.end;
}

/* [taps by fours][channel] four taps */
size_t ig_gpu_pack_bytes_depthwise(const struct ig_call *call, void *dst)
{
    struct parts p = parts_of(call, DEPTHWISE);
    if (!dst) return (size_t)p.end;
    put_head(call, &p, (char *)dst);
    int8_t *to = (int8_t *)dst + p.weights;
    for (int64_t c = 0; c < p.oc; c++)
        for (int64_t t = 0; t < p.taps; t++) to[(t / 4 * p.oc4 + c) * 4 + t % 4] = (int8_t)weight(call, c * p.taps + t);
    return (size_t)p.end;
}

/* [tap][input channels by fours][channel of all] four input channels */
size_t ig_gpu_pack_bytes_grouped(const struct ig_call *call, void *dst)
{
    struct parts p = parts_of(call, GROUPED);
    int64_t words = ig_gpu_round4(p.ic) / 4, channels = call->out[0].c;
    if (!dst) return (size_t)p.end;
    put_head(call, &p, (char *)dst);
    int8_t *to = (int8_t *)dst + p.weights;
    for (int64_t c = 0; c < channels; c++)
        for (int64_t i = 0; i < p.ic; i++)
            for (int64_t t = 0; t < p.taps; t++)
                to[((t * words + i / 4) * channels + c) * 4 + i % 4] = (int8_t)weight(call, (c * p.ic + i) * p.taps + t);
    return (size_t)p.end;
}

static size_t partial_bytes(const struct ig_call *call, int32_t splits)
{
    const struct ig_operand *out = &call->out[0];
    struct parts p = parts_of(call, LINES);
    return (size_t)out->h * (size_t)out->w * (size_t)(p.groups * p.oc4) * (size_t)splits * 4;
}

#define SPLIT(n)                                                     \
    size_t ig_gpu_scratch_bytes_split##n(const struct ig_call *call) \
    {                                                                \
        return partial_bytes(call, n);                               \
    }
SPLIT(2)
SPLIT(4)
SPLIT(8)
SPLIT(16)

/* --- launches --- */

static struct ig_gpu_conv_bytes params_of(const struct ig_call *call, enum layout layout)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct parts parts = parts_of(call, layout);
    const char *packed = (const char *)call->weights;
    return (struct ig_gpu_conv_bytes){
        .in = in->data, .weights = packed + parts.weights, .bias = (const int32_t *)(const void *)(packed + parts.bias),
        .scale = (const float *)(const void *)(packed + parts.scale), .ends = (const float *)(const void *)packed,
        .pad = packed + parts.pad, .out = out->data, .in_h = in->h, .in_w = in->w, .in_row = (int32_t)in->row_stride,
        .in_pixel = (int32_t)in->pixel_stride, .out_h = out->h, .out_w = out->w, .out_row = (int32_t)out->row_stride,
        .out_pixel = (int32_t)out->pixel_stride, .groups = parts.groups, .ic = parts.ic, .oc = parts.oc, .oc4 = parts.oc4,
        .tap = ig_gpu_round4(parts.ic), .depth = (int32_t)depth_of(call), .kh = w->kh, .kw = w->kw, .sh = w->sh, .sw = w->sw,
        .dh = w->dh, .dw = w->dw, .top = w->top, .left = w->left, .splits = 1,
        .vector_out = parts.oc % 4 == 0 && ig_gpu_is_vector(out) && !is_float(call), .is_float = is_float(call),
        .flip = in->shape->type == IG_U8 ? 0x80808080u : 0};
}

/* Channels of a group's pixel that are read at once. */
static int32_t at_once(const struct ig_call *call, const struct ig_gpu_conv_bytes *p)
{
    return p->ic % 16 == 0 && ig_gpu_is_vector_of(&call->in[0], 16) ? 16 : p->ic % 4 == 0 && ig_gpu_is_vector(&call->in[0]) ? 4 : 1;
}

static int gemm(const struct ig_call *call, const struct tiling *t, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_conv_bytes p = params_of(call, LINES);
    int32_t bytes = at_once(call, &p), steps = p.depth / STEP;
    const struct block *b = bytes == 16 ? &t->pieces : bytes == 4 ? &t->words : &t->bytes;
    int64_t pixels = (int64_t)p.out_h * p.out_w;
    p.chunk = ig_gpu_ceil(steps, t->splits);
    p.splits = ig_gpu_ceil(steps, p.chunk);
    p.partial = (float *)scratch;
    ig_gpu_fill(&to[0], b->function, ig_gpu_ceil(pixels, b->rows), ig_gpu_ceil(p.oc, b->columns), p.groups * p.splits, b->threads,
                POINTERS, &p, sizeof p);
    if (p.splits == 1) return 1;
    ig_gpu_fill(&to[1], "conv_byte_reduce", ig_gpu_ceil(pixels * (p.oc4 / 4), 128), p.groups, 1, 128, POINTERS, &p, sizeof p);
    return 2;
}

#define OF_64 {"conv_byte_words64x64", 64, 64, 128}, {"conv_byte_any64x64", 64, 64, 128}
#define OF_mma64 {"conv_byte_mma_words64x64", 64, 64, 128}, {"conv_byte_mma_any64x64", 64, 64, 128}
#define OF_128x64 {"conv_byte128x64", 128, 64, 128}, OF_64
#define OF_64x64 {"conv_byte64x64", 64, 64, 128}, OF_64
#define OF_32x32 {"conv_byte32x32", 32, 32, 64}, {"conv_byte_words32x32", 32, 32, 64}, {"conv_byte_any32x32", 32, 32, 64}
#define OF_mma128x64 {"conv_byte_mma128x64", 128, 64, 128}, OF_mma64
#define OF_mma64x64 {"conv_byte_mma64x64", 64, 64, 128}, OF_mma64

/* A kernel of a tile and of so many pieces of the sum. */
#define TILE(name, tile, pieces)                                                                 \
    static const struct tiling tile_##name = {OF_##tile, pieces};                                \
    int ig_gpu_bytes_##name(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to) \
    {                                                                                            \
        return gemm(call, &tile_##name, scratch, to);                                            \
    }
TILE(128x64, 128x64, 1)
TILE(128x64k2, 128x64, 2)
TILE(64x64, 64x64, 1)
TILE(64x64k2, 64x64, 2)
TILE(64x64k4, 64x64, 4)
TILE(64x64k8, 64x64, 8)
TILE(32x32, 32x32, 1)
TILE(32x32k4, 32x32, 4)
TILE(32x32k16, 32x32, 16)
TILE(mma128x64, mma128x64, 1)
TILE(mma128x64k2, mma128x64, 2)
TILE(mma64x64, mma64x64, 1)
TILE(mma64x64k2, mma64x64, 2)
TILE(mma64x64k4, mma64x64, 4)
TILE(mma64x64k8, mma64x64, 8)
TILE(mma64x64k16, mma64x64, 16)

int ig_gpu_bytes_gemv(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_conv_bytes p = params_of(call, LINES);
    (void)scratch;
    p.ic *= p.kh * p.kw;
    p.kh = p.kw = 1;
    ig_gpu_fill(to, at_once(call, &p) == 16 ? "conv_byte_gemv" : "conv_byte_gemv_any", ig_gpu_ceil(p.oc, 16), p.out_h * p.out_w, 1, 128,
                POINTERS, &p, sizeof p);
    return 1;
}

int ig_gpu_bytes_depthwise(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    enum { COLUMNS = 4 };
    struct ig_gpu_conv_bytes p = params_of(call, DEPTHWISE);
    int64_t threads = (int64_t)p.out_h * ig_gpu_ceil(p.out_w, COLUMNS) * (p.oc4 / 4);
    (void)scratch;
    ig_gpu_fill(to, at_once(call, &p) > 1 ? "conv_byte_depthwise" : "conv_byte_depthwise_any", ig_gpu_ceil(threads, 128), 1, 1, 128,
                POINTERS, &p, sizeof p);
    return 1;
}

/* Of `rows` x 4 outputs a thread; of pixels that are not of whole words, 1 x 4. */
static int grouped(const struct ig_call *call, int rows, struct ig_gpu_launch *to)
{
    static const char *const functions[3][2] = {{"conv_byte_grouped_anys1", "conv_byte_grouped_anys2"},
                                                {"conv_byte_grouped1x4s1", "conv_byte_grouped1x4s2"},
                                                {"conv_byte_grouped2x4s1", "conv_byte_grouped2x4s2"}};
    struct ig_gpu_conv_bytes p = params_of(call, GROUPED);
    int are_words = at_once(call, &p) > 1, rows_of = are_words ? rows : 1;
    int64_t threads = (int64_t)ig_gpu_ceil(p.out_h, rows_of) * ig_gpu_ceil(p.out_w, 4) * (p.groups * p.oc / 4);
    ig_gpu_fill(to, functions[are_words ? rows : 0][p.sh - 1], ig_gpu_ceil(threads, 128), 1, 1, 128, POINTERS, &p, sizeof p);
    return 1;
}

int ig_gpu_bytes_grouped2x4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return grouped(call, 2, to);
}

int ig_gpu_bytes_grouped1x4(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    (void)scratch;
    return grouped(call, 1, to);
}
