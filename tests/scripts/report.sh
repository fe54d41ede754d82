# The report: one page that stands alone, a row a layer, and no name of a layer is ever taken for markup or script.
. "$SRCDIR/tests/scripts/tap.inc"
python=${PYTHON:-python3}
browser=$(command -v chromium || command -v chromium-browser)

make_report() { # name, graph, options of plan...: $work/name.{json,html}
    name=$1 graph=$2
    shift 2
    out/ingot plan "$graph" --threads 1 --pareto "$work/$name.front.json" -o "$work/$name.json" "$@" &&
        out/ingot report "$graph" "$work/$name.json" --pareto "$work/$name.front.json" -o "$work/$name.html"
}

zoo_report() { # network
    out/ingot zoo "$1" -o "$work/$1.onnx" && out/ingot graph "$work/$1.onnx" -o "$work/$1.graph.json" &&
        make_report "$1" "$work/$1.graph.json"
}

# Every name of the demo's graph becomes something that a page, a script, printf or a terminal might act on.
hostile_report() {
    out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$work/plain.json" && cp "$work/plain.bin" "$work/evil.bin" &&
        "$python" - "$work" <<'PY' || return 1
import json, sys
evil = ['<script>document.title="broken"</script>', "'\"></td></tr></table>", "%s%n%d{}\\", "</title><!--", "&lt;&amp;",
        "\u00e9\u6f22\U0001f525\u202e", "]]>\x01\x1b[31m\n", "a" * 300, "javascript:alert(1)"]
g = json.load(open(sys.argv[1] + "/plain.json"))
new = {}
for i, x in enumerate(g["values"] + g["nodes"]):
    new[x["name"]] = evil[i % len(evil)] + str(i)
for x in g["values"]:
    x["name"] = new[x["name"]]
for x in g["nodes"]:
    x["name"] = new[x["name"]]
    x["in"] = [v and new[v] for v in x["in"]]
    x["out"] = [v and new[v] for v in x["out"]]
for key in ("inputs", "outputs"):
    g[key] = [new[v] for v in g[key]]
json.dump(g, open(sys.argv[1] + "/evil.json", "w"))
PY
    make_report hostile "$work/evil.json" && out/ingot profile "$work/evil.json" --seconds 0.3 --threads 1 -q -o "$work/p.json" &&
        out/ingot plan "$work/evil.json" --threads 1 --profile "$work/p.json" -o "$work/hostile.json" &&
        out/ingot report "$work/evil.json" "$work/hostile.json" --profile "$work/p.json" -o "$work/hostile.html"
}

# The page as a browser's parser would nest it: what is there, and nothing from elsewhere.
stands_alone() { # name
    "$python" - "$work/$1" <<'PY'
import html.parser, json, sys
VOID = {"meta", "br", "hr", "img", "input", "link"}
class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.rows, self.cells, self.table, self.scripts, self.links, self.ids = [], {}, [], "", 0, [], set()
    def handle_starttag(self, tag, attrs):
        a = dict(attrs)
        assert len(a) == len(attrs), attrs
        assert not any(k.startswith("on") or k in ("src", "data", "action", "srcset") for k in a), attrs
        if "href" in a: self.links.append(a["href"])
        if "id" in a:
            assert a["id"] not in self.ids, a["id"]
            self.ids.add(a["id"])
        if tag == "table": self.table = a["id"]
        if tag == "tbody": self.body = True
        if tag == "thead": self.body = False
        if tag == "tr": self.cells.append(0)
        if tag == "tr" and self.body: self.rows[self.table] = self.rows.get(self.table, 0) + 1
        if tag in ("td", "th"): self.cells[-1] += 1
        self.scripts += tag == "script"
        if tag not in VOID: self.open.append(tag)
    def handle_startendtag(self, tag, attrs): pass
    def handle_endtag(self, tag):
        assert self.open.pop() == tag, (tag, self.open, self.getpos())
page, plan = Page(), json.load(open(sys.argv[1] + ".json"))
text = open(sys.argv[1] + ".html", encoding="utf-8").read()
page.feed(text)
page.close()
assert not page.open, page.open
assert page.rows["layers"] == len(plan["steps"]), page.rows
assert page.rows.get("bands", 0) == len(plan["bands"]), page.rows
assert page.scripts == 1, page.scripts
assert all(l[0] == "#" and l[1:] in page.ids for l in page.links), page.links
assert "url(" not in text.replace("url(#", "") and "@import" not in text and text.count("//") == text.count("http://www.w3.org/2000/svg")
PY
}

# In a browser: no error, the same rows, names as they are, and a click on a heading sorts.
shows() { # name
    sed 's|</body>|<script>document.querySelector("#layers th:nth-child(3) button").click()</script></body>|' "$work/$1.html" >"$work/sort.html"
    "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$work/browser" --enable-logging=stderr --dump-dom \
        "file://$work/sort.html" >"$work/dom.html" 2>"$work/log" || { tail -5 "$work/log"; return 1; }
    ! grep -E 'CONSOLE|Uncaught|Refused' "$work/log" && "$python" - "$work/$1.json" "$work/dom.html" <<'PY'
import json, re, sys
plan, dom = json.load(open(sys.argv[1])), open(sys.argv[2], encoding="utf-8").read()
table = re.search(r'<table id="layers">.*?</table>', dom, re.S).group()
rows = re.findall(r'<tr id="l(\d+)".*?</tr>', table, re.S)
assert sorted(map(int, rows)) == list(range(len(plan["steps"]))), rows
times = [plan["steps"][int(i)]["predicted_ns"] for i in rows]
assert all(a >= b * (1 - 1e-6) for a, b in zip(times, times[1:])), times
assert 'aria-sort="descending"' in table and "<title>broken" not in dom
PY
}

browsed() { # name
    if [ -n "$browser" ]; then check "the report of $1 in a browser" shows "$1"
    else skip "the report of $1 in a browser" "no chromium"; fi
}

refused() { # command...: exit 1, one line, no page
    rm -f "$work/no.html"
    "$@" -o "$work/no.html" >"$work/out" 2>"$work/err"
    status=$?
    cat "$work/err"
    [ $status = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -e "$work/no.html" ]
}

wrong_input() {
    s=$work/squeezenet1.1
    echo '{' >"$work/half.json"
    refused out/ingot report "$s.graph.json" "$work/nowhere.json" && refused out/ingot report "$s.graph.json" "$work/half.json" &&
        refused out/ingot report "$s.graph.json" "$work/hostile.json" && refused out/ingot report "$work/plain.json" "$work/hostile.json" &&
        refused out/ingot report "$s.graph.json" "$s.json" --pareto "$work/mobilenet_v2.front.json" &&
        refused out/ingot report "$s.graph.json" "$s.json" --pareto "$s.json" &&
        refused out/ingot report "$s.graph.json" "$s.json" --profile "$work/p.json" &&
        refused out/ingot report "$s.graph.json" "$s.json" --platform "$work/nowhere.json"
}

# Of a plan with stages, beside what its program did: made up here, as a program says it.
staged_report() { # name, graph, stages
    out/ingot plan "$2" --threads 1 --stages "$3" -o "$work/$1.json" && "$python" - "$work" "$1" <<'PY' &&
import json, sys
work, name = sys.argv[1:]
stages = json.load(open(f"{work}/{name}.json"))["stages"]
ms = [s["predicted_ns"] * 1.1e-6 for s in stages]
json.dump({"fps": 1e3 / max(ms), "latency_ms": 2 * sum(ms), "latency_alone_ms": sum(ms), "model": "net",
           "stages": [{"ms": t, "processor": s["processor"]} for t, s in zip(ms, stages)]}, open(f"{work}/{name}.bench", "w"))
events, end = [], [0] * len(ms)
for k in range(24):
    for i, t in enumerate(ms):
        begin = max(end[i], end[i - 1] if i else 0)
        end[i] = begin + t
        events.append({"ph": "X", "tid": i + 1, "name": f"frame {k}", "ts": begin * 1e3, "dur": t * 1e3})
json.dump({"traceEvents": events}, open(f"{work}/{name}.trace", "w"))
PY
        out/ingot report "$2" "$work/$1.json" --bench "$work/$1.bench" --trace "$work/$1.trace" -o "$work/$1.html"
}

# As many stages, frames and cuts in the pictures as there are, the plan's own on the best of the dots.
pictures() { # name
    "$python" - "$work/$1" <<'PY'
import json, re, sys
plan, page = json.load(open(sys.argv[1] + ".json")), open(sys.argv[1] + ".html", encoding="utf-8").read()
part = lambda name: re.search(rf'<section id="{name}">.*?</section>', page, re.S).group()
stages = plan["stages"]
assert part("pipeline").count('class="frame') == 2 * 10 * len(stages)
assert "-9.1&nbsp;%" in part("pipeline"), "what was measured is 1 / 1.1 of what was predicted"
assert len(re.findall("<tr>", part("pipeline"))) == len(stages) + 1
assert part("layers-by-processor").count('class="frame') == sum(s["predicted_ns"] > 0 for s in plan["steps"])
if len(stages) == 2:
    ends = [s["last"] for s in stages]
    banded = {i for b in plan["bands"] for i in range(
        *[next(k for k, s in enumerate(plan["steps"]) if s["node"] == b[end]) for end in ("first", "last")])}
    dots = [(int(x), float(y)) for x, y in re.findall(r'#l(\d+)"><circle class="dot k0" cx="[\d.]+" cy="([\d.]+)', part("rates"))]
    assert len(dots) > 3 and not banded & {x for x, _ in dots}
    own = min((x, y) for x, y in dots if x >= ends[0])[1]
    assert own <= min(y for _, y in dots) + 0.1, "no cut gives more frames than the plan's"
PY
}

staged_board() { # two cores, three, and names that are hostile
    graph=$work/squeezenet1.1.graph.json
    staged_report staged "$graph" cpu:0,cpu:1 && staged_report three "$graph" cpu:0,cpu:1,cpu:2 &&
        staged_report evil_stages "$work/evil.json" cpu:0,cpu:1
}

gpu_stage() { # times of single layers are the CPU's, and say so; nothing is said of other cuts
    graph=$work/squeezenet1.1.graph.json
    out/ingot plan "$graph" --threads 1 --stages cpu:0@10,gpu -o "$work/gpu_stage.json" &&
        out/ingot report "$graph" "$work/gpu_stage.json" -o "$work/gpu_stage.html" && "$python" - "$work/gpu_stage" <<'PY'
import json, re, sys
plan, page = json.load(open(sys.argv[1] + ".json")), open(sys.argv[1] + ".html", encoding="utf-8").read()
part = re.search(r'<section id="layers-by-processor">.*?</section>', page, re.S).group()
own = sum(s["stage"] == 1 and s["predicted_ns"] > 0 for s in plan["steps"])
assert own > 10 and part.count(", by the CPU, not the GPU: ") == own and ", gpu: " not in part and "is not in the plan" in part
assert 'id="cuts"' not in page and 'id="rates"' not in page
gpu = plan["stages"][1]
assert f"Layers {gpu['first'] + 1} to {gpu['last'] + 1} are the GPU's stage" in page
PY
    ! grep -q "the GPU's stage" "$work/staged.html"
}

processors() { # the plan's bars, and one for each layer of each further profile, a GPU's too; the first that fits is the plan's
    graph=$work/plain.json
    for threads in 1 2; do out/ingot profile "$graph" --seconds 0.3 --threads $threads -q -o "$work/on$threads.json" || return 1; done
    out/ingot plan "$graph" --threads 1 --profile "$work/on1.json" -o "$work/beside.json" && "$python" - "$work" <<'PY' &&
import json, sys
p = json.load(open(sys.argv[1] + "/on1.json"))
p["cpu"], p["isa"], p["bands"] = "A <GPU>", "cuda", []
p["timings"] = [{**t, "alone_ns": 7000, "in_order_ns": 0} for t in p["timings"] if t["node"] != p["timings"][0]["node"]]
json.dump(p, open(sys.argv[1] + "/on_gpu.json", "w"))
PY
        out/ingot report "$graph" "$work/beside.json" --profile "$work/on2.json" --profile "$work/on1.json" --profile "$work/on_gpu.json" \
            -o "$work/beside.html" && "$python" - "$work" <<'PY' || return 1
import json, re, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}.json"))
page = open(sys.argv[1] + "/beside.html", encoding="utf-8").read()
part = re.search(r'<section id="layers-by-processor">.*?</section>', page, re.S).group()
plan, nodes = read("beside"), lambda name: {t["node"] for t in read(name)["timings"]}
assert part.count(", as planned, 1 thread: ") == sum(s["predicted_ns"] > 0 for s in plan["steps"])
assert part.count(", 2 threads: ") == len(nodes("on2")) > 5
assert part.count(", A &lt;GPU&gt;, cuda: 7.0 ") == len(nodes("on_gpu")) == len(nodes("on1")) - 1
assert part.count('class="frame') == part.count("<title>") and part.count("<li ") == 3
least = sum(min(t["in_order_ns"] for t in read("on2")["timings"] if t["node"] == n) for n in nodes("on2"))
assert f"2 threads<span>{least * 1e-6:.3f} ms</span>" in part
assert "another profile" not in page, "the plan's own is the one that fits"
PY
    stands_alone beside && refused out/ingot report "$graph" "$work/beside.json" --profile "$work/on2.json" && grep -q "the plan is for" "$work/err" &&
        refused out/ingot report "$graph" "$work/beside.json" --profile "$work/on2.json" --profile "$work/on1.json" --profile "$work/on1.json" \
            --profile "$work/on1.json" --profile "$work/on1.json"
}

refused_runs() { # of another plan, of none, of a plan without stages
    graph=$work/squeezenet1.1.graph.json plan=$work/staged.json
    refused out/ingot report "$graph" "$plan" --bench "$work/three.bench" && refused out/ingot report "$graph" "$plan" --trace "$work/three.trace" &&
        refused out/ingot report "$graph" "$plan" --trace "$work/staged.bench" && refused out/ingot report "$graph" "$plan" --bench "$work/half.json" &&
        refused out/ingot report "$graph" "$plan" --bench "$work/nowhere.json" &&
        refused out/ingot report "$graph" "$work/squeezenet1.1.json" --bench "$work/staged.bench" &&
        refused out/ingot report "$graph" "$work/squeezenet1.1.json" --trace "$work/staged.trace"
}

same_bytes() { # the same input, the same page
    out/ingot report "$work/squeezenet1.1.graph.json" "$work/squeezenet1.1.json" --pareto "$work/squeezenet1.1.front.json" -o - |
        cmp - "$work/squeezenet1.1.html"
}

for name in squeezenet1.1 mobilenet_v2; do
    check "a report of $name" zoo_report $name
    check "the report of $name stands alone" stands_alone $name
    browsed $name
done
check "a report of a network with hostile names" hostile_report
check "the report of hostile names stands alone" stands_alone hostile
browsed hostile
board() { # the roof is the board's
    out/ingot report "$work/squeezenet1.1.graph.json" "$work/squeezenet1.1.json" --platform tx2 -o - | grep -q "Peak as of the board tx2"
}

check "reports of plans with stages" staged_board
check "a report of a plan with a stage on the GPU" gpu_stage
for name in staged three evil_stages; do
    check "the report $name stands alone" stands_alone $name
    check "the report $name shows stages, frames and cuts" pictures $name
    browsed $name
done
check "layers by several processors" processors
check "the same report again" same_bytes
check "a board by name" board
check "wrong input is refused in a line" wrong_input
check "runs of something else are refused in a line" refused_runs
finish
