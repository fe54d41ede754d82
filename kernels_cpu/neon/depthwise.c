/*
 * Depthwise convolution, any window, 4 channels at a time; y = act(bias + sum over taps x w + residual).
 *
 * Six outputs of a row at a time, a weight vector is loaded once for the six. Outputs whose
 * window sticks out of the image are computed one by one, over the taps that are inside.
 *
 * The chain of an element: bias; the taps, row by row; the residual; the activation.
 */
#include "kernels_cpu/common/window_rows.h"
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

#define INLINE static inline __attribute__((always_inline))

enum { STRETCH = 30 };      /* outputs of a row that all channels pass over before the next ones */

struct job {
    const struct ig_call *call;
    const struct ig_conv *conv;
    struct ig_clamp clamp;
    int64_t block;          /* floats of the packed weights of 8 channels */
    int residual;
};

static struct job start(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {call, conv, ig_act_clamp(&conv->act), 8 * (1 + (int64_t)ig_taps(&conv->w)),
                      call->n_in > 3 && call->in[3].data};
    return job;
}

/* Bias of channels c .. c+3; the taps follow, 8 floats apart. */
static const float *weights_of(const struct job *job, int32_t c)
{
    return (const float *)job->call->weights + c / 8 * job->block + c % 8;
}

static float *output_of(const struct job *job, int32_t y, int32_t x, int32_t c)
{
    const struct ig_operand *out = &job->call->out[0];
    return ig_row_f32(out, y) + x * out->pixel_stride + c;
}

static const float *residual_of(const struct job *job, int32_t y, int32_t x, int32_t c)
{
    const struct ig_operand *r = &job->call->in[3];
    return job->residual ? ig_row_f32(r, y) + x * r->pixel_stride + c : NULL;
}

/* The activations that are no clamp, over pixels [x0, x1) of row y. */
static void activate(const struct job *job, struct ig_range range, int32_t y, int32_t x0, int32_t x1)
{
    for (int32_t x = x0; x < x1; x++) {
        float *p = output_of(job, y, x, range.c0);
        ig_act_row_neon(p, p, range.c1 - range.c0, &job->conv->act);
    }
}

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

struct span {
    int32_t begin, end;
};

/* The outputs of a row whose columns are all inside the image. */
static struct span columns_inside(const struct job *job)
{
    const struct ig_window *w = &job->conv->w;
    int32_t room = job->call->in[0].w - (w->kw - 1) * w->dw + w->left;
    struct span span = {w->left > 0 ? (w->left + w->sw - 1) / w->sw : 0,
                        room > 0 ? (room - 1) / w->sw + 1 : 0};
    return span;
}

INLINE float32x4_t load(const float *p, int32_t n)
{
    return n == 4 ? vld1q_f32(p) : ig_load_part(p, n);
}

INLINE void finish(struct ig_clamp clamp, float *p, const float *r, float32x4_t sum, int32_t n)
{
    if (__builtin_expect(r != NULL, 0)) sum = vaddq_f32(sum, load(r, n));
    sum = ig_clamp4(sum, &clamp);
    if (n == 4)
        vst1q_f32(p, sum);
    else
        ig_store_part(p, sum, n);
}

/* Channels c .. c+3 of one output, n of them there: the taps inside the image. */
static void one_output(const struct job *job, struct ig_window_row at, int32_t y, int32_t x, int32_t c, int32_t n)
{
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0];
    const float *weights = weights_of(job, c);
    float32x4_t sum = vld1q_f32(weights);
    weights += 8;
    for (int32_t k = 0; k < w->kd * w->kh; k++, weights += 8 * w->kw) {
        const float *row = ig_next_row(job->call, w, &at);
        for (int32_t kx = 0; row && kx < w->kw; kx++) {
            int32_t ix = x * w->sw - w->left + kx * w->dw;
            if (ix < 0 || ix >= in->w) continue;
            sum = vfmaq_f32(sum, load(row + ix * in->pixel_stride + c, n), vld1q_f32(weights + kx * 8));
        }
    }
    finish(job->clamp, output_of(job, y, x, c), residual_of(job, y, x, c), sum, n);
}

/* Six outputs whose columns are all inside the image, 4 channels. */
static void six_outputs(const struct job *job, struct ig_window_row at, int32_t y, int32_t x, int32_t c)
{
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0];
    const float *weights = weights_of(job, c);
    float32x4_t bias = vld1q_f32(weights), s0 = bias, s1 = bias, s2 = bias, s3 = bias, s4 = bias, s5 = bias;
    int64_t next = w->sw * in->pixel_stride, dilate = w->dw * in->pixel_stride;
    weights += 8;
    for (int32_t k = 0; k < w->kd * w->kh; k++, weights += 8 * w->kw) {
        const float *row = ig_next_row(job->call, w, &at);
        if (!row) continue;
        const float *p = row + (x * w->sw - w->left) * in->pixel_stride + c;
        for (int32_t kx = 0; kx < w->kw; kx++, p += dilate) {
            float32x4_t v = vld1q_f32(weights + 8 * kx);
            s0 = vfmaq_f32(s0, vld1q_f32(p), v);
            s1 = vfmaq_f32(s1, vld1q_f32(p + next), v);
            s2 = vfmaq_f32(s2, vld1q_f32(p + 2 * next), v);
            s3 = vfmaq_f32(s3, vld1q_f32(p + 3 * next), v);
            s4 = vfmaq_f32(s4, vld1q_f32(p + 4 * next), v);
            s5 = vfmaq_f32(s5, vld1q_f32(p + 5 * next), v);
        }
    }
    const float32x4_t sums[6] = {s0, s1, s2, s3, s4, s5};
    for (int32_t i = 0; i < 6; i++)
        finish(job->clamp, output_of(job, y, x + i, c), residual_of(job, y, x + i, c), sums[i], 4);
}

/* Outputs [x0, x1) of a row, n <= 4 channels from c. */
static void any_row(const struct job *job, int32_t y, int32_t x0, int32_t x1, int32_t c, int32_t n)
{
    struct span inside = columns_inside(job);
    struct ig_window_row at = ig_first_row(job->call, &job->conv->w, y);
    int32_t x = x0;
    for (; x < x1 && x < inside.begin; x++) one_output(job, at, y, x, c, n);
    for (; n == 4 && x + 6 <= min32(x1, inside.end); x += 6) six_outputs(job, at, y, x, c);
    for (; x < x1; x++) one_output(job, at, y, x, c, n);
}

void conv_f32_depthwise4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct job job = start(call);
    int32_t width = call->out[0].w;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < width; x += STRETCH) {
            int32_t end = min32(x + STRETCH, width);
            for (int32_t c = range.c0; c < range.c1; c += 4)
                any_row(&job, y, x, end, c, min32(4, range.c1 - c));
            if (job.clamp.later) activate(&job, range, y, x, end);
        }
}
