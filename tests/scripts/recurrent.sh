# A network that ends in an LSTM and a GRU, as a user casts it: on threads, in stages, for least memory, in 16 and in 8 bits.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
result=$((128 + 24 * 2 * 10 * 4)) # bytes of a .npy, of each of 6 frames

network() {
    "$PYTHON" -B "$SRCDIR/tests/reading_network.py" "$work/reading.onnx" && "$PYTHON" - "$work" <<'PY'
import os, random, struct, sys
rng = random.Random(1)
os.makedirs(sys.argv[1] + "/samples")
with open(sys.argv[1] + "/frames", "wb") as all_frames:
    for i in range(6):
        frame = struct.pack("<1536f", *[rng.random() for _ in range(1536)])
        all_frames.write(frame)
        open(f"{sys.argv[1]}/samples/{i}.raw", "wb").write(frame)
PY
}

cast() { # name, precision, options of ingot plan...
    name=$1
    out/ingot graph --precision="$2" $([ "$2" != int8 ] || echo "--samples=$work/samples") "$work/reading.onnx" -o "$net.json" || return 1
    shift 2
    out/ingot plan "$net.json" -o "$work/$name.json" "$@" && program "$name" "$work/$name.json"
}

results() { # name, options...: of all frames
    name=$1
    shift
    "$work/$name" - -o - --top 0 "$@" <"$work/frames" >"$work/$name.out" && [ "$(wc -c <"$work/$name.out")" = $((6 * result)) ]
}

near() { # name, how near: of the single precision's largest result
    "$PYTHON" - "$work/single.out" "$work/$1.out" "$2" <<'PY'
import array, sys
def floats(path):
    data = open(path, "rb").read()
    return array.array("f", b"".join(data[i + 128:i + len(data) // 6] for i in range(0, len(data), len(data) // 6)))
a, b = map(floats, sys.argv[1:3])
most, off = max(map(abs, a)), max(abs(x - y) for x, y in zip(a, b))
print(f"off by {off / most:.1e} of the largest result, {most:.2f}")
assert len(a) == len(b) == 6 * 480 and off <= float(sys.argv[3]) * most and most > 0.1
assert len({a[i:i + 480].tobytes() for i in range(0, len(a), 480)}) == 6
PY
}

reference() { # the single precision's results are those of the reference kernels
    cast single single --threads 1 --isa ref && results single && cp "$work/single.out" "$work/ref.out" &&
        cast single single --threads 1 && results single && near ref 1e-5
}

threads() { # rows of the batch in each direction are shared out, and the bytes stay
    cast four single --threads 4 && "$PYTHON" - "$work/four.json" <<'PY' || return 1
import json, sys
plan = json.load(open(sys.argv[1]))
for s in plan["steps"]: # four rows, also where estimates find them too few
    if s["op"] == "recurrent":
        s.update(split="rows", chunk=1, chunks=4)
json.dump(plan, open(sys.argv[1], "w"))
PY
    program four "$work/four.json" || return 1
    for n in 1 2 3 4; do results four --threads $n && mv "$work/four.out" "$work/$n.out" && cmp "$work/1.out" "$work/$n.out" || return 1; done
    mv "$work/1.out" "$work/four.out" && near four 1e-5
}

stages() {
    cast staged single --threads 1 --stages cpu:0,cpu:1 && results staged --threads 1 && mv "$work/staged.out" "$work/one.out" &&
        results staged && cmp "$work/one.out" "$work/staged.out" && near staged 1e-5
}

least() {
    cast least single --threads 1 --objective memory && results least && near least 1e-5
}

halves() {
    cast half half --threads 2 && results half && near half 5e-3 && ! cmp -s "$work/half.out" "$work/single.out"
}

eighths() { # products of the input are of bytes, states of floats
    cast bytes int8 --threads 2 && results bytes && near bytes 5e-2 && ! cmp -s "$work/bytes.out" "$work/single.out" && "$PYTHON" - "$work/bytes.json" <<'PY'
import json, sys
ops = [s["op"] for s in json.load(open(sys.argv[1]))["steps"]]
assert ops.count("qlinear_conv") == 5 and ops.count("recurrent") == 2, ops
PY
}

check "a network with an LSTM and a GRU" network
check "it gives the reference kernels' results" reference
check "threads share rows and directions: the same bytes" threads
check "stages: the same bytes" stages
check "least memory" least
check "in half precision" halves
check "in 8 bits" eighths
finish
