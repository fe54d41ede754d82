# ingot plan --estimate and ingot calibrate as a user runs them: boards by name and file, loop nests, JSON, wrong files.
. "$SRCDIR/tests/scripts/tap.inc"
model=$SRCDIR/models/fashion.onnx

says() { # words, command...: the command's output has the words
    words=$1
    shift
    "$@" >"$work/out" 2>&1
    grep -q -- "$words" "$work/out" || { cat "$work/out"; return 1; }
}

boards() {
    for board in tx2 xavier neuraghe zen4 xeon; do
        says "fashion on $board, one layer after another" out/ingot plan --estimate --platform $board "$model" || return 1
        out/ingot plan --estimate --platform "$SRCDIR/platforms/$board.json" "$model" | cmp - "$work/out" || return 1
    done
}

nest() {
    says 'for par0 in range(9):' out/ingot plan --platform neuraghe --explain-layer down "$model" &&
        grep -q '^estimate ' "$work/out" && says "no layer is called 'none'" out/ingot plan --platform tx2 --explain-layer none "$model"
}

json() {
    out/ingot plan --estimate --platform tx2 --json --op-dist conv=accelerator,gemm=CPU "$model" >"$work/e.json" &&
        "${PYTHON:-python3}" -c "
import json, sys
e = json.load(open('$work/e.json'))
on = {l['kind']: l['processor'] for l in e['layers']}
assert on['conv'] == 0 and on['gemm'] == 1, on
assert abs(sum(l['ms'] for l in e['layers']) - e['latency_ms']) < 1e-9
assert abs(e['fps'] * e['latency_ms'] - 1000) < 1e-6"
}

wrong() {
    sed 's/"channel":1/"channel":7/' "$SRCDIR/platforms/tx2.json" >"$work/wrong.json"
    ! out/ingot plan --estimate --platform "$work/wrong.json" "$model" >"$work/out" 2>&1 &&
        grep -q "wrong.json: processors\[0\]: X: channel 7 is not among 'channels'" "$work/out" &&
        says "'conv=GPU': not KIND=TYPE" out/ingot plan --estimate --platform tx2 --op-dist conv=GPU "$model"
}

# Half the clock, twice the operations' time.
clock() {
    cpu=conv=CPU,gemm=CPU,pool=CPU,relu=CPU,add=CPU,other=CPU
    out/ingot plan --estimate --platform tx2 --op-dist "$cpu" --json "$model" >"$work/fast.json" &&
        out/ingot plan --estimate --platform tx2 --op-dist "$cpu" --clock CPU=1200 --json "$model" >"$work/slow.json" &&
        "${PYTHON:-python3}" -c "
import json, sys
fast, slow = (json.load(open('$work/' + n)) for n in ('fast.json', 'slow.json'))
assert slow['latency_ms'] > fast['latency_ms']
assert abs(slow['ops_ms'] / fast['ops_ms'] - 2035 / 1200) < 1e-6, slow['ops_ms'] / fast['ops_ms']" &&
        says 'CPU has no operating point of 7 MHz; there are: 2035 1200 1400' out/ingot plan --estimate --platform tx2 --clock CPU=7 "$model" &&
        says 'not TYPE=MHZ' out/ingot plan --estimate --platform tx2 --clock CPU "$model"
}

# A plan without a profile goes by the costs of the board that it is given.
costs() {
    graph=$work/fashion.json
    out/ingot graph "$model" -o "$graph" && out/ingot plan "$graph" --isa avx2 --threads 1 -o "$work/plain.json" &&
        out/ingot plan "$graph" --isa avx2 --threads 1 --costs zen4 -o "$work/same.json" &&
        cmp "$work/plain.json" "$work/same.json" &&
        sed 's/"work":/"work":9/g' "$SRCDIR/platforms/zen4.json" >"$work/slow.json" &&
        out/ingot plan "$graph" --isa avx2 --threads 1 --costs "$work/slow.json" -o "$work/other.json" &&
        ! cmp -s "$work/plain.json" "$work/other.json" &&
        ! out/ingot plan "$graph" --costs tx2 -o "$work/other.json" 2>"$work/out" &&
        grep -q -- "--costs tx2: no kernel has costs there" "$work/out"
}

# The grid's file is only added to, and taken up where it ended.
grid() {
    out/ingot calibrate --grid "$work/times" --layers 4 --max-gmacs 0.001 --seconds 60 2>/dev/null &&
        [ "$(wc -l <"$work/times")" = 5 ] &&
        out/ingot calibrate --grid "$work/times" --layers 6 --max-gmacs 0.001 --seconds 60 2>/dev/null &&
        [ "$(wc -l <"$work/times")" = 7 ] && [ "$(sort -u "$work/times" | wc -l)" = 7 ]
}

host() {
    out/ingot calibrate --no-costs -q -o "$work/host.json" && grep -q '"processors":' "$work/host.json" &&
        grep -q '"rates":\[{"isa":' "$work/host.json" && grep -q '"team_overhead_ns":\[' "$work/host.json" &&
        says "fashion on host" out/ingot plan --estimate --platform "$work/host.json" "$model"
}

check "boards by name and by file" boards
check "a layer as a loop nest" nest
check "the estimate as JSON" json
check "operating points" clock
check "what is wrong is said" wrong
if [ "$(uname -m)" = x86_64 ] && grep -q avx2 /proc/cpuinfo; then
    check "the grid is measured in pieces" grid
else
    skip "the grid is measured in pieces" "no vector kernels"
fi
check "plans by a board's costs" costs
check "this machine as a board" host
finish
