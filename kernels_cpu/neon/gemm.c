/*
 * The micro-kernels of gemm.S by rows and width. One row of FC takes no kernel of its own: 1x16 is bound by the
 * loads of B, which is all there is to do (llvm-mca, Cortex-A57: 21 cycles for 256 bytes).
 */
#include "kernels_cpu/neon/gemm.h"

#include <stddef.h>

#include "kernels_cpu/neon/act.h"

_Static_assert(offsetof(struct ig_gemm_args, a_offset) == 8 && offsetof(struct ig_gemm_args, taps) == 16 &&
                   offsetof(struct ig_gemm_args, k) == 24 && offsetof(struct ig_gemm_args, b) == 32 &&
                   offsetof(struct ig_gemm_args, bias) == 40 && offsetof(struct ig_gemm_args, c) == 48 &&
                   offsetof(struct ig_gemm_args, c_offset) == 56 && offsetof(struct ig_gemm_args, r) == 64 &&
                   offsetof(struct ig_gemm_args, r_offset) == 72 && offsetof(struct ig_gemm_args, prefetch) == 80 &&
                   offsetof(struct ig_gemm_args, flags) == 88 && offsetof(struct ig_gemm_args, lo) == 92 &&
                   offsetof(struct ig_gemm_args, hi) == 96,
               "gemm.S knows these offsets");

enum { STREAM_BYTES = 512 << 10 }; /* about half of the L2 of a TX2 or Xavier cluster that one core may count on */

ig_gemm_fn ig_gemm_1x16_neon, ig_gemm_2x16_neon, ig_gemm_3x16_neon, ig_gemm_4x16_neon, ig_gemm_5x16_neon,
    ig_gemm_6x16_neon_fn;
