/* A loop of its own for any two types. */
#include "kernels_cpu/common/cast.h"

#define INLINE static inline __attribute__((always_inline))

INLINE int64_t truncated(float v)
{
    if (v != v) return 0;
    if (v >= 0x1p63f) return INT64_MAX;
    return v < -0x1p63f ? INT64_MIN : (int64_t)v;
}

INLINE int64_t integer(const void *x, int64_t i, const int type)
{
    switch (type) {
    case IG_F32: return truncated(((const float *)x)[i]);
    case IG_I32: return ((const int32_t *)x)[i];
    case IG_I64: return ((const int64_t *)x)[i];
    case IG_I8: return ((const int8_t *)x)[i];
    default: return ((const uint8_t *)x)[i];
    }
}

INLINE int is_true(const void *x, int64_t i, const int type)
{
    return type == IG_F32 ? ((const float *)x)[i] != 0 : integer(x, i, type) != 0;
}

INLINE float real(const void *x, int64_t i, const int type)
{
    return type == IG_F32 ? ((const float *)x)[i] : (float)integer(x, i, type);
}

INLINE void loop(void *y, const void *x, int64_t n, const int from, const int to)
{
    for (int64_t i = 0; i < n; i++)
        switch (to) {
        case IG_F32: ((float *)y)[i] = real(x, i, from); break;
        case IG_I32: ((int32_t *)y)[i] = (int32_t)integer(x, i, from); break;
        case IG_I64: ((int64_t *)y)[i] = integer(x, i, from); break;
        case IG_BOOL: ((uint8_t *)y)[i] = (uint8_t)is_true(x, i, from); break;
        default: ((uint8_t *)y)[i] = (uint8_t)integer(x, i, from); break; /* i8 alike */
        }
}

INLINE void from_type(void *y, const void *x, int64_t n, const int from, int to)
{
    switch (to) {
    case IG_F32: loop(y, x, n, from, IG_F32); break;
    case IG_I32: loop(y, x, n, from, IG_I32); break;
    case IG_I64: loop(y, x, n, from, IG_I64); break;
    case IG_BOOL: loop(y, x, n, from, IG_BOOL); break;
    default: loop(y, x, n, from, IG_U8); break;
    }
}

void ig_cast_any(void *y, const char *x, int64_t n, int from, int to)
{
    switch (from) {
    case IG_F32: from_type(y, x, n, IG_F32, to); break;
    case IG_I32: from_type(y, x, n, IG_I32, to); break;
    case IG_I64: from_type(y, x, n, IG_I64, to); break;
    case IG_I8: from_type(y, x, n, IG_I8, to); break;
    default: from_type(y, x, n, IG_U8, to); break;
    }
}
