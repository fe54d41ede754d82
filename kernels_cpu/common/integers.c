/* A loop of its own for each function and type. */
#include "kernels_cpu/common/integers.h"

#include "kernels_cpu/common/nest.h"

#define INLINE static inline __attribute__((always_inline))

INLINE int64_t divided(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)-(uint64_t)a : a / b;
}

INLINE int64_t value(int64_t a, int64_t b, const int kind)
{
    switch (kind) {
    case IG_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
    case IG_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
    case IG_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
    case IG_DIV: return divided(a, b);
    case IG_MAX: return a > b ? a : b;
    case IG_MIN: return a < b ? a : b;
    case IG_AND: return a && b;
    case IG_OR: return a || b;
    default: return !a != !b;
    }
}

INLINE int64_t get(const void *x, int64_t i, const int type)
{
    return type == IG_I64 ? ((const int64_t *)x)[i] : type == IG_I32 ? ((const int32_t *)x)[i] : ((const uint8_t *)x)[i];
}

INLINE void put(void *y, int64_t i, int64_t v, const int type)
{
    if (type == IG_I64) ((int64_t *)y)[i] = v;
    else if (type == IG_I32) ((int32_t *)y)[i] = (int32_t)v;
    else ((uint8_t *)y)[i] = (uint8_t)v;
}

INLINE void loop(const struct ig_nest_line *l, const int kind, const int type)
{
    const int64_t a = !l->one[0], b = !l->one[1];
    for (int64_t i = 0; i < l->n; i++) put(l->y, i, value(get(l->in[0], i * a, type), get(l->in[1], i * b, type), kind), type);
}

INLINE void arithmetic(const struct ig_nest_line *l, int kind, const int type)
{
    switch (kind) {
    case IG_ADD: loop(l, IG_ADD, type); break;
    case IG_SUB: loop(l, IG_SUB, type); break;
    case IG_MUL: loop(l, IG_MUL, type); break;
    case IG_DIV: loop(l, IG_DIV, type); break;
    case IG_MAX: loop(l, IG_MAX, type); break;
    default: loop(l, IG_MIN, type); break;
    }
}

static void line(const struct ig_call *call, const struct ig_nest_line *l)
{
    const int kind = ((const struct ig_binary_attr *)call->attrs)->kind;
    if (kind == IG_AND) loop(l, IG_AND, IG_BOOL);
    else if (kind == IG_OR) loop(l, IG_OR, IG_BOOL);
    else if (kind == IG_XOR) loop(l, IG_XOR, IG_BOOL);
    else if (call->out[0].shape->type == IG_I64) arithmetic(l, kind, IG_I64);
    else arithmetic(l, kind, IG_I32);
}

void ig_integer_rows(const struct ig_call *call, struct ig_range range)
{
    ig_nest_lines(call, range, 2, line);
}
