# Boxes as an answer: an input spec with nms= on a network of boxes and scores, in pictures, streams and stages.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
spec=scale=1/255,frames=16x12x3,nms=0.3,score=0.55,top=20

network() { # a picture's 576 values as 144 boxes, and their squares as scores of 4 classes
    "$PYTHON" -B "$SRCDIR/tests/boxes_network.py" "$net.onnx" || return 1
    out/ingot graph "$net.onnx" -o "$net.json" && out/ingot plan "$net.json" --threads 1 -o "$net.plan.json" &&
        out/ingot plan "$net.json" --threads 1 --stages cpu:0,cpu:1 -o "$net.stages.json"
}

programs() {
    printf 'ant\nbee\n' >"$work/labels" && program plain "$net.plan.json" --labels "$work/labels" --input-spec "$spec" &&
        program staged "$net.stages.json" --labels "$work/labels" --input-spec "$spec" &&
        program centred "$net.plan.json" --input-spec "$spec,box=center,boxes=2" && program classes "$net.plan.json"
}

frames() {
    "$PYTHON" -c "
import random, sys
random.seed(5)
sys.stdout.buffer.write(random.randbytes(8 * 576))" >"$work/frames"
}

# What ONNX says of it, in the order of scores; a pair of boxes too near the threshold for floats to agree is left out.
right() { # program, options of the reference
    "$work/$1" - --json <"$work/frames" >"$work/out" && "$PYTHON" - "$work" "$2" <<'PY'
import json, struct, sys
work, centred = sys.argv[1], sys.argv[2] == "centred"
single = lambda v: struct.unpack("<f", struct.pack("<f", v))[0]
data, lines = open(work + "/frames", "rb").read(), open(work + "/out").read().splitlines()
assert len(lines) == 8
def box(b):
    if centred:
        return b[0] - b[2] / 2, b[1] - b[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2
    return min(b[0], b[2]), min(b[1], b[3]), max(b[0], b[2]), max(b[1], b[3])
def iou(a, b):
    a, b = box(a), box(b)
    area = lambda c: (c[2] - c[0]) * (c[3] - c[1])
    w, h = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    if w <= 0 or h <= 0 or area(a) <= 0 or area(b) <= 0:
        return 0
    return w * h / (area(a) + area(b) - w * h)
compared = 0
for f, line in enumerate(lines):
    pixels = data[f * 576:(f + 1) * 576]
    image = [single(single(pixels[(y * 16 + x) * 3 + c]) * single(1 / 255)) for c in range(3) for y in range(12) for x in range(16)]
    boxes = [image[4 * i:4 * i + 4] for i in range(144)]
    kept, near = [], 0
    for c in range(4):
        scores = [single(v * v) for v in image[c * 144:(c + 1) * 144]]
        mine = []
        for i in sorted((i for i in range(144) if scores[i] > single(0.55)), key=lambda i: (-scores[i], i)):
            if len(mine) == (2 if centred else 100):
                break
            over = [iou(boxes[i], boxes[k]) for _, _, k in mine]
            near |= any(abs(v - 0.3) < 1e-4 for v in over)
            if all(v <= 0.3 for v in over):
                mine.append((-scores[i], c, i))
        kept += mine
    kept = sorted(kept)[:20]
    if near:
        continue
    got = json.loads(line)["boxes"]
    assert [(-g["score"], g["class"], g["index"]) for g in got] == [(round(s, 9), c, i) for s, c, i in kept] or \
        [(g["class"], g["index"]) for g in got] == [(c, i) for _, c, i in kept], (got, kept)
    for g in got:
        assert max(abs(a - b) for a, b in zip(g["box"], boxes[g["index"]])) < 1e-6
        assert g["label"] == ((["ant", "bee"] + [None] * 2)[g["class"]] if not centred else None)
    compared += len(got)
print(compared, "boxes")
assert compared > 30
PY
}

words() { # a line a frame, as many boxes as are asked for; nothing is said, too
    "$work/plain" - --top 2 <"$work/frames" >"$work/out" && [ "$(wc -l <"$work/out")" = 8 ] && head -1 "$work/out" |
        grep -Eq '^(ant|bee|#[23]) 0?\.?[0-9.]+ \[[-0-9. e]+\] \| [^|]*$' && head -c 576 /dev/zero | "$work/plain" - >"$work/none" &&
        grep -qx nothing "$work/none" && head -c 576 /dev/zero | "$work/plain" - --json | grep -q '^{"boxes":\[\],"ms":'
}

same_in_stages() {
    for p in plain staged; do "$work/$p" - --json <"$work/frames" | sed 's/"ms":[0-9.]*//' >"$work/$p.out" || return 1; done
    cmp "$work/plain.out" "$work/staged.out" && [ "$(wc -l <"$work/plain.out")" = 8 ]
}

said() { # in --info and --bench, and nothing of it in a program without
    "$work/plain" --info | grep -q 'nms=0.3,score=0.55,boxes=100,box=corners' && "$work/plain" --bench=0.1 | grep -q '^pre .* post' &&
        ! grep -aq '"boxes"' "$work/classes" && grep -aq '"boxes"' "$work/plain"
}

refused() {
    for row in "nms=2|takes the overlap" "nms=0.5,boxes=0|takes the most boxes" "nms=0.5,box=round|corners or center" "score=0.5|are for nms=" \
        "nms=0.5,softmax=yes|not for boxes"; do
        ! out/ingot gen "$net.json" "$net.plan.json" --prefix no --input-spec "${row%|*}" -o "$work" 2>"$work/err" && grep -q "${row#*|}" "$work/err" || return 1
    done
    ! out/ingot plan "$SRCDIR/models/fashion.onnx" --input-spec nms=0.5 -o "$work/no.json" 2>"$work/err" && grep -q 'boxes \[1,N,4\] and scores' "$work/err"
}

check "a network of boxes" network || { finish; exit; }
check "its programs" programs || { finish; exit; }
check "frames" frames
check "the boxes that ONNX keeps" right plain corners
check "of a centre and two sides, two of a class" right centred centred
check "in words" words
check "the same in stages" same_in_stages
check "--info, --bench, and programs without" said
check "what is no such spec is refused" refused
finish
