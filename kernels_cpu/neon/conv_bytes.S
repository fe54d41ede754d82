/*
 * Tiles of common/conv_bytes.h: sums[row][16] = a panel's bias + products of a row's words and of the panel's, for 1 to 4 rows (pixels).
 *
 *   ig_bytes_<rows>x16_neon   words of four bytes, weights in halves: c0k0 c0k1 ... c15k1 | c0k2 c0k3 ... c15k3
 *   ig_wide_<rows>x16_neon    words of two numbers of 16 bits: c0k0 ... c15k0 | c0k1 ... c15k1; also tiles of Winograd's, winograd_bytes.c
 *
 * Of bytes, a lane of 16 bits has the products of k and k + 2 (smull, smlal), and both lanes of a channel go to its 32 bits
 * (sadalp): 16 multiply-adds in three instructions. A pixel's pairs are copied into all lanes. Of 16 bits, a multiply-add by lane
 * is four.
 *
 *   v0-v3 weights: channels 0-7 and 8-15 of the first half, of the second   v16-v31 sums: row r has v(16+4r)..v(19+4r)
 *   bytes: v4-v7 pixels' pairs; v8-v15 products, in turns      wide: v4-v7 pixels' words
 *   x0 row 0, x1 its step, then row 1  x2 panel  x3 words left  x4 sums  x5 row 2  x6 row 3
 *
 * The loops, by llvm-mca's model of the Cortex-A57 (14.0; loads hit L1), which starts one long multiplication a cycle, of 8 bytes or
 * of four numbers of 16 bits:
 *                       bytes 4x16   3x16   2x16   1x16    wide 4x16   3x16   2x16   1x16
 *   multiply-adds/cycle        8.0    8.0    8.0    7.1          4.0    4.0    4.0    4.0
 *   instructions                65     50     35     20           41     32     23     14
 *   multiply-adds              256    192    128     64          128     96     64     32
 * The float kernels reach 4 (gemm_packed.S).
 */

    .altmacro

/* --- one instruction with computed register numbers; called with %(expression) --- */

/* The next word's pairs, in all lanes. */
.macro load_pairs first, second, row
    ldr     s\first, [x\row], #4
    dup     v\second\().8h, v\first\().h[1]
    dup     v\first\().8h, v\first\().h[0]
.endm

.macro low name, to, weights, pixel
    \name   v\to\().8h, v\weights\().8b, v\pixel\().8b
.endm

.macro high name, to, weights, pixel
    \name\()2 v\to\().8h, v\weights\().16b, v\pixel\().16b
.endm

.macro pairs sum, products
    sadalp  v\sum\().4s, v\products\().8h
.endm

.macro load_word to, row
    ldr     s\to, [x\row], #4
.endm

.macro by_lane sum, weights, pixel, at
    smlal   v\sum\().4s, v\weights\().4h, v\pixel\().h[\at]
.endm

.macro by_lane2 sum, weights, pixel, at
    smlal2  v\sum\().4s, v\weights\().8h, v\pixel\().h[\at]
.endm

.macro start sum, at
    ldr     q\sum, [x2, #\at]
.endm

.macro store_pair lo, hi, at
    stp     q\lo, q\hi, [x4, #\at]
.endm

/* --- a word of every row; ROWS is a symbol, ROW(r) = x0, x1, x5, x6 --- */

.macro row_number of
    .set ROW, \of
    .if \of > 1
    .set ROW, \of + 3
    .endif
.endm

/* Row r's four products of 16 bits, in v8-v11 or v12-v15. */
.macro products of
    row_number \of
    .set X, 4 + \of % 2 * 2
    .set P, 8 + \of % 2 * 4
    load_pairs %(X), %(X + 1), %(ROW)
    low     smull, %(P), 0, %(X)
    high    smull, %(P + 1), 0, %(X)
    low     smull, %(P + 2), 1, %(X)
    high    smull, %(P + 3), 1, %(X)
    low     smlal, %(P), 2, %(X + 1)
    high    smlal, %(P + 1), 2, %(X + 1)
    low     smlal, %(P + 2), 3, %(X + 1)
    high    smlal, %(P + 3), 3, %(X + 1)
    .set j, 0
    .rept 4
    pairs   %(16 + 4 * \of + j), %(P + j)
    .set j, j + 1
    .endr
.endm

.macro bytes_word
    .set r, 0
    .rept ROWS
    products %(r)
    .set r, r + 1
    .endr
.endm

/* Four sums of row r, of the weights v0 or v1 for the word's first number, v2 or v3 for the second. */
.macro wide_word
    .set r, 0
    .rept ROWS
    row_number %(r)
    load_word %(4 + r), %(ROW)
    .set r, r + 1
    .endr
    .set lane, 0
    .rept 2
    .set r, 0
    .rept ROWS
    .set j, 0
    .rept 2
    by_lane %(16 + 4 * r + 2 * j), %(2 * lane + j), %(4 + r), %(lane)
    by_lane2 %(17 + 4 * r + 2 * j), %(2 * lane + j), %(4 + r), %(lane)
    .set j, j + 1
    .endr
    .set r, r + 1
    .endr
    .set lane, lane + 1
    .endr
.endm

/* void name(const void *a, int64_t step, const int32_t *panel, int64_t words, int32_t *sums), words >= 1 */
.macro kernel name, rows, word
    .set ROWS, \rows
    .section .text.\name, "ax", %progbits
    .balign 64
    .globl  \name
    .type   \name, %function
\name:
    stp     d8, d9, [sp, #-64]!
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    add     x5, x0, x1, lsl #1
    add     x6, x5, x1
    add     x1, x0, x1
    .set i, 16
    .rept 4 * ROWS
    start   %(i), %(i % 4 * 16)
    .set i, i + 1
    .endr
    add     x2, x2, #128 // bias, scales
    .balign 16
1:
    ldp     q0, q1, [x2]
    ldp     q2, q3, [x2, #32]
    add     x2, x2, #64
    subs    x3, x3, #1
    \word
    b.ne    1b
    .set i, 0
    .rept 2 * ROWS
    store_pair %(16 + 2 * i), %(17 + 2 * i), %(32 * i)
    .set i, i + 1
    .endr
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #64
    ret
    .size   \name, . - \name
.endm

    .irp rows, 1, 2, 3, 4
    kernel  ig_bytes_\rows\()x16_neon, \rows, bytes_word
    kernel  ig_wide_\rows\()x16_neon, \rows, wide_word
    .endr
    .section .note.GNU-stack, "", %progbits
