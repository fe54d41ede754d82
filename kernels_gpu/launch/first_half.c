/* Convolutions of few channels under a window by tensor cores: first_half.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/half.h"
#include "kernels_cpu/pack/pack.h"

enum { POINTERS = 7, THREADS = 128, TILES = 8, TILE = 16 /* pixels, and halves of a step */, CHANNELS = 4, TAPS = TILE / CHANNELS };
enum { LEAST_TAPS = 3, MOST_TAPS = 7, MOST_STRIDE = 4, PAD = 8 /* halves behind a row of weights */, COLUMNS = 8 /* multiples of channels */ };

struct block {          /* of a tile of first_half.cu: functions, and what is in their shared memory */
    const char *function[2], *half[2]; /* of pixels that are floats, halves; little memory, and much */
    int32_t channels;
    int32_t room[2];    /* floats: first_half.cu */
};

static const struct block of_128x64 = {{"first_mma128x64s", "first_mma128x64"}, {"first_mma_half128x64s", "first_mma_half128x64"}, 64, {4352, 12240}};
static const struct block of_128x32 = {{"first_mma128x32s", "first_mma128x32"}, {"first_mma_half128x32s", "first_mma_half128x32"}, 32, {3584, 8176}};

static int32_t steps_of(const struct ig_window *w)
{
    return ig_gpu_ceil(w->kw, TAPS);
}

static void lay_out(struct ig_gpu_first_mma *f, const struct ig_window *w)
{
    f->copies = w->sw % 2 ? 2 : 1;
    f->steps = steps_of(w);
    f->rows = (TILES / f->copies - 1) * w->sh + w->kh;
    f->columns = ig_gpu_round4((TILE * f->copies - 1) * w->sw + f->steps * TAPS);
    f->plane = (f->rows * f->columns + (f->copies - 1) * ig_gpu_round4(w->sw)) * CHANNELS;
}

/* Which of the block's functions has room for patch and weights, 0 or 1; -1: none. */
static int which(const struct block *b, const struct ig_window *w, int32_t pieces)
{
    struct ig_gpu_first_mma f;
    lay_out(&f, w);
    int64_t halves = (int64_t)w->kh * f.steps * TILE * (b->channels + PAD) + (int64_t)pieces * f.copies * f.plane;
    for (int i = 0; i < 2; i++)
        if (halves <= 2 * b->room[i]) return i;
    return -1;
}

/* How many halves a pixel's value is. */
static int32_t pieces_of(const struct ig_call *call)
{
    return ig_gpu_is_halves(&call->in[0]) ? 1 : 2;
}

static int is_taken(int32_t taps, int32_t stride, int32_t dilation)
{
    return LEAST_TAPS <= taps && taps <= MOST_TAPS && stride <= MOST_STRIDE && dilation == 1;
}

static int supports(const struct ig_call *call, const struct block *b)
{
    if (!ig_supports_half(call, ig_gpu_supports_direct) || !ig_gpu_holds_all(call)) return 0;
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &a->w;
    return a->groups == 1 && ig_gpu_fits_grid(1, call->out[0].c) && call->in[0].c <= CHANNELS && is_taken(w->kh, w->sh, w->dh) &&
           is_taken(w->kw, w->sw, w->dw) && which(b, w, pieces_of(call)) >= 0;
}

/* [kh][kw rounded up to 4][4][oc8] */
static size_t pack(const struct ig_call *call, void *dst)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const float *from = (const float *)call->in[1].data;
    int32_t oc = call->out[0].c, oc8 = ig_gpu_ceil(oc, COLUMNS) * COLUMNS, ic = call->in[0].c, line = steps_of(w) * TAPS;
    float *to = dst ? ig_gpu_put_bias(call, (float *)dst) : NULL;
    for (int32_t i = 0; to && i < w->kh * line * CHANNELS; i++) {
        int32_t ky = i / (line * CHANNELS), kx = i / CHANNELS % line, c = i % CHANNELS;
        for (int32_t o = 0; o < oc8; o++) *to++ = o < oc && kx < w->kw && c < ic ? from[((o * ic + c) * w->kh + ky) * w->kw + kx] : 0;
    }
    return (size_t)(ig_gpu_bias_room(call) + (int64_t)w->kh * line * CHANNELS * oc8) * sizeof(float);
}

size_t ig_gpu_pack_half_first_mma(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, pack);
}

static int fill(const struct ig_call *call, const struct block *b, struct ig_gpu_launch *to)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    struct ig_gpu_first_mma f = {.conv = ig_gpu_in_eights(ig_gpu_on_halves(call, ig_gpu_conv_of(call)))};
    int i = which(b, w, pieces_of(call));
    lay_out(&f, w);
    ig_gpu_fill(to, ig_gpu_is_halves(&call->in[0]) ? b->half[i] : b->function[i], ig_gpu_ceil(f.conv.out_w, TILE * f.copies),
                ig_gpu_ceil(f.conv.out_h, TILES / f.copies), ig_gpu_ceil(f.conv.oc, b->channels), THREADS, POINTERS, &f, sizeof f);
    return 1;
}

#define BLOCK(name)                                                                                   \
    int ig_gpu_supports_half_first_mma##name(const struct ig_call *call)                              \
    {                                                                                                 \
        return supports(call, &of_##name);                                                            \
    }                                                                                                 \
    int ig_gpu_half_first_mma##name(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to) \
    {                                                                                                 \
        (void)scratch;                                                                                \
        return fill(call, &of_##name, to);                                                            \
    }
BLOCK(128x64)
BLOCK(128x32)
