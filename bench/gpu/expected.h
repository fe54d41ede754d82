/* What layers compute on the CPU, to hold GPU kernels against before their times count. */
#ifndef BENCH_GPU_EXPECTED_H
#define BENCH_GPU_EXPECTED_H

#include "bench/gpu/gpu.h"

struct ig_gpu_expected;

/*
 * The CPU's plan of g, by its direct kernels, one thread. NULL with a line in err: a layer that they do not compute, or no memory.
 * g must outlive it.
 */
struct ig_gpu_expected *ig_gpu_expected_new(const struct ig_graph *g, char *err, size_t err_bytes);
/*
 * Runs a step of a bed of g once, and its layer on the CPU where that is the first time, on the same inputs: reals in [-1, 1) for
 * convolutions and products, otherwise in [0, 1), booleans and integers of a byte at random, longer ones, which may be indices,
 * zero. Reals may be off by 2e-5 of the largest, and four times what kernels state (they state it without bias, residual and
 * activation); all else is equal. 0: they agree; 1: they do not, and err
 * names the first element that is off; negative: the driver's error.
 */
int ig_gpu_step_agrees(struct ig_gpu_expected *e, struct ig_gpu_bed *b, int32_t step, char *err, size_t err_bytes);
void ig_gpu_expected_free(struct ig_gpu_expected *e);

#endif
