# All of ONNX's backend tests as aarch64 programs under emulation.
. "$SRCDIR/tests/scripts/tap.inc"
data=${ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}

if ! have qemu-aarch64-static || [ ! -d "$data/node" ]; then
    skip "backend tests on aarch64" "no emulator or no libonnx-testdata"
    finish
    exit
fi
out/ingot verify --tap --expect "$SRCDIR/tests/conformance.expect" --target aarch64 --isa neon \
    --cc "${CC_AARCH64:-aarch64-linux-gnu-gcc}" --run "qemu-aarch64-static -cpu cortex-a57" \
    "$data/node" "$data/pytorch-converted" "$data/pytorch-operator" "$data/simple"
