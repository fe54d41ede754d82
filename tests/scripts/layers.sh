# ingot inspect --layers: the names that a mapping uses, for people, pipes and programs.
. "$SRCDIR/tests/scripts/tap.inc"
model=$SRCDIR/models/fashion.onnx
python=${PYTHON:-python3}

names() {
    out/ingot inspect --layers -q "$model" >"$work/names" && [ "$(head -1 "$work/names")" = centre_out ] &&
        [ "$(sort -u "$work/names" | wc -l)" = "$(wc -l <"$work/names")" ]
}

table() {
    out/ingot inspect --layers "$model" >"$work/table" &&
        grep -q "^$model: $(wc -l <"$work/names") layers to map, 0 that need no place" "$work/table" &&
        sed '1,2d' "$work/table" | awk '{print $1}' | cmp - "$work/names"
}

json() {
    out/ingot inspect --layers --json "$model" -o "$work/layers.json" && "$python" - "$work" <<'PY'
import json, sys
work = sys.argv[1]
data = json.load(open(work + "/layers.json"))
made = set(data["inputs"])
for layer in data["layers"]:
    assert set(layer["in"]) <= made and layer["out"], layer
    made |= set(layer["out"])
assert set(data["outputs"]) <= made
assert [l["name"] for l in data["layers"]] == open(work + "/names").read().split("\n")[:-1]
PY
}

whole() { # a name of any length is what a mapping has to say
    "$python" - "$work/long.onnx" <<'PY' || return 1
import sys
def number(v):
    return bytes([v & 127 | 128]) + number(v >> 7) if v > 127 else bytes([v])
def field(n, v):
    v = v.encode() if isinstance(v, str) else v
    return number(n << 3) + number(v) if isinstance(v, int) else number(n << 3 | 2) + number(len(v)) + v
def value(name):
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 4)))))
long = "l" * 400
nodes = [field(1, a) + field(2, b) + field(4, "Relu") for a, b in (("x", long), (long, "y"))]
graph = b"".join(field(1, n) for n in nodes) + field(11, value("x")) + field(12, value("y"))
open(sys.argv[1], "wb").write(field(1, 8) + field(7, graph) + field(8, field(2, 17)))
PY
    out/ingot inspect --layers -q "$work/long.onnx" >"$work/long.txt" && [ "$(awk '{print length($0)}' "$work/long.txt" | xargs)" = "400 1" ] &&
        awk 'BEGIN {printf "{\"here_cpu0\": ["} {printf "%s\"%s\"", (NR > 1 ? "," : ""), $0} END {print "]}"}' "$work/long.txt" >"$work/mapping.json" &&
        out/ingot deploy "$work/long.onnx" --mapping "$work/mapping.json" -o "$work/deployed"
}

usage() {
    out/ingot inspect --layers --memory "$model" x 2>/dev/null
    [ $? = 2 ]
}

check "names, one a line" names
check "the table has the same names" table
if have "$python"; then check "JSON has them, too, and what each reads" json
else skip "JSON has them, too, and what each reads" "no python3"; fi
if have "$python"; then check "a long name is whole, and a mapping's" whole
else skip "a long name is whole, and a mapping's" "no python3"; fi
check "a plan's memory is another question" usage
finish
