# What deploy.json says of ranks is so: what they hold beside what MPI itself takes of a process, and what they send a frame.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"
if ! can_deploy || [ ! -x out/mpi/relay ]; then
    skip "rank_rss" "no mpicc, mpirun or $PYTHON"
    finish
    exit
fi
# Tool and libraries are those that stand, so that no more is compiled than tables.
[ -f out/host/libingot_mpi.a ] || ${NINJA:-ninja} out/host/libingot_mpi.a >"$work/log" 2>&1
ln -s "$PWD/out" "$work/build/out"
SRCDIR=$(cd "$SRCDIR" && pwd)
net=resnet18

ranks() { # of two keys, half of the layers each
    "out/ingot" zoo $net -o "$work/$net.onnx" &&
        "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/$net.onnx" 0 nodeA_cpu0 nodeB_cpu0 >"$work/mapping.json" &&
        (cd "$work/build" && out/ingot deploy ../$net.onnx --threads 1 --mapping ../mapping.json -o ranks &&
            NINJA=${NINJA:-ninja} MPICC=${MPICC:-mpicc} CC=${CC:-cc} LDFLAGS='' PROGRAM_FLAGS=-Wl,--gc-sections SRCDIR=$SRCDIR \
                CFLAGS="-std=c11 -D_GNU_SOURCE -I$SRCDIR -O1 -ffunction-sections -fdata-sections" "$SRCDIR/gen/ranks.sh" ranks.d/ranks.txt ranks)
}

started() { # folder, options of mpirun: ranks of $first and $second, whose RANK_MEMORY.txt are there then, and what --bench says
    mkdir -p "$work/$1" && # shellcheck disable=SC2086
        (cd "$work/$1" && timeout -k 5 "$hang" mpirun --oversubscribe --bind-to none $2 -np 1 "$first" --unpinned --bench=1 --json --per-rank : \
            -np 1 "$second" --unpinned </dev/null >bench.json 2>err) || { cat "$work/$1/err"; return 1; }
}

run_both() { # options of mpirun: ranks that have nothing, which tell what a process of MPI's takes, and the network's
    first=$work/idle0 second=$work/idle1
    for rank in 0 1; do
        printf '#!/bin/sh\nexec "%s" "0:0>1 1:1>2" %d "$@"\n' "$PWD/out/mpi/relay" $rank >"$work/idle$rank" && chmod +x "$work/idle$rank" || return 1
    done
    started idle "$1" || return 1
    first=$work/build/ranks/nodeA_cpu0 second=$work/build/ranks/nodeB_cpu0
    started real "$1"
}

rank_rss() { # options of mpirun: within 5 % of what is planned
    run_both "$1" && "$PYTHON" - "$work" <<'PY'
import json, sys
work = sys.argv[1]
for r in json.load(open(work + "/build/ranks/deploy.json"))["ranks"]:
    idle, real = (float(open(f"{work}/{of}/{r['rank']}_MEMORY.txt").read()) for of in ("idle", "real"))
    planned = (r["arena_bytes"] + r["buffers_bytes"] + r["weights_bytes"]) / 2**20
    print(r["key"], "planned", planned, "MiB, resident", real, "of which MPI", idle)
    assert planned > 10 and 0.95 * planned <= real - idle <= 1.05 * planned
PY
}

bytes_on_wire() { # a frame's, by the ranks' own count
    "$PYTHON" - "$work" <<'PY'
import json, sys
work = sys.argv[1]
links = json.load(open(work + "/build/ranks/deploy.json"))["links"]
ranks = json.load(open(work + "/real/bench.json"))["ranks"]
for i, r in enumerate(ranks):
    want = [sum(l["bytes"] for l in links if l[end] == i) for end in ("from", "to")]
    print(r["key"], "planned", want, "moved", r["sent_bytes"], r["received_bytes"])
    assert [r["sent_bytes"], r["received_bytes"]] == want
assert sum(l["bytes"] for l in links) > 0
PY
}

check "ranks of half a network each" ranks
check "rank_rss: what a rank holds is what was planned" rank_rss ""
check "rank_rss: over TCP, too" rank_rss "$tcp"
check "bytes_on_wire: what ranks send is what was planned" bytes_on_wire
finish
