/*
 * One row of FC by one to four panels, as the ig_gemv_fn of kernels_cpu/common/conv_gemm.h does it. An instruction loads the 16 channels
 * of one k of a panel, another one four floats of x: by four 1.30 instructions an FMLA, next to the 2.06 of 1x16 of gemm.S.
 *
 *   x0 x  x1 k  x2, x4-x6 panels  x3 c   v0 x  v1-v4, v5-v8 weights in turn  v16-v31 sums, panel by panel
 */

.macro start panel, s0, s1, s2, s3
    ld1     {v\s0\().4s, v\s1\().4s, v\s2\().4s, v\s3\().4s}, [x\panel], #64
.endm

.macro one_panel panel, w0, w1, w2, w3, s0, s1, s2, s3, lane
    ld1     {v\w0\().4s, v\w1\().4s, v\w2\().4s, v\w3\().4s}, [x\panel], #64
    fmla    v\s0\().4s, v\w0\().4s, v0.s[\lane]
    fmla    v\s1\().4s, v\w1\().4s, v0.s[\lane]
    fmla    v\s2\().4s, v\w2\().4s, v0.s[\lane]
    fmla    v\s3\().4s, v\w3\().4s, v0.s[\lane]
.endm

.macro one_k n, lane
    one_panel 2, 1, 2, 3, 4, 16, 17, 18, 19, \lane
    .if \n > 1
    one_panel 4, 5, 6, 7, 8, 20, 21, 22, 23, \lane
    .endif
    .if \n > 2
    one_panel 5, 1, 2, 3, 4, 24, 25, 26, 27, \lane
    .endif
    .if \n > 3
    one_panel 6, 5, 6, 7, 8, 28, 29, 30, 31, \lane
    .endif
.endm

.macro gemv name, n
    .section .text.\name, "ax", %progbits
    .balign 64
    .globl  \name
    .type   \name, %function
\name:
    str     d8, [sp, #-16]!
    add     x7, x1, #1
    add     x4, x2, x7, lsl #6
    add     x5, x4, x7, lsl #6
    add     x6, x5, x7, lsl #6
    start   2, 16, 17, 18, 19
    .if \n > 1
    start   4, 20, 21, 22, 23
    .endif
    .if \n > 2
    start   5, 24, 25, 26, 27
    .endif
    .if \n > 3
    start   6, 28, 29, 30, 31
    .endif
    subs    x1, x1, #4
    b.lt    2f
    .balign 16
1:
    ldr     q0, [x0], #16
    one_k   \n, 0
    one_k   \n, 1
    one_k   \n, 2
    one_k   \n, 3
    subs    x1, x1, #4
    b.ge    1b
2:                                  /* k % 4 = x1 + 4 */
    adds    x1, x1, #4
    b.eq    4f
3:
    ldr     s0, [x0], #4
    one_k   \n, 0
    subs    x1, x1, #1
    b.ne    3b
4:
    st1     {v16.4s, v17.4s, v18.4s, v19.4s}, [x3], #64
    .if \n > 1
    st1     {v20.4s, v21.4s, v22.4s, v23.4s}, [x3], #64
    .endif
    .if \n > 2
    st1     {v24.4s, v25.4s, v26.4s, v27.4s}, [x3], #64
    .endif
    .if \n > 3
    st1     {v28.4s, v29.4s, v30.4s, v31.4s}, [x3]
    .endif
    ldr     d8, [sp], #16
    ret
    .size   \name, . - \name
.endm

    gemv    ig_gemv_1x16_neon, 1
    gemv    ig_gemv_2x16_neon, 2
    gemv    ig_gemv_3x16_neon, 3
    gemv    ig_gemv_4x16_neon, 4

    .section .note.GNU-stack, "", %progbits
