# The benchmark networks: every one can be inspected; onnxruntime, where it is installed, agrees within 1e-4.
. "$SRCDIR/tests/scripts/tap.inc"
networks=${ZOO:-mlp squeezenet1.1 mobilenet_v1 mobilenet_v1_025 mobilenet_v2 efficientnet_b0 alexnet googlenet inception_v2 inception_v3 resnet18 resnet50 resnet101 resnext50 densenet121 convnext_tiny vgg16 vgg19 yolov3 fcn}
PYTHON=${PYTHON:-python3}
[ ! -x out/venv/bin/python ] || PYTHON=out/venv/bin/python
oracle=
$PYTHON -c 'import onnxruntime' 2>/dev/null && oracle=1

agrees() {
    $PYTHON "$SRCDIR/tests/zoo_oracle.py" "$work/$1/model.onnx" "$work/$1" && out/ingot verify $2 "$work/$1"
}

for name in $networks; do
    mkdir "$work/$name"
    check "zoo $name is written" out/ingot zoo "$name" -o "$work/$name/model.onnx"
    check "zoo $name can be inspected" out/ingot inspect -q "$work/$name/model.onnx"
    if [ -z "$oracle" ]; then
        skip "zoo $name against onnxruntime" "onnxruntime is not installed"
    else
        check "zoo $name against onnxruntime" agrees "$name" --in-process
        case $name in squeezenet1.1 | mobilenet_v2) check "zoo $name as a program" out/ingot verify "$work/$name" ;; esac
    fi
    rm -rf "${work:?}/$name"
done
finish
