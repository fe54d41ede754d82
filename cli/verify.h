/* One ONNX backend test: model.onnx with data sets of inputs and expected outputs. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "cli/cli.h"

enum { IG_CASE_TENSORS = 64 };

struct ig_case_tensor {        /* a .pb file of a data set */
    char name[256];            /* of the model's input or output that it is for */
    struct ig_shape shape;
    void *data;                /* malloc'ed */
    int bound;                 /* an input that was compiled in as a constant */
};

struct ig_case {
    char model[4096];          /* path of model.onnx */
    struct ig_case_tensor in[IG_CASE_TENSORS], out[IG_CASE_TENSORS];
    int n_in, n_out;
};

struct ig_verify_options {
    int in_process;            /* run the tables here, do not build a program */
    int threads;
    int isa;                   /* enum ig_isa */
    const char *target;        /* folder below out/ with the libraries, e.g. "host" */
    const char *cc, *runner;   /* compiler, and a prefix to run what it made (qemu-aarch64-static), or NULL */
    int keep;                  /* do not delete the work folder */
};

/* Reads data set `set` of the test in `dir`: 1, or 0 if there is none; err says why where it cannot be read (-1). */
int ig_case_read(struct ig_case *c, const char *dir, int set, char *err, size_t n);
void ig_case_free(struct ig_case *c);
/*
 * Compiles the case, binding shape-like inputs as constants only where it cannot be compiled otherwise. NULL with the
 * refusal in err.
 */
struct ig_graph *ig_case_compile(struct ig_case *c, char *err, size_t n);
/* Runs it; outputs[i] are filled in the graph's shapes. 0, or -1 with a line in err. */
int ig_case_run(const struct ig_case *c, const struct ig_graph *g, const struct ig_verify_options *o, void **outputs,
                char *err, size_t n);
/*
 * Largest error over its bound for one output of element type `type`; > 1 is a failure. *worst: the largest absolute
 * error. A half-precision output is allowed its own rounding.
 */
double ig_case_compare(const struct ig_case_tensor *want, int32_t type, const void *got, int network, double *worst);

#endif
