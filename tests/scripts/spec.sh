# --input-spec: pictures of any size, frames of bytes, softmax, through the program with and without stages.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
spec=resize=256,crop=224,order=bgr,scale=1/255,mean=0.485,0.456,0.406,std=0.229,0.224,0.225,frames=320x240x3,softmax=yes,top=3

builds() {
    out/ingot zoo mobilenet_v1_025 -o "$net.onnx" && out/ingot graph "$net.onnx" -o "$net.json" &&
        out/ingot plan "$net.json" --threads 1 -o "$net.plan.json" &&
        out/ingot plan "$net.json" --threads 1 --stages cpu:0,cpu:1 -o "$net.stages.json" &&
        echo "$spec" | tr ';' '\n' >"$work/spec" && program plain "$net.plan.json" && program spec "$net.plan.json" --input-spec "$work/spec" &&
        program staged "$net.stages.json" --input-spec "$spec" && program short "$net.plan.json" --mean 120,110,100 --std 50,60,70 &&
        program long "$net.plan.json" --input-spec mean=120,110,100,std=50,60,70 &&
        "$PYTHON" - "$work" <<'PY'
import sys
seed = 1
def pixels(n):
    global seed
    out = bytearray()
    for _ in range(n):
        seed = seed * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
        out.append(seed >> 33 & 255)
    return bytes(out)
for name, w, h, c in (("wide", 320, 240, 3), ("same", 224, 224, 3), ("tall", 113, 301, 3), ("grey", 300, 200, 1)):
    with open(f"{sys.argv[1]}/{name}.ppm", "wb") as f:
        f.write(b"P%d\n%d %d\n255\n" % (6 if c == 3 else 5, w, h) + pixels(w * h * c))
PY
}

reference() { # the same in Python, in double, makes the input of the program without a spec
    for picture in wide tall grey; do
        "$PYTHON" - "$work/$picture.ppm" "$work/$picture.raw" <<'PY' || return 1
import array, math, sys
kind, size, _, data = open(sys.argv[1], "rb").read().split(b"\n", 3)
(w, h), c = map(int, size.split()), 3 if kind == b"P6" else 1
rw, rh = (256, 256 * h // w) if w < h else (256 * w // h, 256)
mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
def taps(n, out, size):
    first = round((out - size) / 2)
    for i in range(size):
        x = min(max((i + first + 0.5) * n / out - 0.5, 0), n - 1)
        a = min(int(x), n - 1)
        yield a, min(a + 1, n - 1), x - a
columns, rows = list(taps(w, rw, 224)), list(taps(h, rh, 224))
result = array.array("f")
for k in range(3):
    s = 2 - k if c == 3 else 0
    for y0, y1, fy in rows:
        for x0, x1, fx in columns:
            a, b, d, e = (data[(y * w + x) * c + s] for y in (y0, y1) for x in (x0, x1))
            v = (a + (b - a) * fx) * (1 - fy) + (d + (e - d) * fx) * fy
            result.append((v / 255 - mean[k]) / std[k])
open(sys.argv[2], "wb").write(result.tobytes())
PY
        "$work/plain" "$work/$picture.raw" -o "$work/want.npy" && "$work/spec" "$work/$picture.ppm" -o "$work/got.npy" &&
            "$PYTHON" - "$work/want.npy" "$work/got.npy" <<'PY' || return 1
import array, math, sys
want, got = (array.array("f", open(path, "rb").read()[128:]) for path in sys.argv[1:])
top = max(want)
exp = [math.exp(v - top) for v in want]
for v, g in zip((e / sum(exp) for e in exp), got):
    assert abs(v - g) <= 1e-5 * v, (v, g) # logits differ by what the input's rounding, 1e-6 of it, becomes in 31 layers
assert len(want) == 1000 == len(got) and abs(sum(got) - 1) < 1e-4
PY
    done
}

short_form() { # --mean and --std give the same bytes as the spec's
    "$work/short" "$work/same.ppm" -o "$work/a.npy" && "$work/long" "$work/same.ppm" -o "$work/b.npy" && cmp "$work/a.npy" "$work/b.npy"
}

streams() { # frames of bytes give what the picture gives, with and without stages
    "$work/spec" "$work/wide.ppm" >"$work/one" && tail -c 230400 "$work/wide.ppm" >"$work/frame" &&
        "$work/spec" "$work/frame" | cmp - "$work/one" && cat "$work/one" "$work/one" "$work/one" >"$work/three" &&
        cat "$work/frame" "$work/frame" "$work/frame" | "$work/spec" - | cmp - "$work/three" &&
        cat "$work/frame" "$work/frame" "$work/frame" | "$work/staged" - | cmp - "$work/three" &&
        [ "$(tr -cd '|' <"$work/one" | wc -c)" = 2 ]
}

half_frame() {
    ! head -c 1000 "$work/frame" | "$work/spec" - 2>"$work/err" && grep -q '1000 of 230400 bytes' "$work/err"
}

too_small() { # without resize= a picture is not enlarged
    ! "$work/long" "$work/tall.ppm" 2>"$work/err" && grep -q '113 x 301.*resize=' "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] &&
        head -c 5000 "$work/wide.ppm" >"$work/cut.ppm" && ! "$work/spec" "$work/cut.ppm" 2>"$work/err" && grep -q truncated "$work/err"
}

info() {
    "$work/spec" --info | grep -q '^input spec resize=256,crop=224x224,order=bgr' && "$work/spec" --info | grep -q 'on the CPU: pre' &&
        "$work/spec" --info --json | "$PYTHON" -c 'import json, sys; s = json.load(sys.stdin)["input_spec"]; assert s["pre_ns"] > 0 < s["post_ns"] and s["processor"] == "cpu"' &&
        ! "$work/plain" --info | grep -q spec
}

bench() {
    for program in spec staged; do
        "$work/$program" --bench=0.1 | grep -q '^pre [0-9.]* ms, network [0-9.]* ms, post' &&
            "$work/$program" --bench=0.1 --json | "$PYTHON" -c 'import json, sys; h = json.load(sys.stdin)["host_ops"]; assert h["pre_ms"] > 0 < h["post_ms"]' || return 1
    done
}

not_linked() { # a program without a spec has nothing of it
    strings "$work/spec" | grep -q 'pixels after\|after resizing' && ! strings "$work/plain" | grep -q 'after resizing'
}

pipeline() { # nodes of CPUs only; a spec that is wrong is one line
    out/ingot pipeline "$net.json" --platform tx2 --input-spec "$spec" --algorithm shared --json >"$work/p.json" &&
        "$PYTHON" - "$work/p.json" <<'PY' &&
import json, sys
s = json.load(open(sys.argv[1]))["segments"]
assert s[0]["first"] == "pre-processing" and s[-1]["first"] == "post-processing"
assert s[0]["processor"] == s[-1]["processor"] == "CPU" and s[0]["last_step"] < s[0]["first_step"]
PY
        stages=$(out/ingot pipeline "$net.json" --input-spec "$spec" | sed -n 's/.*--stages=//p') &&
        out/ingot plan "$net.json" --threads 1 --stages "$stages" -o "$work/again.json" &&
        ! out/ingot pipeline "$net.json" --input-spec resize=1x 2>"$work/err" && grep -q 'resize=1x: takes' "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] &&
        ! out/ingot gen "$net.json" "$net.plan.json" --input-spec no-such-file -o "$work" 2>"$work/err" && grep -q 'no-such-file.*a file, or text' "$work/err" &&
        ! out/ingot gen "$net.json" "$net.plan.json" --input-spec "$spec" --mean 1 -o "$work" 2>"$work/err" && grep -q 'stand in the input spec' "$work/err"
}

counted() { # stages that are cut by themselves leave time for pictures and answers: the best cut with it, and another than without
    for spec_here in "" "resize=256,crop=224,mean=120,std=60,softmax=yes"; do
        out/ingot plan "$net.json" --isa avx2 --threads 1 --bands off --stages cpu:0,cpu:1 ${spec_here:+--input-spec "$spec_here"} -o "$work/cut$spec_here.json" || return 1
    done
    out/ingot plan "$net.json" --isa avx2 --threads 1 --stages cpu:0,cpu:1 --alternatives 4 --input-spec "$spec_here" -o "$work/several.json" &&
        out/ingot gen "$net.json" "$net.plan.json" --prefix ops --input-spec "$spec_here" -o "$work" && "$PYTHON" - "$work" "$spec_here" <<'PY'
import json, re, sys
work, spec = sys.argv[1:]
without, counted, several = (json.load(open(f"{work}/{n}.json")) for n in ("cut", "cut" + spec, "several"))
pre, post = (float(re.search(rf"\.{n}_ns = ([0-9]+)", open(f"{work}/ops_main.c").read()).group(1)) for n in ("pre", "post"))
assert pre > 1e5 and post > 0, (pre, post)
steps = [s["predicted_ns"] for s in counted["steps"]]
slowest = lambda cut: max(pre + sum(steps[:cut]), post + sum(steps[cut:]))
best = min(slowest(cut) for cut in range(1, len(steps)))
assert slowest(counted["stages"][1]["first"]) < 1.02 * best, (slowest(counted["stages"][1]["first"]), best)
assert counted["stages"][1]["first"] < without["stages"][1]["first"]
assert several["stages"][1]["first"] < without["stages"][1]["first"] and len(several["alternatives"]) == 3
PY
}

check "programs with and without a spec are built" builds
check "pictures of other sizes, colour and grey: as in double" reference
check "mean and std of a spec are --mean and --std" short_form
check "frames of bytes in a stream, with stages too" streams
check "a frame that ends early" half_frame
check "pictures that are too small or cut" too_small
check "--info" info
check "--bench has a line of its own" bench
if have strings; then check "nothing is linked that no spec asks for" not_linked; else skip "nothing is linked that no spec asks for" "no strings"; fi
check "ingot pipeline plans it" pipeline
check "stages leave time for it" counted
finish
