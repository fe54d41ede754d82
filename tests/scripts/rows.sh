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

built() { # point: by the command that is printed for it
    plan --rows 3 --point "$1" -o "$work/front" >"$work/words" || return 1
    line=$(sed -n 's/^\.\/configure \(.*\) && ninja$/\1/p' "$work/words")
    echo "$line" | grep -q -- --horizontal= || { echo "$line"; return 1; }
    # shellcheck disable=SC2086
    build $line --exact --threads=1 && same giant
}

check "a stage is split where that is faster" found
check "files of each point" files
if can_deploy; then
    random_frames 9216
    check "the single program" single giant
    points=$(ls "$work"/front/horizontal-*.json | sed 's/.*-\([0-9]*\)\.json/\1/')
    for point in $points; do check "point $point has its bytes" built "$point"; done
else
    skip "points are built" "no mpicc, mpirun or $PYTHON"
fi
finish
