/*
 * Depthwise for AVX-512: seven outputs of a row by 32 (or up to 16) channels at a time, any pixel stride. struct
 * ig_direct of kernels_cpu/common/depthwise7.h in rdi.
 *
 *   zmm0-6   sums of the seven outputs, channels 0-15    zmm7-13  channels 16-31    zmm14-15  weights of a tap
 *   k1   lanes that there are: fewer than 16 in a last vector
 *   r8   pixel of the tap under the first output         r9 r10 r11   1, 3, 5 outputs further, bytes
 *   r12  bytes to the next column                        rsi  weights, rbx beyond: those of channels 16-31
 *   rax  table of rows, rcx rows left                    rdx  bytes from a row's start
 *   r14  output, r13 its step      rbp  masks of the columns outside the image      r15  outputs left
 *   stack: channel blocks left, the block's bias, its bytes from a row's start, its output
 *
 * As its AVX2 sister's: per tap two loads of weights and fourteen fma that read their pixel from memory, at two a cycle.
 * The same sums in the same order, so the same bits.
 */
#define VECTOR zmm
#define BYTES 64
#define MASK {%k1}
        .macro lanes nv
        .if     \nv == 1
        movq    96(%rdi), %rcx
        movl    $1, %eax
        shll    %cl, %eax
        decl    %eax
        kmovw   %eax, %k1
        .else
        kxnorw  %k1, %k1, %k1
        .endif
        .endm

#include "kernels_cpu/avx2/depthwise_direct.inc"

        direct  ig_direct_3s1_32_avx512, 3, 1, 1, 2
        direct  ig_direct_3s1_16_avx512, 3, 1, 1, 1
        direct  ig_direct_3s2_32_avx512, 3, 2, 1, 2
        direct  ig_direct_3s2_16_avx512, 3, 2, 1, 1
        direct  ig_direct_5s1_32_avx512, 5, 1, 2, 2
        direct  ig_direct_5s1_16_avx512, 5, 1, 2, 1
        direct  ig_direct_5s2_32_avx512, 5, 2, 2, 2
        direct  ig_direct_5s2_16_avx512, 5, 2, 2, 1
        direct  ig_direct_7s1_32_avx512, 7, 1, 3, 2
        direct  ig_direct_7s1_16_avx512, 7, 1, 3, 1
        direct  ig_direct_7s2_32_avx512, 7, 2, 3, 2
        direct  ig_direct_7s2_16_avx512, 7, 2, 3, 1

        .section .note.GNU-stack, "", @progbits
