/*
 * Depthwise 3x3: four output rows at a time, and within them stretches of x that keep the input pixels' lines in L1
 * while all channels pass over them, a quad after the other; the slide itself is depthwise3x3.S.
 */
#include <stddef.h>

#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/depthwise.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

#define AT(member, offset) (offsetof(struct ig_slide, member) == (offset))
_Static_assert(AT(step, 72) && AT(back, 144) && AT(out, 216) && AT(out_step, 248) && AT(out_back, 256) &&
                   AT(w, 264) && AT(quads, 272) && AT(loops, 280) && AT(rest, 288) && AT(flags, 296) &&
                   AT(lo, 300) && AT(hi, 304),
               "depthwise3x3.S knows these offsets");

enum {
    STRETCH = 28,       /* outputs of a row that all channels pass over before the next ones */
    QUAD = 4 * (1 + 9)  /* floats of the packed weights of four channels */
};

struct job {
    const struct ig_call *call;
    const struct ig_window *w;
    const struct ig_act *act;
    struct ig_range range;
    float lo, hi;           /* -inf, inf: none */
    int residual, later;    /* later: a residual or another activation remains to be done */
};

static struct job start(const struct ig_call *call, struct ig_range range)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    float inf = __builtin_inff();
    struct job job = {call, &conv->w, &conv->act, range, -inf, inf, call->n_in > 3 && call->in[3].data, 0};
    job.later = job.residual || conv->act.kind > IG_CLIP;
    if (job.later) return job;
    if (conv->act.kind == IG_RELU) job.lo = 0;
    if (conv->act.kind == IG_CLIP) {
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
    for (int32_t x = x0; x < x1; x++) {
        float *p = ig_row_f32(out, y) + x * out->pixel_stride + c0;
        if (job->residual) {
            const float *q = ig_row_f32(r, y) + x * r->pixel_stride + c0;
            for (int32_t i = 0; i < n; i += 4)
                ig_store_upto4(p + i, vaddq_f32(ig_load_upto4(p + i, n - i), ig_load_upto4(q + i, n - i)), n - i);
        }
        if (job->act->kind != IG_NONE) ig_act_row_neon(p, p, n, job->act);
    }
}

/* The last n < 4 channels, from c on, of one output: the chain of the slide. */
static void lone_output(const struct job *job, int32_t y, int32_t x, int32_t c, int32_t n)
{
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    const float *weights = (const float *)job->call->weights + c / 4 * QUAD;
    float32x4_t sum = vld1q_f32(weights);
    for (int32_t kx = 0; kx < 3; kx++) {
        int32_t ix = x * job->w->sw - job->w->left + kx;
        if (ix < 0 || ix >= in->w) continue;
        for (int32_t ky = 0; ky < 3; ky++) {
            int32_t iy = y * job->w->sh - job->w->top + ky;
            if (iy < 0 || iy >= in->h) continue;
            sum = vfmaq_f32(sum, ig_load_part(ig_row_f32(in, iy) + ix * in->pixel_stride + c, n),
                            vld1q_f32(weights + 4 + (ky * 3 + kx) * 4));
        }
    }
    sum = vminq_f32(vmaxq_f32(sum, vdupq_n_f32(job->lo)), vdupq_n_f32(job->hi));
    ig_store_part(ig_row_f32(out, y) + x * out->pixel_stride + c, sum, n);
}

/* The slide's rows and columns: outputs [x0, x1) of rows [y, y + rows), from the range's first channel on. */
static void aim(const struct job *job, struct ig_slide *s, int32_t y, int32_t rows, int32_t x0, int32_t x1)
{
    const struct ig_window *w = job->w;
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    int32_t left = x0 * w->sw - w->left, right = (x1 - 1) * w->sw - w->left + 2, n = x1 - x0;
    int32_t first = left < 0 ? 0 : left, columns = (right < in->w ? right + 1 : in->w) - first;
    for (int32_t i = 0; i < 3 + (rows - 1) * w->sh; i++) {
        int32_t iy = y * w->sh - w->top + i;
        int inside = iy >= 0 && iy < in->h;
        s->in[i] = inside ? ig_row_f32(in, iy) + first * in->pixel_stride + job->range.c0
                          : (const float *)job->call->zeros;
        s->step[i] = inside ? in->pixel_stride * (int64_t)sizeof(float) : 0;
        s->back[i] = 16 - s->step[i] * columns;
    }
    for (int32_t i = 0; i < rows; i++)
        s->out[i] = ig_row_f32(out, y + i) + x0 * out->pixel_stride + job->range.c0;
    s->out_step = out->pixel_stride * (int64_t)sizeof(float);
    s->out_back = 16 - s->out_step * n;
    s->loops = w->sw == 1 ? (n - 2) / 3 : (n - 1) / 2;
    s->rest = w->sw == 1 ? (n > 1 ? (n - 2) % 3 : -1) : (n - 1) % 2;
    s->flags = (left < 0 ? IG_SLIDE_FIRST : 0) | (right >= in->w ? IG_SLIDE_LAST : 0) |
               (job->hi < __builtin_inff() ? IG_SLIDE_HI : 0);
}

void conv_f32_depthwise3x3__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static ig_slide_fn *const fn[2][IG_SLIDE_ROWS] = {
        {ig_slide_1s1_neon, ig_slide_2s1_neon, ig_slide_3s1_neon, ig_slide_4s1_neon},
        {ig_slide_1s2_neon, ig_slide_2s2_neon, ig_slide_3s2_neon, ig_slide_4s2_neon}};
    struct job job = start(call, range);
    int32_t width = call->out[0].w, quads = (range.c1 - range.c0) / 4, whole = range.c0 + 4 * quads;
    struct ig_slide s = {.w = (const float *)call->weights + range.c0 / 4 * QUAD, .quads = quads, .lo = job.lo,
                         .hi = job.hi};
    (void)scratch;
    for (int32_t y = range.y0, rows; y < range.y1; y += rows) {
        rows = range.y1 - y < IG_SLIDE_ROWS ? range.y1 - y : IG_SLIDE_ROWS;
        for (int32_t x = 0, end; x < width; x = end) {
            end = x + STRETCH < width ? x + STRETCH : width;
            aim(&job, &s, y, rows, x, end);
            if (quads) fn[job.w->sw - 1][rows - 1](&s);
            for (int32_t i = 0; i < rows; i++) {
                for (int32_t lone = x; whole < range.c1 && lone < end; lone++)
                    lone_output(&job, y + i, lone, whole, range.c1 - whole);
                if (job.later) finish(&job, y + i, x, end);
            }
        }
    }
}
