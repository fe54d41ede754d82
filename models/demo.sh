#!/bin/sh
# ninja demo: runs a program on a picture, then measures it.
set -eu
program=$1 picture=$2
name=$(basename "$program")
printf '%s: %s -> %s\n' "$name" "$picture" "$("$program" "$picture" --top 1)"
"$program" --bench=1 | sed -n 1,2p
kind=$(ldd "$program" 2>&1 | grep -q 'not a dynamic' && echo static || echo dynamic)
echo "binary $(wc -c <"$program") B, $kind"
