/*
 * Builds an ONNX graph layer by layer, as exporters write it: names after torchvision's modules, batch norms
 * unfolded. Every value carries its shape and a rough model of its distribution, from which the next layer's
 * weights get their range: each convolution's output has mean square about 1, so that nothing explodes or
 * dies in a deep network. Running out of memory ends the program, as in graph/graph.c.
 */
#ifndef MODELS_ZOO_BUILD_H
#define MODELS_ZOO_BUILD_H

#include <stddef.h>
#include <stdint.h>

#include "graph/onnx.pb-c.h"
#include "models/zoo/zoo.h"

struct zoo_value {
    const char *name;
    int32_t c, h, w;    /* [1,c,h,w]; h = w = 0: [1,c] */
    double power, mean; /* modelled mean square and mean of the elements */
};

struct zoo_tensor {          /* an initializer */
    Onnx__TensorProto proto; /* raw_data.len set; raw_data.data NULL: made while it is written */
    double low, high;        /* random values lie in [low, high) */
};

struct zoo {
    const char *name;        /* the network's: seeds the weights */
    struct ig_graph *memory; /* owns all strings and messages; no graph is kept in it */
    Onnx__GraphProto graph;  /* without its initializers */
    struct zoo_tensor **tensors;
    size_t n_tensors;
    double norm_scale; /* mean of batch norms' scales; zoo_begin: 1 */
    struct ig_zoo_counts counts;
};

struct zoo_layer {             /* a window; a 0 is the usual value */
    int32_t oc;                /* output channels; pools: those of the input */
    int32_t k, kh, kw;         /* window: k x k, or kh x kw where k is 0 */
    int32_t stride;            /* 0: 1 */
    int32_t pad, pad_h, pad_w; /* both sides: pad in both directions, or pad_h and pad_w where pad is 0 */
    int32_t pad_end;           /* more padding at bottom and right */
    int32_t groups;            /* 0: 1 */
    int32_t bias;              /* 1: with a bias */
    int32_t same;              /* 1: auto_pad SAME_UPPER instead of pads */
    int32_t ceil;              /* 1: pools round the output size up */
    int32_t skip_pad;          /* 1: average pools do not count padding */
};

/* --- build.c: memory, names, nodes --- */
void zoo_begin(struct zoo *z, const struct ig_zoo_net *net);
void zoo_end(struct zoo *z);
void *zoo_alloc(struct zoo *z, size_t bytes);
char *zoo_format(struct zoo *z, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A node of module `path` ("layer1.0.conv1"), named as torch's exporter does; *out: its output's name. */
Onnx__NodeProto *zoo_node(struct zoo *z, const char *op, const char *path, const char *const *inputs,
                          size_t n_inputs, const char **out);
void zoo_attr_int(struct zoo *z, Onnx__NodeProto *node, const char *name, int64_t value);
void zoo_attr_float(struct zoo *z, Onnx__NodeProto *node, const char *name, float value);
void zoo_attr_string(struct zoo *z, Onnx__NodeProto *node, const char *name, const char *value);
void zoo_attr_ints(struct zoo *z, Onnx__NodeProto *node, const char *name, const int64_t *values, size_t n);
/* An initializer of random floats in [low, high), which the caller counts or not; returns its name. */
const char *zoo_random(struct zoo *z, const char *name, size_t n_dims, const int64_t *dims, double low,
                       double high);
/* The same, counted as parameters. */
const char *zoo_weight(struct zoo *z, const char *name, size_t n_dims, const int64_t *dims, double low,
                       double high);
/* An initializer that is data, not parameter: int64 (type 7) or float (type 1) elements of rank 1. */
const char *zoo_data(struct zoo *z, const char *name, int32_t type, const void *data, size_t n);
/* A Constant node holding a float scalar; returns its output's name. */
const char *zoo_scalar(struct zoo *z, const char *path, float value);
struct zoo_value zoo_input(struct zoo *z, const struct ig_zoo_net *net);
/* Makes x, which no node may read, a graph output of that name. */
void zoo_output(struct zoo *z, struct zoo_value x, const char *name);

/* --- window.c: layers with a window, and the fully connected one --- */
struct zoo_value zoo_conv(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l);
/* Transposed convolution, kernel k, no padding, no bias. */
struct zoo_value zoo_deconv(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l);
struct zoo_value zoo_max_pool(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l);
struct zoo_value zoo_average_pool(struct zoo *z, const char *path, struct zoo_value x, struct zoo_layer l);
struct zoo_value zoo_linear(struct zoo *z, const char *path, struct zoo_value x, int32_t outputs);

/* --- layers.c: everything else --- */
struct zoo_value zoo_batch_norm(struct zoo *z, const char *path, struct zoo_value x, float epsilon);
struct zoo_value zoo_relu(struct zoo *z, const char *path, struct zoo_value x);
struct zoo_value zoo_relu6(struct zoo *z, const char *path, struct zoo_value x);
struct zoo_value zoo_leaky_relu(struct zoo *z, const char *path, struct zoo_value x, float slope);
struct zoo_value zoo_sigmoid(struct zoo *z, const char *path, struct zoo_value x);
struct zoo_value zoo_swish(struct zoo *z, const char *path, struct zoo_value x);
struct zoo_value zoo_tanh(struct zoo *z, const char *path, struct zoo_value x);
struct zoo_value zoo_scale(struct zoo *z, const char *path, struct zoo_value x, float factor);
struct zoo_value zoo_softmax(struct zoo *z, const char *path, struct zoo_value x);
struct zoo_value zoo_add(struct zoo *z, const char *path, struct zoo_value a, struct zoo_value b);
/* x times a gate in (0,1), one per channel. */
struct zoo_value zoo_gate(struct zoo *z, const char *path, struct zoo_value x, struct zoo_value gate);
struct zoo_value zoo_concat(struct zoo *z, const char *path, const struct zoo_value *x, int32_t n);
struct zoo_value zoo_global_pool(struct zoo *z, const char *path, struct zoo_value x);
struct zoo_value zoo_flatten(struct zoo *z, const char *path, struct zoo_value x);
/* Nearest neighbour, twice the size. */
struct zoo_value zoo_upsample(struct zoo *z, const char *path, struct zoo_value x);
/* Rows and columns from `offset`, `size` of each. */
struct zoo_value zoo_crop(struct zoo *z, const char *path, struct zoo_value x, int32_t offset, int32_t size);

/* --- blocks.c: what the networks are made of --- */
struct zoo_names {
    const char *conv, *norm, *relu; /* modules of one path; relu NULL: none */
};
/* Convolution, batch norm and ReLU. */
struct zoo_value zoo_conv_norm(struct zoo *z, const char *path, struct zoo_names names, struct zoo_value x,
                               struct zoo_layer l, float epsilon);
/* Global pool, flatten, fully connected layer `path`, graph output "output". */
void zoo_classifier(struct zoo *z, const char *path, struct zoo_value x, int32_t classes);

/* --- write.c --- */
int64_t zoo_bytes(const struct zoo *z);
int zoo_write(const struct zoo *z, FILE *f);

/* --- fill.c: elements [first, first + n) of the tensor, from its name and the network's --- */
void zoo_fill(const struct zoo *z, const struct zoo_tensor *t, size_t first, size_t n, float *out);

#endif
