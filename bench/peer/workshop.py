"""What the contenders run: networks, inputs, our programs, ncnn's conversions. Kept under out/peers/ and made anew
only where what they are made of has changed."""
import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import struct
import subprocess

FOLDER = "out/peers"
KERNELS = "out/host/libingot_kernels.a"


class Failed(Exception):
    """A step that did not work, with a reason of one line."""


def run(args, timeout=600, **more):
    """stdout of a command; Failed with its last words."""
    try:
        done = subprocess.run(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=timeout,
                              stdin=subprocess.DEVNULL, **more)
    except subprocess.TimeoutExpired:
        raise Failed(f"{os.path.basename(args[0])}: not done after {timeout} s")
    except OSError as e:
        raise Failed(f"{args[0]}: {e.strerror}")
    if done.returncode:
        words = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise Failed(f"{os.path.basename(args[0])}: {words[-1] if words else f'status {done.returncode}'}")
    return done.stdout


def digest(*parts):
    """Of files (paths that exist) and of other words."""
    h = hashlib.sha256()
    for part in parts:
        if os.path.isfile(part):
            with open(part, "rb") as f:
                while block := f.read(1 << 22):
                    h.update(block)
        else:
            h.update(part.encode())
        h.update(b"\0")
    return h.hexdigest()


def fresh(folder, key):
    """True if `folder` was finished for `key`; else it is emptied."""
    try:
        with open(f"{folder}/key") as f:
            if f.read() == key:
                return True
    except OSError:
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    return False


def finish(folder, key):
    with open(f"{folder}/key", "w") as f:
        f.write(key)


def writable(path):
    """Before what takes long: results can be written there."""
    if path and not os.access(os.path.dirname(path) or ".", os.W_OK):
        raise Failed(f"{path}: its folder is not there, or not for writing")


def zoo():
    return {net["name"]: net for net in json.loads(run(["out/ingot", "zoo", "--list", "--json"]))}


def files(paths):
    """ONNX files of one input of floats, as entries of the zoo: they are called as they are, without .onnx."""
    nets = {}
    for path in paths:
        about, name = json.loads(run(["out/ingot", "inspect", "--json", path])), os.path.basename(path).removesuffix(".onnx")
        if len(about["inputs"]) != 1 or about["inputs"][0]["type"] != "f32":
            raise Failed(f"{path}: a network of one input of floats is wanted")
        if name in nets:
            raise Failed(f"{path}: another network is called {name}, too")
        nets[name] = {"name": name, "file": path, "input": "x".join(str(d) for d in about["inputs"][0]["shape"]), "macs": about["macs"],
                      "parameters": about["parameters"]}
    return nets


@contextlib.contextmanager
def making(path):
    """Its name until it is whole: who makes the same at the same time has another, and what fails leaves none."""
    new = f"{path}.{os.getpid()}"
    try:
        yield new
        os.replace(new, path)
    finally:
        if os.path.exists(new):
            os.remove(new)


def network(net):
    """Path of the ONNX file; beside it lies input.raw: uniform in [0,1), the same in every run."""
    folder = f"{FOLDER}/{net['name']}"
    os.makedirs(folder, exist_ok=True)
    path, raw = f"{folder}/net.onnx", f"{folder}/input.raw"
    with making(path) as new:
        if "file" in net:
            shutil.copyfile(net["file"], new)
        else:
            run(["out/ingot", "zoo", net.get("zoo", net["name"]), "-o", new])
    if "file" in net or not os.path.exists(raw):
        count = 1
        for d in net["input"].split("x"):
            count *= int(d)
        rng = random.Random(7)
        with making(raw) as new, open(new, "wb") as f:
            f.write(struct.pack(f"<{count}f", *(rng.random() for _ in range(count))))
    return path


def quantised(srcdir, python, net):
    """The same in 8 bits; beside it lies the same input."""
    model, folder = network(net), f"{FOLDER}/{net['name']}/8"
    key = digest(model, f"{srcdir}/bench/peer/quantise.py")
    if not fresh(folder, key):
        run([python, f"{srcdir}/bench/peer/quantise.py", model, f"{folder}/net.onnx", net["input"]], timeout=3600)
        finish(folder, key)
    return f"{folder}/net.onnx"


def variable(name):
    """Of the build, in words."""
    with open("build.ninja") as f:
        return re.search(rf"^{name} = (.*)$", f.read(), re.M).group(1).split()


def compiler():
    return variable("cc")


def tool(srcdir, name):
    """A C program of this folder, compiled."""
    os.makedirs(FOLDER, exist_ok=True)
    path = f"{FOLDER}/{name}"
    run([*compiler(), "-std=c11", "-O3", "-Wall", "-Wextra", "-Wshadow", "-Werror", "-D_GNU_SOURCE", f"-I{srcdir}",
         f"{srcdir}/bench/peer/{name}.c", "out/libingot.a", "-lpthread", "-lm", "-o", path])
    return path


def build(srcdir, folder, graph, plan):
    """folder/net, the program of a plan, with its objects beside it; returns its path."""
    cc, libraries, path = variable("program_cc"), [*variable("program_runtime"), KERNELS], f"{folder}/net"
    run(["out/ingot", "gen", graph, plan, "--prefix", "net", "-o", folder])
    for unit in ("plan.c", "main.c", "weights.S"):
        run([*cc, "-std=c11", "-O2", f"-I{srcdir}", f"-I{folder}", "-c", f"{folder}/net_{unit}",
             "-o", f"{folder}/net_{unit[:-2]}.o"])
    run([f"{srcdir}/gen/link.sh", "program", path, path, *cc, *variable("program_flags"),
         f"{folder}/net_main.o", f"{folder}/net_plan.o", *libraries, "-lm", "-lpthread"])
    return path


def program(srcdir, net, model, threads, timing):
    """Our program, as `./configure --model --threads` makes it: profile, plan, tables, link. timing(): a context in
    which measuring is allowed."""
    folder = f"{FOLDER}/{net['name']}/ingot-{threads}"
    path = f"{folder}/net"
    cc, libraries = variable("program_cc"), [*variable("program_runtime"), KERNELS]
    key = digest("out/ingot", *cc, *libraries, model, str(threads))
    if fresh(folder, key):
        return path
    graph, profile, plan = (f"{folder}/{name}.json" for name in ("graph", "profile", "plan"))
    run(["out/ingot", "graph", model, "-o", graph])
    with timing():
        run(["out/ingot", "profile", "-q", graph, "--threads", str(threads), "-o", profile])
    run(["out/ingot", "plan", graph, "--threads", str(threads), "--profile", profile, "-o", plan])
    build(srcdir, folder, graph, plan)
    info = json.loads(run([path, "--info", "--json"]))
    info["binary_bytes"] = os.path.getsize(path) - os.path.getsize(f"{path}_weights.bin")
    with open(graph) as f:
        values = json.load(f)["values"]
    info["activation_bytes"] = sum(activation_bytes(v) for v in values)
    with open(f"{folder}/info.json", "w") as f:
        json.dump(info, f)
    for name in os.listdir(folder):
        if name.endswith((".o", ".bin")):
            os.remove(f"{folder}/{name}")
    finish(folder, key)
    return path


def activation_bytes(value):
    if "offset" in value:
        return 0
    count = {"u8": 1, "i8": 1, "bool": 1, "f16": 2, "i64": 8}.get(value["type"], 4)
    for d in value["shape"]:
        count *= d
    return count


def ncnn_model(python, net, model, version):
    """What pnnx makes of the network; ncnn loads <path>.param and <path>.bin."""
    folder = f"{FOLDER}/{net['name']}/ncnn"
    key = digest(model, version)
    path = f"{folder}/net.ncnn"
    if fresh(folder, key):
        return path
    os.link(model, f"{folder}/net.onnx")
    pnnx = run([python, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))"]).strip() + "/pnnx/pnnx"
    if not os.path.exists(pnnx):
        pnnx = shutil.which("pnnx") or "pnnx"
    dims = net["input"].replace("x", ",")
    run([pnnx, "net.onnx", f"inputshape=[{dims}]", "fp16=0"], timeout=600, cwd=folder)
    for name in os.listdir(folder):
        if not name.startswith("net.ncnn."):
            os.remove(f"{folder}/{name}")
    if not os.path.exists(f"{path}.param"):
        raise Failed("pnnx: wrote no ncnn model")
    finish(folder, key)
    return path
