#!/bin/sh
# Prints the GPU kernels that ingot-profile carries, as assembly: fatbins that nvcc has made of kernels_gpu/module.cu,
# or PTX, each with a 0 behind it, and a list of where they are that ends with 0.
# usage: kernels.sh [FILE]...
set -eu
echo '/* Do not edit: cli/boards/kernels.sh made it. */'
n=0
for file; do
    printf '    .section .rodata.kernels%d, "a", %%progbits\n    .balign 64\nkernels%d:\n    .incbin "%s"\n    .byte 0\n' $n $n "$file"
    n=$((n + 1))
done
printf '    .section .data.rel.ro.kernels, "aw", %%progbits\n    .balign 8\n    .globl ig_board_kernels\n    .type ig_board_kernels, %%object\n'
echo 'ig_board_kernels:'
i=0
while [ $i -lt $n ]; do
    echo "    .quad kernels$i"
    i=$((i + 1))
done
printf '    .quad 0\n    .size ig_board_kernels, . - ig_board_kernels\n    .section .note.GNU-stack, "", %%progbits\n'
