# The benchmark against other engines: its tables, and a short run of the smallest network against those installed.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
[ ! -x out/venv/bin/python ] || PYTHON=$PWD/out/venv/bin/python
export PYTHON

short_run() {
    printf '%s\n' before '<!-- bench/peers: begin -->' '<!-- bench/peers: end -->' after >"$work/page.md"
    "$SRCDIR/bench/peers" --networks mlp --threads 1 --runs 6 --seconds 0.05 --rounds 2 --starts 1 \
        -o "$work/results.json" --readme "$work/page.md"
}

is_complete() {
    python3 - "$work/results.json" <<TEXT
import json, sys
(e,) = json.load(open(sys.argv[1]))["results"]
assert (e["network"], e["threads"]) == ("mlp", 1) and e["date"] and e["cpu"] and e["peak_gflops"] > 0 and e["stream_gbs"] > 0
assert e["versions"] and e["binary_bytes"] > 0 and e["settings"]["runs"] == 6
for name in ("ingot", "onnxruntime", "openvino", "ncnn"):
    c = e["contenders"][name]
    if "error" in c:
        assert name != "ingot", c
        continue
    assert 0 < c["min_ms"] <= c["p10_ms"] <= c["median_ms"] <= c["p90_ms"] and c["samples"] >= 6, (name, c)
    assert name == "ingot" or (c["difference"] < 1e-3 and e["starts"][name]["load_ms"] > 0), (name, c)
assert e["starts"]["ingot"]["exec_ms"] > 0 and e["starts"]["ingot"]["rss_kib"] > 0
TEXT
}

keeps_the_rest() { # a run that fails writes nothing
    cp "$work/results.json" "$work/before.json"
    ! "$SRCDIR/bench/peers" --networks no_such_net -o "$work/results.json" && cmp "$work/results.json" "$work/before.json"
}

tables_again() {
    "$SRCDIR/bench/peers" --tables -o "$work/results.json" | grep -q 'geometric mean'
}

frames_as_asked() {
    printf '3\n1\n' | out/host/fashion "$SRCDIR/models/pictures/boot.pgm" --bench=- >"$work/times" &&
        grep -qx '\[[0-9]*,[0-9]*,[0-9]*\]' "$work/times" && [ "$(grep -c '^\[.*\]$' "$work/times")" = 2 ] &&
        ! echo many | out/host/fashion --bench=-
}

quantised_run() { # by onnxruntime, and then by both
    "$SRCDIR/bench/peers" --quantised --peers onnxruntime --networks mobilenet_v1_025 --threads 1 --runs 6 --seconds 0.05 --rounds 2 --starts 1 \
        -o "$work/bytes.json" && python3 - "$work/bytes.json" <<TEXT
import json, sys
(e,) = json.load(open(sys.argv[1]))["results"]
print(e)
assert e["network"] == "mobilenet_v1_025_int8" and e["contenders"]["onnxruntime"]["difference"] < 0.02, e
TEXT
}

own_model() { # a file of one's own; one that is no such network is refused
    "$SRCDIR/bench/peers" --models "$SRCDIR/models/fashion.onnx" --peers onnxruntime --threads 1 --runs 6 --seconds 0.05 --rounds 2 --starts 1 \
        -o "$work/own.json" && grep -q '"network": *"fashion"' "$work/own.json" || return 1
    ! "$SRCDIR/bench/peers" --models "$SRCDIR/README.md" -o "$work/no.json" 2>"$work/err" && cat "$work/err" && [ ! -e "$work/no.json" ]
}

check "a program runs as many frames as stdin says" frames_as_asked
if ! have python3; then
    skip "the tables of bench/peers" "no python3"
else
    check "the tables of bench/peers" python3 "$SRCDIR/tests/peers_table.py" "$SRCDIR"
fi
if ! $PYTHON -c 'import onnxruntime' 2>/dev/null; then
    skip "a short run against the peers" "onnxruntime is not installed: bench/peers --install"
elif check "a short run against the peers" short_run; then
    check "its results are complete" is_complete
    check "the page has the table" grep -q '^| mlp |' "$work/page.md"
    check "results are kept where nothing is measured" keeps_the_rest
    check "tables can be printed again" tables_again
    check "a network of one's own" own_model
fi
if $PYTHON -c 'import onnx, onnxruntime.quantization.shape_inference' 2>/dev/null; then check "a short run in 8 bits" quantised_run
else skip "a short run in 8 bits" "onnxruntime, onnx or sympy is not installed: bench/peers --install"
fi
finish
