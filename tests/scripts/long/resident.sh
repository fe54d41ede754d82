# DenseNet-121 on one device, least memory: all that its process holds is below 45 MiB, where the best mapping onto eight
# devices of Guo, Pimentel and Stefanov (2023) takes 51.066 MiB on each (docs/benchmarks.md).
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"

densenet() {
    out/ingot zoo densenet121 -o "$work/densenet121.onnx" &&
        build --model="$work/densenet121.onnx" --objective=memory --threads=1 --no-profile &&
        "$work/build/out/host/densenet121" --bench=1 --json >"$work/bench.json" && "$PYTHON" - "$work/bench.json" <<'PY'
import json, sys
resident = json.load(open(sys.argv[1]))["peak_rss_kib"]
print("peak RSS", resident, "KiB")
assert 0 < resident <= 45 << 10
PY
}

if have "$PYTHON"; then
    check "DenseNet-121 on one device is resident in 45 MiB" densenet
else
    skip "DenseNet-121 on one device is resident in 45 MiB" "no $PYTHON"
fi
finish
