/* The first layer on halves: see half_first.h. */
#include "kernels_cpu/common/half_first.h"

#include <string.h>

#include "kernels_cpu/common/first_rows.h"
#include "kernels_cpu/ref/window.h"

enum { LINE = 32 }; /* halves of a cache line */

/* Halves from a narrowed row to the next. */
static int64_t pitch(const struct ig_call *call)
{
    return (ig_first_row_width(call) + LINE - 1) / LINE * LINE;
}

static size_t rows_bytes(const struct ig_call *call)
{
    return (size_t)((const struct ig_conv *)call->attrs)->w.kh * (size_t)pitch(call) * sizeof(uint16_t);
}

/* The same convolution by windows of one column; rows are counted from the first one of the padding. */
static void as_rows(const struct ig_call *call, struct ig_call *piece, struct ig_shape *shape, struct ig_conv *conv, void *rows)
{
    struct ig_operand *in = &piece->in[0];
    struct ig_window *w = &conv->w;
    *piece = *call;
    *conv = *(const struct ig_conv *)call->attrs;
    *shape = *call->in[0].shape;
    shape->type = IG_F16;
    in->shape = shape;
    in->data = rows;
    in->h = (call->out[0].h - 1) * w->sh + w->kh;
    in->ring_rows = w->kh;
    in->row_stride = pitch(call);
    in->w = call->out[0].w;
    in->c = w->kw * call->in[0].c;
    in->pixel_stride = w->sw * call->in[0].c;
    w->kw = w->sw = 1;
    w->top = w->left = w->bottom = w->right = 0;
    piece->attrs = conv;
}

/* Row y of the input, which may be outside. */
static void narrow_row(const struct ig_call *call, int32_t y, uint16_t *to, const struct ig_half_set *set)
{
    const struct ig_operand *in = &call->in[0];
    const int32_t left = ((const struct ig_conv *)call->attrs)->w.left;
    const int64_t width = ig_first_row_width(call), begin = (int64_t)left * in->c, room = (width - begin) / in->c;
    const int64_t end = begin + (in->w < room ? in->w : room) * in->c;
    if (!ig_inside(y, in->h) || end <= begin) {
        memset(to, 0, (size_t)width * sizeof *to);
        return;
    }
    memset(to, 0, (size_t)begin * sizeof *to);
    if (in->pixel_stride == in->c) set->narrow(to + begin, 0, ig_row_f32(in, y), 0, end - begin, 1);
    else set->narrow(to + begin, in->c, ig_row_f32(in, y), in->pixel_stride, in->c, (int32_t)((end - begin) / in->c));
    memset(to + end, 0, (size_t)(width - end) * sizeof *to);
}

void ig_half_first(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half_set *set)
{
    const int32_t top = ((const struct ig_conv *)call->attrs)->w.top;
    struct ig_call piece;
    struct ig_shape shape;
    struct ig_conv conv;
    int32_t there = 0;
    as_rows(call, &piece, &shape, &conv, scratch);
    for (int32_t y = range.y0; y < range.y1; y++) {
        int32_t first = y * conv.w.sh, end = first + conv.w.kh;
        for (int32_t p = first > there ? first : there; p < end; p++) narrow_row(call, p - top, (uint16_t *)ig_row(&piece.in[0], p, 2), set);
        there = end;
        ig_half_gemm_conv(&piece, &conv, (struct ig_range){y, y + 1, range.c0, range.c1}, (char *)scratch + rows_bytes(call), set);
    }
}

size_t ig_half_first_scratch(const struct ig_call *call)
{
    struct ig_call piece;
    struct ig_shape shape;
    struct ig_conv conv;
    as_rows(call, &piece, &shape, &conv, NULL);
    return rows_bytes(call) + ig_half_gemm_conv_scratch(&piece);
}
