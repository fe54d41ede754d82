#include "kernels_cpu/common/triu.h"

#include <string.h>

static int64_t within(int64_t i, int64_t n)
{
    return i < 0 ? 0 : i < n ? i : n;
}

void ig_triu_rows(const struct ig_call *call, struct ig_range range)
{
    const struct ig_triu *a = (const struct ig_triu *)call->attrs;
    const struct ig_operand *out = &call->out[0];
    const struct ig_shape *s = out->shape;
    const int64_t lines = s->dims[s->rank - 2], n = out->c, bytes = ig_type_bytes(s->type), end = (int64_t)range.y1 * out->w;
    for (int64_t i = (int64_t)range.y0 * out->w; i < end; i++) {
        const int64_t diagonal = i % lines + a->k, from = a->upper ? within(diagonal, n) : 0, to = a->upper ? n : within(diagonal + 1, n);
        char *y = (char *)out->data + i * n * bytes;
        memset(y, 0, (size_t)(from * bytes));
        memcpy(y + from * bytes, (const char *)call->in[0].data + (i * n + from) * bytes, (size_t)((to - from) * bytes));
        memset(y + to * bytes, 0, (size_t)((n - to) * bytes));
    }
}
