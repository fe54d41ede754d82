/*
 * A walk (kernels_cpu/ref/walk.h) whose loops that run on in the input where the next inner one ends are one: what is left of it is a nest around
 * lines, each some elements of the input one stride apart, and these around one another.
 */
#include "kernels_cpu/common/moves.h"

#include <string.h>

#include "kernels_cpu/ref/walk.h"

#define INLINE static inline __attribute__((always_inline))

enum { FEW = 32 };            /* bytes that are no more than a few moves */

static struct ig_walk joined(const struct ig_walk *w)
{
    struct ig_walk j = {.count = 1};
    for (int d = 0; d < w->n; d++) {
        const int last = j.n - 1;
        if (w->extent[d] == 1) continue;
        if (last < 0 || j.stride[last] != w->extent[d] * w->stride[d]) {
            ig_walk_add(&j, w->extent[d], w->stride[d]);
            continue;
        }
        j.extent[last] *= w->extent[d];
        j.stride[last] = w->stride[d];
        j.count *= w->extent[d];
    }
    while (j.n < 2) { /* lines, and what they are in */
        for (int d = j.n; d > 0; d--) j.extent[d] = j.extent[d - 1], j.stride[d] = j.stride[d - 1];
        j.extent[0] = 1, j.stride[0] = 0, j.n++;
    }
    return j;
}

struct block {                /* lines side by side in the output */
    int64_t lines, line_stride, n, stride; /* elements */
};

INLINE void by_element(char *to, const char *from, struct block b, const int bytes)
{
    for (; b.lines > 0; b.lines--, from += b.line_stride * bytes) {
        const char *x = from;
        for (int64_t i = 0; i < b.n; i++, to += bytes, x += b.stride * bytes) memcpy(to, x, (size_t)bytes);
    }
}

void ig_fill_run(char *to, const char *value, int64_t n, int bytes)
{
    enum { WIDE = 16 };
    char many[WIDE];
    int64_t left = n * bytes;
    for (int i = 0; i < WIDE; i += bytes) memcpy(many + i, value, (size_t)bytes);
    for (; left >= WIDE; left -= WIDE, to += WIDE) memcpy(to, many, WIDE);
    for (; left > 0; left -= bytes, to += bytes) memcpy(to, many, (size_t)bytes);
}

static void move_block(char *to, const char *from, struct block b, int bytes)
{
    const int64_t run = b.n * bytes;
    if (b.stride == 1 && run >= FEW) {
        for (; b.lines > 0; b.lines--, to += run, from += b.line_stride * bytes) memcpy(to, from, (size_t)run);
    } else if (b.stride == 0 && run >= FEW) {
        for (; b.lines > 0; b.lines--, to += run, from += b.line_stride * bytes) ig_fill_run(to, from, b.n, bytes);
    } else {
        switch (bytes) {
        case 1: by_element(to, from, b, 1); break;
        case 2: by_element(to, from, b, 2); break;
        case 4: by_element(to, from, b, 4); break;
        default: by_element(to, from, b, 8); break;
        }
    }
}

struct place {                /* in the nest around blocks */
    int64_t i[IG_WALK_DIMS];
    int64_t at;               /* element of the input */
};

static struct place place_of(const struct ig_walk *w, int64_t block)
{
    struct place p = {.at = 0};
    for (int d = w->n - 3; d >= 0; block /= w->extent[d], d--) {
        p.i[d] = block % w->extent[d];
        p.at += p.i[d] * w->stride[d];
    }
    return p;
}

static void step(const struct ig_walk *w, struct place *p)
{
    for (int d = w->n - 3; d >= 0; d--) {
        p->at += w->stride[d];
        if (++p->i[d] < w->extent[d]) return;
        p->i[d] = 0;
        p->at -= w->extent[d] * w->stride[d];
    }
}

/* The visits [first, first + count) of a joined walk, the first of which goes to `to`. */
static void move(const struct ig_walk *w, char *to, const char *from, int64_t first, int64_t count, int bytes)
{
    const int64_t n = w->extent[w->n - 1], stride = w->stride[w->n - 1], lines = w->extent[w->n - 2], line_stride = w->stride[w->n - 2];
    struct place p = place_of(w, first / (n * lines));
    int64_t skip = first % (n * lines);
    while (count > 0) {
        struct block b = {1, line_stride, n, stride};
        if (skip % n || count < n) b.n = n - skip % n < count ? n - skip % n : count;
        else b.lines = lines - skip / n < count / n ? lines - skip / n : count / n;
        const int64_t at = p.at + skip / n * line_stride + skip % n * stride, moved = b.lines * b.n;
        move_block(to, from + at * bytes, b, bytes);
        to += moved * bytes;
        count -= moved;
        skip += moved;
        if (skip == n * lines) {
            skip = 0;
            step(w, &p);
        }
    }
}

/* Rows [y0, y1) of the walk from element `base` on. */
static void rows(const struct ig_call *call, struct ig_range range, const struct ig_walk *w, int64_t base)
{
    const struct ig_operand *out = &call->out[0];
    const int bytes = ig_type_bytes(out->shape->type);
    const char *from = (const char *)call->in[0].data + base * bytes;
    const int64_t row = (int64_t)out->w * out->c;
    const struct ig_walk j = joined(w);
    for (int32_t y = range.y0; y < range.y1;) {
        const int32_t room = out->ring_rows - y % out->ring_rows, left = range.y1 - y, many = left < room ? left : room;
        move(&j, ig_row(out, y, bytes), from, y * row, many * row, bytes);
        y += many;
    }
}

void ig_expand_runs(const struct ig_call *call, struct ig_range range)
{
    const struct ig_walk w = ig_walk_broadcast(call->in[0].shape, call->out[0].shape);
    rows(call, range, &w, 0);
}

void ig_tile_runs(const struct ig_call *call, struct ig_range range)
{
    const struct ig_shape *s = call->in[0].shape, *to = call->out[0].shape;
    struct ig_walk w = {.count = 1};
    for (int d = 0; d < s->rank; d++) {
        ig_walk_add(&w, to->dims[d] / s->dims[d], 0);
        ig_walk_add(&w, s->dims[d], ig_span(s, d + 1, s->rank));
    }
    rows(call, range, &w, 0);
}

void ig_slice_runs(const struct ig_call *call, struct ig_range range)
{
    const struct ig_slice *a = (const struct ig_slice *)call->attrs;
    const struct ig_shape *s = call->in[0].shape, *to = call->out[0].shape;
    struct ig_walk w = {.count = 1};
    int64_t base = 0;
    for (int d = 0; d < s->rank; d++) {
        const int64_t stride = ig_span(s, d + 1, s->rank);
        base += a->start[d] * stride;
        ig_walk_add(&w, to->dims[d], a->step[d] * stride);
    }
    rows(call, range, &w, base);
}

void ig_permute_runs(const struct ig_call *call, struct ig_range range)
{
    const int32_t *perm = ((const struct ig_transpose *)call->attrs)->perm;
    const struct ig_shape *s = call->in[0].shape;
    struct ig_walk w = {.count = 1};
    for (int d = 0; d < s->rank; d++) ig_walk_add(&w, s->dims[perm[d]], ig_span(s, perm[d] + 1, s->rank));
    rows(call, range, &w, 0);
}
