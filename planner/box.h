/*
 * The validator's own geometry: which bytes a value of a plan occupies, as nested strides. Shares nothing
 * with views.c.
 */
#ifndef PLANNER_BOX_H
#define PLANNER_BOX_H

#include <stdint.h>

#include "planner/plan.h"

enum { IG_BOX_DIMS = IG_MAX_RANK };

struct ig_box {              /* bytes base + sum of i[d]*stride[d] + [0, element), 0 <= i[d] < count[d] */
    int32_t memory, index;   /* enum ig_memory, input or output number */
    int32_t n;
    int64_t base, element;
    int64_t count[IG_BOX_DIMS],
        stride[IG_BOX_DIMS]; /* innermost first; in canonical form: counts > 1, no two mergeable */
};

/* The box of a value in canonical form: equal boxes in equal order of elements have equal members. */
struct ig_box ig_box_of(const struct ig_graph *g, const struct ig_plan_buffer *b);
/* The part of box `of` (of the whole shape) from `start`, `count` long in every dim, each step[d] (NULL: 1)
 * apart. */
struct ig_box ig_box_part(const struct ig_graph *g, const struct ig_plan_buffer *of, const int64_t *start,
                          const int32_t *count, const int32_t *step);
int ig_box_equal(const struct ig_box *a, const struct ig_box *b);
/* First byte after the box. */
int64_t ig_box_end(const struct ig_box *b);
/* 0 if they are certainly disjoint: always right for boxes of one grid, else it may say 1 for disjoint ones.
 */
int ig_box_meet(const struct ig_box *a, const struct ig_box *b);
/* The same elements in order as [h, w, c] with strides in elements; 0 if no strides say that. */
int ig_box_operand(const struct ig_box *b, int64_t h, int64_t w, int64_t c, int64_t *row_stride,
                   int64_t *pixel_stride);

#endif
