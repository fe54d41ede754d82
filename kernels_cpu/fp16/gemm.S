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
 *   x0 arguments  x1 table of A  x2 a_offset  x3 taps left  x4 k  x5 B  x6 sums  x7 counter  x8 k of the tap left
 *   x9-x16 rows of A, then of r and c  x17 taps left of those together  x19 the bias, or NULL once it is in the sums
 *
 * 8x16 takes 142 instructions for 128 FMLA in the loop, and 112 to widen 16 sums and begin anew.
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

/* The same where these are the first: the bias, in v12-v15, plus those. */
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
    ldp     q8, q9, [x19]
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

/* All rows' sums of floats; row: add_row or start_row. */
.macro flush row
    .set r, 0
    .rept ROWS
    \row
    store_sums
    .set r, r + 1
    .endr
.endm

/* v(N) and on += the residual's row, by way of v(AT) and the next two. */
.macro add_residual nx, at
    .set h, 0
    .rept VECTORS
    load_one \at, x\nx, %(16 * h)
    widen   %(\at + 1), %(\at + 2), \at
    arith   fadd, %(N + 2 * h), %(\at + 1)
    arith   fadd, %(N + 2 * h + 1), %(\at + 2)
    .set h, h + 1
    .endr
.endm

/* C = the sums, narrowed, plus the residual where its rows are in x9 and on. */
.macro finish row, has_residual, at
    .set r, 0
    .rept ROWS
    \row
    .if \has_residual
    add_residual %(9 + r), \at
    .endif
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
    str     x19, [sp, #64]
    ldp     x1, x2, [x0]
    ldp     x3, x4, [x0, #16]
    ldr     x17, [x0, #40]
    ldp     x19, x6, [x0, #48]
    add     x5, x19, #32
    clear
1:                                  /* a tap */
    start_rows
    add     x1, x1, #8 * 8
    mov     x8, x4
2:                                  /* a piece of it */
    ldr     x7, [x0, #32]
    cmp     x7, x8
    csel    x7, x7, x8, lt
    sub     x8, x8, x7
    subs    x7, x7, #8
    b.lt    4f
    .balign 16
3:                                  /* eight k */
    load_a  q, 16
    step    4, 0
    step    4, 4
    subs    x7, x7, #8
    b.ge    3b
4:                                  /* k % 8 = x7 + 8 */
    tbz     x7, #2, 5f
    load_a  d, 8
    step    4, 0
5:
    tbz     x7, #1, 6f
    load_a  s, 4
    step    2, 0
6:
    tbz     x7, #0, 7f
    load_a  h, 2
    step    1, 0
7:
    cbnz    x8, 8f
    subs    x3, x3, #1
    b.eq    11f
    subs    x17, x17, #1
    b.ne    1b
    ldr     x17, [x0, #40]
8:                                  /* begin anew */
    cbz     x19, 9f
    load_bias
    flush   start_row
    mov     x19, #0
    b       10f
9:
    flush   add_row
10:
    clear
    cbnz    x8, 2b
    b       1b
11:
    ldr     w8, [x0, #96]
    tbz     w8, #0, 13f             /* else sums of floats are wanted */
    cbz     x19, 12f
    load_bias
    flush   start_row
    b       19f
12:
    flush   add_row
    b       19f
13:
    ldp     x1, x2, [x0, #80]
    cbz     x1, 15f
    start_rows
    cbz     x19, 14f
    load_bias
    finish  start_row, 1, 8
    b       17f
14:
    finish  add_row, 1, 4
    b       17f
15:
    cbz     x19, 16f
    load_bias
    finish  start_row, 0, 8
    b       17f
16:
    finish  add_row, 0, 4
17:
    tbz     w8, #1, 18f
    ldr     h0, [x0, #100]
    dup     v0.8h, v0.h[0]
    all_c   fmax, 0
    tbz     w8, #2, 18f
    ldr     h1, [x0, #102]
    dup     v1.8h, v1.h[0]
    all_c   fmin, 1
18:
    ldp     x1, x2, [x0, #64]
    start_rows
    .set r, 0
    .rept ROWS
    put_row %(9 + r)
    .set r, r + 1
    .endr
19:
    ldr     x19, [sp, #64]
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #80
    ret
    .size   \name, . - \name
.endm

    .irp rows, 1, 2, 3, 4, 5, 6, 7, 8
    kernel  ig_half_\rows\()x16_fp16, \rows, 16
    kernel  ig_half_\rows\()x8_fp16, \rows, 8
    .endr
    .section .note.GNU-stack, "", %progbits
