/*
 * GEMM micro-kernels for AVX2 + FMA: c[rows][8*nv] = act(bias + a b + r), struct ig_gemm_args of
 * kernels_cpu/common/conv_gemm.h in rdi.
 *
 * Registers, for rows x nv vectors of 8 channels (rows*nv <= 12):
 *   ymm0 ..        accumulators, row by row       r8 r9 r10 r11 rbx rbp  pixels of this tap, past k & ~3
 *   ymm12 ..       nv vectors of b                rsi  b          rdx  index into the pixels, bytes, up to 0
 *   ymm15, (14)    a, broadcast                   rax  table      rcx  taps left
 *                                                 r12  (k & ~3)*4 r13  (k & 3)*4  r14  a_offset + r12
 *                                                 r15  what is fetched ahead, else b
 *   stack: panels and groups left, c_offset and r_offset of the panel and of the group's first, what of a panel is used
 * Per k: nv loads, `rows` broadcasts, rows*nv fma. 6x16 and 4x24 do 12 fma against 8 and 7 loads: they run at the
 * rate of the two fma pipes. Assembly, because compilers spill the accumulators or break the order.
 */
        .altmacro

        .macro load_b disp, reg
        vmovups \disp(%rsi), %ymm\reg
        .endm

        .macro fetch disp
        prefetcht0 \disp(%r15)
        .endm

        .macro fma acc, b, a
        vfmadd231ps %ymm\b, %ymm\a, %ymm\acc
        .endm

        .macro broadcast row, disp, reg
        .if \row == 0
        vbroadcastss \disp(%r8, %rdx), %ymm\reg
        .elseif \row == 1
        vbroadcastss \disp(%r9, %rdx), %ymm\reg
        .elseif \row == 2
        vbroadcastss \disp(%r10, %rdx), %ymm\reg
        .elseif \row == 3
        vbroadcastss \disp(%r11, %rdx), %ymm\reg
        .elseif \row == 4
        vbroadcastss \disp(%rbx, %rdx), %ymm\reg
        .else
        vbroadcastss \disp(%rbp, %rdx), %ymm\reg
        .endif
        .endm

        .macro pixel disp, reg
        movq    \disp(%rax), %\reg
        addq    %r14, %\reg
        .endm

        .equ    PANELS, 0                         /* on the stack */
        .equ    C_OFFSET, 8
        .equ    R_OFFSET, 16
        .equ    GROUPS, 24
        .equ    C_GROUP, 32
        .equ    R_GROUP, 40
        .equ    LEAD, 48                          /* from a panel to its b */
        .equ    TRAIL, 56                         /* from what is used of it to the next */
        .equ    FRAME, 64

        .macro pixels rows
        pixel   0, r8
        .if \rows > 1
        pixel   8, r9
        .endif
        .if \rows > 2
        pixel   16, r10
        .endif
        .if \rows > 3
        pixel   24, r11
        .endif
        .if \rows > 4
        pixel   32, rbx
        .endif
        .if \rows > 5
        pixel   40, rbp
        .endif
        .endm

/* One k: a at adisp, b at bdisp. */
        .macro one_k rows, nv, adisp, bdisp
        .set    v, 0
        .rept   \nv
        load_b  %(\bdisp + 32 * v), %(12 + v)
        .set    v, v + 1
        .endr
        .set    r, 0
        .rept   \rows
        .if     \nv == 3
        .set    areg, 15
        .else
        .set    areg, 14 + r % 2
        .endif
        broadcast %r, \adisp, %areg
        .set    v, 0
        .rept   \nv
        fma     %(r * \nv + v), %(12 + v), %areg
        .set    v, v + 1
        .endr
        .set    r, r + 1
        .endr
        .endm

        .macro four_k rows, nv, nr
        .set    kk, 0
        .rept   4
        one_k   \rows, \nv, %(4 * kk), %(4 * \nr * kk)
        .set    kk, kk + 1
        .endr
        addq    $(16 * \nr), %rsi
        addq    $16, %rdx
        .endm

        .macro load_bias disp, reg
        vmovups \disp(%r8), %ymm\reg
        .endm

        .macro copy from, to
        vmovaps %ymm\from, %ymm\to
        .endm

        .macro row_of table, disp
        movq    \disp(%\table), %r8
        addq    %rdx, %r8
        .endm

        .macro add_residual disp, reg
        vaddps  \disp(%r8), %ymm\reg, %ymm\reg
        .endm

        .macro store disp, reg
        vmovups %ymm\reg, \disp(%r8)
        .endm

        .macro at_least reg         /* of a NaN and a bound, x stays: the second source */
        vmaxps  %ymm\reg, %ymm12, %ymm\reg
        .endm

        .macro at_most reg
        vminps  %ymm\reg, %ymm13, %ymm\reg
        .endm

/* Bounds and stores alternate: a burst of stores would hold up the next tile's fma. */
        .macro finish rows, nv, clamps
        .set    r, 0
        .rept   \rows
        row_of  rax, %(8 * r)
        .set    v, 0
        .rept   \nv
        .if     \clamps >= 1
        at_least %(r * \nv + v)
        .endif
        .if     \clamps == 2
        at_most %(r * \nv + v)
        .endif
        store   %(32 * v), %(r * \nv + v)
        .set    v, v + 1
        .endr
        .set    r, r + 1
        .endr
        .endm

        .macro gemm name, rows, nv, nr
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
        subq    $FRAME, %rsp
        movl    104(%rdi), %eax
        movq    56(%rdi), %rcx
        movq    72(%rdi), %rdx
        movq    %rax, GROUPS(%rsp)
        movq    %rcx, C_GROUP(%rsp)
        movq    %rdx, R_GROUP(%rsp)
        movq    32(%rdi), %r14
        movq    152(%rdi), %r12
        subq    40(%rdi), %r14
        subq    %r14, %r12
        addq    $(4 * \nr), %r12
        movq    %r14, LEAD(%rsp)
        movq    %r12, TRAIL(%rsp)
        movq    8(%rdi), %r14
        movq    24(%rdi), %r12
        movq    136(%rdi), %r15
        testq   %r15, %r15
        cmoveq  32(%rdi), %r15
        movq    %r12, %r13
        andl    $3, %r13d
        shlq    $2, %r13
        andq    $-4, %r12
        shlq    $2, %r12
        addq    %r12, %r14
9:                                  /* group */
        movl    100(%rdi), %eax
        movq    40(%rdi), %r8
        movq    32(%rdi), %rsi
        movq    %rax, PANELS(%rsp)
        movq    %rcx, C_OFFSET(%rsp)
        movq    %rdx, R_OFFSET(%rsp)
0:                                  /* panel */
        .set    v, 0
        .rept   \nv
        load_bias %(32 * v), %v
        .set    v, v + 1
        .endr
        .set    i, \nv
        .rept   (\rows - 1) * \nv
        copy    %(i % \nv), %i
        .set    i, i + 1
        .endr
        movq    (%rdi), %rax
        movq    16(%rdi), %rcx
1:                                  /* tap */
        pixels  \rows
        addq    $(8 * 96 / \nr), %rax             /* entries of 6 in panels of 16, of 4 in panels of 24 */
        movq    %r12, %rdx
        negq    %rdx
        jz      3f
        .p2align 6
2:                                  /* four k, and some of what is next */
        .set    line, 0
        .rept   \nr / 4
        fetch   %(64 * line)
        .set    line, line + 1
        .endr
        addq    144(%rdi), %r15
        four_k  \rows, \nv, \nr
        jnz     2b
3:
        cmpq    %r13, %rdx
        je      5f
4:                                  /* the last k & 3 */
        one_k   \rows, \nv, 0, 0
        addq    $(4 * \nr), %rsi
        addq    $4, %rdx
        cmpq    %r13, %rdx
        jne     4b
5:
        decq    %rcx
        jnz     1b

        movq    64(%rdi), %rcx
        testq   %rcx, %rcx
        jz      6f
        movq    R_OFFSET(%rsp), %rdx
        .set    r, 0
        .rept   \rows
        row_of  rcx, %(8 * r)
        .set    v, 0
        .rept   \nv
        add_residual %(32 * v), %(r * \nv + v)
        .set    v, v + 1
        .endr
        .set    r, r + 1
        .endr
6:
        movl    88(%rdi), %ecx
        movq    48(%rdi), %rax
        movq    C_OFFSET(%rsp), %rdx
        testl   $1, %ecx
        jz      7f
        vbroadcastss 92(%rdi), %ymm12
        testl   $2, %ecx
        jz      8f
        vbroadcastss 96(%rdi), %ymm13
        finish  \rows, \nv, 2
        jmp     5f
7:
        finish  \rows, \nv, 0
        jmp     5f
8:
        finish  \rows, \nv, 1
5:
        addq    TRAIL(%rsp), %rsi
        movq    %rsi, %r8
        addq    LEAD(%rsp), %rsi
        addq    $(4 * \nr), C_OFFSET(%rsp)
        addq    $(4 * \nr), R_OFFSET(%rsp)
        decq    PANELS(%rsp)
        jnz     0b
        movq    C_GROUP(%rsp), %rcx
        movq    R_GROUP(%rsp), %rdx
        addq    112(%rdi), %r14
        addq    120(%rdi), %rcx
        addq    128(%rdi), %rdx
        movq    %rcx, C_GROUP(%rsp)
        movq    %rdx, R_GROUP(%rsp)
        decq    GROUPS(%rsp)
        jnz     9b
        vzeroupper
        addq    $FRAME, %rsp
        popq    %r15
        popq    %r14
        popq    %r13
        popq    %r12
        popq    %rbp
        popq    %rbx
        ret
        .size   \name, . - \name
        .endm

/* In panels of 16: table entries of 6. */
        gemm    ig_gemm16_1x8_avx2, 1, 1, 16
        gemm    ig_gemm16_2x8_avx2, 2, 1, 16
        gemm    ig_gemm16_3x8_avx2, 3, 1, 16
        gemm    ig_gemm16_4x8_avx2, 4, 1, 16
        gemm    ig_gemm16_5x8_avx2, 5, 1, 16
        gemm    ig_gemm16_6x8_avx2, 6, 1, 16
        gemm    ig_gemm16_1x16_avx2, 1, 2, 16
        gemm    ig_gemm16_2x16_avx2, 2, 2, 16
        gemm    ig_gemm16_3x16_avx2, 3, 2, 16
        gemm    ig_gemm16_4x16_avx2, 4, 2, 16
        gemm    ig_gemm16_5x16_avx2, 5, 2, 16
        gemm    ig_gemm16_6x16_avx2, 6, 2, 16
/* In panels of 24: table entries of 4. */
        gemm    ig_gemm24_1x8_avx2, 1, 1, 24
        gemm    ig_gemm24_2x8_avx2, 2, 1, 24
        gemm    ig_gemm24_3x8_avx2, 3, 1, 24
        gemm    ig_gemm24_4x8_avx2, 4, 1, 24
        gemm    ig_gemm24_1x16_avx2, 1, 2, 24
        gemm    ig_gemm24_2x16_avx2, 2, 2, 24
        gemm    ig_gemm24_3x16_avx2, 3, 2, 24
        gemm    ig_gemm24_4x16_avx2, 4, 2, 24
        gemm    ig_gemm24_1x24_avx2, 1, 3, 24
        gemm    ig_gemm24_2x24_avx2, 2, 3, 24
        gemm    ig_gemm24_3x24_avx2, 3, 3, 24
        gemm    ig_gemm24_4x24_avx2, 4, 3, 24

        .section .note.GNU-stack, "", @progbits
