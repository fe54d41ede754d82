/* out/bench/traffic: what GPU kernels ask of memory, counted by the emulator. */
#ifndef BENCH_TRAFFIC_TRAFFIC_H
#define BENCH_TRAFFIC_TRAFFIC_H

#include "kernels_cpu/kernel.h"

/* Runs the launches of a GPU kernel for `call`, whose operands but constants are zeros. -1: a fault, in emu_fault(). */
int ig_traffic_run(const struct ig_kernel *k, const struct ig_call *call);

#endif
