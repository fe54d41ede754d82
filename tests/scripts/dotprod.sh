# A program for processors of aarch64 with dot products of bytes: its kernels, the reference's bits, what it says on a lesser processor, and
# the same without an operating system.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
model=$SRCDIR/models/fashion_int8.onnx
logits=classifier_out_DequantizeLinear_Output # bytes times a number; the softmax behind it is of floats

if ! have "${CC_AARCH64:-aarch64-linux-gnu-gcc}" || ! have qemu-aarch64-static; then
    skip "dot products of bytes" "no cross compiler or emulator"
    finish
    exit
fi
build_folder "$work/build"

build() { # target, options...
    target=$1
    shift
    (cd "$work/build" && ./configure --model="$model" --outputs="$logits" --target="$target" --isa=dotprod --prefix=dots --threads=1 --no-profile "$@" &&
        ${NINJA:-ninja}) >"$work/$target.log" 2>&1 || { tail -20 "$work/$target.log"; return 1; }
}

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

refuses() { # options of the program: one line, and status 1
    qemu-aarch64-static -cpu cortex-a57 "$work/build/out/aarch64/dots" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    cat "$work/out" "$work/err"
    [ $status = 1 ] && [ ! -s "$work/out" ] && [ "$(cat "$work/err")" = \
        "dots: this processor has no dot products of bytes, which its kernels need: cast it with ./configure --isa=neon" ]
}

lesser() {
    refuses "$SRCDIR/models/pictures/boot.pgm" && refuses --bench=1 && qemu-aarch64-static -cpu cortex-a57 "$work/build/out/aarch64/dots" --info
}

frame() { # raw floats of a picture
    tail -c 784 "$SRCDIR/models/pictures/boot.pgm" | "${PYTHON:-python3}" -c '
import array, sys
sys.stdout.buffer.write(array.array("f", [float(v) for v in sys.stdin.buffer.read()]).tobytes())' >"$work/frame.raw"
}

bare_metal() {
    timeout 120 qemu-system-aarch64 -M virt -cpu max -m 256 -nic none -display none -serial stdio -monitor none \
        -kernel "$work/build/out/aarch64-none/dots.elf" </dev/null >"$work/bare"
    cat "$work/bare"
    "$work/ref" "$SRCDIR/models/pictures/boot.pgm" --top 1 --json >"$work/top"
    [ "$(sed 's/#\([0-9]*\) .*/\1/' "$work/bare")" = "$(sed 's/.*"index":\([0-9]*\).*/\1/' "$work/top")" ]
}

check "a program for dot products" build aarch64
check "its convolutions are by them, its header says so" by_dot_products
check "it gives the reference's bits" same_bits
check "it refuses a processor without them" lesser
check "a bare-metal image for them" eval 'frame && build aarch64-none --input="$work/frame.raw"'
if have qemu-system-aarch64; then check "which prints the reference's class" bare_metal; else skip "which prints the reference's class" "no qemu-system-aarch64"; fi
finish
