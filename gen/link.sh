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

library() { # out, prefix, weights object, ld, objcopy, ar, objects...
    out=$1 prefix=$2 weights=$3 ld=$4 objcopy=$5 ar=$6
    shift 6
    "$ld" -r -o "$out.o" "$@"
    "$objcopy" --wildcard --keep-global-symbol="${prefix}_*" "$out.o"
    rm -f "$out"
    "$ar" rcs "$out" "$out.o" "$weights"
    rm -f "$out.o"
}

"$@"
