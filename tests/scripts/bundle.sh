# Several networks in one program and library: one arena, the bits of each network's own program, selection for every frame.
. "$SRCDIR/tests/scripts/tap.inc"
PYTHON=${PYTHON:-python3}
cc=$(sed -n 's/^program_cc = //p' build.ninja)
flags=$(sed -n 's/^program_flags = //p' build.ninja)
runtime=$(sed -n 's/^program_runtime = //p' build.ninja)
nets="fashion mob"

plans() { # two networks and, of each, the sources of its own program and of a member
    out/ingot zoo mobilenet_v1_025 -o "$work/mob.onnx" && cp "$SRCDIR/models/fashion.onnx" "$work" || return 1
    for net in $nets; do
        out/ingot graph "$work/$net.onnx" -o "$work/$net.json" &&
            out/ingot plan "$work/$net.json" --threads 2 -o "$work/$net.plan.json" &&
            out/ingot gen "$work/$net.json" "$work/$net.plan.json" --prefix "$net" -o "$work/own" &&
            out/ingot gen "$work/$net.json" "$work/$net.plan.json" --prefix "$net" --member -o "$work/member" || return 1
    done
}

bundle() { # options...
    # shellcheck disable=SC2046
    out/ingot bundle --name app "$@" $(printf "%s $work/%s.json $work/%s.plan.json " fashion fashion fashion mob mob mob)
}

compile() { # folder, units...
    at=$1
    shift
    for unit; do
        $cc -std=c11 -Wall -Wextra -Werror -O2 -ffunction-sections -fdata-sections -I"$SRCDIR" -I"$work/member" -I"$at" -c "$at/$unit" \
            -o "$at/${unit%.*}.o" || return 1
    done
}

objects() { # suffix
    for net in $nets; do printf '%s ' "$work/member/${net}_$1.o"; done
}

programs() { # one of each network, and one of both
    bundle -o "$work/both" || return 1
    for net in $nets; do
        compile "$work/own" "${net}_plan.c" "${net}_main.c" "${net}_weights.S" &&
            compile "$work/member" "${net}_plan.c" "${net}_main.c" "${net}_api.c" "${net}_weights.S" || return 1
        # shellcheck disable=SC2086
        "$SRCDIR/gen/link.sh" program "$work/$net" "$work/own/$net" $cc $flags "$work/own/${net}_main.o" "$work/own/${net}_plan.o" \
            $runtime out/host/libingot_kernels.a -lm -lpthread || return 1
    done
    compile "$work/both" app_main.c app_api.c || return 1
    # shellcheck disable=SC2086,SC2046
    "$SRCDIR/gen/link.sh" bundle "$work/app" "$work/member/fashion $work/member/mob" $cc $flags "$work/both/app_main.o" \
        $(objects main) $(objects plan) $runtime out/host/libingot_kernels.a -lm -lpthread
}

appended() { # the same with the weights behind the program's file
    sed 's/^append_above=.*/append_above=0/' "$SRCDIR/gen/link.sh" >"$work/link.sh"
    # shellcheck disable=SC2086,SC2046
    sh "$work/link.sh" bundle "$work/app_behind" "$work/member/fashion $work/member/mob" $cc $flags "$work/both/app_main.o" \
        $(objects main) $(objects plan) $runtime out/host/libingot_kernels.a -lm -lpthread &&
        out/ingot append "$work/app" "$work/member/fashion_weights.bin" "$work/member/mob_weights.bin" "$work/member/mob_weights.bin" \
            -o "$work/three" && out/ingot append "$work/app" "$work/member/fashion_weights.bin" "$work/member/mob_weights.bin" -o "$work/two" &&
        [ $(($(wc -c <"$work/three") - $(wc -c <"$work/two"))) = 64 ]
}

frames() { # six frames: fashion mob fashion, twice; and apart
    "$PYTHON" - "$work" <<'PY'
import random, struct, sys
at = sys.argv[1]
random.seed(1)
sizes = {"fashion": 28 * 28, "mob": 3 * 224 * 224}
apart = {name: open(f"{at}/{name}.raw", "wb") for name in sizes}
with open(f"{at}/turns.raw", "wb") as turns, open(f"{at}/named.raw", "wb") as named:
    for name in ["fashion", "mob", "fashion"] * 2:
        frame = struct.pack(f"<{sizes[name]}f", *(random.random() for _ in range(sizes[name])))
        apart[name].write(frame)
        turns.write(frame)
        named.write(name.encode() + b"\n" + frame)
PY
}

same_files() { # --network=NAME writes the tensor that NAME's own program writes
    for net in $nets; do
        bytes=$(($(wc -c <"$work/$net.raw") / $([ $net = fashion ] && echo 4 || echo 2)))
        head -c $bytes "$work/$net.raw" >"$work/one.raw"
        for threads in 1 2; do
            "$work/$net" "$work/one.raw" --threads $threads -o "$work/a.npy" || return 1
            for app in app app_behind; do
                "$work/$app" --network=$net "$work/one.raw" --threads $threads -o "$work/b.npy" && cmp "$work/a.npy" "$work/b.npy" || return 1
            done
        done
    done
    head -c 3136 "$work/fashion.raw" >"$work/one.raw"
    "$work/fashion" "$work/one.raw" >"$work/a" && "$work/app" "$work/one.raw" >"$work/b" && cmp "$work/a" "$work/b"
}

lines() { # a network's results of a program's stream, all values in nine digits, without the time and the name
    grep "\"network\":\"$1\"" "$2" | sed 's/"ms":[0-9.]*,"network":"[a-z]*",//'
}

same_stream() { # app, threads, sequence, frames
    "$work/$1" --threads "$2" --sequence="$3" - --json --top 100 <"$work/$4" >"$work/out" && [ "$(wc -l <"$work/out")" = 6 ] || return 1
    for net in $nets; do
        "$work/$net" --threads "$2" - --json --top 100 <"$work/$net.raw" | sed 's/"ms":[0-9.]*,//' >"$work/a"
        lines $net "$work/out" | cmp - "$work/a" || return 1
    done
}

in_turn() {
    same_stream app 1 fashion,mob,fashion turns.raw && same_stream app 2 fashion,mob,fashion turns.raw &&
        same_stream app_behind 2 fashion,mob,fashion turns.raw && same_stream app 1 - named.raw
}

arena() { # in turn the larger, together the sum, each plan's claim; what the program says
    "$work/app" --info --json >"$work/info" && bundle --json >"$work/turn" && bundle --together fashion,mob --json >"$work/once" &&
        "$PYTHON" - "$work" <<'PY'
import json, sys
at = sys.argv[1]
info, turn, once = (json.load(open(f"{at}/{name}")) for name in ("info", "turn", "once"))
claims = [json.load(open(f"{at}/{net}.plan.json"))["totals"] for net in ("fashion", "mob")]
arenas = [(c["arena_bytes"] + 63) // 64 * 64 for c in claims]
assert info["arena_bytes"] == turn["arena_bytes"] == max(arenas) and once["arena_bytes"] == sum(arenas)
assert info["weights_bytes"] == sum(c["weights_bytes"] for c in claims)
for i, net in enumerate(once["networks"]):
    assert net["arena_bytes"] == arenas[i] == info["networks"][i]["network"]["arena_bytes"]
    assert turn["networks"][i]["arena_offset"] == 0
assert sorted(n["arena_offset"] for n in once["networks"]) == [0, max(arenas)]
PY
}

bench() {
    "$work/app" --bench=0.2 | grep -q "one arena of $("$PYTHON" -c "import json; print(json.load(open('$work/turn'))['arena_bytes'])") B" &&
        "$work/app" --bench=0.2 --json --sequence=mob,fashion,mob | "$PYTHON" -c "import json, sys
b = json.load(sys.stdin); assert [n['name'] for n in b['networks']] == ['mob', 'fashion', 'mob'] and b['sequence_ms'] > 0"
}

spec_of() { # network
    case $1 in
    fashion) echo frames=40x30x1,resize=28x28,scale=1/255,top=2 ;;
    *) echo frames=320x240x3,resize=256,crop=224,order=bgr,mean=120,std=60,softmax=yes,top=3 ;;
    esac
}

specs() { # each network its own input spec: in turn, and named, what its own program makes of the same frames
    for net in $nets; do
        for way in own member; do
            out/ingot gen "$work/$net.json" "$work/$net.plan.json" --prefix "$net" --input-spec "$(spec_of $net)" -o "$work/spec_$way" \
                $([ $way = own ] || echo --member) && compile "$work/spec_$way" "${net}_plan.c" "${net}_main.c" "${net}_weights.S" || return 1
        done
        # shellcheck disable=SC2086
        "$SRCDIR/gen/link.sh" program "$work/spec_$net" "$work/spec_own/$net" $cc $flags "$work/spec_own/${net}_main.o" \
            "$work/spec_own/${net}_plan.o" $runtime out/host/libingot_kernels.a -lm -lpthread || return 1
    done
    m=$work/spec_member
    # shellcheck disable=SC2086
    "$SRCDIR/gen/link.sh" bundle "$work/spec_app" "$m/fashion $m/mob" $cc $flags "$work/both/app_main.o" "$m/fashion_main.o" "$m/mob_main.o" \
        "$m/fashion_plan.o" "$m/mob_plan.o" $runtime out/host/libingot_kernels.a -lm -lpthread && "$PYTHON" - "$work" <<'PY' || return 1
import random, sys
random.seed(2)
frames = {"fashion": 40 * 30, "mob": 320 * 240 * 3}
apart = {n: open(f"{sys.argv[1]}/{n}.bytes", "wb") for n in frames}
with open(f"{sys.argv[1]}/turns.bytes", "wb") as turns:
    for name in ["fashion", "mob"] * 2:
        frame = random.randbytes(frames[name])
        turns.write(frame)
        apart[name].write(frame)
PY
    "$work/spec_app" --sequence=fashion,mob - --json <"$work/turns.bytes" >"$work/out" && [ "$(wc -l <"$work/out")" = 4 ] || return 1
    for net in $nets; do
        "$work/spec_$net" - --json <"$work/$net.bytes" >"$work/a" && grep -c '"index"' "$work/a" && sed 's/"ms":[0-9.]*,//' "$work/a" >"$work/b" &&
            lines $net "$work/out" | cmp - "$work/b" && "$work/spec_app" --network=$net - --json <"$work/$net.bytes" | sed 's/"ms":[0-9.]*,//' |
            cmp - "$work/b" || return 1
    done
    [ "$(head -1 "$work/out" | grep -o index | wc -l)" = 2 ] && [ "$(sed -n 2p "$work/out" | grep -o index | wc -l)" = 3 ] &&
        "$work/spec_app" --sequence=fashion,mob - --top 1 <"$work/turns.bytes" | grep -c '^[a-z]*: [^|]*$' | grep -qx 4 &&
        [ "$("$work/spec_app" --info | grep -c '^input spec ')" = 2 ] && "$work/spec_app" --network=mob --bench=0.1 | grep -q '^pre .* ms, network'
}

configured() { # an input spec behind a --model is that network's, one before all of them is everyone's
    mkdir -p "$work/build/out" && printf '#!/bin/sh\n' >"$work/build/out/ingot" && chmod +x "$work/build/out/ingot" &&
        (cd "$work/build" && NINJA=true "$SRCDIR/configure" --without-aarch64 --no-profile --input-spec=top=2 \
        --model="$work/fashion.onnx" --model="$work/mob.onnx" --input-spec=resize=256,top=3 --name=app) >"$work/log" 2>&1
    grep -q 'args = --prefix fashion_model  *--input-spec top=2 .*--member' "$work/build/build.ninja" &&
        grep -q 'args = --prefix mob  *--input-spec resize=256,top=3 .*--member' "$work/build/build.ninja"
}

fails() { # status, words, arguments of the program; frames on stdin
    status=$1 words=$2
    shift 2
    code=0
    "$work/app" "$@" >"$work/out" 2>"$work/err" || code=$?
    cat "$work/err"
    [ $code = "$status" ] && grep -q "$words" "$work/err"
}

refusals() {
    echo nobody >"$work/nobody" && fails 1 "not 'nobody'\$" --sequence=- - <"$work/nobody" || return 1
    fails 2 "no network 'nobody'; there are fashion mob" --network=nobody x && fails 2 'take their frames from stdin' --sequence=mob x &&
        fails 2 'take their frames from stdin' --sequence=mob && fails 2 'take their frames from stdin' --sequence=- && fails 2 '^  --sequence A,B' &&
        fails 1 'middle of a frame' --sequence=mob,fashion - <"$work/fashion.raw" && fails 1 "a line with a network's name" --sequence=- - <"$work/turns.raw" &&
        fails 1 'behind the name of a network' --sequence=- - <"$work/name" && fails 1 'for 2 threads, not 3' --threads 3 --sequence=mob - &&
        fails 2 'no network' --sequence=mob, - && "$work/app" --help | grep -q '^  mob'
}

names() {
    ! out/ingot bundle --name a -o "$work/x" a "$work/mob.json" "$work/mob.plan.json" 2>"$work/err" && grep -q 'another --name' "$work/err" &&
        ! out/ingot bundle --name a b "$work/mob.json" "$work/mob.plan.json" B "$work/mob.json" "$work/mob.plan.json" 2>"$work/err" &&
        grep -q 'two networks are called' "$work/err" && ! bundle --together fashion,nobody 2>"$work/err" && grep -q "no network 'nobody'; there are fashion, mob" "$work/err" &&
        ! bundle --together mob 2>"$work/err" && grep -q 'at least two' "$work/err" && ! bundle --together mob,fashion,mob 2>"$work/err" && grep -q 'twice' "$work/err"
}

library() { # in turn over one arena; together from two threads, in disjoint ones
    for way in both beside; do
        [ $way = both ] || bundle --together fashion,mob -o "$work/beside" && compile "$work/$way" app_api.c || return 1
        ! have g++ || g++ -std=c++11 -Wall -Wextra -Werror -fsyntax-only -I"$work/member" -xc++ "$work/$way/app.h" || return 1
        # shellcheck disable=SC2086,SC2046
        $cc -std=c11 -Wall -Wextra -Werror $flags -I"$work/$way" -I"$work/member" "$SRCDIR/tests/library/bundle.c" "$work/$way/app_api.o" \
            $(objects api) $(objects plan) $(objects weights) "$runtime" out/host/libingot_kernels.a -lm -lpthread -o "$work/client" &&
            "$work/client" || return 1
    done
}

no_arena() { # a network that writes its outputs alone
    "$PYTHON" -B "$SRCDIR/tests/boxes_network.py" "$work/boxes.onnx" && out/ingot graph "$work/boxes.onnx" -o "$work/boxes.json" &&
        out/ingot plan "$work/boxes.json" --threads 1 -o "$work/boxes.plan.json" &&
        out/ingot gen "$work/boxes.json" "$work/boxes.plan.json" --prefix boxes --member -o "$work/member" &&
        out/ingot bundle --name none -o "$work/none" boxes "$work/boxes.json" "$work/boxes.plan.json" &&
        grep -q 'NONE_ARENA_BYTES INT64_C(0) ' "$work/none/none.h" && compile "$work/member" boxes_plan.c boxes_api.c boxes_weights.S &&
        compile "$work/none" none_api.c || return 1
    printf '%s\n' '#include "none.h"' 'static float image[576], scores[576], boxes[576];' 'int main(void)' '{' '    struct none_ctx ctx;' \
        '    void *out[] = {scores, boxes};' '    image[7] = 3;' '    if (none_init(&ctx, 0, 0) || none_run(&ctx, 0, (const void *[]){image}, out)) return 1;' \
        '    return scores[7] != 9 || boxes[7] != 3;' '}' >"$work/none.c"
    # shellcheck disable=SC2086
    $cc -std=c11 -Wall -Wextra -Werror $flags -I"$work/none" -I"$work/member" "$work/none.c" "$work/none/none_api.o" "$work/member/boxes_api.o" \
        "$work/member/boxes_plan.o" "$work/member/boxes_weights.o" "$runtime" out/host/libingot_kernels.a -lm -lpthread -o "$work/none_client" &&
        "$work/none_client"
}

printf 'mob\n' >"$work/name"
check "two networks are planned" plans
check "a program of each, and one of both" programs
check "with weights behind its file; equal ones are stored once" appended
check "frames" frames
check "a network that is named: the tensors of its own program" same_files
check "in turn over one arena, by a list or named before every frame: the results of their own programs" in_turn
check "the arena is what the plans claim" arena
check "--bench tells of each and of all" bench
check "each network with an input spec of its own" specs
check "./configure gives each its own" configured
check "what it refuses" refusals
check "names are told apart" names
check "the library: in turn, and at once where they were said to run together" library
check "networks that need no arena" no_arena
finish
