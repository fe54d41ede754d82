/* The cases of permute.h. */
#include "kernels_cpu/common/permute.h"

#include <string.h>

struct permutation {
    int32_t rank, at;                /* at: the output dim that the input's last dim becomes */
    int64_t dims[IG_MAX_RANK];       /* of the output, at least two */
    int64_t stride[IG_MAX_RANK];     /* elements of the input per step of that output dim */
    int64_t w, c, w_stride, c_stride;
    int32_t bytes;                   /* of an element */
    const char *src;
    const struct ig_operand *out;
};

static struct permutation permutation_of(const struct ig_call *call, int32_t bytes)
{
    const int32_t *perm = ((const struct ig_transpose *)call->attrs)->perm;
    const struct ig_shape *in = call->in[0].shape;
    struct permutation p = {.rank = in->rank, .at = 0, .w = 1, .c = 1, .bytes = bytes};
    int64_t strides[IG_MAX_RANK], n = 1;
    for (int32_t i = in->rank - 1; i >= 0; n *= in->dims[i], i--) strides[i] = n;
    for (int32_t i = 0; i < in->rank; i++) {
        p.dims[i] = in->dims[perm[i]];
        p.stride[i] = strides[perm[i]];
        if (perm[i] == in->rank - 1) p.at = i;
    }
    if (p.rank > 0) {
        p.c = p.dims[p.rank - 1];
        p.c_stride = p.stride[p.rank - 1];
    }
    if (p.rank > 2) {
        p.w = p.dims[p.rank - 2];
        p.w_stride = p.stride[p.rank - 2];
    }
    p.src = (const char *)call->in[0].data;
    p.out = &call->out[0];
    return p;
}

/* Dims that make up the rows: all but w and c; of [M,N] M. */
static int32_t row_dims(const struct permutation *p)
{
    return p->rank > 2 ? p->rank - 2 : p->rank - 1;
}

/* Element of the input that output row y starts with. */
static const char *start_of(const struct permutation *p, int64_t y)
{
    int64_t at = 0;
    for (int32_t i = row_dims(p) - 1; i >= 0; y /= p->dims[i], i--) at += y % p->dims[i] * p->stride[i];
    return p->src + at * p->bytes;
}

static void copy_rows(const struct permutation *p, int64_t y)
{
    const char *src = start_of(p, y);
    char *dst = (char *)ig_row(p->out, (int32_t)y, p->bytes);
    for (int64_t x = 0; x < p->w; x++)
        memcpy(dst + x * p->c * p->bytes, src + x * p->w_stride * p->bytes, (size_t)(p->c * p->bytes));
}

/* Output rows [y, end) which differ in the input's contiguous dim only. */
static void across_rows(const struct permutation *p, int64_t y, int64_t end, ig_transpose_fn *transpose)
{
    const char *src = start_of(p, y);
    char *dst = (char *)ig_row(p->out, (int32_t)y, p->bytes);
    int64_t row = p->w * p->c;
    if (p->w_stride == p->c * p->c_stride || p->w == 1) {
        transpose(src, p->c_stride, dst, row, row, end - y);
        return;
    }
    for (int64_t x = 0; x < p->w; x++)
        transpose(src + x * p->w_stride * p->bytes, p->c_stride, dst + x * p->c * p->bytes, row, p->c, end - y);
}

/* How many output rows from y on are one matrix, as the input's rows of an image: up to `end` and the ring's end. */
static int64_t joined_rows(const struct permutation *p, int64_t y, int64_t end)
{
    int32_t last = row_dims(p) - 1;
    int64_t line = last < 0 || p->stride[last] != p->w ? 1 : p->dims[last], ring = p->out->ring_rows;
    int64_t n = line - y % line;
    if (n > end - y) n = end - y;
    return n < ring - y % ring ? n : ring - y % ring;
}

static void element_by_element(const struct permutation *p, int64_t y)
{
    const char *src = start_of(p, y);
    char *dst = (char *)ig_row(p->out, (int32_t)y, p->bytes);
    for (int64_t x = 0; x < p->w; x++)
        for (int64_t c = 0; c < p->c; c++, dst += p->bytes) {
            const char *from = src + (x * p->w_stride + c * p->c_stride) * p->bytes;
            if (p->bytes == 4) memcpy(dst, from, 4);
            else *dst = *from;
        }
}

void ig_permute(const struct ig_call *call, struct ig_range range, int32_t bytes, ig_transpose_fn *transpose)
{
    struct permutation p = permutation_of(call, bytes);
    int32_t last = row_dims(&p) - 1;
    for (int64_t y = range.y0; y < range.y1;) {
        int64_t end = y + 1;
        if (p.at == p.rank - 1) {
            copy_rows(&p, y);
        } else if (p.at == last) {
            int64_t line = p.dims[last], ring = p.out->ring_rows;
            end = y - y % line + line < range.y1 ? y - y % line + line : range.y1;
            if (end > y - y % ring + ring) end = y - y % ring + ring;
            across_rows(&p, y, end, transpose);
        } else if (p.at == p.rank - 2) {
            end = y + joined_rows(&p, y, range.y1);
            transpose(start_of(&p, y), p.c_stride, ig_row(p.out, (int32_t)y, bytes), p.c, p.c, (end - y) * p.w);
        } else {
            element_by_element(&p, y);
        }
        y = end;
    }
}
