"""Build folders of bench/gpu_stages, one a way, which share what was compiled once; and commands with an end."""
import os
import shutil
import subprocess
import sys
import time

from stages.table import Failed

WAYS = ("gpu", "stage", "core_gpu", "gpu_core", "team_gpu", "gpu_team", "cpu")


def say(words):
    print(f"gpu_stages: {words}", file=sys.stderr, flush=True)


def cores_here():
    """The longest run of cores that this process may use: sets of cores are ranges."""
    best, run = [], []
    for core in sorted(os.sched_getaffinity(0)):
        run = run + [core] if run and core == run[-1] + 1 else [core]
        best = max(best, run, key=len)
    return best[:64]


def end(child):
    """Ends a command and all that it started."""
    try:
        os.killpg(child.pid, 9)
    except ProcessLookupError:
        pass
    child.wait()


def start(args, **more):
    try:
        return subprocess.Popen(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, **more)
    except OSError as e:
        raise Failed(f"{args[0]}: {e.strerror}")


def finish(child, what, until, given=None):
    """stdout of a command that was started; Failed with its last words."""
    try:
        out, err = child.communicate(given, timeout=max(0.1, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        raise Failed(f"{what}: time is up")
    finally:
        end(child)
    if child.returncode:
        lines = [line for line in (err.decode(errors="replace") + out.decode(errors="replace")).splitlines() if line.strip()]
        wrong = next((line for line in lines if "error" in line.lower()), lines[-1] if lines else f"status {child.returncode}")
        raise Failed(f"{what}: {wrong}")
    return out.decode()


def run(args, until, given=None, **more):
    child = start(args, stdin=subprocess.DEVNULL if given is None else subprocess.PIPE, **more)
    return finish(child, os.path.basename(args[0]), until, given)


class Builds:
    """`ingot`, this GPU's kernels for profiles, and a folder for each way: a copy of the first, where all but programs is made."""

    def __init__(self, srcdir, o):
        self.srcdir, self.folder = srcdir, os.path.abspath(o.folder)
        self.base = os.path.join(self.folder, "base")
        self.ingot, self.kernels = os.path.join(self.base, "out/ingot"), o.kernels or os.path.join(self.folder, "kernels.fatbin")
        self.given, self.ninja = o.kernels, os.environ.get("NINJA", "ninja")
        self.nvcc = os.environ.get("NVCC") or shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"

    def prepare(self):
        until = time.monotonic() + 600
        os.makedirs(os.path.join(self.base, "out"), exist_ok=True)
        say("building ingot, and kernels for this GPU")
        kernels = None if self.given else start(["sh", "-euc", KERNELS, "sh", self.nvcc, self.srcdir, self.kernels], cwd=self.base)
        try:
            self.configure("base", [], until)
            run([self.ninja, "out/ingot", "out/host/libingot_runtime.a", "out/host/libingot_kernels.a"], until, cwd=self.base)
            if kernels:
                finish(kernels, "nvcc", until)
        finally:
            if kernels:
                end(kernels)
        for way in WAYS:
            shutil.rmtree(self.path(way), ignore_errors=True)
            shutil.copytree(self.base, self.path(way), copy_function=shutil.copy2)

    def path(self, way):
        return os.path.join(self.folder, way)

    def configure(self, way, args, until):
        back = os.path.relpath(self.srcdir, self.path(way))
        run([os.path.join(back, "configure"), "--without-aarch64", "--libc=glibc", *args], until, cwd=self.path(way))

    def programs(self, wanted, prefix, until):
        """wanted: way: options of configure. All are built at the same time; way: the program, or why there is none."""
        found, children = {}, {}
        back = os.path.relpath(self.srcdir, self.path("base"))
        script = f'{back}/configure --without-aarch64 --without-energy --libc=glibc "$@" && {self.ninja} out/host/{prefix}'
        try:
            for way, args in wanted.items():
                children[way] = start(["sh", "-euc", script, "sh", f"--prefix={prefix}", *args], stdin=subprocess.DEVNULL, cwd=self.path(way))
            for way, child in children.items():
                try:
                    finish(child, "build", until)
                    found[way] = os.path.join(self.path(way), "out/host", prefix)
                except Failed as e:
                    found[way] = e
        finally:
            for child in children.values():
                end(child)
        return found

    def clean(self, prefix):
        """Programs of a network take its weights twice each."""
        for way in WAYS:
            shutil.rmtree(os.path.join(self.path(way), f"out/host/{prefix}.d"), ignore_errors=True)
            if os.path.exists(os.path.join(self.path(way), "out/host", prefix)):
                os.remove(os.path.join(self.path(way), "out/host", prefix))


KERNELS = """
nvcc=$1 src=$2 file=$3
. "$src/gen/gpu.sh"
line=$(nvcc_command "$nvcc")
[ -n "$line" ] || { echo "$nvcc works with no C++ compiler here: see config.log" >&2; exit 1; }
sm=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader | head -1 | tr -d .)
eval "$line -std=c++14 -O3 -fmad=false -fatbin -gencode arch=compute_$sm,code=sm_$sm -Xfatbin -compress-all -I\\"\\$src\\" \
    -o \\"\\$file\\" \\"\\$src/kernels_gpu/module.cu\\""
"""
