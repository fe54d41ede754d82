/*
 * Sum or product of quantised operands. What stands for the numbers is computed with, each step rounded to a float:
 *   sum       v = a a_scale / y_scale + (b b_scale / y_scale + k), two fused multiply-adds, k = - (a_zero a_scale / y_scale + b_zero ...)
 *   product   v = ((a - a_zero) (b - b_zero)) (a_scale b_scale / y_scale)
 * Then y = saturate(round half to even(v) + y_zero), clipped between integers. Operand b may be one pixel of each image.
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
    const int like_output = x->h == out->h && x->w == out->w, pixel = k && x->w == 1 && x->h > 0 && out->h % x->h == 0;
    return ig_is_byte(x) && (like_output || pixel) && x->c == out->c && is_number(&call->in[k + 1]) &&
           is_number(&call->in[k + 2]) && call->in[k + 2].shape->type == x->shape->type;
}

int qlinear_binary_any_1x1__supports(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = call->attrs;
    return call->n_in == 8 && is_operand(call, 0) && is_operand(call, 3) && ig_is_byte(&call->out[0]) &&
           is_number(&call->in[6]) && is_number(&call->in[7]) && (attr->kind == IG_ADD || attr->kind == IG_MUL) &&
           (attr->act.kind == IG_NONE || attr->act.kind == IG_CLIP);
}

/* Element i of row y of operand k, inputs k and on. */
static int32_t number(const struct ig_call *call, int k, int32_t y, int64_t i)
{
    return (int32_t)ig_get_int(ig_row(&call->in[k], y, 1), call->in[k].shape->type, i);
}

struct terms {
    float a, b, k;         /* factors of a sum's operands, and what is added */
    float product;         /* factor of a product */
    int32_t a_zero, b_zero;
};

static struct terms terms_of(const struct ig_call *call)
{
    float y = ig_scale(call, 6, 0);
    struct terms t = {ig_scale(call, 1, 0) / y, ig_scale(call, 4, 0) / y, 0, ig_scale(call, 1, 0) * ig_scale(call, 4, 0) / y,
                      (int32_t)ig_parameter(call, 2, 0), (int32_t)ig_parameter(call, 5, 0)};
    float a = (float)t.a_zero * t.a, b = (float)t.b_zero * t.b;
    t.k = -(a + b);
    return t;
}

void qlinear_binary_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_binary_attr *attr = call->attrs;
    const struct ig_operand *out = &call->out[0];
    const struct terms t = terms_of(call);
    int32_t type = out->shape->type, rows = out->h / call->in[3].h, b_w = call->in[3].w;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++) {
                int32_t a = number(call, 0, y, x * call->in[0].pixel_stride + c), b = number(call, 3, y / rows, x % b_w * call->in[3].pixel_stride + c);
                float v = attr->kind == IG_ADD ? __builtin_fmaf((float)a, t.a, __builtin_fmaf((float)b, t.b, t.k))
                                               : (float)((a - t.a_zero) * (b - t.b_zero)) * t.product;
                int64_t n = ig_saturated(rint(v) + ig_parameter(call, 7, 0), type);
                ig_put_int(ig_row(out, y, 1), type, x * out->pixel_stride + c, (int64_t)ig_ref_act(&attr->act, (double)n));
            }
}
