/*
 * y = saturate(round half to even(x / scale) + zero), and back: y = (x - zero) * scale. Scale and zero are
 * one number each, or one per index of `axis`.
 */
#include <math.h>

#include "kernels_cpu/ref/quantized.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/walk.h"

/* Element of a per-tensor or per-axis parameter for element i of the data; 0 where it is absent. */
static double parameter(const struct ig_call *call, int k, int64_t i)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_operand *o = &call->in[k];
    if (call->n_in <= k || !o->shape) return 0;
    struct ig_lines l = {1, 1, 1};
    if (ig_count(o->shape) > 1)
        l = ig_lines_of(call->in[0].shape, a->axis < 0 ? a->axis + call->in[0].shape->rank : a->axis);
    return ig_get_real(o->data, o->shape->type, i / l.inner % l.n);
}

static int is_type(const struct ig_operand *o, int32_t a, int32_t b, int32_t c)
{
    int32_t t = o->shape->type;
    return t == a || t == b || t == c;
}

static int fits(const struct ig_call *call, int k)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_shape *x = call->in[0].shape;
    if (call->n_in <= k || !call->in[k].shape) return k == 2;
    int64_t n = ig_count(call->in[k].shape);
    return n == 1 || (x->rank && n == x->dims[a->axis < 0 ? a->axis + x->rank : a->axis]);
}

int quantize_any_nd__supports(const struct ig_call *call)
{
    return is_type(&call->in[0], IG_F32, IG_I32, IG_F32) && is_type(&call->out[0], IG_U8, IG_I8, IG_U8) &&
           fits(call, 1) && fits(call, 2);
}

int dequantize_any_nd__supports(const struct ig_call *call)
{
    return is_type(&call->in[0], IG_U8, IG_I8, IG_I32) && call->out[0].shape->type == IG_F32 &&
           fits(call, 1) && fits(call, 2);
}

void quantize_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)range, (void)scratch;
    for (int64_t i = 0; i < ig_count(in->shape); i++) {
        float x = (float)ig_get_real(in->data, in->shape->type, i) / (float)parameter(call, 1, i);
        double y = rint(x) + parameter(call, 2, i);
        ig_put_int(out->data, out->shape->type, i, ig_saturated(y, out->shape->type));
    }
}

void dequantize_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)range, (void)scratch;
    for (int64_t i = 0; i < ig_count(in->shape); i++) {
        double x = ig_get_real(in->data, in->shape->type, i) - parameter(call, 2, i);
        ((float *)out->data)[i] = (float)(x * parameter(call, 1, i));
    }
}
