/*
 * GEMM micro-kernels: c[row][0..width) = act(bias + sum over taps and k of a[row] b + r), the contract of
 * kernels_cpu/common/conv_gemm.h (struct ig_gemm_args and the chain that every element follows).
 *
 *   ig_gemm16_<rows>x16_neon  rows 1..6, panels 16 wide: the 6x16 set
 *   ig_gemm16_<rows>x8_neon   rows 1..6, the first 8 channels of a 16 wide panel
 *   ig_gemm8_<rows>x8_neon    rows 1..8, panels 8 wide: the 8x8 set
 *
 * Blocking: C stays in registers over the whole K. Four k at a time: one quadword of A per row, then for each
 * k and each 8 channels one load pair of B and 2 rows FMLA by lane. The tail takes two k, then one, in the
 * same order.
 *
 *   width 16   v0-v5 A   v6 v7 B   v8-v31 C: row r has v(8+4r)..v(11+4r)       all 32 in use at 6 rows
 *   width 8    v0-v7 A   v8 v9 B   v16-v31 C: row r has v(16+2r), v(17+2r)
 *   x0 arguments  x1 table of A  x2 a_offset  x3 taps left  x4 k  x5 B  x6 prefetch  x7 counter
 *   x8 x5 + prefetch, then a temporary  x9-x16 rows of A
 *
 * The loop over four k, by llvm-mca's model of the Cortex-A57 (14.0; loads hit L1):
 *                     6x16   5x16   4x16   3x16   2x16   1x16   6x8/16    8x8    4x8    1x8
 *   FMLA/cycle       0.999  0.999  0.999  0.999  0.998  0.760    0.998  0.999  0.998  0.498
 *   instr/FMLA       1.229  1.262  1.312  1.396  1.562  2.062    1.375  1.281  1.438  2.375
 * One FMLA a cycle is the peak there (8 flop). The prefetches are 4 of 118 instructions and cost nothing;
 * with a distance of 0 they name lines about to be loaded. 6x16 is the default; 8x8 is for 8 channels, or for
 * cores whose profile prefers it.
 */

    .altmacro

/* --- one instruction with computed register numbers; called with %(expression) --- */

.macro fma nc, nb, na, lane
    fmla    v\nc\().4s, v\nb\().4s, v\na\().s[\lane]
.endm

.macro load_pair lo, hi, base, at
    ldp     q\lo, q\hi, [\base, #\at]
.endm

.macro store_pair lo, hi, base, at
    stp     q\lo, q\hi, [\base, #\at]
.endm

.macro copy to, from
    mov     v\to\().16b, v\from\().16b
.endm

.macro arith name, to, with
    \name   v\to\().4s, v\to\().4s, v\with\().4s
.endm

.macro load_row size, nv, nx, bytes
    ldr     \size\nv, [x\nx], #\bytes
.endm

.macro row_address nx, at
    ldr     x\nx, [x1, #\at]
.endm

.macro add_offset nx
    add     x\nx, x\nx, x2
.endm

/* --- the kernel in pieces; ROWS, QUADS, STRIDE, B, C are symbols --- */

/* One quadword, two floats or one float of A for every row. */
.macro load_a size, bytes
    .set r, 0
    .rept ROWS
    load_row \size, %(r), %(9 + r), \bytes
    .set r, r + 1
    .endr
.endm

/* One k: B at x5 + at, A in the given lane. */
.macro step lane, at
    .set h, 0
    .rept QUADS / 2
    load_pair %(B), %(B + 1), x5, %(\at + 32 * h)
    .set r, 0
    .rept ROWS
    fma     %(C + r * QUADS + 2 * h), %(B), %(r), \lane
    fma     %(C + r * QUADS + 2 * h + 1), %(B + 1), %(r), \lane
    .set r, r + 1
    .endr
    .set h, h + 1
    .endr
.endm

/* C = C op v(with), everywhere. */
.macro all_c name, with
    .set i, 0
    .rept ROWS * QUADS
    arith   \name, %(C + i), \with
    .set i, i + 1
    .endr
.endm

/* C of row r += residual, whose row addresses are at x1, less the offset x2. */
.macro add_residual
    .set r, 0
    .rept ROWS
    row_address 9, %(8 * r)
    add     x9, x9, x2
    .set h, 0
    .rept QUADS / 2
    load_pair 0, 1, x9, %(32 * h)
    arith   fadd, %(C + r * QUADS + 2 * h), 0
    arith   fadd, %(C + r * QUADS + 2 * h + 1), 1
    .set h, h + 1
    .endr
    .set r, r + 1
    .endr
.endm

.macro store_c
    .set r, 0
    .rept ROWS
    row_address 9, %(8 * r)
    add     x9, x9, x2
    .set h, 0
    .rept QUADS / 2
    store_pair %(C + r * QUADS + 2 * h), %(C + r * QUADS + 2 * h + 1), x9, %(32 * h)
    .set h, h + 1
    .endr
    .set r, r + 1
    .endr
.endm

.macro start_c
    ldr     x8, [x0, #40]
    .set h, 0
    .rept QUADS / 2
    load_pair %(C + 2 * h), %(C + 2 * h + 1), x8, %(32 * h)
    .set h, h + 1
    .endr
    .set i, QUADS
    .rept (ROWS - 1) * QUADS
    copy    %(C + i), %(C + i - QUADS)
    .set i, i + 1
    .endr
.endm

.macro start_rows
    .set r, 0
    .rept ROWS
    row_address %(9 + r), %(8 * r)
    add_offset %(9 + r)
    .set r, r + 1
    .endr
.endm

/* rows, channels, mr = rows of the table, nr = floats from a k to the next in B; first registers of B, C */
.macro kernel name, rows, width, mr, nr, first_b, first_c
    .set ROWS, \rows
    .set QUADS, \width / 4
    .set STRIDE, \nr * 4
    .set B, \first_b
    .set C, \first_c
    .section .text.\name, "ax", %progbits
    .balign 64
    .globl  \name
    .type   \name, %function
\name:
    stp     d8, d9, [sp, #-64]!
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    ldp     x1, x2, [x0]
    ldp     x3, x4, [x0, #16]
    ldr     x5, [x0, #32]
    ldr     x6, [x0, #80]
    start_c
1:                                  /* a tap */
    start_rows
    add     x1, x1, #8 * \mr
    add     x8, x5, x6
    subs    x7, x4, #4
    b.lt    3f
    .balign 16
2:                                  /* four k */
    .set l, 0
    .rept STRIDE / 16
    prefetch %(64 * l)
    .set l, l + 1
    .endr
    load_a  q, 16
    step    0, 0
    step    1, %(STRIDE)
    step    2, %(2 * STRIDE)
    step    3, %(3 * STRIDE)
    add     x5, x5, #4 * STRIDE
    add     x8, x8, #4 * STRIDE
    subs    x7, x7, #4
    b.ge    2b
3:                                  /* k % 4 = x7 + 4 */
    tbz     x7, #1, 4f
    load_a  d, 8
    step    0, 0
    step    1, %(STRIDE)
    add     x5, x5, #2 * STRIDE
4:
    tbz     x7, #0, 5f
    load_a  s, 4
    step    0, 0
    add     x5, x5, #STRIDE
5:
    subs    x3, x3, #1
    b.ne    1b
    ldp     x1, x2, [x0, #64]       /* residual */
    cbz     x1, 6f
    add_residual
6:
    ldr     w8, [x0, #88]
    tbz     w8, #0, 7f
    ldr     s0, [x0, #92]
    dup     v0.4s, v0.s[0]
    all_c   fmax, 0
7:
    tbz     w8, #1, 8f
    ldr     s0, [x0, #96]
    dup     v0.4s, v0.s[0]
    all_c   fmin, 0
8:
    ldp     x1, x2, [x0, #48]
    store_c
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #64
    ret
    .size   \name, . - \name
.endm

.macro prefetch at
    prfm    pldl1keep, [x8, #\at]
.endm

    .irp rows, 1, 2, 3, 4, 5, 6
    kernel  ig_gemm16_\rows\()x16_neon, \rows, 16, 6, 16, 6, 8
    kernel  ig_gemm16_\rows\()x8_neon, \rows, 8, 6, 16, 8, 16
    .endr
    .irp rows, 1, 2, 3, 4, 5, 6, 7, 8
    kernel  ig_gemm8_\rows\()x8_neon, \rows, 8, 8, 8, 8, 16
    .endr
    .section .note.GNU-stack, "", %progbits
