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
        .altmacro

        .macro load_w disp, reg
        vmovups \disp(%rsi), %zmm\reg
        .endm

        .macro broadcast disp, reg
        vbroadcastss \disp(%r8), %zmm\reg
        .endm

        .macro fma acc, w, x
        vfmadd231ps %zmm\w, %zmm\x, %zmm\acc
        .endm

/* Float j of the kernel row: pixels that lie `step` bytes apart; panels `panel` bytes. */
        .macro one_float j, step, nv, panel
        .set    v, 0
        .rept   \nv
        load_w  %(64 * \j + \panel * v), %(24 + v)
        .set    v, v + 1
        .endr
        .set    m, 0
        .rept   12
        broadcast %(4 * \j + m * \step), %(26 + m % 6)
        .set    v, 0
        .rept   \nv
        fma     %(m * \nv + v), %(24 + v), %(26 + m % 6)
        .set    v, v + 1
        .endr
        .set    m, m + 1
        .endr
        .endm

        .macro copy from, to
        vmovaps %zmm\from, %zmm\to
        .endm

        .macro at_least reg         /* of a NaN and a bound, x stays: the second source */
        vmaxps  %zmm\reg, %zmm24, %zmm\reg
        .endm

        .macro at_most reg
        vminps  %zmm\reg, %zmm25, %zmm\reg
        .endm

        .macro store disp, reg
        vmovups %zmm\reg, \disp(%r10)
        .endm

/* Bounds and stores alternate: a burst of stores would hold up the next tile's fma. */
        .macro finish nv, clamps
        .set    m, 0
        .rept   12
        .set    v, 0
        .rept   \nv
        .if     \clamps >= 1
        at_least %(m * \nv + v)
        .endif
        .if     \clamps == 2
        at_most %(m * \nv + v)
        .endif
        store   %(64 * v), %(m * \nv + v)
        .set    v, v + 1
        .endr
        addq    %r11, %r10
        .set    m, m + 1
        .endr
        .endm

        .macro line name, k, ic, s, nv
        .section .text.\name, "ax", @progbits     /* a program keeps those of its kernel size */
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        movq    16(%rdi), %r10
        movq    24(%rdi), %r11
        movq    32(%rdi), %rcx
        xorl    %edx, %edx
1:                                  /* group */
        movq    8(%rdi), %rsi
        movq    (%rdi), %rax
        movl    $\k, %r9d
        .set    v, 0
        .rept   \nv
        load_w  %(64 * (1 + \k * \k * \ic) * v), %v
        .set    v, v + 1
        .endr
        .set    i, \nv
        .rept   11 * \nv
        copy    %(i % \nv), %i
        .set    i, i + 1
        .endr
        addq    $64, %rsi
        .p2align 5
2:                                  /* kernel row */
        movq    (%rax), %r8
        addq    $8, %rax
        addq    %rdx, %r8
        .set    f, 0
        .rept   \k * \ic
        one_float %f, %(4 * \s * \ic), \nv, %(64 * (1 + \k * \k * \ic))
        .set    f, f + 1
        .endr
        addq    $(64 * \k * \ic), %rsi
        decl    %r9d
        jnz     2b
        testl   $1, 40(%rdi)
        jz      3f
        vbroadcastss 44(%rdi), %zmm24
        testl   $2, 40(%rdi)
        jz      4f
        vbroadcastss 48(%rdi), %zmm25
        finish  \nv, 2
        jmp     5f
4:
        finish  \nv, 1
        jmp     5f
3:
        finish  \nv, 0
5:
        addq    $(12 * 4 * \s * \ic), %rdx
        subq    $12, %rcx
        jz      9f
        cmpq    $12, %rcx
        jae     1b
        subq    $12, %rcx   /* minus the pixels that the last group goes back */
        imulq   $(4 * \s * \ic), %rcx, %rax
        addq    %rax, %rdx
        imulq   %r11, %rcx
        addq    %rcx, %r10
        movl    $12, %ecx
        jmp     1b
9:
        vzeroupper
        ret
        .size   \name, . - \name
        .endm

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
