/* Winograd's F(rows x columns, kh x kw), of stride 1, or 2 and 3x3: sizes that kernels, packed weights and launches share. */
#ifndef KERNELS_CPU_COMMON_WINOGRAD_SHAPE_H
#define KERNELS_CPU_COMMON_WINOGRAD_SHAPE_H

#include "kernels_cpu/kernel.h"

enum {
    IG_WINOGRAD_MAX_M = 6,
    IG_WINOGRAD_MAX_K = 7,        /* taps of a row or column */
    IG_WINOGRAD_MAX_N = 10,       /* points of a row or column of a tile: as many as pixels, (outputs - 1) stride + taps */
    IG_WINOGRAD_MAX_POINTS = 81   /* of a tile */
};

struct ig_winograd_shape {
    int32_t rows, columns;        /* outputs of a tile */
    int32_t kh, kw;               /* taps; where a row or column has one output, its taps are its points */
    int32_t stride;
    int32_t kd;                   /* taps through depth, which are not transformed: each has input channels of its own */
};

/* A convolution's with tiles of rows x columns, but of one row or column where it has one tap. */
static inline struct ig_winograd_shape ig_winograd_shape_of(const struct ig_call *call, int32_t rows, int32_t columns)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    struct ig_winograd_shape s = {w->kh > 1 ? rows : 1, w->kw > 1 ? columns : 1, w->kh, w->kw, w->sh, w->kd};
    return s;
}

/* Points down, across, and of a whole tile. */
static inline int32_t ig_winograd_high(const struct ig_winograd_shape *s)
{
    return (s->rows - 1) * s->stride + s->kh;
}

static inline int32_t ig_winograd_wide(const struct ig_winograd_shape *s)
{
    return (s->columns - 1) * s->stride + s->kw;
}

static inline int32_t ig_winograd_points(const struct ig_winograd_shape *s)
{
    return ig_winograd_high(s) * ig_winograd_wide(s);
}

#endif
