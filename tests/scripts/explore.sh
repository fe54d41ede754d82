# Deployments over several devices, as a user asks for them.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
net=$SRCDIR/models/fashion.onnx
site=$work/site.json
cat >"$site" <<'JSON'
{"format":"ingot-site","version":1,
"devices":[{"name":"a","cores":2},{"name":"b","cores":2},{"name":"c","cores":1,"memory_bytes":700000}],
"links":[{"alpha_ns":20000,"bytes_per_s":1000000000}]}
JSON

plan() { # options...
    out/ingot plan --deploy "$net" --platform="$site" --powers=2,1,0 "$@"
}

front() { # all of it, twice the same
    plan --pareto --all -o "$work/front" >"$work/table" && plan --pareto --all -o "$work/again" >"$work/table2" &&
        diff -r "$work/front" "$work/again" && "$PYTHON" - "$work/front/front.json" "$work/front/front.svg" "$work/table" <<'PY'
import json, sys, xml.dom.minidom
r = json.load(open(sys.argv[1]))
svg = xml.dom.minidom.parse(sys.argv[2])
axes = "devices", "device_j", "device_memory_bytes"
points = r["points"]
assert points and 1 <= r["chosen"] <= len(points)
assert points[r["chosen"] - 1]["fps"] == max(p["fps"] for p in points)
for p in points:
    assert len(p["stages"]) >= p["devices"] and p["total_j"] >= p["device_j"] * (1 - 1e-9)
    for q in points:
        assert p is q or p["fps"] > q["fps"] or any(p[a] < q[a] for a in axes), (p, q)
    memory = {}
    for s in p["stages"]:
        device = s["key"].split("_")[0]
        memory[device] = memory.get(device, 0) + s["memory_bytes"]
    assert max(memory.values()) == p["device_memory_bytes"] and memory.get("c", 0) <= 700000
dots = [d.getElementsByTagName("title")[0].firstChild.data for d in svg.getElementsByTagName("circle")]
assert [d.split(":")[0] for d in dots] == ["point %d" % (i + 1) for i in range(len(points))], dots
rows = [line.lstrip("*").split() for line in open(sys.argv[3]) if line.count("/") == 2 and line.split("/")[0][-1].isdigit()]
assert len(rows) == len(points), rows
for i, (row, p) in enumerate(zip(rows, points)): # as the paper's table: J, frames/s, MiB, devices/cores/GPUs; and what that leaves out
    assert row[:2] == [str(i + 1), "%d/%d/%d" % (p["devices"], p["cores"], p["gpus"])], row
    want = p["device_j"], p["total_j"], p["fps"], p["device_memory_bytes"] / 2**20, p["latency_ms"], p["link_bytes"] * 1e-3
    for shown, is_so, digits in zip(map(float, row[2:]), want, (4, 4, 3, 3, 3, 1)):
        assert abs(shown - is_so) <= 0.51 * 10**-digits, (row, want)
    assert len(row) == 8
PY
}

mappings_are_taken() { # each point is a deployment that can be built
    for mapping in "$work"/front/mapping-*.json; do
        out/ingot deploy -q "$net" --mapping="$mapping" --platform="$site" -o "$work/deployed" || return 1
    done
}

bytes_are_those_of_the_deployment() { # what is sent a frame, of a network that is a chain
    for mapping in "$work"/front/mapping-*.json; do
        out/ingot deploy --json "$net" --mapping="$mapping" --platform="$site" -o "$work/deployed" >"$work/deploy.json" &&
            "$PYTHON" - "$work" "${mapping##*-}" <<'PY' || return 1
import json, sys
work, number = sys.argv[1], int(sys.argv[2].split(".")[0])
p = json.load(open(f"{work}/front/front.json"))["points"][number - 1]
d = json.load(open(f"{work}/deploy.json"))
sent = sum(link["bytes"] for link in d["links"])
assert sent == p["moved_bytes"], (sent, p["moved_bytes"])
PY
    done
}

objectives() { # each chooses its best, within limits
    for objective in throughput latency energy memory; do
        plan --objective=$objective -o "$work/$objective.json" >"$work/$objective" || return 1
        tail -1 "$work/$objective" | grep -q "^./configure --model=.* --mapping=$work/$objective.json --platform=$site" &&
            tail -2 "$work/$objective" | grep -q "^These are sums over the network planned as one" || return 1 # configure prints others
    done
    plan --objective=latency --max-latency-ms 0.000001 -o "$work/none.json" >/dev/null 2>&1 && return 1
    ! plan --memory-budget 1KB -o "$work/none.json" >/dev/null 2>&1
}

boards() { # without a site: so many boards, whose site is written
    mkdir -p "$work/boards" && out/ingot plan --deploy "$net" --platform=xavier --devices 3 -o "$work/boards/m.json" >"$work/words" &&
        grep -q "platform=$work/boards/site.json" "$work/words"
}

sources() { # a graph has its nodes for layers, the baseline runs, the command has what was said of the network, a bad site is named
    out/ingot graph "$net" -o "$work/net.graph.json" &&
        out/ingot plan --deploy "$work/net.graph.json" --platform="$SRCDIR/platforms/xavier.json" --devices 2 --pareto --json >"$work/j" &&
        "$PYTHON" -m json.tool <"$work/j" >/dev/null && plan --algorithm nsga2 --pareto >/dev/null &&
        plan --input-shape=image=1x1x40x36 --precision=half -o "$work/m.json" >"$work/words" 2>&1 &&
        tail -n 1 "$work/words" | grep -qF " --input-shape='image=1x1x40x36' --precision=half --mapping=$work/m.json " &&
        echo '{"format":"ingot-site","version":1,"devices":[{}]}' >"$work/bad.json" &&
        ! out/ingot plan --deploy "$net" --platform="$work/bad.json" >/dev/null 2>"$work/words" && grep -q 'bad.json.*name' "$work/words"
}

profiles() { # of the ONNX file, or of the graph.json that it becomes: both verbs take either, and no other network's
    out/ingot graph "$net" -o "$work/graph.json" && out/ingot zoo mobilenet_v1_025 -o "$work/other.onnx" && out/ingot graph "$work/other.onnx" -o "$work/other.json" &&
        plan -o "$work/mapping.json" || return 1
    for of in "$net" "$work/graph.json"; do
        out/ingot profile "$of" --threads 1 --seconds 0.1 -q -o "$work/profile.json" && plan --profile "$work/profile.json" -o "$work/profiled.json" &&
            out/ingot deploy "$net" --mapping "$work/mapping.json" --profile "$work/profile.json" -q -o "$work/ranks" || return 1
    done
    out/ingot profile "$work/other.json" --threads 1 --seconds 0.1 -q -o "$work/profile.json" && ! plan --profile "$work/profile.json" -o "$work/none.json" &&
        ! out/ingot deploy "$net" --mapping "$work/mapping.json" --profile "$work/profile.json" -q -o "$work/none" 2>"$work/err" && [ ! -e "$work/none" ]
}

check "the front is exact, a file for each point, the same twice" front
check "every point's mapping is taken" mappings_are_taken
check "what is sent is what was counted" bytes_are_those_of_the_deployment
check "objectives choose within limits" objectives
check "boards make a site" boards
check "sources, baseline, errors" sources
check "profiles of the file, or of its graph" profiles
finish
