# The lab of network namespaces: links carry what they are set to, can be cut, and nothing is left of it.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/support/netlab.sh"
PYTHON=${PYTHON:-python3}

measured() { # bytes a second, least ratio: the links of two devices, of which headers take some per cent
    timeout -k 5 $lab_limit out/ingot profile --links --hosts "a=$(lab_host 0),b=$(lab_host 1)" -o "$work/links.json" || return 1
    "$PYTHON" - "$work/links.json" "$1" "$2" <<'PY'
import json, sys
site = json.load(open(sys.argv[1]))
assert [d["name"] for d in site["devices"]] == ["a", "b"], site
assert [(l["from"], l["to"]) for l in site["links"]] == [("a", "b"), ("b", "a")], site
for l in site["links"]:
    ratio = 1e9 / l["beta_ns"] / float(sys.argv[2])
    print(l, "%.3f of what is set" % ratio)
    assert float(sys.argv[3]) < ratio < 1.02, ratio
    assert all(l[end + "_alpha_ns"] + 4e6 * l[end + "_beta_ns"] > 0 for end in ("send", "receive")), l
PY
}

rates() { # rate, bytes a second, least ratio; other tests run meanwhile
    lab_rate "$1" && for _ in 1 2 3 4 5 6 7 8; do measured "$2" "$3" && return 0; done
    return 1
}

cut() { # nobody is reached any more, and mpirun ends for all that
    lab_cut 1 && lab_limit=8 || return 1
    if lab_mpirun -np 2 hostname >"$work/cut.log" 2>&1; then return 1; fi
    lab_mend 1 && lab_limit=$hang && lab_mpirun -np 2 hostname >"$work/hosts" && sort "$work/hosts" | tr '\n' ' ' >"$work/both" &&
        [ "$(cat "$work/both")" = "$(lab_host 0) $(lab_host 1) " ]
}

left() { # interfaces, namespaces and processes of a lab
    ip link | grep "$1"
    ip netns list | grep "$1"
    ps -eo args | grep "$1[e]"
}

killed() { # a script that is ended in the middle leaves nothing
    cat >"$work/script" <<'SH'
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/support/netlab.sh"
lab_start 2 100mbit
ip netns exec "$(lab_host 0)" sleep 300 &
echo "$lab" >"$1"
wait
SH
    sh "$work/script" "$work/name" &
    script=$!
    while [ ! -s "$work/name" ] && kill -0 $script 2>/dev/null; do sleep .1; done
    kill -TERM $script
    wait $script
    [ $? = 143 ] && [ -s "$work/name" ] && [ -z "$(left "$(cat "$work/name")")" ]
}

stopped() {
    lab_stop
    [ -z "$(left "$lab")" ]
}

if ! lab_needs; then
    skip "several machines on one" "$lab_why"
    finish
    exit
fi
check "two devices" lab_start 2 100mbit
if [ -x out/bench/links ]; then
    check "a link of 100 Mbit/s" rates 100mbit 12.5e6 .85
    check "a link of 1 Gbit/s" rates 1gbit 125e6 .4
else
    skip "links carry what they are set to" "no mpicc"
fi
check "a cut link, and mended" cut
check "nothing is left of a lab" stopped
check "nothing is left of one whose script is killed" killed
finish
