#!/bin/sh
# ninja test-long: what takes hours. All random problems of the kernels that are emulated or watched over, of which ninja test has
# a third; every zoo network over 2 and 4 ranks; every zoo network and all backend tests built for aarch64 and run under emulation; every zoo network on the emulated GPU, by kernels drawn at random; long fuzzing; all
# networks in row phases and cut into parts; a million frames through pipelines, and again with an eye on what threads share;
# estimates beside measurements; resident memory; three thousand random networks. Ends like ninja test. With names only those: `tests/long.sh zoo_aarch64 phases`.
set -u
here=$(cd "$(dirname "$0")" && pwd)
export INGOT_LONG=1 FUZZ_SECONDS="${FUZZ_SECONDS:-1800}"

tests=
for name in ${*:-kernels deploy_zoo zoo_aarch64 gpu_nets fuzz conformance_aarch64 phases parts pipeline_tsan pipeline estimate resident random}; do
    case $name in
    kernels) test=$(ls -d out/test/aarch64/kernels/* out/test/emu/* out/test/asan/kernels/* 2>/dev/null | tr '\n' ' ') ;;
    fuzz | random) test=$here/scripts/$name.sh ;;
    phases | parts) test=out/test/models/$name ;;
    gpu_nets)
        test=out/test/gpu/nets
        [ -x $test ] || { echo "no C++ compiler here: $name is left out" && continue; } ;;
    pipeline) test=out/test/runtime/pipeline ;;
    pipeline_tsan) test=out/test/tsan/runtime/pipeline ;;
    *) test=$here/scripts/long/$name.sh ;;
    esac
    tests="$tests $test"
done
exec sh "$here/run.sh" --only out/test/log/long $tests
