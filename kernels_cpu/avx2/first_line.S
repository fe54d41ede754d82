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
        .altmacro

        .macro load_w disp, reg
        vmovups \disp(%rsi), %ymm\reg
        .endm

        .macro broadcast disp, reg
        vbroadcastss \disp(%r8), %ymm\reg
        .endm

        .macro fma acc, w, x
        vfmadd231ps %ymm\w, %ymm\x, %ymm\acc
        .endm

/* Float j of the kernel row: pixels that lie `step` bytes apart. */
        .macro one_float j, step, nv
        .set    v, 0
        .rept   \nv
        load_w  %(64 * \j + 32 * v), %(12 + v)
        .set    v, v + 1
        .endr
        .set    m, 0
        .rept   12 / \nv
        broadcast %(4 * \j + m * \step), %(14 + m % 2)
        .set    v, 0
        .rept   \nv
        fma     %(m * \nv + v), %(12 + v), %(14 + m % 2)
        .set    v, v + 1
        .endr
        .set    m, m + 1
        .endr
        .endm

        .macro copy from, to
        vmovaps %ymm\from, %ymm\to
        .endm

        .macro at_least reg         /* of a NaN and a bound, x stays: the second source */
        vmaxps  %ymm\reg, %ymm12, %ymm\reg
        .endm

        .macro at_most reg
        vminps  %ymm\reg, %ymm13, %ymm\reg
        .endm

        .macro store disp, reg
        vmovups %ymm\reg, \disp(%r10)
        .endm

/* Bounds and stores alternate: a burst of stores would hold up the next tile's fma. */
        .macro finish nv, clamps
        .set    m, 0
        .rept   12 / \nv
        .set    v, 0
        .rept   \nv
        .if     \clamps >= 1
        at_least %(m * \nv + v)
        .endif
        .if     \clamps == 2
        at_most %(m * \nv + v)
        .endif
        store   %(32 * v), %(m * \nv + v)
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
        load_w  %(32 * v), %v
        .set    v, v + 1
        .endr
        .set    i, \nv
        .rept   12 - \nv
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
        one_float %f, %(4 * \s * \ic), \nv
        .set    f, f + 1
        .endr
        addq    $(64 * \k * \ic), %rsi
        decl    %r9d
        jnz     2b
        testl   $1, 40(%rdi)
        jz      3f
        vbroadcastss 44(%rdi), %ymm12
        testl   $2, 40(%rdi)
        jz      4f
        vbroadcastss 48(%rdi), %ymm13
        finish  \nv, 2
        jmp     5f
4:
        finish  \nv, 1
        jmp     5f
3:
        finish  \nv, 0
5:
        addq    $(12 / \nv * 4 * \s * \ic), %rdx
        subq    $(12 / \nv), %rcx
        jz      9f
        cmpq    $(12 / \nv), %rcx
        jae     1b
        subq    $(12 / \nv), %rcx   /* minus the pixels that the last group goes back */
        imulq   $(4 * \s * \ic), %rcx, %rax
        addq    %rax, %rdx
        imulq   %r11, %rcx
        addq    %rcx, %r10
        movl    $(12 / \nv), %ecx
        jmp     1b
9:
        vzeroupper
        ret
        .size   \name, . - \name
        .endm

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
