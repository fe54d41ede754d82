# Layers that several keys share: by rows and output channels with --exact the single program's bytes, by columns and input
# channels near them.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
if ! have "${MPICC:-mpicc}" || ! have mpirun || ! have "$PYTHON"; then
    skip "layers split over ranks" "no mpicc, mpirun or $PYTHON"
    finish
    exit
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Tool and libraries are those that stand, so that no more is compiled than tables.
[ -f out/host/libingot_mpi.a ] || ${NINJA:-ninja} out/host/libingot_mpi.a >"$work/log" 2>&1
mkdir -p "$work/build"
ln -s "$PWD/out" "$work/build/out"
SRCDIR=$(cd "$SRCDIR" && pwd)
cc=${CC:-cc}
net=squeezenet1.1 isa=host
cflags="-std=c11 -D_GNU_SOURCE -I$SRCDIR -O1 -ffunction-sections -fdata-sections"

orders() { # mode of the layers with rows, of those with channels (behind it ",auto": no sizes): SqueezeNet 1.1 over three keys
    "$PYTHON" - "$1" "$2" "$work" <<'PY'
import json, sys
rows, channels, work = sys.argv[1:]
channels, _, auto = channels.partition(",")
keys = ["nodeA_cpu0", "nodeB_cpu0", "nodeC_cpu0"]
def fire(i): return [f"/features/features.{i}/{n}" for n in ("squeeze/Conv", "expand1x1/Conv", "expand3x3/Conv", "Concat")]
def relus(i): return [f"/features/features.{i}/{n}_activation/Relu" for n in ("squeeze", "expand1x1", "expand3x3")]
by_rows = {"/features/features.0/Conv": [37, 37, 37], "/features/features.2/MaxPool": [20, 10, 25]}
for i in (3, 4):
    by_rows.update((n, [20, 24, 11]) for n in fire(i))
for i in (6, 7):
    by_rows.update((n, [1, 25, 1]) for n in fire(i))
last = 512 if channels == "lip" else 1000
by_channels = {"/classifier/classifier.1/Conv": [last // 2, last // 4, last - last // 2 - last // 4]}
h = {n: [rows, auto or {"sizes": s}, keys] for n, s in by_rows.items()}
h.update({n: [channels, auto or {"sizes": s}, keys] for n, s in by_channels.items()})
rest = ["/features/features.1/Relu", "/features/features.5/MaxPool", "/features/features.8/MaxPool",
        "/classifier/classifier.2/Relu", "/classifier/classifier.3/GlobalAveragePool", "output"]
for i in (3, 4, 6, 7, 9, 10, 11, 12):
    rest += relus(i) + ([] if i < 8 else fire(i))
m = {k: list(h) for k in keys}
for i, n in enumerate(rest):
    m[keys[i * 3 // len(rest)]].append(n)
json.dump(m, open(work + "/mapping.json", "w"))
json.dump(h, open(work + "/horizontal.json", "w"))
PY
}

chain() { # all convolutions of MobileNet v1 that have rows, over two keys
    (cd "$work/build" && out/ingot graph $net.onnx -o graph.json && out/ingot inspect --layers -q $net.onnx >"$work/layers") &&
        "$PYTHON" - "$work/build/graph.json" "$work" <<'PY'
import json, sys
graph, work = sys.argv[1:]
keys = ["nodeA_cpu0", "nodeB_cpu0"]
convs = [n["name"] for n in json.load(open(graph))["nodes"] if n["op"].lower() == "conv"]
forms = {form for n in convs for form in (n, n.replace("/", "_") + "_output_0", n + "_out")}
layers = open(work + "/layers").read().split("\n")[:-1]
split = [l for l in layers if l in forms][:27]
assert len(split) == 27, layers
json.dump({l: ["height", "auto", keys] for l in split}, open(work + "/horizontal.json", "w"))
json.dump({k: [l for l in layers if l in split or k == keys[0]] for k in keys}, open(work + "/mapping.json", "w"))
PY
}

single() { # the program of one device, eight frames
    d=alone.d
    (cd "$work/build" && out/ingot zoo $net -o $net.onnx && out/ingot graph $net.onnx -o graph.json &&
        out/ingot plan graph.json --isa $isa --threads 1 -o plan.json && out/ingot gen graph.json plan.json -o $d --prefix alone &&
        for part in main.c plan.c weights.S; do
            # shellcheck disable=SC2086
            "$cc" $cflags -I$d -c $d/alone_$part -o $d/alone_${part%.*}.o || exit 1
        done &&
        "$SRCDIR/gen/link.sh" program alone $d/alone "$cc" -Wl,--gc-sections $d/alone_main.o $d/alone_plan.o \
            out/host/libingot_runtime.a out/host/libingot_kernels.a -lm -lpthread) >"$work/log" 2>&1 ||
        { tail -20 "$work/log"; return 1; }
    "$PYTHON" -c 'import array, random, sys
r = random.Random(1)
sys.stdout.buffer.write(array.array("f", (r.random() for _ in range(8 * 150528))).tobytes())' >"$work/frames.raw" &&
        "$work/build/alone" - -o - --top 0 <"$work/frames.raw" >"$work/want"
}

split() { # modes as of orders, options of ingot deploy...
    if [ "$1" = chain ]; then chain; else orders "$1" "$2"; fi || return 1
    shift 2
    (cd "$work/build" && rm -rf ranks ranks.d && out/ingot deploy $net.onnx --isa $isa --threads 1 --mapping "$work/mapping.json" \
        --horizontal "$work/horizontal.json" "$@" -o ranks &&
        NINJA=${NINJA:-ninja} MPICC=${MPICC:-mpicc} CC=$cc CFLAGS=$cflags LDFLAGS='' PROGRAM_FLAGS=-Wl,--gc-sections \
            SRCDIR=$SRCDIR "$SRCDIR/gen/ranks.sh" ranks.d/ranks.txt ranks) >"$work/log" 2>&1 ||
        { tail -20 "$work/log"; return 1; }
    sed "s|\$| - -o - --top 0 --unpinned --stdin=$work/frames.raw|" "$work/build/ranks/appfile" >"$work/app" || return 1
    (cd "$work/build/ranks" && timeout -k 5 "$hang" mpirun --oversubscribe --bind-to none --app "$work/app") \
        </dev/null >"$work/got" 2>"$work/err" || { cat "$work/err"; return 1; }
}

auto() { # options: sizes that nobody gave, by the keys' speed and links so near that it pays
    echo '{"format":"ingot-site","version":1,"devices":[{"name":"nodeA"},{"name":"nodeB"},{"name":"nodeC"}],
"links":[{"from":"*","to":"*","alpha_ns":2000,"beta_ns":0.1}]}' >"$work/site.json"
    split height lop,auto --platform "$work/site.json" "$@" && grep -q splith_2 "$work/build/ranks/deploy.json"
}

borders() { # where it pays
    split chain "" --exact --border-first && grep -q '_firsth_1"' "$work/build/ranks/deploy.json" && grep -q '_lasth_0"' "$work/build/ranks/deploy.json"
}

timed() { # by a profile of the whole network
    out/ingot profile "$work/build/graph.json" --threads 1 --seconds 1 -q -o "$work/profile.json" &&
        auto --profile "$work/profile.json"
}

beside() { # a second profile, with another core at work, of half as much again: what a part takes there, what it wants
    "$PYTHON" - "$work/profile.json" "$work/beside.json" <<'PY' && auto --profile "$work/profile.json" --profile "$work/beside.json" &&
import json, sys
p = json.load(open(sys.argv[1]))
for t in p["timings"] + p.get("bands", []):
    t.update({k: 1.5 * t[k] for k in t if k.endswith("_ns")})
json.dump(dict(p, beside=1), open(sys.argv[2], "w"))
PY
        "$PYTHON" - "$work/build/ranks/deploy.json" <<'PY' &&
import json, sys
parts = json.load(open(sys.argv[1]))["parts"]
for p in parts: # copies of pieces are estimated, twice the same, as are bands that no profile has timed
    assert 1 - 1e-9 < p["beside_ms"] / p["time_ms"] < 1.501, p
assert 1.2 < sum(p["beside_ms"] for p in parts) / sum(p["time_ms"] for p in parts), parts
mean = sum(p["demand"] * p["time_ms"] for p in parts) / sum(p["time_ms"] for p in parts)
assert len(parts) > 2 and abs(mean - 1) < 1e-6, mean
PY
        ! auto --profile "$work/profile.json" --profile "$work/profile.json" >"$work/err" && grep -q "one of cores alone" "$work/err"
}

one_machine() { # devices of one machine: ranks take longer than their parts do alone, and a result as long as one of them
    sed -i 's/"name":/"machine":"m","name":/g' "$work/site.json" &&
        (cd "$work/build" && out/ingot deploy $net.onnx -q --threads 1 --mapping "$work/mapping.json" --horizontal \
            "$work/horizontal.json" --platform "$work/site.json" --profile "$work/beside.json" --profile "$work/profile.json" -o shared) &&
        "$PYTHON" - "$work/build/shared/deploy.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
for r in d["ranks"]:
    alone = sum(p["time_ms"] for p in d["parts"] if p["rank"] == r["rank"])
    # What the others want of the memory, of the time between two results: as much slower each part is.
    most = sum((p["beside_ms"] - p["time_ms"]) for p in d["parts"] if p["rank"] == r["rank"])
    wanted = sum(p["demand"] * p["time_ms"] for p in d["parts"] if p["rank"] != r["rank"]) / d["period_ms"]
    assert abs(r["time_ms"] - alone - most * wanted) < 1e-4 * alone < most * wanted, (r, alone, most, wanted)
    assert d["period_ms"] > r["time_ms"] - 1e-6
PY
}

near() { # each result within 1e-4 of its frame's largest
    "$PYTHON" - "$work/want" "$work/got" <<'PY'
import array, sys
head = 128 # of a .npy
a, b = (open(p, "rb").read() for p in sys.argv[1:])
size = len(a) // 8
assert len(a) == len(b) and size == head + 4000
for i in range(8):
    x, y = (array.array("f", s[i * size + head:(i + 1) * size]) for s in (a, b))
    off = max(abs(p - q) for p, q in zip(x, y))
    assert off <= 1e-4 * max(map(abs, x)) + 1e-6, off
PY
}

nameless() { # layers that only their tensors name, one of which the network's output is, in another layout
    d=$work/nameless
    mkdir -p "$d" && cat >"$d/net.py" <<'PY' && PYTHONPATH=$SRCDIR/tests PYTHONDONTWRITEBYTECODE=1 "$PYTHON" "$d/net.py" >"$d/net.onnx" &&
import struct, sys
from onnx_bytes import num, txt, value

def conv(x, y):
    pads = txt(1, "pads") + b"".join(num(8, 1) for _ in range(4)) + num(20, 7)
    return txt(1, txt(1, x) + txt(1, "w") + txt(2, y) + txt(4, "Conv") + txt(5, pads))

def relu(x, y):
    return txt(1, txt(1, x) + txt(2, y) + txt(4, "Relu"))

weights = b"".join(num(1, d) for d in (4, 4, 3, 3)) + num(2, 1) + txt(8, "w") + txt(9, struct.pack("<144f", *range(144)))
graph = conv("x", "g") + relu("g", "h") + conv("h", "y") + conv("h", "z") + txt(2, "g") + txt(5, weights)
graph += txt(11, value("x", 1, 4, 8, 8)) + txt(12, value("y", 1, 4, 8, 8)) + txt(12, value("z", 1, 4, 8, 8))
sys.stdout.buffer.write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
PY
        echo '{"a_cpu0":["g","h","y"],"b_cpu1":["y","z"]}' >"$d/mapping.json" || return 1
    for mode in height width lop lip; do
        echo "{\"y\":[\"$mode\",{\"sizes\":[$([ ${mode#l} = $mode ] && echo 3,5 || echo 1,3)]},[\"a_cpu0\",\"b_cpu1\"]]}" >"$d/split.json" || return 1
        out/ingot deploy "$d/net.onnx" --mapping "$d/mapping.json" --horizontal "$d/split.json" -o "$d/ranks" && grep -q '_split[a-z]*_1' "$d/ranks/deploy.json" || return 1
    done
    echo '{"a_cpu0":["g","h","y","z"],"b_cpu1":["g","h","z"]}' >"$d/mapping.json"
    echo '{"g":["lop","auto",["a_cpu0","b_cpu1"]],"h":["lop","auto",["a_cpu0","b_cpu1"]],"z":["lop",{"sizes":[1,2]},["a_cpu0","b_cpu1"]]}' >"$d/split.json"
    ! out/ingot deploy "$d/net.onnx" --mapping "$d/mapping.json" --horizontal "$d/split.json" -o "$d/ranks" 2>"$d/err" && cat "$d/err" &&
        grep -q '2 mistakes' "$d/err" && grep -q "'g' and 'h' are computed as one" "$d/err" && grep -q "layer 'z': " "$d/err"
}

check "layers without names" nameless
check "the single program" single
check "rows and output channels over 3 keys" split height lop --exact
check "they have the single program's bytes" cmp "$work/want" "$work/got"
check "columns and input channels over 3 keys" split width lip
check "they are near the single program's results" near
check "rows and channels by the keys' speed" auto --exact
check "they have the single program's bytes, too" cmp "$work/want" "$work/got"
check "by a profile of the whole network" timed
check "by two, one with another core at work" beside
check "devices of one machine slow each other down" one_machine
check "they are near the single program's results, too" near
net=mobilenet_v1
! grep -q avx2 /proc/cpuinfo || isa=avx2 # whose layers take long enough for borders to pay; AVX-512's do not
check "the single program of a chain" single
check "a chain over 2 keys, rows that the other one waits for first" borders
check "they have the single program's bytes, as well" cmp "$work/want" "$work/got"
finish
