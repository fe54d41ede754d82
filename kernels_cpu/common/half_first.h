/*
 * Convolution of few channels of floats, a network's first layer, on halves: rows of the input are narrowed into scratch, between the zeros
 * of the padding and without gaps, so that a row of taps is one tap of that many channels for the loops of half_gemm.h. Weights are packed as
 * theirs: k follows k whatever tap it is of.
 */
#ifndef KERNELS_CPU_COMMON_HALF_FIRST_H
#define KERNELS_CPU_COMMON_HALF_FIRST_H

#include "kernels_cpu/common/half_gemm.h"

/* call->in = x, w, bias; x is of floats, y of halves or floats; no dilation, no residual. */
void ig_half_first(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half_set *set);
size_t ig_half_first_scratch(const struct ig_call *call);

#endif
