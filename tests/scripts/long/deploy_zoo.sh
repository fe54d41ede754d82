# Every zoo network over 2 and 4 ranks, cut at random, in one piece a rank and in many: over shared memory and over TCP the
# results of a stream of different frames are the single program's, byte for byte. ZOO names the networks, FRAMES says
# how many frames; INGOT_RUN_SEED other cuts.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"
networks=${ZOO:-$(out/ingot zoo --list | awk 'NR > 1 {print $1}')}
seed=${INGOT_RUN_SEED:-1}
limit=1200
if ! can_deploy; then
    skip "zoo networks over several ranks" "no mpicc, mpirun or $PYTHON"
    finish
    exit
fi

floats() { # net: of a frame
    out/ingot zoo --list | awk -v net="$1" '$1 == net {n = split($2, d, "x"); p = 1; for (i = 1; i <= n; i++) p *= d[i]; print p}'
}

begin() { # network, net: its file, its frames, what the single program makes of them
    out/ingot zoo "$1" -o "$work/$2.onnx" && random_frames "$(floats "$1")" && single "$2"
}

spread() { # words, seed, keys...
    name="$network: $(($# - 2)) ranks, $1" at=$2
    shift 2
    check "$name" deployed "$net" "$at" "$@" || return
    check "$name: $frames frames over shared memory" same "$net"
    check "$name: $frames frames over TCP" same "$net" $tcp
}

for network in $networks; do
    case $network in # 9 streams of 100 would take over ten minutes
        fcn) frames=${FRAMES:-20} ;;
        *) frames=${FRAMES:-100} ;;
    esac
    net=$(echo "$network" | tr . _) # as programs are named
    if check "$network: the single program, $frames frames" begin "$network" "$net"; then
        spread "a piece each" "-$seed" nodeA_cpu0 nodeB_cpu0
        spread "layers here and there" "$seed" nodeA_cpu0 nodeB_cpu0
        spread "a piece each" "-$((seed + 1))" nodeA_cpu0 nodeB_cpu0 nodeC_cpu0 nodeD_cpu0
        spread "layers here and there" "$((seed + 1))" nodeA_cpu0 nodeB_cpu0 nodeC_cpu0 nodeD_cpu0
    fi
    rm -rf "$work"/*.onnx "$work"/*.raw "$work/want" "$work/got" "$work/build/out/$net" "$work/build/out/$net.d" "$work/build/out/host/alone"*
done
finish
