/*
 * Strassen's algorithm on packed pixels (gemm_packed.h), in Winograd's form: pairs of pixels and of panels as in
 * strassen.h, but the sums of products are made by accumulators that go on, and the weights lie in the order in which
 * they are needed: neon/strassen.S has the formulas.
 *
 * Packed weights (kernels_cpu/pack/strassen.c), by pair of panels, nr = 16:
 *   { bias2 - bias1 [nr], T1[ic/2][nr], bias1 [nr], B11, B21, T2, T3, -T4, B22 [ic/2][nr] }
 */
#ifndef KERNELS_CPU_COMMON_STRASSEN_PACKED_H
#define KERNELS_CPU_COMMON_STRASSEN_PACKED_H

#include "kernels_cpu/common/gemm_packed.h"

enum {
    IG_STRASSEN_PAIRS = 6,             /* of pixels, of a group */
    IG_STRASSEN_HALVES = 7,            /* packed halves of a group: S1 A11 A12 S2 S3 A22 S4 */
    IG_STRASSEN_NR = 32,               /* channels of a pair of panels */
    IG_STRASSEN_TILES = 4 * 6 * 16,    /* floats of the four kept tiles */
    IG_STRASSEN_GROUPS = 16,           /* of a block, at most */
    IG_STRASSEN_WAIT_BYTES = 384 << 10 /* of packed groups that streamed weights pass over */
};

/* What a micro-kernel is given. The offsets of the members are known to assembly: do not reorder. */
struct ig_strassen_args {
    const float *a;               /*  0: the packed halves, each [k][6] */
    int64_t k;                    /*  8: half of the input channels, a multiple of 8 */
    const float *b;               /* 16: pair of panels after pair, see pack/strassen.c */
    float *const *top;            /* 24: [pairs] addresses of the upper output pixels, no alignment */
    int64_t c_offset;             /* 32: bytes to add to each of them and to `bottom` */
    float *const *bottom;         /* 40 */
    const float *const *r_top;    /* 48: the same of the residual, or NULL */
    const float *const *r_bottom; /* 56 */
    int64_t r_offset;             /* 64 */
    int64_t panel_pairs;          /* 72: >= 1 */
    int32_t flags;                /* 80: 0, IG_GEMM_LO, or both enum ig_gemm_flags */
    float lo, hi;                 /* 84, 88 */
    float *tiles;                 /* 96: IG_STRASSEN_TILES floats */
};

typedef void ig_strassen_fn(const struct ig_strassen_args *args);

/* Floats of a pair of panels. */
static inline int64_t ig_strassen_pair(int64_t ic)
{
    return IG_STRASSEN_NR + IG_STRASSEN_HALVES * (ic / 2) * (IG_STRASSEN_NR / 2);
}

/* Packed floats of a group. */
static inline int64_t ig_strassen_group(int64_t ic)
{
    return IG_STRASSEN_HALVES * IG_STRASSEN_PAIRS * (ic / 2);
}

/* Groups that are packed at a time: one where the weights stay in L2. */
static inline int32_t ig_strassen_block(int64_t ic, int64_t oc)
{
    int64_t fit = IG_STRASSEN_WAIT_BYTES / (ig_strassen_group(ic) * (int64_t)sizeof(float));
    int64_t weights = oc / IG_STRASSEN_NR * ig_strassen_pair(ic) * (int64_t)sizeof(float);
    if (weights <= IG_PACKED_STREAM_BYTES || fit < 1) return 1;
    return fit < IG_STRASSEN_GROUPS ? (int32_t)fit : IG_STRASSEN_GROUPS;
}

#endif
