/*
 * Data movement of any type, as kernels_cpu/ref/ has it, in runs: what lies side by side in both tensors moves in one piece. Outputs are dense, but
 * for rings of rows where it says so.
 */
#ifndef KERNELS_CPU_COMMON_MOVES_H
#define KERNELS_CPU_COMMON_MOVES_H

#include "kernels_cpu/kernel.h"

/* Output rows [y0, y1). */
void ig_expand_runs(const struct ig_call *call, struct ig_range range);
void ig_tile_runs(const struct ig_call *call, struct ig_range range);
void ig_slice_runs(const struct ig_call *call, struct ig_range range);
void ig_permute_runs(const struct ig_call *call, struct ig_range range); /* IG_TRANSPOSE; the output may be a ring */

/* n elements of `bytes`, each the one at `value`; bytes: 1, 2, 4 or 8. */
void ig_fill_run(char *to, const char *value, int64_t n, int bytes);

#endif
