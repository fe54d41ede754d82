/*
 * The tile transforms of Winograd F(2,3), F(4,3), F(6,3), written once for vectors of any width. Whoever includes this
 * has defined, over `vec` of LANES floats:
 *   v_load(p) v_store(p, v) v_load_part(p, n) v_store_part(p, v, n)   n in 1..LANES-1 elements, the rest untouched
 *   v_set(x) v_add(a, b) v_sub(a, b) v_max(a, b) v_min(a, b)          a NaN in b stays
 *   v_fma(a, x, b)   a + x*b, x a float constant, fused              v_mul(x, b)   x*b
 * The points: F2 0 1 -1; F4 0 3/4 -3/4 3/2 -3/2, whose error is a quarter of that of 0 1 -1 2 -2; F6 0 1 -1 2 -2 1/2
 * -1/2; and infinity. Points in pairs +p, -p share their even and odd parts. Constants are exact.
 * Registers: a transform has n + 4 vectors live; between the two passes a tile's n x n (m x n) go through memory.
 */
#ifndef KERNELS_CPU_COMMON_WINOGRAD_TILE_H
#define KERNELS_CPU_COMMON_WINOGRAD_TILE_H

#include "kernels_cpu/common/winograd.h"

#define TILE_INLINE static inline __attribute__((always_inline))

typedef void tile_fn(const vec *d, vec *o);

TILE_INLINE void pair(vec even, vec odd, float p, vec *o)
{
    o[0] = v_fma(even, p, odd);
    o[1] = v_fma(even, -p, odd);
}

/* --- B^T d: n to n --- */

TILE_INLINE void in2(const vec *d, vec *o)
{
    o[0] = v_sub(d[2], d[0]);
    o[1] = v_add(d[2], d[1]);
    o[2] = v_sub(d[2], d[1]);
    o[3] = v_sub(d[3], d[1]);
}

TILE_INLINE void in4(const vec *d, vec *o)
{
    const float a = 0.75f, b = 1.5f, aa = a * a, bb = b * b;
    o[0] = v_fma(v_fma(d[4], -(aa + bb), d[2]), aa * bb, d[0]);
    pair(v_fma(d[4], -bb, d[2]), v_fma(d[3], -bb, d[1]), a, o + 1);
    pair(v_fma(d[4], -aa, d[2]), v_fma(d[3], -aa, d[1]), b, o + 3);
    o[5] = v_fma(v_fma(d[5], -(aa + bb), d[3]), aa * bb, d[1]);
}

TILE_INLINE void in6(const vec *d, vec *o)
{
    o[0] = v_fma(v_sub(d[6], d[0]), 5.25f, v_sub(d[2], d[4]));
    pair(v_fma(v_add(d[6], d[2]), -4.25f, d[4]), v_fma(v_add(d[5], d[1]), -4.25f, d[3]), 1, o + 1);
    pair(v_fma(v_fma(d[6], -1.25f, d[4]), 0.25f, d[2]), v_fma(v_fma(d[5], -1.25f, d[3]), 0.25f, d[1]), 2, o + 3);
    pair(v_fma(v_fma(d[6], -5, d[4]), 4, d[2]), v_fma(v_fma(d[5], -5, d[3]), 4, d[1]), 0.5f, o + 5);
    o[7] = v_fma(v_sub(d[7], d[1]), 5.25f, v_sub(d[3], d[5]));
}

/* --- A^T d: n to m --- */

TILE_INLINE void out2(const vec *d, vec *o)
{
    o[0] = v_add(d[0], v_add(d[1], d[2]));
    o[1] = v_add(d[3], v_sub(d[1], d[2]));
}

TILE_INLINE void out4(const vec *d, vec *o)
{
    const float a = 0.75f, b = 1.5f, aa = a * a, bb = b * b;
    vec s1 = v_add(d[1], d[2]), d1 = v_sub(d[1], d[2]), s2 = v_add(d[3], d[4]), d2 = v_sub(d[3], d[4]);
    o[0] = v_add(d[0], v_add(s1, s2));
    o[1] = v_fma(v_mul(a, d1), b, d2);
    o[2] = v_fma(v_mul(aa, s1), bb, s2);
    o[3] = v_fma(v_fma(d[5], aa * a, d1), bb * b, d2);
}

TILE_INLINE void out6(const vec *d, vec *o)
{
    vec s1 = v_add(d[1], d[2]), d1 = v_sub(d[1], d[2]), s2 = v_add(d[3], d[4]), d2 = v_sub(d[3], d[4]);
    vec s3 = v_add(d[5], d[6]), d3 = v_sub(d[5], d[6]);
    o[0] = v_add(v_add(d[0], s1), v_add(s2, s3));
    o[1] = v_fma(v_fma(d1, 0.5f, d3), 2, d2);
    o[2] = v_fma(v_fma(s1, 0.25f, s3), 4, s2);
    o[3] = v_fma(v_fma(d1, 0.125f, d3), 8, d2);
    o[4] = v_fma(v_fma(s1, 0.0625f, s3), 16, s2);
    o[5] = v_fma(v_fma(v_add(d[7], d1), 0.03125f, d3), 32, d2);
}

/* --- tiles --- */

/* Channels [c, c + width) of a strip: first every column, then every row of every tile. */
TILE_INLINE void strip_in(const struct ig_winograd_in *args, int32_t c, int32_t width, const int m, tile_fn *transform)
{
    const int n = m + 2;
    const int64_t plane = args->plane;
    const float *const *pixel = args->pixel;
    float *strip = args->strip;
    vec d[8], o[8];
    for (const float *const *end = pixel + (m * args->tiles + 2) * n; pixel < end; pixel += n, strip += n * LANES) {
#pragma GCC unroll 8
        for (int i = 0; i < n; i++) d[i] = width < LANES ? v_load_part(pixel[i] + c, width) : v_load(pixel[i] + c);
        transform(d, o);
#pragma GCC unroll 8
        for (int i = 0; i < n; i++) v_store(strip + i * LANES, o[i]);
    }
    strip = args->strip;
    for (int32_t t = 0; t < args->tiles; t++, strip += m * n * LANES) {
        float *v = args->v + t * args->row + c;
        for (int i = 0; i < n; i++) {
#pragma GCC unroll 8
            for (int j = 0; j < n; j++) d[j] = v_load(strip + (j * n + i) * LANES);
            transform(d, o);
#pragma GCC unroll 8
            for (int j = 0; j < n; j++, v += plane) v_store(v, o[j]);
        }
    }
}

TILE_INLINE void tiles_in(const struct ig_winograd_in *args, const int m, tile_fn *transform)
{
    int32_t c = 0;
    for (; c + LANES <= args->ic; c += LANES) strip_in(args, c, LANES, m, transform);
    if (c < args->ic) strip_in(args, c, args->ic - c, m, transform);
}

/* Channels [c, c + width) of a tile. */
TILE_INLINE void part_out(const struct ig_winograd_out *args, int32_t c, int32_t width, const int m, tile_fn *transform)
{
    const int n = m + 2;
    const int32_t columns = args->columns;
    const int64_t down = n * args->plane, c_step = args->c_step, r_step = args->r_step;
    vec half[IG_WINOGRAD_MAX_M][8], d[8], o[8], bias = v_load(args->bias + c), lo = v_set(args->lo), hi = v_set(args->hi);
    for (int j = 0; j < n; j++) {
        const float *p = args->m + j * args->plane + c;
#pragma GCC unroll 8
        for (int i = 0; i < n; i++, p += down) d[i] = v_load(p);
        transform(d, o);
#pragma GCC unroll 8
        for (int i = 0; i < m; i++) half[i][j] = o[i];
    }
    for (int32_t i = 0; i < args->rows; i++) {
        float *to = args->c[i] + c;
        const float *r = args->r ? args->r[i] + c : NULL;
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) d[j] = half[i][j];
        transform(d, o);
#pragma GCC unroll 8
        for (int j = 0; j < m; j++) {
            if (j >= columns) break;
            vec y = v_add(o[j], bias);
            if (r) y = v_add(y, width < LANES ? v_load_part(r + j * r_step, width) : v_load(r + j * r_step));
            y = v_min(hi, v_max(lo, y));
            if (width < LANES) v_store_part(to + j * c_step, y, width);
            else v_store(to + j * c_step, y);
        }
    }
}

TILE_INLINE void tile_out(const struct ig_winograd_out *args, const int m, tile_fn *transform)
{
    int32_t c = 0;
    for (; c + LANES <= args->n; c += LANES) part_out(args, c, LANES, m, transform);
    if (c < args->n) part_out(args, c, args->n - c, m, transform);
}

#endif
