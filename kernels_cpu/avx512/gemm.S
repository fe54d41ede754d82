/*
 * GEMM micro-kernels for AVX-512: c[rows][16*panels] = act(bias + a b + r), struct ig_gemm_args of
 * kernels_cpu/common/conv_gemm.h in rdi. Panels of 16 channels, two at a time as long as there are two: one vector of each.
 *
 * Registers, for rows x nv vectors (rows <= 12, nv <= 2):
 *   zmm0 ..        accumulators, row by row       r8 .. r15 rax rbx rcx rbp  pixels of this tap, past k & ~3
 *   zmm24, (25)    a vector of each panel's b     rsi  b          rdx  index into the pixels, bytes, up to 0
 *   zmm26 .. 31    a, broadcast, in turn          rdi  the second panel's b
 * All else is on the stack: it is read once a tap, a tile or four k. Per k: nv loads, `rows` broadcasts, rows*nv fma;
 * 12x32 does 24 fma against 14 loads: it runs at the rate of two fma pipes, at a third of the bytes of b that 6x16 reads.
 * Of the streams in use nothing is fetched ahead: processors with such vectors follow them by themselves, and the instructions for it
 * took a tenth of the speed. What is needed next is, 128, 256 or 512 bytes every four k, as many as its step needs.
 * The chain of every element is that of the other kernels: the bits are the same.
 */
        .altmacro

        .equ    ARGS, 0                           /* on the stack */
        .equ    PANELS, 8                         /* left of this group */
        .equ    GROUPS, 16
        .equ    C_OFFSET, 24                      /* of the panel */
        .equ    R_OFFSET, 32
        .equ    C_GROUP, 40                       /* of the group's first */
        .equ    R_GROUP, 48
        .equ    A_OFFSET, 56                      /* with what k & ~3 floats take */
        .equ    TABLE, 64
        .equ    TAPS, 72                          /* left */
        .equ    K_MAIN, 80                        /* -(k & ~3)*4 */
        .equ    K_REST, 88                        /* (k & 3)*4 */
        .equ    PANEL, 96                         /* bytes from a panel to the next */
        .equ    AHEAD, 104
        .equ    STEP, 112
        .equ    LEAD, 120                         /* from a panel to its b */
        .equ    TRAIL, 128                        /* from what is used of it to the next */
        .equ    FRAME, 136

        .macro load_b disp, v, reg
        .if \v == 0
        vmovups \disp(%rsi), %\reg\()24
        .else
        vmovups \disp(%rdi), %\reg\()25
        .endif
        .endm

        .macro fma acc, b, a, reg
        vfmadd231ps %\reg\b, %\reg\a, %\reg\acc
        .endm

        .macro broadcast_from base, disp, to, reg
        vbroadcastss \disp(%\base, %rdx), %\reg\to
        .endm

        .macro of_row macro, row, rest:vararg
        .if \row == 0
        \macro r8, \rest
        .elseif \row == 1
        \macro r9, \rest
        .elseif \row == 2
        \macro r10, \rest
        .elseif \row == 3
        \macro r11, \rest
        .elseif \row == 4
        \macro r12, \rest
        .elseif \row == 5
        \macro r13, \rest
        .elseif \row == 6
        \macro r14, \rest
        .elseif \row == 7
        \macro r15, \rest
        .elseif \row == 8
        \macro rax, \rest
        .elseif \row == 9
        \macro rbx, \rest
        .elseif \row == 10
        \macro rcx, \rest
        .else
        \macro rbp, \rest
        .endif
        .endm

        .macro pixel to, disp
        movq    \disp(%rdi), %\to
        addq    %rdx, %\to
        .endm

        .macro second_b
        movq    PANEL(%rsp), %rdi
        addq    %rsi, %rdi
        .endm

/* One k: a at adisp, b at bdisp. */
        .macro one_k rows, nv, adisp, bdisp, reg
        .set    v, 0
        .rept   \nv
        load_b  \bdisp, %v, \reg
        .set    v, v + 1
        .endr
        .set    r, 0
        .rept   \rows
        .set    areg, 26 + r % 6
        of_row  broadcast_from, %r, \adisp, %areg, \reg
        .set    v, 0
        .rept   \nv
        fma     %(r * \nv + v), %(24 + v), %areg, \reg
        .set    v, v + 1
        .endr
        .set    r, r + 1
        .endr
        .endm

        .macro load_bias v, reg
        .if \v == 0
        vmovups (%rsi), %\reg\v
        .else
        vmovups (%rdi), %\reg\v
        .endif
        .endm

        .macro copy from, to, reg
        vmovaps %\reg\from, %\reg\to
        .endm

        .macro row_of disp
        movq    \disp(%rax), %r8
        addq    %rdx, %r8
        .endm

        .macro add_residual disp, acc, reg
        vaddps  \disp(%r8), %\reg\acc, %\reg\acc
        .endm

        .macro store disp, acc, reg
        vmovups %\reg\acc, \disp(%r8)
        .endm

        .macro clamp acc, reg             /* of a NaN and a bound, x stays: the second source */
        vmaxps  %\reg\acc, %\reg\()24, %\reg\acc
        vminps  %\reg\acc, %\reg\()25, %\reg\acc
        .endm

/* Bounds and stores alternate: a burst of stores would hold up the next tile's fma. */
        .macro finish rows, nv, reg
        .set    r, 0
        .rept   \rows
        row_of  %(8 * r)
        .set    v, 0
        .rept   \nv
        clamp   %(r * \nv + v), \reg
        store   %(64 * v), %(r * \nv + v), \reg
        .set    v, v + 1
        .endr
        .set    r, r + 1
        .endr
        .endm

/* nv panels, of which the first's bias is at rsi; then rsi is at the bias of the next. */
        .macro tile rows, nv, reg
        .if     \nv == 2
        second_b
        .endif
        .set    v, 0
        .rept   \nv
        load_bias %v, \reg
        .set    v, v + 1
        .endr
        .set    i, \nv
        .rept   (\rows - 1) * \nv
        copy    %(i % \nv), %i, \reg
        .set    i, i + 1
        .endr
        addq    LEAD(%rsp), %rsi
        movq    ARGS(%rsp), %rdi
        movq    (%rdi), %rax
        movq    16(%rdi), %rcx
        movq    %rax, TABLE(%rsp)
        movq    %rcx, TAPS(%rsp)
1:                                  /* tap */
        movq    TABLE(%rsp), %rdi
        movq    A_OFFSET(%rsp), %rdx
        .set    r, 0
        .rept   \rows
        of_row  pixel, %r, %(8 * r)
        .set    r, r + 1
        .endr
        addq    $96, %rdi
        movq    %rdi, TABLE(%rsp)
        movq    K_MAIN(%rsp), %rdx
        testq   %rdx, %rdx
        jz      3f
        .p2align 6
2:                                  /* four k */
        movq    AHEAD(%rsp), %rdi
        prefetcht1 (%rdi)
        prefetcht1 64(%rdi)
        cmpq    $128, STEP(%rsp)
        jbe     10f
        call    fetch_more
10:
        addq    STEP(%rsp), %rdi
        movq    %rdi, AHEAD(%rsp)
        .if     \nv == 2
        second_b
        .endif
        .set    kk, 0
        .rept   4
        one_k   \rows, \nv, %(4 * kk), %(64 * kk), \reg
        .set    kk, kk + 1
        .endr
        addq    $256, %rsi
        addq    $16, %rdx
        jnz     2b
3:
        cmpq    K_REST(%rsp), %rdx
        je      5f
4:                                  /* the last k & 3 */
        .if     \nv == 2
        second_b
        .endif
        one_k   \rows, \nv, 0, 0, \reg
        addq    $64, %rsi
        addq    $4, %rdx
        cmpq    K_REST(%rsp), %rdx
        jne     4b
5:
        decq    TAPS(%rsp)
        jnz     1b

        movq    ARGS(%rsp), %rdi
        movq    64(%rdi), %rax
        testq   %rax, %rax
        jz      6f
        movq    R_OFFSET(%rsp), %rdx
        .set    r, 0
        .rept   \rows
        row_of  %(8 * r)
        .set    v, 0
        .rept   \nv
        add_residual %(64 * v), %(r * \nv + v), \reg
        .set    v, v + 1
        .endr
        .set    r, r + 1
        .endr
6:
        movl    88(%rdi), %ecx
        movq    48(%rdi), %rax
        movq    C_OFFSET(%rsp), %rdx
        vbroadcastss infinities(%rip), %\reg\()24
        vbroadcastss 4 + infinities(%rip), %\reg\()25
        testl   $1, %ecx
        jz      7f
        vbroadcastss 92(%rdi), %\reg\()24
        testl   $2, %ecx
        jz      7f
        vbroadcastss 96(%rdi), %\reg\()25
7:
        finish  \rows, \nv, \reg
        addq    TRAIL(%rsp), %rsi
        .if     \nv == 2
        addq    PANEL(%rsp), %rsi
        .endif
        addq    $(64 * \nv), C_OFFSET(%rsp)
        addq    $(64 * \nv), R_OFFSET(%rsp)
        .endm

        .text
        .type   fetch_more, @function
        .p2align 4
fetch_more:                         /* beyond 128 bytes, as STEP needs; once for all tiles, as it is long and rare */
        prefetcht1 128(%rdi)
        prefetcht1 192(%rdi)
        cmpq    $256, 8 + STEP(%rsp)
        jbe     10f
        prefetcht1 256(%rdi)
        prefetcht1 320(%rdi)
        prefetcht1 384(%rdi)
        prefetcht1 448(%rdi)
10:
        ret
        .size   fetch_more, . - fetch_more

        .macro gemm name, rows, most, reg
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
        movq    %rdi, ARGS(%rsp)
        movl    104(%rdi), %eax
        movq    56(%rdi), %rcx
        movq    72(%rdi), %rdx
        movq    %rax, GROUPS(%rsp)
        movq    %rcx, C_GROUP(%rsp)
        movq    %rdx, R_GROUP(%rsp)
        movq    136(%rdi), %rax
        movq    144(%rdi), %rcx
        testq   %rax, %rax
        cmoveq  32(%rdi), %rax
        movq    %rax, AHEAD(%rsp)
        movq    %rcx, STEP(%rsp)
        movq    24(%rdi), %rax
        movq    %rax, %rdx
        imulq   16(%rdi), %rdx
        incq    %rdx
        shlq    $6, %rdx
        addq    152(%rdi), %rdx
        movq    %rdx, PANEL(%rsp)
        movq    32(%rdi), %rdx
        subq    40(%rdi), %rdx
        movq    %rdx, LEAD(%rsp)
        negq    %rdx
        addq    152(%rdi), %rdx
        addq    $64, %rdx
        movq    %rdx, TRAIL(%rsp)
        movl    %eax, %ecx
        andl    $3, %ecx
        shlq    $2, %rcx
        movq    %rcx, K_REST(%rsp)
        andq    $-4, %rax
        shlq    $2, %rax
        movq    8(%rdi), %rdx
        addq    %rax, %rdx
        movq    %rdx, A_OFFSET(%rsp)
        negq    %rax
        movq    %rax, K_MAIN(%rsp)
9:                                  /* group */
        movl    100(%rdi), %eax
        movq    40(%rdi), %rsi
        movq    C_GROUP(%rsp), %rcx
        movq    R_GROUP(%rsp), %rdx
        movq    %rax, PANELS(%rsp)
        movq    %rcx, C_OFFSET(%rsp)
        movq    %rdx, R_OFFSET(%rsp)
        .if     \most == 2
        cmpq    $1, %rax
        je      21f
20:                                 /* two panels */
        tile    \rows, 2, \reg
        subq    $2, PANELS(%rsp)
        je      22f
        cmpq    $1, PANELS(%rsp)
        jne     20b
21:
        tile    \rows, 1, \reg
22:
        .else
20:
        tile    \rows, 1, \reg
        decq    PANELS(%rsp)
        jne     20b
        .endif
        movq    ARGS(%rsp), %rdi
        movq    112(%rdi), %rax
        movq    120(%rdi), %rcx
        movq    128(%rdi), %rdx
        addq    %rax, A_OFFSET(%rsp)
        addq    %rcx, C_GROUP(%rsp)
        addq    %rdx, R_GROUP(%rsp)
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

        .section .rodata
        .p2align 3
infinities:
        .long   0xff800000, 0x7f800000

        .set    n, 1
        .macro  both rows
        gemm    ig_gemm16_\rows\()x8_avx512, \rows, 1, ymm
        gemm    ig_gemm16_\rows\()x16_avx512, \rows, 2, zmm
        .endm
        .rept   12
        both    %n
        .set    n, n + 1
        .endr

        .section .note.GNU-stack, "", @progbits
