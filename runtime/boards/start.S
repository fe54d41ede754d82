/*
 * Where a dynamic program of a board begins: x0 is what the dynamic linker wants to be called at exit, the
 * stack holds argc, argv and the environment (System V ABI for the Arm 64-bit architecture).
 */
    .text
    .globl _start
    .type _start, %function
_start:
    mov x29, #0
    mov x30, #0
    mov x1, x0
    mov x0, sp
    b ig_board_start
    .size _start, . - _start

/* Headers since glibc 2.38 call these by another name; the board knows the old one. */
.macro renamed new, old
    .section .text.\new, "ax", %progbits
    .globl \new
    .type \new, %function
\new:
    b \old
    .size \new, . - \new
.endm
    renamed __isoc23_sscanf, __isoc99_sscanf
    renamed __isoc23_strtol, strtol
    renamed __isoc23_strtoll, strtoll
    renamed __isoc23_strtoul, strtoul
    renamed __isoc23_strtoull, strtoull

    .section .note.GNU-stack, "", %progbits
