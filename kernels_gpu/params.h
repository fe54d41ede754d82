/*
 * Parameters of the GPU kernels: one struct per family, passed by value, pointers first. Read by the .cu files and by
 * the C that fills them, so nothing but int32_t, float and pointers. Strides and extents count elements; every tensor
 * has fewer than 2^31.
 */
#ifndef KERNELS_GPU_PARAMS_H
#define KERNELS_GPU_PARAMS_H

#include <stdint.h>

enum { IG_GPU_SOME = 4 };  /* elements that a thread takes at most, a grid apart, where memory is all there is to wait for */

struct ig_gpu_act {      /* enum ig_unary and its two constants */
    int32_t kind;
    float alpha, beta;
};

struct ig_gpu_conv {     /* conv.cu, depthwise.cu, grouped.cu: convolution, a phase of a transposed one, fully connected */
    const float *in;
    const float *weights; /* [group][tap][ic][oc4] of one group's channels; depthwise [tap][oc4]; grouped [tap][ic][oc4 of all]; GEMV [oc][ic] */
    const float *bias;    /* [groups * oc], or NULL */
    const float *residual; /* as out, or NULL */
    const float *zeros;   /* ic floats of zero: what a tap beyond the edge reads */
    float *out;
    float *partial;       /* [split][group][pixel][oc4] where splits > 1 */
    int32_t in_h, in_w, in_row, in_pixel;
    int32_t out_h, out_w, out_row, out_pixel, residual_row, residual_pixel;
    int32_t groups, ic, oc, oc4;  /* channels of one group; depthwise, grouped oc4: of all; rounded up to 4, by conv_half.cu to 8 */
    int32_t weight_group, weight_tap; /* weights from a group, a tap to the next */
    int32_t kh, kw, sh, sw, dh, dw, top, left;
    int32_t splits, chunk; /* the sum is cut into `splits` pieces of `chunk` times 16 channels of a tap; depthwise_*_wide,
                              _ring: output rows of a thread */
    int32_t vector_out;   /* 1: out (and residual) may be accessed four channels at a time */
    struct ig_gpu_act act;
    int32_t halves;       /* of kernels on halves: which operands are: enum below; in, weights and bias as the function says */
};

enum { IG_GPU_OUT_HALVES = 1, IG_GPU_RESIDUAL_HALVES = 2, IG_GPU_IN_HALVES = 4 };

struct ig_gpu_conv_bytes { /* conv_bytes.cu, grouped_bytes.cu: convolution of bytes; a group's channels and taps are one line, k */
    const void *in;
    const void *weights;  /* signed, [group][oc][depth]: tap by tap, channels of each; depthwise [taps by fours][channel] four taps;
                             grouped [tap][ic by fours][channel] four ic */
    const int32_t *bias;  /* [group][oc4]: what is added to the sum of products of signed bytes */
    const float *scale;   /* [group][oc4] */
    const float *ends;    /* least and largest of the scaled sum; what is added to it then; a word of the byte that padding is */
    const void *pad;      /* such bytes for the channels of a group: what a tap beyond the edge reads */
    void *out;
    float *partial;       /* [split][group][pixel][oc4] sums where splits > 1 */
    int32_t in_h, in_w, in_row, in_pixel;
    int32_t out_h, out_w, out_row, out_pixel;
    int32_t groups, ic, oc, oc4; /* channels of one group; oc4: rounded up to 4; depthwise: of all in one group */
    int32_t tap, depth;   /* bytes of a line that a tap takes, ic rounded up to 4; of all, a multiple of 64 */
    int32_t kh, kw, sh, sw, dh, dw, top, left;
    int32_t splits, chunk; /* the sum is cut into `splits` pieces of `chunk` times 64 bytes */
    int32_t vector_out;   /* 1: out may be accessed four channels at a time */
    int32_t is_float;     /* out is of floats, sums times scales, and is accessed one by one */
    uint32_t flip;        /* what makes four bytes of the input signed ones, less 128 where they were not, by exclusive or */
};

struct ig_gpu_depth {    /* of a convolution over volumes: the third dim */
    int32_t in, in_rows, out_rows; /* depths of the input; rows of one depth */
    int32_t tap_rows;     /* rows of taps of one depth */
    int32_t stride, dilation, front;
};

struct ig_gpu_volume {   /* conv.cu: rows of all depths one behind the other, those of taps too: kh is kd kh */
    struct ig_gpu_conv flat;
    struct ig_gpu_depth depth;
};

struct ig_gpu_first {    /* first.cu: how a block's patch of the image lies in shared memory */
    struct ig_gpu_conv conv; /* weights: [ic][kh][phase of kx by sw][kx / sw][oc4] */
    int32_t phases_y, phases_x; /* rows, columns of taps that leave different rests by the stride; of a phase: */
    int32_t rows, columns, taps; /* rows and columns of pixels, taps of a row; rows of the last, taps of some may be fewer */
    int32_t full_phases;  /* that have so many taps */
    int32_t all_rows;     /* of a channel */
    int32_t line, plane;  /* floats from a row, a channel to the next */
};

struct ig_gpu_first_mma { /* first_half.cu: the same, of halves, four channels a pixel */
    struct ig_gpu_conv conv; /* weights: [kh][kw rounded up to 4][4][oc4] */
    int32_t copies;       /* of the patch; each begins sw columns further */
    int32_t steps;        /* of four taps that a row of taps takes */
    int32_t rows, columns; /* of pixels in a copy */
    int32_t plane;        /* halves from one to the next */
};

struct ig_gpu_axis {     /* of a transposed convolution, whose outputs with the same rest by the stride s are a phase; dilation d */
    int32_t common;       /* gcd(s, d): a phase has taps where it divides rest + shift */
    int32_t shift;        /* padding before, modulo s */
    int32_t step;         /* from one tap of a phase to the next, s / common; from its input to the next: */
    int32_t dilation;     /* d / common, */
    int32_t inverse;      /* whose inverse modulo step this is */
};

struct ig_gpu_deconv {   /* conv.cu, depthwise.cu: all phases of a transposed convolution */
    struct ig_gpu_conv all; /* weights: [group][first row of taps][first column][tap of the phase][ic][oc4] */
    struct ig_gpu_axis rows, columns;
};

struct ig_gpu_winograd { /* winograd.cu: the transforms around the product, which is ig_gpu_conv with a group a point */
    const float *in;
    float *v;             /* [tile][point][ic4] */
    const float *m;       /* [tile][point][oc4] */
    const float *bias;    /* [oc], or NULL */
    const float *residual; /* as out, or NULL */
    float *out;
    int32_t in_h, in_w, in_row, in_pixel, top, left;
    int32_t out_h, out_w, out_row, out_pixel, residual_row, residual_pixel;
    int32_t tiles_y, tiles_x;
    int32_t ic, ic4, oc, oc4; /* *4: rounded up to a multiple of 4 */
    struct ig_gpu_act act;
    int32_t halves;       /* of winograd*_half: as of a convolution */
};

struct ig_gpu_pool {     /* pool.cu: windows */
    const float *in;
    float *out;
    int32_t in_h, in_w, in_row, in_pixel;
    int32_t out_h, out_w, out_row, out_pixel;
    int32_t c;
    int32_t kh, kw, sh, sw, dh, dw, top, left;
    int32_t counted_h, counted_w; /* rows and columns up to here count in an average that counts padding; else 0 */
    int32_t average;      /* 0: maximum */
};

struct ig_gpu_whole {    /* pool.cu: all pixels of an image, or of what its pieces gave */
    const float *in;
    float *out;           /* [pieces][c] */
    int32_t h, w, c, row, pixel;
    int32_t chunk;        /* pixels of a piece */
    int32_t by;           /* the sum is divided by it; 0: it is not */
    int32_t average;      /* 0: maximum */
};

struct ig_gpu_map {      /* element-wise ops and copies: a view [h, w, c] of up to two inputs */
    const float *a, *b;   /* strides of 0 repeat an element */
    float *out;
    int32_t h, w, c;
    int32_t a_row, a_pixel, a_channel, b_row, b_pixel, b_channel, out_row, out_pixel;
    int32_t kind;         /* enum ig_binary */
    struct ig_gpu_act act;
};

struct ig_gpu_softmax {  /* softmax.cu: over c of every pixel */
    const float *in;
    float *out;
    int32_t pixels, w, c, in_row, in_pixel, out_row, out_pixel;
    int32_t log;          /* 1: logarithm of it */
    int32_t in_halves, out_halves; /* of softmax_half*: 1: halves, 0: floats */
};

struct ig_gpu_tiles {    /* transpose.cu: dims that lie side by side in one of input and output become so in the other */
    const uint32_t *in;
    uint32_t *out;
    int32_t width, height; /* extents of the dim that is side by side in the output, in the input */
    int32_t in_step, out_step; /* of the input from a column to the next; of the output from a row */
    int32_t across, down;  /* tiles */
    int32_t dims[3], in_at[3], out_at[3]; /* the others, outermost first */
};

struct ig_gpu_transpose { /* transpose.cu: up to five dims, outermost first */
    const uint32_t *in;
    uint32_t *out;
    int32_t count;        /* elements */
    int32_t dims[5];      /* of the output */
    int32_t strides[5];   /* of the input, by output dim */
};

struct ig_gpu_resize {   /* resize.cu: rows and columns of an image */
    const float *in;
    const int32_t *lines; /* for every output row, then column: two input ones, and the weight of the second as float */
    float *out;
    int32_t in_row, in_pixel;
    int32_t out_h, out_w, out_row, out_pixel;
    int32_t c;
    int32_t halves;       /* of a linear one: IG_GPU_IN_HALVES, IG_GPU_OUT_HALVES */
};

#endif
