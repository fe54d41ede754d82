# Memory as a user asks for it: budgets, least memory, the front, the picture of an arena.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
model=$SRCDIR/models/fashion.onnx
python=${PYTHON:-python3}

plan() { # options...
    out/ingot plan "$model" --threads 1 "$@"
}

front() {
    plan --objective memory --pareto "$work/front.json" -o "$work/least.json" && "$python" - "$work" <<'PY'
import json, sys
f, p = (json.load(open(sys.argv[1] + name)) for name in ("/front.json", "/least.json"))
points = [(q["bytes"], q["latency_ms"]) for q in f["points"]]
assert points and all(a[0] < b[0] and a[1] > b[1] for a, b in zip(points, points[1:])), points
assert f["chosen"]["bytes"] == p["totals"]["arena_bytes"] + p["totals"]["weights_bytes"]
assert points[0][0] <= f["chosen"]["bytes"] <= points[0][0] + 1024
open(sys.argv[1] + "/bytes", "w").write(str(f["chosen"]["bytes"]))
PY
}

budget() {
    bytes=$(cat "$work/bytes")
    plan --memory-budget "$bytes" -o "$work/fits.json" &&
        ! plan --memory-budget $((bytes / 2)) -o "$work/no.json" 2>"$work/err" &&
        grep -q 'memory budget of [0-9]* bytes exceeded by [0-9]*: the least is [0-9]*' "$work/err" && [ ! -e "$work/no.json" ]
}

genetic() { # the same seed, the same plan
    for i in 1 2; do plan --objective memory --algorithm nsga2 --seed 7 -o "$work/g$i.json" || return 1; done
    cmp "$work/g1.json" "$work/g2.json"
}

picture() {
    out/ingot inspect --memory --svg "$work/a.svg" "$model" "$work/least.json" | grep -q '^arena ' &&
        out/ingot inspect --memory --json "$model" "$work/least.json" >"$work/a.json" && "$python" - "$work" <<'PY'
import json, sys
import xml.dom.minidom
a, p = (json.load(open(sys.argv[1] + name)) for name in ("/a.json", "/least.json"))
assert max(a["held_bytes"]) == p["totals"]["arena_lower_bound_bytes"]
svg = xml.dom.minidom.parse(sys.argv[1] + "/a.svg")
own = [b for b in p["buffers"] if b["memory"] == "arena" and b["alias_of"] is None]
scratch = [s for s in p["steps"] if s["scratch_bytes"]]
assert len(svg.getElementsByTagName("rect")) == len(own) + len(scratch)
PY
}

# What is reported is what is there: weights as the object has them, arena as the header says, and no other memory in the
# process than these, input, output, and the pages of the program, its stack and what --bench notes down.
alloc_bytes_real() {
    net=$work/net
    cc=$(sed -n 's/^program_cc = //p' build.ninja)
    flags=$(sed -n 's/^program_flags = //p' build.ninja)
    runtime=$(sed -n 's/^program_runtime = //p' build.ninja)
    out/ingot zoo mobilenet_v2 -o "$net.onnx" && out/ingot graph "$net.onnx" -o "$net.json" &&
        out/ingot plan "$net.json" --threads 1 --objective memory -o "$net.plan.json" &&
        out/ingot gen "$net.json" "$net.plan.json" --prefix net -o "$work" || return 1
    for unit in plan.c main.c weights.S; do
        $cc -std=c11 -O2 -I"$SRCDIR" -I"$work" -c "${net}_$unit" -o "${net}_${unit%.*}.o" || return 1
    done
    # shellcheck disable=SC2086
    $cc $flags -Wl,-Map="$work/map" "${net}_main.o" "${net}_plan.o" "${net}_weights.o" $runtime \
        out/host/libingot_kernels.a -lm -lpthread -o "$work/program" &&
        "$work/program" --threads 1 --bench=0.2 --json >"$work/bench.json" && "$work/program" --info --json >"$work/info.json" &&
        size "$work/program" >"$work/size" && "$python" - "$work" <<'PY'
import json, re, sys
at = sys.argv[1]
plan, bench, info = (json.load(open(f"{at}/{name}.json")) for name in ("net.plan", "bench", "info"))
arena, weights = plan["totals"]["arena_bytes"], plan["totals"]["weights_bytes"]
assert info["weights_bytes"] == weights and 0 <= info["arena_bytes"] - arena < 64, info
assert re.search(r"NET_ARENA_BYTES.*\b%d\b" % info["arena_bytes"], open(f"{at}/net.h").read())
linked = [int(n, 16) for n in re.findall(r"0x[0-9a-f]+ +(0x[0-9a-f]+) \S*net_weights\.o", open(f"{at}/map").read())]
assert max(linked) == weights, (linked, weights)
text, data, bss = (int(n) for n in open(f"{at}/size").read().split("\n")[1].split()[:3])
regions = [info["arena_bytes"] + 4 * (3 * 224 * 224 + 1000), weights, text - weights, data + bss, 64 << 10]
resident = bench["peak_rss_kib"] * 1024
print("resident", resident, "of", regions)
assert regions[0] + regions[1] <= resident <= sum(regions) + 4096 * len(regions)
PY
}

# By parts, in rings and in place: a program's outputs are those of the network's program layer by layer, bit for bit.
# Reference kernels are the same in both.
parts_program() { # network
    out/ingot zoo "$1" -o "$net.onnx" && out/ingot graph "$net.onnx" -o "$net.json" &&
        out/ingot plan "$net.json" --isa ref --threads 1 --bands off -o "$work/whole.plan.json" && program whole "$work/whole.plan.json" &&
        out/ingot plan "$net.json" --isa ref --threads 1 --objective memory -o "$work/parts.plan.json" &&
        program parts "$work/parts.plan.json" && "$python" - "$work" <<'PY' || return 1
import array, json, random, sys
whole, parts = (json.load(open(f"{sys.argv[1]}/{name}.plan.json")) for name in ("whole", "parts"))
kernels = [sorted((s["node"], str(s["kernel"])) for s in p["steps"]) for p in (whole, parts)]
assert kernels[0] == kernels[1] and not whole["bands"] and len(parts["bands"]) > 2, len(parts["bands"])
assert parts["totals"]["arena_bytes"] < 0.7 * whole["totals"]["arena_bytes"], (whole["totals"], parts["totals"])
random.seed(5)
open(sys.argv[1] + "/frame", "wb").write(array.array("f", [random.uniform(-1, 1) for _ in range(3 * 224 * 224)]).tobytes())
PY
    for which in whole parts; do
        "$work/$which" "$work/frame" -o "$work/$which.npy" || return 1
    done
    cmp "$work/whole.npy" "$work/parts.npy" && "$python" - "$work/whole.npy" <<'PY'
import array, math, sys
data = open(sys.argv[1], "rb").read()
values = array.array("f", data[-4000:])
assert all(math.isfinite(v) for v in values) and len(set(values)) > 100, "outputs that tell nothing"
PY
}

check "least memory, and the front to least time" front
check "arena and weights are what is reported: alloc_bytes_real" alloc_bytes_real
check "a budget is kept, or refused in numbers" budget
for name in mobilenet_v1_025 squeezenet1.1 mobilenet_v2; do
    check "programs of $name by parts and layer by layer: the same bytes" parts_program $name
done
check "the genetic algorithm repeats itself" genetic
check "the arena as table, JSON and picture" picture
finish
