# Energy of a command, and clocks while it runs, on a made-up /sys.
. "$SRCDIR/tests/scripts/tap.inc"
sys=$work/root/sys
policy=$sys/devices/system/cpu/cpufreq/policy0 zone=$sys/class/powercap/intel-rapl:0

board() {
    mkdir -p "$policy" "$zone" && echo 400000 >"$policy/scaling_min_freq" && echo 3000000 >"$policy/scaling_max_freq" &&
        echo 400000 >"$policy/cpuinfo_min_freq" && echo 3000000 >"$policy/cpuinfo_max_freq" &&
        echo package-0 >"$zone/name" && echo 1000 >"$zone/energy_uj" && echo 262143328850 >"$zone/max_energy_range_uj"
}

power() {
    out/ingot power --root "$work/root" "$@"
}

listed() {
    power >"$work/list" && grep -q "package-0: .*energy_uj" "$work/list" && grep -q "policy0: 400..3000 MHz" "$work/list"
}

as_json() { # of both boards: with sensors and clocks, with none
    power --json >"$work/list.json" && out/ingot power --root "$work/empty" --json >"$work/none.json" && "${PYTHON:-python3}" - "$work" <<'PY'
import json, sys
here, none = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("list", "none"))
assert here["clocks"] == [{"name": "policy0", "least_hz": 400000000, "most_hz": 3000000000, "steps": 0}], here
assert [s["name"] for s in here["sensors"]] == ["package-0"] and here["sensors"][0]["path"].endswith("energy_uj"), here
assert here["why"] is None and here["method"].startswith("energy counters"), here
assert none["clocks"] == none["sensors"] == [] and none["why"].startswith("no sensor"), none
PY
}

measured() { # what the counter has moved, at no time an empty file; the clock is pinned meanwhile and given back
    power --json --pin policy0=1200 -- sh -c "cat $policy/scaling_max_freq >$work/pinned; echo 2501000 1<>$zone/energy_uj" \
        >"$work/energy" && grep -q '"energy_j":2.500000,"method":"energy counters' "$work/energy" &&
        [ "$(cat "$work/pinned")" = 1200000 ] && [ "$(cat "$policy/scaling_max_freq")" = 3000000 ]
}

given_back() { # on SIGTERM, too
    out/ingot power --root "$work/root" --pin policy0=1200 -- sleep 60 2>/dev/null &
    pid=$!
    until [ "$(cat "$policy/scaling_max_freq")" = 1200000 ]; do kill -0 $pid && sleep 0.1 || return 1; done
    kill -TERM $pid && ! wait $pid && [ "$(cat "$policy/scaling_max_freq")" = 3000000 ]
}

none() { # said, never 0 J; the command's status is kept
    mkdir -p "$work/empty" && out/ingot power --root "$work/empty" -- true 2>"$work/err" && grep -q "NO ENERGY MEASURED: no sensor" "$work/err" &&
        out/ingot power --root "$work/empty" --json -- sh -c 'exit 7' >"$work/json"
    [ $? = 7 ] && grep -q '"energy_j":null,"method":"no sensor"' "$work/json"
}

check "a board" board
check "sensors and clocks are listed" listed
if have "${PYTHON:-python3}"; then check "and as JSON" as_json; else skip "and as JSON" "no python3"; fi
check "energy of a command at a pinned clock" measured
check "clocks are given back on SIGTERM" given_back
check "no sensor is said" none
finish
