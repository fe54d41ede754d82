#!/bin/sh
# GPU figures on a machine with CUDA and no network: compiles the kernels for the GPU that is there, checks them with
# compute-sanitizer, times every kernel on every layer and whole networks; where PyTorch is there, the same networks by
# it and cuDNN, and a table of both.
# usage: bench/gpu.sh [-o FILE] [NETWORK...]   (default: all of the zoo, results to stdout)
# With -o, PyTorch's results and the table go to FILE.torch and FILE.md. Variables: NVCC, PYTHON (one that has torch).
# Needs out/ingot and out/bench/gpu (ninja) and nvcc. Without a GPU it says so and ends with 0.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
results=
if [ "${1:-}" = -o ]; then
    results=$2
    shift 2
fi
python=${PYTHON:-python3}
say() { echo "gpu.sh: $*" >&2; }

[ -x out/ingot ] && [ -x out/bench/gpu ] || { say "run ninja out/ingot out/bench/gpu first"; exit 1; }
nvcc=${NVCC:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || { say "no nvcc: nothing is measured"; exit 0; }
nvidia-smi -L >/dev/null 2>&1 || { say "no GPU: nothing is measured"; exit 0; }
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
say "compiling for sm_$sm"
"$nvcc" -std=c++14 -O3 -fmad=false -fatbin -gencode "arch=compute_$sm,code=sm_$sm" -Xfatbin -compress-all -I. \
    -o "$work/kernels.fatbin" kernels_gpu/module.cu

graph() { # network: its graph
    out/ingot zoo "$1" -o "$work/$1.onnx" >/dev/null && out/ingot graph "$work/$1.onnx" -o "$work/$1.json" >/dev/null
}

sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [ -x "$sanitizer" ]; then
    graph mobilenet_v1_025
    for tool in memcheck racecheck; do
        "$sanitizer" --tool $tool --error-exitcode 9 out/bench/gpu --runs 1 --repeats 1 "$work/kernels.fatbin" \
            "$work/mobilenet_v1_025.json" >"$work/$tool" 2>&1 || { cat "$work/$tool" >&2; say "$tool found something"; exit 1; }
        say "$tool: clean"
    done
else
    say "no compute-sanitizer"
fi

if log=$(NVCC=$nvcc bench/occupancy --sm "$sm" 2>&1); then echo "$log" | sed 's/^/# /'; else say "$log"; fi >"$work/ours"
[ $# -gt 0 ] || set -- $(out/ingot zoo --list | sed 1d | cut -d' ' -f1)
torch=
if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1; then torch=1; else say "no PyTorch that sees the GPU: no peer"; fi
for net; do
    graph "$net"
    out/bench/gpu --layers "$work/kernels.fatbin" "$work/$net.json" >"$work/one"
    cat "$work/one" >>"$work/ours"
    tail -1 "$work/one" >&2
    [ -z "$torch" ] || "$python" bench/peer/torch_net.py --time "$work/$net.onnx" >>"$work/torch" || say "$net: not by PyTorch"
    rm -f "$work/$net".*
done
[ ! -s "$work/torch" ] || "$python" bench/peer/gpu_table.py "$work/ours" "$work/torch" >"$work/table"
if [ -n "$results" ]; then
    cp "$work/ours" "$results"
    [ ! -s "$work/torch" ] || cp "$work/torch" "$results.torch"
    [ ! -s "$work/table" ] || cp "$work/table" "$results.md"
else
    cat "$work/ours"
    [ ! -s "$work/torch" ] || cat "$work/torch"
fi
[ ! -s "$work/table" ] || cat "$work/table" >&2
