# A program for processors of aarch64 with arithmetic on halves: its kernels, its pictures' outputs near those of single precision, what it says
# on a lesser processor, and the same without an operating system.
isa=fp16 prefix=halves arithmetic="arithmetic on halves"
model=$SRCDIR/models/fashion.onnx
logits=classifier_out # the softmax behind it levels what is off
. "$SRCDIR/tests/scripts/lesser.inc"

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
    "$PYTHON" - "$work/want" "$work/got" <<'PY'
import array, sys
want, got = (array.array("f", open(p, "rb").read()) for p in sys.argv[1:])
assert len(want) == len(got) >= 50, (len(want), len(got))
most, off = max(map(abs, want)), max(abs(a - b) for a, b in zip(want, got))
print(f"off by {off / most:.1e} of the largest output, {most:.2f}")
assert 0 < off < 0.005 * most
PY
}

check "a program for arithmetic on halves" build aarch64 --precision=half
check "its convolutions are by them, its header says so" by_halves
check "plans of no error have none of it, those for dot products have" exact_plans
check "it gives nearly the outputs of single precision" near
check_lesser --precision=half
