/* Tensor vocabulary: element types and shapes. Plain data, shared by every room. */
#ifndef GRAPH_TENSOR_H
#define GRAPH_TENSOR_H

#include <stdint.h>

enum { IG_MAX_RANK = 8 }; /* the highest tensor rank that the compiler accepts */

enum ig_type {   /* element type; IG_F16: at the network's edge, in Cast, storage of half precision */
    IG_F32 = 0,
    IG_I32 = 1,
    IG_I64 = 2,
    IG_U8 = 3,
    IG_I8 = 4,
    IG_BOOL = 5, /* one byte, 0 or 1 */
    IG_F16 = 6,
    IG_TYPES = 7
};

/* Bytes of one element; 0 for an unknown type. */
static inline int ig_type_bytes(int32_t type)
{
    static const int8_t bytes[IG_TYPES] = {4, 4, 8, 1, 1, 1, 2};
    return type >= 0 && type < IG_TYPES ? bytes[type] : 0;
}

/* "f32", ...: the type in text; "?" for an unknown one. */
static inline const char *ig_type_name(int32_t type)
{
    static const char names[IG_TYPES][5] = {"f32", "i32", "i64", "u8", "i8", "bool", "f16"};
    return type >= 0 && type < IG_TYPES ? names[type] : "?";
}

/* IEEE 754 binary16, by its bits. */
static inline float ig_half_to_float(uint16_t h)
{
    int exponent = h >> 10 & 31, mantissa = h & 1023;
    float v;
    if (exponent == 31) v = mantissa ? __builtin_nanf("") : __builtin_inff();
    else if (exponent == 0) v = (float)mantissa * (1.0f / (1 << 24));
    else {
        uint32_t bits = (uint32_t)(exponent + 112) << 23 | (uint32_t)mantissa << 13;
        __builtin_memcpy(&v, &bits, sizeof v);
    }
    return h >> 15 ? -v : v;
}

/* f32 to binary16: to nearest, ties to even; too large becomes infinite. */
static inline uint16_t ig_float_to_half(float f)
{
    uint32_t bits, sign;
    __builtin_memcpy(&bits, &f, sizeof bits);
    sign = bits >> 16 & 0x8000;
    bits &= 0x7fffffff;
    if (bits > 0x7f800000) return (uint16_t)(sign | 0x7e00);
    if (bits >= 0x477ff000) return (uint16_t)(sign | 0x7c00); /* 65520: half way to 65536 */
    uint32_t shift = bits < 0x38800000 ? 113 - (bits >> 23) + 13 : 13; /* below 2^-14: subnormal */
    if (shift > 25) return (uint16_t)sign;
    uint32_t m = bits < 0x38800000 ? (bits & 0x7fffff) | 0x800000 : bits - 0x38000000;
    uint32_t half = m >> shift, rest = m & ((1u << shift) - 1), middle = 1u << (shift - 1);
    half += rest > middle || (rest == middle && (half & 1));
    return (uint16_t)(sign | half);
}

/* Element i of dense data of a type, as a number; integers beyond 2^53 are rounded. */
static inline double ig_as_double(int32_t type, const void *data, int64_t i)
{
    switch (type) {
    case IG_F32: return (double)((const float *)data)[i];
    case IG_I32: return (double)((const int32_t *)data)[i];
    case IG_I64: return (double)((const int64_t *)data)[i];
    case IG_I8: return (double)((const int8_t *)data)[i];
    case IG_F16: return (double)ig_half_to_float(((const uint16_t *)data)[i]);
    default: return (double)((const uint8_t *)data)[i];
    }
}

struct ig_shape { /* a dense row-major tensor: the last dim is contiguous */
    int32_t type; /* enum ig_type */
    int32_t rank; /* 0 (scalar) .. IG_MAX_RANK */
    int32_t dims[IG_MAX_RANK]; /* [0, rank) valid, >= 1; the rest is 1 */
};

/* Number of elements of `s`. */
static inline int64_t ig_count(const struct ig_shape *s)
{
    int64_t n = 1;
    for (int i = 0; i < s->rank; i++) n *= s->dims[i];
    return n;
}

/* Bytes of a dense tensor of shape `s`. */
static inline int64_t ig_bytes(const struct ig_shape *s)
{
    return ig_count(s) * ig_type_bytes(s->type);
}

#endif
