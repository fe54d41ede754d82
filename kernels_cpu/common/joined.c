/* Transposed convolution by parts, joined.h: a block of rows of a part by conv_gemm.c, then its rows into the output. */
#include "kernels_cpu/common/joined.h"

#include <string.h>

#include "kernels_cpu/common/gemm_block.h"

enum {
    MOST = 128,     /* channels of parts of more than one py */
    PIXELS = 256,   /* of a block, or a row more */
    CHUNK = 4       /* floats that are copied at a time */
};

int32_t ig_joined_rows(const struct ig_call *call, int32_t py)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t end = py < w->kh % w->sh ? w->kh % w->sh : w->sh;
    return (end - py) * w->sw * call->out[0].c <= MOST ? end - py : 1;
}

struct ig_joined ig_joined_part(const struct ig_call *call, int32_t py, int32_t rows)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int32_t first = w->left / w->sw, run = w->sw * call->out[0].c;
    return (struct ig_joined){py, rows, (w->kh - py + w->sh - 1) / w->sh, (w->kw + w->sw - 1) / w->sw, first,
                              (call->out[0].w - 1 + w->left) / w->sw - first + 1, run, rows * run};
}

struct ig_conv ig_joined_conv(const struct ig_joined *part, int32_t y)
{
    const struct ig_window w = {1, part->kh, part->kw, 1, 1, 1, 1, 1, 1, 0, part->kh - 1 - y, part->kw - 1 - part->first_x, 0, 0, 0, 1, 1};
    return (struct ig_conv){w, 1, {IG_NONE, 0, 0}};
}

static inline void put(float *to, const float *from, int32_t n)
{
    for (int32_t i = 0; i < n; i++) to[i] = from[i];
}

/* By whole chunks, which end beyond a run but not beyond `end`, then exactly. */
static void put_runs(float *to, const float *end, const float *from, int32_t run, int64_t step)
{
    const int32_t whole = (run + CHUNK - 1) / CHUNK * CHUNK;
    for (; end - to >= whole; to += run, from += step)
        for (int32_t i = 0; i < whole; i += CHUNK) memcpy(to + i, from + i, CHUNK * sizeof *to);
    for (; to < end; to += run, from += step) put(to, from, end - to < run ? (int32_t)(end - to) : run);
}

void ig_joined_row(const struct ig_call *call, const struct ig_joined *part, const float *runs, int64_t step, float *to)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *out = &call->out[0];
    const int32_t c = out->c, before = w->left % w->sw;
    if (out->pixel_stride == c) {
        const int32_t floats = out->w * c, first = part->run - before * c;
        put(to, runs + before * c, first < floats ? first : floats);
        put_runs(to + first, to + floats, runs + step, part->run, step);
        return;
    }
    for (int32_t x = 0; x < out->w; x++)
        put(to + x * out->pixel_stride, runs + (x + before) / w->sw * step + (x + before) % w->sw * c, c);
}

/* Y's of a part's outputs in a range of rows. */
static void rows_of(const struct ig_window *w, const struct ig_joined *part, struct ig_range range, int32_t *from, int32_t *to)
{
    const int32_t first = range.y0 + w->top - part->py - part->rows + 1, last = range.y1 - 1 + w->top - part->py;
    *from = first > 0 ? (first + w->sh - 1) / w->sh : 0;
    *to = last < 0 ? 0 : last / w->sh + 1;
}

static int32_t block_rows(const struct ig_joined *part)
{
    return part->width < PIXELS ? PIXELS / part->width : 1;
}

/* Rows [y, y + n) of a part from scratch into the range's. */
static void put_rows(const struct ig_call *call, const struct ig_joined *part, struct ig_range range, const float *block, int32_t y, int32_t n)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    for (int32_t i = 0; i < n * part->rows; i++) {
        const int32_t at = (y + i / part->rows) * w->sh + part->py + i % part->rows - w->top;
        const float *runs = block + (int64_t)(i / part->rows) * part->width * part->channels + i % part->rows * part->run;
        if (at >= range.y0 && at < range.y1) ig_joined_row(call, part, runs, part->channels, ig_row_f32(&call->out[0], at));
    }
}

static void run_part(const struct ig_call *call, const struct ig_joined *part, struct ig_range range, const float *weights, void *scratch,
                     const struct ig_gemm_set *set)
{
    const struct ig_conv *whole = (const struct ig_conv *)call->attrs;
    const int32_t most = block_rows(part);
    float *block = (float *)((char *)scratch + ig_gemm_table_bytes(part->kh * part->kw, set->mr));
    struct ig_call c = {.weights = weights, .zeros = call->zeros, .n_in = 1, .n_out = 1, .in = {call->in[0]}};
    int32_t from, to;
    rows_of(&whole->w, part, range, &from, &to);
    for (int32_t y = from, n; y < to; y += n) {
        struct ig_conv conv = ig_joined_conv(part, y);
        n = to - y < most ? to - y : most;
        conv.act = whole->act;
        c.attrs = &conv;
        c.out[0] = (struct ig_operand){block, call->out[0].shape, n, part->width, part->channels, n, part->width * part->channels, part->channels};
        ig_gemm_conv(&c, &conv, (struct ig_range){0, n, 0, part->channels}, scratch, set);
        put_rows(call, part, range, block, y, n);
    }
}

void ig_gemm_joined(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_gemm_set *set)
{
    const int32_t sh = ((const struct ig_conv *)call->attrs)->w.sh;
    const float *weights = (const float *)call->weights;
    for (int32_t py = 0, rows; py < sh; py += rows) {
        rows = ig_joined_rows(call, py);
        const struct ig_joined part = ig_joined_part(call, py, rows);
        run_part(call, &part, range, weights, scratch, set);
        weights += (part.channels + set->nr - 1) / set->nr * ig_gemm_panel(part.kh * part.kw, call->in[0].c, set->nr);
    }
}

size_t ig_gemm_joined_scratch(const struct ig_call *call, int32_t mr)
{
    const int32_t sh = ((const struct ig_conv *)call->attrs)->w.sh;
    size_t most = 0;
    for (int32_t py = 0, rows; py < sh; py += rows) {
        rows = ig_joined_rows(call, py);
        const struct ig_joined part = ig_joined_part(call, py, rows);
        const size_t block = (size_t)(block_rows(&part) * part.width * part.channels + CHUNK) * sizeof(float);
        const size_t bytes = ig_gemm_table_bytes(part.kh * part.kw, mr) + block;
        if (bytes > most) most = bytes;
    }
    return most;
}
