/*
 * The matrix micro-kernels over packed pixels, the contract of kernels_cpu/common/gemm_packed.h.
 *
 *   ig_packed_<rows>x16_neon, ig_packed_<rows>x8_neon   rows 1..6: c = act(bias + a b + r), panel after panel
 *   ig_pack_<rows>_neon                                 rows 1..6: six pixels, k by k (missing ones undefined)
 *
 *   packed A    k 0: pixel 0 .. 5 | k 1: pixel 0 .. 5 | ...
 *
 * By lane, C in registers over the whole K. An instruction loads the 16 channels of B of one k, another one 16
 * floats of A, 2 2/3 k; whatever row they belong to, they are used up in order before the next 16 are loaded, so that
 * four registers do for them and all 32 are in use. That is 1.063 instructions an FMLA against 1.229 of gemm.S, whose
 * A takes a load a row for four k; packing costs 3 instructions a row for eight k, which two panels repay.
 *
 *   v0-v3 A   v4-v7 B   v8-v31 C: row r has v(8 + r QUADS) ..
 *   x0 arguments  x1 A  x2 k  x3 panels left  x5 B  x6 64  x7 counter  x8 temporary  x9-x14 rows of C  x19-x24 of r
 *
 * llvm-mca 14, loop over 16 k, loads hit L1: 0.999 FMLA a cycle on the Cortex-A57, where 1 is the peak.
 */

#include "kernels_cpu/neon/gemm_packed.inc"

.macro start_c
    .set i, 8
    .rept ROWS
    .if QUADS == 4
    load4   5, %(i), %(i + 1), %(i + 2), %(i + 3)
    .else
    load2   5, %(i), %(i + 1)
    .endif
    .set i, i + QUADS
    .endr
    add     x5, x5, #64
.endm

/* C of row r += residual; the residual's row moves on to the next panel. */
.macro add_residual
    .set r, 0
    .rept ROWS
    .if QUADS == 4
    load4   %(19 + r), 0, 1, 2, 3
    .else
    load2   %(19 + r), 0, 1
    .endif
    next_panel %(19 + r), %(16 * QUADS)
    .set q, 0
    .rept QUADS
    arith   fadd, %(8 + r * QUADS + q), %(q)
    .set q, q + 1
    .endr
    .set r, r + 1
    .endr
.endm

.macro next_panel row, bytes
    add     x\row, x\row, #\bytes
.endm

.macro store_c
    .set r, 0
    .rept ROWS
    .set i, 8 + r * QUADS
    .if QUADS == 4
    store4  %(9 + r), %(i), %(i + 1), %(i + 2), %(i + 3)
    .else
    store2  %(9 + r), %(i), %(i + 1)
    .endif
    .set r, r + 1
    .endr
.endm

.macro kernel name, rows, width
    .set ROWS, \rows
    .set QUADS, \width / 4
    function \name
    stp     d8, d9, [sp, #-112]!
    stp     d10, d11, [sp, #16]
    stp     d12, d13, [sp, #32]
    stp     d14, d15, [sp, #48]
    stp     x19, x20, [sp, #64]
    stp     x21, x22, [sp, #80]
    stp     x23, x24, [sp, #96]
    ldp     x2, x5, [x0, #8]
    ldp     x7, x8, [x0, #24]
    start_rows 9
    ldp     x7, x8, [x0, #40]
    ldr     x3, [x0, #56]
    mov     x6, #64
    cbz     x7, 1f
    start_rows 19
1:                                  /* a panel */
    start_c
    ldr     x1, [x0]
    subs    x7, x2, #16
    b.lt    3f
    .balign 16
2:
    some_k  16
    subs    x7, x7, #16
    b.ge    2b
3:                                  /* k % 16 = x7 + 16 */
    tbz     x7, #3, 4f
    some_k  8
4:
    tbz     x7, #2, 5f
    some_k  4
5:
    tbz     x7, #1, 6f
    some_k  2
6:
    tbz     x7, #0, 7f
    some_k  1
7:
    ldr     x8, [x0, #40]
    cbz     x8, 8f
    add_residual
8:
    ldr     w8, [x0, #64]
    cbz     w8, 9f
    ldp     s0, s1, [x0, #68]
    dup     v0.4s, v0.s[0]
    dup     v1.4s, v1.s[0]
    all_c   fmax, 0
    tbz     w8, #1, 9f
    all_c   fmin, 1
9:
    store_c
    subs    x3, x3, #1
    b.ne    1b
    ldp     x19, x20, [sp, #64]
    ldp     x21, x22, [sp, #80]
    ldp     x23, x24, [sp, #96]
    ldp     d10, d11, [sp, #16]
    ldp     d12, d13, [sp, #32]
    ldp     d14, d15, [sp, #48]
    ldp     d8, d9, [sp], #112
    ret
    .size   \name, . - \name
.endm

/*
 * --- packing ---
 *   x0 table of rows  x1 offset  x2 taps left  x3 k  x4 packed A  x7 the tap's table, then counter  x8 offset
 *   x9-x14 rows   v0-v7, v24-v27 rows, a pair each   v16-v21 k by k
 */

.macro load_eight nv, nv1, row
    ldp     q\nv, q\nv1, [x\row], #32
.endm

.macro load_four nv, row
    ldr     q\nv, [x\row], #16
.endm

.macro move_one row, at
    ldr     w7, [x\row], #4
    str     w7, [x4, #\at]
.endm

.macro zip_pair to, from, with
    zip1    v\to\().4s, v\from\().4s, v\with\().4s
.endm

.macro zip_upper_pair to, from, with
    zip2    v\to\().4s, v\from\().4s, v\with\().4s
.endm

/* The first register of row r: v8-v15 are the caller's. */
    .set ROW_0, 0
    .set ROW_1, 2
    .set ROW_2, 4
    .set ROW_3, 6
    .set ROW_4, 24
    .set ROW_5, 26

/* Four k of all rows, of which row r has v(ROW_r + odd). */
.macro put_four odd
    zip_pair       16, %(ROW_0 + \odd), %(ROW_1 + \odd)
    zip_pair       17, %(ROW_2 + \odd), %(ROW_3 + \odd)
    zip_pair       18, %(ROW_4 + \odd), %(ROW_5 + \odd)
    zip_upper_pair 19, %(ROW_0 + \odd), %(ROW_1 + \odd)
    zip_upper_pair 20, %(ROW_2 + \odd), %(ROW_3 + \odd)
    zip_upper_pair 21, %(ROW_4 + \odd), %(ROW_5 + \odd)
    st3     {v16.2d, v17.2d, v18.2d}, [x4], #48
    st3     {v19.2d, v20.2d, v21.2d}, [x4], #48
.endm

.macro packer name, rows
    .set ROWS, \rows
    function \name
1:                                  /* a tap */
    mov     x7, x0
    mov     x8, x1
    start_rows 9
    add     x0, x0, #8 * 6
    subs    x8, x3, #8
    b.lt    3f
2:                                  /* eight k */
    .set r, 0
    .rept ROWS
    load_eight %(2 * r + (r / 4) * 16), %(2 * r + 1 + (r / 4) * 16), %(9 + r)
    .set r, r + 1
    .endr
    put_four 0
    put_four 1
    subs    x8, x8, #8
    b.ge    2b
3:                                  /* k % 8 = x8 + 8 */
    tbz     x8, #2, 4f
    .set r, 0
    .rept ROWS
    load_four %(2 * r + (r / 4) * 16), %(9 + r)
    .set r, r + 1
    .endr
    put_four 0
4:
    ands    x8, x8, #3
    b.eq    6f
5:                                  /* one k */
    .set r, 0
    .rept ROWS
    move_one %(9 + r), %(4 * r)
    .set r, r + 1
    .endr
    add     x4, x4, #24
    subs    x8, x8, #1
    b.ne    5b
6:
    subs    x2, x2, #1
    b.ne    1b
    ret
    .size   \name, . - \name
.endm

    .irp rows, 1, 2, 3, 4, 5, 6
    kernel  ig_packed_\rows\()x16_neon, \rows, 16
    kernel  ig_packed_\rows\()x8_neon, \rows, 8
    packer  ig_pack_\rows\()_neon, \rows
    .endr
    .section .note.GNU-stack, "", %progbits
