/*
 * Quantised tensors among floats, as onnxruntime and PyTorch write them: bytes that a DEQUANTIZE makes floats of, a float
 * op, a QUANTIZE. Shared by the parts of the quantised pass. All parameters that are read here are constants.
 */
#ifndef GRAPH_PASSES_QUANTISED_H
#define GRAPH_PASSES_QUANTISED_H

#include "graph/graph.h"

struct quantised {   /* x = (value - zero) scale */
    int32_t value;   /* of u8 or i8 */
    int32_t scale;   /* f32, one element or one per index of `axis`: positive numbers, neither tiny nor infinite */
    int32_t zero;    /* of the value's type, as many; -1: none, which is 0 */
    int32_t axis;
};

/* A float op between bytes, up to the QUANTIZE behind it. */
struct quantised_end {
    int32_t float_value; /* what the op makes, which nothing else reads; -1: it is read elsewhere, too */
    int32_t act;         /* node of the activation between; -1: none */
    int32_t node;        /* the QUANTIZE */
    struct quantised y;  /* its result, one scale for all; of a convolution perhaps one for each channel */
    struct ig_act clip;  /* of y between integers, what the activation is there; kind IG_NONE: y's type does it */
};

/* Float value v comes from bytes by a DEQUANTIZE with such parameters: 1. */
int quantised_read(const struct ig_graph *g, int32_t v, struct quantised *q);
/* The same with one scale for all. */
int quantised_read_one(const struct ig_graph *g, int32_t v, struct quantised *q);
/* Node is a QUANTIZE with one such scale for all: 1, and what is before it. */
int quantised_end_of(const struct ig_graph *g, int32_t node, struct quantised_end *end);
/* One scale for all, the same number, and the same zero and type: 1. */
int quantised_alike(const struct ig_graph *g, const struct quantised *a, const struct quantised *b);
/* The value that holds the zero; made where there is none. */
int32_t quantised_zero(struct ig_graph *g, const struct quantised *q);

/*
 * The op before `end` on bytes, where it is a convolution, a product with a constant matrix, a sum or a product of two
 * tensors: quantised_layer.c. 1 if it is now.
 */
int quantised_layer(struct ig_graph *g, const struct quantised_end *end);
/* The op before `end` on bytes, where it is an average of windows or of images: 1 if it is now. */
int quantised_pool(struct ig_graph *g, const struct quantised_end *end);
/* Node n is such an average of floats: 1. */
int quantised_is_average(const struct ig_graph *g, const struct ig_node *n);
/* Node n only moves or selects elements of its input, or makes zeros: 1. */
int quantised_moves(const struct ig_node *n);
/* quantise.c: node n is a convolution or a product with constant weights, of floats, that has a form on bytes: 1. */
int quantise_is_layer(const struct ig_graph *g, const struct ig_node *n);
/* What is linear, channel by channel, behind convolution n of quantised tensors goes into the scales of its weights and its bias: 1 if it has. */
int quantised_fold_affine(struct ig_graph *g, int32_t n);
/* All that is linear, channel by channel, before `end` as one op on bytes: 1 if it is now. */
int quantised_affine(struct ig_graph *g, const struct quantised_end *end);
/*
 * A QUANTIZE, or a QLINEAR_BINARY, of element-wise ops on one quantised tensor and on numbers becomes a LOOKUP, or nothing, where its table changes
 * nothing: 1 if it has.
 */
int quantised_lookup(struct ig_graph *g, int32_t node, ig_eval_fn *eval);
/* A LOOKUP of what another looks up for it alone becomes one of both: 1 if it has. */
int quantised_compose(struct ig_graph *g, int32_t node);
/* Scales for each channel of images in ONNX's layout, of which there are two at least, and one zero point for all: 1. */
int quantised_by_channel(const struct ig_graph *g, const struct quantised *q);
/* The same bytes as multiples of 1, by one zero point. */
struct quantised quantised_unit(struct ig_graph *g, const struct quantised *q);
/* A convolution before `end`, which may have scales by channel, as the op on bytes: 1 if it is now. */
int quantised_convolution(struct ig_graph *g, const struct quantised_end *end);
/*
 * Node n, a convolution or a product with a constant matrix of quantised tensors whose result no QUANTIZE takes, becomes a
 * QLINEAR_CONV that makes floats: 1 if it has.
 */
int quantised_open_layer(struct ig_graph *g, int32_t n);
/* A QLINEAR_MATMUL with a constant right side becomes a 1x1 convolution, one of two tensors a MATMUL of floats: 1 if it has. */
int quantised_matmul(struct ig_graph *g, int32_t node);

#endif
