/*
 * First layer for NEON: an output row by 16 channels (or 8), six (twelve) pixels at a time, kernel size, stride and
 * input channels fixed. struct ig_first_line of kernels_cpu/common/first_line.h in x0.
 *
 *   v0-v5  input, four floats of the kernel row of six pixels     v6-v7  weights
 *   v8-v31 accumulators, pixel by pixel
 *   x1 weights  x2 table of rows  x3 panel  x4 pixels left  w5 flags  x6 bytes from the row's start to the first pixel
 *   x7 row of the table  x8 a kernel row under the first pixel  x12 under the seventh
 *   w9 kernel rows left  x10 output  x11 its step  x13 temporary
 *
 * Input pixels of a kernel row are k*ic floats without gaps and those of the next output pixel lie s*ic floats on, so
 * that everything is an immediate off one register: per four floats and six pixels 6 loads of input, 8 of weights (4 of
 * 8 channels) and 96 FMLA (48) by lane, no counting. The last pixels of a row form a whole group with some before them,
 * which are computed twice.
 */

    .altmacro

    .set PIXELS, 6              /* whose input is in registers */

.macro fma acc, w, x, lane
    fmla    v\acc\().4s, v\w\().4s, v\x\().s[\lane]
.endm

.macro load_four nv, base, at
    ldur    q\nv, [x\base, #\at]
.endm

.macro load_one nv, base, at
    ldur    s\nv, [x\base, #\at]
.endm

/* Floats from f on of the six pixels under x(base). */
.macro load_pixels base
    .set m, 0
    .rept PIXELS
    .if DEPTH - f >= 4
    load_four %m, \base, %(4 * f + m * STEP)
    .else
    load_one %m, \base, %(4 * f + m * STEP)
    .endif
    .set m, m + 1
    .endr
.endm

/* Two vectors of weights, quads q and q + 1, of float f + j, by the six pixels from `first` on. */
.macro two_quads first
    .set m, 0
    .rept PIXELS
    fma     %(8 + (\first + m) * QUADS + q), 6, %m, %j
    fma     %(8 + (\first + m) * QUADS + q + 1), 7, %m, %j
    .set m, m + 1
    .endr
.endm

.macro load_weights at
    ldp     q6, q7, [x1, #\at]
.endm

/* `count` floats of the kernel row, from f on. */
.macro some_floats count
    .if QUADS == 4
    load_pixels 8
    .set j, 0
    .rept \count
    .set q, 0
    .rept 2
    load_weights %(64 * j + 16 * q)
    two_quads 0
    .set q, q + 2
    .endr
    .set j, j + 1
    .endr
    .else
    .set q, 0
    load_pixels 8
    .set j, 0
    .rept \count
    load_weights %(64 * j)
    two_quads 0
    .set j, j + 1
    .endr
    load_pixels 12
    .set j, 0
    .rept \count
    load_weights %(64 * j)
    two_quads 6
    .set j, j + 1
    .endr
    .endif
    add     x1, x1, #64 * \count
    .set f, f + \count
.endm

.macro start nv, nv1, nv2, nv3
    .if QUADS == 4
    ld1     {v\nv\().4s, v\nv1\().4s, v\nv2\().4s, v\nv3\().4s}, [x1]
    .else
    ld1     {v\nv\().4s, v\nv1\().4s}, [x1]
    .endif
.endm

.macro store nv, nv1, nv2, nv3
    .if QUADS == 4
    st1     {v\nv\().4s, v\nv1\().4s, v\nv2\().4s, v\nv3\().4s}, [x10], x11
    .else
    st1     {v\nv\().4s, v\nv1\().4s}, [x10], x11
    .endif
.endm

.macro each_pixel what
    .set i, 8
    .rept GROUP
    \what   %i, %(i + 1), %(i + 2), %(i + 3)
    .set i, i + QUADS
    .endr
.endm

.macro arith name, nv, with
    \name   v\nv\().4s, v\nv\().4s, v\with\().4s
.endm

.macro all_sums name, with
    .set i, 8
    .rept 24
    arith   \name, %i, \with
    .set i, i + 1
    .endr
.endm

.macro line name, k, ic, s, width
    .set QUADS, \width / 4
    .set GROUP, 24 / QUADS
    .set STEP, 4 * \s * \ic
    .set DEPTH, \k * \ic
    .section .text.\name, "ax", %progbits     /* a program keeps those of its kernel size */
    .balign 64
    .globl  \name
    .type   \name, %function
\name:
    stp     d8, d9, [sp, #-64]!
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    ldp     x2, x3, [x0]
    ldp     x10, x11, [x0, #16]
    ldr     x4, [x0, #32]
    ldr     w5, [x0, #40]
    mov     x6, #0
1:                                  /* group */
    mov     x1, x3
    mov     x7, x2
    mov     w9, #\k
    each_pixel start
    add     x1, x1, #64
2:                                  /* kernel row */
    ldr     x8, [x7], #8
    add     x8, x8, x6
    .if QUADS == 2
    add     x12, x8, #PIXELS * STEP
    .endif
    .set f, 0
    .rept DEPTH / 4
    some_floats 4
    .endr
    .if DEPTH % 4
    some_floats 1
    .endif
    subs    w9, w9, #1
    b.ne    2b
    cbz     w5, 3f
    ldp     s0, s1, [x0, #44]
    dup     v0.4s, v0.s[0]
    dup     v1.4s, v1.s[0]
    all_sums fmax, 0
    tbz     w5, #1, 3f
    all_sums fmin, 1
3:
    each_pixel store
    add     x6, x6, #GROUP * STEP
    subs    x4, x4, #GROUP
    b.eq    9f
    cmp     x4, #GROUP
    b.hs    1b
    sub     x4, x4, #GROUP          /* minus the pixels that the last group goes back */
    mov     x13, #STEP
    madd    x6, x4, x13, x6
    madd    x10, x4, x11, x10
    mov     x4, #GROUP
    b       1b
9:
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #64
    ret
    .size   \name, . - \name
.endm

    line    ig_first_3s1c3_16_neon, 3, 3, 1, 16
    line    ig_first_3s1c3_8_neon, 3, 3, 1, 8
    line    ig_first_3s2c3_16_neon, 3, 3, 2, 16
    line    ig_first_3s2c3_8_neon, 3, 3, 2, 8

    .section .note.GNU-stack, "", %progbits
