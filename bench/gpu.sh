#!/bin/sh
# GPU figures on a machine with CUDA and no network: compiles the kernels for the GPU that is there, checks every one of them
# against the reference on random shapes, again under compute-sanitizer, times every kernel on every layer and whole networks;
# where PyTorch is there, the same networks by it and cuDNN. A table of both, and of what shares of the GPU's rates are reached.
# The network "wide" is layers of one kernel each that memory bounds, on tensors of 128 MiB and more, beside a copy.
# usage: bench/gpu.sh [--precision=half] [-o FILE] [NETWORK...]   (default: all of the zoo, and wide; results to stdout)
# With -o, figures go to FILE and PyTorch's to FILE.torch as they come, so that those that are there stay when it is
# stopped, and the table to FILE.md. A network that fails, or takes more than LIMIT seconds, has no figures; the others do,
# and the end is 1, as it is at once where a kernel is wrong. Variables: NVCC, PYTHON (one that has torch), LIMIT (default 300),
# RUNS of each kernel and layer (default 5), SECONDS_OF each of PyTorch's variants (default 0.5).
# Needs nvcc, and out/ingot, out/bench/gpu and out/bench/gpu_kernels, which ninja makes where it is. Without a GPU it says so and ends with 0.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit ;; esac
cd "$(dirname "$0")/.."
results= precision=single half=
case ${1:-} in
--precision=single) shift ;;
--precision=half) precision=half half=--half && shift ;;
--precision*) echo "gpu.sh: --precision=single or half, not '$1'" >&2; exit 2 ;;
esac
if [ "${1:-}" = -o ] && [ $# -gt 1 ]; then
    results=$2
    shift 2
fi
case ${1:-} in -*) echo "gpu.sh: not '$1': bench/gpu.sh [--precision=half] [-o FILE] [NETWORK...]" >&2; exit 2 ;; esac
python=${PYTHON:-python3} limit=${LIMIT:-300} runs=${RUNS:-5}
say() { echo "gpu.sh: $*" >&2; }

nvcc=$(command -v "${NVCC:-nvcc}") || nvcc=${NVCC:-/usr/local/cuda/bin/nvcc}
[ -x "$nvcc" ] || { say "no nvcc: nothing is measured"; exit 0; }
nvidia-smi -L >/dev/null 2>&1 || { say "no GPU: nothing is measured"; exit 0; }
programs="out/ingot out/bench/gpu out/bench/gpu_kernels"
there() { for program in $programs; do [ -x $program ] || return 1; done; }
# shellcheck disable=SC2086
there || [ ! -f build.ninja ] || ${NINJA:-ninja} $programs >&2 || exit 1
there || { say "./configure && ninja $programs first"; exit 1; }
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
. gen/gpu.sh
line=$(nvcc_command "$nvcc")
[ -n "$line" ] || { say "$nvcc works with no C++ compiler here: see config.log"; exit 1; }
say "compiling for sm_$sm"
eval "$line -std=c++14 -O3 -fmad=false -fatbin -gencode arch=compute_$sm,code=sm_$sm -Xfatbin -compress-all -I. \
    -o \"\$work/kernels.fatbin\" kernels_gpu/module.cu"

graph() { # network: its graph
    out/ingot zoo "$1" -o "$work/$1.onnx" >/dev/null && out/ingot graph --precision $precision "$work/$1.onnx" -o "$work/$1.json" >/dev/null
}

sanitize() { # tool, program, arguments: what it says goes to a file
    what=$1.${2##*/} status=0
    tool=$1
    shift
    timeout "$limit" "$sanitizer" --tool "$tool" --target-processes all --error-exitcode 9 "$@" >"$work/$what" 2>&1 || status=$?
    echo $status >"$work/$what.status"
}

sanitized() { # tool, program: ends the script where it found something; where the tool does not work here, it says so
    status=$(cat "$work/$1.$2.status")
    case $status in
    0) say "$1 of $2: clean" ;;
    9) cat "$work/$1.$2" >&2; say "$1 found something"; exit 1 ;;
    124) say "$1 of $2 is not done within $limit s: not checked by it" ;;
    *) tail -5 "$work/$1.$2" >&2; say "$1 of $2 does not work here (status $status): not checked by it" ;;
    esac
}

say "every kernel against the reference, on random shapes"
timeout $((4 * limit)) out/bench/gpu_kernels "$work/kernels.fatbin" >"$work/kernels" 2>&1 || {
    grep -v '^ok\|^1\.\.' "$work/kernels" >&2
    say "kernels are wrong, or not done within $((4 * limit)) s: no figures"
    exit 1
}
say "$(tail -1 "$work/kernels")"

sanitizer=$(command -v compute-sanitizer || echo "$(dirname "$nvcc")/compute-sanitizer")
if [ -x "$sanitizer" ]; then
    graph mobilenet_v1_025
    for tool in memcheck racecheck; do # a problem of each kind for each kernel, and a network
        (export INGOT_MEMORY=1; sanitize $tool out/bench/gpu_kernels "$work/kernels.fatbin") &
        sanitize $tool out/bench/gpu --runs 1 --repeats 1 "$work/kernels.fatbin" "$work/mobilenet_v1_025.json" &
    done
    wait
    for tool in memcheck racecheck; do
        sanitized $tool gpu_kernels
        sanitized $tool gpu
    done
else
    say "no compute-sanitizer"
fi

ours=${results:-$work/ours} theirs=${results:-$work/ours}.torch table=${results:-$work/ours}.md
rm -f "$theirs" "$table"
if log=$(NVCC=$nvcc NVCCFLAGS=${line#*"$nvcc"} bench/occupancy --sm "$sm" 2>&1); then echo "$log" | sed 's/^/# /'; else say "$log"; fi >"$ours"
[ $# -gt 0 ] || set -- $(out/ingot zoo --list | sed 1d | cut -d' ' -f1) wide
torch=
if "$python" -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' >/dev/null 2>&1; then torch=1; else say "no PyTorch that sees the GPU: no peer"; fi
bad= nets=
for net; do
    if [ "$net" = wide ]; then # those of its layers that are there count where others fail
        timeout "$limit" out/bench/gpu --wide --runs "$runs" --layers "$work/kernels.fatbin" >"$work/one" || {
            say "$net: not all figures (status $?)"
            bad="$bad $net"
        }
        cat "$work/one" >>"$ours"
        tail -1 "$work/one" >&2
    elif graph "$net" && timeout "$limit" out/bench/gpu --runs "$runs" --layers "$work/kernels.fatbin" "$work/$net.json" >"$work/one"; then
        cat "$work/one" >>"$ours"
        tail -1 "$work/one" >&2
        nets="$nets $work/$net.onnx"
    else
        say "$net: no figures (status $?)"
        bad="$bad $net"
    fi
    rm -f "$work/$net.json" "$work/$net.bin"
done
# shellcheck disable=SC2086
[ -z "$torch" ] || [ -z "$nets" ] || timeout $((4 * limit)) "$python" bench/peer/torch_net.py --time $half --seconds "${SECONDS_OF:-0.5}" -o "$theirs" $nets ||
    say "not all by PyTorch"
peer=
[ ! -s "$theirs" ] || peer=$theirs
"$python" bench/peer/gpu_table.py "$ours" ${peer:+"$peer"} >"$table" || say "no table"
[ -s "$table" ] || rm -f "$table"
[ -n "$results" ] || cat "$ours"
[ -n "$results" ] || [ ! -s "$theirs" ] || cat "$theirs"
[ ! -s "$table" ] || cat "$table" >&2
[ -z "$bad" ] || { say "without figures:$bad"; exit 1; }
