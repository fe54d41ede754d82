# One network over several machines: configure and ninja build a program a key, mpirun runs them, and a hundred frames that
# stream through them come out in the bytes of the single program, over shared memory and over TCP.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"
if ! can_deploy; then
    skip "deployments" "no mpicc, mpirun or $PYTHON"
    finish
    exit
fi

net() { # name: its file and the bytes of a frame
    cp "$SRCDIR/models/fashion.onnx" "$work/fashion.onnx"
    [ "$1" = fashion ] || "out/ingot" zoo squeezenet1.1 -o "$work/squeezenet.onnx"
}

whole() { # the keys' weights are the network's, each once, and say so; their times are those of their parts
    "$PYTHON" - "$work/build/out/$net" "$work/build/out/host/alone.d/plan.json" <<'PY'
import json, os, sys
at, plan = sys.argv[1], json.load(open(sys.argv[2]))
d = json.load(open(at + "/deploy.json"))
weights = sum(r["weights_bytes"] for r in d["ranks"])
assert 0 <= plan["totals"]["weights_bytes"] - weights < 1 << 16, (weights, plan["totals"]["weights_bytes"])
assert sorted(n for p in d["parts"] for n in p["nodes"]) == sorted(set(n for p in d["parts"] for n in p["nodes"]))
sender, receiver = (json.load(open(f"{at}/{name}.json")) for name in ("sender", "receiver"))
assert set(sender) == set(receiver) == set(r["key"] for r in d["ranks"])
for r in d["ranks"]:
    took = sum(p["time_ms"] for p in d["parts"] if p["rank"] == r["rank"])
    assert took > 0 and abs(took - r["time_ms"]) < 1e-9 and d["period_ms"] > took - 1e-9, (took, r, d["period_ms"])
    assert os.access(f"{at}/{r['file']}", os.X_OK)
PY
}

nothing_left_to_do() { # ninja again builds nothing
    (cd "$work/build" && ${NINJA:-ninja} -n) | tee "$work/log" | grep -qE 'no work to do|^\[1/1\] calibrate'
}

idle() { # a key whose only layer becomes part of another key's gets no rank, and a line says so
    "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/fashion.onnx" 0 nodeA_cpu0 nodeC_cpu0 >"$work/two.json" &&
        "$PYTHON" - "$work" <<'PY' && deploy_idle
import json, sys
layers = json.load(open(sys.argv[1] + "/two.json"))
layers["nodeA_cpu0"].remove("stem.relu")
a, c = layers.values()
json.dump({"nodeA_cpu0": a, "nodeB_cpu0": ["stem.relu"], "nodeC_cpu0": c}, open(sys.argv[1] + "/mapping.json", "w"))
PY
}

deploy_idle() {
    build --model="$work/fashion.onnx" --mapping="$work/mapping.json" --threads=1 &&
        grep -q 'no layer is left to nodeB_cpu0: it gets no rank' "$work/log" &&
        [ "$(grep -c '^rank' "$work/build/out/fashion/rankfile")" = 2 ] && same fashion
}

refusals() {
    printf '{"nodeA_gpu": []}' >"$work/bad.json"
    ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/bad.json" -o "$work/bad" 2>"$work/err" && cat "$work/err" &&
        grep -q 'classifier' "$work/err" && # all layers that nobody has
        ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/none.json" -o "$work/bad" 2>"$work/err" && grep -q none.json "$work/err" &&
        [ ! -e "$work/bad" ]
}

for net in fashion squeezenet; do
    net $net
    random_frames $([ $net = fashion ] && echo 784 || echo 150528)
    check "$net: the single program" single $net
    check "$net: 2 keys, a piece each" deployed $net 0 nodeA_cpu0 nodeB_cpu0
    check "$net: 2 keys: $frames frames have the single program's bytes" same $net
    check "$net: 2 keys: over TCP" same $net $tcp
    check "$net: 2 keys: every weight once" whole
    check "$net: 4 keys, layers here and there" deployed $net 7 nodeA_cpu0 nodeA_cpu1 nodeB_cpu01 nodeC_x86
    check "$net: 4 keys: $frames frames have the single program's bytes" same $net
    check "$net: 4 keys: over TCP" same $net $tcp
    check "$net: 4 keys: every weight once" whole
    [ $net = squeezenet ] || check "$net: 3 keys, one without work" idle
done
net=reading # an LSTM and a GRU in both directions, on keys of their own
"$PYTHON" -B "$SRCDIR/tests/reading_network.py" "$work/reading.onnx"
random_frames 1536
check "$net: the single program" single $net
check "$net: 3 keys" deployed $net 0 nodeA_cpu0 nodeB_cpu0 nodeC_cpu0
check "$net: 3 keys: $frames frames have the single program's bytes" same $net
check "$net: 3 keys: every weight once" whole
check "what is built is built" nothing_left_to_do
check "what it refuses" refusals
finish
