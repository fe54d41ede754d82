# --input-spec of a deployment: the first rank makes inputs of pictures and of frames of bytes, that of the results makes
# answers, and all of it is what the single program says of the same spec, byte for byte.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"
spec=resize=256,crop=224,order=bgr,scale=1/255,mean=0.485,0.456,0.406,std=0.229,0.224,0.225,frames=320x240x3,softmax=yes,top=3
if ! can_deploy; then
    skip "input specs of deployments" "no mpicc, mpirun or $PYTHON"
    finish
    exit
fi

pictures() {
    "$PYTHON" - "$work" <<'PY'
import random, sys
rng = random.Random(3)
for name, w, h, c in (("wide", 320, 240, 3), ("tall", 113, 301, 3), ("grey", 300, 200, 1)):
    with open(f"{sys.argv[1]}/{name}.ppm", "wb") as f:
        f.write(b"P%d\n%d %d\n255\n" % (6 if c == 3 else 5, w, h) + rng.randbytes(w * h * c))
open(sys.argv[1] + "/frames", "wb").write(rng.randbytes(8 * 320 * 240 * 3))
open(sys.argv[1] + "/small", "wb").write(rng.randbytes(8 * 16 * 12 * 3))
PY
}

alone() { # net, spec: the single program
    build --model="$work/$1.onnx" --prefix=alone --no-profile --threads=1 --input-spec="$2"
}

spread() { # net, spec, word (of the keys' order, "reversed" or "list"), keys...: the first piece of layers is the first key's, or the last's
    model=$1 words=$2 order=$3
    shift 3
    "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/$model.onnx" 0 "$@" |
        "$PYTHON" -c "import json, sys; json.dump(dict($order(list(json.load(sys.stdin).items()))), sys.stdout)" >"$work/mapping.json" &&
        build --model="$work/$model.onnx" --mapping="$work/mapping.json" --threads=1 --input-spec="$words" &&
        grep '^  pictures become' "$work/build/out/$model.d/summary.txt"
}

without_times() {
    sed 's/"ms":[-0-9.]*,\{0,1\}//' "$1"
}

same_answers() { # file of frames, net, arguments...: lines and tensors
    from=$1 net=$2
    shift 2
    rm -f "$work"/want.* "$work"/got.*
    "$work/build/out/host/alone" "$@" --json -o "$work/want.npy" <"$from" >"$work/want.json" &&
        together "$net" "$@" --json -o "$work/got.npy" <"$from" >"$work/got.json" || return 1
    head -c 300 "$work/got.json"
    without_times "$work/want.json" >"$work/want.words" && [ -s "$work/want.words" ] && without_times "$work/got.json" | cmp - "$work/want.words" &&
        cmp "$work/want.npy" "$work/got.npy"
}

all_pictures() {
    for picture in wide tall grey; do same_answers /dev/null squeezenet "$work/$picture.ppm" || return 1; done
}

frames_of_bytes() {
    same_answers "$work/frames" squeezenet - && [ "$(wc -l <"$work/got.json")" = 8 ] && [ "$(sort -u "$work/want.words" | wc -l)" = 8 ]
}

half_frame() {
    ! head -c 1000 "$work/frames" | together squeezenet - >"$work/out" 2>"$work/err" && cat "$work/err" && grep -q '1000 of 230400 bytes' "$work/err"
}

info() { # of those ranks alone that have to do with it; it is in the package's hash
    at=$work/build/out/squeezenet
    "$at/nodeA_cpu0" --info | grep -q '^input spec resize=256,crop=224x224' && "$at/nodeC_cpu0" --info --json | "$PYTHON" -c '
import json, sys
assert json.load(sys.stdin)["input_spec"]["text"].startswith("resize=256")' && ! "$at/nodeB_cpu0" --info | grep spec && "$PYTHON" - "$at/deploy.json" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
assert "top=3" in d["input_spec"]["text"] and d["input_spec"]["pre_ms"] > 0 < d["input_spec"]["post_ms"]
assert d["period_ms"] >= d["ranks"][0]["time_ms"] + d["input_spec"]["pre_ms"] - 1e-9
PY
}

another_hash() { # ranks of two specs refuse each other
    for top in 2 3; do
        "$work/build/out/ingot" deploy "$work/squeezenet.onnx" --mapping "$work/mapping.json" --input-spec "mean=1,top=$top" -q -o "$work/top$top" || return 1
    done
    ! grep -F "$(sed -n 's/^"plan_sha256":"\(.*\)",/\1/p' "$work/top2/deploy.json")" "$work/top3/deploy.json"
}

refusals() {
    ! "$work/build/out/ingot" deploy "$work/squeezenet.onnx" --mapping "$work/mapping.json" --input-spec resize=1x -o "$work/bad" 2>"$work/err" &&
        grep -q 'resize=1x: takes' "$work/err" &&
        ! "$work/build/out/ingot" deploy "$work/squeezenet.onnx" --mapping "$work/mapping.json" --input-spec top=2 --mean 1 -o "$work/bad" 2>"$work/err" &&
        grep -q 'stand in the input spec' "$work/err" && [ ! -e "$work/bad" ]
}

boxes() { # of two outputs, one of which another rank makes
    "$PYTHON" -B "$SRCDIR/tests/boxes_network.py" "$work/boxes.onnx" && words=scale=1/255,frames=16x12x3,nms=0.3,score=0.55,top=20 &&
        alone boxes "$words" && spread boxes "$words" list nodeA_cpu0 nodeB_cpu0 && same_answers "$work/small" boxes - &&
        grep -q '"boxes":\[{' "$work/got.json"
}

check "pictures and frames" pictures
out/ingot zoo squeezenet1.1 -o "$work/squeezenet.onnx"
check "the single program" alone squeezenet "$spec"
check "three keys" spread squeezenet "$spec" list nodeA_cpu0 nodeB_cpu0 nodeC_cpu0
check "pictures of other sizes, colour and grey" all_pictures
check "a stream of frames of bytes" frames_of_bytes
check "a frame that ends early" half_frame
check "--info and deploy.json" info
check "the first layers on the last rank" spread squeezenet "$spec" reversed nodeA_cpu0 nodeB_cpu0
check "pictures, where they pass to another rank" all_pictures
check "a stream, where it passes to another rank" frames_of_bytes
check "another spec is another deployment" another_hash
check "what it refuses" refusals
check "boxes" boxes
finish
