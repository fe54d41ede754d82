/*
 * Convolution and FC on halves as GEMM by indirection, whose micro-kernels multiply and add halves: the portable driver around them.
 * As in conv_gemm.h an output pixel's taps are found through a table of addresses.
 *
 * Sums of halves would lose a bit of their eleven with every fourfold of their length. So no more than IG_HALF_PIECE products are added
 * in halves, from 0 on; these partial sums are widened and added to a sum of floats, which begins with the bias, and the residual if all
 * is of halves and a clamp follows; else the residual comes last. Then the activation, in floats; an element is rounded to a half once.
 * Pieces are cut by tap and channel alone, so that the bits depend neither on the cut nor on the position in a group. A clamp comes after
 * the rounding, with rounded bounds: which is the same, as rounding keeps the order.
 *
 * Packed weights (kernels_cpu/pack/half.c): those of conv_gemm.h for panels of 16, every float narrowed.
 */
#ifndef KERNELS_CPU_COMMON_HALF_GEMM_H
#define KERNELS_CPU_COMMON_HALF_GEMM_H

#include "kernels_cpu/common/half.h"

enum {
    IG_HALF_MR = 8,     /* rows of the tallest micro-kernel, and of a table's entry */
    IG_HALF_NR = 16,    /* channels of a panel */
    IG_HALF_PIECE = 64, /* most products that are added in halves; a multiple of 8 */
    IG_HALF_WINDOW = 32 /* most taps of a depthwise window, whose products are one such sum */
};

enum ig_half_gemm_flags {
    IG_HALF_GEMM_SUMS = 1,  /* the sums stay as they are, in floats: nothing is written to c */
    IG_HALF_GEMM_LO = 2,    /* c = max(c, lo) */
    IG_HALF_GEMM_HI = 4     /* c = min(c, hi), after the max; only beside the former */
};

/* What a micro-kernel is given. The offsets of the members are known to assembly: do not reorder. */
struct ig_half_args {
    const uint16_t *const *a; /*  0: [taps][IG_HALF_MR] addresses, also where fewer rows are computed */
    int64_t a_offset;         /*  8: bytes to add to each of them (the group's first channel) */
    int64_t taps;             /* 16: >= 1 */
    int64_t k;                /* 24: halves per tap, >= 1 */
    int64_t piece;            /* 32: of a tap's k, added in halves: k, or a multiple of 8 */
    int64_t together;         /* 40: taps that are; 1 where piece is not k */
    const uint16_t *b;        /* 48: bias[16], w[tap][k][16] of the panel */
    float *sums;              /* 56: [rows][16]: what they are made in */
    uint16_t *const *c;       /* 64: [rows] addresses, no alignment */
    int64_t c_offset;         /* 72: bytes to add to each of them (the panel's first channel) */
    const uint16_t *const *r; /* 80: [rows] addresses of the residual, which the sums begin with, or NULL; may equal c */
    int64_t r_offset;         /* 88: bytes */
    int32_t flags;            /* 96: enum ig_half_gemm_flags */
    uint16_t lo, hi;          /* 100, 102: halves */
};

typedef void ig_half_tile_fn(const struct ig_half_args *args);
/* Of one row sums[n][16] by n panels, 1, 2 or 4, `panel` halves apart; nothing is written to c. */
typedef void ig_half_pixel_fn(const struct ig_half_args *args, int64_t panel, int32_t n);

struct ig_half_set {           /* one ISA's tools; static const data */
    ig_half_tile_fn *const *fn[2]; /* fn[width/8 - 1][rows - 1], widths 8 and 16 */
    ig_half_pixel_fn *pixel;
    ig_act_fn *act;
    ig_widen_fn *widen;
    ig_narrow_fn *narrow;
};

/* Convolution: call->in = x, w, bias, residual; x is of halves, residual and y of halves or floats. */
void ig_half_gemm_conv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, void *scratch,
                       const struct ig_half_set *set);
/* Fully connected, the same operands; rows are pixels. */
void ig_half_gemm_fc(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half_set *set);
/* Scratch bytes of both. */
size_t ig_half_gemm_conv_scratch(const struct ig_call *call);
size_t ig_half_gemm_fc_scratch(const struct ig_call *call);

#endif
