# Every GPU kernel compiles for every chip that the toolkits here know, within its registers; the benchmark on a GPU runs,
# on an emulated one, and says so where there is none.
. "$SRCDIR/tests/scripts/tap.inc"
cd "$SRCDIR"

toolkits() { # a line each: the compiler, of $NVCC and the usual places; of each version one, with its tools beside it if there is such
    for nvcc in ${NVCC:-} $(command -v nvcc) /usr/local/cuda*/bin/nvcc /usr/lib/nvidia-cuda-toolkit/bin/nvcc; do
        [ -x "$nvcc" ] || continue
        nvcc=$(readlink -f "$nvcc") alone=0
        [ -x "$(dirname "$nvcc")/cuobjdump" ] || alone=1
        echo "$alone $("$nvcc" --version | tail -1 | tr ' ' _) $nvcc"
    done | sort | awk '!seen[$2]++ {print $3}'
}

host_compiler() { # compiler: how it is told of one that it takes; it only preprocesses
    echo 'int x;' >"$work/try.cu"
    PATH=$(dirname "$1"):$PATH "$1" -allow-unsupported-compiler -E "$work/try.cu" >/dev/null 2>&1 || echo "-ccbin clang++"
}

# Sine, cosine and tangent bring large arguments near zero by digits of 2/pi in an array.
framed='unary_typed'

no_stack() { # ptxas's words: 0 if no function has a stack frame but those known to
    awk -v known=" $framed " '/Function properties for/ {name = $NF}
        /bytes stack frame/ && $1 > 0 && !index(known, " " name " ") {print name ": " $0; bad = 1}
        END {exit bad}' "$1"
}

compiles() { # compiler, chip, file: the compiler's own words on registers; 0 if it compiles unwarned, nothing is spilled or on a stack
    PATH=$(dirname "$1"):$PATH "$1" $ccbin -allow-unsupported-compiler -std=c++14 -O3 -fmad=false -cubin -arch="sm_$2" -Xptxas -v -I. \
        --keep --keep-dir "$work/ptx" -o "$work/$2.cubin" "$3" >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
    if grep 'warning #' "$work/log" || grep -B 1 '[1-9][0-9]* bytes spill' "$work/log"; then return 1; fi
    no_stack "$work/log"
}

all_compile() { # compiler, chip; leaves the PTX of each in $work/ptx
    rm -rf "$work/ptx" && mkdir "$work/ptx"
    for file in kernels_gpu/cuda/*.cu; do
        compiles "$1" "$2" "$file" || { echo "$file does not fit sm_$2"; return 1; }
    done
}

# One chip's images in a program's fatbin are what a board's driver can load; others would be ballast, or worse, missing.
holds_images() { # compiler, chips: a fatbin for these holds an image of each and no other
    asked= wanted=
    for chip in $2; do
        asked="$asked -gencode arch=compute_$chip,code=sm_$chip" wanted="$wanted sm_$chip"
    done
    # shellcheck disable=SC2086
    PATH=$(dirname "$1"):$PATH "$1" $ccbin -allow-unsupported-compiler -std=c++14 -O3 -fmad=false -fatbin $asked -Xfatbin -compress-all \
        -I. -o "$work/images.fatbin" kernels_gpu/cuda/softmax.cu || return 1
    PATH=$(dirname "$1"):$PATH cuobjdump --list-elf "$work/images.fatbin" >"$work/images" && cat "$work/images" || return 1
    there=$(sed -n 's/.*\.\(sm_[0-9a-z]*\)\.cubin.*/\1/p' "$work/images" | sort | tr '\n' ' ')
    echo "asked for:$wanted; there: $there"
    [ "$there" = "${wanted# } " ] && [ -z "$(PATH=$(dirname "$1"):$PATH cuobjdump --list-ptx "$work/images.fatbin" 2>/dev/null | grep PTX)" ]
}

# Quads and fragments are read from shared memory, which the compiler otherwise aligns to an element only.
aligns_shared() { # in what all_compile has left
    for file in $(grep -l 'SHARED(' kernels_gpu/cuda/*.cu); do
        grep '\.shared *\.align' "$work/ptx/$(basename "$file" .cu).ptx" >"$work/shared" || { echo "$file: no shared memory"; return 1; }
        if grep -v '\.align 32 ' "$work/shared"; then return 1; fi
    done
}

# What a board's driver of CUDA 10.2 translates is the PTX of the toolkit but for its version: the same machine code comes of it.
same_code() { # compiler, chip
    bin=$(dirname "$1")
    for file in kernels_gpu/cuda/*.cu; do
        PATH=$bin:$PATH "$1" $ccbin -allow-unsupported-compiler -std=c++14 -O3 -fmad=false -ptx -arch="compute_$2" -I. -o "$work/new.ptx" "$file" &&
            gen/ptx.sh "$work/new.ptx" "$work/old.ptx" && grep -qx '\.version 6\.5' "$work/old.ptx" || return 1
        for version in new old; do
            PATH=$bin:$PATH ptxas -arch="sm_$2" -o "$work/$version.cubin" "$work/$version.ptx" &&
                PATH=$bin:$PATH cuobjdump -sass "$work/$version.cubin" >"$work/$version.sass" || return 1
        done
        grep -q 'EXIT' "$work/old.sass" && cmp "$work/new.sass" "$work/old.sass" || { echo "$file"; return 1; }
    done
}

known() { # compiler, chips: those that it makes code for
    for chip in $2; do "$1" --list-gpu-code 2>/dev/null | grep -qx "sm_$chip" || return 1; done
}

wraps() { # file, compiler, folder of headers that come before its own if there is one
    printf '#!/bin/sh\nexec "%s" %s "$@"\n' "$2" "${3:+-I$3}" >"$1" && chmod +x "$1"
}

takes() { # compiler: configure does, for sm_90; what it says is in $work/log
    mkdir -p "$work/takes" && (cd "$work/takes" && NINJA=true "$SRCDIR/configure" --model="$SRCDIR/models/fashion.onnx" --no-profile \
        --gpu=sm_90 --nvcc="$1") >"$work/log" 2>&1
    grep -q '^wrote build.ninja' "$work/log"
}

own_headers() { # compiler: configure takes it, but not where another toolkit's headers come first
    mkdir -p "$work/others" &&
        printf '#include_next <cuda_runtime.h>\n#undef CUDART_VERSION\n#define CUDART_VERSION 9000\n' >"$work/others/cuda_runtime.h" &&
        wraps "$work/own" "$1" && wraps "$work/hidden" "$1" "$work/others" && takes "$work/own" && ! takes "$work/hidden" && cat "$work/log" &&
        grep -q "hidden works with no C++ compiler here, or finds the headers of another toolkit" "$work/log"
}

found=
for nvcc in $(toolkits); do
    ccbin=$(host_compiler "$nvcc")
    for chip in 62 72 90; do
        "$nvcc" --list-gpu-code 2>/dev/null | grep -qx "sm_$chip" || continue
        found=1
        check "$nvcc compiles every kernel for sm_$chip, spills no register and has no stack frame but those known" all_compile "$nvcc" "$chip"
        check "$nvcc: shared memory of sm_$chip lies at multiples of 32 bytes" aligns_shared
    done
    ! known "$nvcc" 90 || check "$nvcc: configure tells when another toolkit's headers hide its own" own_headers "$nvcc"
    [ -x "$(dirname "$nvcc")/cuobjdump" ] || continue
    for chip in 62 72; do
        ! known "$nvcc" "$chip" || check "$nvcc: PTX for sm_$chip as old drivers take it gives the same code" same_code "$nvcc" "$chip"
    done
    for chips in 62 72 "62 72" 90; do # tx2, xavier, both
        known "$nvcc" "$chips" || continue
        check "$nvcc: a fatbin for $chips holds these images alone" holds_images "$nvcc" "$chips"
    done
done

no_gpu() {
    nvidia-smi -L >/dev/null 2>&1 && return
    bench/gpu.sh >"$work/out" 2>"$work/err" && [ ! -s "$work/out" ] && grep -q 'nothing is measured' "$work/err"
}

emulated() {
    echo fatbin >"$work/fatbin"
    LD_LIBRARY_PATH=out/emu out/bench/gpu --runs 1 --repeats 1 --layers "$work/fatbin" out/host/fashion.d/graph.json >"$work/out" &&
        grep -q 'classifier *fc_f32_gemv__cuda' "$work/out" &&
        tail -1 "$work/out" | grep -q '"network": "fashion", "precision": "single", "gpu": "Emulated GPU", "sm": 62, .*"difference": [0-9.]*e-0[5-9]}' &&
        tail -1 "$work/out" | grep -q '"most_gflops": 666, "copy_gb_s": [0-9.]*[1-9]' && # 2 x 128 lanes at 1.3 GHz
        grep 'classifier *fc_f32_gemv__cuda' "$work/out" | grep -q ' us .* GFLOP/s .* % .* GB/s .* %$' &&
        "${PYTHON:-python3}" bench/peer/gpu_table.py "$work/out" | grep -q '^| fashion | [0-9.]* | [0-9]* | [0-9]* |  |  |  |$' &&
        LD_LIBRARY_PATH=out/emu out/bench/gpu --runs 1 --repeats 1 --layers "$work/fatbin" out/host/fashion_half.d/graph.json >"$work/out" &&
        grep -q 'classifier *fc_f16_gemv__cuda' "$work/out" && grep -q '^{"network": "fashion", "precision": "half", ' "$work/out"
}

# Every kernel that memory bounds, on small tensors here, and the table of them.
wide() {
    LD_LIBRARY_PATH=out/emu out/bench/gpu --wide --scale 32 --runs 1 --repeats 1 --layers "$work/fatbin" >"$work/out" || return 1
    grep -v '^#' "$work/out"
    tail -1 "$work/out" | grep -q '^{"network": "wide", "gpu": "Emulated GPU", "copy_gb_s": [0-9.]*, "layers": 4[0-9], "memory_bound_share": 0.0[0-9]*, "slowest": "..*"}$' &&
        [ "$(grep -c '^{"wide": ' "$work/out")" -ge 40 ] && [ "$(grep -c '^# fully connected  *fc_f32' "$work/out")" = 3 ] &&
        grep -q '^{"wide": "add", "kernel": "binary_f32_4__cuda", "us": [0-9.]*, "mib": 0, "gb_s": [0-9.]*, "share": 0.[0-9]*}$' "$work/out" &&
        "${PYTHON:-python3}" bench/peer/gpu_table.py "$work/out" >"$work/table" && cat "$work/table" &&
        grep -q '^| add | `binary_f32_4__cuda` | 0 | [0-9.]* | [0-9]* | [0-9]* % |$' "$work/table" &&
        grep -q '^Emulated GPU: .* the least share is ' "$work/table"
}

# What is wrong has no figure; the kernels and the layers that fail are all named, and others have theirs.
wide_wrong() {
    EMU_CUDA_FAILS=result LD_LIBRARY_PATH=out/emu out/bench/gpu --wide=max --scale 64 --runs 1 --repeats 1 "$work/fatbin" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && cat "$work/err" && [ ! -s "$work/out" ] && [ "$(grep -c '^gpu: --wide: max pool .*: no kernel computes on this GPU what the CPU does$' "$work/err")" = 3 ] &&
        [ "$(grep -c '^gpu: layer: pool_.*__cuda is wrong: element 0: 0, expected 0\.' "$work/err")" -ge 3 ] || return 1
    LD_LIBRARY_PATH=out/emu out/bench/gpu --wide=none "$work/fatbin" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && grep -q "^gpu: --wide: no layer's name begins with none" "$work/err"
}

# Figures of what is wrong are none: where one kernel of a layer is, of several; where all are right, and the frame of them is not.
wrong() {
    EMU_CUDA_SKIPS=fc_gemv LD_LIBRARY_PATH=out/emu out/bench/gpu --runs 1 --repeats 1 "$work/fatbin" out/host/fashion.d/graph.json >"$work/out" 2>"$work/err"
    [ $? = 1 ] && cat "$work/err" && [ ! -s "$work/out" ] && grep -q '^gpu: classifier: fc_f32_gemv__cuda is wrong: element 0: -\{0,1\}nan, expected ' "$work/err" &&
        grep -q '^gpu: fashion: kernels are wrong: no figures$' "$work/err" || return 1
    EMU_CUDA_FAILS=graph LD_LIBRARY_PATH=out/emu out/bench/gpu --runs 1 --repeats 1 "$work/fatbin" out/host/fashion.d/graph.json >"$work/out" 2>"$work/err"
    [ $? = 1 ] && cat "$work/err" && [ ! -s "$work/out" ] && grep -q '^gpu: fashion: outputs are off by inf of the largest' "$work/err"
}

tool() { # path in the tree, command
    mkdir -p "$(dirname "$tree/$1")"
    printf '#!/bin/sh\n%s\n' "$2" >"$tree/$1"
    chmod +x "$tree/$1"
}

machine() { # one with a GPU, whose tools are scripts; what becomes of a network is in its name
    tree=$work/tree
    tool bench/occupancy 'echo registers'
    cp bench/gpu.sh "$tree/bench/"
    tool bin/nvcc 'for word; do [ "$last" != -o ] || echo made >"$word"; last=$word; done'
    tool bin/nvidia-smi 'echo 9.0'
    tool bin/compute-sanitizer 'exit $SANITIZED'
    tool bin/python3 'exit 1'
    tool out/ingot '[ "$2" != --list ] || { printf "name\none x\nbad x\nslow x\ntwo x\n"; exit; }; for file; do :; done; echo graph >"$file"'
    tool out/bench/gpu_kernels 'echo "ok 1 - a kernel"; echo "3 ops, $WRONG of them wrong"; exit $WRONG'
    tool out/bench/gpu '[ $1 != --wide ] || { echo "{\"network\": \"wide\"}"; exit 1; }
for name; do :; done
name=${name##*/} name=${name%.json}
[ $name != slow ] || { cp figures seen; exec sleep 600; }
echo "# a layer of $name"
[ $name != bad ] || exit 1
echo "{\"network\": \"$name\"}"'
    mkdir "$tree/gen" && cp gen/gpu.sh "$tree/gen/"
}

figures() { # status of the sanitizer, its words, seconds a network may take: the other networks' figures, as they come, and at the end 1
    NVCC=nvcc PATH=$tree/bin:$PATH SANITIZED=$1 WRONG=0 LIMIT=$3 "$tree/bench/gpu.sh" -o "$tree/figures" >"$work/out" 2>"$work/err" && return 1
    cat "$work/err" "$tree/figures"
    printf '# registers\n# a layer of one\n{"network": "one"}\n' | cmp - "$tree/seen" &&
        printf '# a layer of two\n{"network": "two"}\n{"network": "wide"}\n' | cat "$tree/seen" - | cmp - "$tree/figures" && [ ! -s "$work/out" ] &&
        grep -q '^gpu.sh: without figures: bad slow wide$' "$work/err" && grep -q "^gpu.sh: memcheck of gpu_kernels$2" "$work/err" &&
        grep -q "^gpu.sh: racecheck of gpu$2" "$work/err" && grep -q '^gpu.sh: 3 ops, 0 of them wrong' "$work/err"
}

faulty() { # what the sanitizer finds ends it all
    rm -f "$tree/figures"
    NVCC=nvcc PATH=$tree/bin:$PATH SANITIZED=9 WRONG=0 "$tree/bench/gpu.sh" -o "$tree/figures" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && [ ! -e "$tree/figures" ] && grep -q 'memcheck found something' "$work/err"
}

wrong_kernels() { # nothing is measured of kernels that are wrong
    rm -f "$tree/figures"
    NVCC=nvcc PATH=$tree/bin:$PATH SANITIZED=0 WRONG=1 "$tree/bench/gpu.sh" -o "$tree/figures" >"$work/out" 2>"$work/err"
    [ $? = 1 ] && cat "$work/err" && [ ! -e "$tree/figures" ] && grep -q '^3 ops, 1 of them wrong' "$work/err" && grep -q 'no figures' "$work/err"
}

stages_tree() { # a machine with a GPU for bench/gpu_stages, whose tools are scripts; what becomes of a network is in its name
    tree=$work/stages
    mkdir -p "$tree/bench/stages" "$tree/gen"
    cp bench/gpu_stages "$tree/bench/" && cp bench/stages/*.py "$tree/bench/stages/" && cp gen/gpu.sh "$tree/gen/"
    tool bin/nvcc 'for word; do [ "$last" != -o ] || echo made >"$word"; last=$word; done'
    tool bin/nvidia-smi 'echo 9.0'
    tool configure 'mkdir -p out/host && : >config.log'
    tool bin/ninja 'case $* in *out/ingot*) cp ../../../ingot out/ingot; exit ;; esac
cp ../../../program $1 && mkdir -p $1.d && echo "{\"stages\": [{}, {\"passing_ns\": 20000}]}" >$1.d/plan.json'
    tool ingot 'for last; do :; done
case $1 in
zoo) echo $2 >"$last" ;;
graph) ;;
profile) case $last in *bad.core) echo "ingot: no profile" >&2; exit 1 ;; *slow.core) exec sleep 600 ;; esac
    echo "{\"cpu\": \"processor ${last##*.}\"}" >"$last" ;;
pipeline) case $* in *first=cpu*) cut="cpu:0@1,gpu" ;; *first=gpu*) cut="gpu@1,cpu:0" ;; *) cut= ;; esac
    echo "{\"chosen\": \"cuts\", \"stages_option\": \"$cut\", \"segments\": [{\"first\": \"first\"}, {\"first\": \"last\"}],
        \"algorithms\": [{\"algorithm\": \"cuts\", \"period_ns\": 1000000, \"stage_ns\": [1000000], \"stages\": [\"gpu\"], \"moved_bytes\": 4000}]}" ;;
esac'
    tool program 'case $1 in
--info) echo "{\"inputs\": [{\"type\": \"f32\", \"shape\": [1, 2]}]}" ;;
-) [ "$(wc -c)" = 32 ] || exit 1
    case $0-$5 in */stage/*) exit ;; *off) v=0.5 ;; *) v=0.500005 ;; esac
    for i in 1 2 3 4; do echo "{\"top\": [{\"index\": 0, \"value\": $v}]}"; done ;;
--bench*) echo "${0#*/stages/out/}" >>$SEEN
    case $0 in
    */gpu/*) echo "{\"fps\": 1000, \"median_ms\": 1}" ;;
    */gpu_core/*net_late) [ "$(grep -c gpu_core.*late $SEEN)" = 1 ] || exec sleep 600
        echo "{\"fps\": 900, \"median_ms\": 1}" ;;
    */core_gpu/*) echo "program: the driver is gone" >&2; exit 1 ;;
    *) echo "{\"fps\": 900, \"median_ms\": 1, \"latency_ms\": 3, \"latency_alone_ms\": 2, \"predicted_fps\": 950,
        \"stages\": [{\"processor\": \"gpu\", \"ms\": 1.1, \"predicted_ms\": 1}, {\"processor\": \"cpu:0\", \"ms\": 0.5, \"predicted_ms\": 0.25}]}" ;;
    esac ;;
esac'
}

stages_run() { # seconds a network may take: by turns; what fails of a network is said, networks that fail cost no other its figures
    rm -f "$work/seen"
    SEEN=$work/seen NVCC=nvcc NINJA=ninja PATH=$tree/bin:$PATH LIMIT=$1 "$tree/bench/gpu_stages" --cores 0-1 --rounds 2 -o "$tree/figures" one bad slow \
        two >"$work/out" 2>"$work/err" && return 1
    cat "$work/err"
    grep -q '^gpu_stages: bad: ingot: ingot: no profile: no figures$' "$work/err" && grep -q '^gpu_stages: slow: ingot: time is up: no figures$' "$work/err" &&
        grep -q '^gpu_stages: without figures: bad slow$' "$work/err" && [ ! -s "$work/out" ] && [ "$(wc -l <"$tree/figures")" = 2 ] &&
        grep -q '^two, core, GPU: net_two: program: the driver is gone$' "$tree/figures.md" &&
        grep -q '^two, GPU as a stage: 0 results of 4 frames$' "$tree/figures.md" &&
        grep -q '^| one |  | 1000 |  |  |  |  |  | core | 950 | 900 | 0.90 | GPU alone | 1000 | 1000 | GPU alone | 0.0 |$' "$tree/figures.md" &&
        grep -q '^| two | `gpu@1,cpu:0` | 950 | 900 | 0.90 | 4.0 | 20 | 1.000 + 0.250 | 1.100 + 0.500 | 2.000 | 1e-05 |$' "$tree/figures.md" &&
        grep -q '^processor gpu; processor core; core: cpu:0, team: none\.' "$tree/figures.md" &&
        "$tree/bench/gpu_stages" --table "$tree/figures" | cmp - "$tree/figures.md" &&
        for net in one two; do printf '%s\n' gpu core_gpu gpu_core gpu gpu_core | sed "s|\$|/out/host/net_$net|"; done | sed 's|^|gpu_stages/|' | cmp - "$work/seen"
}

stages_late() { # seconds a network may take: where time is up the rounds that are whole count; nothing of a network's programs is left
    rm -f "$work/late"
    SEEN=$work/late NVCC=nvcc NINJA=ninja PATH=$tree/bin:$PATH LIMIT=$1 "$tree/bench/gpu_stages" --cores 0-1 -o "$tree/late" late >"$work/out" 2>"$work/err" || {
        cat "$work/err"
        return 1
    }
    cat "$tree/late"
    grep -q '"fps": \[900\]' "$tree/late" && grep -q '"fps": \[1000\]' "$tree/late" && grep -q 'medians of at least 1 rounds' "$tree/late.md" &&
        [ -z "$(find "$tree/out" -name 'net_late*')" ]
}

stages_nowhere() { # without a compiler or a GPU that is said, and nothing runs
    tool none/nvidia-smi 'exit 9'
    NVCC=$work/no-nvcc "$tree/bench/gpu_stages" >"$work/out" 2>"$work/err" && [ ! -s "$work/out" ] && grep -qx 'gpu_stages: no nvcc: nothing is measured' "$work/err" &&
        NVCC=nvcc PATH=$tree/none:$tree/bin:$PATH "$tree/bench/gpu_stages" >"$work/out" 2>"$work/err" && [ ! -s "$work/out" ] &&
        grep -qx 'gpu_stages: no GPU: nothing is measured' "$work/err" && [ ! -e "$tree/out" ] || return 1
    echo nothing >"$work/results"
    ! "$tree/bench/gpu_stages" --table "$work/results" 2>"$work/err" && grep -qx "gpu_stages: $work/results: not results of bench/gpu_stages" "$work/err"
}

on_the_driver() { # fault, words: kernels as a GPU's driver runs them, each against the reference; what the driver spoils shows
    echo fatbin >"$work/fatbin"
    if [ -z "$1" ]; then
        LD_LIBRARY_PATH=out/emu out/bench/gpu_kernels "$work/fatbin" softmax pool gather >"$work/out" 2>&1 || { cat "$work/out"; return 1; }
    elif EMU_CUDA_FAILS=$1 INGOT_MEMORY=1 LD_LIBRARY_PATH=out/emu out/bench/gpu_kernels "$work/fatbin" softmax pool >"$work/out" 2>&1; then
        return 1
    fi
    tail -20 "$work/out"
    grep -q "$2" "$work/out"
}

if [ -x out/bench/gpu ]; then
    check "bench/gpu.sh says that there is no GPU" no_gpu
else
    skip "bench/gpu.sh" "out/bench/gpu is not built"
fi
if [ -x out/bench/gpu ] && [ -f out/emu/libcuda.so.1 ]; then
    check "bench/gpu times and checks the bundled network on the emulated driver" emulated
    check "bench/gpu --wide times every kernel that memory bounds" wide
    check "it has no figures of what is wrong, and names all that fail" wide_wrong
    check "bench/gpu has no figures of a network with a wrong kernel, or with wrong outputs" wrong
    check "bench/gpu_kernels holds kernels to the reference, as the driver runs them" on_the_driver '' '^3 ops, 0 of them wrong'
    check "it finds bytes that were written beside an output" on_the_driver stray 'wrote where it must not: '
    check "it finds results that are none" on_the_driver result '^2 ops, 2 of them wrong'
    check "it finds launches that fail" on_the_driver launch 'CUDA_ERROR_LAUNCH_FAILED'
else
    skip "bench/gpu" "no emulated driver"
fi
machine
check "bench/gpu.sh keeps what is measured where a network fails or takes too long" within "1 8 64" figures 0 ': clean'
check "so it does where the sanitizer does not work" within "1 8 64" figures 1 ' does not work here'
check "bench/gpu.sh has no figures of kernels that are wrong" wrong_kernels
check "bench/gpu.sh has no figures of kernels in which the sanitizer finds something" faulty
stages_tree
check "bench/gpu_stages says that there is no compiler or no GPU" stages_nowhere
check "bench/gpu_stages runs all ways by turns, and keeps what is measured where a way or a network fails" within "4 16 64" stages_run
check "it keeps what is whole where time is up" within "4 16 64" stages_late
# ptxas's words become blocks of a multiprocessor: by registers, by what one block may have of them, by shared memory.
occupancy() {
    cat >"$work/ptxas" <<LOG
ptxas info    : Compiling entry function 'conv_128x128' for 'sm_62'
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 128 registers, 16640 bytes smem, 504 bytes cmem[0], 7288 bytes cmem[2]
ptxas info    : Compiling entry function 'conv_128x128' for 'sm_72'
ptxas info    : Function properties for conv_128x128
    76 bytes stack frame, 76 bytes spill stores, 80 bytes spill loads
ptxas info    : Used 149 registers, 16640 bytes smem, 504 bytes cmem[0]
ptxas info    : Compiling entry function 'conv_64x64s' for 'sm_62'
ptxas info    : Used 111 registers, 16896 bytes smem
ptxas info    : Compiling entry function 'fc_gemv' for 'sm_62'
ptxas info    : Used 48 registers, 456 bytes cmem[0]
LOG
    bench/occupancy --sm 62,72 --log "$work/ptxas" >"$work/out" && cat "$work/out" &&
        grep -qF '| `conv_128x128` | 256 | 16640 | 128 | 2 | 25 % | 149 | 1 | 12 % |' "$work/out" &&
        grep -qF '| `conv_64x64s` | 128 | 16896 | 111 | 3 | 19 % |' "$work/out" && grep -qF '| 48 | 10 | 62 % |' "$work/out" &&
        grep -qF 'Spilled: conv_128x128 on sm_72: 156 bytes.' "$work/out" &&
        grep -qF 'Stack frames: conv_128x128 on sm_72: 76 bytes.' "$work/out" && ! no_stack "$work/ptxas"
}

roofline() {
    out/ingot graph models/fashion.onnx -o "$work/fashion.json" && bench/roofline "$work/fashion.json" >"$work/out" && cat "$work/out" &&
        grep -q '^| fashion | 0.0[0-9] | ' "$work/out" && grep -q '^| depthwise | .* | 100 % | .* | 100 % |$' "$work/out"
}

torch_agrees() { # PyTorch's answers, whose times bench/gpu.sh compares ours with, are those of the network
    out/ingot zoo mobilenet_v1_025 -o "$work/torch.onnx" && "${PYTHON:-python3}" bench/peer/torch_net.py --check "$work/torch.onnx"
}

check "bench/occupancy says how many blocks fit" occupancy
check "bench/roofline says what bounds a network" roofline
if "${PYTHON:-python3}" -c 'import torch, onnxruntime' >/dev/null 2>&1; then
    check "bench/peer/torch_net.py computes what onnxruntime does" torch_agrees
else
    skip "bench/peer/torch_net.py" "no Python with torch and onnxruntime"
fi
[ -n "$found" ] || skip "GPU kernels compile" "no nvcc here"
finish
