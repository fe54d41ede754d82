# Keys of kind GPU, on the emulated driver: deployments over GPUs alone and over a board's cores and its GPU give the bytes of the
# programs of one device with the same parts; without a GPU a key says so and computes on its core.
. "$SRCDIR/tests/scripts/tap.inc"
. "$SRCDIR/tests/scripts/deploy.inc"
here=$PWD
if ! can_deploy || [ ! -e out/emu/libcuda.so.1 ] || [ ! -x out/host/fashion_gpu_stages ]; then
    skip "GPU keys of deployments" "no mpicc, mpirun, $PYTHON or emulated driver"
    finish
    exit
fi
cp "$SRCDIR/models/fashion.onnx" "$work/fashion.onnx"
n=6 # frames

rolled() { # frames: a picture, rolled by some rows
    tail -c 784 "$SRCDIR/models/pictures/boot.pgm" | "$PYTHON" -c "
import array, sys
pixels = sys.stdin.buffer.read()
for k in range($n):
    sys.stdout.buffer.write(array.array('f', [float(v) for v in pixels[k * 28:] + pixels[:k * 28]]).tobytes())" >"$work/frames"
}

toolkit() { # one that knows three chips; the emulated driver has the kernels itself
    cat >"$work/nvcc" <<SH
#!/bin/sh
for word; do
    case \$word in
    --list-gpu-code) printf 'sm_62\nsm_72\nsm_90\n' ;;
    -fatbin) fatbin=1 ;;
    -ptx) ptx=1 ;;
    -arch=*) arch=\${word#*_} ;;
    esac
    [ "\${last:-}" != -o ] || out=\$word
    last=\$word
done
[ -z "\${fatbin:-}" ] || cp "$SRCDIR/tests/gpu/image.stub" "\$out"
[ -z "\${ptx:-}" ] || printf '.version 7.8\n.target sm_%s\n.address_size 64\n' "\$arch" >"\$out"
SH
    chmod +x "$work/nvcc"
}

emulated() { # command...
    LD_LIBRARY_PATH=$here/out/emu EMU_CUDA_COUNTS=$work/counts "$@"
}

spread() { # options of configure: fashion by mapping.json
    build --model="$work/fashion.onnx" --mapping="$work/mapping.json" --threads=1 --nvcc="$work/nvcc" "$@" &&
        cat "$work/build/out/fashion.d/summary.txt"
}

keys() { # seed, keys...
    "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/fashion.onnx" "$@" >"$work/mapping.json" && spread
}

through() { # frames' graph launches, of all parts, and one of zeros each; no other, and no word
    rm -f "$work/counts"
    emulated together fashion - -o - --top 0 --gpu=require <"$work/frames" >"$work/got" 2>"$work/err" || { cat "$work/err"; return 1; }
    [ ! -s "$work/err" ] && cat "$work/counts" && [ "$(cat "$work/counts")" = "$1 0" ]
}

bytes_of() { # program of one device
    emulated "$1" - -o - --top 0 --gpu=require <"$work/frames" >"$work/want" && [ -s "$work/want" ] && cmp "$work/want" "$work/got"
}

gpus_alone() {
    keys 0 nodeA_gpu nodeB_gpu0 && through $((n + 1)) && bytes_of out/host/fashion_gpu
}

in_halves() { # what passes between the keys, too
    "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/fashion.onnx" 0 nodeA_gpu nodeB_gpu0 >"$work/mapping.json" &&
        spread --precision=half && through $((n + 1)) && bytes_of out/host/fashion_gpu_half
}

stages() { # the pipeline's stages as keys: each node's by its step, a layer that was merged goes with the one before
    out/ingot inspect --layers -q "$work/fashion.onnx" >"$work/layers" &&
        "$PYTHON" - out/host/fashion_gpu_stages.d "$work/layers" >"$work/mapping.json" <<'PY' && spread && through $((n + 1)) && bytes_of out/host/fashion_gpu_stages
import json, sys
graph, plan = (json.load(open(f"{sys.argv[1]}/{name}.json")) for name in ("graph", "plan"))
cuts = [s["first"] for s in plan["stages"]]
stage = {s["node"]: sum(cut <= i for cut in cuts) - 1 for i, s in enumerate(plan["steps"])}
mapping, now = {"nodeA_cpu0": [], "nodeA_gpu": [], "nodeA_cpu1": []}, 0
for layer in open(sys.argv[2]).read().split("\n")[:-1]:
    now = stage.get(layer.removesuffix("_out"), now)
    mapping[list(mapping)[now]].append(layer)
assert all(mapping.values()), mapping
json.dump(mapping, sys.stdout)
PY
}

near() { # within the bound of the CPU's program
    "$PYTHON" - "$work" $n <<'PY'
import array, sys
a, b = (open(f"{sys.argv[1]}/{name}", "rb").read() for name in ("cpu", "got"))
n = int(sys.argv[2])
size = len(a) // n
assert len(a) == len(b) and a != b
a, b = ([v for k in range(n) for v in array.array("f", t[(k + 1) * size - 40:(k + 1) * size])] for t in (a, b))
worst = max(abs(x - y) for x, y in zip(a, b))
print("largest difference", worst)
assert worst <= 1e-4 * max(a) + 1e-6
PY
}

here_and_there() { # several parts on the GPU
    keys 7 nodeA_cpu0 nodeA_gpu && parts=$(sed -n 's/^  nodeA_gpu: \([0-9]*\) parts.*/\1/p' "$work/build/out/fashion.d/summary.txt") &&
        [ "$parts" -gt 1 ] && through $((parts * (n + 1))) && near
}

in_place() { # frames pass between the GPU and the tensors' own copies; where memory cannot be locked, through other memory
    EMU_CUDA_COPIES=$work/copies through $((parts * (n + 1))) && near && read -r locked all <"$work/copies" &&
        [ "$locked" -ge $((2 * parts * n)) ] && [ $((locked % n)) = 0 ] || return 1
    EMU_CUDA_LACKS=register EMU_CUDA_COPIES=$work/copies through $((parts * (n + 1))) && near && [ "$(cat "$work/copies")" = "0 $all" ]
}

split_over_both() { # layers that a core and the GPU have together, by channels and by rows
    "$PYTHON" - "$work" <<'PY'
import json, sys
work, keys = sys.argv[1], ["nodeA_cpu0", "nodeA_gpu"]
split = {"down_out": ["lop", {"sizes": [16, 16]}, keys], "basic1.conv1_out": ["height", {"sizes": [9, 5]}, keys],
         "basic1.conv2_out": ["height", {"sizes": [9, 5]}, keys]}
layers = open(work + "/layers").read().split("\n")[:-1]
json.dump(split, open(work + "/horizontal.json", "w"))
json.dump({keys[0]: layers, keys[1]: list(split)}, open(work + "/mapping.json", "w"))
PY
}

old_driver() { # one that takes no machine code of a newer toolkit translates the PTX of every part
    cp "$work/got" "$work/by_code" && (export EMU_CUDA_FAILS=old && through $((parts * (n + 1)))) && cmp "$work/got" "$work/by_code" &&
        grep -o ':ptx62=[^ ]*' "$work/build/out/fashion.d/ranks.txt" >"$work/list" && [ "$(wc -l <"$work/list")" = "$parts" ] || return 1
    while IFS='=' read -r _ part; do
        [ "$(head -1 "$work/build/out/fashion.d/$part.compute_62.ptx")" = ".version 6.5" ] || return 1
    done <"$work/list"
}

shared() {
    split_over_both && spread --horizontal="$work/horizontal.json" && through $((n + 1)) && near
}

gpu_profile() { # of every kernel on every layer, as if all took a millisecond but the convolution that no estimate would choose
    echo fatbin >"$work/fatbin"
    out/ingot graph "$work/fashion.onnx" -o "$work/graph.json" &&
        emulated out/ingot profile --gpu "$work/fatbin" --seconds 0.1 -q "$work/graph.json" -o "$work/taken.json" && "$PYTHON" - "$work" <<'PY'
import json, sys
p = json.load(open(sys.argv[1] + "/taken.json"))
for t in p["timings"]:
    t["in_order_ns"] = 0
    t["alone_ns"] = 1e3 if t["kernel"] == "conv_f32_direct__cuda" else 1e6
assert {1e3, 1e6} == {t["alone_ns"] for t in p["timings"]}
json.dump(p, open(sys.argv[1] + "/gpu.json", "w"))
PY
}

timed() { # plans of GPU keys go by it, and so do the times in deploy.json; layers in parts have their share
    "$PYTHON" - "$work" "$1" <<'PY'
import glob, json, sys
work, splits = sys.argv[1], sys.argv[2] == "split"
times = {}
for t in json.load(open(work + "/gpu.json"))["timings"]:
    times.setdefault(t["node"], {})[t["kernel"]] = t["alone_ns"]
d = json.load(open(work + "/build/out/fashion/deploy.json"))
direct = parts = 0
for part in (p for p in d["parts"] if "gpu" in p):
    plan = json.load(open(f"{work}/build/out/fashion.d/{part['prefix']}.gpu_plan.json"))
    for s in (s for s in plan["steps"] if s["kernel"]):
        if s["node"] in times:
            best = min(times[s["node"]].values())
            assert s["predicted_ns"] == best == times[s["node"]][s["kernel"]], s
        elif s["kernel"].startswith("conv"):
            assert s["kernel"] == "conv_f32_direct__cuda" and 0 < s["predicted_ns"] < 1e3, s
            parts += 1
        direct += s["kernel"] == "conv_f32_direct__cuda"
    assert abs(part["time_ms"] - sum(s["predicted_ns"] for s in plan["steps"]) * 1e-6) < 1e-9, part
assert direct > 0 and (parts > 0) == splits, (direct, parts)
PY
}

profiled() { # the results are right by these kernels, too
    gpu_profile && keys 7 nodeA_cpu0 nodeA_gpu && spread --gpu-profile="$work/gpu.json" && timed whole &&
        parts=$(sed -n 's/^  nodeA_gpu: \([0-9]*\) parts.*/\1/p' "$work/build/out/fashion.d/summary.txt") && through $((parts * (n + 1))) && near
}

profiled_parts() {
    split_over_both && spread --horizontal="$work/horizontal.json" --gpu-profile="$work/gpu.json" && timed split && through $((n + 1)) && near
}

refuses_profiles() { # of a GPU where there is none, and a second one
    for names in cores:nodeA_cpu0 both:"nodeA_cpu0 nodeA_gpu"; do
        # shellcheck disable=SC2086
        "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/fashion.onnx" 0 ${names#*:} >"$work/${names%%:*}.json" || return 1
    done
    ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/cores.json" --profile "$work/gpu.json" -o "$work/bad" 2>"$work/err" &&
        grep '^ingot: .*gpu.json: of a GPU, and no key of the mapping is one$' "$work/err" &&
        ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/both.json" --image 62 --profile "$work/gpu.json" --profile "$work/taken.json" -o "$work/bad" 2>"$work/err" &&
        grep 'taken.json: at most two of cores' "$work/err" &&
        ! (cd "$work/build" && ./configure --model="$work/fashion.onnx" --mapping="$work/cores.json" --gpu-profile="$work/gpu.json") >"$work/out" 2>"$work/err" &&
        grep 'gpu-profile is for --gpu, and for keys' "$work/err" && [ ! -e "$work/bad" ]
}

reading() { # a program whose GPU has an LSTM and a GRU, in either precision: nearly the CPU's results; and the same by keys, one behind the other
    "$PYTHON" -B "$SRCDIR/tests/reading_network.py" "$work/reading.onnx" && "$PYTHON" -c "
import array, random, sys
rng = random.Random(1)
sys.stdout.buffer.write(array.array('f', [rng.random() for _ in range($n * 1536)]).tobytes())" >"$work/pages" || return 1
    for precision in half single; do
        build --model="$work/reading.onnx" --gpu --nvcc="$work/nvcc" --no-profile --threads=1 --precision=$precision &&
            emulated "$work/build/out/host/reading" - -o - --top 0 --gpu=require <"$work/pages" >"$work/want" &&
            [ "$(cat "$work/counts")" = "$((n + 1)) 0" ] &&
            "$work/build/out/host/reading" - -o - --top 0 --gpu=off <"$work/pages" >"$work/off" && pages_near $precision || return 1
    done
    grep -o 'recurrent_[a-z0-9_]*__cuda' "$work/build/out/host/reading.d/gpu_plan.json" >"$work/kernels" && [ "$(wc -l <"$work/kernels")" = 2 ] || return 1
    "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/reading.onnx" 0 nodeA_gpu nodeB_gpu0 >"$work/mapping.json" &&
        build --model="$work/reading.onnx" --mapping="$work/mapping.json" --threads=1 --nvcc="$work/nvcc" &&
        emulated together reading - -o - --top 0 --gpu=require <"$work/pages" >"$work/got" && cmp "$work/want" "$work/got"
}

pages_near() { # precision
    "$PYTHON" - "$work" $n "$1" <<'PY'
import array, sys
a, b = (open(f"{sys.argv[1]}/{name}", "rb").read() for name in ("off", "want"))
size = len(a) // int(sys.argv[2])
assert len(a) == len(b) and a != b
a, b = (array.array("f", b"".join(t[i + 128:i + size] for i in range(0, len(t), size))) for t in (a, b))
off, most = max(abs(x - y) for x, y in zip(a, b)), max(map(abs, a))
print(f"off by {off / most:.1e} of the largest result")
assert off <= (1e-5 if sys.argv[3] == "single" else 2e-3) * most
PY
}

alone() { # the program of one core
    build --model="$work/fashion.onnx" --prefix=alone --no-profile --threads=1 &&
        "$work/build/out/host/alone" - -o - --top 0 <"$work/frames" >"$work/cpu"
}

run_without() { # what fails (nothing: there is no driver), options...
    without=$1
    shift
    if [ -n "$without" ]; then EMU_CUDA_FAILS=$without emulated together fashion - -o - --top 0 "$@"
    else LD_LIBRARY_PATH='' together fashion - -o - --top 0 "$@"; fi <"$work/frames" >"$work/got" 2>"$work/err"
}

falls_back() { # what fails, words of the line
    run_without "$1" || { cat "$work/err"; return 1; }
    cat "$work/err"
    grep -q "^nodeA_gpu: no GPU (.*$2.*): running on the CPU\$" "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] && cmp "$work/got" "$work/cpu"
}

refuses() { # the same with --gpu=require: the line, no result
    run_without "$1" --gpu=require
    status=$?
    cat "$work/err"
    [ $status = 1 ] && [ "$(grep -c "^nodeA_gpu: no GPU (.*$2.*)\$" "$work/err")" = 1 ] && [ ! -s "$work/got" ]
}

does_not_look() {
    rm -f "$work/counts"
    emulated together fashion - -o - --top 0 --gpu=off <"$work/frames" >"$work/got" 2>"$work/err" && [ ! -s "$work/err" ] &&
        [ ! -e "$work/counts" ] && cmp "$work/got" "$work/cpu"
}

bad_word() {
    ! together fashion - --gpu=maybe <"$work/frames" >"$work/got" 2>"$work/err" && grep -q -- '--gpu takes auto, require or off' "$work/err"
}

reports() { # what a key is, and what it carries
    at=$work/build/out/fashion
    "$at/nodeA_gpu" --info | grep '^on a GPU, sm 62,72,90, PTX for sm 62: ' && ! "$at/nodeA_cpu0" --info | grep GPU && "$at/nodeA_gpu" --info --json >"$work/info.json" &&
        emulated together fashion --bench=0.2 | grep 'nodeA_gpu' && "$PYTHON" - "$at/deploy.json" "$work/info.json" <<'PY'
import json, sys
d, info = (json.load(open(p)) for p in sys.argv[1:])
gpu = [p for p in d["parts"] if "gpu" in p]
assert gpu and {p["rank"] for p in gpu} == {1} and all(p["gpu"]["launches"] > 0 for p in gpu)
assert info["gpu"]["chips"] == [62, 72, 90] and info["gpu"]["ptx"] == 62 and info["gpu"]["launches"] == sum(p["gpu"]["launches"] for p in gpu)
PY
}

lean() { # keys of cores have none of it
    ! grep -aq 'libcuda' "$work/build/out/fashion/nodeA_cpu0" && grep -aq 'libcuda' "$work/build/out/fashion/nodeA_gpu"
}

appended() { # weights behind the program, as large ones are, of the CPU and of the GPU
    mkdir "$work/src" && ln -s "$SRCDIR"/* "$work/src/" && rm "$work/src/gen" && cp -r "$SRCDIR/gen" "$work/src/gen" &&
        sed 's/^append_above=.*/append_above=1000/' "$SRCDIR/gen/link.sh" >"$work/src/gen/link.sh" || return 1
    line=$(cd "$work/build" && ${NINJA:-ninja} -t commands out/fashion.d/ranks.done | tail -1 | sed "s|\./gen/|$work/src/gen/|g; s| SRCDIR='[^']*'| SRCDIR='$work/src'|")
    (cd "$work/build" && eval "$line") && ! nm "$work/build/out/fashion/nodeA_gpu" 2>&1 | grep ' r .*_weights' &&
        through $((parts * (n + 1))) && near && falls_back "" "$no_driver"
}

refusals() { # a GPU key without chips, a chip of no name, no toolkit, no such key
    ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/mapping.json" -o "$work/bad" 2>"$work/err" && grep "nodeA_gpu.*--image" "$work/err" &&
        ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/mapping.json" --image 62x -o "$work/bad" 2>"$work/err" && grep 'takes chips' "$work/err" &&
        ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/mapping.json" --image 62 --image ptx62 --image ptx72 -o "$work/bad" 2>"$work/err" && grep 'takes PTX once' "$work/err" &&
        ! out/ingot deploy "$work/fashion.onnx" --mapping "$work/mapping.json" --image ptx62 -o "$work/bad" 2>"$work/err" && grep 'none of --image is for a chip' "$work/err" &&
        ! (cd "$work/build" && ./configure --model="$work/fashion.onnx" --mapping="$work/mapping.json" --nvcc="$work/none") >"$work/out" 2>"$work/err" &&
        grep 'needs a CUDA toolkit' "$work/err" && printf '{"nodeA_cpu0": []}' >"$work/none.json" &&
        ! (cd "$work/build" && ./configure --model="$work/fashion.onnx" --mapping="$work/none.json" --gpu) >"$work/out" 2>"$work/err" &&
        grep "no key of .*none.json is a GPU's" "$work/err" && [ ! -e "$work/bad" ]
}

board() { # a TX2's cores and its GPU, built here: code for its chip alone, no library but the C library's and MPI's
    cat >"$work/site.json" <<'JSON'
{"format":"ingot-site","version":1,"links":[],"devices":[{"name":"nodeA"},{"name":"nodeT","target":"tx2"}]}
JSON
    "$PYTHON" "$SRCDIR/tests/deploy_mapping.py" "$work/fashion.onnx" 0 nodeA_cpu0 nodeT_cpu0 nodeT_gpu >"$work/mapping.json" &&
        spread --platform="$work/site.json" || return 1
    aarch64-linux-gnu-readelf -dW "$work/build/out/fashion/nodeT_gpu" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' >"$work/needed"
    cat "$work/needed"
    ! grep -vE '^lib(mpi\.so\.40|c\.so\.6|m\.so\.6|dl\.so\.2|pthread\.so\.0)$' "$work/needed" && grep -q libdl "$work/needed" &&
        "$work/build/out/fashion/nodeA_cpu0" --info >"$work/out" && ! grep -q PTX "$work/out" &&
        grep -qx '\.target sm_62' "$work/build/out/fashion.d/"*nodeT_gpu*.compute_62.ptx &&
        ls "$work/build/out/fashion.d" | grep 'nodeT_gpu.*\.sm_62\.fatbin$' && ! ls "$work/build/out/fashion.d" | grep 'nodeT_gpu.*sm_.*72'
}

check "frames" rolled
toolkit
check "two GPUs: the bytes of one" gpus_alone
check "so they do in half precision" in_halves
check "an LSTM and a GRU: nearly the CPU's results, and by keys the bytes of one GPU" reading
check "a core, a GPU and a core of a board: the bytes of the program with these stages" stages
check "the program of one core" alone
check "layers that a core and the GPU share" shared
check "parts on a GPU go by a profile of it" profiled
check "so do parts of layers" profiled_parts
check "profiles that are refused" refuses_profiles
check "layers here and there, on a core and a GPU" here_and_there
check "a driver that is older than the code" old_driver
check "tensors that pass are the GPU's where they are" in_place
no_driver="no CUDA driver: libcuda"
ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1' && no_driver=. # a real one, which finds no device, or no code in the stub
for failure in "|$no_driver" "device|finds no device" "image|is an sm_62, for which this program has no code" \
    "memory|bytes of memory left" "launch|CUDA_ERROR_LAUNCH_FAILED"; do
    what=${failure%%|*} words=${failure#*|}
    check "without ${what:-a driver} a key says so and computes on its core" falls_back "$what" "$words"
    check "without ${what:-a driver} --gpu=require ends all ranks with 1" refuses "$what" "$words"
done
check "--gpu=off does not look" does_not_look
check "--gpu=maybe is refused" bad_word
check "--info, deploy.json and --bench" reports
check "keys of cores have no word of it" lean
check "weights may be appended" appended
check "what is refused" refusals
if have aarch64-linux-gnu-gcc && have aarch64-linux-gnu-readelf && "${MPICC:-mpicc}" -showme:compile >/dev/null 2>&1; then
    check "a board's GPU" board
else skip "a board's GPU" "no cross compiler or no Open MPI"; fi
finish
