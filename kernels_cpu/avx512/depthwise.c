/*
 * Depthwise convolution of any window up to 64 wide, over up to three dims: 16 channels of fourteen outputs of a row, or of seven, and of as many in
 * the row below where both rows of windows meet the same rows of the image but one. Each output is a register of sums, 28 of them; a tap loads its
 * weights once for all outputs of a row, and a pixel once for both rows. Where windows stick out of the image, a bit for each output and tap of a
 * kernel row says whether it is inside. 16 channels of a stretch of outputs go down all rows. The same sums in the same order as AVX2's, so the same
 * bits.
 */
#include <immintrin.h>

#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/common/depthwise_any.h"
#include "kernels_cpu/common/window_rows.h"

#define INLINE static inline __attribute__((always_inline))

enum {
    LANES = IG_DEPTHWISE_ANY_LANES,
    FEW = IG_DEPTHWISE_ANY_FEW, MANY = 2 * FEW, /* outputs side by side */
    STRETCH = IG_DEPTHWISE_ANY_STRETCH,         /* the most outputs of a row that go down all rows together */
    GROUPS = STRETCH / FEW
};

struct group {                               /* of outputs side by side */
    int32_t x, n;                            /* from x on: MANY or FEW */
    int32_t from, to;                        /* taps of a kernel row that are inside the image for all of them */
    uint16_t seen[IG_DEPTHWISE_ANY_TAPS];    /* bit i: the tap is, for the i-th */
};

struct kernel_row {
    const float *pixels;  /* at the stretch's first output's first column, inside the image or not */
    int64_t weights[2];   /* floats from the bias to its weights, of the outputs' first row and the second; 0: it has none of these */
};

struct job {
    const struct ig_call *call;
    const struct ig_conv *conv;
    int clamps;              /* bounds, which may be infinite, are the activation */
    __m512 lo, hi;
    int pairs;               /* two rows of outputs at once, whose windows are a row apart */
    int later;               /* a residual or another activation remains to be done */
    int32_t x;               /* the stretch's first output */
    int32_t n_groups, n_rows;
    struct group groups[GROUPS];
    struct kernel_row rows[IG_DEPTHWISE_ANY_TAPS + 1];
    int64_t pixel;           /* floats from one to the next, in these */
    float *ring;             /* input rows' copies; NULL: they are read where they are */
    int32_t ring_rows, columns;
    int32_t copied;          /* rows below this one are in the ring, or left it */
};

static struct job start(const struct ig_call *call, void *scratch)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {.call = call, .conv = conv, .later = (call->n_in > 3 && call->in[3].data) || conv->act.kind > IG_CLIP};
    job.clamps = !job.later && conv->act.kind != IG_NONE;
    job.lo = _mm512_set1_ps(conv->act.kind == IG_CLIP ? conv->act.alpha : 0);
    job.hi = _mm512_set1_ps(conv->act.kind == IG_CLIP ? conv->act.beta : __builtin_inff());
    job.pairs = ig_depthwise_any_pairs(&conv->w);
    job.ring = ig_depthwise_any_copies(call) ? (float *)scratch : NULL;
    job.ring_rows = ig_depthwise_any_rows(&conv->w);
    job.pixel = job.ring ? LANES : call->in[0].pixel_stride;
    return job;
}

/* Of kernel row k: floats behind the bias. */
static int64_t weights_row(const struct ig_window *w, int32_t k)
{
    return LANES * (1 + (int64_t)k * w->kw);
}

static const float *weights_of(const struct job *job, int32_t c)
{
    return (const float *)job->call->weights + (int64_t)c * (1 + ig_taps(&job->conv->w));
}

static struct group group_of(const struct job *job, int32_t x, int32_t n)
{
    const struct ig_window *w = &job->conv->w;
    const uint16_t all = (uint16_t)((1 << n) - 1);
    struct group g = {.x = x, .n = n};
    for (int32_t kx = 0; kx < w->kw; kx++) {
        for (int32_t i = 0; i < n; i++)
            g.seen[kx] |= (uint16_t)(ig_inside((x + i) * w->sw - w->left + kx * w->dw, job->call->in[0].w) << i);
        if (g.seen[kx] != all) continue;
        if (!g.to) g.from = kx;
        g.to = kx + 1;
    }
    return g;
}

/* Outputs [x, x + n) of a row, n >= FEW; the last group goes back. */
static void group_outputs(struct job *job, int32_t x, int32_t n)
{
    job->x = x;
    job->columns = ig_depthwise_any_columns(&job->conv->w, n);
    job->n_groups = 0;
    for (int32_t i = 0, some; i < n; i += some) {
        some = n >= MANY && n - i > FEW ? MANY : FEW;
        job->groups[job->n_groups++] = group_of(job, x + (n - i < some ? n - some : i), some);
    }
}

/* Pixel i of n that lie `next` floats apart, from `in` on, which goes on with every third; in order. */
INLINE __m512 pixel(const float **in, int64_t next, int i, __mmask16 lanes, const int whole)
{
    const float *p = *in + i % 3 * next;
    if (i % 3 == 2) {
        *in += 3 * next;
        __asm__("" : "+r"(*in)); /* a pointer for each three; GCC would keep as many steps as pixels, most of them in memory */
    }
    return whole ? _mm512_loadu_ps(p) : _mm512_maskz_loadu_ps(lanes, p);
}

/* A tap of n outputs, of those in `seen`, in one row or, with weights of its own, in the row below it, too. */
INLINE void tap(__m512 (*sums)[MANY], const float *in, int64_t next, const float *w0, const float *w1, uint32_t seen, const int n, __mmask16 lanes,
                const int whole)
{
    const __m512 a = w0 ? _mm512_load_ps(w0) : _mm512_setzero_ps(), b = w1 ? _mm512_load_ps(w1) : a;
#pragma GCC unroll 14
    for (int i = 0; i < n; i++) {
        if (!(seen >> i & 1)) {
            in += i % 3 == 2 ? 3 * next : 0;
            continue;
        }
        const __m512 x = pixel(&in, next, i, lanes, whole);
        if (w0) sums[0][i] = _mm512_fmadd_ps(x, a, sums[0][i]);
        if (w1) sums[1][i] = _mm512_fmadd_ps(x, b, sums[1][i]);
    }
}

/* A kernel row of n outputs of one row or two. */
INLINE void taps(const struct job *job, const struct group *g, __m512 (*sums)[MANY], const float *row, const float *w0, const float *w1, const int n,
                 __mmask16 lanes, const int whole)
{
    const struct ig_window *w = &job->conv->w;
    const int64_t next = w->sw * job->pixel, dilate = w->dw * job->pixel;
    for (int32_t kx = 0; kx < w->kw; kx++, row += dilate) {
        const float *a = w0 ? w0 + LANES * kx : NULL, *b = w1 ? w1 + LANES * kx : NULL;
        if (kx >= g->from && kx < g->to) tap(sums, row, next, a, b, (1 << n) - 1, n, lanes, whole);
        else tap(sums, row, next, a, b, g->seen[kx], n, lanes, whole);
    }
}

/* A group of n outputs of row y and, if `rows` is 2, of the row below it; channels c.., as many as `lanes`; from the job's kernel rows. */
INLINE void group_rows(const struct job *job, const struct group *g, int32_t y, int32_t c, __mmask16 lanes, const int n, const int whole,
                       const int rows)
{
    const struct ig_operand *out = &job->call->out[0];
    const int64_t from = (g->x - job->x) * job->conv->w.sw * job->pixel;
    const float *bias = weights_of(job, c);
    __m512 sums[2][MANY];
#pragma GCC unroll 14
    for (int i = 0; i < n; i++) sums[0][i] = sums[1][i] = _mm512_load_ps(bias);
    for (const struct kernel_row *k = job->rows; k < job->rows + job->n_rows; k++) {
        if (rows == 2 && k->weights[0] && k->weights[1])
            taps(job, g, sums, k->pixels + from, bias + k->weights[0], bias + k->weights[1], n, lanes, whole);
        else if (k->weights[0]) taps(job, g, sums, k->pixels + from, bias + k->weights[0], NULL, n, lanes, whole);
        else if (rows == 2) taps(job, g, sums, k->pixels + from, NULL, bias + k->weights[1], n, lanes, whole);
    }
#pragma GCC unroll 2
    for (int r = 0; r < rows; r++) {
        float *to = ig_row_f32(out, y + r) + g->x * out->pixel_stride + c;
#pragma GCC unroll 14
        for (int i = 0; i < n; i++) {
            if (job->clamps) sums[r][i] = _mm512_min_ps(job->hi, _mm512_max_ps(job->lo, sums[r][i]));
            _mm512_mask_storeu_ps(to + i * out->pixel_stride, lanes, sums[r][i]);
        }
    }
}

/* The same, `rows` known. */
INLINE void some_rows(const struct job *job, const struct group *g, int32_t y, int32_t c, __mmask16 lanes, const int whole, const int rows)
{
    if (g->n == MANY) group_rows(job, g, y, c, lanes, MANY, whole, rows);
    else group_rows(job, g, y, c, lanes, FEW, whole, rows);
}

/* An input row of the stretch, channels c.., as many as `lanes`, in its place of the ring; made if it is not there yet. */
static const float *copied_row(struct job *job, int32_t y, int32_t c, __mmask16 lanes)
{
    const struct ig_operand *in = &job->call->in[0];
    const int32_t left = job->x * job->conv->w.sw - job->conv->w.left;
    const int32_t first = left < 0 ? -left : 0, end = in->w - left < job->columns ? in->w - left : job->columns;
    float *to = job->ring + y % job->ring_rows * job->columns * LANES;
    if (y < job->copied) return to;
    const float *from = ig_row_f32(in, y) + left * in->pixel_stride + c;
    for (int32_t i = first; i < end; i++) _mm512_store_ps(to + i * LANES, _mm512_maskz_loadu_ps(lanes, from + i * in->pixel_stride));
    job->copied = y + 1;
    return to;
}

/* The kernel rows, inside the image, of output row y and, if `rows` is 2, of the row below it; channels c.. of them. */
static void find_rows(struct job *job, int32_t y, int32_t rows, int32_t c, __mmask16 lanes)
{
    const struct ig_operand *in = &job->call->in[0];
    struct ig_window w = job->conv->w;
    const int32_t n = w.kd * w.kh;
    w.kh += rows - 1;
    struct ig_window_row at = ig_first_row(job->call, &w, y);
    job->n_rows = 0;
    for (int32_t k = 0; k < n + rows - 1; k++) {
        const int32_t in_y = at.y;
        const float *row = ig_next_row(job->call, &w, &at);
        if (!row) continue;
        row = job->ring ? copied_row(job, in_y, c, lanes) : row + (job->x * w.sw - w.left) * in->pixel_stride + c;
        job->rows[job->n_rows++] = (struct kernel_row){row, {k < n ? weights_row(&w, k) : 0, rows == 2 && k ? weights_row(&w, k - 1) : 0}};
    }
}

/* Residual and activation of channels [c, c + n) of outputs [x, x + pixels) of row y. */
static void finish(const struct job *job, int32_t y, int32_t x, int32_t pixels, int32_t c, int32_t n)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    float *p = ig_row_f32(out, y) + x * out->pixel_stride + c;
    if (job->call->n_in > 3 && r->data) {
        const float *q = ig_row_f32(r, y) + x * r->pixel_stride + c;
        for (int32_t i = 0; i < pixels; i++)
            for (int32_t k = 0; k < n; k++) p[i * out->pixel_stride + k] += q[i * r->pixel_stride + k];
    }
    if (job->conv->act.kind != IG_NONE) ig_act_pixels_avx512(p, out->pixel_stride, p, out->pixel_stride, pixels, n, &job->conv->act);
}

/* Outputs [x, x + n) of all rows. */
static void part_of_row(struct job *job, struct ig_range range, int32_t x, int32_t n)
{
    group_outputs(job, x, n);
    for (int32_t c = range.c0; c < range.c1; c += LANES) {
        const int32_t channels = range.c1 - c < LANES ? range.c1 - c : LANES;
        const __mmask16 lanes = ig_mask16(channels);
        const int whole = channels == LANES || job->ring;
        job->copied = 0;
        for (int32_t y = range.y0, rows; y < range.y1; y += rows) {
            rows = job->pairs && y + 1 < range.y1 ? 2 : 1;
            find_rows(job, y, rows, c, lanes);
            for (const struct group *g = job->groups; g < job->groups + job->n_groups; g++) {
                if (rows == 2 && whole) some_rows(job, g, y, c, lanes, 1, 2);
                else if (rows == 2) some_rows(job, g, y, c, lanes, 0, 2);
                else if (whole) some_rows(job, g, y, c, lanes, 1, 1);
                else some_rows(job, g, y, c, lanes, 0, 1);
            }
            for (int32_t i = 0; job->later && i < rows; i++) finish(job, y + i, x, n, c, channels);
        }
    }
}

void conv_f32_depthwise16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct job job = start(call, scratch);
    const int32_t width = call->out[0].w, parts = (width + STRETCH - 1) / STRETCH;
    for (int32_t i = 0, x = 0, n; i < parts; i++, x += n) {
        n = width / parts + (i < width % parts);
        part_of_row(&job, range, x, n);
    }
}
