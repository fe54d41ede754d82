/*
 * The kernel contract: what every CPU kernel is given and what it promises.
 *
 * A kernel is a pure function: operands, attributes, packed weights and scratch in, a rectangle of the
 * output out. No malloc, no stdio, no globals, no dispatch, and it cannot fail: whatever could go
 * wrong is refused at build time by `supports`.
 *
 * The contract: one call computes output rows [y0, y1) x channels [c0, c1) of one image. Ranges start
 * at multiples of the descriptor's row_tile and col_tile (and end at one, or at the edge). Input rows
 * are read through the row map `ig_row`, so an operand may be a ring of a few rows; rows and pixels
 * have explicit strides, so an operand may be a slice of a larger tensor. The bits of the result never
 * depend on how the work was cut, on the thread, or on the strides. Nothing outside the rectangle is
 * written, and nothing outside the operands' elements is read (operands may end at a page boundary).
 *
 * Every tensor is seen as [h, w, c], c contiguous:
 *   spatial ops       [N, (D,) H, W, C] -> N images ("batch", one call each) of h = D*H rows; [N,L,C]: h = 1
 *   everything else   [..., a, b]       -> h = product of the leading dims, w = a, c = b; [M,N] -> h = M, w = 1, c = N;
 *                                          [N] -> h = 1, w = 1, c = N; along axes and for what moves whole tensors [1, a, b] -> h = a, w = 1,
 *                                          c = b, so that threads have rows to share
 *   recurrent         Y [T,D,B,H] -> h = D*B rows of w = T pixels, whatever is first in memory; last h and c [D,B,H] have these rows, too
 * Kernels of other ops than the spatial, dense (fc) and element-wise ones may ignore h, w, c and use `shape`:
 * their operands are then dense, and they are called for the whole output at once (row_tile = 0), or for some of its rows.
 */
#ifndef KERNELS_CPU_KERNEL_H
#define KERNELS_CPU_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "graph/op.h"
#include "graph/tensor.h"

enum { IG_MAX_IN = 9, IG_MAX_OUT = 3 };

struct ig_operand {
    void *data;                   /* element (0,0,0); NULL: absent, or a constant that was packed */
    const struct ig_shape *shape; /* the whole tensor (all images) as the graph has it */
    int32_t h, w, c;              /* extent of one image */
    int32_t ring_rows;            /* rows that exist in memory; h if the whole image does */
    int64_t row_stride;           /* elements from a row to the next */
    int64_t pixel_stride;         /* elements from a pixel to the next, >= c */
};

struct ig_call {                  /* everything a kernel may look at, the same for all ranges of a step */
    const void *attrs;            /* the op's attribute struct (graph/op.h) */
    const void *weights;          /* what the descriptor's `pack` made, 64-byte aligned; NULL if it has none */
    const void *zeros;            /* at least zeros_bytes() of zero, 64-byte aligned */
    int32_t n_in, n_out;
    struct ig_operand in[IG_MAX_IN];
    struct ig_operand out[IG_MAX_OUT];
    int32_t image;                /* which image of a batch this call is; IG_POOL's indices count from image 0 */
};

struct ig_range {
    int32_t y0, y1; /* output rows */
    int32_t c0, c1; /* output channels */
};

/* `scratch`: at least scratch_bytes() of the caller's memory, 64-byte aligned, this thread's alone, contents undefined */
typedef void ig_kernel_fn(const struct ig_call *call, struct ig_range range, void *scratch);

/*
 * Build-time questions about a call. The call's strides and shapes are those of the plan; data pointers are
 * NULL except those of constant inputs (weights, biases), which `pack` reads.
 */
typedef int ig_supports_fn(const struct ig_call *call);            /* 1 if the kernel computes this call */
typedef size_t ig_pack_fn(const struct ig_call *call, void *dst);  /* bytes needed; fills dst unless it is NULL */
typedef size_t ig_scratch_fn(const struct ig_call *call);          /* bytes per thread */

enum ig_isa {
    IG_ISA_REF = 0, IG_ISA_AVX2, IG_ISA_AVXVNNI /* without AVX-512 */, IG_ISA_AVX512, IG_ISA_VNNI /* AVX-512 that has it */, IG_ISA_AMX, IG_ISA_NEON,
    IG_ISA_FP16 /* NEON that has arithmetic on halves */, IG_ISA_DOTPROD /* such that has products of bytes, too */, IG_ISA_CUDA /* kernels_gpu/kernel.h */, IG_ISAS
};

enum ig_kernel_flags {
    IG_STRIDED = 1,     /* operands may have any row_stride, pixel_stride and ring_rows */
    IG_IN_PLACE_0 = 2,  /* out[0] may be the very memory of in[0] (equal extents) */
    IG_IN_PLACE_1 = 4,  /* ... of in[1] */
    IG_IN_PLACE_3 = 8,  /* ... of in[3]: the residual of a convolution or fc */
    IG_RING_OUT = 16,   /* not strided, but out[0] may be a ring of dense rows */
    IG_NO_ZEROS = 32,   /* never reads `zeros` */
    IG_PAD_ZEROS = 64   /* reads `zeros` only where its window goes beyond the image */
};

struct ig_kernel {            /* one variant: everything the planner, the tests and the generator need */
    const char *name;         /* <op>_<dtype>_<tile>__<isa>, the C symbol */
    ig_kernel_fn *run;        /* NULL where this program is not built for the ISA */
    int32_t op;               /* enum ig_op */
    int32_t isa;              /* enum ig_isa */
    int32_t flags;            /* enum ig_kernel_flags */
    int32_t row_tile;         /* rows that a range may start at; 0: the rows are not divisible */
    int32_t col_tile;         /* channels that a range may start at; 0: the channels are not divisible */
    ig_supports_fn *supports;
    ig_pack_fn *pack;         /* NULL: the kernel reads its constants as they are */
    ig_scratch_fn *scratch;   /* NULL: none */
    float error;              /* bound on max|y - exact| / max|exact| of unit-normal data; 0: rounding of a direct sum */
    int32_t tile_columns;     /* pixels of a row that are made from common sums, from the row's first on; 0: each is
                                 made alone, where row_tile is 1 */
};

/* The row map: address of row y of `o`, whose elements are `bytes` long. */
static inline void *ig_row(const struct ig_operand *o, int32_t y, int32_t bytes)
{
    int32_t slot = y < o->ring_rows ? y : y % o->ring_rows;
    return (char *)o->data + (int64_t)slot * o->row_stride * bytes;
}

static inline float *ig_row_f32(const struct ig_operand *o, int32_t y)
{
    return (float *)ig_row(o, y, 4);
}

/*
 * Bytes that `zeros` must have for `call`: one pixel of input 0, and a vector more. Only spatial kernels may read it, but
 * for global pools (weights and flat tensors can be seen as one very wide pixel).
 */
static inline size_t ig_zeros_bytes(const struct ig_call *call)
{
    return call->n_in && call->in[0].shape ? (size_t)call->in[0].c * 4 + 64 : 64;
}

#endif
