/* Deformable convolution as a product with a matrix of columns: what some output pixels' taps are, for all input channels. */
#ifndef KERNELS_CPU_COMMON_DEFORM_CONV_H
#define KERNELS_CPU_COMMON_DEFORM_CONV_H

#include "kernels_cpu/kernel.h"

enum { IG_DEFORM_PIXELS = 32 };  /* of a matrix */

struct ig_deform_corners {       /* of a tap of a pixel, in all channels of a group of offsets */
    int32_t at[4];               /* elements of a channel; at[0] < 0: the tap is outside, and 0 */
    float weight[4];             /* the mask is in it; 0 outside the image, whose nearest element stands there */
};

/* Floats of the matrix, which is [input channels][taps][IG_DEFORM_PIXELS]. */
static inline int64_t ig_deform_floats(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_deform *)call->attrs)->w;
    return (int64_t)call->in[0].shape->dims[1] * w->kh * w->kw * IG_DEFORM_PIXELS;
}

#endif
