/* Resize of an image's rows and columns, or of a volume, by up to four taps along each dim, whatever the mode and coordinates. */
#ifndef KERNELS_CPU_COMMON_RESIZE_TAPS_H
#define KERNELS_CPU_COMMON_RESIZE_TAPS_H

#include "kernels_cpu/kernel.h"

enum { IG_RESIZE_TAPS = 4 };

struct ig_resize_taps {   /* of an output depth, row or column */
    int32_t n;            /* 0: it is outside, and the result is `extrapolation` */
    int32_t at[IG_RESIZE_TAPS];
    float weight[IG_RESIZE_TAPS];
};

#endif
