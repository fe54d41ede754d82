/*
 * First layer for AVX-512: an output row by 32 channels (or 16), twelve pixels at a time, kernel size, stride and input
 * channels fixed. struct ig_first_line of kernels_cpu/common/first_line.h in rdi.
 *
 *   zmm0-23  accumulators, pixel by pixel      r8   a kernel row under the first pixel
 *   zmm24-25 weights (nv panels)               rsi  weights     rax  table of rows     r9  rows left
 *   zmm26-31 input, broadcast                  rdx  bytes from the row's start to the first pixel
 *                                              r10  output      r11  its step          rcx pixels left
 *
 * As its AVX2 sister's, everything is an immediate off one register: per float nv loads, twelve broadcasts and 12 nv fma. The
 * last pixels of a row form a whole group with some before them, which are computed twice.
 */
#define VECTOR zmm
#define BYTES 64
#define W 24
#define W1 25
#define X 26
#define XS 6
#define PIXELS(nv) 12
#define NEXT(k, ic) (64 * (1 + k * k * ic)) /* the next panel's */

#include "kernels_cpu/avx2/first_line.inc"

        line    ig_first_3s1c3_32_avx512, 3, 3, 1, 2
        line    ig_first_3s1c3_16_avx512, 3, 3, 1, 1
        line    ig_first_3s2c3_32_avx512, 3, 3, 2, 2
        line    ig_first_3s2c3_16_avx512, 3, 3, 2, 1
        line    ig_first_5s1c3_32_avx512, 5, 3, 1, 2
        line    ig_first_5s1c3_16_avx512, 5, 3, 1, 1
        line    ig_first_5s2c3_32_avx512, 5, 3, 2, 2
        line    ig_first_5s2c3_16_avx512, 5, 3, 2, 1
        line    ig_first_7s2c3_32_avx512, 7, 3, 2, 2
        line    ig_first_7s2c3_16_avx512, 7, 3, 2, 1
        line    ig_first_3s1c1_32_avx512, 3, 1, 1, 2
        line    ig_first_3s1c1_16_avx512, 3, 1, 1, 1
        line    ig_first_5s1c1_32_avx512, 5, 1, 1, 2
        line    ig_first_5s1c1_16_avx512, 5, 1, 1, 1

        .section .note.GNU-stack, "", @progbits
