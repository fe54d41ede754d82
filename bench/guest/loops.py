"""Inner loops of the built micro-kernels through llvm-mca: how near they come to the multiply-add bound of a core's model."""
import re
import shutil
import subprocess

from peer.workshop import Failed, run

# functions, what they are; those of integers are of long multiplications, or of dot products, in place of FMLA
KERNELS = [
    ("ig_packed_6x16_neon", "GEMM 6x16, packed"),
    ("ig_packed_5x16_neon", "GEMM 5x16, packed"),
    ("ig_packed_6x8_neon", "GEMM 6x8, packed"),
    ("ig_strassen_6_neon", "GEMM in Strassen"),
    ("ig_gemm16_6x16_neon", "GEMM 6x16 by rows"),
    ("ig_gemm8_8x8_neon", "GEMM 8x8 by rows"),
    ("ig_slide_4s1_neon", "depthwise 3x3"),
    ("ig_slide_4s2_neon", "depthwise 3x3, stride 2"),
    ("ig_bytes_4x16_neon", "GEMM 4x16 of bytes"),
    ("ig_bytes_3x16_neon", "GEMM 3x16 of bytes"),
    ("ig_wide_4x16_neon", "GEMM 4x16 of 16 bits"),
    ("ig_bytes_6x16_dotprod", "GEMM 6x16 of bytes by dot products"),
    ("ig_bytes_4x16_dotprod", "GEMM 4x16 of bytes by dot products"),
    ("ig_half_8x16_fp16", "GEMM 8x16 of halves"),
    ("ig_half_7x16_fp16", "GEMM 7x16 of halves"),
    ("ig_half_8x8_fp16", "GEMM 8x8 of halves"),
]
MULTIPLIES = ("fmla", "smull", "smlal", "sdot")
PEAKS = {"fmla": "fmla v{}.4s, v0.4s, v1.s[{}]", "smlal": "smlal v{}.4s, v0.4h, v1.h[{}]", "sdot": "sdot v{}.4s, v0.16b, v1.4b[{}]",
         "halves": "fmla v{}.8h, v0.8h, v1.h[{}]"}
CORES = ["cortex-a57", "cortex-a55", "exynos-m4"]
LACKS = {("cortex-a57", "sdot"), ("cortex-a57", "halves")}
BOUNDS = {"fmla": "cortex-a57", "smlal": "cortex-a57", "sdot": "exynos-m4", "halves": "exynos-m4"}  # the core that --least is about
ITERATIONS = 100


def disassemble(library, objdump):
    """{function: [(address, instruction)]} of the wanted ones."""
    wanted, functions, body = {name for name, _ in KERNELS}, {}, None
    for line in run([objdump, "-d", "--no-show-raw-insn", library]).splitlines():
        if head := re.match(r"([0-9a-f]+) <([^>]*)>:$", line):
            name = head.group(2)
            if not int(head.group(1), 16) or "_neon" in name or "_dotprod" in name or "_fp16" in name:  # else a label within a function
                body = functions.setdefault(name, []) if name in wanted else None
        elif body is not None and (code := re.match(r"\s+([0-9a-f]+):\s+(\S.*)$", line)):
            body.append((int(code.group(1), 16), code.group(2)))
    return functions


def inner_loop(body):
    """Instructions of the loop without loops inside that multiplies most."""
    index = {address: i for i, (address, _) in enumerate(body)}
    spans = []
    for i, (address, text) in enumerate(body):
        branch = re.match(r"(?:b\.\w+|cbn?z\s+\w+,|tbn?z\s+\w+, #\d+,)\s+([0-9a-f]+)\b", text)
        if branch and int(branch.group(1), 16) <= address and int(branch.group(1), 16) in index:
            spans.append((index[int(branch.group(1), 16)], i))
    inner = [s for s in spans if not any(s != t and s[0] <= t[0] and t[1] <= s[1] for t in spans)]
    loops = [[text for _, text in body[a:b + 1]] for a, b in inner]
    if not loops:
        raise Failed("no loop found")
    return max(loops, key=multiplies)


def multiplies(loop):
    return sum(text.startswith(MULTIPLIES) for text in loop)


def kind_of(loop):
    """Of its multiplications: fmla, smlal, sdot or halves, those of which are FMLA too."""
    if any(re.match(r"fmla\s+v\d+\.8h", text) for text in loop):
        return "halves"
    return next((kind for kind in PEAKS if any(text.startswith(kind) for text in loop)), "smlal")


def source(loop):
    """As llvm-mca reads it. Branches inside go nowhere, the last one to the start."""
    lines = [re.sub(r"(?://|<).*", "", text).strip() for text in loop]
    lines = [re.sub(r"[0-9a-f]+$", "1b", text) if re.match(r"b\.|cbn?z|tbn?z", text) else text for text in lines]
    lines = [re.sub(r"^b\.(tcont|any|none|tstop)\b", "b.ne", text) for text in lines]
    return "\n".join(["1:", *(re.sub(r"\{v(\d+)\.(\w+)-v(\d+)\.\w+\}", spread, text) for text in lines), ""])


def simulated(loop, core, mca, iterations):
    done = subprocess.run([mca, "-mtriple=aarch64", f"-mcpu={core}", f"-iterations={iterations}"], text=True,
                          input=source(loop), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    total = re.search(r"^Total Cycles:\s+(\d+)", done.stdout, re.M)
    if done.returncode or not total:
        raise Failed(f"llvm-mca: {(done.stderr.splitlines() or ['no cycles'])[0]}")
    return int(total.group(1))


def cycles(loop, core, mca):
    """Cycles of one iteration once the loop is under way."""
    return (simulated(loop, core, mca, 3 * ITERATIONS) - simulated(loop, core, mca, ITERATIONS)) / (2 * ITERATIONS)


def spread(match):
    """{v0.4s-v3.4s}, as objdump prints it, as a list."""
    first, kind, last = int(match.group(1)), match.group(2), int(match.group(3))
    return "{" + ", ".join(f"v{n}.{kind}" for n in range(first, last + 1)) + "}"


def peak(core, mca, kind):
    """FMLA, long multiplications or dot products a cycle where nothing else is to do: 24 accumulators."""
    return 24 / cycles([PEAKS[kind].format(n, n % 4) for n in range(8, 32)], core, mca)


def measure(library, objdump):
    """[{kernel, core, fmla (or long multiplications, dot products), instructions, cycles, of_peak, bounds: --least is about it}]"""
    mca = shutil.which("llvm-mca") or next((p for v in range(20, 11, -1) if (p := shutil.which(f"llvm-mca-{v}"))), None)
    if not mca:
        raise Failed("no llvm-mca (apt-get install llvm)")
    if not shutil.which(objdump):
        raise Failed(f"no {objdump} (apt-get install binutils-aarch64-linux-gnu)")
    functions, rows = disassemble(library, objdump), []
    peaks = {(core, kind): peak(core, mca, kind) for core in CORES for kind in PEAKS if (core, kind) not in LACKS}
    for name, what in KERNELS:
        if name not in functions:
            raise Failed(f"{library} has no {name}")
        loop = inner_loop(functions[name])
        kind = kind_of(loop)
        for core in (core for core in CORES if (core, kind) in peaks):
            c = cycles(loop, core, mca)
            rows.append({"kernel": name, "what": what, "core": core, "bounds": core == BOUNDS[kind], "fmla": multiplies(loop),
                         "instructions": len(loop), "cycles": round(c, 2), "of_peak": round(multiplies(loop) / c / peaks[core, kind], 4)})
    return rows
