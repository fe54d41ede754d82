"""One network on two cores: profiles, plans and programs of one core, of a team, and of a pipeline whose prediction is
put right by runs of what was built."""
import json
import os
import re
import threading

from peer import contest, workshop
from peer.workshop import run

FOLDER = "out/pipeline"
CUTS = 3  # programs at most that a prediction is put right by


def read(path):
    with open(path) as f:
        return json.load(f)


def write(path, what):
    with open(f"{path}.new", "w") as f:
        json.dump(what, f, sort_keys=True)
    os.replace(f"{path}.new", path)


def scale(source, to, factor_of):
    """A profile with the times of each node multiplied; a band's go with its last node."""
    profile = read(source)
    for t in profile["timings"]:
        for key in ("alone_ns", "in_order_ns"):
            t[key] *= factor_of(t["node"])
    for t in profile["bands"]:
        for key in ("apart_ns", "in_order_ns"):
            t[key] *= factor_of(t["last"])
    write(to, profile)


def middle(many):
    ordered = sorted(many)
    return ordered[len(ordered) // 2]


class Study:
    def __init__(self, srcdir, net, o):
        self.srcdir, self.net, self.o = srcdir, net, o
        self.folder = f"{FOLDER}/{net['name']}"
        self.model = workshop.network(net)
        self.raw = f"{workshop.FOLDER}/{net['name']}/input.raw"
        self.graph = f"{self.folder}/graph.json"
        self.kept = self.take_profiles()

    def path(self, name):
        return f"{self.folder}/{name}"

    def take_profiles(self):
        """alone.json and beside.json of one core, team.json of two; kept for the next time."""
        o = self.o
        key = workshop.digest("out/ingot", self.model, str(o.profile), str(o.cores))
        if workshop.fresh(self.folder, key):
            return True
        run(["out/ingot", "graph", self.model, "-o", self.graph])
        ways = {"alone": ([o.cores[1]], ["--threads", "1"]), "team": (o.cores, ["--threads", "2"]),
                "beside": (o.cores, ["--threads", "1", "--beside", str(o.cores[0])])}
        for name, (cores, args) in ways.items():
            with o.timing, contest.pinned(cores):
                run(["out/ingot", "profile", "-q", self.graph, *args, "--seconds", str(o.profile), "-o",
                     self.path(f"{name}.json")])
        workshop.finish(self.folder, key)
        return False

    def plan(self, name, profile, *args):
        """folder/name/plan.json; its predicted latency and period, and latency with frames waiting (None without
        stages), ms."""
        os.makedirs(self.path(name), exist_ok=True)
        path = self.path(f"{name}/plan.json")
        said = run(["sh", "-c", 'exec "$@" 2>&1', "sh", "out/ingot", "plan", "-v", self.graph, "--profile", self.path(profile),
                    *args, "-o", path])
        totals = read(path)["totals"]
        full = re.search(r"latency ([\d.]+) ms full", said)
        return {"latency": totals["latency_ms"], "period": totals.get("period_ms", totals["latency_ms"]),
                "full": float(full.group(1)) if full else None}

    def build(self, name):
        folder = self.path(name)
        program = workshop.build(self.srcdir, folder, self.graph, f"{folder}/plan.json")
        for rest in os.listdir(folder):
            if rest.endswith((".o", ".bin")):
                os.remove(f"{folder}/{rest}")
        return program

    def start(self, name, program, cores):
        with self.o.timing:
            return contest.Contender(name, [program, self.raw, "--bench=-"], cores, False, 300)

    # --- what one core and a team take, whole, and one core beside another ---

    def frames(self, c, seconds):
        """Median ms of a frame, in a whole run."""
        with self.o.timing:
            once = c.run(3)[-1] * 1e-9
            ns, _ = contest.turn(c, max(5, int(seconds / once)), 2, self.o, self.o.cores)
        return middle(ns) * 1e-6

    def both(self, first, second, seconds):
        """The same of two that run at the same time."""
        with self.o.timing:
            n = max(5, int(seconds * 1e9 / first.run(3)[-1]))
            second.run(3)
            found = {}
            runs = [threading.Thread(target=lambda c=c: found.update({c: c.run(n)})) for c in (first, second)]
            for r in runs:
                r.start()
            for r in runs:
                r.join()
        # Those of the middle, in which surely both ran.
        return middle([t for ns in found.values() for t in ns[n // 5:n - n // 5]]) * 1e-6

    def whole_runs(self):
        """Builds one core and team, and scales the three profiles to whole runs. Returns predicted ms before that,
        measured ms."""
        o, programs = self.o, {}
        said = {"alone": self.plan("single", "alone.json", "--threads", "1")["latency"],
                "team": self.plan("team", "team.json", "--threads", "2")["latency"],
                "beside": self.plan("beside", "beside.json", "--threads", "1")["latency"]}
        for name in ("single", "team"):
            programs[name] = self.build(name)
        first = second = team = None
        try:
            first = self.start("single", programs["single"], [o.cores[1]])
            second = self.start("second", programs["single"], [o.cores[0]])
            team = self.start("team", programs["team"], o.cores)
            ran = {"alone": self.frames(first, 1), "team": self.frames(team, 1), "beside": self.both(first, second, 1)}
        finally:
            for c in (first, second, team):
                if c:
                    c.end()
        for name, ms in ran.items():
            scale(self.path(f"{name}.json"), self.path(f"{name}.whole.json"), lambda _, f=ms / said[name]: f)
        return programs, said, ran

    # --- the pipeline ---

    def cut(self, profile):
        """ingot pipeline's answer."""
        o = self.o
        return json.loads(run(["out/ingot", "pipeline", self.graph, "--json", "--algorithm", "best", "--bands", "auto",
                               f"--processors=cpu:{o.cores[0]},cpu:{o.cores[1]}", "--profile", self.path(profile),
                               "--profile", self.path("team.last.json")]))

    def option(self, profile):
        """Where it would cut, also where it would rather not."""
        o = self.o
        best = json.loads(run(["out/ingot", "pipeline", self.graph, "--json", "--bands", "auto",
                               f"--processors=cpu:{o.cores[0]},cpu:{o.cores[1]}", "--profile", self.path(profile)]))
        return best["stages_option"] or f"cpu:{o.cores[0]},cpu:{o.cores[1]}"

    def bench(self, program, seconds):
        with self.o.timing, contest.pinned(self.o.cores):
            return json.loads(run([program, self.raw, f"--bench={seconds}", "--json"]))

    def in_place(self, source, to, plan, ran):
        """The profile with each stage's times as its program took them."""
        steps = read(plan)["steps"]
        factors = [s["ms"] / s["predicted_ms"] for s in ran["stages"]]
        stage = {s["node"]: s["stage"] for s in steps}
        scale(source, to, lambda node: factors[stage.get(node, 0)])
        return factors

    def pipeline(self):
        """Cuts, builds, runs for a second, puts each stage's times right and cuts again, until the cut stays; the
        best of what was run is kept. Returns its programme, option, prediction before any pipeline ran and after."""
        seen, profile, foretold = {}, "beside.whole.json", None
        for i in range(CUTS):
            option = self.option(profile)
            if option in seen:
                break
            said = self.plan(f"cut{i}", profile, "--threads", "1", "--stages", option)
            foretold = foretold or said
            program = self.build(f"cut{i}")
            ran = self.bench(program, 1)
            after = f"cut{i}.json"
            factors = self.in_place(self.path(profile), self.path(after), self.path(f"cut{i}/plan.json"), ran)
            seen[option] = {"option": option, "program": program, "fps": ran["fps"], "before": profile, "profile": after,
                            "folder": f"cut{i}", "ran": ran, "factors": [round(f, 4) for f in factors]}
            profile = after
        best = max(seen.values(), key=lambda s: s["fps"])
        best["foretold"], best["cuts"] = foretold, len(seen)
        return best

    def settle(self, best, single, team, rounds):
        """Predictions for the best cut, and ms of one core and the team: the middle of some runs in turns, so that a
        machine that is slower for a while is so for all of them."""
        many, alone, both = [], [], []
        for _ in range(rounds):
            alone.append(self.frames(single, 0.5))
            both.append(self.frames(team, 0.5))
            many.append(self.bench(best["program"], 0.5))
        ran = {"stages": [dict(s, ms=middle([m["stages"][i]["ms"] for m in many]))
                          for i, s in enumerate(many[0]["stages"])]}
        best["factors"] = [round(f, 4) for f in self.in_place(self.path(best["before"]), self.path(best["profile"]),
                                                              self.path(f"{best['folder']}/plan.json"), ran)]
        for name, was in (("alone", middle(alone)), ("team", middle(both))):
            said = self.plan("again", f"{name}.whole.json", "--threads", "2" if name == "team" else "1")["latency"]
            scale(self.path(f"{name}.whole.json"), self.path(f"{name}.last.json"), lambda _, f=was / said: f)
        best["predicted"] = self.plan("final", best["profile"], "--threads", "1", "--stages", best["option"])
        best["alone"] = self.plan("lone", "alone.last.json", "--threads", "1", "--stages", best["option"])["latency"]
        return {"alone": middle(alone), "team": middle(both)}

    def pick(self, pipe, said):
        """Which of the three the planner takes for the most frames."""
        answer = self.cut(pipe["profile"])
        way = "team" if answer["chosen"] == "team" else "pipeline"
        ms = {"single": said["alone"], "team": said["team"], "pipeline": pipe["predicted"]["period"]}
        return "single" if ms["single"] < ms[way] else way
