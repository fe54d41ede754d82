/* The raw input that a bare-metal image carries; INPUT_FILE is a string. */
    .section .rodata.input, "a", %progbits
    .balign 64
    .globl ig_bare_input, ig_bare_input_end
ig_bare_input:
    .incbin INPUT_FILE
ig_bare_input_end:
    .section .note.GNU-stack, "", %progbits
