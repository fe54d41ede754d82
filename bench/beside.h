/* The same network at work on other cores: times that are taken meanwhile are those that a pipeline's stage has, whose
 * neighbours want the same caches and the same memory. */
#ifndef BENCH_BESIDE_H
#define BENCH_BESIDE_H

#include "planner/plan.h"

struct ig_beside;

/*
 * A thread on each core of `list` ("1,2"), each with weights and an arena of its own, runs g frame after frame with the
 * kernels that an estimate takes, until ig_beside_stop; the calling thread gives these cores up. NULL with a line in
 * err: no list of cores that this process may use beside one more, or no memory.
 */
struct ig_beside *ig_beside_start(const struct ig_graph *g, int32_t isa, const char *list, char *err, size_t err_bytes);
/* How many there are. */
int32_t ig_beside_count(const struct ig_beside *b);
void ig_beside_stop(struct ig_beside *b); /* NULL: nothing */

#endif
