# The bundled network through the generated program: labels, accuracy, static, memory, library, reproducible builds.
. "$SRCDIR/tests/scripts/tap.inc"
program=out/host/fashion
pictures=$SRCDIR/models/pictures

label_is() { # picture, label
    got=$($program "$pictures/$1.pgm" --top 1)
    echo "$got"
    case $got in "$2 "*) ;; *) return 1 ;; esac
}

static() {
    ! readelf -l "$program" | grep -q INTERP
}

runs_elsewhere() {
    mkdir "$work/elsewhere" && cp "$program" "$pictures/boot.pgm" "$work/elsewhere" &&
        (cd "$work/elsewhere" && env -i ./fashion boot.pgm --top 1) | grep -q '^Ankle boot'
}

json_keys() { # --bench and --info have what they promise
    $program --bench=0.2 --json >"$work/bench.json" && $program --info --json >"$work/info.json" &&
        $PYTHON - "$work/bench.json" "$work/info.json" <<'PY'
import json, sys
bench, info = (json.load(open(p)) for p in sys.argv[1:])
for key in "init_ms first_ms median_ms min_ms p99_ms fps threads runs".split():
    assert key in bench, key
for key in "inputs outputs arena_bytes weights_bytes code_bytes plan_sha256".split():
    assert key in info, key
assert info["inputs"][0]["shape"] == [1, 1, 28, 28]
resident = bench["peak_rss_kib"] * 1024
touched = info["arena_bytes"] + info["weights_bytes"]
print("peak RSS", resident, "of", touched, "touched")
assert resident <= 1.1 * touched + 2e6
PY
}

stream_is_single() { # ten frames on stdin give ten answers, each as alone
    tail -c 784 "$pictures/boot.pgm" | $PYTHON -c '
import array, sys
sys.stdout.buffer.write(array.array("f", [float(v) for v in sys.stdin.buffer.read()]).tobytes())' >"$work/frame"
    $program "$work/frame" --top 3 >"$work/one"
    for _ in 1 2 3 4 5 6 7 8 9 10; do cat "$work/frame"; done | $program - --top 3 >"$work/ten"
    [ "$(sort -u "$work/ten")" = "$(cat "$work/one")" ] && [ "$(wc -l <"$work/ten")" = 10 ]
}

threads_agree() {
    for n in 1 2 3 7; do $program "$pictures/bag.pgm" --threads $n -o "$work/$n.npy" || return 1; done
    for n in 2 3 7; do cmp "$work/1.npy" "$work/$n.npy" || return 1; done
}

members() { # of a library by the linker's words: the objects that are in the program
    sed -n "s/^(out\/host\/$1[a-z_]*\.a)//p" "$work/log" | sort -u
}

reproducible() { # two builds from the frozen profile, the second of objects of its own: one sha256
    cp out/host/fashion.d/profile.json "$work/frozen.json"
    for n in 1 2; do
        build_folder "$work/build$n"
        [ $n = 1 ] || for object in $kernels $runtime; do find "$work/build$n/out/obj/host" "$work/build$n/out/obj/host-musl" -name "$object" -exec rm {} +; done
        (cd "$work/build$n" && ./configure --model="$SRCDIR/models/fashion.onnx" --prefix=frozen --without-aarch64 LDFLAGS=-Wl,--trace,--trace \
            --profile="$work/frozen.json" --threads=2 && ${NINJA:-ninja} out/host/frozen) >"$work/log" 2>&1 || { tail "$work/log"; return 1; }
        kernels=$(members libingot_kernels) runtime=$(members libingot_runtime)
        [ -n "$kernels" ] && [ -n "$runtime" ] || return 1
    done
    cmp "$work/build1/out/host/frozen" "$work/build2/out/host/frozen"
}

library() { # two libraries in one C++ program, each with a context of its own
    ${NINJA:-ninja} out/host/libfashion.a out/host/fashion.h >/dev/null &&
        ${CC:-cc} -std=c11 -Wall -Werror -Iout/host "$SRCDIR/tests/library/client.c" out/host/libfashion.a -lm -lpthread -o "$work/client" &&
        "$work/client" "$work/frame" && nm -g --defined-only out/host/libfashion.a | awk 'NF==3 && $3 !~ /^fashion_/ {bad=1; print} END {exit bad}'
}

accuracy() {
    images=$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)
    $PYTHON "$SRCDIR/tests/library/accuracy.py" "$program" "$images" 92.5
}

PYTHON=${PYTHON:-python3}
check "an ankle boot is one" label_is boot "Ankle boot"
check "a sneaker is one" label_is sneaker "Sneaker"
check "a bag is one" label_is bag "Bag"
check "trousers are some" label_is trouser "Trouser"
check "a dress is one" label_is dress "Dress"
check "the program is static" static
check "it runs without the repository" runs_elsewhere
check "its JSON has the promised keys, its memory the promised size" json_keys
check "a stream gives what single frames give" stream_is_single
check "any number of threads gives the same bytes" threads_agree
check "the library links alone and exports only its prefix" library
check "two builds from one profile are one file" reproducible
if [ -n "$(find /usr/share -name 't10k-images-idx3-ubyte*' 2>/dev/null | head -1)" ]; then
    check "92.5 % of the 10,000 test pictures are right" accuracy
else
    skip "accuracy over the test pictures" "dataset-fashion-mnist is not installed"
fi
finish
