"""Results of bench/gpu_stages as words and as a Markdown table."""
import json

ORDER = ("core_gpu", "team_gpu", "gpu_core", "gpu_team")
TITLES = {"gpu": "GPU alone", "stage": "GPU as a stage", "core_gpu": "core, GPU", "team_gpu": "team, GPU", "gpu_core": "GPU, core",
          "gpu_team": "GPU, team", "cpu": "CPU alone"}


class Failed(Exception):
    """A step that did not work, with a reason of one line."""


def middle(values):
    ordered, n = sorted(values), len(values)
    return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2


def read(path):
    try:
        with open(path) as f:
            entries = [json.loads(line) for line in f if line.strip()]
            for e in entries:
                fps(e, "gpu")
            return entries
    except OSError as e:
        raise Failed(f"{path}: {e.strerror}")
    except (ValueError, KeyError, TypeError):
        raise Failed(f"{path}: not results of bench/gpu_stages")


def fps(e, way):
    return middle(e["ways"][way]["fps"])


def spread(e):
    """Percent of the median between the best and the worst round of a way, at most."""
    return max(100 * (max(w["fps"]) - min(w["fps"])) / middle(w["fps"]) for w in e["ways"].values())


def ratios(e, way):
    """Of each round: frames for one of the GPU alone in the same round."""
    return [a / b for a, b in zip(e["ways"][way]["fps"], e["ways"]["gpu"]["fps"])]


def best(e):
    return max(e["ways"], key=lambda way: fps(e, way))


def words(e):
    said = [f"{TITLES[way]} {fps(e, way):.0f}" for way in ("gpu", "stage", *ORDER, "cpu") if way in e["ways"]]
    took = e["took_s"]
    return (f"{e['network']}: frames/s {', '.join(said)}; pick: {TITLES[e['pick']['way']]}"
            + "".join(f"; {TITLES[way]}: {why}" for way, why in sorted(e["errors"].items()))
            + f" ({took['profiles']} s of profiles, {took['builds']} of builds, {took['runs']} of runs)")


def expected(e, way):
    return e["ways"][way].get("expected_fps", 0)


def direction(e, ways):
    """Of a core and a team the one that more is expected of: who, frames a second expected and measured, ratio to the GPU alone."""
    there = [way for way in ways if way in e["ways"]]
    if not there:
        return " |  |  | "
    way = max(there, key=lambda w: expected(e, w))
    return f"{'team' if 'team' in way else 'core'} | {expected(e, way):.0f} | {fps(e, way):.0f} | {middle(ratios(e, way)):.2f}"


def rates(entries):
    lines = ["| network | GPU alone: expected | measured | as a stage | CPU, GPU: by | expected | measured | ratio | GPU, CPU: by | expected | measured | "
             "ratio | pick | expected | measured | best measured | spread % |",
             "| --- | --: | --: | --: | --- | --: | --: | --: | --- | --: | --: | --: | --- | --: | --: | --- | --: |"]
    for e in entries:
        pick, stage = e["pick"], "stage" in e["ways"]
        cells = [e["network"], f"{expected(e, 'stage'):.0f}" if stage else "", f"{fps(e, 'gpu'):.0f}", f"{fps(e, 'stage'):.0f}" if stage else "",
                 direction(e, ("core_gpu", "team_gpu")), direction(e, ("gpu_core", "gpu_team")), TITLES[pick["way"]],
                 f"{pick['expected_fps']:.0f}", f"{fps(e, pick['way']):.0f}" if pick["way"] in e["ways"] else "", TITLES[best(e)],
                 f"{spread(e):.1f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def stages(entries):
    """Every way: where it is cut, its rate, and its stages' times."""
    lines = ["| network | stages | frames/s: expected | measured | ratio | KB handed over | passing: expected us | stage ms: expected | "
             "measured | a frame alone ms | off |", "| --- | --- | --: | --: | --: | --: | --: | --- | --- | --: | --: |"]
    for e in entries:
        for way in ("gpu", "stage", *ORDER, "cpu"):
            if way not in e["ways"]:
                continue
            w = e["ways"][way]
            option = w.get("stages", {"gpu": "none: GPU alone", "stage": "gpu", "cpu": "none: CPU alone"}.get(way))
            cells = [e["network"], f"`{option}`", f"{expected(e, way):.0f}" if expected(e, way) else "", f"{fps(e, way):.0f}",
                     f"{middle(ratios(e, way)):.2f}", f"{w['moved_bytes'] / 1e3:.1f}" if "moved_bytes" in w else "",
                     f"{1e3 * w['expected_passing_ms']:.0f}" if "expected_passing_ms" in w else "",
                     *(" + ".join(f"{ms:.3f}" for ms in w.get(key, [])) for key in ("expected_stage_ms", "stage_ms")),
                     f"{w['latency_alone_ms']:.3f}", f"{w['difference']:.1g}"]
            lines.append(f"| {' | '.join(cells)} |")
    return lines


def copies(entries):
    """What the profiles say of copies to the GPU and from it, over all networks."""
    known = [e["copies"] for e in entries if e.get("copies")]
    if not known:
        return "Copies to the GPU and from it: as the plan assumes them."
    us, fs = ([middle([c[f"{way}_{what}"] for c in known]) for way in ("in", "out")] for what in ("ns", "fs_per_byte"))
    return (f"A copy to the GPU takes {us[0] / 1e3:.1f} us + {fs[0] / 1e6:.4f} ns a byte, launching and waiting included, one from it {us[1] / 1e3:.1f} us "
            f"+ {fs[1] / 1e6:.4f}; measurements are {100 * middle([c['off'] for c in known]):.0f} % off these lines (medians of the profiles).")


def text(entries):
    if not entries:
        raise Failed("no figures")
    e = entries[0]
    rounds = min(len(w["fps"]) for e in entries for w in e["ways"].values())
    lines = [f"Frames a second, medians of at least {rounds} rounds by turns; ratio: to the GPU alone in the same round; spread: between a "
             "way's best and worst round.", "", *rates(entries), "", *stages(entries), "", f"{e['gpu']}; {e['cpu']}; core: {e['core']}, team: {e['team'] or 'none'}. "
             "Off: the largest difference from the CPU's outputs over their largest value.", "", copies(entries), ""]
    for e in entries:
        for way, why in sorted(e["errors"].items()):
            lines.append(f"{e['network']}, {TITLES[way]}: {why}")
    return "\n".join(lines).rstrip("\n") + "\n"
