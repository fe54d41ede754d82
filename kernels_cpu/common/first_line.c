/*
 * First layer, the common kernel sizes: input rows are copied once into a ring of kh rows that stand between zeros,
 * then each output row is one call of an ISA's first_line.S per 16 channels.
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

/* The first n channels of a panel, pieces of the row by way of a tile. */
static void part_of_panel(const struct job *job, struct ig_first_line line, ig_first_line_fn *fn, int32_t n)
{
    float tile[PART * NR];
    const float *rows[MOST_KH];
    const struct ig_window *w = &conv_of(job)->w;
    const struct ig_operand *out = &job->call->out[0];
    for (int32_t x = 0; x < out->w; x += PART) {
        struct ig_first_line piece = line;
        if (x > out->w - PART) x = out->w - PART;
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

static void output_row(struct job *job, int32_t y)
{
    const float *rows[MOST_KH];
    const struct ig_window *w = &conv_of(job)->w;
    const struct ig_operand *out = &job->call->out[0];
    int64_t panel = ig_gemm_panel(w->kh, (int64_t)w->kw * job->call->in[0].c, NR);
    struct ig_first_line line = job->line;
    for (int32_t ky = 0; ky < w->kh; ky++) rows[ky] = job->ring + (y * w->sh + ky) % w->kh * job->pitch;
    line.rows = rows;
    for (int32_t c = job->range.c0; c < job->range.c1; c += NR) {
        int32_t n = job->range.c1 - c;
        line.w = (const float *)job->call->weights + c / NR * panel;
        line.out = ig_row_f32(out, y) + c;
        if (n >= NR)
            job->set->wide(&line);
        else if (n == 8)
            job->set->narrow(&line);
        else
            part_of_panel(job, line, n < 8 ? job->set->narrow : job->set->wide, n);
    }
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
    job.line.n = call->out[0].w;
    int clamps = start_clamp(&job.line, &conv->act);
    for (int32_t y = range.y0; y < range.y1; y++) {
        if (filled < y * w->sh) filled = y * w->sh;
        for (; filled < y * w->sh + w->kh; filled++)
            ig_first_copy_row(call, filled - w->top, job.ring + filled % w->kh * job.pitch);
        output_row(&job, y);
        if (!clamps) activate(&job, y);
    }
}
