/* First layer: a tap is a kernel row of kw*ic contiguous floats, in rows that stand between zeros. See conv_gemm.h. */
#include <string.h>

#include "kernels_cpu/common/first_rows.h"
#include "kernels_cpu/common/gemm_packed.h"

struct rows {                       /* input rows between zeros, slot = row mod n */
    const struct ig_conv *conv;
    float *data, *zero;             /* zero: a kernel row outside the image */
    int64_t width;                  /* floats of a row: all that the output's columns touch */
    int32_t n, filled;              /* rows [.., filled) have been copied */
};

/* Rows that the pixels of one block may touch. */
static int32_t rows_kept(const struct ig_call *call, const struct ig_conv *conv, int32_t mr)
{
    int32_t pixels = ig_gemm_block_pixels(conv->w.kh, mr), width = call->out[0].w;
    int32_t rows = (pixels + width - 2) / width + 1;
    if (rows > call->out[0].h) rows = call->out[0].h;
    return (rows - 1) * conv->w.sh + (conv->w.kh - 1) * conv->w.dh + 1;
}

static void fill_rows(struct rows *rows, const struct ig_call *call, int32_t end)
{
    for (; rows->filled < end && rows->filled < call->in[0].h; rows->filled++)
        ig_first_copy_row(call, rows->filled, rows->data + rows->filled % rows->n * rows->width);
}

static void place(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at, const float **slot,
                  int32_t n)
{
    struct rows *rows = (struct rows *)state;
    const struct ig_window *w = &rows->conv->w;
    const struct ig_operand *in = &job->call->in[0];
    int32_t y0 = at->y * w->sh - w->top;
    int64_t next = w->sw * in->c;
    if (at->i == 0) fill_rows(rows, job->call, y0 + (w->kh - 1) * w->dh + 1);
    for (int32_t ky = 0; at->i == 0 && ky < w->kh; ky++) {
        int32_t y = y0 + ky * w->dh;
        job->t.rows[ky] = y >= 0 && y < in->h ? rows->data + y % rows->n * rows->width : NULL;
    }
    for (int32_t ky = 0; ky < w->kh; ky++, slot += job->set->mr) {
        const float *row = job->t.rows[ky], *p = row ? row + at->i * next : rows->zero;
        int64_t step = row ? next : 0;
        for (int32_t m = 0; m < n; m++, p += step) slot[m] = p;
    }
}

void ig_gemm_first(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                   const struct ig_gemm_set *set)
{
    struct ig_gemm_job job;
    int64_t k = (int64_t)conv->w.kw * call->in[0].c;
    float *zero = (float *)((char *)scratch + ig_gemm_table_bytes(conv->w.kh, set->mr));
    int32_t above = range.y0 * conv->w.sh - conv->w.top;
    struct rows rows = {conv, zero + k, zero, ig_first_row_width(call), rows_kept(call, conv, set->mr),
                        above < 0 ? 0 : above};
    struct ig_gemm_walk walk = {.y = range.y0, .y_step = 1, .rows = range.y1 - range.y0,
                                .x = 0, .x_step = 1, .width = call->out[0].w};
    memset(zero, 0, (size_t)k * sizeof *zero);
    ig_gemm_start(&job, call, set, range, &conv->act);
    ig_gemm_size(&job, 0, call->out[0].c, conv->w.kh, k, (const float *)call->weights, scratch);
    ig_gemm_packed_place(&job, (char *)scratch + ig_gemm_first_scratch(call, set->mr));
    ig_gemm_run(&job, walk, place, &rows);
}

size_t ig_gemm_first_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    int64_t floats = conv->w.kw * (int64_t)call->in[0].c + ig_first_row_width(call) * rows_kept(call, conv, mr);
    return ig_gemm_table_bytes(conv->w.kh, mr) + (((size_t)floats * sizeof(float) + 63) & ~(size_t)63);
}

size_t ig_gemm_first_packed_scratch(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_gemm_packed_bytes(call, (int64_t)conv->w.kh * conv->w.kw * call->in[0].c);
}
