# What is printed for people: one of a thing is one, not "1 layers"; a layer has the same name wherever it is spoken of.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}

network() { # one layer: x [1,64] * w [64,64]
    cat >"$work/net.py" <<'PY'
import sys
from onnx_bytes import num, txt, value

weights = num(1, 64) + num(1, 64) + num(2, 1) + txt(8, "w") + txt(9, bytes(64 * 64 * 4))
graph = txt(1, txt(1, "x") + txt(1, "w") + txt(2, "y") + txt(4, "MatMul")) + txt(2, "g") + txt(5, weights) + txt(11, value("x", 1, 64)) + txt(12, value("y", 1, 64))
sys.stdout.buffer.write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
PY
    PYTHONPATH=$SRCDIR/tests PYTHONDONTWRITEBYTECODE=1 $PYTHON "$work/net.py" >"$net.onnx" && out/ingot graph "$net.onnx" -o "$net.json"
}

in_the_singular() { # command...: which prints something, and of no thing one as if it were several
    "$@" >"$work/words" 2>&1 || { cat "$work/words"; return 1; }
    [ -s "$work/words" ] && ! grep -E '(^|[^0-9.,])1 ([a-z]+ )?(layers|nodes|kernels|bands|threads|slots|stages|parts|keys|messages|ranks|devices|deployments|segments|places|launches|classes|inputs|outputs|networks|rows|frames)([^a-z]|$)' "$work/words"
}

verbs() {
    in_the_singular out/ingot inspect "$net.onnx" && in_the_singular out/ingot inspect --layers "$net.onnx" &&
        in_the_singular out/ingot profile "$net.json" --threads 1 --seconds 0.1 -o "$work/profile.json" &&
        out/ingot plan "$net.json" --threads 1 -o "$net.plan.json" && in_the_singular out/ingot plan --summary "$net.json" "$net.plan.json" &&
        in_the_singular out/ingot plan "$net.json" --threads 1 --stages cpu:0 -v -o "$work/stage.json"
}

bands() { # some by one row
    out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$work/fashion.json" && out/ingot plan "$work/fashion.json" --threads 1 --bands chains -o "$work/fashion.plan" &&
        in_the_singular out/ingot plan --summary "$work/fashion.json" "$work/fashion.plan" && grep -q ' of layers runs\{0,1\} by rows: ' "$work/words"
}

machines() { # one device, and one message between two keys
    echo 'here, x86, slots=0' >"$work/platform.txt" &&
        in_the_singular out/ingot plan --deploy "$net.onnx" --platform="$work/platform.txt" --pareto -o "$work/front" && cp "$work/front/mapping-1.json" "$work/mapping.json" &&
        in_the_singular out/ingot deploy "$net.onnx" --mapping "$work/mapping.json" -o "$work/one" && in_the_singular out/ingot simulate "$work/one/deploy.json" &&
        printf 'left, x86, slots=0\nright, x86, slots=0\n' >"$work/two.txt" && out/ingot zoo mobilenet_v1_025 -o "$work/two.onnx" &&
        out/ingot plan --deploy "$work/two.onnx" --platform="$work/two.txt" --objective=throughput -o "$work/two.json" >"$work/words" &&
        in_the_singular out/ingot deploy "$work/two.onnx" --mapping "$work/two.json" -o "$work/both" && grep -q ' 1 message of ' "$work/words" &&
        in_the_singular out/ingot simulate "$work/both/deploy.json" --platform "$work/two.txt"
}

unnamed() { # a layer without a name has its output's, of which mappings speak
    out/ingot inspect "$net.onnx" >"$work/words" && grep -q '^  y  *matmul\|^  y  *fc' "$work/words" && out/ingot inspect --layers -q "$net.onnx" >"$work/words" &&
        [ "$(cat "$work/words")" = y ] &&
        grep -q '"name":"y","onnx":"MatMul' "$net.json"
}

programs() {
    program single "$net.plan.json" && head -c 256 /dev/zero >"$work/zeros" && in_the_singular "$work/single" --info && in_the_singular "$work/single" --bench=0.1
}

check "a network of one layer" network
check "verbs" verbs
check "a layer without a name" unnamed
check "bands" bands
check "machines" machines
check "the program" programs
finish
