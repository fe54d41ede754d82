# The runner of the tests: what has passed, failed and was skipped is counted, and one failure is enough.
. "$SRCDIR/tests/scripts/tap.inc"

one() { # name, its last command, lines that it says
    test=$work/tests/$1.sh last=$2
    shift 2
    { for line; do echo "echo '$line'"; done; echo "$last"; } >"$test"
}

runs() { # words of the last line, its status, names
    words=$1 status=$2 named=
    shift 2
    for name; do named="$named $work/tests/$name.sh"; done
    # shellcheck disable=SC2086
    sh "$SRCDIR/tests/run.sh" --only "$work/log" $named >"$work/said"
    got=$?
    cat "$work/said"
    [ "$(tail -1 "$work/said")" = "$words" ] && [ $((got != 0)) = "$status" ]
}

mkdir "$work/tests"
one two true 1..2 "ok 1 - a" "ok 2 - b"
one bad "exit 1" 1..2 "ok 1 - a" "# of b" "not ok 2 - b"
one skipped true "ok 1 - a # SKIP no such tool"
one cmocka true 1..2 "not ok 1 # SKIP a" "ok 2 - b"
one dies "kill -9 \$\$" "ok 1 - a"
one silent true
one without true 1..0
one lost 'rm -rf "$INGOT_LOGS"' "ok 1 - a"

check "all that pass" runs "2 passed, 0 failed, 0 skipped" 0 two
check "one that fails" runs "3 passed, 1 failed, 0 skipped" 1 two bad
check "what it said of that is shown" grep -q '^# of b$' "$work/said"
check "what was skipped has not passed" runs "2 passed, 0 failed, 1 skipped" 0 two skipped
check "nor has it failed where cmocka says so" runs "3 passed, 0 failed, 1 skipped" 0 two cmocka
check "one that dies" runs "3 passed, 1 failed, 0 skipped" 1 two dies
check "one that says nothing" runs "2 passed, 1 failed, 0 skipped" 1 two silent
check "one whose log is lost" runs "0 passed, 1 failed, 0 skipped" 1 lost
check "one without tests" runs "2 passed, 1 failed, 0 skipped" 1 two without
finish
