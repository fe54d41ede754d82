#!/bin/sh
# Starts the programs of this deployment, which lie beside this file: one rank each, in the order of `appfile`, on the hosts
# of `rankfile`, where they lie under the same path. When it ends, or is ended, all of them are.
#
#   ./run.sh [INPUT...] [options of the programs: ./run.sh --help]
#   --here            all on this machine, on any of its cores
#   --dir=DIR         where the programs lie on the hosts (default: as here)
#   --use-rankfile    mpirun places and binds by `rankfile`; else programs keep to their cores themselves
#   MPIRUN            mpirun of Open MPI 4 or 5 or of MPICH (default: mpirun)
set -u
here=$(cd "$(dirname "$0")" && pwd) || exit 1
mpirun=${MPIRUN:-mpirun}
dir=$here hosts=1 bind= stream= scratch= n=0

fail() {
    echo "run.sh: $*" >&2
    exit 1
}

# --- its own options; the others are rank 0's, which tells the rest ---
for arg; do
    shift
    case $arg in
    --here) hosts= ;;
    --dir=*) dir=${arg#*=} ;;
    --use-rankfile) bind=1 ;;
    --unpinned) unpinned=$arg ;;
    --gpu=*) gpu=$arg ;;
    --info) info=$arg ;;
    --help | -h)
        sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
        help=--help ;;
    *)
        [ "$arg" != - ] || stream=1
        set -- "$@" "$arg" ;;
    esac
done
[ -n "$hosts" ] || unpinned=--unpinned
[ -r "$here/appfile" ] || fail "no appfile beside it"
programs=$(sed -n 's|^-np 1 \./\([^ ]*\).*|\1|p' "$here/appfile")
for program in $programs; do
    [ -z "${help:-}" ] || exec "$here/$program" --help
    [ -z "${info:-}" ] || "$here/$program" --info "$@" || exit 1
done
[ -z "${info:-}" ] || exit 0
# Wrong words are rank 0's to name, here where it can run, before MPI has words of its own.
first=$here/${programs%%
*} wanted=options
[ -n "$hosts" ] || wanted=files
! "$first" --help >/dev/null 2>&1 || "$first" --check=$wanted ${gpu:-} "$@" || exit

host_of() { # rank
    sed -n "s/^rank $1=\([^ ]*\).*/\1/p" "$here/rankfile"
}

# --- what this mpirun understands ---
version=$("$mpirun" --version 2>&1) || fail "$mpirun --version fails: is there an MPI? (MPIRUN=...)"
case $version in
*"(Open MPI) "[1-4].*)
    kind=openmpi
    # A lost link is noticed after 6 s, not 8 minutes; ranks that find a silent peer give up later than that.
    flags="--mca oob_tcp_keepalive_time 3 --mca oob_tcp_keepalive_intvl 1 --mca oob_tcp_keepalive_probes 3"
    [ -n "$bind" ] || flags="$flags --oversubscribe --bind-to none"
    bind=${bind:+--rankfile} ranks=$here/rankfile ;;
*"(Open MPI) "*)
    kind=openmpi
    flags="--prtemca oob_tcp_keepalive_time 3 --prtemca oob_tcp_keepalive_intvl 1 --prtemca oob_tcp_keepalive_probes 3"
    [ -n "$bind" ] || flags="$flags --map-by :OVERSUBSCRIBE --bind-to none"
    bind=${bind:+--map-by} ranks=rankfile:file=$here/rankfile ;;
*HYDRA*)
    kind=mpich flags=
    [ -z "$bind" ] || fail "--use-rankfile: MPICH has none" ;;
*) fail "$mpirun is neither Open MPI's nor MPICH's" ;;
esac

# MPICH's mpirun gives up on a rank that does not read at once, and Open MPI's may crash over one that reads to the end.
if [ -n "$stream" ] && { [ $kind = mpich ] || [ -z "$hosts" ]; }; then
    scratch=$(mktemp -d) && mkfifo "$scratch/stdin" || fail "no pipe for stdin"
    set -- "$@" "--stdin=$scratch/stdin"
fi

# Two connections a pair: over one, a rank's readiness to receive stands behind the bytes that it sends, and messages both
# ways take turns.
[ $kind = mpich ] || flags="$flags --mca btl_tcp_links 2"

# --- the command: -np 1 -host A ./a ARGUMENTS : -np 1 -host B ./b : ... ---
all=
for program in $programs; do
    at=
    if [ -n "$hosts" ] && [ -z "$bind" ]; then
        at=$(host_of $n)
        [ -n "$at" ] || fail "rankfile has no rank $n"
        all=$all${all:+,}$at:1
        [ $kind = openmpi ] || at= # MPICH takes one list
    fi
    if [ $n = 0 ]; then set -- -np 1 ${at:+-host "$at"} "$dir/$program" ${unpinned:-} ${gpu:-} "$@"
    else set -- "$@" : -np 1 ${at:+-host "$at"} "$dir/$program" ${unpinned:-} ${gpu:-}; fi
    n=$((n + 1))
done
[ $kind = openmpi ] || [ -z "$all" ] || flags="-hosts $all"
[ -z "$bind" ] || set -- "$bind" "$ranks" "$@"

# --- run it in a process group of its own ---
pid=
finish() { # status: TERM, 5 s, KILL
    trap '' TERM INT HUP
    if [ -n "$pid" ]; then
        kill -TERM "-$pid" 2>/dev/null
        (sleep 5 && kill -KILL "-$pid") 2>/dev/null &
        killer=$!
        wait "$pid" 2>/dev/null
        kill "$killer" 2>/dev/null
        kill -KILL "-$pid" 2>/dev/null
    fi
    [ -z "${feeder:-}" ] || kill "$feeder" 2>/dev/null
    [ -z "$scratch" ] || rm -rf "$scratch"
    exit "$1"
}
trap 'finish 143' TERM
trap 'finish 130' INT
trap 'finish 129' HUP
exec 3<&0
if [ -n "$scratch" ]; then
    cat <&3 >"$scratch/stdin" &
    feeder=$!
    # shellcheck disable=SC2086
    setsid "$mpirun" $flags "$@" </dev/null &
else
    # shellcheck disable=SC2086
    setsid "$mpirun" $flags "$@" <&3 &
fi
pid=$!
wait "$pid"
status=$?
pid=
finish $status
