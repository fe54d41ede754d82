# Several networks in one arena and under one budget, as a user asks for it; two that really run in it.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
a=$work/fashion.graph.json b=$work/mobilenet_v1_025.graph.json

share() { # options...
    out/ingot share --threads 1 "$@" "$a" "$b"
}

networks() {
    out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$a" &&
        out/ingot zoo mobilenet_v1_025 -o "$work/mobilenet_v1_025.onnx" && out/ingot graph "$work/mobilenet_v1_025.onnx" -o "$b"
}

totals() { # in turn the larger arena, at once both; the plans say the same
    share --json --objective memory -o "$work/turn" >"$work/turn.json" &&
        share --json --objective memory --at-once -o "$work/once" >"$work/once.json" && "$PYTHON" - "$work" <<'PY'
import json, sys
at = sys.argv[1]
for way, total in ("turn", max), ("once", sum):
    figures = json.load(open(f"{at}/{way}.json"))
    arenas = []
    for net in figures["networks"]:
        totals = json.load(open(f"{at}/{way}/{net['name']}.plan.json"))["totals"]
        assert 0 <= net["arena_bytes"] - totals["arena_bytes"] < 64 and net["weights_bytes"] == totals["weights_bytes"]
        arenas.append(net["arena_bytes"])
    assert figures["arena_bytes"] == total(arenas), figures
    assert figures["weights_bytes"] == sum(net["weights_bytes"] for net in figures["networks"])
    assert f"INGOT_ARENA_BYTES INT64_C({total(arenas)})\n" in open(f"{at}/{way}/arena.h").read()
    open(f"{at}/{way}.bytes", "w").write(str(figures["arena_bytes"] + figures["weights_bytes"]))
PY
}

budget() { # kept to the byte; below it the message says by how much, and nothing is written
    least=$(cat "$work/turn.bytes")
    share --memory-budget "$least" -o "$work/fits" && grep -q "MEMORY_BUDGET_BYTES $least" "$work/fits/arena.h" &&
        ! share --memory-budget $((least - 1)) -o "$work/no" 2>"$work/err" && [ ! -e "$work/no" ] &&
        grep -q "budget of $((least - 1)) bytes exceeded by 1: the least of these 2 networks is $least" "$work/err"
}

named() { # the least that the message names is enough, in turn and at once
    for way in "" --at-once; do
        # shellcheck disable=SC2086
        ! share $way --memory-budget 1000 2>"$work/err" && least=$(sed 's/.*networks is \([0-9]*\),.*/\1/' "$work/err") &&
            share $way --memory-budget "$least" -o "$work/named" || return 1
    done
}

again() { # the same bytes
    share --memory-budget 3MB -o "$work/x" && share --memory-budget 3MB -o "$work/y" && diff -r "$work/x" "$work/y"
}

twins() {
    ! out/ingot share "$a" "$a" 2>"$work/err" && grep -q "both networks are called" "$work/err"
}

library() { # name
    out/ingot gen "$work/$1.graph.json" "$work/turn/$1.plan.json" -o "$work/gen" || return 1
    for unit in plan.c api.c weights.S; do
        $cc -std=c11 -O2 -I"$SRCDIR" -I"$work/gen" -c "$work/gen/$1_$unit" -o "$work/gen/$1_${unit%.*}.o" || return 1
    done
}

two() {
    cc=$(sed -n 's/^program_cc = //p' build.ninja)
    flags=$(sed -n 's/^program_flags = //p' build.ninja)
    runtime=$(sed -n 's/^program_runtime = //p' build.ninja)
    library fashion && library mobilenet_v1_025 || return 1
    # shellcheck disable=SC2086
    $cc -std=c11 -Wall -Werror $flags -I"$work/gen" -I"$work/turn" "$SRCDIR/tests/library/two.c" "$work"/gen/*.o \
        "$runtime" out/host/libingot_kernels.a -lm -lpthread -o "$work/two" && "$work/two"
}

mismatch() { # a header of another plan does not compile
    sed 's/INGOT_ARENA_BYTES INT64_C.*/INGOT_ARENA_BYTES 64/' "$work/turn/arena.h" >"$work/gen/arena.h" &&
        ! $cc -std=c11 -I"$work/gen" -c "$SRCDIR/tests/library/two.c" -o "$work/two.o" 2>"$work/err" &&
        grep -q "not made from the plan beside this file" "$work/err"
}

check "networks" networks
check "in turn the larger arena, at once the sum" totals
check "a budget for all of them is kept to the byte" budget
check "the least that a message names is enough" named
check "the same input, the same bytes" again
check "two networks of one name are refused" twins
check "two networks in one arena compute what they do apart" two
check "a network of another plan does not compile against the arena" mismatch
finish
