#!/bin/sh
# ninja test-long: what takes hours. Long fuzzing, every zoo network built for aarch64 and run under emulation against this
# PC's answers, all backend tests on aarch64, all networks by parts and whole, a million frames through pipelines,
# estimates beside measurements, every zoo network over 2 and 4 ranks, resident memory. Ends like ninja test,
# with "N passed, N failed, N skipped".
set -u
here=$(cd "$(dirname "$0")" && pwd)
SRCDIR=$(cd "$here/.." && pwd)
export SRCDIR
mkdir -p out/test/log

run() { # name, command...
    log=out/test/log/long_$1.tap
    shift
    "$@" >"$log" 2>&1
    cat "$log"
}

run fuzz env FUZZ_SECONDS="${FUZZ_SECONDS:-1800}" sh "$here/scripts/fuzz.sh"
run zoo sh "$here/scripts/long/zoo_aarch64.sh"
run phases env INGOT_LONG=1 CMOCKA_MESSAGE_OUTPUT=TAP out/test/models/phases
run conformance sh "$here/scripts/long/conformance_aarch64.sh"
# A million frames, and again with an eye on what threads share.
run pipeline env INGOT_LONG=1 CMOCKA_MESSAGE_OUTPUT=TAP out/test/runtime/pipeline
run pipeline_tsan env INGOT_LONG=1 CMOCKA_MESSAGE_OUTPUT=TAP out/test/tsan/runtime/pipeline
run estimate sh "$here/scripts/long/estimate.sh"
run deploy_zoo sh "$here/scripts/long/deploy_zoo.sh"
run resident sh "$here/scripts/long/resident.sh"
count() {
    cat out/test/log/long_*.tap | grep -c "$1"
}
skipped=$(count '^ok.*# SKIP')
failed=$(count '^not ok')
echo "$(($(count '^ok') - skipped)) passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
