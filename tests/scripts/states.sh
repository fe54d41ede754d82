# Networks of many inputs and outputs, as those that are run step by step have for their states: a program takes 64 of each.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}

built() { # number of states: each leaves as what the one before it came with, and 1
    cat >"$work/net.py" <<'PY'
import struct
import sys

from onnx_bytes import num, txt, value

n = int(sys.argv[1])
graph = b"".join(txt(1, txt(1, f"s{(i - 1) % n}") + txt(1, "one") + txt(2, f"t{i}") + txt(4, "Add")) for i in range(n)) + txt(2, "g")
graph += txt(5, num(1, 1) + num(2, 1) + txt(8, "one") + txt(9, struct.pack("<f", 1)))
graph += b"".join(txt(11, value(f"s{i}", 1, 4)) + txt(12, value(f"t{i}", 1, 4)) for i in range(n))
sys.stdout.buffer.write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
PY
    PYTHONPATH=$SRCDIR/tests PYTHONDONTWRITEBYTECODE=1 $PYTHON "$work/net.py" "$1" >"$net.onnx" && out/ingot graph "$net.onnx" -o "$net.json" &&
        out/ingot plan "$net.json" --threads 1 -o "$net.plan.json" && program states "$net.plan.json"
}

a_step() { # of 40 files: state 7 is 7, 7, 7, 7, what leaves behind it 8, as last of a .npy
    $PYTHON -c 'import struct, sys
for i in range(40): open(f"{sys.argv[1]}/s{i}.raw", "wb").write(struct.pack("<4f", i, i, i, i))' "$work" || return 1
    ins='' outs=''
    for i in $(seq 0 39); do ins="$ins $work/s$i.raw" outs="$outs -o $work/t$i.npy"; done
    # shellcheck disable=SC2086
    "$work/states" --top 0 $ins $outs && for i in $(seq 0 39); do
        $PYTHON -c 'import struct, sys
assert struct.unpack("<4f", open(sys.argv[1], "rb").read()[-16:]) == (float(sys.argv[2]),) * 4' "$work/t$i.npy" $(((i + 39) % 40 + 1)) || return 1
    done
}

a_stream() { # of frames of all of them: of 0 to 39, whose first output is 40, and of 1 to 39 and 0
    cat "$work"/s[1-9].raw "$work"/s[123]?.raw "$work/s0.raw" >"$work/second" && cat "$work/s0.raw" "$work"/s[1-9].raw "$work"/s[123]?.raw "$work/second" >"$work/frames" &&
        "$work/states" - --json --top 1 <"$work/frames" >"$work/out" && cat "$work/out" &&
        [ "$(sed 's/.*"value"://' "$work/out" | tr -d '\n')" = '40}]}1}]}' ]
}

too_many() {
    ! "$work/states" --bench=0.1 2>"$work/err" && cat "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] &&
        grep -q 'more than 64 inputs or outputs: use the library' "$work/err"
}

check "40 states" built 40
check "a step of them" a_step
check "a stream of steps" a_stream
check "65 states" built 65
check "are too many for a program" too_many
finish
