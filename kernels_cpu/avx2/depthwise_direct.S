/*
 * Depthwise for AVX2 + FMA: seven outputs of a row by 16 (or 8) channels at a time, any pixel stride. struct
 * ig_direct of kernels_cpu/common/depthwise7.h in rdi.
 *
 *   ymm0-6   sums of the seven outputs, channels 0-7     ymm7-13  channels 8-15     ymm14-15  weights of a tap
 *   r8   pixel of the tap under the first output         r9 r10 r11   1, 3, 5 outputs further, bytes
 *   r12  bytes to the next column                        rsi  weights, rbx beyond: those of channels 8-15
 *   rax  table of rows, rcx rows left                    rdx  bytes from a row's start
 *   r14  output, r13 its step      rbp  masks of the columns outside the image      r15  outputs left
 *   stack: channel blocks left, the block's bias, its bytes from a row's start, its output
 *
 * Per tap two loads of weights and fourteen fma that read their pixel from memory: 16 loads, at two a cycle, for 14
 * fma: at most 7/8 of the fma peak while the pixels are in L1, whatever the window and the stride. An output's sum is
 * bias, then the taps row by row; those outside the image are left out. Whole cache lines are read.
 */
#define VECTOR ymm
#define BYTES 32
#define MASK
        .macro lanes nv
        .endm

#include "kernels_cpu/avx2/depthwise_direct.inc"

        direct  ig_direct_3s1_16_avx2, 3, 1, 1, 2
        direct  ig_direct_3s1_8_avx2, 3, 1, 1, 1
        direct  ig_direct_3s2_16_avx2, 3, 2, 1, 2
        direct  ig_direct_3s2_8_avx2, 3, 2, 1, 1
        direct  ig_direct_5s1_16_avx2, 5, 1, 2, 2
        direct  ig_direct_5s1_8_avx2, 5, 1, 2, 1
        direct  ig_direct_5s2_16_avx2, 5, 2, 2, 2
        direct  ig_direct_5s2_8_avx2, 5, 2, 2, 1
        direct  ig_direct_7s1_16_avx2, 7, 1, 3, 2
        direct  ig_direct_7s1_8_avx2, 7, 1, 3, 1
        direct  ig_direct_7s2_16_avx2, 7, 2, 3, 2
        direct  ig_direct_7s2_8_avx2, 7, 2, 3, 1

        .section .note.GNU-stack, "", @progbits
