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

# Where a call goes by way of a stub that the linker makes, as in a shared library, registers x16 and x17 do not come through. 72 products of
# 1 and 1 + 2^-10, of which no more than a tap's 8 are added in halves.
in_a_library() {
    cat >"$work/tile.c" <<'C'
#include <stddef.h>
#include "kernels_cpu/common/half_gemm.h"
ig_half_tile_fn ig_half_4x16_fp16;
int main(void)
{
    enum { TAPS = 9, K = 8, NR = IG_HALF_NR };
    static uint16_t x[K], y[NR], b[NR + TAPS * K * NR];
    static float sums[IG_HALF_MR * NR];
    static const uint16_t *a[TAPS * IG_HALF_MR];
    uint16_t *c[] = {y, y, y, y};
    for (int i = 0; i < K; i++) x[i] = 0x3c00;
    for (int i = 0; i < TAPS * IG_HALF_MR; i++) a[i] = x;
    for (int i = NR; i < NR + TAPS * K * NR; i++) b[i] = 0x3c01;
    const struct ig_half_args args = {a, 0, TAPS, K, K, 1, b, sums, c, 0, NULL, 0, IG_HALF_GEMM_SUMS, 0, 0};
    ig_half_4x16_fp16(&args);
    for (int i = 0; i < 4 * NR; i++)
        if (sums[i] != 72 + 72 / 1024.f) return 1;
    return 0;
}
C
    arm=${CC_AARCH64:-aarch64-linux-gnu-gcc}
    "$arm" -shared "$SRCDIR/kernels_cpu/fp16/gemm.S" -o "$work/libtile.so" &&
        "$arm" -std=c11 -I"$SRCDIR" "$work/tile.c" "$work/libtile.so" -Wl,-rpath,"$work" -o "$work/tile" &&
        qemu-aarch64-static -cpu max -L "$(dirname "$("$arm" -print-file-name=libc.so.6)")/.." "$work/tile"
}

check "tiles of a shared library" in_a_library
check "a program for arithmetic on halves" build aarch64 --precision=half
check "its convolutions are by them, its header says so" by_halves
check "plans of no error have none of it, those for dot products have" exact_plans
check "it gives nearly the outputs of single precision" near
check_lesser --precision=half
