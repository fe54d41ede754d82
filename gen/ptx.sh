#!/bin/sh
# ptx.sh IN OUT: PTX as a driver of CUDA 10.2 takes it, of version 6.5, which has all that kernels_gpu/ uses; without comments.
set -eu
grep -q '^\.version [6-9]\.' "$1" || { echo "ptx.sh: $1: not PTX of a version from 6 on" >&2; exit 1; }
sed -e 's|//.*||' -e 's/^\.version .*/.version 6.5/' -e 's/[[:blank:]]*$//' -e '/^$/d' "$1" >"$2.new"
mv "$2.new" "$2"
