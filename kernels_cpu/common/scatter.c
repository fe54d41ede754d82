/* Loops that know what indices and elements are, and how an update meets what is there. */
#include "kernels_cpu/common/scatter.h"

#include <math.h>
#include <string.h>

#include "kernels_cpu/common/gather.h"
#include "kernels_cpu/ref/walk.h"

#define INLINE static inline __attribute__((always_inline))

enum { ONE_BYTE = 1, TWO_BYTES = 2, FOUR_BYTES = 4, EIGHT_BYTES = 8, JOINED = 16 /* plus enum ig_reduction */ };

static int how_of(const struct ig_call *call)
{
    const int32_t mode = ((const struct ig_axis *)call->attrs)->mode;
    return mode == IG_SCATTER_NONE ? ig_type_bytes(call->out[0].shape->type) : JOINED + mode;
}

static float joined(float a, float b, int mode)
{
    switch (mode) {
    case IG_SCATTER_ADD: return a + b;
    case IG_SCATTER_MUL: return a * b;
    case IG_SCATTER_MAX: return (float)fmax((double)a, (double)b);
    default: return (float)fmin((double)a, (double)b);
    }
}

/* Element `at` of y meets update i. */
INLINE void update(char *y, int64_t at, const char *from, int64_t i, const int how)
{
    if (how < JOINED) memcpy(y + at * how, from + i * how, (size_t)how);
    else ((float *)y)[at] = joined(((const float *)y)[at], ((const float *)from)[i], how - JOINED);
}

/* `n` updates side by side, from update i on, of elements side by side. */
INLINE void run(char *y, int64_t at, const char *from, int64_t i, int64_t n, const int how)
{
    if (how < JOINED && n > 1) memcpy(y + at * how, from + i * how, (size_t)(n * how));
    else
        for (int64_t k = 0; k < n; k++) update(y, at + k, from, i + k, how);
}

static char *copy_of_input(const struct ig_call *call)
{
    if (call->out[0].data != call->in[0].data) memcpy(call->out[0].data, call->in[0].data, (size_t)ig_bytes(call->in[0].shape));
    return (char *)call->out[0].data;
}

/* Lines of the indices' last dim: along it elements are a step apart, but along the axis itself. */
INLINE void elements(const struct ig_call *call, char *y, const int how)
{
    const struct ig_shape *s = call->in[0].shape, *is = call->in[1].shape;
    const int32_t axis = ((const struct ig_axis *)call->attrs)->axis, last = s->rank - 1, wide = is->type == IG_I64, line = is->dims[last];
    const int64_t n = s->dims[axis], stride = ig_span(s, axis + 1, s->rank), step = axis != last;
    const void *indices = call->in[1].data;
    const char *from = (const char *)call->in[2].data;
    struct ig_walk w = {.count = 1};
    for (int32_t d = 0; d < last; d++) ig_walk_add(&w, is->dims[d], d == axis ? 0 : ig_span(s, d + 1, s->rank));
    for (int64_t l = 0, i = 0; l < w.count; l++) {
        const int64_t base = ig_walk_at(&w, l);
        for (int32_t k = 0; k < line; k++, i++) update(y, base + k * step + ig_index_at(indices, wide, i, n) * stride, from, i, how);
    }
}

/* indices [T.., k], updates [T.., rest]: the slice out[tuple, :] of every tuple. */
INLINE void tuples(const struct ig_call *call, char *y, const int how)
{
    const struct ig_shape *s = call->in[0].shape, *is = call->in[1].shape;
    const int32_t k = is->dims[is->rank - 1], wide = is->type == IG_I64;
    const int64_t slice = ig_span(s, k, s->rank), count = ig_span(is, 0, is->rank - 1);
    for (int64_t t = 0; t < count; t++) {
        int64_t at = 0;
        for (int32_t d = 0; d < k; d++) at = at * s->dims[d] + ig_index_at(call->in[1].data, wide, t * k + d, s->dims[d]);
        run(y, at * slice, (const char *)call->in[2].data, t * slice, slice, how);
    }
}

#define FOR_EACH(fn) \
    switch (how_of(call)) { \
    case ONE_BYTE: fn(call, y, ONE_BYTE); break; \
    case TWO_BYTES: fn(call, y, TWO_BYTES); break; \
    case FOUR_BYTES: fn(call, y, FOUR_BYTES); break; \
    case EIGHT_BYTES: fn(call, y, EIGHT_BYTES); break; \
    case JOINED + IG_SCATTER_ADD: fn(call, y, JOINED + IG_SCATTER_ADD); break; \
    case JOINED + IG_SCATTER_MUL: fn(call, y, JOINED + IG_SCATTER_MUL); break; \
    case JOINED + IG_SCATTER_MAX: fn(call, y, JOINED + IG_SCATTER_MAX); break; \
    case JOINED + IG_SCATTER_MIN: fn(call, y, JOINED + IG_SCATTER_MIN); break; \
    }

void ig_scatter_elements(const struct ig_call *call)
{
    char *y = copy_of_input(call);
    FOR_EACH(elements)
}

void ig_scatter_tuples(const struct ig_call *call)
{
    char *y = copy_of_input(call);
    FOR_EACH(tuples)
}
