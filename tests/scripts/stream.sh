# A pipeline as a program and as a library: raw frames in, a line each out, as without stages, whatever happens to it.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"

builds() {
    staged_program --stages cpu:0,cpu:1,cpu:0
}

cut_stream() { # all whole frames are answered, then the half one is an error
    head -c $((frame * 5 / 2)) "$work/frames" >"$work/half"
    "$work/program" - <"$work/half" >"$work/out" 2>"$work/err" && return 1
    [ "$(wc -l <"$work/out")" = 2 ] && grep -q 'middle of a frame' "$work/err"
}

empty_stream() {
    "$work/program" - </dev/null >"$work/out" && [ ! -s "$work/out" ]
}

killed_after() { # seconds from when it has opened its input: whatever was printed ends in a line's end
    rm -f "$work/opened"
    (: >"$work/opened"; while cat "$work/frames"; do :; done) >"$work/pipe" 2>/dev/null &
    "$work/program" - --json --top 100 <"$work/pipe" >"$work/out" &
    program=$!
    until [ -e "$work/opened" ]; do sleep 0.01; done
    sleep "$1"
    kill -TERM $program && wait
    cat "$work/out" >>"$work/all"
    [ -z "$(tail -c 1 "$work/out")" ] && ! grep -qv '^{.*}$' "$work/out"
}

whole_lines() { # killed at some moment; the later ones are for a machine where nothing was printed before
    mkfifo "$work/pipe" || return 1
    for pause in 0.02 0.05 0.09 0.11 0.13 0.17 0.2 0.23 0.28 0.31 0.37 0.4; do killed_after $pause || return 1; done
    for pause in 2 8 32; do [ -s "$work/all" ] || killed_after $pause || return 1; done
    [ -s "$work/all" ]
}

info() { # its stages, and what passes between them: as the plan says, and as ingot inspect does
    "$work/program" --info >"$work/info" && cat "$work/info" && grep -q '^3 stages: a result every' "$work/info" &&
        grep -q '^  stage 1 on cpu:1: 1 thread, ' "$work/info" && grep -q '^  slot .* push to stage 0 .* B, [0-9]* cop.*, arena at' "$work/info" &&
        out/ingot inspect --stages "$net.json" "$net.plan.json" | grep '^  slot' | tr -d , >"$work/a" && grep '^  slot' "$work/info" | tr -d , |
        tr -s ' ' >"$work/b" && tr -s ' ' <"$work/a" | cmp - "$work/b" && "$work/program" --info --json >"$work/info.json" &&
        out/ingot inspect --stages --json "$net.json" "$net.plan.json" >"$work/inspect.json" && "${PYTHON:-python3}" - "$work" <<'PY'
import json, sys
info, inspect, plan = (json.load(open(f"{sys.argv[1]}/{n}.json")) for n in ("info", "inspect", "net.plan"))
keys = "bytes", "copies", "from", "name", "offset", "to"
slots = [[{k: s[k] for k in keys} for s in x["slots"]] for x in (info["pipeline"], inspect, plan)]
assert slots[0] == slots[1] == slots[2] and len(slots[0]) >= 4, slots
assert {s["memory"] for s in info["pipeline"]["slots"] + inspect["slots"]} == {"arena"}
stages = [[(s["processor"], s["threads"], s["cores"]) for s in x["stages"]] for x in (info["pipeline"], inspect, plan)]
assert stages[0] == stages[1] == stages[2] and inspect["alternatives"] == []
assert sum(s["layers"] for s in info["pipeline"]["stages"]) == info["layers"]
assert abs(info["pipeline"]["period_ms"] - plan["totals"]["period_ms"]) < 1e-5
PY
}

no_stages() {
    out/ingot plan "$net.json" --threads 1 -o "$work/whole.json" && ! out/ingot inspect --stages "$net.json" "$work/whole.json" 2>"$work/err" &&
        grep -q 'a plan without stages' "$work/err"
}

trace() { # a track a stage, a span a frame in each, arrows from stage to stage
    "$work/program" --trace "$work/trace.json" && [ "$(grep -c '"ph":"M"' "$work/trace.json")" = 3 ] &&
        [ "$(grep -c '"ph":"X"' "$work/trace.json")" = 72 ] && [ "$(grep -c '"ph":"[stf]"' "$work/trace.json")" = 72 ]
}

bench() {
    "$work/program" --bench=0.2 --json >"$work/bench" && grep -q '"predicted_fps":.*"stages":\[{.*"processor":"cpu:0"' "$work/bench" &&
        "$work/program" --bench=0.2 | grep -q 'frames a second, predicted' && echo 3 | "$work/program" --bench=- | grep -q '^\[[0-9]*,[0-9]*,[0-9]*\]$'
}

library() {
    cc=${CC:-cc}
    ! have g++ || g++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -xc++ "$net.h" || return 1
    $cc -std=c11 -Wall -Wextra -Werror -O2 -I"$SRCDIR" -I"$work" -c "${net}_api.c" -o "${net}_api.o" &&
        $cc -std=c11 -Wall -Wextra -O2 -I"$work" -c "$SRCDIR/tests/library/stages.c" -o "$work/client.o" &&
        $cc "$work/client.o" "${net}_api.o" "${net}_plan.o" "${net}_weights.o" out/host/libingot_runtime.a \
            out/host/libingot_kernels.a -lm -lpthread -o "$work/client" && "$work/client" | grep -q 'not now'
}

check "a network in three stages is built" builds
check "a stream has the results of the network without stages" same_results
check "a stream that ends in a frame: the frames before it are answered" cut_stream
check "an empty stream" empty_stream
check "killed, it leaves whole lines" whole_lines
check "--info and ingot inspect name stages and slots" info
check "a plan without stages has none to name" no_stages
check "--trace" trace
check "--bench says what was predicted" bench
check "push and pop of the library" library
finish
