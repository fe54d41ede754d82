/*
 * The graph: tensors and nodes, in arrays, by index. Built by the importer, changed by the passes, written as graph.json.
 */
#ifndef GRAPH_GRAPH_H
#define GRAPH_GRAPH_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "graph/op.h"
#include "graph/tensor.h"

enum { IG_ERROR_BYTES = 65536 };

struct ig_value {          /* one tensor of the graph */
    char *name;            /* ONNX name, or made up by a pass; unique */
    struct ig_shape shape;
    const void *data;      /* constant: ig_bytes(shape) bytes, row-major; else NULL. Owned by the graph. */
    int32_t producer;      /* node, or -1: constant or graph input */
};

struct ig_node {
    char *name;            /* ONNX name, or <op>_<index>; unique */
    char *onnx;            /* what it came from: "Conv-11", or "pass" for nodes made by one */
    int32_t op;            /* enum ig_op */
    int32_t n_in, n_out;
    int32_t *in;           /* value indices; -1: an optional input that is absent */
    int32_t *out;          /* value indices; -1: an output that nobody wants */
    union ig_attrs attrs;
    double macs;           /* multiply-accumulates of one run; 0 for data movement */
};

struct ig_data_file { /* a file beside the ONNX file that tensors were read from */
    char *path;
    uint64_t device, inode;
};

struct ig_graph {
    char *name;            /* the model's: file name without .onnx, made a C identifier */
    char *source_sha256;   /* hex digest of the ONNX file and, behind it, of data_files; 64 digits */
    struct ig_data_file *data_files; /* in order of first use */
    int32_t n_data_files;
    int64_t opset;
    int32_t onnx_nodes;    /* nodes in the file, before anything was folded */
    int64_t onnx_halves;   /* elements of constants that the file has as float16 or bfloat16; 0 of a graph.json */
    int32_t n_values, n_nodes, n_inputs, n_outputs;
    struct ig_value *values;
    struct ig_node *nodes; /* topologically sorted: a node's inputs come from earlier nodes */
    int32_t *inputs;       /* value indices, in the file's order; initializers are not inputs */
    int32_t *outputs;
    int32_t channels_last; /* 1 once the layout pass has run */
    int32_t own_constants; /* 1: no other graph shares constants with this one, passes may change them in place */
    struct ig_late *late;  /* constants that are not there yet (graph/late.h), where the import was to leave some */
    struct ig_digest *digest; /* source_sha256 is being made: ig_graph_settle; else NULL */
    struct ig_chunk *memory; /* everything the graph owns; freed by ig_graph_free */
};

/* --- life: graph/graph.c, order.c, check.c. Allocation failure ends the program with one line (host tool). --- */
struct ig_graph *ig_graph_new(const char *name);
void ig_graph_free(struct ig_graph *g);
struct ig_graph *ig_graph_clone(const struct ig_graph *g); /* shares constants and hash with g: free it before g */
void *ig_graph_alloc(struct ig_graph *g, size_t bytes);    /* zeroed, 64-byte aligned, owned by g */
char *ig_graph_strdup(struct ig_graph *g, const char *s);
/* Hands memory of the caller's making (a mapped file) to the graph: ig_graph_free calls release(p, bytes). */
void ig_graph_own(struct ig_graph *g, void *p, size_t bytes, void (*release)(void *, size_t));
/* New value; the name is made unique by a suffix. */
int32_t ig_add_value(struct ig_graph *g, const char *name, const struct ig_shape *shape);
/* New constant: copies `data` (or leaves zeros where NULL). */
int32_t ig_add_const(struct ig_graph *g, const char *name, const struct ig_shape *shape, const void *data);
/* Appends value v to the graph's inputs / outputs. */
void ig_add_input(struct ig_graph *g, int32_t v);
void ig_add_output(struct ig_graph *g, int32_t v);
/*
 * New node at the end of the list, with room for n_in, n_out (all -1); NULL or "" as name: <op>_<index>. Sort later
 * with ig_graph_sort. The pointer is good until the next ig_add_node.
 */
struct ig_node *ig_add_node(struct ig_graph *g, const char *name, enum ig_op op, int32_t n_in, int32_t n_out);
/* Topological sort, stable by index; recomputes producers. 0, or -1 with the names of a cycle in err. */
int ig_graph_sort(struct ig_graph *g, char *err, size_t err_bytes);
/* Removes nodes none of whose outputs is read, then values that nobody refers to (indices change). */
void ig_graph_sweep(struct ig_graph *g);
/* Readers of value v as node inputs; is it a graph output / input? */
int32_t ig_use_count(const struct ig_graph *g, int32_t v);
int ig_is_output(const struct ig_graph *g, int32_t v);
/* The dim of an image's channels: its last, or 1 in ONNX's layout. */
int32_t ig_channel_dim(const struct ig_graph *g, const struct ig_shape *s);
/* x is one pixel of each of y's images. */
int ig_is_pixel(const struct ig_graph *g, const struct ig_shape *x, const struct ig_shape *y);
int ig_is_input(const struct ig_graph *g, int32_t v);
static inline int ig_is_const(const struct ig_graph *g, int32_t v)
{
    return v >= 0 && g->values[v].data != NULL;
}
/* Every reader of `from` reads `to` instead, graph outputs too (which keep their name: the two are swapped). */
void ig_replace_uses(struct ig_graph *g, int32_t from, int32_t to);
/* Recomputes node->macs for all nodes (channels-last graphs). */
void ig_count_macs(struct ig_graph *g);
/* Well-formedness: indices, order, single producers, shapes >= 1. 0, or -1 with a line in err. */
int ig_graph_check(const struct ig_graph *g, char *err, size_t err_bytes);
/* One node's attributes against the shapes of its tensors (a part of ig_graph_check). 0 or -1. */
int ig_check_attrs(const struct ig_graph *g, const struct ig_node *n, char *err, size_t err_bytes);

/* --- import: graph/onnx/ --- */

/*
 * Evaluates a node whose inputs are all constant: in[i] (NULL if absent) and out[i] are dense buffers of the values'
 * shapes. 0, or -1 where it cannot. Constant folding calls it; kernels_cpu supplies one made of the reference kernels,
 * so that graph/ needs no kernels.
 */
typedef int ig_eval_fn(const struct ig_graph *g, const struct ig_node *n, const void *const *in, void *const *out);

struct ig_bind {                  /* --input-shape name=1x3x224x224, or a constant bound to an input */
    const char *name;
    struct ig_shape shape;        /* type ignored unless data is given */
    const void *data;             /* non-NULL: the input becomes this constant (verify binds shape-like inputs so) */
};

struct ig_import_options {
    const struct ig_bind *binds;
    int32_t n_binds;
    const char *const *outputs;   /* --outputs=a,b: cut the graph there; NULL: the file's own */
    int32_t n_outputs;
    ig_eval_fn *eval;             /* NULL: only what import itself can fold */
    int64_t max_bytes;            /* constants that import may make beyond those in the file; 0: 4 GiB */
    int32_t unsettled;            /* 1: of a large file source_sha256 is there after ig_graph_settle only, and matrices that one
                                     Gemm alone reads stay late (graph/late.h) */
};

/*
 * Reads an ONNX file (IR >= 3, opset 1..27) into a graph in ONNX's own layout, shapes inferred, constants folded.
 * NULL on any error; `err` then has one line, or a report of all unsupported nodes at once, one line each.
 */
struct ig_graph *ig_import_file(const char *path, const struct ig_import_options *options, char *err, size_t err_bytes);
/* The same from memory; `path` names it in messages and is where external data is looked for. */
struct ig_graph *ig_import_bytes(const char *path, const void *bytes, size_t n, const struct ig_import_options *options,
                                 char *err, size_t err_bytes);
/* Waits for source_sha256, of g and its clones, where it is not there yet. */
void ig_graph_settle(struct ig_graph *g);
/* Reads a TensorProto file (input_0.pb of a test data set): shape and data (malloc'ed, caller frees). 0 or -1. */
int ig_read_tensor_pb(const char *path, struct ig_shape *shape, void **data, char *name, size_t name_bytes, char *err,
                      size_t err_bytes);

/* --- shapes: graph/shape.c --- */

/*
 * Output shapes and types of node n from its inputs' shapes and attributes; 0, or negative with the reason (no file, no
 * node name): -1 where the node is wrong, -2 where a type or rank is right but not supported. What inputs and attributes do not tell is kept as the output value has it, and checked: the shape of RESHAPE,
 * EXPAND, TILE, SLICE, RESIZE, MAX_UNPOOL; the k of TOPK, depth of ONE_HOT and bin counts of ROI_ALIGN; the type of CAST
 * and QUANTIZE. REDUCE and ARG keep reduced dimensions as 1. Outputs that are -1 are skipped.
 */
int ig_infer(struct ig_graph *g, struct ig_node *n, char *err, size_t err_bytes);

/*
 * --- passes: graph/passes/, one per file; each returns how many rewrites it made. They want a sorted graph and leave
 * one; all but quantised, layout, identity and fold_constants want a channels-last one. ---
 */
/*
 * Quantising a float network, in ONNX's layout, before ig_run_passes: graph/passes/quantise.c. The tensors that are to be bytes, whose
 * ranges over typical inputs the caller fills in; then what the quantised pass makes ops on bytes of. Constants are folded, and batch
 * normalisations into weights, by the first; values keep their indices from then on.
 */
struct ig_quantised_tensor {
    int32_t value;
    int32_t like;    /* tensors of one such number share a scale, unless their ranges are far apart */
    float low, high; /* range */
};
int32_t ig_quantise_find(struct ig_graph *g, ig_eval_fn *eval, struct ig_quantised_tensor **tensors); /* how many; the graph owns them */
void ig_quantise_put(struct ig_graph *g, const struct ig_quantised_tensor *tensors, int32_t n);

int ig_pass_quantised(struct ig_graph *g, ig_eval_fn *eval); /* in ONNX's layout: floats between DEQUANTIZE and QUANTIZE -> ops on bytes */
int ig_pass_group_norm(struct ig_graph *g);       /* in ONNX's layout: instance normalisation of [N, groups, rest], and what scales channels behind it -> group */
int ig_pass_layout(struct ig_graph *g);           /* ONNX layout -> channels-last, transposes cancelled */
int ig_pass_layer_norm(struct ig_graph *g);       /* means, squares and roots over the last axis -> NORM */
int ig_pass_identity(struct ig_graph *g);         /* identities, no-op reshapes/casts/transposes/slices, double transposes */
int ig_pass_transposes(struct ig_graph *g);       /* two with a reshape between them that only splits or only joins dims -> one */
int ig_pass_fold_affine(struct ig_graph *g);      /* per-channel Mul/Add (and batch norm, imported as those) into conv, deconv, fc */
int ig_pass_global_pool(struct ig_graph *g);      /* REDUCE mean/max over space, POOL over the whole image -> GLOBAL_POOL */
int ig_pass_matmul_to_fc(struct ig_graph *g);     /* MATMUL with constant right side -> FC; of rank 3 and more -> 1x1 CONV */
int ig_pass_scales(struct ig_graph *g);           /* CONV_INTEGER/MATMUL_INTEGER + CAST + MUL by scales + ADD of a bias -> floats at once */
int ig_pass_fuse_pad(struct ig_graph *g);         /* PAD with zeros into the next conv / average pool */
int ig_pass_trim_windows(struct ig_graph *g);     /* taps of convolutions that meet padding only go */
int ig_pass_merge_branches(struct ig_graph *g);   /* convs of one image, and it by channel, that are added -> one conv */
int ig_pass_fuse_residual(struct ig_graph *g);    /* conv + ADD -> conv with residual */
int ig_pass_extremes(struct ig_graph *g);         /* DYNAMIC_QUANTIZE of many -> EXTREMES, DYNAMIC_QUANTIZE of these, QUANTIZE */
int ig_pass_compose(struct ig_graph *g);          /* several nodes that are one UNARY: sigmoid*x -> swish, clip of clip, ... */
int ig_pass_fuse_activation(struct ig_graph *g);  /* conv/deconv/fc/binary + UNARY -> epilogue */
int ig_pass_batch(struct ig_graph *g);            /* 1x1 convolutions of images of few pixels -> of one image */
int ig_pass_flatten_fc(struct ig_graph *g);       /* TRANSPOSE + RESHAPE + FC -> RESHAPE + FC with permuted weights */
int ig_pass_fold_constants(struct ig_graph *g, ig_eval_fn *eval);
/* Storage of half precision: weights and the tensors between layers become f16. The last pass, if it is wanted. */
int ig_pass_half(struct ig_graph *g);
/* 1 if the node may have tensors of f16 where f32 is meant: it computes from either, or moves one type. */
int ig_stores_halves(const struct ig_graph *g, const struct ig_node *n);
/* All of them in the standard order until nothing changes; then sort, sweep, macs. 0, or -1 with a line in err. */
int ig_run_passes(struct ig_graph *g, ig_eval_fn *eval, char *err, size_t err_bytes);

/* --- text: graph/json.c, graph/json_read.c --- */

/* Writes graph.json to `path` and the constants, 64-byte aligned, to `path` with .json replaced by .bin. */
int ig_graph_write(const struct ig_graph *g, const char *path, char *err, size_t err_bytes);
/* Hex digest of graph.json as ig_graph_write would write it. */
void ig_graph_hash(const struct ig_graph *g, char hex[65]);
/* Reads it back (constants mapped read-only). NULL on error. */
struct ig_graph *ig_graph_read(const char *path, char *err, size_t err_bytes);

#endif
