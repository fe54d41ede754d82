#!/bin/sh
# bench/parts.sh [SECONDS]: applications 1, 2, 5 and 6 of Minakova and Stefanov by parts, within their bars, against the same
# networks without parts: bytes and throughput as tables. Profiles of SECONDS (default 20) each are taken first, on one
# thread, and kept in out/parts/. Wants a built out/ingot and out/bench/parts; pin it to a quiet core.
set -eu
case ${1:-} in -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$0"; exit ;; esac
case ${1:-20} in *[!0-9.]*) echo "bench/parts.sh: SECONDS is a number, not '$1'" >&2; exit 2 ;; esac
[ -x out/ingot ] && [ -x out/bench/parts ] || { echo "bench/parts.sh: ninja out/ingot out/bench/parts first" >&2; exit 1; }
folder=out/parts
mkdir -p "$folder"
for network in mobilenet_v2 efficientnet_b0 inception_v2 mobilenet_v1_025 resnet50 densenet121 mobilenet_v1; do
    at=$folder/$network
    [ -f "$at.profile.json" ] && continue
    out/ingot zoo "$network" -o "$at.onnx"
    out/ingot graph "$at.onnx" --detach -o "$at.json"
    out/ingot profile "$at.json" --threads 1 --seconds "${1:-20}" --fronts -q -o "$at.profile.json"
done

application() { # number, MB, networks
    echo "application $1, $2 MB:"
    budget=$2
    shift 2
    for network; do set -- "$@" "$folder/$network.json" "$folder/$network.profile.json"; shift; done
    out/bench/parts --budget "$budget" "$@"
}

application 1 14.475 mobilenet_v2
application 2 23.479 efficientnet_b0
application 5 151.16 inception_v2 mobilenet_v1_025 resnet50
application 6 153.21 densenet121 mobilenet_v1 resnet50
