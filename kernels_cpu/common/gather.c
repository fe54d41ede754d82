/* Loops that know what indices and elements are: what ig_get_index and ig_move ask for each. */
#include "kernels_cpu/common/gather.h"

#include <string.h>

#include "kernels_cpu/ref/walk.h"

#define INLINE static inline __attribute__((always_inline))

struct job {
    const char *from;         /* slices [outer, n, inner] of the input */
    const void *indices;
    int64_t n, count;         /* slices of an outer; indices */
    int64_t run;              /* bytes of a slice */
    int wide;
};

/* Slices [first, last) of the output, of `run` bytes. */
INLINE void slices(const struct job *job, char *to, int64_t first, int64_t last, const int64_t run, const int wide)
{
    const char *from = job->from + first / job->count * job->n * run;
    for (int64_t i = first % job->count, left = last - first; left > 0; left--, to += run) {
        memcpy(to, from + ig_index_at(job->indices, wide, i, job->n) * run, (size_t)run);
        if (++i < job->count) continue;
        i = 0;
        from += job->n * run;
    }
}

static void small_slices(const struct job *job, char *to, int64_t first, int64_t last)
{
    switch (job->run << 1 | job->wide) {
    case 1 << 1 | 0: slices(job, to, first, last, 1, 0); break;
    case 1 << 1 | 1: slices(job, to, first, last, 1, 1); break;
    case 4 << 1 | 0: slices(job, to, first, last, 4, 0); break;
    case 4 << 1 | 1: slices(job, to, first, last, 4, 1); break;
    case 8 << 1 | 0: slices(job, to, first, last, 8, 0); break;
    case 8 << 1 | 1: slices(job, to, first, last, 8, 1); break;
    default: slices(job, to, first, last, job->run, job->wide); break;
    }
}

/* Bytes [at, end) of the output that lie in one slice. */
static void part_of_slice(const struct job *job, char *to, int64_t at, int64_t end)
{
    const int64_t slice = at / job->run, which = ig_index_at(job->indices, job->wide, slice % job->count, job->n);
    memcpy(to + at, job->from + (slice / job->count * job->n + which) * job->run + at % job->run, (size_t)(end - at));
}

void ig_gather_runs(const struct ig_call *call, struct ig_range range)
{
    const struct ig_operand *out = &call->out[0], *indices = &call->in[1];
    const struct ig_lines l = ig_lines_of(call->in[0].shape, ((const struct ig_axis *)call->attrs)->axis);
    const int bytes = ig_type_bytes(out->shape->type);
    const struct job job = {(const char *)call->in[0].data, indices->data, l.n, ig_count(indices->shape), l.inner * bytes,
                            indices->shape->type == IG_I64};
    const int64_t row = (int64_t)out->w * out->c * bytes;
    char *to = (char *)out->data;
    if (row % job.run == 0) {
        small_slices(&job, to + range.y0 * row, range.y0 * row / job.run, range.y1 * row / job.run);
        return;
    }
    for (int64_t at = range.y0 * row, end = range.y1 * row; at < end;) {
        const int64_t left = job.run - at % job.run, next = at + (left < end - at ? left : end - at);
        part_of_slice(&job, to, at, next);
        at = next;
    }
}

struct elements {
    const char *from;         /* element of the input that a pixel's indices count from */
    const void *indices;
    int64_t first;            /* index of the pixel's first channel */
    int64_t n, stride;        /* the axis */
    int64_t step;             /* elements of the input from a channel to the next: 0 along the axis */
};

INLINE void pixel(const struct elements *e, char *to, int32_t c, const int bytes, const int wide)
{
    for (int32_t i = 0; i < c; i++)
        memcpy(to + i * bytes, e->from + (i * e->step + ig_index_at(e->indices, wide, e->first + i, e->n) * e->stride) * bytes, (size_t)bytes);
}

static void any_pixel(const struct elements *e, char *to, int32_t c, int bytes, int wide)
{
    switch (bytes << 1 | wide) {
    case 4 << 1 | 0: pixel(e, to, c, 4, 0); break;
    case 4 << 1 | 1: pixel(e, to, c, 4, 1); break;
    default: pixel(e, to, c, bytes, wide); break;
    }
}

void ig_gather_elements_rows(const struct ig_call *call, struct ig_range range)
{
    const struct ig_operand *out = &call->out[0], *in = &call->in[0];
    const struct ig_shape *s = in->shape, *is = call->in[1].shape;
    const int32_t axis = ((const struct ig_axis *)call->attrs)->axis, rank = s->rank, bytes = ig_type_bytes(s->type), wide = is->type == IG_I64;
    const int32_t rows_end = rank > 2 && out->w == is->dims[rank - 2] ? rank - 2 : rank - 1; /* one image's rows are its pixels */
    const int64_t across = rank > 2 && axis != rank - 2 ? s->dims[rank - 1] : 0;
    struct ig_walk w = {.count = 1};
    struct elements e = {NULL, call->in[1].data, (int64_t)range.y0 * out->w * out->c, s->dims[axis], ig_span(s, axis + 1, rank), axis != rank - 1};
    char *to = (char *)out->data + e.first * bytes;
    for (int32_t d = 0; d < rows_end; d++) ig_walk_add(&w, is->dims[d], d == axis ? 0 : ig_span(s, d + 1, rank));
    for (int32_t y = range.y0; y < range.y1; y++) {
        e.from = (const char *)in->data + ig_walk_at(&w, y) * bytes;
        for (int32_t x = 0; x < out->w; x++, e.from += across * bytes, e.first += out->c, to += (int64_t)out->c * bytes)
            any_pixel(&e, to, out->c, bytes, wide);
    }
}

/* The slice x[b.., tuple, :] of every tuple of indices [B.., T.., k]; B is `axis` dims. */
void ig_gather_tuples(const struct ig_call *call)
{
    const struct ig_shape *s = call->in[0].shape, *is = call->in[1].shape;
    const int32_t batch = ((const struct ig_axis *)call->attrs)->axis, k = is->dims[is->rank - 1], wide = is->type == IG_I64;
    const int64_t run = ig_span(s, batch + k, s->rank) * ig_type_bytes(s->type), count = ig_span(is, 0, is->rank - 1);
    const int64_t of_batch = ig_span(is, batch, is->rank - 1);
    const char *from = (const char *)call->in[0].data;
    char *to = (char *)call->out[0].data;
    for (int64_t t = 0; t < count; t++, to += run) {
        int64_t at = t / of_batch;
        for (int32_t d = 0; d < k; d++) at = at * s->dims[batch + d] + ig_index_at(call->in[1].data, wide, t * k + d, s->dims[batch + d]);
        if (run == 4) memcpy(to, from + at * 4, 4);
        else memcpy(to, from + at * run, (size_t)run);
    }
}
