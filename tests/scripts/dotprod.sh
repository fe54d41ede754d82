# A program for processors of aarch64 with dot products of bytes: its kernels, the reference's bits, what it says on a lesser processor, and
# the same without an operating system.
isa=dotprod prefix=dots arithmetic="dot products of bytes"
model=$SRCDIR/models/fashion_int8.onnx
logits=classifier_out_DequantizeLinear_Output # bytes times a number; the softmax behind it is of floats
. "$SRCDIR/tests/scripts/lesser.inc"

by_dot_products() { # all convolutions
    grep -o '"kernel":"qlinear_conv[a-z0-9_]*"' "$work/build/out/aarch64/dots.d/plan.json" | sort | uniq -c >"$work/kernels"
    cat "$work/kernels"
    grep -q 'qlinear_conv_i8_6x16__dotprod' "$work/kernels" && ! grep -v 'dotprod"' "$work/kernels" &&
        grep '^ \* Processor: aarch64 with dot products of bytes ' "$work/build/out/aarch64/dots.h"
}

outputs() { # command...: of all pictures
    for each in "$SRCDIR"/models/pictures/*.pgm; do "$@" "$each" -o "$work/out.npy" --top 0 >/dev/null && cat "$work/out.npy" || return 1; done
}

same_bits() {
    out/ingot graph "$model" --outputs "$logits" -o "$net.json" && out/ingot plan "$net.json" --isa ref --threads 1 -o "$work/ref.json" &&
        program ref "$work/ref.json" && outputs "$work/ref" >"$work/want" || return 1
    [ "$(wc -c <"$work/want")" -gt 500 ] && outputs qemu-aarch64-static -cpu max "$work/build/out/aarch64/dots" >"$work/got" && cmp "$work/want" "$work/got"
}

check "a program for dot products" build aarch64
check "its convolutions are by them, its header says so" by_dot_products
check "it gives the reference's bits" same_bits
check_lesser
