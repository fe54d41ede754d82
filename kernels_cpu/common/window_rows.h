/* The rows of the input that an output row's window meets, one kernel row after the other, depth by depth. */
#ifndef KERNELS_CPU_COMMON_WINDOW_ROWS_H
#define KERNELS_CPU_COMMON_WINDOW_ROWS_H

#include "kernels_cpu/kernel.h"
#include "kernels_cpu/ref/window.h"

struct ig_window_row {      /* a kernel row of an output row */
    int32_t ky, top;        /* which of its depth, whose first lies on input row `top`, */
    int32_t y, z;           /* where it lies: row, depth */
    int32_t in_h;           /* rows of a depth of the input */
};

static inline struct ig_window_row ig_first_row(const struct ig_call *call, const struct ig_window *w, int32_t y)
{
    int32_t out_h = call->out[0].h / w->out_d, top = y % out_h * w->sh - w->top;
    return (struct ig_window_row){0, top, top, y / out_h * w->sd - w->front, call->in[0].h / w->in_d};
}

/* The input row of a kernel row, NULL if it is outside the image; goes on to the next. */
static inline const float *ig_next_row(const struct ig_call *call, const struct ig_window *w, struct ig_window_row *at)
{
    int32_t y = at->y, z = at->z;
    at->y += w->dh;
    if (++at->ky == w->kh) at->ky = 0, at->y = at->top, at->z += w->dd;
    return ig_inside(z, w->in_d) && ig_inside(y, at->in_h) ? ig_row_f32(&call->in[0], z * at->in_h + y) : NULL;
}

#endif
