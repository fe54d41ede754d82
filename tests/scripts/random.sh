# Random networks (tests/random_networks) give what onnxruntime makes of them: by the kernels that are the fastest and by kernels, cuts
# and bands that are drawn, in single and half precision, of floats, halves and bytes, on the CPU and on the emulated GPU.
# INGOT_SEED=N: others.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
[ ! -x out/venv/bin/python ] || PYTHON=out/venv/bin/python
seed=${INGOT_SEED:-1}
count=70
[ -z "${INGOT_LONG:-}" ] || count=3000

if ! $PYTHON -c 'import onnx, onnxruntime' 2>/dev/null; then
    skip "random networks" "onnx or onnxruntime is not installed"
    finish
    exit
fi

written() { # kind of network: at least half of the seeds make one
    PYTHONDONTWRITEBYTECODE=1 $PYTHON "$SRCDIR/tests/random_networks" "$work/$1" "$seed" "$count" "$1" || return 1
    [ $(($(ls "$work/$1" | wc -l) * 2)) -ge "$count" ]
}

agrees() { # kind, options of ingot verify
    kind=$1
    shift
    out/ingot verify -q "$@" "$work/$kind"
}

on_gpu() { # kind, options
    echo fatbin >"$work/fatbin"
    LD_LIBRARY_PATH=out/emu agrees "$@" --gpu "$work/fatbin"
}

for kind in floats halves quantised; do check "networks are written: $kind" written $kind; done
check "as planned" agrees floats --in-process
check "by kernels that are drawn" agrees floats --in-process --draw "$seed"
check "of three threads" agrees floats --in-process --threads 3 --draw $((seed + 1))
check "in half precision" agrees floats --in-process --precision half --draw $((seed + 2))
check "by the reference's kernels" agrees floats --in-process --isa ref
check "of halves" agrees halves --in-process --tolerance 0.03 --draw $((seed + 3))
check "of halves, in half precision" agrees halves --in-process --tolerance 0.03 --precision half --draw $((seed + 4))
check "of bytes, within two steps" agrees quantised --in-process --tolerance 0.2
check "of bytes, by kernels that are drawn" agrees quantised --in-process --tolerance 0.2 --draw "$seed"
if [ -f out/emu/libcuda.so.1 ]; then
    check "on the emulated GPU" on_gpu floats
    check "on the emulated GPU, by kernels that are drawn" on_gpu floats --draw "$seed"
    check "on the emulated GPU, in half precision" on_gpu floats --precision half --draw $((seed + 1))
    check "on the emulated GPU, of halves" on_gpu halves --tolerance 0.03 --precision half --draw "$seed"
    check "on the emulated GPU, of bytes" on_gpu quantised --tolerance 0.2 --draw "$seed"
else
    skip "random networks on the emulated GPU" "no emulated driver"
fi
finish
