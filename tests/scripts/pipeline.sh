# Stages for several processors, as a user asks for them.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
net=$work/net.graph.json

pipeline() { # options...
    out/ingot pipeline "$@" "$net"
}

network() {
    out/ingot zoo googlenet -o "$work/googlenet.onnx" && out/ingot graph "$work/googlenet.onnx" -o "$net"
}

order() { # the optimum is never worse, in every way to cut, and all are within the bound
    pipeline --json --algorithm map -o "$work/a.json" && pipeline --json --contention 1.02,1.3 -o "$work/b.json" &&
        pipeline --json --processors=cpu:0,cpu:1-2,cpu:3 -o "$work/c.json" && "$PYTHON" - "$work" <<'PY'
import json, sys
for name in "abc":
    r = json.load(open(f"{sys.argv[1]}/{name}.json"))
    t = {a["algorithm"]: a["period_ns"] for a in r["algorithms"]}
    ways = [w for w in ("map", "shared", "stages", "cuts", "single") if w in t]
    for better, worse in zip(ways, ways[1:]):
        assert t[better] <= t[worse], (name, t)
    for baseline in "algorithm1", "neuropipe", "neuropipe-printed":
        assert baseline not in t or t["map"] <= t[baseline] and r["bound_ns"] <= t["map"], (name, t)
    assert {s["stage"] for s in r["segments"]} == set(range(max(s["stage"] for s in r["segments"]) + 1))
    if r["chosen"] == "cuts":
        stages = [s["stage"] for s in r["segments"]]
        assert stages == sorted(stages) and r["stages_option"].startswith("cpu:")
PY
}

explained() { # in words, and where one processor is best, too
    pipeline --explain --gantt >"$work/two" && grep -q "2 stages take" "$work/two" && grep -q "No plan at all takes less" "$work/two" &&
        grep -q "^  stage 1  cpu:1" "$work/two" && pipeline --explain --link 100000,0 >"$work/one" &&
        grep -q "One processor is best here: a second stage could gain at most" "$work/one"
}

pinned() { # a pin is kept; a node that does not exist, and a pin that leaves no cut, are named
    last=$("$PYTHON" -c "import json, sys; print(json.load(open(sys.argv[1]))['segments'][-1]['first'])" "$work/b.json") &&
        pipeline --json --pin "$last=cpu:0" -o "$work/p.json" && "$PYTHON" - "$work/p.json" <<'PY' &&
import json, sys
assert json.load(open(sys.argv[1]))["segments"][-1]["processor"] == "cpu:0"
PY
        ! pipeline --pin nobody=cpu:0 2>"$work/err" && grep -q "there is no node 'nobody'" "$work/err" &&
        ! pipeline --pin "$last=gpu:0" 2>"$work/err" && grep -q "'gpu:0' is none of the processors" "$work/err"
}

board() { # a made-up one with powers: power-save keeps the rate, boost the energy; without powers that is said
    "$PYTHON" - "$SRCDIR/platforms/tx2.json" "$work/board.json" <<'PY' &&
import json, sys
board = json.load(open(sys.argv[1]))
for p in board["processors"]:
    p["operating_points"] = [{"hz": int(p["hz"] * x), "active_w": round(1.5 + 6 * x**3, 3), "idle_w": 0.5}
                             for x in (1, .8, .6, .4)]
json.dump(board, open(sys.argv[2], "w"))
PY
        pipeline --platform "$work/board.json" --modes --link 20,10 >"$work/modes" 2>"$work/err" && "$PYTHON" - "$work/modes" <<'PY' &&
import sys
modes = {}
for line in open(sys.argv[1]):
    words = line.split()
    if words and words[0] in ("baseline", "basic", "power-save", "boost"):
        modes[words[0]] = float(words[1]), float(words[3])
assert modes["power-save"][0] <= modes["baseline"][0] and modes["power-save"][1] < modes["baseline"][1], modes
assert modes["boost"][1] <= modes["baseline"][1] and modes["boost"][0] < modes["baseline"][0], modes
assert modes["basic"][0] <= modes["boost"][0], modes
PY
        for name in tx2 xavier; do # nobody has published theirs
            ! pipeline --platform $name --modes 2>"$work/err" >"$work/modes" || return 1
            grep -q "has no idle power in the board's file: none is published" "$work/err" || return 1
        done
}

asked_of_plan() { # the same by the other verb
    pipeline --processors=cpu:0,cpu:1 --algorithm=neuropipe --explain -o "$work/one" &&
        out/ingot plan --processors=cpu:0,cpu:1 --algorithm=neuropipe --explain "$net" -o "$work/other" && cmp "$work/one" "$work/other"
}

one_mode() { # only that one and the baseline
    pipeline --platform "$work/board.json" --power-save -o "$work/save" && [ "$(grep -c ' mJ .* energy;' "$work/save")" = 2 ] &&
        grep -q '^  baseline ' "$work/save" && grep -q '^  power-save ' "$work/save" &&
        pipeline --platform "$work/board.json" --boost -o "$work/boost" && [ "$(grep -c ' mJ .* energy;' "$work/boost")" = 2 ] &&
        grep -q '^  boost ' "$work/boost" && ! pipeline --boost 2>"$work/err" && grep -q 'only with --platform' "$work/err"
}

# For another end than the most frames: no cut that another way finds is better, limits are kept, the option is one of a plan.
objectives() {
    for objective in throughput latency memory; do pipeline --json --objective $objective -o "$work/$objective" || return 1; done
    pipeline --json -o "$work/plain" && "$PYTHON" - "$work" >"$work/limits" <<'PY' || return 1
import json, sys
def read(name):
    r = json.load(open(f"{sys.argv[1]}/{name}"))
    return r, {a["algorithm"]: a for a in r["algorithms"]}
_, ways = read("plain")
for name, cost in ("throughput", "period_ns"), ("latency", "latency_ns"), ("memory", "memory_bytes"):
    r, t = read(name)
    assert r["chosen"] == "objective" and r["plans_kept"] == r["plans_looked_at"] > 1000, (name, r["plans_kept"])
    assert all(t["objective"][cost] <= t[way][cost] for way in ("single", "cuts")), (name, t)
    assert set(t) - {"objective"} == set(ways)
single, cuts, least = ways["single"], ways["cuts"], read("memory")[1]["objective"]
assert cuts["period_ns"] < single["period_ns"] * 0.7 and least["memory_bytes"] < cuts["memory_bytes"]
print(2e9 / (cuts["period_ns"] + single["period_ns"]), (cuts["memory_bytes"] + least["memory_bytes"]) // 2)
PY
    read -r fps bytes <"$work/limits" &&
        pipeline --json --objective memory --min-fps "$fps" -o "$work/fast" && pipeline --json --memory-budget "$bytes" -o "$work/small" &&
        "$PYTHON" - "$work" "$fps" "$bytes" <<'PY' || return 1
import json, sys
fast, small = (json.load(open(f"{sys.argv[1]}/{name}")) for name in ("fast", "small"))
plan = lambda r: next(a for a in r["algorithms"] if a["algorithm"] == "objective")
assert plan(fast)["period_ns"] <= 1e9 / float(sys.argv[2]) and len(plan(fast)["stages"]) > 1
assert plan(small)["memory_bytes"] <= int(sys.argv[3]) and 0 < small["plans_kept"] < small["plans_looked_at"]
open(sys.argv[1] + "/option", "w").write(fast["stages_option"])
PY
    out/ingot plan "$net" --threads 1 --bands off --stages "$(cat "$work/option")" -o "$work/fast.plan.json" &&
        pipeline --objective latency --min-fps "$fps" >"$work/words" && grep -q '^least latency of [0-9]* plans .* keep the limits: a result every ' "$work/words" &&
        grep -q '^any map.* that was found: ' "$work/words" && grep -q '^\* by the objective' "$work/words" && grep -q '^  ingot plan --stages=cpu:' "$work/words"
}

# Stages that promise less than --least-gain are not taken: just above what they promise, and just below.
least_gain() {
    pipeline --json --processors=cpu:0,gpu --least-gain 0 -o "$work/any.json" && gain=$("$PYTHON" -c "
import json, sys
ns = {a['algorithm']: a['period_ns'] for a in json.load(open(sys.argv[1]))['algorithms']}
print(100 * (ns['single'] / ns['cuts'] - 1))" "$work/any.json") && echo "$gain" || return 1
    for by in 0.999 1.001; do
        pipeline --json --processors=cpu:0,gpu --least-gain "$(awk "BEGIN { print $by * $gain }")" -o "$work/$by.json" || return 1
    done
    pipeline --json --processors=cpu:0,gpu --algorithm cuts -o "$work/asked.json" && pipeline --json --processors=cpu:0,gpu -o "$work/usual.json" &&
        pipeline --json --processors=cpu:0,cpu:1 -o "$work/cores.json" &&
        pipeline --processors=cpu:0,gpu --least-gain 1000 --explain >"$work/words" && "$PYTHON" - "$work" "$gain" <<'PY' || return 1
import json, sys
read, gain = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json")), float(sys.argv[2])
assert gain > 0.1, gain
below, above, usual, asked, any_, cores = (read(n) for n in ("0.999", "1.001", "usual", "asked", "any", "cores"))
assert below["chosen"] == any_["chosen"] == asked["chosen"] == cores["chosen"] == "cuts"
assert below["stages_option"] == any_["stages_option"] == asked["stages_option"] != ""
assert above["chosen"] == "single" and above["stages_option"] == "" and len({s["processor"] for s in above["segments"]}) == 1
assert usual["chosen"] == ("cuts" if gain >= 10 else "single"), usual["chosen"]
PY
    grep -q 'alone is taken: stages promise [0-9.]* % more frames' "$work/words" && ! grep -q 'ingot plan --stages' "$work/words"
}

# The GPU is a processor, with copies of all that it reads and leaves; its cut is one that a plan takes, and takes as long there.
gpu() {
    first=$("$PYTHON" -c "import json, sys; print(json.load(open(sys.argv[1]))['segments'][0]['first'])" "$work/b.json")
    pipeline --isa avx2 --json --processors=cpu:0,gpu --pin "$first=cpu:0" --pin "$last=gpu" -o "$work/gpu.json" &&
        pipeline --isa avx2 --json --processors=cpu:0,gpu --gpu-link 1000000,12 -o "$work/far.json" && "$PYTHON" - "$work" <<'PY' || return 1
import json, sys
near, far = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("gpu", "far"))
stages = [s["processor"] for s in near["segments"]]
assert stages == sorted(stages) and set(stages) == {"cpu:0", "gpu"}, stages
assert {s["processor"] for s in far["segments"]} == {"cpu:0"} and far["stages_option"] == ""
assert all(a["algorithm"] != "team" for a in near["algorithms"])
cut = next(a for a in near["algorithms"] if a["algorithm"] == "cuts")
open(sys.argv[1] + "/option", "w").write(near["stages_option"])
open(sys.argv[1] + "/ns", "w").write(" ".join(map(str, cut["stage_ns"])))
PY
    out/ingot plan "$net" --isa avx2 --threads 1 --bands off --stages "$(cat "$work/option")" -o "$work/gpu.plan.json" && "$PYTHON" - "$work" <<'PY' || return 1
import json, sys
said = [int(n) for n in open(sys.argv[1] + "/ns").read().split()]
plan = [s["predicted_ns"] for s in json.load(open(sys.argv[1] + "/gpu.plan.json"))["stages"]]
print(said, plan)
assert len(said) == len(plan) == 2
assert abs(said[0] - plan[0] - 2000) < 10 and abs(said[1] - plan[1]) < 10 # --link: who reads the frame pays
PY
    ! pipeline --processors=gpu,gpu 2>"$work/err" && grep -q 'the GPU is one' "$work/err" &&
        ! pipeline --processors=gpu,cpu:0 --link measured 2>"$work/err" && grep -q 'measured is of cores' "$work/err" &&
        ! pipeline --processors=gpu:0,cpu:0 2>"$work/err" && grep -q "'gpu:0' is no set of cores .* nor gpu" "$work/err"
}

measured_links() { # a line for each direction, and the least of what they say counts; or why no line fits, on a busy machine
    a=$("$PYTHON" -c 'import os; print(min(os.sched_getaffinity(0)))') b=$("$PYTHON" -c 'import os; print(max(os.sched_getaffinity(0)))')
    if pipeline "--processors=cpu:$a,cpu:$b" --link=measured -o "$work/out" 2>"$work/err"; then
        [ "$(grep -c '^cpu:[0-9]* to cpu:[0-9]*: .* us + .* ns a byte, from [0-9]* KiB on .* % off, .*: handing over takes .* us' "$work/err")" = 2 ] &&
            grep -q '^\* cuts of this order' "$work/out" || return 1
    else
        grep -q 'link=measured: cpu:.* to cpu:.*: .*; measure again' "$work/err" || return 1
    fi
    ! pipeline --platform tx2 --link=measured 2>"$work/err" && grep -q "link=measured is of this machine's cores" "$work/err" &&
        { [ "$b" -ge 63 ] || { ! pipeline --processors=cpu:0,cpu:63 --link=measured 2>"$work/err" && grep -q 'may not use these cores' "$work/err"; }; }
}

objectives_of_a_board() { # least energy at a rate, by its powers: never more with more time, nor than stages that are faster
    "$PYTHON" - "$work/board.json" "$work/powers.json" <<'PY' || return 1
import json, sys
board = json.load(open(sys.argv[1]))
for p, watts in zip(board["processors"], ((15, 1), (3, 1))):
    p.update(active_w=watts[0], idle_w=watts[1])
json.dump(board, open(sys.argv[2], "w"))
PY
    on_board() { pipeline --platform "$work/powers.json" --link 20,10 "$@"; }
    on_board --json -o "$work/any" && on_board --objective energy --json -o "$work/least" &&
        for fps in 1 20 25; do on_board --objective energy --min-fps $fps --json -o "$work/at$fps" || return 1; done
    "$PYTHON" - "$work" <<'PY' || return 1
import json, sys
def read(name):
    return {a["algorithm"]: a for a in json.load(open(f"{sys.argv[1]}/{name}"))["algorithms"]}
ways, least = read("any"), read("least")["objective"]
assert 0 < least["energy_pj"] <= min(a["energy_pj"] for w, a in ways.items() if w in ("single", "cuts")), (least, ways)
for fps in 1, 20, 25: # 2 W for as long as a frame has, what processors draw beyond that while they work
    at = read(f"at{fps}")["objective"]
    assert at["period_ns"] <= 1e9 / fps, at
    busy = {on: sum(t for t, k in zip(at["stage_ns"], at["stages"]) if k == on) for on in ("accelerator", "CPU")}
    pj = 2000 * int(1e9 / fps) + 14000 * busy["accelerator"] + 2000 * busy["CPU"]
    assert abs(at["energy_pj"] / pj - 1) < 1e-9, (fps, at, pj)
PY
    on_board --objective energy --min-fps 1 >"$work/words" && grep -q '^least energy a frame .* mJ a frame at 1 frames/s$' "$work/words" &&
        grep -q '^any map' "$work/words" &&
        ! pipeline --objective energy 2>"$work/err" && grep -q 'objective=energy needs active_w and idle_w of every processor' "$work/err" &&
        ! pipeline --platform tx2 --max-mj 5 2>"$work/err" && grep -q 'max-mj needs active_w and idle_w' "$work/err"
}

limits_that_no_plan_keeps() { # which, by how much, what is nearest; nothing is written
    for row in '--min-fps 1e6|min-fps 1e+06 missed by 99[0-9]*' '--max-latency-ms 0.001|max-latency-ms 0.001 exceeded by [0-9]' \
        '--memory-budget 1000|memory-budget 1000 exceeded by [0-9]* bytes' '--min-fps 1e6 --memory-budget 1000|min-fps .*, --memory-budget'; do
        # shellcheck disable=SC2086
        ! pipeline ${row%|*} -o "$work/no" 2>"$work/err" && [ ! -e "$work/no" ] && [ "$(wc -l <"$work/err")" = 1 ] &&
            grep -q -- "${row#*|}.* by the nearest of [0-9]* plans: cpu:0.*; a result every .* ms, latency .* bytes" "$work/err" || return 1
    done
    ! pipeline --objective speed 2>"$work/err" && grep -q 'objective=speed' "$work/err" &&
        ! pipeline --objective memory --algorithm map 2>"$work/err" && grep -q 'one of them' "$work/err"
}

modes_go_where_the_table_goes() {
    pipeline --platform "$work/board.json" --modes -o "$work/file" >"$work/stdout" && [ ! -s "$work/stdout" ] &&
        grep -q '^  power-save ' "$work/file" && grep -q '^  lower bound ' "$work/file" &&
        ! pipeline --platform "$work/board.json" --modes --json >"$work/stdout" 2>"$work/err" && [ ! -s "$work/stdout" ] &&
        grep -q "modes.*not with --json" "$work/err"
}

names_of_processors() { # of a board's file, which JSON escapes
    sed 's/"type":"accelerator"/"type":"a \\"fast\\" one"/' "$SRCDIR/platforms/neuraghe.json" >"$work/quoted.json" &&
        pipeline --platform "$work/quoted.json" --json -o "$work/quoted" && "$PYTHON" - "$work/quoted" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
assert 'a "fast" one' in {on for a in r["algorithms"] for on in a["stages"]} | {s["processor"] for s in r["segments"]}, r
PY
}

no_times() { # a profile of zeros, as a file may have
    out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$work/small.json" &&
        out/ingot profile "$work/small.json" --threads 1 --seconds 0.1 -o "$work/times.json" && "$PYTHON" - "$work" <<'PY' &&
import json, sys
profile = json.load(open(f"{sys.argv[1]}/times.json"))
for t in profile["timings"]:
    t["alone_ns"] = t["in_order_ns"] = 0
profile["bands"] = []
json.dump(profile, open(f"{sys.argv[1]}/zeros.json", "w"))
PY
        out/ingot pipeline "$work/small.json" --profile "$work/zeros.json" --explain --gantt --pareto >"$work/out"
}

again() { # the same bytes
    pipeline --json -o "$work/x" && pipeline --json -o "$work/y" && cmp "$work/x" "$work/y"
}

trials() { # whole plans in turns: the fastest one's plan, which predicts what it took; no cut twice, and one alone where both beside it promise to be slower
    out/ingot profile "$net" -q --seconds 0.3 --threads 1 -o "$work/one.json" &&
        out/ingot profile "$net" -q --seconds 0.3 --threads 2 -o "$work/team.json" &&
        out/ingot trial "$net" --stages=cpu:0,cpu:1 --seconds 0.3 --profile "$work/one.json" --profile "$work/team.json" --json \
            --table "$work/table" -o "$work/tried.json" >"$work/trial.json" && grep -q '^\* ' "$work/table" &&
        out/ingot plan --summary "$net" "$work/tried.json" >"$work/words" && "$PYTHON" - "$work" <<'PY'
import json, sys
r, plan = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("trial", "tried"))
ways = [t["way"] for t in r["trials"]]
assert ways[:3] == ["single", "team", "pipeline"], ways
best = min(r["trials"], key=lambda t: t["period_ms"])
assert r["trials"][r["chosen"]] == best and all(t["period_ms"] > 0 and t["rounds"] > 0 and t["spread_percent"] >= 0 for t in r["trials"])
assert any(t["spread_percent"] > 0 for t in r["trials"])
# A line says so where two standard errors are more than what tells the two fastest apart; of both only what is printed is known.
first, second = sorted(r["trials"], key=lambda t: t["period_ms"])[:2]
errors = [sum((max(t["spread_percent"] + off, 0) / 100) ** 2 / t["rounds"] for t in (first, second)) ** 0.5 for off in (-0.06, 0.06)]
apart, said = second["period_ms"] / first["period_ms"] - 1, "either may be the better one" in open(sys.argv[1] + "/table").read()
assert apart <= 2.001 * errors[1] if said else apart >= 1.999 * errors[0], (said, apart, errors)
cuts = [t["stages"] for t in r["trials"] if t["way"] == "pipeline"]
assert len(cuts) == len(set(cuts)) and all(c.startswith("cpu:0/") and c.endswith(",cpu:1") for c in cuts), cuts
said = plan["totals"].get("period_ms", plan["totals"]["latency_ms"])
assert abs(said / best["period_ms"] - 1) < 1e-3 and bool(plan.get("stages")) == (best["way"] == "pipeline"), (said, best)
PY
}

# Layers are in parts for stages alone: the team is of the graph as it is, and so is the program if the team is taken.
team_of_its_own() {
    out/ingot zoo mlp -o "$work/mlp.onnx" && out/ingot graph "$work/mlp.onnx" -o "$work/whole.json" &&
        out/ingot graph "$work/mlp.onnx" --split auto -o "$work/parts.json" &&
        out/ingot profile "$work/parts.json" -q --seconds 0.3 --threads 1 -o "$work/one.json" &&
        out/ingot profile "$work/whole.json" -q --seconds 0.3 --threads 2 -o "$work/team.json" &&
        out/ingot trial "$work/parts.json" --stages=cpu:0,cpu:1 --seconds 0.3 --profile "$work/one.json" --team-graph "$work/whole.json" \
            --team-profile "$work/team.json" --json -q --graph "$work/graph.json" -o "$work/tried.json" >"$work/trial.json" || return 1
    # Either may win; the graph that is written is the plan's.
    way=$("$PYTHON" - "$work" <<'PY'
import hashlib, json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
r, plan = read("trial"), read("tried")
of = {name: hashlib.sha256(open(f"{sys.argv[1]}/{name}.json", "rb").read()).hexdigest() for name in ("whole", "parts", "graph")}
way = r["trials"][r["chosen"]]["way"]
assert of["whole"] != of["parts"] and plan["graph_sha256"] == of["graph"] == of["whole" if way == "team" else "parts"], way
print("whole" if way == "team" else "parts")
PY
) && echo "$way" && cmp "$work/graph.bin" "$work/$way.bin" && out/ingot gen "$work/graph.json" "$work/tried.json" --prefix net -o "$work/gen" || return 1
    ! out/ingot trial "$work/parts.json" --stages=cpu:0,cpu:1 --graph "$work/no.json" -o "$work/no.plan" 2>"$work/err" && grep -q 'for --team-graph' "$work/err" &&
        ! out/ingot trial "$work/parts.json" --stages=cpu:0,cpu:1 --team-graph "$work/whole.json" -o "$work/no.json" 2>"$work/err" &&
        grep -q 'given both or neither' "$work/err" &&
        ! out/ingot trial "$work/parts.json" --stages=cpu:0,cpu:1 --team-graph "$work/parts.json" --team-profile "$work/one.json" -o "$work/no.json" 2>"$work/err" &&
        grep -q 'taken with 1 thread, the team has 2' "$work/err" &&
        ! out/ingot trial "$work/parts.json" --stages=cpu:0,cpu:1 --team-graph "$work/parts.json" --team-profile "$work/team.json" -o "$work/no.json" 2>"$work/err" &&
        [ "$(wc -l <"$work/err")" = 1 ] && [ ! -e "$work/no.json" ]
}

not_tried() {
    for row in "cpu:0@3,cpu:1|sets of cores only" "gpu,cpu:0|a trial is of CPUs" "cpu:0,cpu:0|a core is in one set only" "cpu:0,cpu:1-2|sets of as many cores each"; do
        ! out/ingot trial --stages="${row%|*}" "$net" -o "$work/no.json" 2>"$work/err" && grep -q "${row#*|}" "$work/err" &&
            [ ! -e "$work/no.json" ] || return 1
    done
}

one_layer() { # a Relu: of the cores as many sets as there are steps
    "$PYTHON" - "$work/relu.onnx" <<'PY' &&
import sys
model = "08083a3d0a0c0a0178120179220452656c751201675a140a0178120f0a0d080112090a0208010a0308802062140a0179120f0a0d080112090a0208010a0308802042040a001011"
open(sys.argv[1], "wb").write(bytes.fromhex(model))
PY
        out/ingot trial "$work/relu.onnx" --seconds 0.1 -q -o "$work/relu.json" && [ -s "$work/relu.json" ]
}

configured() { # --stages=auto: both profiles, and a trial in place of a plan; not where something says otherwise
    mkdir "$work/build" && (cd "$work/build" && NINJA=true "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --prefix=boots \
        --without-aarch64 --stages=auto:cpu:0,cpu:1) >"$work/log" 2>&1
    grep -q "^build out/host/boots.d/team.json: profile" "$work/build/build.ninja" &&
        grep -A 1 "^build out/host/boots.d/parts.json" "$work/build/build.ninja" | grep -q -- "--split auto" &&
        grep -q "args = --isa [a-z0-9]* --threads 1 --stages cpu:0,cpu:1\$" "$work/build/build.ninja" &&
        grep -q "args = --isa [a-z0-9]* --threads 2\$" "$work/build/build.ninja" &&
        grep -A 1 "^build out/host/boots.d/whole.json" "$work/build/build.ninja" | grep -q "args = \$" &&
        grep -q "^build out/host/boots.d/team.json: profile out/host/boots.d/whole.json" "$work/build/build.ninja" &&
        grep -q "args = .* --team-graph out/host/boots.d/whole.json --team-profile out/host/boots.d/team.json .* --graph out/host/boots.d/graph.json" "$work/build/build.ninja" &&
        grep -q "^build out/host/boots.d/plan.json | out/host/boots.d/graph.json: trial .*/parts.json .*/whole.json .*/team.json .*/profile.json" "$work/build/build.ninja" &&
        for wrong in --alternatives=2 --threads=2 --memory-budget=1MB --target=tx2 --no-profile; do
            ! (cd "$work/build" && NINJA=true "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --stages=auto:cpu:0,cpu:1 $wrong) \
                >"$work/log" 2>&1 && grep -q "stages=auto" "$work/log" || return 1
        done
}

refused() {
    ! pipeline --processors=cpu:x 2>"$work/err" && grep -q "is no set of cores" "$work/err" &&
        ! pipeline --processors=cpu:0-2147483647 2>"$work/err" && grep -q "is no set of cores below 64" "$work/err" &&
        ! pipeline --processors=cpu:0-1,cpu:1 2>"$work/err" && grep -q "a core of 'cpu:1' is in another set" "$work/err" &&
        ! pipeline --link=nan,0 2>"$work/err" && grep -q "link=nan,0: two numbers" "$work/err" &&
        ! pipeline --algorithm=greedy 2>"$work/err" && grep -q "algorithm=greedy" "$work/err"
}

check "a network" network
check "the optimum is never worse than a baseline" order
check "plans are explained" explained
check "pins are kept" pinned
check "the GPU beside a core" gpu
check "stages that promise little" least_gain
check "clocks and cuts of a board" board
check "clocks and cuts go where the table goes" modes_go_where_the_table_goes
check "ingot plan --processors is ingot pipeline" asked_of_plan
check "one of the modes" one_mode
check "cuts for latency, memory and throughput, within limits" objectives
check "cuts for energy by a board's powers" objectives_of_a_board
check "limits that no cut keeps" limits_that_no_plan_keeps
check "names of a board's processors" names_of_processors
check "a profile without times" no_times
check "the same input, the same bytes" again
check "what cannot be is refused" refused
check "a trial of one layer" one_layer
if [ "$(nproc)" -lt 2 ]; then
    skip "trials of whole plans" "one core"
    skip "links between cores are measured" "one core"
else
    check "trials of whole plans" trials
    check "a team of the graph without parts" team_of_its_own
    check "links between cores are measured" measured_links
fi
check "sets of cores that cannot be tried are refused" not_tried
check "./configure --stages=auto tries" configured
finish
