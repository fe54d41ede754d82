/* Convolution by indirection and fully connected: see conv_gemm.h. */
#include "kernels_cpu/common/blocks.h"
#include "kernels_cpu/common/gemm_packed.h"
#include "kernels_cpu/ref/window.h"

struct taps {
    struct ig_window w;
    int32_t in_h, out_h;        /* rows of one depth */
    int32_t rows_of;            /* output row whose input rows are in t.rows; -1: none */
    int joined;                 /* pointwise over input rows without gaps: pixels may cross them */
};

static void find_rows(const struct ig_gemm_job *job, struct taps *taps, int32_t out_y)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = &taps->w;
    const float **row = job->t.rows;
    for (int32_t kz = 0; kz < w->kd; kz++)
        for (int32_t ky = 0; ky < w->kh; ky++) {
            int32_t z = ig_tap(out_y / taps->out_h, w->sd, w->front, kz, w->dd), y = ig_tap(out_y % taps->out_h, w->sh, w->top, ky, w->dh);
            *row++ = ig_inside(z, w->in_d) && ig_inside(y, taps->in_h) ? ig_row_f32(in, z * taps->in_h + y) : NULL;
        }
    taps->rows_of = out_y;
}

/* Taps in the padding read the zero pixel. */
static void place(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at, const float **slot,
                  int32_t n)
{
    struct taps *taps = (struct taps *)state;
    const struct ig_window *w = &taps->w;
    const struct ig_operand *in = &job->call->in[0];
    const float *zero = (const float *)job->call->zeros;
    int32_t mr = job->set->mr, x0 = at->i * w->sw - w->left;
    int64_t next = w->sw * in->pixel_stride;
    if (taps->rows_of != at->y) find_rows(job, taps, at->y);
    for (int32_t k = 0; k < w->kd * w->kh; k++)
        for (int32_t kx = 0; kx < w->kw; kx++, slot += mr) {
            const float *row = job->t.rows[k];
            int32_t x = x0 + kx * w->dw;
            if (row && x >= 0 && x + (n - 1) * w->sw < in->w) {
                const float *p = row + x * in->pixel_stride;
                for (int32_t m = 0; m < n; m++, p += next) slot[m] = p;
                continue;
            }
            for (int32_t m = 0; m < n; m++, x += w->sw)
                slot[m] = row && x >= 0 && x < in->w ? row + x * in->pixel_stride : zero;
        }
}

/* The pixels are in one row, or rows are joined, and the taps are inside the image and the ring's rows in order. */
static int even(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at, int32_t n, int64_t *offset)
{
    const struct taps *taps = (const struct taps *)state;
    const struct ig_window *w = &taps->w;
    const struct ig_operand *in = &job->call->in[0];
    int32_t x = at->i * w->sw - w->left, y = at->y % taps->out_h * w->sh - w->top, z = at->y / taps->out_h * w->sd - w->front;
    int32_t last_x = x + (n - 1) * w->sw + (w->kw - 1) * w->dw, below = (w->kh - 1) * w->dh, behind = (w->kd - 1) * w->dd;
    int32_t row = z * taps->in_h + y, last = behind * taps->in_h + below;
    int inside = x >= 0 && last_x < in->w && y >= 0 && y + below < taps->in_h && z >= 0 && z + behind < w->in_d;
    if (!taps->joined && (at->i + n > at->width || !inside)) return 0;
    if (row >= in->ring_rows) row %= in->ring_rows;
    if (row + last >= in->ring_rows && !taps->joined) return 0;
    *offset = (row * in->row_stride + x * in->pixel_stride) * (int64_t)sizeof(float);
    return 1;
}

/* The table of the groups that are even, as if their first pixel's first tap were the image's first pixel. */
static void fill_even(const struct ig_gemm_job *job, const struct taps *taps)
{
    const struct ig_operand *in = &job->call->in[0];
    const struct ig_window *w = &taps->w;
    const float **slot = job->t.even_a;
    for (int32_t kz = 0; kz < w->kd; kz++)
        for (int32_t ky = 0; ky < w->kh; ky++)
            for (int32_t kx = 0; kx < w->kw; kx++)
                for (int32_t m = 0; m < job->set->mr; m++)
                    *slot++ = (const float *)in->data + (kz * w->dd * taps->in_h + ky * w->dh) * in->row_stride +
                              (kx * w->dw + m * w->sw) * in->pixel_stride;
}

/* Is output pixel i made of input pixel i, and do rows follow each other without gaps? */
static int rows_join(const struct ig_operand *in, const struct ig_operand *out, const struct ig_window *w)
{
    int alike = in->h == out->h && in->w == out->w && w->in_d == w->out_d && !w->front && !w->top && !w->left;
    return alike && ig_taps(w) == 1 && w->sd * w->sh * w->sw == 1 && in->row_stride == in->w * in->pixel_stride && in->ring_rows >= in->h;
}

enum {
    FAR_PANELS = 4,     /* memory likes four places that are read in turn better than eight, and nearly as well as any */
    FAR_BYTES = 3 << 18 /* weights above this come from memory */
};

/* Panels are read several at a time, as the reading of the weights is all that counts, or the wait for the next product. */
static void run_pixel(struct ig_gemm_job *job, ig_gemv_fn *gemv, int64_t bytes)
{
    const struct ig_gemm_set *set = job->set;
    const struct ig_call *call = job->call;
    const struct ig_range range = job->range;
    const float *x = ig_row_f32(&call->in[0], range.y0);
    float *c = ig_row_f32(&call->out[0], range.y0);
    const float *r = ig_gemm_has_residual(call) ? ig_row_f32(&call->in[3], range.y0) : NULL;
    const int is_far = job->panels * job->panel * bytes > FAR_BYTES;
    const int32_t most = is_far && set->gemv_panels > FAR_PANELS ? FAR_PANELS : set->gemv_panels;
    for (int32_t c0 = range.c0, n; c0 < range.c1; c0 += n) {
        int32_t panels = (range.c1 - c0 + set->nr - 1) / set->nr, turns = (panels + most - 1) / most;
        int32_t some = (panels + turns - 1) / turns;
        n = some * set->nr < range.c1 - c0 ? some * set->nr : range.c1 - c0;
        float *to = r || n < some * set->nr ? job->t.tile : c + c0; /* r may be c */
        gemv(x, job->k, (const char *)call->weights + c0 / set->nr * job->panel * bytes, some, to);
        if (to == job->t.tile || job->args.flags) ig_gemm_finish(job, to, c + c0, r ? r + c0 : NULL, n);
    }
    if (job->act.kind != IG_NONE) set->act(c + range.c0, c + range.c0, range.c1 - range.c0, &job->act);
}

void ig_gemm_pixel(const struct ig_call *call, const struct ig_act *act, struct ig_range range, int64_t k, void *scratch,
                   const struct ig_gemm_set *set, ig_gemv_fn *gemv, int64_t bytes)
{
    struct ig_gemm_job job;
    ig_gemm_start(&job, call, set, range, act);
    ig_gemm_size(&job, (int32_t)k, call->out[0].c, 1, k, (const float *)call->weights, scratch);
    run_pixel(&job, gemv, bytes);
}

void ig_gemm_conv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                  const struct ig_gemm_set *set)
{
    struct ig_gemm_job job;
    const struct ig_window *w = &conv->w;
    const struct ig_operand *in = &call->in[0];
    struct taps taps = {*w, in->h / w->in_d, call->out[0].h / w->out_d, -1, rows_join(in, &call->out[0], w)};
    int32_t ic = in->c / conv->groups, oc = call->out[0].c / conv->groups;
    struct ig_gemm_walk walk = {.y = range.y0, .y_step = 1, .rows = range.y1 - range.y0,
                                .x = 0, .x_step = 1, .width = call->out[0].w};
    if (set->gemv && conv->groups == 1 && (ig_gemm_is_pixel(call, w) || ig_gemm_is_image(call, w))) {
        ig_gemm_pixel(call, &conv->act, range, (int64_t)ig_taps(w) * in->c, scratch, set, set->gemv, sizeof(float));
        return;
    }
    ig_gemm_start(&job, call, set, range, &conv->act);
    ig_gemm_size(&job, ic, oc, ig_taps(w), ic, (const float *)call->weights, scratch);
    ig_gemm_packed_place(&job, (char *)scratch + ig_gemm_table_bytes(job.taps, set->mr));
    job.even = even;
    job.even_in = taps.joined;
    fill_even(&job, &taps);
    ig_gemm_run(&job, walk, place, &taps);
}

size_t ig_gemm_conv_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_gemm_table_bytes(ig_taps(&conv->w), mr);
}

size_t ig_gemm_conv_packed_scratch(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    int64_t depth = (int64_t)ig_taps(&conv->w) * (call->in[0].c / conv->groups);
    return ig_gemm_packed_bytes(call, depth);
}

void ig_gemm_fc(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_gemm_set *set)
{
    static const struct ig_window one = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1};
    struct ig_conv conv = {one, 1, ((const struct ig_fc *)call->attrs)->act};
    if (range.y1 - range.y0 == 1 && set->gemv) ig_gemm_pixel(call, &conv.act, range, call->in[0].c, scratch, set, set->gemv, sizeof(float));
    else ig_gemm_conv(call, &conv, range, scratch, set);
}

size_t ig_gemm_conv_small_scratch(const struct ig_call *call, int32_t mr, int32_t nr)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_gemm_block_bytes(ig_taps(&conv->w), mr, nr, IG_GEMM_BLOCK_SMALL);
}

size_t ig_gemm_fc_scratch(const struct ig_call *call, int32_t mr)
{
    (void)call;
    return ig_gemm_table_bytes(1, mr);
}
