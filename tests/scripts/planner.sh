# The planner at the command line: boards without a profile, limits that cannot be kept, budgets that headers assert, and
# the same plan from the same input.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
model=$SRCDIR/models/fashion.onnx

plan() { # options...
    out/ingot plan "$model" --threads 1 "$@"
}

refused() { # words, command...: it fails, says the words in one line and prints nothing else
    words=$1
    shift
    ! "$@" >"$work/out" 2>"$work/err" && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -s "$work/out" ] &&
        grep -q -- "$words" "$work/err" && return 0
    cat "$work/out" "$work/err"
    return 1
}

# ResNet-50's first layer on NEURAghe: 19 tiles of 6 rows, the last of 4, 6.075822 ms, bound by compute.
nest() {
    out/ingot zoo resnet50 -o "$work/resnet50.onnx" &&
        out/ingot plan --estimate --platform neuraghe --explain-layer conv1 "$work/resnet50.onnx" >"$work/nest" &&
        grep -q '^/conv1/Conv on FPGA engine' "$work/nest" && [ "$(grep -c ' on FPGA engine' "$work/nest")" = 1 ] &&
        grep -q '^for row_tile in range(19): # fh in steps of 6, the last 4' "$work/nest" &&
        grep -q 'with rounding 774466560 ' "$work/nest" && grep -q 'X .* moved 1314918 B' "$work/nest" &&
        grep -q 'Y .* moved 1756160 B' "$work/nest" && grep -q 'W .* moved 1197000 B' "$work/nest" &&
        grep -q '^estimate *6.075822 ms' "$work/nest"
}

names() { # of layers and boards that are not there
    refused "no layer is called 'conv9'.* /conv1/Conv" \
        out/ingot plan --platform tx2 --explain-layer conv9 "$work/resnet50.onnx" &&
        refused "no board is called 'tx3'; there are: neuraghe tx2 xavier xeon zen4 host" plan --estimate --platform tx3
}

board() { # what is wrong in it: the file, the place, what may stand there
    for row in 's/"bytes":73728/"bytes":-1/|memories\[0\]: .bytes. is out of range: -1; an integer from 1' \
        's/"lanes":10/"lanes":"ten"/|processors\[0\]: parallelism\[1\]: .lanes. must be an integer from 1 to' \
        's/"limit":"FH"/"limit":"H"/|processors\[0\]: X: .H. is no loop; there are: OF IF FH FW KH KW' \
        's/"idle_w"/"idle"/|processors\[0\]: unknown field .idle.; there are: .* idle_w ' \
        's/"hz":180000000,//|processors\[0\]: .hz. must be an integer from 1; it is missing' \
        's/"id":3,/"id":3/|line 4: '; do
        sed "${row%%|*}" "$SRCDIR/platforms/neuraghe.json" >"$work/board.json"
        refused "board.json: ${row#*|}" plan --estimate --platform "$work/board.json" || return 1
    done
}

elsewhere() { # boards and this machine are found from any directory
    root=$PWD
    cp "$model" "$work/net.onnx" && (cd "$work" && "$root/out/ingot" plan --estimate --platform tx2 net.onnx >tx2 2>&1 &&
        grep -q 'on tx2, one layer after another' tx2 && "$root/out/ingot" plan --estimate net.onnx >host 2>&1 &&
        grep -q 'on host, one layer after another' host && ! "$root/out/ingot" plan --platform tx3 net.onnx 2>err &&
        grep -q 'there are: neuraghe tx2' err)
}

limits() { # which one, by how much, what is nearest; no plan is left behind
    refused 'memory budget of 100000 bytes exceeded by [0-9]*: the least is [0-9]*, arena [0-9]* and weights [0-9]*, at' \
        plan --memory-budget 100KB -o "$work/no.json" &&
        refused 'latency limit of 0.0001 ms exceeded by .* ms: the fastest plan takes .* ms with [0-9]* bytes' \
            plan --max-latency-ms 0.0001 -o "$work/no.json" &&
        refused 'rate of 1e+08 frames/s missed by .*: the fastest plan takes .* ms with [0-9]* bytes' \
            plan --min-fps 1e8 -o "$work/no.json" &&
        refused '8XB' plan --memory-budget 8XB -o "$work/no.json" &&
        refused '0.5B' plan --memory-budget 0.5B -o "$work/no.json" && [ ! -e "$work/no.json" ]
}

# The rate of stages is that of the pipeline, whatever one processor alone would do.
limits_of_stages() {
    plan --stages=cpu:0,cpu:1 -o "$work/staged.json" && fps=$("$PYTHON" - "$work/staged.json" <<'PY'
import json, sys
totals = json.load(open(sys.argv[1]))["totals"]
assert totals["period_ms"] < 0.9 * totals["latency_ms"], totals
print(2000 / (totals["period_ms"] + totals["latency_ms"]))
PY
    ) && plan --stages=cpu:0,cpu:1 --min-fps "$fps" -o "$work/limited.json" && cmp "$work/staged.json" "$work/limited.json" &&
        refused 'rate of 1e+08 frames/s missed by .*: predicted' plan --stages=cpu:0,cpu:1 --min-fps 1e8 -o "$work/no.json" &&
        refused 'latency limit of 0.0001 ms exceeded by' plan --stages=cpu:0,cpu:1 --max-latency-ms 1e-4 -o "$work/no.json" &&
        refused 'nsga2 is for plans without --stages' plan --stages=cpu:0,cpu:1 --algorithm nsga2 -o "$work/no.json" &&
        [ ! -e "$work/no.json" ]
}

# The nearest plan that a message names is one, with and without the front beside it.
nearest() {
    for stages in cpu:0,cpu:1 cpu:0,cpu:1,cpu:2; do
        least=$(plan --stages=$stages --memory-budget 100KB -o "$work/no.json" 2>&1 | sed "s/.*the least is \([0-9]*\).*/\1/") &&
            plan --stages=$stages --memory-budget "$least" -o "$work/least.json" || return 1
    done
    least=$(plan --memory-budget 100KB -o "$work/no.json" 2>&1 | sed 's/.*the least is \([0-9]*\).*/\1/')
    plan --memory-budget "$least" --pareto "$work/front.json" -o "$work/least.json" && "$PYTHON" - "$work" "$least" <<'PY'
import json, sys
plan, front = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("least", "front"))
assert front["points"][0]["bytes"] == int(sys.argv[2])
assert plan["totals"]["arena_bytes"] + plan["totals"]["weights_bytes"] <= int(sys.argv[2])
PY
}

front_alone() { # of limits that no plan keeps: the front is written, the line said, and it fails
    refused 'memory budget of 1000 bytes exceeded by' plan --memory-budget 1KB --pareto "$work/alone.json" -o "$work/no.json" &&
        refused 'rate of 1e+08 frames/s missed by' plan --min-fps 1e8 --pareto "$work/fast.json" -o "$work/no.json" &&
        plan --pareto "$work/front.json" -o "$work/plan.json" && [ ! -e "$work/no.json" ] && "$PYTHON" - "$work" <<'PY' &&
import json, sys
alone, fast, front = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("alone", "fast", "front"))
assert alone["chosen"] is None and fast["chosen"] is None and front["chosen"]["bytes"] > 0
assert alone["points"] == fast["points"] == front["points"] and len(front["points"]) > 1
PY
        out/ingot graph "$model" -o "$work/net.graph.json" &&
        out/ingot plan "$work/net.graph.json" --threads 1 -o "$work/net.plan.json" &&
        out/ingot report "$work/net.graph.json" "$work/net.plan.json" --pareto "$work/alone.json" -o "$work/page.html"
}

# The front of a plan with stages is of such plans: it ends in the plan itself, where that is the fastest.
front_of_stages() {
    plan --stages=cpu:0,cpu:1 --pareto "$work/front.json" -o "$work/staged.json" &&
        refused 'rate of 1e+08 frames/s missed by' \
            plan --stages=cpu:0,cpu:1 --min-fps 1e8 --pareto "$work/alone.json" -o "$work/no.json" && "$PYTHON" - "$work" <<'PY'
import json, sys
front, alone = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("front", "alone"))
assert front["points"][-1]["bytes"] == front["chosen"]["bytes"], (front["points"][-1], front["chosen"])
assert alone["points"] == front["points"] and alone["chosen"] is None
PY
}

throughput() { # of one processor: the plan of least latency, and the summary says why
    plan -o "$work/latency.json" && plan --objective throughput -v -o "$work/throughput.json" 2>"$work/words" &&
        cmp "$work/latency.json" "$work/throughput.json" &&
        grep -q '^[0-9.]* frames/s: one processor runs frame after frame, so that this is the plan of least latency$' "$work/words"
}

# The powers of a board decide between threads: little when idle, one; much, all, where kernels are slow enough to be shared by them. Boards
# without are refused.
energy() {
    for board in frugal:0.1 awake:3.9; do
        sed "s/\"active_w\":3.6,\"idle_w\":1.8/\"active_w\":4,\"idle_w\":${board#*:}/; s/\"accelerator\"/\"CPU\"/" \
            "$SRCDIR/platforms/neuraghe.json" >"$work/${board%:*}.json"
        out/ingot plan "$model" --isa avx2 --threads 4 --objective energy --platform "$work/${board%:*}.json" -v \
            -o "$work/${board%:*}.plan.json" 2>"$work/${board%:*}.words" || return 1
    done
    "$PYTHON" - "$work" <<'PY' || return 1
import json, re, sys
for name, idle in (("frugal", 0.1), ("awake", 3.9)):
    plan = json.load(open(f"{sys.argv[1]}/{name}.plan.json"))
    words = open(f"{sys.argv[1]}/{name}.words").read()
    said = re.search(r"^energy: ([0-9.]+) mJ a frame on 'neuraghe' with (\d) threads?; threads and mJ weighed: (.*)$", words, re.M)
    weighed = {int(n): float(mj) for n, mj in (pair.split() for pair in said[3].split(", "))}
    n = plan["threads"]
    mj = plan["totals"]["latency_ms"] * (idle + n * (4 - idle))
    assert int(said[2]) == n and abs(float(said[1]) - mj) < 6e-4, (said[0], mj)
    assert sorted(weighed) == [1, 2, 3, 4] and abs(min(weighed.values()) - mj) < 6e-4 and abs(weighed[n] - mj) < 6e-4
    assert n == (1 if name == "frugal" else 4), (name, n)
    assert abs(plan["totals"]["energy_mj"] - mj) < 1e-6 * mj, (plan["totals"], mj)
PY
    refused "board 'zen4' does not say what its CPU draws; add active_w .* --platform=FILE" \
        plan --objective energy --platform zen4 -o "$work/no.json" &&
        refused "does not say what its CPU draws; add active_w" plan --objective energy -o "$work/no.json" &&
        refused "objective=speed: latency, throughput, energy or memory" plan --objective speed && [ ! -e "$work/no.json" ]
}

energy_of_stages() { # each one's time at its power, all idle for the rest of the period
    plan --stages=cpu:0,cpu:1 --objective energy --platform "$work/frugal.json" -v -o "$work/staged.json" 2>"$work/words" &&
        "$PYTHON" - "$work" <<'PY'
import json, re, sys
plan = json.load(open(f"{sys.argv[1]}/staged.json"))
words = open(f"{sys.argv[1]}/words").read()
said = re.search(r"^energy: ([0-9.]+) mJ a frame on 'neuraghe' with all 2 stages busy$", words, re.M)
mj = plan["totals"]["period_ms"] * 0.1 + sum(s["predicted_ns"] for s in plan["stages"]) * 1e-6 * 3.9
assert abs(float(said[1]) - mj) < 6e-4, (said[0], mj)
assert abs(plan["totals"]["energy_mj"] - mj) < 1e-6 * mj, (plan["totals"], mj)
PY
}

# In the header the budget is an assertion: a larger network does not compile within it.
assertion() {
    out/ingot graph "$model" -o "$work/fashion.graph.json" &&
        out/ingot plan "$work/fashion.graph.json" --threads 1 --memory-budget 900KB -o "$work/b.json" &&
        out/ingot gen "$work/fashion.graph.json" "$work/b.json" --prefix net -o "$work/gen" &&
        grep -q 'MEMORY_BUDGET_BYTES 900000' "$work/gen/net.h" &&
        ${CC:-cc} -std=c11 -fsyntax-only -Wall -Werror "$work/gen/net.h" &&
        sed 's/MEMORY_BUDGET_BYTES 900000/MEMORY_BUDGET_BYTES 600000/' "$work/gen/net.h" >"$work/small.h" &&
        ! ${CC:-cc} -std=c11 -fsyntax-only "$work/small.h" 2>"$work/err" &&
        grep -q 'arena and weights exceed the memory budget' "$work/err"
}

# Solvers stop on node counts: no part of the planner can see a clock, chance or the environment.
clockless() {
    nm out/obj/host/planner/*.o >"$work/symbols" && grep -q ' T ig_pack_offsets' "$work/symbols" &&
        ! grep -E ' U (clock|clock_gettime|time|gettimeofday|times|getrusage|rand|random|drand48|getenv|sysconf|getpid)$' "$work/symbols"
}

again() { # the same input, the same bytes
    for options in "" "--objective memory" "--memory-budget 800KB" "--bands all" "--objective memory --algorithm nsga2 --seed 3"; do
        # shellcheck disable=SC2086
        plan $options --pareto "$work/f1" -o "$work/p1" && plan $options --pareto "$work/f2" -o "$work/p2" &&
            cmp "$work/p1" "$work/p2" && cmp "$work/f1" "$work/f2" || return 1
    done
}

# What the build says of this machine: caches as the system has them, a rate for every set of instructions and every
# number of cores, a bandwidth for memory and every cache, start-up times.
machine() {
    "$PYTHON" - <<'PY'
import glob, json
m = json.load(open("out/platforms/machine.json"))
cpu = m["processors"][0]
caches = {store["id"]: store["bytes"] for store in m["memories"]}
for index in glob.glob("/sys/devices/system/cpu/cpu0/cache/index*"):
    level, kind, size = (open(f"{index}/{name}").read().strip() for name in ("level", "type", "size"))
    if kind != "Instruction" and int(level) <= len(cpu["caches"]):
        assert caches[cpu["caches"][int(level) - 1]] == int(size[:-1]) * {"K": 1024, "M": 1048576}[size[-1]], (level, size)
assert len(m["channels"]) == len(m["memories"]) and all(c["bytes_per_s"] > 0 for c in m["channels"])
teams = len(cpu["team_overhead_ns"])
assert cpu["rates"] and all(len(r["ops_per_s"]) == teams and min(r["ops_per_s"]) > 0 for r in cpu["rates"]), cpu["rates"]
assert cpu["overhead_ns"] >= 0 and max(r["ops_per_s"][0] for r in cpu["rates"]) >= cpu["ops_per_s"] > 0
PY
}

check "a layer's loop nest by the exporter's name for it" nest
check "names that are not there" names
check "what is wrong in a board's file" board
check "boards are found from any directory" elsewhere
check "limits that no plan keeps" limits
check "limits of stages" limits_of_stages
check "the nearest plan is one" nearest
check "limits that no plan keeps leave a front" front_alone
check "the front of a plan with stages" front_of_stages
check "throughput on one processor" throughput
check "energy by the powers of a board" energy
check "energy of stages" energy_of_stages
check "headers assert the budget" assertion
check "the planner sees no clock" clockless
check "the same input, the same plans" again
check "this machine, as the build has described it" machine
finish
