/*
 * Tiles of common/conv_bytes.h: sums[row][16] = a panel's bias + products of a row's words and of the panel's, for 1 to 6 rows (pixels):
 *
 *   ig_bytes_<rows>x16_dotprod   words of four signed bytes
 *
 * A word of four channels' weights by a pixel's, in all lanes, is four sums' four multiply-adds in one instruction (sdot by element).
 * Four words at a time, whose pixels are a vector each; a line's last one to three by themselves.
 *
 *   v0-v5 pixels   v6, v7 weights of four channels, in turns   v8-v31 sums: row r has v(8+4r)..v(11+4r)
 *   x0 row 0, x1 its step, then row 1  x2 panel  x3 words of a line  x4 sums  x5 lines left  x6 from a line's end to the next line
 *   x7-x10 rows 2-5  x11 words left
 *
 * The loops by four words, by llvm-mca's models of the Neoverse N1, which is a Cortex-A76 with other caches, and of the V1 (19.1; loads
 * hit L1): two and four dot products a cycle, 32 and 64 multiply-adds, are what there is.
 *                          6x16   5x16   4x16   3x16   2x16   1x16
 *   multiply-adds/cycle, N1  32.0   32.0   32.0   32.0   32.0   30.1
 *                        V1  64.0   64.0   64.0   64.0   64.0   32.0
 *   instructions              121    104     87     70     53     36
 *   multiply-adds            1536   1280   1024    768    512    256
 * Fewer sums would load weights from the second-level cache more often: 4x16 half as often again.
 */

    .altmacro

/* --- one instruction with computed register numbers; called with %(expression) --- */

.macro load_four to, row
    ldr     q\to, [x\row], #16
.endm

.macro load_one to, row
    ldr     s\to, [x\row], #4
.endm

.macro load_weights to, at
    ldr     q\to, [x2, #\at]
.endm

.macro by_word sum, weights, pixel, at
    sdot    v\sum\().4s, v\weights\().16b, v\pixel\().4b[\at]
.endm

.macro start sum, at
    ldr     q\sum, [x2, #\at]
.endm

.macro store_pair lo, hi, at
    stp     q\lo, q\hi, [x4, #\at]
.endm

.macro next_line row
    add     x\row, x\row, x6
.endm

/* --- rows; ROWS is a symbol, ROW(r) = x0, x1, x7, x8, x9, x10 --- */

.macro row_number of
    .set ROW, \of
    .if \of > 1
    .set ROW, \of + 5
    .endif
.endm

.macro load_pixels load
    .set r, 0
    .rept ROWS
    row_number %(r)
    \load   %(r), %(ROW)
    .set r, r + 1
    .endr
.endm

/* Word \of of every row; weights are loaded two vectors ahead, as far as there are 16 bytes of them before \end. */
.macro word of, end
    .set j, 4 * \of
    .rept 4
    .set r, 0
    .rept ROWS
    by_word %(8 + 4 * r + j % 4), %(6 + j % 2), %(r), \of
    .set r, r + 1
    .endr
    .if 16 * (j + 2) < \end
    load_weights %(6 + j % 2), %(16 * (j + 2))
    .endif
    .set j, j + 1
    .endr
.endm

/*
 * void name(const void *a, int64_t step, const int32_t *panel, int64_t words, int32_t *sums, int64_t lines, int64_t pitch),
 * words, lines >= 1
 */
.macro kernel name, rows
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
    add     x7, x0, x1, lsl #1
    add     x8, x7, x1
    add     x9, x7, x1, lsl #1
    add     x10, x8, x1, lsl #1
    add     x1, x0, x1
    sub     x6, x6, x3, lsl #2
    .set i, 8
    .rept 4 * ROWS
    start   %(i), %(i % 4 * 16)
    .set i, i + 1
    .endr
    add     x2, x2, #128 // bias, scales
1:
    subs    x11, x3, #4
    b.lt    3f
    .balign 16
2:
    load_weights 6, 0
    load_weights 7, 16
    load_pixels load_four
    subs    x11, x11, #4
    word    0, 256
    word    1, 256
    word    2, 256
    word    3, 256
    add     x2, x2, #256
    b.ge    2b
3:
    adds    x11, x11, #4
    b.eq    5f
4:
    load_weights 6, 0
    load_weights 7, 16
    load_pixels load_one
    subs    x11, x11, #1
    word    0, 64
    add     x2, x2, #64
    b.ne    4b
5:
    .set r, 0
    .rept ROWS
    row_number %(r)
    next_line %(ROW)
    .set r, r + 1
    .endr
    subs    x5, x5, #1
    b.ne    1b
    .set i, 0
    .rept 2 * ROWS
    store_pair %(8 + 2 * i), %(9 + 2 * i), %(32 * i)
    .set i, i + 1
    .endr
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #64
    ret
    .size   \name, . - \name
.endm

    .irp rows, 1, 2, 3, 4, 5, 6
    kernel  ig_bytes_\rows\()x16_dotprod, \rows
    .endr
    .section .note.GNU-stack, "", %progbits
