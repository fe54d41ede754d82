/* Convolutions of few channels under a window: first.cu. */
#include "kernels_gpu/launch/launch.h"

#include "kernels_cpu/pack/half.h"
#include "kernels_cpu/pack/pack.h"

enum { POINTERS = 7, THREADS = 128, ROWS = 8 /* of a block's pixels */, MOST_CHANNELS = 4, LEAST_TAPS = 3, MOST_TAPS = 11 };

struct block {          /* of a tile of first.cu: a function, and what is in its shared memory; another with less, or NULL */
    const char *function[2], *half[2]; /* of weights that are floats, halves */
    int32_t columns, channels;
    int32_t room[2];    /* floats: first.cu */
};

static const struct block of_128x64 = {{"first_128x64s", "first_128x64"}, {"first_half128x64s", "first_half128x64"}, 16, 64, {5120, 12240}};
static const struct block of_64x32k2 = {{"first_64x32k2", NULL}, {"first_half64x32k2", NULL}, 8, 32, {6656, 0}};
static const struct block of_64x16k4 = {{"first_64x16k4", NULL}, {"first_half64x16k4", NULL}, 8, 16, {12240, 0}};

static int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Phases that the taps of a window have: rests by the stride. */
static int32_t phases(int32_t taps, int32_t stride)
{
    return least(taps, stride);
}

static void lay_out(struct ig_gpu_first *f, const struct ig_window *w, int32_t columns)
{
    f->phases_y = phases(w->kh, w->sh), f->phases_x = phases(w->kw, w->sw);
    f->taps = ig_gpu_ceil(w->kw, w->sw);
    f->full_phases = w->kw - (f->taps - 1) * f->phases_x;
    f->rows = ROWS - 1 + ig_gpu_ceil(w->kh, w->sh);
    f->columns = ig_gpu_round4(columns - 1 + f->taps);
    f->all_rows = (f->phases_y - 1) * f->rows + ROWS - 1 + ig_gpu_ceil(w->kh - f->phases_y + 1, w->sh);
    f->line = f->phases_x * f->columns;
    if (f->line % 8 == 0) f->line += 4;
    f->plane = f->all_rows * f->line;
}

/* Which of the block's functions has room for patch and weights, 0 or 1; -1: none. */
static int which(const struct block *b, const struct ig_window *w, int32_t ic)
{
    struct ig_gpu_first f;
    lay_out(&f, w, b->columns);
    int64_t floats = (int64_t)ic * ((int64_t)w->kh * w->kw * b->channels + f.plane);
    for (int i = 0; i < 2; i++)
        if (floats <= b->room[i]) return i;
    return -1;
}

static int supports(const struct ig_call *call, const struct block *b)
{
    const struct ig_conv *a = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &a->w;
    return ig_gpu_supports_direct(call) && a->groups == 1 && ig_gpu_fits_grid(1, call->out[0].c) && call->in[0].c <= MOST_CHANNELS &&
           w->dh == 1 && w->dw == 1 && w->kh >= LEAST_TAPS && w->kw >= LEAST_TAPS && w->kh <= MOST_TAPS && w->kw <= MOST_TAPS &&
           which(b, w, call->in[0].c) >= 0;
}

/* [ic][kh][phase][taps of it][oc4] */
size_t ig_gpu_pack_first(const struct ig_call *call, void *dst)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const float *from = (const float *)call->in[1].data;
    int32_t oc = call->out[0].c, oc4 = ig_gpu_round4(oc), ic = call->in[0].c;
    int64_t depth = (int64_t)ic * w->kh * w->kw;
    float *to = dst ? ig_gpu_put_bias(call, (float *)dst) : NULL;
    for (int32_t row = 0; to && row < ic * w->kh; row++)
        for (int32_t phase = 0; phase < phases(w->kw, w->sw); phase++)
            for (int32_t x = phase; x < w->kw; x += w->sw)
                for (int32_t o = 0; o < oc4; o++) *to++ = o < oc ? from[o * depth + row * w->kw + x] : 0;
    return (size_t)(ig_gpu_bias_room(call) + depth * oc4) * sizeof(float);
}

size_t ig_gpu_pack_half_first(const struct ig_call *call, void *dst)
{
    return ig_pack_half(call, dst, ig_gpu_pack_first);
}

static int fill(const struct ig_call *call, const struct block *b, int halves, struct ig_gpu_launch *to)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    struct ig_gpu_first f = {.conv = ig_gpu_conv_of(call)};
    int i = which(b, w, f.conv.ic);
    lay_out(&f, w, b->columns);
    if (halves) f.conv = ig_gpu_on_halves(call, f.conv);
    ig_gpu_fill(to, halves ? b->half[i] : b->function[i], ig_gpu_ceil(f.conv.out_w, b->columns), ig_gpu_ceil(f.conv.out_h, ROWS),
                ig_gpu_ceil(f.conv.oc, b->channels), THREADS, POINTERS, &f, sizeof f);
    return 1;
}

#define TILE(name)                                                                                    \
    int ig_gpu_supports_first_##name(const struct ig_call *call)                                      \
    {                                                                                                 \
        return supports(call, &of_##name);                                                            \
    }                                                                                                 \
    int ig_gpu_first_##name(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to)      \
    {                                                                                                 \
        (void)scratch;                                                                                \
        return fill(call, &of_##name, 0, to);                                                         \
    }                                                                                                 \
    int ig_gpu_supports_half_first_##name(const struct ig_call *call)                                 \
    {                                                                                                 \
        return !ig_gpu_is_halves(&call->in[0]) && ig_supports_half(call, ig_gpu_supports_first_##name); \
    }                                                                                                 \
    int ig_gpu_half_first_##name(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to) \
    {                                                                                                 \
        (void)scratch;                                                                                \
        return fill(call, &of_##name, 1, to);                                                         \
    }
TILE(128x64)
TILE(64x32k2)
TILE(64x16k4)
