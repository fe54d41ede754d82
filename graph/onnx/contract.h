/* Products of two tensors whose dims have labels, summed over those that the result does not have: used by Einsum. */
#ifndef GRAPH_ONNX_CONTRACT_H
#define GRAPH_ONNX_CONTRACT_H

#include "graph/onnx/import.h"

struct im_labelled {
    int32_t v;                     /* a value of the graph */
    char labels[IG_MAX_RANK + 1];  /* a text: one letter or digit per dim, each once */
};

/* The size of t's dim `label`; 0: it has none. */
int32_t im_label_size(const struct im *m, const struct im_labelled *t, char label);
/* t summed over the dims whose label is in neither text. */
struct im_labelled im_sum_others(struct im *m, struct im_labelled t, const char *a, const char *b);
/* t with its dims in that order of its labels. */
int32_t im_in_order(struct im *m, const struct im_labelled *t, const char *order);
/* a b, summed over the labels that are not in `out` (IG_MAX_RANK of them at most, each of a or b); a dim of 1 meets any. */
struct im_labelled im_contract(struct im *m, struct im_labelled a, struct im_labelled b, const char *out);

#endif
