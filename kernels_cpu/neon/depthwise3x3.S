/*
 * Depthwise 3x3: quads of channels, one after the other, of 1 to 4 output rows, sliding along x. struct ig_slide of
 * depthwise.h in x0.
 *
 *   v0 bias  v1-v9 w[ky][kx]   v10-v21 partial sums: slot s of row i is 10 + s rows + i   v22-v29 pixels
 *   v30 lo  v31 hi
 *   x1-x9 input rows  x10-x17, x19 their steps  x20-x23 output rows  x24 output step
 *   x25 loops left  x26 quads left  x27 weights  x28, x30 temporary
 *
 * Stride 1: a column ends output x (kx 2), is the middle of x+1 and begins x+2: three slots that take turns, and every
 * input pixel is loaded once: 6 loads and 36 FMLA for four outputs. Stride 2: the last column of x is the first of
 * x+1: two slots, 18 loads and 36 FMLA. An output's sum is bias, then columns left to right, each from the top: the
 * same for any number of rows, at an edge or not. A column outside the image is left out, a row outside is zeros.
 *
 * With bias and ReLU, 1.5 instructions an FMLA at stride 1 and 1.83 at stride 2, four rows; by llvm-mca 14 for the
 * Cortex-A57 the vector pipe is the limit, at 0.82 and 0.81 FMLA a cycle.
 */

    .altmacro

/* --- one instruction with computed register numbers; called with %(expression) --- */

.macro fma sum, pixel, w
    fmla    v\sum\().4s, v\pixel\().4s, v\w\().4s
.endm

.macro load_pixel to, row, step
    ld1     {v\to\().4s}, [x\row], x\step
.endm

.macro store_pixel from, row
    st1     {v\from\().4s}, [x\row], x24
.endm

/* `count` registers from `sum` on = the bias, which waits on the stack, four times. */
.macro start_sums count, sum, sum1, sum2, sum3
    .if \count == 1
    ld1     {v\sum\().4s}, [sp]
    .elseif \count == 2
    ld1     {v\sum\().4s, v\sum1\().4s}, [sp]
    .elseif \count == 3
    ld1     {v\sum\().4s, v\sum1\().4s, v\sum2\().4s}, [sp]
    .else
    ld1     {v\sum\().4s, v\sum1\().4s, v\sum2\().4s, v\sum3\().4s}, [sp]
    .endif
.endm

.macro arith name, sum, with
    \name   v\sum\().4s, v\sum\().4s, v\with\().4s
.endm

.macro get to, at
    ldr     x\to, [x0, #\at]
.endm

.macro move row, by
    add     x\row, x\row, x\by
.endm

/* --- a column; ROWS, STRIDE, INS (input rows) are symbols --- */

/* A column's pixels, six at a time, of rows [row, row + count), into v22 on. */
.macro load_column row, count
    .set i, 0
    .rept \count
    .if \row + i < 8
    load_pixel %(22 + i), %(1 + \row + i), %(10 + \row + i)
    .else
    load_pixel %(22 + i), 9, 19
    .endif
    .set i, i + 1
    .endr
.endm

/* Those pixels times column kx of the weights, into slot s. */
.macro taps row, count, kx, s
    .set i, 0
    .rept \count
    .set o, 0
    .rept ROWS
    .set ky, \row + i - o * STRIDE
    .if ky >= 0 && ky <= 2
    fma     %(10 + \s * ROWS + o), %(22 + i), %(1 + 3 * ky + \kx)
    .endif
    .set o, o + 1
    .endr
    .set i, i + 1
    .endr
.endm

/* The next column: kx 2, 1, 0 of it go to slots s2, s1, s0; -1: to none. Rows go in two parts if they are many. */
.macro column_part row, count, s2, s1, s0
    load_column \row, \count
    .if \s2 >= 0
    taps    \row, \count, 2, \s2
    .endif
    .if \s1 >= 0
    taps    \row, \count, 1, \s1
    .endif
    .if \s0 >= 0
    taps    \row, \count, 0, \s0
    .endif
.endm

.macro column s2, s1, s0
    .if INS > 8
    column_part 0, 5, \s2, \s1, \s0
    column_part 5, %(INS - 5), \s2, \s1, \s0
    .else
    column_part 0, %INS, \s2, \s1, \s0
    .endif
.endm

.macro start_slot s
    .set o, 10 + \s * ROWS
    start_sums %ROWS, %(o), %(o + 1), %(o + 2), %(o + 3)
.endm

.macro all_rows name, s, with
    .set o, 0
    .rept ROWS
    arith   \name, %(10 + \s * ROWS + o), \with
    .set o, o + 1
    .endr
.endm

/* Slot s is complete: clamp and store. */
.macro finish s
    all_rows fmax, \s, 30
    tbz     w28, #1, 90f
    all_rows fmin, \s, 31
90:
    .set o, 0
    .rept ROWS
    store_pixel %(10 + \s * ROWS + o), %(20 + o)
    .set o, o + 1
    .endr
.endm

/* --- stride 1: one output with both successors, with one, with none --- */

.macro step1 s, s1, s0
    start_slot \s0
    column  \s, \s1, \s0
    finish  \s
.endm

.macro half1 s, s1
    column  \s, \s1, -1
    finish  \s
.endm

.macro last1 s
    tbnz    w28, #3, 91f
    column  \s, -1, -1
91:
    finish  \s
.endm

/* --- stride 2: one output with its successor, with none --- */

.macro step2 s, s0
    start_slot \s0
    column  -1, \s, -1
    column  \s, -1, \s0
    finish  \s
.endm

.macro last2 s
    column  -1, \s, -1
    tbnz    w28, #3, 91f
    column  \s, -1, -1
91:
    finish  \s
.endm

.macro slide1
    start_slot 0
    tbnz    w28, #2, 1f
    column  -1, -1, 0
1:
    start_slot 1
    column  -1, 0, 1
    get     30, 288                 /* n - 2 = 3 x25 + x30, or -1 */
    tbnz    x30, #63, 6f
    cbz     x25, 3f
2:
    step1   0, 1, 2
    step1   1, 2, 0
    step1   2, 0, 1
    subs    x25, x25, #1
    b.ne    2b
3:
    cbz     x30, 5f
    step1   0, 1, 2
    tbnz    x30, #0, 4f
    step1   1, 2, 0
    half1   2, 0
    last1   0
    b       7f
4:
    half1   1, 2
    last1   2
    b       7f
5:
    half1   0, 1
    last1   1
    b       7f
6:
    last1   0
7:
.endm

.macro slide2
    start_slot 0
    tbnz    w28, #2, 1f
    column  -1, -1, 0
1:
    get     30, 288                 /* n - 1 = 2 x25 + x30 */
    cbz     x25, 3f
2:
    step2   0, 1
    step2   1, 0
    subs    x25, x25, #1
    b.ne    2b
3:
    cbz     x30, 4f
    step2   0, 1
    last2   1
    b       5f
4:
    last2   0
5:
.endm

.macro kernel name, rows, stride
    .set ROWS, \rows
    .set STRIDE, \stride
    .set INS, 3 + (\rows - 1) * \stride
    .section .text.\name, "ax", %progbits
    .balign 64
    .globl  \name
    .type   \name, %function
\name:
    stp     d8, d9, [sp, #-160]!
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    stp     x19, x20, [sp, #64]
    stp     x21, x22, [sp, #80]
    stp     x23, x24, [sp, #96]
    stp     x25, x26, [sp, #112]
    stp     x27, x28, [sp, #128]
    str     x30, [sp, #144]
    sub     sp, sp, #64
    .set i, 0
    .rept INS
    get     %(1 + i), %(8 * i)
    .if i < 8
    get     %(10 + i), %(72 + 8 * i)
    .else
    get     19, 136
    .endif
    .set i, i + 1
    .endr
    .set i, 0
    .rept ROWS
    get     %(20 + i), %(216 + 8 * i)
    .set i, i + 1
    .endr
    ldr     x24, [x0, #248]
    ldp     x27, x26, [x0, #264]
    add     x30, x0, #300
    ld1r    {v30.4s}, [x30], #4
    ld1r    {v31.4s}, [x30]
    ldr     w28, [x0, #296]
0:                                  /* a quad of channels */
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [x27], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [x27], #64
    ld1     {v8.4s, v9.4s}, [x27], #32
    stp     q0, q0, [sp]
    stp     q0, q0, [sp, #32]
    ldr     x25, [x0, #280]
    slide\stride
    .set i, 0
    .rept INS
    get     30, %(144 + 8 * i)
    move    %(1 + i), 30
    .set i, i + 1
    .endr
    ldr     x30, [x0, #256]
    .set i, 0
    .rept ROWS
    move    %(20 + i), 30
    .set i, i + 1
    .endr
    subs    x26, x26, #1
    b.ne    0b
    add     sp, sp, #64
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     x19, x20, [sp, #64]
    ldp     x21, x22, [sp, #80]
    ldp     x23, x24, [sp, #96]
    ldp     x25, x26, [sp, #112]
    ldp     x27, x28, [sp, #128]
    ldr     x30, [sp, #144]
    ldp     d8, d9, [sp], #160
    ret
    .size   \name, . - \name
.endm

    .irp rows, 1, 2, 3, 4
    kernel  ig_slide_\rows\()s1_neon, \rows, 1
    kernel  ig_slide_\rows\()s2_neon, \rows, 2
    .endr
    .section .note.GNU-stack, "", %progbits
