/*
 * The layers of an ONNX file, as a person who spreads a network over machines names them: its nodes before any pass, in
 * the file's order, calls of functions replaced by their bodies, those of both branches of an If before it.
 *
 * Some nodes need no place and are listed apart, as spare: constants, what is made of constants and of shapes alone (shapes
 * are known when a network is cast), and what no output of the network needs.
 */
#ifndef GRAPH_LAYERS_H
#define GRAPH_LAYERS_H

#include <stddef.h>
#include <stdint.h>

struct ig_layer_entry {
    char *name;          /* the node's own name in the file; "" if it has none */
    char *op;            /* "Conv" */
    char *autodice;      /* its first output with '/' as '_': the name that AutoDiCE's mappings use; sent[0] */
    int32_t n_in, n_out; /* tensors: activations only, no initializers; outputs that have a name */
    char **in, **out;    /* names in the file */
    char **sent;         /* [n_out] the outputs' names as AutoDiCE has them */
    int32_t *from;       /* [n_in] the layer that makes in[i]; -1: an input of the network */
};

struct ig_layers {
    struct ig_layer_entry *at, *spare; /* of a spare one, n_in is 0 */
    int32_t n, n_spare;
    int32_t n_inputs, n_outputs; /* of the network */
    char **inputs, **outputs;    /* tensor names */
    struct ig_graph *memory;     /* owns all of it */
};

/* Reads an ONNX file; NULL with a line in err. Maps the file: weights are not copied, nor read. */
struct ig_layers *ig_layers_read(const char *path, char *err, size_t err_bytes);
/* The same from memory; `path` names it in messages. */
struct ig_layers *ig_layers_bytes(const char *path, const void *bytes, size_t n, char *err, size_t err_bytes);
void ig_layers_free(struct ig_layers *l);

#endif
