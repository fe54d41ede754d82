# aarch64: the bundled network cross-built, under emulation and on bare metal, gives this PC's answers.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/program.inc"
PYTHON=${PYTHON:-python3}
picture=$SRCDIR/models/pictures/boot.pgm

if ! have "${CC_AARCH64:-aarch64-linux-gnu-gcc}" || ! have qemu-aarch64-static; then
    skip "aarch64" "no cross compiler or emulator"
    finish
    exit
fi
tail -c 784 "$picture" | $PYTHON -c '
import array, sys
sys.stdout.buffer.write(array.array("f", [float(v) for v in sys.stdin.buffer.read()]).tobytes())' >"$work/frame.raw"
out/host/fashion "$picture" -o "$work/host.npy"

build_folder "$work/build"
build() { # target, options...
    target=$1
    shift
    (cd "$work/build" && ./configure --model="$SRCDIR/models/fashion.onnx" --target="$target" --prefix=boot "$@" &&
        ${NINJA:-ninja}) >"$work/$target.log" 2>&1 || { tail -20 "$work/$target.log"; return 1; }
}

same_answers() { # within 1e-5 of this PC's
    qemu-aarch64-static -cpu cortex-a57 "$work/build/out/$1/boot" "$picture" -o "$work/$1.npy" &&
        $PYTHON - "$work/host.npy" "$work/$1.npy" <<'PY'
import struct, sys
a, b = (struct.unpack("<10f", open(p, "rb").read()[-40:]) for p in sys.argv[1:])
worst = max(abs(x - y) for x, y in zip(a, b))
print("largest difference", worst)
sys.exit(worst > 1e-5 or max(a) < 0.5)
PY
}

reading() { # an LSTM and a GRU, in 32 and in 16 bits
    $PYTHON -B "$SRCDIR/tests/reading_network.py" "$net.onnx" && $PYTHON -c '
import array, random
import sys
rng = random.Random(1)
array.array("f", [rng.random() for _ in range(1536)]).tofile(open(sys.argv[1], "wb"))' "$work/page" || return 1
    for precision in single half; do
        out/ingot graph --precision=$precision "$net.onnx" -o "$net.json" && out/ingot plan "$net.json" --threads 1 -o "$net.plan.json" &&
            program here "$net.plan.json" && "$work/here" - -o - --top 0 <"$work/page" >"$work/want" &&
            (cd "$work/build" && ./configure --model="$net.onnx" --target=aarch64 --prefix=reading --precision=$precision && ${NINJA:-ninja} out/aarch64/reading) \
                >"$work/log" 2>&1 || { tail -20 "$work/log"; return 1; }
        grep recurrent_f32_4__neon "$work/build/out/aarch64/reading.d/plan.json" &&
            qemu-aarch64-static -cpu cortex-a57 "$work/build/out/aarch64/reading" - -o - --top 0 <"$work/page" >"$work/got" &&
            $PYTHON - "$work" $precision <<'PY' || return 1
import array, sys
a, b = (array.array("f", open(f"{sys.argv[1]}/{name}", "rb").read()[128:]) for name in ("want", "got"))
off, most = max(abs(x - y) for x, y in zip(a, b)), max(map(abs, a))
print(f"off by {off / most:.1e} of the largest result")
assert len(a) == len(b) == 480 and off <= (1e-5 if sys.argv[2] == "single" else 2e-3) * most
PY
    done
}

bare_metal() {
    timeout "$hang" qemu-system-aarch64 -M virt -cpu cortex-a57 -m 256 -nic none -display none -serial stdio -monitor none \
        -kernel "$work/build/out/aarch64-none/boot.elf" </dev/null >"$work/bare"
    cat "$work/bare"
    out/host/fashion "$picture" --top 1 --json >"$work/top" && $PYTHON - "$work/bare" "$work/top" <<'PY'
import json, sys
best, value = open(sys.argv[1]).read().split()
top = json.load(open(sys.argv[2]))["top"][0]
sys.exit(best != "#%d" % top["index"] or abs(float(value) - top["value"]) > 6e-5)
PY
}

# A frame as in firmware, and what the compiler asks of it.
cat >"$work/firmware.c" <<'C'
#include <stdalign.h>
#include "boot.h"
alignas(BOOT_ALIGN) static unsigned char arena[BOOT_ARENA_BYTES(1)];
static float image[BOOT_INPUT0_BYTES / 4], scores[BOOT_OUTPUT0_BYTES / 4];
void *memcpy(void *restrict to, const void *restrict from, size_t n);
void *memset(void *to, int c, size_t n);
void _start(void);
void *memcpy(void *restrict to, const void *restrict from, size_t n)
{
    char *a = to;
    for (const char *b = from; n; n--) *a++ = *b++;
    return to;
}
void *memset(void *to, int c, size_t n)
{
    for (char *a = to; n; n--) *a++ = (char)c;
    return to;
}
void _start(void)
{
    struct boot_ctx ctx;
    const void *in[] = {image};
    void *out[] = {scores};
    register long status __asm__("x0") = boot_init(&ctx, arena, sizeof arena) || boot_run(&ctx, in, out) || !(scores[0] > 0);
    register long exit_call __asm__("x8") = 93;
    __asm__ volatile("svc 0" : : "r"(status), "r"(exit_call));
}
C
firmware() { # the library of aarch64 without any other
    "${CC_AARCH64:-aarch64-linux-gnu-gcc}" -O2 -ffreestanding -fno-tree-loop-distribute-patterns -nostdlib -static -I"$work/build/out/aarch64" \
        "$work/firmware.c" "$work/build/out/aarch64/libboot.a" -Wl,--gc-sections -o "$work/firmware" && qemu-aarch64-static "$work/firmware"
}

whatever_it_runs() { # kernels find their functions: only what the linker or a network brings is open
    nm=$(echo "${CC_AARCH64:-aarch64-linux-gnu-gcc}" | sed 's/gcc[^/]*$/nm/') archive=$work/build/out/aarch64-none/libingot_bare.a
    "$nm" "$archive" | awk 'NF == 3 { print $3 }' | sort -u >"$work/there"
    "$nm" "$archive" | awk '$1 == "U" { print $2 }' | grep -v '^ig_bare_\|^ig_arena_start$\|^ig_bss_\|^ig_stack_top$' | sort -u >"$work/used"
    comm -13 "$work/there" "$work/used" >"$work/open"
    cat "$work/open"
    [ -s "$work/used" ] && [ ! -s "$work/open" ]
}

check "aarch64 builds" build aarch64
check "aarch64 gives the same answers" same_answers aarch64
check "an LSTM and a GRU give the same results" reading
check "the library needs no operating system" firmware
check "bare metal builds" build aarch64-none --input="$work/frame.raw"
check "bare metal has the functions of every kernel" whatever_it_runs
if have qemu-system-aarch64; then check "bare metal prints the same class and value" bare_metal; else skip "bare metal" "no qemu-system-aarch64"; fi
finish
