/*
 * The layers of an ONNX file as a mapping names them: its nodes before any pass, in the file's order, constants and
 * what only constants feed left out.
 */
#ifndef PLANNER_DEPLOY_LAYERS_H
#define PLANNER_DEPLOY_LAYERS_H

#include <stddef.h>
#include <stdint.h>

struct ig_layer_entry {
    char *name;          /* the node's own name in the file; "" if it has none */
    char *autodice;      /* its first output with '/' as '_': the name that AutoDiCE's mappings use */
    int32_t n_in, n_out; /* tensors: activations only, no initializers */
    char **in, **out;    /* names in the file */
};

struct ig_layers {
    struct ig_layer_entry *at;
    int32_t n;
    int32_t n_inputs, n_outputs; /* of the network */
    char **inputs, **outputs;    /* tensor names */
};

/* Reads an ONNX file; NULL with a line in err. Maps the file: weights are not copied. */
struct ig_layers *ig_layers_read(const char *path, char *err, size_t err_bytes);
void ig_layers_free(struct ig_layers *l);
/* The layer of that name: AutoDiCE's, with '.' as '_' too, the node's or its first output's; -1: none. */
int32_t ig_layer_find(const struct ig_layers *l, const char *name);

#endif
