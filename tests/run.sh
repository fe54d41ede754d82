#!/bin/sh
# ninja test: runs the test programs and the scripts, one more at a time than there are cores, as some wait, and ends with "N passed, N failed, N skipped".
# `run.sh --only DIR TEST...` runs those tests alone, with their logs in DIR. Every program and script speaks the Test Anything Protocol; one that dies or says nothing has failed.
set -u
here=$(cd "$(dirname "$0")" && pwd)
SRCDIR=$(cd "$here/.." && pwd)
export SRCDIR

# A third of the random problems where programs are emulated or watched over; all of them by tests/long.sh.
case ${INGOT_LONG:-} in '') share='env INGOT_SHARE=3 ' ;; *) share= ;; esac

# Whole networks, one after the other: their weights' memory is kept for the next, instead of being cleared by the kernel again.
keep='env GLIBC_TUNABLES=glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=4294967296 '

runner() { # the command that runs a test
    case $1 in
    out/test/aarch64/kernels/* | out/test/emu/* | out/test/asan/kernels/* | out/test/asan/planner/*) printf %s "$share" ;;
    out/test/models/* | out/test/deploy/*) printf %s "$keep" ;;
    esac
    case $1 in
    *.sh) echo "sh $1" ;;
    out/test/aarch64/*) echo "qemu-aarch64-static -cpu cortex-a57 $1" ;;
    out/test/dotprod/*) echo "qemu-aarch64-static -cpu max $1 __dotprod" ;;
    out/test/fp16/*) echo "qemu-aarch64-static -cpu max $1 __fp16" ;;
    out/test/emu/*) echo "$1 __cuda" ;;
    *) echo "$1" ;;
    esac
}

most=5400 # seconds of one test, ten times what the longest takes where other programs slow it: qemu's threads have been seen to wait for each other for ever
[ -z "${INGOT_LONG:-}" ] || most=7200
logs=${INGOT_LOGS:-out/test/log}
log_of() {
    echo "$logs/$(echo "${1#"$SRCDIR"/}" | tr / _).tap"
}

if [ "${1:-}" = --one ]; then
    log=$(log_of "$2")
    case $2 in
    out/test/aarch64/* | out/test/dotprod/* | out/test/fp16/*)
        if ! command -v qemu-aarch64-static >/dev/null; then
            echo "ok 1 - $2 # SKIP no qemu-aarch64-static" >"$log"
            exit 0
        fi ;;
    esac
    start=$(date +%s)
    CMOCKA_MESSAGE_OUTPUT=TAP timeout -k 10 $most $(runner "$2") >"$log" 2>&1 </dev/null
    status=$?
    times >"$log.times" # of this shell, then of what it has run
    sed -i 's/^not ok \([0-9]* # SKIP\)/ok \1/' "$log" # what cmocka says of a test that was skipped
    processor=$(tail -1 "$log.times" | awk '{ split($1, user, "m"); split($2, kernel, "m"); printf "%.0f", 60 * (user[1] + kernel[1]) + user[2] + kernel[2] }')
    if [ $status -ne 0 ] && ! grep -q '^not ok' "$log"; then
        echo "not ok - $2 ended with status $status" >>"$log"
    fi
    grep -q '^\(not \)\?ok' "$log" || echo "not ok - $2 ran no test" >>"$log"
    failed=$(grep -c '^not ok' "$log")
    echo "$([ "$failed" = 0 ] && echo pass || echo FAIL) $2: $(grep -c '^ok' "$log") ok, $failed not ok, $(($(date +%s) - start)) s, $processor s of CPU time"
    [ "$failed" = 0 ] || grep -B 12 '^not ok' "$log" | head -60
    exit 0
fi

tests=
if [ "${1:-}" = --only ]; then
    export INGOT_LOGS="$2"
    logs=$2
    shift 2
    tests=$*
else
    scripts= rest=
    for script in "$here"/scripts/*.sh; do scripts="$script $scripts"; done
    for test; do
        case $test in
        out/test/aarch64/* | out/test/dotprod/* | out/test/fp16/* | out/test/emu/*) tests="$tests $test" ;; # take longest: first, so that no core waits for one in the end
        out/test/*) rest="$rest $test" ;;
        esac
    done
    [ -n "$rest" ] || echo "no cmocka here: unit tests are skipped"
    tests="$tests $scripts $rest"
    # What the builds that scripts make in folders of their own have in common (build_folder in scripts/tap.inc).
    common=$(ls out/host/libingot_*.a out/aarch64/libingot_*.a 2>/dev/null)
    boards=
    case $common in *out/aarch64/*) boards="tx2 xavier" ;; esac
    make_common() {
        [ -e out/test/common/configure ] || (rm -rf out/test/common && . "$here/scripts/tap.inc" && link_tree out/test/common) || return 1
        cd out/test/common && ./configure && ${NINJA:-ninja} && ${NINJA:-ninja} $common || return 1
        [ -z "$boards" ] || ${NINJA:-ninja} out/aarch64-none/libingot_bare.a || return 1
        for board in $boards; do
            ./configure --target=$board --gpu=off && ${NINJA:-ninja} out/$board/libingot_kernels.a out/$board/libingot_runtime.a || return 1
        done
    }
    (make_common) >out/test/common.log 2>&1 || {
        tail -20 out/test/common.log
        rm -rf out/test/common
    }
fi
mkdir -p "$logs"
rm -f "$logs"/*.tap "$logs"/*.tap.times
printf '%s\n' $tests | xargs -P $(($(nproc 2>/dev/null || echo 1) + 1)) -I{} sh "$0" --one {}
count() {
    cat "$logs"/*.tap 2>/dev/null | grep -c "$1"
}
lost=0
for test in $tests; do
    [ -s "$(log_of "$test")" ] || { lost=$((lost + 1)) && echo "FAIL $test: it left no log"; }
done
skipped=$(count '^ok.*# SKIP')
passed=$(($(count '^ok') - skipped))
failed=$(($(count '^not ok') + lost))
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
