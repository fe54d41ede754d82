/*
 * Element-wise functions of two operands, numpy broadcasting, then an activation on f32. Integers wrap;
 * division by zero gives 0. The first kernel takes operands that repeat along whole h, w or c of the output's
 * view; the second any shapes, dense.
 */
#include <math.h>

#include "kernels_cpu/ref/act.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/walk.h"

static double real(int32_t kind, double a, double b)
{
    switch (kind) {
    case IG_ADD: return a + b;
    case IG_SUB: return a - b;
    case IG_MUL: return a * b;
    case IG_DIV: return a / b;
    case IG_MAX: return a != a || a > b ? a : b;
    case IG_MIN: return a != a || a < b ? a : b;
    case IG_POW: return pow(a, b);
    case IG_MOD: return fmod(a, b) != 0 && (fmod(a, b) < 0) != (b < 0) ? fmod(a, b) + b : fmod(a, b);
    case IG_FMOD: return fmod(a, b);
    case IG_PRELU: return a < 0 ? b * a : a;
    default: return 0;
    }
}

/* a / b and its remainder, truncated; b = -1 apart because the lowest number has no opposite. */
static int64_t divide(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)-(uint64_t)a : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static int64_t power(int64_t a, int64_t b)
{
    uint64_t p = 1;
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (uint64_t base = (uint64_t)a; b; b >>= 1, base *= base)
        if (b & 1) p *= base;
    return (int64_t)p;
}

static int64_t integer(int32_t kind, int64_t a, int64_t b)
{
    uint64_t ua = (uint64_t)a, ub = (uint64_t)b;
    switch (kind) {
    case IG_ADD: return (int64_t)(ua + ub);
    case IG_SUB: return (int64_t)(ua - ub);
    case IG_MUL: return (int64_t)(ua * ub);
    case IG_DIV: return divide(a, b);
    case IG_MAX: return a > b ? a : b;
    case IG_MIN: return a < b ? a : b;
    case IG_POW: return power(a, b);
    case IG_MOD:
        return remainder_of(a, b) && (a < 0) != (b < 0) ? remainder_of(a, b) + b : remainder_of(a, b);
    case IG_FMOD: return remainder_of(a, b);
    case IG_PRELU: return a < 0 ? (int64_t)(ua * ub) : a;
    case IG_AND: return a && b;
    case IG_OR: return a || b;
    case IG_XOR: return !a != !b;
    case IG_BIT_AND: return a & b;
    case IG_BIT_OR: return a | b;
    case IG_BIT_XOR: return a ^ b;
    case IG_SHIFT_LEFT: return b < 0 || b > 63 ? 0 : (int64_t)(ua << b);
    case IG_SHIFT_RIGHT: return b < 0 || b > 63 ? 0 : a >> b;
    default: return 0;
    }
}

static int compares(int32_t kind)
{
    return kind >= IG_EQUAL && kind <= IG_LESS_EQUAL;
}

/* From the order of a and b; less and greater are both 0 for NaN and equal numbers. */
static int compare(int32_t kind, int less, int equal, int greater)
{
    switch (kind) {
    case IG_EQUAL: return equal;
    case IG_GREATER: return greater;
    case IG_GREATER_EQUAL: return greater || equal;
    case IG_LESS: return less;
    default: return less || equal;
    }
}

static float activated(const struct ig_binary_attr *attr, double a, double b)
{
    return (float)ig_ref_act(&attr->act, (float)real(attr->kind, a, b));
}

/* Element `to` of the output from element ia of a and ib of b. */
static void element(const struct ig_binary_attr *attr, void *out, int64_t to, const struct ig_call *call,
                    const void *a, int64_t ia, const void *b, int64_t ib)
{
    int32_t at = call->in[0].shape->type, bt = call->in[1].shape->type, type = call->out[0].shape->type;
    if (ig_is_float(at) || ig_is_float(bt)) {
        double x = ig_get_real(a, at, ia), y = ig_get_real(b, bt, ib);
        if (compares(attr->kind)) ((uint8_t *)out)[to] = (uint8_t)compare(attr->kind, x < y, x == y, x > y);
        else if (ig_is_float(type)) ig_put_float(out, type, to, activated(attr, x, y));
        else ig_put_real(out, type, to, real(attr->kind, x, y));
        return;
    }
    int64_t x = ig_get_int(a, at, ia), y = ig_get_int(b, bt, ib);
    if (compares(attr->kind)) ((uint8_t *)out)[to] = (uint8_t)compare(attr->kind, x < y, x == y, x > y);
    else if (type == IG_F32) ((float *)out)[to] = activated(attr, (double)x, (double)y);
    else ig_put_int(out, type, to, integer(attr->kind, x, y));
}

/* Only a power may mix types, base and result being of one; floats and halves mix always. */
int binary_any_nd__supports(const struct ig_call *call)
{
    const struct ig_binary_attr *attr = call->attrs;
    int32_t a = call->in[0].shape->type, b = call->in[1].shape->type, to = call->out[0].shape->type;
    if (ig_is_float(a) && ig_is_float(b) && (a == IG_F16 || b == IG_F16 || to == IG_F16))
        return ig_is_float(to) && attr->kind <= IG_PRELU;
    if (a == IG_F16 || b == IG_F16 || (a != b && attr->kind != IG_POW)) return 0;
    if (compares(attr->kind)) return to == IG_BOOL;
    if (a == IG_F32) return to == IG_F32 && attr->kind <= IG_PRELU;
    return to == a && attr->act.kind == IG_NONE;
}

static int fits(int32_t n, int32_t out)
{
    return n == out || n == 1;
}

int binary_any_1x1__supports(const struct ig_call *call)
{
    const struct ig_operand *out = &call->out[0];
    for (int k = 0; k < 2; k++) {
        const struct ig_operand *in = &call->in[k];
        if (!fits(in->h, out->h) || !fits(in->w, out->w) || !fits(in->c, out->c)) return 0;
    }
    return binary_any_nd__supports(call);
}

static const void *row(const struct ig_operand *o, int32_t y)
{
    return ig_row(o, o->h == 1 ? 0 : y, ig_type_bytes(o->shape->type));
}

static int64_t place(const struct ig_operand *o, int32_t x, int32_t c)
{
    return (o->w == 1 ? 0 : x) * o->pixel_stride + (o->c == 1 ? 0 : c);
}

void binary_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    int bytes = ig_type_bytes(out->shape->type);
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++)
                element(call->attrs, ig_row(out, y, bytes), x * out->pixel_stride + c, call, row(a, y),
                        place(a, x, c), row(b, y), place(b, x, c));
}

void binary_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    struct ig_walk wa = ig_walk_broadcast(a->shape, out->shape), wb = ig_walk_broadcast(b->shape, out->shape);
    (void)range, (void)scratch;
    for (int64_t i = 0; i < wa.count; i++)
        element(call->attrs, out->data, i, call, a->data, ig_walk_at(&wa, i), b->data, ig_walk_at(&wb, i));
}
