/*
 * Depthwise 3x3 for AVX2 + FMA: 8 channels of one or two output rows, sliding along x. struct ig_slide of
 * depthwise.h in rdi.
 *
 *   ymm0-8   weights w[ky][kx]      ymm9-14  partial sums: slot s of row i is 9 + s*rows + i      ymm15  one pixel
 *   ymm13-14 stride 2: lo, hi
 *   r8 r9 r10 r11 rbx  input rows   rax  bytes to the column     rsi  to the next      r12  to the one prefetched
 *   r14 r15  output rows            rdx  bytes to the pixel      rcx  to the one prefetched
 *   r13  bias, then weights         rbp  flags, and which rows are outside the image
 *   stack: blocks of 8 channels left, bytes to the last pixel
 *
 * Stride 1: the column that ends output x (kx 2) is the middle one of x+1 and the first of x+2: three slots, every
 * input pixel is read once per row pair: 4 loads and 18 fma for two outputs. Stride 2: the last column of x is the
 * first of x+1: two slots, 10 loads and 18 fma. A pixel that is used once is an operand in memory, and all rows share
 * the offset of the column: some 40 instructions for two outputs, which take 9 cycles to multiply. The rows that the
 * next pair adds, or the next line of these, are prefetched, half of them while the first 8 channels of a cache line
 * pass, half with the other 8: so lines come in evenly, not all in the first pass. An output's sum is bias, then columns left to right, each from the top: the same for
 * one row or two, at an edge or not. What is outside the image is left out.
 */
        .altmacro

        .macro load_w disp, reg
        vmovups \disp(%r13), %ymm\reg
        .endm

        .macro start_sum reg        /* the bias */
        vmovups (%r13), %ymm\reg
        .endm

        .macro fma w, acc
        vfmadd231ps %ymm\w, %ymm15, %ymm\acc
        .endm

        .macro fma_at row, w, acc
        vfmadd231ps (%\row, %rax), %ymm\w, %ymm\acc
        .endm

/* Input row r, tap column kx, into slot s. */
        .macro taps rows, stride, r, kx, s
        .if \r <= 2
        fma     %(3 * \r + \kx), %(9 + \s * \rows)
        .endif
        .if \rows == 2 && \r >= \stride
        fma     %(3 * (\r - \stride) + \kx), %(10 + \s * \rows)
        .endif
        .endm

/* The same where that is all there is to it. */
        .macro only_tap rows, stride, r, reg, kx, s
        .if \r <= 2
        fma_at  \reg, %(3 * \r + \kx), %(9 + \s * \rows)
        .else
        fma_at  \reg, %(3 * (\r - \stride) + \kx), %(10 + \s * \rows)
        .endif
        .endm

/* Row r of a column: kx 0, 1, 2 of it go to slots s0, s1, s2; -1: to none. */
        .macro pixel rows, stride, r, reg, s0, s1, s2
        .if \rows == 1 || \r == 0 || \r == (2 + \stride)
        testl   $(256 << \r), %ebp
        jnz     8f
        .endif
        .if (((\s0 >= 0) + (\s1 >= 0) + (\s2 >= 0)) == -1) && (\rows == 1 || \r < \stride || \r > 2)
        .if \s2 >= 0
        only_tap \rows, \stride, \r, \reg, 2, \s2
        .elseif \s1 >= 0
        only_tap \rows, \stride, \r, \reg, 1, \s1
        .else
        only_tap \rows, \stride, \r, \reg, 0, \s0
        .endif
        .else
        vmovups (%\reg, %rax), %ymm15
        .if \s2 >= 0
        taps    \rows, \stride, \r, 2, \s2
        .endif
        .if \s1 >= 0
        taps    \rows, \stride, \r, 1, \s1
        .endif
        .if \s0 >= 0
        taps    \rows, \stride, \r, 0, \s0
        .endif
        .endif
8:
        .endm

        .macro column rows, stride, s0, s1, s2
        .if \rows == 2
        prefetcht0 (%r9, %r12)
        testl   $16, %ebp
        jnz     8f
        prefetcht0 (%r11, %r12)
8:
        addq    %rsi, %r12
        .endif
        pixel   \rows, \stride, 0, r8, \s0, \s1, \s2
        pixel   \rows, \stride, 1, r9, \s0, \s1, \s2
        pixel   \rows, \stride, 2, r10, \s0, \s1, \s2
        .if \rows == 2
        pixel   \rows, \stride, 3, r11, \s0, \s1, \s2
        .if \stride == 2
        pixel   \rows, \stride, 4, rbx, \s0, \s1, \s2
        .endif
        .endif
        addq    %rsi, %rax
        .endm

        .macro copy from, to
        vmovaps %ymm\from, %ymm\to
        .endm

        .macro start_slot rows, s
        start_sum %(9 + \s * \rows)
        .if \rows == 2
        copy    %(9 + \s * \rows), %(10 + \s * \rows)
        .endif
        .endm

        .macro clamp_lo reg, lo     /* of a NaN and a bound, the sum stays: the second source */
        vmaxps  %ymm\reg, %ymm\lo, %ymm\reg
        .endm

        .macro clamp_hi reg, hi
        vminps  %ymm\reg, %ymm\hi, %ymm\reg
        .endm

        .macro put reg, to
        vmovups %ymm\reg, (%\to, %rdx)
        .endm

        .macro finish rows, stride, s
        testl   $1, %ebp
        jz      1f
        .set    lo, 13
        .set    hi, 14
        .if \stride == 1
        vbroadcastss 100(%rdi), %ymm15
        .set    lo, 15
        .set    hi, 15
        .endif
        clamp_lo %(9 + \s * \rows), %lo
        .if \rows == 2
        clamp_lo %(10 + \s * \rows), %lo
        .endif
        testl   $2, %ebp
        jz      1f
        .if \stride == 1
        vbroadcastss 104(%rdi), %ymm15
        .endif
        clamp_hi %(9 + \s * \rows), %hi
        .if \rows == 2
        clamp_hi %(10 + \s * \rows), %hi
        .endif
1:
        put     %(9 + \s * \rows), r14
        .if \rows == 2
        put     %(10 + \s * \rows), r15
        .endif
        .if \rows == 2
        testl   $64, %ebp
        jz      1f
        prefetchw (%r14, %rcx)
        addq    64(%rdi), %rcx
1:
        .endif
        addq    64(%rdi), %rdx
        .endm

/* Output x in slot p, x+1 in q, x+2 in r; to `done` after the last one. */
        .macro output1 rows, p, q, r
        cmpq    8(%rsp), %rdx
        jz      5f
        start_slot \rows, \r
        column  \rows, 1, \r, \q, \p
        finish  \rows, 1, \p
        jmp     6f
5:
        testl   $8, %ebp
        jnz     5f
        column  \rows, 1, -1, -1, \p
5:
        finish  \rows, 1, \p
        jmp     9f
6:
        .endm

/* Output x in slot p, x+1 in q. */
        .macro output2 rows, p, q
        column  \rows, 2, -1, \p, -1
        cmpq    8(%rsp), %rdx
        jz      5f
        start_slot \rows, \q
        column  \rows, 2, \q, -1, \p
        finish  \rows, 2, \p
        jmp     6f
5:
        testl   $8, %ebp
        jnz     5f
        column  \rows, 2, -1, -1, \p
5:
        finish  \rows, 2, \p
        jmp     9f
6:
        .endm

        .macro slide name, rows, stride
        .text
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
        movq    0(%rdi), %r8
        movq    8(%rdi), %r9
        movq    16(%rdi), %r10
        movq    24(%rdi), %r11
        movq    32(%rdi), %rbx
        movq    40(%rdi), %rsi
        movq    48(%rdi), %r14
        movq    56(%rdi), %r15
        movq    80(%rdi), %r13
        pushq   72(%rdi)
        pushq   88(%rdi)
        movl    96(%rdi), %ebp
        .if \stride == 2
        vbroadcastss 100(%rdi), %ymm13
        vbroadcastss 104(%rdi), %ymm14
        .endif
7:                                  /* channels */
        .set    i, 0
        .rept   9
        load_w  %(32 + 32 * i), %i
        .set    i, i + 1
        .endr
        xorl    %eax, %eax
        xorl    %edx, %edx
        movq    112(%rdi), %r12
        movq    128(%rdi), %rcx
        xorl    $32, %ebp
        testl   $32, %ebp
        jnz     3f
        movq    120(%rdi), %r12
        movq    136(%rdi), %rcx
3:
        start_slot \rows, 0
        testl   $4, %ebp
        jnz     3f
        column  \rows, \stride, 0, -1, -1
3:
        .if \stride == 1
        start_slot \rows, 1
        column  \rows, 1, 1, 0, -1
        .p2align 4
4:
        output1 \rows, 0, 1, 2
        output1 \rows, 1, 2, 0
        output1 \rows, 2, 0, 1
        jmp     4b
        .else
        .p2align 4
4:
        output2 \rows, 0, 1
        output2 \rows, 1, 0
        jmp     4b
        .endif
9:
        addq    $32, %r8
        addq    $32, %r9
        addq    $32, %r10
        addq    $32, %r11
        addq    $32, %rbx
        addq    $32, %r14
        addq    $32, %r15
        addq    $320, %r13
        decq    (%rsp)
        jnz     7b
        vzeroupper
        addq    $16, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   \name, . - \name
        .endm

        slide   ig_slide_1row_s1_avx2, 1, 1
        slide   ig_slide_2rows_s1_avx2, 2, 1
        slide   ig_slide_1row_s2_avx2, 1, 2
        slide   ig_slide_2rows_s2_avx2, 2, 2

        .section .note.GNU-stack, "", @progbits
