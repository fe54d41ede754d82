# One device, least memory: all that its process holds is below what was set as bar, where the best mappings of Guo, Pimentel and
# Stefanov (2023) onto seven and eight devices take 604.504 and 51.066 MiB on each (docs/benchmarks.md).
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"

resident() { # network, MiB, options of configure
    network=$1 most=$2
    shift 2
    out/ingot zoo "$network" -o "$work/$network.onnx" && build --model="$work/$network.onnx" --threads=1 --no-profile "$@" &&
        "$work/build/out/host/$network" --bench=1 --json >"$work/bench.json" && "$PYTHON" - "$work/bench.json" "$most" <<'PY'
import json, sys
resident = json.load(open(sys.argv[1]))["peak_rss_kib"]
print("peak RSS", resident, "KiB")
assert 0 < resident <= int(sys.argv[2]) << 10
PY
}

if have "$PYTHON"; then
    check "DenseNet-121 on one device is resident in 45 MiB" resident densenet121 45 --objective=memory
    check "VGG-19 on one device is resident in 580 MiB" resident vgg19 580 --memory-budget=600MB
else
    skip "networks on one device" "no $PYTHON"
fi
finish
