# Layers in parts: the same bits, and stages that are cut inside a layer.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
. "$SRCDIR/tests/scripts/program.inc"

whole() {
    out/ingot zoo mobilenet_v1_025 -o "$net.onnx" && out/ingot graph "$net.onnx" -o "$net.json" &&
        out/ingot plan "$net.json" --isa ref --threads 1 --bands off -o "$net.plan.json" && program whole "$net.plan.json" &&
        head -c 602112 /dev/urandom | tr '\177\377' '\077\077' >"$work/frame" && "$work/whole" "$work/frame" -o "$work/whole.npy"
}

parts() { # by rows, and by channels; both stages run a part of the second
    out/ingot graph "$net.onnx" --split /conv1/Conv=2,/conv_pw_5/Conv=3 -o "$net.json" &&
        [ "$(grep -c 'conv1/Conv_split' "$net.json")" -ge 2 ] && [ "$(grep -c 'conv_pw_5/Conv_splitco' "$net.json")" -ge 3 ] &&
        out/ingot plan "$net.json" --isa ref --threads 1 --bands off --stages cpu:0@/conv_pw_5/Conv_splitco_1,cpu:1 -o "$net.plan.json" &&
        program parts "$net.plan.json" && cat "$work/frame" "$work/frame" | "$work/parts" - -o "$work/parts.npy" &&
        cmp "$work/whole.npy" "$work/parts.npy" && "$work/parts" "$work/frame" --threads 1 -o "$work/one.npy" && cmp "$work/whole.npy" "$work/one.npy"
}

automatic() { # what is long is in parts, none of which is; where nothing is long the graph is as without
    out/ingot zoo mlp -o "$work/mlp.onnx" && out/ingot graph "$work/mlp.onnx" --split auto -o "$work/mlp.json" &&
        [ "$(grep -c splitco "$work/mlp.json")" -ge 6 ] && out/ingot graph "$net.onnx" --split auto -o "$work/same.json" &&
        out/ingot graph "$net.onnx" -o "$net.json" && cmp "$work/same.json" "$net.json"
}

refused() {
    for row in "nobody=2|there is no layer 'nobody'" "/conv1/Conv=1|2 to 16 parts" "/conv1/Conv|2 to 16 parts" \
        "/conv1/Conv=2,/conv1/Conv=3|twice" "/act_softmax/Softmax=2|has no 2 parts"; do
        ! out/ingot graph "$net.onnx" --split "${row%|*}" -o "$work/no.json" 2>"$work/err" && grep -q "${row#*|}" "$work/err" &&
            [ ! -e "$work/no.json" ] || return 1
    done
}

check "a network" whole
check "its layers in parts, cut inside one: the same bits" parts
check "long layers are found" automatic
check "what cannot be split is refused" refused
finish
