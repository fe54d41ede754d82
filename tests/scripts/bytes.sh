# The bundled network in 8 bits: by the kernels of every ISA that runs here the same bits, its memory, and its accuracy.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
model=$SRCDIR/models/fashion_int8.onnx
logits=classifier_out_DequantizeLinear_Output # what the softmax gets

isas_here() {
    flags_here=$(grep -m1 -E '^(flags|Features)' /proc/cpuinfo)
    case $flags_here in *avx_vnni*) echo avxvnni ;; esac
    case $(uname -m):$flags_here in
    x86_64:*avx512vl*avx512_vnni*) if grants_tiles >/dev/null 2>&1; then echo avx2 avx512 vnni amx; else echo avx2 avx512 vnni; fi ;;
    x86_64:*avx512vl*) echo avx2 avx512 ;;
    x86_64:*avx2*) echo avx2 ;;
    aarch64:*asimddp*) echo neon dotprod ;;
    aarch64:*) echo neon ;;
    esac
}

integers() { # all layers but the mean and the softmax are of bytes
    out/ingot graph "$model" -o "$net.json" && $PYTHON - "$net.json" <<'PY'
import collections, json, sys
ops = collections.Counter(n["op"] for n in json.load(open(sys.argv[1]))["nodes"])
print(dict(ops))
assert ops["qlinear_conv"] == 18 and ops["qlinear_binary"] == 4 and not ops["conv"] + ops["fc"] + ops["binary"], ops
PY
}

bits() { # ISA, threads: of the sums that the softmax gets, which are bytes times a number
    out/ingot plan "$net.json" --isa "$1" --threads "$2" -o "$work/plan.json" && program "bits_$1" "$work/plan.json" || return 1
    [ "$1" = ref ] || ! grep -E '"kernel":"(qlinear|quantize|conv_integer|matmul_integer|dynamic|extremes)[a-z0-9_]*__ref"' "$work/plan.json" || return 1
    for picture in "$SRCDIR"/models/pictures/*.pgm; do
        "$work/bits_$1" "$picture" -o "$work/out.npy" --top 0 >/dev/null && cat "$work/out.npy" || return 1
    done >"$work/$1.out"
}

same_bits() {
    out/ingot graph "$model" --outputs "$logits" -o "$net.json" && as_the_reference
}

same_bits_dynamic() {
    $PYTHON -B "$SRCDIR/tests/quantised_net.py" "$work/dynamic.onnx" dynamic && out/ingot graph "$work/dynamic.onnx" -o "$net.json" &&
        [ "$(grep -o '"op":"[a-z]*_integer"' "$net.json" | wc -l)" = 7 ] && as_the_reference
}

as_the_reference() {
    bits ref 1 && [ "$(wc -c <"$work/ref.out")" -gt 500 ] || return 1
    for isa in $(isas_here); do
        for threads in 1 2; do
            bits "$isa" $threads && cmp "$work/ref.out" "$work/$isa.out" || return 1
        done
    done
}

memory() { # of the same plan in single precision
    for m in fashion fashion_int8; do
        out/ingot graph "$SRCDIR/models/$m.onnx" -o "$work/g.json" && out/ingot plan "$work/g.json" --threads 1 -o "$work/$m.plan.json" || return 1
    done
    $PYTHON - "$work/fashion.plan.json" "$work/fashion_int8.plan.json" <<'PY'
import json, sys
a, b = (json.load(open(p))["totals"] for p in sys.argv[1:])
print(a["weights_bytes"], b["weights_bytes"], a["arena_bytes"], b["arena_bytes"])
assert b["weights_bytes"] < 0.5 * a["weights_bytes"] and b["arena_bytes"] < 0.5 * a["arena_bytes"]
PY
}

accuracy() {
    images=$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)
    out/ingot graph "$model" -o "$net.json" && out/ingot plan "$net.json" -o "$work/plan.json" && program all "$work/plan.json" &&
        $PYTHON "$SRCDIR/tests/library/accuracy.py" "$work/all" "$images" 93.7
}

check "the network is of bytes" integers
check "every ISA gives the reference's bits" same_bits
check "every ISA gives the reference's bits where a network quantises as it runs" same_bits_dynamic
check "less than half the memory" memory
if [ -n "$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)" ]; then
    check "93.7 % of the 10,000 test pictures are right in 8 bits" accuracy
else
    skip "accuracy in 8 bits" "dataset-fashion-mnist is not installed"
fi
finish
