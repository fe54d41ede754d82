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

# A network written in half precision: y = 1x1 convolution of a picture of halves, and what programs of it take.
written() {
    "$PYTHON" - "$work" <<'PY' || return 1
import struct, sys
def number(v):
    return bytes([v & 127 | 128]) + number(v >> 7) if v > 127 else bytes([v])
def field(n, v):
    v = v.encode() if isinstance(v, str) else v
    return number(n << 3) + number(v) if isinstance(v, int) else number(n << 3 | 2) + number(len(v)) + v
def value(name, dims):
    return field(1, name) + field(2, field(1, field(1, 10) + field(2, b"".join(field(1, field(1, d)) for d in dims))))
pixels, weights = [(i * 89 + 7) % 256 for i in range(4 * 5 * 3)], [(i % 37 - 18) / 16 for i in range(600 * 3)]
tensor = b"".join(field(1, d) for d in (600, 3, 1, 1)) + field(2, 10) + field(8, "w") + field(9, struct.pack("<1800e", *weights))
node = field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Conv")
graph = field(1, node) + field(5, tensor) + field(11, value("x", (1, 3, 4, 5))) + field(12, value("y", (1, 600, 4, 5)))
open(sys.argv[1] + "/written.onnx", "wb").write(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
open(sys.argv[1] + "/x.ppm", "wb").write(b"P6\n5 4\n255\n" + bytes(pixels))
planes = [(pixels[i * 3 + c] - 100) / 4 for c in range(3) for i in range(20)] # which halves hold as they are
open(sys.argv[1] + "/x.raw", "wb").write(struct.pack("<60e", *planes))
PY
    out/ingot inspect "$work/written.onnx" >"$work/single.txt" && grep 'have 16 bits; these have 32' "$work/single.txt" &&
        out/ingot inspect --precision half "$work/written.onnx" >"$work/half.txt" && ! grep 'have 16 bits' "$work/half.txt" || return 1
    for precision in single half; do
        out/ingot graph --precision $precision "$work/written.onnx" -o "$net.json" 2>"$work/note" && out/ingot plan "$net.json" --threads 1 -o "$work/plan.json" &&
            program raw "$work/plan.json" --mean 100 --std 4 && program spec "$work/plan.json" --input-spec 'mean=100,std=4' || return 1
        if [ $precision = single ]; then grep -q -- --precision=half "$work/note"; else [ ! -s "$work/note" ]; fi || return 1
        "$work/raw" "$work/x.raw" -o "$work/want.npy" --top 0 && "$work/raw" "$work/x.ppm" -o "$work/got.npy" --top 0 &&
            "$work/spec" "$work/x.ppm" -o "$work/spec.npy" --top 0 && cmp "$work/want.npy" "$work/got.npy" && cmp "$work/want.npy" "$work/spec.npy" || return 1
    done
}

check "weights of half precision take half the bytes" figures
check "a plan straight from ONNX" plans
check "least memory of both precisions" least
check "transposed convolutions in half precision" growing
check "a network written in half precision takes pictures, and says how its weights are stored" written
check "a precision that is not there is refused" refused
if [ -n "$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)" ]; then
    check "92.5 % of the 10,000 test pictures are right in half precision, too" accuracy
else
    skip "accuracy in half precision" "dataset-fashion-mnist is not installed"
fi
finish
