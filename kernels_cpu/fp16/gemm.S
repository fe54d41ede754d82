/*
 * Matrix micro-kernels on halves, the contract of kernels_cpu/common/half_gemm.h: c[row][0..width) = act(bias + sum over taps and k of
 * a[row] b + r).
 *
 *   ig_half_<rows>x16_fp16, ig_half_<rows>x8_fp16   rows 1..8; the second kind: the first 8 channels of a 16 wide panel
 *
 * Products are summed in halves, eight at an instruction, `piece` k or `together` taps long; then the sums are widened and added to sums of
 * floats, which lie in L1, and begin anew at 0. Eight k at a time: one quadword of A a row, then for each k 16 channels of B and
 * 2 rows FMLA by lane, whose registers are v0 to v15.
 *
 *   v0-v7 A   v8-v15 B   v16-v31 C: row r has v(16 + r VECTORS) ..       all 32 in use at 8x16
 *   x0 arguments  x1 table of A  x2 a_offset  x3 taps left  x4 k  x5 B  x6 sums, or NULL  x7 counter  x8 k of the tap left
 *   x9-x16 rows of A, then of c  x17 taps left of those together
 *
 * Where all products are one sum of halves and nothing but a clamp follows, there are no sums of floats in memory: the bias is added
 * on the way to the outputs. Else they begin as the bias, and the residual where there is one, by ig_half_begin<width>_fp16.
 *
 * 8x16 takes 142 instructions for 128 FMLA in the loop, and 112 to add 16 sums to those of floats and begin anew.
 */

    .arch   armv8.2-a+fp16
    .altmacro

/* --- one instruction with computed register numbers; called with %(expression) --- */

.macro fma nc, nb, na, lane
    fmla    v\nc\().8h, v\nb\().8h, v\na\().h[\lane]
.endm

.macro load_pair lo, hi, base, at
    ldp     q\lo, q\hi, [\base, #\at]
.endm

.macro store_pair lo, hi, base, at
    stp     q\lo, q\hi, [\base, #\at]
.endm

.macro load_one n, base, at
    ldr     q\n, [\base, #\at]
.endm

.macro store_one n, base, at
    str     q\n, [\base, #\at]
.endm

.macro load_four n0, n1, n2, n3
    ld1     {v\n0\().8h, v\n1\().8h, v\n2\().8h, v\n3\().8h}, [x5], #64
.endm

.macro arith name, to, with
    \name   v\to\().4s, v\to\().4s, v\with\().4s
.endm

.macro add_to to, one, two
    fadd    v\to\().4s, v\one\().4s, v\two\().4s
.endm

.macro arith_half name, to, with
    \name   v\to\().8h, v\to\().8h, v\with\().8h
.endm

.macro widen lo, hi, from
    fcvtl   v\lo\().4s, v\from\().4h
    fcvtl2  v\hi\().4s, v\from\().8h
.endm

.macro narrow to, lo, hi
    fcvtn   v\to\().4h, v\lo\().4s
    fcvtn2  v\to\().8h, v\hi\().4s
.endm

.macro zero n
    movi    v\n\().2d, #0
.endm

.macro load_row size, nv, nx, bytes
    ldr     \size\nv, [x\nx], #\bytes
.endm

.macro row_address nx, at
    ldr     x\nx, [x1, #\at]
    add     x\nx, x\nx, x2
.endm

/* --- the kernel in pieces; ROWS, VECTORS are symbols --- */

/* Eight, four, two or one k of A for every row. */
.macro load_a size, bytes
    .set r, 0
    .rept ROWS
    load_row \size, %(r), %(9 + r), \bytes
    .set r, r + 1
    .endr
.endm

.macro start_rows
    .set r, 0
    .rept ROWS
    row_address %(9 + r), %(8 * r)
    .set r, r + 1
    .endr
.endm

/* B of `count` k, 1, 2 or 4, in v8 and on. */
.macro load_b count
    .if VECTORS == 2 && \count == 1
    load_pair 8, 9, x5, 0
    .endif
    .if VECTORS == 2 && \count > 1
    load_four 8, 9, 10, 11
    .endif
    .if VECTORS == 2 && \count > 2
    load_four 12, 13, 14, 15
    .endif
    .if VECTORS == 1
    .set i, 0
    .rept \count
    load_one %(8 + i), x5, %(32 * i)
    .set i, i + 1
    .endr
    .endif
    .if VECTORS == 1 || \count == 1
    add     x5, x5, #32 * \count
    .endif
.endm

/* `count` k, of A from the given lane on. */
.macro step count, lane
    load_b  \count
    .set i, 0
    .rept \count
    .set h, 0
    .rept VECTORS
    .set r, 0
    .rept ROWS
    fma     %(16 + r * VECTORS + h), %(8 + i * VECTORS + h), %(r), %(\lane + i)
    .set r, r + 1
    .endr
    .set h, h + 1
    .endr
    .set i, i + 1
    .endr
.endm

/* Sums of row r, of floats, plus those of halves, in v(N) and on; N: 0 or 8. */
.macro add_row
    .set N, (r % 2) * 8
    .set h, 0
    .rept VECTORS
    load_pair %(N + 2 * h), %(N + 2 * h + 1), x6, %(64 * r + 32 * h)
    widen   %(N + 4 + 2 * h), %(N + 5 + 2 * h), %(16 + r * VECTORS + h)
    arith   fadd, %(N + 2 * h), %(N + 4 + 2 * h)
    arith   fadd, %(N + 2 * h + 1), %(N + 5 + 2 * h)
    .set h, h + 1
    .endr
.endm

/* The same where these are all: the bias, in v12-v15, plus those. */
.macro start_row
    .set N, (r % 2) * 4
    .set h, 0
    .rept VECTORS
    widen   %(N + 2 * h), %(N + 2 * h + 1), %(16 + r * VECTORS + h)
    arith   fadd, %(N + 2 * h), %(12 + 2 * h)
    arith   fadd, %(N + 2 * h + 1), %(13 + 2 * h)
    .set h, h + 1
    .endr
.endm

.macro load_bias
    ldr     x9, [x0, #48]
    ldp     q8, q9, [x9]
    widen   12, 13, 8
    widen   14, 15, 9
.endm

.macro store_sums
    .set h, 0
    .rept VECTORS
    store_pair %(N + 2 * h), %(N + 2 * h + 1), x6, %(64 * r + 32 * h)
    .set h, h + 1
    .endr
.endm

.macro clear
    .set i, 0
    .rept ROWS * VECTORS
    zero    %(16 + i)
    .set i, i + 1
    .endr
.endm

/* All rows' sums of floats. */
.macro flush
    .set r, 0
    .rept ROWS
    add_row
    store_sums
    .set r, r + 1
    .endr
.endm

/* C = the sums, narrowed; row: add_row or start_row. */
.macro finish row
    .set r, 0
    .rept ROWS
    \row
    narrow_row
    .set r, r + 1
    .endr
.endm

.macro narrow_row
    .set h, 0
    .rept VECTORS
    narrow  %(16 + r * VECTORS + h), %(N + 2 * h), %(N + 2 * h + 1)
    .set h, h + 1
    .endr
.endm

.macro put_row nx
    .if VECTORS == 2
    store_pair %(16 + 2 * r), %(17 + 2 * r), x\nx, 0
    .else
    store_one %(16 + r), x\nx, 0
    .endif
.endm

.macro all_c name, with
    .set i, 0
    .rept ROWS * VECTORS
    arith_half \name, %(16 + i), \with
    .set i, i + 1
    .endr
.endm

.macro kernel name, rows, width
    .set ROWS, \rows
    .set VECTORS, \width / 8
    .section .text.\name, "ax", %progbits
    .balign 64
    .globl  \name
    .type   \name, %function
\name:
    stp     d8, d9, [sp, #-80]!
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    str     x30, [sp, #64]
    ldp     x1, x2, [x0]
    ldp     x3, x4, [x0, #16]
    ldp     x7, x17, [x0, #32]
    ldp     x5, x6, [x0, #48]
    ldr     x8, [x0, #80]
    ldr     w9, [x0, #96]
    cmp     x7, x4
    ccmp    x17, x3, #8, ge
    b.lt    1f                      /* sums of halves are more than one, */
    cbnz    x8, 1f                  /* or more follows */
    tbnz    w9, #0, 1f
    mov     x6, #0
    b       2f
1:
    mov     x7, #ROWS
    bl      ig_half_begin\width\()_fp16
    ldr     x17, [x0, #40]          /* linkers may use x16 and x17 on the way there */
2:
    add     x5, x5, #32
    mov     x8, #0
    b       11f
3:                                  /* a tap */
    start_rows
    add     x1, x1, #8 * 8
    mov     x8, x4
4:                                  /* a piece of it */
    ldr     x7, [x0, #32]
    cmp     x7, x8
    csel    x7, x7, x8, lt
    sub     x8, x8, x7
    subs    x7, x7, #8
    b.lt    6f
    .balign 16
5:                                  /* eight k */
    load_a  q, 16
    step    4, 0
    step    4, 4
    subs    x7, x7, #8
    b.ge    5b
6:                                  /* k % 8 = x7 + 8 */
    tbz     x7, #2, 7f
    load_a  d, 8
    step    4, 0
7:
    tbz     x7, #1, 8f
    load_a  s, 4
    step    2, 0
8:
    tbz     x7, #0, 9f
    load_a  h, 2
    step    1, 0
9:
    cbnz    x8, 10f
    subs    x3, x3, #1
    b.eq    12f
    subs    x17, x17, #1
    b.ne    3b
    ldr     x17, [x0, #40]
10:
    flush
    cbz     x3, 16f
11:                                 /* begin anew */
    clear
    cbnz    x8, 4b
    b       3b
12:
    ldr     w8, [x0, #96]
    tbnz    w8, #0, 10b             /* sums of floats are wanted */
    cbz     x6, 13f
    finish  add_row
    b       14f
13:
    load_bias
    finish  start_row
14:
    tbz     w8, #1, 15f
    ldr     h0, [x0, #100]
    dup     v0.8h, v0.h[0]
    all_c   fmax, 0
    tbz     w8, #2, 15f
    ldr     h1, [x0, #102]
    dup     v1.8h, v1.h[0]
    all_c   fmin, 1
15:
    ldp     x1, x2, [x0, #64]
    start_rows
    .set r, 0
    .rept ROWS
    put_row %(9 + r)
    .set r, r + 1
    .endr
16:
    ldr     x30, [sp, #64]
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #80
    ret
    .size   \name, . - \name
.endm

/* x7 rows of sums at x6 = the bias at x5, plus the residual where x8 has its rows' addresses. Overwrites x7 to x11, v0 to v7 and v16 to v19. */
.macro begin name, width
    .set VECTORS, \width / 8
    .section .text.\name, "ax", %progbits
    .balign 16
    .globl  \name
    .type   \name, %function
\name:
    mov     x10, x6
    ldr     q0, [x5]
    widen   2, 3, 0
    .if VECTORS == 2
    ldr     q1, [x5, #16]
    widen   4, 5, 1
    .endif
    cbnz    x8, 2f
1:
    .if VECTORS == 2
    stp     q4, q5, [x10, #32]
    .endif
    stp     q2, q3, [x10], #64
    subs    x7, x7, #1
    b.ne    1b
    ret
2:
    ldr     x11, [x0, #88]
3:
    ldr     x9, [x8], #8
    add     x9, x9, x11
    .if VECTORS == 2
    ldr     q1, [x9, #16]
    widen   18, 19, 1
    arith   fadd, 18, 4
    arith   fadd, 19, 5
    stp     q18, q19, [x10, #32]
    .endif
    ldr     q0, [x9]
    widen   16, 17, 0
    arith   fadd, 16, 2
    arith   fadd, 17, 3
    stp     q16, q17, [x10], #64
    subs    x7, x7, #1
    b.ne    3b
    ret
    .size   \name, . - \name
.endm

    begin   ig_half_begin8_fp16, 8
    begin   ig_half_begin16_fp16, 16
    .irp rows, 1, 2, 3, 4, 5, 6, 7, 8
    kernel  ig_half_\rows\()x16_fp16, \rows, 16
    kernel  ig_half_\rows\()x8_fp16, \rows, 8
    .endr
    .section .note.GNU-stack, "", %progbits
