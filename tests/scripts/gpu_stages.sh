# A program whose pipeline has a stage on the GPU: what the CPU computes, in order, on the emulated driver; without a GPU all on
# the CPU.
. "$SRCDIR/tests/scripts/tap.inc"
program=out/host/fashion_gpu_stages
PYTHON=${PYTHON:-python3}

if [ ! -x $program ]; then
    skip "a stage on the GPU" "no emulated driver"
    finish
    exit
fi

emulated() { # command...
    LD_LIBRARY_PATH=out/emu EMU_CUDA_COUNTS=$work/counts timeout -k 5 "$hang" "$@"
    code=$?
    [ $code != 124 ] || echo "hung: $*" >&2
    return $code
}

frames() { # pictures, each of its own, as raw frames
    for picture in boot shirt sandal; do
        file=$SRCDIR/models/pictures/$picture.pgm
        [ ! -e "$file" ] || tail -c 784 "$file"
    done | $PYTHON -c '
import array, sys
pixels = sys.stdin.buffer.read()
for k in range(6):
    frame = pixels[:784][k * 28:] + pixels[:784][:k * 28] # rolled by k rows
    sys.stdout.buffer.write(array.array("f", [float(v) for v in frame]).tobytes())'
}

same_words() { # each frame's classes, in order; a graph launch for each, and for that of zeros
    emulated $program - --json --gpu=require <"$work/frames" >"$work/gpu.json" 2>"$work/err" && [ ! -s "$work/err" ] &&
        [ "$(cat "$work/counts")" = "7 0" ] && compare_words
}

compare_words() { # of the GPU and the CPU
    $PYTHON - "$work" <<'PY'
import json, sys
a, b = ([json.loads(l)["top"] for l in open("%s/%s.json" % (sys.argv[1], n))] for n in ("cpu", "gpu"))
assert len(a) == len(b) == 6 and len(set(t[0]["value"] for t in a)) == 6
worst = max(abs(x["value"] - {y["index"]: y["value"] for y in t}.get(x["index"], 9)) for s, t in zip(a, b) for x in s)
print("largest difference", worst)
assert worst <= 1e-4
PY
}

discrete() { # a GPU with memory of its own
    EMU_CUDA_DISCRETE=1 emulated $program - --top 1 --gpu=require <"$work/frames" >"$work/out" && [ "$(wc -l <"$work/out")" = 6 ]
}

falls_back() { # what fails, words of the line: the CPU's bits, and with --gpu=require exit 1
    EMU_CUDA_FAILS=$1 emulated $program - --json <"$work/frames" >"$work/back.json" 2>"$work/err" || return 1
    cat "$work/err"
    grep -q "^fashion_gpu_stages: no GPU (.*$2.*): running on the CPU\$" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] || return 1
    sed 's/"ms":[^,]*,//' "$work/back.json" >"$work/back" && sed 's/"ms":[^,]*,//' "$work/cpu.json" | cmp - "$work/back" || return 1
    EMU_CUDA_FAILS=$1 emulated $program - --json --gpu=require <"$work/frames" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && [ "$(wc -l <"$work/err")" = 1 ] && [ ! -s "$work/out" ]
}

reports() { # --bench, --info and --trace know the stage
    out/ingot inspect --stages --json out/host/fashion_gpu_stages.d/graph.json out/host/fashion_gpu_stages.d/plan.json >"$work/inspect.json" || return 1
    emulated $program --bench=0.1 --json >"$work/bench.json" && $program --info --json >"$work/info.json" &&
        emulated $program --trace "$work/trace.json" && $program --info | grep -q '^Stage 1 of the pipeline: gpu$' &&
        emulated $program --bench=0.1 | grep -q '^  1     gpu ' && $PYTHON - "$work" <<'PY'
import json, sys
bench, trace, info = (json.load(open("%s/%s.json" % (sys.argv[1], n))) for n in ("bench", "trace", "info"))
assert [s["processor"] for s in bench["stages"]] == ["cpu:0", "gpu", "cpu:1"]
inspect = json.load(open(sys.argv[1] + "/inspect.json"))
slots = info["pipeline"]["slots"]
assert [(s["name"], s["memory"]) for s in slots] == [(s["name"], s["memory"]) for s in inspect["slots"]], (slots, inspect)
assert [s["memory"] for s in slots if s["to"] == 1] == ["arena, copied to the GPU"] * sum(s["to"] == 1 for s in slots) != [], slots
assert all(s["memory"] == "arena, copied from the GPU" for s in slots if s["from"] == 1), slots
assert info["gpu"]["stage"] == 1 and 0 < info["gpu"]["layers"] < info["layers"] and info["gpu"]["weights_bytes"] < info["weights_bytes"]
assert any(e.get("args", {}).get("name") == "stage 1, gpu" for e in trace["traceEvents"])
PY
}

library() {
    ${NINJA:-ninja} out/host/libfashion_gpu_stages.a out/host/fashion_gpu_stages.h >/dev/null &&
        ${CC:-cc} -std=c11 -Wall -Werror -Iout/host "$SRCDIR/tests/library/gpu_stages.c" out/host/libfashion_gpu_stages.a -ldl -lm \
            -lpthread -o "$work/client" &&
        [ "$(emulated "$work/client" "$work/frames")" = GPU ] &&
        EMU_CUDA_FAILS=device emulated "$work/client" "$work/frames" | grep '^CPU: ' &&
        nm -g --defined-only out/host/libfashion_gpu_stages.a | awk 'NF==3 && $3 !~ /^fashion_gpu_stages_/ {bad=1; print} END {exit bad}'
}

several_cuts() { # the same network with four cuts: the frames of one
    cuts=out/host/fashion_gpu_cuts
    emulated $cuts - --json --gpu=require <"$work/frames" >"$work/cuts.json" 2>"$work/err" && [ ! -s "$work/err" ] &&
        [ "$(cat "$work/counts")" = "10 0" ] && cp "$work/gpu.json" "$work/one.json" && cp "$work/cuts.json" "$work/gpu.json" &&
        compare_words && [ "$($cuts --info | grep -c '^alternative [0-3]: ')" = 4 ] &&
        emulated $cuts --bench=0.1 | grep -q ' switches between alternatives$' &&
        EMU_CUDA_FAILS=device emulated $cuts - --json <"$work/frames" 2>/dev/null | sed 's/"ms":[^,]*,//' >"$work/back" &&
        sed 's/"ms":[^,]*,//' "$work/cpu.json" | cmp - "$work/back"
}

library_of_several() { # the client of one cut, by another name
    sed 's/fashion_gpu_stages/fashion_gpu_cuts/g; s/FASHION_GPU_STAGES/FASHION_GPU_CUTS/g' "$SRCDIR/tests/library/gpu_stages.c" >"$work/cuts.c" &&
        ${NINJA:-ninja} out/host/libfashion_gpu_cuts.a out/host/fashion_gpu_cuts.h >/dev/null &&
        ${CC:-cc} -std=c11 -Wall -Werror -Iout/host "$work/cuts.c" out/host/libfashion_gpu_cuts.a -ldl -lm -lpthread -o "$work/client" &&
        [ "$(emulated "$work/client" "$work/frames")" = GPU ] &&
        EMU_CUDA_FAILS=device emulated "$work/client" "$work/frames" | grep '^CPU: '
}

plan_refuses() { # words, stages
    out/ingot plan out/host/fashion_gpu_stages.d/graph.json --stages "$2" -o "$work/plan.json" 2>"$work/err" && return 1
    cat "$work/err"
    grep -q -- "$1" "$work/err"
}

# Kind, board, words: both plans say how tensors pass, the generator takes it, and a program and `inspect` name the same memories.
kinds() {
    d=out/host/fashion_gpu_stages.d
    out/ingot plan $d/graph.json --threads 1 --stages cpu:0@4,gpu@12,cpu:1 --buffers "$2" -o "$work/staged.json" &&
        out/ingot plan $d/graph.json --isa cuda --stages-of "$work/staged.json" --buffers "$2" -o "$work/gpu_plan.json" || return 1
    grep '"kind"' "$work/gpu_plan.json"
    grep '"kind"' "$work/staged.json" >"$work/staged.kinds" && grep '"kind"' "$work/gpu_plan.json" | cmp - "$work/staged.kinds" || return 1
    out/ingot inspect --stages $d/graph.json "$work/staged.json" >"$work/words" && cat "$work/words" && grep -q "$3" "$work/words" &&
        grep -q 'stage 1 on gpu: .* of them to pass tensors' "$work/words" || return 1
    cp "$SRCDIR/tests/gpu/image.stub" "$work/image"
    grep -q "\"kind\":\"$1\"" "$work/gpu_plan.json" &&
        out/ingot gen $d/graph.json "$work/staged.json" --prefix fashion_gpu_stages --gpu "$work/gpu_plan.json" --image "62=$work/image" -o "$work/gen" &&
        [ "$(sed -n 's/^  slot .* cop[iesy]*, \(.*\) at [0-9]*$/\1/p' "$work/words")" = \
            "$(sed -n '/ig_slot_words/,/{0, 0}/s/^    {.*", "\(.*\)"},$/\1/p' "$work/gen/fashion_gpu_stages_main.c")" ] &&
        grep -q "^static const struct ig_gpu_copy inputs" "$work/gen/fashion_gpu_stages_gpu.c"
}

configure_refuses() { # words, options...: one line that says why
    words=$1
    shift
    mkdir -p "$work/none"
    (cd "$work/none" && "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --without-aarch64 "$@") >"$work/out" 2>"$work/err" && return 1
    cat "$work/err"
    [ "$(wc -l <"$work/err")" = 1 ] && grep -q -- "$words" "$work/err"
}

# What the GPU's kernels were timed at is how long its stage takes, in a plan and where cuts are looked for; the same kernels run.
timed() {
    graph=out/host/fashion_gpu_stages.d/graph.json
    echo fatbin >"$work/fatbin"
    # Without a limit: it waits for nobody, and to time all kernels under emulation takes a core a minute or more.
    LD_LIBRARY_PATH=out/emu out/ingot profile --gpu "$work/fatbin" --seconds 0.1 -q $graph -o "$work/gpu_profile.json" &&
        out/ingot profile --threads 1 --seconds 0.2 -q $graph -o "$work/profile.json" &&
        out/ingot plan $graph --stages cpu:0@4,gpu@12,cpu:1 --threads 1 --gpu-profile "$work/gpu_profile.json" -o "$work/timed.json" &&
        out/ingot plan $graph --isa cuda --stages-of "$work/timed.json" --profile "$work/gpu_profile.json" -o "$work/gpu_timed.json" &&
        out/ingot pipeline $graph --processors=cpu:0,gpu --profile "$work/profile.json" --profile "$work/gpu_profile.json" --json \
            -o "$work/cut.json" && $PYTHON - "$work" <<'PY' || return 1
import json, sys
timed, gpu, profile, cut = (json.load(open(f"{sys.argv[1]}/{n}.json")) for n in ("timed", "gpu_timed", "gpu_profile", "cut"))
stage = timed["stages"][1]
steps = gpu["steps"][stage["first"]:stage["last"] + 1]
assert abs(stage["gpu_ns"] - sum(s["predicted_ns"] for s in steps)) < 1, (stage, steps)
times = {(t["node"], t["kernel"]): t["in_order_ns"] or t["alone_ns"] for t in profile["timings"]}
assert [s["predicted_ns"] for s in steps if s["kernel"]] == [times[s["node"], s["kernel"]] for s in steps if s["kernel"]]
assert cut["times"] == "come from the profile", cut["times"]
PY
    ! out/ingot plan $graph --stages cpu:0,cpu:1 --gpu-profile "$work/gpu_profile.json" -o "$work/plan.json" 2>"$work/err" &&
        grep -q -- "--gpu-profile needs --stages of which one is the GPU's" "$work/err" &&
        ! out/ingot plan $graph --stages cpu:0@4,gpu --gpu-profile "$work/profile.json" -o "$work/plan.json" 2>"$work/err" &&
        grep -q 'taken with [a-z0-9]* kernels, the plan is for cuda' "$work/err" &&
        ! out/ingot pipeline $graph --processors=cpu:0,cpu:1 --profile "$work/gpu_profile.json" 2>"$work/err" && grep -q 'taken with cuda kernels' "$work/err"
}

# What copies were timed at is what passing takes, of each tensor, each way; where the profile does not say, it is assumed.
timed_copies() {
    $PYTHON - "$work" <<'PY' || return 1
import json, sys
p = json.load(open(sys.argv[1] + "/gpu_profile.json"))
p["copies"] = {"in_fs_per_byte": 1000000, "in_ns": 3000, "off": 0.01, "out_fs_per_byte": 2000000, "out_ns": 500}
json.dump(p, open(sys.argv[1] + "/copies.json", "w"))
del p["copies"]
json.dump(p, open(sys.argv[1] + "/no_copies.json", "w"))
p["copies"] = {"in_fs_per_byte": 1}
json.dump(p, open(sys.argv[1] + "/half.json", "w"))
PY
    for name in copies no_copies; do
        out/ingot plan $graph --stages cpu:0@4,gpu@12,cpu:1 --threads 1 --gpu-profile "$work/$name.json" -o "$work/$name.plan" &&
            out/ingot pipeline $graph --processors=cpu:0,gpu --pin scale=cpu:0 --pin classifier=gpu --profile "$work/profile.json" --profile "$work/$name.json" \
                --json -o "$work/$name.cut" && option=$(sed -n 's/^"stages_option":"\(.*\)",$/\1/p' "$work/$name.cut") &&
            out/ingot plan $graph --stages "$option" --bands off --threads 1 --profile "$work/profile.json" --gpu-profile "$work/$name.json" -o "$work/$name.cut.plan" ||
            return 1
    done
    out/ingot pipeline $graph --processors=gpu,cpu:0 --gpu-link 10,12 --profile "$work/profile.json" --profile "$work/copies.json" -o "$work/a" &&
        out/ingot pipeline $graph --processors=gpu,cpu:0 --profile "$work/profile.json" --profile "$work/no_copies.json" -o "$work/b" && cmp "$work/a" "$work/b" &&
        $PYTHON - "$work" <<'PY' || return 1
import json, sys
read = lambda name: json.load(open(f"{sys.argv[1]}/{name}"))
info = read("info.json")["pipeline"]["slots"]
into, out = ([s["bytes"] for s in info if s["memory"].endswith(way + " the GPU")] for way in ("to", "from"))
passing = [s.get("passing_ns", 0) for s in read("copies.plan")["stages"]]
assert into and out and passing == [0, sum(3000 + b for b in into) + sum(500 + 2 * b for b in out), 0], (passing, into, out)
assumed = read("no_copies.plan")["stages"][1]["passing_ns"]
assert assumed == sum(10000 + -(-b * 83333 // 1000000) for b in into + out), assumed
for name in "copies", "no_copies":
    cut = next(a for a in read(name + ".cut")["algorithms"] if a["algorithm"] == "cuts")
    plan = [s["predicted_ns"] for s in read(name + ".cut.plan")["stages"]]
    print(name, cut["stage_ns"], plan)
    assert abs(cut["stage_ns"][1] - plan[1]) < 20, name
PY
    ! out/ingot plan $graph --stages cpu:0@4,gpu --gpu-profile "$work/half.json" -o "$work/plan.json" 2>"$work/err" && cat "$work/err" && [ "$(wc -l <"$work/err")" = 1 ]
}

configured() { # the plan with stages has the GPU's profile, too, and waits for it
    mkdir -p "$work/made" && printf '#!/bin/sh\n[ "$1" != --list-gpu-code ] || echo sm_62\n' >"$work/nvcc" && chmod +x "$work/nvcc" && echo '{}' >"$work/given.json"
    (cd "$work/made" && NINJA=true "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --prefix=net --without-aarch64 --no-profile --gpu=sm_62 --nvcc="$work/nvcc" \
        --gpu-profile="$work/given.json" --stages=cpu:0@4,gpu) >"$work/out" 2>&1
    grep -A 2 'net.d/[a-z_]*plan.json:' "$work/made/build.ninja" >"$work/edges"
    cat "$work/edges"
    grep -q "^build out/host/net.d/plan.json: plan .* $work/given.json " "$work/edges" && grep -q "args = .*--stages .* --gpu-profile $work/given.json" "$work/edges" &&
        grep -q "args = .*--isa cuda .*--profile $work/given.json" "$work/edges"
}

frames >"$work/frames"
$program - --json --gpu=off <"$work/frames" >"$work/cpu.json"
check "frames are what the CPU computes, in order, a graph launch each" same_words
check "so they are on a GPU with memory of its own" discrete
for failure in "device|finds no device" "image|is an sm_62, for which this program has no code" "memory|bytes of memory left" \
    "launch|CUDA_ERROR_LAUNCH_FAILED"; do
    check "without ${failure%%|*} all is on the CPU, unless the GPU is required" falls_back "${failure%%|*}" "${failure#*|}"
done
check "bench, info and trace name the stage" reports
check "the library starts stages with the GPU, or says why not" library
check "so are those of a program with several cuts" several_cuts
check "and of its library" library_of_several
check "of a GPU with memory of its own all that passes is pinned" kinds pinned neuraghe 'arena, copied to the GPU'
check "of one that shares it some is mapped" kinds mapped xavier 'page-locked, used by the GPU in place'
check "a profile of the GPU says how long its stage takes" timed
check "it says how long copies take" timed_copies
check "configure hands on a GPU profile to a plan with stages" configured
check "two stages on the GPU are refused" plan_refuses "one stage at most is the GPU's" gpu@1,cpu:0@3,gpu
check "cuts are not guessed" plan_refuses "end @ a step" gpu,cpu:0
check "a stage on the GPU needs --gpu" configure_refuses "give --gpu" --stages=gpu@3,cpu:0
check "--gpu with stages of the CPU is refused" configure_refuses "name one gpu" --gpu --stages=cpu:0,cpu:1
finish
