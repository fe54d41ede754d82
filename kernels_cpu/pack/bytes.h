/*
 * What packed weights of quantised numbers have in common: filters, zero points and what is known of a layer's parameters. Calls are those of
 * IG_QLINEAR_CONV, or of IG_CONV_INTEGER as ig_as_qlinear makes them.
 */
#ifndef KERNELS_CPU_PACK_BYTES_H
#define KERNELS_CPU_PACK_BYTES_H

#include "kernels_cpu/common/conv_bytes.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/ref/scaled.h"

enum { IG_Q_X_SCALE = 1, IG_Q_X_ZERO, IG_Q_WEIGHTS, IG_Q_W_SCALE, IG_Q_W_ZERO, IG_Q_Y_SCALE, IG_Q_Y_ZERO, IG_Q_BIAS };

/* Weights, less their zero point, of an output channel, whose input channels are some of those of a packed row. */
struct ig_filter {
    const void *w;
    int32_t type, zero;
    int64_t apart;        /* elements from a weight to the next: 1, but of a matrix [k, oc] */
    int64_t k;            /* of the filter */
    int32_t ic, taps;     /* ic taps = k */
    int32_t first, all;   /* its first channel in a packed row; the row's */
};

/* Weight i, as it is. */
static inline int32_t ig_raw_weight(const struct ig_filter *f, int64_t i)
{
    return (int32_t)ig_get_int(f->w, f->type, i * f->apart);
}

/* Number k of a packed row: tap k / all, channel k % all; 0 for other groups' channels and beyond the last. */
static inline int32_t ig_weight_at(const struct ig_filter *f, int64_t k)
{
    int64_t tap = k / f->all, channel = k % f->all - f->first;
    if (tap >= f->taps || channel < 0 || channel >= f->ic) return 0;
    return ig_raw_weight(f, channel * f->taps + tap) - f->zero;
}

/* Of output channel oc, where `merged` groups are one. */
struct ig_filter ig_filter_of(const struct ig_call *call, int32_t oc, int32_t merged);

/* What bytes are xored with so that they are as `flips`, enum ig_bytes_flips, says: 0 or 128. */
int32_t ig_flip_of(const struct ig_call *call, int32_t flips);

/* x_zero in words of bytes. */
int32_t ig_flipped_zero(const struct ig_call *call, int32_t flips);

/* IG_QLINEAR_CONV of up to two spatial dims whose parameters are constants. */
int ig_is_flat_qlinear(const struct ig_call *call);

/* Each output channel is of one input channel. */
int ig_is_by_channel(const struct ig_call *call);

/* No sum of products, bias and correction leaves 32 bits, by the largest weights that there may be or, where those would, by what there are. */
int ig_sums_fit(const struct ig_call *call);

/* All weights of a filter, less their zero point, fit 8 bits. Says how many are -128. */
int ig_fits_bytes(const struct ig_filter *f, int64_t *least);

/*
 * Where two numbers, `apart` from each other in a packed row, are multiplied and added in 16 bits, by inputs down to -128, one sum
 * leaves these: that of -128 twice.
 */
int ig_pairs_fit(const struct ig_filter *f, int32_t apart);

/* apart: 0 where products are added in 32 bits at once. */
int ig_weights_fit(const struct ig_call *call, int32_t merged, int32_t apart);

/* The operands of IG_CONV_INTEGER where those of IG_QLINEAR_CONV are; a zero point that is not known, and all else, is not there. */
struct ig_call ig_as_qlinear(const struct ig_call *call);

/* Those of the weights, and the bias. */
int ig_scales_are_known(const struct ig_call *call);

/* IG_CONV_INTEGER of up to two spatial dims by weights that are constants. */
int ig_is_flat_integer(const struct ig_call *call);

/* What sums are multiplied by: x_scale w_scale / y_scale. */
float ig_scale_of(const struct ig_call *call, int32_t oc);

/* flip: as ig_flip_of says. */
struct ig_bytes_head ig_head_of(const struct ig_call *call, int32_t flip);

/* What a filter's words leave out: the bias, and - zero sum w. */
int32_t ig_bias_of(const struct ig_call *call, int32_t oc, int32_t zero);

/* The first two rows of a panel or block: bias and scale, or of sums nothing and what their zero point is multiplied by, where words leave it out. */
void ig_put_ends(const struct ig_call *call, int32_t oc, int32_t zero, int is_left_out, int32_t *first, int32_t *second);

/* Word c of a row of `nr`. */
void ig_put_word(int32_t *row, int32_t c, int32_t nr, int halves, uint32_t word);

/* Where sums become floats: the head's part of that. */
void ig_put_float_head(const struct ig_call *call, struct ig_bytes_head *head);

/* A channel's scale, and `nr` further its bias. */
void ig_put_floats(const struct ig_call *call, int32_t oc, int32_t nr, int32_t *to);

#endif
