/*
 * Softmax along one axis: y = e^(x - max) / sum e^(x - max); log: x - max - ln sum; hard: 1 at the first
 * maximum, else 0.
 */
#include <math.h>

#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

struct elements {      /* a line of n elements, `stride` apart */
    void *data;
    int32_t type;
    int64_t first, stride;
};

static double get(const struct elements *e, int64_t i)
{
    return ig_get_real(e->data, e->type, e->first + i * e->stride);
}

static void put(const struct elements *e, int64_t i, double v)
{
    ig_put_real(e->data, e->type, e->first + i * e->stride, v);
}

/* x may be y. */
static void line(const struct elements *x, const struct elements *y, int64_t n, int32_t kind)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (get(x, i) > get(x, best)) best = i;
    double max = get(x, best), sum = 0;
    for (int64_t i = 0; i < n; i++) sum += exp(get(x, i) - max);
    for (int64_t i = 0; i < n; i++) {
        double d = get(x, i) - max;
        if (kind == IG_SOFTMAX_EXP) put(y, i, exp(d) / sum);
        else if (kind == IG_SOFTMAX_LOG) put(y, i, d - log(sum));
        else put(y, i, i == best);
    }
}

static struct elements pixel(const struct ig_operand *o, int32_t y, int32_t x)
{
    int32_t type = o->shape->type;
    return (struct elements){ig_row(o, y, ig_type_bytes(type)), type, x * o->pixel_stride, 1};
}

int softmax_f32_1x0__supports(const struct ig_call *call)
{
    const struct ig_axis *a = call->attrs;
    return ig_ref_is_float(call) && a->axis == call->in[0].shape->rank - 1;
}

void softmax_f32_1x0__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            struct elements from = pixel(in, y, x), to = pixel(out, y, x);
            line(&from, &to, out->c, a->mode);
        }
}

void softmax_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    struct ig_lines l = ig_lines_of(call->in[0].shape, a->axis);
    struct elements in = {call->in[0].data, call->in[0].shape->type, 0, l.inner};
    struct elements out = {call->out[0].data, call->out[0].shape->type, 0, l.inner};
    (void)range, (void)scratch;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t k = 0; k < l.inner; k++) {
            in.first = out.first = o * l.n * l.inner + k;
            line(&in, &out, l.n, a->mode);
        }
}
