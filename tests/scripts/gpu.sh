# A program with a GPU: on the emulated driver it computes what the CPU does; without a GPU it says so and runs on the CPU.
. "$SRCDIR/tests/scripts/tap.inc"
program=out/host/fashion_gpu
picture=$SRCDIR/models/pictures/boot.pgm
PYTHON=${PYTHON:-python3}

if [ ! -x $program ]; then
    skip "a program with a GPU" "no emulated driver"
    finish
    exit
fi

emulated() { # command...
    LD_LIBRARY_PATH=out/emu EMU_CUDA_COUNTS=$work/counts "$@"
}

close() { # within 1e-4, or so much, of the CPU's program
    $PYTHON - "$work/cpu.npy" "$1" "${2:-1e-4}" <<'PY'
import struct, sys
a, b = (struct.unpack("<10f", open(p, "rb").read()[-40:]) for p in sys.argv[1:3])
worst = max(abs(x - y) for x, y in zip(a, b))
print("largest difference", worst)
sys.exit(not worst <= float(sys.argv[3]) or max(a) < 0.5)
PY
}

as_the_cpu() { # one frame, of a graph, after one of zeros; no launch outside, no word
    emulated $program "$picture" --gpu=require -o "$work/gpu.npy" 2>"$work/err" && close "$work/gpu.npy" && [ ! -s "$work/err" ] &&
        [ "$(cat "$work/counts")" = "2 0" ]
}

with_memory_of_its_own() {
    EMU_CUDA_DISCRETE=1 emulated $program "$picture" --gpu=require -o "$work/discrete.npy" && close "$work/discrete.npy"
}

# One that takes no machine code of a newer toolkit translates PTX, which is said where that is another chip's; a program without
# PTX says what it lacks.
old_driver() {
    EMU_CUDA_FAILS=old emulated $program "$picture" --gpu=require -o "$work/old.npy" 2>"$work/err" && close "$work/old.npy" &&
        [ ! -s "$work/err" ] && EMU_CUDA_CHIP=87 emulated $program "$picture" --gpu=require --top 1 2>"$work/err" && [ ! -s "$work/err" ] &&
        EMU_CUDA_CHIP=87 EMU_CUDA_FAILS=old emulated $program "$picture" --gpu=require --top 1 2>"$work/err" && cat "$work/err" &&
        [ "$(wc -l <"$work/err")" = 1 ] && grep -q 'an sm_87, takes no machine code of this program, and translates its PTX for sm_62$' "$work/err" && ! EMU_CUDA_FAILS=old emulated ${program}_stages "$picture" --gpu=require 2>"$work/err" && cat "$work/err" &&
        grep -q '^fashion_gpu_stages: no GPU (loading the kernels failed: CUDA_ERROR_INVALID_IMAGE .*)$' "$work/err"
}

ptx() { # of version 6.5, without comments; what is no PTX is refused, and nothing written
    printf '//\n// made by\n\n.version 7.8\n.target sm_62\n\n\tadd.f32 %%f1, %%f2, %%f3; // sum  \n' >"$work/all.ptx"
    "$SRCDIR/gen/ptx.sh" "$work/all.ptx" "$work/old.ptx" &&
        printf '.version 6.5\n.target sm_62\n\tadd.f32 %%f1, %%f2, %%f3;\n' | cmp - "$work/old.ptx" || return 1
    echo made >"$work/all.ptx"
    ! "$SRCDIR/gen/ptx.sh" "$work/all.ptx" "$work/none.ptx" 2>"$work/err" && cat "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -e "$work/none.ptx" ]
}

in_halves() { # weights of 16 bits: half as many bytes; nearly what single precision gives, but not all of it
    emulated ${program}_half "$picture" --gpu=require -o "$work/half.npy" && close "$work/half.npy" 2e-3 && ! cmp -s "$work/half.npy" "$work/gpu.npy" &&
        [ "$(cat "$work/counts")" = "2 0" ] || return 1
    for p in $program ${program}_half; do $p --info | sed -n 's/^GPU plan: .* weights \([0-9]*\) B$/\1/p'; done >"$work/bytes"
    cat "$work/bytes"
    [ "$(wc -l <"$work/bytes")" = 2 ] && [ "$(head -1 "$work/bytes")" -gt $(($(tail -1 "$work/bytes") * 19 / 10)) ]
}

stream() { # three frames, three graph launches and that of zeros
    tail -c 784 "$picture" | $PYTHON -c '
import array, sys
sys.stdout.buffer.write(array.array("f", [float(v) for v in sys.stdin.buffer.read()]).tobytes())' >"$work/frame"
    cat "$work/frame" "$work/frame" "$work/frame" | emulated $program - --top 1 >"$work/out" &&
        [ "$(sort -u "$work/out")" = "Ankle boot 0.9564" ] && [ "$(wc -l <"$work/out")" = 3 ] && [ "$(cat "$work/counts")" = "4 0" ]
}

falls_back() { # what fails (nothing: there is no driver), words of the line
    if [ -n "$1" ]; then EMU_CUDA_FAILS=$1 emulated $program "$picture" -o "$work/back.npy" 2>"$work/err"
    else LD_LIBRARY_PATH= $program "$picture" -o "$work/back.npy" 2>"$work/err"; fi || return 1
    cat "$work/err"
    grep -q "^fashion_gpu: no GPU (.*$2.*): running on the CPU\$" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] &&
        cmp "$work/back.npy" "$work/cpu.npy"
}

refuses() { # the same with --gpu=require: exit 1, the line, no file
    rm -f "$work/none.npy"
    if [ -n "$1" ]; then EMU_CUDA_FAILS=$1 emulated $program "$picture" --gpu=require -o "$work/none.npy" 2>"$work/err"
    else LD_LIBRARY_PATH= $program "$picture" --gpu=require -o "$work/none.npy" 2>"$work/err"; fi
    status=$?
    cat "$work/err"
    [ $status = 1 ] && grep -q "^fashion_gpu: no GPU (.*$2.*)\$" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -e "$work/none.npy" ]
}

does_not_look() { # the emulated driver, which counts, is not even loaded
    rm -f "$work/counts"
    emulated $program "$picture" --gpu=off -o "$work/off.npy" 2>"$work/err" && cmp "$work/off.npy" "$work/cpu.npy" &&
        [ ! -s "$work/err" ] && [ ! -e "$work/counts" ]
}

bad_word() {
    $program "$picture" --gpu=maybe 2>"$work/err"
    [ $? = 2 ] && grep -q -- "--gpu takes auto, require or off" "$work/err"
}

reports() { # bench, trace and info know the GPU's plan
    emulated $program --bench=0.1 --json >"$work/bench.json" && emulated $program --trace "$work/trace.json" "$picture" &&
        $program --info --json >"$work/info.json" && $program --info >"$work/info" && grep -q '^GPU plan: .* for sm 62, PTX for sm 62;' "$work/info" &&
        emulated $program --bench=0.1 | grep -q '^GPU: Emulated GPU, sm_62' && $PYTHON - "$work" <<'PY'
import json, sys
bench, trace, info = (json.load(open("%s/%s.json" % (sys.argv[1], n))) for n in ("bench", "trace", "info"))
assert bench["layers"] and all(l["kernel"].endswith("__cuda") for l in bench["layers"])
assert len(trace["traceEvents"]) == len(bench["layers"]) == info["gpu"]["layers"]
passes = [(p["name"], p["kind"]) for p in info["gpu"]["passes"]]
assert [n for n, k in passes] == [t["name"] for t in info["inputs"] + info["outputs"]] and "mapped" in dict(passes).values(), passes
assert info["gpu"]["chips"] == [62] and info["gpu"]["ptx"] == 62 and info["gpu"]["launches"] >= info["gpu"]["layers"] and info["layers"] > 0
PY
}

full() { # --info says when it cannot be written
    for json in '' --json; do
        $program --info $json >/dev/full 2>"$work/err"
        [ $? = 1 ] && grep -q '^fashion_gpu: stdout: ' "$work/err" || { echo "--info $json"; return 1; }
    done
}

dynamic() { # nothing but the C library's own, no C++ and no CUDA
    readelf -d $program | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' >"$work/needed"
    cat "$work/needed"
    ! grep -vE '^(libc|libm|libdl|libpthread|ld-linux[a-z0-9-]*)\.so\.[0-9]+$' "$work/needed"
}

appended() { # weights behind the program, as large ones are
    sed 's/^append_above=.*/append_above=1000/' "$SRCDIR/gen/link.sh" >"$work/link.sh"
    d=out/host/fashion_gpu.d/fashion_gpu
    # shellcheck disable=SC2046
    sh "$work/link.sh" gpu_program "$work/fashion_gpu" $d ${CC:-cc} $(sed -n 's/^gpu_program_flags = //p' build.ninja) ${d}_main.o \
        ${d}_plan.o ${d}_gpu.o ${d}_gpu_image.o out/host/libingot_runtime.a out/host/libingot_kernels.a -ldl -lm -lpthread &&
        emulated "$work/fashion_gpu" "$picture" --gpu=require -o "$work/gpu.npy" && close "$work/gpu.npy" &&
        "$work/fashion_gpu" "$picture" --gpu=off -o "$work/off.npy" && cmp "$work/off.npy" "$work/cpu.npy"
}

library() {
    ${NINJA:-ninja} out/host/libfashion_gpu.a out/host/fashion_gpu.h >/dev/null &&
        ${CC:-cc} -std=c11 -Wall -Werror -Iout/host "$SRCDIR/tests/library/gpu.c" out/host/libfashion_gpu.a -ldl -lm -lpthread -o "$work/client" &&
        [ "$(emulated "$work/client" "$work/frame")" = GPU ] && "$work/client" "$work/frame" | grep '^CPU: ' &&
        nm -g --defined-only out/host/libfashion_gpu.a | awk 'NF==3 && $3 !~ /^fashion_gpu_/ {bad=1; print} END {exit bad}'
}

reported() { # what ptxas says of a program's kernels is kept, and shown where there is no code
    rule=$(sed -n '/^rule nvcc/,/^ *description/s/^ *command = //p' "$SRCDIR/build.ninja.in" | sed 's/\$out/"$out"/g')
    printf '#!/bin/sh\ncase "$*" in *"-Xptxas -v"*) echo "Used 9 registers" >&2 ;; esac\nexit "$STATUS"\n' >"$work/ptxas" && chmod +x "$work/ptxas"
    for status in 0 1; do
        rm -f "$work/made.log"
        (export STATUS=$status; nvcc=$work/ptxas chips= srcdir=. in=x.cu out=$work/made; eval "$rule") >"$work/out" 2>&1
        [ $? = $status ] && grep -q '^Used 9 registers$' "$work/made.log" && [ "$(grep -c Used "$work/out")" = $status ] || return 1
    done
}

lean() { # the program of the CPU alone has none of it
    ! grep -aq 'libcuda\|cuInit\|running on the CPU' out/host/fashion_half
}

configure_refuses() { # words, options...: one line that says why
    words=$1
    shift
    mkdir -p "$work/none"
    (cd "$work/none" && "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --without-aarch64 "$@") >"$work/out" 2>"$work/err" && return 1
    cat "$work/err"
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$words" "$work/err"
}

depends() { # a module is made anew when any file changes that its kernels include: of a program, of a key, and when keys are made
    (
        emit() { echo "$*"; }
        list() { (cd "$SRCDIR" && ls $*); }
        src="$SRCDIR/" SRCDIR=$SRCDIR c_gpu=62=@0 gpu_parts=62=@0 nvcc_0=nvcc NVCC_62=nvcc d=out f=out/net c_prefix=net c_cc=cc c_flags= sections= sources=out images=
        . "$SRCDIR/gen/gpu.sh"
        eval "$(sed -n '/^image() /,/^}/p' "$SRCDIR/gen/ranks.sh")"
        gpu_objects | grep '^build .*\.\(fatbin\|ptx\): '
        image net 62 | grep '^build '
        gpu_ranks
        echo "build ranks: $gpu_deps"
    ) >"$work/edges"
    cat "$work/edges"
    [ "$(wc -l <"$work/edges")" = 4 ] || return 1
    for file in $(cd "$SRCDIR" && grep -hor '^#include "[^"]*"' kernels_gpu/module.cu kernels_gpu/cuda kernels_gpu/params*.h | sort -u | sed 's/.*"\(.*\)"/\1/'); do
        [ "$(grep -cF " $SRCDIR/$file" "$work/edges")" = 4 ] || { echo "not $file"; return 1; }
    done
}

toolkit() { # one that knows two chips and makes nothing
    cat >"$work/nvcc" <<'SH'
#!/bin/sh
[ "$1" != --list-gpu-code ] || printf 'sm_62\nsm_72\n'
SH
    chmod +x "$work/nvcc"
}

timed() { # every GPU kernel on every layer, on the emulated driver; a plan takes the fastest by that
    echo fatbin >"$work/fatbin"
    emulated out/ingot profile --gpu "$work/fatbin" --seconds 0.1 -q out/host/fashion.d/graph.json -o "$work/profile.json" &&
        out/ingot plan --isa cuda --profile "$work/profile.json" out/host/fashion.d/graph.json -o "$work/plan.json" &&
        $PYTHON - "$work" <<'PY'
import json, sys
profile, plan = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("profile", "plan"))
assert (profile["isa"], profile["threads"], profile["cpu"]) == ("cuda", 1, "Emulated GPU"), profile["cpu"]
assert profile["whole_over_sum"] > 0 # as ig_gpu_profile_whole has it, tests/gpu/profile.c
times, is_priced = {}, any(t["in_order_ns"] for t in profile["timings"]) # as ig_gpu_profile_weights has it
for t in profile["timings"]:
    assert t["in_order_ns"] >= t["alone_ns"] if is_priced else t["in_order_ns"] == 0, t
    assert t["alone_ns"] > 0 and t["kernel"].endswith("__cuda"), t
    times.setdefault(t["node"], {})[t["kernel"]] = t
steps = {s["node"]: s for s in plan["steps"] if s["kernel"]}
assert set(steps) <= set(times) and max(map(len, times.values())) > 3
for node, s in steps.items():
    assert s["predicted_ns"] == times[node][s["kernel"]]["in_order_ns" if is_priced else "alone_ns"], s
# Of another layer's convolution a kernel that nobody would take becomes the fastest.
node, slow = next((n, k) for n in steps for k in times[n] if k == "conv_f32_direct__cuda")
times[node][slow]["alone_ns"] = times[node][slow]["in_order_ns"] = 1
json.dump(profile, open(f"{sys.argv[1]}/odd.json", "w"))
open(f"{sys.argv[1]}/odd", "w").write(node)
PY
}

follows() { # what a profile says, a plan has
    out/ingot plan --isa cuda --profile "$work/odd.json" out/host/fashion.d/graph.json -o "$work/plan.json" &&
        $PYTHON - "$work/plan.json" "$work/odd" <<'PY'
import json, sys
plan, node = json.load(open(sys.argv[1])), open(sys.argv[2]).read()
assert plan["profile_sha256"]
assert next(s["kernel"] for s in plan["steps"] if s["node"] == node) == "conv_f32_direct__cuda", node
PY
}

edges() { # what configure makes of a profile that is given ($1), or of this machine's GPU
    mkdir -p "$work/bin"
    printf '#!/bin/sh\necho 6.2\n' >"$work/bin/nvidia-smi"
    chmod +x "$work/bin/nvidia-smi"
    (
        PATH=$work/bin:$PATH
        emit() { echo "$*"; }
        list() { (cd "$SRCDIR" && ls $*); }
        src= SRCDIR=$SRCDIR c_plan= c_target=host c_prefix=net c_gpu='62,72=@0' nvcc_0=nvcc no_profile=$2 gpu_profile=$1 d=out/host/net.d g=out/host/net.d/graph.json
        . "$SRCDIR/gen/gpu.sh"
        gpu_profile_of
        gpu_plan
        emit "images of$gpu_args"
    ) >"$work/edges"
    cat "$work/edges"
}

configured() {
    edges given.json '' && grep -q '^build out/host/net.d/gpu_plan.json: plan .* given.json$' "$work/edges" &&
        grep -q '^  args = .*--isa cuda --sm 62 --profile given.json' "$work/edges" && ! grep -q fatbin: "$work/edges" || return 1
    edges '' '' && grep -q '^build out/host/kernels.sm_62.fatbin: nvcc kernels_gpu/module.cu ' "$work/edges" &&
        grep -q '^build out/host/net.d/gpu_profile.json: profile out/host/net.d/graph.json | out/host/kernels.sm_62.fatbin out/ingot || out/host/net.d/options.ok$' "$work/edges" &&
        grep -q '^  args = --gpu out/host/kernels.sm_62.fatbin$' "$work/edges" &&
        grep -q '^  args = .*--isa cuda --sm [0-9]* --profile out/host/net.d/gpu_profile.json' "$work/edges" || return 1
    grep -q '^images of.* --image 62,72=out/host/net.d/net.sm_62_72.fatbin --image ptx62=out/host/net.d/net.compute_62.ptx$' "$work/edges" || return 1
    edges '' 1 && ! grep -q -- '--profile\|fatbin:' "$work/edges" # --no-profile
}

$program "$picture" --gpu=off -o "$work/cpu.npy"
check "a frame is one graph launch, and what the CPU computes" as_the_cpu
check "in half precision it computes nearly the same, by half the weights" in_halves
check "so it is on a GPU with memory of its own" with_memory_of_its_own
check "a driver older than the toolkit translates PTX" old_driver
check "PTX is made for old drivers" ptx
check "a stream of frames" stream
here="no CUDA driver: libcuda"
ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' && here=. # a real one, which finds no device, or no code in the stub
for failure in "|$here" "device|finds no device" "image|is an sm_62, for which this program has no code" \
    "memory|bytes of memory left" "launch|CUDA_ERROR_LAUNCH_FAILED"; do
    what=${failure%%|*} words=${failure#*|}
    check "without ${what:-a driver} it says so and runs on the CPU" falls_back "$what" "$words"
    check "without ${what:-a driver} --gpu=require ends with 1 and writes nothing" refuses "$what" "$words"
done
check "--gpu=off does not look" does_not_look
check "--gpu=maybe is refused" bad_word
check "bench, trace and info" reports
check "a full disk is an error" full
check "it needs libc's own libraries only" dynamic
check "weights may be appended" appended
check "the library opens a GPU, or says why not" library
check "a program of the CPU has no word of it" lean
check "what the compiler says of registers is kept beside the code" reported
check "modules are made anew when a file of their kernels changes" depends
if check "GPU kernels are timed on the driver, and a plan takes the fastest" timed; then
    check "a plan follows the profile that it is given" follows
fi
check "configure hands on a GPU profile, or takes one where this machine has the GPU" configured
check "configure --gpu without a CUDA toolkit is refused" configure_refuses "needs a CUDA toolkit" --gpu --nvcc="$work/no-nvcc"
toolkit
check "configure --gpu for a chip that no toolkit knows is refused" configure_refuses "no code for sm_90 from the CUDA toolkits" --gpu=sm_62,sm_90 --nvcc="$work/nvcc"
check "configure --gpu for bare metal is refused" configure_refuses "aarch64-none" --gpu --target=aarch64-none
finish
