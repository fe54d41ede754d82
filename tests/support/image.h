/* A tensor in guarded memory as a kernel sees it: dense, a slice of something larger, or a ring of rows. */
#ifndef TESTS_SUPPORT_IMAGE_H
#define TESTS_SUPPORT_IMAGE_H

#include "kernels_cpu/kernel.h"
#include "tests/support/guard.h"

struct image_layout {
    int32_t pixel_gap; /* elements between pixels */
    int32_t row_gap;   /* elements between rows, on top */
    int32_t ring_rows; /* 0: all rows exist */
    int front;         /* data starts, else ends, at an inaccessible page */
};

struct image {
    struct guard memory;
    struct ig_operand operand; /* data == NULL: absent */
};

/* Extents of a dense tensor of one image (kernel.h), no data; seen as of `rank` if its own is lower. */
struct ig_operand image_operand(const struct ig_shape *shape, int rank);
/* Of [T,...,C] rows of T pixels each, one for each index of the dims between; without steps of [...,C] rows of one pixel. */
struct ig_operand image_steps_first(const struct ig_shape *shape, int has_steps);
/* Memory for a tensor of such extents, all poison. */
void image_make(struct image *m, struct ig_operand dense, struct image_layout layout);
void image_free(struct image *m);
/* Copies rows [y0, y1) from / to a dense tensor; the rest stays. */
void image_load(struct image *m, const void *dense, int32_t y0, int32_t y1);
void image_store(const struct image *m, void *dense);
/*
 * Is everything poison but the rectangle, and that equal to the dense tensor bit for bit? 0; or -1 with the
 * place in `why`: the side that was overwritten, or the element and both values. any_nan: of
 * floats that are no number the sign and payload may be others.
 */
int image_check(const struct image *m, const void *dense, struct ig_range range, int any_nan, char *why, size_t why_bytes);
/* "3.5" or "-7": element i of dense data. */
void image_text(char *text, size_t text_bytes, const void *data, int32_t type, int64_t i);

#endif
