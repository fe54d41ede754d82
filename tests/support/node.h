/* One node in a graph of its own, for tests that evaluate an operator on given tensors. */
#ifndef TESTS_SUPPORT_NODE_H
#define TESTS_SUPPORT_NODE_H

#include <string.h>

#include "kernels_cpu/eval.h"

/* SHAPE(IG_F32, 2, 3): a struct ig_shape literal; at least one dim (a scalar is {1}, or set rank to 0). */
#define SHAPE(type, ...) \
    make_shape(type, (const int32_t[]){__VA_ARGS__}, (int)(sizeof((int32_t[]){__VA_ARGS__}) / 4))

struct tensor {
    struct ig_shape shape;
    void *data;
};

/* TENSOR(IG_F32, array, 2, 3) */
#define TENSOR(type, array, ...) ((struct tensor){SHAPE(type, __VA_ARGS__), array})

static inline struct ig_shape make_shape(int32_t type, const int32_t *dims, int rank)
{
    struct ig_shape s = {type, rank, {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int i = 0; i < rank; i++) s.dims[i] = dims[i];
    return s;
}

/* Evaluates `op` with the reference kernels; a tensor without data is absent. What ig_ref_eval returned. */
static inline int eval_node(enum ig_op op, union ig_attrs attrs, const struct tensor *in, int n_in,
                            struct tensor *out, int n_out)
{
    struct ig_value values[24] = {{0}};
    int32_t index[24];
    const void *ins[20];
    void *outs[4];
    for (int i = 0; i < n_in + n_out; i++) {
        const struct tensor *t = i < n_in ? &in[i] : &out[i - n_in];
        values[i].shape = t->shape;
        index[i] = t->data ? i : -1;
        if (i < n_in) ins[i] = t->data;
        else outs[i - n_in] = t->data;
    }
    struct ig_node node = {
        .op = (int32_t)op, .n_in = n_in, .n_out = n_out, .in = index, .out = index + n_in, .attrs = attrs};
    struct ig_graph g = {
        .values = values, .n_values = n_in + n_out, .nodes = &node, .n_nodes = 1, .channels_last = 1};
    return ig_ref_eval(&g, &node, ins, outs);
}

#endif
