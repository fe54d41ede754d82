# Quantising: --precision=int8 by the build and by `ingot graph`, of pictures as they are, by a spec and of .npy; what is refused; accuracy.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
model=$SRCDIR/models/fashion.onnx
samples=$SRCDIR/models/pictures

integers() { # graph.json: layers are of bytes, and the softmax of floats
    $PYTHON - "$1" <<'PY'
import collections, json, sys
ops = collections.Counter(n["op"] for n in json.load(open(sys.argv[1]))["nodes"])
print(dict(ops))
assert ops["qlinear_conv"] == 18 and ops["qlinear_binary"] == 4 and ops["softmax"] == 1 and not ops["conv"] + ops["fc"] + ops["lookup"], ops
PY
}

classes() { # program
    for picture in "$samples"/*.pgm; do "$1" "$picture" --top 1 || return 1; done >"$work/lines" && sed 's/ .*//' "$work/lines"
}

built() { # by configure and ninja, and again where a sample changes
    build_folder "$work/build" && cp -r "$samples" "$work/typical" || return 1
    (cd "$work/build" && ./configure --model="$model" --precision=int8 --samples="$work/typical" --labels="$SRCDIR/models/fashion.labels.txt" --prefix=small --threads=1 --no-profile \
        --without-aarch64 && ${NINJA:-ninja} out/host/small) >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
    integers "$work/build/out/host/small.d/graph.json" && classes "$work/build/out/host/small" >"$work/small" && classes out/host/fashion >"$work/float" &&
        diff "$work/float" "$work/small" && [ "$(sort -u "$work/small" | wc -l)" -gt 2 ] || return 1
    (cd "$work/build" && ${NINJA:-ninja} -n out/host/small) >"$work/log" && grep -q 'no work' "$work/log" || { cat "$work/log"; return 1; }
    touch "$work/typical/boot.pgm" && (cd "$work/build" && ${NINJA:-ninja} -n out/host/small) >"$work/log" && grep -q 'graph' "$work/log"
}

as_said() { # the same pictures through --mean and --std, a spec, and as .npy, by a network that takes what they make
    $PYTHON - "$samples" "$work" <<'PY' || return 1
import os, struct, sys
folder, work = sys.argv[1:]
os.makedirs(f"{work}/npy")
for name in os.listdir(folder):
    pixels = open(f"{folder}/{name}", "rb").read()[-784:]
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1, 1, 28, 28), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    open(f"{work}/npy/{name}.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack("<784f", *[(p - 100) / 50 for p in pixels]))
PY
    out/ingot graph "$model" --precision int8 --samples "$work/npy" -o "$work/a.json" &&
        out/ingot graph "$model" --precision int8 --samples "$samples" --mean 100 --std 50 -o "$work/b.json" &&
        out/ingot graph "$model" --precision int8 --samples "$samples" --input-spec mean=100,std=50 -o "$work/c.json" &&
        out/ingot graph "$model" --precision int8 --samples "$samples" -o "$work/d.json" || return 1
    out/ingot graph "$model" --precision int8 --samples "$samples" -o "$work/d.json" 2>"$work/err" && cat "$work/err" &&
        [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'in 8 bits by 5 samples: results are off by [0-9.]* % (root mean square); the largest one stays the same in 5$' "$work/err" || return 1
    cmp "$work/a.bin" "$work/b.bin" && cmp "$work/b.bin" "$work/c.bin" && ! cmp -s "$work/c.bin" "$work/d.bin"
}

refused() { # words, options...
    words=$1
    shift
    if out/ingot graph "$@" -o "$work/none.json" 2>"$work/err"; then return 1; fi
    cat "$work/err"
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q -e "$words" "$work/err" && [ ! -e "$work/none.json" ]
}

refuses() {
    mkdir -p "$work/empty" "$work/wrong" && printf 'P5 20 20 255\n%400s' '' >"$work/wrong/a.pgm" || return 1
    refused 'needs --samples' "$model" --precision int8 &&
        refused 'No such file' "$model" --precision int8 --samples "$work/nowhere" &&
        refused 'no files there' "$model" --precision int8 --samples "$work/empty" &&
        refused '20 x 20 pixels, the network takes 28 x 28' "$model" --precision int8 --samples "$work/wrong" &&
        refused 'is quantised already' "$SRCDIR/models/fashion_int8.onnx" --precision int8 --samples "$samples" &&
        refused 'are for --precision=int8' "$model" --samples "$samples" &&
        refused 'stand in the input spec' "$model" --precision int8 --samples "$samples" --mean 1 --input-spec mean=1 &&
        refused '^ingot: .*wrong/a.pgm: 20 x 20' "$model" --precision int8 --samples "$work/wrong" &&
        refused 'single, half or int8' "$model" --precision int4 --samples "$samples" || return 1
    if out/ingot plan "$model" --precision int8 -o "$work/none.json" 2>"$work/err"; then return 1; fi
    grep -q 'is what ingot graph makes' "$work/err" || { cat "$work/err"; return 1; }
    for said in --precision=int8 --samples="$samples" "--precision=int8 --samples=$work/nowhere"; do
        if (cd "$work/build" && ./configure --model="$model" $said) >"$work/log" 2>&1; then return 1; fi
        tail -1 "$work/log" | grep -q 'samples' || { cat "$work/log"; return 1; }
    done
}

accuracy() { # by a hundred training pictures
    images=$(find /usr/share -name 't10k-images-idx3-ubyte*' | head -1)
    mkdir -p "$work/training" && $PYTHON - "$(find /usr/share -name 'train-images-idx3-ubyte*' | head -1)" "$work/training" <<'PY' || return 1
import gzip, sys
path, folder = sys.argv[1:]
with (gzip.open if path.endswith(".gz") else open)(path) as f:
    pixels = f.read(16 + 100 * 784)[16:]
for i in range(100):
    open(f"{folder}/{i}.pgm", "wb").write(b"P5 28 28 255\n" + pixels[i * 784:(i + 1) * 784])
PY
    out/ingot graph "$model" --precision int8 --samples "$work/training" -o "$net.json" && out/ingot plan "$net.json" -o "$work/plan.json" &&
        program all "$work/plan.json" && $PYTHON "$SRCDIR/tests/library/accuracy.py" "$work/all" "$images" 93.7
}

check "--precision=int8 builds a program of bytes with the float one's answers" built
check "samples are read as the program reads its inputs" as_said
check "what cannot be quantised is refused in a line" refuses
if [ -n "$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)" ]; then
    check "93.7 % of the 10,000 test pictures are right, by the ranges of 100 others" accuracy
else
    skip "accuracy in 8 bits" "dataset-fashion-mnist is not installed"
fi
finish
