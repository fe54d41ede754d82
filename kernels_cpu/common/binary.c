/* The walk of binary.h. */
#include "kernels_cpu/common/binary.h"

enum { PIECE = 1024 };        /* floats */

static void in_pieces(struct ig_binary_run r, const struct ig_binary_attr *attr,
                      const struct ig_binary_loops *loops) {
    int64_t left = r.n;
    for (; left > 0; left -= PIECE) {
        r.n = left < PIECE ? left : PIECE;
        loops->run(&r, attr->kind, 1, (struct ig_binary_steps){0, 0, 0});
        if (attr->act.kind != IG_NONE) loops->act(r.y, r.y, r.n, &attr->act);
        r.y += PIECE;
        if (!r.a_one) r.a += PIECE;
        if (!r.b_one) r.b += PIECE;
    }
}

/* Rows of `o` have no gaps, over the whole width of the output. */
static int is_dense(const struct ig_operand *o, const struct ig_operand *out)
{
    return o->w == out->w && o->c == out->c && o->pixel_stride == o->c;
}

static int is_one(const struct ig_operand *o)
{
    return o->w == 1 && o->c == 1;
}

int ig_binary_is_whole(const struct ig_call *call, struct ig_range range)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    return range.c1 - range.c0 == out->c && is_dense(out, out) && (is_one(a) || is_dense(a, out)) && (is_one(b) || is_dense(b, out));
}

int32_t ig_binary_row(const struct ig_operand *o, const struct ig_operand *out, int32_t y)
{
    if (o->h == out->h) return y;
    int32_t row = 0, step = 1, back = out->shape->rank - o->shape->rank;
    for (int32_t d = out->shape->rank - 3; o->h > 1 && d >= back; y /= out->shape->dims[d], d--) {
        const int32_t n = o->shape->dims[d - back];
        if (n > 1) row += y % n * step;
        step *= n;
    }
    return row;
}

/* Of the row that row y of the output takes: its pixel 0, channel c0; a broadcast dim has one element. */
static const float *first_of(const struct ig_operand *o, const struct ig_operand *out, int32_t y, int32_t c0)
{
    return ig_row_f32(o, ig_binary_row(o, out, y)) + (o->c == 1 ? 0 : c0);
}

void ig_binary_rows(const struct ig_call *call, struct ig_range range, const struct ig_binary_loops *loops)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    int whole = ig_binary_is_whole(call, range);
    struct ig_binary_steps steps = {a->w == 1 ? 0 : a->pixel_stride, b->w == 1 ? 0 : b->pixel_stride,
                                    out->pixel_stride};
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct ig_binary_run r = {first_of(a, out, y, range.c0), first_of(b, out, y, range.c0), a->c == 1, b->c == 1,
                                  ig_row_f32(out, y) + range.c0, range.c1 - range.c0};
        if (whole) {
            r.a_one = is_one(a);
            r.b_one = is_one(b);
            r.n = (int64_t)out->w * out->c;
        }
        if (attr->act.kind != IG_NONE && loops->both && loops->both(&r, attr, whole ? 1 : out->w, steps)) continue;
        if (whole) {
            in_pieces(r, attr, loops);
            continue;
        }
        if (attr->act.kind == IG_NONE) {
            loops->run(&r, attr->kind, out->w, steps);
            continue;
        }
        for (int32_t x = 0; x < out->w; x++, r.a += steps.a, r.b += steps.b, r.y += steps.y)
            in_pieces(r, attr, loops);
    }
}
