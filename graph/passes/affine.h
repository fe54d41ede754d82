/* Nodes that compute y = scale[c] x + offset[c], c the channel; shared by the parts of the fold_affine pass and by the
 * quantised one. */
#ifndef GRAPH_PASSES_AFFINE_H
#define GRAPH_PASSES_AFFINE_H

#include "graph/graph.h"

struct affine {
    int32_t channels;       /* length of scale and offset */
    int uniform;            /* 1 if it is the same in all channels */
    double *scale, *offset; /* malloc'ed; affine_free */
    int32_t x;              /* the value that it is applied to */
};

/* Reads node n; 1 if it is affine (its activation, if any, comes after), with finite numbers. */
int affine_read(const struct ig_graph *g, const struct ig_node *n, struct affine *a);
void affine_free(struct affine *a);
/* a = b after a. */
void affine_append(struct affine *a, const struct affine *b);
int affine_scales(const struct affine *a); /* 1 if some scale is not 1 */
int affine_shifts(const struct affine *a); /* 1 if some offset is not 0 */

/* Folds affine nodes into the conv, deconv or fc before them / the conv or fc after them: affine_weights.c.
 */
int affine_fold_after(struct ig_graph *g);
int affine_fold_before(struct ig_graph *g);

#endif
