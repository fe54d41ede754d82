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
        .altmacro

        .macro load_w disp, reg
        vmovups \disp(%rsi), %ymm\reg
        .endm

        .macro load_w2 disp, reg
        vmovups \disp(%rsi, %rbx), %ymm\reg
        .endm

        .macro fma_at m, disp, w, acc
        .if \m == 0
        vfmadd231ps \disp(%r8), %ymm\w, %ymm\acc
        .elseif \m == 1
        vfmadd231ps \disp(%r8, %r9), %ymm\w, %ymm\acc
        .elseif \m == 2
        vfmadd231ps \disp(%r8, %r9, 2), %ymm\w, %ymm\acc
        .elseif \m == 3
        vfmadd231ps \disp(%r8, %r10), %ymm\w, %ymm\acc
        .elseif \m == 4
        vfmadd231ps \disp(%r8, %r9, 4), %ymm\w, %ymm\acc
        .elseif \m == 5
        vfmadd231ps \disp(%r8, %r11), %ymm\w, %ymm\acc
        .else
        vfmadd231ps \disp(%r8, %r10, 2), %ymm\w, %ymm\acc
        .endif
        .endm

/* Output m, tap kx: column m*s + kx of the block, of which `pad` at either end may be outside. */
        .macro output k, s, pad, nv, m, kx
        .set    col, \m * \s + \kx
        .set    guard, -1
        .if     col < \pad
        .set    guard, col
        .endif
        .if     6 * \s + \k - 1 - col < \pad
        .set    guard, \pad + 6 * \s + \k - 1 - col
        .endif
        .if     guard >= 0
        testl   $(1 << guard), %ebp
        jnz     5f
        .endif
        fma_at  \m, 0, 14, \m
        .if     \nv == 2
        fma_at  \m, 32, 15, %(7 + \m)
        .endif
        .if     guard >= 0
5:
        .endif
        .endm

        .macro copy from, to
        vmovaps %ymm\from, %ymm\to
        .endm

        .macro at_least reg         /* of a NaN and a bound, the sum stays: the second source */
        vmaxps  %ymm\reg, %ymm14, %ymm\reg
        .endm

        .macro at_most reg
        vminps  %ymm\reg, %ymm15, %ymm\reg
        .endm

        .macro store disp, reg
        vmovups %ymm\reg, \disp(%r14)
        .endm

        .macro direct name, k, s, pad, nv
        .section .text.\name, "ax", @progbits
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        pushq   %rbx
        pushq   %rbp
        pushq   %r12
        pushq   %r13
        pushq   %r14
        pushq   %r15
        pushq   48(%rdi)
        pushq   $0
        pushq   16(%rdi)
        pushq   72(%rdi)
        movq    40(%rdi), %r12
        imulq   $\s, %r12, %r9
        leaq    (%r9, %r9, 2), %r10
        leaq    (%r9, %r9, 4), %r11
        movq    32(%rdi), %rbx
        movq    56(%rdi), %r13
1:                                  /* channels */
        movq    16(%rsp), %rdx
        movq    24(%rsp), %r14
        movl    80(%rdi), %ebp
        movq    64(%rdi), %r15
2:                                  /* seven outputs */
        cmpq    $7, %r15
        jae     3f
        subq    $7, %r15            /* the last ones go back */
        movq    %r9, %rax
        imulq   %r15, %rax
        addq    %rax, %rdx
        movq    %r13, %rax
        imulq   %r15, %rax
        addq    %rax, %r14
        movl    $7, %r15d
3:
        movq    8(%rsp), %rsi
        load_w  0, 0
        .if     \nv == 2
        load_w2 0, 7
        .endif
        addq    24(%rdi), %rsi
        movq    (%rdi), %rax
        movq    8(%rdi), %rcx
        .set    i, 1
        .rept   6
        copy    0, %i
        .if     \nv == 2
        copy    7, %(7 + i)
        .endif
        .set    i, i + 1
        .endr
        testq   %rcx, %rcx
        jz      7f
        .p2align 4
4:                                  /* kernel row */
        movq    (%rax), %r8
        addq    $8, %rax
        addq    %rdx, %r8
        .set    kx, 0
        .rept   \k
        load_w  %(32 * kx), 14
        .if     \nv == 2
        load_w2 %(32 * kx), 15
        .endif
        .set    m, 0
        .rept   7
        output  \k, \s, \pad, \nv, %m, %kx
        .set    m, m + 1
        .endr
        .set    kx, kx + 1
        .if     kx < \k
        addq    %r12, %r8
        .endif
        .endr
        addq    $(32 * \k), %rsi
        decq    %rcx
        jnz     4b
7:
        testl   $1, 84(%rdi)
        jz      8f
        vbroadcastss 88(%rdi), %ymm14
        .set    i, 0
        .rept   7 * \nv
        at_least %i
        .set    i, i + 1
        .endr
        testl   $2, 84(%rdi)
        jz      8f
        vbroadcastss 92(%rdi), %ymm15
        .set    i, 0
        .rept   7 * \nv
        at_most %i
        .set    i, i + 1
        .endr
8:
        .set    m, 0
        .rept   7
        store   0, %m
        .if     \nv == 2
        store   32, %(7 + m)
        .endif
        addq    %r13, %r14
        .set    m, m + 1
        .endr
        leaq    (%rdx, %r10, 2), %rdx
        addq    %r9, %rdx
        shrl    $8, %ebp
        subq    $7, %r15
        jnz     2b
        movq    %rbx, %rax
        .if     \nv == 2
        addq    %rbx, %rax
        .endif
        addq    %rax, 8(%rsp)
        addq    $(32 * \nv), 16(%rsp)
        addq    $(32 * \nv), 24(%rsp)
        decq    (%rsp)
        jnz     1b
        vzeroupper
        addq    $32, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   \name, . - \name
        .endm

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
