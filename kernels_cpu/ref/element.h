/* Elements by type: how the reference kernels that serve many types read, write and order them. */
#ifndef KERNELS_CPU_REF_ELEMENT_H
#define KERNELS_CPU_REF_ELEMENT_H

#include <string.h>

#include "kernels_cpu/kernel.h"

/* dst[to] = src[from], elements of `bytes`. */
static inline void ig_move(void *dst, int64_t to, const void *src, int64_t from, int bytes)
{
    memcpy((char *)dst + to * bytes, (const char *)src + from * bytes, (size_t)bytes);
}

/* f32 or f16: what is computed with as a float or a double. */
static inline int ig_is_float(int32_t type)
{
    return type == IG_F32 || type == IG_F16;
}

/* Element i of f32 or f16 data. */
static inline float ig_get_float(const void *data, int32_t type, int64_t i)
{
    return type == IG_F16 ? ig_half_to_float(((const uint16_t *)data)[i]) : ((const float *)data)[i];
}

static inline void ig_put_float(void *data, int32_t type, int64_t i, float v)
{
    if (type == IG_F16) ((uint16_t *)data)[i] = ig_float_to_half(v);
    else ((float *)data)[i] = v;
}

/* Element i of row y of an operand of f32 or f16. */
static inline float ig_load(const struct ig_operand *o, int32_t y, int64_t i)
{
    int32_t type = o->shape->type;
    return ig_get_float(ig_row(o, y, ig_type_bytes(type)), type, i);
}

static inline void ig_store(const struct ig_operand *o, int32_t y, int64_t i, float v)
{
    int32_t type = o->shape->type;
    ig_put_float(ig_row(o, y, ig_type_bytes(type)), type, i, v);
}

/* Integer (or truncated f32) element i; 0 for f16. */
static inline int64_t ig_get_int(const void *data, int32_t type, int64_t i)
{
    switch (type) {
    case IG_F32: return (int64_t)((const float *)data)[i];
    case IG_I32: return ((const int32_t *)data)[i];
    case IG_I64: return ((const int64_t *)data)[i];
    case IG_I8: return ((const int8_t *)data)[i];
    case IG_U8:
    case IG_BOOL: return ((const uint8_t *)data)[i];
    default: return 0;
    }
}

/* Element i as a double: exact but for i64 beyond 2^53. */
static inline double ig_get_real(const void *data, int32_t type, int64_t i)
{
    return ig_is_float(type) ? (double)ig_get_float(data, type, i) : (double)ig_get_int(data, type, i);
}

/* data[i] = v, wrapping to the type's width. */
static inline void ig_put_int(void *data, int32_t type, int64_t i, int64_t v)
{
    switch (type) {
    case IG_F32: ((float *)data)[i] = (float)v; break;
    case IG_I32: ((int32_t *)data)[i] = (int32_t)v; break;
    case IG_I64: ((int64_t *)data)[i] = v; break;
    case IG_I8: ((int8_t *)data)[i] = (int8_t)v; break;
    case IG_U8: ((uint8_t *)data)[i] = (uint8_t)v; break;
    case IG_BOOL: ((uint8_t *)data)[i] = v != 0; break;
    default: break;
    }
}

/* data[i] = v, truncated for integer types. */
static inline void ig_put_real(void *data, int32_t type, int64_t i, double v)
{
    if (ig_is_float(type)) ig_put_float(data, type, i, (float)v);
    else ig_put_int(data, type, i, (int64_t)v);
}

/* Order of elements i and j of one tensor: -1, 0 or 1; a NaN is above every number, as in a sort by numpy. */
static inline int ig_order(const void *data, int32_t type, int64_t i, int64_t j)
{
    if (type == IG_F32) {
        float a = ((const float *)data)[i], b = ((const float *)data)[j];
        if (a != a || b != b) return (a != a) - (b != b);
        return (a > b) - (a < b);
    }
    int64_t a = ig_get_int(data, type, i), b = ig_get_int(data, type, j);
    return (a > b) - (a < b);
}

/*
 * Index element i of an i32 or i64 tensor; negative ones count from the end of an axis of n elements. Data may be
 * wrong, and kernels cannot fail: an index outside the axis becomes its nearest.
 */
static inline int64_t ig_get_index(const struct ig_operand *o, int64_t i, int64_t n)
{
    int64_t v = ig_get_int(o->data, o->shape->type, i);
    v = v < 0 ? v + n : v;
    return v < 0 ? 0 : v < n ? v : n - 1;
}

#endif
