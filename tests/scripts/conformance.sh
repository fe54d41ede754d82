# ONNX's own backend tests (Debian libonnx-testdata): every in-scope case built into a program and run; some on aarch64.
. "$SRCDIR/tests/scripts/tap.inc"
data=${ONNX_TESTDATA:-/usr/share/libonnx-testdata/data}
expect=$SRCDIR/tests/conformance.expect

if [ ! -d "$data/node" ]; then
    skip "ONNX backend tests" "libonnx-testdata is not installed"
    finish
    exit
fi
cases=$(ls -d "$data"/node/* "$data"/pytorch-converted/* "$data"/pytorch-operator/* "$data"/simple/*)
# One line per case: those of the expect file that are refused are out of scope, each with its reason there.
# shellcheck disable=SC2086
out/ingot verify --tap --expect "$expect" $cases >"$work/tap"
grep -v '^1\.\.' "$work/tap"
number=$(grep -c '^\(not \)\?ok' "$work/tap")
grep -q '^not ok' "$work/tap" && failures=1
on_gpu() { # every case in scope has GPU kernels, which the emulated driver runs
    echo fatbin >"$work/fatbin"
    # shellcheck disable=SC2086
    LD_LIBRARY_PATH=out/emu out/ingot verify -q --gpu "$work/fatbin" --expect "$expect" $cases
}
if [ -f out/emu/libcuda.so.1 ]; then check "all of them on the emulated GPU" on_gpu; else skip "cases on the emulated GPU" "no emulated driver"; fi
if have qemu-aarch64-static && [ -f out/aarch64/libingot_runtime.a ]; then
    some=$(ls -d "$data"/pytorch-converted/*Conv* "$data"/pytorch-converted/*Pool* "$data"/node/test_softmax* "$data"/node/test_gemm*)
    # shellcheck disable=SC2086
    check "the convolution, pool, softmax and gemm cases on aarch64" out/ingot verify -q --expect "$expect" --target aarch64 --isa neon \
        --cc "${CC_AARCH64:-aarch64-linux-gnu-gcc}" --run "qemu-aarch64-static -cpu cortex-a57" $some
else
    skip "aarch64 cases" "no emulator or cross compiler"
fi
finish
