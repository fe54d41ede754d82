"""Results as JSON that keeps what was measured before, and as tables."""
import math
import os

from peer import stored
from peer.stored import write  # noqa: F401

PEERS = ["onnxruntime", "openvino", "ncnn"]
BEGIN, END = "<!-- bench/peers: begin -->", "<!-- bench/peers: end -->"


def read(path):
    return stored.read(path, "peers")


def merge(results, entry):
    """Puts one network at one number of threads in its place."""
    same = [e for e in results["results"] if (e["network"], e["threads"]) != (entry["network"], entry["threads"])]
    results["results"] = sorted(same + [entry], key=lambda e: (e["threads"], e["order"]))


def median(entry, name):
    return entry["contenders"].get(name, {}).get("median_ms")


def fastest(entry):
    """(ms, name) of the fastest peer, or None."""
    times = [(median(entry, p), p) for p in PEERS if median(entry, p)]
    return min(times) if times else None


def ratio(entry):
    best, ours = fastest(entry), median(entry, "ingot")
    return ours / best[0] if best and ours else None


def calm_ratio(entry):
    """The ratio of the 10th percentiles, which a disturbed machine moves least; None where they are not known."""
    peers = [c["p10_ms"] for p in PEERS if "p10_ms" in (c := entry["contenders"].get(p, {}))]
    ours = entry["contenders"].get("ingot", {}).get("p10_ms")
    return ours / min(peers) if peers and ours else None


def start_ratio(entry):
    """Our exec to exit over the fastest peer's load and first inference."""
    peers = [s["load_ms"] + s["first_ms"] for p in PEERS if (s := entry["starts"].get(p)) and "load_ms" in s]
    ours = entry["starts"].get("ingot", {}).get("exec_ms")
    return ours / min(peers) if peers and ours else None


def share_of_peak(entry):
    ours = median(entry, "ingot")
    return 2e-6 * entry["macs"] / (ours * entry["peak_gflops"] * entry["threads"]) if ours else None


def share_of_stream(entry):
    """Bytes that have to be read and written once, over what memory could deliver; None where arithmetic takes longer
    than these bytes."""
    ours, needed = median(entry, "ingot"), entry["traffic_bytes"] * 1e-6 / entry["stream_gbs"]
    if not ours or needed < 2e-6 * entry["macs"] / (entry["peak_gflops"] * entry["threads"]):
        return None
    return needed / ours


def number(x, digits=3):
    """Three digits that matter."""
    if x is None:
        return "-"
    decimals = max(0, digits - 1 - int(math.floor(math.log10(abs(x))))) if x else 0
    return f"{x:.{min(decimals, 3)}f}"


def percent(x):
    return "-" if x is None else f"{100 * x:.0f} %"


def speed_rows(entries):
    head = ["network", "threads", "ingot ms", *(f"{p} ms" for p in PEERS), "ratio", "of peak", "of memory"]
    rows = [[e["network"], str(e["threads"]), number(median(e, "ingot")), *(number(median(e, p)) for p in PEERS),
             "-" if ratio(e) is None else f"{ratio(e):.2f}", percent(share_of_peak(e)), percent(share_of_stream(e))]
            for e in entries]
    return head, rows


def start_text(start):
    return "-" if "load_ms" not in start else f"{number(start['load_ms'])} + {number(start['first_ms'])}"


def mib(kib):
    return "-" if kib is None else number(kib / 1024)


def start_rows(entries):
    head = ["network", "threads", "ingot ms", *(f"{p} ms" for p in PEERS), "ratio", "ingot MiB",
            *(f"{p} MiB" for p in PEERS), "binary MB"]
    rows = []
    for e in entries:
        starts = [e["starts"].get(p, {}) for p in PEERS]
        ours, r = e["starts"].get("ingot", {}), start_ratio(e)
        rows.append([e["network"], str(e["threads"]), number(ours.get("exec_ms")), *map(start_text, starts),
                     "-" if r is None else f"{r:.2f}", mib(ours.get("rss_kib")),
                     *(mib(s.get("rss_kib")) for s in starts), number(e.get("binary_bytes", 0) * 1e-6)])
    return head, rows


def text_table(head, rows):
    widths = [max(len(r[i]) for r in [head, *rows]) for i in range(len(head))]
    return "\n".join("  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths)))
                     for r in [head, *rows])


def markdown_table(head, rows):
    lines = [head, ["---" if i == 0 else "--:" for i in range(len(head))], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def verdict(entries):
    """Lines: the geometric mean for each number of threads, who is above 1, who could not run, who disagrees, what was
    disturbed."""
    lines = []
    for threads in sorted({e["threads"] for e in entries}):
        mine = [e for e in entries if e["threads"] == threads and ratio(e)]
        if not mine:
            continue
        above = [f"{e['network']} {ratio(e):.2f}" for e in sorted(mine, key=ratio, reverse=True) if ratio(e) > 1]
        calm = [r for e in mine if (r := calm_ratio(e))]
        lines.append(f"{threads} thread{'s' if threads > 1 else ''}: geometric mean of ingot / fastest peer "
                     f"{geometric_mean([ratio(e) for e in mine]):.3f} over {len(mine)} networks"
                     f"{f' ({geometric_mean(calm):.3f} of the 10th percentiles)' if calm else ''}; above 1: "
                     f"{', '.join(above) or 'none'}")
    for e in entries:
        run = f"{e['network']}, {e['threads']} thread{'s' if e['threads'] > 1 else ''}"
        for name, c in e["contenders"].items():
            if "error" in c:
                lines.append(f"{run}: {name} cannot run it: {c['error']}")
            elif c.get("difference") is None and name != "ingot":
                lines.append(f"{run}: {name}'s outputs have other sizes")
            elif name != "ingot" and c["difference"] > 1e-3:
                lines.append(f"{run}: {name}'s outputs differ from ingot's by {c['difference']:.1e} of the largest value")
    noisy = [f"{e['network']}/{e['threads']}" for e in entries
             if any(c.get("lost", 0) > 0.05 for c in e["contenders"].values())]
    if noisy:
        lines.append(f"other programs took more than 5 % of the time of a contender: {', '.join(noisy)}")
    return lines


def report(entries):
    return "\n\n".join([text_table(*speed_rows(entries)), text_table(*start_rows(entries)),
                        "\n".join(verdict(entries))])


def about(entries):
    """Where, when and against which versions."""
    e = entries[-1]
    versions = ", ".join(f"{name} {v}" for name, v in sorted(e["versions"].items()))
    dates = sorted({e["date"][:10] for e in entries})
    when = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{e['cpu']}, {number(e['peak_gflops'])} GFLOP/s of fused multiply-adds a core; {versions}; {when}."


def brief_rows(entries):
    """A row a network: for each number of threads ours, the fastest peer, the ratio."""
    counts = sorted({e["threads"] for e in entries})
    at = {(e["network"], e["threads"]): e for e in entries}
    head = ["network"]
    for t in counts:
        head += [f"ingot ms, {t} thread{'s' if t > 1 else ''}", "fastest peer", "ratio", "of peak"]
    rows = []
    for name in dict.fromkeys(e["network"] for e in sorted(entries, key=lambda e: e["order"])):
        row = [name]
        for t in counts:
            e = at.get((name, t))
            best = e and fastest(e)
            row += [number(e and median(e, "ingot")), f"{number(best[0])} {best[1]}" if best else "-",
                    f"{ratio(e):.2f}" if best else "-", percent(e and share_of_peak(e))]
        rows.append(row)
    return head, rows


def markdown_brief(results):
    entries = results["results"]
    return "\n\n".join([about(entries), markdown_table(*brief_rows(entries)),
                        "\n".join(f"- {v}" for v in verdict(entries))])


def markdown_full(results):
    entries = results["results"]
    return "\n\n".join([about(entries), "Warm:", markdown_table(*speed_rows(entries)),
                        "\n".join(f"- {v}" for v in verdict(entries)), "From nothing to the first result:",
                        markdown_table(*start_rows(entries))])


def update(path, markdown):
    """Renews what is between the markers of a Markdown file."""
    with open(path) as f:
        text = f.read()
    if BEGIN not in text or END not in text.split(BEGIN)[1]:
        raise SystemExit(f"peers: {path}: no lines '{BEGIN}' and '{END}' to put tables between")
    before, after = text.split(BEGIN)[0], text.split(END)[1]
    with open(f"{path}.new", "w") as f:
        f.write(f"{before}{BEGIN}\n{markdown}\n{END}{after}")
    os.replace(f"{path}.new", path)
