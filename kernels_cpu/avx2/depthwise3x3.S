/*
 * Depthwise 3x3 for AVX2 + FMA: 8 channels of one or two output rows, sliding along x. struct ig_slide of
 * depthwise.h in rdi.
 *
 *   ymm0-8   weights w[ky][kx]      ymm9-14  partial sums: slot s of row i is 9 + s*rows + i      ymm15  one pixel
 *   r8 r9 r10 r11 rbx  input rows   rax, rdx  output rows   rcx  outputs left   rsi  output step   rbp  bias
 *   r12  bytes from the first channels to these      r13  blocks of 8 channels left     r14  prefetch distance
 *
 * Stride 1: the column that ends output x (kx 2) is the middle one of x+1 and the first of x+2: three slots, every
 * input pixel is read once per row pair: 4 loads and 18 fma for two outputs. Stride 2: the last column of x is the
 * first of x+1: two slots, 10 loads and 18 fma. An output's sum is bias, then columns left to right, each from the
 * top: the same for one row or two, at an edge or not. A column outside the image is left out.
 */
        .altmacro

        .macro load_w disp, reg
        vmovups \disp(%rbp), %ymm\reg
        .endm

        .macro start_sum reg        /* the bias */
        vmovups (%rbp), %ymm\reg
        .endm

        .macro load_pixel row
        .if \row == 0
        vmovups (%r8), %ymm15
        addq    40(%rdi), %r8
        .elseif \row == 1
        vmovups (%r9), %ymm15
        addq    48(%rdi), %r9
        .elseif \row == 2
        vmovups (%r10), %ymm15
        addq    56(%rdi), %r10
        .elseif \row == 3
        vmovups (%r11), %ymm15
        addq    64(%rdi), %r11
        .else
        vmovups (%rbx), %ymm15
        addq    72(%rdi), %rbx
        .endif
        .endm

        .macro fma w, acc
        vfmadd231ps %ymm\w, %ymm15, %ymm\acc
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

/* One input column: kx 0, 1, 2 of it go to slots s0, s1, s2; -1: to none. */
        .macro column rows, stride, s0, s1, s2
        .if \rows == 2
        prefetcht0 (%r10, %r14)
        prefetcht0 (%r11, %r14)
        .endif
        .set    row, 0
        .rept   3 + (\rows - 1) * \stride
        load_pixel %row
        .if \s2 >= 0
        taps    \rows, \stride, %row, 2, \s2
        .endif
        .if \s1 >= 0
        taps    \rows, \stride, %row, 1, \s1
        .endif
        .if \s0 >= 0
        taps    \rows, \stride, %row, 0, \s0
        .endif
        .set    row, row + 1
        .endr
        .endm

        .macro start_slot rows, s
        start_sum %(9 + \s * \rows)
        .if \rows == 2
        start_sum %(10 + \s * \rows)
        .endif
        .endm

        .macro clamp_lo reg         /* of a NaN and a bound, the sum stays: the second source */
        vmaxps  %ymm\reg, %ymm15, %ymm\reg
        .endm

        .macro clamp_hi reg
        vminps  %ymm\reg, %ymm15, %ymm\reg
        .endm

        .macro put reg, to
        vmovups %ymm\reg, (%\to)
        addq    %rsi, %\to
        .endm

        .macro finish rows, s
        testl   $1, 120(%rdi)
        jz      1f
        vbroadcastss 124(%rdi), %ymm15
        clamp_lo %(9 + \s * \rows)
        .if \rows == 2
        clamp_lo %(10 + \s * \rows)
        .endif
1:
        testl   $2, 120(%rdi)
        jz      2f
        vbroadcastss 128(%rdi), %ymm15
        clamp_hi %(9 + \s * \rows)
        .if \rows == 2
        clamp_hi %(10 + \s * \rows)
        .endif
2:
        put     %(9 + \s * \rows), rax
        .if \rows == 2
        put     %(10 + \s * \rows), rdx
        .endif
        .endm

        .macro from disp, reg       /* a pointer of the struct, these channels */
        movq    \disp(%rdi), %\reg
        addq    %r12, %\reg
        .endm

/* Output x in slot p, x+1 in q, x+2 in r; to `done` after the last one. */
        .macro output1 rows, p, q, r
        decl    %ecx
        jz      5f
        start_slot \rows, \r
        column  \rows, 1, \r, \q, \p
        finish  \rows, \p
        jmp     6f
5:
        testl   $8, 120(%rdi)
        jnz     5f
        column  \rows, 1, -1, -1, \p
5:
        finish  \rows, \p
        jmp     9f
6:
        .endm

/* Output x in slot p, x+1 in q. */
        .macro output2 rows, p, q
        decl    %ecx
        jz      5f
        column  \rows, 2, -1, \p, -1
        start_slot \rows, \q
        column  \rows, 2, \q, -1, \p
        finish  \rows, \p
        jmp     6f
5:
        column  \rows, 2, -1, \p, -1
        testl   $8, 120(%rdi)
        jnz     5f
        column  \rows, 2, -1, -1, \p
5:
        finish  \rows, \p
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
        movq    144(%rdi), %r14
        movq    112(%rdi), %rbp
        movq    96(%rdi), %rsi
        movq    136(%rdi), %r13
        xorl    %r12d, %r12d
7:                                  /* channels */
        .set    i, 0
        .rept   9
        load_w  %(32 + 32 * i), %i
        .set    i, i + 1
        .endr
        from    0, r8
        from    8, r9
        from    16, r10
        .if \rows == 2
        from    24, r11
        from    88, rdx
        .if \stride == 2
        from    32, rbx
        .endif
        .endif
        from    80, rax
        movl    104(%rdi), %ecx
        start_slot \rows, 0
        testl   $4, 120(%rdi)
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
        addq    $320, %rbp
        addq    $32, %r12
        decq    %r13
        jnz     7b
        vzeroupper
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
