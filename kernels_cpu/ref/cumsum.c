/* Running sum along one axis; exclusive leaves the own element out, reverse starts at the far end. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

int cumsum_any_nd__supports(const struct ig_call *call)
{
    int32_t type = call->in[0].shape->type;
    return ig_ref_moves(call) && type != IG_F16 && type != IG_BOOL;
}

static void line_real(const float *x, float *y, const struct ig_lines *l, const struct ig_cumsum *a)
{
    double sum = 0;
    for (int64_t i = 0; i < l->n; i++) {
        int64_t at = (a->reverse ? l->n - 1 - i : i) * l->inner;
        double next = sum + x[at];
        y[at] = (float)(a->exclusive ? sum : next);
        sum = next;
    }
}

static void line_int(const struct ig_call *call, int64_t base, const struct ig_lines *l,
                     const struct ig_cumsum *a)
{
    int32_t type = call->in[0].shape->type;
    uint64_t sum = 0; /* wraps around like the machine's integers */
    for (int64_t i = 0; i < l->n; i++) {
        int64_t at = base + (a->reverse ? l->n - 1 - i : i) * l->inner;
        uint64_t next = sum + (uint64_t)ig_get_int(call->in[0].data, type, at);
        ig_put_int(call->out[0].data, type, at, (int64_t)(a->exclusive ? sum : next));
        sum = next;
    }
}

void cumsum_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_cumsum *a = call->attrs;
    struct ig_lines l = ig_lines_of(call->in[0].shape, a->axis);
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    (void)range, (void)scratch;
    for (int64_t line = 0; line < l.outer * l.inner; line++) {
        int64_t base = line / l.inner * l.n * l.inner + line % l.inner;
        if (call->in[0].shape->type == IG_F32) line_real(x + base, y + base, &l, a);
        else line_int(call, base, &l, a);
    }
}
