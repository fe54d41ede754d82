# Ranks of deployments made by hand (tests/mpi/ranks.h): frames keep their order and overlap, a slow rank holds others back,
# and whatever goes wrong ends all of them soon, with a line that names it.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fork="0:0>1 1:1>2 0:2,1>3"             # a rank that waits for another in the middle
chain="0:0>1@20 1:1>2@20 2:2>3@20"     # three in a row, 20 ms each

tests="frames vertical_stream bytes_on_wire backpressure eos_clean plan_hash_mismatch wrong_np core_out_of_range bad_arguments rank_killed
    peer_stopped all_stopped one_stopped latencies idle rank_files"
if unshare --fork --time --monotonic 100000 true 2>/dev/null; then tests="$tests clocks_apart"
else skip clocks_apart "no namespaces of time"; fi

command_of() { # spec, arguments of rank 0 (the last rank has them from it): what mpirun starts
    spec=$1 ranks=$(echo "$1" | tr ' ' '\n' | sed 's/:.*//' | sort -nu | wc -l)
    shift
    set -- -np 1 "$relay" "$spec" 0 "$@"
    rank=1
    while [ $rank -lt "$ranks" ]; do
        set -- "$@" : -np 1 "$relay" "$spec" $rank $unpinned
        rank=$((rank + 1))
    done
    # shellcheck disable=SC2086
    timeout -k 5 "$hang" $mpirun "$@"
}

unpinned=--unpinned
run() { # spec, arguments
    run_spec=$1
    shift
    command_of "$run_spec" $unpinned "$@"
}

alive() { # processes of the test's that are left, zombies apart
    ps -eo stat=,args= | grep -v '^Z' | grep "[ /]${relay#/}" | grep -v grep
}

gone() { # all of them
    end=$(($(date +%s) + hang))
    while [ -n "$(alive)" ]; do
        [ "$(date +%s)" -lt $end ] || { alive; return 1; }
        sleep .1
    done
}

lines() { # results without their times
    sed 's/"ms":[0-9.]*,//' "$1"
}

input() { # frames of 256 floats, none NaN
    head -c $(($1 * 1024)) /dev/urandom | tr '\177\377' '\077\077'
}

frames() { # of one rank and of two, the same results; copies and threads 1 to 3
    input 60 >"$work/in"
    "$relay" "0:0>1 0:1>2 0:2,1>3" 0 --unpinned - --json <"$work/in" >"$work/one" && [ "$(wc -l <"$work/one")" = 60 ] || return 1
    lines "$work/one" >"$work/a"
    for copies in 1 2 3; do
        RELAY_COPIES=$copies RELAY_THREADS=$copies run "$fork" - --json --stdin="$work/in" </dev/null >"$work/two" && lines "$work/two" | cmp - "$work/a" || return 1
    done
    # several tensors from one rank to another
    "$relay" "0:0>1 0:0>2 0:1>3 0:1,2>4 0:3,4>5" 0 --unpinned - --json <"$work/in" >"$work/one" && lines "$work/one" >"$work/a" &&
        run "0:0>1 0:0>2 0:1>3 1:1,2>4 1:3,4>5" - --json --stdin="$work/in" </dev/null >"$work/two" && lines "$work/two" | cmp - "$work/a" || return 1
    head -c 1024 "$work/in" >"$work/file"
    run "$fork" "$work/file" -o "$work/x.npy" </dev/null && run "0:0>1 0:1>2 0:2,1>3" "$work/file" -o "$work/y.npy" </dev/null &&
        cmp "$work/x.npy" "$work/y.npy"
}

time_of() { # spec, frames: ms that half the results take, which go to $work/out (MPI may start for seconds: it asks for the machine's name;
    # so may what looks at the clock, which finds the first of them all there then)
    { run "$1" - --json --stdin="$2" </dev/null || echo failed; } | "$PYTHON" -c '
import sys, time
times = []
for line in sys.stdin:
    times.append(time.monotonic())
    sys.stderr.write(line)
print(round(1e3 * (times[-1] - times[len(times) // 2 - 1])))' 2>"$work/out"
}

vertical_stream() { # each key has parts before and behind the other's: 40 ms alone, 20 with frames that overlap
    input 100 >"$work/in"
    least_serial=1000000 least_spread=1000000
    for _ in 1 2 3 4 5 6 7 8 9 10; do # other tests run meanwhile, and take time from either
        serial=$(time_of "0:0>1@10 0:1>2@10 0:2,1>3@10 0:3,2>4@10" "$work/in") && lines "$work/out" >"$work/a" &&
            spread=$(time_of "0:0>1@10 1:1>2@10 0:2,1>3@10 1:3,2>4@10" "$work/in") && lines "$work/out" | cmp - "$work/a" || return 1
        echo "$spread ms, on one rank $serial"
        [ "$(sort -u "$work/a" | wc -l)" = 100 ] || return 1
        [ "$serial" -ge "$least_serial" ] || least_serial=$serial
        [ "$spread" -ge "$least_spread" ] || least_spread=$spread
        [ $((least_spread * 10)) -ge $((least_serial * 7)) ] || return 0
    done
    return 1
}

bytes_on_wire() { # what was sent is what --info says of each rank
    for rank in 0 1; do "$relay" "$fork" $rank --info --json || return 1; done >"$work/info"
    run "$fork" --bench=0.3 --json </dev/null >"$work/bench" && "$PYTHON" - "$work" <<'PY'
import json, sys
info = [json.loads(line) for line in open(sys.argv[1] + "/info")]
bench = json.load(open(sys.argv[1] + "/bench"))
assert [i["sent_bytes"] for i in info] == [r["sent_bytes"] for r in bench["ranks"]] == [1024, 1024], bench
assert [i["received_bytes"] for i in info] == [r["received_bytes"] for r in bench["ranks"]] == [1024, 1024], bench
PY
}

memory() { # KiB of all ranks
    for pid in $(pgrep -f "^$relay "); do sed -n 's/^VmRSS:[[:space:]]*\([0-9]*\) .*/\1/p' "/proc/$pid/status"; done | "$PYTHON" -c \
        'import sys; print(sum(map(int, sys.stdin)))'
}

await_results() { # how many, of what runs as $pid
    until [ "$(wc -l <"$work/out")" -ge "$1" ]; do kill -0 $pid && sleep .05 || return 1; done
}

backpressure() { # messages so small that MPI takes them at once: still a fast rank, given frames without end, keeps to the slow one's pace
    rm -f "$work/frames" "$work/enough"
    : >"$work/out" # no lines of another test's count
    mkfifo "$work/frames"
    while [ ! -e "$work/enough" ] && head -c 3600 /dev/zero; do :; done >"$work/frames" &
    feeder=$!
    RELAY_WIDTH=900
    export RELAY_WIDTH
    run "0:0>1 1:1>2 2:2>3@100" - --json --stdin="$work/frames" </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    unset RELAY_WIDTH
    await_results 10 && early=$(memory) && await_results 40 && late=$(memory)
    : >"$work/enough"
    echo "${early:=0} KiB, then ${late:=0}"
    [ "$early" -gt 1000 ] && [ "$late" -gt 1000 ] && [ $((late - early)) -lt 1024 ] && wait $pid || {
        pkill -f "^$relay " # rather than wait for all that is queued
        kill $feeder 2>/dev/null
        wait $pid
        cat "$work/err"
        return 1
    }
}

eos_clean() { # streams of no frame and of one; one that ends in a frame
    run "$chain" - </dev/null >"$work/out" && [ ! -s "$work/out" ] || return 1
    input 1 >"$work/in"
    run "$chain" - --stdin="$work/in" </dev/null >"$work/out" && [ "$(wc -l <"$work/out")" = 1 ] || return 1
    input 3 | head -c 2500 >"$work/in"
    fails 'ends in the middle of a frame' "$chain" - --stdin="$work/in" && [ "$(grep -c '|' "$work/out")" = 2 ] && gone
}

fails() { # words, spec, arguments: exit 1 and the words on stderr; no silence ends it, that would take longer than $hang. MPICH's
    # mpirun exits with all ranks' codes ORed, and one of its own of a rank that still connects when another ends is 14 or 15.
    # Where the machine is busy an mpirun may drop what a rank says last, but hardly three times running
    words=$1
    shift
    for _ in 1 2 3; do
        if RELAY_SILENCE=1000000 run "$@" </dev/null >"$work/out" 2>"$work/err"; then return 1; else code=$?; fi
        cat "$work/err"
        case "$code $mpirun" in
        1\ * | 1[45]\ *mpich*) ;;
        *) return 1 ;;
        esac
        if grep -q "$words" "$work/err"; then return 0; fi
        gone || return 1
    done
    return 1
}

plan_hash_mismatch() {
    RELAY_ODD=2
    export RELAY_ODD
    fails "rank 2 'nodeC_cpu0' is of another plan than rank 0 'nodeA_cpu0'" "$chain" - && gone
    code=$?
    unset RELAY_ODD
    return $code
}

wrong_np() {
    if timeout -k 5 "$hang" $mpirun -np 1 "$relay" "$chain" 0 - : -np 1 "$relay" "$chain" 1 </dev/null >"$work/out" 2>&1; then return 1; fi
    cat "$work/out"
    grep -q 'mpirun started 2 ranks, the plan has 3' "$work/out" || return 1
    if timeout -k 5 "$hang" $mpirun -np 1 "$relay" "$chain" 1 : -np 1 "$relay" "$chain" 0 - : -np 1 "$relay" "$chain" 2 </dev/null >"$work/out" 2>&1
    then return 1; fi
    cat "$work/out"
    grep -q "'nodeB_cpu0' is rank 1 of its plan, but was started as rank 0" "$work/out" && gone
}

core_out_of_range() { # one rank alone of which the core is not there
    unpinned='' RELAY_CORE=1999 RELAY_PINNED=1
    export RELAY_CORE RELAY_PINNED
    fails "rank 1 'nodeB_cpu0' is for core 1999, which this machine does not have" "$chain" - && gone
    code=$?
    unpinned=--unpinned
    unset RELAY_CORE RELAY_PINNED
    return $code
}

bad_arguments() { # before and behind MPI_Init
    echo short >"$work/short"
    fails "neither .npy nor" "$fork" "$work/short" && fails "No such file" "$fork" - --stdin="$work/none" &&
        fails "No such file" "$fork" "$work/none" && gone || return 1
    if run "$fork" --nonsense </dev/null >"$work/out" 2>&1; then return 1; fi
    grep -q nonsense "$work/out" && gone
}

fault() { # signal, words: to rank 1 of a running deployment; all end long before the last frame, and with these words; 2: without them
    input 20000 >"$work/in"
    : >"$work/out"
    run "$chain" - --json --stdin="$work/in" </dev/null >"$work/out" 2>"$work/err" &
    pid=$!
    until [ "$(wc -l <"$work/out")" -ge 10 ]; do kill -0 $pid && sleep .05 || return 1; done
    kill "-$1" "$(pgrep -f "^$relay .* 1 --unpinned")" || return 1
    if wait $pid; then return 1; else code=$?; fi
    grep -v '"ms"' "$work/out" >>"$work/err" # MPICH's mpirun speaks there
    cat "$work/err"
    [ $code != 124 ] && gone || return 1
    grep -q "$2" "$work/err" || return 2
}

fault_tries() { # signal, words: three, where there are no words
    for _ in 1 2 3; do
        if fault "$1" "$2"; then return 0; else code=$?; fi
        [ $code = 2 ] || return 1
    done
    return 1
}

rank_killed() { # Open MPI lets its neighbours say what was lost with it, MPICH ends them at once; no silence does
    RELAY_SILENCE=1000000
    export RELAY_SILENCE
    case $mpirun in
    *mpich*) fault_tries KILL "signal 9\|EXIT CODE: 9\|rank 1 'nodeB_cpu0'" ;;
    *) fault_tries KILL "rank [02] 'node[AC]_cpu0': rank 1 'nodeB_cpu0' is gone: tensor 't[12]' of frame [0-9]* was to" ;;
    esac
    code=$?
    unset RELAY_SILENCE
    return $code
}

peer_stopped() {
    fault_tries STOP "no sign of life of rank 1 'nodeB_cpu0' for 15 s: tensor 't[12]' of frame [0-9]* was to"
}

ranks_now() { # pids of the ranks
    pgrep -f "^$relay .* --unpinned"
}

# shellcheck disable=SC2046
stopped() { # s that are a silence: the chain for longer, all of it; 2: it was not, or a rank found a silence, as it is if another has no core
    : >"$work/out" # what is waited for below is not what was there before
    RELAY_SILENCE=$(($1 * 1000))
    export RELAY_SILENCE
    run "$chain" - --json --stdin="$work/in" </dev/null >"$work/out" 2>"$work/err" &
    pid=$! before=-1
    unset RELAY_SILENCE
    until [ "$(wc -l <"$work/out")" -ge 10 ]; do kill -0 $pid && sleep .05 || break; done
    kill -STOP $(ranks_now)
    while n=$(wc -l <"$work/out") && [ "$n" != "$before" ]; do before=$n && sleep 1; done # until mpirun has written what was on its way
    sleep $(($1 + 1))
    late=$(wc -l <"$work/out")
    kill -CONT $(ranks_now)
    if wait $pid; then code=0; else code=$?; fi
    cat "$work/err"
    [ "$late" = "$n" ] && [ "$n" -lt 200 ] && ! grep -q "no sign of life of rank . '.*' for $1 s" "$work/err" || return 2
    [ $code = 0 ] && lines "$work/out" | cmp - "$work/a" && [ ! -s "$work/err" ]
}

all_stopped() { # for longer than a silence that is a fault: nobody was there to listen, and all goes on
    input 200 >"$work/in"
    run "$chain" - --json --stdin="$work/in" </dev/null >"$work/out" && lines "$work/out" >"$work/a" || return 1
    for silence in 2 8 32; do # longer than what others take a core for
        if stopped $silence; then return 0; else code=$?; fi
        [ $code = 2 ] && gone || return 1
    done
    return 1
}

one_stopped() { # alone, by the same silence: the others say so in time
    for silence in 2 8 32; do
        RELAY_SILENCE=$((silence * 1000))
        export RELAY_SILENCE
        fault STOP "no sign of life of rank 1 'nodeB_cpu0' for $silence s: tensor 't[12]' of frame [0-9]* was to"
        code=$?
        unset RELAY_SILENCE
        [ $code != 0 ] || return 0
        gone || return 1
    done
    return 1
}

taken() { # pids: us of a core that all their threads have had
    for pid in "$@"; do cat "/proc/$pid/task/"*/schedstat; done | awk '{ sum += $1 } END { printf "%d\n", sum / 1e3 }'
}

# What a look takes is the machine's matter and its load's, and so is what any waking takes: in a stream that rests a rank takes at
# most three times as much as a program that wakes as often, every 2 ms, and does nothing. Where that has no core to wake on for a
# while, or the ranks a slower one: not until later.
# shellcheck disable=SC2046
idle() {
    input 1 >"$work/in" && mkfifo "$work/rests" || return 1
    : >"$work/out"
    run "$chain" - --json --stdin="$work/rests" </dev/null >"$work/out" &
    stream=$!
    "$PYTHON" -c 'import time
while True: time.sleep(0.002)' &
    wakes=$!
    exec 3<>"$work/rests" # open until it is closed here: nobody else has it
    cat "$work/in" >&3
    # Neither the start counts, which ends with a result, nor the quarter of a second behind it until looks are rarest.
    until [ "$(wc -l <"$work/out")" -ge 1 ]; do kill -0 $stream && sleep .05 || break; done
    sleep 1
    rests=0
    for _ in 1 2 3 4 5 6 7 8; do
        early=$(taken $(ranks_now)) early_wakes=$(taken $wakes)
        sleep 2
        late=$(taken $(ranks_now)) late_wakes=$(taken $wakes)
        echo "$((late - early)) us, one that wakes $((late_wakes - early_wakes))"
        if [ "$early" -gt 0 ] && [ "$late" -gt "$early" ] && [ $((late - early)) -le $((3 * 3 * (late_wakes - early_wakes))) ]; then
            rests=1
            break
        fi
    done
    exec 3>&-
    kill $wakes
    rm "$work/rests"
    wait $stream && [ $rests = 1 ]
}

positive() { # results on stdin: more than none, and their latencies are more than 0
    "$PYTHON" -c 'import json, sys
ms = [json.loads(line)["ms"] for line in sys.stdin]
print(len(ms), "results, ms", min(ms), max(ms))
assert ms and min(ms) > 0'
}

latencies() { # of a network of no work, on cores that others have too
    input 200 >"$work/in"
    busy=
    for _ in 1 2 3 4 5 6 7 8; do
        "$PYTHON" -c 'while True: pass' &
        busy="$busy $!"
    done
    for _ in 1 2 3; do run "0:0>1 1:1>2" - --json --stdin="$work/in" </dev/null || break; done >"$work/out"
    # shellcheck disable=SC2086
    kill $busy
    [ "$(wc -l <"$work/out")" = 600 ] && positive <"$work/out"
}

clocks_apart() { # two ranks of one boot, of which one is in a namespace with a clock of its own, 1e8 ms ahead
    input 50 >"$work/in"
    for first in 0 1; do
        own="unshare --fork --time --monotonic 100000"
        zero='' one=$own
        [ $first = 1 ] || zero=$own one=''
        # shellcheck disable=SC2086
        timeout -k 5 "$hang" $mpirun -np 1 $zero "$relay" "0:0>1 1:1>2" 0 --unpinned - --json --stdin="$work/in" : \
            -np 1 $one "$relay" "0:0>1 1:1>2" 1 --unpinned </dev/null >"$work/out" && positive <"$work/out" || return 1
        "$PYTHON" -c 'import json, sys
assert max(json.loads(line)["ms"] for line in sys.stdin) < 1e7' <"$work/out" || return 1
    done
}

unyielding() { # whatever Open MPI was told: a thread that computes would have the core for milliseconds
    "${CC:-cc}" -std=c11 -O1 -D_GNU_SOURCE -shared -fPIC "$SRCDIR/tests/mpi/yields.c" -o "$work/yields.so" || return 1
    counted="env LD_PRELOAD=$work/yields.so $relay"
    # shellcheck disable=SC2086
    timeout -k 5 "$hang" $mpirun --mca mpi_yield_when_idle 1 -np 1 $counted "0:0>1@2 1:1>2@2" 0 --unpinned --bench=1 : \
        -np 1 $counted "0:0>1@2 1:1>2@2" 1 --unpinned </dev/null >"$work/out" 2>"$work/err"
    grep yields: "$work/err"
    [ "$(grep -c '^yields: [0-9]\{1,2\}$' "$work/err")" = 2 ] # starting and ending may
}

rank_files() { # AutoDiCE's
    here=$PWD
    # Apart: mpirun may pass on a line of stderr in the middle of one of stdout.
    (cd "$work" && run "$chain" --bench=0.5 --per-rank </dev/null >out 2>err) || { cat "$work/err"; return 1; }
    for rank in 0 1 2; do
        grep -q "^IRank: $rank  min = .* max = .* avg = " "$work/err" && [ "$(cut -d. -f1 "$work/${rank}_PERFORMANCE.txt")" -ge 20 ] &&
            [ "$(cut -d. -f1 "$work/${rank}_MEMORY.txt")" -gt 1 ] || { cat "$work/err"; return 1; }
    done
}

# --- run.sh: a folder with programs, as ingot deploy makes it ---

package() { # spec, hosts
    package_spec=$1
    mkdir -p "$work/package" && cp "$SRCDIR/gen/launch.sh" "$work/package/run.sh" || return 1
    : >"$work/package/appfile"
    : >"$work/package/rankfile"
    for rank in 0 1 2; do
        printf '#!/bin/sh\nexec "%s" "%s" %d "$@"\n' "$relay" "$package_spec" $rank >"$work/package/key$rank"
        chmod +x "$work/package/key$rank"
        echo "-np 1 ./key$rank" >>"$work/package/appfile"
        shift
        echo "rank $rank=$1    slots=0" >>"$work/package/rankfile"
    done
}

launched() {
    package "$chain" localhost localhost localhost && input 5 >"$work/in" || return 1
    for way in --here ""; do
        # shellcheck disable=SC2086
        MPIRUN=${mpirun%% *} timeout -k 5 "$hang" "$work/package/run.sh" $way --json - <"$work/in" >"$work/out" && [ "$(wc -l <"$work/out")" = 5 ] ||
            { cat "$work/out"; return 1; }
    done
    "$work/package/run.sh" --info --json >"$work/info" && [ "$(wc -l <"$work/info")" = 3 ] && "$work/package/run.sh" --help | grep -q -- --here
}

ill_launched() { # wrong words are named, and MPI does not come to speak
    for words in "--hree -" "--here -" "--here $work/none"; do
        option=
        [ "$words" != "--here -" ] || option=--gpu=none
        # shellcheck disable=SC2086
        if MPIRUN=${mpirun%% *} timeout -k 5 "$hang" "$work/package/run.sh" $words $option </dev/null >"$work/out" 2>&1; then return 1; fi
        cat "$work/out"
        case $words in --hree*) wrong=hree ;; *none) wrong="none: No such file" ;; *) wrong="not 'none'" ;; esac
        grep -q -- "$wrong" "$work/out" && ! grep -qiE 'mpi_?(abort|run|exec)|orte|prte|hydra' "$work/out" || return 1
    done
}

launch_ended() { # by TERM; by its mpirun's death
    for victim in launcher mpirun; do
        MPIRUN=${mpirun%% *} timeout -k 5 "$hang" "$work/package/run.sh" --here --bench=600 </dev/null >"$work/out" 2>&1 &
        until [ "$(alive | wc -l)" -ge 3 ]; do kill -0 $! && sleep .05 || { cat "$work/out"; return 1; }; done
        sleep 2
        if [ $victim = launcher ]; then kill -TERM $!; else kill -KILL "$(pgrep -f "^${mpirun%% *} .*$work/package")"; fi
        if wait $!; then return 1; fi
        gone || return 1
    done
}

# --- links ---

at() { # device
    echo "-np 1 -host $(lab_host "$1") -x RELAY_WIDTH $relay"
}

on_links() { # arguments: the chain's keys each on a device of its own
    # shellcheck disable=SC2046,SC2086
    lab_mpirun $(at 0) "$chain" 0 --unpinned "$@" : $(at 1) "$chain" 1 --unpinned : $(at 2) "$chain" 2 --unpinned
}

overlap_tcp() { # 20 ms of work, 14 ms of transfer, one after the other 34; other tests run meanwhile, and work that wakes late takes longer
    RELAY_WIDTH=41250
    export RELAY_WIDTH
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        on_links --bench=3 --json >"$work/bench" && "$PYTHON" - "$work/bench" <<'PY' && return 0
import json, sys
b = json.load(open(sys.argv[1]))
period, busy = 1e3 / b["fps"], max(r["busy_ms"] for r in b["ranks"])
print(period, "ms from result to result,", busy, "of work,", b["first_ms"], "for one alone,", b["median_ms"], "median")
assert b["first_ms"] > 60 + 2 * 12, "the link is faster than it should be"
assert period <= busy + 14 / 2
PY
    done
    return 1
}

link_cut() { # of run.sh on three devices
    package "$chain" "$(lab_host 0)" "$(lab_host 1)" "$(lab_host 2)" || return 1
    MPIRUN=mpirun timeout -k 5 "$hang" "$work/package/run.sh" --unpinned --bench=600 </dev/null >"$work/out" 2>&1 &
    pid=$!
    until [ "$(alive | wc -l)" -ge 3 ]; do kill -0 $pid && sleep .05 || { cat "$work/out"; return 1; }; done
    sleep 4
    lab_cut 1
    if wait $pid; then return 1; fi
    cat "$work/out"
    grep -q "lost communication\|no sign of life of rank 1" "$work/out" && gone # what is behind the cut, too
}

if [ ! -x out/mpi/relay ] || ! have mpirun || ! mpirun --version 2>/dev/null | grep -q 'Open MPI'; then
    for name in $tests unyielding launched ill_launched launch_ended; do skip "$name" "no Open MPI"; done
else
    relay=$work/relay mpirun="mpirun --oversubscribe --bind-to none"
    cp out/mpi/relay "$relay"
    for name in $tests unyielding launched ill_launched launch_ended; do check "$name" $name; done
fi

# The same by the other MPI.
mpich() {
    relay=$work/relay_mpich mpirun=mpirun.mpich
    # shellcheck disable=SC2086
    mpicc.mpich -std=c11 -O1 -D_GNU_SOURCE -I"$SRCDIR" "$SRCDIR"/tests/mpi/relay.c "$SRCDIR"/tests/mpi/ranks.c "$SRCDIR"/runtime/mpi/*.c \
        out/host/libingot_runtime.a -lpthread -lm -o "$relay"
}
if have mpicc.mpich && have mpirun.mpich && [ -f out/host/libingot_runtime.a ]; then
    check "a rank of MPICH's" mpich && for name in $tests launched ill_launched launch_ended; do check "$name, MPICH" $name; done
else
    skip "the same by MPICH" "no mpicc.mpich"
fi

if [ ! -x out/mpi/relay ] || [ ! -f "$SRCDIR/tests/support/netlab.sh" ]; then
    lab_why="no ranks or no lab"
else
    . "$SRCDIR/tests/support/netlab.sh"
    lab_why=
    lab_needs && lab_start 3 100mbit
fi
if [ -n "$lab_why" ]; then
    skip overlap_tcp "$lab_why"
    skip link_cut "$lab_why"
else
    relay=$work/relay
    check overlap_tcp overlap_tcp
    check link_cut link_cut
    lab_stop
fi
finish
