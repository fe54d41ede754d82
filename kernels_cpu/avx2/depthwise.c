/*
 * Depthwise convolution, 8 channels at a time.
 *
 * 3x3: stretches of x by row pairs, which keep the input pixels in L1 while the channels pass over them; the slide
 * itself is depthwise3x3.S.
 * 5 and 7 wide: one kernel row at a time slides along x, its weights and as many partial sums in registers; between
 * kernel rows the sums of a stretch lie in L1.
 * Any window: six outputs of a row at a time, a weight vector is loaded once for the six. Where a window sticks out of the
 * image, as most do whose taps are far apart, a byte for each tap of a kernel row says which of the six outputs have it.
 */
#include "kernels_cpu/avx2/depthwise.h"

#include <stddef.h>

#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/window_rows.h"
#include "kernels_cpu/pack/ask.h"

#define AT(member, offset) (offsetof(struct ig_slide, member) == (offset))
_Static_assert(AT(step, 40) && AT(out, 48) && AT(out_step, 64) && AT(last, 72) && AT(w, 80) && AT(blocks, 88) &&
                   AT(flags, 96) && AT(lo, 100) && AT(hi, 104) && AT(ahead, 112) && AT(out_ahead, 128),
               "depthwise3x3.S knows these offsets");
#undef AT
#define AT(member, offset) (offsetof(struct ig_pass, member) == (offset))
_Static_assert(AT(in_step, 16) && AT(columns, 24) && AT(first, 32) && AT(from, 40) && AT(from_step, 48) &&
                   AT(to, 56) && AT(to_step, 64) && AT(w, 72) && AT(n, 80) && AT(flags, 88) && AT(lo, 92) &&
                   AT(hi, 96),
               "depthwise_pass.S knows these offsets");
#undef AT

enum {
    STRETCH = 28,   /* 3x3: outputs of a row that channels pass over before the next ones, at most */
    WIDE = 30,      /* the same, other windows than 3x3: five times six */
    LINE = 64,      /* bytes of a cache line, and sets of L1 */
    L1_LINES = 512,
    FEW_LINES = 64, /* fewer are too few for what is prefetched */
    SIX = 63,       /* all of six outputs */
    SIXES = (2 * STRETCH + 5) / 6, /* the most of a stretch */
    MOST_KW = 64    /* taps of a kernel row that outputs are computed six at a time with */
};

struct job {
    const struct ig_call *call;
    const struct ig_conv *conv;
    struct ig_range range;
    int64_t block;          /* floats of the packed weights of 8 channels */
    int32_t flags;          /* enum ig_slide_flags: what is done in registers */
    float lo, hi;
    int later;              /* a residual or another activation remains to be done */
    int32_t seen_x;                     /* any window: of the stretch from there, six outputs after six, */
    uint8_t seen[SIXES][MOST_KW];       /* which have tap kx of a kernel row inside the image: bit i: the i-th */
};

static struct job start(const struct ig_call *call, struct ig_range range)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {call, conv, range, 8 * (1 + (int64_t)ig_taps(&conv->w)), 0, 0, 0, 0, -1, {{0}}};
    int residual = call->n_in > 3 && call->in[3].data;
    job.later = residual || conv->act.kind > IG_CLIP;
    if (!job.later && conv->act.kind != IG_NONE) job.flags = IG_SLIDE_LO;
    if (!job.later && conv->act.kind == IG_CLIP) {
        job.flags |= IG_SLIDE_HI;
        job.lo = conv->act.alpha;
        job.hi = conv->act.beta;
    }
    return job;
}

/* Residual and activation over pixels [x0, x1) of output row y. */
static void finish(const struct job *job, int32_t y, int32_t x0, int32_t x1)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    int32_t c0 = job->range.c0, n = job->range.c1 - c0;
    int residual = job->call->n_in > 3 && r->data;
    for (int32_t x = x0; residual && x < x1; x++) {
        float *p = ig_row_f32(out, y) + x * out->pixel_stride + c0;
        const float *q = ig_row_f32(r, y) + x * r->pixel_stride + c0;
        for (int32_t i = 0; i < n; i += 8)
            ig_store_upto8(p + i, _mm256_add_ps(ig_load_upto8(p + i, n - i), ig_load_upto8(q + i, n - i)), n - i);
    }
    float *p = ig_row_f32(out, y) + x0 * out->pixel_stride + c0;
    if (job->conv->act.kind != IG_NONE)
        ig_act_pixels_avx2(p, out->pixel_stride, p, out->pixel_stride, x1 - x0, n, &job->conv->act);
}

static __m256 clamp(const struct job *job, __m256 v)
{
    if (job->flags & IG_SLIDE_LO) v = _mm256_max_ps(_mm256_set1_ps(job->lo), v);
    if (job->flags & IG_SLIDE_HI) v = _mm256_min_ps(_mm256_set1_ps(job->hi), v);
    return v;
}

static const float *weights_of(const struct job *job, int32_t c)
{
    return (const float *)job->call->weights + c / 8 * job->block;
}

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static int32_t max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* --- any window --- */

/* Channels c .. c+7 of one output, n of them there: the taps inside the image. */
static void one_output(const struct job *job, struct ig_window_row at, int32_t y, int32_t x, int32_t c, int32_t n)
{
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    const float *weights = weights_of(job, c);
    __m256 sum = _mm256_load_ps(weights);
    weights += 8;
    for (int32_t k = 0; k < w->kd * w->kh; k++, weights += 8 * w->kw) {
        const float *row = ig_next_row(job->call, w, &at);
        for (int32_t kx = 0; row && kx < w->kw; kx++) {
            int32_t ix = x * w->sw - w->left + kx * w->dw;
            if (ix < 0 || ix >= in->w) continue;
            sum = _mm256_fmadd_ps(ig_load_upto8(row + ix * in->pixel_stride + c, n), _mm256_load_ps(weights + kx * 8), sum);
        }
    }
    ig_store_upto8(ig_row_f32(out, y) + x * out->pixel_stride + c, clamp(job, sum), n);
}

/* Outputs [x, x + n) of a row: which have which tap inside the image. */
static void look(const struct ig_call *call, const struct ig_window *w, int32_t x, int32_t n, uint8_t *seen)
{
    for (int32_t kx = 0; kx < w->kw; kx++) {
        int32_t ix = x * w->sw - w->left + kx * w->dw;
        seen[kx] = 0;
        for (int32_t i = 0; i < n; i++)
            seen[kx] |= (uint8_t)(ig_inside(ix + i * w->sw, call->in[0].w) << i);
    }
}

static void look_along(struct job *job, int32_t x0, int32_t x1)
{
    const struct ig_window *w = &job->conv->w;
    if (job->seen_x == x0 || w->kw > MOST_KW) return;
    for (int32_t x = x0; x < x1; x += 6) look(job->call, w, x, min32(6, x1 - x), job->seen[(x - x0) / 6]);
    job->seen_x = x0;
}

/* One tap of six outputs, of those in `seen`. */
static inline __attribute__((always_inline)) void tap(__m256 sums[2][6], const float *in, int64_t next, const float *weights, int64_t block,
                                                      uint32_t seen, const int blocks, __m256i lanes)
{
    __m256 w0 = _mm256_load_ps(weights), w1 = blocks == 2 ? _mm256_load_ps(weights + block) : w0;
    const float *half = in + 3 * next;
    __asm__("" : "+r"(half)); /* two pointers and a step address all six; GCC would keep five steps, most of them in memory */
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++) {
        const float *p = i < 3 ? in + i * next : half + (i - 3) * next;
        if (!(seen >> i & 1)) continue;
        sums[0][i] = _mm256_fmadd_ps(blocks ? _mm256_loadu_ps(p) : _mm256_maskload_ps(p, lanes), w0, sums[0][i]);
        if (blocks == 2) sums[1][i] = _mm256_fmadd_ps(_mm256_loadu_ps(p + 8), w1, sums[1][i]);
    }
}

/*
 * Outputs [x, x + n) of a row, n <= 6, by so many blocks of 8 channels: two, one, or 0, which is fewer than 8 channels. Those that
 * have a tap are known; none of the others is read.
 */
static inline __attribute__((always_inline)) void six_outputs(const struct job *job, struct ig_window_row at, int32_t y, int32_t x, int32_t n,
                                                              int32_t c, int32_t channels, const uint8_t *seen, const int blocks)
{
    const int sets = blocks == 2 ? 2 : 1;
    const __m256i lanes = ig_mask8(channels);
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    const float *weights = weights_of(job, c);
    int64_t next = w->sw * in->pixel_stride, dilate = w->dw * in->pixel_stride;
    __m256 sums[2][6];
#pragma GCC unroll 2
    for (int b = 0; b < sets; b++)
#pragma GCC unroll 6
        for (int i = 0; i < 6; i++) sums[b][i] = _mm256_load_ps(weights + b * job->block);
    weights += 8;
    for (int32_t k = 0; k < w->kd * w->kh; k++, weights += 8 * w->kw) {
        const float *row = ig_next_row(job->call, w, &at);
        if (!row) continue;
        int64_t from = (x * w->sw - w->left) * in->pixel_stride + c;
        for (int32_t kx = 0; kx < w->kw; kx++, from += dilate) {
            const float *p = row + from;
            if (seen[kx] == SIX)
                tap(sums, p, next, weights + 8 * kx, job->block, SIX, blocks, lanes);
            else if (seen[kx])
                tap(sums, p, next, weights + 8 * kx, job->block, seen[kx], blocks, lanes);
        }
    }
    float *q = ig_row_f32(out, y) + x * out->pixel_stride + c;
#pragma GCC unroll 6
    for (int i = 0; i < 6; i++)
#pragma GCC unroll 2
        for (int b = 0; b < sets; b++) {
            float *to = q + i * out->pixel_stride + 8 * b;
            if (i < n && blocks) _mm256_storeu_ps(to, clamp(job, sums[b][i]));
            if (i < n && !blocks) ig_store_part(to, clamp(job, sums[b][i]), channels);
        }
}

/* Outputs [x0, x1) of a row, any window, channels from c on: 16 if there are so many, or 8, or the last n. Returns how many. */
static int32_t any_row(const struct job *job, int32_t y, int32_t x0, int32_t x1, int32_t c, int32_t n)
{
    const struct ig_window *w = &job->conv->w;
    struct ig_window_row at = ig_first_row(job->call, w, y);
    if (w->kw > MOST_KW) {
        for (int32_t x = x0; x < x1; x++) one_output(job, at, y, x, c, min32(n, 8));
        return 8;
    }
    for (int32_t x = x0; x < x1; x += 6) {
        const uint8_t *seen = job->seen[(x - x0) / 6];
        int32_t outputs = min32(6, x1 - x);
        if (n >= 16)
            six_outputs(job, at, y, x, outputs, c, 16, seen, 2);
        else if (n >= 8)
            six_outputs(job, at, y, x, outputs, c, 8, seen, 1);
        else
            six_outputs(job, at, y, x, outputs, c, n, seen, 0);
    }
    return n >= 16 ? 16 : 8;
}

/* --- 5 or 7 wide --- */

struct passes {
    ig_pass_fn *one, *two;       /* kernel rows at a time; two: NULL if they do not fit the registers */
};

static struct passes passes_of(const struct ig_window *w)
{
    static const struct passes none = {NULL, NULL}, all[2][2] = {
        {{ig_pass_5s1_1row_avx2, ig_pass_5s1_2rows_avx2}, {ig_pass_5s2_1row_avx2, ig_pass_5s2_2rows_avx2}},
        {{ig_pass_7s1_1row_avx2, NULL}, {ig_pass_7s2_1row_avx2, NULL}},
    };
    if (!ig_is_flat(w) || w->dw != 1 || w->sw > 2 || (w->kw != 5 && w->kw != 7)) return none;
    return all[w->kw == 7][w->sw - 1];
}

/* Outputs [x0, x1) of row y, at most WIDE, channels c .. c+7, one or two kernel rows at a time. */
static void slide_row(const struct job *job, struct passes passes, int32_t y, int32_t x0, int32_t x1, int32_t c)
{
    float sums[(WIDE + 8) * 8];
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    const float *weights = weights_of(job, c);
    struct ig_pass p = {.in_step = in->pixel_stride * (int64_t)sizeof(float), .columns = in->w,
                        .first = x0 * w->sw - w->left, .from = weights, .to = sums, .to_step = 8 * sizeof(float),
                        .n = x1 - x0, .lo = job->lo, .hi = job->hi};
    int32_t above = y * w->sh - w->top, ky = above < 0 ? (-above + w->dh - 1) / w->dh : 0;
    int32_t end = min32(w->kh, (in->h - above + w->dh - 1) / w->dh);
    for (int32_t rows; ky < end; ky += rows) {
        rows = passes.two && end - ky >= 2 ? 2 : 1;
        for (int32_t i = 0; i < rows; i++)
            p.in[i] = ig_row_f32(in, above + (ky + i) * w->dh) + p.first * in->pixel_stride + c;
        p.w = weights + 8 * (1 + ky * w->kw);
        if (ky + rows == end) {
            p.to = ig_row_f32(out, y) + x0 * out->pixel_stride + c;
            p.to_step = out->pixel_stride * (int64_t)sizeof(float);
            p.flags = job->flags;
        }
        (rows == 2 ? passes.two : passes.one)(&p);
        p.from = sums;
        p.from_step = 8 * sizeof(float);
    }
}

/* A kernel row that touches the image exists; else only the bias is left, which any_row knows too. */
static int touches(const struct job *job, int32_t y)
{
    const struct ig_window *w = &job->conv->w;
    int32_t above = y * w->sh - w->top, last = above + (w->kh - 1) * w->dh;
    return last >= 0 && above < job->call->in[0].h && (w->dh == 1 || above >= 0);
}

void conv_f32_depthwise8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    struct job job = start(call, range);
    struct passes passes = passes_of(&job.conv->w);
    int32_t width = call->out[0].w;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < width; x += WIDE) {
            int32_t end = min32(x + WIDE, width);
            look_along(&job, x, end);
            for (int32_t c = range.c0, step = 8; c < range.c1; c += step) {
                if (passes.one && range.c1 - c >= 8 && touches(&job, y))
                    slide_row(&job, passes, y, x, end, c);
                else
                    step = any_row(&job, y, x, end, c, range.c1 - c);
            }
            if (job.later) finish(&job, y, x, end);
        }
}

/* --- 3x3 --- */

/*
 * How the work is cut. Eight channels of a pixel are half a cache line, and the next eight channels come a pass later:
 * what a pass reads should still be in L1 then. How many lines that may be depends on how far apart pixels are: of a
 * distance in lines that is a multiple of 2^n, only every 2^n-th set of L1 is used.
 */
static int32_t lines_of_l1(const struct ig_operand *in)
{
    int64_t bytes = in->pixel_stride * (int64_t)sizeof(float), factor = (bytes & -bytes) / LINE;
    return factor < 2 ? L1_LINES : L1_LINES / (int32_t)(factor < LINE ? factor : LINE);
}

enum fetching {
    FETCH_NOTHING,
    FETCH_ROWS,             /* those that the next row pair adds */
    FETCH_LINES             /* the next line of the same pixels, and of the outputs */
};

struct cut {
    int32_t outputs;        /* of a row at a time */
    int32_t channels;       /* at a time */
    enum fetching fetching;
};

/*
 * Where a pixel is an odd number of lines, all sets are used: 16 channels, a line, go down all rows, the next pair's
 * are prefetched. Otherwise that would only drive out what is still needed: all channels pass over a short stretch.
 */
static struct cut cut_of(const struct job *job)
{
    const struct ig_operand *in = &job->call->in[0];
    int32_t lines = lines_of_l1(in), s = job->conv->w.sw, width = job->call->out[0].w;
    struct cut cut = {2 * STRETCH, 16, FETCH_ROWS};
    if (lines < L1_LINES) {
        int32_t most = s == 1 && lines < FEW_LINES ? STRETCH : max32(1, min32(STRETCH, lines / (4 * s * s)));
        int32_t parts = (width - 1) / most + 1;
        cut.outputs = (width + parts - 1) / parts;
        cut.channels = job->range.c1 - job->range.c0;
        cut.fetching = in->pixel_stride <= 32 ? FETCH_ROWS : lines < FEW_LINES ? FETCH_NOTHING : FETCH_LINES;
    }
    return cut;
}

/* What the blocks of a slide prefetch, every second the other half of it: so lines come in evenly. */
static void fetch(const struct job *job, struct ig_slide *s, enum fetching fetching)
{
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    int64_t row = in->row_stride * (int64_t)sizeof(float), out_row = out->row_stride * (int64_t)sizeof(float);
    int32_t stride = job->conv->w.sw;
    if (fetching == FETCH_ROWS) { /* stride 1: rows 2 and 3 of the next pair; stride 2: rows 1 and 3, 2 and 4 */
        s->ahead[0] = stride == 1 ? 3 * row : 4 * row;
        s->ahead[1] = s->ahead[0] + row;
        s->flags |= stride == 1 ? IG_SLIDE_FETCH_ONE : 0;
    } else if (fetching == FETCH_LINES) { /* of rows 1 and 3; stride 1: 0 and 2, stride 2: 2 and 4 */
        s->ahead[0] = LINE;
        s->ahead[1] = LINE / 2 + (stride == 1 ? -row : row);
        s->out_ahead[0] = LINE;
        s->out_ahead[1] = LINE / 2 + out_row;
        s->flags |= IG_SLIDE_FETCH_OUT;
    } else {
        s->flags |= IG_SLIDE_FETCH_ONE;
    }
}

/* Outputs [x0, x1) of rows y and, if rows is 2, y+1; channels [c, c + 8 * blocks). */
static void slide(const struct job *job, int32_t y, int32_t rows, int32_t x0, int32_t x1, int32_t c, int32_t blocks,
                  enum fetching fetching)
{
    static ig_slide_fn *const fn[2][2] = {{ig_slide_1row_s1_avx2, ig_slide_2rows_s1_avx2},
                                          {ig_slide_1row_s2_avx2, ig_slide_2rows_s2_avx2}};
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    int32_t left = x0 * w->sw - w->left, right = (x1 - 1) * w->sw - w->left + 2, top = y * w->sh - w->top;
    int32_t first = max32(left, 0) * (int32_t)in->pixel_stride + c;
    struct ig_slide s = {.step = in->pixel_stride * (int64_t)sizeof(float), .w = weights_of(job, c), .blocks = blocks,
                         .out_step = out->pixel_stride * (int64_t)sizeof(float),
                         .flags = job->flags | (left < 0 ? IG_SLIDE_FIRST : 0) | (right >= in->w ? IG_SLIDE_LAST : 0),
                         .lo = job->lo, .hi = job->hi};
    for (int32_t i = 0; i < 3 + (rows - 1) * w->sh; i++) {
        int inside = top + i >= 0 && top + i < in->h;
        s.in[i] = inside ? ig_row_f32(in, top + i) + first : NULL;
        if (!inside) s.flags |= IG_SLIDE_NO_ROW << i;
    }
    for (int32_t i = 0; i < rows; i++) s.out[i] = ig_row_f32(out, y + i) + x0 * out->pixel_stride + c;
    s.last = (x1 - x0 - 1) * s.out_step;
    fetch(job, &s, fetching);
    fn[w->sw - 1][rows - 1](&s);
}

/* Rows y and y+1 at once? Of their input only the first row or the last may be outside the image. */
static int pairs(const struct job *job, int32_t y)
{
    const struct ig_window *w = &job->conv->w;
    int32_t top = y * w->sh - w->top;
    return y + 1 < job->range.y1 && top >= -1 && top + 1 + w->sh < job->call->in[0].h;
}

/* The job's channels of outputs [x0, x1), its rows two by two. */
static void slide_rows(struct job *job, int32_t x0, int32_t x1, enum fetching fetching)
{
    struct ig_range r = job->range;
    int32_t blocks = (r.c1 - r.c0) / 8, whole = r.c0 + blocks * 8;
    if (whole < r.c1) look_along(job, x0, x1);
    for (int32_t y = r.y0, rows; y < r.y1; y += rows) {
        rows = 1 + pairs(job, y);
        if (blocks) slide(job, y, rows, x0, x1, r.c0, blocks, fetching);
        for (int32_t i = 0; i < rows; i++) {
            if (whole < r.c1) any_row(job, y + i, x0, x1, whole, r.c1 - whole);
            if (job->later) finish(job, y + i, x0, x1);
        }
    }
}

void conv_f32_depthwise3x3__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    struct job job = start(call, range);
    struct cut cut = cut_of(&job);
    int32_t width = call->out[0].w;
    for (int32_t x = 0; x < width; x += cut.outputs)
        for (int32_t c = range.c0; c < range.c1; c += cut.channels) {
            job.range.c0 = c;
            job.range.c1 = min32(c + cut.channels, range.c1);
            slide_rows(&job, x, min32(x + cut.outputs, width), cut.fetching);
        }
}
