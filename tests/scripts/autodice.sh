# AutoDiCE's own examples, as they lie in its public folders: mappings that are valid are read unchanged, give the files that it
# makes of them and the single program's results; those that are not are refused with the reason.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"
frames=20
if ! can_deploy; then
    skip "AutoDiCE's examples" "no mpicc, mpirun or $PYTHON"
    finish
    exit
fi
convs='"conv1_1", "conv1_2", "norm1_1", "pool1_1", "conv2_1", "conv2_2", "norm2_1", "pool2_1", "conv3_1", "conv3_2", "conv4_1", "conv4_2", "conv5_1", "conv5_2", "pool5_1", "OC2_DUMMY_0"'
ends='"fc7_1", "fc7_2", "fc7_3", "fc8_1", "prob_1"'

network() { # of 67 x 67 pixels
    "$PYTHON" -B "$SRCDIR/tests/alexnet_network.py" "$work/alexnet.onnx" && random_frames $((3 * 67 * 67)) && single alexnet
}

mapped() { # mapping, options of configure
    printf '%s\n' "$1" >"$work/mapping.json"
    shift
    build --model="$work/alexnet.onnx" --mapping="$work/mapping.json" --threads=1 "$@"
}

as_theirs() { # their sender.json, receiver.json and rankfile of this mapping
    at=$work/build/out/alexnet
    printf '{"lenovo_cpu0": {"fc6_2": [1]}, "lenovo_cpu1": {}}' | cmp - "$at/sender.json" &&
        printf '{"lenovo_cpu0": {}, "lenovo_cpu1": {"fc6_2": [0]}}' | cmp - "$at/receiver.json" &&
        printf 'rank 0=lenovo    slots=0\nrank 1=lenovo    slots=1\n' | cmp - "$at/rankfile"
}

near() { # each result within 1e-4 of its frame's largest
    same alexnet >/dev/null 2>&1
    "$PYTHON" - "$work/want" "$work/got" $frames <<'PY'
import array, sys
a, b = (open(p, "rb").read() for p in sys.argv[1:3])
size = len(a) // int(sys.argv[3])
assert len(a) == len(b) > 0
for i in range(int(sys.argv[3])):
    x, y = (array.array("f", s[(i + 1) * size - 400:(i + 1) * size]) for s in (a, b))
    off = max(abs(p - q) for p, q in zip(x, y))
    assert off <= 1e-4 * max(map(abs, x)) + 1e-6, off
PY
}

refused() { # words, mapping, options of ingot deploy: in a line that says why, and nothing is written
    words=$1
    printf '%s\n' "$2" >"$work/mapping.json"
    shift 2
    if out/ingot deploy -q "$work/alexnet.onnx" --mapping "$work/mapping.json" "$@" -o "$work/none" 2>"$work/err"; then return 1; fi
    cat "$work/err"
    grep -qF "$words" "$work/err" && [ ! -e "$work/none" ]
}

check "the single program of the mapped network" network
check "mapping.json of the examples" mapped "{\"lenovo_cpu0\": [\"conv1_1\", \"conv1_2\"], \"lenovo_cpu1\": [${convs#*, *, }, \"fc6_1\", \"fc6_2\", \"fc6_3\", $ends]}"
check "it has the single program's bytes" same alexnet
check "mapping.json of the tool" mapped "{\"lenovo_cpu0\": [$convs, \"fc6_1\", \"fc6_2\"], \"lenovo_cpu1\": [\"fc6_3\", $ends]}"
check "it has the single program's bytes, too" same alexnet
check "it has AutoDiCE's files" as_theirs
two="{\"lenovo_cpu0\": [$convs, \"fc6_1\", \"fc6_2\"], \"lenovo_cpu1\": [\"conv2_1\", \"fc6_1\",\"fc6_3\", $ends]}"
all="{\"lenovo_cpu0\": [$convs, \"fc6_1\", \"fc6_2\",\"fc6_3\", \"fc7_1\", \"fc7_2\", \"fc7_3\" ], \"lenovo_cpu1\":[\"conv2_1\", \"fc6_1\", \"fc8_1\", \"prob_1\"]}"
printf '{"conv2_1": ["lop",[48,65535],["lenovo_cpu0", "lenovo_cpu1"]],\n"fc6_1": ["lop",[2000,65535],["lenovo_cpu0", "lenovo_cpu1"]]}\n' >"$work/horizontal.json"
check "vertical.json with horizontal.json" mapped "$two" --horizontal="$work/horizontal.json"
check "its results are the single program's, within the bound" near
check "hmapping.json with horizontal.json" mapped "$all" --horizontal="$work/horizontal.json"
check "its results are, too" near
check "vertical.json alone is refused: two layers are on two keys" refused "layer 'conv2_1' is on 2 keys, and horizontal.json does not split it" "$two"
check "2mapping.json is refused: its keys are devices alone" refused "key 'nx01': no '_' between a device and what it computes with" \
    "{\"nx01\": [\"conv1_1\", \"conv1_2\", \"norm1_1\", \"pool1_1\", \"conv2_1\", \"conv2_2\", \"norm2_1\", \"pool2_1\"], \"nx02\": [\"conv3_1\", \"conv3_2\", \"conv4_1\", \"conv4_2\",\"conv5_1\", \"conv5_2\", \"pool5_1\", \"OC2_DUMMY_0\", \"fc6_1\", \"fc6_2\", \"fc6_3\", $ends]}"
check "a layer that it leaves out is named" refused "layer 'prob_1' is on no key" "{\"lenovo_cpu0\": [$convs, \"fc6_1\", \"fc6_2\"], \"lenovo_cpu1\": [\"fc6_3\", ${ends%, *}]}"
finish
