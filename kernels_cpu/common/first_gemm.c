/*
 * First layer: a tap is a kernel row of kw*ic contiguous floats, in rows that stand between zeros. See conv_gemm.h. A volume's
 * depths of outputs are computed one after the other, from rows of each of the kd depths that they are made of.
 */
#include <string.h>

#include "kernels_cpu/common/first_rows.h"
#include "kernels_cpu/common/gemm_packed.h"
#include "kernels_cpu/ref/window.h"

struct rows {                       /* input rows between zeros, slot = row mod n; the same for each kernel depth */
    const struct ig_conv *conv;
    float *data, *zero;             /* zero: a kernel row outside the image */
    int64_t width;                  /* floats of a row: all that the output's columns touch */
    int32_t n, filled;              /* rows [.., filled) have been copied */
    int32_t z, in_h, out_h;         /* input depth of the first kernel depth; rows of one depth */
};

static int32_t min32(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Rows of a depth that the pixels of one block may touch. */
static int32_t rows_kept(const struct ig_call *call, const struct ig_conv *conv, int32_t mr)
{
    int32_t pixels = ig_gemm_block_pixels(conv->w.kd * conv->w.kh, mr), width = call->out[0].w;
    int32_t rows = min32((pixels + width - 2) / width + 1, call->out[0].h / conv->w.out_d);
    return (rows - 1) * conv->w.sh + (conv->w.kh - 1) * conv->w.dh + 1;
}

static float *slot_of(const struct rows *rows, int32_t kz, int32_t y)
{
    return rows->data + (kz * rows->n + y % rows->n) * rows->width;
}

static void fill_rows(struct rows *rows, const struct ig_call *call, int32_t end)
{
    const struct ig_window *w = &rows->conv->w;
    for (; rows->filled < end && rows->filled < rows->in_h; rows->filled++)
        for (int32_t kz = 0, z = rows->z; kz < w->kd; kz++, z += w->dd)
            if (ig_inside(z, w->in_d)) ig_first_copy_row(call, z * rows->in_h + rows->filled, slot_of(rows, kz, rows->filled));
}

/* The kernel rows of output row out_y, as far as they are in the image. */
static void find_rows(const struct ig_gemm_job *job, struct rows *rows, int32_t out_y)
{
    const struct ig_window *w = &rows->conv->w;
    const float **row = job->t.rows;
    int32_t y0 = ig_tap(out_y % rows->out_h, w->sh, w->top, 0, w->dh);
    fill_rows(rows, job->call, y0 + (w->kh - 1) * w->dh + 1);
    for (int32_t kz = 0, z = rows->z; kz < w->kd; kz++, z += w->dd)
        for (int32_t ky = 0, y = y0; ky < w->kh; ky++, y += w->dh)
            *row++ = ig_inside(z, w->in_d) && ig_inside(y, rows->in_h) ? slot_of(rows, kz, y) : NULL;
}

static void place(const struct ig_gemm_job *job, void *state, const struct ig_gemm_walk *at, const float **slot,
                  int32_t n)
{
    struct rows *rows = (struct rows *)state;
    const struct ig_window *w = &rows->conv->w;
    int64_t next = w->sw * job->call->in[0].c;
    if (at->i == 0) find_rows(job, rows, at->y);
    for (int32_t k = 0; k < w->kd * w->kh; k++, slot += job->set->mr) {
        const float *row = job->t.rows[k], *p = row ? row + at->i * next : rows->zero;
        int64_t step = row ? next : 0;
        for (int32_t m = 0; m < n; m++, p += step) slot[m] = p;
    }
}

void ig_gemm_first(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                   const struct ig_gemm_set *set)
{
    struct ig_gemm_job job;
    const struct ig_window *w = &conv->w;
    int64_t k = (int64_t)w->kw * call->in[0].c;
    float *zero = (float *)((char *)scratch + ig_gemm_table_bytes(w->kd * w->kh, set->mr));
    struct rows rows = {.conv = conv, .data = zero + k, .zero = zero, .width = ig_first_row_width(call), .n = rows_kept(call, conv, set->mr),
                        .in_h = call->in[0].h / w->in_d, .out_h = call->out[0].h / w->out_d};
    memset(zero, 0, (size_t)k * sizeof *zero);
    ig_gemm_start(&job, call, set, range, &conv->act);
    ig_gemm_size(&job, 0, call->out[0].c, w->kd * w->kh, k, (const float *)call->weights, scratch);
    ig_gemm_packed_place(&job, (char *)scratch + ig_gemm_first_scratch(call, set->mr));
    for (int32_t y = range.y0, end; y < range.y1; y = end) {
        int32_t z = y / rows.out_h, above = ig_tap(y % rows.out_h, w->sh, w->top, 0, w->dh);
        end = min32(range.y1, (z + 1) * rows.out_h);
        rows.z = ig_tap(z, w->sd, w->front, 0, w->dd);
        rows.filled = above < 0 ? 0 : above;
        struct ig_gemm_walk walk = {.y = y, .y_step = 1, .rows = end - y, .x = 0, .x_step = 1, .width = call->out[0].w};
        ig_gemm_run(&job, walk, place, &rows);
    }
}

size_t ig_gemm_first_scratch(const struct ig_call *call, int32_t mr)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    int64_t floats = conv->w.kw * (int64_t)call->in[0].c + ig_first_row_width(call) * conv->w.kd * rows_kept(call, conv, mr);
    return ig_gemm_table_bytes(conv->w.kd * conv->w.kh, mr) + (((size_t)floats * sizeof(float) + 63) & ~(size_t)63);
}

size_t ig_gemm_first_packed_scratch(const struct ig_call *call)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    return ig_gemm_packed_bytes(call, (int64_t)ig_taps(&conv->w) * call->in[0].c);
}
