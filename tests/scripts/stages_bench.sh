# bench/pipeline: its table and bars, how it puts predictions right, what predictions promise of each other, a short run.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
net=$work/net.json

network() {
    out/ingot zoo squeezenet1.1 -o "$work/net.onnx" && out/ingot graph "$work/net.onnx" -o "$net"
}

profiles() { # of one core and of two
    out/ingot profile "$net" -q --seconds 0.5 --threads 1 -o "$work/one.json" &&
        out/ingot profile "$net" -q --seconds 0.5 --threads 2 -o "$work/two.json"
}

# The planner's own figures agree with each other, whatever the times are: what a plan of the cut says is what the search
# said, less what handing over costs; more processors, or less contention, never make it slower.
promises() {
    "$PYTHON" - "$SRCDIR" "$work" <<'PY'
import json, subprocess, sys
src, work = sys.argv[1:]
sys.path.insert(0, src + "/bench")
from pipe import study
net = work + "/net.json"
def pipeline(*args):
    return json.loads(subprocess.run(["out/ingot", "pipeline", net, "--json", "--bands", "auto", *args], check=True,
                                     stdout=subprocess.PIPE).stdout)
def plan(profile, stages, name):
    subprocess.run(["out/ingot", "plan", net, "--profile", profile, "--threads", "1", "--stages", stages, "-o",
                    f"{work}/{name}.json"], check=True)
    return json.load(open(f"{work}/{name}.json"))
def period(answer, way):
    return {a["algorithm"]: a["period_ns"] for a in answer["algorithms"]}[way]
one = work + "/one.json"
two = pipeline("--profile", one)
p = plan(one, two["stages_option"], "p")
cuts = period(two, "cuts")
assert abs(p["totals"]["period_ms"] * 1e6 - cuts) < 4000 + 0.002 * cuts, (p["totals"], cuts)
assert cuts <= period(two, "single") and 2 * two["bound_ns"] >= period(two, "single") * 0.999
assert period(pipeline("--profile", one, "--contention", "1.05,1.5"), "cuts") >= cuts
assert period(pipeline("--profile", one, "--processors=cpu:0,cpu:1,cpu:2"), "cuts") <= cuts
# A profile that is scaled as a whole takes so much longer; of one stage, that stage does. Not quite as much where another
# kernel is taken then: what loading weights costs is no part of the times, and weighs less against longer ones.
about = lambda ratio, factor: 0.95 * factor < ratio < 1.0001 * factor
study.scale(one, work + "/all.json", lambda node: 1.5)
longer = period(pipeline("--profile", work + "/all.json", "--link", "0,0"), "cuts")
assert about(longer / period(pipeline("--profile", one, "--link", "0,0"), "cuts"), 1.5), longer
stage = {s["node"]: s["stage"] for s in p["steps"]}
study.scale(one, work + "/second.json", lambda node: 1.25 if stage[node] else 1)
q = plan(work + "/second.json", two["stages_option"], "q")
a, b = ([s["predicted_ns"] for s in x["stages"]] for x in (p, q))
assert abs(b[0] / a[0] - 1) < 1e-9 and about(b[1] / a[1], 1.25), (a, b)
# The cut moves towards the core that has become slower.
moved = pipeline("--profile", work + "/second.json")
count = lambda answer: sum(s["stage"] == 0 for s in answer["segments"])
assert count(moved) >= count(two), (count(moved), count(two))
# A team is taken where it is faster than stages, and only there.
for factor, way in ((0.01, "team"), (100, "cuts")):
    study.scale(work + "/two.json", work + "/team.json", lambda node: factor)
    assert pipeline("--profile", one, "--profile", work + "/team.json", "--algorithm", "best")["chosen"] == way
PY
}

tables() {
    "$PYTHON" - "$SRCDIR" "$work" <<'PY'
import copy, sys
src, work = sys.argv[1:]
sys.path.insert(0, src + "/bench")
from pipe import table
way = lambda fps: {"fps": fps, "p10": fps * 0.99, "p90": fps * 1.01}
entry_of = lambda *attempts, name="a", order=1, build="x": {"network": name, "order": order, "build": build, "kappa": 1.05, "attempts": list(attempts)}
found = {"pick": "pipeline", "single": dict(way(100), predicted_fps=100), "team": way(180),
     "pipeline": dict(way(194), predicted_fps=200, foretold_fps=210, latency_ms=21, predicted_latency_ms=20,
                      latency_alone_ms=10, predicted_latency_alone_ms=10)}
e = {**entry_of(found), **found}
assert abs(table.gain(e) - 1.94) < 1e-9 and table.best(e) == "pipeline" and table.regret(e) == 0
assert abs(table.spread(dict(e, single=dict(e["single"], predicted_spread=7))) - 7) < 1e-9
assert abs(table.spread(e) - 1) < 1e-9 and abs(table.spread(dict(e, team=dict(way(180), p90=180 * 1.21))) - 11) < 1e-9
assert abs(table.gaps(e)["rate"] + 3) < 1e-9 and abs(table.gaps(e)["latency"] - 5) < 1e-9
kept = lambda entries: [ok for _, _, ok in table.bars(entries)]
assert kept([e]) == [True, True, True, True, True, False, True, True], table.bars([e])
wrong = dict(copy.deepcopy(found), pick="single")
assert kept([e, dict(e, **wrong)])[:3] == [True, False, False]
results = table.read(work + "/none.json")
for x in (entry_of(found), entry_of(wrong, name="b", order=0), entry_of(found)):
    table.merge(results, x, 10)
assert [x["network"] for x in results["results"]] == ["b", "a"]
# Attempts of one build add up, and a calm one counts, whenever it was; another build begins anew.
noisy = lambda fps: dict(found, team=dict(way(190), p90=190 * 1.21), pipeline=dict(found["pipeline"], fps=fps))
for build, fps, n, counts in (("x", 202, 3, 194), ("y", 202, 1, 202), ("y", 190, 2, 190), ("y", 199, 3, 199), ("y", 194, 4, 194), ("y", 193, 5, 194)):
    table.merge(results, entry_of(noisy(fps), build=build), 10)
    held = table.held(results, "a", build)
    assert (held["pipeline"]["fps"], len(held["attempts"])) == (counts, n), held
table.merge(results, entry_of(dict(found, team=way(188)), build="y"), 10)
held = table.held(results, "a", "y")
assert held["team"]["fps"] == 188 and table.attempts_text(held).count("within 11.0 %") == 5, table.attempts_text(held)
assert table.held(results, "a", "x") is None
table.write(results, work + "/results.json")
assert table.read(work + "/results.json") == results
assert "best: pipeline" in table.text(results["results"]) and "MISSED" in table.verdicts(results["results"])
open(work + "/page.md", "w").write(f"before\n{table.BEGIN}\nold\n{table.END}\nafter\n")
table.update(work + "/page.md", table.markdown(results))
page = open(work + "/page.md").read()
assert "old" not in page and page.startswith("before\n") and page.endswith("after\n") and "| b | 100.0" in page
PY
}

# What runs while the cores are one, or farther apart than mostly, runs again; the output of the run that counts is passed on.
calm() {
    two=$("$PYTHON" -c 'import os; print(*sorted(os.sched_getaffinity(0))[:2], sep=",")')
    mkdir -p "$work/calm/out/bench"
    printf '#!/bin/sh\nwhile read -r line; do n=$((n + 1)); sed -n "${n}p" answers; done\n' >"$work/calm/out/bench/cores"
    chmod +x "$work/calm/out/bench/cores"
    (cd "$work/calm" && printf '%s\n' "1.1 40" "1.8 40" "1.1 40" "1.1 90" "1.1 41" "1.2 42" >answers && : >runs &&
        [ "$("$SRCDIR/bench/calm" --usual 40 "$two" sh -c 'echo >>runs; wc -l <runs')" -eq 3 ] &&
        : >runs && yes "1.1 19" | head -10 >answers &&
        [ "$("$SRCDIR/bench/calm" --usual 40 "$two" sh -c 'echo >>runs; wc -l <runs' 2>err)" -eq 5 ] && grep -q "cores $two were not" err &&
        { "$SRCDIR/bench/calm" --usual 19 "$two" sh -c 'exit 7'; [ $? = 7 ]; } &&
        yes "1.1 44" | head -30 >answers && [ "$("$SRCDIR/bench/calm" "$two")" = 44.0 ])
}

short_run() { # seconds of a trial: all that is needed is there, whatever the times are
    rm -f "$work/short.json" # attempts add up
    "$SRCDIR/bench/pipeline" --networks mobilenet_v1_025 --profile 0.5 --seconds 0.05 --rounds 2 --trial "$1" --tries 2 --spread 0 --again 2 \
        -o "$work/short.json" >"$work/out" &&
        "$PYTHON" - "$SRCDIR" "$work/short.json" <<'PY' && "$SRCDIR/bench/pipeline" --tables -o "$work/short.json" | grep -q '^mobilenet_v1_025'
import json, sys
sys.path.insert(0, sys.argv[1] + "/bench")
from pipe import table
(e,) = json.load(open(sys.argv[2]))["results"]
for way in ("single", "team", "pipeline"):
    assert 0 < e[way]["p10"] <= e[way]["fps"] <= e[way]["p90"] and e[way]["predicted_fps"] > 0, e[way]
p = e["pipeline"]
assert p["latency_ms"] > 0 and len(p["stage_ms"]) == 2
# A lone frame's cores are woken for it, which other programs delay: the shortest of the attempts counts.
alone, full = ([t["pipeline"][f"predicted_latency{kind}_ms"] for t in e["attempts"]] for kind in ("_alone", ""))
assert min(alone + full) > 0 and max(full) >= 0.5 * min(alone), (alone, full)
assert e["pick"] in ("single", "team", "pipeline") and e["kappa"] > 0 and p["stages"].startswith("cpu:")
# No two rounds are the same: as many attempts as may be, and of these two that of the larger gap counts.
assert len(e["attempts"]) == 2 and abs(table.gaps(e)["rate"]) == max(abs(table.gaps(t)["rate"]) for t in e["attempts"]), e["attempts"]
PY
}

resumed() { # what was measured quietly by this build is left out, what was not has more attempts
    short="$SRCDIR/bench/pipeline --networks mobilenet_v1_025 --profile 0.5 --seconds 0.05 --rounds 2 --trial 0.3 --tries 2 --again 1 --resume"
    cp "$work/short.json" "$work/resumed.json" && $short --spread 1e9 -o "$work/resumed.json" >"$work/out" && cmp "$work/short.json" "$work/resumed.json" &&
        $short --spread 0 -o "$work/resumed.json" >"$work/out" && "$PYTHON" - "$work/resumed.json" <<'PY'
import json, sys
(e,) = json.load(open(sys.argv[1]))["results"]
assert len(e["attempts"]) == 3, e["attempts"]
PY
}

refused() { # exit 1 and a line that says why
    ! out/ingot profile "$net" -q --threads 1 -o "$work/no.json" "$1" 2>"$work/err" && grep -q "$2" "$work/err" && [ ! -e "$work/no.json" ]
}

beside() {
    core=$("$PYTHON" -c 'import os; print(min(os.sched_getaffinity(0)))')
    out/ingot profile "$net" -q --seconds 0.3 --threads 1 --beside "$core" -o "$work/beside.json" && grep -q '^"beside":1,' "$work/beside.json" &&
        out/ingot plan "$net" --threads 1 --profile "$work/beside.json" -o "$work/x.json" && ! grep -q beside "$work/one.json"
}

of_stages() { # beside the cores of the other stages, or alone, with a word, where they are not this process's
    core=$("$PYTHON" -c 'import os; print(min(os.sched_getaffinity(0)))')
    other=$("$PYTHON" -c 'import os; print(max(os.sched_getaffinity(0)))')
    out/ingot profile "$net" -q --seconds 0.3 --threads 1 --stages "cpu:$core@3,cpu:$other" -o "$work/staged.json" 2>"$work/err" &&
        grep -q '^"beside":1,' "$work/staged.json" && [ ! -s "$work/err" ] &&
        out/ingot profile "$net" -q --seconds 0.3 --threads 1 --stages "cpu:$core,gpu,cpu:63/2" -o "$work/alone.json" 2>"$work/err" &&
        grep -q 'may not use all these cores: times are taken alone' "$work/err" && ! grep -q '"beside"' "$work/alone.json"
}

configured() { # ./configure --stages asks for that, for as many threads as each stage has
    for row in "cpu:0,cpu:1|1" "cpu:0-1/2,cpu:2+3|2" "cpu:0,cpu:1-2|1"; do
        rm -rf "$work/build" && mkdir "$work/build"
        (cd "$work/build" && NINJA=true "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --prefix=boots --without-aarch64 \
            --stages="${row%|*}" --input-spec=softmax=yes) >"$work/log" 2>&1
        grep -q "args = --isa [a-z0-9]* --threads ${row#*|} --stages ${row%|*}\$" "$work/build/build.ninja" &&
            grep -q "args = .* --stages ${row%|*} --input-spec softmax=yes" "$work/build/build.ninja" || return 1
    done
}

no_beside() {
    all=$("$PYTHON" -c 'import os; print(",".join(map(str, os.sched_getaffinity(0))))')
    refused --stages=cpu:x "no set of cores" && refused --stages=cpu:0,, "no set of cores" && refused "--beside=$all" "no core is left" && refused --beside=x "no list of cores" && refused --beside=0,0 "twice"
}

check "a network" network
check "profiles of one core and of two" profiles
check "predictions agree with each other" promises
check "the table and its bars" tables
check "cores that are none are refused" no_beside
check "./configure --stages takes such a profile" configured
if [ "$(nproc)" -lt 2 ]; then
    skip "a profile with another core at work" "one core"
    skip "a profile of a pipeline's stages" "one core"
    skip "commands run while the cores are as they mostly are" "one core"
    skip "a short run" "one core"
else
    check "a profile with another core at work" beside
    check "a profile of a pipeline's stages" of_stages
    check "commands run while the cores are as they mostly are" calm
    check "a short run" within "0.3 1.2 5" short_run
    check "a run that goes on" resumed
fi
finish
