/*
 * GEMM over packed pixels: a group's pixels are first copied side by side, k by k, so that a micro-kernel reads both
 * operands with its widest loads. Worth it from two panels on; the chain of an element and the packed weights are
 * those of conv_gemm.h, so the bits are, too.
 *
 *   packed A, K = taps * k:   k 0: pixel 0 .. 5 | k 1: pixel 0 .. 5 | ... | k K-1: pixel 0 .. 5
 */
#ifndef KERNELS_CPU_COMMON_GEMM_PACKED_H
#define KERNELS_CPU_COMMON_GEMM_PACKED_H

#include "kernels_cpu/common/gemm_block.h"

enum {
    IG_PACKED_MR = 6,
    IG_PACKED_NR = 16,
    IG_PACKED_STREAM_BYTES = 512 << 10 /* stream_bytes of every set that has packed kernels */
};

/* What a micro-kernel is given. The offsets of the members are known to assembly: do not reorder. */
struct ig_packed_args {
    const float *a;        /*  0: packed pixels, 16-byte aligned */
    int64_t k;             /*  8: K, >= 1 */
    const float *b;        /* 16: panel after panel: bias[16], w[K][16] */
    float *const *c;       /* 24: [rows] addresses, no alignment */
    int64_t c_offset;      /* 32: bytes to add to each of them (the first panel's first channel) */
    const float *const *r; /* 40: [rows] addresses of the residual, or NULL; may equal c */
    int64_t r_offset;      /* 48: bytes */
    int64_t panels;        /* 56: >= 1 */
    int32_t flags;         /* 64: 0, IG_GEMM_LO, or both enum ig_gemm_flags */
    float lo, hi;          /* 68, 72 */
};

/* c[row][0..width * panels) of `rows` rows; rows and width are fixed by the function. One panel if width is 8. */
typedef void ig_packed_fn(const struct ig_packed_args *args);
/* Packs the pixels of one group: a[tap][6] addresses, moved by `offset` bytes, of k floats each. */
typedef void ig_pack_rows_fn(const float *const *a, int64_t offset, int64_t taps, int64_t k, float *packed);

struct ig_gemm_packed {                    /* one ISA's; static const data */
    ig_pack_rows_fn *pack[IG_PACKED_MR];   /* by rows - 1 */
    ig_packed_fn *fn[2][IG_PACKED_MR];     /* [width 8, width 16][rows - 1] */
};

/* Bytes of packed pixels, of `depth` = taps * k floats, that a convolution keeps at a time. */
size_t ig_gemm_packed_bytes(const struct ig_call *call, int64_t depth);
/* Gives the job room for them; nothing if its set has no packed kernels. */
void ig_gemm_packed_place(struct ig_gemm_job *job, void *scratch);
/* Is a run of the block's groups over panels [j0, j1) worth packing? It is then computed with taps in the padding, too. */
int ig_gemm_packed_pays(const struct ig_gemm_job *job, int32_t groups, int32_t j0, int32_t j1);
/* The block's groups by panels [j0, j1) of convolution group g. */
void ig_gemm_packed_run(struct ig_gemm_job *job, int32_t groups, int32_t g, int32_t j0, int32_t j1);

#endif
