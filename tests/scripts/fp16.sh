# A program for processors of aarch64 with arithmetic on halves: its kernels, its pictures' outputs near those of single precision, what it says
# on a lesser processor, and the same without an operating system.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
model=$SRCDIR/models/fashion.onnx
logits=classifier_out # the softmax behind it levels what is off

if ! have "${CC_AARCH64:-aarch64-linux-gnu-gcc}" || ! have qemu-aarch64-static; then
    skip "arithmetic on halves" "no cross compiler or emulator"
    finish
    exit
fi
build_folder "$work/build"

build() { # target, options...
    target=$1
    shift
    (cd "$work/build" && ./configure --model="$model" --outputs="$logits" --precision=half --target="$target" --isa=fp16 --prefix=halves --threads=1 --no-profile "$@" &&
        ${NINJA:-ninja}) >"$work/$target.log" 2>&1 || { tail -20 "$work/$target.log"; return 1; }
}

by_halves() { # all convolutions but those of one channel a group
    grep -o '"kernel":"[a-z]*_f16_[a-z0-9_]*"' "$work/build/out/aarch64/halves.d/plan.json" | sort | uniq -c >"$work/kernels"
    cat "$work/kernels"
    grep -q 'conv_f16_8x16__fp16' "$work/kernels" && ! grep conv_ "$work/kernels" | grep -v -e __fp16 -e depthwise &&
        grep '^ \* Processor: aarch64 with arithmetic on halves ' "$work/build/out/aarch64/halves.h"
}

exact_plans() { # which have no such kernel; nor has one of single precision
    out/ingot plan --precision half "$model" --isa fp16 --threads 1 --max-error 0 -o "$work/exact.json" && ! grep __fp16 "$work/exact.json" &&
        out/ingot plan "$model" --isa fp16 --threads 1 -o "$work/single.json" && ! grep __fp16 "$work/single.json" &&
        out/ingot plan --precision half "$model" --isa dotprod --threads 1 -o "$work/dots.json" && grep -q conv_f16_8x16__fp16 "$work/dots.json"
}

outputs() { # command...: of all pictures
    for each in "$SRCDIR"/models/pictures/*.pgm; do "$@" "$each" -o "$work/out.npy" --top 0 >/dev/null && tail -c 40 "$work/out.npy" || return 1; done
}

near() { # halves' rounding, and that of sums, is off by less than half a percent of the largest output
    out/ingot graph "$model" --outputs "$logits" -o "$net.json" && out/ingot plan "$net.json" --isa ref --threads 1 -o "$work/ref.json" &&
        program ref "$work/ref.json" && outputs "$work/ref" >"$work/want" &&
        outputs qemu-aarch64-static -cpu max "$work/build/out/aarch64/halves" >"$work/got" || return 1
    $PYTHON - "$work/want" "$work/got" <<'PY'
import array, sys
want, got = (array.array("f", open(p, "rb").read()) for p in sys.argv[1:])
assert len(want) == len(got) >= 50, (len(want), len(got))
most, off = max(map(abs, want)), max(abs(a - b) for a, b in zip(want, got))
print(f"off by {off / most:.1e} of the largest output, {most:.2f}")
assert 0 < off < 0.005 * most
PY
}

refuses() { # options of the program: one line, and status 1
    qemu-aarch64-static -cpu cortex-a57 "$work/build/out/aarch64/halves" "$@" >"$work/out" 2>"$work/err" </dev/null
    status=$?
    cat "$work/out" "$work/err"
    [ $status = 1 ] && [ ! -s "$work/out" ] && [ "$(cat "$work/err")" = \
        "halves: this processor has no arithmetic on halves, which its kernels need: cast it with ./configure --isa=neon" ]
}

lesser() {
    refuses "$SRCDIR/models/pictures/boot.pgm" && refuses --bench=1 && qemu-aarch64-static -cpu cortex-a57 "$work/build/out/aarch64/halves" --info
}

frame() { # raw floats of a picture
    tail -c 784 "$SRCDIR/models/pictures/boot.pgm" | $PYTHON -c '
import array, sys
sys.stdout.buffer.write(array.array("f", [float(v) for v in sys.stdin.buffer.read()]).tobytes())' >"$work/frame.raw"
}

bare_metal() {
    timeout 120 qemu-system-aarch64 -M virt -cpu max -m 256 -nic none -display none -serial stdio -monitor none \
        -kernel "$work/build/out/aarch64-none/halves.elf" </dev/null >"$work/bare"
    cat "$work/bare"
    "$work/ref" "$SRCDIR/models/pictures/boot.pgm" --top 1 --json >"$work/top"
    [ "$(sed 's/#\([0-9]*\) .*/\1/' "$work/bare")" = "$(sed 's/.*"index":\([0-9]*\).*/\1/' "$work/top")" ]
}

check "a program for arithmetic on halves" build aarch64
check "its convolutions are by them, its header says so" by_halves
check "plans of no error have none of it, those for dot products have" exact_plans
check "it gives nearly the outputs of single precision" near
check "it refuses a processor without them" lesser
check "a bare-metal image for them" eval 'frame && build aarch64-none --input="$work/frame.raw"'
if have qemu-system-aarch64; then check "which prints the reference's class" bare_metal; else skip "which prints the reference's class" "no qemu-system-aarch64"; fi
finish
