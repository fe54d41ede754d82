"""The guest's world under out/neon/: an arm64 Debian's Python in root/, the peers' wheels in site/, and the command that
runs a program in it."""
import glob
import os
import shutil
import sys

from peer.workshop import Failed, run

FOLDER = "out/neon"
CPU = "cortex-a57"
WHEELS = ["onnxruntime", "ncnn", "numpy"]
SUITE = "deb http://deb.debian.org/debian bookworm main\n"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"

# What libraries that look at the machine find: one Cortex-A57. The emulator takes files from its root first.
CPUINFO = """processor\t: 0
BogoMIPS\t: 100.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 cpuid
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x1
CPU part\t: 0xd07
CPU revision\t: 0

"""


def emulator():
    """qemu-aarch64 that takes plugins, or Failed with what is missing."""
    path = shutil.which("qemu-aarch64")
    if not path:
        raise Failed("no qemu-aarch64 (apt-get install --no-install-recommends qemu-user)")
    if "-plugin" not in run([path, "--help"]):
        raise Failed(f"{path} takes no plugins")
    return path


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(text)


def install():
    """Debian's packages by apt, but into a folder, and the wheels by pip."""
    apt = os.path.abspath(f"{FOLDER}/apt")
    for folder in ("state/lists/partial", "cache/archives/partial"):
        os.makedirs(f"{apt}/{folder}", exist_ok=True)
    signed = SUITE.replace("deb ", f"deb [signed-by={KEYRING}] ") if os.path.exists(KEYRING) else SUITE
    write(f"{apt}/sources.list", signed)
    write(f"{apt}/status", "")
    write(f"{apt}/apt.conf", f"""APT::Architecture "arm64";
APT::Architectures "arm64";
APT::Install-Recommends "false";
Dir::State "{apt}/state";
Dir::State::status "{apt}/status";
Dir::Cache "{apt}/cache";
Dir::Etc::sourcelist "{apt}/sources.list";
Dir::Etc::sourceparts "-";
Debug::NoLocking "true";
""")
    env = {**os.environ, "APT_CONFIG": f"{apt}/apt.conf"}
    run(["apt-get", "update"], env=env)
    run(["apt-get", "install", "-y", "--download-only", "python3-minimal", "libpython3-stdlib", "libstdc++6", "libgomp1"], env=env)
    for package in glob.glob(f"{apt}/cache/archives/*.deb"):
        run(["dpkg-deb", "-x", package, f"{FOLDER}/root"])
    write(f"{FOLDER}/root/proc/cpuinfo", CPUINFO)
    for name in ("possible", "present", "online"):
        write(f"{FOLDER}/root/sys/devices/system/cpu/{name}", "0\n")
    version = os.path.basename(python()).removeprefix("python")
    platforms = [f"--platform=manylinux{p}_aarch64" for p in ("2014", "_2_17", "_2_27", "_2_28", "_2_34")]
    run([sys.executable, "-m", "pip", "install", "--upgrade", "--target", f"{FOLDER}/site", "--only-binary=:all:", "--python-version", version, *platforms, *WHEELS], timeout=1200)


def python():
    found = sorted(p for p in glob.glob(f"{FOLDER}/root/usr/bin/python3.*") if p[-1].isdigit())
    if not found:
        raise Failed("no arm64 Python (bench/neon --install)")
    return os.path.abspath(found[-1])


def guest(qemu, command, plugin=None):
    """The command line that runs `command` in the guest."""
    more = ["-plugin", plugin] if plugin else []
    site = os.path.abspath(f"{FOLDER}/site")
    return [qemu, "-cpu", CPU, *more, "-L", os.path.abspath(f"{FOLDER}/root"), "-E", f"PYTHONPATH={site}", "-E",
            "PYTHONHASHSEED=0", *command]


def versions():
    """Of the peers that are there, from the names of their metadata."""
    found = {}
    for name in WHEELS:
        for path in glob.glob(f"{FOLDER}/site/{name}-*.dist-info"):
            found[name] = os.path.basename(path).split("-")[1].removesuffix(".dist")
    return found


def missing():
    """Why peers cannot run here; empty if they can."""
    reasons = []
    try:
        python()
    except Failed as e:
        reasons.append(str(e))
    absent = [name for name in WHEELS if name not in versions()]
    if absent:
        reasons.append(f"no {', '.join(absent)} for arm64 (bench/neon --install)")
    return reasons
