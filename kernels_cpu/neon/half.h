/* Between halves and floats: fcvtl, fcvtn (common/half.h). */
#ifndef KERNELS_CPU_NEON_HALF_H
#define KERNELS_CPU_NEON_HALF_H

#include "kernels_cpu/common/half.h"

ig_widen_fn ig_widen_neon;
ig_narrow_fn ig_narrow_neon;

#endif
