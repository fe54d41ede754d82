# Memory as a user asks for it: budgets, least memory, the front, the picture of an arena.
. "$SRCDIR/tests/scripts/tap.inc"
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

check "least memory, and the front to least time" front
check "a budget is kept, or refused in numbers" budget
check "the genetic algorithm repeats itself" genetic
check "the arena as table, JSON and picture" picture
finish
