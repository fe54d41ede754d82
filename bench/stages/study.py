"""One network of bench/gpu_stages: profiles, cuts, programs, their outputs beside the CPU's, and all by turns."""
import array
import datetime
import json
import os
import random
import time

from stages.build import run
from stages.table import Failed, middle

FRAMES = 4  # whose outputs are compared
TOP = 100   # values of the first output, as many as a program prints


class Study:
    def __init__(self, o, builds, name):
        self.o, self.builds, self.began = o, builds, time.monotonic()
        self.until = self.began + o.limit
        self.given = name.endswith(".onnx")
        self.name = os.path.splitext(os.path.basename(name))[0] if self.given else name
        self.onnx = name if self.given else self.file("onnx")
        self.cores = o.cores
        self.core = f"cpu:{self.cores[0]}"
        # A core is left to the thread that gives the GPU its frames.
        self.team = f"cpu:{self.cores[0]}-{self.cores[-2]}" if len(self.cores) > 2 else None

    def file(self, kind):
        return os.path.join(self.builds.folder, f"{self.name}.{kind}")

    def ingot(self, *args):
        return run([self.builds.ingot, *args], self.until)

    def prepare(self):
        """The graph and the profiles that all ways share."""
        if not self.given:
            self.ingot("zoo", self.name, "-o", self.onnx)
        self.ingot("graph", self.onnx, "-o", self.file("json"))
        seconds = ["--seconds", str(self.o.profile), "-q", self.file("json"), "-o"]
        self.ingot("profile", "--threads", "1", *seconds, self.file("core"))
        if self.team:
            self.ingot("profile", "--threads", str(len(self.cores) - 1), *seconds, self.file("team"))
        self.ingot("profile", "--gpu", self.builds.kernels, *seconds, self.file("gpu"))

    # --- where to cut ---

    def pipeline(self, cpu, *pins):
        profile = self.file("core" if cpu == self.core else "team")
        found = json.loads(self.ingot("pipeline", f"--processors=gpu,{cpu}", "--profile", profile, "--profile", self.file("gpu"), "--json",
                                      *[word for pin in pins for word in ("--pin", pin)], self.file("json")))
        cut = next(a for a in found["algorithms"] if a["algorithm"] == found["chosen"])
        return {"period_ms": cut["period_ns"] * 1e-6, "stage_ms": [ns * 1e-6 for ns in cut["stage_ns"]], "processors": cut["stages"],
                "moved_bytes": cut["moved_bytes"], "stages": found["stages_option"]}, found["segments"]

    def cuts(self):
        """way: its cut, or why there is none; and the planner's own pick."""
        ways, free = {}, []
        for cpu, who in (self.core, "core"), (self.team, "team"):
            if not cpu:
                continue
            plan, segments = self.pipeline(cpu)
            free.append(plan)
            first, last = segments[0]["first"], segments[-1]["first"]
            for way, pins in (f"{who}_gpu", (f"{first}={cpu}", f"{last}=gpu")), (f"gpu_{who}", (f"{first}=gpu", f"{last}={cpu}")):
                try:
                    ways[way] = self.pipeline(cpu, *pins)[0]
                except Failed as e:
                    ways[way] = {"error": str(e)}
        best = min(free, key=lambda plan: plan["period_ms"])
        return ways, {"processors": best["processors"], "stages": best["stages"], "expected_fps": 1e3 / best["period_ms"]}

    def way_of(self, pick, cuts):
        """The way that is the planner's pick."""
        if pick["processors"] == ["gpu"]:
            return "gpu"
        return next((way for way in cuts if cuts[way].get("stages") and cuts[way]["stages"] == pick["stages"]), "cpu")

    # --- programs ---

    def options(self, cuts, picked, pick):
        """way: options of configure."""
        def profiled(who):
            return [f"--model={self.onnx}", f"--profile={self.file(who)}"]
        gpu = ["--gpu", f"--gpu-profile={self.file('gpu')}", f"--nvcc={self.builds.nvcc}"]
        wanted = {"gpu": [*profiled("core"), *gpu, "--threads=1"], "stage": [*profiled("core"), *gpu, "--stages=gpu"]}
        for way, cut in cuts.items():
            if cut.get("stages"):
                wanted[way] = [*profiled("team" if "team" in way else "core"), *gpu, f"--stages={cut['stages']}"]
        if picked == "cpu":
            alone = pick["processors"] == [self.core]
            wanted["cpu"] = [*profiled("core" if alone else "team"), f"--threads={1 if alone else len(self.cores) - 1}"]
        return wanted

    def frames(self, program):
        """Raw frames, the same in every run."""
        info = json.loads(run([program, "--info", "--json"], self.until))
        if any(i["type"] != "f32" for i in info["inputs"]):
            raise Failed("an input is not f32")
        count = FRAMES
        for i in info["inputs"]:
            for d in i["shape"]:
                count *= d
        if len(info["inputs"]) != 1:
            raise Failed("more than one input")
        values = random.Random(1)
        return array.array("f", [values.random() for _ in range(count)]).tobytes()

    def outputs(self, program, gpu, raw):
        words = run([program, "-", "--json", "--top", str(TOP), *gpu], self.until, raw)
        return [{t["index"]: t["value"] for t in json.loads(line)["top"]} for line in words.splitlines()]

    def difference(self, mine, theirs):
        """The largest, over the largest value of the frame, of what both print."""
        if not len(mine) == len(theirs) == FRAMES:
            raise Failed(f"{len(mine)} results of {FRAMES} frames")
        worst = 0
        for a, b in zip(mine, theirs):
            both, most = a.keys() & b.keys(), max(map(abs, b.values()))
            if not both or not most:
                raise Failed("outputs are others than the CPU's")
            worst = max([worst, *(abs(a[i] - b[i]) / most for i in both)])
        return worst

    def bench(self, way, program):
        gpu = [] if way == "cpu" else ["--gpu=require"]
        return json.loads(run([program, f"--bench={self.o.seconds}", "--json", *gpu], self.until))

    def turns(self, programs, errors):
        """way: what --bench said in each round; a way that fails is out, and where time is up the rounds count that are whole."""
        said = {way: [] for way in programs}
        for _ in range(self.o.rounds):
            for way in list(said):
                try:
                    said[way].append(self.bench(way, programs[way]))
                except Failed as e:
                    if said[way] and time.monotonic() >= self.until:
                        whole = min(map(len, said.values()))
                        return {way: rounds[:whole] for way, rounds in said.items()}
                    errors[way] = str(e)
                    del said[way]
        if "gpu" in errors:
            raise Failed(errors["gpu"])
        return said

    def results(self, said, differences):
        found = {}
        for way, rounds in said.items():
            first = rounds[0]
            found[way] = {"fps": [r["fps"] if "fps" in r else 1e3 / r["median_ms"] for r in rounds], "difference": differences[way],
                          "latency_ms": middle([r.get("latency_ms", r["median_ms"]) for r in rounds]),
                          "latency_alone_ms": middle([r.get("latency_alone_ms", r["median_ms"]) for r in rounds])}
            if "stages" in first:
                found[way]["expected_fps"] = first["predicted_fps"]
                found[way]["processors"] = [s["processor"] for s in first["stages"]]
                found[way]["expected_stage_ms"] = [s["predicted_ms"] for s in first["stages"]]
                found[way]["stage_ms"] = [middle([r["stages"][i]["ms"] for r in rounds]) for i in range(len(first["stages"]))]
        return found

    def passing(self, way):
        """What the plan counts for passing tensors to the GPU and from it, ms a frame."""
        with open(os.path.join(self.builds.path(way), f"out/host/{self.prefix()}.d/plan.json")) as f:
            return sum(s.get("passing_ns", 0) for s in json.load(f)["stages"]) * 1e-6

    def prefix(self):
        return "net_" + "".join(c if c.isalnum() else "_" for c in self.name)

    def entry(self):
        try:
            return self.measure()
        finally:
            self.builds.clean(self.prefix())

    def measure(self):
        self.prepare()
        profiled = time.monotonic()
        cuts, pick = self.cuts()
        picked = self.way_of(pick, cuts)
        made = self.builds.programs(self.options(cuts, picked, pick), self.prefix(), self.until)
        if isinstance(made["gpu"], Failed):
            raise made["gpu"]
        built = time.monotonic()
        errors = {way: str(e) for way, e in made.items() if isinstance(e, Failed)}
        errors.update({way: cut.get("error", "no such cut") for way, cut in cuts.items() if not cut.get("stages")})
        programs, differences = {}, {}
        raw = self.frames(made["gpu"])
        theirs = self.outputs(made["gpu"], ["--gpu=off"], raw)
        for way, program in made.items():
            if way in errors:
                continue
            try:
                differences[way] = self.difference(self.outputs(program, [] if way == "cpu" else ["--gpu=require"], raw), theirs)
                programs[way] = program
            except Failed as e:
                errors[way] = str(e)
        ways = self.results(self.turns(programs, errors), differences)
        for way in ways:
            if way in cuts:
                ways[way].update(stages=cuts[way]["stages"], moved_bytes=cuts[way]["moved_bytes"])
            if "expected_fps" in ways[way]:
                ways[way]["expected_passing_ms"] = self.passing(way)
        with open(self.file("gpu")) as f:
            profile = json.load(f)
        with open(self.file("core")) as f:
            cpu = json.load(f)["cpu"]
        now = time.monotonic()
        return {"network": self.name, "gpu": profile["cpu"], "cpu": cpu, "copies": profile.get("copies"), "core": self.core, "team": self.team, "ways": ways, "errors": errors,
                "pick": {"way": picked, **pick}, "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
                "took_s": {"profiles": round(profiled - self.began, 1), "builds": round(built - profiled, 1), "runs": round(now - built, 1)}}
