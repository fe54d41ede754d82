"""Executed guest instructions of an inference: the difference of two runs that differ in inferences only, so that
start, load and first-time work cancel. One thread everywhere."""
import collections
import importlib.util
import json
import os
import shutil
import sys

from peer import workshop
from peer.workshop import Failed, digest, finish, fresh, run

from . import sysroot
from .sysroot import FOLDER, guest

RUNS = (2, 4)  # inferences of the two runs: the first of each may still pack, allocate and warm up


class Bench:
    """Tools: the source folder, the cross compiler, the emulator, the counting plugin."""

    def __init__(self, srcdir, cc, qemu):
        os.makedirs(FOLDER, exist_ok=True)
        self.srcdir, self.cc, self.qemu = srcdir, cc, qemu
        self.version = run([qemu, "--version"]).splitlines()[0]
        self.plugin = os.path.abspath(f"{FOLDER}/count.so")
        self.report = os.path.abspath(f"{FOLDER}/count.txt")
        run([*workshop.compiler(), "-std=c11", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC",
             f"{srcdir}/bench/guest/count.c", "-o", self.plugin])


def program(bench, net, o):
    """Path of our program for one network and one thread, by the options, and [(address, function)] of it."""
    folder = f"{FOLDER}/{net['name']}"
    path, libraries = f"{folder}/net", ["out/aarch64/libingot_runtime.a", "out/aarch64/libingot_kernels.a"]
    if not os.path.exists(libraries[0]):
        raise Failed(f"no {libraries[0]} (ninja {libraries[0]} {libraries[1]})")
    model = workshop.network(net)
    key = digest("out/ingot", *libraries, model, str(o.max_error), o.isa, o.precision)
    if not fresh(folder, key):
        build(bench, folder, model, libraries, o)
        finish(folder, key)
    with open(f"{folder}/names.json") as f:
        return path, [tuple(row) for row in json.load(f)]


def build(bench, folder, model, libraries, o):
    path = f"{folder}/net"
    graph, plan = f"{folder}/graph.json", f"{folder}/plan.json"
    run(["out/ingot", "graph", model, "--precision", o.precision, "-o", graph])
    run(["out/ingot", "plan", graph, "--target", "aarch64", "--isa", o.isa, "--threads", "1", "-o", plan,
         *(["--max-error", str(o.max_error)] if o.max_error else [])])
    run(["out/ingot", "gen", graph, plan, "--prefix", "net", "-o", folder])
    for unit in ("plan.c", "main.c", "weights.S"):
        run([*bench.cc, "-std=c11", "-O2", "-march=armv8-a", f"-I{bench.srcdir}", f"-I{folder}", "-c",
             f"{folder}/net_{unit}", "-o", f"{folder}/net_{unit[:-2]}.o"])
    objects = [f"{folder}/net_main.o", f"{folder}/net_plan.o", *libraries, "-lm", "-lpthread"]
    link = [*bench.cc, "-static", "-Wl,--build-id=none"]
    run([f"{bench.srcdir}/gen/link.sh", "program", path, path, *link, *objects])
    run([*link, "-o", f"{folder}/named", *objects[:2], f"{folder}/net_weights.o", *objects[2:]])
    nm = bench.cc[0].removesuffix("gcc") + "nm"
    # Large weights are appended to a program that was linked without them: its code lies where this one's does.
    symbols = [line.split() for line in run([nm, f"{folder}/named"]).splitlines()]
    names = sorted((int(s[0], 16), s[2]) for s in symbols if len(s) == 3 and s[1] in "tTwW" and s[2][0] != "$")
    with open(f"{folder}/names.json", "w") as f:
        json.dump(names, f)
    for name in os.listdir(folder):
        if name.endswith((".o", ".bin")) or name == "named":
            os.remove(f"{folder}/{name}")


def ours(bench, path, net):
    """The command of n inferences: frames on standard input."""
    frames, raw = f"{FOLDER}/frames.raw", f"{workshop.FOLDER}/{net['name']}/input.raw"

    def command(n, plugin):
        with open(frames, "wb") as out:
            for _ in range(n):
                with open(raw, "rb") as f:
                    shutil.copyfileobj(f, out)
        words = guest(bench.qemu, [path, "--threads", "1", "--top", "0", "-"], plugin)
        return ["sh", "-c", 'from=$1; shift; exec "$@" <"$from"', "sh", frames, *words]
    return command


def counted(bench, command, n):
    """{(address, instructions of the block): executions} of a run of n inferences."""
    if os.path.exists(bench.report):
        os.remove(bench.report)
    run(command(n, f"{bench.plugin},out={bench.report}"), timeout=3600)
    blocks = collections.Counter()
    with open(bench.report) as f:
        next(f)
        for line in f:
            address, instructions, executions = line.split()
            blocks[int(address, 16), int(instructions)] += int(executions)
    return blocks


def difference(bench, command):
    """Executions an inference, block by block."""
    few, many = (counted(bench, command, n) for n in RUNS)
    many.subtract(few)
    return {block: n / (RUNS[1] - RUNS[0]) for block, n in many.items() if n}


def instructions(bench, command):
    return round(sum(n * times for (_, n), times in difference(bench, command).items()))


# --- peers ---

def converted(net):
    """What pnnx makes of the network, by the Python that has it."""
    python = os.environ.get("PYTHON") or sys.executable
    model = workshop.network(net)
    found = importlib.util.find_spec("pnnx") or shutil.which("pnnx") or os.environ.get("PYTHON")
    if not found:
        raise Failed("no pnnx to convert with (pip install pnnx, or PYTHON=a Python that has it)")
    return workshop.ncnn_model(python, net, model, sysroot.versions().get("ncnn", "?"))


def floats(path):
    import array
    values = array.array("f")
    with open(path, "rb") as f:
        values.frombytes(f.read())
    return values


def output_of(net, name):
    """Where a peer's last output is kept."""
    return f"{FOLDER}/{net['name']}.{name}.raw"


def peer(bench, net, name):
    """A peer's instructions an inference. Its output is kept."""
    model = workshop.network(net) if name == "onnxruntime" else converted(net)
    raw = f"{workshop.FOLDER}/{net['name']}/input.raw"
    script = [sysroot.python(), f"{bench.srcdir}/bench/guest/infer.py", name, model, net["input"], raw]
    output = output_of(net, name)
    return instructions(bench, lambda runs, plugin: guest(bench.qemu, [*script, str(runs), output], plugin))


def distance(bench, net, name, ours_path):
    """The largest difference of a peer's kept output from ours over its largest."""
    raw = f"{workshop.FOLDER}/{net['name']}/input.raw"
    run(guest(bench.qemu, [ours_path, raw, "--threads", "1", "-o", f"{FOLDER}/ours.npy"]), timeout=600)
    theirs = floats(output_of(net, name))
    with open(f"{FOLDER}/ours.npy", "rb") as f:
        mine = f.read()[-4 * len(theirs):]
    with open(f"{FOLDER}/ours.raw", "wb") as f:
        f.write(mine)
    mine = floats(f"{FOLDER}/ours.raw")
    return max(abs(a - b) for a, b in zip(mine, theirs)) / max(map(abs, theirs))
