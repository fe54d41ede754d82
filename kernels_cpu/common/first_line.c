/*
 * First layer, the common kernel sizes: input rows are copied once into a ring of kh rows that stand between zeros,
 * then each output row is one call of an ISA's first_line.S per 16 channels. Where an image's pixels lie without gaps
 * and all rows of the window are inside, only a few outputs at either end read such copies, the others the image.
 */
#include "kernels_cpu/common/first_line.h"

#include <stddef.h>
#include <string.h>

#include "kernels_cpu/common/first_rows.h"

#define AT(member, offset) (offsetof(struct ig_first_line, member) == (offset))
_Static_assert(AT(w, 8) && AT(out, 16) && AT(out_step, 24) && AT(n, 32) && AT(flags, 40) && AT(lo, 44) && AT(hi, 48),
               "first_line.S knows these offsets");

enum {
    NR = 16,
    LINE = 16,
    MOST_KH = 7,
    PART = 12 /* pixels at a time of a panel that the output has only a part of */
};

struct job {
    const struct ig_call *call;
    struct ig_range range;
    const struct ig_first_line_set *set;
    float *ring; /* [kh][pitch] */
    int64_t pitch;
    struct ig_first_line line;
};

static const struct ig_conv *conv_of(const struct job *job)
{
    return (const struct ig_conv *)job->call->attrs;
}

static int start_clamp(struct ig_first_line *line, const struct ig_act *act)
{
    if (act->kind != IG_NONE && act->kind != IG_RELU && act->kind != IG_CLIP) return 0;
    if (act->kind != IG_NONE) line->flags = IG_GEMM_LO;
    if (act->kind == IG_CLIP) {
        line->flags |= IG_GEMM_HI;
        line->lo = act->alpha;
        line->hi = act->beta;
    }
    return 1;
}

/* The first n channels of a panel, pieces of line.n outputs by way of a tile. */
static void part_of_panel(const struct job *job, struct ig_first_line line, ig_first_line_fn *fn, int32_t n)
{
    float tile[PART * NR];
    const float *rows[MOST_KH];
    const struct ig_window *w = &conv_of(job)->w;
    const struct ig_operand *out = &job->call->out[0];
    for (int32_t x = 0; x < line.n; x += PART) {
        struct ig_first_line piece = line;
        if (x > line.n - PART) x = (int32_t)line.n - PART;
        for (int32_t ky = 0; ky < w->kh; ky++) rows[ky] = line.rows[ky] + (int64_t)x * w->sw * job->call->in[0].c;
        piece.rows = rows;
        piece.out = tile;
        piece.out_step = NR * (int64_t)sizeof(float);
        piece.n = PART;
        fn(&piece);
        for (int32_t i = 0; i < PART; i++)
            memcpy(line.out + (x + i) * out->pixel_stride, tile + i * NR, (size_t)n * sizeof(float));
    }
}

/* Outputs [x0, x1) of row y; rows: of the padded image. */
static void outputs(struct job *job, int32_t y, int32_t x0, int32_t x1, const float *const *padded)
{
    const float *rows[MOST_KH];
    const struct ig_window *w = &conv_of(job)->w;
    const struct ig_operand *out = &job->call->out[0];
    int64_t panel = ig_gemm_panel(w->kh, (int64_t)w->kw * job->call->in[0].c, NR);
    struct ig_first_line line = job->line;
    for (int32_t ky = 0; ky < w->kh; ky++) rows[ky] = padded[ky] + (int64_t)x0 * w->sw * job->call->in[0].c;
    line.rows = rows;
    line.n = x1 - x0;
    for (int32_t c = job->range.c0; c < job->range.c1; c += NR) {
        int32_t n = job->range.c1 - c;
        line.w = (const float *)job->call->weights + c / NR * panel;
        line.out = ig_row_f32(out, y) + x0 * out->pixel_stride + c;
        if (n >= 2 * NR && job->set->twice) {
            job->set->twice(&line);
            c += NR;
        } else if (n >= NR)
            job->set->wide(&line);
        else if (n == 8)
            job->set->narrow(&line);
        else
            part_of_panel(job, line, n < 8 ? job->set->narrow : job->set->wide, n);
    }
}

/* Row y, whose input rows are in the ring. */
static void output_row(struct job *job, int32_t y)
{
    const float *rows[MOST_KH];
    const struct ig_window *w = &conv_of(job)->w;
    for (int32_t ky = 0; ky < w->kh; ky++) rows[ky] = job->ring + (y * w->sh + ky) % w->kh * job->pitch;
    outputs(job, y, 0, job->call->out[0].w, rows);
}

/* Columns [x0, x1) of the padded image, the same of input row y. */
static void copy_part(const struct job *job, int32_t y, int64_t x0, int64_t x1, float *dst)
{
    const struct ig_operand *in = &job->call->in[0];
    int64_t c = in->c, left = conv_of(job)->w.left, from = x0 < left ? left : x0, to = in->w + left;
    if (to > x1) to = x1;
    memset(dst + x0 * c, 0, (size_t)((from - x0) * c) * sizeof *dst);
    memcpy(dst + from * c, ig_row_f32(in, y) + (from - left) * c, (size_t)((to - from) * c) * sizeof *dst);
    memset(dst + to * c, 0, (size_t)((x1 - to) * c) * sizeof *dst);
}

/* Row y from the image itself, but for PART outputs at an end with padding. 0: it must be done by way of the ring. */
static int output_row_in_place(struct job *job, int32_t y)
{
    const float *rows[MOST_KH], *ring[MOST_KH];
    const struct ig_window *w = &conv_of(job)->w;
    const struct ig_operand *in = &job->call->in[0];
    int32_t width = job->call->out[0].w, top = y * w->sh - w->top, x0 = w->left ? PART : 0, x1 = width;
    if ((width - 1) * w->sw - w->left + w->kw > in->w) x1 -= PART;
    if (!job->set->in_place || in->pixel_stride != in->c || top < 0 || top + w->kh > in->h || x1 - x0 < PART) return 0;
    if (x0 * w->sw < w->left || (x1 - 1) * w->sw - w->left + w->kw > in->w) return 0; /* padding wider than the ends */
    for (int32_t ky = 0; ky < w->kh; ky++) {
        float *copy = job->ring + ky * job->pitch;
        rows[ky] = ig_row_f32(in, top + ky) - w->left * in->c;
        ring[ky] = copy;
        if (x0) copy_part(job, top + ky, 0, (x0 - 1) * w->sw + w->kw, copy);
        if (x1 < width) copy_part(job, top + ky, x1 * w->sw, (width - 1) * w->sw + w->kw, copy);
    }
    if (x0) outputs(job, y, 0, x0, ring);
    outputs(job, y, x0, x1, rows);
    if (x1 < width) outputs(job, y, x1, width, ring);
    return 1;
}

/* The activations that are not a clamp. */
static void activate(const struct job *job, int32_t y)
{
    const struct ig_operand *out = &job->call->out[0];
    const struct ig_act *act = &conv_of(job)->act;
    int32_t n = job->range.c1 - job->range.c0;
    float *p = ig_row_f32(out, y) + job->range.c0;
    if (n == out->pixel_stride) {
        job->set->act(p, p, (int64_t)n * out->w, act);
        return;
    }
    for (int32_t x = 0; x < out->w; x++, p += out->pixel_stride) job->set->act(p, p, n, act);
}

void ig_first_line(const struct ig_call *call, struct ig_range range, void *scratch,
                   const struct ig_first_line_set *set)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    const struct ig_window *w = &conv->w;
    struct job job = {.call = call, .range = range, .set = set, .pitch = ig_first_pitch(call)};
    /* The image's first column is aligned: copies of aligned rows cross no lines. */
    job.ring = (float *)scratch + (LINE - w->left * call->in[0].c % LINE) % LINE;
    int32_t filled = range.y0 * w->sh; /* row of the padded image */
    job.line.out_step = call->out[0].pixel_stride * (int64_t)sizeof(float);
    int clamps = start_clamp(&job.line, &conv->act);
    for (int32_t y = range.y0; y < range.y1; y++) {
        if (filled < y * w->sh) filled = y * w->sh;
        int done = output_row_in_place(&job, y);
        if (done) filled = 0; /* nothing of the ring is left */
        for (; !done && filled < y * w->sh + w->kh; filled++)
            ig_first_copy_row(call, filled - w->top, job.ring + filled % w->kh * job.pitch);
        if (!done) output_row(&job, y);
        if (!clamps) activate(&job, y);
    }
}
