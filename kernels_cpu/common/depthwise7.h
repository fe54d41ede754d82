/*
 * Depthwise convolution, 3x3, 5x5 and 7x7, seven outputs at a time: the driver around one ISA's kernels, how a row is cut,
 * and the copy of input pixels that lie too regularly. Pixels a multiple of 1 KiB apart share a few sets of L1: a row would
 * drive itself out, and loads would wait for stores to other addresses that look like theirs.
 */
#ifndef KERNELS_CPU_COMMON_DEPTHWISE7_H
#define KERNELS_CPU_COMMON_DEPTHWISE7_H

#include <stdint.h>

#include "kernels_cpu/kernel.h"

enum ig_direct_flags {
    IG_DIRECT_LO = 1,    /* max with lo */
    IG_DIRECT_HI = 2     /* then min with hi; only together with IG_DIRECT_LO */
};

/* Seven outputs of a row by one vector of channels or two at a time. Assembly knows the offsets: do not reorder. */
struct ig_direct {
    const float *const *rows; /*  0: input rows, at the first output's first column: the image's, or left of it */
    int64_t n_rows;           /*  8: kernel rows inside the image, may be 0 */
    const float *w;           /* 16: packed weights of the first channels */
    int64_t w_row;            /* 24: bytes from there to the first kernel row's */
    int64_t w_block;          /* 32: bytes from a vector of channels to the next */
    int64_t column;           /* 40: bytes to the next input column */
    float *out;               /* 48 */
    int64_t out_step;         /* 56: bytes to the next pixel */
    int64_t n;                /* 64: outputs, 7 .. 28 */
    int64_t blocks;           /* 72: of so many vectors */
    uint32_t outside;         /* 80: a byte per seven outputs: bit i (pad + i): the i-th column from the left (right) */
    int32_t flags;            /* 84: enum ig_direct_flags */
    float lo, hi;             /* 88, 92 */
    int64_t channels;         /* 96: of one vector: all lanes, or fewer */
};

typedef void ig_direct_fn(const struct ig_direct *direct);
/* to[x][0..n) = act(from[x][0..n)) for x < pixels; steps: elements from a pixel to the next */
typedef void ig_act_pixels_fn(float *to, int64_t to_step, const float *from, int64_t from_step, int32_t pixels, int64_t n,
                              const struct ig_act *act);

struct ig_depthwise7_set {            /* one ISA's; static const data */
    ig_direct_fn *fn[3][2][2];        /* [k / 2 - 1][stride - 1][one vector, two] */
    int32_t lanes;                    /* of a vector; weights are packed in such blocks */
    ig_act_pixels_fn *act;
};

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

/* The kernel: what ig_supports_depthwise7 supports. */
void ig_depthwise7(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_depthwise7_set *set);

#endif
