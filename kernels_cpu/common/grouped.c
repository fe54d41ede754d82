/* Row by row: what is new of its input is copied, then block after block goes along it in tiles. */
#include "kernels_cpu/common/grouped.h"

#include <string.h>

struct job {
    const struct ig_call *call;
    const struct ig_window *w;
    const struct ig_grouped_set *set;
    struct ig_grouped_cut cut;
    struct ig_range range;
    int32_t in_first, in_end; /* input blocks of the range's channels */
    float *ring;              /* [kh][in_all][pitch][L] */
    struct ig_grouped_tile tile;
};

int ig_grouped_cut_of(const struct ig_call *call, int32_t lanes, struct ig_grouped_cut *cut)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct ig_grouped_cut c = {.lanes = lanes, .ic = call->in[0].c / conv->groups, .oc = call->out[0].c / conv->groups};
    c.blocks = (call->out[0].c + lanes - 1) / lanes;
    c.pitch = (int64_t)(call->out[0].w - 1) * conv->w.sw + conv->w.kw;
    if (lanes % c.oc == 0 && c.ic <= c.oc) {
        c.in_blocks = 1;
        c.in_width = lanes / c.oc * c.ic;
        c.in_all = c.blocks;
    } else if (c.oc % lanes == 0 && c.ic % lanes == 0) {
        c.in_blocks = c.ic / lanes;
        c.in_width = lanes;
        c.in_all = call->in[0].c / lanes;
    } else {
        return 0;
    }
    c.j = c.ic < lanes ? c.ic : lanes;
    c.packed = lanes * (1 + (int64_t)conv->w.kh * conv->w.kw * c.in_blocks * c.j);
    *cut = c;
    return 1;
}

/* The first input block of an output block's group, or the one of its groups. */
static int32_t input_of(const struct ig_grouped_cut *cut, int32_t block)
{
    return cut->in_all == cut->blocks && cut->in_blocks == 1 ? block : block * cut->lanes / cut->oc * cut->in_blocks;
}

static float *ring_row(const struct job *job, int32_t y)
{
    return job->ring + (int64_t)(y % job->w->kh) * job->cut.in_all * job->cut.pitch * job->cut.lanes;
}

/* n pixels of `width` channels, L apart. */
static void copy_pixels(float *to, int32_t lanes, const float *from, int64_t step, int64_t n, int32_t width)
{
    for (int64_t x = 0; x < n; x++, to += lanes, from += step)
        switch (width) {
        case 16: memcpy(to, from, 16 * sizeof *to); break;
        case 8: memcpy(to, from, 8 * sizeof *to); break;
        case 4: memcpy(to, from, 4 * sizeof *to); break;
        default:
            for (int32_t c = 0; c < width; c++) to[c] = from[c];
            break;
        }
}

/* Row y of the padded image. */
static void copy_row(const struct job *job, int32_t y)
{
    const struct ig_operand *in = &job->call->in[0];
    const int32_t lanes = job->cut.lanes, iy = y - job->w->top, left = job->w->left;
    const int64_t block = job->cut.pitch * lanes, columns = job->cut.pitch - left, n = columns < in->w ? columns : in->w;
    float *to = ring_row(job, y) + job->in_first * block;
    if (iy < 0 || iy >= in->h || n <= 0) {
        memset(to, 0, (size_t)((job->in_end - job->in_first) * block) * sizeof *to);
        return;
    }
    for (int32_t b = job->in_first; b < job->in_end; b++, to += block) {
        const int32_t c = b * job->cut.in_width, width = in->c - c < job->cut.in_width ? in->c - c : job->cut.in_width;
        memset(to, 0, (size_t)(left * lanes) * sizeof *to);
        copy_pixels(to + left * lanes, lanes, ig_row_f32(in, iy) + c, in->pixel_stride, n, width);
        memset(to + (left + n) * lanes, 0, (size_t)(block - (left + n) * lanes) * sizeof *to);
    }
}

/* A block's outputs of row y, in equal tiles. */
static void run_block(struct job *job, int32_t y, int32_t block)
{
    const struct ig_operand *out = &job->call->out[0];
    const int32_t lanes = job->cut.lanes, c = block * lanes, left = job->range.c1 - c, tiles = (out->w + job->set->most - 1) / job->set->most;
    struct ig_grouped_tile *t = &job->tile;
    t->w = (const float *)job->call->weights + job->cut.j * lanes + block * job->cut.packed;
    t->out = ig_row_f32(out, y) + c;
    t->channels = left < lanes ? left : lanes;
    for (int32_t ky = 0; ky < t->kh; ky++) t->rows[ky] = ring_row(job, y * job->w->sh + ky) + input_of(&job->cut, block) * t->in_step;
    for (int32_t i = 0; i < tiles; i++) {
        const int32_t n = out->w / tiles + (i < out->w % tiles);
        job->set->tile(t, n);
        t->out += n * t->out_step;
        for (int32_t ky = 0; ky < t->kh; ky++) t->rows[ky] += (int64_t)n * t->stride * lanes;
    }
}

/* The activations that are not a clamp. */
static void activate(const struct job *job, int32_t y)
{
    const struct ig_operand *out = &job->call->out[0];
    const struct ig_act *act = &((const struct ig_conv *)job->call->attrs)->act;
    const int32_t n = job->range.c1 - job->range.c0;
    float *p = ig_row_f32(out, y) + job->range.c0;
    if (n == out->pixel_stride) {
        job->set->act(p, p, (int64_t)n * out->w, act);
        return;
    }
    for (int32_t x = 0; x < out->w; x++, p += out->pixel_stride) job->set->act(p, p, n, act);
}

static struct job start(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_grouped_set *set)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    struct job job = {.call = call, .w = &conv->w, .set = set, .range = range, .ring = (float *)scratch};
    struct ig_grouped_tile *t = &job.tile;
    ig_grouped_cut_of(call, set->lanes, &job.cut);
    job.in_first = input_of(&job.cut, range.c0 / set->lanes);
    job.in_end = input_of(&job.cut, (range.c1 - 1) / set->lanes) + job.cut.in_blocks;
    t->lane = (const int32_t *)call->weights;
    t->out_step = call->out[0].pixel_stride;
    t->in_step = job.cut.pitch * set->lanes;
    t->kh = conv->w.kh, t->kw = conv->w.kw, t->stride = conv->w.sw;
    t->j = job.cut.j, t->in_blocks = job.cut.in_blocks;
    t->lo = conv->act.kind == IG_RELU ? 0 : conv->act.kind == IG_CLIP ? conv->act.alpha : -__builtin_inff();
    t->hi = conv->act.kind == IG_CLIP ? conv->act.beta : __builtin_inff();
    return job;
}

void ig_grouped(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_grouped_set *set)
{
    struct job job = start(call, range, scratch, set);
    const struct ig_window *w = job.w;
    const int later = ((const struct ig_conv *)call->attrs)->act.kind > IG_CLIP;
    int32_t copied = range.y0 * w->sh; /* rows of the padded image below this one */
    for (int32_t y = range.y0; y < range.y1; y++) {
        if (copied < y * w->sh) copied = y * w->sh;
        for (; copied < y * w->sh + w->kh; copied++) copy_row(&job, copied);
        for (int32_t block = range.c0 / set->lanes; block * set->lanes < range.c1; block++) run_block(&job, y, block);
        if (later) activate(&job, y);
    }
}
