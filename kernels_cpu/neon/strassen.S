/*
 * Strassen's algorithm on packed pixels, in Winograd's form, struct ig_strassen_args of
 * kernels_cpu/common/strassen_packed.h in x0: for a group
 * of 4 to 6 pairs of pixels (A1 the upper ones, A2 the lower, each in two halves of the channels), pair after pair of
 * panels.
 *
 *   S1 = A21 + A22   S2 = S1 - A11   S3 = A11 - A21   S4 = A12 - S2
 *   T1 = B12 - B11   T2 = B22 - T1   T3 = B22 - B12   T4 = T2 - B21
 *
 * The sums of products cost little, as most of them are only the accumulators going on with the next product:
 *
 *   P5 = bias2 - bias1 + S1 T1                              kept
 *   P1 = bias1 + A11 B11                                    kept
 *   C11 = P1 + A12 B21                                      out
 *   U2 = P1 + S2 T2                                         kept
 *   U3 = U2 + S3 T3                                         kept
 *   C21 = U3 - A22 T4                                       out
 *   C12 = U2 + P5 + S4 B22                                  out
 *   C22 = U3 + P5                                           out
 *
 * A and B, whose T4 is negative, are read in this order from start to end.
 *
 *   x0 arguments  x1 A  x2 k  x3 pairs of panels left  x4 kept tiles  x5 B  x7 counter  x8 temporary
 *   x9-x14 upper rows of C  x15 bytes to the residual's channels  x16 flags  x19-x24 lower rows of C
 */
#include "kernels_cpu/neon/gemm_packed.inc"

    .set QUADS, 4

.macro begin
    .set i, 8
    .rept ROWS
    load4   5, %(i), %(i + 1), %(i + 2), %(i + 3)
    .set i, i + 4
    .endr
    add     x5, x5, #64
.endm

.macro load4_next base, n0, n1, n2, n3
    ld1     {v\n0\().4s, v\n1\().4s, v\n2\().4s, v\n3\().4s}, [x\base], #64
.endm

.macro keep tile
    add     x8, x4, #\tile * 384
    .set i, 8
    .rept ROWS
    store4  8, %(i), %(i + 1), %(i + 2), %(i + 3)
    .set i, i + 4
    .endr
.endm

.macro resume tile
    add     x8, x4, #\tile * 384
    .set i, 8
    .rept ROWS
    load4_next 8, %(i), %(i + 1), %(i + 2), %(i + 3)
    .set i, i + 4
    .endr
.endm

.macro add_row i
    arith   fadd, %(\i), 0
    arith   fadd, %(\i + 1), 1
    arith   fadd, %(\i + 2), 2
    arith   fadd, %(\i + 3), 3
.endm

.macro add_tile tile
    add     x8, x4, #\tile * 384
    .set i, 8
    .rept ROWS
    load4_next 8, 0, 1, 2, 3
    add_row %(i)
    .set i, i + 4
    .endr
.endm

.macro add_residual_row r, at
    ldr     x8, [x7, #\at]
    add     x8, x8, x15
    load4   8, 0, 1, 2, 3
    add_row %(8 + 4 * \r)
.endm

/* Residual whose table is at `table` of the arguments, clamp, store to the rows from register `first` on. */
.macro finish first, table
    ldr     x7, [x0, #\table]
    cbz     x7, 1f
    .set r, 0
    .rept ROWS
    add_residual_row %(r), %(8 * r)
    .set r, r + 1
    .endr
1:
    cbz     w16, 2f
    ldr     s0, [x0, #84]
    ldr     s1, [x0, #88]
    dup     v0.4s, v0.s[0]
    dup     v1.4s, v1.s[0]
    all_c   fmax, 0
    tbz     w16, #1, 2f
    all_c   fmin, 1
2:
    .set r, 0
    .rept ROWS
    .set i, 8 + 4 * r
    store4  %(\first + r), %(i), %(i + 1), %(i + 2), %(i + 3)
    .set r, r + 1
    .endr
.endm

.macro kernel name, rows
    .set ROWS, \rows
    function \name
    stp     d8, d9, [sp, #-128]!
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    stp     x19, x20, [sp, #64]
    stp     x21, x22, [sp, #80]
    stp     x23, x24, [sp, #96]
    str     x30, [sp, #112]
    ldp     x2, x5, [x0, #8]
    ldp     x7, x8, [x0, #24]
    start_rows 9
    ldr     x7, [x0, #40]
    start_rows 19
    ldr     x15, [x0, #64]
    ldr     x3, [x0, #72]
    ldr     w16, [x0, #80]
    ldr     x4, [x0, #96]
1:                                  /* a pair of panels */
    ldr     x1, [x0]
    begin
    bl      20f
    keep    0                       /* P5 */
    begin
    bl      20f
    keep    1                       /* P1 */
    bl      20f
    bl      30f                     /* C11 */
    resume  1
    bl      20f
    keep    2                       /* U2 */
    bl      20f
    keep    3                       /* U3 */
    bl      20f
    bl      40f                     /* C21 */
    resume  2
    add_tile 0
    bl      20f
    add     x15, x15, #64
    bl      30f                     /* C12 */
    resume  3
    add_tile 0
    bl      40f                     /* C22 */
    add     x15, x15, #64
    subs    x3, x3, #1
    b.ne    1b
    ldr     x30, [sp, #112]
    ldp     x19, x20, [sp, #64]
    ldp     x21, x22, [sp, #80]
    ldp     x23, x24, [sp, #96]
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #128
    ret
20:                                 /* C += A B, k a multiple of 8 */
    subs    x7, x2, #16
    b.lt    22f
    .balign 16
21:
    some_k  16
    subs    x7, x7, #16
    b.ge    21b
22:
    tbz     x7, #3, 23f
    some_k  8
23:
    ret
30:                                 /* C to the upper rows */
    finish  9, 48
    ret
40:                                 /* to the lower rows */
    finish  19, 56
    ret
    .size   \name, . - \name
.endm

    .irp rows, 4, 5, 6
    kernel  ig_strassen_\rows\()_neon, \rows
    .endr

.macro subtract_from to, from
    fsub    v\to\().4s, v\from\().4s, v\to\().4s
.endm

/*
 * void ig_strassen_sums_neon(float *a, int64_t floats): of the seven packed halves at a, `floats` (a multiple of 16)
 * apart, in the order S1 A11 A12 S2 S3 A22 S4, sets the sums; A21 is in the place of S4.
 */
    function ig_strassen_sums_neon
    lsl     x2, x1, #2
    add     x3, x0, x2              /* A11 */
    add     x4, x3, x2              /* A12 */
    add     x5, x4, x2              /* S2 */
    add     x6, x5, x2              /* S3 */
    add     x7, x6, x2              /* A22 */
    add     x8, x7, x2              /* A21, S4 */
1:
    ld1     {v0.4s, v1.4s, v2.4s, v3.4s}, [x3], #64
    ld1     {v4.4s, v5.4s, v6.4s, v7.4s}, [x8]
    ld1     {v16.4s, v17.4s, v18.4s, v19.4s}, [x7], #64
    ld1     {v20.4s, v21.4s, v22.4s, v23.4s}, [x4], #64
    .irp i, 0, 1, 2, 3
    arith   fadd, %(16 + \i), %(4 + \i)
    subtract_from %(4 + \i), %(\i)
    .endr
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [x0], #64
    st1     {v4.4s, v5.4s, v6.4s, v7.4s}, [x6], #64
    .irp i, 0, 1, 2, 3
    arith   fsub, %(16 + \i), %(\i)
    arith   fsub, %(20 + \i), %(16 + \i)
    .endr
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [x5], #64
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [x8], #64
    subs    x1, x1, #16
    b.ne    1b
    ret
    .size   ig_strassen_sums_neon, . - ig_strassen_sums_neon
    .section .note.GNU-stack, "", %progbits
