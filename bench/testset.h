/*
 * A folder of ONNX's backend tests: model.onnx and test_data_set_<n>/{input,output}_<i>.pb; which inputs a
 * network that is compiled must know beforehand, and whether computed outputs are right.
 */
#ifndef BENCH_TESTSET_H
#define BENCH_TESTSET_H

#include "graph/graph.h"

enum { IG_TESTSET_TENSORS = 64, IG_TESTSET_LEVELS = 4 };

struct ig_test_tensor {
    char name[256];        /* as the .pb file has it; may be "" */
    struct ig_shape shape;
    void *data;            /* malloc'ed */
};

struct ig_testset {
    int32_t n_in, n_out;
    struct ig_test_tensor in[IG_TESTSET_TENSORS], out[IG_TESTSET_TENSORS];
};

struct ig_tolerance { /* |d| <= of_max max|ref| + of_each |ref| + absolute */
    double of_max, of_each, absolute;
};

/* ONNX's node tests: 1e-5, 1e-3, 0. */
extern const struct ig_tolerance ig_node_tolerance;

/* Reads data set `n` of folder `dir`. 0; 1 if there is no such set; or -1 with a line in err. */
int ig_testset_read(struct ig_testset *t, const char *dir, int n, char *err, size_t err_bytes);
void ig_testset_free(struct ig_testset *t);
/*
 * The inputs to bind as constants at `level`: 0 none; 1 those like shapes (integers of rank 0 or 1, not the
 * first); 2 all but the first; 3 all. Fills binds (room for IG_TESTSET_TENSORS), returns how many. Import at
 * rising levels until it works; a level that binds no more than the one before need not be tried.
 */
int32_t ig_testset_bind(const struct ig_testset *t, int level, struct ig_bind *binds);
/* The data for input `i` of the graph: by name, else by position. NULL if there is none of its shape. */
const struct ig_test_tensor *ig_testset_input(const struct ig_testset *t, const struct ig_graph *g,
                                              int32_t i);
/* Compares `got` (of `shape`) with output `i`. 0, or -1 with a line in err; *error: largest |d| / max |ref|. */
int ig_testset_compare(const struct ig_testset *t, int32_t i, const struct ig_shape *shape, const void *got,
                       const struct ig_tolerance *tolerance, double *error, char *err, size_t err_bytes);

#endif
