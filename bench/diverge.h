/* Where lowered tables leave the reference: which layer of a wrong network is to blame. */
#ifndef BENCH_DIVERGE_H
#define BENCH_DIVERGE_H

#include "bench/compare.h"
#include "gen/lower.h"

/*
 * Runs the tables step by step on this thread, and holds what each step makes against the interpreter. 1, and
 * text gets "layer 'conv1' (conv_f32_6x16__avx2), element 12: 1.5, expected 1.25" of the first step outside
 * the tolerance; 0 if there is none; or -1, and why nothing can be said (a kernel that does not run here, no
 * memory). inputs[i] as for ig_ctx_run. Fills l's weights anew.
 */
int ig_first_divergence(struct ig_lowered *l, const void *const *inputs, const struct ig_tolerance *tolerance,
                        char *text, size_t n);

#endif
