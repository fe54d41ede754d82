/* Element-wise functions of one operand: f32 through double, integers and bool exactly. */
#include <math.h>

#include "kernels_cpu/ref/act.h"
#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

static double celu(double x, double a)
{
    return x < 0 ? a * (exp(x / a) - 1) : x;
}

/* Kinds from IG_FUSABLE on, with parameters. */
static double shaped(const struct ig_act *act, double x)
{
    double a = act->alpha, b = act->beta;
    switch (act->kind) {
    case IG_SELU: return b * (x < 0 ? a * (exp(x) - 1) : x);
    case IG_CELU: return celu(x, a);
    case IG_SOFTSIGN: return x / (1 + fabs(x));
    case IG_THRESHOLDED_RELU: return x > a ? x : 0;
    case IG_SHRINK: return x < -a ? x + b : x > a ? x - b : 0;
    case IG_AFFINE: return a * x + b;
    default: return ig_ref_act(act, x);
    }
}

static double real(const struct ig_act *act, double x)
{
    switch (act->kind) {
    case IG_ABS: return fabs(x);
    case IG_NEG: return -x;
    case IG_CEIL: return ceil(x);
    case IG_FLOOR: return floor(x);
    case IG_ROUND: return rint(x);
    case IG_SIGN: return x > 0 ? 1 : x < 0 ? -1 : x;
    case IG_RECIPROCAL: return 1 / x;
    case IG_SQRT: return sqrt(x);
    case IG_EXP: return exp(x);
    case IG_LOG: return log(x);
    case IG_ERF: return erf(x);
    case IG_SIN: return sin(x);
    case IG_COS: return cos(x);
    case IG_TAN: return tan(x);
    case IG_ASIN: return asin(x);
    case IG_ACOS: return acos(x);
    case IG_ATAN: return atan(x);
    case IG_SINH: return sinh(x);
    case IG_COSH: return cosh(x);
    case IG_ASINH: return asinh(x);
    case IG_ACOSH: return acosh(x);
    case IG_ATANH: return atanh(x);
    default: return shaped(act, x);
    }
}

static int64_t integer(const struct ig_act *act, int64_t x)
{
    switch (act->kind) {
    case IG_RELU: return x < 0 ? 0 : x;
    case IG_CLIP:
        return (double)x < act->alpha ? (int64_t)act->alpha : (double)x > act->beta ? (int64_t)act->beta : x;
    case IG_ABS: return x < 0 ? (int64_t)-(uint64_t)x : x;
    case IG_NEG: return (int64_t)-(uint64_t)x;
    case IG_SIGN: return (x > 0) - (x < 0);
    case IG_NOT: return !x;
    case IG_BITWISE_NOT: return ~x;
    default: return x;
    }
}

static int has_integer(int32_t kind)
{
    static const int32_t kinds[] = {IG_NONE, IG_RELU, IG_CLIP, IG_ABS,
                                    IG_NEG,  IG_SIGN, IG_NOT,  IG_BITWISE_NOT};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i] == kind) return 1;
    return 0;
}

int unary_any_1x1__supports(const struct ig_call *call)
{
    const struct ig_unary_attr *a = call->attrs;
    int32_t from = call->in[0].shape->type, to = call->out[0].shape->type;
    if (a->act.kind == IG_ISINF || a->act.kind == IG_ISNAN) return from == IG_F32 && to == IG_BOOL;
    if (ig_is_float(from)) return ig_is_float(to) && a->act.kind != IG_NOT && a->act.kind != IG_BITWISE_NOT;
    return ig_ref_is_number(call) && has_integer(a->act.kind);
}

/* Element `to` of dst from element `from` of src. */
static void element(const struct ig_act *act, void *dst, int32_t to_type, int64_t to, const void *src, int32_t type,
                    int64_t from)
{
    if (!ig_is_float(type)) {
        ig_put_int(dst, type, to, integer(act, ig_get_int(src, type, from)));
        return;
    }
    double x = ig_get_real(src, type, from);
    if (act->kind == IG_ISNAN) ((uint8_t *)dst)[to] = x != x;
    else if (act->kind == IG_ISINF)
        ((uint8_t *)dst)[to] = (x == INFINITY && act->beta != 0) || (x == -INFINITY && act->alpha != 0);
    else ig_put_real(dst, to_type, to, real(act, x));
}

void unary_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_unary_attr *a = call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int in_bytes = ig_type_bytes(in->shape->type), out_bytes = ig_type_bytes(out->shape->type);
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++)
                element(&a->act, ig_row(out, y, out_bytes), out->shape->type, x * out->pixel_stride + c,
                        ig_row(in, y, in_bytes), in->shape->type, x * in->pixel_stride + c);
}
