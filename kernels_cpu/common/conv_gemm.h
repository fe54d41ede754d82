/*
 * Convolution and FC as GEMM by indirection: the portable driver around one ISA's micro-kernels.
 *
 * An output pixel is a row of C, its kd*kh*kw input pixels ("taps") are rows of A, found through a table of
 * addresses: no im2col copy. A tap in the padding has the address of a zero pixel; the first and last taps of a group
 * that are there for all its pixels are left out. Rows of a volume are those of all its depths, one behind the other. The pixels of a range are
 * numbered across its rows and split evenly into groups of at most `mr`; some dozen groups make a block, whose table
 * is built once and used for all panels of nr output channels.
 *
 * Every element is one chain: bias, then fma over the taps and, within a tap, over the channels; then + residual,
 * then the activation. All micro-kernels of a set, whatever their rows and width, must follow it, so that the
 * bits depend neither on the cut nor on the position in a group.
 *
 * Packed weights (kernels_cpu/pack/conv.c), the same for both ISAs:
 *   [group][panel = ceil(oc/groups / nr)] { bias[nr], w[tap][ic/groups][nr] }   channels past the end are zero
 */
#ifndef KERNELS_CPU_COMMON_CONV_GEMM_H
#define KERNELS_CPU_COMMON_CONV_GEMM_H

#include <stddef.h>

#include "kernels_cpu/kernel.h"

enum {
    IG_GEMM_MAX_MR = 12,  /* rows of the tallest micro-kernel */
    IG_GEMM_MAX_NR = 32,  /* channels of the widest panel */
    IG_GEMM_MAX_GEMV = 256, /* floats that a matrix-vector product makes at a time */
    IG_GEMM_STEP = 8,     /* widths of micro-kernels are multiples of this */
};

enum ig_gemm_flags {
    IG_GEMM_LO = 1, /* c = max(c, lo) */
    IG_GEMM_HI = 2  /* c = min(c, hi), after the max */
};

/* What a micro-kernel is given. The offsets of the members are known to assembly: do not reorder. */
struct ig_gemm_args {
    const float *const *a; /*  0: [taps][mr] addresses; mr is the set's, also where fewer rows are computed */
    int64_t a_offset;      /*  8: bytes to add to each of them (the group's first channel) */
    int64_t taps;          /* 16: >= 1 */
    int64_t k;             /* 24: floats per tap, >= 1 */
    const float *b;        /* 32: w[tap][k][nr] of the panel, 32-byte aligned; nr is the set's, also for less width. Right behind
                                  bias[nr], or further on: the panel's first taps are then not used */
    const float *bias;     /* 40: [nr], 32-byte aligned; never NULL */
    float *const *c;       /* 48: [rows] addresses, no alignment */
    int64_t c_offset;      /* 56: bytes to add to each of them (the panel's first channel) */
    const float *const *r; /* 64: [rows] addresses of the residual, or NULL; may equal c */
    int64_t r_offset;      /* 72: bytes */
    int64_t prefetch;      /* 80: bytes that b is prefetched ahead; 0: not at all. Only sets without loops obey it */
    int32_t flags;         /* 88: enum ig_gemm_flags */
    float lo, hi;          /* 92, 96 */
    int32_t panels;        /* 100: >= 1. The next panel's bias and weights follow this one's, its channels too */
    int32_t groups;        /* 104: >= 1. All panels for this group of rows, then for the next, whose a_offset, */
    int64_t a_step;        /* 112:       c_offset and r_offset are that many bytes more */
    int64_t c_step;        /* 120 */
    int64_t r_step;        /* 128 */
    const float *ahead;    /* 136: needed next, fetched bit by bit every four k; NULL: nothing. Sets with loops only. */
    int64_t ahead_step;    /* 144: bytes to move on then, also from group to group: fewer fetch slower */
    int64_t unused;        /* 152: loops only. Bytes of a panel's weights, those before b among them, that are not used */
};

#define AT(member, offset) (offsetof(struct ig_gemm_args, member) == (offset))
_Static_assert(sizeof(void *) != 8 ||
                   (AT(a_offset, 8) && AT(taps, 16) && AT(k, 24) && AT(b, 32) && AT(bias, 40) && AT(c, 48) && AT(c_offset, 56) &&
                    AT(r, 64) && AT(r_offset, 72) && AT(prefetch, 80) && AT(flags, 88) && AT(lo, 92) && AT(hi, 96) &&
                    AT(panels, 100) && AT(groups, 104) && AT(a_step, 112) && AT(c_step, 120) && AT(r_step, 128) &&
                    AT(ahead, 136) && AT(ahead_step, 144) && AT(unused, 152)),
               "gemm.S of each ISA knows these offsets");
#undef AT

/* c[row][0..width) of `rows` rows (both fixed by the function) = act(bias + sum a b + r), groups * panels times. */
typedef void ig_gemm_fn(const struct ig_gemm_args *args);
/* y[0..n) = act(x[0..n)); y may be x; the bits of an element depend on its value alone. */
typedef void ig_act_fn(float *y, const float *x, int64_t n, const struct ig_act *act);
/* One row of C by n whole panels at once, n from 1 to the set's gemv_panels: bias + the same chain, no more. Panels are of floats or of halves. */
typedef void ig_gemv_fn(const float *x, int64_t k, const void *panels, int32_t n, float *c);

struct ig_gemm_packed; /* gemm_packed.h */

struct ig_gemm_set {       /* one ISA's tools; static const data */
    int32_t mr, nr;        /* rows of a table entry, width of a packed panel */
    ig_gemm_fn *const *fn[IG_GEMM_MAX_NR / IG_GEMM_STEP]; /* fn[width/8 - 1][rows - 1], widths to nr, rows to mr */
    ig_act_fn *act;        /* for the kinds that lo and hi cannot express */
    ig_gemv_fn *gemv;      /* by panels of floats; or NULL */
    int32_t gemv_panels;   /* most panels that gemv takes; at most mr, gemv_panels*nr <= IG_GEMM_MAX_GEMV */
    int64_t stream_bytes;  /* weights above this are prefetched and reused over a block */
    int32_t loops;         /* the functions obey `panels` and `groups`, so many panels at a time; 0: they are only ever given 1 */
    int32_t block;         /* groups of a block, at most IG_GEMM_MAX_BLOCK */
    const struct ig_gemm_packed *packed; /* for mr 6, nr 16: taken where it pays; or NULL */
};

/* Floats of one packed panel. */
static inline int64_t ig_gemm_panel(int64_t taps, int64_t k, int32_t nr)
{
    return nr * (1 + taps * k);
}

/*
 * `next`, the panel after b's, is fetched while `groups` groups use b's: so it comes at a rate that the first of them
 * alone would have to wait for. For the calls from group i on.
 */
static inline void ig_gemm_fetch(struct ig_gemm_args *args, const float *next, int32_t nr, int32_t i, int32_t groups)
{
    args->ahead_step = (16 * nr + groups - 1) / groups;
    args->ahead = (const float *)((const char *)next + i * args->taps * (args->k / 4) * args->ahead_step);
}

/* Convolution: call->in = x, w, bias, residual (kernels_cpu/pack/conv.c packed w and bias with the set's nr). */
void ig_gemm_conv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range,
                  void *scratch, const struct ig_gemm_set *set);
/* Fully connected, the same operands; rows are pixels. Packed as a 1x1 convolution. */
void ig_gemm_fc(const struct ig_call *call, struct ig_range range, void *scratch,
                const struct ig_gemm_set *set);
/* The window is the image, whose pixels follow each other without gaps: one pixel of as many channels as that has elements. */
static inline int ig_gemm_is_image(const struct ig_call *call, const struct ig_window *w)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return w->kd * w->kh == in->h && w->kd == w->in_d && w->kw == in->w && out->h * out->w == 1 && !w->front && !w->top && !w->left && w->dd == 1 &&
           w->dh == 1 && w->dw == 1 && in->pixel_stride == in->c && in->row_stride == in->w * in->c && in->ring_rows >= in->h;
}

/* The image's only pixel by a 1x1 kernel. */
static inline int ig_gemm_is_pixel(const struct ig_call *call, const struct ig_window *w)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    return w->kd * w->kh * w->kw == 1 && in->h * in->w == 1 && out->h * out->w == 1 && !w->front && !w->top && !w->left;
}

/* Such of k channels, or a row of a fully connected layer, of one group, by gemv, whose panels' numbers have so many bytes; range.c0 is a multiple of
 * nr. */
void ig_gemm_pixel(const struct ig_call *call, const struct ig_act *act, struct ig_range range, int64_t k, void *scratch,
                   const struct ig_gemm_set *set, ig_gemv_fn *gemv, int64_t bytes);
/*
 * First layer, at most 4 input channels, one group, dw == 1: a tap is a whole kernel row of kw*ic floats, read from
 * rows that are copied into scratch between zeros. Packed with kd*kh taps of kw*ic floats (which is the same order).
 */
void ig_gemm_first(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range,
                   void *scratch, const struct ig_gemm_set *set);
/*
 * Transposed convolution, weights [IC, OC/groups, (KD,) KH, KW]. Its outputs fall into sd*sh*sw phases, each a convolution
 * with some of the taps; packed phase after phase, each as above with the phase's taps (kernels_cpu/pack/deconv.c).
 */
void ig_gemm_deconv(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range,
                    void *scratch, const struct ig_gemm_set *set);
/* Phase number i alone, whose panels begin at `weights`. */
void ig_gemm_deconv_phase(const struct ig_call *call, const struct ig_conv *conv, struct ig_range range, int32_t i,
                          const float *weights, void *scratch, const struct ig_gemm_set *set);
/* How many there are; floats of a panel of number i; whether that has outputs in rows [y0, y1) of an image of one depth. */
int32_t ig_deconv_phases(const struct ig_window *w);
int64_t ig_deconv_panel(const struct ig_window *w, int32_t i, int32_t ic, int32_t nr);
int ig_deconv_meets(const struct ig_window *w, int32_t i, int32_t y0, int32_t y1);
/* First kernel tap >= from of a phase along one dim, or -1; their number; the taps of a phase, at least 1. */
int32_t ig_deconv_tap(int32_t phase, int32_t k, int32_t stride, int32_t dilation, int32_t from);
int32_t ig_deconv_taps(int32_t phase, int32_t k, int32_t stride, int32_t dilation);
int32_t ig_deconv_phase_taps(const struct ig_window *w, int32_t pz, int32_t py, int32_t px);

/* Scratch bytes of the four, for sets with that mr. */
size_t ig_gemm_conv_scratch(const struct ig_call *call, int32_t mr);
/* Of a convolution, for sets with blocks of IG_GEMM_BLOCK_SMALL. */
size_t ig_gemm_conv_small_scratch(const struct ig_call *call, int32_t mr, int32_t nr);
size_t ig_gemm_fc_scratch(const struct ig_call *call, int32_t mr);
size_t ig_gemm_first_scratch(const struct ig_call *call, int32_t mr);
size_t ig_gemm_deconv_scratch(const struct ig_call *call, int32_t mr);
/* What sets with packed kernels need beyond that: convolution, first layer. */
size_t ig_gemm_conv_packed_scratch(const struct ig_call *call);
size_t ig_gemm_first_packed_scratch(const struct ig_call *call);

#endif
