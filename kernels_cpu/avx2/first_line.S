/*
 * First layer for AVX2 + FMA: an output row by 16 channels (or 8), six (twelve) pixels at a time, kernel size, stride
 * and input channels fixed. struct ig_first_line of first_line.h in rdi.
 *
 *   ymm0-11  accumulators, pixel by pixel      r8   a kernel row under the first pixel
 *   ymm12-13 weights (nv vectors)              rsi  weights     rax  table of rows     r9  rows left
 *   ymm14-15 input, broadcast                  rdx  bytes from the row's start to the first pixel
 *                                              r10  output      r11  its step          rcx pixels left
 *
 * Input pixels of a kernel row are k*ic floats without gaps and those of the next output pixel lie s*ic floats on, so
 * that everything is an immediate off one register: per float nv loads, 12/nv broadcasts and 12 fma, no counting. The
 * last pixels of a row form a whole group with some before them, which are computed twice.
 */
#define VECTOR ymm
#define BYTES 32
#define W 12
#define W1 13
#define X 14
#define XS 2
#define PIXELS(nv) 12 / nv
#define NEXT(k, ic) 32

#include "kernels_cpu/avx2/first_line.inc"

        line    ig_first_3s1c3_16_avx2, 3, 3, 1, 2
        line    ig_first_3s1c3_8_avx2, 3, 3, 1, 1
        line    ig_first_3s2c3_16_avx2, 3, 3, 2, 2
        line    ig_first_3s2c3_8_avx2, 3, 3, 2, 1
        line    ig_first_5s1c3_16_avx2, 5, 3, 1, 2
        line    ig_first_5s1c3_8_avx2, 5, 3, 1, 1
        line    ig_first_5s2c3_16_avx2, 5, 3, 2, 2
        line    ig_first_5s2c3_8_avx2, 5, 3, 2, 1
        line    ig_first_7s2c3_16_avx2, 7, 3, 2, 2
        line    ig_first_7s2c3_8_avx2, 7, 3, 2, 1
        line    ig_first_3s1c1_16_avx2, 3, 1, 1, 2
        line    ig_first_3s1c1_8_avx2, 3, 1, 1, 1
        line    ig_first_5s1c1_16_avx2, 5, 1, 1, 2
        line    ig_first_5s1c1_8_avx2, 5, 1, 1, 1

        .section .note.GNU-stack, "", @progbits
