#include "kernels_cpu/common/lookup.h"

struct lookup {
    const uint8_t *plain, *table; /* input 1 as it is; as `run` wants it */
    int32_t step;
    ig_lookup_run_fn *run;
};

static void run_of(uint8_t *y, const uint8_t *x, int64_t n, const struct lookup *l)
{
    int64_t whole = n / l->step * l->step;
    if (whole) l->run(y, x, whole, l->table);
    for (int64_t i = whole; i < n; i++) y[i] = l->plain[x[i]];
}

void ig_lookup_rows(const struct ig_call *call, struct ig_range range, const uint8_t *table, int32_t step, ig_lookup_run_fn *run)
{
    const struct ig_operand *x = &call->in[0], *out = &call->out[0];
    const struct lookup l = {(const uint8_t *)call->in[1].data, table, step, run};
    int32_t n = range.c1 - range.c0, joined = x->pixel_stride == n && out->pixel_stride == n;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const uint8_t *from = (const uint8_t *)ig_row(x, y, 1) + range.c0;
        uint8_t *to = (uint8_t *)ig_row(out, y, 1) + range.c0;
        if (joined) run_of(to, from, (int64_t)n * out->w, &l);
        else
            for (int32_t i = 0; i < out->w; i++, from += x->pixel_stride, to += out->pixel_stride) run_of(to, from, n, &l);
    }
}
