"""Results of bench/pipeline as JSON that keeps what was measured before, as a table, and against its bars."""
import math
import os

from peer import stored
from peer.stored import write  # noqa: F401

WAYS = ("single", "team", "pipeline")
BEGIN, END = "<!-- bench/pipeline: begin -->", "<!-- bench/pipeline: end -->"
TITLES = {"single": "one core", "team": "team of two", "pipeline": "pipeline"}


def read(path):
    return stored.read(path, "pipeline")


def held(results, network, build):
    """Its entry, if that is of this build."""
    return next((e for e in results["results"] if e["network"] == network and e.get("build") == build), None)


def merge(results, entry, most):
    """In place of what is there of its network. Attempts of the same build add up; `most`: as of counts."""
    before = held(results, entry["network"], entry["build"])
    attempts = (before["attempts"] if before else []) + entry["attempts"]
    entry = {**entry, **counts(attempts, most), "attempts": attempts}
    others = [e for e in results["results"] if e["network"] != entry["network"]]
    results["results"] = sorted(others + [entry], key=lambda e: e["order"])


def counts(attempts, most):
    """Which of them does: the calmest, if its rounds differ by no more than `most` percent. If not, what is left of a gap
    is chance, to either side: the one whose throughput's gap is the median, of two in the middle the one farther from 0."""
    calmest = min(attempts, key=spread)
    if spread(calmest) <= most:
        return calmest
    ordered = sorted(attempts, key=lambda t: gaps(t)["rate"])
    n = len(ordered)
    return max(ordered[(n - 1) // 2], ordered[n // 2], key=lambda t: abs(gaps(t)["rate"]))


def gap(expected, measured):
    """Percent of what was expected."""
    return 100 * (measured / expected - 1)


def gain(e):
    return e["pipeline"]["fps"] / e["single"]["fps"]


def best(e):
    return max(WAYS, key=lambda w: e[w]["fps"])


def regret(e):
    """Percent of the frames that the best would give and the pick does not."""
    return 100 * (1 - e[e["pick"]]["fps"] / e[best(e)]["fps"])


def half_width(e, way):
    """Half of what lies between the 10th and the 90th percentile of a way's rounds, percent of their median."""
    return 50 * (e[way]["p90"] - e[way]["p10"]) / e[way]["fps"]


def spread(e):
    """The widest of any way's rounds, those of the trial included."""
    return max(max(half_width(e, way), e[way].get("predicted_spread", 0)) for way in WAYS)


def gaps(e):
    p = e["pipeline"]
    return {"gain": gap(p["predicted_fps"] / e["single"]["predicted_fps"], gain(e)), "rate": gap(p["predicted_fps"], p["fps"]), "foretold": gap(p["foretold_fps"], p["fps"]),
            "latency": gap(p["predicted_latency_ms"], p["latency_ms"]),
            "alone": gap(p["predicted_latency_alone_ms"], p["latency_alone_ms"])}


HEAD = ["network", "one core", "team", "pipeline", "gain", "expected", "gap %", "before any run", "gap %", "latency ms",
        "expected", "gap %", "alone ms", "expected", "gap %", "kappa", "pick", "lost %"]


def row(e):
    p, g = e["pipeline"], gaps(e)
    pick = TITLES[e["pick"]] + ("" if e["pick"] == best(e) else f", best: {TITLES[best(e)]}")
    rate = "{:.1f} ±{:.1f} %"
    return [e["network"], *(rate.format(e[w]["fps"], half_width(e, w)) for w in WAYS),
            f"{gain(e):.2f}", f"{p['predicted_fps']:.1f}", f"{g['rate']:+.1f}", f"{p['foretold_fps']:.1f}",
            f"{g['foretold']:+.1f}", f"{p['latency_ms']:.2f}", f"{p['predicted_latency_ms']:.2f}", f"{g['latency']:+.1f}",
            f"{p['latency_alone_ms']:.2f}", f"{p['predicted_latency_alone_ms']:.2f}", f"{g['alone']:+.1f}",
            f"{e['kappa']:.3f}", pick, f"{regret(e):.1f}"]


def mean(many):
    return sum(many) / len(many)


def bars(entries):
    """(what, figure as text, kept) of everything that is asked."""
    n = len(entries)
    gains = math.exp(mean([math.log(gain(e)) for e in entries]))
    hits = sum(e["pick"] == best(e) for e in entries)
    worst = max(regret(e) for e in entries)
    out = [("gain over one core, geometric mean, at least 1.8", f"{gains:.3f}", gains >= 1.8),
           ("pick is the best, at least 16 of 18", f"{hits} of {n}", hits * 18 >= 16 * n),
           ("else within 3 % of the best", f"worst {worst:.1f} %", worst <= 3)]
    for key, name, bar, most in (("rate", "throughput", 5, 10), ("gain", "the gain over one core", 5, 10),
                                 ("foretold", "throughput before any pipeline ran", 5, 10),
                                 ("latency", "latency with frames waiting", 7, None),
                                 ("alone", "latency of a frame alone", 7, None)):
        g = [abs(gaps(e)[key]) for e in entries]
        text = f"mean {mean(g):.1f} %, worst {max(g):.1f} % ({entries[g.index(max(g))]['network']})"
        asked = f"gap of {name}, mean at most {bar} %" + (f", worst {most} %" if most else "")
        out.append((asked, text, mean(g) <= bar and (not most or max(g) <= most)))
    return out


def text(entries):
    rows = [HEAD] + [row(e) for e in entries]
    wide = [max(len(r[i]) for r in rows) for i in range(len(HEAD))]
    lines = ["  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, wide))) for r in rows]
    return "\n".join(lines) + "\n"


def attempts_text(e):
    return ", ".join(f"within {spread(t):.1f} % (throughput {gaps(t)['rate']:+.1f} %, lost {regret(t):.1f} %)" for t in e["attempts"])


def verdicts(entries):
    return "".join(f"{'kept  ' if ok else 'MISSED'}  {what}: {figure}\n" for what, figure, ok in bars(entries))


def markdown(results):
    entries = results["results"]
    lines = ["| " + " | ".join(HEAD) + " |", "| --- |" + " --: |" * (len(HEAD) - 1)]
    lines += ["| " + " | ".join(row(e)) + " |" for e in entries]
    lines += ["", "| bar | measured | kept |", "| --- | --- | --- |"]
    lines += [f"| {what} | {figure} | {'yes' if ok else 'no'} |" for what, figure, ok in bars(entries)]
    return "\n".join(lines) + "\n"


def update(path, words):
    with open(path) as f:
        page = f.read()
    if BEGIN not in page or END not in page:
        raise SystemExit(f"pipeline: {path}: no {BEGIN} and {END}")
    page = page[:page.index(BEGIN) + len(BEGIN)] + "\n" + words + page[page.index(END):]
    with open(f"{path}.new", "w") as f:
        f.write(page)
    os.replace(f"{path}.new", path)
