/* Inside the views: the structure that ties a value to another one's storage. views.c, prepare.c and call.c
 * share it. */
#ifndef PLANNER_VIEWS_H
#define PLANNER_VIEWS_H

#include <stdint.h>

#include "planner/plan.h"

struct ig_form {             /* a tensor as rows of pixels of channels; the images of a batch are rows too */
    int32_t rows, w, c;
};

struct ig_link {             /* where a value lies inside its parent's storage */
    int32_t parent;          /* value; -1: it has storage of its own */
    int32_t node;            /* the concat, slice or reshape that ties the two */
    int32_t piece;           /* concat: which input; -1: slice or reshape */
    int32_t start;           /* concat: where along its axis that input begins */
};

/* A new value with a copy of v in it; the graph is to be sorted afterwards. */
int32_t ig_add_copy(struct ig_graph *g, int32_t v);
struct ig_form ig_form_of(const struct ig_shape *s);
/* Can the node's result be had by strides alone? For a concat: can its inputs be boxes of its output? */
int ig_concat_is_boxes(const struct ig_graph *g, const struct ig_node *n);
int ig_slice_is_box(const struct ig_graph *g, const struct ig_node *n);
/*
 * Links every value to its parent; links[n_values]. Concat inputs lie in the output, slices in their input, a
 * reshape's output in its input, or the other way round where the output is itself a concat's input. A concat
 * input that cannot be tied so is marked in clashes[first[node] + input] (NULL: unmarked); returns how many
 * there are.
 */
int ig_link_values(const struct ig_graph *g, struct ig_link *links, uint8_t *clashes, const int64_t *first);
/* The views that the links say. Returns the first reshape whose strides cannot be expressed, or -1. */
int32_t ig_resolve_views(const struct ig_graph *g, const struct ig_link *links, struct ig_view *views);
/* 1 if a view of that form is one run of memory. */
int ig_is_run(const struct ig_view *v, struct ig_form f);
/* The strides of view v, of form `from`, seen as form `to` (same elements, same order); 0 if no strides can
 * say that. */
int ig_restride(const struct ig_view *v, struct ig_form from, struct ig_form to, int64_t *row_stride,
                int64_t *pixel_stride);

#endif
