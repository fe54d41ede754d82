/*
 * Depthwise, 5 or 7 wide, for AVX2 + FMA: one or two kernel rows over n outputs of a row, 8 channels, added to the sums
 * of the rows before. struct ig_pass of depthwise.h in rdi.
 *
 *   ymm0 ..  weights w[row][kx], then the sums of the outputs that the current column touches      ymm15  one pixel
 *   r8 r9  pixels of the column, rows 0 and 1     rsi  step     rax  column     rdx  columns of the image
 *   r10  sums so far, r11 their step     rbx  output     rcx  outputs left
 *
 * The column that ends output i (tap kw-1) is tap kw-1-stride of i+1, and so on: at stride 1 kw outputs are under way,
 * at stride 2 half of that. Columns outside the image add nothing. An output's chain: columns left to right, in each
 * the rows from the top.
 */
        .altmacro

        .macro load_w disp, reg
        vmovups \disp(%rbx), %ymm\reg
        .endm

        .macro start_sum reg
        vmovups (%r10), %ymm\reg
        addq    %r11, %r10
        .endm

        .macro fma w, acc
        vfmadd231ps %ymm\w, %ymm15, %ymm\acc
        .endm

/* Tap k of the row at ymm\base: to the outputs j with a tap k - j*stride; output j's sum is in slot (phase + j). */
        .macro taps kw, stride, base, sums, slots, k, phase
        .set    tap_j, 0
        .rept   (\k) / \stride + 1
        fma     %(\base + \k - tap_j * \stride), %(\sums + (\phase + tap_j) % \slots)
        .set    tap_j, tap_j + 1
        .endr
        .endm

/* The next column, tap k of the current output. */
        .macro column kw, rows, stride, slots, k, phase
        .if (\k) % \stride == 0
        start_sum %(\rows * \kw + (\phase + (\k) / \stride) % \slots)
        .endif
        cmpq    %rdx, %rax
        jae     5f
        vmovups (%r8), %ymm15
        taps    \kw, \stride, 0, %(\rows * \kw), \slots, \k, \phase
        .if \rows == 2
        vmovups (%r9), %ymm15
        taps    \kw, \stride, \kw, %(\rows * \kw), \slots, \k, \phase
        .endif
5:
        addq    %rsi, %r8
        .if \rows == 2
        addq    %rsi, %r9
        .endif
        incq    %rax
        .endm

        .macro clamp_lo reg         /* of a NaN and a bound, the sum stays: the second source */
        vmaxps  %ymm\reg, %ymm15, %ymm\reg
        .endm

        .macro clamp_hi reg
        vminps  %ymm\reg, %ymm15, %ymm\reg
        .endm

        .macro put reg
        vmovups %ymm\reg, (%rbx)
        addq    64(%rdi), %rbx
        .endm

        .macro finish reg
        testl   $1, 88(%rdi)
        jz      6f
        vbroadcastss 92(%rdi), %ymm15
        clamp_lo \reg
        testl   $2, 88(%rdi)
        jz      6f
        vbroadcastss 96(%rdi), %ymm15
        clamp_hi \reg
6:
        put     \reg
        .endm

        .macro pass name, kw, rows, stride
        .text
        .globl  \name
        .hidden \name
        .type   \name, @function
        .p2align 6
\name:
        pushq   %rbx
        movq    72(%rdi), %rbx
        .set    i, 0
        .rept   \rows * \kw
        load_w  %(32 * i), %i
        .set    i, i + 1
        .endr
        movq    (%rdi), %r8
        movq    8(%rdi), %r9
        movq    16(%rdi), %rsi
        movq    24(%rdi), %rdx
        movq    32(%rdi), %rax
        movq    40(%rdi), %r10
        movq    48(%rdi), %r11
        movq    56(%rdi), %rbx
        movq    80(%rdi), %rcx
        .set    slots, (\kw + \stride - 1) / \stride
        .set    k, 0
        .rept   \kw - \stride
        column  \kw, \rows, \stride, %slots, %k, 0
        .set    k, k + 1
        .endr
        .p2align 4
4:
        .set    phase, 0
        .rept   slots
        .set    k, \kw - \stride
        .rept   \stride
        column  \kw, \rows, \stride, %slots, %k, %phase
        .set    k, k + 1
        .endr
        finish  %(\rows * \kw + phase)
        decq    %rcx
        jz      9f
        .set    phase, phase + 1
        .endr
        jmp     4b
9:
        vzeroupper
        popq    %rbx
        ret
        .size   \name, . - \name
        .endm

        pass    ig_pass_5s1_1row_avx2, 5, 1, 1
        pass    ig_pass_5s1_2rows_avx2, 5, 2, 1
        pass    ig_pass_5s2_1row_avx2, 5, 1, 2
        pass    ig_pass_5s2_2rows_avx2, 5, 2, 2
        pass    ig_pass_7s1_1row_avx2, 7, 1, 1
        pass    ig_pass_7s2_1row_avx2, 7, 1, 2

        .section .note.GNU-stack, "", @progbits
