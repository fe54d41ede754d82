/* Convolution and fully connected on halves: see half_gemm.h. */
#include "kernels_cpu/common/half_gemm.h"

#include <string.h>

#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/ref/window.h"

enum { MR = IG_HALF_MR, NR = IG_HALF_NR, PIECE = IG_HALF_PIECE };

#define AT(member, offset) (offsetof(struct ig_half_args, member) == (offset))
_Static_assert(sizeof(void *) != 8 || (AT(a_offset, 8) && AT(taps, 16) && AT(k, 24) && AT(piece, 32) && AT(together, 40) && AT(b, 48) &&
                                       AT(sums, 56) && AT(c, 64) && AT(c_offset, 72) && AT(r, 80) && AT(r_offset, 88) && AT(flags, 96) &&
                                       AT(lo, 100) && AT(hi, 102)),
               "gemm.S knows these offsets");
#undef AT

struct job {
    const struct ig_call *call;
    const struct ig_half_set *set;
    struct ig_range range;
    struct ig_window w;
    struct ig_act act;
    int32_t ic, oc, panels;     /* of one convolution group */
    int64_t panel;              /* halves of a panel */
    int32_t block;              /* groups of pixels whose addresses are in the tables at a time */
    int whole;                  /* the micro-kernels can do all of a tile that has 8 or 16 channels */
    struct ig_half_args args;   /* what all tiles share */
    const uint16_t **a;         /* [group][tap][MR] */
    void **c;                   /* [group][MR], of halves or floats */
    const void **r;             /* the same */
};

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int is_half(const struct ig_operand *o)
{
    return o->shape->type == IG_F16;
}

static int has_residual(const struct ig_call *call)
{
    return call->n_in > 3 && call->in[3].data;
}

/* --- sizes --- */

static int32_t block_groups(int32_t taps)
{
    int32_t fit = IG_GEMM_TABLE_BYTES / (taps * MR * (int32_t)sizeof(void *));
    return fit < 1 ? 1 : min32(fit, IG_GEMM_BLOCK_NEON);
}

static size_t scratch_bytes(int32_t taps)
{
    return (size_t)block_groups(taps) * MR * (size_t)(taps + 2) * sizeof(void *) + MR * NR * sizeof(float);
}

size_t ig_half_gemm_conv_scratch(const struct ig_call *call)
{
    return scratch_bytes(ig_taps(&((const struct ig_conv *)call->attrs)->w));
}

size_t ig_half_gemm_fc_scratch(const struct ig_call *call)
{
    (void)call;
    return scratch_bytes(1);
}

/* Of what fits a piece whole taps; else a tap in even parts, of multiples of 8. */
static void cut_pieces(struct ig_half_args *args)
{
    int64_t parts = (args->k + PIECE - 1) / PIECE;
    args->together = parts > 1 ? 1 : PIECE / args->k;
    args->piece = parts > 1 ? ((args->k + parts - 1) / parts + 7) / 8 * 8 : args->k;
}

static uint16_t as_half(const struct job *job, float v)
{
    uint16_t h;
    job->set->narrow(&h, 0, &v, 0, 1, 1);
    return h;
}

static void set_clamp(struct job *job)
{
    const struct ig_act *act = &job->act;
    if (act->kind == IG_RELU) {
        job->args.flags = IG_HALF_GEMM_LO;
    } else if (act->kind == IG_CLIP) {
        job->args.flags = IG_HALF_GEMM_LO | IG_HALF_GEMM_HI;
        job->args.lo = as_half(job, act->alpha);
        job->args.hi = as_half(job, act->beta);
    }
}

static void start(struct job *job, const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                  const struct ig_half_set *set)
{
    int32_t taps = ig_taps(&conv->w);
    *job = (struct job){.call = call, .set = set, .range = range, .w = conv->w, .act = conv->act};
    job->ic = call->in[0].c / conv->groups;
    job->oc = call->out[0].c / conv->groups;
    job->panels = (job->oc + NR - 1) / NR;
    job->panel = ig_gemm_panel(taps, job->ic, NR);
    job->block = block_groups(taps);
    job->whole = conv->act.kind <= IG_CLIP && is_half(&call->out[0]) && (!has_residual(call) || is_half(&call->in[3]));
    job->args.taps = taps;
    job->args.k = job->ic;
    job->args.sums = (float *)scratch;
    cut_pieces(&job->args);
    set_clamp(job);
    job->a = (const uint16_t **)(job->args.sums + MR * NR);
    job->c = (void **)(job->a + (int64_t)job->block * MR * taps);
    job->r = (const void **)(job->c + job->block * MR);
}

/* --- a block's tables --- */

/* The taps of n pixels of output row y from column x on. Those in the padding read the zero pixel. */
static void place(const struct job *job, int32_t y, int32_t x, int32_t n, const uint16_t **slot)
{
    const struct ig_window *w = &job->w;
    const struct ig_operand *in = &job->call->in[0];
    const uint16_t *zero = (const uint16_t *)job->call->zeros;
    for (int32_t ky = 0; ky < w->kh; ky++) {
        int32_t iy = ig_tap(y, w->sh, w->top, ky, w->dh);
        const uint16_t *row = ig_inside(iy, in->h) ? (const uint16_t *)ig_row(in, iy, 2) : NULL;
        for (int32_t kx = 0; kx < w->kw; kx++, slot += MR) {
            int32_t ix = ig_tap(x, w->sw, w->left, kx, w->dw);
            for (int32_t m = 0; m < n; m++, ix += w->sw) slot[m] = row && ig_inside(ix, in->w) ? row + ix * in->pixel_stride : zero;
        }
    }
}

static char *pixel_of(const struct ig_operand *o, int32_t y, int32_t x)
{
    int32_t bytes = is_half(o) ? 2 : 4;
    return (char *)ig_row(o, y, bytes) + x * o->pixel_stride * bytes;
}

/* `count` pixels from number `first` of the range on, as group i of the block. */
static void place_group(struct job *job, int64_t first, int32_t count, int32_t i)
{
    const struct ig_operand *out = &job->call->out[0], *r = has_residual(job->call) ? &job->call->in[3] : NULL;
    int32_t y = job->range.y0 + (int32_t)(first / out->w), x = (int32_t)(first % out->w);
    const uint16_t **a = job->a + i * MR * job->args.taps;
    void **c = job->c + i * MR;
    const void **rows = job->r + i * MR;
    for (int32_t m = 0, n; m < count; m += n, x = 0, y++) {
        n = min32(count - m, out->w - x);
        place(job, y, x, n, a + m);
        for (int32_t k = 0; k < n; k++) {
            c[m + k] = pixel_of(out, y, x + k);
            if (r) rows[m + k] = pixel_of(r, y, x + k);
        }
    }
}

/* --- tiles --- */

/* c = act(sums + r), of channels [lo, hi) of the panel whose first is `channel`; r is in the sums where those begin with it. */
static void finish(const struct job *job, float *sums, int32_t i, int32_t count, int32_t channel, int32_t lo, int32_t hi)
{
    const struct ig_operand *out = &job->call->out[0];
    float room[NR] = {0};
    int32_t n = hi - lo, at = channel + lo;
    for (int32_t m = 0; has_residual(job->call) && !job->whole && m < count; m++) {
        const void *r = job->r[i * MR + m];
        if (is_half(&job->call->in[3])) job->set->widen(room, 0, (const uint16_t *)r + at, 0, n, 1);
        else memcpy(room, (const float *)r + at, (size_t)n * sizeof *room);
        for (int32_t k = 0; k < n; k++) sums[m * NR + lo + k] += room[k];
    }
    if (job->act.kind != IG_NONE) job->set->act(sums, sums, count * NR, &job->act);
    for (int32_t m = 0; m < count; m++) {
        void *c = job->c[i * MR + m];
        if (is_half(out)) job->set->narrow((uint16_t *)c + at, 0, sums + m * NR + lo, 0, n, 1);
        else memcpy((float *)c + at, sums + m * NR + lo, (size_t)n * sizeof *sums);
    }
}

struct part { /* of a panel: its first channel, and of its channels those that are wanted */
    int32_t channel, lo, hi;
};

/* Of panel j of convolution group g. */
static struct part part_of(const struct job *job, int32_t g, int32_t j)
{
    int32_t channel = g * job->oc + j * NR;
    int32_t lo = job->range.c0 > channel ? job->range.c0 - channel : 0;
    return (struct part){channel, lo, min32(min32(NR, job->oc - j * NR), job->range.c1 - channel)};
}

/* The residual of a tile of which not all channels are there, or wanted: of those that are; zeros. */
struct residual {
    uint16_t of[MR][NR];
    const uint16_t *rows[MR];
};

static void copy_residual(const struct job *job, int32_t i, int32_t count, struct part p, struct residual *to)
{
    memset(to->of, 0, sizeof to->of);
    for (int32_t m = 0; m < count; m++) {
        memcpy(to->of[m] + p.lo, (const uint16_t *)job->r[i * MR + m] + p.channel + p.lo, (size_t)(p.hi - p.lo) * sizeof(uint16_t));
        to->rows[m] = to->of[m];
    }
}

/* Group i of `count` pixels by panel j of convolution group g. */
static void tile(struct job *job, int32_t i, int32_t count, int32_t g, int32_t j)
{
    struct ig_half_args args = job->args;
    struct residual residual;
    struct part p = part_of(job, g, j);
    int is_whole = job->whole && p.lo == 0 && p.hi % 8 == 0;
    args.a = job->a + i * MR * args.taps;
    args.a_offset = g * (int64_t)job->ic * (int64_t)sizeof(uint16_t);
    args.b = (const uint16_t *)job->call->weights + (g * (int64_t)job->panels + j) * job->panel;
    args.c = (uint16_t *const *)(job->c + i * MR);
    args.r = job->whole && has_residual(job->call) ? (const uint16_t *const *)(job->r + i * MR) : NULL;
    args.c_offset = args.r_offset = p.channel * (int64_t)sizeof(uint16_t);
    if (!is_whole) args.flags = IG_HALF_GEMM_SUMS;
    if (!is_whole && args.r) {
        copy_residual(job, i, count, p, &residual);
        args.r = residual.rows;
        args.r_offset = 0;
    }
    job->set->fn[p.hi > 8][count - 1](&args);
    if (!is_whole) finish(job, args.sums, i, count, p.channel, p.lo, p.hi);
}

struct groups { /* of the block */
    int32_t n, count, larger; /* so many of `count` pixels, the first `larger` of one more */
    int pixel;                /* there is but one, and no residual: tiles begin with that */
};

static void panel(struct job *job, const struct groups *groups, int32_t g, int32_t j)
{
    for (int32_t i = 0; i < groups->n; i++) tile(job, i, groups->count + (i < groups->larger), g, j);
}

/* The only pixel by panels [j0, j1) of convolution group g. */
static void pixel(const struct job *job, int32_t g, int32_t j0, int32_t j1)
{
    struct ig_half_args args = job->args;
    args.a = job->a;
    args.a_offset = g * (int64_t)job->ic * (int64_t)sizeof(uint16_t);
    for (int32_t j = j0, n; j < j1; j += n) {
        n = j1 - j >= 4 ? 4 : j1 - j >= 2 ? 2 : 1;
        args.b = (const uint16_t *)job->call->weights + (g * (int64_t)job->panels + j) * job->panel;
        job->set->pixel(&args, job->panel, n);
        for (int32_t i = 0; i < n; i++) {
            struct part p = part_of(job, g, j + i);
            finish(job, args.sums + i * NR, 0, 1, p.channel, p.lo, p.hi);
        }
    }
}

/* Weights that a cache holds are gone through for every group of pixels; others once a block. */
static void run_block(struct job *job, const struct groups *groups)
{
    struct ig_range range = job->range;
    int is_far = job->panels * job->panel * (int64_t)sizeof(uint16_t) > IG_GEMM_STREAM_BYTES_NEON;
    for (int32_t g = range.c0 / job->oc; g * job->oc < range.c1; g++) {
        int32_t base = g * job->oc;
        int32_t j0 = range.c0 > base ? (range.c0 - base) / NR : 0;
        int32_t j1 = range.c1 - base < job->oc ? (range.c1 - base + NR - 1) / NR : job->panels;
        if (groups->pixel) {
            pixel(job, g, j0, j1);
            continue;
        }
        for (int32_t j = j0; is_far && j < j1; j++) panel(job, groups, g, j);
        for (int32_t i = 0; !is_far && i < groups->n; i++)
            for (int32_t j = j0; j < j1; j++) tile(job, i, groups->count + (i < groups->larger), g, j);
    }
}

void ig_half_gemm_conv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                       const struct ig_half_set *set)
{
    struct job job;
    int64_t pixels = (int64_t)(range.y1 - range.y0) * call->out[0].w, all = (pixels + MR - 1) / MR, done = 0;
    if (pixels <= 0 || range.c0 >= range.c1) return;
    start(&job, call, conv, range, scratch, set);
    int32_t count = (int32_t)(pixels / all), larger = (int32_t)(pixels - all * count);
    for (int64_t first = 0; first < all; first += job.block) {
        struct groups groups = {min32(job.block, (int32_t)(all - first)), count, larger > first ? (int32_t)(larger - first) : 0,
                                pixels == 1 && !has_residual(call)};
        for (int32_t i = 0; i < groups.n; i++) {
            int32_t n = count + (i < groups.larger);
            place_group(&job, done, n, i);
            done += n;
        }
        run_block(&job, &groups);
    }
}

void ig_half_gemm_fc(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half_set *set)
{
    static const struct ig_window one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    struct ig_conv conv = {one, 1, ((const struct ig_fc *)call->attrs)->act};
    ig_half_gemm_conv(call, &conv, range, scratch, set);
}
