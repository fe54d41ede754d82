#include "tests/support/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ig_operand image_operand(const struct ig_shape *shape, int rank)
{
    struct ig_operand o = {.shape = shape, .h = 1, .w = 1, .c = 1};
    int r = shape->rank, has_w = r > 2 || (r == 2 && rank > 2);
    if (r > 0) o.c = shape->dims[r - 1];
    if (has_w) o.w = shape->dims[r - 2];
    for (int i = 0; i < r - 1 - has_w; i++) o.h *= shape->dims[i];
    o.ring_rows = o.h;
    o.pixel_stride = o.c;
    o.row_stride = (int64_t)o.w * o.c;
    return o;
}

struct ig_operand image_steps_first(const struct ig_shape *shape, int has_steps)
{
    const int32_t c = shape->dims[shape->rank - 1], w = has_steps ? shape->dims[0] : 1, h = (int32_t)(ig_count(shape) / w / c);
    return (struct ig_operand){NULL, shape, h, w, c, h, c, w > 1 ? (int64_t)h * c : c};
}

/* Are rows nearer to each other than pixels? */
static int is_steps_first(const struct ig_operand *o)
{
    return o->w > 1 && o->row_stride < o->pixel_stride;
}

void image_make(struct image *m, struct ig_operand dense, struct image_layout layout)
{
    struct ig_operand *o = &m->operand;
    int bytes = ig_type_bytes(dense.shape->type);
    *o = dense;
    if (!is_steps_first(o)) {
        o->pixel_stride += layout.pixel_gap;
        o->row_stride = o->w * o->pixel_stride + layout.row_gap;
    }
    if (layout.ring_rows) o->ring_rows = layout.ring_rows;
    int64_t elements = (o->ring_rows - 1) * o->row_stride + (o->w - 1) * o->pixel_stride + o->c;
    guard_make(&m->memory, (size_t)elements * (size_t)bytes, (size_t)bytes, layout.front);
    o->data = m->memory.data;
}

void image_free(struct image *m)
{
    guard_free(&m->memory);
    m->operand.data = NULL;
}

/* Byte offset of pixel (y, x) in m's data, and in a dense tensor. */
static int64_t at(const struct ig_operand *o, int32_t y, int32_t x, int bytes)
{
    return (char *)ig_row(o, y, bytes) - (char *)o->data + x * o->pixel_stride * bytes;
}

static int64_t dense_at(const struct ig_operand *o, int32_t y, int32_t x, int bytes)
{
    return (is_steps_first(o) ? (int64_t)x * o->h + y : (int64_t)y * o->w + x) * o->c * bytes;
}

void image_load(struct image *m, const void *dense, int32_t y0, int32_t y1)
{
    const struct ig_operand *o = &m->operand;
    int bytes = ig_type_bytes(o->shape->type);
    for (int32_t y = y0; y < y1; y++)
        for (int32_t x = 0; x < o->w; x++)
            memcpy((char *)o->data + at(o, y, x, bytes), (const char *)dense + dense_at(o, y, x, bytes),
                   (size_t)(o->c * bytes));
}

void image_store(const struct image *m, void *dense)
{
    const struct ig_operand *o = &m->operand;
    int bytes = ig_type_bytes(o->shape->type);
    for (int32_t y = 0; y < o->h; y++)
        for (int32_t x = 0; x < o->w; x++)
            memcpy((char *)dense + dense_at(o, y, x, bytes), (const char *)o->data + at(o, y, x, bytes),
                   (size_t)(o->c * bytes));
}

void image_text(char *text, size_t text_bytes, const void *data, int32_t type, int64_t i)
{
    switch (type) {
    case IG_F32: snprintf(text, text_bytes, "%.9g", (double)((const float *)data)[i]); break;
    case IG_I32: snprintf(text, text_bytes, "%d", ((const int32_t *)data)[i]); break;
    case IG_I64: snprintf(text, text_bytes, "%lld", (long long)((const int64_t *)data)[i]); break;
    case IG_I8: snprintf(text, text_bytes, "%d", ((const int8_t *)data)[i]); break;
    case IG_F16: snprintf(text, text_bytes, "0x%04x", ((const uint16_t *)data)[i]); break;
    default: snprintf(text, text_bytes, "%u", ((const uint8_t *)data)[i]); break;
    }
}

/* What memory should be after a run: poison and the rectangle. Caller frees. */
static unsigned char *expected(const struct image *m, const void *dense, struct ig_range r)
{
    const struct ig_operand *o = &m->operand;
    int bytes = ig_type_bytes(o->shape->type);
    unsigned char *e = malloc(m->memory.size), *data = e + (m->memory.data - m->memory.base);
    if (!e) abort();
    guard_pattern(e, m->memory.size);
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < o->w; x++)
            memcpy(data + at(o, y, x, bytes) + r.c0 * bytes,
                   (const char *)dense + dense_at(o, y, x, bytes) + r.c0 * bytes,
                   (size_t)((r.c1 - r.c0) * bytes));
    return e;
}

/* Row of the image that ring slot `slot` held for the range; -1: none of it. */
static int32_t row_of_slot(const struct ig_operand *o, int64_t slot, struct ig_range r)
{
    if (o->ring_rows == o->h) return (int32_t)slot;
    for (int32_t y = r.y0; y < r.y1; y++)
        if (y % o->ring_rows == slot) return y;
    return -1;
}

/* Says what it means that byte `byte` of m's accessible memory is not as expected. */
static void explain(const struct image *m, const void *dense, struct ig_range r, size_t byte, char *why,
                    size_t n)
{
    const struct ig_operand *o = &m->operand;
    int bytes = ig_type_bytes(o->shape->type);
    int64_t element = ((int64_t)byte - (m->memory.data - m->memory.base)) / bytes;
    int64_t slot = element / o->row_stride, in_row = element % o->row_stride;
    int32_t x = (int32_t)(in_row / o->pixel_stride), c = (int32_t)(in_row % o->pixel_stride);
    if (is_steps_first(o)) x = (int32_t)(element / o->pixel_stride), slot %= o->h;
    int32_t y = row_of_slot(o, slot, r);
    const char *side;
    if (m->memory.base + byte < m->memory.data) side = "before the tensor's first element";
    else if (byte >= (size_t)(m->memory.data - m->memory.base) + m->memory.bytes)
        side = "after the tensor's last element";
    else if (x >= o->w) side = "in the gap after a row";
    else if (c >= o->c) side = "in the gap after a pixel";
    else if (y < 0) side = "in a ring slot of another row";
    else if (y < r.y0) side = "in a row above";
    else if (y >= r.y1) side = "in a row below";
    else if (c < r.c0) side = "in channels to the left";
    else if (c >= r.c1) side = "in channels to the right";
    else side = NULL;
    if (side) {
        snprintf(why, n, "wrote outside its rectangle: %s (y %d, x %d, c %d)", side, (int)(y < 0 ? slot : y),
                 x, c);
        return;
    }
    char got[32], want[32];
    image_text(got, sizeof got, o->data, o->shape->type, element);
    image_text(want, sizeof want, dense, o->shape->type, dense_at(o, y, x, 1) + c);
    snprintf(why, n, "differs from the whole run at y %d, x %d, c %d: %s, not %s", y, x, c, got, want);
}

/* Of f32 or f16. */
static int is_nan(int32_t type, const void *p)
{
    uint32_t bits = 0;
    memcpy(&bits, p, (size_t)ig_type_bytes(type)); /* little-endian */
    return type == IG_F32 ? (bits & 0x7fffffff) > 0x7f800000 : (bits & 0x7fff) > 0x7c00;
}

/* Where both are no number, `expected` gets what is there, unless that is poison still. */
static void allow_nans(const struct image *m, struct ig_range r, unsigned char *expected_bytes)
{
    const struct ig_operand *o = &m->operand;
    int32_t type = o->shape->type, bytes = ig_type_bytes(type);
    if (type != IG_F32 && type != IG_F16) return;
    unsigned char *poison = malloc(m->memory.size);
    if (!poison) abort();
    guard_pattern(poison, m->memory.size);
    for (int32_t y = r.y0; y < r.y1; y++)
        for (int32_t x = 0; x < o->w; x++)
            for (int32_t c = r.c0; c < r.c1; c++) {
                int64_t i = m->memory.data - m->memory.base + at(o, y, x, bytes) + (int64_t)c * bytes;
                const unsigned char *got = m->memory.base + i;
                if (is_nan(type, expected_bytes + i) && is_nan(type, got) && memcmp(got, poison + i, (size_t)bytes))
                    memcpy(expected_bytes + i, got, (size_t)bytes);
            }
    free(poison);
}

int image_check(const struct image *m, const void *dense, struct ig_range range, int any_nan, char *why, size_t why_bytes)
{
    unsigned char *e = expected(m, dense, range);
    if (any_nan) allow_nans(m, range, e);
    size_t i = 0;
    if (!memcmp(e, m->memory.base, m->memory.size)) i = m->memory.size;
    while (i < m->memory.size && e[i] == m->memory.base[i]) i++;
    if (i < m->memory.size) explain(m, dense, range, i, why, why_bytes);
    free(e);
    return i < m->memory.size ? -1 : 0;
}
