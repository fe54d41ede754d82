#!/bin/sh
# Last step of a model's build: the program (large weights appended to its file) or the library (one object).
set -eu

append_above=16777216 # bytes; a blob above it costs the assembler and the linker seconds

program() { # out, <dir>/<prefix> of the weights, link command...
    out=$1 weights=$2
    shift 2
    bytes=$(wc -c <"${weights}_weights.bin")
    if [ "$bytes" -le $append_above ]; then
        "$@" "${weights}_weights.o" -o "$out"
        return
    fi
    "$@" -s -o "$out.bare"
    out/ingot append "$out.bare" "${weights}_weights.bin" -o "$out"
    rm -f "$out.bare"
}

gpu_program() { # the same with <dir>/<prefix>_gpu_weights too, which are linked or appended as the CPU's are
    out=$1 weights=$2
    shift 2
    bytes=$(cat "${weights}_weights.bin" "${weights}_gpu_weights.bin" | wc -c)
    if [ "$bytes" -le $append_above ]; then
        "$@" "${weights}_weights.o" "${weights}_gpu_weights.o" -o "$out"
        return
    fi
    "$@" -o "$out.bare"
    out/ingot append "$out.bare" "${weights}_weights.bin" "${weights}_gpu_weights.bin" -o "$out"
    rm -f "$out.bare"
}

bundle() { # out, each network's <dir>/<prefix>, link command...: the networks' weights, linked or appended in their order
    out=$1 all=$2
    shift 2
    objects= blobs=
    for weights in $all; do objects="$objects ${weights}_weights.o" blobs="$blobs ${weights}_weights.bin"; done
    # shellcheck disable=SC2086
    bytes=$(cat /dev/null $blobs | wc -c)
    # shellcheck disable=SC2086
    if [ "$bytes" -le $append_above ]; then
        "$@" $objects -o "$out"
        return
    fi
    "$@" -o "$out.bare"
    # shellcheck disable=SC2086
    out/ingot append "$out.bare" $blobs -o "$out"
    rm -f "$out.bare"
}

library() { # out, prefixes, weights objects, ld, objcopy, ar, objects...
    out=$1 prefix=$2 weights=$3 ld=$4 objcopy=$5 ar=$6
    shift 6
    "$ld" -r -o "$out.o" "$@"
    set -f
    # shellcheck disable=SC2046
    "$objcopy" --wildcard $(printf -- '--keep-global-symbol=%s_* ' $prefix) "$out.o"
    rm -f "$out"
    "$ar" rcs "$out" "$out.o" $weights
    rm -f "$out.o"
}

"$@"
