# Storage of half precision: the bundled network's accuracy and memory beside those of single precision; transposed convolutions.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
single=out/host/fashion half=out/host/fashion_half

figures() { # arena and weights of both, from the programs themselves
    for program in $single $half; do $program --info --json >"$work/${program##*/}.json" || return 1; done
    $PYTHON - "$work/fashion.json" "$work/fashion_half.json" <<'PY'
import json, sys
single, half = (json.load(open(p)) for p in sys.argv[1:])
for key in "arena_bytes", "weights_bytes":
    print(f"{key}: {single[key]:,} and {half[key]:,}")
assert half["weights_bytes"] < 0.52 * single["weights_bytes"]
assert [x["type"] for x in half["inputs"] + half["outputs"]] == ["f32"] * 2
PY
}

accuracy() {
    images=$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)
    for program in $single $half; do
        printf '%s: ' "${program##*/}"
        $PYTHON "$SRCDIR/tests/library/accuracy.py" "$program" "$images" 92.5 || return 1
    done
}

refused() { # a graph has the precision that it was made with
    out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$work/graph.json" &&
        ! out/ingot plan --precision half "$work/graph.json" -o "$work/plan.json" 2>"$work/err" &&
        grep -q 'single precision' "$work/err" &&
        ! out/ingot graph --precision=quarter "$SRCDIR/models/fashion.onnx" -o "$work/q.json" 2>/dev/null
}

plans() { # straight from ONNX, too
    out/ingot plan --precision=half "$SRCDIR/models/fashion.onnx" --threads 1 -o "$work/plan.json" && grep -q _f16_ "$work/plan.json"
}

least() { # by parts and in half precision: weights that are widened lie in scratch a few at a time
    for precision in single half; do
        out/ingot plan --precision=$precision "$SRCDIR/models/fashion.onnx" --threads 1 --objective memory -o "$work/$precision.json" || return 1
    done
    $PYTHON - "$work/single.json" "$work/half.json" <<'PY'
import json, sys
single, half = (json.load(open(p))["totals"] for p in sys.argv[1:])
sums = [t["arena_bytes"] + t["weights_bytes"] for t in (single, half)]
print(sums)
assert sums[0] < 700000 and sums[1] < 400000
PY
}

growing() { # programs of both precisions: transposed convolutions on halves give what those on floats give
    $PYTHON -B "$SRCDIR/tests/growing_network.py" "$net.onnx" || return 1
    for precision in single half; do
        out/ingot graph --precision=$precision "$net.onnx" -o "$net.json" &&
            out/ingot plan "$net.json" --threads 1 -o "$work/$precision.json" && program $precision "$work/$precision.json" || return 1
    done
    $PYTHON - "$work" <<'PY'
import json, random, struct, subprocess, sys
work = sys.argv[1]
random.seed(4)
open(work + "/in", "wb").write(struct.pack("<1440f", *[random.uniform(-1, 1) for _ in range(1440)]))
kernels = [s["kernel"] for s in json.load(open(work + "/half.json"))["steps"]]
assert sum(k.startswith("deconv_f16_") for k in kernels if k) == 2 or all("__ref" in k for k in kernels if k), kernels
def run(program):
    subprocess.run([f"{work}/{program}", work + "/in", "-o", f"{work}/{program}.npy"], check=True)
    return struct.unpack("<7680f", open(f"{work}/{program}.npy", "rb").read()[-30720:])
single, half = run("single"), run("half")
most, off = max(map(abs, single)), max(abs(a - b) for a, b in zip(single, half))
print(f"off by {off / most:.1e} of the largest output, {most:.2f}")
assert 0 < off < 0.005 * most
PY
}

check "weights of half precision take half the bytes" figures
check "a plan straight from ONNX" plans
check "least memory of both precisions" least
check "transposed convolutions in half precision" growing
check "a precision that is not there is refused" refused
if [ -n "$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)" ]; then
    check "92.5 % of the 10,000 test pictures are right in half precision, too" accuracy
else
    skip "accuracy in half precision" "dataset-fashion-mnist is not installed"
fi
finish
