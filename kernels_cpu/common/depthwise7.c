/* Stretches of a row by channels by rows, so that the input rows of a stretch stay in L1 from one output row to the next. */
#include "kernels_cpu/common/depthwise7.h"

#include <string.h>

enum { SEVEN = 7, MOST_K = 7 };

struct job {
    const struct ig_call *call;
    const struct ig_conv *conv;
    const struct ig_depthwise7_set *set;
    ig_direct_fn *wide, *narrow; /* two vectors, one */
    struct ig_direct d;
    int later;                   /* a residual or another activation remains to be done */
    float *copy;                 /* input rows, slot = row mod kh; NULL: they are read where they are */
    int64_t pitch, columns;      /* of the copy: floats from a pixel to the next; pixels of a row */
    int32_t copied;              /* rows below this one are there */
};

static int64_t min64(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct job start(const struct ig_call *call, const struct ig_depthwise7_set *set)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    ig_direct_fn *const *fn = set->fn[conv->w.kw / 2 - 1][conv->w.sw - 1];
    struct job job = {.call = call, .conv = conv, .set = set, .narrow = fn[0], .wide = fn[1]};
    int64_t bytes = sizeof(float);
    job.later = (call->n_in > 3 && call->in[3].data) || conv->act.kind > IG_CLIP;
    job.d.w_block = set->lanes * bytes * (1 + conv->w.kh * conv->w.kw);
    job.d.column = call->in[0].pixel_stride * bytes;
    job.d.out_step = call->out[0].pixel_stride * bytes;
    if (!job.later && conv->act.kind != IG_NONE) job.d.flags = IG_DIRECT_LO;
    if (!job.later && conv->act.kind == IG_CLIP) {
        job.d.flags |= IG_DIRECT_HI;
        job.d.lo = conv->act.alpha;
        job.d.hi = conv->act.beta;
    }
    return job;
}

/* ig_direct.outside of outputs [x0, x0 + n). */
static uint32_t outside(const struct job *job, int32_t x0, int32_t n)
{
    const struct ig_window *w = &job->conv->w;
    int32_t pad = w->kw / 2, last = (SEVEN - 1) * w->sw + w->kw - 1;
    uint32_t mask = 0;
    for (int32_t b = 0; b * SEVEN < n; b++) {
        int32_t x = b * SEVEN < n - SEVEN ? b * SEVEN : n - SEVEN, left = (x0 + x) * w->sw - w->left;
        for (int32_t i = 0; i < pad; i++) {
            if (left + i < 0) mask |= 1u << (8 * b + i);
            if (left + last - i >= job->call->in[0].w) mask |= 1u << (8 * b + pad + i);
        }
    }
    return mask;
}

/* Input rows up to `end`, from column `left` on, what of them is inside the image; channels [c0, c1). */
static void copy_rows(struct job *job, int32_t begin, int32_t end, int32_t left, int32_t c0, int32_t c1)
{
    const struct ig_operand *in = &job->call->in[0];
    int64_t from = left < 0 ? -left : 0, to = in->w - left < job->columns ? in->w - left : job->columns;
    for (int32_t y = job->copied > begin ? job->copied : begin; y < end; y++) {
        const float *row = ig_row_f32(in, y) + left * in->pixel_stride + c0;
        float *dst = job->copy + y % job->conv->w.kh * job->columns * job->pitch;
        for (int64_t x = from; x < to; x++)
            memcpy(dst + x * job->pitch, row + x * in->pixel_stride, (size_t)(c1 - c0) * sizeof *dst);
    }
    job->copied = end;
}

/* Outputs [x0, x0 + n) of row y, channels [c0, c1). */
static void stretch(struct job *job, int32_t y, int32_t x0, int32_t c0, int32_t c1)
{
    const float *rows[MOST_K];
    const struct ig_window *w = &job->conv->w;
    const struct ig_operand *in = &job->call->in[0], *out = &job->call->out[0];
    struct ig_direct *d = &job->d;
    int32_t top = y * w->sh - w->top, left = x0 * w->sw - w->left, ky = top < 0 ? -top : 0;
    int32_t end = in->h - top < w->kh ? in->h - top : w->kh, lanes = job->set->lanes;
    d->rows = rows;
    d->n_rows = end > ky ? end - ky : 0;
    if (job->copy && d->n_rows) copy_rows(job, top + ky, top + end, left, c0, c1);
    for (int32_t i = 0; i < (int32_t)d->n_rows; i++)
        rows[i] = job->copy ? job->copy + (top + ky + i) % w->kh * job->columns * job->pitch
                            : ig_row_f32(in, top + ky + i) + left * in->pixel_stride + c0;
    d->w = (const float *)job->call->weights + c0 / lanes * (d->w_block / (int64_t)sizeof(float));
    d->w_row = lanes * (int64_t)sizeof(float) * (1 + ky * w->kw);
    d->out = ig_row_f32(out, y) + x0 * out->pixel_stride + c0;
    d->blocks = (c1 - c0) / (2 * lanes);
    if (d->blocks) job->wide(d);
    int32_t step = (int32_t)d->blocks * 2 * lanes;
    d->blocks = 1;
    for (c0 += step; c0 < c1; c0 += step) {
        for (int64_t i = 0; i < d->n_rows; i++) rows[i] += step;
        d->w += step / lanes * (d->w_block / (int64_t)sizeof(float));
        d->out += step;
        d->channels = min64(lanes, c1 - c0);
        job->narrow(d);
        step = lanes;
    }
}

/* Residual and activation. */
static void finish(const struct job *job, int32_t y, int32_t x0, int32_t n, int32_t c0, int32_t c1)
{
    const struct ig_operand *out = &job->call->out[0], *r = &job->call->in[3];
    float *p = ig_row_f32(out, y) + x0 * out->pixel_stride + c0;
    if (job->call->n_in > 3 && r->data) {
        const float *q = ig_row_f32(r, y) + x0 * r->pixel_stride + c0;
        for (int32_t x = 0; x < n; x++)
            for (int32_t i = 0; i < c1 - c0; i++) p[x * out->pixel_stride + i] += q[x * r->pixel_stride + i];
    }
    if (job->conv->act.kind != IG_NONE)
        job->set->act(p, out->pixel_stride, p, out->pixel_stride, n, c1 - c0, &job->conv->act);
}

/* Outputs [x, x + n) of all rows. */
static void part_of_row(struct job *job, struct ig_range range, int32_t x, int32_t n)
{
    int32_t group = ig_depthwise7_group(job->call, n);
    job->d.n = n;
    job->d.outside = outside(job, x, n);
    job->columns = ig_depthwise7_columns(job->call, n);
    if (job->copy) {
        job->pitch = ig_depthwise7_pitch(group);
        job->d.column = job->pitch * (int64_t)sizeof(float);
    }
    for (int32_t c = range.c0, end; c < range.c1; c = end) {
        end = range.c1 - c < group ? range.c1 : c + group;
        job->copied = 0;
        for (int32_t y = range.y0; y < range.y1; y++) {
            stretch(job, y, x, c, end);
            if (job->later) finish(job, y, x, n, c, end);
        }
    }
}

void ig_depthwise7(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_depthwise7_set *set)
{
    struct job job = start(call, set);
    int32_t width = call->out[0].w, parts = (width + IG_DEPTHWISE7_STRETCH - 1) / IG_DEPTHWISE7_STRETCH;
    if (ig_depthwise7_copies(call)) job.copy = (float *)scratch;
    for (int32_t i = 0, x = 0; i < parts; i++, x += (int32_t)job.d.n)
        part_of_row(&job, range, x, width / parts + (i < width % parts));
}
