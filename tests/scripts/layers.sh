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

usage() {
    out/ingot inspect --layers --memory "$model" x 2>/dev/null
    [ $? = 2 ]
}

check "names, one a line" names
check "the table has the same names" table
if have "$python"; then check "JSON has them, too, and what each reads" json
else skip "JSON has them, too, and what each reads" "no python3"; fi
check "a plan's memory is another question" usage
finish
