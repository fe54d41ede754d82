#include "planner/box.h"

#include <string.h>

/* Adds an outer dim, merged with the one inside it where it goes on evenly. */
static void add_dim(struct ig_box *b, int64_t count, int64_t stride)
{
    if (count == 1) return;
    if (b->n && stride == b->count[b->n - 1] * b->stride[b->n - 1]) {
        b->count[b->n - 1] *= count;
        return;
    }
    b->count[b->n] = count;
    b->stride[b->n++] = stride;
}

/* Byte distance between neighbours in every dim of the shape, by the plan's row and pixel strides. */
static void dim_strides(const struct ig_shape *s, const struct ig_plan_buffer *b, int64_t *stride)
{
    int64_t element = ig_type_bytes(s->type), next = b->view.row_stride * element;
    for (int d = s->rank - 1; d >= 0; d--) {
        if (d == s->rank - 1) {
            stride[d] = element;
        } else if (d == s->rank - 2 && s->rank >= 3) {
            stride[d] = b->view.pixel_stride * element;
        } else {
            stride[d] = next;
            next *= s->dims[d];
        }
    }
}

struct ig_box ig_box_part(const struct ig_graph *g, const struct ig_plan_buffer *of, const int64_t *start,
                          const int32_t *count, const int32_t *step)
{
    const struct ig_shape *s = &g->values[of->value].shape;
    struct ig_box b = {
        .memory = of->memory, .index = of->index, .base = of->offset, .element = ig_type_bytes(s->type)};
    int64_t stride[IG_MAX_RANK];
    dim_strides(s, of, stride);
    for (int d = s->rank - 1; d >= 0; d--) {
        b.base += start[d] * stride[d];
        add_dim(&b, count[d], stride[d] * (step ? step[d] : 1));
    }
    return b;
}

struct ig_box ig_box_of(const struct ig_graph *g, const struct ig_plan_buffer *b)
{
    const int64_t start[IG_MAX_RANK] = {0};
    return ig_box_part(g, b, start, g->values[b->value].shape.dims, NULL);
}

int ig_box_equal(const struct ig_box *a, const struct ig_box *b)
{
    size_t bytes = (size_t)a->n * sizeof *a->count;
    return a->memory == b->memory && a->index == b->index && a->base == b->base && a->element == b->element &&
           a->n == b->n && !memcmp(a->count, b->count, bytes) && !memcmp(a->stride, b->stride, bytes);
}

/* Bytes from the first of the box to the end, counting only dims of a stride below `limit`. */
static int64_t extent(const struct ig_box *b, int64_t limit)
{
    int64_t bytes = b->element;
    for (int d = 0; d < b->n; d++)
        if (b->stride[d] < limit) bytes += (b->count[d] - 1) * b->stride[d];
    return bytes;
}

int64_t ig_box_end(const struct ig_box *b)
{
    return b->base + extent(b, INT64_MAX);
}

static int64_t common(int64_t divisor, const struct ig_box *b, int64_t limit)
{
    for (int d = 0; d < b->n; d++) {
        int64_t x = b->stride[d], r;
        if (x < limit) continue;
        for (; divisor; x = divisor, divisor = r) r = x % divisor;
        divisor = x;
    }
    return divisor;
}

/* Dims of stride >= limit move both boxes by multiples of g only: are they disjoint modulo g? */
static int apart(const struct ig_box *a, const struct ig_box *b, int64_t limit)
{
    int64_t g = common(common(0, a, limit), b, limit);
    if (!g) return 0;
    int64_t d = (b->base - a->base) % g;
    if (d < 0) d += g;
    return d >= extent(a, limit) && d + extent(b, limit) <= g;
}

int ig_box_meet(const struct ig_box *a, const struct ig_box *b)
{
    if (a->memory != b->memory || a->index != b->index || a->memory == IG_MEMORY_NONE) return 0;
    if (a->base >= ig_box_end(b) || b->base >= ig_box_end(a)) return 0;
    for (int d = 0; d < a->n; d++)
        if (apart(a, b, a->stride[d])) return 0;
    for (int d = 0; d < b->n; d++)
        if (apart(a, b, b->stride[d])) return 0;
    return 1;
}

/* Bytes from element 0 to element i, in order. */
static int64_t distance(const struct ig_box *b, int64_t i)
{
    int64_t bytes = 0;
    for (int d = 0; d < b->n; d++) {
        bytes += i % b->count[d] * b->stride[d];
        i /= b->count[d];
    }
    return bytes;
}

int ig_box_operand(const struct ig_box *b, int64_t h, int64_t w, int64_t c, int64_t *row_stride,
                   int64_t *pixel_stride)
{
    struct ig_box seen = {.memory = b->memory, .index = b->index, .base = b->base, .element = b->element};
    int64_t pixel = w > 1 ? distance(b, c) : c * b->element;
    int64_t row = h > 1 ? distance(b, w * c) : w * pixel;
    add_dim(&seen, c, b->element);
    add_dim(&seen, w, pixel);
    add_dim(&seen, h, row);
    *row_stride = row / b->element;
    *pixel_stride = pixel / b->element;
    return ig_box_equal(&seen, b);
}
