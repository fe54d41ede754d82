/*
 * Sum or product of quantised operands: v = (a - a_zero) a_scale + (b - b_zero) b_scale, or times it, then
 * y = saturate(round half to even(v / y_scale) + y_zero), each step rounded to a float: bit by bit what it is to
 * dequantise both, compute in floats and quantise again. Then clipped between integers.
 */
#include "kernels_cpu/ref/quantized.h"
#include "kernels_cpu/ref/ref.h"

static int is_number(const struct ig_operand *o)
{
    return o->shape && ig_count(o->shape) == 1;
}

/* Data, its scale and its zero are inputs k, k + 1 and k + 2. */
static int is_operand(const struct ig_call *call, int k)
{
    const struct ig_operand *x = &call->in[k], *out = &call->out[0];
    return ig_is_byte(x) && x->h == out->h && x->w == out->w && x->c == out->c && is_number(&call->in[k + 1]) &&
           is_number(&call->in[k + 2]) && call->in[k + 2].shape->type == x->shape->type;
}

int qlinear_binary_any_1x1__supports(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = call->attrs;
    return call->n_in == 8 && is_operand(call, 0) && is_operand(call, 3) && ig_is_byte(&call->out[0]) &&
           is_number(&call->in[6]) && is_number(&call->in[7]) && (attr->kind == IG_ADD || attr->kind == IG_MUL) &&
           (attr->act.kind == IG_NONE || attr->act.kind == IG_CLIP);
}

/* Element i of row y of operand k as the float that it stands for. */
static float real(const struct ig_call *call, int k, int32_t y, int64_t i)
{
    const struct ig_operand *x = &call->in[k];
    int64_t n = ig_get_int(ig_row(x, y, 1), x->shape->type, i) - (int64_t)ig_parameter(call, k + 2, 0);
    return (float)n * ig_scale(call, k + 1, 0);
}

void qlinear_binary_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_binary_attr *attr = call->attrs;
    const struct ig_operand *a = &call->in[0], *b = &call->in[3], *out = &call->out[0];
    int32_t type = out->shape->type;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++) {
                float fa = real(call, 0, y, x * a->pixel_stride + c), fb = real(call, 3, y, x * b->pixel_stride + c);
                float v = attr->kind == IG_ADD ? fa + fb : fa * fb;
                int64_t n = ig_saturated(rint(v / ig_scale(call, 6, 0)) + ig_parameter(call, 7, 0), type);
                ig_put_int(ig_row(out, y, 1), type, x * out->pixel_stride + c, (int64_t)ig_ref_act(&attr->act, (double)n));
            }
}
