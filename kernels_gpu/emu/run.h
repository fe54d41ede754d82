/* GPU kernels under emulation, called as CPU kernels are. */
#ifndef KERNELS_GPU_EMU_RUN_H
#define KERNELS_GPU_EMU_RUN_H

#include "kernels_gpu/emu/emu.h"
#include "kernels_gpu/kernel.h"

/*
 * Computes `call` by the registry's kernel `name`: moves operands to device memory, of which kernels may touch just the
 * elements, runs the launches and brings the output back. Every other time operands begin at an odd multiple of an
 * element's size. 0, or -1 with one line in emu_fault().
 */
int emu_run(const char *name, const struct ig_call *call);
enum { EMU_PACKED = IG_MAX_IN };
/* From now on emu_run watches its input k (emu_watch), which is none that is overwritten; EMU_PACKED: its weights; -1: none. */
void emu_watch_input(int k);

#endif
