/* The benchmark networks: published definitions with seeded random weights, written as ONNX. */
#ifndef MODELS_ZOO_ZOO_H
#define MODELS_ZOO_ZOO_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct zoo;
struct zoo_value;
typedef void ig_zoo_build_fn(struct zoo *z, struct zoo_value input);

struct ig_zoo_net {
    const char *name;       /* as in `ingot zoo NAME` */
    int32_t rank;           /* 4: [1,C,H,W]; 2: [1,C] */
    int32_t c, h, w;        /* the input; h and w are 0 where rank is 2 */
    const char *source;     /* whose definition it is, in one line */
    ig_zoo_build_fn *build; /* adds everything behind the input, outputs included */
};

struct ig_zoo_counts {
    int64_t parameters; /* weights and biases of conv, deconv and fc; scale and bias of batch norms */
    int64_t folded;     /* the same with one vector a batch norm: its scale folded away */
    int64_t macs;       /* multiply-accumulates of conv, deconv and fc for one image */
    int64_t bytes;      /* of the ONNX file */
};

/* The i-th network, or NULL past the last. */
const struct ig_zoo_net *ig_zoo_net(int32_t i);
/* The network of that name, or NULL. */
const struct ig_zoo_net *ig_zoo_find(const char *name);
/* Counts without making a single weight. */
void ig_zoo_count(const struct ig_zoo_net *net, struct ig_zoo_counts *counts);
/*
 * Writes the network to f: ONNX IR 8, opset 13, the same bytes on every machine. Weights are made while they
 * are written, so that memory does not grow with the network. 0, or -1 with a line in err.
 */
int ig_zoo_write(const struct ig_zoo_net *net, FILE *f, char *err, size_t err_bytes);

#endif
