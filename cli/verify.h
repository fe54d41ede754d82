/* Building, running and judging one ONNX backend test. */
#ifndef CLI_VERIFY_H
#define CLI_VERIFY_H

#include "bench/testset.h"
#include "cli/cli.h"
#include "gen/lower.h"

enum { IG_VERDICT_BYTES = 1024 };

struct ig_verify_options {
    int in_process; /* run the tables here, do not build a program */
    const void *fatbin; /* the GPU's kernels: run on it; or NULL */
    int threads;
    int isa;                 /* enum ig_isa */
    const char *target;      /* folder below out/ with the libraries, e.g. "host" */
    const char *cc, *runner; /* compiler (NULL: the one of programs here), and a prefix to run what it made (qemu-aarch64-static), or NULL */
    int keep;                /* do not delete the work folder */
    int half;                /* weights and activations of 16 bits */
    double tolerance;        /* largest error allowed, of the largest value; 0: what the precision allows */
    uint64_t draw;           /* plans at random by this seed; 0: the fastest */
};

/*
 * All data sets of the test in `dir`, up to the first that does not pass. "PASS <error>", "FAIL <what>" or
 * "REFUSED <why>" in line[IG_VERDICT_BYTES].
 */
void ig_verify_case(const char *dir, const struct ig_verify_options *o, char *line);
/* One frame: inputs[i], outputs[i] dense, of the model's shapes; outputs are written. 0, or -1 with a line in
 * err. */
int ig_verify_run(struct ig_lowered *l, const struct ig_verify_options *o, const void *const *inputs,
                  void *const *outputs, char *err, size_t n);
/*
 * By o->draw and the name of the folder that `model` is in: p, a time at random for each kernel that fits a layer, cut at random; and
 * in po which bands and objective the plan is to have. p->timings is the caller's to free.
 */
void ig_verify_draw(const struct ig_graph *g, const struct ig_verify_options *o, const char *model, struct ig_profile *p,
                    struct ig_plan_options *po);
/* The same on the GPU. */
int ig_verify_gpu(struct ig_lowered *l, const void *fatbin, const void *const *inputs, void *const *outputs, char *err, size_t n);

#endif
