#!/usr/bin/env python3
"""What bench/deploy computes and prints: mappings, sites, relays' manifests, the table of what was expected and measured.

  table.py mapping LAYERS LAST,..              two keys in turns, each up to a layer of that number
  table.py site LINKS.json                     nodeA and nodeB, of one machine, with the mean of these links
  table.py relay SPEC BYTES                    deploy.json of tests/mpi/relay
  table.py row NAME RATE SIMULATED RUN..       a line of results.json
  table.py table results.json                  all of them, as text
"""
import json
import sys


def mapping(layers, lasts):
    names = open(layers).read().split("\n")[:-1]
    keys = {"nodeA_cpu0": [], "nodeB_cpu1": []}
    first = 0
    for i, last in enumerate([int(n) for n in lasts.split(",")] + [len(names)]):
        keys[list(keys)[i % 2]] += names[first:last]
        first = last
    return keys


def site(path):
    links = json.load(open(path))["links"]
    fields = [k for k in links[0] if k.endswith("_ns")]
    mean = {k: sum(link[k] for link in links) / len(links) for k in fields}
    return {"format": "ingot-site", "version": 1, "devices": [{"name": name, "machine": "here"} for name in ("nodeA", "nodeB")],
            "links": [{"from": "*", "to": "*", **mean}]}


def relay(spec, size):
    """As tests/mpi/ranks.c makes it: tensors of one size, two copies each, on the ranks that make or read them."""
    parts = []
    for words in spec.split():
        rank, rest = words.split(":")
        reads, rest = rest.split(">")
        made, ms = rest.split("@")
        parts.append({"rank": int(rank), "in": reads.split(","), "out": [made], "time_ms": float(ms)})
    last = parts[-1]["out"][0]
    maker = {p["out"][0]: p["rank"] for p in parts}
    kept = sorted({(p["rank"], t) for p in parts for t in p["in"] + p["out"]})
    return {"format": "ingot-deploy", "version": 1, "parts": parts,
            "ranks": [{"key": "node%s_cpu0" % c, "device": "node" + c, "threads": 0} for c in "AB"], # they sleep
            "tensors": [{"rank": r, "tensor": t, "bytes": int(size), "copies": 2, "output": t == last} for r, t in kept],
            "links": [{"from": maker[t], "to": r, "tensor": t} for r, t in kept if maker.get(t, r) != r]}


def row(name, rate, simulated, *runs):
    """The best of the runs: what other programs take away is nobody's fault here."""
    s = json.load(open(simulated))
    best = max((json.load(open(r)) for r in runs), key=lambda r: r["fps"])
    return {"network": name, "rate": rate, "bytes": s["bytes"], "bound_ms": s["bound_ms"], "expected_ms": s["period_ms"],
            "link_ms": max(max(d["sends_ms"], d["receives_ms"]) for d in s["devices"]), "measured_ms": 1e3 / best["fps"], "median_ms": best["median_ms"], "runs": len(runs),
            "busy_ms": [r["busy_ms"] for r in best["ranks"]], "expected_busy_ms": [r["busy_ms"] for r in s["ranks"]]}


def table(path):
    rows = [json.loads(line) for line in open(path)]
    print("%-26s %8s %10s %9s %9s %9s %7s %7s %7s" % ("network", "link", "bytes", "bound ms", "expected", "measured", "gap", "bound", "of run"))
    for r in rows:
        run = max(*r["busy_ms"], r["link_ms"])  # the slower of stage and link, by what the ranks themselves took
        print("%-26s %8s %10d %9.2f %9.2f %9.2f %+6.1f%% %6.2f %6.2f" % (
            r["network"], r["rate"], r["bytes"], r["bound_ms"], r["expected_ms"], r["measured_ms"],
            100 * (r["measured_ms"] / r["expected_ms"] - 1), r["bound_ms"] / r["measured_ms"], run / r["measured_ms"]))


if __name__ == "__main__":
    made = {"mapping": mapping, "site": site, "relay": relay, "row": row, "table": table}[sys.argv[1]](*sys.argv[2:])
    if made is not None:
        print(json.dumps(made))
