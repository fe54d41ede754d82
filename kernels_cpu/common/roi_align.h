/* Scratch of regions of interest: what each row and each column of a bin weighs. */
#ifndef KERNELS_CPU_COMMON_ROI_ALIGN_H
#define KERNELS_CPU_COMMON_ROI_ALIGN_H

#include "kernels_cpu/ref/roi_align.h"

struct ig_roi_weight {
    int32_t at;
    float weight;
};

/* Of a dim of n pixels: one each, or for IG_ROI_MAX two a sample. */
static inline int32_t ig_roi_most(const struct ig_roi_align *a, int32_t n)
{
    if (a->mode != IG_ROI_MAX) return n;
    return 2 * (a->sampling > 0 && a->sampling < IG_ROI_SAMPLES ? a->sampling : IG_ROI_SAMPLES);
}

#endif
