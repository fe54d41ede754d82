# Every zoo network as an aarch64 program under emulation: the answers of the same network on this PC within 1e-4.
. "$SRCDIR/tests/scripts/tap.inc"
networks=${ZOO:-mlp squeezenet1.1 mobilenet_v1 mobilenet_v1_025 mobilenet_v2 efficientnet_b0 alexnet googlenet inception_v2 inception_v3 resnet18 resnet50 resnet101 resnext50 densenet121 convnext_tiny vgg16 vgg19 yolov3 fcn}
PYTHON=${PYTHON:-python3}
[ ! -x out/venv/bin/python ] || PYTHON=out/venv/bin/python

if ! have qemu-aarch64-static || ! $PYTHON -c 'import onnxruntime' 2>/dev/null; then
    skip "zoo networks on aarch64" "no emulator, or onnxruntime is not installed"
    finish
    exit
fi

agrees() {
    out/ingot zoo "$1" -o "$work/$1/model.onnx" && $PYTHON "$SRCDIR/tests/zoo_oracle.py" "$work/$1/model.onnx" "$work/$1" &&
        out/ingot verify --timeout 3600 --target aarch64 --isa neon --cc "${CC_AARCH64:-aarch64-linux-gnu-gcc}" \
            --run "qemu-aarch64-static -cpu cortex-a57" "$work/$1"
}

for name in $networks; do
    mkdir "$work/$name"
    check "zoo $name on aarch64" agrees "$name"
    rm -rf "${work:?}/$name"
done
finish
