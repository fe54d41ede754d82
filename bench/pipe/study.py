"""One network on two cores: profiles, plans and programs of one core, of a team, and of the pipeline that `ingot trial`
finds the fastest, with what it foresees."""
import json
import os
import re
import threading

from peer import contest, workshop
from peer.workshop import Failed, run

FOLDER = "out/pipeline"


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
        self.cut_graph = f"{self.folder}/cut.json" if o.split else self.graph  # of the pipeline
        self.kept = self.take_profiles()

    def path(self, name):
        return f"{self.folder}/{name}"

    def take_profiles(self):
        """alone.json and beside.json of one core, team.json of two; kept for the next time. Where the pipeline's graph has
        layers in parts, beside.json is of that one."""
        o = self.o
        key = workshop.digest("out/ingot", self.model, str(o.profile), str(o.cores), str(o.split))
        if workshop.fresh(self.folder, key):
            return True
        run(["out/ingot", "graph", self.model, "-o", self.graph])
        if o.split:
            run(["out/ingot", "graph", self.model, "--split", o.split, "-o", self.cut_graph])
        ways = {"alone": ([o.cores[1]], ["--threads", "1"]), "team": (o.cores, ["--threads", "2"]),
                "beside": (o.cores, ["--threads", "1", "--beside", str(o.cores[0])])}
        for name, (cores, args) in ways.items():
            with o.timing, contest.pinned(cores):
                o.two.calm(o.tries, lambda: run(["out/ingot", "profile", "-q", self.graph_of(name), *args, "--seconds",
                                                 str(o.profile), "-o", self.path(f"{name}.json")]))
        workshop.finish(self.folder, key)
        return False

    def graph_of(self, profile):
        return self.cut_graph if profile.startswith("beside") else self.graph

    def plan(self, name, profile, *args):
        """folder/name/plan.json; its predicted latency and period, and latency with frames waiting (None without
        stages), ms."""
        os.makedirs(self.path(name), exist_ok=True)
        path = self.path(f"{name}/plan.json")
        said = run(["sh", "-c", 'exec "$@" 2>&1', "sh", "out/ingot", "plan", "-v", self.graph_of(profile), "--profile",
                    self.path(profile), *args, "-o", path])
        totals = read(path)["totals"]
        full = re.search(r"latency ([\d.]+) ms full", said)
        return {"latency": totals["latency_ms"], "period": totals.get("period_ms", totals["latency_ms"]),
                "full": float(full.group(1)) if full else None}

    def build(self, name):
        folder = self.path(name)
        graph = self.cut_graph if name == "pipeline" else self.graph
        program = workshop.build(self.srcdir, folder, graph, f"{folder}/plan.json")
        for rest in os.listdir(folder):
            if rest.endswith((".o", ".bin")):
                os.remove(f"{folder}/{rest}")
        return program

    def clean(self):
        """Programs hold all weights, five times over: plans and profiles are what stays."""
        for name in os.listdir(self.folder):
            program = self.path(f"{name}/net")
            if os.path.exists(program):
                os.remove(program)

    def start(self, name, program, cores):
        with self.o.timing:
            return contest.Contender(name, [program, self.raw, "--bench=-"], cores, False, 300)

    # --- what one core and a team take, whole, and one core beside another ---

    def frames(self, c, seconds):
        """Median ms of a frame, in a whole run."""
        with self.o.timing:
            once = c.run(3)[-1] * 1e-9
            ns, _ = contest.turn(c, max(5, int(seconds / once)), contest.settling(once * 1e3), self.o, self.o.cores)
        return middle(ns) * 1e-6

    def both(self, first, second, seconds):
        """The same of two that run at the same time."""
        with self.o.timing:
            n = max(5, int(seconds * 1e9 / first.run(3)[-1]))
            second.run(3)
            found = self.o.two.calm(self.o.tries, lambda: self.together(first, second, n))
        # Those of the middle, in which surely both ran.
        return middle([t for ns in found.values() for t in ns[n // 5:n - n // 5]]) * 1e-6

    @staticmethod
    def together(first, second, n):
        """{contender: ns of its n frames}"""
        found = {}
        runs = [threading.Thread(target=lambda c=c: found.update({c: c.run(n)})) for c in (first, second)]
        for r in runs:
            r.start()
        for r in runs:
            r.join()
        return found

    def whole_runs(self):
        """Builds one core and team, runs them and two copies of one core in turns, and scales the three profiles to
        whole runs. Returns programs, predicted ms before that, measured ms."""
        o, programs = self.o, {}
        said = {"alone": self.plan("single", "alone.json", "--threads", "1")["latency"],
                "team": self.plan("team", "team.json", "--threads", "2")["latency"],
                "beside": self.plan("beside", "beside.json", "--threads", "1")["latency"]}
        for name in ("single", "team"):
            programs[name] = self.build(name)
        many = {name: [] for name in said}
        first = second = team = None
        try:
            first = self.start("single", programs["single"], [o.cores[1]])
            second = self.start("second", programs["single"], [o.cores[0]])
            team = self.start("team", programs["team"], o.cores)
            for _ in range(1 if said["alone"] > 100 else 3):
                many["alone"].append(self.frames(first, 0.4))
                many["team"].append(self.frames(team, 0.4))
                many["beside"].append(self.both(first, second, 0.4))
        finally:
            for c in (first, second, team):
                if c:
                    c.end()
        ran = {name: middle(ms) for name, ms in many.items()}
        for name, ms in ran.items():
            scale(self.path(f"{name}.json"), self.path(f"{name}.whole.json"), lambda _, f=ms / said[name]: f)
        return programs, said, ran

    # --- the pipeline ---

    def sets(self):
        return f"cpu:{self.o.cores[0]},cpu:{self.o.cores[1]}"

    def foretold(self):
        """ms from frame to frame of the cut that is best by the profile of one core beside the other, before any ran."""
        best = json.loads(run(["out/ingot", "pipeline", self.cut_graph, "--json", "--bands", "auto",
                               f"--processors={self.sets()}", "--profile", self.path("beside.whole.json")]))
        return self.plan("foretold", "beside.whole.json", "--threads", "1", "--stages",
                         best["stages_option"] or self.sets())["period"]

    def trial(self):
        """What `ingot trial` found, as ./configure --stages=auto runs it: each way's best entry, and the way it takes."""
        with self.o.timing, contest.pinned(self.o.cores):
            answer = json.loads(self.o.two.calm(self.o.tries, lambda: run(
                ["out/ingot", "trial", self.cut_graph, "--json", "-q", f"--stages={self.sets()}", "--seconds",
                 str(self.o.trial), "--profile", self.path("beside.whole.json"),
                 "--team-graph", self.graph, "--team-profile", self.path("team.whole.json"), "-o", self.path("trial.json")])))
        best = {}
        for entry in sorted(answer["trials"], key=lambda t: -t["period_ms"]):
            best[entry["way"]] = entry
        if "pipeline" not in best:
            raise Failed("no place to cut at")
        return best, answer["trials"][answer["chosen"]]["way"], len(answer["trials"]) - 2

    def bench(self, program, seconds):
        with self.o.timing, contest.pinned(self.o.cores):
            return json.loads(self.o.two.calm(self.o.tries, lambda: run([program, self.raw, f"--bench={seconds}", "--json"])))

    def pipeline(self, option):
        """The program of that cut."""
        self.plan("pipeline", "beside.whole.json", "--threads", "1", "--stages", option)
        return self.build("pipeline")
