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
            + "".join(f"; {TITLES[way]}: {why}" for way, why in e["errors"].items())
            + f" ({took['profiles']} s of profiles, {took['builds']} of builds, {took['runs']} of runs)")


def row(e, way):
    """Expected, measured and their ratio to the GPU alone."""
    if way not in e["ways"]:
        return "  |  |  "
    w = e["ways"][way]
    return f"{w['expected_fps']:.0f} | {fps(e, way):.0f} | {middle(ratios(e, way)):.2f}"


def rates(entries):
    ways = [way for way in ORDER if any(way in e["ways"] for e in entries)]
    lines = ["| network | GPU alone: expected | measured | as a stage |" + "".join(f" {TITLES[w]}: expected | measured | ratio |" for w in ways)
             + " pick | expected | best measured | lost % | spread % |",
             "| --- | --: | --: | --: |" + " --: | --: | --: |" * len(ways) + " --- | --: | --- | --: | --: |"]
    for e in entries:
        stage, pick = e["ways"].get("stage"), e["pick"]
        expected, whole = (f"{stage['expected_fps']:.0f}", f"{fps(e, 'stage'):.0f}") if stage else ("", "")
        lost = f"{100 * (1 - fps(e, pick['way']) / fps(e, best(e))):.1f}" if pick["way"] in e["ways"] else ""
        lines.append(f"| {e['network']} | {expected} | {fps(e, 'gpu'):.0f} | {whole} |" + "".join(f" {row(e, way)} |" for way in ways)
                     + f" {TITLES[pick['way']]} | {pick['expected_fps']:.0f} | {TITLES[best(e)]} | {lost} | {spread(e):.1f} |")
    return lines


def stages(entries):
    """Where each pipeline is cut, and its stages' times."""
    lines = ["| network | stages | KB handed over | passing: expected us | stage ms: expected | measured | latency ms, alone | off |",
             "| --- | --- | --: | --: | --- | --- | --: | --: |"]
    for e in entries:
        for way in ("gpu", "stage", *ORDER, "cpu"):
            if way not in e["ways"]:
                continue
            w = e["ways"][way]
            moved = f"{w['moved_bytes'] / 1e3:.1f}" if "moved_bytes" in w else ""
            passing = f"{1e3 * w['expected_passing_ms']:.0f}" if "expected_passing_ms" in w else ""
            times = [" + ".join(f"{ms:.3f}" for ms in w.get(key, [])) for key in ("expected_stage_ms", "stage_ms")]
            option = w.get("stages", {"gpu": "none: GPU alone", "stage": "gpu", "cpu": "none: CPU alone"}.get(way))
            lines.append(f"| {e['network']} | `{option}` | {moved} | {passing} | {times[0]} | {times[1]} | {w['latency_alone_ms']:.3f} | {w['difference']:.1g} |")
    return lines


def text(entries):
    if not entries:
        raise Failed("no figures")
    e = entries[0]
    rounds = min(len(w["fps"]) for e in entries for w in e["ways"].values())
    lines = ["Frames a second, medians of at least " + f"{rounds} rounds by turns; ratio: to the GPU alone in the same round.", "", *rates(entries), "", *stages(entries), "",
             f"{e['gpu']}; {e['cpu']}; core: {e['core']}, team: {e['team'] or 'none'}. Off: the largest difference from the CPU's outputs over "
             "their largest value.", ""]
    for e in entries:
        for way, why in e["errors"].items():
            lines.append(f"{e['network']}, {TITLES[way]}: {why}")
    return "\n".join(lines).rstrip("\n") + "\n"
