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

enum { STREAM_BYTES = 512 << 10 }; /* half of what one of two to four cores can count on in a shared L2 of 2 MiB */

ig_gemm_fn ig_gemm16_1x8_neon, ig_gemm16_2x8_neon, ig_gemm16_3x8_neon, ig_gemm16_4x8_neon,
    ig_gemm16_5x8_neon, ig_gemm16_6x8_neon, ig_gemm16_1x16_neon, ig_gemm16_2x16_neon,
    ig_gemm16_3x16_neon, ig_gemm16_4x16_neon, ig_gemm16_5x16_neon, ig_gemm16_6x16_neon,
    ig_gemm8_1x8_neon, ig_gemm8_2x8_neon, ig_gemm8_3x8_neon, ig_gemm8_4x8_neon, ig_gemm8_5x8_neon,
    ig_gemm8_6x8_neon, ig_gemm8_7x8_neon, ig_gemm8_8x8_neon;

static ig_gemm_fn *const w8of16[] = {ig_gemm16_1x8_neon, ig_gemm16_2x8_neon, ig_gemm16_3x8_neon,
                                      ig_gemm16_4x8_neon, ig_gemm16_5x8_neon, ig_gemm16_6x8_neon};
static ig_gemm_fn *const w16[] = {ig_gemm16_1x16_neon, ig_gemm16_2x16_neon, ig_gemm16_3x16_neon,
                                   ig_gemm16_4x16_neon, ig_gemm16_5x16_neon, ig_gemm16_6x16_neon};
static ig_gemm_fn *const w8[] = {ig_gemm8_1x8_neon, ig_gemm8_2x8_neon, ig_gemm8_3x8_neon,
                                  ig_gemm8_4x8_neon, ig_gemm8_5x8_neon, ig_gemm8_6x8_neon,
                                  ig_gemm8_7x8_neon, ig_gemm8_8x8_neon};

const struct ig_gemm_set ig_gemm_6x16_neon = {6, 16, {w8of16, w16}, ig_act_row_neon, NULL, 0, STREAM_BYTES, 0};
const struct ig_gemm_set ig_gemm_8x8_neon = {8, 8, {w8}, ig_act_row_neon, NULL, 0, STREAM_BYTES, 0};
