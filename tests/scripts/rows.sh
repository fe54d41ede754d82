# Stages split by rows over several devices, as `ingot plan --deploy --rows` finds them: never worse than without, built by the
# command that it prints, with the bytes of the single program.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"
site=$work/site.json
frames=20
cat >"$site" <<'JSON'
{"format":"ingot-site","version":1,
"devices":[{"name":"a","cores":1},{"name":"b","cores":1},{"name":"c","cores":1}],
"links":[{"alpha_ns":1000,"bytes_per_s":10000000000}]}
JSON

plan() { # options...
    out/ingot plan --deploy "$work/giant.onnx" --platform="$site" --pareto "$@"
}

found() { # one layer takes nearly all of the time: cutting between layers gains nothing, cutting it does
    "$PYTHON" -B "$SRCDIR/tests/giant_net.py" "$work/giant.onnx" && plan --json >"$work/whole.json" &&
        plan --rows 3 --json >"$work/rows.json" && "$PYTHON" - "$work/whole.json" "$work/rows.json" <<'PY'
import json, sys
whole, rows = (json.load(open(f))["points"] for f in sys.argv[1:])
best = [max(p["fps"] for p in points) for points in (whole, rows)]
assert best[1] > 1.8 * best[0], best
axes = "device_j", "device_memory_bytes", "devices"
for p in whole: # never worse
    assert any(q["fps"] >= p["fps"] and all(q[a] <= p[a] for a in axes) for q in rows), p
groups = [s for p in rows for s in p["stages"] if s.get("devices", 1) > 1]
assert {s["devices"] for s in groups} == {2, 3}, groups
PY
}

files() { # a point with a group has a horizontal.json, another one has none
    plan --rows 3 -o "$work/front" >"$work/words" && "$PYTHON" - "$work/front" <<'PY'
import json, os, sys
at = sys.argv[1]
for i, p in enumerate(json.load(open(at + "/front.json"))["points"], 1):
    groups = any(s.get("devices", 1) > 1 for s in p["stages"])
    assert os.path.exists(f"{at}/horizontal-{i}.json") == groups, i
    keys = json.load(open(f"{at}/mapping-{i}.json"))
    assert len({k.split("_")[0] for k in keys}) == p["devices"], (i, keys)
PY
}

# Tool and libraries are those that stand, so that no more is compiled than tables.
cc=${CC:-cc}

single() {
    (cd "$work/build" && d=alone.d && out/ingot graph ../giant.onnx -o graph.json &&
        out/ingot plan graph.json --threads 1 -o plan.json && out/ingot gen graph.json plan.json -o $d --prefix alone &&
        for part in main.c plan.c weights.S; do
            # shellcheck disable=SC2086
            "$cc" $flags -I$d -c $d/alone_$part -o $d/alone_${part%.*}.o || exit 1
        done &&
        "$SRCDIR/gen/link.sh" program alone $d/alone "$cc" -Wl,--gc-sections $d/alone_main.o $d/alone_plan.o \
            out/host/libingot_runtime.a out/host/libingot_kernels.a -lm -lpthread) >"$work/log" 2>&1 ||
        { tail -20 "$work/log"; return 1; }
    "$work/build/alone" - -o - --top 0 <"$work/frames.raw" >"$work/want"
}

built() { # point: of what the printed command gives to ingot deploy
    plan --rows 3 --point "$1" -o "$work/front" >"$work/words" || return 1
    line=$(sed -n 's/^\.\/configure --model=[^ ]* \(.*\) && ninja$/\1/p' "$work/words")
    echo "$line" | grep -q -- --horizontal= || { cat "$work/words"; return 1; }
    # shellcheck disable=SC2086
    (cd "$work/build" && rm -rf ranks ranks.d && out/ingot deploy ../giant.onnx --threads 1 --exact $line -o ranks &&
        NINJA=${NINJA:-ninja} MPICC=${MPICC:-mpicc} CC=$cc CFLAGS=$flags LDFLAGS='' PROGRAM_FLAGS=-Wl,--gc-sections \
            SRCDIR=$SRCDIR "$SRCDIR/gen/ranks.sh" ranks.d/ranks.txt ranks) >"$work/log" 2>&1 ||
        { tail -20 "$work/log"; return 1; }
    sed "s|\$| - -o - --top 0 --unpinned --stdin=$work/frames.raw|" "$work/build/ranks/appfile" >"$work/app" || return 1
    (cd "$work/build/ranks" && timeout -k 5 "$hang" mpirun --oversubscribe --bind-to none --app "$work/app") \
        </dev/null >"$work/got" 2>"$work/err" || { cat "$work/err"; return 1; }
    cmp "$work/want" "$work/got"
}

check "a stage is split where that is faster" found
check "files of each point" files
if can_deploy; then
    [ -f out/host/libingot_mpi.a ] || ${NINJA:-ninja} out/host/libingot_mpi.a >"$work/log" 2>&1
    ln -s "$PWD/out" "$work/build/out"
    SRCDIR=$(cd "$SRCDIR" && pwd)
    flags="-std=c11 -D_GNU_SOURCE -I$SRCDIR -O1 -ffunction-sections -fdata-sections"
    random_frames 9216
    check "the single program" single
    points=$(ls "$work"/front/horizontal-*.json | sed 's/.*-\([0-9]*\)\.json/\1/')
    for point in $points; do check "point $point has its bytes" built "$point"; done
else
    skip "points are built" "no mpicc, mpirun or $PYTHON"
fi
finish
