# What is given to ./configure reaches ingot as it was given, blanks, quotes and dollars too, and a deployment's folder reaches
# mpirun; paths that ninja or the shell would read otherwise are refused; a plan that leaves files as they were leaves nothing to do.
# --isa reaches whatever plans and times, and one that cannot be is refused.
. "$SRCDIR/tests/scripts/tap.inc"
ninja=${NINJA:-ninja}

configure() { # folder, options...: its build file, with an ingot that prints its arguments, a line each
    at=$work/$1
    shift
    mkdir -p "$at/out" && printf '#!/bin/sh\nprintf "%%s\\n" "$@"\n' >"$at/out/ingot" && chmod +x "$at/out/ingot"
    (cd "$at" && NINJA=true "$SRCDIR/configure" --without-aarch64 --no-profile "$@") >"$work/log" 2>&1
}

gets() { # folder, file of its build, lines: the command that makes it has these among its arguments, in order
    (cd "$work/$1" && $ninja -t commands "$2" | tail -1 >command && sh -c "$(cat command)") >"$work/got" || return 1
    cat "$work/got"
    printf '%s\n' "$3" >"$work/want"
    awk 'NR == FNR { want[n++] = $0; next } $0 == want[k + 0] { k++ } END { exit k < n }' "$work/want" "$work/got"
}

shape="in put:0=1x1x28x28" outputs="soft max (1),it's,a\$b;c" scale="frames=28x28x1 uint8"

one() {
    configure one --model="$SRCDIR/models/fashion.onnx" --prefix=one --input-shape="$shape" --outputs="$outputs" --input-spec="$scale" \
        --mean='1, 2' && gets one out/host/one.d/graph.json "--input-shape
$shape
--outputs
$outputs" && gets one out/host/one.d/one_plan.c "--mean
1, 2
--input-spec
$scale"
}

several() { # the same behind each of two models
    cp "$SRCDIR/models/fashion.onnx" "$work/a.onnx" && cp "$work/a.onnx" "$work/b.onnx" &&
        configure several --input-spec="$scale" --model="$work/a.onnx" --outputs="$outputs" --model="$work/b.onnx" --input-shape="$shape" &&
        gets several out/host/a.d/graph.json "--outputs
$outputs" && gets several out/host/b.d/graph.json "--input-shape
$shape" && gets several out/host/b.d/b_plan.c "--input-spec
$scale"
}

again() { # what ninja starts when the build file is old: the variables of then, and the options of the last time that worked; behind
    # one that was refused not before the remedy that it names
    (export CFLAGS='-O1 -g' && configure again --model="$SRCDIR/models/fashion.onnx" --prefix=one --outputs="$outputs") &&
        cp "$work/again/build.ninja" "$work/before" && grep -q -- '-O1 -g' "$work/before" && reconfigured &&
        ! configure again --model="$work/none.onnx" && grep -q 'no such file' "$work/log" || return 1
    refusal="configure: the last ./configure was refused: --model=$work/none.onnx: no such file. Mend that, or go back with: "
    ! reconfigured && grep -F "$refusal" "$work/log" && [ "$(wc -l <"$work/log")" = 1 ] && ! (cd "$work/again" && $ninja) >"$work/log" 2>&1 &&
        grep -F "$refusal" "$work/log" && cmp "$work/before" "$work/again/build.ninja" || return 1
    remedy=$(grep -F "$refusal" "$work/log")
    echo "${remedy#"$refusal"}" >"$work/remedy" && (cd "$work/again" && unset CFLAGS && NINJA=true sh "$work/remedy") >"$work/log" 2>&1 && reconfigured &&
        [ ! -e "$work/again/out/configure.refused" ]
}

reconfigured() { # as it was
    (cd "$work/again" && unset CFLAGS && NINJA=true "$SRCDIR/configure" --reconfigure) >"$work/log" 2>&1 && cmp "$work/before" "$work/again/build.ninja"
}

unplanned() { # a plan that cannot be made, or not together: the build file and the options stay as they were
    cp "$work/again/out/configure.args" "$work/args" && printf '#!/bin/sh\n[ "$1" = -f ] || exit 0\ncp "$2" "%s"\nexit 1\n' "$work/tried" >"$work/ninja" &&
        chmod +x "$work/ninja" || return 1
    (cd "$work/again" && ! NINJA=$work/ninja "$SRCDIR/configure" --without-aarch64 --model="$SRCDIR/models/fashion.onnx" --prefix=two) >"$work/log" 2>&1 || return 1
    cat "$work/log" && grep -q '^build out/host/two: ' "$work/tried" && as_it_was || return 1
    printf '#!/bin/sh\n[ "$1" != bundle ]\n' >"$work/again/out/ingot"
    (cd "$work/again" && ! NINJA=true "$SRCDIR/configure" --without-aarch64 --no-profile --model="$SRCDIR/models/fashion.onnx" --prefix=two \
        --model="$SRCDIR/models/fashion.onnx" --prefix=three --name=both --together=two,four) >"$work/log" 2>&1 && as_it_was
}

unprofiled() { # what times kernels speaks before ninja says that it failed
    mkdir "$work/unprofiled" && printf '%s\n' '#!/bin/sh' '[ "$1" = -f ] || exit 0' "echo 'ingot: g.json: out of memory: 5 bytes to run in'" \
        "echo 'FAILED: p.json'" "echo 'out/ingot profile g.json'" "echo 'ninja: build stopped: subcommand failed.'" 'exit 1' >"$work/ninja" &&
        (cd "$work/unprofiled" && ! NINJA=$work/ninja "$SRCDIR/configure" --without-aarch64 --model="$SRCDIR/models/fashion.onnx") >"$work/log" 2>&1 ||
        return 1
    cat "$work/log"
    tail -n 1 "$work/log" | grep -qx 'ingot: g.json: out of memory: 5 bytes to run in' && ! grep -q FAILED "$work/log"
}

as_it_was() {
    ! grep -q '^wrote' "$work/log" && cmp "$work/before" "$work/again/build.ninja" && cmp "$work/args" "$work/again/out/configure.args" && [ ! -e "$work/again/build.ninja.new" ]
}

headers() { # a network that is called as a header of C gets a name of its own
    cp "$SRCDIR/models/fashion.onnx" "$work/string.onnx" && configure headers --model="$work/string.onnx" &&
        grep -q '^build out/host/string_model: ' "$work/headers/build.ninja" && ! grep -q 'out/host/string\.h' "$work/headers/build.ninja" &&
        grep -qx 'ninja makes out/host/string_model, out/host/libstring_model.a, out/host/string_model.h' "$work/log"
}

flags() { # with characters that sed gives a meaning
    odd='-O1 -DODD=a|b&c\1'
    (export CFLAGS="$odd" && configure flags --model="$SRCDIR/models/fashion.onnx") && grep -qF -- " $odd" "$work/flags/build.ninja"
}

refused() { # model file
    cp "$SRCDIR/models/fashion.onnx" "$1"
    ! configure none --model="$1" && cat "$work/log" && grep -q "give a meaning" "$work/log"
}

paths() {
    for name in 'a b' 'a$b' "a'b" 'a"b' 'a;b' 'net (1)' 'net[1]' '#a'; do refused "$work/$name.onnx" || return 1; done
    ! configure none --model="$work/a.onnx" --outputs='a
b' && grep -q "line break" "$work/log"
}

settled() { # another plan of the same weights: ninja makes what follows from it once
    d=$work/settled
    mkdir -p "$d/out" && cp out/ingot "$d/out/ingot" && out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$d/g.json" &&
        out/ingot plan --target one "$d/g.json" -o "$d/plan.json" &&
        { sed '/^# --- build lines/,$d' build.ninja && echo 'build n_plan.c n_weights.bin: gen g.json plan.json
  graph = g.json
  plan = plan.json
  dir = .
  args = --prefix n'; } >"$d/build.ninja" || return 1
    (cd "$d" && $ninja && sleep 1.1 && out/ingot plan --target two g.json -o plan.json && $ninja && $ninja) >"$work/log" 2>&1
    cat "$work/log"
    tail -1 "$work/log" | grep -q 'no work to do'
}

beside() { # weights in a file of their own, whose name has blanks: new ones are read, lost ones are missed, and the hash is of both files
    d=$work/beside
    mkdir -p "$d/out" && ln -sf "$PWD/out/ingot" "$d/out/ingot" && head -c 64 /dev/zero >"$d/the data #1.bin" && cat >"$work/net.py" <<'PY' || return 1
import sys
from onnx_bytes import num, txt, value

weights = num(1, 4) + num(1, 4) + num(2, 1) + txt(8, "w") + txt(13, txt(1, "location") + txt(2, "the data #1.bin")) + num(14, 1)
graph = txt(1, txt(1, "x") + txt(1, "w") + txt(2, "y") + txt(4, "MatMul")) + txt(2, "g") + txt(5, weights) + txt(11, value("x", 1, 4)) + txt(12, value("y", 1, 4))
sys.stdout.buffer.write(num(1, 8) + txt(7, graph) + txt(8, num(2, 13)))
PY
    PYTHONPATH=$SRCDIR/tests PYTHONDONTWRITEBYTECODE=1 ${PYTHON:-python3} "$work/net.py" >"$d/net.onnx" &&
        { sed '/^# --- build lines/,$d' build.ninja && echo 'build net.json: graph net.onnx'; } >"$d/build.ninja" && (cd "$d" && $ninja && $ninja) >"$work/log" 2>&1
    cat "$work/log"
    tail -1 "$work/log" | grep -q 'no work to do' && hash_of "$d" && cp "$d/net.json" "$d/net.bin" "$work" && sleep 1.1 && head -c 64 /dev/urandom >"$d/the data #1.bin" &&
        (cd "$d" && $ninja) && hash_of "$d" && ! cmp "$work/net.json" "$d/net.json" && ! cmp "$work/net.bin" "$d/net.bin" && rm "$d/the data #1.bin" || return 1
    ! (cd "$d" && $ninja) >"$work/log" 2>&1 && cat "$work/log" && grep -q "external data 'the data #1.bin': No such file" "$work/log"
}

hash_of() { # folder
    grep "\"source_sha256\":\"$(cat "$1/net.onnx" "$1/the data #1.bin" | sha256sum | cut -d ' ' -f 1)\"" "$1/net.json"
}

checked() { # an option that does not fit the network is refused before anything takes time, not behind it by the generator
    d=$work/checked
    configure checked --model="$SRCDIR/models/fashion.onnx" --prefix=one --input-spec=resiz=3 &&
        (cd "$d" && $ninja -t commands out/host/one.d/plan.json) >"$work/commands" && cat "$work/commands" &&
        awk '/ingot gen --check / { checks = 1 } /ingot plan / && !checks { exit 1 } END { exit !checks }' "$work/commands" &&
        mkdir -p "$d/out/host/one.d" && out/ingot graph "$SRCDIR/models/fashion.onnx" -o "$d/out/host/one.d/graph.json" &&
        ln -sf "$PWD/out/ingot" "$d/out/ingot" &&
        ! (cd "$d" && sh -c "$(grep 'ingot gen --check ' "$work/commands")") 2>"$work/err" && cat "$work/err" &&
        [ "$(wc -l <"$work/err")" = 1 ] && grep -q "there is no key 'resiz'" "$work/err" || return 1
    for spec in "--labels $work/none" "--prefix ig" "--mean a" "--energy --platform=none" "--mean 1,2,3" "--std 0" "--std=1,1" "--input-spec mean=1,2,3" \
        "--labels $SRCDIR/models/fashion.onnx" "--input $SRCDIR/models/fashion.onnx" "--input $work/none"; do
        # shellcheck disable=SC2086
        ! out/ingot gen --check "$d/out/host/one.d/graph.json" $spec 2>"$work/err" && cat "$work/err" && [ "$(wc -l <"$work/err")" = 1 ] || return 1
    done
    out/ingot gen --check "$d/out/host/one.d/graph.json" --input-spec scale=1/255 || return 1
    head -c 3136 /dev/zero >"$work/raw" && out/ingot gen --check "$d/out/host/one.d/graph.json" --input "$work/raw" || return 1
    for names in 9 10 11; do # as many as there are classes, or a word about it
        seq $names >"$work/names"
        out/ingot gen --check "$d/out/host/one.d/graph.json" --labels "$work/names" 2>"$work/err" && cat "$work/err" || return 1
        if [ $names = 10 ]; then [ ! -s "$work/err" ]; else grep -q " $names names, but .* has 10 classes" "$work/err"; fi || return 1
    done
    for option in CFLAGS=-fnothing AR=noar --threads=65 --model="$work"; do
        ! configure none --model="$SRCDIR/models/fashion.onnx" $option && cat "$work/log" && tail -1 "$work/log" | grep -q "^configure: .*${option#*=}" || return 1
    done
    for option in --input-shape=x=1x3 --outputs=a --labels="$work/names" --samples="$work" --precision=half --memory-budget=8MB --stages=auto --prefix=a; do
        ! configure none $option && cat "$work/log" && grep -qx "configure: ${option%%=*} is of a network: give --model=FILE, too" "$work/log" || return 1
    done
    for shape in "" 1x1x28x28x 1x1x+28x28 1x1x028x28 1x1x28x 1x1x0x28 1x1x28x2147483648 1x1x1x1x1x1x1x28x28 1x1x28y28; do
        ! out/ingot graph "$SRCDIR/models/fashion.onnx" --input-shape "image=$shape" -o "$work/shape.json" 2>"$work/err" && cat "$work/err" &&
            [ "$(wc -l <"$work/err")" = 1 ] && grep -qF "'$shape' is no shape such as" "$work/err" && [ ! -e "$work/shape.json" ] || return 1
    done
}

commas() { # --outputs names one tensor that has a comma and a backslash, as it was given, and the next
    LC_ALL=C sed 's/basic1\.conv1_out/basic1,conv1\\out/g' "$SRCDIR/models/fashion.onnx" >"$work/comma.onnx"
    configure commas --model="$work/comma.onnx" --prefix=one --outputs='basic1\,conv1\\out,basic1.conv1.relu_out' &&
        gets commas out/host/one.d/graph.json '--outputs
basic1\,conv1\\out,basic1.conv1.relu_out' &&
        out/ingot graph "$work/comma.onnx" --outputs='basic1\,conv1\\out,basic1.conv1.relu_out' -o "$work/comma.json" &&
        grep -F '"outputs":["basic1,conv1\\out","basic1.conv1.relu_out"]' "$work/comma.json"
}

bare() { # a machine that has what building takes, and nothing that only boards, several machines and tests ask for
    mkdir -p "$work/bin"
    echo "$PATH" | tr : '\n' | grep -v ccache | while read -r folder; do ln -s "$folder"/* "$work/bin/" 2>/dev/null || true; done
    rm -f "$work"/bin/qemu-* "$work"/bin/mpi* "$work"/bin/aarch64-* "$work"/bin/clang* "$work"/bin/nvcc "$work"/bin/musl-gcc "$work"/bin/chromium* \
        "$work"/bin/valgrind
    PATH=$work/bin configure bare --model="$SRCDIR/models/fashion.onnx" && grep -q '^build out/host/fashion: ' "$work/bare/build.ninja" &&
        grep -q 'aarch64 emulator... none' "$work/log" && grep -q 'for mpicc... no' "$work/log"
}

elsewhere() { # --host as other projects have it, and what only an image of a bare machine takes
    configure here --model="$SRCDIR/models/fashion.onnx" --host="$(uname -m)-pc-linux-gnu" && grep -q '^build out/host/fashion: ' "$work/here/build.ninja" || return 1
    ! configure unknown --model="$SRCDIR/models/fashion.onnx" --host=riscv64-linux-gnu && grep 'riscv64-linux-gnu: no such machine is known' "$work/log" &&
        ! configure unknown --model="$SRCDIR/models/fashion.onnx" --input="$SRCDIR/models/fashion.onnx" && grep 'for the image of --target=aarch64-none' "$work/log" || return 1
    for option in --threads=2 --mean=3 --stages=cpu:0,cpu:1 --labels="$SRCDIR/models/fashion.labels.txt"; do
        ! configure unknown --model="$SRCDIR/models/fashion.onnx" --input="$SRCDIR/models/fashion.onnx" --target=aarch64-none "$option" &&
            grep -F -- "$option: an image of --target=aarch64-none runs raw input" "$work/log" || return 1
    done
    have "${CC_AARCH64:-aarch64-linux-gnu-gcc}" || return 0
    for target in aarch64 tx2; do
        said=--target=$target
        [ $target = tx2 ] || said=
        configure $target --model="$SRCDIR/models/fashion.onnx" --gpu=off --host=aarch64-linux-gnu $said && grep -q "^build out/$target/fashion: " "$work/$target/build.ninja" &&
            (cd "$work/$target" && $ninja -n) >"$work/log" || return 1 # all that it is made of is there, out of the tree
    done
}

lesser() { # flags of /proc/cpuinfo, folder, options...: configured where that is the CPU
    mkdir -p "$work/lesser" && printf '#!/bin/sh\ncase $* in */proc/cpuinfo*) echo "flags : fpu %s" ;; *) exec %s "$@" ;; esac\n' "$1" \
        "$(command -v grep)" >"$work/lesser/grep" && chmod +x "$work/lesser/grep" || return 1
    shift
    PATH=$work/lesser:$PATH configure "$@"
}

timed() { # configure as it is said, though the helper above asks for no profile: its --isa
    at=$work/$1
    shift
    mkdir -p "$at/out" && cp "$work/one/out/ingot" "$at/out" && (cd "$at" && NINJA=true "$SRCDIR/configure" --without-aarch64 "$@") >"$work/log" 2>&1
}

model=$SRCDIR/models/fashion.onnx
wide="avx2 fma avx512f avx512dq avx512bw avx512vl"
bytes="$wide avx512_vnni"
tiles="$bytes amx_bf16 amx_tile amx_int8"

kernels() { # --isa: of the plan, the profile, the demo's plan and a deployment; kept when ninja configures again
    [ "$(uname -m)" = x86_64 ] || { kernels_elsewhere; return; }
    best=vnni # though flags say that there are tiles, where they are not granted
    ! grants_tiles || best=amx
    for isa in avx2 ref; do
        lesser "$wide" $isa --model="$model" --prefix=one --isa=$isa && gets $isa out/host/one.d/plan.json "--isa
$isa" && gets $isa out/host/fashion_half.d/plan.json "--isa
$isa" && (cd "$work/$isa" && cp build.ninja before && PATH=$work/lesser:$PATH NINJA=true "$SRCDIR/configure" --reconfigure && cmp build.ninja before) || return 1
    done
    lesser "$wide" best --model="$model" --prefix=one && gets best out/host/one.d/plan.json "--isa
avx512" && lesser "$bytes" four --model="$model" --prefix=one && gets four out/host/one.d/plan.json "--isa
vnni" && lesser "$tiles" tiled --model="$model" --prefix=one && gets tiled out/host/one.d/plan.json "--isa
$best" && lesser "$tiles" wide --model="$model" --prefix=one --isa=avx512 && gets wide out/host/one.d/plan.json "--isa
avx512" && lesser "avx2 fma" second --model="$model" --prefix=one && gets second out/host/one.d/plan.json "--isa
avx2" && lesser "avx2 fma avx_vnni" client --model="$model" --prefix=one && gets client out/host/one.d/plan.json "--isa
avxvnni" && lesser "$wide avx_vnni avx512_vnni" both --model="$model" --prefix=one && gets both out/host/one.d/plan.json "--isa
vnni" && lesser "avx2 fma" given --model="$model" --prefix=one --isa avx512 && gets given out/host/one.d/plan.json "--isa
avx512" && ! (cd "$work/given" && $ninja -t commands out/host/fashion) | grep 'ingot profile' || return 1
    timed timed --model="$model" --prefix=one --isa=ref && gets timed out/host/one.d/profile.json "--isa
ref" || return 1
    have mpicc || return 0
    echo '{"this_cpu0": ["conv1"]}' >"$work/mapping.json"
    configure spread --model="$model" --mapping="$work/mapping.json" --isa=avx2 || tail -1 "$work/log" # which says that nothing was planned
    (cd "$work/spread" && $ninja -t commands out/fashion/deploy.json) | tail -1 | grep -e ' --isa avx2 '
}

kernels_of_aarch64() { # of all of its processors, or of those that are said to have more
    for isa in neon fp16 dotprod; do
        configure "a_$isa" --model="$model" --prefix=one --target=aarch64 --isa=$isa && gets "a_$isa" out/aarch64/one.d/plan.json "--target
aarch64
--isa
$isa" || return 1
    done
    configure x_half --model="$model" --prefix=one --target=xavier --gpu=off --precision=half && gets x_half out/xavier/one.d/plan.json "--isa
fp16" &&
        configure x_single --model="$model" --prefix=one --target=xavier --gpu=off && gets x_single out/xavier/one.d/plan.json "--isa
neon" &&
        configure tx_half --model="$model" --prefix=one --target=tx2 --gpu=off --precision=half && gets tx_half out/tx2/one.d/plan.json "--isa
neon" || return 1
    configure a_any --model="$model" --prefix=one --target=aarch64 && cmp "$work/a_any/build.ninja" "$work/a_neon/build.ninja" &&
        grep -A 1 'out/obj/aarch64/kernels_cpu/dotprod/conv_bytes.c.o: cc' "$work/a_any/build.ninja" | grep -e ' -march=armv8.2-a+dotprod' &&
        grep -A 1 'out/obj/aarch64/kernels_cpu/fp16/gemm.S.o: cc' "$work/a_any/build.ninja" | grep -e ' -march=armv8.2-a+fp16' &&
        ! grep -e '-march=armv8.2' "$work/a_any/build.ninja" | grep -v -e '+dotprod' -e '+fp16'
}

kernels_elsewhere() {
    configure isa --model="$model" --prefix=one --isa=ref && gets isa out/host/one.d/plan.json "--isa
ref"
}

refuses() { # words, folder, options...: in one line, and nothing is written
    words=$1
    shift
    ! "$@" && cat "$work/log" && tail -1 "$work/log" | grep -F -- "$words" && [ "$(grep -c '^configure: ' "$work/log")" = 1 ] &&
        [ ! -e "$at/build.ninja" ] && [ ! -e "$at/build.ninja.new" ] && [ ! -e "$at/out/configure.args" ]
}

no_kernels() { # an ISA that there is not, that is another machine's or another target's, or that cannot be timed here
    other=neon
    [ "$(uname -m)" != aarch64 ] || other=avx2
    refuses "--isa takes amx, vnni, avx512, avxvnni, avx2, dotprod, fp16, neon or ref, not 'sse'" configure no --model="$model" --isa=sse &&
        refuses "--isa takes a value" configure no --model="$model" --isa &&
        refuses "--isa=$other: " configure no --model="$model" --isa=$other &&
        refuses "--isa=neon is for --target=host" configure no --model="$model" --target=tx2 --isa=neon &&
        refuses "--isa=avx2 is for --target=host" configure no --model="$model" --target=aarch64 --isa=avx2 || return 1
    [ "$(uname -m)" = x86_64 ] || return 0
    lesser "$wide avx_vnni avx512_vnni" both --isa=avxvnni && ! grep "which do not run here" "$work/log" &&
        lesser "$bytes" fake --isa=avxvnni && grep "programs... avxvnni, which do not run here" "$work/log" || return 1
    lesser "avx2 fma" fake --isa=avx512 && PATH=$work/lesser:$PATH refuses "give --no-profile, or" timed no --model="$model" --isa=avx512
}

older_compiler() { # one that has no AVX-VNNI: the others' kernels are made, and it says what else it takes
    [ "$(uname -m)" = x86_64 ] || return 0
    printf '#!/bin/sh\ncase " $* " in *" -mavxvnni "*) exit 1 ;; esac\nexec "%s" "$@"\n' "$(command -v "${CC:-cc}")" >"$work/older_cc" &&
        chmod +x "$work/older_cc" || return 1
    (export CC="$work/older_cc" && lesser "avx2 fma avx_vnni" older --model="$model" --prefix=one && gets older out/host/one.d/plan.json "--isa
avx2" && ! grep -e ' -mavxvnni ' "$work/older/build.ninja" && refuses "does not know -mavxvnni" configure no --isa=avxvnni)
}

deployed() { # in a folder with a blank
    at="$work/two words"
    mkdir -p "$at" && cp "$SRCDIR/gen/launch.sh" "$at/run.sh" && echo '-np 1 ./a' >"$at/appfile" && echo 'rank 0=here slot=0' >"$at/rankfile" &&
        printf '#!/bin/sh\n[ "$1" != --version ] || { echo "mpirun (Open MPI) $VERSION.0.1"; exit; }\nprintf "%%s\\n" "$@"\n' >"$work/mpirun" &&
        chmod +x "$work/mpirun" || return 1
    for row in "4|--rankfile|$at/rankfile" "5|--map-by|rankfile:file=$at/rankfile"; do
        rest=${row#*|}
        VERSION=${row%%|*} MPIRUN=$work/mpirun sh "$at/run.sh" --use-rankfile "in put" </dev/null >"$work/got" || return 1
        cat "$work/got"
        [ "$(tail -6 "$work/got")" = "${rest%%|*}
${rest#*|}
-np
1
$at/a
in put" ] || return 1
        VERSION=${row%%|*} MPIRUN=$work/mpirun sh "$at/run.sh" "in put" </dev/null >"$work/got" && ! grep -q rankfile "$work/got" || return 1
    done
}

check "of one network" one
check "of several networks" several
check "when it runs again" again
check "a plan that cannot be made leaves the build as it was" unplanned
check "a network called as a header of C" headers
check "compiler flags with a meaning" flags
check "paths with a meaning" paths
check "an option that does not fit the network" checked
check "a tensor with a comma in its name" commas
check "on a machine without tools for boards, several machines and tests" bare
check "a profile that fails" unprofiled
check "of another machine" elsewhere
check "kernels for other machines than this one" kernels
if have "${CC_AARCH64:-aarch64-linux-gnu-gcc}"; then check "kernels for some processors of aarch64" kernels_of_aarch64
else skip "kernels for some processors of aarch64" "no cross compiler"
fi
check "kernels that there are not" no_kernels
check "a compiler without AVX-VNNI" older_compiler
check "of a deployment to mpirun" deployed
check "an unchanged file is not made again and again" settled
check "weights in a file beside the network are read when they are new" beside
finish
