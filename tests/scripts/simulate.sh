# ingot simulate: a deployment's manifest in, the period and the latency that its ranks and links make out.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
made=$work/deploy.json

manifest() { # spec of ranks that take so many ms a frame, bytes of each tensor
    "$PYTHON" -B "$SRCDIR/bench/fleet/table.py" relay "$1" "$2" >"$made"
}

is() { # period, latency, bound in ms; options...
    period=$1 latency=$2 bound=$3
    shift 3
    out/ingot simulate --json "$@" "$made" >"$work/json" && "$PYTHON" - "$work/json" "$period" "$latency" "$bound" <<'PY'
import json, sys
r = json.load(open(sys.argv[1]))
for key, want in zip(("period_ms", "latency_ms", "bound_ms"), sys.argv[2:]):
    assert abs(r[key] - float(want)) < 1e-3, (key, r[key], want)
assert r["events"] == r["frames"] * 3 and len(r["ranks"]) == len(r["devices"]) == 2, r
PY
}

closed_forms() { # max(stage, link), their sum; with one copy a rank that sends does not compute
    manifest "0:0>1@20 1:1>2@17" 400000 &&
        is 20 40.2 20 --link 1000 && is 32 69 32 --link 100 && is 23.2 40.2 20 --link 1000 --copies 1 &&
        is 52 69 32 --link 100 --copies 1 && is 20.1 57.1 20.1 --link 16000,19900 && is 100 40.2 20 --link 1000 --interval-ms 100
}

sites() { # a link by its ends, and any
    cat >"$work/site.json" <<'JSON' &&
{"format":"ingot-site","version":1,"devices":[{"name":"nodeA"},{"name":"nodeB"}],
"links":[{"from":"nodeA","to":"nodeB","alpha_ns":1000000,"beta_ns":80},{"from":"*","to":"*","alpha_ns":0,"beta_ns":8}]}
JSON
        manifest "0:0>1@20 1:1>2@17" 400000 && is 33 70 33 --platform "$work/site.json" &&
        printf 'nodeC\nnodeD\n' >"$work/platform.txt" && is 20 40.25 20 --platform "$work/platform.txt"
}

cores() { # a rank that computes loses what its messages take of its core, one that sleeps, or has one to spare, nothing
    cat >"$work/site.json" <<'JSON' &&
{"format":"ingot-site","version":1,"devices":[{"name":"nodeA","cores":2},{"name":"nodeB"}],
"links":[{"alpha_ns":1000000,"beta_ns":8,"send_alpha_ns":1200000,"send_beta_ns":2}]}
JSON
        manifest "0:0>1@20 1:1>2@17" 400000 && is 20 41.2 20 --platform "$work/site.json" &&
        sed -i 's/"threads": 0/"threads": 1/g' "$made" && is 20 41.2 20 --platform "$work/site.json" &&
        sed -i 's/"threads": 1/"threads": 1, "cores": [0]/g' "$made" && is 22 41.2 20 --platform "$work/site.json"
}

machines() { # ranks that share a memory slow each other down, where the site says that they do
    for period in 26.375 20; do # 20 = 17 * 20 / 32 + (T - 17)
        machine=
        [ $period = 20 ] || machine='"machine":"m",'
        cat >"$work/site.json" <<JSON || return 1
{"format":"ingot-site","version":1,"devices":[{$machine"name":"nodeA"},{$machine"name":"nodeB"}],
"links":[{"alpha_ns":0,"beta_ns":8}]}
JSON
        manifest "0:0>1@20 1:1>2@17" 400000 || return 1
        sed -i 's/"time_ms": 20/"beside_ms": 26, "demand": 1, "time_ms": 20/;s/"time_ms": 17/"demand": 2, "time_ms": 17/' "$made"
        is $period 40.2 20 --platform "$work/site.json" || return 1
    done
}

words() {
    out/ingot simulate --link 100 "$made" >"$work/words" && grep -q "period  *32.000 ms, 31.25 frames a second" "$work/words" &&
        grep -q "nodeA_cpu0  *computes  *20.000 ms a frame,  62.5 %" "$work/words" &&
        grep -q "nodeA  *sends  *32.000 ms a frame, 100.0 %" "$work/words"
}

# shellcheck disable=SC3045
thousand() { # devices in a row: the slowest tells the period, in seconds of a core; twice the same bytes
    "$PYTHON" - "$made" <<'PY' &&
import json, sys
n = 1000
parts = [{"rank": i, "in": ["t%d" % i], "out": ["t%d" % (i + 1)], "time_ms": 1 + i * 7919 % n / n} for i in range(n)]
tensors = [{"rank": i, "tensor": "t%d" % (i + k), "bytes": 100000, "copies": 2, "output": i + k == n}
           for i in range(n) for k in (0, 1)]
json.dump({"format": "ingot-deploy", "version": 1, "parts": parts, "tensors": tensors,
           "ranks": [{"key": "n%d_cpu0" % i, "device": "n%d" % i} for i in range(n)],
           "links": [{"from": i, "to": i + 1, "tensor": "t%d" % (i + 1)} for i in range(n - 1)]}, open(sys.argv[1], "w"))
PY
        (ulimit -t 20 && exec out/ingot simulate --json "$made" -o "$work/a") && out/ingot simulate --json "$made" -o "$work/b" &&
        cmp "$work/a" "$work/b" && grep -q '"events":399800' "$work/a" && grep -q '"period_ms":1.999' "$work/a"
}

refused() { # what, words of the line
    sed "$1" "$work/good" >"$made"
    if out/ingot simulate "$made" 2>"$work/err"; then return 1; fi
    grep -q "$2" "$work/err" || { cat "$work/err"; return 1; }
}

mistakes() {
    manifest "0:0>1@20 1:1>2@17" 400000 && cp "$made" "$work/good" &&
        refused 's/ingot-deploy/ingot-plan/' "format is 'ingot-plan', not 'ingot-deploy'" &&
        refused 's/"tensors": \[/"tensor": [/' "unknown field 'tensor'; there are: format" &&
        refused 's/"copies": 2/"copys": 2/' "tensors\\[0\\]: unknown field 'copys'" &&
        refused 's/"in": \["1"\]/"in": ["7"]/' "parts\[1\]: rank 1 has no tensor '7'" &&
        refused 's/"links": \[.*\]/"links": [{"from":0,"to":5,"tensor":"1"}]/' "links\[0\]: 'to' is out of range: 5" &&
        refused 's/"output": true/"output": false/' "none is an output" &&
        refused 's/"in": \["0"\]/"in": ["0","1"]/' "stands still: frame 0 never comes out"
}

check "period and latency by closed forms" closed_forms
check "links of a site" sites
check "what messages take of cores" cores
check "what ranks of one machine take of its memory" machines
check "who holds it up, in words" words
check "a thousand devices" thousand
check "what cannot be is refused" mistakes
finish
