/* From a node to a kernel call: the [h, w, c] view of tensors, dense strides, and calls built from shapes. */
#ifndef KERNELS_CPU_PROBLEM_H
#define KERNELS_CPU_PROBLEM_H

#include "kernels_cpu/kernel.h"

/* 1 if `op` works on images in channels-last layout, one call per image of the batch. */
int ig_is_spatial(enum ig_op op);

/* 1 if `op` works on one tensor, or along its axes, and is no member of a band by rows of images: one [1, .., 1, H, C] has H rows. */
int ig_is_along_axes(enum ig_op op);

/* 1 if kernels of `op` may read call->zeros: the spatial ones but global pooling, which has no padding. */
int ig_reads_zeros(enum ig_op op);
/* Bytes of call->zeros that the kernel may read in that call; 0: none. */
size_t ig_zeros_read(const struct ig_kernel *k, const struct ig_call *call);

/* 1 if kernel `k` has input i in what it packs, where that is a constant, and does not read it when it runs. */
int ig_packs_input(const struct ig_kernel *k, int i);

/* The view of a tensor of `op` that kernel.h describes: n images of [h, w, c]. */
void ig_collapse(enum ig_op op, const struct ig_shape *shape, int32_t *n, int32_t *h, int32_t *w, int32_t *c);

/* Images of the view: of a resize's tensors each has its own number. */
int32_t ig_images_of(enum ig_op op, const struct ig_shape *shape);

/* Fills `o` with that view of one dense image; data is NULL, and `shape` is kept by reference. */
void ig_describe(const struct ig_shape *shape, enum ig_op op, struct ig_operand *o);

/*
 * The call of a node on dense tensors: in_shapes[i], out_shapes[i] (NULL: absent) are kept by reference, as
 * is `attrs`; in_data[i] (or in_data itself) may be NULL. Broadcasting operands are aligned to the output's
 * rank from the right. weights, zeros and the outputs' data stay NULL. *batch is the number of images, 1 for
 * all but spatial ops.
 * 0, or -1 if a call has no room for so many operands.
 */
int ig_build_call(enum ig_op op, const void *attrs, const struct ig_shape *const *in_shapes,
                  const void *const *in_data, int32_t n_in, const struct ig_shape *const *out_shapes,
                  int32_t n_out, struct ig_call *call, int *batch);

/* 1 if input `i` of `op` has an image per image of the batch (the weights have not). All outputs have. */
int ig_is_image(enum ig_op op, int i);

/*
 * The call for image `n` of the batch: `whole` (image 0) with the images' data moved on. A kernel with
 * row_tile 0 sees the whole batch through `shape` instead and is called once, on image 0.
 */
struct ig_call ig_call_image(enum ig_op op, const struct ig_call *whole, int n);

/* All of the first output that is there. */
struct ig_range ig_full_range(const struct ig_call *call);

#endif
