/*
 * Depthwise, seven outputs at a time: how a row is cut, and the copy of input pixels that lie too regularly. Pixels a
 * multiple of 1 KiB apart share a few sets of L1: a row would drive itself out, and loads would wait for stores to
 * other addresses that look like theirs.
 */
#ifndef KERNELS_CPU_COMMON_DEPTHWISE7_H
#define KERNELS_CPU_COMMON_DEPTHWISE7_H

#include "kernels_cpu/kernel.h"

enum {
    IG_DEPTHWISE7_STRETCH = 28,        /* most outputs of a row at a time */
    IG_DEPTHWISE7_L1 = 24 << 10        /* bytes for the input rows of a stretch */
};

/* Columns of the input that a stretch of n outputs touches. */
static inline int64_t ig_depthwise7_columns(const struct ig_call *call, int64_t n)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return (n - 1) * w->sw + w->kw;
}

/* Channels at a time, whole cache lines. */
static inline int32_t ig_depthwise7_group(const struct ig_call *call, int64_t n)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    int64_t group = IG_DEPTHWISE7_L1 / (ig_depthwise7_columns(call, n) * w->kh * (int64_t)sizeof(float)) / 16 * 16;
    return group < 16 ? 16 : (int32_t)group;
}

/* Are the input's rows copied, kh of them at a time? */
static inline int ig_depthwise7_copies(const struct ig_call *call)
{
    return call->in[0].pixel_stride % 512 == 0;
}

/* Floats from a copied pixel to the next: an odd number of lines. */
static inline int64_t ig_depthwise7_pitch(int32_t group)
{
    return group / 16 % 2 ? group : group + 16;
}

#endif
