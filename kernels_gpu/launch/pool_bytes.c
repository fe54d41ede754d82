/* Averages and maxima of quantised numbers: pool_bytes.cu. */
#include "kernels_cpu/pack/pack.h"
#include "kernels_gpu/launch/loops.h"

enum {
    POINTERS = 7,
    PACKED_TAPS = 257,              /* that sums of 16 bits hold */
    BLOCK_TAPS = 32, FEW_QUADS = 1 << 14, /* of windows from so many taps a block takes each, where threads of four channels were few */
    SPLIT_TAPS = 512, PIECE_TAPS = 128, MOST_PIECES = 256, FULL_BLOCKS = 1024,
    BLOCK_CHANNELS = 32
};

int ig_gpu_supports_average_bytes(const struct ig_call *call)
{
    return call->n_in == 5 && pool_any_1x1__supports(call) && ig_is_f32(&call->in[1]) && ig_is_f32(&call->in[3]) && ig_gpu_addresses_all(call) &&
           call->in[4].shape->type == call->out[0].shape->type;
}

int ig_gpu_supports_max_bytes(const struct ig_call *call)
{
    int32_t type = call->in[0].shape->type;
    return pool_any_1x1__supports(call) && ((const struct ig_pool *)call->attrs)->kind == IG_POOL_MAX && (type == IG_U8 || type == IG_I8) &&
           call->out[0].shape->type == type && (call->n_out < 2 || !call->out[1].shape) && ig_gpu_addresses_all(call);
}

static int32_t taps_of(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    return w->kd * w->kh * w->kw;
}

/* Blocks that have a window each, or 0: threads have. */
static int32_t blocks_of(const struct ig_call *call)
{
    const struct ig_operand *out = &call->out[0];
    int32_t taps = taps_of(call), pixels = out->h * out->w;
    int few = taps >= BLOCK_TAPS && (int64_t)pixels * ig_gpu_ceil(out->c, 4) < FEW_QUADS;
    return few || taps > PACKED_TAPS ? pixels * ig_gpu_ceil(out->c, BLOCK_CHANNELS) : 0;
}

/* Pieces of each window: as many as fill a GPU that so few blocks alone would leave idle. */
static int32_t pieces_of(const struct ig_call *call)
{
    int32_t blocks = blocks_of(call), taps = taps_of(call), n = taps / PIECE_TAPS, most;
    if (!blocks || taps < SPLIT_TAPS) return 1;
    most = ig_gpu_ceil(FULL_BLOCKS, blocks);
    most = most < MOST_PIECES ? most : MOST_PIECES;
    return n < most ? n : most;
}

size_t ig_gpu_scratch_average_bytes(const struct ig_call *call)
{
    const struct ig_operand *out = &call->out[0];
    int32_t n = pieces_of(call);
    return n > 1 ? (size_t)n * (size_t)(out->h * out->w) * (size_t)out->c * sizeof(int32_t) : 0;
}

static struct ig_gpu_average operands(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return (struct ig_gpu_average){
        .in = in->data, .out = out->data, .in_d = w->in_d, .in_h = in->h / w->in_d, .in_w = in->w,
        .in_row = (int32_t)in->row_stride, .in_pixel = (int32_t)in->pixel_stride, .out_h = out->h / w->out_d, .out_w = out->w,
        .out_row = (int32_t)out->row_stride, .out_pixel = (int32_t)out->pixel_stride, .pixels = out->h * out->w, .c = out->c,
        .in_type = in->shape->type, .out_type = out->shape->type,
        .w = {{w->kd, w->kh, w->kw}, {w->sd, w->sh, w->sw}, {w->dd, w->dh, w->dw}, {w->front, w->top, w->left}}};
}

/* The window is the image, whose pixels are one run. */
static int is_line(const struct ig_gpu_average *p)
{
    int covers = p->pixels == 1 && p->w.k[0] == p->in_d && p->w.k[1] == p->in_h && p->w.k[2] == p->in_w;
    for (int a = 0; a < 3; a++) covers = covers && p->w.before[a] == 0 && (p->w.d[a] == 1 || p->w.k[a] == 1);
    return covers && p->in_row == p->in_w * p->in_pixel;
}

static void count_padding(struct ig_gpu_average *p, const struct ig_pool *a)
{
    if (!a->count_include_pad) return;
    p->counted[0] = p->in_d + a->w.back - a->ceil_d;
    p->counted[1] = p->in_h + a->w.bottom - a->ceil_h;
    p->counted[2] = p->in_w + a->w.right - a->ceil_w;
}

static int by_words(const struct ig_call *call)
{
    return call->out[0].c % 4 == 0 && ig_gpu_is_vector(&call->in[0]) && ig_gpu_is_vector(&call->out[0]);
}

/* A thread for four channels of an output. */
static int quads(const char *function, const struct ig_gpu_average *p, struct ig_gpu_launch *to)
{
    return ig_gpu_each(to, function, (int64_t)p->pixels * ig_gpu_ceil(p->c, 4), 128, POINTERS, p, sizeof *p);
}

int ig_gpu_max_bytes(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    const struct ig_gpu_average p = operands(call);
    (void)scratch;
    return quads(by_words(call) ? "pool_byte_max4" : "pool_byte_max_any", &p, to);
}

int ig_gpu_average_bytes(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)
{
    struct ig_gpu_average p = operands(call);
    int words = by_words(call);
    int32_t blocks = blocks_of(call);
    p.in_zero = call->in[2].data, p.out_zero = call->in[4].data;
    p.in_scale = (const float *)call->in[1].data, p.out_scale = (const float *)call->in[3].data;
    count_padding(&p, (const struct ig_pool *)call->attrs);
    if (!blocks) return quads(words ? "pool_byte4" : "pool_byte_any", &p, to);
    if (is_line(&p)) {
        p.in_w = p.w.k[2] = taps_of(call), p.in_d = p.in_h = p.w.k[0] = p.w.k[1] = 1;
        p.counted[0] = p.counted[1] = p.counted[2] = 0;
    }
    p.pieces = pieces_of(call), p.chunk = ig_gpu_ceil(taps_of(call), p.pieces);
    p.sums = p.pieces > 1 ? (int32_t *)scratch : NULL;
    ig_gpu_fill(&to[0], words ? "pool_byte_block" : "pool_byte_block_any", blocks, p.pieces, 1, 256, POINTERS, &p, sizeof p);
    if (p.pieces == 1) return 1;
    ig_gpu_fill(&to[1], "pool_byte_join", blocks, 1, 1, 256, POINTERS, &p, sizeof p);
    return 2;
}
