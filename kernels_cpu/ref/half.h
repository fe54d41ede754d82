/* f32 to IEEE 754 binary16; the way back is in graph/tensor.h. */
#ifndef KERNELS_CPU_REF_HALF_H
#define KERNELS_CPU_REF_HALF_H

#include <stdint.h>
#include <string.h>

#include "graph/tensor.h"

/* Rounds to nearest, ties to even; too large becomes infinite. */
static inline uint16_t ig_float_to_half(float f)
{
    uint32_t bits, sign;
    memcpy(&bits, &f, sizeof bits);
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

#endif
