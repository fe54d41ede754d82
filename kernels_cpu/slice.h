/* Weights packed a few output channels at a time, where a layout has them in order: large ones need no memory of their size. */
#ifndef KERNELS_CPU_SLICE_H
#define KERNELS_CPU_SLICE_H

#include "kernels_cpu/kernel.h"

/*
 * Output channels at whose multiples what the kernel packs of this call can be cut: the pieces, packed one by one and put
 * together, are the whole. 0: it cannot.
 */
int32_t ig_slice_step(const struct ig_kernel *k, const struct ig_call *call);

struct ig_pack_slice {     /* a call of some output channels; its shapes are in here */
    struct ig_call call;
    struct ig_shape weights, bias, out;
};

/* The call of output channels [c0, c1), multiples of the step or the end. Only for the kernel's `pack`. */
void ig_slice_call(const struct ig_call *whole, int32_t c0, int32_t c1, struct ig_pack_slice *s);

#endif
