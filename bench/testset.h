/*
 * A folder of ONNX's backend tests: model.onnx and test_data_set_<n>/{input,output}_<i>.pb; and which inputs
 * a network that is compiled must know beforehand.
 */
#ifndef BENCH_TESTSET_H
#define BENCH_TESTSET_H

#include "bench/compare.h"
#include "graph/graph.h"

enum { IG_TESTSET_TENSORS = 64, IG_TESTSET_LEVELS = 4 };

struct ig_test_tensor {
    char name[256]; /* of the model's input or output that it is for */
    struct ig_shape shape;
    void *data; /* malloc'ed */
};

struct ig_testset {
    char model[4096]; /* path of model.onnx */
    int32_t n_in, n_out;
    struct ig_test_tensor in[IG_TESTSET_TENSORS], out[IG_TESTSET_TENSORS];
};

/*
 * Reads data set `n` of folder `dir`. A model whose first input has no file (ONNX's "light" tests) gets
 * arange(count)/count. 0; 1 if there is no such set; or -1 with a line in err.
 */
int ig_testset_read(struct ig_testset *t, const char *dir, int n, char *err, size_t err_bytes);
void ig_testset_free(struct ig_testset *t);
/*
 * One bind for every input, at binds[0..n_in): its shape at least, and its data too (then it is a constant)
 * at `level`: 0 none; 1 those like shapes (integers of rank 0 or 1); 2 all but the first; 3 all. Returns how
 * many have their data. Import at rising levels until it works; one that binds no more data than the last
 * need not be tried.
 */
int32_t ig_testset_bind(const struct ig_testset *t, int level, struct ig_bind *binds);
/* The data for input `i` of the graph, or NULL if the set has none of its name and shape. */
const struct ig_test_tensor *ig_testset_input(const struct ig_testset *t, const struct ig_graph *g,
                                              int32_t i);

#endif
